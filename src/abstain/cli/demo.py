"""`abstain demo`."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import click

from abstain.cli.command import NEW_FILE, SHOWING, command, option
from abstain.cli.showing import Showing, working

TITLE = "QA4MRE 2013, rebuilt from its published tables"
ABOUT = (
    "The responses shown here are not the original ones, which are not public: they are "
    "reconstructed from the figures of the overview paper (Sutcliffe et al. 2013), so that its "
    "tables come out again. Question texts do not exist. docs/demo.md lists the printed figures "
    "that no set of responses can give."
)


@command
@option(
    "-o",
    "--output",
    type=NEW_FILE,
    default=Path("abstain-demo"),
    metavar="DIR",
    section=SHOWING,
    help="The folder to write.",
)
@option("--force", is_flag=True, section=SHOWING, help="Replace the folder.")
@click.pass_context
def demo(context: click.Context, output: Path, force: bool) -> None:
    """Run the bundled campaign, QA4MRE 2013 rebuilt: 54 runs, 284 questions, every table.

    \b
    abstain demo -o demo
    """
    from abstain.analyses.campaign import run_campaign
    from abstain.cli.campaign import show_campaign
    from abstain.report.campaign_folder import whole_folder_free, write_campaign

    whole_folder_free(output, force=force)
    with (
        working("judging and counting…"),
        as_file(files("abstain") / "examples" / "qa4mre2013") as folder,
    ):
        result = run_campaign(
            folder / "gold.csv", folder / "runs.csv.gz", runs_info=folder / "runs_info.csv"
        )
        again = str(context.obj or "")
        tables = write_campaign(
            result, output, title=TITLE, about=ABOUT, command=again, force=force
        )
    click.echo(f"{TITLE}\n")
    show_campaign(result, tables, output, Showing())
    click.echo("The responses are reconstructed from published figures; docs/demo.md says how.")
