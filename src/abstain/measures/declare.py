"""Decorators that declare a measure: `credit`, `counting`, `confident`, `ranked`, `columnar`.

Each takes the fields of `Definition` that the measure needs; the others have defaults. The first
line of the function's docstring is the summary.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from abstain.errors import UsageError, shown
from abstain.measures.definition import (
    NO_ANSWERS,
    NO_CONFIDENCE,
    NO_QUESTIONS,
    NONE_ASKED,
    SPLIT_UNKNOWN,
    CountsLike,
    Definition,
    Numeric,
    Shares,
)
from abstain.measures.definition import numpy as np
from abstain.measures.measure_types import of_shares
from abstain.measures.registry import BUILT_IN, NAMES, REGISTRY, admit, fold

F = TypeVar("F", bound=Callable[..., Numeric])
Facts: TypeAlias = Mapping[str, Any]
"""Fields of `Definition` by name."""


class Declare(Protocol):
    """The type of a decorator that declares a function and returns it unchanged."""

    def __call__(self, function: F, /) -> F: ...


STEP = 1e-6
"""The step of numerical derivatives, and the share of a first blank."""
ROUNDING = 1e-14
LEAST_ANSWERS = 40
"""Answers of each run that a test of a measure of confidence needs (benchmarks/errors.py)."""


def credit(name: str, **facts: Any) -> Declare:
    """Declare a measure as a function of the shares right, wrong and unanswered.

    The function takes c, w and u; or it takes them as counts, and n, so that it can divide once
    and be exact. κ and p* are derived numerically unless declared (κ only where the score without
    blanks is the accuracy); None says that there is none.
    """
    rules = (NO_QUESTIONS, *facts.pop("undefined", ()))
    facts = {"family": "credit", "shares": True, "undefined": rules, **facts}
    return lambda function: _declare(name, "c, w, u", _credited(name, facts, function), function)


def _credited(name: str, facts: Facts, function: Callable[..., Numeric]) -> Facts:
    """The facts with κ and p*, and the function as one of counts."""
    shares, counts = _of_both(function)
    kappa = facts["kappa"] if "kappa" in facts else _kappa_of(shares, facts)
    even = facts["break_even"] if "break_even" in facts else _break_even_of(shares)
    texts = {
        "kappa_text": "–" if kappa is None else f"({name} − c)/u",
        "break_even_text": "–" if even is None else "(∂M/∂u − ∂M/∂w)/(∂M/∂c − ∂M/∂w)",
    }
    return {**texts, **facts, "function": counts, "kappa": kappa, "break_even": even}


def counting(name: str, **facts: Any) -> Declare:
    """Declare a measure of counts: a function of right, wrong, unanswered_right, …, n.

    `needs_candidates` says that it depends on the candidates behind blanks.
    """
    rules = facts.pop("undefined", ())
    if facts.get("needs_candidates") and SPLIT_UNKNOWN not in rules:
        rules = (SPLIT_UNKNOWN, *rules)
    facts = {"family": "counts", "undefined": (NO_QUESTIONS, *rules), **facts}
    return partial(_declare, name, "counts", facts)


def confident(name: str, **facts: Any) -> Declare:
    """Declare a measure of answers with a confidence: a function of `Answers`.

    It has to take resamples too, for which most numbers are arrays. Differences are studentised
    where there is an influence function. Without answers and without confidences it is undefined,
    unless `undefined` says otherwise.
    """
    rules = (NONE_ASKED, *facts.pop("undefined", (NO_ANSWERS, NO_CONFIDENCE)))
    mean = facts.get("mean")
    facts = {
        "takes": "confidence",
        "family": "confidence",
        "undefined": rules,
        "studentised": facts.get("influence") is not None,
        "least": LEAST_ANSWERS if mean is None or mean.over == "answers" else 0,
        **facts,
    }
    return partial(_declare, name, "answers", facts)


def ranked(name: str, **facts: Any) -> Declare:
    """Declare a measure of rankings: a function of `RankedLists` that returns a number per row."""
    return partial(_declare, name, "rankings", {"takes": "ranking", "family": "ranking", **facts})


def columnar(name: str, **facts: Any) -> Declare:
    """Declare a measure of columns of the gold and of a run: a function of `Columns`."""
    return partial(_declare, name, "columns", {"takes": "columns", "family": "evaluators", **facts})


def _declare(
    name: str,
    arguments: str,
    facts: Facts,
    function: F,
) -> F:
    if (proportion := facts.get("proportion")) is not None:
        varies = {} if proportion.trials == "n" else {"divides_by": proportion.trials}
        facts = {"studentised": bool(varies), **varies, **proportion.texts, **facts}
    home = f"{function.__module__}.{function.__qualname__}"
    docstring = (function.__doc__ or "").strip()
    if not docstring:
        raise UsageError(f"measure {shown(name)} needs a docstring that says what it is ({home})")
    formula = f"{function.__name__}({arguments})"
    bounds = facts.get("bounds", (0.0, 1.0))
    fields = {
        "formula": formula,
        "latex": rf"\text{{{facts.get('formula', formula)}}}",
        "source": f"declared in {function.__module__}",
        "summary": docstring.splitlines()[0],
        "function": function,
        **facts,
        "bounds": bounds if callable(bounds) else lambda **_: tuple(bounds),
    }
    definition = Definition(name=name, home=home, **fields)
    if not home.startswith(BUILT_IN):  # the tests check the built-in measures
        admit(definition)
    REGISTRY[name] = definition
    NAMES.update(dict.fromkeys(map(fold, (name, *definition.aliases)), name))
    return function


def _of_both(function: Callable[..., Numeric]) -> tuple[Shares, Callable[..., Numeric]]:
    """A function of shares, or of counts and their sum, in both forms."""
    if inspect.unwrap(function).__code__.co_argcount == 3:
        return function, of_shares(function)

    def of_counts(k: CountsLike, **arguments: float) -> Numeric:
        return function(k.right * 1.0, k.wrong * 1.0, k.unanswered * 1.0, k.n * 1.0, **arguments)

    return lambda c, w, u, **arguments: function(c, w, u, 1.0, **arguments), of_counts


def _kappa_of(score: Shares, facts: Facts) -> Shares | None:
    """κ = (M − c)/u; where nothing is blank, the credit of a first blank.

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
    """p* = (∂M/∂u − ∂M/∂w) / (∂M/∂c − ∂M/∂w): where answering more changes nothing."""

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
    """A quotient of slopes, NaN where the denominator is only rounding error."""
    if isinstance(below, float):
        return above / below if abs(below) > ROUNDING else math.nan
    return np.where(np.abs(below) > ROUNDING, above / below, np.nan)
