"""Scores that no whole outcome of so many questions rounds to.

Every outcome (right, wrong, unanswered) of n questions is scored in one call. What else is
known of the row narrows the outcomes: a run that left nothing blank left nothing blank in any
subset, and a subset has at most the run's right answers and lacks at most those outside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from abstain.analyses.audit.constraints import complete, counts_of, sums_of
from abstain.analyses.audit.findings import ATTAINABLE, Audit
from abstain.analyses.audit.printed import TOLERANCE, Printed
from abstain.analyses.audit.rows import number_of_questions, row_counts
from abstain.analyses.audit.sheet import ALL, ScoreColumn, Sheet
from abstain.errors import plural
from abstain.measures import Measure
from abstain.measures.definition import SPLIT_UNKNOWN
from abstain.outcomes import CountsArray

LIMIT = 2_000_000
"""Outcomes that are enumerated for one score; more have practically every score."""
SUSPECT = 10
"""A size is questioned when one row in so many cannot come from it."""
SIZES = 5
MAX_SIZE = 1000

Bounds: TypeAlias = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""The least and the most right, wrong and unanswered."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a run's counts over all questions are."""

    right: int
    wrong: int
    unanswered: int

    @property
    def questions(self) -> int:
        """All of them."""
        return self.right + self.wrong + self.unanswered

    def bounds(self, n: int) -> Bounds:
        """What they leave open for a subset of n questions."""
        outside = self.questions - n
        right, wrong, unanswered = (
            (max(0, k - outside), min(k, n)) for k in (self.right, self.wrong, self.unanswered)
        )
        return right, wrong, unanswered


def known_runs(sheets: Sequence[Sheet], audit: Audit) -> dict[tuple[str, ...], Known]:
    """The counts of every run in companion tables; a row that does not add up tells nothing."""
    found: dict[tuple[str, ...], Known] = {}
    for sheet in sheets:
        if not sheet.counts:
            audit.note(f"{sheet.name}: has no counts of right and wrong answers; not used.")
        questions = number_of_questions(sheet, audit)
        doubtful: list[str] = []
        for row in sheet.body:
            counts = row_counts(sheet, row)
            if questions is not None:
                counts.setdefault("questions", questions)
            table = complete(counts, candidates=False) if counts else None
            if table is None:
                continue
            if all(total.holds(counts) for total in sums_of(list(counts))):
                found[sheet.key(row)] = Known(int(table[0]), int(table[1]), int(table[5]))
            else:
                doubtful.append(sheet.row_name(row))
        if doubtful:
            audit.note(
                f"{sheet.name}: not used, as the counts do not add up: {', '.join(doubtful)}."
            )
    return found


def check_attainable(sheet: Sheet, known: Mapping[tuple[str, ...], Known], audit: Audit) -> None:
    """Check every score whose number of questions is known and whose counts are not printed."""
    questions = number_of_questions(sheet)
    suspects: dict[str, list[tuple[int, Printed, Known | None]]] = {}
    failed: dict[str, int] = {}
    for slice in dict.fromkeys(s.slice for s in sheet.scores):
        for row in sheet.body:
            counts = row_counts(sheet, row)
            facts = known.get(sheet.key(row))
            n = _size(sheet, slice, counts, questions or (facts.questions if facts else None))
            if n is None or n < 1:
                continue
            if slice == ALL and counts:
                counts.setdefault("questions", n)
            bounds = _bounds(n, facts, counts if slice == ALL else {})
            cells: list[tuple[ScoreColumn, Printed]] = []
            for column in sheet.of(slice):
                number = sheet.number(row, column.column)
                if slice == ALL and _determined(column, counts):
                    continue
                if number is not None and _few(column.measure, bounds):
                    cells.append((column, number))
                elif number is not None:
                    audit.note(
                        f"{sheet.name}: {column.column} is not tried against every outcome of "
                        f"{n:,} questions: there are too many."
                    )
            good: list[tuple[ScoreColumn, Printed]] = []
            for column, number in cells:
                audit.check(ATTAINABLE, sheet, [(row, column.column)])
                suspects.setdefault(column.column, []).append((row, number, facts))
                if _attainable(column, number, n, bounds):
                    good.append((column, number))
                else:
                    failed[column.column] = failed.get(column.column, 0) + 1
                    follows = _why_not(column, number, n, bounds)
                    audit.find(ATTAINABLE, sheet, row, column.column, follows)
            if len(good) > 1 and not _jointly(good, n, bounds):
                names = " and ".join(column.column for column, _ in good)
                follows = f"no outcome of {plural(n, 'question')} gives {names} together"
                audit.find(ATTAINABLE, sheet, row, good[0][0].column, follows)
    for column in sheet.scores:
        rows = suspects.get(column.column, [])
        if SUSPECT * failed.get(column.column, 0) >= len(rows) > 0 and failed.get(column.column):
            _other_sizes(sheet, column, rows, questions, audit)


