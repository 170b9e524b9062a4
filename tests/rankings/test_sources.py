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
from tests.rankings.collections_by_hand import frames, opened, values, write
from tests.snapshots import refuses, says

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
    assert heights == [4, 2]


def test_the_rank_column_of_a_table() -> None:
    rows = pl.DataFrame({"query": ["1", "1"], "doc": ["x", "a"], "rank": [2, 1]})
    assert values("RR", opened(QRELS, rows, ties="rank")).tolist() == [1.0, 0.0]
    with refuses(ab.InputError):
        opened(QRELS, rows.with_columns(pl.col("rank") / 4), ties="rank")
    with refuses(ab.InputError, "1", "'1'"):
        opened(QRELS, rows.with_columns(rank=pl.lit(1)), ties="rank")
    with refuses(ab.InputError, "'score'"):
        opened(QRELS, rows)


@pytest.mark.parametrize(
    ("qrels", "rows", "message"),
    [
        (QRELS, ROWS.drop("score"), ("'score'",)),
        (QRELS.drop("rel"), ROWS, ("'rel'",)),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit(None, pl.Float64)),
            ("1", "'score'"),
        ),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit(float("nan"))),
            ("1", "'score'", "'nan'"),
        ),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit("x")),
            ("1", "'score'", "'x'"),
        ),
        (
            QRELS,
            ROWS.with_columns(score=pl.lit([1.0])),
            ("'score'",),
        ),
        (
            QRELS,
            ROWS.with_columns(doc=pl.lit(None, pl.String)),
            ("1", "'doc'"),
        ),
        (
            QRELS,
            pl.concat([ROWS, ROWS[:1]]),
            ("7", "'a'", "'1'", "1"),
        ),
        (
            pl.concat([QRELS, QRELS[:1]]),
            ROWS,
            ("6", "'a'", "'1'", "1"),
        ),
        (QRELS[:0].lazy(), ROWS, ()),
        (QRELS[:0], ROWS, ()),
        (
            QRELS.with_columns(rel=pl.lit(float("inf"))),
            ROWS,
            ("1", "'rel'", "'inf'"),
        ),
    ],
)
def test_frames_are_checked_too(qrels: Any, rows: Any, message: tuple[str, ...]) -> None:
    with pytest.raises(ab.InputError) as caught:
        opened(qrels, rows)
    says(str(caught.value), *message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,doc,score\n1,a,x\n", ("run.csv:2", "'score'", "'x'")),
        ("query,doc,score\n1,a,1\n1,,2\n", ("run.csv:3", "'doc'")),
        (
            "query,doc,score\n1,a,1\n2,a,1\n1,a,2\n",
            ("run.csv:4", "'a'", "'1'", "run.csv:2"),
        ),
        ("qnum,doc,score\n1,a,1\n", ("run.csv:1", "'query'")),
        ("query,doc\n1,a\n", ("run.csv:1", "'score'")),
        ("", ("run.csv",)),
    ],
)
def test_a_wrong_table_is_one_clear_line(here: Here, text: str, message: tuple[str, ...]) -> None:
    write(here.folder / "qrels", qrels=GOLD)
    here.write("run.csv", text)
    says(here.refuses("rank", "qrels", "run.csv"), *message)


def test_columns_can_be_mapped(here: Here) -> None:
    write(here.folder / "qrels", qrels=GOLD)
    here.write("run.csv", "qid,docid,sim\n1,a,2\n1,c,1\n2,d,1\n")
    columns = ("-c", "query=qid", "-c", "doc=docid", "-c", "score=sim")
    said = here("rank", "qrels", "run.csv", *columns, "-m", "AP", "-f", "json")
    assert said.data["results"][0]["scores"] == {"AP": 1.0}
    assert "nearest: score" in here.refuses("rank", "qrels", "run.csv", "-c", "scor=sim")
    line = here.refuses("rank", "qrels", "run.csv", *columns, "-c", "run=tga")
    says(line, "'tga'")


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
