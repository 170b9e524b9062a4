"""`abstain refusals`."""

from __future__ import annotations

from typing import Annotated

import typer

from abstain.cli import options, showing
from abstain.cli.options import (
    ColumnOption,
    FormatOption,
    FromOption,
    OutputOption,
    PolicyOption,
)
from abstain.errors import UsageError


def refusals(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE…", help="Runs or logs with their text.")
    ] = None,
    languages: Annotated[
        str, typer.Option("--languages", "-l", metavar="LANGUAGES", help="en,de,es,fr,it or all.")
    ] = "all",
    rules: Annotated[
        bool, typer.Option("--rules", help="Show the rules instead, each with an example.")
    ] = False,
    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            metavar="TABLE",
            help="Hand-checked rows (question, true: right, wrong or blank; perhaps run): the "
            "table of errors that `compare --judge-error` takes.",
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(min=0, help="How many texts a table shows (0: all of them).")
    ] = 50,
    policy: PolicyOption = None,
    column: ColumnOption = None,
    from_format: FromOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
) -> None:
    """List the responses that decline to answer, by which rule, or measure how often that errs.

    \b
    abstain refusals log.jsonl --languages en
    abstain refusals --rules --languages de
    abstain refusals log.jsonl --check checked.csv -o judge.csv

    What the rules find counts elsewhere only with --detect-refusals.
    """
    from abstain.analyses import refusals as found
    from abstain.judging.refusals.detect import languages_of
    from abstain.report.refusals import confusion_grid, hits_grid, rules_grid

    wanted = languages_of(languages)
    if rules:
        grid, data = rules_grid(wanted)
        showing.show(grid, data, format=format, output=output)
        return
    if not files:
        raise UsageError("name a run or a log, or say --rules")
    columns = options.known_columns(column)
    reading = options.reading(from_format, ",".join(wanted))
    with showing.working("reading…"):
        if check is not None:
            counts = found.confusion(files, check, columns=columns, format=reading, policy=policy)
            grid, data = confusion_grid(counts)
        else:
            hits = found.find(files, columns=columns, format=reading)
            grid, data = hits_grid(hits, most=most)
    showing.show(grid, data, format=format, output=output)
