"""Thresholds of a few questions by hand: tuned, judged, repeated, clustered, told."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace
from scipy import stats

import abstain as ab
from abstain.errors import InputError, UsageError
from abstain.features.tune import choose
from abstain.features.tune.analysis import (
    Run,
    gain_interval,
    halves_of,
    tuned,
    units_by_id,
)
from abstain.features.tune.apply import apply_thresholds
from abstain.features.tune.choose import (
    Clustered,
    KeepClusters,
    KeepNext,
    KeepRisk,
    Maximise,
    Threshold,
    allowed_wrong,
    chance_of_at_most,
)
from abstain.features.tune.result import Split
from abstain.measures.answers import Answers
from abstain.stats.curves import Curve
from tests.confidence.data import Row, read_rows
from tests.snapshots import refuses

SIX: list[Row] = [
    ("right", 0.9),
    ("wrong", 0.3),
    ("right", 0.8),
    ("wrong", 0.4),
    ("right", 0.7),
    ("wrong", 0.2),
]


def mask(*at: int, of: int = 6) -> Any:
    return np.isin(np.arange(of), at)


def run_of(rows: list[Row], chooser: Any = None, clusters: Any = None, **how: Any) -> Run:
    own = read_rows({"a": rows})
    measure = ab.measure("c@1")
    codes, confidence = own.data.codes[0], own.data.confidence[0]
    chooser = chooser or Maximise(measure)
    return Run("a", codes, confidence, chooser, measure, clusters=clusters, **how)


def test_two_halves_of_six_questions_by_hand() -> None:
    """The first three say 0.8 or more (midway to 0.3: 0.55), the others 0.7 (midway: 0.55)."""
    first, last = mask(0, 1, 2), mask(3, 4, 5)
    found = tuned(run_of(SIX), [[(first, last), (last, first)]])
    assert [part.threshold for part in found.parts] == pytest.approx([0.55, 0.55])
    assert [part.tuned_on for part in found.parts] == [3, 3]
    # with 0.55 the three right ones are answered and the wrong ones are not: 3/6 · (1 + 3/6)
    assert found.judged.score == pytest.approx(0.75)
    assert found.judged.risk == 0
    assert found.judged.coverage == 0.5
    assert found.answer_everything.score == pytest.approx(0.5)
    assert found.as_submitted.score == pytest.approx(0.5)
    assert found.best_in_hindsight.score == pytest.approx(0.75)
    assert found.gain == pytest.approx(0.25)
    assert found.threshold == pytest.approx(0.55)  # all together: midway from 0.7 to 0.4
    # one of three answered right, 1/3 · 5/3, and two of three, 2/3 · 4/3: 3/6 · 9/6 together
    assert found.optimism_avoided == pytest.approx(0)
    assert [part.judged.score for part in found.parts] == pytest.approx([5 / 9, 8 / 9])
    assert [part.risk_over_all for part in found.parts] == [0, 0]


def test_the_same_halves_again_and_again_say_the_same() -> None:
    rows: list[Row] = [*SIX, ("right", 0.25), ("wrong", 0.85), ("right", 0.6), ("right", 0.95)]
    halves = [(mask(0, 1, 2, 3, 4, of=10), mask(5, 6, 7, 8, 9, of=10))]
    halves += [(halves[0][1], halves[0][0])]
    for groups in (None, np.arange(10) // 2):
        once = tuned(run_of(rows, clusters=groups), [halves])
        again = tuned(run_of(rows, clusters=groups), [halves, halves, halves])
        assert again.gain == pytest.approx(once.gain)
        assert again.gain_interval == pytest.approx(once.gain_interval)
        assert again.judged.numbers == pytest.approx(once.judged.numbers)
        assert len(again.parts) == 3 * len(once.parts)
        assert again.threshold == once.threshold


def test_one_part_is_judged_with_the_threshold_that_it_chose() -> None:
    found = tuned(run_of(SIX), [[(mask(0, 3), mask(1, 2, 4, 5))]])
    assert found.threshold == found.parts[0].threshold == pytest.approx(0.65)  # 0.9 to 0.4
    # to use later it is not tuned anew; judged: 2 right, 2 left blank
    assert found.judged.score == pytest.approx(2 / 4 * 6 / 4)


def test_a_risk_over_all_counts_what_was_tuned_on_too() -> None:
    """All six answered: three wrong of the six, one of two judged."""
    own = run_of(SIX, Maximise(ab.measure("accuracy")))
    found = tuned(own, [[(mask(0, 1, 2, 3), mask(4, 5))]])
    assert found.threshold == 0
    assert found.parts[0].risk_over_all == pytest.approx(3 / 6)
    assert found.judged.risk == pytest.approx(1 / 2)
    assert found.risk_optimism_avoided == pytest.approx(0)


def test_answers_without_a_confidence_are_counted() -> None:
    rows: list[Row] = [("right", None), ("wrong", None), *SIX, ("unanswered_empty", None)]
    found = tuned(run_of(rows), [[(mask(0, 2, 3, of=9), mask(1, 4, 5, of=9))]])
    assert found.without_confidence == 2
    for outcome, lacks in (("right", "confidence"), ("unanswered_empty", "answer")):
        with refuses(UsageError, f"{lacks}"):
            tuned(run_of([(outcome, None), (outcome, None)]), [[(mask(0, of=2), mask(1, of=2))]])


def test_tables_of_runs_and_of_their_parts() -> None:
    found = read_rows({"a": SIX, "b": SIX[::-1]}).tune(folds=3)
    whole, parts = found.to_frame(), found.to_frame("parts")
    assert whole["run"].to_list() == ["a", "b"]
    assert parts["run"].to_list() == ["a"] * 3 + ["b"] * 3
    assert parts.columns == ["run", "threshold", "c@1", "answer everything", "risk", "coverage"]
    assert [*whole.columns][4:8] == ["gain", "gain low", "gain high", "optimism"]
    assert parts["c@1"][0] == found.runs[0].parts[0].judged.score
    assert whole["c@1"][0] == found.runs[0].judged.score
    assert found.seed == 0


@pytest.mark.parametrize(("groups", "folds"), [(2, 2), (3, 3), (6, 5)])
def test_there_are_no_more_folds_than_clusters(groups: int, folds: int) -> None:
    names = [f"c{at % groups}" for at in range(6)]
    found = read_rows({"a": SIX}, cluster=names).tune()
    assert found.cluster == "cluster"
    assert found.split.folds == folds
    assert len(found.runs[0].parts) == folds


def test_no_questions_have_no_folds() -> None:
    none = pl.DataFrame({"question": pl.Series([], dtype=pl.String)})
    nobody = np.array([], np.int64)
    assert len(units_by_id(none, nobody)) == 0
    with refuses(UsageError, "5", "0"):
        list(halves_of(Split(), none, 0))
    with refuses(UsageError, "5", "0"):
        list(halves_of(Split(), none, 0, nobody))


def test_clusters_are_in_the_order_of_their_first_ids() -> None:
    ids = pl.DataFrame({"question": ["c", "a", "d", "b"]})
    assert units_by_id(ids, None).tolist() == [2, 0, 3, 1]
    assert units_by_id(ids, np.array([7, 5, 7, 9])).tolist() == [2, 0, 2, 1]


def test_runs_with_thresholds_are_named() -> None:
    rows = pl.DataFrame(
        {"run": ["x", "y"], "question": ["1", "1"], "answer": ["a", "b"], "confidence": [0.5, 0.5]}
    )
    with pytest.raises(UsageError) as caught:
        apply_thresholds(rows, {f"t{at}": Threshold(0.5) for at in range(5)})
    assert str(caught.value).endswith("there are t0, t1, t2, t3, t4")


# -------------------------------------------------------------------------- risks that are kept


@pytest.mark.parametrize("answered", [0, 1, 2, 5])
@pytest.mark.parametrize("risk", [0.0, 0.25, 1.0])
def test_the_chance_of_at_most_so_many_wrong(answered: int, risk: float) -> None:
    for wrong in range(-1, answered + 2):
        expected = 0.0 if wrong < 0 else stats.binom.cdf(wrong, answered, risk)
        found = chance_of_at_most(np.array([wrong]), np.array([answered]), np.array(risk))
        assert found[0] == pytest.approx(expected)


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.5, 0.88, 0.97])
@pytest.mark.parametrize(
    ("answered", "coming", "alpha"),
    [(1, 1, 0.5), (10, 1, 0.5), (40, 20, 0.1), (100, 100, 0.2), (30, 7, 0.3), (60, 0, 0.1)],
)
def test_one_threshold_alone_is_held_to_the_exact_prediction_bound(
    answered: int, coming: int, alpha: float, delta: float
) -> None:
    """With k allowed of those to come: P(beta-binomial(k + 1, coming − k) ≤ m) is at most δ."""
    (found,) = allowed_wrong(np.array([answered]), np.array([coming]), alpha, delta)
    if not coming:
        assert found == answered  # nothing can be broken
        return
    k = math.floor(alpha * coming + 1e-9)
    chances = stats.betabinom.cdf(np.arange(answered + 1), answered, k + 1, coming - k)
    exact = int(np.count_nonzero(chances <= delta)) - 1
    assert found <= exact
    assert found >= exact - 1 - exact // 10  # a sum bounds the integral, not far above it


@pytest.mark.parametrize("delta", [0.1, 0.3])
def test_among_others_a_threshold_may_have_no_more_wrong_answers_than_alone(delta: float) -> None:
    answered, coming = np.array([20, 40, 80]), np.array([10, 20, 40])
    together = allowed_wrong(answered, coming, 0.2, delta)
    alone = [allowed_wrong(answered[k : k + 1], coming[k : k + 1], 0.2, delta)[0] for k in range(3)]
    assert (together <= alone).all()
    assert (together >= np.array(alone) - 3).all()


def test_as_many_questions_to_come_as_are_ahead() -> None:
    """Half are answered at 0.5, so of six ahead three are: as if their curve had three there."""
    sure = np.array([0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
    curve = Curve.of(Answers.of(np.ones(6), sure))
    own, tried = KeepNext(0.4, 0.5), np.array([3, 6])
    assert own.passes(curve, tried, 6).tolist() == own.passes(curve, tried, curve).tolist()
    one = Curve.of(Answers.of([0], [0.5]))
    # one wrong of one, and one to come that must not be wrong
    assert not KeepNext(0.4, 0.5).passes(one, np.array([1]), 1)[0]
    assert KeepNext(0.4, 0.5).passes(one, np.array([1]), 0)[0]


@pytest.mark.parametrize(("significant", "against"), [(0.24, False), (0.25, True), (0.26, True)])
def test_a_chance_of_just_the_level_speaks_against_a_risk(
    significant: float, against: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer, wrong, has a chance of α where the risk is α."""
    monkeypatch.setattr(choose, "SIGNIFICANT", significant)
    assert KeepRisk(0.25).refuted(1, 1) is against
    alone = Clustered.of(np.array([0.5]), np.array([True]), np.array([0]))
    assert KeepClusters(0.25).spoken_against(alone, 0.5) is against
    assert not KeepRisk(0.25).refuted(0, 0)


