"""What `tune` finds out, as data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from abstain.analyses.result import Facts, Result
from abstain.analyses.tune.choose import Threshold
from abstain.errors import UsageError, checked, nearest
from abstain.io.files import write_text
from abstain.io.names import cells
from abstain.measures.arrays import BoolArray, IntArray
from abstain.outcomes import Counts

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

    @property
    def counts(self) -> Counts:
        """The counts, as measures take them."""
        return Counts.from_dict(self.numbers)


class Part(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One tuning and one judging."""

    threshold: float | None
    """Null: answer nothing."""
    thresholds: dict[str, float | None] = {}
    """Of slices, where they have their own."""
    tuned_on: int
    """Questions."""
    judged: Standing
    answer_everything: Standing
    risk_over_all: float
    """The share wrong of the answers to all questions, tuned on or judged; 0 of none."""


class Kept(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Of so many parts, in how many the share of wrong answers kept to its bound."""

    parts: int
    silent: int
    """Parts that answer nothing."""
    seen: int
    """Within the bound on the judged questions: a sample, with noise of its own."""
    over_all: int
    """Within the bound over all questions, of which the part tuned on is a sample."""
    refuted: int
    """So many wrong answers among the judged that they contradict the bound (5 %)."""
    chance: float | None = None
    """Of one part: the chance of so many wrong answers or more where the risk is at its bound."""


class Tuned(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run with its threshold, judged on questions that had no say in it.

    Scores are means over repeats of the score over all questions judged in one. The score of the
    questions it was tuned on is no result: it appears as optimism alone.
    """

    run: str
    threshold: float | None
    """To use from now on, tuned on every question that may be tuned on. Null: answer nothing."""
    thresholds: dict[str, float | None] = {}
    """Of slices, where they have their own."""
    judged: Standing
    answer_everything: Standing
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
    parts: tuple[Part, ...]
    without_confidence: int = 0
    """Answers that have no confidence and so are left blank."""
    kept: Kept | None = None
    """Where a risk was to be kept."""

    @property
    def by_chance(self) -> bool:
        """Whether the interval of the gain covers 0, so that chance could have made it."""
        low, high = self.gain_interval
        return low is not None and high is not None and low <= 0 <= high

    @property
    def gained(self) -> dict[str, float | None]:
        """The gain and the ends of its interval, as a table has them."""
        low, high = self.gain_interval
        return {"gain": self.gain, "gain low": low, "gain high": high}


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
    """The gold that is judged on, where it is one of its own."""

    def parts(
        self, questions: pl.DataFrame, seed: int, clusters: IntArray | None = None
    ) -> Iterator[list[tuple[BoolArray, BoolArray]]]:
        """For each repeat the pairs of masks: tune on, judge on. Folds keep clusters whole."""
        if self.tuned_on:
            yield [self._named(questions)]
            return
        folds = self.folds or FOLDS
        # By the order of ids, so that the order of rows changes nothing.
        unit = _in_order_of_ids(questions, clusters)
        size, what = int(unit.max(initial=-1)) + 1, "question" if clusters is None else "cluster"
        if folds > size:
            raise UsageError(f"{folds} folds need at least as many {what}s (got {size})")
        for repeat in range(self.repeats or 1):
            draw = np.random.default_rng([seed, repeat]).permutation(size)
            fold = draw[unit] % folds
            yield [(fold != f, fold == f) for f in range(folds)]

    def _named(self, questions: pl.DataFrame) -> tuple[BoolArray, BoolArray]:
        tune = np.ones(questions.height, bool)
        for attribute, value in self.tuned_on.items():
            values = cells(questions, attribute).cast(str)
            own = (values == value).fill_null(value=False).to_numpy()
            if not own.any():
                near = nearest(value, values.drop_nulls().unique().to_list())
                hint = f" (nearest: {', '.join(near)})" if near else ""
                raise UsageError(f"no question has {attribute} '{value}'{hint}: nothing to tune on")
            tune &= own
        label = ", ".join(f"{name}={value}" for name, value in self.tuned_on.items())
        if not tune.any():
            raise UsageError(f"the split {label} leaves no question to tune on")
        if tune.all():
            raise UsageError(f"the split {label} leaves no question to judge on")
        return tune, ~tune


def _in_order_of_ids(questions: pl.DataFrame, clusters: IntArray | None) -> IntArray:
    """The number of each question, or of its cluster, whatever the order of rows."""
    by_id = questions["question"].arg_sort().to_numpy()
    unit = np.empty(len(by_id), np.int64)
    unit[by_id] = np.arange(len(by_id))
    if clusters is None:
        return unit
    _, own = np.unique(clusters, return_inverse=True)
    first = np.full(int(own.max(initial=-1)) + 1, len(by_id))
    np.minimum.at(first, own, unit)
    return np.asarray(np.argsort(np.argsort(first))[own])


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
    """The attribute whose values have thresholds of their own."""
    shrink: float | None = None
    """How many questions' worth of the whole each slice borrowed."""
    sources: tuple[str, ...] = ()
    """The files that were read."""
    runs: tuple[Tuned, ...] = msgspec.field(name="results")

    TABLES = ("main", "parts")

    def check(self) -> None:
        """Every run has a part at least, and thresholds are from 0 to 1."""
        if not self.runs:
            raise ValueError("has no results, expected at least one run")
        for own in self.runs:
            if not own.parts:
                raise ValueError(f"run {own.run!r} has no parts, expected at least one")
            every = [own.judged, own.answer_everything, own.as_submitted, own.best_in_hindsight]
            every += [s for part in own.parts for s in (part.judged, part.answer_everything)]
            _ = [standing.counts for standing in every]
            for value in (own.threshold, *own.thresholds.values()):
                if value is not None and not 0 <= value <= 1:
                    raise ValueError(
                        f"run {own.run!r} has a threshold of {value:g}, expected 0 to 1"
                    )

    def _frame(self, table: str) -> pl.DataFrame:
        whole = table == "main"
        rows = [
            {
                "run": own.run,
                "threshold": part.threshold,
                self.measure: part.judged.score,
                "answer everything": part.answer_everything.score,
                **({**own.gained, "optimism": own.optimism_avoided} if whole else {}),
                "risk": part.judged.risk,
                "coverage": part.judged.coverage,
            }
            for own in self.runs
            for part in ((own,) if whole else own.parts)
        ]
        return pl.DataFrame(
            rows, schema={**dict.fromkeys(rows[0], pl.Float64()), "run": pl.String()}
        )

    @property
    def chosen(self) -> dict[str, Threshold]:
        """The threshold of every run, to hold confidences against."""
        return {
            own.run: Threshold.from_dict(
                {"threshold": own.threshold, "per": self.by, "thresholds": own.thresholds}
            )
            for own in self.runs
        }

    @checked
    def apply(self, run: Any, *, gold: Any = None) -> pl.DataFrame:
        """A run that is silent where it is not sure enough (polars).

        What is left blank stays as the candidate; a candidate that is sure enough becomes the
        answer.

        Args:
            run: A path or a dataframe, read as the tuned runs were.
            gold: Its gold, where thresholds are by slices that the run does not name itself.
        """
        from abstain.analyses.tune.apply import apply_thresholds

        return apply_thresholds(run, self.chosen, self.reading, gold=gold)[0]

    @checked
    def save_thresholds(self, path: str | os.PathLike[str]) -> None:
        """Write the thresholds with how they came about, for `abstain tune --apply`."""
        from abstain.io.json_text import json_of

        write_text(Path(path), json_of(self.threshold_data()))

    def threshold_data(self) -> dict[str, Any]:
        """Thresholds with their provenance, ready to apply."""
        made = self.to_dict()
        left = ("kind", "schema", "command", "reading", "results", "touched", "by")
        provenance = {name: value for name, value in made.items() if name not in left}
        thresholds = []
        for own, threshold in zip(made["results"], self.chosen.values(), strict=True):
            judged = {name: own["judged"][name] for name in ("score", "risk", "coverage")}
            thresholds.append({"run": own["run"], **threshold.to_dict(), "judged": judged})
        return {"kind": KIND, "version": VERSION, **provenance, "thresholds": thresholds}
