"""Regression gates: an assertion about a score that knows how sure it can be.

>>> import polars as pl
>>> gold = pl.DataFrame({"question": range(100), "correct": "a"})
>>> run = pl.DataFrame({"question": range(100), "answer": ["a"] * 80 + ["b"] * 20})
>>> print(assert_at_least(run, gold, "accuracy", 0.7))
accuracy of 'run' is 0.8000, with 95 % confidence at least 0.7262: surely reaches 0.7
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

from msgspec import structs

from abstain.errors import AbstainError, UsageError, plural, shown, some_of
from abstain.judging.gold import read_gold
from abstain.judging.reading import Reading, ReadingOptions, reading_of
from abstain.judging.sources import evaluate, evaluate_judged, together
from abstain.measures import Measure
from abstain.measures import measure as find_measure
from abstain.outcomes import Counts, Undefined
from abstain.report.compare_words import signed
from abstain.report.gates import gate_table, gate_text
from abstain.report.words import number

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation
    from abstain.judging.gold import Gold
    from abstain.stats.intervals import IntervalMethod

Side: TypeAlias = Literal["at least", "at most", "not worse"]

MOST_SLICES = 5
"""Slices that a failure names."""

MOST_VALUES = 60
"""An attribute with more values than this is an id or a text, not a slice."""

MOST_QUESTIONS = 10**9

listeners: list[Callable[[Gate], None]] = []
"""Told of every gate, passed or not: the pytest plugin lists them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A slice that explains a failure."""

    slice: str
    score: float
    questions: int
    before: float | None = None
    """The baseline's score there."""

    def __str__(self) -> str:
        change = f", was {number(self.before)}" if self.before is not None else ""
        return f"{self.slice}: {number(self.score)}{change} ({plural(self.questions, 'question')})"


