"""One run over all its thresholds: its scores, its best point, its calibration, its blanks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.curve.curves import Curve, top
from abstain.analyses.curve.decomposition import decompose
from abstain.analyses.curve.result import PENALISED_AT, Bin, Blanks, Parts, Points, RunCurve
from abstain.judging.answers import EMPTY, answers_of
from abstain.outcomes import EXCLUDED, OUTCOMES, Counts, Undefined

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.measures import Measure
    from abstain.measures.answers import Answers
    from abstain.outcomes import Array

    BoolArray = npt.NDArray[np.bool_]
    Codes = npt.NDArray[np.uint8]

SHOWN = (21, 101, 500)
"""Points that tables, pages and charts show: a result holds these, whatever else it holds."""
OWN = "its own candidates"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every run."""

    measures: tuple[Measure, ...]
    along: Measure
    bins: int
    equal_mass: bool
    points: int
    should_abstain: BoolArray | None
    label: str
    """What says that a question should be left blank."""

    def of(self, run: str, codes: Codes, confidence: Array) -> RunCurve:
        """A run's curve and what there is to say of it: one sort of its answers."""
        answers = answers_of(codes, confidence)
        numbers = np.bincount(codes, minlength=EXCLUDED + 1)[:EXCLUDED].tolist()
        system = Counts(*numbers)
        scores = {str(item): item(answers) for item in self.measures}
        parts = [self._parts("as submitted", system.answered / max(system.n, 1), system)]
        best = even = threshold = coverage = points = None
        penalised: tuple[float, ...] = ()
        stated = int(np.count_nonzero(answers.stated))
        if stated:
            curve = Curve.of(answers)
            counts = curve.counts
            along = self.along(counts)
            points = held_points(curve, along, self.points)
            penalised = tuple(curve.penalised(np.array(PENALISED_AT)).tolist())
            if (at := top(along, self.along)) is not None:
                best, coverage = float(along[at]), float(curve.coverage[at])
                threshold = finite(curve.thresholds[at])
                even = math.isnan(curve.thresholds[at])
                parts.append(self._parts("best in hindsight", coverage, counts[at]))
        return RunCurve(
            run=run,
            numbers=dict(zip(OUTCOMES, numbers, strict=True)),
            answers=int(answers.size),
            stated=stated,
            scores={name: some(value) for name, value in scores.items()},
            undefined={k: v.reason for k, v in scores.items() if isinstance(v, Undefined)},
            best=best,
            threshold=threshold,
            coverage=coverage,
            even_without_confidence=bool(even),
            as_submitted=some(self.along(system)),
            points=points,
            penalised=penalised,
            reliability=tuple(reliability(answers, self.bins, mass=self.equal_mass)),
            parts=tuple(parts),
            blanks=tuple(self._blanks(codes)),
        )

    def _parts(self, where: object, coverage: float, counts: Counts) -> Parts:
        own = decompose(counts, self.along)
        return Parts(
            where=where,  # type: ignore[arg-type]
            coverage=coverage,
            score=some(own.score),
            knowing=some(own.knowing),
            silence=some(own.silence),
            choosing=some(own.choosing),
            left=some(own.left),
            oracle=some(own.oracle),
        )

    def _blanks(self, codes: Codes) -> list[Blanks]:
        """The quality of a run's blanks, against its candidates and against a label."""
        kept = codes < EXCLUDED
        blank = kept & (codes >= 2)
        hopeless = kept & ((codes & 1 == 1) | (codes == EMPTY))
        found = [blank_quality(OWN, blank, hopeless, kept)]
        if self.should_abstain is not None:
            found.append(blank_quality(self.label, blank, kept & self.should_abstain, kept))
        return found


def held_points(curve: Curve, scores: Array, points: int) -> Points:
    """Points enough to show and to draw, and so many evenly over coverage; 0: all."""
    at = np.unique(np.concatenate([curve.thin(size) for size in (*SHOWN, points)]))
    return Points(
        threshold=tuple(finite(own) for own in curve.thresholds[at].tolist()),
        answered=tuple(curve.answered[at].tolist()),
        right=tuple(curve.right[at].tolist()),
        score=tuple(some(own) for own in scores[at].tolist()),
        even_without_confidence=math.isnan(curve.thresholds[-1]),
    )


def some(value: float) -> float | None:
    """A number, or none where it does not exist."""
    return None if math.isnan(value) else float(value)


def finite(value: float) -> float | None:
    """A threshold, or none where it answers nothing or everything."""
    return float(value) if math.isfinite(value) else None


def blank_quality(against: str, blank: BoolArray, should: BoolArray, kept: BoolArray) -> Blanks:
    """How well blanks hit the questions that should be left blank."""
    silent, due, both = int(blank.sum()), int(should.sum()), int((blank & should).sum())
    answerable = int((kept & ~should).sum())

    def share(part: int, whole: int) -> float | None:
        return part / whole if whole else None

    return Blanks(
        judged_against=against,
        blanks=silent,
        precision=share(both, silent),
        recall=share(both, due),
        f1=share(2 * both, silent + due),
        over_abstention=share(silent - both, answerable),
        under_abstention=share(due - both, due),
    )


def reliability(answers: Answers, bins: int = 10, *, mass: bool = False) -> list[Bin]:
    """The bins of a reliability diagram, the empty ones left out."""
    from abstain.measures.families.calibration import mass_bins, width_bins

    own = answers.calibrated
    if not own.size:
        return []
    place = mass_bins(own.confidence, bins) if mass else width_bins(own.confidence, bins)
    sizes = np.bincount(place, minlength=bins)
    sure = np.bincount(place, own.confidence, minlength=bins)
    right = np.bincount(place, own.right, minlength=bins)
    found = []
    for b in np.flatnonzero(sizes).tolist():
        low, high = b / bins, (b + 1) / bins
        if mass:
            inside = own.confidence[place == b]
            low, high = float(inside.min()), float(inside.max())
        size = int(sizes[b])
        found.append(
            Bin(
                low=low,
                high=high,
                answers=size,
                confidence=float(sure[b] / size),
                accuracy=float(right[b] / size),
            )
        )
    return found


def best_first(runs: Sequence[RunCurve], along: Measure) -> list[RunCurve]:
    """Runs from the best score along the curve to the worst, those without one last."""
    sign = -1 if along.higher_is_better else 1
    return sorted(runs, key=lambda own: (own.best is None, sign * (own.best or 0.0)))
