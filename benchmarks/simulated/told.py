"""Models that are told what an error costs, and what should be said of them."""

from __future__ import annotations

import numpy as np
import polars as pl

import abstain as ab
from simulated.drawing import Generator

TARGETS = (0.0, 0.5, 0.75, 0.9)
KEEPS = {
    "calibrated": ("yes", "yes", "yes"),
    "overconfident": ("yes", "no", "no"),
    "deaf": ("yes", "no", "no"),
}
"""Whether precision is at least t, at each t above 0."""
BETTER = {"calibrated": "open", "overconfident": "open", "deaf": "threshold"}
"""Which is better, told or thresholded, at each t; open: the two are the same in the long run."""
HEEDS = {"calibrated": "falls", "overconfident": "falls", "deaf": "deaf"}


def told(kind: str, questions: int, generator: Generator) -> pl.DataFrame:
    """Judged rows of a model at every t.

    The chance p of being right has the density 2p, so 2/3 of the answers are right. Told t, a
    fifth of the answers is drawn anew. A calibrated model answers where p is above t: its precision
    is 2/3·(1 − t³)/(1 − t²), or 0.778, 0.881 and 0.951. An overconfident one takes its chance of an
    error for a quarter of what it is: 0.667, 0.667 and 0.817. A deaf one answers 97 % at any t,
    though it knows p.
    """
    p = np.sqrt(generator.random(questions))
    right = generator.random(questions) < p
    felt = 1 - (1 - p) / 4 if kind == "overconfident" else p
    parts = []
    for t in TARGETS:
        anew = generator.random(questions) < 0.2
        now = np.where(anew, generator.random(questions) < p, right)
        answers = generator.random(questions) < 0.97 if kind == "deaf" else felt > t
        parts.append(
            pl.DataFrame(
                {
                    "run": kind,
                    "question": np.arange(questions),
                    "target": t,
                    "grade": np.where(answers, np.where(now, "right", "wrong"), "blank"),
                    "confidence": felt,
                }
            )
        )
    return pl.concat(parts)


def verdicts(result: ab.TargetsResult, kind: str) -> tuple[bool, bool, bool]:
    """Whether all verdicts on a model are right, whether none is wrong, whether coverage's is."""
    above = [row for row in result.rows if row.t > 0]
    pairs: list[tuple[str | None, str]] = [
        (row.keeps, true) for row, true in zip(above, KEEPS[kind], strict=True)
    ]
    pairs += [(row.better, BETTER[kind]) for row in above]
    pairs.append((heeds := result.models[0].heeds, HEEDS[kind]))
    right = [one == true for one, true in pairs]
    open_ = [one == "open" for one, _ in pairs]
    return all(right), all(np.logical_or(right, open_)), heeds == HEEDS[kind]


def targets(samples: int, seed: int) -> None:
    """`targets`: how often every verdict on a model is true, none is wrong (one that stays open is
    not), and what is said of its coverage is true."""
    print("| questions | model | all right | none wrong | coverage's verdict right |")
    print("| ---: | --- | ---: | ---: | ---: |")
    for questions in (300, 1000, 2000, 4000):
        for kind in HEEDS:
            found = np.zeros(3)
            for sample in range(samples):
                generator = np.random.default_rng([seed, sample, questions])
                found += verdicts(ab.targets(None, told(kind, questions, generator)), kind)
            shares = " | ".join(f"{share:.1%}" for share in found / samples)
            print(f"| {questions} | {kind} | {shares} |", flush=True)
