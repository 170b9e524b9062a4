"""Curves of many runs against one sort of the same confidences: ratios.

    python benchmarks/curve.py [--questions 100000] [--runs 100] [--repeat 3]

The yardstick sorts every run's confidences once (numpy) and does nothing else. abstain sorts them
with their verdicts, groups ties, counts right and wrong answers at every threshold and, in the
last line, also scores c@1 at each. With ties: confidences of two decimals.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

MOST = 3
"""Curves take at most so many times one sort."""


def main() -> int:
    """Print times and ratios; 1 if one is too large."""
    import numpy as np

    from abstain.measures import measure
    from abstain.runs.sources import answers_of
    from abstain.stats.curves import Curve

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    shape = (given.runs, given.questions)
    smooth = rng.random(shape)
    c_at_1 = measure("c@1")
    print(f"{given.runs} runs × {given.questions:,} questions, median of {given.repeat}")
    print(f"{'':36}{'seconds':>9}{'ratio':>9}")
    missed = False
    for label, sure in (("distinct", smooth), ("ties", smooth.round(2))):
        codes = (rng.random(shape) > sure).astype(np.uint8)

        def sort(own: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = sure) -> object:
            return [np.sort(row) for row in own]

        def curves(own: Any = codes, confidence: Any = sure) -> list[Curve]:
            return [Curve.of(answers_of(*one)) for one in zip(own, confidence, strict=True)]

        def scored(make: Callable[[], list[Curve]] = curves) -> object:
            return [c_at_1(item.counts) for item in make()]

        jobs: dict[str, Callable[[], object]] = {
            "one sort": sort,
            "curves": curves,
            "curves and c@1 along them": scored,
        }
        times: dict[str, list[float]] = {name: [] for name in jobs}
        for _ in range(given.repeat):
            for name, job in jobs.items():
                start = time.perf_counter()
                job()
                times[name].append(time.perf_counter() - start)
        base = median(times["one sort"])
        for name, taken in times.items():
            middle = median(taken)
            ratio = middle / base
            verdict = "ok" if ratio <= MOST else "TOO SLOW"
            missed |= ratio > MOST
            judged = "" if name == "one sort" else f"   (at most {MOST}: {verdict})"
            print(f"{name + ', ' + label:36}{middle:9.2f}{ratio:9.2f}{judged}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
