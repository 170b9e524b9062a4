"""Bounds over what is not known, at their edges: all ways by a loop, and when not all are tried."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import abstain as ab
from abstain.errors import InputError, UsageError
from abstain.features.compare import judge_errors as bounds
from abstain.features.compare.judge_errors import (
    bounds_of,
    check_drawn,
    correct_for_judge,
    judge_rates,
    lowest_score,
    never_checked,
    read_confusion,
    ways_of_sharing,
)
from abstain.outcomes import Counts
from tests.snapshots import refuses, says


@pytest.mark.parametrize(
    "name", ["accuracy", "c@1", "F", "precision", "qa-performance", "S(t=0.8)"]
)
@pytest.mark.parametrize("unknown", [0, 1, 2, 5])
@pytest.mark.parametrize("known", [(3, 2, 1, 0, 2, 0), (0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0)])
def test_the_worst_and_the_best_of_all_ways(
    name: str, unknown: int, known: tuple[int, ...]
) -> None:
    measure, found = ab.measure(name), []
    for way in product(range(unknown + 1), repeat=5):
        if sum(way) == unknown:
            counts = [a + b for a, b in zip(known, (*way, 0), strict=True)]
            if not measure.why_undefined(Counts.of(counts)):
                found.append(float(measure(Counts.of(counts))))
    low, high = bounds_of(measure, np.array(known, float), unknown)
    if found:
        assert (low, high) == pytest.approx((min(found), max(found)))
    else:
        assert math.isnan(low)
        assert math.isnan(high)


@pytest.mark.parametrize(("total", "parts"), [(0, 3), (1, 3), (4, 3), (3, 5), (2, 1)])
def test_all_ways_of_sharing(total: int, parts: int) -> None:
    ways, step = ways_of_sharing(total, parts)
    assert step == 1
    expected = {w for w in product(range(total + 1), repeat=parts) if sum(w) == total}
    assert {tuple(int(x) for x in row) for row in ways} == expected
    assert len(ways) == len(expected)


@pytest.mark.slow
@pytest.mark.parametrize("total", [5_000, 20_011])
def test_of_very_many_ways_some_are_tried_with_the_corners(total: int) -> None:
    ways, step = ways_of_sharing(total, 3)
    assert step > 1
    assert len(ways) <= 1_000_000
    assert (ways.sum(axis=1) == total).all()
    assert (ways >= 0).all()
    for corner in np.eye(3) * total:
        assert (ways == corner).all(axis=1).any()
    middle = ways[(ways[:, 0] < total) & (ways[:, 1] < total)]
    assert (middle[:, :2] % step == 0).all()


def test_where_not_all_ways_are_tried() -> None:
    """A million ways at most: C(1414, 2) = 998,991 and C(1415, 2) = 1,000,405."""
    assert [ways_of_sharing(n, 3)[1] for n in (1_411, 1_412)] == [1, 2]
    assert [ways_of_sharing(n, 5)[1] for n in (66, 67)] == [1, 2]  # C(71, 4) = 971,635


@pytest.mark.slow
def test_what_lies_between_the_ways_that_are_tried_is_found() -> None:
    # c@1 = r/n · (1 + u/n) of unknown ones alone is largest at r = n: 1, and 0 without right ones
    nothing = np.zeros(6)
    assert bounds_of(ab.measure("c@1"), nothing, 5_001) == pytest.approx((0, 1))
    # with 3,000 right: r = 3000 + x, u = n − r: (r/n)(2 − r/n), largest where all are right
    assert bounds_of(ab.measure("c@1"), np.array([3000.0, 0, 0, 0, 0, 0]), 3_001)[1] == 1


JUDGE = np.array([[40.0, 3, 1], [4, 30, 2], [0, 5, 15]])


@pytest.mark.parametrize("name", ["accuracy", "c@1", "precision"])
def test_a_judges_errors_are_solved_for(name: str) -> None:
    """Shares that the judge would show of known true ones give these back."""
    measure, true = ab.measure(name), np.array([0.5, 0.3, 0.2])
    judged = true @ (JUDGE / JUDGE.sum(axis=1, keepdims=True))
    score, interval = correct_for_judge(measure, judged * 5000, JUDGE)
    expected = float(measure(Counts(right=500, wrong=300, unanswered_empty=200)))
    assert score == pytest.approx(expected)
    assert interval.low < score < interval.high
    # drawn by verdict: each verdict is spread over what was true of it
    spread = judged @ (JUDGE / JUDGE.sum(axis=0)).T
    by_verdict, _ = correct_for_judge(measure, judged * 5000, JUDGE, drawn="verdict")
    counts = Counts(right=spread[0], wrong=spread[1], unanswered_empty=spread[2])
    assert by_verdict == pytest.approx(float(measure(counts)))


def test_a_verdict_that_was_never_checked_stands() -> None:
    judge = JUDGE * [[1], [1], [0]]
    assert never_checked(judge) == ("blank",)
    assert never_checked(JUDGE) == ()
    assert never_checked(JUDGE * [1, 0, 1], "verdict") == ("wrong",)
    # no errors among right and wrong, and blanks at the judge's word: the score as judged
    perfect = np.diag([10.0, 10.0, 0.0])
    score, _ = correct_for_judge(ab.measure("c@1"), np.array([5.0, 3, 2]), perfect)
    assert score == pytest.approx(0.5 * 1.2)


def test_a_judge_that_says_the_same_whatever_is_true_is_useless() -> None:
    with pytest.raises(UsageError, match="useless"):
        correct_for_judge(ab.measure("c@1"), np.array([5.0, 3, 2]), np.full((3, 3), 4.0))
    score, _ = correct_for_judge(
        ab.measure("c@1"), np.array([5.0, 3, 2]), np.full((3, 3), 4.0), drawn="verdict"
    )
    assert score == pytest.approx(1 / 3 * 4 / 3)


@pytest.mark.parametrize(
    ("confusion", "expected"),
    [
        (JUDGE, "random"),
        ([[5, 5, 0], [2, 8, 0], [0, 0, 10]], "truth"),  # ten of each true outcome
        ([[10, 0, 0], [4, 6, 0], [0, 0, 0]], "truth"),  # of those that there are
        ([[10, 3, 0], [0, 0, 0], [0, 0, 0]], "random"),  # one alone says nothing
    ],
)
def test_how_checked_responses_were_drawn(confusion: Any, expected: str) -> None:
    assert check_drawn(None, np.array(confusion, float)) == expected
    assert check_drawn("verdict", np.array(confusion, float)) == "verdict"


def test_as_many_of_each_verdict_are_no_random_sample() -> None:
    with refuses(UsageError, "7"):
        check_drawn(None, np.array([[5.0, 1, 0], [2, 6, 0], [0, 0, 7]]))


def test_confusion_tables_are_read_in_both_shapes(tmp_path: Any) -> None:
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text(
        "true,Correct,wrong,blank\nright,8,1,0\nwrong,2,,3\nunanswered,0,0,4\n", "utf-8"
    )
    rows = "right,right,8\nright,wrong,1\nwrong,right,2\nwrong,blank,3\nblank,blank,4\n"
    long.write_text("true,judged,count\n" + rows, "utf-8")
    expected = [[8, 1, 0], [2, 0, 3], [0, 0, 4]]
    assert read_confusion(wide).tolist() == expected
    assert read_confusion(long).tolist() == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("true,right,wrong\nright,0,0\n", ()),
        ("true,right\nright,1\nright,2\n", ("3",)),
        (
            "true,judged,count\nright,wrong,1\nright,wrong,2\n",
            ("3",),
        ),
        ("true,right\nright,1\nwrong,-1\n", ("3", "'-1'")),
        ("true,right\nright,1.5\n", ("2", "'1.5'")),
        ("true,right\nmaybe,1\n", ("2", "'maybe'")),
        ("true,right,correct\nright,1,1\n", ("right",)),
        ("right,wrong\n1,1\n", ("'true'",)),
        ("true,right,odd\nright,1,1\n", ("'odd'",)),
    ],
)
def test_what_is_wrong_with_a_confusion_table(
    tmp_path: Any, text: str, said: tuple[str, ...]
) -> None:
    path = tmp_path / "judge.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as found:
        read_confusion(path)
    says(str(found.value), *said)


def test_one_response_of_each_verdict_is_no_random_sample_either() -> None:
    with refuses(UsageError, "1"):
        check_drawn(None, np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]]))
    assert check_drawn(None, np.array([[1.0, 0, 0], [0, 2, 0], [0, 1, 0]])) == "random"


def test_one_cluster_is_none_to_a_judges_interval() -> None:
    cells = np.array([50.0, 30, 20])
    plain = correct_for_judge(ab.measure("c@1"), cells, JUDGE)
    assert correct_for_judge(ab.measure("c@1"), cells, JUDGE, clusters=cells[None]) == plain
    two = np.stack([cells * 0.9, cells * 0.1])
    assert correct_for_judge(ab.measure("c@1"), cells, JUDGE, clusters=two)[0] == plain[0]


def test_two_clusters_widen_the_interval_and_one_says_nothing() -> None:
    cells, accuracy = np.array([20.0, 20, 0]), ab.measure("accuracy")
    perfect = np.eye(3) * 50

    def width(clusters: Any) -> float:
        _, interval = correct_for_judge(accuracy, cells, perfect, clusters=clusters, draws=2000)
        assert interval.low is not None
        assert interval.high is not None
        return interval.high - interval.low

    alone = width(None)
    assert width(cells[None]) == alone
    assert width(np.array([[20.0, 0, 0], [0, 20, 0]])) > 1.5 * alone


def test_between_the_ways_that_were_tried_the_lowest_is_looked_for() -> None:
    """From 0 of 10 by steps of 4, of 2, of 1 to where the score is lowest."""
    asked: list[float] = []

    def scores(some: Any) -> Any:
        asked.extend(some[:, 0])
        return (some[:, 0] - 3.0) ** 2

    for step in (1, 2, 3, 4):
        assert lowest_score(scores, np.array([[0.0, 10.0]]), step) == 0
    assert min(asked) >= 0
    assert max(asked) <= 10

    def none(some: Any) -> Any:
        return np.where(some[:, 0] == 2, 0.5, np.nan)

    assert lowest_score(none, np.array([[2.0, 2.0]]), 2) == 0.5
    # where one way alone has a score, the others have no say
    far, middle = np.array([[4.0, 0.0]]), np.array([2.0, 2.0])
    assert lowest_score(lambda s: np.where((s == far).all(axis=1), 0.0, 1.0), middle[None], 2) == 0


@pytest.mark.parametrize(("most", "step"), [(15, 1), (14, 2), (6, 2), (5, 4), (3, 4)])
def test_steps_are_as_small_as_the_limit_allows(
    most: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 3: C(3 + 3, 2) = 15 ways by steps of 1, C(1 + 3, 2) = 6 of 2 or 3, C(3, 2) = 3 of 4."""
    monkeypatch.setattr(bounds, "MOST_WAYS", most)
    assert ways_of_sharing(3, 3)[1] == step


