import re
from typing import Any

import click

from abstain.cli import EXIT_NO, options
from abstain.cli.command import FILE, READING, Showing, argument, command, option, shows, working
from abstain.cli.options import OPTIONS
from abstain.errors import UsageError


@command
@argument("files", nargs=-1, required=True, metavar="FILE", help="The tables to check.")
@option("-n --questions N", "The number of questions behind each row.", type=click.IntRange(min=1))
@option(
    "--sizes NAME=N",
    "The number of questions behind the scores of a column: auxiliary=44. A column that names no "
    "measure is taken to hold c@1; --column says otherwise. Repeatable.",
    multiple=True,
)
@option(
    "--with COUNTS",
    "A table with the counts of the same runs. Repeatable.",
    to="companions",
    type=FILE,
    multiple=True,
)
@option(
    "-c --column NAME=COLUMN",
    "The column that holds a count or a measure: right=R, c@1=score. Repeatable.",
    multiple=True,
    section=READING,
)
@option("--from FORMAT", OPTIONS["format"][1], to="from_format", section=READING)
@option("--ignore COLUMN", "A column to leave out. Repeatable.", multiple=True)
@options.most("How many findings a table shows (0: all of them).")
@shows(digits=False)
def audit(
    files: tuple[str, ...],
    sizes: tuple[str, ...],
    column: tuple[str, ...],
    from_format: str | None,
    most: int,
    out: Showing,
    **how: Any,
) -> None:
    """Check the arithmetic of published tables. Exit code 1 if something is wrong.

    \b
    abstain audit counts.csv
    abstain audit subsets.csv --sizes auxiliary=44 --with counts.csv
    abstain audit table14.csv table15.csv -c c@1=all

    Counts must add up. Scores must follow from the counts, or at least be attainable. Totals,
    means and medians must follow from their rows.
    """
    from abstain.features.audit.analysis import audit as audited

    named = options.pairs(sizes, "--sizes", "auxiliary=44")
    for name, size in named.items():
        if re.fullmatch(r"[1-9]\d{0,15}", size) is None:
            raise UsageError(f"--sizes must be NAME=N, such as auxiliary=44 (got '{name}={size}')")
    how |= {"columns": _columns(column), "format": from_format}
    with working("checking…"):
        result = audited(files, sizes={name: int(n) for name, n in named.items()}, **how)
    if result.agrees and not result.cells:
        raise UsageError(
            "nothing could be checked: say what the columns hold (-c c@1=COLUMN) and how many "
            "questions they cover (--questions N, or --sizes COLUMN=N)"
        )
    out.show(result, most=most)
    if not result.agrees:
        raise click.exceptions.Exit(EXIT_NO)


def _columns(texts: tuple[str, ...]) -> list[tuple[str, str]]:
    meanings: dict[str, str] = {}
    for text in texts:
        # A measure's parameters have an equals sign too: credit(t=0.5)=score.
        name, _, column = (part.strip() for part in text.rpartition("="))
        if not name or not column:
            raise UsageError(f"--column must be NAME=COLUMN, such as right=R (got '{text}')")
        if meanings.setdefault(column, name) != name:
            raise UsageError(f"--column '{column}' appears twice")
    return [(name, column) for column, name in meanings.items()]
