"""How often `abstain cut` shows a gain or a loss where relevance is drawn at random.

    python benchmarks/cut_at_random.py --seeds 100 --measure "AP'"

Each seed draws 40 queries of 20 documents, a quarter of them nil, with scores that say nothing.
The interval of `auto` against the best reference should cover 0 for at least 95 of 100 seeds.
"""

from __future__ import annotations

import argparse

import numpy as np

import abstain as ab


def collection(
    seed: int, queries: int, documents: int
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run that know nothing of each other."""
    draw = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(queries):
        hits = (draw.random(documents) < 0.2) & (draw.random() > 0.25)
        scores = draw.gamma(2, 2, documents)
        qrels[f"q{number:03d}"] = {f"d{i}": int(hit) for i, hit in enumerate(hits)}
        run[f"q{number:03d}"] = {f"d{i}": float(score) for i, score in enumerate(scores)}
    return qrels, run


def main() -> None:
    """Count gains, losses and intervals that cover 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--measure", default="AP'")
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--documents", type=int, default=20)
    asked = parser.parse_args()
    gains = losses = 0
    ahead = []
    for seed in range(asked.seeds):
        result = ab.cut(*collection(seed, asked.queries, asked.documents), maximise=asked.measure)
        row = next(row for row in result.rows if row.rule == "auto")
        assert row.over_best is not None
        assert row.over_best_low is not None
        assert row.over_best_high is not None
        gains += row.over_best_low > 1e-12
        losses += row.over_best_high < -1e-12
        ahead.append(row.over_best)
    print(
        f"auto by {asked.measure}, {asked.seeds} seeds: the interval covers 0 in "
        f"{asked.seeds - gains - losses}, shows a gain in {gains}, a loss in {losses}; "
        f"mean {np.mean(ahead):+.4f}"
    )


if __name__ == "__main__":
    main()
