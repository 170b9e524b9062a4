"""Regression gates: an assertion about a score that knows how sure it can be.

>>> import polars as pl
>>> gold = pl.DataFrame({"question": range(100), "correct": "a"})
>>> run = pl.DataFrame({"question": range(100), "answer": ["a"] * 80 + ["b"] * 20})
>>> print(assert_at_least(run, gold, "accuracy", 0.7))
accuracy of 'run' is 0.8000, with 95 % confidence at least 0.7227: reaches 0.7
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from abstain.errors import AbstainError, UsageError, plural, shown
from abstain.judging.opening import old_reading
from abstain.measures import Measure, count_measure
from abstain.outcomes import Counts, Undefined

MOST_SLICES = 5
"""Slices that a failure names."""

MOST_PARTS = 60
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
        change = f", was {_number(self.before)}" if self.before is not None else ""
        return f"{self.slice}: {_number(self.score)}{change} ({plural(self.questions, 'question')})"


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
    """The attribute by which questions hang together, as the bounds take them."""
    why_no_interval: str = ""

    @property
    def passed(self) -> bool:
        """Whether the lower bound reaches the threshold."""
        return self.low >= self.threshold

    def __str__(self) -> str:
        verdict = "reaches" if self.passed else "does not reach"
        return f"{self._head()}: {verdict} {self.threshold:g}"

    def _head(self) -> str:
        name = f"{self.measure} of {shown(self.run)}"
        if math.isnan(self.score):
            reason = self.score.reason if isinstance(self.score, Undefined) else "it has no value"
            return f"{name} is undefined ({reason})"
        if math.isnan(self.low):
            why = f" ({self.why_no_interval})" if self.why_no_interval else ""
            return f"{name} is {_number(self.score)}, with no interval{why}"
        sure = f"with {100 * self.confidence:g} % confidence"
        return f"{name} is {_number(self.score)}, {sure} at least {_number(self.low)}"

    def explanation(self) -> str:
        """Why it did not pass, in a few lines."""
        k, lines = self.counts, [str(self)]
        lines.append(
            f"  {plural(int(k.n), 'question')}: {k.right:,} right, {k.wrong:,} wrong, "
            f"{k.unanswered:,} blank"
        )
        if not math.isnan(self.low):
            lines.append(
                f"  interval: {_number(self.low)} to {_number(self.high)} "
                f"({100 * (2 * self.confidence - 1):g} %, both sides)"
            )
            lines.append(f"  {self._verdict()}")
        if self.difference is not None:
            value, low, high = self.difference
            lines.append(
                f"  against the baseline: {_signed(value)} ({_signed(low)} to {_signed(high)})"
            )
        if self.parts:
            what = "dropped" if self.parts[0].before is not None else f"below {self.threshold:g}"
            lines.append(f"  slices {what}, those that cost most first:")
            lines += [f"    {part}" for part in self.parts]
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.high < self.threshold:
            return f"surely too low: even the upper bound is below {self.threshold:g}"
        if self.score < self.threshold:
            return f"the score itself is below {self.threshold:g}; more questions would not help"
        if self.score == self.threshold:
            return "the score equals the threshold; no number of questions would do"
        there = f"(there are {int(self.counts.n):,})"
        if self.cluster is not None:
            return (
                f"too few questions to be sure {there}: they hang together by "
                f"{shown(self.cluster)}, so it takes more groups of them"
            )
        if self.needed is None:
            return (
                f"too close to the threshold: more than {MOST_QUESTIONS:,} questions would be "
                f"needed {there}"
            )
        return (
            f"too few questions to be sure: with these shares about {self.needed:,} would do "
            f"{there}"
        )


class TooLowError(AssertionError):
    """A score that is not surely at least what it should be."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        super().__init__(gate.explanation())


@dataclass(frozen=True, slots=True)
class _Reading:
    """How runs are read and judged: what `score` takes."""

    options: dict[str, Any] = field(default_factory=dict)

    def score(self, gold: Any, runs: Any, measure: Measure, **more: Any) -> Any:
        from abstain.judging.reading import Reading
        from abstain.judging.sources import evaluate, evaluate_judged

        options = {**self.options, "cluster": more.pop("cluster", None)}
        reading = Reading.of(**options)
        read = evaluate_judged(runs, reading) if gold is None else evaluate(gold, runs, reading)
        return read.score([measure], **more)


