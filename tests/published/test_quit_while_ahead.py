"""The demonstration of "Quit While Ahead": Table 1 as transcribed, the synthetic collection."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from abstain.features.demo import analysis as rankings

PRINTED = Path(__file__).parent / "truncated_rankings_table1.csv"


def test_table_1_is_the_published_one() -> None:
    with PRINTED.open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    grid = rankings.table1()
    assert len(grid.rows) == len(published) == 10
    for row, printed in zip(grid.rows, published, strict=True):
        assert [row[0], row[1]] == [printed["ranking"], int(printed["R"])]
        for shown, name in zip(row[2:], ("rt", "RR", "RBP_p0.5", "NDCG", "AP"), strict=True):
            assert f"{shown:.3f}" == f"{float(printed[name]):.3f}", (printed["ranking"], name)
    assert "40 of 40 scores and 10 of 10 r_t" in grid.notes[0]


def test_where_lists_end() -> None:
    """A NIL at rank i ends a list after i − 1 documents, its system a short one, else the limit."""
    for listed, scored, ended in rankings.table2().rows:
        documents = str(listed).split() if listed != "(empty)" else []
        kept = documents[: documents.index("NIL")] if "NIL" in documents else documents
        by_limit = len(kept) == 5
        assert str(scored).split() == kept + ([] if by_limit else ["t"])
        how = "the limit" if by_limit else "NIL" if "NIL" in documents else "its system"
        assert ended == how


def test_the_synthetic_collection_has_the_shape_of_trec_2001() -> None:
    made = rankings.synthetic()
    assert (len(made.runs), len(made.queries), len(made.nil_queries)) == (47, 492, 49)
    assert made.lists.returned.max() == 5
    again = rankings.synthetic()
    assert np.array_equal(made.lists.rank, again.lists.rank)
    assert not np.array_equal(made.lists.depth, rankings.synthetic(seed=1).lists.depth)
    full = (made.lists.by_run(made.lists.depth) == 5).all(axis=1)
    assert 0 < full.sum() < 47  # some systems always list five
