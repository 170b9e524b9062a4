"""Scores that no whole outcome of so many questions rounds to.

Every outcome (right, wrong, unanswered) of n questions is scored in one call. What else is
known of the row narrows the outcomes: a run that left nothing blank left nothing blank in any
subset, and a subset has at most the run's right answers and lacks at most those outside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from abstain.analyses.audit.result import ATTAINABLE, Audit
from abstain.analyses.audit.rows import (
    OPEN,
    Score,
    complete,
    counts_of,
    number_of_questions,
    row_counts,
    scores_of,
    sums_of,
)
from abstain.analyses.audit.sheet import ALL, ScoreColumn, Sheet
from abstain.errors import plural
from abstain.measures import Measure
from abstain.outcomes import Counts, CountsArray

LIMIT = 2_000_000
"""Outcomes that are enumerated for one score; more have practically every score."""
SUSPECT = 10
"""A size is questioned when one row in so many cannot come from it."""
SIZES = 5
MAX_SIZE = 1000
BUDGET = 20_000_000
"""Outcomes that are tried in all to find the number of questions behind a column."""

Bounds: TypeAlias = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""The least and the most right, wrong and unanswered."""
Tried: TypeAlias = tuple[Score, Counts | None]
"""A score, and the counts of its run over all questions, where a companion table has them."""


def known_runs(sheets: Sequence[Sheet], audit: Audit) -> dict[tuple[str, ...], Counts]:
    """The counts of every run in companion tables; a row that does not add up tells nothing."""
    found: dict[tuple[str, ...], Counts] = {}
    for sheet in sheets:
        if not sheet.counts:
            audit.note(f"{sheet.name}: has no counts of right and wrong answers; not used.")
        questions = number_of_questions(sheet, audit)
        doubtful: list[str] = []
        for row in sheet.body:
            counts = row_counts(sheet, row)
            if questions is not None:
                counts.setdefault("questions", questions)
            if complete(counts, candidates=False) is None:
                continue
            own = counts_of(counts, candidates=False)
            if own is not None and all(total.holds(counts) for total in sums_of(list(counts))):
                found[sheet.key(row)] = own
            else:
                doubtful.append(sheet.row_name(row))
        if doubtful:
            audit.note(
                f"{sheet.name}: these rows are not used, because their counts do not add up: "
                f"{', '.join(doubtful)}."
            )
    return found


def check_attainable(sheet: Sheet, known: Mapping[tuple[str, ...], Counts], audit: Audit) -> None:
    """Check every score whose number of questions is known and whose counts are not printed."""
    questions = number_of_questions(sheet, audit)
    tried: dict[str, list[Tried]] = {}
    failed: Counter[str] = Counter()
    for slice in dict.fromkeys(s.slice for s in sheet.scores):
        for row in sheet.body:
            counts = row_counts(sheet, row) if slice == ALL else {}
            run = known.get(sheet.key(row))
            n = sheet.settings.sizes.get(slice)
            if slice == ALL:
                n = counts.get("questions", questions or (int(run.n) if run else None))
            if n is None or n < 1:
                continue
            if counts:
                counts.setdefault("questions", n)
            bounds = _bounds(n, run, counts)
            good: list[Score] = []
            for score, reason in scores_of(sheet, row, slice, counts):
                if reason != OPEN:  # it was checked with the printed counts
                    continue
                if not _few(score.of.measure, bounds):
                    audit.note(
                        f"{sheet.name}: {score.column} is not checked for attainability, "
                        f"because {n:,} questions have too many possible outcomes."
                    )
                    continue
                audit.check(ATTAINABLE, sheet, [(row, score.column)])
                tried.setdefault(score.column, []).append((score, run))
                if _attainable(score, n, bounds):
                    good.append(score)
                else:
                    failed[score.column] += 1
                    audit.find(ATTAINABLE, sheet, row, score.column, _why_not(score, n, bounds))
            if len(good) > 1 and not _jointly(good, n, bounds):
                names = " and ".join(score.column for score in good)
                follows = (
                    f"no outcome of {plural(n, 'question')} gives the printed {names} together"
                )
                audit.find(ATTAINABLE, sheet, row, good[0].column, follows)
    for column in sheet.scores:
        rows = tried.get(column.column, [])
        if failed[column.column] and SUSPECT * failed[column.column] >= len(rows):
            _other_sizes(sheet, column, rows, questions, audit)


