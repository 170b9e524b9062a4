"""Curves against responses decided one by one; reliability, blanks, decomposition."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.features.curve.analysis import decompose, reliability
from abstain.measures.answers import Answers
from abstain.outcomes import OUTCOMES
from abstain.stats.curves import Curve, evenly, top
from tests.confidence.data import Row, answers, curves, informed, read_rows, slow_counts

level = st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
rows = st.lists(st.tuples(st.sampled_from(OUTCOMES), level), min_size=1, max_size=12)


@pytest.mark.slow
@given(own=rows, name=st.sampled_from(["c@1", "F", "credit(t=0.5)", "S(t=0.75)", "coverage"]))
def test_every_point_is_the_run_at_that_threshold(own: list[Row], name: str) -> None:
    (curve,) = curves(read_rows({"a": own}))
    scores = ab.measure(name)(curve.counts)
    for i, threshold in enumerate(curve.thresholds):
        if math.isnan(threshold):
            continue
        counts = slow_counts(own, threshold)
        assert curve.counts[i] == ab.Counts(**counts)
        assert scores[i] == ab.measure(name)(ab.Counts(**counts))


@pytest.mark.slow
@given(own=rows)
def test_the_last_point_answers_everything(own: list[Row]) -> None:
    (curve,) = curves(read_rows({"a": own}))
    can = [o for o, _ in own if o != "unanswered_empty"]
    assert curve.answered[-1] == len(can)
    assert curve.right[-1] == sum(o in ("right", "unanswered_right") for o in can)


@given(own=rows, seed=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_point(own: list[Row], seed: object) -> None:
    shuffled = list(own)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    one, two = curves(read_rows({"a": own, "b": shuffled}))
    for name in ("thresholds", "answered", "right"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_the_best_point_is_the_best_and_answers_most() -> None:
    own: list[Row] = [("right", 0.9), ("wrong", 0.5), ("wrong", 0.4), ("wrong", 0.3)]
    (curve,) = curves(read_rows({"a": own}))
    best = top(ab.measure("c@1")(curve.counts), ab.measure("c@1"))
    assert best is not None
    # 1 right of 4 with 3 blanks: 0.25 · 1.75; any more answers only add wrong ones
    assert ab.measure("c@1")(curve.counts)[best] == pytest.approx(0.25 * 1.75)
    assert curve.thresholds[best] == 0.9
    tie = top(ab.measure("accuracy")(curve.counts), ab.measure("accuracy"))
    assert tie is not None
    assert curve.answered[tie] == 4


def test_a_lower_is_better_measure_has_its_best_point_too() -> None:
    own: list[Row] = [("right", 0.9), ("wrong", 0.1)]
    (curve,) = curves(read_rows({"a": own}))
    best = top(ab.measure("over-abstention")(curve.counts), ab.measure("over-abstention"))
    assert best is not None
    assert curve.answered[best] == 2  # 0 from one answer on; of equal ones that which answers most


def test_thinning_keeps_the_ends() -> None:
    curve = Curve.of(Answers.of(np.ones(1000), np.arange(1000) / 1000))
    kept = evenly(curve.answered, 11)
    assert len(kept) == 11
    assert (kept[0], kept[-1]) == (0, 1000)
    assert len(evenly(curve.answered, 0)) == 1001


@pytest.mark.parametrize("mass", [False, True])
def test_bins_hold_every_answer_once(mass: bool) -> None:
    rows = informed(500, levels=20)
    own = answers(read_rows({"a": rows}))
    bins = reliability(own, 7, mass=mass)
    assert sum(b.answers for b in bins) == 500
    ece: object = ab.measure("ECE-mass(bins=7)" if mass else "ECE(bins=7)")
    gap = sum(b.answers / 500 * abs(b.accuracy - b.confidence) for b in bins)
    assert gap == pytest.approx(ece(own))  # type: ignore[operator]


def test_equal_width_bins_are_closed_on_the_right() -> None:
    bins = reliability(Answers.of([1, 0, 1], [0.0, 0.5, 0.51]), 2)
    assert [(b.low, b.high, b.answers) for b in bins] == [(0, 0.5, 2), (0.5, 1, 1)]


# ------------------------------------------------------------------------------- decomposition


def test_decomposition_by_hand() -> None:
    # 10 questions: 5 right and 1 wrong given, 1 right and 3 wrong candidates behind blanks.
    counts = ab.Counts(right=5, wrong=1, unanswered_right=1, unanswered_wrong=3)
    parts = decompose("as submitted", counts, ab.measure("c@1"))
    assert parts.knowing == pytest.approx(0.6)
    blind = 0.6 * 0.6 * (1 + 0.4)  # 6 of 10 answered, 60 % of them right
    assert parts.silence == pytest.approx(blind - 0.6)
    assert parts.choosing == pytest.approx(0.5 * 1.4 - blind)
    assert parts.left == pytest.approx(0.6 * 1.4 - 0.5 * 1.4)  # answers the 6 it gets right
    added = (parts.knowing, parts.silence, parts.choosing)
    assert sum(own or 0 for own in added) == pytest.approx(parts.score)


def test_blind_blanking_is_what_random_blanks_give_on_average() -> None:
    draw = np.random.default_rng(1)
    right = np.array([1] * 6 + [0] * 4)
    item = ab.measure("c@1")
    scores = []
    for _ in range(4000):
        chosen = draw.permutation(right)[:6]
        hits = int(chosen.sum())
        scores.append(item(ab.Counts(right=hits, wrong=6 - hits, unanswered_empty=4)))
    counts = ab.Counts(right=5, wrong=1, unanswered_right=1, unanswered_wrong=3)
    parts = decompose("as submitted", counts, item)
    assert parts.knowing is not None
    assert parts.silence is not None
    assert np.mean(scores) == pytest.approx(parts.knowing + parts.silence, abs=0.005)


# ----------------------------------------------------------------------- gold, runs and blanks

GOLD = pl.DataFrame(
    {
        "question": ["a", "b", "c", "d", "e"],
        "correct": ["1", "2", "", "1", "3"],
        "trap": ["no", "no", "yes", "no", "no"],
    }
)
RUN = pl.DataFrame(
    {
        "question": ["a", "b", "c", "d", "e"],
        "answer": ["1", "1", "", "", "3"],
        "candidate": ["", "", "7", "1", ""],
        "confidence": [0.9, 0.8, 0.2, 0.4, 0.95],
    }
)


def test_gold_and_run_to_a_curve() -> None:
    result = ab.curve(GOLD, {"r": RUN}, measures=["AUROC", "c@1"])
    (run,) = result.runs
    assert run.points is not None
    assert run.points.thresholds == [math.inf, 0.95, 0.9, 0.8, 0.4, 0.2]
    assert run.points.right == (0, 1, 2, 2, 3, 3)
    # right: .95 .9 .4, wrong: .8 .2; pairs won: 2 + 2 + 1 of 6
    assert run.scores["AUROC"] == pytest.approx(5 / 6)
    assert run.as_submitted == pytest.approx(2 / 5 * (1 + 2 / 5))


def test_judged_rows_and_gold_agree() -> None:
    judged = pl.DataFrame(
        {
            "question": ["a", "b", "c", "d", "e"],
            "outcome": ["right", "wrong", "unanswered_wrong", "unanswered_right", "right"],
            "confidence": RUN["confidence"],
        }
    )
    one = ab.curve(GOLD, {"r": RUN}, decision=True)
    two = ab.read_judged({"r": judged}).curve(decision=True)
    for table in ("risk", "measure", "roc", "reliability", "parts", "decision"):
        assert one.to_frame(table).equals(two.to_frame(table))
    assert one.to_frame("risk").columns[:3] == ["run", "threshold", "coverage"]


def test_a_policy_reaches_the_curve() -> None:
    judged = pl.DataFrame(
        {"question": ["a", "b"], "grade": ["Correct", "Unparseable"], "confidence": [0.9, 0.1]}
    )
    read = ab.read_judged({"r": judged})
    (curve,) = curves(read)
    assert (curve.right[-1], curve.wrong[-1]) == (1, 1)
    (curve,) = curves(read.with_policy(["unparseable=unanswered"]))
    assert (curve.right[-1], curve.wrong[-1], curve.questions) == (1, 0, 2)
    (curve,) = curves(read.with_policy(["unparseable=excluded"]))
    assert (curve.right[-1], curve.questions) == (1, 1)


def test_any_dataframe_will_do() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.from_arrow(RUN.to_arrow())
    for frame in (RUN.to_pandas(), RUN.to_arrow(), RUN.lazy(), relation):
        points = ab.curve(GOLD, {"r": frame}).runs[0].points
        assert points is not None
        assert points.right == (0, 1, 2, 2, 3, 3)
