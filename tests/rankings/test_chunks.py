"""Runs in text tables are ranked chunk by chunk, with the numbers and the errors of the whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.io import csv_files, files
from abstain.io import frames as frames_module
from abstain.io.tables import read_table
from abstain.rankings import sources, tables
from tests.helpers import Here
from tests.rankings.collections_by_hand import write
from tests.snapshots import says

GOLD = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 0, "d": 1}, "3": {"e": 1}, "4": {"a": 0}}
SIZES = (1, 5, 16, 40, 1 << 20)
FORMATS = ("csv", "tsv", "jsonl")
Row = dict[str, Any]


def rows_of(*lines: str) -> list[Row]:
    """Rows written as `query doc score`."""
    return [dict(zip(("query", "doc", "score"), line.split(), strict=True)) for line in lines]


ROWS = rows_of("1 x 4", "1 a 3.5", "1 c 3.5", "2 d 2", "2 a 9", "9 z 1", "3 y 1", "3 e 1")
"""Query 4 is missing, 9 has no judgments, in 1 and in 3 two documents have one score."""

EXPECTED = {"AP": (7 / 12 + 1 / 2 + 1 / 2) / 3, "RR": (1 / 2 + 1 / 2 + 1 / 2 + 0) / 4}
"""By hand: of 1 at ranks 2 and 3 (c before a); d behind a; e behind y; query 4 is nil: no AP."""


def as_text(rows: list[Row], format: str, *, end: str = "\n") -> str:
    if format == "jsonl":
        return "".join(json.dumps(row) + end for row in rows)
    separator = {"csv": ",", "tsv": "\t"}[format]
    lines = [separator.join(rows[0]), *(separator.join(map(str, r.values())) for r in rows)]
    return "".join(line + end for line in lines)


@pytest.fixture
def small() -> Iterator[Callable[[int], None]]:
    """Sets the size of a chunk, for as long as a test goes on."""
    with pytest.MonkeyPatch.context() as patch:

        def chunks(size: int) -> None:
            patch.setattr(files, "CHUNK", size)
            patch.setattr(csv_files, "AT_ONCE", size)

        yield chunks


def ranked(gold: Path, run: Path, **options: Any) -> Any:
    """All that is said of a run, or what is wrong with it."""
    try:
        result = ab.rank(gold, run, measures=["AP", "RR", "NDCG'"], per_query=True, **options)
    except ab.InputError as error:
        return str(error)
    return result.to_dict()


def ranked_whole(gold: Path, run: Path, **options: Any) -> Any:
    """The same of a table that is taken in as a whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            tables, "read_table", lambda path, format, in_chunks: read_table(path, format=format)
        )
        return ranked(gold, run, **options)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_scores_and_counts(
    tmp_path: Path, small: Callable[[int], None], format: str, end: str, seed: int | None
) -> None:
    """In the order of queries and in any other."""
    gold, path = write(tmp_path / "q", qrels=GOLD), tmp_path / f"run.{format}"
    rows = (
        ROWS if seed is None else pl.DataFrame(ROWS).sample(8, shuffle=True, seed=seed).to_dicts()
    )
    for text in (as_text(rows, format, end=end), as_text(rows, format, end=end).removesuffix(end)):
        path.write_bytes(text.encode())
        whole = ranked_whole(gold, path)
        (mean,) = [row for row in whole["results"] if "query" not in row]
        assert {name: mean["scores"][name] for name in EXPECTED} == pytest.approx(EXPECTED)
        assert (mean["missing"], mean["nil_queries"]) == (1, 1)
        for size in SIZES if seed is None else SIZES[1:3]:
            small(size)
            assert ranked(gold, path) == whole


