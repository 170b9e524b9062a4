"""Decorators that declare a measure: `credit`, `counting`, `confident` and `ranked`.

Each takes all that is known of the measure, and has a default for what others can do without. The
first line of the function's docstring says what the measure is.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from abstain.errors import UsageError, shown
from abstain.measures.definition import (
    NO_QUESTIONS,
    SPLIT_UNKNOWN,
    Bounds,
    Definition,
    Influence,
    MeanOf,
    Numeric,
    Parameter,
    Proportion,
    Shares,
    Takes,
    Tally,
    Undefinedness,
    Uses,
)
from abstain.measures.of_answers import NO_ANSWERS, NO_CONFIDENCE, NONE_ASKED
from abstain.measures.of_counts import of_shares
from abstain.measures.registry import define

F = TypeVar("F", bound=Callable[..., Numeric])
RanksLike: TypeAlias = Callable[..., tuple[str, ...]]
Derived: TypeAlias = Literal["derived"]


class Declare(Protocol):
    """What a decorator here returns: it declares a function and leaves it as it is."""

    def __call__(self, function: F, /) -> F: ...


STEP = 1e-6
"""In shares, where a derivative is taken or a first blank left."""
ROUNDING = 1e-14


def _like_none(**_: float) -> tuple[str, ...]:
    return ()


def credit(
    name: str,
    *,
    formula: str = "",
    latex: str = "",
    source: str = "",
    gaming: str = "",
    kappa: Shares | Derived | None = "derived",
    kappa_text: str = "",
    break_even: Shares | Derived | None = "derived",
    break_even_text: str = "",
    bounds: Bounds = (0.0, 1.0),
    higher_is_better: bool = True,
    parameters: tuple[Parameter, ...] = (),
    undefined: tuple[Undefinedness, ...] = (),
    aliases: tuple[str, ...] = (),
    proportion: Proportion | None = None,
    studentised: bool | None = None,
    ranks_like: RanksLike = _like_none,
    monotone: str = "",
) -> Declare:
    """Declare a measure by what it makes of the shares right, wrong and unanswered.

    The function takes c, w and u; or it takes them as counts, and n, so that it can divide once
    and be exact. κ and p* follow from it where they are not given (κ only where the score without
    blanks is the accuracy); None says that there is none.
    """

    def declare(function: F) -> F:
        shares, counts = _of_both(function)
        example = {p.name: p.example for p in parameters if not p.optional}
        own_kappa, own_break_even = kappa, break_even
        if own_kappa == "derived":
            is_credit = all(
                abs(shares(c, 1 - c, 0.0, **example) - c) < 1e-12 for c in (0.25, 0.625)
            )
            own_kappa = _kappa_of(shares) if is_credit else None
        if own_break_even == "derived":
            own_break_even = _break_even_of(shares)
        return _declare(
            function,
            name=name,
            family="credit",
            formula=formula or f"{function.__name__}(c, w, u)",
            latex=latex,
            source=source,
            gaming=gaming,
            function_of=counts,
            bounds=bounds,
            undefined=(NO_QUESTIONS, *undefined),
            shares=True,
            kappa=own_kappa,
            kappa_text="–" if own_kappa is None else kappa_text or f"({name} − c)/u",
            break_even=own_break_even,
            break_even_text=(
                "–"
                if own_break_even is None
                else break_even_text or "(∂M/∂u − ∂M/∂w)/(∂M/∂c − ∂M/∂w)"
            ),
            higher_is_better=higher_is_better,
            parameters=parameters,
            aliases=aliases,
            proportion=proportion,
            studentised=_varies(proportion) if studentised is None else studentised,
            ranks_like=ranks_like,
            monotone=monotone,
        )

    return declare


def counting(
    name: str,
    *,
    formula: str = "",
    latex: str = "",
    source: str = "",
    gaming: str = "",
    family: str = "counts",
    bounds: Bounds = (0.0, 1.0),
    higher_is_better: bool = True,
    parameters: tuple[Parameter, ...] = (),
    undefined: tuple[Undefinedness, ...] = (),
    aliases: tuple[str, ...] = (),
    needs_candidates: bool = False,
    proportion: Proportion | None = None,
    studentised: bool | None = None,
    ranks_like: RanksLike = _like_none,
    monotone: str = "",
) -> Declare:
    """Declare a measure of counts: a function of right, wrong, unanswered_right, …, n.

    `needs_candidates` says that it asks what the blanks would have been.
    """

    def declare(function: F) -> F:
        unknown = needs_candidates and SPLIT_UNKNOWN not in undefined
        return _declare(
            function,
            name=name,
            family=family,
            formula=formula or f"{function.__name__}(counts)",
            latex=latex,
            source=source,
            gaming=gaming,
            function_of=function,
            bounds=bounds,
            undefined=(NO_QUESTIONS, *((SPLIT_UNKNOWN,) if unknown else ()), *undefined),
            higher_is_better=higher_is_better,
            parameters=parameters,
            aliases=aliases,
            needs_candidates=needs_candidates,
            proportion=proportion,
            studentised=_varies(proportion) if studentised is None else studentised,
            ranks_like=ranks_like,
            monotone=monotone,
        )

    return declare


def confident(
    name: str,
    *,
    formula: str = "",
    latex: str = "",
    source: str = "",
    gaming: str = "",
    convention: str = "",
    bounds: Bounds = (0.0, 1.0),
    higher_is_better: bool = True,
    parameters: tuple[Parameter, ...] = (),
    undefined: tuple[Undefinedness, ...] = (NO_ANSWERS, NO_CONFIDENCE),
    aliases: tuple[str, ...] = (),
    uses: Uses = "all",
    several: bool = False,
    mean: MeanOf | None = None,
    influence: Influence | None = None,
    studentised: bool | None = None,
    bootstrap_biased: bool = False,
) -> Declare:
    """Declare a measure of answers with a confidence: a function of `Answers`.

    It has to take resamples too, of which most numbers are arrays. Differences are tested over
    their standard error where there is an influence to make one of.
    """

    def declare(function: F) -> F:
        return _declare(
            function,
            name=name,
            family="confidence",
            takes="confidence",
            formula=formula or f"{function.__name__}(answers)",
            latex=latex,
            source=source,
            gaming=gaming,
            function_of=function,
            bounds=bounds,
            undefined=(NONE_ASKED, *undefined),
            convention=convention,
            higher_is_better=higher_is_better,
            parameters=parameters,
            aliases=aliases,
            uses=uses,
            several=several,
            mean=mean,
            influence=influence,
            studentised=influence is not None if studentised is None else studentised,
            bootstrap_biased=bootstrap_biased,
        )

    return declare


def ranked(
    name: str,
    *,
    formula: str = "",
    latex: str = "",
    source: str = "",
    gaming: str = "",
    example: str = "",
    family: str = "ranking",
    bounds: Bounds = (0.0, 1.0),
    higher_is_better: bool = True,
    parameters: tuple[Parameter, ...] = (),
    undefined: tuple[Undefinedness, ...] = (),
    aliases: tuple[str, ...] = (),
    total: bool = False,
    leaves_out_nil: bool = False,
    knows_end: bool = False,
    scales_grades: bool = False,
    lower_grades_cost: bool = False,
) -> Declare:
    """Declare a measure of rankings: a function of `RankedLists` that gives a number a row."""

    def declare(function: F) -> F:
        return _declare(
            function,
            name=name,
            family=family,
            takes="ranking",
            formula=formula or f"{function.__name__}(rankings)",
            latex=latex,
            source=source,
            gaming=gaming,
            example=example,
            function_of=function,
            bounds=bounds,
            undefined=undefined,
            higher_is_better=higher_is_better,
            parameters=parameters,
            aliases=aliases,
            total=total,
            leaves_out_nil=leaves_out_nil,
            knows_end=knows_end,
            scales_grades=scales_grades,
            lower_grades_cost=lower_grades_cost,
        )

    return declare


def _declare(
    function: F,
    *,
    name: str,
    formula: str,
    latex: str,
    source: str,
    function_of: Callable[..., Numeric],
    bounds: Bounds,
    takes: Takes = "counts",
    **facts: Any,
) -> F:
    """What all kinds have in common."""
    home = f"{function.__module__}.{function.__qualname__}"
    said = (function.__doc__ or "").strip()
    if not said:
        raise UsageError(f"measure {shown(name)} needs a docstring that says what it is ({home})")
    define(
        Definition(
            name=name,
            takes=takes,
            home=home,
            summary=said.splitlines()[0],
            formula=formula,
            latex=latex or rf"\text{{{formula}}}",
            source=source or f"declared in {function.__module__}",
            function=function_of,
            bounds=bounds if callable(bounds) else _fixed(*bounds),
            **facts,
        )
    )
    return function


def _fixed(low: float, high: float) -> Callable[..., tuple[float, float]]:
    return lambda **_: (low, high)


def _varies(proportion: Proportion | None) -> bool:
    """Whether a proportion is one of fewer than all questions."""
    return proportion is not None and proportion.trials != "n"


def _of_both(function: Callable[..., Numeric]) -> tuple[Shares, Callable[..., Numeric]]:
    """A function of shares, or of counts and their sum, as both."""
    kinds = (p.kind for p in inspect.signature(function).parameters.values())
    if sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds) == 3:
        return function, of_shares(function)

    def of_tally(k: Tally, **arguments: float) -> Numeric:
        return function(k.right * 1.0, k.wrong * 1.0, k.unanswered * 1.0, k.n * 1.0, **arguments)

    return lambda c, w, u, **arguments: function(c, w, u, 1.0, **arguments), of_tally


def _kappa_of(score: Shares) -> Shares:
    """κ = (M − c)/u; where nothing is blank, what a first blank would be credited."""

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
                score(c + s * by_c, w - s * (by_c + by_u), u + s * by_u, **arguments)
                for s in (STEP, -STEP)
            )
            return up - down

        return _over(slope(0, 1), slope(1, 0))

    return break_even


def _over(above: Numeric, below: Numeric) -> Numeric:
    """A quotient of slopes, NaN where the lower one is nothing but rounding."""
    if isinstance(below, float):
        return above / below if abs(below) > ROUNDING else math.nan
    import numpy as np

    return np.where(np.abs(below) > ROUNDING, above / below, np.nan)
