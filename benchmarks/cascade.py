"""Cascades: what is claimed where confidence carries no information, and how long a frontier takes.

    python benchmarks/cascade.py [--seeds N] [--pairs N] [--questions N]

Two simulated runs are right with fixed chances, their confidences are random. Of so many seeds: in
how many the first one's confidence is called a guide, and in how many the 95 % interval of the
held-out gain over routing at random, or over the better run alone, lies above 0. Nothing should be
claimed in at least 95 of 100. Beside it the same where confidence is informative.

Then the time for the scores of all thresholds of so many pairs of runs, as a multiple of one sort
of the confidences: `argsort`, which keeps the questions with them, and `sort`, which loses them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import abstain as ab
from abstain.features.cascade.frontier import Stages

SHARES = ((0.6, 0.75), (0.3, 0.8), (0.7, 0.7))
TIMES = 5


def runs(shares: tuple[float, float], questions: int, seed: int, *, guide: bool) -> ab.Evaluation:
    rng = np.random.default_rng(seed)
    frames = []
    for name, share in zip(("small", "large"), shares, strict=True):
        right, sure = rng.random(questions) < share, rng.random(questions)
        if guide:
            sure = np.where(right, np.sqrt(sure), 1 - np.sqrt(1 - sure))
        outcome = np.where(right, "right", "wrong")
        columns = {"run": name, "question": np.arange(questions).astype(str)}
        frames.append(pl.DataFrame({**columns, "outcome": outcome, "confidence": sure}))
    return ab.read_judged(pl.concat(frames))


def claims(seeds: int, questions: int) -> None:
    print(f"claims in {seeds} seeds, {questions:,} questions")
    print("right (small, large)  confidence   a guide  over random  over the better alone")
    for shares in SHARES:
        for guide in (False, True):
            found = np.zeros(3, int)
            for seed in range(seeds):
                read = runs(shares, questions, seed, guide=guide)
                result = ab.cascade(read, stages=("small", "large"), seed=seed)
                alone = {row.rule: row.score for row in result.rows}
                better = max(("small", "large"), key=lambda name: alone[name] or 0)
                low = {gain.over: gain.interval[0] or 0 for gain in result.gains}
                found += [
                    result.routing[0].informative,
                    low["random routing"] > 0,
                    low[f"{better} alone"] > 0,
                ]
            kind = "informative" if guide else "random"
            cells = "  ".join(f"{n:>{w}}" for n, w in zip(found, (8, 11, 21), strict=True))
            print(f"{shares!s:<20}  {kind:<11}{cells}")


def speed(pairs: int, questions: int) -> None:
    rng = np.random.default_rng(0)
    sure = rng.random((pairs, 2, questions))
    codes = (rng.random(sure.shape) < np.array([0.6, 0.3])[:, None]).astype(np.uint8)
    measure, cost = ab.measure("c@1"), np.array([1.0, 20.0])

    def frontier(pair: int) -> None:
        stages = Stages(("small", "large"), codes[pair], sure[pair], cost, measure)
        stages.score(stages.frontier().counts)

    def seconds(work: Callable[[int], object]) -> float:
        best = np.inf
        for _ in range(TIMES):
            start = time.perf_counter()
            for pair in range(pairs):
                work(pair)
            best = min(best, time.perf_counter() - start)
        return best

    taken = seconds(frontier)
    print(f"\n{pairs} pairs of runs × {questions:,} questions: {taken:.2f} s")
    sorts: dict[str, Callable[[int], object]] = {
        "argsort": lambda pair: np.argsort(sure[pair, 0]),
        "sort": lambda pair: np.sort(sure[pair, 0]),
    }
    for name, sort in sorts.items():
        one = seconds(sort)
        print(f"  {taken / one:.1f} times {name} of the confidences ({one:.2f} s)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--questions", type=int, default=100_000)
    asked = parser.parse_args()
    claims(asked.seeds, 500)
    speed(asked.pairs, asked.questions)