@dataclass(frozen=True, slots=True)
class Gate:
    """A score held against a threshold: it passes where its lower bound reaches it."""

    run: str
    measure: str
    threshold: float
    confidence: float
    score: float
    low: float
    """The one-sided lower bound: the score is at least this, with that confidence."""
    high: float
    """The one-sided upper bound, with the same confidence."""
    counts: Counts
    needed: int | None = None
    """About how many questions would do, at the shares seen; None: none would, or nobody knows."""
    parts: tuple[Part, ...] = ()
    difference: tuple[float, float, float] | None = None
    """Against the baseline: the paired difference, and where it lies with that confidence."""
    cluster: str | None = None
    """The attribute by which questions are clustered, as the bounds take them."""
    why_no_interval: str = ""
    side: Side = "at least"
    """What is asked: at least or at most the threshold, or not worse than the baseline by more."""

    @property
    def bound(self) -> float:
        """What is held against the threshold: the pessimistic bound of the score or difference."""
        if self.side == "not worse":
            return math.nan if self.difference is None else self.difference[1]
        return self.high if self.side == "at most" else self.low

    @property
    def passed(self) -> bool:
        """Whether the bound is on the right side of the threshold."""
        if self.side == "at most":
            return self.bound <= self.threshold
        return self.bound >= self.threshold

    def to_dict(self) -> dict[str, Any]:
        """The gate in plain numbers and texts, as a table and a test's report have it."""
        return {
            "passed": bool(self.passed),
            "run": str(self.run),
            "measure": str(self.measure),
            "score": None if math.isnan(self.score) else float(self.score),
            "bound": None if math.isnan(self.bound) else float(self.bound),
            "side": self.side,
            "wanted": float(self.threshold),
            "questions": int(self.counts.n),
        }

    def __str__(self) -> str:
        if self.side == "not worse":
            return f"{self._against()}: {'not ' if self.passed else 'may be '}{self._worse()}"
        verdict = (
            ("surely reaches", "does not surely reach")
            if self.side == "at least"
            else ("surely stays within", "does not surely stay within")
        )
        return f"{self._head()}: {verdict[not self.passed]} {self.threshold:g}"

    def _worse(self) -> str:
        return f"worse by more than {-self.threshold:g}"

    def _against(self) -> str:
        name = f"{self.measure} of {shown(self.run)}"
        value, low, _ = self.difference or (math.nan, math.nan, math.nan)
        if math.isnan(value) or math.isnan(low):
            return f"the difference of {name} from the baseline is undefined"
        sure = f"with {100 * self.confidence:g} % confidence"
        by = f"{name} differs from the baseline by {signed(value)}"
        return f"{by}; {sure} the difference is at least {signed(low)}"

    def _head(self) -> str:
        name = f"{self.measure} of {shown(self.run)}"
        if math.isnan(self.score):
            reason = self.score.reason if isinstance(self.score, Undefined) else "it has no value"
            return f"{name} is undefined ({reason})"
        if math.isnan(self.low):
            why = f" ({self.why_no_interval})" if self.why_no_interval else ""
            return f"{name} is {number(self.score)}, with no interval{why}"
        sure = f"with {100 * self.confidence:g} % confidence"
        bound = "at most" if self.side == "at most" else "at least"
        return f"{name} is {number(self.score)}, {sure} {bound} {number(self.bound)}"

    def explanation(self) -> str:
        """Why it did not pass, in a few lines."""
        k, lines = self.counts, [str(self)]
        lines.append(
            f"  {plural(int(k.n), 'question')}: {k.right:,} right, {k.wrong:,} wrong, "
            f"{k.unanswered:,} blank"
        )
        if not math.isnan(self.low):
            lines.append(
                f"  interval: {number(self.low)} to {number(self.high)} "
                f"({100 * (2 * self.confidence - 1):g} %, both sides)"
            )
            if self.side != "not worse":
                lines.append(f"  {self._verdict()}")
        if self.difference is not None:
            value, low, high = self.difference
            lines.append(
                f"  against the baseline: {signed(value)} ({signed(low)} to {signed(high)})"
            )
        if self.parts:
            beyond = "above" if self.side == "at most" else "below"
            worse = "rose" if self.side == "at most" else "dropped"
            is_beyond = f"is {beyond} {self.threshold:g}"
            what = worse if self.parts[0].before is not None else is_beyond
            lines.append(f"  slices whose score {what}, the most costly first:")
            lines += [f"    {part}" for part in self.parts]
        return "\n".join(lines)

    def _verdict(self) -> str:
        most = self.side == "at most"
        beyond, best = ("above", "lower") if most else ("below", "upper")
        if self.low > self.threshold if most else self.high < self.threshold:
            too = "high" if most else "low"
            return f"surely too {too}: even the {best} bound is {beyond} {self.threshold:g}"
        if self.score > self.threshold if most else self.score < self.threshold:
            return f"the score itself is {beyond} {self.threshold:g}; more questions would not help"
        if self.score == self.threshold:
            return "the score equals the threshold; more questions would never be enough"
        there = f"(there are {int(self.counts.n):,})"
        if self.cluster is not None:
            return (
                f"too few questions to be sure {there}: they are clustered by "
                f"{shown(self.cluster)}, so more clusters are needed"
            )
        if self.needed is None:
            return (
                f"too close to the threshold: more than {MOST_QUESTIONS:,} questions would be "
                f"needed {there}"
            )
        return (
            "too few questions to be sure: with the same shares of right, wrong and blank, about "
            f"{self.needed:,} would be enough {there}"
        )


