"""Where a difference comes from, what is unknown, what a judge's errors do."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import InputError, UsageError
from abstain.features.compare.judge_errors import (
    bounds_of,
    correct_for_judge,
    read_confusion,
)
from abstain.features.compare.result import Origin
from abstain.features.compare.transitions import (
    BLANK_EMPTY,
    RIGHT,
    WRONG,
    origin_of,
    path_gradient,
)
from abstain.runs.gold import Slices
from abstain.stats.delta_method import THREE, one_run
from abstain.stats.intervals import cell_interval
from tests.compare import slow
from tests.measures.reference import REFERENCE
from tests.snapshots import refuses

LETTERS = ("R", "W", "UR", "UW", "UE")
RNG = np.random.default_rng(9)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.RNG", np.random.default_rng(9))


def codes(letters: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.array([LETTERS.index(x) for x in letters], np.uint8)


def moves(measure: ab.Measure, other: Any, own: Any, *slices: Slices) -> Origin:
    return origin_of(measure, other, own, pl.Series(range(len(own))), slices)


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_contributions_add_up_to_the_difference(name: str) -> None:
    one, other = RNG.integers(0, 5, size=(2, 60)).astype(np.uint8)
    found = moves(ab.measure(name), other, one)
    expected = slow.score(name, [LETTERS[i] for i in one]) - slow.score(
        name, [LETTERS[i] for i in other]
    )
    assert sum(found.contributions.values()) == pytest.approx(expected, abs=1e-7)
    cells = found.transitions.values()
    assert sum(cell.worth or 0 for cell in cells) == pytest.approx(expected, abs=1e-7)
    assert found.knowing is not None
    assert found.knowing + (found.abstaining or 0) == pytest.approx(expected, abs=1e-7)
    assert sum(cell.questions for cell in cells) == 60


@pytest.mark.slow
@pytest.mark.parametrize("name", ["precision", "wrong-rate-credit", "validation-F", "F"])
@pytest.mark.parametrize("few", [[RIGHT], [RIGHT, WRONG]])
@pytest.mark.parametrize("size", [300, 10_000])
def test_worths_add_up_where_a_run_answers_next_to_nothing(
    name: str, few: list[int], size: int
) -> None:
    other = np.array(few + [BLANK_EMPTY] * (size - len(few)), np.uint8)
    own = np.array([RIGHT] * (size // 2) + [WRONG] * (size // 2), np.uint8)
    found = moves(ab.measure(name), other, own)
    ends = [slow.score(name, [LETTERS[i] for i in run]) for run in (other, own)]
    assert sum(found.contributions.values()) == pytest.approx(ends[1] - ends[0], abs=1e-7)
    assert found.knowing is None  # nobody knows what most blanks would have been


def test_the_worth_of_a_move_by_an_integral() -> None:
    """Precision R/A: its mean gradient along the way by scipy's adaptive quadrature."""
    from scipy.integrate import quad

    other, own = np.array([1.0, 0, 0, 0, 999]), np.array([500.0, 500, 0, 0, 0])
    found = path_gradient(ab.measure("precision"), other, own)

    def gradient(s: float, kind: int) -> float:
        right, wrong = (1 - s) * other[:2] + s * own[:2]
        return 1000 * float((wrong, -right)[kind] / (right + wrong) ** 2)

    for kind in (RIGHT, WRONG):
        expected = quad(gradient, 0, 1, args=(kind,), points=[1e-3, 1e-2, 0.1], epsabs=1e-10)[0]
        assert found[kind] - found[BLANK_EMPTY] == pytest.approx(expected, rel=1e-5)


def test_transitions_by_hand() -> None:
    """Accuracy: each blank or wrong that becomes right is worth 1/n, and no other move."""
    other = codes(["UE", "W", "R", "UE", "W", "W", "W"])
    own = codes(["R", "R", "R", "W", "UE", "R", "R"])
    found = moves(ab.measure("accuracy"), other, own)
    counts = [cell.questions for cell in found.transitions.values()]
    assert counts == [1, 0, 0, 3, 0, 1, 1, 1, 0]
    assert found.contributions == pytest.approx(dict.fromkeys((0, 1, 5, 6), 1 / 7))
    assert found.knowing == pytest.approx(3 / 7)
    assert found.abstaining == pytest.approx(1 / 7)
    assert found.without_candidate == 3


