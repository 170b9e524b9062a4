"""Bounds on the share of wrong answers to clustered questions."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

import abstain as ab
from abstain.cli import run as main
from abstain.errors import UsageError
from abstain.features.tune.analysis import halves_of
from abstain.features.tune.choose import Clustered, KeepClusters, KeepRisk
from abstain.features.tune.result import Split
from abstain.measures.answers import Answers
from abstain.stats.curves import Curve
from tests.snapshots import refuses, says


def drawn(seed: int, groups: int = 60, size: int = 10, risk: float = 0.102) -> tuple[Any, Any, Any]:
    """Confidences that say nothing, wrong answers that correlate within clusters, clusters."""
    generator = np.random.default_rng(seed)
    cluster = np.arange(groups).repeat(size)
    both = generator.normal(size=groups)[cluster] + generator.normal(size=groups * size)
    return generator.random(groups * size), both / math.sqrt(2) < ndtri(risk), cluster


def frame(seed: int, groups: int = 60, size: int = 10, risk: float = 0.102) -> pl.DataFrame:
    sure, wrong, cluster = drawn(seed, groups, size, risk)
    return pl.DataFrame(
        {
            "run": "a",
            "question": [f"q{k:04}" for k in range(len(sure))],
            "doc": cluster,
            "outcome": np.where(wrong, "wrong", "right"),
            "confidence": sure,
        }
    )


def test_sums_over_clusters_are_those_of_a_loop() -> None:
    sure, wrong, cluster = drawn(3, groups=7, size=5, risk=0.4)
    own = Clustered.of(sure, wrong, cluster)
    order = np.argsort(-sure)
    for k in (0, 1, 4, 17, 35):
        first = order[:k]
        a = [int((cluster[first] == g).sum()) for g in range(7)]
        w = [int((wrong[first] & (cluster[first] == g)).sum()) for g in range(7)]
        assert own.wrong[k] == sum(w)
        assert own.squares[k] == sum(x * x for x in a)
        assert own.wrong_squares[k] == sum(x * x for x in w)
        assert own.products[k] == sum(x * y for x, y in zip(a, w, strict=True))
        assert own.with_wrong[k] == sum(x > 0 for x in w)


def test_the_risk_of_clustered_questions_is_kept() -> None:
    by_questions = by_clusters = 0
    for seed in range(300):
        sure, wrong, cluster = drawn(seed, size=20)
        curve, own = Curve.of(Answers.of(~wrong, sure)), Clustered.of(sure, wrong, cluster)
        by_questions += math.isfinite(KeepRisk(0.1).choose(curve))
        by_clusters += math.isfinite(KeepClusters(0.1).choose(curve, own))
    assert by_questions > 0.11 * 300  # a tenth was promised
    assert by_clusters <= 0.1 * 300


def test_a_low_risk_is_still_promised() -> None:
    silent = 0
    for seed in range(20):
        sure, wrong, cluster = drawn(seed, risk=0.04)
        curve, own = Curve.of(Answers.of(~wrong, sure)), Clustered.of(sure, wrong, cluster)
        silent += math.isinf(KeepClusters(0.15).choose(curve, own))
    assert silent <= 8


def test_clusters_of_one_question_are_independent_questions() -> None:
    for seed in range(5):
        sure, wrong, _ = drawn(seed, risk=0.05)
        curve = Curve.of(Answers.of(~wrong, sure))
        own = Clustered.of(sure, wrong, np.arange(len(sure)))
        assert KeepClusters(0.1).choose(curve, own) == KeepRisk(0.1).choose(curve)


def test_clusters_without_a_wrong_answer_count_as_one_answer_each() -> None:
    sure, wrong, cluster = drawn(1, groups=15, size=20, risk=1e-12)
    own = Clustered.of(sure, wrong, cluster)
    assert (300 * own.worth(np.array([300]), 0.1))[0] <= 15
    read = ab.read_judged(frame(1, groups=15, size=20, risk=1e-12), cluster="doc")
    result = read.tune(risk=0.1, folds=3)
    assert result.runs[0].threshold is None
    assert "independent answers" in " ".join(str(result).split())


@pytest.mark.parametrize("folds", [None, 4])
def test_folds_keep_clusters_whole(folds: int | None) -> None:
    rows = frame(2)
    questions = rows.select("question", "doc")
    for judge in halves_of(Split(folds=folds or 5), questions, 0, rows["doc"].to_numpy()):
        held = [set(rows["doc"].to_numpy()[own].tolist()) for _, own in judge]
        assert sum(map(len, held)) == 60
    result = ab.read_judged(rows, cluster="doc").tune(folds=folds)
    assert result.split.folds == (folds or 5)
    mixed = ab.read_judged(rows.sample(fraction=1, shuffle=True, seed=1), cluster="doc")
    assert mixed.tune(folds=folds).to_frame().equals(result.to_frame())


def test_fewer_clusters_than_folds() -> None:
    rows = frame(2, groups=3)
    assert ab.read_judged(rows, cluster="doc").tune().split.folds == 3
    with refuses(UsageError, "4"):
        ab.read_judged(rows, cluster="doc").tune(folds=4)


def test_the_gain_of_clusters_has_a_wider_interval() -> None:
    rows = frame(4, risk=0.5)
    ends = [
        ab.read_judged(rows, cluster=name).tune(folds=3).runs[0].gain_interval
        for name in ("doc", None)
    ]
    (low, high), (lower, higher) = ends
    assert None not in (low, high, lower, higher)
    assert high - low > higher - lower  # type: ignore[operator]


def test_on_the_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rows = frame(5, risk=0.04)
    rows.write_csv(tmp_path / "judged.csv")
    how = ["tune", "--judged", str(tmp_path / "judged.csv"), "--cluster", "doc", "--risk", "0.15"]
    assert main(how) == 0
    shown = " ".join(capsys.readouterr().out.split())
    says(shown, "5")
    assert "clusters (doc) tuned on" in shown
    assert main([*how, "-f", "json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["cluster"] == "doc"
    own = ab.read_judged(rows, cluster="doc").tune(risk=0.15)
    assert plain["results"][0]["threshold"] == own.runs[0].threshold
    assert main([*how, "--next"]) == 2
    says(capsys.readouterr().err, "--next", "--cluster")
