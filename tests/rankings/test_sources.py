"""Judgments and runs as tables and frames: the same numbers, the same care."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import abstain as ab
from abstain.io import frames as frames_module
from abstain.rankings import tables
from tests.helpers import Here
from tests.rankings.given import frames, opened, values, write

GOLD = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 0, "d": 1}}
RUN = {"1": {"a": 3.0, "x": 2.0, "c": 2.0, "b": -1e-3}, "2": {"d": 0.5, "y": 1e3}}
EXPECTED = [5 / 6, 0.5]
"""AP: a, then x before c, which have one score; d after y."""

QRELS, ROWS = frames(GOLD, RUN)
WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_tables_of_every_format(tmp_path: Path, ending: str) -> None:
    gold, run = tmp_path / f"gold.{ending}", tmp_path / f"run.{ending}"
    WRITERS[ending](QRELS, gold)
    WRITERS[ending](ROWS, run)
    np.testing.assert_allclose(values("AP", opened(gold, run)), EXPECTED)


FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
    "pyarrow": lambda frame: frame.to_arrow(),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_kind(kind: str) -> None:
    result = ab.rank(FRAMES[kind](QRELS), FRAMES[kind](ROWS), measures=["AP"])
    assert result.rows[0].scores["AP"] == pytest.approx(np.mean(EXPECTED))
    assert result.rows[0].run == "run"


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("gold", QRELS.to_arrow())
    connection.register("runs", ROWS.to_arrow())
    result = ab.rank(connection.table("gold"), connection.table("runs"), measures=["AP"])
    assert result.rows[0].scores["AP"] == pytest.approx(np.mean(EXPECTED))


def test_ids_may_be_numbers_and_runs_may_have_no_name() -> None:
    numbers = ROWS.drop("run").with_columns(pl.col("query").cast(pl.Int64))
    np.testing.assert_allclose(values("AP", opened(QRELS, numbers)), EXPECTED)


def test_several_frames_are_told_apart() -> None:
    rows = ROWS.drop("run")
    assert [r.run for r in ab.rank(QRELS, [rows, rows]).rows] == ["run 1", "run 2"]
    assert [r.run for r in ab.rank(QRELS, {"b": rows, "a": rows}).rows] == ["a", "b"]


def test_large_tables_come_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abstain.rankings.tables.BATCH", 2)
    for seed in range(6):
        rows = ROWS.sample(fraction=1, shuffle=True, seed=seed)
        np.testing.assert_allclose(values("AP", opened(QRELS, rows)), EXPECTED)


def test_a_parquet_file_is_never_in_memory_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.parquet"
    ROWS.write_parquet(path)
    heights = []

    def collect(frame: Any, label: str, plain: Any = frames_module.collect) -> pl.DataFrame:
        rows: pl.DataFrame = plain(frame, label)
        heights.append(rows.height)
        return rows

    monkeypatch.setattr(tables, "BATCH", 4)
    monkeypatch.setattr(tables, "collect", collect)
    np.testing.assert_allclose(
        values("AP", opened(write(tmp_path / "q", qrels=GOLD), path)), EXPECTED
    )
    assert heights == [4, 2, 0]


def test_the_rank_column_of_a_table() -> None:
    rows = pl.DataFrame({"query": ["1", "1"], "doc": ["x", "a"], "rank": [2, 1]})
    assert values("RR", opened(QRELS, rows, ties="rank")).tolist() == [1.0, 0.0]
    with pytest.raises(ab.InputError, match="the rank must be a whole number"):
        opened(QRELS, rows.with_columns(pl.col("rank") / 4), ties="rank")
    with pytest.raises(ab.InputError, match="rank 1 appears twice for query '1'"):
        opened(QRELS, rows.with_columns(rank=pl.lit(1)), ties="rank")
    with pytest.raises(
        ab.InputError, match=r"has no column 'score' to.*ties=.rank. they are ordered by"
    ):
        opened(QRELS, rows)


LARGE = 1 << 53
"""From here on two whole numbers may be one double."""


def test_ranks_that_doubles_cannot_tell_apart(tmp_path: Path) -> None:
    rows = pl.DataFrame({"query": ["1", "1"], "doc": ["x", "a"], "rank": [LARGE - 1, LARGE - 2]})
    assert values("RR", opened(QRELS, rows, ties="rank"))[0] == 1
    high = rows.with_columns(pl.col("rank") + 2)
    with pytest.raises(ab.InputError, match=rf"the rank must be below 2\^53 \(got {LARGE + 1}\)"):
        opened(QRELS, high, ties="rank")
    path, gold = tmp_path / "run", write(tmp_path / "q", qrels=GOLD)
    path.write_text("".join(f"1 Q0 {doc} {rank} 1 t\n" for _, doc, rank in rows.iter_rows()))
    assert values("RR", opened(gold, path, ties="rank"))[0] == 1
    path.write_text("".join(f"1 Q0 {doc} {rank} 1 t\n" for _, doc, rank in high.iter_rows()))
    with pytest.raises(ab.InputError, match=rf"run:1: the rank must be below .*'{LARGE + 1}'"):
        opened(gold, path, ties="rank")


@pytest.mark.parametrize(
    ("qrels", "rows", "message"),
    [
        (QRELS, ROWS.drop("score"), "run: has no column 'score', by which documents are ordered"),
        (QRELS.drop("rel"), ROWS, "qrels: has no column 'rel'"),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit(None, pl.Float64)),
            "run: row 1: the column 'score' must be a number (got nothing)",
        ),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit(float("nan"))),
            "run: row 1: the column 'score' must be a number (got 'nan')",
        ),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit("x")),
            "run: row 1: the column 'score' must be a number (got 'x')",
        ),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit([1.0])),
            "run: the column 'score' must hold one number per row (it holds List(Float64))",
        ),
        (
            QRELS,
            ROWS.with_columns(doc=pl.lit(None, pl.String)),
            "run: row 1: the column 'doc' is empty",
        ),
        (
            QRELS,
            pl.concat([ROWS, ROWS[:1]]),
            "run: row 7: document 'a' appears twice for query '1' (first: run: row 1)",
        ),
        (
            pl.concat([QRELS, QRELS[:1]]),
            ROWS,
            "qrels: row 6: document 'a' appears twice for query '1' (first: qrels: row 1)",
        ),
        (QRELS[:0].lazy(), ROWS, "qrels: has no judgments"),
        (QRELS[:0], ROWS, "qrels: has no rows"),
        (
            QRELS.with_columns(rel=pl.lit(1e300)),
            ROWS,
            "qrels: row 1: the grade must be at most 1e+18 (got 1e+300)",
        ),
        (
            QRELS.with_columns(rel=pl.lit(float("inf"))),
            ROWS,
            "qrels: row 1: the column 'rel' must be a finite number (got 'inf')",
        ),
    ],
)
def test_frames_are_checked_too(qrels: Any, rows: Any, message: str) -> None:
    with pytest.raises(ab.InputError) as caught:
        opened(qrels, rows)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,doc,score\n1,a,x\n", "run.csv:2: the column 'score' must be a number (got 'x')"),
        ("query,doc,score\n1,a,1\n1,,2\n", "run.csv:3: the column 'doc' is empty"),
        (
            "query,doc,score\n1,a,1\n2,a,1\n1,a,2\n",
            "run.csv:4: document 'a' appears twice for query '1' (first: run.csv:2)",
        ),
        ("qnum,doc,score\n1,a,1\n", "run.csv:1: has no column 'query', which names the query"),
        ("query,doc\n1,a\n", "run.csv:1: has no column 'score'"),
        ("", "run.csv: is empty"),
    ],
)
def test_a_wrong_table_is_one_clear_line(here: Here, text: str, message: str) -> None:
    write(here.folder / "qrels", qrels=GOLD)
    here.write("run.csv", text)
    assert here.refuses("rank", "qrels", "run.csv").startswith(message)


def test_columns_can_be_mapped(here: Here) -> None:
    write(here.folder / "qrels", qrels=GOLD)
    here.write("run.csv", "qid,docid,sim\n1,a,2\n1,c,1\n2,d,1\n")
    columns = ("-c", "query=qid", "-c", "doc=docid", "-c", "score=sim")
    said = here("rank", "qrels", "run.csv", *columns, "-m", "AP", "-f", "json")
    assert said.data["results"][0]["scores"] == {"AP": 1.0}
    assert "nearest: score" in here.refuses("rank", "qrels", "run.csv", "-c", "scor=sim")
    line = here.refuses("rank", "qrels", "run.csv", *columns, "-c", "run=tga")
    assert line.startswith("no table has a column 'tga'")


def test_a_trec_file_with_the_ending_of_a_table_is_a_trec_file(here: Here) -> None:
    here.write("qrels.tsv", "1\t0\ta\t1\n")
    here.write("run.tsv", "1\tQ0\ta\t1\t2.5\tt\n")
    said = here("rank", "qrels.tsv", "run.tsv", "-m", "AP", "-f", "json")
    assert said.data["results"][0]["scores"] == {"AP": 1.0}
    assert "in the header" in here.refuses("rank", "qrels.tsv", "run.tsv", "--from", "tsv")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """Scattered rows are read twice, which a pipe does not allow: it is kept."""
    text = "1 Q0 a 1 1 t\n2 Q0 d 1 2 t\n" + "3 Q0 x 1 1 t\n" + "1 Q0 c 1 2 t\n"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    rankings = opened(QRELS, pipe)
    writer.join()
    assert rankings.returned.tolist() == [2, 1]
    np.testing.assert_allclose(values("AP", rankings), [1.0, 1.0])