def _determined(column: ScoreColumn, counts: Mapping[str, int]) -> bool:
    """Whether the printed counts say what the score is, so that it was checked with them."""
    needs = column.measure.definition.needs_candidates
    tally = counts_of(counts, candidates=needs)
    return tally is not None and column.measure.why_undefined(tally) != SPLIT_UNKNOWN.reason


def _size(sheet: Sheet, slice: str, counts: Mapping[str, int], questions: int | None) -> int | None:
    if slice == ALL:
        return counts.get("questions", questions)
    return sheet.settings.sizes.get(slice)


def _bounds(n: int, known: Known | None, counts: Mapping[str, int]) -> Bounds:
    right, wrong, unanswered = (0, n), (0, n), (0, n)
    if known is not None and known.questions >= n:
        right, wrong, unanswered = known.bounds(n)
    if "right" in counts:
        right = (counts["right"], counts["right"])
    if "wrong" in counts:
        wrong = (counts["wrong"], counts["wrong"])
    if "unanswered" in counts:
        unanswered = (counts["unanswered"], counts["unanswered"])
    elif "answered" in counts:
        unanswered = (n - counts["answered"], n - counts["answered"])
    return right, wrong, unanswered


def _few(which: Measure, bounds: Bounds) -> bool:
    (r0, r1), _, (u0, u1) = bounds
    outcomes = max(0, r1 - r0 + 1) * max(0, u1 - u0 + 1)
    if which.definition.needs_candidates:
        outcomes *= max(1, u1)
    return outcomes <= LIMIT


@lru_cache(maxsize=64)
def _outcomes(n: int, bounds: Bounds, candidates: bool) -> Any:
    """Every outcome within bounds: (…, 6) counts."""
    import numpy as np

    (r0, r1), (w0, w1), (u0, u1) = bounds
    right, blank = (
        a.ravel() for a in np.meshgrid(np.arange(r0, r1 + 1), np.arange(u0, u1 + 1), indexing="ij")
    )
    wrong = n - right - blank
    fits = (blank >= 0) & (wrong >= max(0, w0)) & (wrong <= w1)
    right, wrong, blank = right[fits], wrong[fits], blank[fits]
    zero = np.zeros_like(right)
    if not candidates:
        return np.stack([right, wrong, zero, zero, zero, blank], axis=-1)
    times = blank + 1
    starts = np.repeat(np.cumsum(times) - times, times)
    lucky = np.arange(times.sum()) - starts
    right, wrong, blank = (np.repeat(a, times) for a in (right, wrong, blank))
    zero = np.zeros_like(right)
    return np.stack([right, wrong, lucky, blank - lucky, zero, zero], axis=-1)


@lru_cache(maxsize=64)
def _scores(which: Measure, n: int, bounds: Bounds) -> Any:
    """The scores of all outcomes within bounds."""
    needs = which.definition.needs_candidates
    return which(CountsArray(_outcomes(n, bounds, needs)))


@lru_cache(maxsize=64)
def _sorted(which: Measure, n: int, bounds: Bounds) -> Any:
    import numpy as np

    scores = _scores(which, n, bounds)
    return np.unique(scores[~np.isnan(scores)])


