"""RR', RBP', NDCG' and AP' against the paper's table, its arguments, and slow loops."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures.kinds import RankingMeasure
from abstain.measures.registry import example_measure
from tests.rankings import slow
from tests.rankings.collections_by_hand import rankings_of, values
from tests.snapshots import refuses

Numbers = dict[str, dict[str, float]]
TABLE1 = Path(__file__).parents[1] / "published" / "truncated_rankings_table1.csv"
COLUMNS = {"RR": "RR'", "RBP_p0.5": "RBP'(p=0.5)", "NDCG": "NDCG'", "AP": "AP'"}
PRIMED = tuple(COLUMNS.values())
ROWS = list(csv.DictReader(TABLE1.read_text().splitlines()))


def score(name: str, gains: list[int], pool: int | list[int], *, top: float | None = None) -> float:
    return ab.measure(name)(gains, pool=pool, top=top)


def test_the_table_has_fifty_cells() -> None:
    assert len(ROWS) * (len(COLUMNS) + 1) == 50


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['ranking']} of {row['R']}")
@pytest.mark.parametrize("column", COLUMNS)
def test_the_papers_table(row: dict[str, str], column: str) -> None:
    gains = [int(digit) for digit in row["ranking"]]
    assert round(score(COLUMNS[column], gains, int(row["R"])), 3) == float(row[column])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['ranking']} of {row['R']}")
def test_the_papers_gain_of_the_end(row: dict[str, str]) -> None:
    """It is what RBP' has and RBP has not, weighted by p^d."""
    gains = [int(digit) for digit in row["ranking"]]
    end = score("RBP'(p=0.5)", gains, int(row["R"])) - score("RBP(p=0.5)", gains, int(row["R"]))
    assert round(end / 0.5 ** len(gains), 3) == float(row["rt"])


def test_the_worked_example() -> None:
    assert round(score("NDCG'", [1, 0, 1], 3), 3) == 0.698


bits = st.lists(st.integers(0, 1), max_size=12)
grades = st.lists(st.integers(0, 3), max_size=12)


@pytest.mark.parametrize("name", PRIMED)
@given(ranking=bits, more=st.integers(0, 6), tail=st.integers(1, 4))
def test_what_is_not_relevant_never_helps(
    name: str, ranking: list[int], more: int, tail: int
) -> None:
    pool = sum(ranking) + more
    assert score(name, ranking, pool) >= score(name, ranking + [0] * tail, pool)


@pytest.mark.parametrize("name", PRIMED)
@given(ranking=grades, more=grades, tail=st.integers(1, 4))
def test_nor_with_grades(name: str, ranking: list[int], more: list[int], tail: int) -> None:
    pool = [*ranking, *more]
    short, long = (score(name, each, pool, top=3) for each in (ranking, ranking + [0] * tail))
    assert short >= long - 1e-15


@pytest.mark.parametrize("name", [name for name in PRIMED if name != "RR'"])
@given(ranking=bits.filter(any), more=st.integers(0, 6), tail=st.integers(1, 4))
def test_a_tail_after_something_found_costs(
    name: str, ranking: list[int], more: int, tail: int
) -> None:
    """The paper's "101" above "10100": strictly, but for RR', which looks at the first hit."""
    pool = sum(ranking) + more
    assert score(name, ranking, pool) > score(name, ranking + [0] * tail, pool)


@pytest.mark.parametrize("name", PRIMED)
@given(length=st.integers(0, 50))
def test_with_nothing_to_find_shorter_is_strictly_better(name: str, length: int) -> None:
    assert score(name, [0] * length, 0) > score(name, [0] * (length + 1), 0)


@pytest.mark.parametrize("name", PRIMED)
def test_a_correctly_empty_list_is_perfect(name: str) -> None:
    assert score(name, [], 0) == 1.0


@pytest.mark.parametrize("name", PRIMED)
@given(ranking=bits, more=st.integers(0, 6))
def test_bounds_with_binary_gains(name: str, ranking: list[int], more: int) -> None:
    low, high = ab.measure(f"{name[:-1]}, rel=1)" if "(" in name else f"{name}(rel=1)").bounds
    assert (low, high) == (0, 1)
    assert 0 <= score(name, ranking, sum(ranking) + more) <= 1 + 1e-12


@pytest.mark.parametrize("name", PRIMED)
@given(found=st.integers(1, 12))
def test_all_and_only_what_is_relevant_is_perfect(name: str, found: int) -> None:
    assert score(name, [1] * found, found) == pytest.approx(1.0, abs=1e-15)


def test_graded_ndcg_can_pass_one() -> None:
    """Stopping after one of two documents of the lowest grade: r_t = 1/2 beats a gain of 1/3."""
    assert score("NDCG'", [1], [1, 1], top=3) == pytest.approx(1.193, abs=5e-4)
    assert ab.measure("NDCG'").bounds == (0, float("inf"))


@given(ranking=grades, more=grades, p=st.floats(0.05, 0.95))
def test_slow_loops_agree(ranking: list[int], more: list[int], p: float) -> None:
    pool = sorted([*ranking, *more], reverse=True)
    plain = slow.One([float(g) for g in ranking], [float(g) for g in pool], 3.0)
    for rel in (None, 1, 2):
        inside = "" if rel is None else f"rel={rel}"
        for name, expected in [
            (f"RR'({inside})", slow.reciprocal_rank_t(plain, rel)),
            (f"RBP'(p={p!r}, {inside})", slow.rbp_t(plain, p, rel)),
            (f"NDCG'({inside})", slow.ndcg_t(plain, rel)),
            (f"AP'({inside})", slow.average_precision_t(plain, rel)),
        ]:
            assert score(name, ranking, pool, top=3) == pytest.approx(expected, abs=1e-12)


