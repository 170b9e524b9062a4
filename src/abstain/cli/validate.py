"""`abstain validate`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from abstain.cli import EXIT_NO, options, showing
from abstain.cli.options import (
    AlignOption,
    ColumnOption,
    DetectOption,
    FormatOption,
    FromOption,
    OutputOption,
)
from abstain.errors import InputError


def validate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold standard.")],
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="The runs to check.")],
    align: AlignOption = "id",
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    max_runs: Annotated[
        int | None,
        typer.Option(min=1, help="How many runs a team may send (ids such as jucs1302enen)."),
    ] = None,
    most: Annotated[
        int, typer.Option(min=0, help="How many problems a table shows (0: all, with details).")
    ] = 50,
    format: FormatOption = None,
    output: OutputOption = None,
) -> None:
    """Would these runs be accepted? Every problem with its place; exit code 1 if there is one.

    \b
    abstain validate gold.csv runs/*.csv
    abstain validate gold.xml runs/*.xml --max-runs 10
    abstain validate gold.csv run.csv --format json
    """
    from_format = options.reading(from_format, detect_refusals)
    from abstain.analyses.validate.validation import validate_runs
    from abstain.io.files import STDIN
    from abstain.report.problems import problems_grid

    if not any(run == STDIN or os.path.exists(run) for run in runs):
        raise InputError("there is no such file", runs[0])
    with showing.working("checking…"):
        verdict = validate_runs(
            gold,
            runs,
            align=align,
            max_runs=max_runs,
            columns=options.known_columns(column),
            format=from_format,
        )
    showing.show(problems_grid(verdict, most=most), verdict.to_dict(), format=format, output=output)
    if verdict.problems:
        raise typer.Exit(EXIT_NO)
