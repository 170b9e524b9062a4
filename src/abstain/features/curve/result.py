import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import numpy as np
import polars as pl
from msgspec import Meta

from abstain.errors import UsageError, option
from abstain.outcomes import Counts
from abstain.report.grid import frame_of_rows
from abstain.report.result import Facts, Result
from abstain.stats.curves import evenly

Way: TypeAlias = Literal["confidence", "given"]
"""How runs act in a decision curve: on their confidence, or as submitted."""

Where: TypeAlias = Literal["as submitted", "best in hindsight"]

Column: TypeAlias = "tuple[float | None, ...]"

PENALISED_AT = tuple(i / 50 for i in range(41))


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

    @property
    def thresholds(self) -> list[float | None]:
        return [math.inf, *self.threshold[1:]]


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


class Followed(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run, and the best point of its curve."""

    run: str
    numbers: dict[str, int | float | None] = msgspec.field(name="counts")
    answers: int
    """Answers, and candidates behind blanks."""
    stated: int
    """How many of them have a confidence. Where none has, there is no curve."""
    best: float | None
    threshold: float | None
    """Of the best point. Null where that answers nothing, or even what has no confidence."""
    coverage: float | None = msgspec.field(default_factory=lambda: None)  # written if null too
    """Of the best point."""
    even_without_confidence: bool = False
    """Whether the best point answers even what has no confidence."""
    points: Points | None = None

    @property
    def counts(self) -> Counts:
        return Counts.from_dict(self.numbers)

    @property
    def best_threshold(self) -> float | None:
        """The best threshold to hold a confidence against: ∞ answers nothing."""
        nothing = self.coverage is not None and not self.even_without_confidence
        return math.inf if self.threshold is None and nothing else self.threshold


class RunCurve(Followed, frozen=True, kw_only=True, omit_defaults=True):
    """One run over all its thresholds."""

    scores: dict[str, float | None]
    undefined: dict[str, str] = {}
    as_submitted: float | None
    penalised: tuple[float, ...] = ()
    """S = c − t/(1−t)·w at t = 0, 0.02, …, 0.8, answering where at least t sure."""
    reliability: tuple[Bin, ...] = ()
    parts: tuple[Parts, ...] = ()


class BinnedRun(Followed, frozen=True, kw_only=True, omit_defaults=True):
    """A run over the edges of the bins, as far as these hold answers."""

    aurc: float | None
    """With the answers of a bin tied."""
    aurc_at_best: float | None
    aurc_at_worst: float | None


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
    equal_mass: bool = False
    runs: Annotated[tuple[RunCurve, ...], Meta(min_length=1)] = msgspec.field(name="results")
    """The best score along the curve first."""
    decision: Decision | None = None

    TABLES = ("main", "risk", "measure", "reliability", "decision", "roc", "parts")

    @property
    def by_name(self) -> list[RunCurve]:
        return sorted(self.runs, key=lambda run: run.run)

    def _frame(self, table: str, points: int = 0) -> pl.DataFrame:
        """With at most so many points of each curve; 0: all that are held."""
        if table == "main":
            names = (f"best {self.along}", "threshold", "coverage", f"{self.along} as submitted")
            rows: list[tuple[Any, ...]] = [
                (r.run, *r.scores.values(), r.best, r.best_threshold, r.coverage, r.as_submitted)
                for r in self.runs
            ]
            return numbers_of_runs(rows, *self.measures, *names)
        if table in FACTS:
            kind = FACTS[table]
            facts = [(run.run, fact) for run in self.by_name for fact in getattr(run, table)]
            frame = frame_of_rows(kind, [fact for _, fact in facts], *kind.__struct_fields__)
            frame.insert_column(0, pl.Series("run", [run for run, _ in facts], pl.String()))
            return frame.rename(HEADINGS, strict=False)
        if table == "decision":
            if (decision := self.decision) is None:
                asked = option("decision", value=True)
                raise UsageError(f"the result holds no decision curves: ask for them with {asked}")
            step = math.ceil(len(decision.t) / points) if points else 1
            rows = [
                (run, *values)
                for run, band in decision.curves.items()
                for values in [*zip(decision.t, band.S, band.low, band.high, strict=False)][::step]
            ]
            return numbers_of_runs(rows, "t", "S", "low", "high")
        if table != "roc":
            return curve_frame(self.by_name, points, "risk" if table == "risk" else self.along)
        frame = curve_frame(self.by_name, points)
        wrong, right = pl.col("wrong"), pl.col("right")
        both = (right.last() > 0) & (wrong.last() > 0)
        return frame.filter(both.over("run")).select(
            "run",
            "threshold",
            (wrong / wrong.last()).over("run").alias("wrong given"),
            (right / right.last()).over("run").alias("right given"),
        )


def numbers_of_runs(rows: list[tuple[Any, ...]], *names: str) -> pl.DataFrame:
    schema = {"run": pl.String(), **dict.fromkeys(names, pl.Float64())}
    return pl.DataFrame(rows, schema=schema, orient="row")


FACTS: dict[str, type[Facts]] = {"reliability": Bin, "parts": Parts}
HEADINGS = {"low": "from", "high": "to"}
POINT = ("run", "threshold", "coverage", "answered", "right", "wrong")


def curve_frame(runs: Iterable[Followed], most: int, *names: str) -> pl.DataFrame:
    """At most so many points of each curve, evenly over coverage; 0: all.

    A threshold of ∞ answers nothing; without a threshold even what has no confidence is answered.
    After what every point has come its risk, or the score under the name of its measure.
    """
    schema: dict[str, Any] = dict.fromkeys((*POINT, "score"), pl.Float64()) | {"run": pl.String()}
    schema |= dict.fromkeys(("answered", "right", "wrong"), pl.Int64())
    frames = [pl.DataFrame(schema=schema)]
    for run in runs:
        if (points := run.points) is not None:
            answered, right = np.array(points.answered), np.array(points.right)
            columns = {
                "run": [run.run] * len(right),
                "threshold": points.thresholds,
                "coverage": answered / run.counts.n,
                "answered": answered,
                "right": right,
                "wrong": answered - right,
                "score": points.score,
            }
            frames.append(pl.DataFrame(columns, schema=schema)[evenly(answered, most)])
    known = pl.concat(frames)
    shares = pl.when(pl.col("answered") > 0).then(pl.col("wrong") / pl.col("answered"))
    more = [shares.alias(n) if n == "risk" else pl.col("score").alias(n) for n in names]
    return known.select(*POINT, *more)


class HistogramResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="histogram"):
    """Curves counted in bins, with all that it takes to read them."""

    questions: int
    bins: int
    along: str
    runs: Annotated[tuple[BinnedRun, ...], Meta(min_length=1)] = msgspec.field(name="results")

    TABLES = ("main", "points")

    def _frame(self, table: str, points: int = 0) -> pl.DataFrame:
        """With at most so many points of each curve; 0: all that are held."""
        if table != "main":
            names = {"risk": ("risk",), "measure": (self.along,)}
            return curve_frame(self.runs, points, *names.get(table, ("risk", self.along)))
        areas = ("AURC", "at best", "at worst")
        rows: list[tuple[Any, ...]] = [
            (r.run, r.aurc, r.aurc_at_best, r.aurc_at_worst, r.best, r.best_threshold)
            for r in self.runs
        ]
        return numbers_of_runs(rows, *areas, f"best {self.along}", "threshold")
