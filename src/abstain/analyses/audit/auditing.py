"""Does a published table agree with itself, and with its neighbours?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from abstain.analyses.audit.across import check_across
from abstain.analyses.audit.attainable import check_attainable, known_runs
from abstain.analyses.audit.columns import check_percentages, column_sums
from abstain.analyses.audit.findings import READABLE, Audit
from abstain.analyses.audit.linear import check_linear
from abstain.analyses.audit.printed import is_missing
from abstain.analyses.audit.rows import check_rows
from abstain.analyses.audit.sheet import Settings, Sheet
from abstain.analyses.audit.sizes import read_sizes
from abstain.analyses.audit.summaries import check_summaries
from abstain.errors import UsageError, option
from abstain.io.tables import read_table
from abstain.measures import measure as measure_of


def audit_tables(
    files: Sequence[str | Path],
    *,
    questions: int | None = None,
    sizes: Iterable[str] | Mapping[str, int] = (),
    measure: str = "c@1",
    companions: Sequence[str | Path] = (),
    columns: Sequence[tuple[str, str]] = (),
    ignore: Sequence[str] = (),
    format: str | None = None,
) -> Audit:
    """Check tables against arithmetic: counts, scores, sums, summaries, each other."""
    if not files:
        raise UsageError("name at least one table")
    if questions is not None and questions < 1:
        raise UsageError(f"{option('questions')} must be 1 or more (got {questions})")
    known = dict(sizes) if isinstance(sizes, Mapping) else read_sizes(sizes)
    settings = Settings(questions, str(measure_of(measure)), known, tuple(columns), tuple(ignore))
    paths = list(dict.fromkeys(map(str, files)))
    sheets = [Sheet(read_table(path, format=format), settings) for path in paths]
    beside = [Sheet(read_table(path, format=format), settings) for path in map(str, companions)]
    settings.check([*sheets, *beside])
    audit = Audit(tuple(paths))
    runs = known_runs(beside, audit)
    for sheet in sheets:
        _check_readable(sheet, audit)
        check_rows(sheet, audit)
        check_attainable(sheet, runs, audit)
        check_linear(sheet, [*check_summaries(sheet, audit), *column_sums(sheet, audit)], audit)
        check_percentages(sheet, audit)
    check_across(sheets, audit)
    audit.sort()
    return audit


def _check_readable(sheet: Sheet, audit: Audit) -> None:
    """A cell among numbers that is none."""
    for row, texts in enumerate(sheet.texts):
        for column in sheet.figures:
            if sheet.number(row, column) is None and not is_missing(texts[column]):
                audit.find(READABLE, sheet, row, column, "expected a number as in its column")