def _range(column: ScoreColumn, number: Printed) -> tuple[float, float]:
    low, high = float(number.low / column.scale), float(number.high / column.scale)
    return low - TOLERANCE, high + TOLERANCE


def _attainable(column: ScoreColumn, number: Printed, n: int, bounds: Bounds) -> bool:
    import numpy as np

    scores = _sorted(column.measure, n, bounds)
    low, high = _range(column, number)
    return bool(np.searchsorted(scores, low, "left") < np.searchsorted(scores, high, "right"))


def _jointly(cells: Sequence[tuple[ScoreColumn, Printed]], n: int, bounds: Bounds) -> bool:
    needs = any(column.measure.definition.needs_candidates for column, _ in cells)
    table = CountsArray(_outcomes(n, bounds, needs))
    good: Any = True
    for column, number in cells:
        low, high = _range(column, number)
        scores = column.measure(table)
        good = good & (low <= scores) & (scores <= high)
    return bool(good.any())


def _why_not(column: ScoreColumn, number: Printed, n: int, bounds: Bounds) -> str:
    """The nearest scores below and above that can be, and whether one was cut off."""
    import numpy as np

    scores = _scores(column.measure, n, bounds)
    table = _outcomes(n, bounds, column.measure.definition.needs_candidates)
    (_, _, (u0, u1)) = bounds
    blank = "nothing unanswered" if u1 == 0 else f"{u0} to {u1} unanswered" if u1 < n else ""
    blank = f"{u0} unanswered" if u0 == u1 > 0 else blank
    whom = f"{plural(n, 'question')}{f' with {blank}' if blank else ''}"
    target = float(number.value) / column.scale
    near: list[str] = []
    cut = ""
    with np.errstate(invalid="ignore"):
        for side in (scores < target, scores > target):
            chosen = np.flatnonzero(side)
            if len(chosen):
                best = chosen[np.argmin(np.abs(scores[chosen] - target))]
                value, right = float(scores[best]) * column.scale, int(table[best, 0])
                blanks = int(table[best, 2:].sum())
                near.append(
                    f"{value:.4g} from {right} right" + (f", {blanks} unanswered" if blanks else "")
                )
                if number.truncates(value):
                    cut = f"; {value:.4g} truncated gives it"
    nearest = f" (nearest: {' and '.join(near)})" if near else ""
    return f"no outcome of {whom} rounds to it{nearest}{cut}"


def _other_sizes(
    sheet: Sheet,
    column: ScoreColumn,
    rows: Sequence[tuple[int, Printed, Known | None]],
    questions: int | None,
    audit: Audit,
) -> None:
    """Say which numbers of questions every score of a column could come from."""
    totals = [k.questions for _, _, k in rows if k is not None]
    top = min(MAX_SIZE, questions or (max(totals) if totals else MAX_SIZE))
    # Rows that leave least open come first: most sizes fail at once.
    order = sorted(rows, key=lambda item: item[2].unanswered if item[2] else MAX_SIZE)
    every: list[int] = []
    but_one: list[int] = []
    for n in range(1, top + 1):
        misfits = _misfits(column, order, n)
        if misfits == 0:
            every.append(n)
        elif misfits == 1 and not every:
            but_one.append(n)
        if len(every) == SIZES:
            break
    said = [f"every row fits {_list(every)} questions" if every else "no size fits every row"]
    if but_one:
        said.append(f"all but one fit {_list(but_one)}")
    audit.note(f"{sheet.name}: {column.column}: {'; '.join(said)}.")


def _misfits(column: ScoreColumn, rows: Sequence[tuple[int, Printed, Known | None]], n: int) -> int:
    """How many rows cannot come from n questions; it stops at the second."""
    misfits = 0
    for _, number, facts in rows:
        bounds = _bounds(n, facts, {})
        misfits += _few(column.measure, bounds) and not _attainable(column, number, n, bounds)
        if misfits > 1:
            break
    return misfits


def _list(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes[:SIZES])) + (" …" if len(sizes) >= SIZES else "")