def replaced(at: int, **cells: Any) -> list[Row]:
    return [row | cells if i == at else row for i, row in enumerate(ROWS)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (replaced(6, score="x"), "{7}: the column 'score' must be a number (got 'x')"),
        (replaced(7, score="nan"), "{8}: the column 'score' must be a number (got 'nan')"),
        (replaced(6, score="1,5"), "{7}: the column 'score' must be a number (got '1,5')"),
        (replaced(6, score=""), "{7}: the column 'score' must be a number (got "),
        (replaced(6, doc=""), "{7}: the column 'doc' is empty"),
        (replaced(6, query=" "), "{7}: the column 'query' is empty"),
        ([*ROWS, ROWS[1]], "{9}: document 'a' appears twice for query '1' (first: {2})"),
        ([*ROWS, ROWS[7]], "{9}: document 'e' appears twice for query '3' (first: {8})"),
        (
            [*ROWS[:3], ROWS[2], *ROWS[3:]],
            "{4}: document 'c' appears twice for query '1' (first: {3})",
        ),
    ],
)
@pytest.mark.parametrize("format", FORMATS)
def test_a_fault_in_a_later_chunk(
    here: Here, small: Callable[[int], None], format: str, rows: list[Row], said: str
) -> None:
    if format == "csv" and any("," in row["score"] for row in rows):
        rows = [row | {"score": f'"{row["score"]}"'} for row in rows]
    write(here.folder / "q", qrels=GOLD)
    here.write(f"run.{format}", as_text(rows, format))
    before = format != "jsonl"  # the header's line
    places = [f"run.{format}:{record + before}" for record in range(10)]
    for size in SIZES:
        small(size)
        line = here.refuses("rank", "q", f"run.{format}")
        assert line.startswith(said.format(*places))
        assert line == ranked_whole(Path("q"), Path(f"run.{format}"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,doc\n", ("run.csv:1", "'score'")),
        ("query,doc", ("run.csv:1", "'score'")),
        ("query,doc,score\n1,a,1\n1,b,2\n2,c\n", ("run.csv:4", "2", "3")),
        ("query,doc,score\n1,a,1\n1,b,2\n2,c,1,9\n", ("run.csv:4", "4", "3")),
        ('query,doc,score\n1,a,1\n1,b,2\n"2,c,1\n', ("run.csv:4",)),
        ("query,doc,sim\n1,a,1\n", ("run.csv:1", "'score'")),
        ('query,doc,score\n"1",a,1\n\n"1","b\nb",2\n1,c,x\n', ("run.csv:6", "'score'")),
    ],
)
def test_a_table_that_is_not_even(
    here: Here, small: Callable[[int], None], text: str, said: tuple[str, ...]
) -> None:
    write(here.folder / "q", qrels=GOLD)
    here.write("run.csv", text)
    for size in SIZES:
        small(size)
        says(here.refuses("rank", "q", "run.csv"), *said)


@pytest.mark.slow
@pytest.mark.parametrize("size", range(1, 60))
def test_a_line_break_in_quotes_where_a_piece_ends(
    tmp_path: Path, small: Callable[[int], None], size: int
) -> None:
    gold = write(tmp_path / "q", qrels={"1": {"d": 1}, "2": {"d": 1}})
    path = tmp_path / "run.csv"
    path.write_text('note,query,doc,score\n"a\nb, ""c""\n",1,"x\ny",2\n"\n",1,d,1\n,2,d,3\n')
    small(size)
    (row,) = ab.rank(gold, path, measures=["RR"]).rows
    assert (row.run, row.scores) == ("run", {"RR": 0.75})


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_mapped_columns_several_runs_and_ranks(
    tmp_path: Path, small: Callable[[int], None], format: str
) -> None:
    """Columns in any order; `score` is another column's name and is not wanted."""
    gold, path = write(tmp_path / "q", qrels=GOLD), tmp_path / f"run.{format}"
    rows = [
        {"score": "odd", "sim": row["score"], "tag": tag, "docid": row["doc"], "qid": row["query"]}
        | {"rank": place}
        for place, row in enumerate(ROWS)
        for tag in ("one", "two")
    ]
    path.write_text(as_text(rows, format))
    columns = {"query": "qid", "doc": "docid", "score": "sim", "run": "tag"}
    for size in SIZES:
        small(size)
        result = ab.rank(gold, path, measures=["AP", "RR"], columns=columns)
        assert [row.run for row in result.rows] == ["one", "two"]
        for row in result.rows:
            assert row.scores == pytest.approx(EXPECTED)
        by_rank = ab.rank(gold, path, measures=["RR"], columns=columns, ties="rank")
        assert by_rank.rows[0].scores == {"RR": pytest.approx((1 / 2 + 1 + 1 / 2 + 0) / 4)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        # a column that comes late is a column of all
        ([{"query": "2", "doc": "z", "score": 1, "run": "r"}], ("1", "'run'")),
        # and so is its type
        ([{"query": "2", "doc": "z", "score": [1]}], ()),
        ([{"query": ["2"], "doc": "z", "score": 1}], ("'query'",)),
        (
            [{"query": "2", "doc": "z", "score": True}],
            ("9", "'score'"),
        ),
        ([{"query": "2", "doc": "z"}], ("9", "'score'")),
    ],
)
def test_what_only_a_later_record_of_json_shows(
    here: Here, small: Callable[[int], None], lines: list[Row], said: tuple[str, ...]
) -> None:
    write(here.folder / "q", qrels=GOLD)
    rows = [row | {"score": float(row["score"])} for row in ROWS]
    here.write("run.jsonl", as_text([*rows, *lines], "jsonl"))
    for size in SIZES:
        small(size)
        says(here.refuses("rank", "q", "run.jsonl"), *said)
        assert ranked(Path("q"), Path("run.jsonl")) == ranked_whole(Path("q"), Path("run.jsonl"))


