"""Rankings of other engines: the same scores as in memory, and the same refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

import abstain as ab
from tests.engines import ENGINES, needs, spark
from tests.snapshots import says

MEASURES = ("AP", "NDCG@5", "RR", "P@3", "AP'", "RBP'(p=0.5)", "bpref", "R-precision")
OTHERS = ENGINES[1:]


def rankings(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments and two runs with many ties, unjudged queries and some that are missing.

    The rows stand by run and query, as engines show them; each list is shuffled.
    """
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(12)]
    qrels = [
        {"query": f"q{q}", "doc": d, "rel": int(rng.integers(-1, 3))}
        for q in range(6)
        for d in rng.permutation(docs)[:7]
    ]
    rows = [
        {"run": run, "query": f"q{q}", "doc": d, "score": float(rng.integers(-1, 3)) * -0.5}
        for run in ("one", "two")
        for q in rng.permutation(8)[:6]
        for d in rng.permutation([*docs, "NIL"])[: rng.integers(1, 9)]
    ]
    shuffled = pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=seed).sort("run", "query")
    return pl.DataFrame(qrels), shuffled.with_columns(
        rank=pl.int_range(1, pl.len() + 1).over("run", "query")
    )


def plain(result: ab.RankResult) -> dict[str, Any]:
    """All that a result says but the order of equal runs, and places, which engines lack."""
    data = result.to_dict()
    data.pop("reading", None)
    data.get("unjudged", {}).pop("place", None)
    for rows in ("results", "per_query"):
        if rows in data:
            data[rows] = sorted(data[rows], key=lambda r: (r["run"], r.get("query") or ""))
    return data


@pytest.mark.slow
@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize(
    "how", [{}, {"nil": "NIL"}, {"nil": "NIL", "nil_as_answer": True}, {"limit": 3, "ties": "rank"}]
)
def test_every_engine_ranks_as_memory_does(
    engine: Any, how: dict[str, Any], tmp_path: Path
) -> None:
    needs(engine)
    qrels, runs = rankings(len(how))
    shared: dict[str, Any] = {"measures": MEASURES, "per_query": True, **how}
    expected = ab.rank(qrels, runs, **shared)
    runs.sample(fraction=1, shuffle=True, seed=1).write_parquet(tmp_path / "runs.parquet")
    found = ab.rank(qrels, tmp_path / "runs.parquet", engine=engine, **shared)
    assert plain(found) == plain(expected)
    assert len(found.rows) == 2
    assert len(found.per_query) == 2 * 6


def test_lazy_frames_are_ranked_by_their_engine() -> None:
    import duckdb

    qrels, runs = rankings(4)
    relation = duckdb.from_arrow(runs.to_arrow())
    assert plain(ab.rank(qrels, relation)) == plain(ab.rank(qrels, runs))
    session = spark()
    frame = session.createDataFrame(runs.to_arrow(compat_level=pl.CompatLevel.oldest()))
    assert plain(ab.rank(qrels, frame)) == plain(ab.rank(qrels, runs))


@pytest.mark.parametrize("engine", OTHERS)
def test_a_trec_file_is_handed_to_an_engine(engine: Any, tmp_path: Path) -> None:
    needs(engine)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d3 2\nq2 0 d2 1\n")
    run = "q1 Q0 d1 2 2.5 talks\nq1 Q0 d2 1 2.5 talks\nq1 Q0 d3 3 1e1 talks\nq3 Q0 d1 1 0 talks\n"
    (tmp_path / "run.txt").write_text(run)
    ways: tuple[Literal["trec", "rank"], ...] = ("trec", "rank")
    for ties in ways:
        expected = ab.rank(tmp_path / "qrels.txt", tmp_path / "run.txt", ties=ties)
        found = ab.rank(tmp_path / "qrels.txt", tmp_path / "run.txt", ties=ties, engine=engine)
        assert plain(found) == plain(expected)


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize(
    ("change", "how", "said"),
    [
        ({"doc": "d2"}, {}, ("'r'", "'q1'")),
        ({"score": float("nan")}, {}, ("'score'", "'r'")),
        ({"doc": ""}, {}, ("'doc'", "'r'", "'q1'")),
        ({"query": None}, {}, ("'query'",)),
        ({"rank": 2}, {"ties": "rank"}, ("rank", "'r'")),
    ],
)
def test_what_is_wrong_is_refused(
    engine: Any, change: dict[str, Any], how: dict[str, Any], said: tuple[str, ...], tmp_path: Path
) -> None:
    needs(engine)
    qrels = pl.DataFrame({"query": ["q1"], "doc": ["d1"], "rel": [1]})
    rows: list[dict[str, Any]] = [
        {"run": "r", "query": "q1", "doc": f"d{i}", "score": 1.0 / i, "rank": i} for i in (1, 2, 3)
    ]
    rows[2] |= change
    pl.DataFrame(rows).write_parquet(tmp_path / "runs.parquet")
    with pytest.raises(ab.InputError) as caught:
        ab.rank(qrels, tmp_path / "runs.parquet", engine=engine, **how)
    says(str(caught.value), *said)
