"""Checks of a declaration: does the measure do what it declares?

Measures of plug-ins are checked on a few cases when they are declared, built-in ones by the tests;
`abstain.testing.check_measure` draws hundreds more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Any, NoReturn

from abstain.errors import UsageError, shown
from abstain.measures.answers import Answers, Resamples
from abstain.measures.definition import Array, np
from abstain.measures.kinds import Measure
from abstain.outcomes import Counts, CountsArray

CLOSE = 1e-9
REACH = 1e-6
"""The tolerance for κ and p*, which may be numerical derivatives."""
MOST = 3
"""The largest number of questions that a measure is tried on."""
NAME = re.compile(r"[^\s()=,]([^()=,]*[^\s()=,])?")
ANSWERS = (
    ((1, 1, 0, 1, 0), (0.9, 0.6, 0.6, 0.4, 0.1)),
    ((1, 0), (0.2, 0.8)),
    ((0, 1, 1), (0.5, 0.5, 0.7)),
)
RANKINGS = (((1, 0, 1), 3), ((0, 0), 1), ((1,), 1), ((0,), 0), ((), 0))
DRAWS, LARGEST = 600, 40
"""How many counts are drawn at random, and below what each lies."""
SLIVER = 1e-5
"""The share of the questions that is answered to see whether that pays."""


def check(item: Measure, rng: Any = None) -> None:
    """Raise an error if something is wrong with a declaration, on few cases or on random ones."""
    d = item.definition
    for name in (d.name, *d.aliases):
        if not NAME.fullmatch(name) or not name.isprintable():
            _refuse(item, f"is called {shown(name)}, expected a name without ( ) = and ,")
    low, high = item.bounds
    if not low < high:
        _refuse(item, f"has bounds from {low:g} to {high:g}, expected the lower one first")
    of_counts = dict.fromkeys(("counts", "decisions"), _of_counts)
    kinds = {**of_counts, "confidence": _of_answers, "ranking": _of_rankings}
    try:
        if d.takes in kinds:
            kinds[d.takes](item, rng)
    except UsageError:
        raise
    except Exception as error:
        _refuse(item, f"cannot be computed: {type(error).__name__}: {error}")


def _refuse(item: Measure, what: str) -> NoReturn:
    raise UsageError(f"measure {shown(item.definition.name)} {what} ({item.definition.home})")


def _within(item: Measure, score: float, what: object) -> None:
    low, high = item.bounds
    if not low - CLOSE <= score <= high + CLOSE:
        _refuse(item, f"is {score:g} for {what}, outside its bounds of {low:g} to {high:g}")


def _same(item: Measure, score: float, other: float, what: str, *, close: float = CLOSE) -> None:
    if not (math.isnan(score) and math.isnan(other)) and not abs(score - other) <= close:
        _refuse(item, f"is {score:g}, but {other:g} {what}")


@cache
def few_counts(kind: Any = Counts) -> tuple[Any, ...]:
    """All counts, or decisions, of a few questions."""
    numbers = product(range(MOST + 1), repeat=5)
    return tuple(kind.of(row) for row in numbers if 0 < sum(row) <= MOST)


def _of_counts(item: Measure, rng: Any) -> None:
    d, table = item.definition, type(item).MANY
    kind: Any = table.ONE
    many = table.of(few_counts(kind))
    if rng is not None:
        drawn = rng.integers(0, LARGEST, (DRAWS, 6)) * (rng.random((DRAWS, 6)) < 0.8)
        drawn[:, 5] *= d.takes == "counts" and not d.needs_candidates
        many = table(drawn[drawn.sum(axis=1) > 0])
    tried = [many[at] for at in range(len(many))]
    scores = [_score(item, k) for k in tried]

    def same(values: Array, what: str, *, close: float = CLOSE) -> None:
        for k, score, value in zip(tried, scores, values.tolist(), strict=True):
            if not math.isnan(score):
                _same(item, score, value, f"{what} ({k})", close=close)

    same(item(many), "for the same counts in an array")
    same(item(table(2 * many.table)), "with twice as many questions of each outcome")
    if d.takes == "counts" and not d.needs_candidates:
        unsplit = many.table.copy()
        unsplit[:, 5], unsplit[:, 2:5] = many.unanswered, 0
        same(item(CountsArray(unsplit)), "without the candidates (declare needs_candidates)")
    if d.proportion is not None:
        successes, trials = d.proportion.of(many)
        same(successes / trials.clip(1), "when computed as the proportion that it declares")
    if d.kappa is not None:
        credited = (many.right + item.kappa(many) * many.unanswered) / many.n
        same(credited, "when computed as c + κ·u", close=REACH)
    if rng is None:
        return
    if not d.monotone:
        wrong = table(many.table[many.wrong > 0])
        righted = item(table(wrong.table + np.array([1, -1, 0, 0, 0, 0])))
        _gains(item, righted - item(wrong), wrong, "falls when a wrong answer becomes right")
    if d.break_even is not None:
        mixed = CountsArray(rng.integers(1, LARGEST, (DRAWS, 6)) * [1, 1, 0, 0, 1, 0])
        even = np.asarray(item.break_even(mixed))
        for side in (-0.01, 0.01):
            p = np.where((even + side > 0) & (even + side < 1), even + side, np.nan)
            moved = np.stack([p, 1 - p, 0 * p, 0 * p, 0 * p - 1, 0 * p], axis=-1)
            after = item(CountsArray(mixed.table + SLIVER * mixed.n[:, None] * moved))
            what = f"has another p*: {'above' if side > 0 else 'below'} it"
            _gains(item, side * (after - item(mixed)), mixed, what, close=0.0)


def _gains(
    item: Measure, gain: Array, cases: CountsArray, what: str, *, close: float = CLOSE
) -> None:
    """Refuse a measure that becomes worse in some case."""
    worse = (gain if item.higher_is_better else -gain) < -close
    if worse.any():
        _refuse(item, f"{what}: {cases[int(np.argmax(worse))]}")


def _score(item: Measure, k: Any) -> float:
    """The score of counts, which is within bounds or undefined for a reason."""
    try:
        score: float = item(k)
    except ZeroDivisionError:
        score = math.nan
    if not math.isnan(score):
        _within(item, score, k)
    elif item.why_undefined(k) is None:
        _refuse(item, f"has no value for {k}, and no rule says that it is undefined there")
    return score


def _of_answers(item: Any, rng: Any) -> None:
    d = item.definition
    if d.studentised and d.influence is None and d.mean is None:
        _refuse(
            item, "is studentised, but has no influence function to compute a standard error from"
        )
    cases: Iterable[Any] = ANSWERS
    if rng is not None:
        sizes = rng.integers(1, LARGEST, DRAWS // 20)
        cases = [((rng.random(n) < 0.6) * 1, rng.integers(0, 8, n) / 7) for n in sizes]
    for right, sure in cases:
        answers = Answers.of(right, sure)
        score = item(answers)
        if math.isnan(score):
            continue
        what = f"{right} with the confidence {sure}"
        _within(item, score, what)
        backwards = item(Answers.of(right[::-1], sure[::-1]))
        _same(item, score, backwards, f"with the rows in another order ({what})")
        order = np.argsort(-answers.confidence, kind="stable")
        asked, once = np.array([len(right)]), np.ones((len(right), 1), np.int64)
        drawn = Resamples(answers.right[order], answers.confidence[order], asked, numbers=once)
        _same(item, score, float(item(drawn)[0]), f"as a resample ({what})")
        if d.mean is not None:
            over = answers.questions if d.mean.over == "questions" else answers.size
            _same(item, score, float(d.mean.adds(answers).sum()) / over, f"as a mean ({what})")


def _of_rankings(item: Any, rng: Any) -> None:
    cases: Iterable[Any] = RANKINGS
    if rng is not None:
        lists = [(rng.random(n) < 0.4) * 1 for n in rng.integers(0, 12, DRAWS // 20)]
        cases = [(tuple(each.tolist()), int(each.sum() + rng.integers(0, 3))) for each in lists]
    for gains, pool in cases:
        score = item(gains, pool=pool)
        if not math.isnan(score):
            _within(item, score, f"the gains {gains} with {pool} relevant documents in the pool")
        empty = not gains and math.isnan(score)  # which may be another reason
        if pool == 0 and not empty and math.isnan(score) != item.definition.leaves_out_nil:
            _refuse(item, f"is {score:g} where no document is relevant: see leaves_out_nil")
