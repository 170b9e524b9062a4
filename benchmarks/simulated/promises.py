"""Promises other than tests: bounds on risk, intervals of differences and gains, judges."""

from __future__ import annotations

import itertools
import math
from typing import get_args

import numpy as np
import polars as pl

import abstain as ab
from abstain.features.compare.judge_errors import JudgeDrawn, correct_for_judge
from abstain.features.tune.choose import Clustered, KeepClusters, KeepNext, KeepRisk
from abstain.measures import measure
from abstain.measures.answers import Answers
from abstain.stats.curves import Curve
from abstain.stats.proportions import correlation, mover, tables
from simulated.by_precision import settings
from simulated.drawing import LEVEL, Array, Generator, joint_counts, outcomes


def risk(samples: int, seed: int) -> None:
    """`tune --risk --cluster`: how often a risk just above the bound is promised (10 % may be)."""
    from scipy.special import ndtri

    print("| clusters | questions in each | ρ | bound | promised, by questions | by clusters |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    grid = itertools.product((10, 20, 60, 150), ((3, 3), (10, 10), (1, 30)), (0.0, 0.5, 0.9))
    for groups, (least, most), within in grid:
        for bound in (0.05, 0.2):
            broken = np.zeros(2)
            for _ in range(samples):
                sizes = generator.integers(least, most, size=groups, endpoint=True)
                doc = np.arange(groups).repeat(sizes)
                sure, own = generator.random(len(doc)), generator.normal(size=len(doc))
                common = generator.normal(size=groups)[doc]
                draw = math.sqrt(within) * common + math.sqrt(1 - within) * own
                wrong = draw < ndtri(1.02 * bound)
                curve = Curve.of(Answers.of(~wrong, sure))
                grouped = Clustered.of(sure, wrong, doc)
                alone = KeepRisk(bound).choose(curve)
                broken += np.isfinite([alone, KeepClusters(bound).choose(curve, grouped)])
            size = f"{least} to {most}" if most > least else f"{least}"
            shares = " | ".join(f"{share:.1%}" for share in broken / samples)
            print(f"| {groups} | {size} | {within} | {bound} | {shares} |", flush=True)


def surest(samples: int, seed: int) -> None:
    """`tune --risk`: what is answered where the surest answers are the worst, and how often a risk
    above the bound is chosen, or seen with `--next` (10 % may be)."""
    print(
        "| questions | bound | surest | risk of all | ideal | coverage | broken | next | broken |"
    )
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    grid = itertools.product((300, 800, 2000), (0.05, 0.1, 0.2), (0.02, 0.05), (0.7, 1.02, 1.2))
    for questions, bound, share, of_bound in grid:
        place = np.arange(questions) / questions
        others = (of_bound * bound - 3 * bound * share) / (1 - share)
        slope = np.clip((place - share) / (1 - share), 0, 1) + 0.5
        chance = np.where(place < share, 3 * bound, others * slope)
        true = np.cumsum(chance) / np.arange(1, questions + 1)
        within = np.flatnonzero(true <= bound + 1e-12)
        shown = np.zeros(4)
        for _ in range(samples):
            drawn = generator.random((2, questions)) < chance
            curve, later = (Curve.of(Answers.of(~wrong, 1 - place)) for wrong in drawn)
            chosen = KeepRisk(bound).choose(curve), KeepNext(bound).choose(curve, later)
            risk, ahead = later.answered[later.points_at(np.array(chosen))]
            broken = risk > 0 and true[risk - 1] > bound
            shown += risk / questions, broken, ahead / questions, later.wrong[ahead] > bound * ahead
        ideal = (within[-1] + 1) / questions if len(within) else 0.0
        coverage, broken, ahead, seen = shown / samples
        print(
            f"| {questions} | {bound} | {share:.0%}, {3 * bound:.2f} | {of_bound * bound:.3f} | "
            f"{ideal:.2f} | {coverage:.2f} | {broken:.1%} | {ahead:.2f} | {seen:.1%} |",
            flush=True,
        )


def differences(samples: int, seed: int) -> None:
    """How often 95 % intervals of a difference in precision (MOVER) hold it, 0 or not."""
    print("| answers | coverage | shared | precision | other | covers |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    for answers, questions, kind, shared in settings():
        few = answers / questions
        covers = np.array([few, few if kind == "alike" else 1.0])
        for right, other in ((0.5, 0.5), (0.8, 0.5), (0.95, 0.95), (0.95, 0.65)):
            shape = samples, 2, questions
            both = np.array([right, other])
            table = tables(
                measure("precision"),
                joint_counts(outcomes(generator, shape, covers, both, shared)),
            )
            x, y = table.sum(axis=1)[:, :2].sum(axis=1), table.sum(axis=2)[:, :2].sum(axis=1)
            table = table[(x > 0) & (y > 0)]
            low, high = mover(table, (1.0, 1.0), correlation(table), level=1 - LEVEL)
            covered = ((low <= right - other) & (right - other <= high)).mean()
            print(
                f"| {answers} | {kind} | {shared} | {right} | {other} | {covered:.1%} |", flush=True
            )


def gain(samples: int, seed: int) -> None:
    """`tune`: how often the interval of a gain holds what its thresholds are worth at length."""
    print("| questions | confidence | covers | told from chance |")
    print("| ---: | --- | ---: | ---: |")
    generator = np.random.default_rng(seed)
    for questions, surer in itertools.product((50, 200), (0.0, 1.0, 2.5)):
        held, told = 0, 0
        signal = generator.normal(size=200_000)
        knows = generator.random(200_000) < 0.5
        sure = 1 / (1 + np.exp(-(signal + surer * knows)))
        for _ in range(samples):
            some = generator.integers(len(sure), size=questions)
            rows = pl.DataFrame(
                {
                    "run": "a",
                    "question": np.arange(questions),
                    "outcome": np.where(knows[some], "right", "wrong"),
                    "confidence": sure[some],
                }
            )
            own = ab.read_judged(rows).tune().runs[0]
            worth = []
            for part in own.parts:
                given = sure >= (math.inf if part.threshold is None else part.threshold)
                right, blank = (given & knows).mean(), 1 - given.mean()
                worth.append(right * (1 + blank) - knows.mean())
            low, high = own.gain_interval
            held += bool(low is not None and high is not None and low <= np.mean(worth) <= high)
            told += low is None or high is None or not low <= 0 <= high
        print(
            f"| {questions} | {surer} | {held / samples:.1%} | {told / samples:.1%} |", flush=True
        )


def checked(design: str, both: Array, generator: Generator) -> Array:
    """150 checked responses: what is true by what the judge said."""
    if design == "random":
        return generator.multinomial(150, both.ravel()).reshape(3, 3).astype(np.float64)
    rows = both if design == "truth" else both.T
    found = np.stack([generator.multinomial(50, row / row.sum()) for row in rows])
    return (found if design == "truth" else found.T).astype(np.float64)


def judges(samples: int, seed: int) -> None:
    """The corrected accuracy: its bias and how often its interval covers, by design."""
    print("| sample | judge | bias before | bias after | standard error | covers |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    rates = np.array([[0.92, 0.06, 0.02], [0.08, 0.90, 0.02], [0.02, 0.03, 0.95]])
    for true in (np.array([0.6, 0.25, 0.15]), np.array([0.3, 0.5, 0.2])):
        both = true[:, None] * rates
        for design in get_args(JudgeDrawn):
            off, before, holds = [], [], 0
            for number in range(samples):
                cells = generator.multinomial(500, both.sum(axis=0)).astype(np.float64)
                score, span = correct_for_judge(
                    measure("accuracy"),
                    cells,
                    checked(design, both, generator),
                    drawn=design,
                    draws=1000,
                    seed=number,  # the same draws in every sample would err the same way in all
                )
                off.append(score - true[0])
                before.append(cells[0] / 500 - true[0])
                holds += span.low <= true[0] <= span.high
            error = np.std(off) / math.sqrt(samples)
            print(
                f"| {design} | accuracy {true[0]} | {np.mean(before):+.4f} | {np.mean(off):+.4f} | "
                f"{error:.4f} | {holds / samples:.1%} |",
                flush=True,
            )
