"""Counts and scores of each row against each other, and the smallest correction of a row.

A correction changes one cell if it can, two if it must; of those, the fewest digits. Counts are
numbers or whole arrays, so that the search tries every value of a cell at once. Scores without
printed counts are compared with all the outcomes that there can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct

from abstain.errors import plural
from abstain.features.audit import result as facts_of
from abstain.features.audit.result import Audit, Change, Correction
from abstain.features.audit.table import ALL, Printed, ScoreColumn, Sheet
from abstain.outcomes import MOST as LARGEST
from abstain.outcomes import Counts, CountsArray
from abstain.runs.counts_table import BLANKS as SPLIT

CORRECTED = 200
"""Rows for which a correction is looked for."""
GRID = 1_000_000
"""Values of a cell, or pairs of values of two cells, that are tried."""
MOST = 100
"""Corrections that are kept; a row that has more says too little to be corrected."""

Values: TypeAlias = Mapping[str, Any]
"""Counts by role (right, wrong, …, questions): whole numbers or arrays of them."""


class Sum(Struct, frozen=True):
    """Some counts together are another one (or, where some are not printed, at most that)."""

    parts: tuple[str, ...]
    whole: str
    exact: bool
    rule: ClassVar[str] = facts_of.COUNTS

    def columns(self, sheet: Sheet) -> list[str]:
        roles = (self.whole, *self.parts)
        return [sheet.counts[role] for role in roles if role in sheet.counts]

    def holds(self, values: Values) -> Any:
        total = sum(values[part] for part in self.parts)
        return total == values[self.whole] if self.exact else total <= values[self.whole]

    def follows(self, values: Values) -> str:
        parts = " + ".join(f"{values[part]} {part}" for part in self.parts)
        total = sum(values[part] for part in self.parts)
        verb = "not" if self.exact else "more than"
        return f"{parts} = {total}, {verb} {values[self.whole]} {self.whole}".replace("_", " ")


class Score(Struct, frozen=True):
    """A printed score is its measure of the counts, rounded."""

    column: ScoreColumn
    printed: Printed
    rule: ClassVar[str] = facts_of.SCORES

    def columns(self, sheet: Sheet) -> list[str]:
        return [self.column.name]

    @property
    def by_candidate(self) -> bool:
        return self.column.measure.definition.needs_candidates

    def is_known(self, values: Values) -> bool:
        table = outcomes_of(values, by_candidate=self.by_candidate)
        return table is not None and bool((table >= 0).all())

    def value(self, values: Values) -> Any:
        """The scores of arrays of counts, as the column prints them; NaN if one is negative."""
        table = outcomes_of(values, by_candidate=self.by_candidate)
        scores = self.column.measure(CountsArray(np.maximum(table, 0)))
        return np.where((table >= 0).all(axis=-1), scores * self.column.scale, np.nan)

    def fits(self, scores: Any) -> Any:
        return self.printed.meets(scores, scores)

    def holds(self, values: Values) -> Any:
        return self.fits(self.value(values))

    def follows(self, values: Values) -> str:
        value = float(self.value(values))
        if np.isnan(value):
            counts = Counts.of(outcomes_of(values, by_candidate=self.by_candidate).tolist())
            return f"undefined: {self.column.measure.why_undefined(counts)}"
        return f"the counts give {value:.6g}" + "; truncated" * self.printed.truncates(value)


Check: TypeAlias = Sum | Score


def sums_of(roles: Mapping[str, Any]) -> list[Sum]:
    blanks = ("unanswered",) if "unanswered" in roles else SPLIT
    sums = [("answered", ("right", "wrong")), ("unanswered", SPLIT)]
    if "answered" in roles:
        sums.append(("questions", ("answered", *blanks)))
    if "answered" not in roles or {"right", "wrong"} & roles.keys():
        sums.append(("questions", ("right", "wrong", *blanks)))
    there = [(tuple(p for p in parts if p in roles), whole, parts) for whole, parts in sums]
    return [Sum(p, whole, p == parts) for p, whole, parts in there if p and whole in roles]


def filled(values: Values) -> dict[str, Any]:
    """Counts with those that follow; of two ways to a number, the one that is printed is taken."""
    known, answered = dict(values), ("answered", ("right", "wrong"))
    questions = ("questions", ("answered", "unanswered"))
    for whole, parts in (("unanswered", SPLIT), answered, questions, answered):
        lacking = [role for role in (whole, *parts) if role not in known]
        if len(lacking) == 1:
            total = sum(known[part] for part in parts if part in known)
            known[lacking[0]] = total if lacking[0] == whole else known[whole] - total
    return known


def outcomes_of(values: Values, *, by_candidate: bool = False) -> Any:
    """The six counts of a row as the last axis of an array, or None where they are not known."""
    known = filled(values)
    needed = {"right", "wrong", "unanswered"} | ({"unanswered_right"} if by_candidate else set())
    if not needed <= known.keys():
        return None
    blank = known["unanswered"]
    split = [0, 0, 0, blank]
    if by_candidate:  # no measure tells UW from UE
        split = [known["unanswered_right"], blank - known["unanswered_right"], 0, 0]
    return np.stack(np.broadcast_arrays(known["right"], known["wrong"], *split), axis=-1)


def number_of_questions(sheet: Sheet, audit: Audit) -> int | None:
    """How many questions each row is over: as the user says, or as most rows agree."""
    declared = sheet.settings.questions or sheet.settings.sizes.get(ALL)
    if sheet.settings.questions or "questions" in sheet.counts or not sheet.counts:
        return declared
    totals = Counter(filled(row_counts(sheet, row)).get("questions") for row in sheet.body)
    del totals[None]
    common, times = next(iter(totals.most_common(1)), (None, 0))
    if totals.total() < 3 or 3 * times < 2 * totals.total():
        return declared
    if common != declared:
        audit.note(
            f"{sheet.name}: taken to have {common} questions, because {times} of {totals.total()} "
            "rows add up to that (the option questions sets another number)."
        )
    return common


def row_counts(sheet: Sheet, row: int, questions: int | None = None) -> dict[str, int]:
    """The counts that a row prints; how many questions it is over where somebody says it."""
    known = {} if questions is None else {"questions": questions}
    return known | {
        role: int(number.value)
        for role, column in sheet.counts.items()
        for number in sheet.numbers([(row, column)])
        if _is_count(number)
    }


def _is_count(number: Printed) -> bool:
    return number.value.denominator == 1 and 0 <= number.value <= LARGEST


def scores_of(sheet: Sheet, row: int, slice: str) -> list[Score]:
    return [
        Score(column, number)
        for column in sheet.scores
        for number in sheet.numbers([(row, column.name)])
        if column.slice == slice
    ]


def check_rows(sheet: Sheet, questions: int | None, audit: Audit) -> None:
    corrected = 0
    for row in sheet.body if sheet.counts else ():
        for cell in product([row], sheet.counts.values()):
            if not all(map(_is_count, sheet.numbers([cell]))):
                audit.check(facts_of.COUNTS, sheet, [cell], "a count is a whole number, 0 or more")
        counts, scores = row_counts(sheet, row, questions), scores_of(sheet, row, ALL)
        checks: list[Check] = [*sums_of(counts), *(s for s in scores if s.is_known(counts))]
        errors = ["" if check.holds(counts) else check.follows(counts) for check in checks]
        corrected += any(errors)
        tried = any(errors) and corrected <= CORRECTED
        fixes = corrections(sheet, row, counts, checks) if tried else []
        for check, follows in zip(checks, errors, strict=True):
            cells = [(row, column) for column in check.columns(sheet)]
            audit.check(check.rule, sheet, cells, follows, fixes)


def corrections(
    sheet: Sheet, row: int, counts: Values, checks: Sequence[Check]
) -> list[Correction]:
    cells: list[str | Score] = [*row_counts(sheet, row)]
    cells += [check for check in checks if isinstance(check, Score)]
    for size in (1, 2):
        tried = (_changes(sheet, row, some, counts, checks) for some in combinations(cells, size))
        if fixes := [fix for fixes in tried for fix in fixes]:
            return [Correction(fix, len(checks)) for fix in facts_of.fewest_digits(fixes)[:MOST]]
    return []


def _changes(
    sheet: Sheet, row: int, cells: Sequence[str | Score], counts: Values, checks: Sequence[Check]
) -> Iterator[tuple[Change, ...]]:
    """What the chosen cells would have to say: counts are tried, scores then follow."""
    roles = [cell for cell in cells if isinstance(cell, str)]
    scores = [cell for cell in cells if isinstance(cell, Score)]
    size = 1 + max(counts.get("questions", 0), 2 * max(counts.values()), 9)
    if size ** len(roles) > GRID:
        return
    grid = np.indices((size,) * len(roles)).reshape(len(roles), size ** len(roles))
    values = dict(counts) | dict(zip(roles, grid, strict=True))
    good = np.all([np.ones(grid.shape[1], np.bool_), *(values[r] != counts[r] for r in roles)], 0)
    for check in checks:
        good &= check in scores or check.holds(values)
    for hit in np.flatnonzero(good)[: 10 * MOST]:
        tried = {role: int(values[role][hit]) for role in roles}
        made = [(score, float(score.value(dict(counts) | tried))) for score in scores]
        if not any(np.isnan(value) or score.fits(value) for score, value in made):
            texts = {sheet.counts[role]: str(number) for role, number in tried.items()}
            texts |= {score.column.name: score.printed.like(value) for score, value in made}
            yield tuple(facts_of.change_of(sheet, row, *text) for text in texts.items())


LIMIT = 2_000_000
"""Outcomes that are enumerated for one score; more have practically every score."""


class Bounds(NamedTuple):
    """How many questions, and the least and the most of each outcome."""

    questions: int
    right: tuple[int, int]
    wrong: tuple[int, int]
    unanswered: tuple[int, int]

    @classmethod
    def of(cls, run: Counts | None, counts: Mapping[str, int]) -> Bounds:
        """What a run's counts over all questions leave open for some, and a row's for all."""
        n, known, ends = counts["questions"], filled(counts), []
        for role in ("right", "wrong", "unanswered"):
            least, most = 0, n
            if role in known:
                least = most = known[role]
            elif run is not None and run.n >= n:
                most = min(int(getattr(run, role)), n)
                least = max(0, int(getattr(run, role)) - (int(run.n) - n))
            ends.append((least, most))
        return cls(n, *ends)

    def __str__(self) -> str:
        return f"{plural(self.questions, 'question')} with at most {self.unanswered[1]} unanswered"


def known_runs(sheet: Sheet, audit: Audit) -> dict[tuple[str, ...], Counts]:
    """The counts of every run in a companion table; a row that does not add up tells nothing."""
    known: dict[tuple[str, ...], Counts] = {}
    questions = number_of_questions(sheet, audit)
    for row in sheet.body:
        counts = row_counts(sheet, row, questions)
        table = outcomes_of(counts)
        adds_up = all(total.holds(counts) for total in sums_of(counts))
        if table is not None and (table >= 0).all() and adds_up:
            known[sheet.key(row)] = Counts.of(table.tolist())
    if not known:
        audit.note(f"{sheet.name}: not used, because no row has counts that add up.")
    return known


def check_attainable(
    sheet: Sheet, questions: int | None, known: Mapping[tuple[str, ...], Counts], audit: Audit
) -> None:
    """Check every score whose number of questions is known and whose counts are not printed."""
    for slice, row in product(dict.fromkeys(s.slice for s in sheet.scores), sheet.body):
        run = known.get(sheet.key(row))
        counts = {"questions": sheet.settings.sizes.get(slice, 0)}
        if slice == ALL:
            counts = row_counts(sheet, row, questions or (int(run.n) if run else 0))
        if not counts["questions"]:
            continue
        bounds = Bounds.of(run, counts)
        fitting: dict[str, Any] = {}
        for score in scores_of(sheet, row, slice):
            # with all its counts printed a score was checked by them
            if score.is_known(counts):
                continue
            name, made = score.column.name, _scores(score.column, bounds)
            if made is None:
                why = f"{counts['questions']:,} questions have too many outcomes"
                audit.note(f"{sheet.name}: {name} is not checked for attainability: {why}.")
                continue
            fits, wrong = score.fits(made), ""
            if not fits.any():
                wrong = f"no outcome of {bounds} rounds to the printed score"
                wrong += "; truncated" * score.printed.truncates(made)
            elif not score.by_candidate:
                fitting[name] = fits
            audit.check(facts_of.ATTAINABLE, sheet, [(row, name)], wrong)
        if len(fitting) > 1:
            follows = f"no outcome of {bounds} gives the printed {' and '.join(fitting)} together"
            wrong = "" if np.all([*fitting.values()], axis=0).any() else follows
            audit.check(facts_of.ATTAINABLE, sheet, [(row, name) for name in fitting], wrong)


@lru_cache(maxsize=16)
def _scores(column: ScoreColumn, bounds: Bounds) -> Any:
    """All scores that there can be within bounds; None where there are too many outcomes."""
    n, (r0, r1), (w0, w1), (u0, u1) = bounds
    most = max(u1, 0) if column.measure.definition.needs_candidates else 0
    if max(0, r1 - r0 + 1) * max(0, u1 - u0 + 1) * max(1, most) > LIMIT:
        return None
    right, blank, lucky = np.mgrid[r0 : r1 + 1, u0 : u1 + 1, : most + 1].reshape(3, -1)
    wrong = n - right - blank
    table = np.stack([right, wrong, lucky, blank - lucky, 0 * right, 0 * right], axis=-1)
    table = table[(lucky <= blank) & (max(0, w0) <= wrong) & (wrong <= w1)]
    return column.measure(CountsArray(table)) * column.scale
