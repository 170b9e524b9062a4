"""Which thresholds are tried to keep a risk, by hand, and what clustered answers are worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from abstain.errors import UsageError
from abstain.features.tune.choose import (
    Clustered,
    KeepClusters,
    KeepNext,
    KeepRisk,
    Maximise,
    Threshold,
)
from abstain.measures import measure
from abstain.measures.answers import Answers
from abstain.stats.curves import Curve


def distinct(total: int) -> Curve:
    """As many answers as confidences, all right."""
    return Curve.of(Answers.of(np.ones(total), np.arange(total, 0, -1) / total))


# 0.9^22 = 0.098 ≤ 0.1 < 0.9^21: 22 answers could pass at δ = 0.1, 24 at 0.08, 44 at a tenth of it
# and 51 at a twentieth.
@pytest.mark.parametrize(
    ("total", "begins"),
    [
        (21, []),
        (22, [(0.1, 22)]),
        (23, [(0.1, 23)]),  # 24 could pass whatever share others take, and there are 23
        (50, [(0.1, 25)]),  # half; all are too few to pass with a twentieth
        (60, [(0.095, 30), (0.005, 60)]),
        (131, [(0.095, 65), (0.005, 131)]),
        # three times the fewest; 44 are 1.5 times fewer
        (132, [(0.01, 44), (0.085, 66), (0.005, 132)]),
        (197, [(0.01, 44), (0.085, 66), (0.005, 197)]),  # half, 98, is not 1.5 times more than 66
        (198, [(0.01, 44), (0.08, 66), (0.005, 99), (0.005, 198)]),
        (440, [(0.01, 44), (0.08, 66), (0.005, 220), (0.005, 440)]),
        (450, [(0.09, 66), (0.005, 225), (0.005, 450)]),  # a tenth, 45, is not 1.5 times fewer
        (1000, [(0.09, 100), (0.005, 500), (0.005, 1000)]),  # a tenth
    ],
)
def test_where_a_sequence_begins(total: int, begins: list[tuple[float, int]]) -> None:
    curve = distinct(total)
    found = KeepRisk(0.1, 0.1).sequences(curve)
    assert [int(curve.answered[tried[0]]) for _, tried in found] == [first for _, first in begins]
    assert [delta for delta, _ in found] == pytest.approx([delta for delta, _ in begins])
    assert not found or curve.answered[found[-1][1][-1]] == total


def test_a_hundred_thresholds_are_tried_evenly() -> None:
    curve = distinct(1000)
    tried = np.concatenate([points for _, points in KeepRisk(0.1, 0.1).sequences(curve)])
    assert len(tried) == 100
    assert set(np.diff(curve.answered[tried])) == {9, 10}  # 900 answers in 99 steps


def test_the_level_of_a_kept_risk_is_nine_tenths_unless_said() -> None:
    assert KeepRisk(0.1) == KeepRisk(0.1, delta=0.1)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 1.1])
def test_a_risk_lies_strictly_between_0_and_1(alpha: float) -> None:
    with pytest.raises(UsageError, match="must be between 0 and 1"):
        KeepRisk(alpha)


def test_a_sequence_ends_before_the_first_that_fails() -> None:
    curve, tried = distinct(4), np.array([1, 2, 4])
    last = KeepRisk.last_before_failing
    assert last(curve, tried, np.array([True, True, True])) == 0
    assert last(curve, tried, np.array([True, True, False])) == 0.75  # two answers of 1 and 3/4
    assert last(curve, tried, np.array([True, False, True])) == 1
    assert last(curve, tried, np.array([False, True, True])) == math.inf
    # all that this sequence tries, and there are less sure answers: no reason to answer those
    assert last(curve, tried[:2], np.array([True, True])) == 0.75
    assert last(curve, tried[:0], np.array([], bool)) == math.inf


def test_a_sequence_that_passes_hands_on_its_share() -> None:
    """Of 132 answers the first sequence passes whole, so the second has its δ too."""
    curve, asked = distinct(132), []

    class Asked(KeepRisk):
        def passes(self, curve: Curve, tried: np.ndarray, ahead: object) -> np.ndarray:
            asked.append(round(self.delta, 9))
            return np.full(len(tried), len(asked) != 2)

    assert Asked(0.1, 0.1).choose(curve) == 0  # the third has a share of its own
    assert asked == [0.01, 0.095, 0.005]


def test_a_chance_of_just_delta_passes() -> None:
    # two right answers where the risk is 1/2: a chance of 1/4
    curve, own = distinct(2), Clustered.of(np.array([1, 0.5]), np.zeros(2, bool), np.arange(2))
    assert KeepRisk(0.5, 0.25).choose(curve) == 0
    assert KeepRisk(0.5, 0.2499).choose(curve) == math.inf
    assert KeepClusters(0.5, 0.25).choose(curve, own) == 0
    assert KeepClusters(0.5, 0.2499).choose(curve, own) == math.inf


def test_judged_clusters_speak_against_a_risk_by_the_binomial_test() -> None:
    # clusters of one question: as many independent answers, of which so many are wrong
    for wrong in range(11):
        own = Clustered.of(np.linspace(1, 0.1, 10), np.arange(10) < wrong, np.arange(10))
        against = stats.binom.sf(wrong - 1, 10, 0.3) <= 0.05
        assert KeepClusters(0.3).spoken_against(own, 0.1) == against
        assert not KeepClusters(0.3).spoken_against(own, 1.1)  # nothing is answered
    # only those count whose confidence is at least the threshold: 3 of 3 are wrong, 0.3³ = 0.027
    own = Clustered.of(np.linspace(1, 0.1, 10), np.arange(10) < 3, np.arange(10))
    assert KeepClusters(0.3).spoken_against(own, 0.8)
    assert not KeepClusters(0.3).spoken_against(own, 0.9)  # 2 of 2: 0.09


def test_where_nothing_is_ahead_nothing_can_be_broken() -> None:
    curve = Curve.of(Answers.of(np.arange(40) % 2, np.linspace(1, 0.1, 40)))
    assert KeepNext(0.1, 0.1).choose(curve) == 0
    assert KeepNext(0.1, 0.1).choose(curve, ahead=40) == math.inf


def test_hindsight_takes_a_share_that_is_just_alpha() -> None:
    # right, wrong, right, right, wrong: shares wrong 0, 1/2, 1/3, 1/4, 2/5
    curve = Curve.of(Answers.of([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5]))
    assert KeepRisk(0.25).hindsight(curve) == 0.6
    assert KeepRisk(0.24).hindsight(curve) == 0.9
    assert KeepRisk(0.4).hindsight(curve) == 0.5


@pytest.mark.parametrize(("wrong", "answered"), [(0, 5), (1, 5), (3, 5), (5, 5)])
def test_the_chance_of_so_many_wrong_or_more_is_binomial(wrong: int, answered: int) -> None:
    expected = stats.binom.sf(wrong - 1, answered, 0.3)
    assert KeepRisk(0.3).chance(wrong, answered) == pytest.approx(expected)
    assert KeepRisk(0.3).refuted(wrong, answered) == (expected < 0.05)


def test_the_best_threshold_lies_midway_to_the_next_answer() -> None:
    # c@1 of 4: one answered 1/4·7/4, two 2/4·6/4, three right 3/4·5/4 = 0.9375, all 3/4
    curve = Curve.of(Answers.of([1, 1, 1, 0], [0.9, 0.8, 0.7, 0.2]))
    assert Maximise(measure("c@1")).choose(curve) == pytest.approx(0.45)
    # where blanks earn nothing, everything is answered
    assert Maximise(measure("accuracy")).choose(curve) == 0


@pytest.mark.parametrize("value", [0, 1, 0.5, None])
def test_a_threshold_is_read_back(value: float | None) -> None:
    threshold = Threshold.of(value, None, {})
    assert threshold.value == (math.inf if value is None else value)
    assert threshold.facts == {"threshold": value, "thresholds": {}}


# ---------------------------------------------------------------------------------- clusters


def slow_correlation(clusters: list[list[int]]) -> float:
    """ρ of clusters of answers, 1 a wrong one, on the careful side: as the module says it."""
    answers = sum(map(len, clusters))
    squares = sum(len(own) ** 2 for own in clusters)
    p = sum(map(sum, clusters)) / answers
    groups, size = answers**2 / squares, squares / answers
    off = sum((sum(own) - p * len(own)) ** 2 for own in clusters) * groups / (groups - 1)
    rho = (off - answers * p * (1 - p)) / ((squares - answers) * p * (1 - p))
    rho = min(max(rho, 0.0), 1.0)
    error = (1 - rho) * (1 + (size - 1) * rho)
    error *= math.sqrt(2 / ((groups - 1) * size * (size - 1)))  # Fisher's, for equal sizes
    told = sum(any(own) for own in clusters)
    return (told * min(rho + error, 1) + 1) / (told + 1)


CLUSTERS = [
    [[0, 0, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]],
    [[0, 0], [1, 1], [0, 0, 0, 0], [1, 0], [0, 0, 0]],
    [[1, 0], [0, 1], [1, 0], [0, 0]],
    [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0]],
    [[1, 0], [1, 0]],
    [[1, 1, 0], [0, 1, 0]],
]


def clustered(clusters: list[list[int]]) -> Clustered:
    number = np.repeat(np.arange(len(clusters)), [len(own) for own in clusters])
    wrong = np.array([one for own in clusters for one in own], bool)
    return Clustered.of(np.linspace(1, 0.1, len(wrong)), wrong, number)


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_the_correlation_within_clusters_by_a_loop(clusters: list[list[int]]) -> None:
    own = clustered(clusters)
    answers = np.array([sum(map(len, clusters))])
    assert own.correlation(answers)[0] == pytest.approx(slow_correlation(clusters))


@pytest.mark.parametrize("clusters", CLUSTERS)
@pytest.mark.parametrize("tail", [0.05, 0.1])
def test_what_an_answer_of_a_cluster_is_worth(clusters: list[list[int]], tail: float) -> None:
    sizes = np.array([len(own) for own in clusters])
    total, squares = sizes.sum(), (sizes**2).sum()
    effect = 1 + (squares / total - 1) * slow_correlation(clusters)
    few = (stats.norm.ppf(tail) / stats.t.ppf(tail, total**2 / squares - 1)) ** 2
    found = clustered(clusters).worth(np.array([total]), tail)[0]
    assert found == pytest.approx(few / effect)
    alone = clustered([[one] for own in clusters for one in own])
    assert alone.worth(np.array([total]), tail)[0] == pytest.approx(1)


def test_a_slice_borrows_from_the_whole_as_much_as_it_is_told() -> None:
    """Alone the slice answers only its surest; the whole answers all but its least sure."""
    own = Curve.of(Answers.of([1, 0, 0, 0], [0.9, 0.7, 0.5, 0.3]))
    whole = Curve.of(Answers.of([1, 1, 1, 0] * 5, [0.9, 0.7, 0.5, 0.3] * 5))
    best = Maximise(measure("c@1"))
    # alone: 1/4 · 7/4 = 0.4375 of one answered is best; of the whole 3/4 · 5/4 of three
    assert best.choose(own) == pytest.approx(0.8)
    assert best.choose(whole) == pytest.approx(0.4)
    assert best.choose_with(own, whole, 0) == pytest.approx(0.8)
    assert best.choose_with(own, whole, 1e6) == pytest.approx(0.4)
    # 4 questions' worth of the whole: as many right and wrong as both have together
    both = Curve.of(Answers.of([1, 0, 0, 0, 1, 1, 1, 0], [0.9, 0.7, 0.5, 0.3] * 2))
    assert best.choose_with(own, whole, 4) == pytest.approx(best.choose(both))
