"""`abstain audit`."""

from __future__ import annotations

import click

from abstain.cli import EXIT_NO, options
from abstain.cli.command import FILE, READING, argument, command, option
from abstain.cli.showing import Showing, shows, working
from abstain.errors import UsageError
from abstain.judging.reading import OPTIONS


@command
@argument("files", nargs=-1, required=True, metavar="FILE", help="The tables to check.")
@option(
    "-n",
    "--questions",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many questions each row is over.",
)
@option(
    "--sizes",
    multiple=True,
    metavar="NAME=N|FILE",
    help="How many questions the scores of a column are over: auxiliary=44, or a table with the "
    "column questions. Repeatable.",
)
@option(
    "--with",
    "companions",
    type=FILE,
    multiple=True,
    metavar="COUNTS",
    help="A table with the counts of the same runs. Repeatable.",
)
@options.measure("What columns hold that are named only by their questions.", default="c@1")
@option(
    "-c",
    "--column",
    multiple=True,
    metavar="NAME=COLUMN",
    section=READING,
    help="The column that holds a count or a measure: right=R, c@1=score. Repeatable.",
)
@option("--from", "from_format", metavar="FORMAT", section=READING, help=OPTIONS["format"][2])
@option("--ignore", multiple=True, metavar="COLUMN", help="A column to leave out. Repeatable.")
@option(
    "--most",
    type=click.IntRange(min=0),
    default=50,
    metavar="N",
    help="How many findings a table shows (0: all of them).",
)
@shows(digits=False, page=True)
def audit(
    files: tuple[str, ...],
    questions: int | None,
    sizes: tuple[str, ...],
    companions: tuple[str, ...],
    measure: str,
    column: tuple[str, ...],
    from_format: str | None,
    ignore: tuple[str, ...],
    most: int,
    out: Showing,
) -> None:
    """Does a published table agree with itself? Exit code 1 if something is wrong.

    \b
    abstain audit counts.csv
    abstain audit subsets.csv --sizes auxiliary=44 --with counts.csv
    abstain audit table14.csv table15.csv -c c@1=all

    Counts must add up, scores follow from counts or at least be attainable, totals, means,
    medians, deviations and percentages follow from their rows, and tables agree.
    """
    from abstain.analyses.audit import audit as audited

    with working("checking…"):
        result = audited(
            files,
            questions=questions,
            sizes=sizes,
            measure=measure,
            companions=companions,
            columns=_columns(column),
            ignore=ignore,
            format=from_format,
        )
    out.show(result, most=most)
    if not result.agrees:
        raise click.exceptions.Exit(EXIT_NO)
    if not result.cells:
        raise UsageError(
            "nothing could be checked: say what the columns hold (-c c@1=COLUMN) and of how many "
            "questions (--questions N, or --sizes COLUMN=N)"
        )


def _columns(texts: tuple[str, ...]) -> list[tuple[str, str]]:
    """NAME=COLUMN texts; a measure may have several columns, a column one meaning."""
    found: dict[str, str] = {}
    for text in texts:
        # A measure's parameters have an equals sign of their own: credit(t=0.5)=score.
        cut = text.find("=", text.find(")") + 1)
        name, column = text[:cut].strip(), text[cut + 1 :].strip()
        if cut < 0 or not name or not column:
            raise UsageError(f"--column reads NAME=COLUMN, such as right=R (got '{text}')")
        if found.setdefault(column, name) != name:
            raise UsageError(f"--column '{column}' is given twice")
    return [(name, column) for column, name in found.items()]
