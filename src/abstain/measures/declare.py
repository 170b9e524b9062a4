"""Decorators that declare a measure: `credit`, `counting`, `confident` and `ranked`.

Each takes all that is known of the measure, and has a default for what others can do without. The
first line of the function's docstring says what the measure is.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, Unpack

from abstain.errors import UsageError, shown
from abstain.measures.definition import (
    NO_ANSWERS,
    NO_CONFIDENCE,
    NO_QUESTIONS,
    NONE_ASKED,
    SPLIT_UNKNOWN,
    Bounds,
    CountsLike,
    Definition,
    Influence,
    MeanOf,
    Numeric,
    Parameter,
    Proportion,
    Shares,
    TrecName,
    Undefinedness,
    Uses,
)
from abstain.measures.kinds import of_shares
from abstain.measures.lazy import numpy as np
from abstain.measures.registry import define

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import ByDepth

F = TypeVar("F", bound=Callable[..., Numeric])


class Declare(Protocol):
    """What a decorator here returns: it declares a function and leaves it as it is."""

    def __call__(self, function: F, /) -> F: ...


STEP = 1e-6
"""In shares, where a derivative is taken or a first blank left."""
ROUNDING = 1e-14


# ------------------------------------------- what may be said; `Definition` has the meanings


class Facts(TypedDict, total=False):
    """Of every measure; its bounds are 0 and 1 unless said."""

    formula: str
    latex: str
    source: str
    gaming: str
    note: str
    bounds: Bounds
    higher_is_better: bool
    parameters: tuple[Parameter, ...]
    undefined: tuple[Undefinedness, ...]
    aliases: tuple[str, ...]


class CountFacts(Facts, total=False):
    """Of a measure of counts; it is studentised where its trials are not all questions."""

    proportion: Proportion | None
    studentised: bool
    divides_by: str
    least: int
    ranks_like: Callable[..., tuple[str, ...]]
    monotone: str


class Worth(TypedDict, total=False):
    """What a blank is worth; what is not said is derived."""

    kappa: Shares | None
    kappa_text: str
    break_even: Shares | None
    break_even_text: str


class CreditFacts(CountFacts, Worth, total=False):
    """Of one that credits blanks."""


class CountingFacts(CountFacts, total=False):
    """Of any other one."""

    family: str
    needs_candidates: bool


LEAST_ANSWERS = 40
"""Of each run, for a test of a measure of confidence (benchmarks/errors.py)."""


class ConfidenceFacts(Facts, total=False):
    """Of a measure of answers; it is studentised where it has an influence."""

    convention: str
    uses: Uses
    several: bool
    mean: MeanOf | None
    influence: Influence | None
    studentised: bool
    least: int
    bootstrap_biased: bool


class RankingFacts(Facts, total=False):
    """Of a measure of rankings."""

    family: str
    example: str
    total: bool
    geometric: bool
    trec: tuple[TrecName, ...]
    leaves_out_nil: bool
    knows_end: bool
    original: str
    ideal_ends: bool
    scales_grades: bool
    lower_grades_cost: bool
    by_depth: Callable[..., ByDepth] | None
    by_depth_text: str


def credit(name: str, **facts: Unpack[CreditFacts]) -> Declare:
    """Declare a measure by what it makes of the shares right, wrong and unanswered.

    The function takes c, w and u; or it takes them as counts, and n, so that it can divide once
    and be exact. κ and p* follow from it where they are not given (κ only where the score without
    blanks is the accuracy); None says that there is none.
    """

    def derived(function: Callable[..., Numeric]) -> dict[str, Any]:
        shares, counts = _of_both(function)
        kappa = facts["kappa"] if "kappa" in facts else _kappa_of(shares, facts)
        even = facts["break_even"] if "break_even" in facts else _break_even_of(shares)
        texts = f"({name} − c)/u", "(∂M/∂u − ∂M/∂w)/(∂M/∂c − ∂M/∂w)"
        return {
            "function": counts,
            "shares": True,
            "kappa": kappa,
            "kappa_text": "–" if kappa is None else facts.get("kappa_text") or texts[0],
            "break_even": even,
            "break_even_text": "–" if even is None else facts.get("break_even_text") or texts[1],
        }

    undefined = (NO_QUESTIONS, *facts.get("undefined", ()))
    return _declaring(
        name, facts, CreditFacts, "c, w, u", derived, family="credit", undefined=undefined
    )


def counting(name: str, **facts: Unpack[CountingFacts]) -> Declare:
    """Declare a measure of counts: a function of right, wrong, unanswered_right, …, n.

    `needs_candidates` says that it asks what the blanks would have been.
    """
    rules = facts.get("undefined", ())
    if facts.get("needs_candidates") and SPLIT_UNKNOWN not in rules:
        rules = (SPLIT_UNKNOWN, *rules)
    family = facts.get("family", "counts")
    return _declaring(
        name, facts, CountingFacts, "counts", family=family, undefined=(NO_QUESTIONS, *rules)
    )


def confident(name: str, **facts: Unpack[ConfidenceFacts]) -> Declare:
    """Declare a measure of answers with a confidence: a function of `Answers`.

    It has to take resamples too, of which most numbers are arrays. Differences are tested over
    their standard error where there is an influence to make one of. Without answers and without
    confidences it is undefined, unless `undefined` says otherwise.
    """
    rules = (NONE_ASKED, *facts.get("undefined", (NO_ANSWERS, NO_CONFIDENCE)))
    kind = "confidence"
    return _declaring(
        name, facts, ConfidenceFacts, "answers", takes=kind, family=kind, undefined=rules
    )


def ranked(name: str, **facts: Unpack[RankingFacts]) -> Declare:
    """Declare a measure of rankings: a function of `RankedLists` that gives a number a row."""
    family = facts.get("family", "ranking")
    return _declaring(name, facts, RankingFacts, "rankings", takes="ranking", family=family)


def _declaring(
    name: str,
    facts: Mapping[str, Any],
    kind: Any,
    arguments: str,
    derived: Callable[[Callable[..., Numeric]], dict[str, Any]] = lambda _: {},
    **own: Any,
) -> Declare:
    """What all kinds have in common; `own` and what is derived from the function go first."""
    for unknown in facts.keys() - kind.__optional_keys__:
        raise TypeError(f"a measure of {arguments} does not take the argument {unknown!r}")
    proportion = facts.get("proportion")
    varies = proportion is not None and proportion.trials != "n"
    facts = facts if proportion is None else {**proportion.texts, **facts}
    bounds = facts.get("bounds", (0.0, 1.0))
    mean = facts.get("mean")
    by_answers = mean is None or mean.over == "answers"

    def declare(function: F) -> F:
        home = f"{function.__module__}.{function.__qualname__}"
        said = (function.__doc__ or "").strip()
        if not said:
            raise UsageError(
                f"measure {shown(name)} needs a docstring that says what it is ({home})"
            )
        formula = facts.get("formula") or f"{function.__name__}({arguments})"
        known: dict[str, Any] = {
            "gaming": "",
            "undefined": (),
            "studentised": varies or facts.get("influence") is not None,
            "divides_by": proportion.trials if proportion is not None and varies else "",
            "least": LEAST_ANSWERS if kind is ConfidenceFacts and by_answers else 0,
            **facts,
            "name": name,
            "home": home,
            "summary": said.splitlines()[0],
            "formula": formula,
            "latex": facts.get("latex") or rf"\text{{{formula}}}",
            "source": facts.get("source") or f"declared in {function.__module__}",
            "function": function,
            "bounds": bounds if callable(bounds) else lambda **_: tuple(bounds),
        }
        define(Definition(**known | own | derived(function)))
        return function

    return declare


def _of_both(function: Callable[..., Numeric]) -> tuple[Shares, Callable[..., Numeric]]:
    """A function of shares, or of counts and their sum, as both."""
    kinds = (p.kind for p in inspect.signature(function).parameters.values())
    if sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds) == 3:
        return function, of_shares(function)

    def of_counts(k: CountsLike, **arguments: float) -> Numeric:
        return function(k.right * 1.0, k.wrong * 1.0, k.unanswered * 1.0, k.n * 1.0, **arguments)

    return lambda c, w, u, **arguments: function(c, w, u, 1.0, **arguments), of_counts


def _kappa_of(score: Shares, facts: CreditFacts) -> Shares | None:
    """κ = (M − c)/u; where nothing is blank, what a first blank would be credited.

    None where the score without blanks is not the accuracy.
    """
    example = {p.name: p.example for p in facts.get("parameters", ()) if not p.optional}
    if not all(abs(score(c, 1 - c, 0.0, **example) - c) < 1e-12 for c in (0.25, 0.625)):
        return None

    def kappa(c: Numeric, w: Numeric, u: Numeric, **arguments: float) -> Numeric:
        first = (u == 0) * STEP
        c, w, u = c * (1 - first), w * (1 - first), u + first
        return (score(c, w, u, **arguments) - c) / u

    return kappa


def _break_even_of(score: Shares) -> Shares:
    """p* = (∂M/∂u − ∂M/∂w) / (∂M/∂c − ∂M/∂w): answering a sliver of the blanks changes nothing."""

    def break_even(c: Numeric, w: Numeric, u: Numeric, **arguments: float) -> Numeric:
        def slope(by_c: float, by_u: float) -> Numeric:
            up, down = (
                score(c + s * by_c, w - s, u + s * by_u, **arguments)  # by_c + by_u is 1
                for s in (STEP, -STEP)
            )
            return up - down

        return _over(slope(0, 1), slope(1, 0))

    return break_even


def _over(above: Numeric, below: Numeric) -> Numeric:
    """A quotient of slopes, NaN where the lower one is nothing but rounding."""
    if isinstance(below, float):
        return above / below if abs(below) > ROUNDING else math.nan
    return np.where(np.abs(below) > ROUNDING, above / below, np.nan)
