"""A measure of counts: a formula with its parameters, and what it makes of blanks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from abstain.errors import UsageError
from abstain.measures.definition import Definition, Numeric, Shares, Tally, number_text
from abstain.measures.lazy import numpy as np
from abstain.outcomes import Counts, CountsArray, Undefined

if TYPE_CHECKING:
    from abstain.measures.answers import Answers
    from abstain.outcomes import Array


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: a pure function of counts.

    Its text is its identity: `measure(str(m)) == m`.

    >>> from abstain.measures import measure
    >>> str(measure("CREDIT(.25)"))
    'credit(t=0.25)'
    >>> measure("precision")(Counts(unanswered_empty=3))
    undefined (no question was answered)
    """

    name: str
    parameters: tuple[tuple[str, float], ...] = ()
    definition: Definition = field(kw_only=True, compare=False, repr=False)

    def __str__(self) -> str:
        defaults = {p.name: p.default for p in self.definition.parameters if not p.always}
        cutoffs = {p.name for p in self.definition.parameters if p.cutoff}
        said = [
            f"{k}={number_text(v)}"
            for k, v in self.parameters
            if v != defaults.get(k) and k not in cutoffs
        ]
        cut = "".join(f"@{number_text(v)}" for k, v in self.parameters if k in cutoffs)
        return (f"{self.name}({', '.join(said)})" if said else self.name) + cut

    @property
    def arguments(self) -> dict[str, float]:
        """Its parameters as keyword arguments."""
        return dict(self.parameters)

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest value it can take."""
        return self.definition.bounds(**self.arguments)

    @property
    def higher_is_better(self) -> bool:
        """Its direction."""
        return self.definition.higher_is_better

    @property
    def ranks_like(self) -> tuple[str, ...]:
        """Measures that order any runs over the same questions exactly as this one does."""
        return tuple(
            name for name in self.definition.ranks_like(**self.arguments) if name != str(self)
        )

    @overload
    def __call__(self, counts: Counts) -> float: ...
    @overload
    def __call__(self, counts: CountsArray) -> Array: ...
    @overload
    def __call__(self, counts: Answers) -> float: ...
    @overload
    def __call__(
        self,
        counts: Sequence[float],
        *,
        pool: int | Sequence[float] | None = ...,
        top: float | None = ...,
    ) -> float: ...
    def __call__(self, counts: Any, **more: Any) -> Numeric:
        if more:
            raise UsageError(f"{self} takes counts alone (got {', '.join(more)} too)")
        return self._evaluate(self.definition.function, counts)

    @overload
    def kappa(self, counts: Counts) -> float: ...
    @overload
    def kappa(self, counts: CountsArray) -> Array: ...
    def kappa(self, counts: Counts | CountsArray) -> Numeric:
        """What a blank is credited, in right answers: M = c + κ·u."""
        return self._evaluate(of_shares(self._needed(self.definition.kappa, "κ")), counts)

    @overload
    def break_even(self, counts: Counts) -> float: ...
    @overload
    def break_even(self, counts: CountsArray) -> Array: ...
    def break_even(self, counts: Counts | CountsArray) -> Numeric:
        """p*: answering one more blank pays for a system whose chance of being right is above."""
        function = self._needed(self.definition.break_even, "break-even")
        return self._evaluate(of_shares(function), counts)

    def why_undefined(self, counts: Any) -> str | None:
        """Why the score of these counts (or answers) does not exist; None when it does."""
        for rule in self.definition.undefined:
            if rule.when(counts):
                return rule.reason
        return None

    def _needed(self, function: Shares | None, what: str) -> Shares:
        if function is None:
            raise UsageError(f"{self} has no {what}: it is not a credit for blanks")
        return function

    def _evaluate(self, function: Callable[..., Numeric], counts: Any) -> Numeric:
        if isinstance(counts, Counts):
            return self._one(function, counts)
        if isinstance(counts, CountsArray):
            return self._many(function, counts, counts.n.shape)
        raise UsageError(
            f"{self} takes Counts or CountsArray (got {type(counts).__name__}), "
            "such as Counts(right=3, wrong=1, unanswered_empty=1)"
        )

    def _one(self, function: Callable[..., Numeric], item: Any) -> float:
        """A function of counts or answers, or why it is undefined."""
        reason = self.why_undefined(item)
        if reason is not None:
            return Undefined(reason)
        value = function(item, **self.arguments)
        return value if isinstance(value, Undefined) else float(value)

    def _many(self, function: Callable[..., Numeric], items: Any, shape: tuple[int, ...]) -> Array:
        """The same of many at once; NaN where it is undefined."""
        there = np.ones(shape, np.bool_)
        for rule in self.definition.undefined:
            there &= np.logical_not(rule.when(items))
        if not there.any():
            return np.full(shape, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = function(items, **self.arguments)
        return np.where(there, values, np.nan)


def of_shares(function: Shares) -> Callable[..., Numeric]:
    """A function of shares as one of counts."""

    def of_tally(k: Tally, **arguments: float) -> Numeric:
        return function(k.right / k.n, k.wrong / k.n, k.unanswered / k.n, **arguments)

    return of_tally
