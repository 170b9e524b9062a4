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
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

from abstain.errors import AbstainError, UsageError, plural, shown, some_of
from abstain.features.compare.words import signed
from abstain.measures import Measure, Parameter
from abstain.measures import measure as measure_named
from abstain.measures.definition import number_text
from abstain.outcomes import Counts, Decisions
from abstain.reading import Reading, ReadingOptions
from abstain.report.grid import Cell, Column, Grid
from abstain.report.terminal import terminal_text
from abstain.report.view import score_text
from abstain.runs import evaluate, evaluate_judged, merged
from abstain.runs.evaluation import Evaluation
from abstain.runs.gold import Gold, read_gold
from abstain.runs.usual_names import MEANS_ANSWERABLE, plain
from abstain.testing.contracts import check_measure as check_measure
from abstain.testing.contracts import check_reader as check_reader

if TYPE_CHECKING:
    from abstain.stats.intervals import IntervalMethod

Side: TypeAlias = Literal["at least", "at most", "not worse"]

MOST_SLICES = 5
"""Slices that a failure names."""
MOST_VALUES = 60
"""An attribute with more values than this is an id or a text, not a slice."""
MOST_QUESTIONS = 10**9

listeners: list[Callable[[Gate], None]] = []
"""Called with every gate, passed or not: the pytest plugin lists them."""


@dataclass(frozen=True, slots=True)
class Part:
    slice: str
    score: float
    questions: int
    before: float | None = None
    """The baseline's score there."""

    def __str__(self) -> str:
        change = f", was {score_text(self.before)}" if self.before is not None else ""
        score, questions = score_text(self.score), plural(self.questions, "question")
        return f"{self.slice}: {score}{change} ({questions})"


@dataclass(frozen=True, slots=True)
class Gate:
    """A score held against a threshold: it passes where its pessimistic bound reaches it."""

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
    proportion: tuple[float, float] | None = None
    """The successes and trials of a measure that is a proportion."""

    @property
    def sign(self) -> int:
        return -1 if self.side == "at most" else 1

    @property
    def bound(self) -> float:
        """What is held against the threshold: the pessimistic bound of the score or difference."""
        if self.side == "not worse":
            return math.nan if self.difference is None else self.difference[1]
        return self.high if self.side == "at most" else self.low

    @property
    def passed(self) -> bool:
        """Whether the bound is on the right side of the threshold."""
        return self.sign * self.bound >= self.sign * self.threshold

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
        _, bound, passed, failed = SIDES[self.side]
        bound = (
            f"with {100 * self.confidence:g} % confidence {bound.format(score_text(self.bound))}"
        )
        if math.isnan(self.bound):
            bound = f"with no interval ({getattr(self.score, 'reason', self.why_no_interval)})"
        score = "undefined" if math.isnan(self.score) else score_text(self.score)
        threshold = -self.threshold if self.side == "not worse" else self.threshold
        verdict = f"{passed if self.passed else failed} {threshold:g}"
        return f"{self.measure} of {shown(self.run)} is {score}, {bound}: {verdict}"

    def explanation(self) -> str:
        k = self.counts
        counts = f"{k.right:,} right, {k.wrong:,} wrong, {k.unanswered:,} blank"
        if self.proportion is not None:
            counts += f"; {self.measure}: {' of '.join(map(number_text, self.proportion))}"
        lines = [str(self), f"{plural(int(k.n), 'question')}: {counts}"]
        if not math.isnan(self.low):
            level = f"({100 * (2 * self.confidence - 1):g} %, both sides)"
            lines.append(f"interval: {score_text(self.low)} to {score_text(self.high)} {level}")
            lines += [self._advice()] if self.side != "not worse" else []
        if self.difference is not None:
            value, low, high = map(signed, self.difference)
            lines.append(f"against the baseline: {value} ({low} to {high})")
        if self.parts:
            change = "got worse" if self.parts[0].before is not None else "misses the threshold"
            lines.append(f"slices whose score {change}, the most costly first:")
            lines += [f"  {part}" for part in self.parts]
        return "\n  ".join(lines)

    def _advice(self) -> str:
        if (beyond := self.sign * (self.score - self.threshold)) <= 0:
            where = "exactly" if beyond == 0 else "above" if self.side == "at most" else "below"
            return f"more questions would not help: the score itself is {where} {self.threshold:g}"
        units = "questions" if self.cluster is None else f"clusters ({shown(self.cluster)})"
        enough = "more are needed"
        if self.needed is not None:
            enough = f"with the same shares, about {self.needed:,} would be enough"
        return f"too few {units} to be sure: {enough}"


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


