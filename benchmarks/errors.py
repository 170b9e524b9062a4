"""How often a test finds a difference where there is none, and how often where there is one.

    python benchmarks/errors.py [--samples N] [--seed N] [--part NAME]…

Runs have the same score. They answer 3 to 200 questions, alike, or one of them all; they share the
difficulty of a question or do not; 2 runs or 10; questions alone or in clusters. For each cell: the
share of samples with a verdict; errors at the 5 % level, as a share of all samples and of those
with a verdict, with the standard error of the latter; and the power beside it, against a difference
of 0.3 in precision, of confidences that say much or nothing, of 0.1 in a mean score. Of families an
error is any pair that is found different, the power that of any pair. What is tested is what
`compare` prints, corrections and refusals included. A row in which none of the first 20 samples has
a verdict ends there.

Parts: counts (precision), counted (other measures of counts), decisions (to answer), confidence,
clustered, families (ten runs), scores (by topic), student (t alone, for comparison), meta of scores
(all pairs together), editions (of a campaign). Then verdicts by intervals and
promises: cut (is one advised to cut?), gates (which run passes?), risk (bounds on clustered
questions), surest (bounds where the surest answers are the worst), differences (intervals of
precision), gain (of `tune`), targets (does a model heed what an error costs?), judges (whose
checked sample is drawn at random, by truth or by verdict).
"""

from __future__ import annotations

import argparse

from simulated import (
    by_cut,
    by_decision,
    by_edition,
    by_gate,
    by_precision,
    by_topic,
    promises,
    tests,
    told,
)

PARTS = {
    "counts": (by_precision.counts, 1),
    "counted": (tests.counted, 1),
    "decisions": (by_decision.decisions, 4),
    "confidence": (tests.confidence, 2),
    "clustered": (tests.clustered, 2),
    "families": (tests.families, 4),
    "scores": (by_topic.scores, 1),
    "student": (by_topic.student, 1),
    "meta of scores": (by_topic.meta, 4),
    "editions": (by_edition.editions, 1),
    "cut": (by_cut.cut, 4),
    "gates": (by_gate.gates, 2),
    "risk": (promises.risk, 4),
    "surest": (promises.surest, 4),
    "differences": (promises.differences, 1),
    "gain": (promises.gain, 4),
    "targets": (told.targets, 10),
    "judges": (promises.judges, 1),
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
