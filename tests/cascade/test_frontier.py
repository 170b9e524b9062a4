"""All rules at once are what each does question by question; APGR and CPT are RouteLLM's."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from abstain.features.cascade.frontier import Stages, first_reaching, linear, routing
from tests.cascade.data import drawn, stages, walked


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_every_rule_is_what_it_does_question_by_question(size: int, seed: int) -> None:
    of = drawn(size, 25, seed)
    every = of.frontier()
    some = np.random.default_rng(seed).permutation(len(every.cost))[:150]
    for number in map(int, some):
        rule = every.rule(number)
        counts, asked = walked(of, rule)
        answered, blank = counts[:2], sum(counts[2:])
        row = every.counts.table[number]
        assert row[:2].tolist() == answered
        assert row[2:].sum() == blank
        assert every.calls[number] == pytest.approx(np.array(asked) / 25)
        costs = range(1, size + 1)
        assert every.cost[number] == pytest.approx(np.dot(asked, list(costs)) / 25)
        assert np.bincount(of.decided(rule), minlength=6).tolist() == counts
        assert of.asked(rule).sum(axis=1).tolist() == asked


def test_two_stages_have_a_rule_for_every_confidence() -> None:
    of = stages([[0, 1, 0, 1], [0, 0, 0, 0]], [[0.9, 0.2, 0.4, 0.4], [1, 1, 1, 1]])
    every = of.frontier()
    assert [every.rule(n)[0] for n in range(len(every.cost))] == pytest.approx(
        [0.0, 0.3, 0.65, math.inf]
    )
    assert every.calls[:, 1].tolist() == [0, 0.25, 0.75, 1]
    assert every.cost.tolist() == [1, 1.5, 2.5, 3]


def test_a_last_threshold_makes_the_last_stage_abstain() -> None:
    of = stages([[0, 1, 1], [0, 0, 1]], [[0.9, 0.2, 0.2], [0.5, 0.8, 0.3]])
    assert of.decided((0.5,)).tolist() == [0, 0, 1]
    assert of.decided((0.5, 0.6)).tolist() == [0, 0, 3]  # its wrong candidate


# ------------------------------------------------------------------------------- RouteLLM


def by_routellm(of: Stages) -> tuple[float, list[float]]:
    """APGR and CPT as evaluate.py computes them, of the accuracy at every share sent on.

    Of shares with the same accuracy the smallest counts: the paper's minimum.
    """
    n = of.codes.shape[1]
    points = []
    for threshold in [*sorted({*of.confidence[0].tolist()}), math.inf]:
        routed = [
            large if sure < threshold else small
            for small, large, sure in zip(*of.codes, of.confidence[0], strict=True)
        ]
        strong = sum(sure < threshold for sure in of.confidence[0])
        points.append((100 * strong / n, sum(code == 0 for code in routed) / n))
    percentage, accuracy = map(list, zip(*sorted(points), strict=True))
    weak, strong = (sum(code == 0 for code in codes) / n for codes in of.codes)

    def area(values: list[float]) -> float:
        pairs = zip(values, values[1:], percentage, percentage[1:], strict=False)
        return float(sum((a + b) / 2 * (q - p) / 100 for a, b, p, q in pairs))

    lowest, highest = area([weak] * len(points)), area([strong] * len(points))
    apgr = (area(accuracy) - lowest) / (highest - lowest)
    wanted = [share * (strong - weak) + weak for share in (0.2, 0.5, 0.8)]
    return apgr, [float(np.interp(w - 1e-9, accuracy, percentage)) / 100 for w in wanted]


def informed(seed: int, questions: int = 60, *, rising: bool = False) -> Stages:
    """Two stages that answer everything; `rising`: no question loses by being sent on."""
    rng = np.random.default_rng(seed)
    small, large = (rng.random(questions) > share for share in (0.4, 0.7))
    large = large & small if rising else large
    sure = np.round(rng.random(questions) * np.where(small, 0.8, 1), 1 if seed % 2 else 6)
    return stages([small.tolist(), large.tolist()], [sure.tolist()] * 2)


@pytest.mark.parametrize("seed", range(8))
def test_apgr_is_routellms(seed: int) -> None:
    of = informed(seed)
    assert routing(of).apgr == pytest.approx(by_routellm(of)[0], abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_cpt_is_routellms_where_the_curve_rises(seed: int) -> None:
    """Elsewhere its np.interp takes points that do not rise; here the first crossing counts."""
    of = informed(seed, rising=True)
    assert list(routing(of).cpt.values()) == pytest.approx(by_routellm(of)[1], abs=1e-6)


def test_cpt_is_the_first_crossing() -> None:
    recovered, sent = np.array([0, 0.6, 0.2, 1.0]), np.array([0, 0.3, 0.6, 1.0])
    assert first_reaching(recovered, sent, 0.3) == pytest.approx(0.15)
    assert first_reaching(recovered, sent, 0.8) == pytest.approx(0.9)
    assert first_reaching(recovered, sent, 1.2) is None


def test_by_hand() -> None:
    """Small is right on two of four, large on all; the two wrong ones are the least sure."""
    of = stages([[0, 0, 1, 1], [0] * 4], [[0.9, 0.8, 0.2, 0.1], [1] * 4])
    found = routing(of)
    assert found.gap == pytest.approx(0.5)
    assert found.apgr == pytest.approx(0.75)  # ½ of a triangle over ½, then all of it
    assert found.cpt == pytest.approx({"0.2": 0.1, "0.5": 0.25, "0.8": 0.4})


def test_no_apgr_where_the_larger_model_is_no_better() -> None:
    found = routing(stages([[0, 1], [1, 0]], [[0.9, 0.1], [1, 1]]))
    assert found.apgr is None
    assert found.cpt == {}
    assert "b does not score better than a" in found.undefined


# ------------------------------------------------------------------------------ intervals


@pytest.mark.parametrize("seed", range(4))
def test_apgr_of_means_is_linear_in_questions(seed: int) -> None:
    """T / γ + ½, by pairs of questions."""
    of = informed(seed)
    gain = [int(a) - int(b) for a, b in zip(*of.codes, strict=True)]
    sure = of.confidence[0].tolist()
    n = len(gain)
    above = [(sum(b > a for b in sure) + sum(b == a for b in sure) / 2) / n for a in sure]
    by_pairs = 0.5 + sum(g * (s - 0.5) for g, s in zip(gain, above, strict=True)) / sum(gain)
    assert linear(of)[0] == pytest.approx(by_pairs, abs=1e-9)
    assert routing(of).apgr == pytest.approx(by_pairs, abs=1e-9)


def test_copies_of_questions_in_clusters_change_nothing() -> None:
    of = informed(0, 240)
    copied = replace(
        of,
        codes=np.repeat(of.codes, 3, axis=1),
        confidence=np.repeat(of.confidence, 3, axis=1),
        clusters=np.repeat(np.arange(240), 3),
    )
    assert linear(copied)[1] == pytest.approx(linear(of)[1], abs=1e-9)
    alone = linear(replace(copied, clusters=None))[1]
    assert alone[1] - alone[0] < 0.7 * (linear(of)[1][1] - linear(of)[1][0])


def test_an_interval_holds_one_half_where_confidence_is_no_guide() -> None:
    """Fieller's interval and the test of ½ agree, whichever they say."""
    verdicts = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sure = rng.random(200)
        small = rng.random(200) > 0.5 + 0.1 * sure
        of = stages([small.tolist(), (rng.random(200) > 0.9).tolist()], [sure.tolist()] * 2)
        _, (low, _), informative = linear(of)
        assert informative == (low > 0.5)
        verdicts.add(informative)
    assert verdicts == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_intervals_of_apgr_cover(slope: float) -> None:
    """P(small is right) = ½ + slope·(sure − ½), large 0.9: APGR = ½ + slope/12 / 0.4."""
    true, inside = 0.5 + slope / 12 / 0.4, 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        sure = rng.random(250)
        small = rng.random(250) > 0.5 + slope * (sure - 0.5)
        of = stages([small.tolist(), (rng.random(250) > 0.9).tolist()], [sure.tolist()] * 2)
        low, high = linear(of)[1]
        inside += low <= true <= high
    assert inside / 400 == pytest.approx(0.95, abs=0.03)


def test_grids_over_several_stages_keep_every_stage() -> None:
    of = drawn(4, 40, 5)
    every = of.frontier()
    assert len(every.cost) == len(list(product(*every.thresholds)))
    assert all(t[0] == 0 and math.isinf(t[-1]) for t in every.thresholds)
