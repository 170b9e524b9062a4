"""Rows in any order and any batches give the same ranks, whatever the hashes are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.rankings import collector, judgments
from abstain.rankings.collector import by_code, by_score
from abstain.rankings.judgments import Codes, Keys
from abstain.rankings.tables import RankedTable
from tests.rankings import slow
from tests.rankings.collections_by_hand import frames, opened, rankings_of, values

documents = ["NIL", "A0", *(f"d{i}" for i in range(10))]
"""Ids on both sides of NIL."""
docs = st.dictionaries(st.sampled_from(documents), st.sampled_from([1.0, 2.0, 3.5]), min_size=1)
runs = st.dictionaries(st.sampled_from("123456"), docs, min_size=1)
judged = st.dictionaries(st.sampled_from(documents), st.integers(-1, 3), min_size=1)
golds = st.dictionaries(st.sampled_from("12347"), judged, min_size=1)
Numbers = dict[str, dict[str, float]]


def in_batches(monkeypatch: pytest.MonkeyPatch, order: Sequence[int], sizes: Sequence[int]) -> None:
    """Makes frames arrive in another order and in batches of these sizes."""

    def batches(
        source: Any, *, by_rank: bool, marks: Any, plain: Any = RankedTable.batches
    ) -> Iterator[pl.DataFrame]:
        rows = pl.concat(plain(source, by_rank=by_rank))[list(order)]
        for size in [*sizes, rows.height]:
            yield rows[:size].with_columns(marks)
            rows = rows[size:]

    monkeypatch.setattr(RankedTable, "batches", batches)


@given(data=st.data(), gold=golds, run=runs, nil=st.sampled_from([None, "NIL"]))
def test_order_and_batches_do_not_matter(
    data: st.DataObject,
    gold: Numbers,
    run: Numbers,
    nil: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qrels, rows = frames(gold, run)
    plain = [slow.average_precision(each) for each in slow.ones(gold, run, nil=nil)]
    order = data.draw(st.permutations(range(rows.height)))
    sizes = data.draw(st.lists(st.integers(0, 5), max_size=8))
    with monkeypatch.context() as patch:
        patch.setattr(collector, "CHUNK", data.draw(st.integers(1, 9)))
        in_batches(patch, order, sizes)
        rankings = opened(qrels, rows, nil=nil)
    np.testing.assert_allclose(values("AP", rankings), plain, atol=1e-12)
    assert rankings.returned.tolist() == [len(run.get(query, ())) for query in gold]
    assert set(rankings.unjudged[0]) == run.keys() - gold.keys()


@given(gold=golds, run=runs, bits=st.integers(0, 4), nil=st.sampled_from([None, "NIL"]))
def test_colliding_hashes_change_nothing(
    gold: Numbers, run: Numbers, bits: int, nil: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few(codes: Codes, hashes: Keys) -> Keys:
        return np.broadcast_to(hashes & np.uint64((1 << bits) - 1), len(codes))

    each_list = slow.ones(gold, run, nil=nil)
    plain = [slow.average_precision(each) for each in each_list]
    with monkeypatch.context() as patch:
        patch.setattr(judgments, "row_keys", few)
        patch.setattr(collector, "row_keys", few)
        rankings = rankings_of(gold, run, nil=nil)
    np.testing.assert_allclose(values("AP", rankings), plain, atol=1e-12)
    assert rankings.depth.tolist() == [len(each.grades) for each in each_list]


@pytest.mark.parametrize("doc", ["AP88", "d"])
def test_a_nil_stands_behind_documents_of_its_score(doc: str) -> None:
    """Ids fall from d over NIL to AP88; the list has its document before it ends all the same."""
    rankings = rankings_of({"q": {doc: 1}}, {"q": {doc: 0.0, "NIL": 0.0}}, nil="NIL")
    assert rankings.depth.tolist() == [1]
    assert values("AP", rankings).tolist() == [1.0]


def test_as_an_answer_it_is_a_document_like_others() -> None:
    gold, run = {"q": {"A": 1}, "r": {"A": 1}}, {"q": {"A": 0.0, "NIL": 0.0}, "r": {"A": 0.0}}
    rankings = rankings_of(gold, run, nil="NIL", nil_as_answer=True)
    assert values("RR", rankings).tolist() == [1 / 2, 1]


@pytest.mark.slow
@given(data=st.data(), gold=golds, run=runs, bits=st.sampled_from([0, 2, 64]))
def test_a_document_twice_is_found_wherever_it_is(
    data: st.DataObject, gold: Numbers, run: Numbers, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, rows = frames(gold, run)
    again = data.draw(st.integers(0, rows.height - 1))
    rows = pl.concat([rows, rows[again].with_columns(pl.col("score") - 7)])
    order = data.draw(st.permutations(range(rows.height)))

    def few(codes: Codes, hashes: Keys, full: Any = judgments.row_keys) -> Any:
        return full(codes, hashes) & np.uint64((1 << bits) - 1)

    with monkeypatch.context() as patch:
        patch.setattr(collector, "row_keys", few)
        patch.setattr(judgments, "row_keys", few)
        in_batches(patch, order, data.draw(st.lists(st.integers(0, 5), max_size=8)))
        with pytest.raises(ab.InputError, match="appears twice for query"):
            opened(qrels, rows)


@given(
    held=st.lists(st.integers(0, 40), min_size=1, max_size=40),
    wanted=st.lists(st.integers(0, 40), max_size=40),
    spread=st.sampled_from([1, 1 << 30, 1 << 58]),
)
def test_keys_are_found_where_they_stand(held: list[int], wanted: list[int], spread: int) -> None:
    keys, some = (np.array(each, np.uint64) * np.uint64(spread) for each in (held, wanted))
    assert judgments.all_differ(keys) == (len(set(held)) == len(held))
    rows, which = judgments.find(keys, some)
    found = sorted(zip(which.tolist(), rows.tolist(), strict=True))
    assert found == [
        (i, j) for i, key in enumerate(wanted) for j in range(len(held)) if key == held[j]
    ]


@given(codes=st.lists(st.integers(0, 200_000), max_size=50))
def test_by_code_is_a_stable_sort(codes: list[int]) -> None:
    numbers = np.array(codes, np.uint32)
    assert by_code(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()


@given(blocks=st.lists(st.lists(st.floats(allow_nan=False), min_size=1, max_size=6), min_size=1))
def test_by_score_sorts_each_block(blocks: list[list[float]]) -> None:
    scores = np.array([score for block in blocks for score in block])
    lengths = np.array([len(block) for block in blocks])
    order = by_score(scores, np.cumsum(lengths) - lengths)
    sorted_scores = [score for block in blocks for score in sorted(block, reverse=True)]
    if order is None:
        assert scores.tolist() == sorted_scores
    else:
        assert scores[order].tolist() == sorted_scores
        assert sorted(order) == list(range(len(scores)))


@pytest.mark.slow
def test_a_large_run_in_all_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long enough for several chunks, with many ties and lists of many lengths."""
    rng = np.random.default_rng(3)
    gold: Numbers = {}
    run: Numbers = {}
    for query in range(60):
        names = [f"doc-{i:05d}-with-a-long-name" for i in rng.choice(5000, 400, replace=False)]
        gold[f"q{query}"] = {name: int(rng.integers(0, 4)) for name in names[::7]}
        listed = names[: rng.integers(1, 400)]
        run[f"q{query}"] = {name: float(rng.integers(0, 50)) for name in listed}
    plain = slow.ones(gold, run)
    rows = [f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items()]
    by_score_down = sorted(rows, key=lambda row: (row.split()[0], -float(row.split()[4])))
    path = tmp_path / "run"
    qrels = frames(gold, {})[0]
    orders = (rows, by_score_down, rng.permutation(rows).tolist(), rows[9000:] + rows[:9000])
    for chunk in (1000, 50_000):
        monkeypatch.setattr("abstain.io.files.CHUNK", chunk)
        for order in orders:
            path.write_text("".join(order))
            rankings = opened(qrels, path)
            for fast, obvious in [
                ("AP", slow.average_precision),
                ("NDCG", slow.ndcg),
                ("bpref", slow.bpref),
            ]:
                expected = [obvious(each) for each in plain]
                np.testing.assert_allclose(values(fast, rankings), expected, atol=1e-12)
