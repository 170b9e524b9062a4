"""Write tasks for a harness."""

from pathlib import Path

import click

from abstain.cli import options
from abstain.cli.command import Words, argument, command
from abstain.features.tasks.analysis import TOOLS
from abstain.features.tasks.analysis import tasks as written


@command
@argument("tool", metavar="HARNESS", type=Words(TOOLS), help="lm-eval: lm-evaluation-harness.")
@options.output("The folder to write into.", "DIR", writes=False, required=True)
def tasks(tool: str, output: Path) -> None:
    """Write benchmarks that know a blank, for the harness that asks models.

    \b
    abstain tasks lm-eval -o tasks
    lm_eval --include_path tasks --tasks qa4mre_idk …
    abstain score --judged out --by task --interval
    """
    for path in written(tool, output):
        click.echo(path)
