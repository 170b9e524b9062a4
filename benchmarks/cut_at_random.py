"""What the headline of `abstain cut` says where no rule can be better than a trivial policy.

    python benchmarks/cut_at_random.py --seeds 100 --measure "RBP'" --measure "AP'"

Scores say nothing about relevance, over a grid of shares of nil queries and of relevant documents:
the best policy is to keep everything, the first k of every list, or nothing. In each case the
headline should say "cut" for at most 5 of 100 seeds, and where a trivial policy scores as much as
the rule chosen, say so and name it. The exit code is 1 where it does not.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import numpy as np

import abstain as ab

NAMES = {
    "everything": "keeping everything",
    "nothing": "answering nothing",
    "top 10": "keeping the first 10 documents of every list",
    "k": "keeping the first k documents of every list",
}
NIL, RELEVANT = (0.0, 0.25, 0.6), (0.05, 0.2, 0.6)


def collection(
    seed: int, queries: int, documents: int, *, nil: float = 0.25, relevant: float = 0.2
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run that know nothing of each other."""
    draw = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(queries):
        hits = (draw.random(documents) < relevant) & (draw.random() > nil)
        scores = draw.gamma(2, 2, documents)
        qrels[f"q{number:03d}"] = {f"d{i}": int(hit) for i, hit in enumerate(hits)}
        run[f"q{number:03d}"] = {f"d{i}": float(score) for i, score in enumerate(scores)}
    return qrels, run


def is_named(result: ab.CutResult) -> bool:
    """Whether the headline names the trivial policy of the highest score, and follows it."""
    text = " ".join(str(result).split())
    scores = {row.rule: row.score or 0.0 for row in result.rows}
    (run,) = result.runs
    best, most = run.best_trivial, max(scores[name] for name in NAMES)
    wins = most >= scores["auto"] - 1e-12
    if wins and run.advice != ("nothing" if best == "nothing" else "not"):
        return False
    said = {"nothing": "Answer nothing", "not": f"Do not cut: {NAMES[best]}"}
    return scores[best] == most and said.get(run.advice, NAMES[best]) in text


def main() -> int:
    """Print a row for each measure and case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--measure", action="append")
    parser.add_argument("--nil", type=float, nargs="+", default=NIL)
    parser.add_argument("--relevant", type=float, nargs="+", default=RELEVANT)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--documents", type=int, default=20)
    asked = parser.parse_args()
    failed = 0
    print(f"{'measure':8}{'nil':>6}{'relevant':>10}{'named':>7}{'ahead':>9}  advice; best policy")
    for measure in asked.measure or ["RBP'", "AP'", "SetF"]:
        for nil, relevant in ((nil, relevant) for nil in asked.nil for relevant in asked.relevant):
            advice, best = Counter[str](), Counter[str]()
            named, ahead = 0, []
            for seed in range(asked.seeds):
                size = asked.queries, asked.documents
                data = collection(seed, *size, nil=nil, relevant=relevant)
                result = ab.cut(*data, maximise=measure)
                row = next(row for row in result.rows if row.rule == "auto")
                advice[result.runs[0].advice] += 1
                best[result.runs[0].best_trivial] += 1
                named += is_named(result)
                ahead.append(row.over_best or 0.0)
            failed += advice["cut"] > 0.05 * asked.seeds or named < asked.seeds
            counts = "; ".join(", ".join(f"{k} {n}" for k, n in c.items()) for c in (advice, best))
            print(
                f"{measure:8}{nil:6.2f}{relevant:10.2f}{named:7}{np.mean(ahead):+9.4f}  {counts}",
                flush=True,
            )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
