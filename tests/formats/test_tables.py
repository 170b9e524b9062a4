"""The same table in every format, and what real files look like."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.io.tables import read_table
from tests.helpers import GOLD, RUN, Here, counts_of
from tests.snapshots import says

FORMATS = ("csv", "tsv", "jsonl", "parquet")
PACKINGS = ("", ".gz", ".zst")
WAYS = list(itertools.product(FORMATS, PACKINGS))
MIXED: dict[str, list[Any]] = {
    "question": ["001", "q,2", "q 3", "вопрос", "质问", "سؤال", "qé"],
    "answer": ["a", 'say "b"', None, "ответ", "答え", "x\ny", "ñ"],
    "candidate": [None, None, "c", None, None, None, None],
}
GOLD_MIXED: dict[str, list[Any]] = {
    "question": MIXED["question"],
    "correct": ["a", 'say "b"', "c", "ответ", "wrong", "x\ny", "n"],
}
"""Right: 001, q,2, вопрос, سؤال. Wrong: 质问, qé. Blank with a right candidate: q 3."""


def as_bytes(columns: dict[str, list[Any]], format: str) -> bytes:
    frame = pl.DataFrame(columns)
    out = io.BytesIO()
    match format:
        case "csv":
            frame.write_csv(out)
        case "tsv":
            frame.write_csv(out, separator="\t")
        case "jsonl":
            frame.write_ndjson(out)
        case _:
            frame.write_parquet(out)
    return out.getvalue()


def pack(data: bytes, packing: str) -> bytes:
    if packing == ".gz":
        return gzip.compress(data)
    return zstandard.ZstdCompressor().compress(data) if packing == ".zst" else data


@pytest.mark.slow
@pytest.mark.parametrize(("format", "packing"), WAYS)
def test_every_format_gives_the_same(tmp_path: Path, format: str, packing: str) -> None:
    gold, run = tmp_path / f"gold.{format}{packing}", tmp_path / f"run.{format}{packing}"
    gold.write_bytes(pack(as_bytes(GOLD_MIXED, format), packing))
    run.write_bytes(pack(as_bytes(MIXED, format), packing))
    assert counts_of(ab.score(gold, run)) == {"run": (4, 2, 1, 0, 0)}


@pytest.mark.parametrize(("format", "packing"), WAYS)
def test_convert_there_and_back(here: Here, format: str, packing: str) -> None:
    here.write("run.csv", as_bytes({**MIXED, "confidence": [0.5, 1, None, 0, 0, 0, 0]}, "csv"))
    there = f"there.{format}{packing}"
    assert here("convert", "run.csv", there).code == 0
    assert here("convert", there, "back.csv").code == 0
    assert pl.read_csv("back.csv", schema_overrides={"question": pl.String}).equals(
        pl.read_csv("run.csv", schema_overrides={"question": pl.String})
    )


def test_the_ending_is_only_a_hint(here: Here) -> None:
    """What the first bytes say wins over the name."""
    here.write("gold.csv", as_bytes(GOLD_MIXED, "parquet"))
    here.write("run.csv.gz", as_bytes(MIXED, "csv"))
    here.write("more.csv", pack(as_bytes(MIXED, "jsonl"), ".zst"))
    result = ab.score("gold.csv", ["run.csv.gz", "more.csv"])
    assert counts_of(result) == {"run": (4, 2, 1, 0, 0), "more": (4, 2, 1, 0, 0)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + RUN,
        RUN.replace("\n", "\r\n"),
        "\ufeff" + RUN.replace("\n", "\r\n"),
        RUN.replace(",", ";"),
        RUN.rstrip("\n"),
        RUN.replace("\nq2", "\n\n\nq2") + "\n\n",
        RUN.replace("\n", "\r\n").replace("q2", "\r\nq2"),
        'question,answer\n"q1","a"\n"q2","c"\n"q3",""\n"q4","d"\n',
        "question , answer\n q1 ,\ta \nq2,c\nq3,  \nq4,d\n",
        'answer,note,question\na,,q1\nc,"two\nlines, really",q2\n,,q3\nd,x,q4\n',
        'question,answer\nq1,a\nq2,5" disk\nq3,\nq4,d\n',
        'question,answer\nq1,a\nq2,"5"" disk, 3"" deep"\nq3,\nq4,d\n',
        "question\tanswer\nq1\ta\nq2\tone, two; three\nq3\t\nq4\td\n",
        "question\tanswer\tnote; more\r\nq1\ta\t\r\nq2\tc\t\r\nq3\t\t\r\nq4\td\t\r\n",
    ],
    ids=[
        *("bom", "crlf", "bom-crlf", "semicolons", "no-last-newline", "blank-lines"),
        *("blank-crlf", "quoted", "spaces", "newline-in-cell", "stray-quote", "doubled-quotes"),
        *("tabs", "tabs-and-a-semicolon"),
    ],
)
def test_csv_as_it_comes(here: Here, text: str) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", text)
    assert counts_of(ab.score("gold.csv", "run.csv")) == {"run": (2, 1, 0, 0, 1)}


@pytest.mark.parametrize(
    "text",
    [
        '{"question": "q1", "answer": "a"}\n\n{"question": "q2", "answer": "c"}\r\n'
        '{"question": "q3"}\n{"answer": "d", "question": "q4", "extra": {"deep": [1]}}',
        '\ufeff{"question":"q1","answer":" a "}\n{"question":"q2","answer":3}\n'
        '{"question":"q3","answer":null}\n{"question":"q4","answer":"d"}\n',
        '{"question":"q1","answer":"a","answered":true}\n{"question":"q2","answer":"c"}\n'
        '{"question":"q3","answer":"","answered":null}\n{"question":"q4","answer":"d"}\n',
    ],
)
def test_jsonl_as_it_comes(here: Here, text: str) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.jsonl", text)
    assert counts_of(ab.score("gold.csv", "run.jsonl")) == {"run": (2, 1, 0, 0, 1)}


def test_ids_that_look_like_numbers_stay_text(here: Here) -> None:
    here.write("gold.csv", "question,correct\n007,1.0\n7,01\n")
    here.write("run.csv", "question,answer\n007,1.0\n7,1\n")
    assert counts_of(ab.score("gold.csv", "run.csv")) == {"run": (1, 1, 0, 0, 0)}


def test_jsonl_keeps_the_order_of_its_keys(here: Here) -> None:
    here.write("in.jsonl", '{"zeta":"1","question":"q","alpha":"2","mid":"3"}\n{"new":"4"}\n')
    here("convert", "in.jsonl", "out.csv")
    assert (here.folder / "out.csv").read_text().splitlines()[0] == "zeta,question,alpha,mid,new"


def test_a_file_name_may_be_any_bytes(here: Here) -> None:
    import os

    here.write("gold.csv", GOLD)
    name = os.fsdecode(b"run\xff.csv")
    here.write(name, RUN)
    said = here("score", "gold.csv", name, "--format", "json")
    assert said.code == 0, said.err
    assert said.data["results"][0]["run"] == "run?"


def test_several_zstandard_frames_and_gzip_members(here: Here) -> None:
    head, tail = RUN[:20].encode(), RUN[20:].encode()
    here.write("gold.csv", GOLD)
    for packing in (".gz", ".zst"):
        here.write(f"run.csv{packing}", pack(head, packing) + pack(tail, packing))
        assert counts_of(ab.score("gold.csv", f"run.csv{packing}")) == {"run": (2, 1, 0, 0, 1)}


def test_random_bytes_unpack_to_themselves(tmp_path: Path) -> None:
    """Blocks of every size through the Zstandard reader."""
    import random

    from abstain.io.files import open_file

    draw = random.Random(0)
    for size in (1, 4095, 4096, 4097, 300_000):
        data = draw.randbytes(size // 2).replace(b"\0", b"0") + b"a\n" * (size // 4 + 1)
        path = tmp_path / "x.zst"
        path.write_bytes(pack(data, ".zst"))
        assert open_file(path).read() == data


@pytest.mark.slow
@settings(max_examples=200)
@given(body=st.text(alphabet='a,"\n\r x', max_size=40))
def test_any_text_is_read_as_the_csv_module_reads_it_or_refused(
    tmp_path_factory: pytest.TempPathFactory, body: str
) -> None:
    """The quick reader may never see other rows than an exact one does."""
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text("one,two\n" + body, newline="")
    try:
        frame = read_table(path).frame.collect()
    except ab.InputError:
        return
    records = list(csv.reader(io.StringIO(body, newline=""), strict=True))
    expected = [tuple(cell.strip() for cell in cells) for cells in records]
    found = frame.select("one", "two").fill_null("").rows()
    assert found == [cells for cells in expected if any(cells)]
    for row, cells in zip(frame["__row"], found, strict=True):
        assert expected[row] == cells, "a row has lost its place"


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv"])
def test_bytes_are_refused_where_a_format_has_none(here: Here, ending: str) -> None:
    table = pl.DataFrame({"question": ["q1"], "answer": ["A"], "raw": [b"\xff"]})
    table.write_parquet(here.folder / "b.parquet")
    said = here.refuses("convert", "b.parquet", f"out.{ending}")
    says(said, f"{ending}", "'raw'", f"{ending.upper()}")
    assert not (here.folder / f"out.{ending}").exists()
