"""What must hold of a measure before others rely on it: it does what its declaration says.

A measure of another package is held to this when it is declared, our own in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NoReturn

from abstain.errors import UsageError, shown
from abstain.measures.answers import Answers, Resamples
from abstain.measures.lazy import numpy as np
from abstain.outcomes import Counts, CountsArray

if TYPE_CHECKING:
    from abstain.measures.kinds import Measure
    from abstain.outcomes import Array

CLOSE = 1e-9
REACH = 1e-6
"""As κ and p* may be derived from a formula, by small differences."""
MOST = 3
"""Questions in the counts that a measure is tried on."""
RIGHT = ((1, 1, 0, 1, 0), (1, 0), (0, 1, 1))
SURE = ((0.9, 0.6, 0.6, 0.4, 0.1), (0.2, 0.8), (0.5, 0.5, 0.7))
GAINS = (((1, 0, 1), 3), ((0, 0), 1), ((1,), 1), ((0,), 0), ((), 0))


def check(item: Measure) -> None:
    """Raise an error that says what is wrong with a measure's declaration, if anything is."""
    _check_texts(item)
    low, high = item.bounds
    if not low < high:
        _refuse(item, f"has bounds from {low:g} to {high:g}, expected the lower one first")
    try:
        {"counts": _of_counts, "confidence": _of_answers, "ranking": _of_rankings}[
            item.definition.takes
        ](item)
    except UsageError:
        raise
    except Exception as error:
        _refuse(item, f"cannot be computed: {type(error).__name__}: {error}")


def _refuse(item: Measure, what: str) -> NoReturn:
    raise UsageError(f"measure {shown(item.definition.name)} {what} ({item.definition.home})")


def _check_texts(item: Measure) -> None:
    d = item.definition
    for name in (d.name, *d.aliases):
        if not name or name != name.strip() or not name.isprintable() or set(name) & set("()=,"):
            _refuse(item, f"is called {shown(name)}, expected a name without ( ) = and ,")
    for rule in d.undefined:
        if not rule.reason:
            _refuse(item, "has a rule for when it is undefined, but the rule gives no reason")


def _within(item: Measure, score: float, what: object) -> None:
    low, high = item.bounds
    if not low - CLOSE <= score <= high + CLOSE:
        _refuse(item, f"is {score:g} for {what}, outside its bounds of {low:g} to {high:g}")


def _same(item: Measure, score: float, other: float, what: str, *, close: float = CLOSE) -> None:
    if not (math.isnan(score) and math.isnan(other)) and not abs(score - other) <= close:
        _refuse(item, f"is {score:g}, but {other:g} {what}")


@cache
def few_counts() -> tuple[Counts, ...]:
    """All counts of a few questions."""
    numbers = product(range(MOST + 1), repeat=5)
    return tuple(Counts(*row) for row in numbers if 0 < sum(row) <= MOST)


def _of_counts(item: Measure) -> None:
    d, tried = item.definition, few_counts()
    scores = [_score(item, k) for k in tried]
    many = CountsArray.of(tried)

    def same(values: Array, what: str, *, close: float = CLOSE) -> None:
        for k, score, value in zip(tried, scores, values.tolist(), strict=True):
            if not math.isnan(score):
                _same(item, score, value, f"{what} ({k})", close=close)

    same(item(many), "for the same counts in an array")
    same(item(CountsArray(2 * many.table)), "with twice as many questions of each outcome")
    if not d.needs_candidates:
        unsplit = many.table.copy()
        unsplit[:, 5], unsplit[:, 2:5] = many.unanswered, 0
        same(item(CountsArray(unsplit)), "without the candidates (declare needs_candidates)")
    if d.proportion is not None:
        successes, trials = d.proportion.of(many)
        same(successes / trials.clip(1), "when computed as the proportion that it declares")
    if d.kappa is not None:
        credited = (many.right + item.kappa(many) * many.unanswered) / many.n
        same(credited, "when computed as c + κ·u", close=REACH)


def _score(item: Measure, k: Counts) -> float:
    """The score of counts, which is within bounds or undefined for a reason."""
    try:
        score = item(k)
    except ZeroDivisionError:
        score = math.nan
    if not math.isnan(score):
        _within(item, score, k)
    elif item.why_undefined(k) is None:
        _refuse(item, f"has no value for {k}, and no rule says that it is undefined there")
    return score


def _of_answers(item: Measure) -> None:
    d = item.definition
    if d.studentised and d.influence is None and d.mean is None:
        _refuse(
            item, "is studentised, but has no influence function to compute a standard error from"
        )
    own: Any = item
    for right, sure in zip(RIGHT, SURE, strict=True):
        answers = Answers.of(right, sure)
        score = own(answers)
        if math.isnan(score):
            continue
        what = f"{right} with the confidence {sure}"
        _within(item, score, what)
        backwards = own(Answers.of(right[::-1], sure[::-1]))
        _same(item, score, backwards, f"with the rows in another order ({what})")
        _same(item, score, _as_resample(own, right, sure), f"as a resample ({what})")
        if d.mean is not None:
            over = answers.questions if d.mean.over == "questions" else answers.size
            _same(item, score, float(d.mean.adds(answers).sum()) / over, f"as a mean ({what})")


def _as_resample(own: Any, right: Sequence[int], sure: Sequence[float]) -> float:
    """The score of answers that are there once each, by the way of resamples."""
    order = np.argsort(-np.array(sure), kind="stable")
    once = np.ones((len(right), 1), np.int64)
    asked = np.array([len(right)])
    answers = Resamples(np.array(right, bool)[order], np.array(sure)[order], asked, numbers=once)
    return float(own(answers)[0])


def _of_rankings(item: Measure) -> None:
    own: Any = item
    _check_original(item)
    for gains, pool in GAINS:
        score = own(gains, pool=pool)
        if not math.isnan(score):
            _within(
                item, score, f"the gains {list(gains)} with {pool} relevant documents in the pool"
            )
        empty = not gains and math.isnan(score)  # which may be another reason
        if pool == 0 and not empty and math.isnan(score) != item.definition.leaves_out_nil:
            _refuse(item, f"is {score:g} where no document is relevant: see leaves_out_nil")


def _check_original(item: Measure) -> None:
    """The measure that it modifies is one of rankings, with a cutoff where that is made use of."""
    from abstain.measures.registry import example_measure

    d = item.definition
    if not d.original:
        if d.ideal_ends:
            _refuse(
                item,
                "declares ideal_ends, but names no original measure; it needs one, because where "
                "lists have a limit the original is computed with that limit as its cutoff",
            )
        return
    named = f"names {shown(d.original)} as its original"
    try:
        original = example_measure(d.original).definition
    except UsageError:
        _refuse(item, f"{named}, which is not a measure")
    if original.name != d.original:
        _refuse(item, f"{named}, expected the main name of that measure: {original.name}")
    if original.takes != "ranking" or not d.knows_end:
        _refuse(
            item,
            f"{named}: both must be measures of rankings, and this one must know where a list ends",
        )
    for own in (*original.parameters, *d.parameters):
        if own.default is None and not own.optional:
            _refuse(
                item,
                f"{named}: the parameter {own.name} needs a default in both measures",
            )
    if d.ideal_ends and not any(p.cutoff for p in original.parameters):
        _refuse(item, f"{named}, expected an original that takes a cutoff")