AGAINST = "at least {} against the baseline"
SIDES: dict[Side, tuple[type[GateError], str, str, str]] = {
    "at least": (TooLowError, "at least {}", "surely reaches", "does not surely reach"),
    "at most": (TooHighError, "at most {}", "surely stays within", "does not surely stay within"),
    "not worse": (WorseError, AGAINST, "not worse by more than", "may be worse by more than"),
}
"""The error of a gate that does not pass, how its bound reads, and its verdict."""
BOUND = "lower bound of a score or of the difference from a baseline; upper bound for `at most`"


def gate_table(gates: Sequence[Mapping[str, Any]], tests: Sequence[str] = ()) -> Grid:
    """Gates in plain numbers and texts as a table, failed ones first; perhaps with their tests."""
    columns = [Column("gate"), Column("run"), Column("measure"), Column("score", "score")]
    columns += [Column("asked"), Column("bound", "score", means=BOUND)]
    columns += [Column("questions", "count"), *([Column("test")] if tests else [])]
    rows: list[list[Cell]] = []
    for at, gate in enumerate(gates):
        more = "not worse by more than" if gate["side"] == "not worse" else gate["side"]
        row = ["passed" if gate["passed"] else "FAILED", gate["run"], gate["measure"]]
        row += [gate["score"], f"{more} {abs(gate['wanted']):g}", gate["bound"], gate["questions"]]
        rows.append([*row, *tests[at : at + 1]])
    passed = sum(bool(gate["passed"]) for gate in gates)
    rows.sort(key=lambda row: row[0] == "passed")
    return Grid(columns, rows, title=f"{passed} of {len(gates)} gates passed")


class Gates(list["Gate"]):
    """Gates that were asked for together; as text they are one table."""

    def __str__(self) -> str:
        return terminal_text(gate_table([gate.to_dict() for gate in self])).rstrip("\n")


class GatesError(AssertionError):
    """Some of several gates did not pass."""

    def __init__(self, gates: Gates) -> None:
        self.gates = tuple(gates)
        failed = [gate.explanation() for gate in gates if not gate.passed]
        super().__init__("\n\n".join([str(gates), *failed]))


_together: list[Gates] = []
"""Gates that are being collected, the innermost last."""


@contextmanager
def gates() -> Iterator[Gates]:
    """Hold several gates before any of them fails: one table of all, and why the others did not."""
    __tracebackhide__ = True
    held = Gates()
    _together.append(held)
    try:
        yield held
    finally:
        _together.pop()
    if _together:
        _together[-1].extend(held)
    elif any(not gate.passed for gate in held):
        raise GatesError(held)


class GateOptions(ReadingOptions, total=False):
    """What every gate takes, besides how runs are read: policy, match, columns, grades, …"""

    by: Sequence[str] | str | None
    interval: IntervalMethod | None


def assert_at_least(
    run: Any,
    gold: Any,
    measure: str | Measure,
    threshold: float = math.nan,
    *,
    confidence: float = 0.95,
    baseline: Any = None,
    **options: Unpack[GateOptions],
) -> Gate:
    """Fail unless a run's score is at least the threshold, with that confidence.

    It passes where the one-sided lower bound of the score reaches the threshold. `run` and `gold`
    are paths or dataframes; `gold=None` is for rows that carry their grade. A failure names the
    slices (`by`, or every attribute with few values) that are below the threshold or, given a
    `baseline` run, those that dropped. `interval` is the method of the bound. The other options are
    those of `read`: policy, match, columns, …
    """
    __tracebackhide__ = True
    return _Asked("at least", measure, threshold, confidence, options).hold(run, gold, baseline)


