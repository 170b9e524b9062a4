"""`abstain testset`."""

from pathlib import Path

import click

from abstain.cli import options
from abstain.cli.command import argument, command, option
from abstain.cli.options import reading_options
from abstain.errors import UsageError, plural
from abstain.reading import Reading


@command
@argument("gold", metavar="GOLD", help="The gold standard.")
@reading_options("format", "pick", "columns", otherwise="testset reads a gold, not responses")
@option(
    "--keep ATTR",
    "An attribute of questions that participants see as well. Repeatable.",
    multiple=True,
)
@options.output("The file to write; its ending sets the format.", required=True)
@options.force("Overwrite the file.")
def testset(gold: str, reading: Reading, keep: tuple[str, ...], output: Path, force: bool) -> None:
    """Write what participants may see of a gold: questions, options, topics, tests, documents.

    \b
    abstain testset gold.xml -o test.xml
    abstain testset gold.csv -o test.jsonl --keep language
    """
    from abstain.features.testset.analysis import testset as write

    if output.exists() and not force:
        raise UsageError(f"{output} exists; --force overwrites it")
    how = {name: getattr(reading, name) for name in ("format", "pick", "columns")}
    questions, left_out = write(gold, output, keep=keep, **how)
    gone = f"; left out: {', '.join(left_out)}" if left_out else ""
    click.echo(f"{output}: {plural(questions, 'question')}{gone}")
