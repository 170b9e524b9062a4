"""What `tune` finds out, as data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from abstain import __version__
from abstain.analyses.curve.matrix import ConfidenceMatrix
from abstain.analyses.tune.bounds import Aim, KeepRisk
from abstain.analyses.tune.choose import SHRINK, Threshold
from abstain.analyses.tune.split import Split
from abstain.measures import Measure
from abstain.outcomes import Counts, Undefined

if TYPE_CHECKING:
    import polars as pl

KIND = "abstain thresholds"
VERSION = 1
"""Of the file of thresholds: higher once an older reader would misread it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Counts with the score, the risk and the coverage that they mean."""

    counts: Counts
    score: float

    @property
    def risk(self) -> float:
        """The share wrong of what was answered."""
        k = self.counts
        return k.wrong / k.answered if k.answered else Undefined("no question was answered")

    @property
    def coverage(self) -> float:
        """The share answered."""
        return self.counts.answered / self.counts.n if self.counts.n else math.nan

    def to_dict(self) -> dict[str, Any]:
        """As plain data; null where undefined."""
        return {
            "score": _plain(self.score),
            "risk": _plain(self.risk),
            "coverage": _plain(self.coverage),
            "counts": self.counts.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Part:
    """One tuning and one judging."""

    threshold: Threshold
    tuned_on: int
    tuned: Standing
    """On the questions it was tuned on: no result."""
    judged: Standing
    everything: Standing

    @property
    def over_all(self) -> float:
        """The share wrong of the answers to all questions, tuned on or judged; 0 of none."""
        tuned, judged = self.tuned.counts, self.judged.counts
        answered = tuned.answered + judged.answered
        return (tuned.wrong + judged.wrong) / answered if answered else 0.0


@dataclass(frozen=True, slots=True)
class Kept:
    """Of so many parts, in how many the share of wrong answers kept to its bound."""

    parts: int
    silent: int
    """Parts that answer nothing."""
    seen: int
    """Within the bound on the judged questions: a sample, with noise of its own."""
    over_all: int
    """Within the bound over all questions, of which the part tuned on is a sample."""
    refuted: int
    """So many wrong answers among the judged that they speak against the bound (5 %)."""

    def to_dict(self) -> dict[str, int]:
        """The numbers as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Tuned:
    """A run with its threshold, judged on questions that had no say in it.

    Scores are means over repeats of the score over all questions judged in one.
    """

    run: str
    threshold: Threshold
    """To use from now on: tuned on every question that may be tuned on."""
    judged: Standing
    everything: Standing
    submitted: Standing
    hindsight: Standing
    """The best one threshold for the judged questions themselves: out of reach."""
    tuned: float
    """The mean score on the questions tuned on: no result."""
    tuned_risk: float
    """The share wrong of the answers to the questions tuned on: no result."""
    parts: tuple[Part, ...]
    without: int = 0
    """Answers that have no confidence and so are left blank."""
    direction: int = 1
    """−1 where a lower score is better: a gain is a gain."""

    @property
    def optimism(self) -> float:
        """How much the score on the tuning questions would have flattered."""
        return self.direction * (self.tuned - self.judged.score)

    @property
    def gain(self) -> float:
        """Against answering everything, on the same questions."""
        return self.direction * (self.judged.score - self.everything.score)

    def kept(self, aim: KeepRisk) -> Kept:
        """In how many parts the bound held. Answering nothing, nothing is wrong."""
        judged = [p.judged.counts for p in self.parts]
        return Kept(
            len(self.parts),
            silent=sum(math.isinf(p.threshold.value) for p in self.parts),
            seen=sum(k.wrong <= aim.alpha * k.answered + 1e-9 for k in judged),
            over_all=sum(p.over_all <= aim.alpha + 1e-12 for p in self.parts),
            refuted=sum(aim.refuted(k.wrong, k.answered) for k in judged),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data. The score of the tuning questions appears as optimism alone."""
        thresholds = [p.threshold.value for p in self.parts]
        finite = [t for t in thresholds if math.isfinite(t)]
        return {
            "run": self.run,
            **self.threshold.to_dict(),
            "judged": self.judged.to_dict(),
            "answer_everything": self.everything.to_dict(),
            "as_submitted": self.submitted.to_dict(),
            "best_in_hindsight": self.hindsight.to_dict(),
            "gain": _plain(self.gain),
            "optimism_avoided": _plain(self.optimism),
            "parts": len(self.parts),
            "thresholds_of_parts": {
                "lowest": min(finite) if finite else None,
                "highest": max(finite) if finite else None,
                "answer_nothing": len(thresholds) - len(finite),
            },
            "without_confidence": self.without,
        }


@dataclass(frozen=True, slots=True)
class TuneResult:
    """Thresholds of runs, with all that it takes to trust them."""

    aim: Aim
    measure: Measure
    split: Split
    seed: int
    runs: tuple[Tuned, ...]
    questions: int
    matrix: ConfidenceMatrix = field(repr=False)
    per: str | None = None
    shrink: float = SHRINK
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        plain = self.provenance()
        plain["results"] = [run.to_dict() for run in self.runs]
        if isinstance(self.aim, KeepRisk):
            for own, run in zip(plain["results"], self.runs, strict=True):
                own["kept"] = run.kept(self.aim).to_dict()
        return plain

    def provenance(self) -> dict[str, Any]:
        """What was done to what."""
        plain: dict[str, Any] = {
            "abstain": __version__,
            "questions": self.questions,
            "policy": self.matrix.policy.to_dict(),
            "aim": self.aim.to_dict(),
            "measure": str(self.measure),
            "split": self.split.to_dict(),
            "seed": self.seed,
            "sources": list(self.matrix.sources),
        }
        if self.per is not None:
            plain |= {"per": self.per, "shrink": self.shrink}
        if self.notes:
            plain["notes"] = list(self.notes)
        return plain

    def threshold_data(self) -> dict[str, Any]:
        """Thresholds with their provenance, ready to apply."""
        thresholds = []
        for run in self.runs:
            judged = {k: v for k, v in run.judged.to_dict().items() if k != "counts"}
            thresholds.append({"run": run.run, **run.threshold.to_dict(), "judged": judged})
        mark = {"kind": KIND, "version": VERSION}
        return {**mark, **self.provenance(), "thresholds": thresholds}

    def to_frame(self) -> pl.DataFrame:
        """One row a run (polars)."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "run": r.run,
                    "threshold": None if math.isinf(r.threshold.value) else r.threshold.value,
                    f"{self.measure}": _plain(r.judged.score),
                    "answer everything": _plain(r.everything.score),
                    "gain": _plain(r.gain),
                    "optimism": _plain(r.optimism),
                    "risk": _plain(r.judged.risk),
                    "coverage": _plain(r.judged.coverage),
                }
                for r in self.runs
            ]
        )


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