def test_thresholds_of_slices_are_the_common_one_where_they_have_none() -> None:
    own = Threshold(0.5, "topic", {"x": 0.7})
    sure = np.array([0.6, 0.6, 0.7, 0.5])
    assert own.answered(sure, ["x", "y", "x", "y"]).tolist() == [False, True, True, True]


# ----------------------------------------------------------------------------------- clusters

ODD = [[0, 1], [1, 1], [0], [0, 0], [0], [0, 0, 0], [1]]
"""Clusters of answers, the surest first; 1 is a wrong one."""


def clustered(own: list[list[int]]) -> Clustered:
    number = np.repeat(np.arange(len(own)), [len(each) for each in own])
    wrong = np.array([one for each in own for one in each], bool)
    return Clustered.of(np.linspace(1, 0.1, len(wrong)), wrong, number)


def first_of(own: list[list[int]], answered: int) -> list[list[int]]:
    """The clusters of the surest answers alone."""
    found = []
    for each in own:
        found.append(each[: max(0, answered)])
        answered -= len(each)
    return [each for each in found if each]


def slow_correlation(own: list[list[int]]) -> float:
    """ρ by variances, its error by Fisher, drawn to 1 by a cluster that was not seen."""
    a, w = np.array([len(x) for x in own]), np.array([sum(x) for x in own])
    answers, squares, p = a.sum(), (a**2).sum(), w.sum() / a.sum()
    groups, size = answers**2 / squares, squares / answers
    told = np.count_nonzero(w)
    if groups <= 1 or size <= 1:
        return 1.0
    rho = 0.0
    if 0 < p < 1:
        off = ((w - p * a) ** 2).sum() * groups / (groups - 1)
        rho = (off - answers * p * (1 - p)) / ((squares - answers) * p * (1 - p))
    rho = min(max(float(rho), 0.0), 1.0)
    error = (1 - rho) * (1 + (size - 1) * rho)
    error *= math.sqrt(2 / ((groups - 1) * size * (size - 1)))
    return float((told * min(rho + error, 1) + 1) / (told + 1))


