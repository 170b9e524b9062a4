"""`abstain meta` against a straightforward NumPy loop over pairs and trials: one run, ratios.

    python benchmarks/meta.py [--rounds 5] [--large] [--runs 500] [--questions 10000]

The paper's experiment: 44 runs, 500 questions, subsets of 250, 100 trials, 10 fuzziness values,
stability and swap, three measures. The loop is timed on some of the pairs and scaled up, since
every pair costs it the same; abstain does all of them. Both are timed in turns and the least
disturbed time of each is taken. --large is the other end: time and memory
of 500 runs × 10,000 questions with 1,000 trials.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from abstain.features.meta.analysis import meta
from abstain.measures import measure
from abstain.stats.resampling.samplers import of_outcomes

MEASURES = ("c@1", "accuracy", "UF")
FUZZINESS = np.arange(1, 11) / 100


def campaign(runs: int, questions: int, seed: int = 1) -> npt.NDArray[np.uint8]:
    """Runs like those of CLEF 2009 over questions of shared difficulty: 0, 1 or 4 (blank)."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 1, questions)
    matrix = np.empty((runs, questions), np.uint8)
    for run in range(runs):
        chance = 1 / (1 + np.exp(-(rng.normal(0, 0.7) - 0.3 + 0.9 * difficulty)))
        right = rng.random(questions) < chance
        blank = rng.random(questions) < rng.choice([0, 0, 0.1, 0.2, 0.3]) * np.where(
            right, 0.6, 1.3
        )
        matrix[run] = np.where(blank, 4, np.where(right, 0, 1))
    return matrix


def scores(outcomes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """c@1, accuracy and UF of some outcomes, as one writes them down."""
    n = len(outcomes)
    right, wrong = np.count_nonzero(outcomes == 0), np.count_nonzero(outcomes == 1)
    blank = n - right - wrong
    return np.array([(right + right * blank / n) / n, right / n, (right - wrong) / n])


def loop(matrix: npt.NDArray[np.uint8], pairs: Any, trials: int, size: int) -> tuple[Any, Any]:
    """Both algorithms, a pair and a trial at a time, each with draws of its own."""
    rng = np.random.default_rng(0)
    questions = matrix.shape[1]
    tied = np.zeros((3, len(FUZZINESS)))
    upset = np.zeros((3, len(FUZZINESS)))
    count, swapped = np.zeros((3, 21)), np.zeros((3, 21))
    for x, y in pairs:
        wins = np.zeros((2, 3, len(FUZZINESS)))
        for _ in range(trials):
            chosen = rng.choice(questions, size, replace=False)
            a, b = scores(matrix[x, chosen]), scores(matrix[y, chosen])
            margin = np.abs(FUZZINESS * np.maximum(a, b)[:, None])
            tie = (np.abs(a - b)[:, None] < margin) | (a == b)[:, None]
            tied += tie
            wins[0] += ~tie & (a > b)[:, None]
            wins[1] += ~tie & (a < b)[:, None]
        upset += wins.min(axis=0)
        for _ in range(trials):
            order = rng.permutation(questions)
            one, other = order[:size], order[size : 2 * size]
            d = scores(matrix[x, one]) - scores(matrix[y, one])
            e = scores(matrix[x, other]) - scores(matrix[y, other])
            place = np.minimum((np.abs(d) * 100 + 1e-9).astype(int), 20)
            count[range(3), place] += 1
            swapped[range(3), place] += d * e < 0
    return upset / (trials * len(pairs)), swapped / np.maximum(count, 1)


def ours(
    matrix: npt.NDArray[np.uint8], draws: Literal["paired", "shared"], trials: int, size: int
) -> Any:
    """The same with abstain, from outcomes to Table 2."""
    names = [f"r{k}" for k in range(len(matrix))]
    return meta(
        of_outcomes(names, matrix, [measure(m) for m in MEASURES]),
        parts=["stability", "sensitivity"],
        subsets=trials,
        size=size,
        sizes=[size],
        draws=draws,
    )


def paper(rounds: int, share: int) -> bool:
    """Loop and abstain in turns, of each the least disturbed time; whether it is fast enough."""
    matrix = campaign(44, 500)
    pairs = list(combinations(range(44), 2))
    ours(matrix, "shared", 2, 250)  # imports and caches
    times: dict[str, list[tuple[float, float]]] = {"loop": [], "paired": [], "shared": []}
    for number in range(rounds):
        some = pairs[number::share]
        times["loop"].append(timed(partial(loop, matrix, some, 100, 250), len(some) / len(pairs)))
        for _ in range(3):
            times["paired"].append(timed(lambda: ours(matrix, "paired", 100, 250)))
        for _ in range(10):
            times["shared"].append(timed(lambda: ours(matrix, "shared", 100, 250)))
    print("44 runs × 500 questions, 100 trials, 3 measures; seconds of processor (and of clock):")
    print(f"  loop: {_both(times['loop'])}")
    good = True
    for draws, wanted in (("paired", 20), ("shared", 300)):
        cpu, clock = (
            min(t[k] for t in times["loop"]) / min(t[k] for t in times[draws]) for k in (0, 1)
        )
        verdict = "ok" if min(cpu, clock) >= wanted else "TOO SLOW"
        good &= min(cpu, clock) >= wanted
        print(
            f"  {draws}: {_both(times[draws])}, {cpu:,.0f} times faster (by the clock "
            f"{clock:,.0f}; both at least {wanted}: {verdict})"
        )
    return good


def _both(times: list[tuple[float, float]]) -> str:
    cpu, clock = (min(t[k] for t in times) for k in (0, 1))
    return f"{cpu:.4f} ({clock:.4f})"


def timed(work: Callable[[], Any], share: float = 1) -> tuple[float, float]:
    """Seconds of processor, all threads together, and of clock: neighbours disturb the latter."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return (time.process_time() - cpu) / share, (time.perf_counter() - clock) / share


def large(runs: int, questions: int, trials: int) -> None:
    matrix = campaign(runs, questions)
    names = [f"r{k}" for k in range(runs)]
    source = of_outcomes(names, matrix, [measure(m) for m in MEASURES])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for draws in ("shared", "paired"):
        begun = time.perf_counter()
        meta(
            source,
            parts=["stability", "sensitivity"],
            subsets=trials,
            sizes=[questions // 2],
            draws=draws,
            progress=_bar,
        )
        took = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sys.stderr.write("\r" + " " * 60 + "\r")
        print(
            f"{runs} runs × {questions:,} questions, {trials:,} trials, {draws}: {took:.0f} s, "
            f"peak {peak:,.0f} MiB (at the start {before:,.0f})"
        )


def _bar(what: str, share: float) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{what} {'█' * int(30 * share):<30} {100 * share:3.0f} %")


def main() -> int:
    """Measure and print; 1 if it is too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--share", type=int, default=20, help="the loop does every n-th pair")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=1000)
    given = parser.parse_args()
    good = paper(given.rounds, given.share)
    if given.large:
        large(given.runs, given.questions, given.trials)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
