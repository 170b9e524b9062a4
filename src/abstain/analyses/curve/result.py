"""What `curve` finds out about runs, as data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain import __version__
from abstain.analyses.curve.curve import Bin, Curve, reliability
from abstain.analyses.curve.decision import Decision, decision
from abstain.analyses.curve.decomposition import Decomposition, decompose
from abstain.analyses.curve.matrix import ConfidenceMatrix
from abstain.errors import UnknownNameError, UsageError
from abstain.measures import Measure, measure
from abstain.outcomes import Counts, CountsArray, Undefined

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl


DEFAULT_MEASURES = ("AUROC", "AURC", "E-AURC", "ECE", "Brier")
CURVE_POINTS = 101
"""Points of a curve that are enough to draw it."""
VIEWS = ("summary", "risk", "measure", "reliability", "decision", "roc", "parts", "blanks")


@dataclass(frozen=True, slots=True)
class Summary:
    """One run: its confidence measures, the best it could do, where it stands."""

    run: str
    scores: dict[str, float]
    best: float
    threshold: float
    coverage: float
    """Of the best point."""
    stands: float
    """The score of the run as it was handed in."""
    system: Counts

    @property
    def undefined(self) -> dict[str, str]:
        """Why the scores that do not exist do not."""
        return {k: v.reason for k, v in self.scores.items() if isinstance(v, Undefined)}


@dataclass(frozen=True, slots=True)
class Blanks:
    """How good the blanks of a run are, and against what they are judged."""

    run: str
    judged_against: str
    blanks: int
    precision: float
    recall: float
    f: float
    over: float
    under: float


@dataclass(frozen=True, eq=False)
class CurveResult:
    """Runs over all their thresholds."""

    matrix: ConfidenceMatrix
    curves: list[Curve]
    measures: tuple[Measure, ...]
    """Of confidence: the columns of the summary."""
    along: Measure
    """Of counts: followed over the threshold."""
    bins: int = 10
    equal_mass: bool = False
    way: str | None = None
    level: float = 0.95
    seed: int = 0
    should_abstain: npt.NDArray[np.bool_] | None = None
    label: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def summaries(self) -> list[Summary]:
        """A line for each run, in the order of the best score along the curve."""
        found = []
        for number, curve in enumerate(self.curves):
            answers = self.matrix.answers(number)
            own = {str(item): item(answers) for item in self.measures}
            best = curve.best(self.along) if answers.stated.any() else None
            system = curve.system or Counts()
            top: float = Undefined("no answer has a confidence")
            where, coverage = math.nan, math.nan
            if best is not None:
                top = float(curve.along(self.along)[best])
                where, coverage = float(curve.thresholds[best]), float(curve.coverage[best])
            stands = self.along(system)
            found.append(Summary(curve.run, own, top, where, coverage, stands, system))
        sign = -1 if self.along.higher_is_better else 1
        found.sort(key=lambda s: (math.isnan(s.best), sign * (s.best if s.best == s.best else 0)))
        return found

    @cached_property
    def decision(self) -> Decision:
        """The decision curves with their bands."""
        return decision(self.matrix, way=self.way, confidence=self.level, seed=self.seed)

    def reliability(self, run: int) -> list[Bin]:
        """The bins of a run's reliability diagram."""
        return reliability(self.matrix.answers(run), self.bins, mass=self.equal_mass)

    def decomposition(self, run: int) -> list[tuple[str, float, Decomposition]]:
        """The run as it stands and at its best threshold, each taken apart, with the coverage."""
        curve = self.curves[run]
        system = curve.system or Counts()
        found = [
            ("as submitted", system.answered / max(system.n, 1), decompose(system, self.along))
        ]
        best = curve.best(self.along) if self.matrix.stated(run)[0] else None
        if best is not None:
            counts: CountsArray = curve.counts
            top = decompose(counts[best], self.along)
            found.append(("best in hindsight", float(curve.coverage[best]), top))
        return found

    def blanks(self, run: int) -> list[Blanks]:
        """The quality of a run's blanks, against its candidates and against a label."""
        outcomes = self.matrix.outcomes[run]
        kept = outcomes >= 0
        blank = kept & (outcomes >= 2)
        hopeless = kept & ((outcomes & 1 == 1) | (outcomes == 4))
        found = [_blanks(self.curves[run].run, "its own candidates", blank, hopeless, kept)]
        if self.should_abstain is not None:
            should = kept & self.should_abstain
            found.append(_blanks(self.curves[run].run, self.label, blank, should, kept))
        return found

    def rows(self, view: str, points: int = 0) -> list[dict[str, Any]]:
        """The rows of a view as plain data; `points` thins a curve (0: every point)."""
        if view not in VIEWS:
            raise UnknownNameError("view", view, VIEWS, hint=f"there are {', '.join(VIEWS)}")
        return list(_VIEW[view](self, points))

    def to_frame(self, view: str = "summary", *, points: int = 0) -> pl.DataFrame:
        """A view as a table (polars)."""
        import polars as pl

        rows = self.rows(view, points)
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self, view: str = "summary", *, points: int = 101) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        plain: dict[str, Any] = {
            "abstain": __version__,
            "kind": "curve",
            "questions": self.matrix.questions.height,
            "policy": self.matrix.policy.to_dict(),
            "touched": self.matrix.touched,
            "along": str(self.along),
            "conventions": {str(m): m.definition.convention for m in self.measures},
            "notes": list(self.notes),
            "view": view,
        }
        if view == "decision":
            return plain | {"seed": self.seed, "decision": self.decision.to_dict()}
        if view == "summary":
            plain["undefined"] = {s.run: s.undefined for s in self.summaries if s.undefined}
            plain["curves"] = self.pictures()
        return plain | {"results": self.plain_rows(view, points)}

    def plain_rows(self, view: str, points: int = 0) -> list[dict[str, Any]]:
        """The rows of a view as JSON has them: null for what is no number."""
        return [_nulls(row) for row in self.rows(view, points)]

    def pictures(self) -> dict[str, list[dict[str, Any]]]:
        """What the charts of a page are drawn from: thinned curves, without bands."""
        found = {
            name: self.plain_rows(name, CURVE_POINTS) for name in ("risk", "measure", "reliability")
        }
        t = np.arange(0, 46) / 50
        found["decision"] = [
            {"run": curve.run, "t": at, "S": value}
            for number, curve in enumerate(self.curves)
            if self.matrix.stated(number)[0]
            for at, value in zip(t.tolist(), curve.penalised(t).tolist(), strict=True)
        ]
        return found


