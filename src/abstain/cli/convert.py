"""`abstain convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli import options
from abstain.cli.options import ColumnOption, DetectOption, FromOption


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A table in any format, or a folder of logs.")
    ],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="Its ending says the format: .csv, .jsonl.zst, .xml, …"),
    ],
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    to_format: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="csv, tsv, jsonl, parquet or qa4mre."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT.")] = False,
) -> None:
    """Convert a gold or a run between CSV, TSV, JSONL, Parquet and QA4MRE XML, plain, .gz or .zst.

    \b
    abstain convert run.csv run.parquet
    abstain convert run.csv run.xml
    abstain convert log.jsonl.gz run.csv --column question=id --column answer=output
    """
    from_format = options.reading(from_format, detect_refusals)
    from abstain.analyses.convert import convert_table
    from abstain.errors import UsageError, plural

    if target.exists() and not force:
        raise UsageError(f"{target} exists; --force overwrites it")
    notes: list[str] = []
    rows = convert_table(
        source,
        target,
        columns=options.known_columns(column),
        from_format=from_format,
        to_format=to_format,
        notes=notes,
    )
    for note in notes:
        typer.echo(note, err=True)
    typer.echo(f"{target}: {plural(rows, 'row')}", err=True)