docs = st.dictionaries(st.sampled_from([*"Aabcdefg", "NIL"]), st.sampled_from([1.0, 2.0, 3.0]))
runs = st.dictionaries(st.sampled_from("123"), docs)
judged = st.dictionaries(st.sampled_from([*"Aabcdefghi", "NIL"]), st.integers(-1, 3), min_size=1)
qrels = st.dictionaries(st.sampled_from("123"), judged, min_size=1)


@given(qrels=qrels, run=runs, limit=st.none() | st.integers(1, 6))
def test_where_lists_end(qrels: Numbers, run: Numbers, limit: int | None) -> None:
    rankings = rankings_of(qrels, run, nil="NIL", limit=limit)
    plain = slow.ones(qrels, run, nil="NIL", limit=limit)
    assert rankings.depth.tolist() == [len(each.grades) for each in plain]
    assert rankings.stopped.tolist() == [each.stopped for each in plain]
    for name, expected in [
        ("RR'", [slow.reciprocal_rank_t(each) for each in plain]),
        ("RBP'(p=0.7)", [slow.rbp_t(each, 0.7) for each in plain]),
        ("NDCG'", [slow.ndcg_t(each) for each in plain]),
        ("AP'", [slow.average_precision_t(each) for each in plain]),
    ]:
        np.testing.assert_allclose(values(name, rankings), expected, atol=1e-12)


@given(qrels=qrels, run=runs, limit=st.none() | st.integers(1, 4))
def test_a_score_is_missing_exactly_where_a_reason_is_given(
    qrels: Numbers, run: Numbers, limit: int | None
) -> None:
    rankings = rankings_of(qrels, run, nil="NIL", limit=limit)
    for name in ab.list_measures("ranking"):
        item = example_measure(name)
        assert isinstance(item, RankingMeasure)
        missing = np.isnan(item.values(rankings)).tolist()
        assert missing == [reason is not None for reason in item.reasons(rankings)]


@given(qrels=qrels, run=runs, limit=st.none() | st.integers(1, 4), answer=st.booleans())
def test_every_measure_stays_in_its_bounds(
    qrels: Numbers, run: Numbers, limit: int | None, answer: bool
) -> None:
    rankings = rankings_of(qrels, run, nil="NIL", limit=limit, nil_as_answer=answer)
    for name in ab.list_measures("ranking"):
        item = example_measure(name)
        assert isinstance(item, RankingMeasure)
        low, high = item.bounds
        scores = item.values(rankings)
        scores = scores[~np.isnan(scores)]
        assert ((scores >= low - 1e-12) & (scores <= high + 1e-12)).all(), name


def test_nil_and_the_limit_case_by_case() -> None:
    qrels = {"q": {"a": 1.0, "b": 1.0}}
    cases: list[tuple[dict[str, float], int | None, int, bool]] = [
        ({"a": 9.0, "NIL": 8.0, "b": 7.0}, None, 1, True),  # cut before the NIL
        ({"NIL": 9.0, "a": 8.0}, 2, 0, True),
        ({"a": 9.0, "x": 8.0}, 3, 2, True),  # shorter than the limit
        ({"a": 9.0, "x": 8.0}, 2, 2, False),  # reaches it
        ({"a": 9.0, "x": 8.0, "b": 7.0}, 2, 2, False),  # what is beyond does not count
        ({"a": 9.0, "x": 8.0, "NIL": 7.0}, 2, 2, False),  # nor a NIL beyond it
        ({"a": 9.0, "NIL": 8.0}, 2, 1, True),
        ({}, 2, 0, True),
    ]
    for run, limit, depth, stopped in cases:
        rankings = rankings_of(qrels, {"q": run}, nil="NIL", limit=limit)
        assert (rankings.depth[0], rankings.stopped[0]) == (depth, stopped)
        assert rankings.returned[0] == len(run)


@given(qrels=qrels, run=runs)
def test_nil_as_trec_2001_answered(qrels: Numbers, run: Numbers) -> None:
    rankings = rankings_of(qrels, run, nil="NIL", nil_as_answer=True)
    plain = slow.ones(qrels, run, nil="NIL", nil_is_answer=True)
    for name, obvious in [
        ("RR", slow.reciprocal_rank),
        ("AP", slow.average_precision),
        ("NDCG", slow.ndcg),
        ("bpref", slow.bpref),
    ]:
        expected = [obvious(each) for each in plain]
        np.testing.assert_allclose(values(name, rankings), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("gains", "pool", "message"),
    [
        ([1, 1], 1, ()),
        ([0.5], 1, ()),
        ([-1], [1], ("0",)),
        ([float("nan")], [1], ()),
        ([2], [1, 1], ()),
        ([1], -1, ()),
        ([1], 1.5, ()),
        ([[1]], 1, ()),
        (["a"], 1, ()),
        ([1], None, ()),
        (ab.Counts(right=1), 1, ()),
    ],
)
def test_impossible_rankings_are_refused(
    gains: list[float], pool: int, message: tuple[str, ...]
) -> None:
    with refuses(ab.UsageError, *message):
        ab.measure("NDCG'")(gains, pool=pool)


def test_a_measure_of_counts_takes_no_ranking() -> None:
    with pytest.raises(ab.UsageError, match="takes only counts"):
        ab.measure("c@1")([1, 0, 1], pool=3)
    with pytest.raises(ab.UsageError, match="takes Counts, such as"):
        ab.measure("c@1")([1, 0, 1])
