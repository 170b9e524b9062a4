"""Run a bundled example."""

from pathlib import Path
from typing import Any

import click
from msgspec import structs

from abstain.cli import options
from abstain.cli.command import Showing, Words, argument, command, working


@command
@argument(
    "what",
    metavar="[campaign|rankings]",
    required=False,
    default="campaign",
    type=Words(("campaign", "rankings")),
    help="campaign (the default): QA4MRE 2013. rankings: tables and figures of Quit While Ahead.",
)
@options.output("The folder to write.", "DIR", writes=False, default=Path("abstain-demo"))
@options.force("Replace the folder.")
@click.pass_context
def demo(context: click.Context, what: Any, output: Path, force: bool) -> None:
    """Run the bundled campaign, a reconstruction of QA4MRE 2013: 54 runs, 284 questions.

    `rankings` prints the tables of “Quit While Ahead” (Liu et al. 2016) and draws its figures.

    \b
    abstain demo -o demo
    abstain demo rankings -o demo
    """
    from abstain.features.campaign.command import write
    from abstain.features.campaign.view import whole_folder_free
    from abstain.features.demo import analysis

    whole_folder_free(output, force=force)
    shown = Showing(command=str(context.obj or ""))
    if what == "rankings":
        from abstain.report.terminal import print_grid

        with working("drawing…"):
            report = structs.replace(analysis.demo("rankings"), command=shown.command)
            analysis.write(report, output)
        for grid in analysis.tables(report):
            print_grid(grid)
            click.echo()
        click.echo(f"{output}/figures has Figures 1 to 3, {output}/index.html the whole report.")
        return
    with working("judging and counting…"):
        result = analysis.demo(what)
    click.echo(f"{result.title}\n")
    write(result, output, shown, force=force)
    click.echo("The responses are not original: they are reconstructed from published figures.")
