"""What is known of a measure, as data: nothing elsewhere is looked up by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.measures.answers import Answers
    from abstain.measures.ranked_lists import ByDepth
    from abstain.outcomes import Array

Numeric: TypeAlias = Any
"""A float or an array of floats: formulas are written once for both."""

CountsLike: TypeAlias = Any
"""`Counts` or `CountsArray`: whatever has right, wrong, …, n."""

Shares: TypeAlias = Callable[..., Numeric]
"""A function of the shares right, wrong and unanswered (and the measure's parameters)."""

Bounds: TypeAlias = tuple[float, float] | Callable[..., tuple[float, float]]
"""The lowest and the highest value, or a function of the parameters that gives them."""

Influence: TypeAlias = "Callable[..., tuple[Array, Array | float]]"
"""Of resampled answers and their values: what one more of each answer adds (answers, resamples),
and what one more question adds (resamples)."""

Takes: TypeAlias = Literal["counts", "confidence", "ranking"]
"""What a measure is a function of."""

Uses: TypeAlias = Literal["all", "stated", "given"]
"""Every answer; those with a confidence; those that are no candidate behind a blank."""


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

    @property
    def example(self) -> float:
        """A value to show the measure with."""
        if self.default is not None:
            return self.default
        usual = 10.0 if self.whole else 0.5
        return min(max(usual, self.low), self.high)


class Undefinedness(Struct, frozen=True):
    """When a measure does not exist, and why."""

    when: Callable[..., Any]
    """Of the counts; of rankings and the measure's parameters."""
    reason: str


NO_QUESTIONS = Undefinedness(lambda k: k.n == 0, "there are no questions")
NOTHING_ANSWERED = Undefinedness(lambda k: k.answered == 0, "no question was answered")
NOTHING_BLANK = Undefinedness(lambda k: k.unanswered == 0, "no question was left unanswered")
SPLIT_UNKNOWN = Undefinedness(
    lambda k: k.unsplit > 0,
    "it is not known whether the candidates of the unanswered questions were right",
)
NONE_ASKED = Undefinedness(lambda a: a.questions == 0, NO_QUESTIONS.reason)
NO_ANSWERS = Undefinedness(lambda a: a.size == 0, "there is no answer")
NO_CONFIDENCE = Undefinedness(lambda a: a.count(a.stated) == 0, "no answer has a confidence")
SOME_WITHOUT = Undefinedness(
    lambda a: a.shown.count(~a.shown.stated) > 0,
    "some answers have no confidence to weight them with",
)
ALL_RIGHT = Undefinedness(lambda a: a.count(a.right) == a.size, "every answer is right")
ALL_WRONG = Undefinedness(lambda a: a.count(a.right) == 0, "every answer is wrong")

TIES = "tied answers: the mean over every order of them"
ONE_POINT = "one point for each distinct confidence: tied answers are given together"
MISSING_LAST = "answers without a confidence are the least sure"
WITHOUT_LEFT_OUT = "answers without a confidence are left out"
"""What the conventions of several measures say."""


class Proportion(Struct, frozen=True):
    """Successes over trials, each a sum of counts by QA4MRE's letters.

    R is right, W wrong, U unanswered, UR, UW and UE unanswered with a right, a wrong and no
    candidate, n all questions.

    >>> from abstain.outcomes import Counts
    >>> Proportion("R", "R + W").of(Counts(right=3, wrong=1, unanswered_empty=1))
    (3, 4)
    """

    successes: str
    trials: str = "n"

    def of(self, counts: CountsLike) -> tuple[Numeric, Numeric]:
        """How many successes and trials some counts have."""
        return summed(counts, self.successes), summed(counts, self.trials)

    @property
    def texts(self) -> dict[str, str]:
        """How it is written: (UW + UE)/n, and in LaTeX."""
        sides = self.successes, self.trials
        above, below = (f"({side})" if "+" in side else side for side in sides)
        tex = [re.sub(r"U(\w)", r"U_\1", side.replace(" ", "")) for side in sides]
        return {"formula": f"{above}/{below}", "latex": rf"\frac{{{tex[0]}}}{{{tex[1]}}}"}


_LETTERS = {
    "R": "right",
    "W": "wrong",
    "U": "unanswered",
    "UR": "unanswered_right",
    "UW": "unanswered_wrong",
    "UE": "unanswered_empty",
    "n": "n",
}


def summed(counts: CountsLike, letters: str) -> Numeric:
    """A sum of counts by their letters."""
    return sum(getattr(counts, _LETTERS[letter.strip()]) for letter in letters.split("+"))


class TrecName(Struct, frozen=True):
    """What trec_eval calls a measure, and what it takes after a point there."""

    name: str
    place: int
    """Where it stands in the output."""
    takes: Literal["", "cutoffs", "recalls", "numbers", "gains"] = ""
    """Whole numbers or shares, each a figure of its own; the parameters in order; grade=gain."""
    parameters: tuple[str, ...] = ()
    """What these numbers are called here."""
    defaults: tuple[float, ...] = ()
    per_query: bool = True
    """Whether it is printed for each query, and not for all of them alone."""
    sets: tuple[str, ...] = ("all_trec",)
    """The names that stand for several measures, this one among them."""


class MeanOf(Struct, frozen=True):
    """What each answer adds; a measure that is its sum over the answers used or the questions."""

    adds: Callable[[Answers], Array]
    over: Literal["answers", "questions"]


class Definition(Struct, frozen=True):
    """All that is known of a measure (before its parameters have values)."""

    name: str
    family: str
    summary: str
    formula: str
    latex: str
    source: str
    gaming: str
    """A way to a high score without being good; empty if none is known."""
    function: Callable[..., Numeric]
    bounds: Callable[..., tuple[float, float]]
    """The lowest and the highest value; differences are tested on the scale between them."""
    undefined: tuple[Undefinedness, ...]
    """When it does not exist. Nothing else is read off these rules."""
    takes: Takes = "counts"
    """What it is a function of."""
    home: str = ""
    """Where it is declared: the module and the name of its function."""
    higher_is_better: bool = True
    note: str = ""
    """What else one should know before comparing systems by it."""
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    ranks_like: Callable[..., tuple[str, ...]] = lambda **_: ()
    monotone: str = ""
    """Empty, or why a wrong answer that becomes right may lower the score."""
    convention: str = ""
    """What its definition leaves open and how it is settled here: ties, integration, bins."""
    studentised: bool = False
    """Differences are tested over their standard error, not as they are.

    So it must be where what it divides by varies much from run to run: precision, by the answers.
    """
    divides_by: str = ""
    """What it divides by where that is not all questions, as a sum of counts: R + W."""
    least: int = 0
    """As many of those, or answers, each run needs before a test of a difference holds its level
    (benchmarks/errors.py); with fewer there is no p."""

    # --------------------------------------------------------------------- of counts
    shares: bool = False
    """Its formula is one of the shares c, w and u, not of the counts R, W, UR, UW and UE."""
    kappa: Shares | None = None
    kappa_text: str = "–"
    break_even: Shares | None = None
    break_even_text: str = "–"
    needs_candidates: bool = False
    """It depends on what the blanks would have been."""
    proportion: Proportion | None = None
    """It is a share of successes in trials: Wilson's, Clopper and Pearson's intervals hold."""

    # ----------------------------------------------------------------- of confidence
    uses: Uses = "all"
    """Which answers it takes."""
    several: bool = False
    """It takes several answers a question."""
    mean: MeanOf | None = None
    """It is a sum over answers: resamples and swaps are products of matrices."""
    influence: Influence | None = None
    """How much one more answer moves it, where it is no sum and the derivative is known.

    A measure of counts needs none: there the derivative by each count is taken numerically.
    """
    bootstrap_biased: bool = False
    """It is too large in every sample and more so in a resample: a bootstrap gives no interval."""

    # ------------------------------------------------------------------- of rankings
    total: bool = False
    """A run is given its sum over the queries, not its mean."""
    geometric: bool = False
    """A run is given its geometric mean over the queries, of scores that are above 0."""
    trec: tuple[TrecName, ...] = ()
    """What trec_eval calls it."""
    example: str = ""
    """Of a ranking with the gains 1 0 1 where there are 3 to find: the sum and its result."""
    leaves_out_nil: bool = False
    """It is undefined where a query has no relevant document, so that a mean leaves those out."""
    knows_end: bool = False
    """It looks at where a list ends, so that nil queries have a score."""
    original: str = ""
    """The measure that it modifies where a list ends, by name; the report on truncation sets both
    side by side."""
    ideal_ends: bool = False
    """Its ideal list is no longer than the list: at a limit it is its original with that cutoff."""
    scales_grades: bool = False
    """A gain is a grade over the top grade, unless `rel` is given."""
    lower_grades_cost: bool = False
    """Then a perfect list with a grade below the top one scores less than 1."""
    by_depth: Callable[..., ByDepth] | None = None
    """Its values at every depth that a list may be cut at: a function of `Prefixes`."""
    by_depth_text: str = ""
    """The same of one list as an expression of numpy. k are the depths from 0 on, r the gains, c
    what is found up to each depth, n the relevant documents there are, R their gain, t = c / R (1
    where there are none); S adds up to each depth. Parameters stand in braces."""

    @property
    def example_text(self) -> str:
        """Its parameters with values to show it with, as they are typed."""
        return ", ".join(f"{p.name}={p.example!r}" for p in self.parameters if not p.optional)


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: 1, 0.5, ∞."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    whole = value == int(value) and abs(value) < 1e16
    return str(int(value)) if whole else repr(float(value))
