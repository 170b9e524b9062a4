"""Rows of documents laid end to end, against loops over each row; answers, against single ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.errors import UsageError
from abstain.measures import definitions
from abstain.measures.answers import Answers, Groups, Resamples, harmonic_numbers
from abstain.measures.influence import influence_of
from abstain.measures.ranked_lists import DocumentRows, Listed, Pool, Prefixes, RankedLists, one
from abstain.measures.registry import example_measure
from tests.snapshots import refuses

ROWS: list[list[float]] = [[3, 1, 0], [], [2], [1, 1, 0, 0], []]
OFFSETS = np.array([0, 3, 3, 4, 8, 8])
FLAT = np.array([value for row in ROWS for value in row])
OWN = DocumentRows(OFFSETS)


def laid(rows: list[list[float]]) -> list[float]:
    return [value for row in rows for value in row]


def test_rows_one_by_one() -> None:
    assert OWN.size == 5
    assert OWN.row.tolist() == [0, 0, 0, 2, 3, 3, 3, 3]
    assert OWN.count(FLAT > 0).tolist() == [2, 0, 1, 2, 0]
    assert OWN.total(FLAT).tolist() == [4, 0, 2, 2, 0]


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_what_is_added_up_along_each_row(scale: float) -> None:
    weights = FLAT * scale
    rows = [[value * scale for value in row] for row in ROWS]
    sums = [[sum(row[: k + 1]) for k in range(len(row))] for row in rows]
    products = [[math.prod(row[: k + 1]) for k in range(len(row))] for row in rows]
    highest = [[max(row[k:]) for k in range(len(row))] for row in rows]
    assert OWN.running(weights) == pytest.approx(laid(sums))
    assert OWN.product(weights) == pytest.approx(laid(products))
    assert OWN.highest_from(weights) == pytest.approx(laid(highest))


def test_sums_that_doubles_do_not_hold_are_added_row_by_row() -> None:
    """Were the first row in the sum of the second, its 1 would be rounded away."""
    own = DocumentRows(np.array([0, 1, 3]))
    found = own.running(np.array([2.0**53, 1.0, 1.0]))
    assert found.tolist() == [2.0**53, 1, 2]


def test_pools_one_by_one() -> None:
    pool = Pool(OFFSETS, FLAT, top=3)
    assert pool.place.tolist() == [1, 2, 3, 1, 1, 2, 3, 4]
    assert pool.nothing().tolist() == [False, True, False, False, True]
    assert pool.nothing(2).tolist() == [False, True, False, True, True]
    query, length = np.array([0, 0, 0, 3, 3, 2, 1]), np.array([0, 1, 5, 2, 4, 0, 3])
    expected = [sum(ROWS[q][:k]) for q, k in zip(query, length, strict=True)]
    assert pool.total_of_first(FLAT, query, length).tolist() == expected


def test_documents_that_nobody_judged() -> None:
    ranks = [[2, 5, 9], [], [1, 4]]
    own = Listed(np.array([0, 3, 3, 5]), np.array(laid(ranks), np.int64))  # type: ignore[arg-type]
    cut = own.up_to(np.array([5, 3, 0]))
    assert (cut.offsets.tolist(), cut.rank.tolist()) == ([0, 2, 2, 2], [2, 5])
    row = np.repeat(np.arange(3), 11)
    rank = np.tile(np.arange(11), 3)
    before = [sum(r < k for r in ranks[i]) for i, k in zip(row, rank, strict=True)]
    assert own.before(row, rank).tolist() == before
    assert Listed.none(3).before(row, rank).tolist() == [0] * 33
    assert Listed.none(3).size == 3


@pytest.mark.parametrize("length", [1, 2, 4])
def test_prefixes_of_a_list(length: int) -> None:
    gain = np.array([1.0, 0.0, 0.5, 1.0])[:length]
    best = np.array([1.0, 1.0, 0.5])
    graded = Prefixes(gain[None], np.array([2.5]), np.array([3.0]), best[None])
    alike = Prefixes(gain[None], np.array([3.0]), np.array([3.0]))
    assert graded.depth.tolist() == list(range(length + 1))
    assert graded.rank.tolist() == list(range(1, length + 1))
    assert graded.cumulative[0].tolist() == [sum(gain[:d]) for d in range(length + 1)]

    def ideal(gains: list[float], depth: int) -> float:
        return sum(g / math.log2(2 + i) for i, g in enumerate(gains[: depth + 1]))

    for depth in range(length + 1):
        assert graded.ideal[0][depth] == pytest.approx(ideal([1, 1, 0.5], depth))
        assert alike.ideal[0][depth] == pytest.approx(ideal([1, 1, 1], depth))


# --------------------------------------------------------------------------------- one list


def test_one_list_and_its_pool() -> None:
    own = one([0, 2, 0], [1, 2, 0])
    assert own.pool.grade.tolist() == [2, 1, 0, 0]  # two listed are not relevant: judged, each
    assert own.pool.top == 2
    assert (own.depth.tolist(), own.rank.tolist()) == ([3], [1, 2, 3])
    assert (own.stopped.tolist(), own.missing.tolist(), own.nil.tolist()) == (
        [True],
        [False],
        [False],
    )
    assert own.returned.tolist() == [3]
    assert one([0], 0).nil.tolist() == [True]
    assert one([0.5], [0.5]).pool.top == 1
    assert one([0.5], [0.5], top=0.5).pool.top == 0.5
    assert one([2], [2], top=4).pool.top == 4


@pytest.mark.parametrize(
    ("gains", "pool", "top", "said"),
    [
        ([0.5], 1, None, ()),
        ([1, 1], 1, None, ()),
        ([2], [1, 1], None, ()),
        ([2], [2], 1.9, ("2",)),
        ([2], [2], math.inf, ("2",)),
        ([1], -1, None, ()),
        ([-1], 1, None, ("0",)),
        ([[1]], 1, None, ("0",)),
        ([math.inf], 1, None, ("0",)),
    ],
)
def test_lists_that_cannot_be(
    gains: Any, pool: Any, top: float | None, said: tuple[str, ...]
) -> None:
    with refuses(UsageError, *said):
        one(gains, pool, top=top)


def two_runs() -> RankedLists:
    """Two runs over three queries; the ranks tell the rows."""
    rows = [[1], [2, 3], [], [4], [5], [6, 7]]
    lengths = [len(row) for row in rows]
    return RankedLists(
        runs=("a", "b"),
        queries=("x", "y", "z"),
        pool=Pool(np.array([0, 1, 3, 3]), np.array([3.0, 2, 1]), top=3),
        depth=np.array([10, 20, 30, 40, 50, 60]),
        offsets=np.cumsum([0, *lengths]),
        rank=np.array([1, 2, 3, 4, 5, 6, 7]),
        grade=np.array([1.0, 2, 1, 1, 2, 1, 1]),
        missing=np.array([False, False, True, False, False, False]),
        stopped=np.ones(6, bool),
        returned=np.array([11, 21, 31, 41, 51, 61]),
        nil=np.array([False, False, True]),
        sampled=Listed.none(6),
        unjudged=(("q",), ()),
    )


def test_some_runs_and_queries() -> None:
    some = two_runs().only([1], [0, 2])
    assert (some.runs, some.queries) == (("b",), ("x", "z"))
    assert (some.rank.tolist(), some.offsets.tolist()) == ([4, 6, 7], [0, 1, 3])
    assert (some.depth.tolist(), some.returned.tolist()) == ([40, 60], [41, 61])
    assert (some.pool.grade.tolist(), some.pool.offsets.tolist()) == ([3], [0, 1, 1])
    assert (some.nil.tolist(), some.unjudged) == ([False, True], ((),))
    assert two_runs().only([0], [0, 1, 2]).unjudged == (("q",),)


def test_rows_of_runs_and_queries() -> None:
    own = two_runs()
    assert own.query.tolist() == [0, 1, 2, 0, 1, 2]
    assert own.per_row(np.array([1, 2, 3])).tolist() == [1, 2, 3, 1, 2, 3]
    assert own.by_run(own.depth).tolist() == [[10, 20, 30], [40, 50, 60]]
    cut = own.first(np.array([1, 2, 9, 3, 9, 6]))
    assert cut.rank.tolist() == [1, 2, 5, 6]
    assert cut.offsets.tolist() == [0, 1, 2, 2, 2, 3, 4]
    assert cut.depth.tolist() == [1, 2, 9, 3, 9, 6]
    up = own.judged_only()
    assert (up.rank.tolist(), up.depth.tolist()) == ([1, 1, 2, 1, 1, 1, 2], [1, 2, 0, 1, 1, 2])


# ---------------------------------------------------------------------------------- answers

ONE_EACH = [
    name
    for name, own in definitions().items()
    if own.takes == "confidence" and not own.several and name not in ("MRR", "K")
]
"""Measures of one answer a question."""


def test_groups_of_answers_one_by_one() -> None:
    right = np.array([1, 0, 1, 1, 0, 0, 1], bool)
    sure = np.array([0.5, 0.5, 1.0, 0.0, -0.0, np.nan, np.nan])
    own = Groups.of(right, sure)
    assert own.level[:-1].tolist() == [1, 0.5, 0]
    assert math.isnan(own.level[-1])
    assert own.answered.tolist() == [1, 3, 5, 7]
    assert own.right.tolist() == [1, 2, 3, 4]
    assert own.wrong.tolist() == [0, 1, 2, 3]
    assert (own.size, Groups.of([], []).size) == (7, 0)
    assert Groups.of([1], [0.25]).level.tolist() == [0.25]
    assert harmonic_numbers(3) == pytest.approx([0, 1, 1.5, 1.5 + 1 / 3])


@pytest.mark.parametrize("name", ONE_EACH)
def test_resamples_are_answers_written_out(name: str) -> None:
    """A question that is drawn twice is two questions."""
    own: Any = example_measure(name)
    right = np.array([True, False, True, True, False, True])
    sure = np.array([0.9, 0.7, 0.7, 0.4, 0.2, np.nan])
    often = np.array([[1, 2, 0], [1, 0, 3], [1, 1, 0], [1, 3, 1], [1, 1, 2], [1, 0, 0]])
    drawn = Resamples(right, sure, often.sum(axis=0), numbers=often)
    found = own(drawn)
    for column, value in enumerate(found):
        times = often[:, column]
        alone = own(Answers.of(np.repeat(right, times), np.repeat(sure, times)))
        assert value == pytest.approx(float(alone), nan_ok=True), column


SMOOTH = ["AUGRC", "AUROC", "AUPR-success", "AUPR-error", "Pearson-r"]
SMOOTH += ["risk@coverage", "accuracy@coverage"]


@pytest.mark.parametrize("name", SMOOTH)
def test_an_influence_is_the_derivative(name: str) -> None:
    """By how often each answer is there: a difference of both sides, tied answers among them."""
    own: Any = example_measure(name)
    right = np.array([True, True, False, True, False, True, False])
    sure = np.array([0.9, 0.7, 0.7, 0.4, 0.4, 0.2, 0.1])

    def resamples(often: Any) -> Any:
        return Resamples(right, sure, often.sum(axis=0), numbers=often)

    here, step = np.array([[1.5], [1.0], [2.5], [0.5], [1.5], [3.0], [2.0]]), 1e-6
    found, _ = influence_of(own, resamples(here), own(resamples(here)))
    more, fewer = (own(resamples(here + sign * step * np.eye(7))) for sign in (1, -1))
    assert found[:, 0] == pytest.approx((more - fewer) / (2 * step), rel=1e-5, abs=1e-8)


def test_utility_by_hand() -> None:
    """Of 10 documents 3 are relevant; 2 of these and 1 other are listed, 6 others are not."""
    own: Any = ab.measure("Utility(a=2,b=-3,c=-5,d=0.5,n=10)")
    assert own([1, 0, 1], pool=3) == pytest.approx(2 * 2 - 3 * 1 - 5 * 1 + 0.5 * 6)