def test_one_checked_response_says_how_the_judge_errs() -> None:
    """One true right answer, called wrong; one wrong, called wrong; blanks were not checked."""
    found = judge_rates(np.array([[0.0, 1, 0], [0, 1, 0], [0, 0, 0]]))
    assert found.tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert judge_rates(np.array([[1.0, 3, 0], [0, 2, 0], [0, 1, 1]])).tolist() == [
        [0.25, 0.75, 0],
        [0, 1, 0],
        [0, 0.5, 0.5],
    ]


def test_a_judges_interval_at_its_level_from_seed_0() -> None:
    cells, accuracy = np.array([50.0, 30, 20]), ab.measure("accuracy")
    plain = correct_for_judge(accuracy, cells, JUDGE)
    assert plain == correct_for_judge(
        accuracy, cells, JUDGE, drawn="random", level=0.95, seed=0, draws=10_000
    )
    narrow = correct_for_judge(accuracy, cells, JUDGE, level=0.5)[1]
    assert plain[1].low < narrow.low < narrow.high < plain[1].high


def test_a_perfect_judge_much_checked_leaves_the_posterior_of_what_was_judged() -> None:
    """Accuracy of 60 right of 100 with ½ of each of three outcomes: Beta(60.5, 41)."""
    found = correct_for_judge(
        ab.measure("accuracy"), np.array([60.0, 30, 10]), np.eye(3) * 1e9, level=0.9
    )[1]
    expected = stats.beta(60.5, 41).ppf([0.05, 0.95])
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.004)


