"""How often a `RejectClassifier` shows a gain where labels are drawn at random.

    python benchmarks/rejected.py --seeds 100

Each seed draws questions with features that say nothing of their labels. The classifier, which
tunes its threshold by cross-validation inside, is fitted to half of them. On the other half it is
compared with one that answers everything: c@1 and its paired interval (95 %). With `--leak` the
threshold is chosen on the half that it is judged on: then the gain is never below 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression

from abstain.features.tune.analysis import gain_interval, joint_counts
from abstain.features.tune.choose import Maximise
from abstain.measures import measure
from abstain.measures.answers import Answers
from abstain.sklearn import RejectClassifier, score
from abstain.stats.curves import Curve

AIM = 0.05
RIGHT_WRONG_BLANK = np.array([0, 1, 4])


def gains(
    seeds: Iterable[int], *, questions: int = 200, leak: bool = False
) -> Iterator[tuple[float, float, float]]:
    """The gain over answering everything and the ends of its interval, for each seed."""
    item = measure("c@1")
    for seed in seeds:
        draw = np.random.default_rng(seed)
        x, y = draw.normal(size=(2 * questions, 5)), draw.integers(0, 2, 2 * questions)
        (fit_x, x), (fit_y, y) = np.split(x, 2), np.split(y, 2)
        model = RejectClassifier(LogisticRegression()).fit(fit_x, fit_y)
        proba = model.estimator_.predict_proba(x)
        everything, tuned = proba.argmax(axis=1), model.predict(x)
        if leak:
            sure = proba.max(axis=1)
            curve = Curve.of(Answers.of(everything == y, sure))
            tuned = np.where(sure >= Maximise(item).choose(curve), everything, -1)
        before, after = (
            RIGHT_WRONG_BLANK[np.where(own == -1, 2, own != y)].astype(np.uint8)
            for own in (everything, tuned)
        )
        gain = score(y, tuned, blank=-1) - score(y, everything)
        joint = joint_counts(before, after, item, None)
        low, high = gain_interval(item, joint, gain, clustered=False)
        yield gain, low or 0.0, high or 0.0


def main() -> int:
    """Count the seeds with a gain; 1 where more than 5 of 100 show one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--leak", action="store_true")
    asked = parser.parse_args()
    every = list(gains(range(asked.seeds), questions=asked.questions, leak=asked.leak))
    shown, lost = sum(low > 0 for _, low, _ in every), sum(high < 0 for _, _, high in every)
    mean = np.mean([gain for gain, _, _ in every])
    what = f"a gain in {shown}, a loss in {lost}; mean {mean:+.4f}"
    print(f"random labels, {asked.seeds} seeds: {what}")
    return int(shown > AIM * asked.seeds and not asked.leak)


if __name__ == "__main__":
    sys.exit(main())
