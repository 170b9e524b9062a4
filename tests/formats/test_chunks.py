"""A table that is read in chunks of any size is the table that is read as a whole."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.io import csv_files, files
from abstain.io.tables import ROW, Table, read_table
from tests.snapshots import says

SIZES = (1, 2, 3, 7, 20, 1 << 20)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that examples share, and limits that go back to what they were."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", files.CHUNK)
        patch.setattr(csv_files, "AT_ONCE", csv_files.AT_ONCE)
        yield tmp_path_factory.mktemp("chunks")


def in_chunks_of(size: int) -> None:
    files.CHUNK = csv_files.AT_ONCE = size


def whole(path: Path) -> Any:
    """The columns, and the rows as text; or what is wrong with the file: read in one chunk."""
    in_chunks_of(1 << 30)
    try:
        table = read_table(path)
    except ab.InputError as error:
        return str(error)
    return table.columns, texts(table.frame.collect(), table)


def pieced(path: Path, size: int) -> Any:
    in_chunks_of(size)
    try:
        table = read_table(path, in_chunks=True)
        assert table.chunks is not None
        rows = [row for chunk in table.chunks(table.columns) for row in texts(chunk, table)]
    except ab.InputError as error:
        return str(error)
    if table.format != "jsonl" and not rows:  # which is no fault of a table in chunks
        return f"{path}: has a header but no rows"
    return table.columns, rows


def texts(frame: pl.DataFrame, table: Table) -> list[tuple[Any, ...]]:
    """Rows of text in the order of the table's columns: a whole number is one of any width."""

    def text(value: Any) -> Any:
        return value if value is None or isinstance(value, list) else str(value)

    rows = frame.select(ROW, *table.columns).iter_rows()
    return [tuple(map(text, row)) for row in rows]


@pytest.mark.slow
@settings(max_examples=200)
@given(
    body=st.text(alphabet='a,"\n\r xé', max_size=40),
    size=st.sampled_from(SIZES),
    start=st.sampled_from(["", "\ufeff"]),
)
def test_any_csv_in_chunks_of_any_size(folder: Path, body: str, size: int, start: str) -> None:
    path = folder / "any.csv"
    path.write_bytes(f"{start}one,two\n{body}".encode())
    found = pieced(path, size)
    assert found == whole(path)
    if not isinstance(found, str):
        records = list(csv.reader(io.StringIO(f"one,two\n{body}", newline="")))[1:]
        expected = [tuple(cell.strip() for cell in record) for record in records]
        cells = [tuple(c or "" for c in row[1:]) for row in found[1]]
        assert cells == [row for row in expected if any(row)]


CELLS = st.sampled_from(["", " ", "a", "é ", "a,b", "a\nb", 'say "b"', "\r\n", "0,5"])


@pytest.mark.slow
@settings(max_examples=100)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=12),
    size=st.sampled_from(SIZES),
    separator=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    data=st.data(),
)
def test_any_table_that_is_written_well(
    folder: Path,
    rows: list[tuple[str, str, str]],
    size: int,
    separator: str,
    end: str,
    last: bool,
    data: st.DataObject,
) -> None:
    """Quoted line breaks wherever a chunk may end, blank lines, no last line end."""
    quoted = [separator.join('"' + c.replace('"', '""') + '"' for c in row) for row in rows]
    for at in data.draw(st.lists(st.integers(0, len(quoted)), max_size=3)):
        quoted.insert(at, "")
    text = end.join([separator.join(("one", "two", "three")), *quoted])
    path = folder / ("any.tsv" if separator == "\t" else "any.csv")
    path.write_bytes((text + end * last).encode())
    found = pieced(path, size)
    assert found == whole(path)
    expected = [tuple(c.strip() for c in row) for row in rows]
    if any(any(row) for row in expected):
        cells = [tuple(c or "" for c in row[1:]) for row in found[1]]
        assert cells == [row for row in expected if any(row)]


VALUES = st.sampled_from(
    [
        *(None, True, 0, 1, -7, 2**63, 10**30, 0.5, 2.0, -0.0, 1e17, 1e-7, 0.1, "", " a ", "1"),
        *("é", "}\n{", [], [1, "a"], {}, {"a": 1}),
    ]
)
RECORDS = st.dictionaries(st.sampled_from(["one", "two", "three", 'a "b"']), VALUES)
LINES = st.one_of(
    RECORDS.map(lambda record: json.dumps(record, ensure_ascii=False)),
    st.sampled_from(["", " ", "\r"]),
)
ODD = [
    "5",
    "[1]",
    "{",
    "}",
    '{"one":1}{"two":2}',
    '{"one":',
    "1}",
    '{"one":1e999}',
    "{} ",
    "\ufeff{}",
]