def test_a_candidate_tells_knowing_from_abstaining() -> None:
    """A right candidate that is given now was known before: all of it is abstaining."""
    given = moves(ab.measure("accuracy"), codes(["UR", "W"]), codes(["R", "W"]))
    assert given.knowing == pytest.approx(0)
    assert given.abstaining == pytest.approx(0.5)
    learnt = moves(ab.measure("accuracy"), codes(["W", "W"]), codes(["R", "W"]))
    assert learnt.knowing == pytest.approx(0.5)
    # From a blank over a wrong candidate to right changes both: half each.
    both = moves(ab.measure("accuracy"), codes(["UW", "W"]), codes(["R", "W"]))
    assert both.knowing == pytest.approx(0.25)
    assert both.without_candidate == 0


def test_slices_add_up_and_simpsons_reversal_is_flagged() -> None:
    """c@1 by hand: B is ahead in each half, and behind in the whole.

    Half x: A 1 right 1 wrong (0.5), B 1 right 1 blank (0.75). Half y: A 0 of 4 right, B 4 blank:
    both 0 there.
    """
    other = codes(["R", "W"] + ["W"] * 4)
    own = codes(["R", "UE"] + ["UE"] * 4)
    part = np.array([0, 0, 1, 1, 1, 1])
    found = moves(ab.measure("c@1"), other, own, Slices("half", ["x", "y"], part))
    slices, reversals = found.slices, found.reversals
    assert sum(s.contribution or 0 for s in slices) == pytest.approx(
        sum(found.contributions.values())
    )
    assert {s.name: s.difference for s in slices} == pytest.approx({"x": 0.25, "y": 0.0})
    assert reversals == ()
    # Precision: 1 of 2 and 8 of 9 against 0 of 1 (blank) … the parts say one thing, the whole
    # another. In x A has 9 of 10, B 1 of 1; in y A has 0 of 1, B 1 of 9.
    other = codes(["R"] * 9 + ["W"] + ["UE"] * 8 + ["W"])
    own = codes(["UE"] * 9 + ["R"] + ["W"] * 8 + ["R"])
    part = np.array([0] * 10 + [1] * 9)
    found = moves(ab.measure("precision"), other, own, Slices("half", ["x", "y"], part))
    slices, reversals = found.slices, found.reversals
    assert {s.name: s.difference for s in slices} == pytest.approx({"x": 0.1, "y": 1 / 9})
    assert sum(found.contributions.values()) == pytest.approx(2 / 10 - 9 / 11, abs=1e-7)
    assert reversals == ("half",)


# ----------------------------------------------------------------------------------- unknown


@pytest.mark.parametrize("name", ["c@1", "precision", "F", "S(t=0.5)", "forced-accuracy"])
def test_bounds_are_those_of_every_way(name: str) -> None:
    known = ["R", "R", "W", "UE"]
    values = [slow.score(name, [*known, *more]) for more in product(LETTERS, repeat=3)]
    found = bounds_of(ab.measure(name), np.array([2.0, 1, 0, 0, 1, 0]), 3)
    assert found == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("known", "unknown"), [([7, 3, 0, 0, 1, 0], 5003), ([1, 0, 0, 0, 0, 0], 50_000)]
)
def test_bounds_between_the_sampled_ways_are_found(known: list[int], unknown: int) -> None:
    """c@1 is largest somewhere in between: right r and blank the rest, for every r there is."""
    n = sum(known) + unknown
    right = np.arange(unknown + 1)
    every = (known[0] + right) / n * (1 + (known[4] + unknown - right) / n)
    _, high = bounds_of(ab.measure("c@1"), np.array(known, float), unknown)
    assert high == pytest.approx(every.max(), abs=1e-12)


@pytest.mark.slow
def test_bounds_with_candidates_between_the_sampled_ways() -> None:
    """estimated-qa-performance is r(1 + x) in shares, x blanks rightly left: every r there is."""
    m, unknown = ab.measure("estimated-qa-performance"), 101
    right = np.arange(unknown + 1)
    every = (3 + right) / 108 * (1 + (4 + unknown - right) / 108)
    low, high = bounds_of(m, np.array([3.0, 0, 0, 4, 0, 0]), unknown)
    assert (low, high) == pytest.approx((3 / 108 * (1 + 4 / 108), every.max()), abs=1e-12)


def test_bounds_without_anything_unknown_are_the_score() -> None:
    low, high = bounds_of(ab.measure("c@1"), np.array([2.0, 1, 0, 0, 1, 0]), 0)
    assert low == high == pytest.approx(2 / 4 * (1 + 1 / 4))