def assert_at_most(
    run: Any,
    gold: Any,
    measure: str | Measure | Mapping[str, float],
    threshold: float = math.nan,
    *,
    confidence: float = 0.95,
    baseline: Any = None,
    **options: Unpack[GateOptions],
) -> Any:
    """Fail unless a run's score is at most the threshold, with that confidence.

    For risks and errors: it passes where the one-sided upper bound does not exceed the threshold.
    A gate on over-refusal alone is passed by answering everything, one on under-refusal alone by
    refusing everything: `{"over-refusal": 0.05, "under-refusal": 0.1}` asks for both, and returns a
    list of gates. The rest is as for `assert_at_least`.
    """
    __tracebackhide__ = True
    if isinstance(measure, Mapping):
        if not measure or threshold == threshold:
            raise UsageError("a mapping names one or more measures, each with its threshold")
        how: Any = {"confidence": confidence, "baseline": baseline, **options}
        with gates() as held:
            for item, most in measure.items():
                assert_at_most(run, gold, item, most, **how)
        return held
    asked = _Asked("at most", measure, threshold, confidence, options)
    return asked.hold(run, gold, baseline)


def assert_not_worse(
    run: Any,
    gold: Any,
    baseline: Any,
    measure: str | Measure,
    *,
    margin: float = 0.02,
    confidence: float = 0.95,
    **options: Unpack[GateOptions],
) -> Gate:
    """Fail unless a run is worse than its baseline by at most the margin, with that confidence.

    Both answer the same questions, so the bound is that of their paired difference (a test of
    non-inferiority). A measure that is better when lower counts the other way round.
    """
    __tracebackhide__ = True
    if not 0 <= margin < math.inf:
        raise UsageError(f"the margin must be a number of 0 or more, such as 0.02 (got {margin!r})")
    asked = _Asked("not worse", measure, -float(margin), confidence, options)
    return asked.hold(run, gold, baseline)


