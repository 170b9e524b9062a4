"""What `curve` finds out about runs, as data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import polars as pl
from msgspec import structs

from abstain.analyses.result import Facts, Result
from abstain.errors import UsageError, option
from abstain.outcomes import Counts

Way: TypeAlias = Literal["confidence", "given"]
"""How runs act in a decision curve: on their confidence, or as they were handed in."""

Where: TypeAlias = Literal["as submitted", "best in hindsight"]

Column: TypeAlias = "tuple[float | None, ...]"

PENALISED_AT = tuple(i / 50 for i in range(41))
"""The t at which a run's `penalised` scores are."""


class Points(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Points of a curve, from nothing answered to everything, a column for each fact."""

    threshold: Column
    """Answer where at least so sure. Null at the first point, which answers nothing, and at the
    last where it answers even what has no confidence."""
    answered: tuple[int, ...]
    right: tuple[int, ...]
    score: Column
    """The measure of counts that is followed along the curve."""
    even_without_confidence: bool = False
    """Whether the last point answers even what has no confidence."""

    def complete(self, questions: float) -> bool:
        """Whether there are questions, and of each point all numbers, right ones among answers."""
        sizes = {len(self.threshold), len(self.answered), len(self.right), len(self.score)}
        if len(sizes) != 1 or 0 in sizes or not questions > 0:
            return False
        return all(0 <= r <= n for r, n in zip(self.right, self.answered, strict=True))

    @property
    def wrong(self) -> list[int]:
        """Wrong answers at each point."""
        return [n - right for n, right in zip(self.answered, self.right, strict=True)]

    @property
    def thresholds(self) -> list[float | None]:
        """Thresholds to hold a confidence against: ∞ answers nothing."""
        return [math.inf, *self.threshold[1:]]

    def thin(self, points: int) -> Points:
        """At most so many of them, evenly over coverage; 0: all."""
        if not points or len(self.answered) <= points:
            return self
        from abstain.analyses.curve.curves import evenly

        at = evenly(np.array(self.answered), points).tolist()
        columns = ("threshold", "answered", "right", "score")
        kept = {name: tuple(getattr(self, name)[i] for i in at) for name in columns}
        return msgspec.structs.replace(self, **kept)


class Bin(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Answers of about the same confidence: what was promised, what came true."""

    low: float = msgspec.field(name="from")
    high: float = msgspec.field(name="to")
    answers: int
    confidence: float
    accuracy: float


class Parts(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A score taken apart: how much of it is knowing, how much choosing when to answer."""

    where: Where
    coverage: float
    score: float | None
    knowing: float | None
    silence: float | None
    choosing: float | None
    left: float | None
    oracle: float | None


class Blanks(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How good the blanks of a run are, and against what they are judged."""

    judged_against: str
    blanks: int
    precision: float | None
    recall: float | None
    f1: float | None
    over_abstention: float | None
    under_abstention: float | None


class RunCurve(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run over all its thresholds."""

    run: str
    numbers: dict[str, int] = msgspec.field(name="counts")
    """The counts of the run as it was handed in."""
    answers: int
    """Answers, and candidates behind blanks."""
    stated: int
    """How many of them have a confidence. Where none has, there is no curve."""
    scores: dict[str, float | None]
    undefined: dict[str, str] = {}
    """Why the scores that do not exist do not."""
    best: float | None
    """The best score along the curve."""
    threshold: float | None
    """Of the best point. Null where that answers nothing, or even what has no confidence."""
    coverage: float | None
    """Of the best point."""
    even_without_confidence: bool = False
    """Whether the best point answers even what has no confidence."""
    as_submitted: float | None
    """The score of the run as it was handed in."""
    points: Points | None = None
    penalised: tuple[float, ...] = ()
    """S = c − t/(1−t)·w at t = 0, 0.02, …, 0.8, answering where at least t sure."""
    reliability: tuple[Bin, ...] = ()
    parts: tuple[Parts, ...] = ()
    blanks: tuple[Blanks, ...] = ()

    @property
    def counts(self) -> Counts:
        """The run as it was handed in, as measures take it."""
        return Counts.from_dict(self.numbers)

    @property
    def complete(self) -> bool:
        """Whether every point has all its numbers."""
        if self.points is None:
            return not self.penalised
        return self.points.complete(self.counts.n) and len(self.penalised) == len(PENALISED_AT)

    @property
    def best_threshold(self) -> float | None:
        """The best threshold to hold a confidence against: ∞ answers nothing."""
        nothing = self.coverage is not None and not self.even_without_confidence
        return math.inf if self.threshold is None and nothing else self.threshold


class Band(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The penalised score S over t, and a band that holds at every t at once."""

    S: Column
    low: Column
    high: Column


class Comparison(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Two runs over all of t: where they cross, and where the data cannot tell them apart."""

    first: str
    second: str
    leader: str | None
    """The better one at the lowest t at which they differ; null: they score the same."""
    crossings: tuple[float, ...]
    undecided: tuple[tuple[float, float], ...]


class Decision(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Decision curves, and the comparisons that matter: of runs that lead in turn."""

    way: Way
    level: float
    """Of the bands."""
    seed: int
    t: tuple[float, ...]
    curves: dict[str, Band]
    comparisons: tuple[Comparison, ...] = ()


class CurveResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="curve"):
    """Runs over all their thresholds.

    A curve has a point for each distinct confidence. What is held of it is bounded: some 600
    points, or as many as were asked for, evenly over coverage; `points=0` keeps every one.
    """

    questions: int
    measures: tuple[str, ...]
    """Of confidence: the scores of every run."""
    along: str
    """Of counts: followed over the threshold."""
    conventions: dict[str, str] = {}
    """How each measure treats ties and answers without a confidence."""
    bins: int
    """Of the reliability diagrams."""
    equal_mass: bool = False
    runs: tuple[RunCurve, ...] = msgspec.field(name="results")
    """The best score along the curve first."""
    decision: Decision | None = None
    """Where it was asked for."""

    TABLES = ("main", "risk", "measure", "reliability", "decision", "roc", "parts", "blanks")

    def check(self) -> None:
        """Every point and every t has all its numbers."""
        if not self.runs:
            raise ValueError("has no results, expected at least one run")
        for own in self.runs:
            _ = own.counts
            if list(own.scores) != list(self.measures):
                raise ValueError(f"the scores of run {own.run!r} differ from the measures")
            if not own.complete:
                raise ValueError(f"the curve of run {own.run!r} lacks points or numbers")
        if self.decision is not None:
            size = len(self.decision.t)
            for run, band in self.decision.curves.items():
                if {len(band.S), len(band.low), len(band.high)} != {size}:
                    raise ValueError(f"the decision curve of run {run!r} lacks points")

    @property
    def by_name(self) -> list[RunCurve]:
        """The runs in the order of their names."""
        return sorted(self.runs, key=lambda own: own.run)

    @property
    def drawn(self) -> list[tuple[RunCurve, Points]]:
        """The runs that have a curve, by name, with its points."""
        return [(own, own.points) for own in self.by_name if own.points is not None]

    def _frame(self, table: str) -> pl.DataFrame:
        return self.thinned(table)

    def thinned(self, table: str, points: int = 0) -> pl.DataFrame:
        """As `to_frame`, with at most so many points of each curve; 0: all that are held."""
        return _facts(self, table) if table in FACTS else _TABLES[table](self, points)


TEXT: pl.DataType = pl.String()
COUNT, NUMBER = pl.Int64(), pl.Float64()

Schema = dict[str, pl.DataType]
Columns = Mapping[str, Sequence[Any]]


def curve_columns(points: Points, questions: float, along: str) -> dict[str, Sequence[Any]]:
    """What is said of every point of a curve; `along` names the measure that is followed.

    A threshold of ∞ answers nothing; without a threshold even what has no confidence is answered.
    """
    wrong = points.wrong
    return {
        "threshold": points.thresholds,
        "coverage": [n / questions for n in points.answered],
        "answered": points.answered,
        "right": points.right,
        "wrong": wrong,
        "risk": [
            n / every if every else None for n, every in zip(wrong, points.answered, strict=True)
        ],
        along: points.score,
    }


POINT: Schema = {
    "run": TEXT,
    "threshold": NUMBER,
    "coverage": NUMBER,
    "answered": COUNT,
    "right": COUNT,
    "wrong": COUNT,
}


def stacked(schema: Schema, blocks: Iterable[tuple[str, Columns]]) -> pl.DataFrame:
    """Columns of one run below those of another."""
    frames = [pl.DataFrame(schema=schema)]
    for run, columns in blocks:
        size = len(next(iter(columns.values())))
        frames.append(pl.DataFrame({"run": [run] * size, **columns}, schema=schema))
    return pl.concat(frames)


def _main(result: CurveResult, points: int) -> pl.DataFrame:
    names = (f"best {result.along}", "threshold", "coverage", f"{result.along} as submitted")
    rows = [
        (
            own.run,
            *own.scores.values(),
            own.best,
            own.best_threshold,
            own.coverage,
            own.as_submitted,
        )
        for own in result.runs
    ]
    schema = {"run": TEXT, **dict.fromkeys((*result.measures, *names), NUMBER)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _points(result: CurveResult, points: int) -> pl.DataFrame:
    def columns(own: RunCurve, some: Points) -> Columns:
        return curve_columns(some, own.counts.n, result.along)

    return _curves(result, points, POINT | {"risk": NUMBER, result.along: NUMBER}, columns)


def _roc(result: CurveResult, points: int) -> pl.DataFrame:
    def columns(own: RunCurve, some: Points) -> Columns:
        right, wrong = some.right[-1], some.wrong[-1]
        if not right or not wrong:
            return {}
        return {
            "threshold": some.thresholds,
            "wrong given": [n / wrong for n in some.wrong],
            "right given": [n / right for n in some.right],
        }

    schema = {"run": TEXT, **dict.fromkeys(("threshold", "wrong given", "right given"), NUMBER)}
    return _curves(result, points, schema, columns)


def _curves(
    result: CurveResult, points: int, schema: Schema, columns: Callable[[RunCurve, Points], Columns]
) -> pl.DataFrame:
    blocks = ((own.run, columns(own, every.thin(points))) for own, every in result.drawn)
    return stacked(schema, ((run, own) for run, own in blocks if own))


def _facts(result: CurveResult, field: str) -> pl.DataFrame:
    """A row for each of the facts of some kind that are known of every run, by the run's name."""
    rows = [
        (own.run, *structs.astuple(fact)) for own in result.by_name for fact in getattr(own, field)
    ]
    schema = {"run": TEXT}
    for own in structs.fields(FACTS[field]):
        schema[HEADINGS.get(own.name, own.encode_name)] = TYPES.get(own.name, NUMBER)
    return pl.DataFrame(rows, schema=schema, orient="row")


FACTS: dict[str, type[Facts]] = {"reliability": Bin, "parts": Parts, "blanks": Blanks}
HEADINGS = {
    "judged_against": "judged against",
    "blanks": "blank",
    "f1": "F1",
    "over_abstention": "over-abstention",
    "under_abstention": "under-abstention",
}
"""Where a column of facts is not called as in JSON."""
TYPES = {"where": TEXT, "judged_against": TEXT, "answers": COUNT, "blanks": COUNT}


def _decision(result: CurveResult, points: int) -> pl.DataFrame:
    found = result.decision
    if found is None:
        asked = option("decision", value=True)
        raise UsageError(f"the result holds no decision curves: ask for them with {asked}")
    step = math.ceil(len(found.t) / points) if points else 1
    names = ("t", "S", "low", "high")
    blocks = (
        (run, {n: own[::step] for n, own in zip(names, (found.t, b.S, b.low, b.high), strict=True)})
        for run, b in found.curves.items()
    )
    return stacked({"run": TEXT, **dict.fromkeys(names, NUMBER)}, blocks)


_TABLES: dict[str, Callable[[CurveResult, int], pl.DataFrame]] = {
    "main": _main,
    "risk": lambda result, points: _points(result, points).select(*POINT, "risk"),
    "measure": lambda result, points: _points(result, points)[
        list(dict.fromkeys((*POINT, result.along)))
    ],
    "decision": _decision,
    "roc": _roc,
}
