"""Measures as data: what is known of each stands beside its formula, and names round-trip."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from abstain.errors import UnknownNameError, UsageError, nearest
from abstain.measures.arguments import arguments_of
from abstain.outcomes import Counts, CountsArray, Undefined

if TYPE_CHECKING:
    from abstain.measures.answers import Answers
    from abstain.outcomes import Array

Numeric: TypeAlias = Any
"""A float or an array of floats: formulas are written once for both."""

Tally: TypeAlias = Any
"""`Counts` or `CountsArray`: whatever has right, wrong, …, n."""

Shares: TypeAlias = Callable[..., Numeric]
"""A function of the shares right, wrong and unanswered (and the measure's parameters)."""

Takes: TypeAlias = Literal["counts", "confidence", "ranking"]
"""What a measure is a function of."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a measure, with its range."""

    name: str
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    default: float | None = None
    optional: bool = False
    """May be left out without a default: the formula does without."""
    whole: bool = False
    """Must be a whole number."""
    cutoff: bool = False
    """Written after the name: P@10."""
    always: bool = False
    """Printed even where it has its default: nobody should have to know it."""

    def check(self, value: float, measure_name: str) -> float:
        """The value, if it lies in range."""
        below = value <= self.low if self.low_open else value < self.low
        above = value >= self.high if self.high_open else value > self.high
        if below or above or not math.isfinite(value):
            raise UsageError(
                f"{self.name} of {measure_name} must be in {self.range_text} "
                f"(got {number_text(value)})"
            )
        if self.whole and value != int(value):
            raise UsageError(
                f"{self.name} of {measure_name} must be a whole number (got {number_text(value)})"
            )
        return int(value) if self.whole else value

    @property
    def range_text(self) -> str:
        """The range as people write it: [0, 1)."""
        low = "(" if self.low_open or math.isinf(self.low) else "["
        high = ")" if self.high_open or math.isinf(self.high) else "]"
        return f"{low}{number_text(self.low)}, {number_text(self.high)}{high}"


@dataclass(frozen=True, slots=True)
class Undefinedness:
    """When a measure does not exist, and why."""

    when: Callable[..., Any]
    """Of the counts; of rankings and the measure's parameters."""
    reason: str


NO_QUESTIONS = Undefinedness(lambda k: k.n == 0, "there are no questions")
NOTHING_ANSWERED = Undefinedness(lambda k: k.answered == 0, "no question was answered")
NOTHING_BLANK = Undefinedness(lambda k: k.unanswered == 0, "no question was left unanswered")
SPLIT_UNKNOWN = Undefinedness(
    lambda k: k.unsplit > 0, "whether the candidates of the unanswered were right is not known"
)


@dataclass(frozen=True, slots=True)
class Definition:
    """All that is known of a measure (before its parameters have values)."""

    name: str
    family: str
    summary: str
    formula: str
    latex: str
    source: str
    gaming: str
    function: Callable[..., Numeric] = field(repr=False)
    bounds: Callable[..., tuple[float, float]] = field(repr=False)
    undefined: tuple[Undefinedness, ...]
    higher_is_better: bool = True
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    kappa: Shares | None = field(default=None, repr=False)
    kappa_text: str = "–"
    break_even: Shares | None = field(default=None, repr=False)
    break_even_text: str = "–"
    ranks_like: Callable[..., tuple[str, ...]] = field(default=lambda **_: (), repr=False)
    monotone: str = ""
    """Empty, or why a wrong answer that becomes right may lower the score."""
    takes: Takes = "counts"
    """What it is a function of."""
    convention: str = ""
    """What its definition leaves open and how it is settled here: ties, integration, bins."""
    total: bool = False
    """A run is given its sum over the queries, not its mean."""
    example: str = ""
    """Of a ranking with the gains 1 0 1 where there are 3 to find: the sum and its result."""

    @property
    def needs_candidates(self) -> bool:
        """Whether it depends on what the blanks would have been."""
        return SPLIT_UNKNOWN in self.undefined


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: a pure function of counts.

    Its text is its identity: `measure(str(m)) == m`.

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
        return self._evaluate(_of_shares(self._needed(self.definition.kappa, "κ")), counts)

    @overload
    def break_even(self, counts: Counts) -> float: ...
    @overload
    def break_even(self, counts: CountsArray) -> Array: ...
    def break_even(self, counts: Counts | CountsArray) -> Numeric:
        """p*: answering one more blank pays for a system whose chance of being right is above."""
        function = self._needed(self.definition.break_even, "break-even")
        return self._evaluate(_of_shares(function), counts)

    def why_undefined(self, counts: Counts) -> str | None:
        """Why the score of these counts does not exist; None when it does."""
        for rule in self.definition.undefined:
            if rule.when(counts):
                return rule.reason
        return None

    def _needed(self, function: Shares | None, what: str) -> Shares:
        if function is None:
            raise UsageError(f"{self} has no {what}: it is not a credit for blanks")
        return function

    def _evaluate(self, function: Callable[..., Numeric], counts: Counts | CountsArray) -> Numeric:
        if isinstance(counts, Counts):
            reason = self.why_undefined(counts)
            if reason is not None:
                return Undefined(reason)
            return float(function(counts, **self.arguments))
        if not isinstance(counts, CountsArray):
            raise UsageError(
                f"{self} takes Counts or CountsArray (got {type(counts).__name__}), "
                "such as Counts(right=3, wrong=1, unanswered_empty=1)"
            )
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.array(function(counts, **self.arguments), dtype=np.float64)
        values = np.array(np.broadcast_to(values, counts.n.shape))
        for rule in self.definition.undefined:
            values[rule.when(counts)] = np.nan
        return values


KINDS_OF_MEASURE: dict[str, type[Measure]] = {"counts": Measure}
"""What a measure may take, and the class that takes it; a family adds its own."""


def _of_counts(function: Callable[..., Numeric]) -> Callable[..., Numeric]:
    def of_tally(k: Tally, **arguments: float) -> Numeric:
        return function(k.right * 1.0, k.wrong * 1.0, k.unanswered * 1.0, k.n * 1.0, **arguments)

    return of_tally


def _of_shares(function: Shares) -> Callable[..., Numeric]:
    def of_tally(k: Tally, **arguments: float) -> Numeric:
        return function(k.right / k.n, k.wrong / k.n, k.unanswered / k.n, **arguments)

    return of_tally


def _fixed(low: float, high: float) -> Callable[..., tuple[float, float]]:
    return lambda **_: (low, high)


_REGISTRY: dict[str, Definition] = {}
_BY_ALIAS: dict[str, str] = {}


def define(definition: Definition) -> None:
    """Add a measure; its names must be new."""
    for name in (definition.name, *definition.aliases):
        if _fold(name) in _BY_ALIAS:
            raise ValueError(f"two measures are called {name}")
        _BY_ALIAS[_fold(name)] = definition.name
    _REGISTRY[definition.name] = definition


def counting(
    name: str,
    *,
    formula: str,
    latex: str,
    source: str,
    gaming: str,
    family: str,
    shares: bool = False,
    undefined: tuple[Undefinedness, ...] = (),
    bounds: tuple[float, float] | Callable[..., tuple[float, float]] = (0.0, 1.0),
    **more: Any,
) -> Callable[[Callable[..., Numeric]], Callable[..., Numeric]]:
    """Declare a measure of the counts; with `shares`, of c, w and u of n, whatever their unit."""

    def declare(function: Callable[..., Numeric]) -> Callable[..., Numeric]:
        define(
            Definition(
                name=name,
                family=family,
                summary=(function.__doc__ or "").strip().splitlines()[0],
                formula=formula,
                latex=latex,
                source=source,
                gaming=gaming,
                function=_of_counts(function) if shares else function,
                bounds=bounds if callable(bounds) else _fixed(*bounds),
                undefined=(NO_QUESTIONS, *undefined),
                **more,
            )
        )
        return function

    return declare


def definitions(takes: Takes | None = None) -> Mapping[str, Definition]:
    """Every declared measure by name, in the order of declaration; or those of one kind."""
    _load()
    if takes is None:
        return _REGISTRY
    return {name: d for name, d in _REGISTRY.items() if d.takes == takes}


def list_measures(takes: Takes | None = None) -> list[str]:
    """The names of all measures, or of those of one kind: "counts", "confidence", "ranking"."""
    return list(definitions(takes))


_TEXT = re.compile(
    r"^\s*(?P<name>[^()]+?)\s*(?:\((?P<arguments>[^()]*)\)\s*(?:@(?P<cutoff>[^()@]*))?)?\s*$"
)


def measure(text: str | Measure) -> Measure:
    """The measure that a text names.

    >>> measure("f(beta=1/2)")
    Measure(name='F', parameters=(('beta', 0.5),))
    """
    if isinstance(text, Measure):
        return text
    _load()
    match = _TEXT.match(text)
    if match is None:
        raise UsageError(f"'{text}' is not a measure's name, such as c@1 or credit(t=0.5)")
    name, cutoff = _without_cutoff(match["name"], match["cutoff"])
    definition = _REGISTRY[name]
    arguments = arguments_of(definition, match["arguments"], cutoff)
    return KINDS_OF_MEASURE[definition.takes](name, arguments, definition=definition)


def count_measure(text: str | Measure) -> Measure:
    """The measure that a text names, which must be one of counts."""
    found = measure(text)
    if found.definition.takes != "counts":
        raise UsageError(
            f"{found} is a measure of {found.definition.takes}, expected one of counts, "
            "such as c@1 (`abstain measures` lists them)"
        )
    return found


def _without_cutoff(text: str, cutoff: str | None) -> tuple[str, str | None]:
    """The measure that `P@10` (or `P`, where the cutoff stood after its parameters) names."""
    name = _BY_ALIAS.get(_fold(text))
    if name is not None:
        return name, cutoff
    head, at, k = text.rpartition("@")
    name = _BY_ALIAS.get(_fold(head)) if at else None
    if name is not None:
        if cutoff is not None:
            raise UsageError(f"{name} is given a cutoff twice (@{k} and @{cutoff})")
        return name, k
    known = _known_names()
    wanted = head if at and nearest(head, known) else text
    raise UnknownNameError("measure", wanted, known, hint="`abstain measures` lists them")


def _known_names() -> list[str]:
    return [name for d in _REGISTRY.values() for name in (d.name, *d.aliases)]


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: 1, 0.5, ∞."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    whole = value == int(value) and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


def _fold(name: str) -> str:
    folded = name.strip().casefold().replace("_", "-").replace(" ", "-")
    return folded.replace("′", "'").replace("’", "'")


FAMILIES = (
    *("credit", "validation", "handed_in", "confidence", "calibration"),
    *("ranking", "truncated"),
)


def _load() -> None:
    """Importing the families declares them, in this order."""
    for family in FAMILIES:
        import_module(f"abstain.measures.families.{family}")