def assert_at_least(
    run: Any,
    gold: Any,
    measure: str | Measure,
    threshold: float,
    *,
    confidence: float = 0.95,
    baseline: Any = None,
    by: Sequence[str] | None = None,
    cluster: str | None = None,
    method: str = "logit",
    **reading: Any,
) -> Gate:
    """Fail unless a run's score is at least the threshold, with that confidence.

    It passes where the one-sided lower bound of the score reaches the threshold. `run` and `gold`
    are paths or dataframes; `gold=None` is for rows that carry their grade. A failure names the
    slices (`by`, or every attribute with few values) that are below the threshold or, given a
    `baseline` run, those that dropped. `reading` is as for `score`: policy, match, columns, …
    """
    __tracebackhide__ = True
    try:
        gate = _gate(
            run, gold, measure, threshold, confidence, baseline, by, cluster, method, reading
        )
    except AbstainError as error:
        raise error.with_traceback(None) from None  # one line: nobody looks for the fault inside
    for tell in listeners:
        tell(gate)
    if not gate.passed:
        raise TooLowError(gate)
    return gate


def _gate(
    run: Any,
    gold: Any,
    measure: str | Measure,
    threshold: float,
    confidence: float,
    baseline: Any,
    by: Sequence[str] | None,
    cluster: str | None,
    method: str,
    reading: dict[str, Any],
) -> Gate:
    chosen = count_measure(measure)
    _check(chosen, threshold, confidence)
    how = _Reading(reading)
    level = 2 * confidence - 1
    if baseline is not None:
        _nameless(baseline, how)  # a passing gate needs none, but says at once that one is broken
    result = how.score(gold, run, chosen, interval=method, cluster=cluster, level=level)
    _refuse_several({row.run: None for row in result.rows}, "run")
    row = result.rows[0]
    low, high = row.intervals[str(chosen)]
    gate = Gate(
        row.run,
        str(chosen),
        threshold,
        confidence,
        row.scores[str(chosen)],
        low,
        high,
        row.counts,
        cluster=result.cluster,
        why_no_interval=_why_none(result.notes) if math.isnan(low) else "",
    )
    if gate.passed:
        return gate
    return _explained(gate, chosen, run, gold, baseline, by, how, method)


def _why_none(notes: Sequence[str]) -> str:
    """Why there is no interval, as the notes of a score have it."""
    found = [note.partition(": ")[2] for note in notes if note.startswith("1 interval: ")]
    return found[0] if found else ""


def _check(measure: Measure, threshold: float, confidence: float) -> None:
    if not measure.higher_is_better:
        raise UsageError(f"{measure} is better when it is lower: 'at least' makes no gate of it")
    if not math.isfinite(threshold):
        raise UsageError(f"a threshold is a number, such as 0.6 (got {threshold!r})")
    if not 0.5 < confidence < 1:
        raise UsageError(
            f"the confidence lies between 0.5 and 1, such as 0.95 (got {confidence:g})"
        )


def _refuse_several(runs: Mapping[str, object], what: str) -> None:
    if len(runs) != 1:
        some = ", ".join(shown(name) for name in list(runs)[:3])
        raise UsageError(f"expected one {what}, got {len(runs)}: {some}{', …' if runs else ''}")


# ------------------------------------------------------------------------------ why it failed


def _explained(
    gate: Gate,
    measure: Measure,
    run: Any,
    gold: Any,
    baseline: Any,
    by: Sequence[str] | None,
    how: _Reading,
    method: str,
) -> Gate:
    from dataclasses import replace

    parts = [
        part
        for name in _attributes(run, gold, by, how)
        for part in _parts(gold, run, baseline, measure, name, how)
    ]
    if baseline is None:
        parts = [part for part in parts if part.score < gate.threshold]
        parts.sort(key=lambda part: (part.score - gate.threshold) * part.questions)
    else:
        parts = [part for part in parts if part.before is not None and part.score < part.before]
        parts.sort(key=lambda part: (part.score - (part.before or 0)) * part.questions)
    return replace(
        gate,
        needed=_needed(measure, gate, method) if gate.cluster is None else None,
        parts=tuple(parts[:MOST_SLICES]),
        difference=None
        if baseline is None
        else _difference(gold, run, baseline, measure, how, gate),
    )


