"""What `auto` of `abstain cut` loses or gains on collections unlike those its defaults come from.

    python benchmarks/cut_elsewhere.py --seeds 10 --measure "AP'" --measure SetF

Each kind of collection is drawn once a seed. A row has the mean over seeds of how far `auto` is
ahead of the best reference (chosen in hindsight, the oracle apart), its standard error, the worst
seed, in how many seeds the interval shows a gain and a loss, and how far `expected` is ahead. The
exit code is 1 where `auto` is behind by more than 0.01 on average.
"""

from __future__ import annotations

import argparse
import gzip
import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import abstain as ab

Collection: TypeAlias = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]
Scale: TypeAlias = Callable[[Any], Any]
ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("ABSTAIN_SHARED", ROOT.parent / "shared")) / "data" / "cut"


def simulated(
    seed: int,
    *,
    queries: int = 60,
    documents: int = 50,
    relevant: float = 5,
    nil: float = 0.2,
    apart: float = 2.0,
    mixed: float = 0.5,
    scale: Scale = lambda s: s,
) -> Collection:
    """Normal scores, those of relevant documents `apart` higher, each query's moved by `mixed`."""
    draw = np.random.default_rng([7, seed])
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(queries):
        hits = 0 if draw.random() < nil else 1 + draw.poisson(relevant - 1)
        others = 4 * documents
        scores = np.concatenate([draw.normal(apart, 1, hits), draw.normal(0, 1, others)])
        scores = scale(scores + draw.normal(0, mixed))
        names = [*(f"r{i}" for i in range(hits)), *(f"x{i}" for i in range(others))]
        best = np.argsort(-scores, kind="stable")[:documents]
        query = f"q{number:03d}"
        qrels[query] = {f"r{i}": 1 for i in range(hits)} or {"none": 0}
        run[query] = {names[i]: float(scores[i]) for i in best}
    return qrels, run


def read(name: str) -> Collection:
    """Judgments and a run of the shared data."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    with gzip.open(SHARED / f"{name}.qrels.gz", "rt") as lines:
        for line in lines:
            query, _, doc, grade = line.split()
            qrels.setdefault(query, {})[doc] = int(grade)
    with gzip.open(SHARED / f"{name}.run.gz", "rt") as lines:
        for line in lines:
            query, _, doc, _, score, _ = line.split()
            run.setdefault(query, {})[doc] = float(score)
    return qrels, run


def some_of(seed: int, name: str, queries: int, scale: Scale = lambda s: s) -> Collection:
    """Some queries of a collection, drawn at random."""
    qrels, run = read(name)
    chosen = np.random.default_rng([8, seed]).permutation(sorted(qrels))[:queries]
    moved = {q: {d: float(scale(s)) for d, s in run[q].items()} for q in chosen if q in run}
    return {q: qrels[q] for q in chosen}, moved


def made_nil(seed: int, name: str, share: float) -> Collection:
    """A collection in which the relevant documents of some queries are not known to be."""
    qrels, run = read(name)
    draw = np.random.default_rng([9, seed])
    return {q: {"none": 0} if draw.random() < share else own for q, own in qrels.items()}, run


def cosine(s: Any) -> Any:
    """Scores from 0 to 1, close together."""
    return 0.75 + 0.2 * np.tanh(s / 4)


KINDS: dict[str, Callable[[int], Collection]] = {
    "vaswani, 30 queries": partial(some_of, name="vaswani", queries=30),
    "vaswani, 50 queries": partial(some_of, name="vaswani", queries=50),
    "vaswani, 76 queries": partial(some_of, name="vaswani", queries=76),
    "web, 20 % made nil": partial(made_nil, name="web", share=0.2),
    "log-probabilities": partial(simulated, scale=lambda s: -np.log1p(np.exp(3 - s))),
    "cosines, 1 relevant, 10 listed": partial(
        simulated, scale=cosine, relevant=1, documents=10, apart=3.0
    ),
    "to a million, 30 % nil": partial(simulated, scale=lambda s: 1e5 * np.exp(s / 2), nil=0.3),
    "whole numbers with ties, 20 listed": partial(simulated, scale=np.round, documents=20),
    "50 relevant, none nil, 200 listed": partial(
        simulated, relevant=50, nil=0.0, documents=200, apart=1.5
    ),
    "scores that say nothing": partial(simulated, apart=0.0, documents=20, queries=40),
    "weak scores, half nil": partial(simulated, apart=1.0, nil=0.5),
    "easy, 30 queries": partial(simulated, apart=5.0, queries=30),
}


def main() -> None:
    """Print a row for each kind of collection and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--measure", action="append")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--kind", action="append")
    asked = parser.parse_args()
    head = f"{'collection':36}{'measure':8}{'auto':>8} {'s.e.':>6}{'worst':>8} gain loss"
    print(f"{head}{'expected':>10}  chose")
    behind = []
    for kind in asked.kind or KINDS:
        if kind.startswith(("vaswani", "web")) and not SHARED.exists():
            print(f"{kind:36}left out: there is no {SHARED}")
            continue
        for measure in asked.measure or ["AP'", "SetF", "RBP'", "NDCG'"]:
            ahead, model, gains, losses, chosen = [], [], 0, 0, Counter[str]()
            for seed in range(asked.seeds):
                result = ab.cut(*KINDS[kind](seed), maximise=measure, repeats=asked.repeats)
                rows = {row.rule: row for row in result.rows}
                auto = rows["auto"]
                ahead.append(auto.over_best or 0.0)
                model.append(rows["expected"].over_best or 0.0)
                gains += (auto.over_best_low or 0.0) > 1e-12
                losses += (auto.over_best_high or 0.0) < -1e-12
                chosen.update(auto.chosen)
            mean, error = np.mean(ahead), np.std(ahead, ddof=1) / np.sqrt(asked.seeds)
            if mean < -0.01:
                behind.append(f"{kind} by {measure}")
            total = sum(chosen.values())
            often = ", ".join(f"{n} {c / total:.0%}" for n, c in chosen.most_common(4))
            print(
                f"{kind:36}{measure:8}{mean:+8.4f} {error:6.4f}{min(ahead):+8.4f} {gains:4} "
                f"{losses:4}{np.mean(model):+10.4f}  {often}",
                flush=True,
            )
    if behind:
        raise SystemExit(f"behind by more than 0.01: {'; '.join(behind)}")


if __name__ == "__main__":
    main()
