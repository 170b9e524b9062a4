"""The declaration of a measure: everything that is known about it, as data."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from abstain.errors import UsageError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from abstain.measures.answers import Answers
    from abstain.measures.ranked_lists import ByDepth

    np = numpy
    Array: TypeAlias = NDArray[numpy.float64]
    IntArray: TypeAlias = NDArray[numpy.int64]
    BoolArray: TypeAlias = NDArray[numpy.bool_]
    Codes: TypeAlias = NDArray[numpy.uint8]
    """Outcomes or kinds, one byte each."""
    Words: TypeAlias = NDArray[numpy.uint64]
    """Bit sets, 64 bits a word."""
else:

    class _LazyNumpy:
        def __getattr__(self, name: str) -> Any:
            attribute = getattr(import_module("numpy"), name)
            setattr(self, name, attribute)  # later lookups do not come here
            return attribute

    np = _LazyNumpy()
    Array = IntArray = BoolArray = Codes = Words = Any

Numeric: TypeAlias = Any
"""A float or an array of floats: formulas are written once for both."""

CountsLike: TypeAlias = Any
"""`Counts` or `CountsArray`: whatever has right, wrong, …, n."""

Shares: TypeAlias = Callable[..., Numeric]
"""A function of the shares right, wrong and unanswered (and the measure's parameters)."""

Influence: TypeAlias = "Callable[..., tuple[Array, Array | float]]"
"""The influence function, of resampled answers and their values: the derivative by each answer
(answers, resamples) and by the number of questions (resamples)."""

Takes: TypeAlias = Literal["counts", "decisions", "confidence", "ranking", "columns"]


class Parameter(Struct, frozen=True):
    """One parameter of a measure, with its range."""

    name: str
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    default: float | None = None
    optional: bool = False
    """May be left out although it has no default."""
    whole: bool = False
    cutoff: bool = False
    """Written after the name: P@10."""
    always: bool = False
    """Printed even where it has its default."""

    def check(self, value: float, measure_name: str) -> float:
        """The value, if it lies in range."""
        below = value <= self.low if self.low_open else value < self.low
        above = value >= self.high if self.high_open else value > self.high
        wanted = "a whole number" if self.whole and value % 1 else ""
        if below or above or not math.isfinite(value):
            wanted = f"in {self.range_text}"
        if wanted:
            got = number_text(value)
            raise UsageError(f"{self.name} of {measure_name} must be {wanted} (got {got})")
        return int(value) if self.whole else value

    @property
    def range_text(self) -> str:
        """The range as people write it: [0, 1)."""
        low = "(" if self.low_open or math.isinf(self.low) else "["
        high = ")" if self.high_open or math.isinf(self.high) else "]"
        return f"{low}{number_text(self.low)}, {number_text(self.high)}{high}"

    @property
    def example(self) -> float:
        """A value for examples and checks."""
        usual = 10.0 if self.whole else 0.5
        return min(max(usual, self.low), self.high) if self.default is None else self.default


class Undefinedness(Struct, frozen=True):
    """A condition under which a measure is undefined, and the reason."""

    when: Callable[..., Any]
    """A function of the counts or answers; or of rankings and the measure's parameters."""
    reason: str


NO_QUESTIONS = Undefinedness(lambda k: k.n == 0, "there are no questions")
NOTHING_ANSWERED = Undefinedness(lambda k: k.answered == 0, "no question was answered")
SPLIT_UNKNOWN = Undefinedness(
    lambda k: k.unsplit > 0,
    "it is not known whether the candidates of the unanswered questions were right",
)
NONE_ASKED = Undefinedness(lambda a: a.questions == 0, NO_QUESTIONS.reason)
NO_ANSWERS = Undefinedness(lambda a: a.size == 0, "there is no answer")
NO_CONFIDENCE = Undefinedness(lambda a: a.count(a.stated) == 0, "no answer has a confidence")
SOME_WITHOUT = Undefinedness(
    lambda a: a.submissions.count(~a.submissions.stated) > 0,
    "some answers have no confidence to weight them with",
)
ALL_RIGHT = Undefinedness(lambda a: a.count(a.right) == a.size, "every answer is right")
ALL_WRONG = Undefinedness(lambda a: a.count(a.right) == 0, "every answer is wrong")

TIES = "tied answers: the mean over every order of them"
ONE_POINT = "one point for each distinct confidence: tied answers are submitted together"
MISSING_LAST = "answers without a confidence are the least sure"
WITHOUT_LEFT_OUT = "answers without a confidence are left out"
"""Phrases that the conventions of several measures share."""


class Proportion(Struct, frozen=True):
    """Successes over trials, each a sum of counts by QA4MRE's letters.

    R is right, W wrong, U unanswered, UR, UW and UE unanswered with a right, a wrong and no
    candidate, n all questions. Of decisions D is wrongly declined, A wrongly answered, N rightly
    declined.

    >>> from abstain.outcomes import Counts
    >>> Proportion("R", "R + W").of(Counts(right=3, wrong=1, unanswered_empty=1))
    (3, 4)
    """

    successes: str
    trials: str = "n"

    def of(self, counts: CountsLike) -> tuple[Numeric, Numeric]:
        return summed(counts, self.successes), summed(counts, self.trials)

    @property
    def formula(self) -> str:
        """Such as (UW + UE)/n."""
        above = f"({self.successes})" if "+" in self.successes else self.successes
        below = f"({self.trials})" if "+" in self.trials else self.trials
        return f"{above}/{below}"


_LETTERS = {
    "R": "right",
    "W": "wrong",
    "U": "unanswered",
    "UR": "unanswered_right",
    "UW": "unanswered_wrong",
    "UE": "unanswered_empty",
    "D": "wrongly_declined",
    "A": "wrongly_answered",
    "N": "rightly_declined",
    "n": "n",
}


def summed(counts: CountsLike, letters: str) -> Numeric:
    return sum(getattr(counts, _LETTERS[letter.strip()]) for letter in letters.split("+"))


def f1(hits: Numeric, misses: Numeric) -> Numeric:
    """F1 of what was hit, beside what was missed on either side."""
    return 2 * hits / (2 * hits + misses)


def without(letters: str, reason: str) -> Undefinedness:
    """Undefined where these counts are all 0."""
    return Undefinedness(lambda counts: summed(counts, letters) == 0, reason)


class TrecName(Struct, frozen=True):
    """A measure's name in trec_eval, and the parameters that follow it after a dot."""

    name: str
    place: int
    takes: Literal["", "cutoffs", "recalls", "numbers", "gains"] = ""
    """cutoffs, recalls: one figure each; numbers: parameters in order; gains: grade=gain."""
    parameters: tuple[str, ...] = ()
    """The names of these numbers in this package."""
    defaults: tuple[float, ...] = ()
    per_query: bool = True
    """Whether it is printed for each query too, or only for all of them."""
    sets: tuple[str, ...] = ("all_trec",)
    """The names of sets of measures that it belongs to."""


class MeanOf(Struct, frozen=True):
    """A mean: the term of each answer, and what their sum is divided by."""

    adds: Callable[[Answers], Array]
    over: Literal["answers", "questions"]


class Definition(Struct, frozen=True):
    """Everything that is known about a measure, before its parameters have values."""

    name: str
    family: str
    summary: str
    formula: str
    source: str
    function: Callable[..., Numeric]
    bounds: Callable[..., tuple[float, float]]
    """The lowest and the highest value; differences are tested on the scale between them."""
    gaming: str = ""
    """A way to a high score without being good; empty if none is known."""
    undefined: tuple[Undefinedness, ...] = ()
    """When it is undefined: the first condition that holds gives the reason."""
    takes: Takes = "counts"
    home: str = ""
    """Where it is declared: the module and the name of its function."""
    higher_is_better: bool = True
    note: str = ""
    """What else to know before comparing systems by it."""
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    ranks_like: Callable[..., tuple[str, ...]] = lambda **_: ()
    monotone: str = ""
    """Empty if it is monotone; else why a wrong answer that becomes right may lower the score."""
    convention: str = ""
    """What its definition leaves open and how it is settled here: ties, integration, bins."""
    studentised: bool = False
    """A test of a difference divides it by its standard error (a studentised statistic).

    Needed where the denominator varies from run to run, as the answers do in precision.
    """
    divides_by: str = ""
    """Its denominator where that is not all questions, as a sum of counts: R + W."""
    least: int = 0
    """How large the denominator of each run must be for a test of a difference to hold its level
    (benchmarks/errors.py); below it there is no p-value."""

    shares: bool = False
    """Its formula is one of the shares c, w and u, not of the counts R, W, UR, UW and UE."""
    kappa: Shares | None = None
    kappa_text: str = "–"
    break_even: Shares | None = None
    break_even_text: str = "–"
    needs_candidates: bool = False
    proportion: Proportion | None = None
    """It is a proportion: Wilson's and Clopper and Pearson's intervals apply."""

    uses: Literal["all", "stated", "submitted"] = "all"
    """Every answer; those with a confidence; those that are not candidates behind a blank."""
    several: bool = False
    """It takes several answers per question."""
    mean: MeanOf | None = None
    """It is a mean over answers: resamples and swaps are matrix products."""
    influence: Influence | None = None
    """Its influence function, where it is not a mean.

    A measure of counts needs none: its derivatives by the counts are taken numerically.
    """
    bootstrap_biased: bool = False
    """It is biased upwards in every sample, and more so in a resample: no bootstrap interval."""

    columns: tuple[str, ...] = ()
    """The columns of the gold or the run that it needs."""

    total: bool = False
    """The score of a run is the sum over the queries, not the mean."""
    geometric: bool = False
    """The score of a run is the geometric mean over the queries, of scores above 0."""
    trec: tuple[TrecName, ...] = ()
    example: str = ""
    """The worked computation for a ranking with the gains 1 0 1 and 3 relevant documents."""
    leaves_out_nil: bool = False
    """It is undefined for queries without a relevant document, so means leave these out."""
    knows_end: bool = False
    """It depends on where a list ends, so nil queries have a score."""
    original: str = ""
    """The name of the measure that it modifies; the report on truncation compares the two."""
    ideal_ends: bool = False
    """The ideal list is cut at the list's length: at a limit, as its original with that cutoff."""
    scales_grades: bool = False
    """A gain is a grade over the top grade, unless `rel` is set."""
    lower_grades_cost: bool = False
    """Where grades are scaled, a perfect list with a grade below the top one scores less than 1."""
    by_depth: Callable[..., ByDepth] | None = None
    """Its values at every depth at which a list may be cut: a function of `Prefixes`."""

    @property
    def signature(self) -> str:
        """Its name with its parameters: credit(t), F(beta=1), P(rel=1)@k."""
        inside = ", ".join(
            p.name if p.default is None else f"{p.name}={p.default:g}"
            for p in self.parameters
            if not p.cutoff and not p.optional
        )
        cut = "".join("[@k]" if p.optional else "@k" for p in self.parameters if p.cutoff)
        return (f"{self.name}({inside})" if inside else self.name) + cut

    def ordered(self, values: dict[str, float]) -> tuple[tuple[str, float], ...]:
        return tuple((p.name, values[p.name]) for p in self.parameters if p.name in values)

    @property
    def example_text(self) -> str:
        """Its parameters with example values, as they are typed."""
        return ", ".join(f"{p.name}={p.example!r}" for p in self.parameters if not p.optional)


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: 1, 0.5, ∞."""
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    whole = value == int(value) and abs(value) < 1e16
    return str(int(value)) if whole else repr(float(value))
