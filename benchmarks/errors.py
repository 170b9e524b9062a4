"""How often a test finds a difference where there is none, and how often where there is one.

    python benchmarks/errors.py [--samples N] [--seed N] [--part NAME]…

Runs have the same precision (or the same chance of each outcome where the measure counts blanks),
answer 3 to 200 of the questions, alike or one of them all, and share the difficulty of a question
or do not. For each cell: the share of samples with a verdict; errors at the 5 % level, as a share
of all samples and of those with a verdict; and the power against a difference of 0.3, beside it.
Families are 10 runs whose coverage goes from 1 to 0.1: an error is any pair that is found
different. Judges err; their checked sample is drawn at random, by truth or by verdict.
A row in which none of the first 20 samples has a verdict ends there. All parts together take some
20 minutes on one core with `--samples 1000`.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

import abstain as ab
from abstain.analyses.compare.bounds import JudgeDrawn, correct_for_judge
from abstain.analyses.curve.curves import Curve
from abstain.analyses.tune.choose import KeepRisk
from abstain.analyses.tune.clusters import Clustered, KeepClusters
from abstain.measures import measure
from abstain.measures.answers import Answers
from abstain.outcomes import OUTCOMES
from abstain.stats.functional import difference
from abstain.stats.hypotheses import bootstrap_p
from abstain.stats.proportions import all_pairs as all_pairs_p
from abstain.stats.proportions import correlation, mover, p_values, tables
from abstain.stats.resampling.cells import of_outcomes
from abstain.stats.resampling.draws import all_pairs

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
Cell = tuple[str, int, int, float, str, dict[str, Any]]
"""Measure, answers, questions, precision, whose coverage it is, how it is tested."""

LEVEL, TRIALS, FAMILY_TRIALS = 0.05, 299, 4999
ANSWERS = (3, 5, 10, 20, 40, 200)
TRUE, APART = (0.5, 0.8, 0.95), 0.3
SHARED = 0.6
"""Of the difficulty of a question, where runs share it."""
WITHIN, SIZE = 0.3, 5
"""The correlation of a run's answers in a cluster, and questions of one."""
PROBE = 20
"""Samples after which a row without a verdict ends."""
BOOTSTRAPPED = ((30, 30, 0.6), (60, 5, 0.6), (60, 20, 0.6), (60, 60, 0.95), (200, 40, 0.8))
"""Questions, answers and precision."""
RUNS = 10
FAMILIES = ((50, 0.6, 0.3), (100, 0.5, 0.0), (100, 0.8, 0.6), (300, 0.95, 0.3))
"""Questions, precision and what is shared."""


