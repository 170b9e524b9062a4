"""Answers made up for tests, and slow ways to threshold them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import polars as pl

from abstain.analyses.curve.matrix import ConfidenceMatrix
from abstain.outcomes import OUTCOMES

Row = tuple[str, float | None]
"""An outcome and a confidence."""


def matrix_of(runs: dict[str, Sequence[Row]], **attributes: Sequence[str]) -> ConfidenceMatrix:
    """A matrix from outcomes and confidences, question by question."""
    size = len(next(iter(runs.values())))
    questions = pl.DataFrame({"question": [f"q{i:05d}" for i in range(size)], **attributes})
    outcomes = [[OUTCOMES.index(o) for o, _ in rows] for rows in runs.values()]
    sure = [[np.nan if c is None else c for _, c in rows] for rows in runs.values()]
    return ConfidenceMatrix(
        list(runs), questions, np.array(outcomes, np.int8), np.array(sure, np.float64)
    )


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
