"""Precision of two runs, many samples at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from abstain.measures import measure
from abstain.stats.proportions import p_values, tables
from simulated.drawing import (
    TRIALS,
    Array,
    Codes,
    joint_counts,
    outcomes,
    row,
    said,
    table,
)

ANSWERS = (3, 5, 10, 20, 40, 200)
TRUE, APART = (0.5, 0.8, 0.95), 0.3
MUCH_SHARED = 0.6
"""Of the difficulty of a question, where runs share much of it."""


def settings() -> Iterator[tuple[int, int, str, float]]:
    """Answers, questions, whose coverage it is, what is shared."""
    for answers in ANSWERS:
        questions = 60 if answers <= 20 else 5 * answers
        for kind in ("alike", "one answers all"):
            for shared in (0.0, MUCH_SHARED):
                yield answers, questions, kind, shared


def found_by_precision(codes: Codes, seed: int) -> Array:
    """p of every sample; NaN where a run answers nothing."""
    own = tables(measure("precision"), joint_counts(codes))
    p = np.array([one.p for one in p_values(own, trials=TRIALS, seed=seed)])
    tried = own.sum(axis=1)[:, :2].sum(axis=1), own.sum(axis=2)[:, :2].sum(axis=1)
    return np.where((tried[0] > 0) & (tried[1] > 0), p, np.nan)


def counts(samples: int, seed: int) -> None:
    """Precision of two runs."""
    table("answers", "coverage", "shared", "precision")
    generator = np.random.default_rng(seed)
    for answers, questions, kind, shared in settings():
        few = answers / questions
        covers = np.array([few, few if kind == "alike" else 1.0])
        for right in TRUE:
            shape = samples, 2, questions
            same = outcomes(generator, shape, covers, np.array([right, right]), shared)
            apart = outcomes(generator, shape, covers, np.array([right, right - APART]), shared)
            p, other = (found_by_precision(own, seed) for own in (same, apart))
            row(answers, kind, shared, right, said(p, other))
