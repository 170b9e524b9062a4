from pathlib import Path

import click
from msgspec.structs import asdict

from abstain.cli import options
from abstain.cli.command import NEW_FILE, SHOWING, Words, argument, command, option
from abstain.cli.options import reading_options
from abstain.errors import UsageError, plural
from abstain.reading import Reading


@command
@argument("source", metavar="IN", help="A table in any format, or a folder of logs.")
@argument(
    "target",
    metavar="OUT",
    type=NEW_FILE,
    writes=True,
    help="The file to write; its ending sets the format: .csv, .jsonl.zst, .xml, …",
)
@reading_options(
    *("format", "pick", "columns", "detect_refusals", "refusal_pattern", "align"),
    otherwise="convert writes rows as they are, it does not judge them",
    help={
        "align": "With --gold: by id, or by position (the n-th response gets the id of the n-th "
        "question)."
    },
)
@option("--gold GOLD", "The gold or the test set whose ids a run is to have (with --align).")
@option(
    "--vote",
    "Make one response of several samples of a question: the majority's answer, with the share of "
    "the samples that agree as confidence.",
)
@option(
    "--to FORMAT",
    "csv, tsv, jsonl, json, parquet or qa4mre.",
    to="to_format",
    type=Words(("csv", "tsv", "jsonl", "parquet", "qa4mre")),
    section=SHOWING,
)
@options.force("Overwrite OUT.")
def convert(
    source: str,
    target: Path,
    reading: Reading,
    gold: str | None,
    vote: bool,
    to_format: str | None,
    force: bool,
) -> None:
    """Convert a gold or a run between CSV, TSV, JSONL and Parquet, a gold from QA4MRE XML and a run
    from or into it; all plain, .gz or .zst.

    \b
    abstain convert run.csv run.parquet
    abstain convert run.csv run.xml
    abstain convert log.jsonl.gz run.csv --column question=id --column answer=output
    abstain convert samples.jsonl run.csv --vote
    abstain convert shifted.xml run.xml --gold gold.xml --align position
    """
    from abstain.features.convert.analysis import convert as written

    if target.exists() and not force:
        raise UsageError(f"{target} exists; --force overwrites it")
    made = written(source, target, to=to_format, gold=gold, vote=vote, **asdict(reading))
    for note in made.notes:
        click.echo(note, err=True)
    click.echo(f"{target}: {plural(made.rows, 'row')}", err=True)