def outcomes(
    generator: Generator,
    shape: tuple[int, ...],
    covers: Array,
    right: Array,
    shared: float,
    *,
    clustered: bool = False,
) -> npt.NDArray[np.uint8]:
    """Outcomes (samples, runs, questions): right, wrong or blank."""
    from scipy.special import ndtri

    samples, runs, questions = shape
    common = generator.normal(size=(samples, 1, questions))
    own = generator.normal(size=shape)
    if clustered:
        group = generator.normal(size=(samples, runs, -(-questions // SIZE)))
        own = math.sqrt(1 - WITHIN) * own
        own += math.sqrt(WITHIN) * group.repeat(SIZE, axis=-1)[..., :questions]
    knows = math.sqrt(shared) * common + math.sqrt(1 - shared) * own < ndtri(right)[:, None]
    answered = generator.random(shape) < covers[:, None]
    return np.where(answered, np.where(knows, 0, 1), 4).astype(np.uint8)


def joint_counts(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Joint counts (samples, 3, 3) of the first two runs: rows of the second."""
    three = np.array([0, 1, 2, 2, 2])[codes]
    cell = three[:, 1] * 3 + three[:, 0]
    return np.stack([(cell == k).sum(axis=-1) for k in range(9)], axis=-1).reshape(-1, 3, 3)


def found_by_precision(codes: npt.NDArray[np.uint8], seed: int) -> Array:
    """p of every sample; NaN where a run answers nothing."""
    own = tables(measure("precision"), joint_counts(codes))
    p = np.array([one.p for one in p_values(own, trials=TRIALS, seed=seed)])
    tried = own.sum(axis=1)[:, :2].sum(axis=1), own.sum(axis=2)[:, :2].sum(axis=1)
    return np.where((tried[0] > 0) & (tried[1] > 0), p, np.nan)


def said(p: Array) -> str:
    """Verdicts and errors as cells of a table."""
    given = ~np.isnan(p)
    errors = p[given] <= LEVEL + 1e-12
    of_given = errors.mean() if given.any() else 0.0
    return f"{given.mean():.0%} | {errors.sum() / len(p):.1%} | {of_given:.1%}"


def settings() -> Iterator[tuple[int, int, str, float]]:
    """Answers, questions, whose coverage it is, what is shared."""
    for answers in ANSWERS:
        questions = 60 if answers <= 20 else 5 * answers
        for kind in ("alike", "one answers all"):
            for shared in (0.0, SHARED):
                yield answers, questions, kind, shared


def counts(samples: int, seed: int) -> None:
    """Precision of two runs."""
    print("| answers | coverage | shared | precision | verdicts | errors | of verdicts | power |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    for answers, questions, kind, shared in settings():
        few = answers / questions
        covers = np.array([few, few if kind == "alike" else 1.0])
        for right in TRUE:
            some = samples if questions < 1000 else max(1, samples // 4)
            shape = some, 2, questions
            same = outcomes(generator, shape, covers, np.array([right, right]), shared)
            apart = outcomes(generator, shape, covers, np.array([right, right - APART]), shared)
            p = found_by_precision(same, seed)
            power = np.nanmean(found_by_precision(apart, seed) <= LEVEL)
            print(
                f"| {answers} | {kind} | {shared} | {right} | {said(p)} | {power:.0%} |", flush=True
            )


def compared(
    codes: npt.NDArray[np.uint8], name: str, seed: int, surer: Array | float, **how: Any
) -> float:
    """p of two runs by the library; NaN without a verdict. Right answers are surer by so much."""
    generator = np.random.default_rng(seed)
    runs, questions = codes.shape
    sure = 1 / (1 + np.exp(-(generator.normal(size=codes.shape) + (codes == 0) * surer)))
    rows = pl.DataFrame(
        {
            "run": np.repeat([f"r{i}" for i in range(runs)], questions),
            "question": np.tile(np.arange(questions), runs),
            "doc": np.tile(np.arange(questions) // SIZE, runs),
            "outcome": pl.Series(OUTCOMES).gather(codes.ravel()),
            "confidence": np.where(codes < 2, sure, np.nan).ravel(),
        }
    ).with_columns(pl.col("confidence").fill_nan(None))
    read = ab.read_judged(rows, cluster="doc" if how.pop("clustered", False) else None)
    trials = TRIALS if runs == 2 else FAMILY_TRIALS
    result = read.compare(name, trials=trials, seed=seed, **how)
    found = [pair.p_adjusted for pair in result.pairs if pair.p_adjusted is not None]
    return min(found, default=math.nan)


def by_library(samples: int, seed: int, cells: list[Cell]) -> None:
    """Whole comparisons, one at a time; the power of two runs from a fifth of the samples."""
    print(
        "| measure | test | answers | precision | coverage | verdicts | errors | of verdicts | "
        "power |"
    )
    print("| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    every = samples
    for row, (name, answers, questions, right, kind, how) in enumerate(cells):
        generator = np.random.default_rng([seed, row])
        few, runs = answers / questions, how.get("runs", 2)
        samples = every if runs == 2 else every // 2
        covers = np.linspace(1.0 if kind != "alike" else few, few, runs)
        more = {key: value for key, value in how.items() if key != "runs"}

        def p_of(
            rights: Array,
            surer: Array | float,
            some: range,
            *,
            generator: Generator = generator,
            name: str = name,
            shape: tuple[int, int] = (runs, questions),
            covers: Array = covers,
            more: dict[str, Any] = more,
        ) -> Array:
            drawn = outcomes(
                generator,
                (len(some), *shape),
                covers,
                rights,
                SHARED / 2,
                clustered=more.get("clustered", False),
            )
            each = zip(some, drawn, strict=True)
            return np.array([compared(own, name, k, surer, **more) for k, own in each])

        same = np.full(runs, right)
        p, power = p_of(same, 1.0, range(min(PROBE, samples))), ""
        if not np.isnan(p).all():
            p = np.concatenate([p, p_of(same, 1.0, range(len(p), samples))])
        if not np.isnan(p).all() and runs == 2:
            some = range(samples, samples + max(1, samples // 5))
            by_counts = measure(name).definition.takes == "counts"
            lower = np.array([right, right - APART]) if by_counts else same
            other = p_of(lower, 1.0 if by_counts else np.array([[2.5], [0.0]]), some)
            given = other[~np.isnan(other)]
            power = f"{(given <= LEVEL).mean():.0%}" if len(given) else ""
        text = ", ".join(f"{key} {value}" for key, value in how.items()) or "default"
        print(
            f"| {name} | {text} | {answers} | {right} | {kind} | {said(p)} | {power} |", flush=True
        )


def confidence(samples: int, seed: int) -> None:
    """Measures of confidence."""
    cells: list[Cell] = [
        (name, answers, max(100, 2 * answers), right, kind, {})
        for name in ("AUROC", "E-AURC", "Brier", "ECE", "coverage@risk(r=0.2)")
        for answers, right in ((20, 0.6), (40, 0.6), (60, 0.75), (120, 0.85))
        for kind in ("alike", "one answers all")
        if kind == "alike" or "coverage" not in name  # who answers less differs in that
    ]
    by_library(samples, seed, cells)


def further(samples: int, seed: int) -> None:
    """Other tests: the bootstrap, ten runs, one run against others, clusters, other measures."""
    unlike = "from all down"
    cells: list[Cell] = [
        *(("precision", k, 100, 0.8, unlike, {"test": "bootstrap"}) for k in (5, 20, 40)),
        *(("precision", k, 100, p, unlike, {"runs": RUNS}) for k in (5, 20) for p in (0.5, 0.9)),
        *(("precision", k, 100, 0.8, unlike, {"runs": RUNS, "against": "r0"}) for k in (5, 20)),
        *(("precision", k, 100, 0.8, unlike, {"clustered": True}) for k in (5, 10, 20, 40)),
        *(("c@1", k, 60, 0.6, "alike", {}) for k in (5, 60)),
        *(("accuracy", 60, 60, p, "alike", {"clustered": True}) for p in (0.6, 0.95)),
        *(("accuracy", 60, 60, 0.9, "alike", {"test": "mcnemar"}) for _ in "1"),
    ]
    by_library(samples, seed, cells)


def bootstrap(samples: int, seed: int) -> None:
    """The bootstrap of measures that divide by all questions."""
    print("| measure | questions | answers | precision | errors | power |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    for name in ("c@1", "accuracy", "S(t=0.5)"):
        f = difference(measure(name))
        for questions, answers, right in BOOTSTRAPPED:
            covers, found = np.full(2, answers / questions), []
            for other in (right, right - APART):
                shape = samples, 2, questions
                drawn = outcomes(generator, shape, covers, np.array([right, other]), SHARED / 2)
                resampled = (
                    generator.multinomial(questions, own.ravel() / questions, size=TRIALS)
                    for own in joint_counts(drawn)
                )
                p = [bootstrap_p(f.value(own.astype(np.float64))) for own in resampled]
                found.append(float((np.array(p) <= LEVEL).mean()))
            print(
                f"| {name} | {questions} | {answers} | {right} | {found[0]:.1%} | {found[1]:.0%} |",
                flush=True,
            )


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
                broken += np.isfinite(
                    [alone, KeepClusters(bound).choose_by_clusters(curve, grouped)]
                )
            size = f"{least} to {most}" if most > least else f"{least}"
            shares = " | ".join(f"{share:.1%}" for share in broken / samples)
            print(f"| {groups} | {size} | {within} | {bound} | {shares} |", flush=True)


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
            told += not own.by_chance
        print(
            f"| {questions} | {surer} | {held / samples:.1%} | {told / samples:.1%} |", flush=True
        )


def meta(samples: int, seed: int) -> None:
    """Families of equal runs by `meta`'s test of all pairs together."""
    print("| runs | questions | precision | shared | families with an error |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    generator = np.random.default_rng(seed)
    own, pairs = measure("precision"), all_pairs(RUNS)
    for questions, right, shared in FAMILIES:
        covers = np.linspace(1, 0.1, RUNS)
        drawn = outcomes(
            generator, (samples, RUNS, questions), covers, np.full(RUNS, right), shared
        )
        names, errors = [str(k) for k in range(RUNS)], 0
        for number, codes in enumerate(drawn):
            source = of_outcomes(names, codes, [own])
            p = all_pairs_p(source.trials(pairs, own), pairs, trials=TRIALS, seed=number)
            errors += bool(np.nanmin(p) < LEVEL)
        print(f"| {RUNS} | {questions} | {right} | {shared} | {errors / samples:.1%} |", flush=True)


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
            for _ in range(samples):
                cells = generator.multinomial(500, both.sum(axis=0)).astype(np.float64)
                score, span = correct_for_judge(
                    measure("accuracy"),
                    cells,
                    checked(design, both, generator),
                    drawn=design,
                    draws=1000,
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


PARTS = {
    "counts": (counts, 1),
    "confidence": (confidence, 8),
    "further": (further, 8),
    "bootstrap": (bootstrap, 1),
    "risk": (risk, 4),
    "differences": (differences, 1),
    "gain": (gain, 4),
    "meta": (meta, 2),
    "judges": (judges, 1),
}
"""Each with how many times fewer samples it takes."""


def main() -> None:
    """Print a table for each part."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--samples", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=16)
    arguments.add_argument("--part", action="append", choices=list(PARTS))
    given = arguments.parse_args()
    for name in given.part or PARTS:
        make, fewer = PARTS[name]
        samples = max(20, given.samples // fewer)
        print(f"\n{name}: {samples:,} samples a row, seed {given.seed}", flush=True)
        make(samples, given.seed)


if __name__ == "__main__":
    main()
