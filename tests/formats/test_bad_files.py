"""Files that are no tables: one clear line with the file and the line, exit code 2, no trace."""

from __future__ import annotations

import gzip
import io
import os
import time
import zipfile

import polars as pl
import pytest
import zstandard

from tests.helpers import GOLD, RUN, Here
from tests.snapshots import says

PARQUET = io.BytesIO()
pl.DataFrame({"question": [f"q{i}" for i in range(500)], "answer": ["abc"] * 500}).write_parquet(
    PARQUET
)
PARQUET_BYTES = PARQUET.getvalue()
ZSTD = zstandard.ZstdCompressor().compress(RUN.encode())

WORKBOOK = "is a file of a spreadsheet program, expected text: save the table as CSV UTF-8"


def zipped(name: str, content: str = "<xml/>") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


BAD: dict[str, tuple[str, str | bytes, str]] = {
    "short row": ("run.csv", RUN + "q1\n", "run.csv:6: has 1 cell, expected 2 as in the header"),
    "long row": ("run.csv", "question,answer\nq1,a,b\n", "run.csv:2: has 3 cells, expected 2"),
    "short and long": (
        "run.csv",
        "question,answer,why\nq1,a\nq2,b,,\n",
        "run.csv:2: has 2 cells, expected 3",
    ),
    "ragged after cells of several lines": (
        "run.csv",
        'question,answer\nq1,"a\nb\nc"\n\nq2,"x\n"\nq3,1,2\n',
        "run.csv:8: has 3 cells, expected 2",
    ),
    "ragged with semicolons": ("run.csv", "question;answer\nq1;a\nq2\n", "run.csv:3: has 1 cell"),
    "ragged tsv": ("run.tsv", "question\tanswer\nq1\ta\tb\n", "run.tsv:2: has 3 cells"),
    "quote never closed": ("run.csv", 'question,answer\nq1,a\nq2,"b\nq3,c\n', "run.csv:3: a quote"),
    "column twice": ("run.csv", "question,answer,answer\nq1,a,b\n", "run.csv:1: column 'answer'"),
    "blank first line": ("run.csv", "\nquestion,answer\nq1,a\n", "run.csv:1: begins with a blank"),
    "empty": ("run.csv", b"", "run.csv: is empty"),
    "empty jsonl": ("run.jsonl", b"", "run.jsonl: is empty"),
    "white space": ("run.jsonl", b"\n \n", "run.jsonl: has no rows"),
    "empty gzip": ("run.csv.gz", gzip.compress(b""), "run.csv.gz: is empty"),
    "empty zstandard": (
        "run.csv.zst",
        zstandard.ZstdCompressor().compress(b""),
        "run.csv.zst: is empty",
    ),
    "header only": ("run.csv", "question,answer\n", "run.csv: has a header but no rows"),
    "header and blanks": ("run.csv", "question,answer\n\n,\n", "run.csv: has a header but no rows"),
    "binary": (
        "run.csv",
        b"question,answer\nq1,\0\1\2\n",
        "run.csv: is binary (a zero byte at 19)",
    ),
    "picture": ("run.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "run.png: is binary"),
    "utf-16": ("run.csv", RUN.encode("utf-16"), "run.csv: is UTF-16, expected UTF-8"),
    "utf-16 says what to do": ("run.csv", RUN.encode("utf-16"), "UTF-8: save it with the encoding"),
    "utf-16 without a mark": ("run.csv", RUN.encode("utf-16-le"), "run.csv: is binary"),
    "utf-16 tsv": (
        "run.txt",
        RUN.replace(",", "\t").encode("utf-16"),
        "run.txt: is UTF-16, expected UTF-8: save it with the encoding UTF-8",
    ),
    "utf-16 jsonl": ("run.jsonl", '{"question": "q1"}\n'.encode("utf-16"), "run.jsonl: is UTF-16"),
    "utf-16 be": ("run.csv", b"\xfe\xff" + RUN.encode("utf-16-be"), "run.csv: is UTF-16"),
    "latin-1": ("run.csv", RUN.replace("c", "é").encode("latin-1"), "run.csv:3: is not UTF-8"),
    "latin-1 says what to do": (
        "run.csv",
        RUN.replace("c", "é").encode("latin-1"),
        "(perhaps Latin-1 or Windows-1252): save it with the encoding UTF-8 (from a spreadsheet: "
        "as CSV UTF-8)",
    ),
    "latin-1 in the header": (
        "run.csv",
        "question,réponse\nq1,a\n".encode("latin-1"),
        "run.csv:1: is not UTF-8 text (perhaps Latin-1",
    ),
    "latin-1 jsonl": (
        "run.jsonl",
        '{"question": "q1"}\n{"question": "é"}\n'.encode("latin-1"),
        "run.jsonl:2: is not UTF-8 text (perhaps Latin-1",
    ),
    "workbook": ("run.xlsx", zipped("[Content_Types].xml"), f"run.xlsx: {WORKBOOK}"),
    "workbook of another writer": ("run.xlsx", zipped("docProps/app.xml"), f"run.xlsx: {WORKBOOK}"),
    "workbook called csv": ("run.csv", zipped("xl/workbook.xml"), f"run.csv: {WORKBOOK}"),
    "open document": (
        "run.ods",
        zipped("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        f"run.ods: {WORKBOOK}",
    ),
    "old workbook": (
        "run.xls",
        bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 500,
        f"run.xls: {WORKBOOK}",
    ),
    "archive": ("run.zip", zipped("notes.txt", "none"), "run.zip: is an archive that holds"),
    "latin-1 with a stray quote": (
        "run.csv",
        'question,answer\nq1,5" x\nq2,é\n'.encode("latin-1"),
        "run.csv:3: is not UTF-8",
    ),
    "html": ("run.csv", "<!doctype html><html><body>404</body></html>", "is not XML"),
    "json array": (
        "run.jsonl",
        '[["q1", "a"]]',
        "run.jsonl: is not an array of objects of a known",
    ),
    "broken json": (
        "run.jsonl",
        '{"question":"q1","answer":"a"}\n{"question": "q2", \n',
        "run.jsonl:2: is not complete JSON",
    ),
    "json number": (
        "run.jsonl",
        '{"question":"q1","answer":"a"}\n3\n',
        "run.jsonl:2: is not a JSON object",
    ),
    "json not utf-8": ("run.jsonl", b'{"question":"q1","answer":"\xff"}\n', "run.jsonl:1: is not"),
    "deep json": ("run.jsonl", '{"a":' + "[" * 100_000 + "\n", "run.jsonl:1: is not complete JSON"),
    "json that takes our column": (
        "run.jsonl",
        '{"question":"q1","answer":"a","__row":1}\n',
        "run.jsonl: a column may not be called __row",
    ),
    "csv called jsonl": ("run.jsonl", RUN, "run.jsonl:1: is not complete JSON"),
    "csv called parquet": ("run.parquet", RUN, "run.parquet: cannot be read: parquet"),
    "truncated gzip": (
        "run.csv.gz",
        gzip.compress(RUN.encode())[:-9],
        "run.csv.gz: is not complete gzip data: it ends too early",
    ),
    "damaged gzip": (
        "run.csv.gz",
        gzip.compress(RUN.encode() * 50)[:40] + b"\xff" * 40,
        "run.csv.gz: is not complete gzip data",
    ),
    "truncated zstandard": (
        "run.csv.zst",
        ZSTD[:-3],
        "run.csv.zst: is not complete Zstandard data",
    ),
    "damaged zstandard": (
        "run.csv.zst",
        ZSTD[:4] + b"\xff" * 30,
        "run.csv.zst: is not complete Zstandard data",
    ),
    "half a parquet": ("run.parquet", PARQUET_BYTES[: len(PARQUET_BYTES) // 2], "run.parquet: "),
    "parquet magic alone": ("run.parquet", b"PAR1PAR1", "run.parquet: cannot be read: parquet"),
    "no question column": ("run.csv", "problem,answer\nq1,a\n", "--column question=problem"),
    "no answer column": ("run.csv", "question,pred\nq1,a\n", "--column answer=pred"),
    "no column that is known": (
        "run.csv",
        "problem,pred\nq1,a\n",
        "run.csv:1: has no column 'question', which names each question, and no column 'answer', "
        "which holds the answer (empty: none was given) (its columns: problem, pred); "
        "map another name with --column question=problem --column answer=pred",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
def test_refused_in_one_line(here: Here, case: str) -> None:
    name, content, said = BAD[case]
    here.write("gold.csv", GOLD)
    here.write(name, content)
    line = here.refuses("score", "gold.csv", name, "-o", "out.json")
    assert line.startswith(name)
    assert said in line


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in BAD if "column" not in c])
def test_refused_as_gold_counts_and_source_of_a_conversion(here: Here, case: str) -> None:
    name, content, _ = BAD[case]
    here.write(name, content)
    here.write("other.csv", RUN)
    assert here.refuses("score", name, "other.csv").startswith(name)
    assert here.refuses("score", "--counts", name).startswith(name)
    assert here.refuses("score", "--judged", name).startswith(name)
    assert here.refuses("convert", name, "out.csv").startswith(name)


@pytest.mark.parametrize(
    ("command", "content", "said"),
    [
        (
            ("score", "file.csv", "run.csv"),
            "problem,answer\nq1,a\n",
            "has no column 'question', which names each question, and no column 'correct', which "
            "holds the right answer (empty: there is none) (its columns: problem, answer); "
            "map another name with --column question=problem --column "
            "gold:correct=answer",
        ),
        (
            ("score", "--counts", "file.csv"),
            "run,correct,false\na,1,2\n",
            "has no column 'right', the number of right answers, and no column 'wrong', the number "
            "of wrong answers, and no column 'unanswered', the number of questions without an "
            "answer (its columns: run, correct, false); map another name with "
            "--column right=NAME --column wrong=NAME --column unanswered=NAME",
        ),
        (
            ("score", "--counts", "file.csv", "--by", "topic"),
            "run,right,unanswered\na,1,2\n",
            "has no column 'wrong', the number of wrong answers (its columns: run, right, "
            "unanswered); map another name with --column wrong=NAME",
        ),
        (
            ("compare", "--judged", "file.csv"),
            "run,problem,grade\na,q1,right\n",
            "has no column 'question', which names each question (its columns: run, problem, "
            "grade); "
            "map another name with --column question=problem",
        ),
    ],
)
def test_all_missing_columns_at_once(
    here: Here, command: tuple[str, ...], content: str, said: str
) -> None:
    here.write("file.csv", content)
    here.write("run.csv", RUN)
    assert here.refuses(*command).startswith(f"file.csv:1: {said}")


def test_a_workbook_is_no_ranking(here: Here) -> None:
    here.write("qrels", "q1 0 d1 1\n")
    here.write("run.xlsx", zipped("[Content_Types].xml"))
    assert here.refuses("rank", "qrels", "run.xlsx") == f"run.xlsx: {WORKBOOK}"


def test_directory_and_nothing(here: Here) -> None:
    here.write("gold.csv", GOLD)
    (here.folder / "runs").mkdir()
    said = here.refuses("score", "gold.csv", "runs")
    says(said)
    here.write("run.csv", RUN)
    line = here.refuses("score", "gold.csv", "rum.csv")
    says(line, "rum.csv", "run.csv")
    assert "cannot be read" in here.refuses("score", "gold.csv", "a/" * 3000)


@pytest.mark.slow
def test_damaged_parquet_anywhere(here: Here) -> None:
    """Whatever bytes are damaged, a result or one line: never a trace of the engine."""
    here.write("gold.csv", "question,correct\n" + "".join(f"q{i},abc\n" for i in range(500)))
    here.write("run.parquet", PARQUET_BYTES)
    assert here("score", "gold.csv", "run.parquet").code == 0
    refused = 0
    for at in range(4, len(PARQUET_BYTES), max(1, len(PARQUET_BYTES) // 80)):
        damaged = bytearray(PARQUET_BYTES)
        damaged[at : at + 4] = b"\xff\xfe\xfd\xfc"
        here.write("run.parquet", bytes(damaged))
        said = here("score", "gold.csv", "run.parquet")
        assert said.code in (0, 2), (at, said)
        if said.code == 2:
            refused += 1
            assert said.line.startswith("run.parquet"), (at, said.err)
    assert refused > 20


@pytest.mark.slow
@pytest.mark.parametrize("packing", ["plain", "gz", "zst"])
def test_a_huge_line_is_refused_quickly(here: Here, packing: str) -> None:
    junk = b"x" * (40 << 20)
    packed = {
        "plain": lambda: junk,
        "gz": lambda: gzip.compress(junk, 1),
        "zst": lambda: zstandard.ZstdCompressor(level=1).compress(junk),
    }[packing]()
    here.write("gold.csv", GOLD)
    here.write("run.csv", packed)
    started = time.perf_counter()
    line = here.refuses("score", "gold.csv", "run.csv")
    says(line, "run.csv", "8")
    assert time.perf_counter() - started < 10


def test_a_huge_line_after_good_ones_is_refused(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", RUN.encode() + b"x" * (40 << 20))
    says(here.refuses("score", "gold.csv", "run.csv"), "8")


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_a_bomb_is_bounded(here: Here, packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"question,answer\n" + b"q1,a\n" * 400_000
    packed = gzip.compress(data) if packing == "gz" else zstandard.ZstdCompressor().compress(data)
    assert len(packed) < 20_000
    here.write("gold.csv", GOLD)
    here.write(f"run.csv.{packing}", packed)
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", "1000000")
    line = here.refuses("score", "gold.csv", f"run.csv.{packing}")
    says(line, "run.csv", f"{packing}", "1,000,000")
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", "a lot")
    says(here.refuses("score", "gold.csv", f"run.csv.{packing}"))


def test_a_pipe_reads_like_a_file(here: Here) -> None:
    import threading

    here.write("gold.csv", GOLD)
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: (here.folder / "pipe").write_text(RUN))
    writer.start()
    said = here("score", "gold.csv", "pipe", "--format", "json")
    writer.join()
    assert said.data["results"][0]["scores"]["c@1"] == 0.625


@pytest.mark.parametrize(
    "target",
    [
        "out.xyz",
        "missing/out.csv",
        "folder",
    ],
)
def test_conversions_that_cannot_be_written(here: Here, target: str) -> None:
    here.write("run.csv", RUN)
    (here.folder / "folder").mkdir()
    says(here.refuses("convert", "run.csv", target))


def test_nested_columns_do_not_fit_csv(here: Here) -> None:
    pl.DataFrame({"question": ["q"], "deep": [{"a": 1}]}).write_parquet("in.parquet")
    line = here.refuses("convert", "in.parquet", "out.csv")
    says(line, "out.csv", "'deep'")
    assert here("convert", "in.parquet", "out.jsonl").code == 0
