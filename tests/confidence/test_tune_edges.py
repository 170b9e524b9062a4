"""Tuning piece by piece: folds, blanks by a threshold, means, bounds met exactly; apply's notes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import InputError, UsageError
from abstain.features.tune.analysis import (
    counted,
    halves_of,
    joint_counts,
    kept,
    thresholded,
)
from abstain.features.tune.apply import apply_thresholds, read_thresholds
from abstain.features.tune.choose import Clustered, KeepClusters, KeepRisk, Maximise, Threshold
from abstain.features.tune.result import Part, Split, Standing
from abstain.measures.answers import Answers
from abstain.outcomes import EXCLUDED
from abstain.stats.curves import Curve
from tests.confidence.data import informed, read_rows, saved_thresholds, slow_counts
from tests.snapshots import refuses

RIGHT, WRONG, UR, UW, UE = range(5)


def test_a_threshold_decides_what_has_an_answer_and_nothing_else() -> None:
    codes = np.array([RIGHT, WRONG, UR, UW, UE, EXCLUDED], np.uint8)
    assert thresholded(codes, np.ones(6, bool)).tolist() == [0, 1, 0, 1, UE, EXCLUDED]
    assert thresholded(codes, np.zeros(6, bool)).tolist() == [UR, UW, UR, UW, UE, EXCLUDED]
    assert counted(codes).tolist() == [1, 1, 1, 1, 1, 0]
    assert counted(codes[:0]).tolist() == [0] * 6


def test_the_mean_of_scores_is_not_the_score_of_means() -> None:
    tables = [np.array([4, 0, 0, 0, 0, 0]), np.array([1, 1, 0, 0, 2, 0])]
    found = Standing.mean(tables, ab.measure("c@1"))
    assert found.score == pytest.approx((1 + 1 / 4 * 3 / 2) / 2)
    assert found.risk == pytest.approx(0.5 / 3)
    assert found.coverage == pytest.approx(3 / 4)
    assert found.numbers["right"] == 2.5
    silent = Standing.mean([np.array([0, 0, 1, 1, 0, 0])], ab.measure("precision"))
    assert (silent.score, silent.risk, silent.coverage) == (None, None, 0)
    nothing = Standing.mean([np.zeros(6, np.int64)], ab.measure("c@1"))
    assert (nothing.risk, nothing.coverage) == (None, None)


@pytest.mark.parametrize(("folds", "size"), [(2, 2), (2, 7), (5, 5), (5, 23)])
def test_every_question_is_judged_once_with_what_the_others_say(folds: int, size: int) -> None:
    questions = pl.DataFrame({"question": [f"q{i:03d}" for i in range(size)]})
    split = Split(folds=folds, repeats=3)
    found = list(halves_of(split, questions, seed=4))
    assert len(found) == 3
    for halves in found:
        assert len(halves) == folds
        assert (np.sum([judge for _, judge in halves], axis=0) == 1).all()
        assert all((tune == ~judge).all() for tune, judge in halves)
        sizes = [int(judge.sum()) for _, judge in halves]
        assert max(sizes) - min(sizes) <= 1
    with refuses(UsageError, f"{size + 1}"):
        list(halves_of(Split(folds=size + 1, repeats=1), questions, seed=4))


def test_folds_are_five_and_repeated_once_unless_said() -> None:
    questions = pl.DataFrame({"question": [f"q{i}" for i in range(9)]})
    ((*halves,),) = halves_of(Split(), questions, seed=0)
    assert len(halves) == 5


def test_folds_follow_the_ids_whatever_the_order_of_rows() -> None:
    ids = [f"q{i:02d}" for i in range(12)]
    clusters = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4])
    order = np.random.default_rng(3).permutation(12)
    for own in (None, clusters):
        mixed = None if own is None else own[order]
        (plain,) = halves_of(Split(folds=3, repeats=1), pl.DataFrame({"question": ids}), 1, own)
        frame = pl.DataFrame({"question": [ids[i] for i in order]})
        (again,) = halves_of(Split(folds=3, repeats=1), frame, 1, mixed)
        for (_, one), (_, two) in zip(plain, again, strict=True):
            np.testing.assert_array_equal(one[order], two)
        if own is not None:
            for _, judge in plain:
                assert all(len({*judge[own == c].tolist()}) == 1 for c in range(5))


def test_the_part_to_tune_on_has_all_that_is_named() -> None:
    frame = pl.DataFrame(
        {"question": ["a", "b", "c", "d"], "x": ["1", "1", "2", None], "y": ["u", "v", "u", "u"]}
    )
    (((tune, judge),),) = halves_of(Split(tuned_on={"x": "1", "y": "u"}), frame, 0)
    assert tune.tolist() == [True, False, False, False]
    assert judge.tolist() == [False, True, True, True]
    for tuned_on, said in (
        ({"x": "3"}, "no question with x '3'"),
        ({"x": "2", "y": "v"}, "x=2, y=v leaves no question to tune on"),
    ):
        with pytest.raises(UsageError, match=said):
            list(halves_of(Split(tuned_on=tuned_on), frame, 0))
    with refuses(UsageError):
        list(halves_of(Split(tuned_on={"y": "u"}), frame[2:], 0))


def part(right: int, wrong: int, over_all: float, threshold: float | None = 0.5) -> Part:
    numbers: dict[str, int | float | None] = {"right": right, "wrong": wrong}
    own = Standing(score=None, risk=None, coverage=None, numbers=numbers)
    return Part(
        threshold=threshold, tuned_on=9, judged=own, answer_everything=own, risk_over_all=over_all
    )


def test_a_bound_is_kept_where_it_is_met_exactly() -> None:
    parts = [part(9, 1, 0.1), part(8, 2, 0.11), part(0, 0, 0.0, None), part(2, 8, 0.3)]
    found = kept(parts, KeepRisk(0.1))
    assert (found.parts, found.silent, found.seen, found.over_all) == (4, 1, 2, 2)
    # of ten at a risk of 0.1: one or more 0.65, two or more 0.26, eight or more 4e-7
    assert found.refuted == 1
    assert found.chance is None
    assert kept(parts[:1], KeepRisk(0.1)).chance == pytest.approx(1 - 0.9**10)
    by_clusters = kept(parts[:1], KeepRisk(0.1), [True])
    assert (by_clusters.refuted, by_clusters.chance) == (1, None)
    assert kept(parts, KeepRisk(0.1), [False, False, True, True]).refuted == 2


@pytest.mark.parametrize("clustered", [False, True])
def test_joint_counts_of_before_and_after_by_a_loop(clustered: bool) -> None:
    before = np.array([RIGHT, WRONG, RIGHT, WRONG, UE, EXCLUDED, RIGHT], np.uint8)
    after = np.array([RIGHT, UW, UR, WRONG, UE, UW, EXCLUDED], np.uint8)
    clusters = np.array([0, 0, 2, 2, 2, 0, 0])
    found = joint_counts(
        before, after, ab.measure("c@1"), np.array([0, 0, 2, 2, 2, 0, 3]) if clustered else None
    )
    expected = np.zeros((4 if clustered else 1, 9))
    three = {RIGHT: 0, WRONG: 1, UR: 2, UW: 2, UE: 2}
    for one, two, group in zip(before, after, clusters, strict=True):
        if one != EXCLUDED and two != EXCLUDED:
            expected[group if clustered else 0, 3 * three[int(one)] + three[int(two)]] += 1
    np.testing.assert_array_equal(found, expected)


def test_a_tuned_run_by_a_slow_loop() -> None:
    """Tuned on x, judged on y: every number of it from a threshold tried by hand."""
    rows = informed(60, seed=3, levels=10)
    rows[5], rows[40] = ("unanswered_empty", None), ("right", None)
    side = ["x" if i % 3 else "y" for i in range(60)]
    found = read_rows({"a": rows}, half=side).tune(maximise="c@1", tune_on={"half": "x"}).runs[0]

    def c_at_1(some: list[Any], threshold: float) -> float:
        k = slow_counts(some, threshold)
        n, blank = len(some), len(some) - k["right"] - k["wrong"]
        return k["right"] / n * (1 + blank / n)

    tune = [row for row, own in zip(rows, side, strict=True) if own == "x"]
    judge = [row for row, own in zip(rows, side, strict=True) if own == "y"]
    levels = sorted({c for _, c in tune if c is not None}, reverse=True)
    best = max(c_at_1(tune, level) for level in levels)
    lowest = min(level for level in levels if c_at_1(tune, level) == best)
    below = [level for level in levels if level < lowest]
    threshold = (lowest + below[0]) / 2 if below else 0.0
    assert found.threshold == pytest.approx(threshold)
    assert found.judged.score == pytest.approx(c_at_1(judge, threshold))
    assert found.answer_everything.score == pytest.approx(
        sum(o == "right" for o, _ in judge) / 20 * (1 + sum(o[0] == "u" for o, _ in judge) / 20)
    )
    everything = found.answer_everything.score
    assert everything is not None
    assert found.gain == pytest.approx(c_at_1(judge, threshold) - everything)
    assert found.optimism_avoided == pytest.approx(best - c_at_1(judge, threshold))
    shares = []
    for some in (judge, tune):
        k = slow_counts(some, threshold)
        shares.append(k["wrong"] / (k["wrong"] + k["right"]))
    assert found.risk_optimism_avoided == pytest.approx(shares[0] - shares[1])
    sure = {c for _, c in judge if c is not None}
    assert found.best_in_hindsight.score == pytest.approx(max(c_at_1(judge, t) for t in sure))
    assert found.without_confidence == 1
    assert found.parts[0].tuned_on == 40
    low, high = found.gain_interval
    assert None not in (low, high)
    assert low <= found.gain <= high  # type: ignore[operator]


def test_of_a_measure_where_less_is_better_a_gain_is_less() -> None:
    rows = informed(200, seed=8)
    found = read_rows({"a": rows}).tune(maximise="wrong-rate", folds=2).runs[0]
    before, after = found.answer_everything.score, found.judged.score
    assert before is not None
    assert after is not None
    assert found.gain == pytest.approx(before - after)
    assert before > after
    low, high = found.gain_interval
    assert None not in (low, high)
    assert low <= found.gain <= high  # type: ignore[operator]


# ---------------------------------------------------------------------------------------- apply

FRAME = pl.DataFrame(
    {
        "question": ["a", "b", "c", "d"],
        "answer": ["1", "2", "", "4"],
        "candidate": ["", "", "3", ""],
        "confidence": [0.9, 0.5, 0.8, None],
    }
)


@pytest.mark.parametrize(
    ("value", "given", "notes"),
    [
        (
            0.5,
            ["1", "2", "3", ""],
            [
                "1 answer left blank",
                "1 candidate became the answer",
                "1 response has no confidence: left blank",
            ],
        ),
        (
            0.85,
            ["1", "", "", ""],
            [
                "2 answers left blank",
                "0 candidates became the answer",
                "1 response has no confidence: left blank",
            ],
        ),
        (
            math.inf,
            ["", "", "", ""],
            [
                "3 answers left blank",
                "0 candidates became the answer",
                "1 response has no confidence: left blank",
            ],
        ),
    ],
)
def test_what_a_threshold_leaves(value: float, given: list[str], notes: list[str]) -> None:
    found, said = apply_thresholds(FRAME, {"a": Threshold(value)})
    assert found["answer"].to_list() == given
    assert found["answered"].to_list() == ["YES" if own else "NO" for own in given]
    best = ["1", "2", "3", "4"]
    assert found["candidate"].to_list() == [
        "" if own else other for own, other in zip(given, best, strict=True)
    ]
    assert said == notes


def test_a_threshold_of_0_changes_nothing() -> None:
    _, said = apply_thresholds(FRAME[:2].drop("candidate"), {"a": Threshold(0.0)})
    assert said == ["0 answers left blank"]


def test_an_answer_that_was_withheld_is_a_candidate() -> None:
    rows = FRAME[:2].drop("candidate").with_columns(answered=pl.Series(["no", "yes"]))
    found, said = apply_thresholds(rows, {"a": Threshold(0.6)})
    assert found["answer"].to_list() == ["1", ""]
    assert said == ["1 answer left blank", "1 candidate became the answer"]


def test_whose_threshold_applies() -> None:
    rows = FRAME[:2].drop("candidate").with_columns(run=pl.Series(["x", "y"]))
    both = {"x": Threshold(0.95), "y": Threshold(0.5)}
    found, said = apply_thresholds(rows, both)
    assert found["answer"].to_list() == ["", "2"]
    assert said == ["1 answer left blank"]
    found, said = apply_thresholds(rows[1:], {"x": Threshold(0.5)})
    assert said == ["0 answers left blank", "run 'y' uses the threshold of 'x'"]
    with pytest.raises(UsageError, match="no threshold for run 'y'"):
        apply_thresholds(rows, {"x": Threshold(0.5)})
    with refuses(UsageError, "2"):
        apply_thresholds(FRAME, both)
    assert apply_thresholds(rows, both, only="y")[0]["answer"].to_list() == ["2"]


@pytest.mark.parametrize(
    ("sure", "fits"), [("0", True), ("1", True), ("-0.01", False), ("1.01", False)]
)
def test_confidences_are_from_0_to_1(sure: str, fits: bool) -> None:
    rows = pl.DataFrame({"question": ["a"], "answer": ["1"], "confidence": [sure]})
    if fits:
        assert apply_thresholds(rows, {"a": Threshold(0.0)})[0].height == 1
    else:
        with pytest.raises(InputError, match="confidence is"):
            apply_thresholds(rows, {"a": Threshold(0.0)})


def test_slices_by_position_follow_the_order_of_rows() -> None:
    gold = pl.DataFrame(
        {"question": ["a", "b", "c"], "correct": ["1", "2", "3"], "topic": ["x", "y", None]}
    )
    rows = pl.DataFrame({"answer": ["1", "2", "3"], "confidence": [0.6, 0.6, 0.6]})
    threshold = {"r": Threshold(0.7, "topic", {"x": 0.5, "y": 0.65})}
    found, _ = apply_thresholds(rows, threshold, ab.Reading(align="position"), gold=gold)
    assert found["answer"].to_list() == ["1", "", ""]
    named = rows.with_columns(question=pl.Series(["b", "a", "c"]))
    found, _ = apply_thresholds(named, threshold, gold=gold)
    assert found["answer"].to_list() == ["", "2", ""]
    with refuses(InputError, "'z'"):
        apply_thresholds(
            named.with_columns(question=pl.Series(["b", "a", "z"])), threshold, gold=gold
        )
    with refuses(UsageError):
        apply_thresholds(named, threshold)


def test_the_thresholds_of_a_saved_result(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.json"
    path.write_text(saved_thresholds({"run": "a", "threshold": 1}, by="x"), "utf-8")
    assert read_thresholds(path) == {"a": Threshold(1.0, "x")}
    path.write_text(saved_thresholds({"run": "a"}), "utf-8")
    assert read_thresholds(path)["a"].answered(np.array([0.4, 0.5])).tolist() == [False, True]
    path.write_text("{}", "utf-8")
    with refuses(InputError):
        read_thresholds(path)


@pytest.mark.parametrize(("shrink", "threshold"), [(0, math.inf), (0.5, math.inf), (10, 0.0)])
def test_a_slice_borrows_from_the_whole(shrink: float, threshold: float) -> None:
    own = Curve.of(Answers.of([0], [0.5]))
    whole = Curve.of(Answers.of([1] * 10, [0.5] * 10))
    # its one answer is wrong: right − wrong is −1 of its own and 1 for each that it borrows
    assert Maximise(ab.measure("S(t=0.5)")).choose_with(own, whole, shrink) == threshold


def test_clusters_half_of_which_are_wrong_do_not_speak_against_a_risk_of_one_half() -> None:
    wrong, cluster = np.array([1, 1, 1, 1, 0, 0, 0, 0], bool), np.arange(8) // 2
    own = Clustered.of(np.linspace(0.9, 0.2, 8), wrong, cluster)
    assert not KeepClusters(alpha=0.5).spoken_against(own, 0.0)
    many = Clustered.of(np.linspace(0.9, 0.2, 200), np.ones(200, bool), np.arange(200) // 2)
    assert KeepClusters(alpha=0.5).spoken_against(many, 0.0)
    assert not KeepClusters(alpha=0.5).spoken_against(many, 1.0)