@pytest.mark.parametrize("answered", range(1, 13))
def test_clusters_of_the_surest_answers_by_a_loop(answered: int) -> None:
    """Only where two clusters have a wrong answer is a correlation of their own looked at."""
    own, some = clustered(ODD), first_of(ODD, answered)
    a = np.array([len(x) for x in some])
    at = np.array([answered])
    assert own.groups(at)[0] == pytest.approx(a.sum() ** 2 / (a**2).sum())
    assert own.correlation(at)[0] == pytest.approx(slow_correlation(some))
    every = slow_correlation(ODD)
    rho = max(slow_correlation(some), every) if sum(any(x) for x in some) > 1 else every
    size, groups = (a**2).sum() / a.sum(), a.sum() ** 2 / (a**2).sum()
    few = (stats.norm.ppf(0.1) / stats.t.ppf(0.1, max(groups - 1, 0.1))) ** 2
    expected = few / (1 + (size - 1) * rho) if size > 1 else 1.0
    assert own.worth(at, 0.1)[0] == pytest.approx(expected)


def test_no_answers_are_no_clusters() -> None:
    own = clustered(ODD)
    assert own.groups(np.array([0, 1, 2])).tolist() == [0, 1, 1]
    assert np.isfinite(own.worth(np.array([0]), 0.1)).all()


