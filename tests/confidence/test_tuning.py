"""Thresholds: the right one is chosen, judged where it had no say, and its bound holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from abstain.analyses.curve.curve import Curve
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.analyses.tune.choose import Maximise, Threshold
from abstain.analyses.tune.split import Split
from abstain.analyses.tune.tuning import _mean_standing, tune_matrix
from abstain.measures.answers import Answers
from abstain.outcomes import OUTCOMES
from tests.confidence.data import Row, informed, matrix_of, slow_counts

level = st.none() | st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
rows = st.lists(st.tuples(st.sampled_from(OUTCOMES), level), min_size=1, max_size=12)


@given(own=rows, name=st.sampled_from(["c@1", "F", "credit(t=0.5)", "under-abstention"]))
def test_no_threshold_does_better(own: list[Row], name: str) -> None:
    matrix, item = matrix_of({"a": own}), ab.measure(name)
    sign = 1 if item.higher_is_better else -1
    chosen = Maximise(item).choose(Curve.of("a", matrix.answers(0)))
    levels = {c for _, c in own if c is not None} | {math.inf}
    every = [item(ab.Counts(**slow_counts(own, t))) for t in levels]
    best = max((sign * s for s in every if not math.isnan(s)), default=math.nan)
    mine = item(ab.Counts(**slow_counts(own, chosen)))
    assert math.isnan(best) or sign * mine == pytest.approx(best)


def test_a_threshold_lies_midway_to_the_next_answer() -> None:
    """0.9 right, 0.5 wrong: between the two; all right: nothing is left blank, new or old."""
    item = Maximise(ab.measure("c@1"))
    assert item.choose(Curve.of("", Answers.of([1, 1, 0, 0], [0.9, 0.9, 0.5, 0.4]))) == 0.7
    assert item.choose(Curve.of("", Answers.of([1, 1], [0.9, 0.5]))) == 0.0


# ---------------------------------------------------------------------------------- judging


def test_cross_fitting_question_by_question() -> None:
    """Each fold is decided with the threshold of the others, found by trying all."""
    rows = informed(60, seed=3, levels=12)
    matrix = matrix_of({"a": rows})
    split = Split(folds=3)
    result = tune_matrix(matrix, split=split, seed=4)
    item = ab.measure("c@1")
    total = dict.fromkeys(OUTCOMES, 0)
    ((*pairs,),) = split.parts(matrix.questions, 4)
    seen = np.zeros(60, int)
    for tune, judge in pairs:
        assert not (tune & judge).any()
        seen += judge
        inside = [r for r, keep in zip(rows, tune, strict=True) if keep]
        levels = sorted({c for _, c in inside if c is not None})
        scores = [item(ab.Counts(**slow_counts(inside, t))) for t in levels]
        at = min(i for i, s in enumerate(scores) if s >= max(scores) - 1e-12)
        best = (levels[at] + levels[at - 1]) / 2 if at else 0.0
        outside = [r for r, keep in zip(rows, judge, strict=True) if keep]
        for name, count in slow_counts(outside, best).items():
            total[name] += count
    assert (seen == 1).all()
    assert result.runs[0].judged.counts == ab.Counts(**total)
    assert result.runs[0].judged.score == item(ab.Counts(**total))


def test_the_order_of_rows_changes_nothing() -> None:
    rows = informed(80, seed=9, levels=10)
    one = matrix_of({"a": rows})
    order = np.random.default_rng(0).permutation(80)
    two = type(one)(
        ["a"], one.questions[order.tolist()], one.outcomes[:, order], one.confidence[:, order]
    )
    for aim in ({"maximise": "c@1"}, {"risk": 0.3}):
        first, second = (tune_matrix(m, split=Split(folds=4), **aim) for m in (one, two))
        assert first.to_dict() == second.to_dict()


def test_noise_is_worth_nothing_and_the_optimism_shows() -> None:
    """Confidence without information: tuned it looks better, judged it is not."""
    draw = np.random.default_rng(0)
    rows: list[Row] = [
        ("right" if r else "wrong", float(c))
        for r, c in zip(draw.random(100) < 0.3, draw.random(100), strict=True)
    ]
    (run,) = tune_matrix(matrix_of({"a": rows}), split=Split(folds=2, repeats=30)).runs
    assert run.optimism > 0.01
    assert run.gain < 0.01
    assert run.tuned > run.everything.score


def test_the_tuned_score_is_no_result() -> None:
    result = tune_matrix(matrix_of({"a": informed(100)}), split=Split(folds=2))
    (run,) = result.runs
    plain = result.to_dict()["results"][0]
    assert plain["optimism_avoided"] == pytest.approx(run.tuned - run.judged.score)
    assert run.tuned not in plain.values()
    assert not any("tuned" in key for key in plain)


def test_information_is_worth_points() -> None:
    (run,) = tune_matrix(matrix_of({"a": informed(1000)}), split=Split(folds=5)).runs
    assert run.gain > 0.1  # c@1 of all: 0.5; answering above t: (1 − t²)/2 · (1 + t)
    assert run.hindsight.score >= run.judged.score - 1e-12
    assert run.threshold.value == pytest.approx(1 / 3, abs=0.1)  # its top, where 1 = 2t + 3t²


# ------------------------------------------------------------------------------- by slice


def sliced() -> tuple[list[Row], list[str]]:
    """In x confidence is the chance of being right, in y it is wrong way up above a half."""
    rows = informed(400, seed=1)
    other: list[Row] = [
        (o, None if c is None else c / 2 + (0.5 if o == "wrong" else 0))
        for o, c in informed(400, 2)
    ]
    return [*rows, *other], ["x"] * 400 + ["y"] * 400


def test_slices_have_thresholds_of_their_own_and_small_ones_borrow() -> None:
    rows, part = sliced()
    matrix = matrix_of({"a": rows}, part=part)
    own = tune_matrix(matrix, per="part", shrink=0, split=Split(folds=2)).runs[0].threshold
    item = Maximise(ab.measure("c@1"))
    for name in ("x", "y"):
        inside = np.array(part) == name
        best = item.choose(Curve.of("", matrix.answers(0, inside)))
        sure = matrix.confidence[0][inside]
        np.testing.assert_array_equal(sure >= own.values[name], sure >= best)
    much = tune_matrix(matrix, per="part", shrink=1e9, split=Split(folds=2)).runs[0].threshold
    assert much.values == {"x": much.value, "y": much.value}


def test_a_slice_never_seen_takes_the_common_threshold() -> None:
    threshold = Threshold(0.5, "part", {"x": 0.9})
    answered = threshold.answered(np.array([0.6, 0.6, np.nan]), ["x", "new", "new"])
    assert answered.tolist() == [False, True, False]
    assert Threshold.from_dict(threshold.to_dict()) == threshold
    silent = Threshold(math.inf)
    assert Threshold.from_dict(silent.to_dict()) == silent
    assert not silent.answered(np.array([1.0])).any()


# ----------------------------------------------------------------------------- edge cases


@pytest.mark.parametrize(
    "own",
    [
        [("right", 0.5)] * 4,
        [("wrong", 0.5)] * 4,
        [("right", 0.1), ("right", 0.9), ("right", 0.5), ("right", 0.4)],
        [("wrong", 0.1), ("wrong", 0.9), ("wrong", 0.5), ("wrong", 0.4)],
        [("right", None), ("wrong", 0.9), ("right", 0.5), ("right", 0.4)],
        [("unanswered_right", 0.3), ("wrong", 0.9), ("unanswered_empty", None), ("right", 1.0)],
    ],
)
def test_equal_all_right_all_wrong_some_missing(own: list[Row]) -> None:
    matrix = matrix_of({"a": own})
    item = ab.measure("c@1")
    for folds in (2, 4):
        (run,) = tune_matrix(matrix, split=Split(folds=folds), risk=0.2).runs
        assert math.isinf(run.threshold.value)  # it takes eleven: 0.8^11 ≤ 0.1 < 0.8^10
        assert (run.judged.counts.n, run.judged.counts.answered) == (4, 0)
        (run,) = tune_matrix(matrix, split=Split(folds=folds)).runs
        assert run.judged.counts.n == 4
        levels = {c for _, c in own if c is not None} | {math.inf}
        best = max(item(ab.Counts(**slow_counts(own, t))) for t in levels)
        at_the_end = ab.Counts(**slow_counts(own, run.threshold.value))
        assert item(at_the_end) == best == run.hindsight.score >= run.judged.score
    if any(c is None and o != "unanswered_empty" for o, c in own):
        notes = tune_matrix(matrix, split=Split(folds=2)).notes
        assert any("1 answer has no confidence" in note for note in notes)


def test_a_mean_over_repeats_exists_only_where_each_score_does() -> None:
    """Two of four right, and nothing answered at all: precision is 1/2 and undefined."""
    item = ab.measure("precision")
    some, none = np.array([2, 2, 0, 0, 0, 0]), np.array([0, 0, 2, 2, 0, 0])
    found = _mean_standing([some, none], item)
    assert math.isnan(found.score)
    assert (found.counts.right, found.counts.unanswered_right) == (1, 1)
    assert _mean_standing([some, np.array([3, 1, 0, 0, 0, 0])], item).score == 0.625


@pytest.mark.parametrize(
    ("own", "arguments", "said"),
    [
        ([("unanswered_empty", 0.5)] * 9, {}, "run 'a' has no answer: there is no threshold"),
        ([("right", None)] * 9, {}, "run 'a' has no confidence: there is no threshold to tune"),
        ([("right", 0.5)], {}, "5 folds of 1 question leave one empty"),
        ([("right", 0.5)] * 9, {"split": Split(folds=1)}, "flatters itself"),
        (
            [("right", 0.5)] * 9,
            {"split": Split(attribute="part", value="dev")},
            "leaves no question to judge on",
        ),
        (
            [("right", 0.5)] * 9,
            {"split": Split(attribute="part", value="dew")},
            "no question has part 'dew' (nearest: dev): nothing to tune on",
        ),
        ([("right", 0.5)] * 9, {"risk": 0.0}, "risk must be between 0 and 1 (got 0)"),
        ([("right", 0.5)] * 9, {"risk": 0.1, "delta": 1.0}, "level must be between 0 and 1"),
        ([("right", 0.5)] * 9, {"risk": 0.1, "maximise": "F"}, "exclude each other"),
        ([("right", 0.5)] * 9, {"next_questions": True}, "next_questions goes with risk"),
        ([("right", 0.5)] * 9, {"risk": 0.1, "per": "part"}, "by goes with measure"),
        ([("right", 0.5)] * 9, {"maximise": "AURC"}, "is a measure of confidence"),
        ([("right", 0.5)] * 9, {"per": "part", "shrink": -1.0}, "shrink is 0 or more"),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    own: list[Row], arguments: dict[str, object], said: str
) -> None:
    matrix = matrix_of({"a": own}, part=["dev"] * len(own))
    with pytest.raises(ab.UsageError) as caught:
        tune_matrix(matrix, **arguments)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_no_confidence_in_the_part_to_tune_on() -> None:
    own: list[Row] = [("right", None)] * 3 + [("right", 0.5)] * 3
    matrix = matrix_of({"a": own}, part=["dev"] * 3 + ["test"] * 3)
    with pytest.raises(ab.UsageError, match="in the part to tune on"):
        tune_matrix(matrix, split=Split(attribute="part", value="dev"))