def _bounds(n: int, run: Counts | None, counts: Mapping[str, int]) -> Bounds:
    """What a run's counts over all questions leave open for n of them, and a row's for all."""
    right, wrong, unanswered = (0, n), (0, n), (0, n)
    if run is not None and run.n >= n:
        outside = int(run.n) - n
        right, wrong, unanswered = (
            (max(0, int(k) - outside), min(int(k), n))
            for k in (run.right, run.wrong, run.unanswered)
        )
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


@lru_cache(maxsize=8)
def _outcomes(n: int, bounds: Bounds, candidates: bool) -> Any:
    """Every outcome within bounds: (…, 6) counts."""
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


@lru_cache(maxsize=8)
def _scores(which: Measure, n: int, bounds: Bounds) -> Any:
    needs = which.definition.needs_candidates
    return which(CountsArray(_outcomes(n, bounds, needs)))


@lru_cache(maxsize=8)
def _sorted(which: Measure, n: int, bounds: Bounds) -> Any:
    scores = _scores(which, n, bounds)
    return np.unique(scores[~np.isnan(scores)])


def _attainable(score: Score, n: int, bounds: Bounds) -> bool:
    scores = _sorted(score.of.measure, n, bounds)
    low, high = score.range
    return bool(np.searchsorted(scores, low, "left") < np.searchsorted(scores, high, "right"))


def _jointly(cells: Sequence[Score], n: int, bounds: Bounds) -> bool:
    table = CountsArray(_outcomes(n, bounds, any(score.candidates for score in cells)))
    good: Any = True
    for score in cells:
        low, high = score.range
        scores = score.of.measure(table)
        good = good & (low <= scores) & (scores <= high)
    return bool(good.any())


def _why_not(score: Score, n: int, bounds: Bounds) -> str:
    """The nearest scores below and above that can be, and whether one was cut off."""
    column, number = score.of, score.printed
    scores = _scores(column.measure, n, bounds)
    table = _outcomes(n, bounds, score.candidates)
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
                    cut = f"; the printed score is {value:.4g} truncated"
    nearest = f" (nearest: {' and '.join(near)})" if near else ""
    return f"no outcome of {whom} rounds to the printed score{nearest}{cut}"


def _other_sizes(
    sheet: Sheet, column: ScoreColumn, rows: Sequence[Tried], questions: int | None, audit: Audit
) -> None:
    """Say which numbers of questions every score of a column could come from."""
    totals = [int(run.n) for _, run in rows if run is not None]
    top = min(MAX_SIZE, questions or (max(totals) if totals else MAX_SIZE))
    # Rows that leave least open come first: most sizes fail at once.
    order = sorted(rows, key=lambda item: item[1].unanswered if item[1] else MAX_SIZE)
    order = [item for item in order if not _beyond(item[0])]
    beyond = len(rows) - len(order)  # which no number of questions gives
    every: list[int] = []
    but_one: list[int] = []
    tried, budget = 0, BUDGET
    for n in range(1, top + 1 if beyond < 2 else 1):
        budget -= (n + 1) * (n + 2) // 2
        if budget < 0:
            break
        tried = n
        misfits = beyond + _misfits(order, n)
        if misfits == 0:
            every.append(n)
        elif misfits == 1 and not every:
            but_one.append(n)
        if len(every) == SIZES or (beyond and len(but_one) == SIZES):
            break
    up_to = "" if beyond or tried == top else f" up to {tried:,}"
    none = f"no number of questions{up_to} makes every row possible"
    said = [f"every row is possible with {_list(every)} questions" if every else none]
    if but_one:
        said.append(f"all rows but one are possible with {_list(but_one)}")
    audit.note(f"{sheet.name}: {column.column}: {'; '.join(said)}.")


def _beyond(score: Score) -> bool:
    """Whether a score is out of its measure's bounds, however it was rounded."""
    low, high = score.of.measure.bounds
    return score.range[1] < low or score.range[0] > high


def _misfits(rows: Sequence[Tried], n: int) -> int:
    """How many rows cannot come from n questions; it stops at the second."""
    misfits = 0
    for score, run in rows:
        bounds = _bounds(n, run, {})
        misfits += _few(score.of.measure, bounds) and not _attainable(score, n, bounds)
        if misfits > 1:
            break
    return misfits


def _list(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes[:SIZES])) + (" …" if len(sizes) >= SIZES else "")