def test_bounds_of_very_many_unknown_keep_the_corners() -> None:
    low, high = bounds_of(ab.measure("accuracy"), np.array([10.0, 0, 0, 0, 0, 0]), 5_000)
    assert low == pytest.approx(10 / 5_010)
    assert high == 1


# -------------------------------------------------------------------------------------- judge


def test_a_judge_that_never_errs_changes_nothing() -> None:
    cells = np.array([50.0, 30, 20])
    score, found = correct_for_judge(ab.measure("c@1"), cells, np.eye(3) * 1000)
    assert score == pytest.approx(0.5 * 1.2)
    assert found.low < score < found.high


def test_the_correction_by_hand() -> None:
    """A judge that calls a tenth of the right wrong: 45 judged right were 50."""
    confusion = np.array([[90.0, 10, 0], [0, 100, 0], [0, 0, 100]])
    score, found = correct_for_judge(ab.measure("accuracy"), np.array([45.0, 35, 20]), confusion)
    assert score == pytest.approx(0.5)
    assert found.low < 0.5 < found.high


@pytest.mark.slow
def test_the_corrected_interval_covers_the_truth() -> None:
    generator = np.random.default_rng(4)
    rates = np.array([[0.8, 0.18, 0.02], [0.05, 0.9, 0.05], [0.02, 0.03, 0.95]])
    true = np.array([0.5, 0.3, 0.2])
    m = ab.measure("c@1")
    value = float(m(THREE.counts(true[None]))[0])
    hits = naive = 0
    for seed in range(300):
        checked = np.stack([generator.multinomial(60, row) for row in rates]).astype(float)
        judged = generator.multinomial(400, true @ rates).astype(float)
        _, found = correct_for_judge(m, judged, checked, seed=seed, draws=1000)
        hits += found.low <= value <= found.high
        plain = cell_interval(one_run(m), judged)
        naive += plain.low <= value <= plain.high
    assert 0.91 <= hits / 300 <= 0.985
    assert naive / 300 < 0.5


@pytest.mark.slow
def test_a_rare_outcome_is_not_explained_away_by_a_judge_that_never_erred() -> None:
    """Twenty of each checked, no error; 2 % right of 5,000: half a verdict is more than that."""
    generator = np.random.default_rng(8)
    true = np.array([0.02, 0.49, 0.49])
    hits = 0
    for seed in range(200):
        judged = generator.multinomial(5000, true).astype(float)
        _, found = correct_for_judge(
            ab.measure("accuracy"), judged, np.eye(3) * 20, seed=seed, draws=1000
        )
        hits += found.low <= 0.02 <= found.high
    assert hits / 200 >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 200)


def test_a_judges_table_is_read_in_both_shapes(tmp_path: object) -> None:
    import polars as pl

    wide = pl.DataFrame(
        {"true": ["right", "wrong", "blank"], "right": [9, 1, 0], "wrong": [1, 8, 0]}
    ).with_columns(blank=pl.Series([0, 1, 7]))
    long = pl.DataFrame(
        {
            "true": ["right", "right", "wrong", "wrong", "wrong", "blank"],
            "judged": ["right", "wrong", "right", "wrong", "blank", "blank"],
            "count": [9, 1, 1, 8, 1, 7],
        }
    )
    assert read_confusion(wide).tolist() == read_confusion(long).tolist()
    with pytest.raises(InputError, match="has no column 'true'"):
        read_confusion(pl.DataFrame({"right": [1]}))
    twice = pl.DataFrame({"true": ["right"], "right": [40], "correct": [0]})
    with refuses(InputError, "right"):
        read_confusion(twice)
    with pytest.raises(InputError, match="'maybe' is not a verdict"):
        read_confusion(pl.DataFrame({"true": ["maybe"], "right": [1]}))
    with pytest.raises(UsageError, match="is useless"):
        correct_for_judge(ab.measure("c@1"), np.ones(3), np.ones((3, 3)))
    assert math.isfinite(correct_for_judge(ab.measure("c@1"), np.ones(3), np.eye(3))[0])


def test_a_correction_knows_clusters() -> None:
    """All right or all wrong by clusters of ten: the interval is that of so few questions."""
    m = ab.measure("accuracy")
    confusion = np.array([[95.0, 5, 0], [5, 95, 0], [0, 0, 50]])
    table = np.array([[10.0, 0, 0], [0, 10, 0]] * 5)
    score, plain = correct_for_judge(m, table.sum(axis=0), confusion)
    again, clustered = correct_for_judge(m, table.sum(axis=0), confusion, clusters=table)
    assert again == score == pytest.approx(0.5)
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)