@pytest.mark.slow
@settings(max_examples=200)
@given(
    lines=st.lists(LINES, max_size=12),
    odd=st.lists(st.sampled_from(ODD), max_size=2),
    size=st.sampled_from(SIZES),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    data=st.data(),
)
def test_any_jsonl_in_chunks_of_any_size(
    folder: Path,
    lines: list[str],
    odd: list[str],
    size: int,
    end: str,
    last: bool,
    data: st.DataObject,
) -> None:
    for line in odd:
        lines.insert(data.draw(st.integers(0, len(lines))), line)
    path = folder / "any.jsonl"
    path.write_bytes((end.join(['{"one": "x"}', *lines]) + end * last).encode())
    found = pieced(path, size)
    assert found == whole(path)
    if not isinstance(found, str):
        records = {at: json.loads(own) for at, own in enumerate(lines, 1) if own.strip()}
        columns, rows = found
        assert [int(row[0]) for row in rows] == [0, *records]
        for row in rows[1:]:
            empty = {c for c, cell in zip(columns, row[1:], strict=True) if cell is None}
            assert empty == {c for c in columns if records[int(row[0])].get(c) is None}


@pytest.mark.parametrize("rest", ['{"one":1}{"one":2}\n{"one":\n3}\n', '\ufeff{"one":1}\n'])
def test_what_is_no_record_behind_the_first_chunk(folder: Path, rest: str) -> None:
    """As many records as lines, but not one in each; a mark that only a file may begin with."""
    path = folder / "any.jsonl"
    first = json.dumps({"one": "x" * 50}) + "\n"
    path.write_text(first + rest, encoding="utf-8")
    for size in (*SIZES, len(first)):
        assert pieced(path, size) == whole(path)
        says(pieced(path, size), "any.jsonl:2")


PACKED = {
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
TEXT = b"one,two\n" + b"a,b\nc,d\n" * 20_000
"""More than a reader unpacks at a time."""


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKED)
def test_packed_files(folder: Path, packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / f"any.csv{packing}"
    path.write_bytes(PACKED[packing](TEXT))
    table = read_table(path, in_chunks=True)
    assert table.opened is not None
    assert not table.opened.data, "it is in memory as a whole"
    assert pieced(path, 999) == whole(path)
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", "100000")
    says(pieced(path, 999), "100,000")
    assert pieced(path, 999) == whole(path)


@pytest.mark.parametrize("packing", PACKED)
def test_packed_files_that_are_cut_short(folder: Path, packing: str) -> None:
    path = folder / f"any.csv{packing}"
    packed = PACKED[packing](TEXT)
    for kept in (len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:kept])
        says(pieced(path, 999))
        assert pieced(path, 999) == whole(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", ()),
        (b"one,two\n", ()),
        (b"one,two", ()),
        (b"one,two\n\n,\n \n", ("4", "1", "2")),
        (b"one,two\n\n,\n,\n", ()),
        (b"one,two\n" + b"a,b\n" * 9 + b"a\xff,b\nc,d\n", ("11", "8")),
        (b"one,two\n" + b"a,b\n" * 9 + b"a,\xc3", ("11", "8")),
        (b"one,two\n" + b"a,b\n" * 9 + b"a\nc,d\n", ("11", "1", "2")),
        (b"one,two\n" + b"a,b\n" * 9 + b'a,"b\nc,d\n', ("11",)),
        (b"one,two\n" + b"a,b\n" * 9 + b"a\0,b\n", ("45",)),
        (b"one,one\n" + b"a,b\n" * 9 + b"a\0,b\n", ("45",)),
        (b"one,one\n" + b"a,b\n" * 9, ("1", "'one'")),
    ],
)
def test_what_is_wrong_is_the_same_in_chunks_of_any_size(
    folder: Path, text: bytes, said: tuple[str, ...]
) -> None:
    path = folder / "any.csv"
    path.write_bytes(text)
    for size in SIZES:
        found = pieced(path, size)
        assert found == whole(path)
        says(found, *said)


def test_some_columns_in_any_order(folder: Path) -> None:
    """A row that is blank in these columns alone is still a row."""
    path = folder / "any.csv"
    path.write_text("one,two,three\na,b,c\n,,x\n\n,,\nd,,\n")
    for size in SIZES:
        in_chunks_of(size)
        chunks = read_table(path, in_chunks=True).chunks
        assert chunks is not None
        rows = pl.concat(chunks(("two", "one"))).select("two", "one", ROW).rows()
        assert [(one or "", two or "", row) for two, one, row in rows] == [
            ("a", "b", 0),
            ("", "", 1),
            ("d", "", 4),
        ]