def test_clusters_speak_against_a_risk_below_their_lower_bound() -> None:
    """Clopper and Pearson's lower end, at 5 %, of as many answers as the clusters are worth."""
    own = clustered([[1, 1], [1, 0], [1, 1], [0, 0], [1, 1], [1, 0], [1, 1], [1, 1]])
    worth = float(own.worth(np.array([16]), 0.05)[0])
    assert worth < 0.9
    bound = stats.beta.ppf(0.05, 12 * worth, 4 * worth + 1)
    assert KeepClusters(bound * 0.999).spoken_against(own, 0.0)
    assert not KeepClusters(bound * 1.001).spoken_against(own, 0.0)


@pytest.mark.parametrize("more", [0, 1])
def test_a_threshold_passes_with_as_many_wrong_answers_as_are_allowed(more: int) -> None:
    allowed = int(allowed_wrong(np.array([40]), np.array([40]), 0.3, 0.2)[0])
    assert allowed > 0
    curve = Curve.of(Answers.of(np.arange(40) >= allowed + more, np.full(40, 0.5)))
    found = KeepNext(0.3, 0.2).passes(curve, np.array([1]), 40)
    assert found.tolist() == [more == 0]


def test_of_two_thresholds_each_is_held_to_its_own_number() -> None:
    answered = np.array([30, 60])
    one, two = (int(x) for x in allowed_wrong(answered, answered, 0.3, 0.2))
    for wrong, passes in (((one, two), [True, True]), ((one, two + 1), [True, False])):
        right = np.ones(60, bool)
        right[: wrong[0]] = False
        right[30 : 30 + wrong[1] - wrong[0]] = False
        curve = Curve.of(Answers.of(right, np.repeat([0.9, 0.5], 30)))
        assert KeepNext(0.3, 0.2).passes(curve, np.array([1, 2]), curve).tolist() == passes


def test_a_gain_without_a_value_has_no_interval() -> None:
    measure = ab.measure("c@1")
    paired = np.array([[5.0, 0, 1, 0, 2, 3, 0, 0, 4]])
    low, high = gain_interval(measure, paired, 0.1, clustered=False)
    assert low is not None
    assert high is not None
    assert low <= 0.1 <= high
    assert gain_interval(measure, paired, None, clustered=False) == (None, None)
    one = np.array([[1.0, 0, 0, 0, 0, 0, 0, 0, 0]])
    assert gain_interval(measure, one, 0.1, clustered=False) == (None, None)
    assert gain_interval(measure, one, None, clustered=False) == (None, None)
    # a cluster without a question is none
    two = np.array([[2.0, 0, 1, 0, 1, 0, 0, 0, 1], [0.0] * 9, [1.0, 0, 0, 0, 0, 2, 0, 0, 1]])
    assert gain_interval(measure, two, 0.1, clustered=True) == gain_interval(
        measure, two[[0, 2]], 0.1, clustered=True
    )


