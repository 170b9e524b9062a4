"""How often what `abstain cut` promises holds on queries that had no say in it.

    python benchmarks/cut_promises.py --halves 500

`--keep`: a rule is tuned on a random half of the queries; it holds where the lists of the other
half keep at least that share of their relevant documents on average. This is stricter than the
promise, which is about the mean that further queries tend to. `--budget`: on held-out queries, how
many documents are kept, with the interval. The exit code is 1 where `--keep` holds in fewer than
1 − δ of the halves, or where the interval of what is kept lies above the budget.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import abstain as ab
from abstain.features.cut.scores import of_run, origin_of, score_tables
from abstain.features.cut.tuning import Chooser, keeping, losses
from abstain.rankings.read import read_rankings
from cut_elsewhere import KINDS, SHARED, Collection, read

MEASURE = "RBP'"
FEWEST = 60
"""Of fewer queries no half can show anything."""


def halves_held(data: Collection, halves: int, keep: float, delta: float) -> tuple[float, float]:
    """In which share of the halves the promise holds, and the share of documents kept."""
    rankings = read_rankings(*data)
    (table,) = score_tables(rankings.origins, rankings.lists).values()
    measure = ab.measure(MEASURE)
    lists = of_run(rankings.lists, table, measure, origin_of(table))  # type: ignore[arg-type]
    chooser = Chooser(lists, measure, ())  # type: ignore[arg-type]
    every, held, kept = np.arange(lists.size), [], []
    for seed in range(halves):
        order = np.random.default_rng([5, seed]).permutation(lists.size)
        tuned, judged = np.sort(order[: lists.size // 2]), order[lists.size // 2 :]
        depth = keeping(chooser, tuned, every, keep=keep, delta=delta).depth
        held.append(np.nanmean(losses(lists, depth[judged, None], judged)) <= 1 - keep + 1e-12)
        kept.append(depth[judged].mean() / lists.scores.length[judged].mean())
    return float(np.mean(held)), float(np.mean(kept))


def main() -> None:
    """Print a row for each kind of collection, share and budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halves", type=int, default=500)
    parser.add_argument("--delta", type=float, default=0.1)
    asked = parser.parse_args()
    real = {name: read(name) for name in ("vaswani", "web")} if SHARED.exists() else {}
    simulated = {
        kind: made(0) for kind, made in KINDS.items() if not kind.startswith(("vaswani", "web"))
    }
    broken = 0
    print(f"{'collection':36}{'promise':>12}{'holds':>8}{'kept':>9}")
    for kind, data in {**real, **simulated}.items():
        if len(data[0]) < FEWEST:
            continue
        for keep in (0.5, 0.8, 0.9):
            held, kept = halves_held(data, asked.halves, keep, asked.delta)
            broken += held < 1 - asked.delta
            print(f"{kind:36}{f'keep {keep:g}':>12}{held:>8.1%}{kept:>9.1%}", flush=True)
        for budget in (3, 10):
            rows = ab.cut(*data, maximise=MEASURE, budget=budget).rows
            within = {row.rule: row for row in rows if not row.reference}
            missed = [name for name, row in within.items() if not row.within_budget]
            broken += len(missed)
            auto = within["auto"]
            span = f"{auto.kept:.2f} [{auto.kept_low:.2f}, {auto.kept_high:.2f}]"
            fine = f"{len(within) - len(missed)} of {len(within)} rules"
            print(f"{kind:36}{f'budget {budget}':>12}  {fine}, auto {span}", flush=True)
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
