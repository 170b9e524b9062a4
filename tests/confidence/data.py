"""Answers made up for tests, and slow ways to threshold them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import abstain as ab
from abstain.measures.answers import Answers
from abstain.outcomes import OUTCOMES
from abstain.runs.sources import answers_of
from abstain.stats.curves import Curve

Row = tuple[str, float | None]
"""An outcome and a confidence."""


def read_rows(runs: Mapping[str, Sequence[Row]], **attributes: Sequence[str]) -> ab.Evaluation:
    """Runs from outcomes and confidences, question by question."""
    size = len(next(iter(runs.values())))
    rows = [row for own in runs.values() for row in own]
    return ab.read_judged(
        pl.DataFrame(
            {
                "run": [run for run in runs for _ in range(size)],
                "question": [f"q{i:05d}" for i in range(size)] * len(runs),
                "outcome": [outcome for outcome, _ in rows],
                "confidence": pl.Series([sure for _, sure in rows], dtype=pl.Float64),
                **{name: list(values) * len(runs) for name, values in attributes.items()},
            }
        )
    )


def saved_thresholds(*runs: dict[str, Any], **more: Any) -> str:
    """The JSON of a saved result of `tune` with these thresholds."""
    one = {"score": 1.0, "risk": 0.0, "coverage": 1.0, "counts": ab.Counts(1).to_dict()}
    judged = {"threshold": 0.5, "judged": one, "answer_everything": one}
    gains = dict.fromkeys(("gain", "optimism_avoided", "risk_optimism_avoided"), 0.0)
    of_run = {**judged, **gains, "as_submitted": one, "best_in_hindsight": one}
    of_run["parts"] = [{**judged, "tuned_on": 1, "risk_over_all": 0.0}]
    head = {
        "abstain": "1",
        "kind": "tune",
        "questions": 1,
        "measure": "c@1",
        "aim": {},
        "split": {},
    }
    head |= {"split": {}, "shrink": 0.0}
    return json.dumps({**head, "results": [{**of_run, **run} for run in runs], **more})


def read_arrays(wrong: npt.NDArray[np.bool_], sure: npt.NDArray[np.float64]) -> ab.Evaluation:
    """Runs a, b, … from verdicts and confidences: runs × questions."""
    runs = {
        chr(97 + n): [("wrong" if bad else "right", float(c)) for bad, c in zip(*own, strict=True)]
        for n, own in enumerate(zip(wrong, sure, strict=True))
    }
    return read_rows(runs)


def answers(evaluation: ab.Evaluation, run: int = 0, where: Any = None) -> Answers:
    """The answers and candidates of a run, over all or some of the questions."""
    return answers_of(evaluation.data.codes[run], evaluation.data.confidence[run], where)


def curves(evaluation: ab.Evaluation) -> list[Curve]:
    """The curve of every run."""
    return [Curve.of(answers(evaluation, run)) for run in range(len(evaluation.runs))]


def informed(size: int, seed: int = 0, *, levels: int = 0) -> list[Row]:
    """Answers whose confidence is the chance of being right."""
    draw = random.Random(seed)
    rows: list[Row] = []
    for _ in range(size):
        sure = draw.random()
        if levels:
            sure = round(sure * levels) / levels
        rows.append(("right" if draw.random() < sure else "wrong", sure))
    return rows


def slow_counts(rows: Sequence[Row], threshold: float) -> dict[str, int]:
    """Each response decided by itself."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for outcome, sure in rows:
        if outcome == "unanswered_empty":
            counts[outcome] += 1
            continue
        is_right = outcome in ("right", "unanswered_right")
        given = sure is not None and sure >= threshold
        side = "right" if is_right else "wrong"
        counts[side if given else f"unanswered_{side}"] += 1
    return counts