class _Asked:
    def __init__(
        self, side: Side, measure: str | Measure, threshold: float, level: float, how: GateOptions
    ) -> None:
        self.side, self.threshold, self.confidence = side, threshold, level
        self.measure = item = measure_named(measure)
        by = how.pop("by", None)
        self.by = [by] if isinstance(by, str) else by
        self.of_counts = item.definition.takes in ("counts", "decisions")
        self.interval = how.pop("interval", None) or ("beta" if self.of_counts else True)
        self.level = 2 * level - 1
        self.reading = Reading.of(**how)  # type: ignore[misc]
        better, end = ("higher", "least") if item.higher_is_better else ("lower", "most")
        if item.definition.takes not in ("counts", "decisions", "confidence"):
            raise UsageError(f"{item} is no measure of responses, which gates take")
        if side not in (f"at {end}", "not worse"):
            raise UsageError(f"for {item}, {better} is better: use assert_at_{end}")
        if threshold != threshold:
            raise UsageError(f"name a threshold for {item}, such as 0.6")
        if isinstance(threshold, bool) or not isinstance(threshold, Real):
            raise UsageError(f"the threshold must be a number, such as 0.6 (got {threshold!r})")
        low, high = item.bounds
        if side == "not worse":
            Parameter("the margin", "", 0, high - low).check(-threshold, str(item))
        else:
            Parameter("the threshold", "", low, high).check(threshold, str(item))
        if not 0.5 < level < 1:
            raise UsageError(f"the confidence must be between 0.5 and 1 (got {level:g})")

    def hold(self, run: Any, gold: Any, baseline: Any) -> Gate:
        """The gate, reported to every listener; one that does not pass is an error."""
        __tracebackhide__ = True
        try:
            gate = self._gate(run, gold, baseline)
        except AbstainError as error:
            raise error.with_traceback(None) from None  # one line, not the inside of the library
        for listener in listeners:
            listener(gate)
        if _together:
            _together[-1].append(gate)
        elif not gate.passed:
            raise SIDES[self.side][0](gate)
        return gate

    def _gate(self, run: Any, gold: Any, baseline: Any) -> Gate:
        gold = None if gold is None else read_gold(gold, self.reading)
        item = self._read(run, gold, "run")
        # a passing gate needs no baseline, but says that it is broken
        before = None if baseline is None else self._read(baseline, gold, "baseline")
        result = item.score([self.measure], interval=self.interval, level=self.level)
        (row,), name = result.rows, str(self.measure)
        low, high = (math.nan if end is None else end for end in row.intervals[name])
        share = self.measure.definition.proportion
        decides = self.measure.definition.takes == "decisions"
        gate = Gate(
            *(row.run, name, self.threshold, self.confidence, row.score(name), low, high),
            counts=row.counts,
            side=self.side,
            cluster=result.cluster,
            why_no_interval=row.no_interval.get(name, ""),
            proportion=None if share is None else share.of(row.decided if decides else row.counts),
        )
        if before is not None and (self.side == "not worse" or not gate.passed):
            gate = replace(gate, difference=self._difference(item, before))
        if gate.passed:
            return gate
        needed = self._needed(gate, row.decided if row.decisions else row.counts)
        return replace(gate, needed=needed, parts=self._blamed(item, before))

    def _read(self, run: Any, gold: Gold | None, what: str) -> Evaluation:
        reading = self.reading
        item = evaluate_judged(run, reading) if gold is None else evaluate(gold, run, reading)
        if len(item.runs) != 1:
            got = f"{len(item.runs)}: {some_of(item.runs)}"
            raise UsageError(f"expected one {what}, got {got}; give the file or the rows of one")
        return item

    def _difference(self, item: Evaluation, before: Evaluation) -> tuple[float, float, float]:
        """The paired difference from the baseline with its bounds; as a gate, more is better."""
        both = merged({"baseline": before, "run": item})
        pair = both.compare(self.measure, resamples=100, level=self.level).pairs[0]
        ends = (pair.difference, *pair.interval)
        value, low, high = (math.nan if end is None else end for end in ends)
        if self.side == "not worse" and not self.measure.higher_is_better:
            return -value, -high, -low
        return value, low, high

    def _blamed(self, item: Evaluation, before: Evaluation | None) -> tuple[Part, ...]:
        sign = 1 if self.measure.higher_is_better else -1
        costs, names = [], self.by
        if names is None:  # what decisions are due is no slice of them
            marks = MEANS_ANSWERABLE if self.measure.definition.takes == "decisions" else ()
            names = [name for name in _attributes(item) if plain(name) not in marks]
        for name in names:
            then = {} if before is None else self._scores(before, name)
            for value, (score, questions) in self._scores(item, name).items():
                old = then.get(value, (None, 0))[0]
                wanted = self.threshold if before is None else old
                cost = 0.0 if wanted is None else sign * (score - wanted) * questions
                if cost < 0:
                    part = Part(f"{name} {shown(value or '–')}", score, questions, old)
                    costs.append((cost, part))
        return tuple(part for _, part in sorted(costs, key=itemgetter(0))[:MOST_SLICES])

    def _scores(self, item: Evaluation, name: str) -> dict[str | None, tuple[float, int]]:
        rows = item.score([self.measure], by=[name]).rows
        scores = {r.slice[name]: (r.score(str(self.measure)), int(r.counts.n)) for r in rows}
        return {value: each for value, each in scores.items() if not math.isnan(each[0])}

    def _needed(self, gate: Gate, k: Counts | Decisions) -> int | None:
        """The fewest questions, at the shares seen, whose bound reaches the threshold."""
        from abstain.stats.intervals import interval

        is_alone = gate.cluster is None and self.of_counts and self.side != "not worse"
        if not (is_alone and gate.sign * gate.score > gate.sign * gate.threshold):
            return None
        n = int(k.n)

        def reaches(questions: int) -> bool:
            shares = {name: getattr(k, name) * questions / n for name in k.__slots__}
            scaled = replace(k, **shares)
            ends = interval(self.measure, scaled, method=str(self.interval), level=self.level)
            return replace(gate, low=ends.low, high=ends.high).passed

        enough = bisect_left(range(MOST_QUESTIONS), 1, lo=n, key=reaches)
        return enough if enough < MOST_QUESTIONS else None


def _attributes(item: Evaluation) -> list[str]:
    gold, questions = item.data.source.gold, item.questions
    if gold is not None:
        names = gold.attributes
    else:
        schema = item.data.source.responses[0].table.frame.collect_schema()
        real = {"question", *(name for name, kind in schema.items() if kind.is_float())}
        names = tuple(name for name in questions.columns if name not in real)
    most = min(MOST_VALUES, len(questions) // 2)  # more are ids, one question each
    return [n for n in names if 1 < questions[n].drop_nulls().n_unique() <= most]
