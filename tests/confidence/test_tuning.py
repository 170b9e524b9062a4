"""Thresholds: the right one is chosen, judged where it had no say, and its bound holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain as ab
from abstain.features.curve.view import View as CurveView
from abstain.features.tune.analysis import halves_of
from abstain.features.tune.choose import Maximise, Threshold
from abstain.features.tune.result import Split, Standing
from abstain.measures.answers import Answers
from abstain.outcomes import OUTCOMES
from abstain.stats.curves import Curve
from tests.confidence.data import Row, answers, informed, read_rows, slow_counts
from tests.snapshots import refuses, says

level = st.none() | st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
rows = st.lists(st.tuples(st.sampled_from(OUTCOMES), level), min_size=1, max_size=12)


@given(own=rows, name=st.sampled_from(["c@1", "F", "credit(t=0.5)", "under-abstention"]))
def test_no_threshold_does_better(own: list[Row], name: str) -> None:
    item = ab.measure(name)
    sign = 1 if item.higher_is_better else -1
    chosen = Maximise(item).choose(Curve.of(answers(read_rows({"a": own}))))
    levels = {c for _, c in own if c is not None} | {math.inf}
    every = [item(ab.Counts(**slow_counts(own, t))) for t in levels]
    best = max((sign * s for s in every if not math.isnan(s)), default=math.nan)
    mine = item(ab.Counts(**slow_counts(own, chosen)))
    assert math.isnan(best) or sign * mine == pytest.approx(best)


def test_a_threshold_lies_midway_to_the_next_answer() -> None:
    """0.9 right, 0.5 wrong: between the two; all right: nothing is left blank, new or old."""
    item = Maximise(ab.measure("c@1"))
    assert item.choose(Curve.of(Answers.of([1, 1, 0, 0], [0.9, 0.9, 0.5, 0.4]))) == 0.7
    assert item.choose(Curve.of(Answers.of([1, 1], [0.9, 0.5]))) == 0.0


@given(own=rows, name=st.sampled_from(["c@1", "F", "accuracy"]))
def test_equal_thresholds_are_decided_alike_wherever_the_best_is_named(
    own: list[Row], name: str
) -> None:
    """Of several best thresholds the curve, its page and `tune` take that which answers most."""
    sure = [(outcome, 0.0 if level is None else level) for outcome, level in own]
    assume(any(outcome != "unanswered_empty" for outcome, _ in own))
    read = read_rows({"a": sure * 2})  # two folds at least
    curve = read.curve([name])
    (run,), (tuned,) = curve.runs, read.tune(maximise=name, folds=2).runs
    every = [t for _, t in sure] + [math.inf]
    item = ab.measure(name)
    scores = {t: item(ab.Counts(**slow_counts(sure, t))) for t in every}
    best = max((score for score in scores.values() if not math.isnan(score)), default=math.nan)
    if math.isnan(best) or tuned.threshold is None:
        return
    lowest = min(t for t, score in scores.items() if score == pytest.approx(best, abs=1e-12))
    answered = slow_counts(sure, lowest)
    share = (answered["right"] + answered["wrong"]) / len(sure)
    assert run.coverage == pytest.approx(share)
    assert tuned.best_in_hindsight.coverage == pytest.approx(share)
    assert curve.to_frame()["coverage"].to_list() == [run.coverage]
    stated = "all questions" if share == 1 else f"a share of {share:.4f} of the questions"
    assert stated in CurveView(curve).page().lead


def test_runs_that_share_the_best_score_are_all_named() -> None:
    rows = [("right", 0.9), ("wrong", 0.1)]
    page = CurveView(read_rows({"a": rows, "b": rows}).curve(["accuracy"])).page()
    assert page.lead == "In hindsight a, b share the best accuracy 0.5000."


# ---------------------------------------------------------------------------------- judging


def test_cross_fitting_question_by_question() -> None:
    """Each fold is decided with the threshold of the others, found by trying all."""
    rows = informed(60, seed=3, levels=12)
    read = read_rows({"a": rows})
    result = read.tune(folds=3, seed=4)
    item = ab.measure("c@1")
    total = dict.fromkeys(OUTCOMES, 0)
    ((*pairs,),) = halves_of(Split(folds=3, repeats=1), read.questions, 4)
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
    ids = [f"q{i}" for i in range(80)]
    gold = pl.DataFrame({"question": ids, "correct": "a"})
    run = pl.DataFrame(
        {
            "question": ids,
            "answer": ["a" if outcome == "right" else "b" for outcome, _ in rows],
            "confidence": [sure for _, sure in rows],
        }
    )
    order = np.random.default_rng(0).permutation(80).tolist()
    for risk in (None, 0.3):
        first = ab.tune(gold, run, folds=4, risk=risk)
        assert ab.tune(gold[order], run[order[::-1]], folds=4, risk=risk) == first


def test_noise_is_worth_nothing_and_the_optimism_shows() -> None:
    """Confidence without information: tuned it looks better, judged it is not."""
    draw = np.random.default_rng(0)
    rows: list[Row] = [
        ("right" if r else "wrong", float(c))
        for r, c in zip(draw.random(100) < 0.3, draw.random(100), strict=True)
    ]
    (run,) = read_rows({"a": rows}).tune(folds=2, repeats=30).runs
    assert run.optimism_avoided is not None
    assert run.gain is not None
    assert run.optimism_avoided > 0.01
    assert run.gain < 0.01
    assert run.optimism_avoided + run.gain > 0  # tuned, it looks better than answering everything


def test_the_tuned_score_is_no_result() -> None:
    rows = informed(100)
    read = read_rows({"a": rows})
    (run,) = read.tune(folds=2).runs
    ((*pairs,),) = halves_of(Split(folds=2, repeats=1), read.questions, 0)
    total = dict.fromkeys(OUTCOMES, 0)
    for part, (tune, _) in zip(run.parts, pairs, strict=True):
        inside = [row for row, keep in zip(rows, tune, strict=True) if keep]
        for name, count in slow_counts(inside, part.threshold or 0.0).items():
            total[name] += count
    tuned = ab.measure("c@1")(ab.Counts(**total))
    assert run.judged.score is not None
    assert run.optimism_avoided == pytest.approx(tuned - run.judged.score)
    plain = msgspec.to_builtins(run)
    assert tuned not in plain.values()
    assert {key for key in _keys(plain) if "tuned" in key} == {"tuned_on"}  # how many questions


def test_information_is_worth_points() -> None:
    (run,) = read_rows({"a": informed(1000)}).tune(folds=5).runs
    assert run.gain is not None
    assert run.gain > 0.1  # c@1 of all: 0.5; answering above t: (1 − t²)/2 · (1 + t)
    assert (run.best_in_hindsight.score or 0) >= (run.judged.score or 1) - 1e-12
    assert run.threshold == pytest.approx(1 / 3, abs=0.1)  # its top, where 1 = 2t + 3t²


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
    read = read_rows({"a": rows}, part=part)
    own = read.tune(by="part", shrink=0, folds=2).runs[0].thresholds
    item = Maximise(ab.measure("c@1"))
    for name in ("x", "y"):
        inside = np.array(part) == name
        best = item.choose(Curve.of(answers(read, 0, inside)))
        sure = read.data.confidence[0][inside]
        np.testing.assert_array_equal(sure >= (own[name] or 0.0), sure >= best)
    much = read.tune(by="part", shrink=1e9, folds=2).runs[0]
    assert much.thresholds == {"x": much.threshold, "y": much.threshold}


def test_a_slice_never_seen_takes_the_common_threshold() -> None:
    threshold = Threshold(0.5, "part", {"x": 0.9})
    answered = threshold.answered(np.array([0.6, 0.6, np.nan]), ["x", "new", "new"])
    assert answered.tolist() == [False, True, False]
    silent = Threshold(math.inf)
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
    read = read_rows({"a": own})
    item = ab.measure("c@1")
    for folds in (2, 4):
        (run,) = read.tune(folds=folds, risk=0.2).runs
        assert run.threshold is None  # it takes eleven: 0.8^11 ≤ 0.1 < 0.8^10
        assert (run.judged.counts.n, run.judged.counts.answered) == (4, 0)
        (run,) = read.tune(folds=folds).runs
        assert run.judged.counts.n == 4
        levels = {c for _, c in own if c is not None} | {math.inf}
        best = max(item(ab.Counts(**slow_counts(own, t))) for t in levels)
        threshold = math.inf if run.threshold is None else run.threshold
        at_the_end = ab.Counts(**slow_counts(own, threshold))
        assert item(at_the_end) == best == run.best_in_hindsight.score
        assert run.judged.score is not None
        assert best >= run.judged.score
    if any(c is None and o != "unanswered_empty" for o, c in own):
        assert "1 answer has no confidence" in str(read.tune(folds=2))


def test_a_mean_over_repeats_exists_only_where_each_score_does() -> None:
    """Two of four right, and nothing answered at all: precision is 1/2 and undefined."""
    item = ab.measure("precision")
    some, none = np.array([2, 2, 0, 0, 0, 0]), np.array([0, 0, 2, 2, 0, 0])
    found = Standing.mean([some, none], item)
    assert found.score is None
    assert (found.counts.right, found.counts.unanswered_right) == (1, 1)
    assert Standing.mean([some, np.array([3, 1, 0, 0, 0, 0])], item).score == 0.625


@pytest.mark.parametrize(
    ("own", "arguments", "said"),
    [
        ([("unanswered_empty", 0.5)] * 9, {}, ("'a'",)),
        ([("right", None)] * 9, {}, ("'a'",)),
        ([("right", 0.5)], {}, ("5",)),
        ([("right", 0.5)] * 9, {"folds": 1}, ()),
        (
            [("right", 0.5)] * 9,
            {"tune_on": {"part": "dev"}},
            (),
        ),
        (
            [("right", 0.5)] * 9,
            {"tune_on": {"part": "dew"}},
            ("'dew'",),
        ),
        ([("right", 0.5)] * 9, {"risk": 0.0}, ("0", "1")),
        ([("right", 0.5)] * 9, {"risk": 0.1, "level": 1.0}, ("0", "1")),
        ([("right", 0.5)] * 9, {"risk": 0.1, "maximise": "F"}, ()),
        ([("right", 0.5)] * 9, {"next": True}, ()),
        ([("right", 0.5)] * 9, {"risk": 0.1, "by": "part"}, ()),
        ([("right", 0.5)] * 9, {"maximise": "AURC"}, ()),
        ([("right", 0.5)] * 9, {"by": "part", "shrink": -1.0}, ("0",)),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    own: list[Row], arguments: dict[str, object], said: tuple[str, ...]
) -> None:
    read = read_rows({"a": own}, part=["dev"] * len(own))
    with pytest.raises(ab.UsageError) as caught:
        read.tune(**arguments)  # type: ignore[arg-type]
    says(str(caught.value), *said)


def test_no_confidence_in_the_part_to_tune_on() -> None:
    own: list[Row] = [("right", None)] * 3 + [("right", 0.5)] * 3
    read = read_rows({"a": own}, part=["dev"] * 3 + ["test"] * 3)
    with refuses(ab.UsageError):
        read.tune(tune_on={"part": "dev"})


# ------------------------------------------------------------------------ several golds, apply

DEV = pl.DataFrame({"question": ["q1", "q2", "q3"], "correct": "a", "topic": ["x", "x", "y"]})
TEST = pl.DataFrame({"question": ["n1", "n2"], "correct": "a", "topic": ["x", "y"]})
ANSWERS = pl.DataFrame(
    {
        "question": ["q1", "q2", "q3", "n1", "n2"],
        "answer": ["a", "b", "b", "a", "b"],
        "confidence": [0.9, 0.5, 0.1, 0.8, 0.2],
    }
)


def test_of_several_golds_the_first_is_tuned_on() -> None:
    read = ab.read([DEV, TEST], ANSWERS)
    (run,) = read.tune().runs
    assert run.threshold == 0.7  # between the right answer and the surest wrong one
    assert run.judged.counts == ab.Counts(right=1, unanswered_wrong=1)
    assert read.tune() == ab.tune([DEV, TEST], ANSWERS)
    says(str(read.tune()), "2")
    assert read.tune(folds=5).split.folds == 5
    assert [row.slice["gold"] for row in read.score(by="gold").rows] == ["gold", "gold 2"]


def test_golds_that_cannot_be_one_are_refused() -> None:
    with refuses(ab.UsageError, "'n1'", "2", "3"):
        ab.read([DEV, TEST, TEST[:1]], ANSWERS)
    with refuses(ab.InputError):
        ab.read([DEV, TEST.with_columns(gold=pl.lit("z"))], ANSWERS)


def test_thresholds_are_put_to_work_on_a_frame() -> None:
    result = ab.tune([DEV, TEST], ANSWERS)
    applied = result.apply(ANSWERS)
    assert applied["answer"].to_list() == ["a", "", "", "a", ""]
    assert applied["candidate"].to_list() == ["", "b", "b", "", "b"]
    counts = ab.score(TEST, applied.filter(pl.col("question").str.starts_with("n"))).rows[0].counts
    assert counts == result.runs[0].judged.counts


def test_thresholds_by_slice_need_the_slices() -> None:
    result = ab.tune([DEV, TEST], ANSWERS, by="topic", shrink=0)
    assert result.runs[0].thresholds == {"x": 0.7, "y": 0.0}  # nothing in y is right: all score 0
    with pytest.raises(ab.UsageError, match="are per topic"):
        result.apply(ANSWERS)
    new = ANSWERS.filter(pl.col("question").str.starts_with("n"))
    for applied in (
        result.apply(new, gold=TEST),
        result.apply(new.with_columns(topic=TEST["topic"])),
    ):
        assert applied["answer"].to_list() == ["a", "b"]


def _keys(plain: Any) -> Iterator[str]:
    if isinstance(plain, dict):
        yield from plain
    for value in plain.values() if isinstance(plain, dict) else plain:
        if isinstance(value, (dict, list, tuple)):
            yield from _keys(value)


@pytest.mark.parametrize(
    ("silent", "lacks"),
    [([("unanswered_empty", None)] * 40, "answer"), ([("right", None)] * 40, "confidence")],
)
def test_a_run_that_cannot_be_tuned_does_not_stop_the_others(silent: list[Row], lacks: str) -> None:
    sure = informed(40, seed=5)
    result = read_rows({"a": sure, "silent": silent}).tune(folds=2)
    assert result.runs == read_rows({"a": sure}).tune(folds=2).runs
    said = f"run 'silent' has no {lacks}: there is no threshold to tune"
    assert said in result.notes
    assert said.removeprefix("run ") in " ".join(str(result).split())
    alone = read_rows({"a": sure, "silent": silent})
    with pytest.raises(ab.UsageError, match=said):
        alone.tune(folds=2, run="silent")
