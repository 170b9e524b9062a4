"""Run the bundled example."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import click

from abstain.cli import options
from abstain.cli.command import command
from abstain.cli.showing import Showing, working

TITLE = "QA4MRE 2013, rebuilt from its published tables"
ABOUT = (
    "The responses shown here are not the original ones, which are not public: they are "
    "reconstructed from the figures of the overview paper (Sutcliffe et al. 2013), so that its "
    "tables come out again. Question texts do not exist. The manual's page on the "
    "bundled campaign lists the printed figures that no set of responses can give."
)


@command
@options.output("The folder to write.", "DIR", writes=False, default=Path("abstain-demo"))
@options.force("Replace the folder.")
@click.pass_context
def demo(context: click.Context, output: Path, force: bool) -> None:
    """Run the bundled campaign, a reconstruction of QA4MRE 2013: 54 runs, 284 questions.

    \b
    abstain demo -o demo
    """
    from abstain.cli.commands.campaign import write
    from abstain.judging.sources import read
    from abstain.report.views.campaign import whole_folder_free

    whole_folder_free(output, force=force)
    with (
        working("judging and counting…"),
        as_file(files("abstain") / "examples" / "qa4mre2013") as folder,
    ):
        runs = read(folder / "gold.csv", folder / "runs.csv.gz")
        info = folder / "runs_info.csv"
        result = runs.campaign(runs_info=info, title=TITLE, about=ABOUT)
    click.echo(f"{TITLE}\n")
    write(result, output, Showing(command=str(context.obj or "")), force=force)
    click.echo("The responses are reconstructed from published figures, not the original ones.")
