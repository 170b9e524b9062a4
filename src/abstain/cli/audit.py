"""`abstain audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from abstain.cli import EXIT_NO, showing
from abstain.cli.options import FormatOption, FromOption, OutputOption
from abstain.errors import UsageError


def audit(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="The tables to check.")],
    questions: Annotated[
        int | None,
        typer.Option("--questions", "-n", min=1, help="How many questions each row is over."),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--sizes",
            metavar="NAME=N|FILE",
            help="How many questions the scores of a column are over: auxiliary=44, or a table "
            "with the column questions. Repeatable.",
        ),
    ] = None,
    companions: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="COUNTS", help="A table with the counts of the same runs. Repeatable."
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure", "-m", help="What columns hold that are named only by their questions."
        ),
    ] = "c@1",
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME=COLUMN",
            help="The column that holds a count or a measure: right=R, c@1=score. Repeatable.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="COLUMN", help="A column to leave out. Repeatable."),
    ] = None,
    most: Annotated[
        int, typer.Option(min=0, help="How many findings a table shows (0: all of them).")
    ] = 50,
    from_format: FromOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
) -> None:
    """Does a published table agree with itself? Exit code 1 if something is wrong.

    \b
    abstain audit counts.csv
    abstain audit subsets.csv --sizes auxiliary=44 --with counts.csv
    abstain audit table14.csv table15.csv -c c@1=all

    Counts must add up, scores follow from counts or at least be attainable, totals, means,
    medians, deviations and percentages follow from their rows, and tables agree.
    """
    from abstain.analyses.audit import audit_tables
    from abstain.report.audit import audit_grid, narrow_grid

    with showing.working("checking…"):
        result = audit_tables(
            files,
            questions=questions,
            sizes=sizes or (),
            measure=measure,
            companions=companions or (),
            columns=_columns(column),
            ignore=ignore or (),
            format=from_format,
        )
    showing.show(
        audit_grid(result, most=most),
        result.to_dict(),
        format=format,
        output=output,
        narrow=narrow_grid(result, most=most),
    )
    if not result.agrees:
        raise typer.Exit(EXIT_NO)
    if not result.checked:
        raise UsageError(
            "nothing could be checked: say what the columns hold (-c c@1=COLUMN) and of how many "
            "questions (--questions N, or --sizes COLUMN=N)"
        )


def _columns(texts: list[str] | None) -> list[tuple[str, str]]:
    """NAME=COLUMN texts; a measure may have several columns, a column one meaning."""
    found: dict[str, str] = {}
    for text in texts or ():
        # A measure's parameters have an equals sign of their own: credit(t=0.5)=score.
        cut = text.find("=", text.find(")") + 1)
        name, column = text[:cut].strip(), text[cut + 1 :].strip()
        if cut < 0 or not name or not column:
            raise UsageError(f"--column reads NAME=COLUMN, such as right=R (got '{text}')")
        if found.setdefault(column, name) != name:
            raise UsageError(f"--column '{column}' is given twice")
    return [(name, column) for column, name in found.items()]
