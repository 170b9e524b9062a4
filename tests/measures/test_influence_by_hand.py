"""How much an answer moves a measure of confidence, against loops over answers and groups."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.errors import UsageError
from abstain.measures.answers import Answers, Resamples
from abstain.measures.influence import influence_of
from tests.snapshots import refuses

RIGHT = np.array([True, False, True, True, False, True, False, True])
SURE = np.array([0.9, 0.9, 0.7, 0.5, 0.5, 0.5, 0.2, np.nan])
OFTEN = np.array(
    [[1, 0, 2], [1, 0, 0], [1, 2, 0], [1, 0, 3], [1, 0, 1], [1, 1, 0], [1, 1, 2], [1, 1, 0]]
)


def resamples(**more: Any) -> Resamples:
    return Resamples(RIGHT, SURE, OFTEN.sum(axis=0), numbers=OFTEN, **more)


def levels(times: Any, marked: Any) -> list[tuple[Any, int, int]]:
    """Of each confidence from the surest down: its answers, how many there are, how many marked."""
    groups = [np.array([0, 1]), np.array([2]), np.array([3, 4, 5]), np.array([6]), np.array([7])]
    return [(own, int(times[own].sum()), int((times * marked)[own].sum())) for own in groups]


def added_by_one_more(times: Any, marked: Any) -> dict[int, float]:
    """What one more answer adds to Σ_i X(i)/i, a group as the integral over it with its middle.

    It adds X/i at its own place i and takes X/j² at every later j, half of its own group among
    these; one that is marked adds 1/j there.
    """
    place, found = 0.0, 0.0
    spans = []
    for own, size, some in levels(times, marked):
        spans.append((own, size, place + size / 2, found + some / 2))
        place, found = place + size, found + some
    moved = {}
    for at, (own, _, middle, share) in enumerate(spans):
        if not middle:
            continue
        later = [
            ((0.5 if k == at else 1.0) * size, j, x)
            for k, (_, size, j, x) in enumerate(spans)
            if k >= at and size
        ]
        for answer in own:
            moved[int(answer)] = share / middle - sum(m * x / j**2 for m, j, x in later)
            moved[int(answer)] += sum(m / j for m, j, _ in later) * marked[answer]
    return moved


@pytest.mark.parametrize("column", range(3))
def test_one_more_answer_moves_aurc_and_cws_as_the_sums_say(column: int) -> None:
    own, times = resamples(), OFTEN[:, column]
    size = times.sum()
    for name, marked, lost in (("AURC", ~RIGHT, 1), ("CWS", RIGHT, 0)):
        item: Any = ab.measure(name)
        value = item(own)
        found, question = influence_of(item, own, value)
        for answer, moved in added_by_one_more(times, marked).items():
            expected = moved / size - lost * value[column] / size
            assert found[answer, column] == pytest.approx(expected), (name, answer)
        asked = np.broadcast_to(question, 3)[column]
        assert asked == pytest.approx((lost - 1) * value[column] / size)


def test_candidates_behind_blanks_move_no_measure_of_what_was_handed_in() -> None:
    given = np.array([True, True, False, True, True, False, True, True])
    times = OFTEN * given[:, None]
    item: Any = ab.measure("CWS")
    own, without = (
        resamples(submitted=given),
        Resamples(RIGHT, SURE, OFTEN.sum(axis=0), numbers=times),
    )
    found, question = influence_of(item, own, item(own))
    expected, also = influence_of(item, without, item(without))
    assert item(own) == pytest.approx(item(without))
    assert found[given] == pytest.approx(expected[given])
    assert not found[~given].any()
    assert question == pytest.approx(also)


def left_out(name: str, right: Any, sure: Any, answer: int) -> float:
    """(N − 1)/N of what leaving an answer out takes; nothing where no value is left."""
    item: Any = ab.measure(name)
    rest = [i for i in range(len(right)) if i != answer]
    if not rest:
        return 0.0
    without = item(Answers.of(right[rest], sure[rest]))
    lost = item(Answers.of(right, sure)) - without
    return 0.0 if math.isnan(lost) else lost * len(rest) / len(right)


@pytest.mark.parametrize("name", ["E-AURC", "PRR"])
def test_what_leaving_out_one_of_a_few_answers_takes(name: str) -> None:
    """All verdicts of up to three answers, tied in every way."""
    item: Any = ab.measure(name)
    for size in (1, 2, 3):
        ties = product((True, False), repeat=size - 1)
        for right, tied in product(product((True, False), repeat=size), ties):
            verdict = np.array(right)
            sure = 0.9 - 0.1 * np.cumsum([0, *tied])
            once = np.ones((size, 1), np.int64)
            own = Resamples(verdict, sure, np.array([size]), numbers=once)
            value = item(own)
            if np.isnan(value).any():
                continue
            found = influence_of(item, own, value)[0][:, 0]
            expected = [left_out(name, verdict, sure, i) for i in range(size)]
            assert found == pytest.approx(expected, abs=1e-12), (right, tied)


@pytest.mark.parametrize("name", ["E-AURC", "PRR"])
@pytest.mark.parametrize("column", range(3))
def test_what_leaving_out_one_of_a_resample_takes(name: str, column: int) -> None:
    item: Any = ab.measure(name)
    own, times = resamples(), OFTEN[:, column]
    right, sure = np.repeat(RIGHT, times), np.repeat(SURE, times)
    found = influence_of(item, own, item(own))[0][:, column]
    for answer in np.flatnonzero(times):
        place = int(times[:answer].sum())
        expected = left_out(name, right, sure, place)
        assert found[answer] == pytest.approx(expected, abs=1e-12), answer


def test_nothing_is_lost_with_the_only_right_answer_among_many_wrong_ones() -> None:
    """Without it PRR does not exist, however the sums are rounded."""
    item: Any = ab.measure("PRR")
    for wrong in range(1, 40):
        right = np.arange(wrong + 1) == 0
        sure = np.linspace(0.9, 0.1, wrong + 1)
        once = np.ones((wrong + 1, 1), np.int64)
        for verdict in (right, right[::-1]):
            own = Resamples(verdict, sure, np.array([wrong + 1]), numbers=once)
            found = influence_of(item, own, item(own))[0][:, 0]
            assert found[verdict].tolist() == [0]


SMOOTH = ["AUGRC", "AUROC", "AUPR-success", "AUPR-error", "Pearson-r"]


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize(
    "ties", [(0, 0, 0, 1, 1), (0, 1, 1, 2, 3), (0, 0, 1, 1, 1), (0, 1, 2, 3, 3)]
)
def test_the_derivative_wherever_answers_are_tied(name: str, ties: tuple[int, ...]) -> None:
    """By how often an answer is there: half a difference of one step up and one step down."""
    item: Any = ab.measure(name)
    right, sure = np.array([True, False, True, False, True]), 0.9 - 0.2 * np.array(ties)
    often, step = np.array([2.5, 2.0, 0.5, 1.5, 3.0]), 1e-6

    def own(numbers: Any) -> Any:
        return Resamples(right, sure, numbers.sum(axis=0), numbers=numbers)

    here = own(often[:, None])
    found, _ = influence_of(item, here, item(here))
    up, down = (item(own(often[:, None] + sign * step * np.eye(5))) for sign in (1, -1))
    assert found[:, 0] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-7)


def test_a_correlation_of_confidences_that_hardly_differ() -> None:
    """It is that of 3, 2, 1 and 0 with being right, 2/√5, wherever these lie."""
    item: Any = ab.measure("Pearson-r")
    right, places = np.array([True, True, False, False]), np.array([3, 2, 1, 0])
    once = np.ones((4, 1), np.int64)
    found = []
    for low, step in ((0.5, 1e-9), (0.1, 0.25)):
        sure = low + step * places
        assert item(right, sure) == pytest.approx(2 / math.sqrt(5), rel=1e-5)
        own = Resamples(right, sure, np.array([4]), numbers=once)
        found.append(influence_of(item, own, item(own))[0][:, 0])
    assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_a_resample_with_one_confidence_has_no_correlation() -> None:
    right, sure = np.array([True, False, True, False]), np.array([0.9, 0.9, 0.5, 0.2])
    numbers = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 1, 2, 0], [0, 0, 0, 3]])
    own = Resamples(right, sure, numbers.sum(axis=0), numbers=numbers)
    assert own.all_alike().tolist() == [True, False, True, True]
    item: Any = ab.measure("Pearson-r")
    assert np.isnan(item(own)).tolist() == [True, False, True, True]


def test_an_influence_that_nobody_knows() -> None:
    with refuses(UsageError):
        influence_of(ab.measure("ECE"), resamples(), np.zeros(3))