def test_ids_of_json_are_what_they_are_in_the_whole_file(
    tmp_path: Path, small: Callable[[int], None]
) -> None:
    """2.0 is 2 beside a number, a text or nothing; whole numbers may have any length."""
    long = 10**25
    gold = write(tmp_path / "q", qrels={"2": {"7": 1, "0.5": 1, str(long): 1}, "x": {"7": 1}})
    path = tmp_path / "run.jsonl"
    rows = [(2, 7, 5), (2.0, 0.5, 4.5), ("2", long, "4"), ("x", 7.0, 1), ("x", 8, 2.5)]
    path.write_text(
        as_text([dict(zip(("query", "doc", "score"), r, strict=True)) for r in rows], "jsonl")
    )
    for size in SIZES:
        small(size)
        (row,) = ab.rank(gold, path, measures=["AP"]).rows
        assert row.scores == {"AP": 0.75}


@pytest.mark.slow
@settings(max_examples=50)
@given(data=st.data(), size=st.integers(1, 120), format=st.sampled_from(FORMATS))
def test_any_run_in_chunks_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, size: int, format: str
) -> None:
    """Any order of rows, and perhaps one fault somewhere: all that is said is the same."""
    names = st.tuples(st.sampled_from("12349"), st.sampled_from("abcdexyz"), st.sampled_from("rs"))
    places = data.draw(st.lists(names, min_size=1, max_size=25, unique=True))
    scores = st.sampled_from(["1", "2.5", "-3", "1e3", "inf"])
    rows: list[Row] = [
        {"query": q, "doc": d, "score": data.draw(scores), "run": run} for q, d, run in places
    ]
    fault = data.draw(st.sampled_from(["none", "none", "repeat", "query", "doc", "score", "run"]))
    at = data.draw(st.integers(0, len(rows) - 1))
    if fault == "repeat":
        rows.insert(data.draw(st.integers(0, len(rows))), dict(rows[at]))
    elif fault != "none":
        rows[at][fault] = data.draw(st.sampled_from(["", " ", *(["x"] * (fault == "score"))]))
    folder = tmp_path_factory.getbasetemp()
    gold, path = write(folder / "any-q", qrels=GOLD), folder / f"any-run.{format}"
    path.write_text(as_text(rows, format))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", size)
        found = ranked(gold, path, nil="x")
    assert found == ranked_whole(gold, path, nil="x")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("stray", ["", '5"'])
def test_a_table_of_text_is_never_in_memory_as_a_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    small: Callable[[int], None],
    format: str,
    stray: str,
) -> None:
    """Nor one whose records are read one by one, as a stray quote makes them be read."""
    path = tmp_path / f"run.{format}"
    path.write_text(as_text([row | {"note": stray} for row in ROWS], format))
    heights = []

    def collect(frame: Any, label: str, plain: Any = frames_module.collect) -> pl.DataFrame:
        rows: pl.DataFrame = plain(frame, label)
        heights.append(rows.height)
        return rows

    small(2)
    monkeypatch.setattr(tables, "collect", collect)
    source = sources.open_source(path, side="run")
    assert heights == []
    assert sum(batch.height for batch in source.batches(by_rank=False)) == len(ROWS)
    assert sum(heights) == len(ROWS)
    assert max(heights) <= 2