def _attributes(run: Any, gold: Any, by: Sequence[str] | None, how: _Reading) -> list[str]:
    if by is not None:
        return [by] if isinstance(by, str) else list(by)
    from abstain.io.frames import collect, into_lazy
    from abstain.io.log_rows import TAKEN
    from abstain.judging.gold import read_gold

    if gold is None:
        table = _nameless(run, how)
        names = [name for name in table.columns if name not in TAKEN]
        values = collect(into_lazy(table.frame).select(*names), table.name) if names else None
    else:
        options = how.options
        found = read_gold(gold, old_reading(options.get("columns"), options.get("format")))
        values = found.frame.select(found.attributes)
    if values is None:
        return []
    plain = [c for c in values if not c.dtype.is_nested() and not c.dtype.is_float()]
    return [c.name for c in plain if 1 < c.drop_nulls().n_unique() <= MOST_PARTS]


def _parts(
    gold: Any, run: Any, baseline: Any, measure: Measure, name: str, how: _Reading
) -> list[Part]:
    now = _by_slice(gold, run, measure, name, how, "run")
    then = {} if baseline is None else _by_slice(gold, baseline, measure, name, how, "baseline")
    return [
        Part(f"{name} {shown(value or '–')}", score, questions, then.get(value, (None, 0))[0])
        for value, (score, questions) in now.items()
        if not math.isnan(score)
    ]


def _by_slice(
    gold: Any, run: Any, measure: Measure, name: str, how: _Reading, what: str
) -> dict[str | None, tuple[float, int]]:
    """The score and the questions of every slice of one run, whatever it is called."""
    rows = how.score(gold, run, measure, by=[name]).rows
    _refuse_several({row.run: None for row in rows}, what)
    return {row.slice[name]: (row.score(str(measure)), int(row.counts.n)) for row in rows}


def _difference(
    gold: Any, run: Any, baseline: Any, measure: Measure, how: _Reading, gate: Gate
) -> tuple[float, float, float]:
    from abstain.analyses.compare import compare, compare_judged

    both = {"run": _nameless(run, how), "baseline": _nameless(baseline, how)}
    engine = ("engine", "master")
    options: dict[str, Any] = {k: v for k, v in how.options.items() if k not in engine}
    options |= {"measure_name": measure, "cluster": gate.cluster, "trials": 100}
    options["level"] = 2 * gate.confidence - 1
    found = compare_judged(both, **options) if gold is None else compare(gold, both, **options)
    pair = found.pairs[0]
    ends = pair.difference, pair.interval.low, pair.interval.high
    return ends if pair.run == "run" else (-ends[0], -ends[2], -ends[1])


def _nameless(run: Any, how: _Reading) -> Any:
    """A run's table without the names that its caller or its own column give it."""
    from dataclasses import replace

    import narwhals as nw

    from abstain.io.frames import open_table, rename

    data = next(iter(run.values())) if isinstance(run, Mapping) else run
    table = open_table(data, format=how.options.get("format"))
    table = rename(table, how.options.get("columns") or {}, side="run")
    if "run" not in table.columns:
        return table
    kept = tuple(name for name in table.columns if name != "run")
    frame = nw.from_native(table.frame).drop("run").to_native()
    return replace(table, columns=kept, frame=frame)


def _needed(measure: Measure, gate: Gate, method: str) -> int | None:
    """The fewest questions, at the shares seen, whose lower bound reaches the threshold."""
    from abstain.stats.intervals import interval

    if not gate.score > gate.threshold:
        return None

    def reaches(questions: int) -> bool:
        scale = questions / gate.counts.n
        k = gate.counts
        scaled = Counts(*(getattr(k, name) * scale for name in Counts.__slots__))
        level = 2 * gate.confidence - 1
        return interval(measure, scaled, method=method, level=level).low >= gate.threshold

    enough = int(gate.counts.n)
    while not reaches(enough):
        enough *= 2
        if enough > MOST_QUESTIONS:
            return None
    few = enough // 2
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if reaches(middle) else (middle, enough)
    return enough


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.4f}"


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")
