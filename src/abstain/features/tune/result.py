"""What `tune` finds out, as data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
import polars as pl
from msgspec import Meta

from abstain.features.tune.choose import Threshold
from abstain.io.output import write_text
from abstain.outcomes import Counts
from abstain.report.result import Facts, Result

Confidence = Annotated[float, Meta(ge=0, le=1)]

FOLDS = 5
KIND = "abstain thresholds"
VERSION = 1
"""Of the file of thresholds: higher once an older reader would misread it."""


class Standing(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Counts with the score, the risk and the coverage that they mean."""

    score: float | None
    risk: float | None
    """The share wrong of what was answered."""
    coverage: float | None
    """The share answered."""
    numbers: dict[str, int | float] = msgspec.field(name="counts")
    """Means over the repeats, where there are several."""

    def __post_init__(self) -> None:
        _ = self.counts  # refuses what is none

    @property
    def counts(self) -> Counts:
        """The counts, as measures take them."""
        return Counts.from_dict(self.numbers)


class Judged(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Thresholds, and what they are worth."""

    threshold: Confidence | None
    """Null: answer nothing."""
    thresholds: dict[str, Confidence | None] = {}
    """Of slices, where they have thresholds."""
    judged: Standing
    answer_everything: Standing


class Part(Judged, frozen=True, kw_only=True, omit_defaults=True):
    """One tuning and one judging."""

    tuned_on: int
    """Questions."""
    risk_over_all: float
    """The share wrong of the answers to all questions, tuned on or judged; 0 of none."""


class Kept(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Of so many parts, in how many the share of wrong answers kept to its bound."""

    parts: int
    silent: int
    """Parts that answer nothing."""
    seen: int
    """Within the bound on the judged questions: a sample, with its noise."""
    over_all: int
    """Within the bound over all questions, of which the part tuned on is a sample."""
    refuted: int
    """So many wrong answers among the judged that they contradict the bound (5 %)."""
    chance: float | None = None
    """Of one part: the chance of so many wrong answers or more where the risk is at its bound."""


class Tuned(Judged, frozen=True, kw_only=True, omit_defaults=True):
    """A run with its threshold to use, tuned on every question that may be tuned on.

    Scores are means over repeats of the score over all questions judged in one. The score of the
    questions it was tuned on is no result: it appears as optimism alone.
    """

    run: str
    as_submitted: Standing
    best_in_hindsight: Standing
    """The best one threshold for the judged questions themselves: out of reach."""
    gain: float | None
    """Against answering everything, on the same questions."""
    gain_interval: tuple[float | None, float | None] = (None, None)
    """Of the gain, at 95 %, from the paired questions."""
    optimism_avoided: float | None
    """How much the score on the tuning questions would have flattered."""
    risk_optimism_avoided: float | None
    """How much lower the risk on the tuning questions was."""
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)]
    without_confidence: int = 0
    """Answers that have no confidence and so are left blank."""
    kept: Kept | None = None
    """Where a risk was to be kept."""


class Aim(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """What was sought: the best score, or a risk that is kept at a level."""

    maximise: str | None = None
    risk: float | None = None
    level: float | None = None
    next_questions: bool = False
    """Whether the share of wrong answers on the next questions was to be kept too."""


class Split(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How the questions are parted: by folds, or by attributes that name those to tune on."""

    folds: int | None = None
    repeats: int | None = None
    tuned_on: dict[str, str] = {}
    """Attribute to value."""
    judged_on: str | None = None
    """The gold that is judged on, where it is another."""


class TuneResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="tune"):
    """Thresholds of runs, with all that it takes to trust them."""

    questions: int
    aim: Aim
    fewest: int | None = None
    """Where a risk is to be kept: the fewest answers, or clusters, to show it, all right."""
    cluster: str | None = None
    """The attribute by which questions are clustered: folds keep clusters whole, and bounds and
    intervals count clusters."""
    measure: str
    split: Split
    seed: int = 0
    by: str | None = None
    """The attribute whose values have separate thresholds."""
    shrink: float | None = None
    """How many questions' worth of the whole each slice borrowed."""
    sources: tuple[str, ...] = ()
    """The files that were read."""
    runs: Annotated[tuple[Tuned, ...], Meta(min_length=1)] = msgspec.field(name="results")

    TABLES = ("main", "parts")

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a run; or a row a part."""
        main = table == "main"
        gains = ("gain", "gain low", "gain high", "optimism") if main else ()
        rows: list[tuple[Any, ...]] = []
        for tuned in self.runs:
            gained = (tuned.gain, *tuned.gain_interval, tuned.optimism_avoided)[: len(gains)]
            for part in (tuned,) if main else tuned.parts:
                judged, everything = part.judged, part.answer_everything.score
                scores = (part.threshold, judged.score, everything, *gained)
                rows.append((tuned.run, *scores, judged.risk, judged.coverage))
        names = ("threshold", self.measure, "answer everything", *gains, "risk", "coverage")
        schema = {"run": str} | dict.fromkeys(names, float)
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def chosen(self) -> dict[str, Threshold]:
        """The threshold of every run, to compare confidences with."""
        return {
            tuned.run: Threshold.of(tuned.threshold, self.by, tuned.thresholds)
            for tuned in self.runs
        }

    def apply(self, run: Any, *, gold: Any = None) -> pl.DataFrame:
        """A run that is silent where it is not sure enough (polars).

        What is left blank stays as the candidate; a candidate that is sure enough becomes the
        answer.

        Args:
            run: A path or a dataframe, read as the tuned runs were.
            gold: Its gold, where thresholds are by slices that the run does not name itself.
        """
        from abstain.features.tune.apply import apply_thresholds

        return apply_thresholds(run, self.chosen, self.reading, gold=gold)[0]

    def save_thresholds(self, path: str | os.PathLike[str]) -> None:
        """Write the thresholds with how they came about, for `abstain tune --apply`."""
        from abstain.io.output import json_of

        left = ("kind", "schema", "command", "reading", "results", "touched", "by")
        provenance = {name: value for name, value in self.to_dict().items() if name not in left}
        thresholds = []
        for tuned in self.runs:
            judged = {name: getattr(tuned.judged, name) for name in ("score", "risk", "coverage")}
            slices = {"per": self.by, "thresholds": tuned.thresholds} if self.by else {}
            entry = {"run": tuned.run, "threshold": tuned.threshold, **slices, "judged": judged}
            thresholds.append(entry)
        whole = {"kind": KIND, "version": VERSION, **provenance, "thresholds": thresholds}
        write_text(Path(path), json_of(whole))
