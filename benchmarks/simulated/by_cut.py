"""Lists that no rule can cut with a gain: is one advised to cut?"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

import abstain as ab
from simulated.drawing import Generator

DOCUMENTS, RELEVANT = 20, 0.2
MANY = 2000
"""Queries by which the worth of a depth is known."""
BETTER = 3.0
"""By how much scores are higher in lists with something relevant, where there is a gain."""

Collection = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def collection(generator: Generator, queries: int, nil: float, better: float = 0.0) -> Collection:
    """Judgments and a run whose scores say nothing, or which lists have a relevant document."""
    qrels, run = {}, {}
    for number in range(queries):
        silent = generator.random() < nil
        hits = (generator.random(DOCUMENTS) < RELEVANT) & (not silent)
        scores = generator.gamma(2, 2, DOCUMENTS) + better * (not silent) * generator.gamma(2)
        qrels[f"q{number}"] = {f"d{i}": int(hit) for i, hit in enumerate(hits)}
        run[f"q{number}"] = {f"d{i}": float(score) for i, score in enumerate(scores)}
    return qrels, run


@cache
def nil_share(name: str) -> float:
    """The share of nil queries at which the best depth is as good as keeping everything."""
    generator = np.random.default_rng(0)
    worth = []
    for nil in (0.0, 1.0):
        found = ab.cut(*collection(generator, MANY, nil), maximise=name)
        worth.append(np.array([point.score for point in found.runs[0].points]))
    some, none = worth[0][-1] - worth[0], worth[1] - worth[1][-1]
    at = some[:-1] / np.maximum(some[:-1] + none[:-1], 1e-9)
    return float(at.min())


def cut(samples: int, seed: int) -> None:
    """`cut`: how often it advises a cut where each loses or gains nothing, and where one gains."""
    print("| measure | queries | nil | advises | gain shown | standard error | power |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    for name in ("AP'",):
        share = nil_share(name)
        for queries in (10, 20, 40, 100):
            told, shown, power = 0, 0, 0
            for number in range(samples):
                own = ab.cut(*collection(generator, queries, share), maximise=name, seed=number)
                told += own.runs[0].advice in ("cut", "nothing")
                row = next(row for row in own.rows if row.rule == "auto")
                shown += (row.gain_low or 0.0) > 0
            for number in range(samples // 5):
                drawn = collection(generator, queries, share, BETTER)
                power += ab.cut(*drawn, maximise=name, seed=number).runs[0].advice == "cut"
            rate = told / samples
            error = math.sqrt(max(rate, 0.01) * (1 - rate) / samples)
            print(
                f"| {name} | {queries} | {share:.2f} | {rate:.1%} | {shown / samples:.1%} | "
                f"{error:.1%} | {power / max(1, samples // 5):.0%} |",
                flush=True,
            )
