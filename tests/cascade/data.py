"""Simulated stages, and what a cascade does with them, question by question."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

import abstain as ab
from abstain.features.cascade.frontier import Stages


def stages(
    codes: Sequence[Sequence[int]],
    confidence: Sequence[Sequence[float]],
    cost: Sequence[float] | None = None,
    measure: str = "c@1",
) -> Stages:
    size = len(codes)
    return Stages(
        tuple("abcdef"[:size]),
        np.array(codes, np.uint8),
        np.array(confidence, np.float64),
        np.array(cost or range(1, size + 1), np.float64),
        ab.measure(measure),
    )


def drawn(size: int, questions: int, seed: int) -> Stages:
    """Every outcome, ties, and confidences that are missing."""
    rng = np.random.default_rng(seed)
    sure = np.round(rng.random((size, questions)), 1)
    sure[rng.random(sure.shape) < 0.1] = math.nan
    return stages(rng.integers(0, 5, sure.shape).tolist(), sure.tolist())


def walked(of: Stages, rule: Sequence[float]) -> tuple[list[int], list[int]]:
    """The counts of a rule and how often it asks each stage, one question after the other."""
    counts, asked = [0] * 6, [0] * len(of.names)
    last = len(of.names) - 1
    for question in range(of.codes.shape[1]):
        for stage in range(last + 1):
            asked[stage] += 1
            code, sure = int(of.codes[stage][question]), float(of.confidence[stage][question])
            if stage == last:
                counts[code] += 1
            elif code < 4 and sure >= rule[stage]:  # an answer or a candidate that is sure enough
                counts[code % 2] += 1
                break
    return counts, asked


def read(
    right: dict[str, float], informed: dict[str, bool], questions: int, seed: int
) -> ab.Evaluation:
    """Judged runs that are right by chance; an informed one is surer where it is right."""
    rng = np.random.default_rng(seed)
    frames = []
    for run, share in right.items():
        is_right = rng.random(questions) < share
        sure = rng.random(questions)
        if informed[run]:
            sure = np.where(is_right, np.sqrt(sure), 1 - np.sqrt(1 - sure))
        frames.append(
            pl.DataFrame(
                {
                    "run": run,
                    "question": [f"q{n}" for n in range(questions)],
                    "outcome": np.where(is_right, "right", "wrong"),
                    "confidence": sure,
                }
            )
        )
    return ab.read_judged(pl.concat(frames))
