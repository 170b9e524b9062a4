"""How often swaps of answers tell apart runs that have the same score, and runs that have not.

    python benchmarks/swapped_answers.py [--samples N] [--seed N] [--measure M]…

The confidences of right and of wrong answers come from two distributions that are the same for all
runs, so that AUROC, Brier and the others have one true value whatever the coverage. One run answers
all questions, the other one in five. Beside the test as it is stands the same test of the plain
difference, not divided by its standard error; and, as a check of both, two runs that are alike.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from abstain.measures import measure
from abstain.stats.confidence_intervals import Sample, sample_of
from abstain.stats.hypotheses import Flips
from abstain.stats.swapped_answers import answers_of

QUESTIONS, TRIALS, LEVEL, CLOSE = 200, 299, 0.05, 1e-9
MEASURES = ("Brier", "log-score", "AUROC", "AURC", "AUGRC", "E-AURC", "PRR", "Pearson-r")


def run(generator: np.random.Generator, blank: float) -> Sample:
    """A run that is right in 60 % of its answers, and surer where it is."""
    right = generator.random(QUESTIONS) < 0.6
    sure = 1 / (1 + np.exp(-(generator.normal(size=QUESTIONS) + right)))
    answered = generator.random(QUESTIONS) >= blank
    outcomes = np.where(answered, np.where(right, 0, 1), 4)
    return sample_of(outcomes.astype(np.int8), sure)


def p_value(two: Any, flips: Flips) -> float:
    """p of one pair."""
    seen = abs(float(two.swapped(np.ones((1, QUESTIONS)))[0]))
    drawn = np.concatenate([two.swapped(signs) for signs in flips.blocks()])
    return float((np.count_nonzero(~(np.abs(drawn) < seen - CLOSE)) + 1) / (TRIALS + 1))


def plain(two: Any) -> Any:
    """The same pair, its difference not divided."""
    two.studentised, two.pooled = False, None
    return two


def found(
    name: str, blanks: tuple[float, float], samples: int, seed: int, *, also_plain: bool = False
) -> tuple[float, float]:
    """The shares of samples in which a difference is found: as it is, and plain if asked for."""
    item = measure(name)
    generator = np.random.default_rng(seed)
    hits = np.zeros(2)
    for number in range(samples):
        work = answers_of(item, [run(generator, blank) for blank in blanks])
        flips = Flips(QUESTIONS, trials=TRIALS, seed=number)
        hits[0] += p_value(work.pair(0, 1), flips) <= LEVEL
        if also_plain:
            hits[1] += p_value(plain(work.pair(0, 1)), flips) <= LEVEL
    return float(hits[0] / samples), float(hits[1] / samples)


def main() -> None:
    """Print a row for each measure."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--samples", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=2013)
    arguments.add_argument("--measure", action="append")
    given = arguments.parse_args()
    print("| measure | runs that are alike | one answers a fifth | plain differences |")
    print("| --- | ---: | ---: | ---: |")
    for name in given.measure or MEASURES:
        alike, _ = found(name, (0.1, 0.1), given.samples, given.seed)
        unequal, undivided = found(name, (0.0, 0.8), given.samples, given.seed, also_plain=True)
        print(f"| {name} | {alike:.1%} | {unequal:.1%} | {undivided:.1%} |", flush=True)


if __name__ == "__main__":
    main()