def test_a_gain_far_outside_its_interval_is_still_in_it() -> None:
    paired = np.array([[5.0, 0, 1, 0, 2, 3, 0, 0, 4]])
    plain = gain_interval(ab.measure("c@1"), paired, 0.1, clustered=False)
    assert gain_interval(ab.measure("c@1"), paired, 0.99, clustered=False) == (plain[0], 0.99)
    assert gain_interval(ab.measure("c@1"), paired, -0.99, clustered=False) == (-0.99, plain[1])


def test_the_threshold_to_use_is_for_as_many_questions_as_the_first_part_judges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, Any]] = []

    def threshold(self: Run, where: Any, ahead: Any) -> Threshold:
        asked.append((int(where.sum()), ahead if isinstance(ahead, int) else int(ahead.sum())))
        return Threshold(0.5)

    monkeypatch.setattr(Run, "threshold", threshold)
    halves = [(mask(0, 1), mask(2, 3, 4, 5)), (mask(2, 3, 4, 5), mask(0, 1))]
    tuned(run_of(SIX), [halves])
    assert asked == [(2, 4), (4, 2), (6, 4)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"folds": 1}, ("2",)),
        ({"folds": 2, "repeats": 0}, ("1", "1,000")),
        ({"folds": 2, "tune_on": {"half": "x"}}, ()),
        ({"repeats": 2, "tune_on": {"half": "x"}}, ()),
        ({"shrink": -0.1}, ("0",)),
        ({"shrink": math.inf}, ("0",)),
        ({"risk": 0.2, "by": "half"}, ()),
        ({"risk": 0.2, "maximise": "c@1"}, ()),
        ({"next": True}, ()),
        ({"folds": 7}, ("7",)),
    ],
)
def test_what_cannot_be_asked_for_together(given: dict[str, Any], said: tuple[str, ...]) -> None:
    own = read_rows({"a": SIX}, half=["x", "y"] * 3)
    with refuses(UsageError, *said):
        own.tune(**given)


def test_what_may_be_asked_for() -> None:
    own = read_rows({"a": SIX}, half=["x", "y"] * 3)
    assert own.tune(folds=2).split.folds == 2
    assert own.tune(tune_on={"half": "x"}, repeats=1).split.tuned_on == {"half": "x"}
    by = own.tune(folds=2, by="half", shrink=0)
    assert (by.by, by.shrink) == ("half", 0)
    assert own.tune(folds=2).shrink is None
    kept = own.tune(folds=2, risk=0.5)
    assert kept.fewest == 4  # 0.5⁴ = 0.06 ≤ 0.1 < 0.5³
    assert kept.aim.level == 0.9
    assert own.tune(folds=2, risk=0.5, level=0.75).fewest == 2
    assert own.tune(folds=2, by="half").shrink == 50


def test_what_is_as_usual_is_not_written_down() -> None:
    plain = read_rows({"a": SIX}).tune(folds=2).to_dict()
    assert "seed" not in plain  # 0
    assert "without_confidence" not in plain["results"][0]  # none
    assert plain["split"] == {"folds": 2, "repeats": 1}


@pytest.mark.parametrize("own", [[[1, 1], [0]], [[1], [0, 0]], [[1, 1, 1], [0, 0]]])
def test_a_correlation_is_at_most_1(own: list[list[int]]) -> None:
    """All of a cluster are right or all are wrong: the estimate is above 1, and taken for 1."""
    answers = np.array([sum(map(len, own))])
    assert clustered(own).correlation(answers)[0] == pytest.approx(1)


@pytest.mark.parametrize(
    ("value", "fits"), [(0.0, True), (1.0, True), (None, True), (-0.01, False), (1.01, False)]
)
def test_saved_thresholds_are_from_0_to_1(tmp_path: Path, value: float | None, fits: bool) -> None:
    result = read_rows({"a": SIX}).tune(folds=2)
    for change in ({"threshold": value}, {"thresholds": {"x": value}}):
        runs = (replace(result.runs[0], **change),)
        changed = replace(result, by="part", shrink=50.0, runs=runs)
        changed.to_json(tmp_path / "t.json")
        if fits:
            assert ab.load(tmp_path / "t.json") == changed
            continue
        with pytest.raises(InputError, match="is not a complete result"):
            ab.load(tmp_path / "t.json")
    for empty in (
        replace(result, runs=(replace(result.runs[0], parts=()),)),
        replace(result, runs=()),
    ):
        empty.to_json(tmp_path / "t.json")
        with pytest.raises(InputError, match="is not a complete result"):
            ab.load(tmp_path / "t.json")
