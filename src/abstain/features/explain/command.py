"""Explain one measure."""

import click

from abstain.cli.command import argument, command
from abstain.cli.options import MEASURE


@command
@argument("measure", metavar="MEASURE", type=MEASURE, help="c@1, F, 'credit(t=0.25)', …")
def explain(measure: str) -> None:
    """Explain one measure: formula, meaning, how to game it, an example.

    \b
    abstain explain c@1
    abstain explain 'credit(t=0.25)'
    """
    from shutil import get_terminal_size

    import abstain as ab

    click.echo(ab.explain(measure, width=max(24, min(80, get_terminal_size().columns))))