class GateError(AssertionError):
    """A score that is not surely what it should be."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        super().__init__(gate.explanation())


class TooLowError(GateError):
    """A score that is not surely at least what it should be."""


class TooHighError(GateError):
    """A score that is not surely at most what it should be."""


class WorseError(GateError):
    """A run that may be worse than its baseline by more than the margin."""


class GatesError(AssertionError):
    """Some of several gates did not pass."""

    def __init__(self, gates: Sequence[Gate]) -> None:
        self.gates = tuple(gates)
        failed = [gate.explanation() for gate in gates if not gate.passed]
        super().__init__("\n\n".join([_listed(gates), *failed]))


def _listed(gates: Sequence[Gate]) -> str:
    return gate_text(gate_table([gate.to_dict() for gate in gates]))


class Gates(list["Gate"]):
    """Gates that were asked for together; as text they are one table."""

    def __str__(self) -> str:
        return _listed(self)


_together: list[Gates] = []
"""What is being asked for together, the innermost last."""


@contextmanager
def gates() -> Iterator[Gates]:
    """Hold several gates before any of them fails: one table of all, and why the others did not.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": range(100), "correct": "a"})
    >>> run = pl.DataFrame({"question": range(100), "answer": ["a"] * 80 + ["b"] * 20})
    >>> with gates() as held:
    ...     passed = assert_at_least(run, gold, "accuracy", 0.7)
    ...     passed = assert_at_most(run, gold, "wrong-rate", 0.3)
    >>> print(held)
    2 of 2 gates passed
    <BLANKLINE>
    gate    run  measure      score  asked          bound  questions
    ──────  ───  ──────────  ──────  ────────────  ──────  ─────────
    passed  run  accuracy    0.8000  at least 0.7  0.7262        100
    passed  run  wrong-rate  0.2000  at most 0.3   0.2738        100
    """
    __tracebackhide__ = True
    held = Gates()
    _together.append(held)
    try:
        yield held
    finally:
        _together.pop()
    if any(not gate.passed for gate in held):
        raise GatesError(held)


ERRORS: dict[Side, type[GateError]] = {
    "at least": TooLowError,
    "at most": TooHighError,
    "not worse": WorseError,
}


def assert_at_least(
    run: Any,
    gold: Any,
    measure: str | Measure,
    threshold: float,
    *,
    confidence: float = 0.95,
    baseline: Any = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalMethod = "beta",
    grades: Mapping[str, str] | None = None,
    **reading: Unpack[ReadingOptions],
) -> Gate:
    """Fail unless a run's score is at least the threshold, with that confidence.

    It passes where the one-sided lower bound of the score reaches the threshold. `run` and `gold`
    are paths or dataframes; `gold=None` is for rows that carry their grade. A failure names the
    slices (`by`, or every attribute with few values) that are below the threshold or, given a
    `baseline` run, those that dropped. `reading` is as for `read`: policy, match, columns, …
    """
    __tracebackhide__ = True
    options = (confidence, baseline, by, interval, grades, reading)
    return _assert("at least", run, gold, measure, threshold, *options)


def assert_at_most(
    run: Any,
    gold: Any,
    measure: str | Measure,
    threshold: float,
    *,
    confidence: float = 0.95,
    baseline: Any = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalMethod | None = None,
    grades: Mapping[str, str] | None = None,
    **reading: Unpack[ReadingOptions],
) -> Gate:
    """Fail unless a run's score is at most the threshold, with that confidence.

    For risks and errors: it passes where the one-sided upper bound does not exceed the threshold.
    The rest is as for `assert_at_least`.
    """
    __tracebackhide__ = True
    options = (confidence, baseline, by, interval, grades, reading)
    return _assert("at most", run, gold, measure, threshold, *options)


def assert_not_worse(
    run: Any,
    gold: Any,
    baseline: Any,
    measure: str | Measure,
    *,
    margin: float = 0.02,
    confidence: float = 0.95,
    by: Sequence[str] | str | None = None,
    interval: IntervalMethod | None = None,
    grades: Mapping[str, str] | None = None,
    **reading: Unpack[ReadingOptions],
) -> Gate:
    """Fail unless a run is worse than its baseline by at most the margin, with that confidence.

    Both answer the same questions, so the bound is that of their paired difference (a test of
    non-inferiority). A measure that is better when lower counts the other way round.
    """
    __tracebackhide__ = True
    if not (isinstance(margin, (int, float)) and 0 <= margin < math.inf):
        raise UsageError(f"the margin must be a number of 0 or more, such as 0.02 (got {margin!r})")
    options = (confidence, baseline, by, interval, grades, reading)
    return _assert("not worse", run, gold, measure, -float(margin), *options)


def _assert(
    side: Side,
    run: Any,
    gold: Any,
    measure: str | Measure,
    threshold: float,
    confidence: float,
    baseline: Any,
    by: Sequence[str] | str | None,
    interval: IntervalMethod | None,
    grades: Mapping[str, str] | None,
    reading: ReadingOptions,
) -> Gate:
    """A gate that passed; every listener is told, and one that fails is an error."""
    __tracebackhide__ = True
    try:
        chosen = find_measure(measure)
        _check(chosen, side, threshold, confidence)
        method = interval or ("beta" if chosen.definition.takes == "counts" else True)
        how = structs.replace(reading_of(reading), grades=dict(grades or {}))
        standard = None if gold is None else read_gold(gold, how)
        own = _read(run, standard, how)
        # A passing gate needs no baseline, but says at once that one is broken.
        before = None if baseline is None else _read(baseline, standard, how)
        gate = _gate(own, chosen, side, threshold, confidence, method)
        if side == "not worse" and before is not None:
            gate = replace(gate, difference=_difference(gate, chosen, own, before))
        if not gate.passed:
            gate = _explained(gate, chosen, own, before, by, interval or "beta")
    except AbstainError as error:
        raise error.with_traceback(None) from None  # one line: nobody looks for the fault inside
    for tell in listeners:
        tell(gate)
    if _together:
        _together[-1].append(gate)
    elif not gate.passed:
        raise ERRORS[side](gate)
    return gate


def _gate(
    own: Evaluation,
    measure: Measure,
    side: Side,
    threshold: float,
    confidence: float,
    interval: IntervalMethod | bool,
) -> Gate:
    """The score of the one run that was read, held against the threshold."""
    result = own.score([measure], interval=interval, level=2 * confidence - 1)
    _refuse_several(own, "run")
    (row,) = result.rows
    name = str(measure)
    low, high = (math.nan if end is None else end for end in row.intervals[name])
    return Gate(
        row.run,
        name,
        threshold,
        confidence,
        row.score(name),
        low,
        high,
        row.counts,
        cluster=result.cluster,
        why_no_interval=row.no_interval.get(name, ""),
        side=side,
    )


def _read(run: Any, gold: Gold | None, reading: Reading) -> Evaluation:
    return evaluate_judged(run, reading) if gold is None else evaluate(gold, run, reading)


def _check(measure: Measure, side: Side, threshold: float, confidence: float) -> None:
    if measure.definition.takes == "ranking":
        raise UsageError(
            f"{measure} is a measure of rankings, expected one of counts or confidence"
        )
    higher = measure.higher_is_better
    if side == ("at most" if higher else "at least"):
        better, other = ("higher", "at_least") if higher else ("lower", "at_most")
        raise UsageError(
            f"for {measure}, {better} is better, so '{side}' cannot be used as a gate; use "
            f"assert_{other}"
        )
    if not math.isfinite(threshold):
        raise UsageError(f"the threshold must be a number, such as 0.6 (got {threshold!r})")
    if not 0.5 < confidence < 1:
        raise UsageError(
            f"the confidence must be between 0.5 and 1, such as 0.95 (got {confidence:g})"
        )


def _refuse_several(read: Evaluation, what: str) -> None:
    if len(read.runs) != 1:
        raise UsageError(f"expected one {what}, got {len(read.runs)}: {some_of(read.runs)}")


# ------------------------------------------------------------------------------ why it failed


def _explained(
    gate: Gate,
    measure: Measure,
    own: Evaluation,
    before: Evaluation | None,
    by: Sequence[str] | str | None,
    interval: IntervalMethod,
) -> Gate:
    if before is not None:
        _refuse_several(before, "baseline")
    names = _attributes(own) if by is None else [by] if isinstance(by, str) else list(by)
    parts = [part for name in names for part in _parts(own, before, measure, name)]
    sign = 1 if measure.higher_is_better else -1

    def cost(part: Part) -> float:
        """How much worse than it should be, below 0, times its questions."""
        wanted = gate.threshold if before is None else part.before
        return 0.0 if wanted is None else sign * (part.score - wanted) * part.questions

    parts = sorted((part for part in parts if cost(part) < 0), key=cost)
    difference = gate.difference
    if before is not None and difference is None:
        difference = _difference(gate, measure, own, before)
    alone = gate.cluster is None and measure.definition.takes == "counts"
    return replace(
        gate,
        needed=_needed(measure, gate, interval) if alone else None,
        parts=tuple(parts[:MOST_SLICES]),
        difference=difference,
    )


def _difference(
    gate: Gate, measure: Measure, own: Evaluation, before: Evaluation
) -> tuple[float, float, float]:
    """The paired difference from the baseline with its bounds; of a non-inferiority gate signed
    so that more is better."""
    _refuse_several(before, "baseline")
    both = together({"baseline": before, "run": own})
    pair = both.compare(measure, trials=100, level=2 * gate.confidence - 1).pairs[0]
    value, low, high = (
        math.nan if end is None else end for end in (pair.difference, *pair.interval)
    )
    if gate.side == "not worse" and not measure.higher_is_better:
        return -value, -high, -low
    return value, low, high


def _attributes(read: Evaluation) -> list[str]:
    """Attributes that make few slices; numbers with a fraction make none."""
    gold, questions = read.source.gold, read.questions
    names: Sequence[str] = questions.columns
    if gold is not None:
        names = gold.attributes
    else:
        (table,) = read.source.responses
        real = {name for name, kind in table.frame.collect_schema().items() if kind.is_float()}
        names = [name for name in names if name != "question" and name not in real]
    most = min(MOST_VALUES, len(questions) // 2)  # more are ids, one question each
    return [n for n in names if 1 < questions[n].drop_nulls().n_unique() <= most]


def _parts(own: Evaluation, before: Evaluation | None, measure: Measure, name: str) -> list[Part]:
    now = _by_slice(own, measure, name)
    then = {} if before is None else _by_slice(before, measure, name)
    return [
        Part(f"{name} {shown(value or '–')}", score, questions, then.get(value, (None, 0))[0])
        for value, (score, questions) in now.items()
        if not math.isnan(score)
    ]


def _by_slice(read: Evaluation, measure: Measure, name: str) -> dict[str | None, tuple[float, int]]:
    """The score and the questions of every slice of one run."""
    rows = read.score([measure], by=[name]).rows
    return {row.slice[name]: (row.score(str(measure)), int(row.counts.n)) for row in rows}


def _needed(measure: Measure, gate: Gate, method: IntervalMethod) -> int | None:
    """The fewest questions, at the shares seen, whose lower bound reaches the threshold."""
    from abstain.stats.intervals import interval

    sign = -1 if gate.side == "at most" else 1
    if gate.side == "not worse" or not sign * gate.score > sign * gate.threshold:
        return None

    def reaches(questions: int) -> bool:
        scale = questions / gate.counts.n
        k = gate.counts
        scaled = Counts(*(getattr(k, name) * scale for name in Counts.__slots__))
        level = 2 * gate.confidence - 1
        found = interval(measure, scaled, method=method, level=level)
        return sign * (found.high if sign < 0 else found.low) >= sign * gate.threshold

    enough = int(gate.counts.n)
    while not reaches(enough):
        enough *= 2
        if enough > MOST_QUESTIONS:
            return None
    # Half of them were too few, unless all there are do.
    return bisect_left(range(enough), 1, lo=enough // 2 + 1, key=reaches)