@pytest.mark.parametrize("errs", [0.5 - 1e-7, 0.4])
def test_a_judge_that_hardly_tells_right_from_wrong_is_useless(errs: float) -> None:
    judge = np.array([[1 - errs, errs, 0], [errs, 1 - errs, 0], [0, 0, 1]]) * 1e9
    if errs > 0.4:  # the determinant is 1 − 2·errs
        with pytest.raises(UsageError, match="useless"):
            correct_for_judge(ab.measure("accuracy"), np.array([5.0, 3, 2]), judge)
        return
    score, _ = correct_for_judge(ab.measure("accuracy"), np.array([5.0, 4, 1]), judge)
    assert score == pytest.approx((0.5 - 0.4 * 0.9) / 0.2)  # q = p(1 − e) + (0.9 − p)e


def test_shares_that_chance_pushed_outside_are_brought_back() -> None:
    """All judged right by a judge who calls a tenth of what is wrong right: all are right."""
    judge = np.array([[9.0, 1, 0], [1, 9, 0], [0, 0, 10]])
    assert correct_for_judge(ab.measure("accuracy"), np.array([10.0, 0, 0]), judge)[0] == 1


def test_what_is_rare_is_not_explained_away_by_errors_never_seen() -> None:
    """One wrong of a hundred, by a judge who never erred in 50: the plain posterior's low end."""
    found = correct_for_judge(
        ab.measure("accuracy"), np.array([99.0, 1, 0]), np.eye(3) * 50, level=0.9
    )[1]
    assert found.low <= stats.beta(99.5, 2).ppf(0.05) + 0.002


def test_a_verdict_that_was_never_checked_is_taken_at_its_word_in_the_interval() -> None:
    """Blanks are blanks: Beta(60.5, 41) again; of one that was checked less is sure."""
    cells, accuracy = np.array([60.0, 10, 30]), ab.measure("accuracy")
    found = correct_for_judge(accuracy, cells, np.diag([1e9, 1e9, 0]), level=0.9)[1]
    expected = stats.beta(60.5, 41).ppf([0.05, 0.95])
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.004)
    once = correct_for_judge(accuracy, cells, np.diag([1e9, 1e9, 1]), level=0.9)[1]
    assert once.high - once.low > 1.5 * (found.high - found.low)