def _nulls(row: dict[str, Any]) -> dict[str, Any]:
    """A row without ∞ and NaN; what a threshold of null answers is said beside it."""
    plain = {
        k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()
    }
    if "threshold" in row:
        exists = not math.isnan(row.get("coverage", 0.0))
        plain["even_without_confidence"] = exists and math.isnan(row["threshold"])
    return plain


def _blanks(
    run: str,
    against: str,
    blank: npt.NDArray[np.bool_],
    should: npt.NDArray[np.bool_],
    kept: npt.NDArray[np.bool_],
) -> Blanks:
    silent, due, both = int(blank.sum()), int(should.sum()), int((blank & should).sum())
    answerable = int((kept & ~should).sum())

    def share(part: int, whole: int, why: str) -> float:
        return part / whole if whole else Undefined(why)

    return Blanks(
        run,
        against,
        silent,
        share(both, silent, "no question was left unanswered"),
        share(both, due, "no question should have been left blank"),
        share(2 * both, silent + due, "nothing was or should have been left blank"),
        share(silent - both, answerable, "every question should have been left blank"),
        share(due - both, due, "no question should have been left blank"),
    )


# --------------------------------------------------------------------------------- the views


def _summary(result: CurveResult, points: int) -> list[dict[str, Any]]:
    along = str(result.along)
    return [
        {
            "run": s.run,
            **s.scores,
            f"best {along}": s.best,
            "threshold": s.threshold,
            "coverage": s.coverage,
            f"{along} as submitted": s.stands,
        }
        for s in result.summaries
    ]


def _points(result: CurveResult, points: int, score: str | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, curve in enumerate(result.curves):
        if not result.matrix.stated(number)[0]:
            continue
        last = {"risk": curve.risk} if score is None else {score: curve.along(result.along)}
        rows += curve.rows(points, curve.columns | last)
    return rows


def _roc(result: CurveResult, points: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, curve in enumerate(result.curves):
        right, wrong = int(curve.right[-1]), int(curve.wrong[-1])
        if not right or not wrong or not result.matrix.stated(number)[0]:
            continue
        given = {"wrong given": curve.wrong / wrong, "right given": curve.right / right}
        rows += curve.rows(points, {"threshold": curve.thresholds, **given})
    return rows


def _reliability(result: CurveResult, points: int) -> list[dict[str, Any]]:
    return [
        {
            "run": curve.run,
            "from": b.low,
            "to": b.high,
            "answers": b.answers,
            "confidence": b.confidence,
            "accuracy": b.accuracy,
        }
        for number, curve in enumerate(result.curves)
        for b in result.reliability(number)
    ]


def _decision(result: CurveResult, points: int) -> list[dict[str, Any]]:
    found = result.decision
    step = math.ceil(len(found.t) / points) if points else 1
    return [
        {
            "run": run,
            "t": float(found.t[i]),
            "S": float(band.value[i]),
            "low": float(band.low[i]),
            "high": float(band.high[i]),
        }
        for run, band in found.curves.items()
        for i in range(0, len(found.t), step)
    ]


def _parts(result: CurveResult, points: int) -> list[dict[str, Any]]:
    return [
        {"run": curve.run, "where": where, "coverage": coverage, **parts.to_dict()}
        for number, curve in enumerate(result.curves)
        for where, coverage, parts in result.decomposition(number)
    ]


def _blank_rows(result: CurveResult, points: int) -> list[dict[str, Any]]:
    return [
        {
            "run": b.run,
            "judged against": b.judged_against,
            "blank": b.blanks,
            "precision": b.precision,
            "recall": b.recall,
            "F1": b.f,
            "over-abstention": b.over,
            "under-abstention": b.under,
        }
        for number in range(len(result.curves))
        for b in result.blanks(number)
    ]


_VIEW: dict[str, Callable[[CurveResult, int], list[dict[str, Any]]]] = {
    "summary": _summary,
    "risk": lambda result, points: _points(result, points, None),
    "measure": lambda result, points: _points(result, points, str(result.along)),
    "reliability": _reliability,
    "decision": _decision,
    "roc": _roc,
    "parts": _parts,
    "blanks": _blank_rows,
}


def split_measures(given: Sequence[str | Measure]) -> tuple[tuple[Measure, ...], Measure | None]:
    """Measures of confidence, and the one measure of counts to follow along the curve."""
    chosen = list(dict.fromkeys(measure(item) for item in given))
    of_counts = [m for m in chosen if m.definition.takes == "counts"]
    others = [m for m in chosen if m.definition.takes != "counts"]
    for item in others:
        if item.definition.takes != "confidence":
            raise UsageError(f"{item} takes {item.definition.takes}, expected counts or confidence")
    if len(of_counts) > 1:
        raise UsageError(
            f"one measure of counts is followed along the curve (got {of_counts[0]} and "
            f"{of_counts[1]})"
        )
    return tuple(others), of_counts[0] if of_counts else None
