"""Run the bundled example."""

from __future__ import annotations

from pathlib import Path

import click

from abstain.cli import options
from abstain.cli.command import Showing, command, working


@command
@options.output("The folder to write.", "DIR", writes=False, default=Path("abstain-demo"))
@options.force("Replace the folder.")
@click.pass_context
def demo(context: click.Context, output: Path, force: bool) -> None:
    """Run the bundled campaign, a reconstruction of QA4MRE 2013: 54 runs, 284 questions.

    \b
    abstain demo -o demo
    """
    from abstain import demo as bundled
    from abstain.features.campaign.command import write
    from abstain.features.campaign.view import whole_folder_free

    whole_folder_free(output, force=force)
    with working("judging and counting…"):
        result = bundled()
    click.echo(f"{result.title}\n")
    write(result, output, Showing(command=str(context.obj or "")), force=force)
    click.echo("The responses are not original: they are reconstructed from published figures.")
