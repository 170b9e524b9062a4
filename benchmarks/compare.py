"""All pairs of 54 runs by randomisation, beside a NumPy loop that swaps question by question.

    python benchmarks/compare.py [--loop-pairs N]

The loop is timed on some of the pairs and multiplied; p-values of both are compared. Verdicts:
faster than the loop, and every p within what the loop's own trials leave open.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from itertools import combinations

import numpy as np
import numpy.typing as npt

from abstain.measures import measure
from abstain.stats.delta_method import THREE
from abstain.stats.randomisation import randomise

RUNS, QUESTIONS, TRIALS = 54, 284, 10_000

CLOSE = 5 * (0.5 / TRIALS) ** 0.5
"""Five standard errors, at most, of the difference of two p-values from so many trials each."""

Codes = npt.NDArray[np.uint8]


def campaign(seed: int = 0) -> Codes:
    """Runs × questions: right, wrong or blank, with easy and hard questions."""
    generator = np.random.default_rng(seed)
    ease = generator.normal(size=QUESTIONS)
    skill = generator.normal(-0.8, 0.4, size=(RUNS, 1))
    right = 1 / (1 + np.exp(-(skill + ease)))
    blank = generator.uniform(0, 0.2, size=(RUNS, 1))
    draw = generator.random((RUNS, QUESTIONS))
    return np.where(draw < right * (1 - blank), 0, np.where(draw < 1 - blank, 1, 2)).astype(
        np.uint8
    )


def c_at_1(outcomes: Codes) -> npt.NDArray[np.float64]:
    """c@1 over the last axis."""
    right = (outcomes == 0).mean(axis=-1)
    return np.asarray(right * (1 + (outcomes == 2).mean(axis=-1)))


def loop(one: Codes, other: Codes, seed: int) -> float:
    """p of one pair, each question's outcomes swapped or not in each trial."""
    generator = np.random.default_rng(seed)
    swap = generator.integers(0, 2, size=(TRIALS, QUESTIONS), dtype=np.uint8).astype(bool)
    first, second = np.where(swap, other, one), np.where(swap, one, other)
    drawn = np.abs(c_at_1(first) - c_at_1(second))
    seen = abs(c_at_1(one) - c_at_1(other))
    return float(((drawn >= seen - 1e-12).sum() + 1) / (TRIALS + 1))


def main() -> int:
    """Print seconds, ratios, the largest disagreement of p and the memory; 1 if one is amiss."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--loop-pairs", type=int, default=60)
    few = arguments.parse_args().loop_pairs
    codes = campaign()
    pairs = list(combinations(range(RUNS), 2))
    joint = np.zeros((len(pairs), 3, 3), np.int64)
    for number, (i, j) in enumerate(pairs):
        np.add.at(joint[number], (codes[j], codes[i]), 1)
    chosen = measure("c@1")
    randomise(chosen, joint[:2])
    times: dict[str, float] = {}
    found: dict[str, npt.NDArray[np.float64]] = {}
    for name, exact in (("exact distribution", None), ("10,000 trials", False)):
        start = time.perf_counter()
        found[name] = np.array([p.p for p in randomise(chosen, joint, trials=TRIALS, exact=exact)])
        times[name] = time.perf_counter() - start
    start = time.perf_counter()
    slow = np.array([loop(codes[j], codes[i], n) for n, (i, j) in enumerate(pairs[:few])])
    whole = (time.perf_counter() - start) / few * len(pairs)
    print(f"{RUNS} runs, {len(pairs):,} pairs, {QUESTIONS} questions, c@1 ({len(THREE)} outcomes)")
    print(f"NumPy loop, {TRIALS:,} trials   {whole:8.2f} s (from {few} pairs)")
    missed = False
    for name, seconds in times.items():
        off = np.abs(found[name][:few] - slow).max()
        good = seconds < whole and off <= CLOSE
        missed |= not good
        print(
            f"abstain, {name:20} {seconds:6.2f} s, {whole / seconds:5.1f} times faster; "
            f"largest difference of p {off:.3f} (at most {CLOSE:.3f}): {'ok' if good else 'NOT OK'}"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory at most {peak:,.0f} MB, the loop included")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
