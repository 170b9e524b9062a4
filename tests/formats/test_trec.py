"""Reading TREC files: odd white space, packed files, and everything that can be wrong."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.io import files, trec
from abstain.io.files import open_file
from abstain.io.trec import single_spaced
from tests.helpers import Here
from tests.rankings.collections_by_hand import frames, opened, values, write
from tests.snapshots import refuses, says

Packed = Callable[[bytes], bytes]
GOLD = {"1": {"a": 1.0, "b": 0.0, "c": 2.0}, "2": {"a": 0.0, "d": 1.0}}
WHOLE = {q: {d: int(g) for d, g in docs.items()} for q, docs in GOLD.items()}
RUN = {"1": {"a": 3.0, "x": 2.0, "c": 2.0, "b": -1e-3}, "2": {"d": 0.5, "y": 1e3}}
EXPECTED = [5 / 6, 0.5]  # a, then x before c, which have one score


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.qrels", qrels=WHOLE)


def scores(gold: Path, path: Path) -> list[float]:
    return [float(score) for score in values("AP", opened(gold, path))]


PLAIN = "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, docs in RUN.items() for d, s in docs.items())
SAME = {
    "plain": PLAIN,
    "tabs": PLAIN.replace(" ", "\t"),
    "tabs and blanks": PLAIN.replace(" Q0 ", "\tQ0 "),
    "repeated blanks": PLAIN.replace(" ", "  \t "),
    "aligned scores": PLAIN.replace(" 1 ", " 1     "),
    "leading blanks": "".join(f"  {line}\n" for line in PLAIN.splitlines()),
    "trailing blanks": PLAIN.replace("\n", " \t\n"),
    "blank lines": "\n\n" + PLAIN.replace("\n", "\n \n\n"),
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "CR alone": PLAIN.replace("\n", "\r"),
    "CR CR LF": PLAIN.replace("\n", "\r\r\n"),
    "BOM": "\ufeff" + PLAIN,
    "BOM and CRLF": "\ufeff" + PLAIN.replace("\n", "\r\n"),
    "no newline at the end": PLAIN.rstrip("\n"),
    "blanks and no newline at the end": PLAIN.rstrip("\n") + "  ",
    "junk": PLAIN.replace(" t\n", " t some junk\n"),
    "junk in the first line": PLAIN.replace(" t\n", " t and more junk\n", 1),
    "junk in the last line": PLAIN[:-1] + ' junk, "and" \'quotes\n',
    "comments": "# a comment\n" + PLAIN.replace("\n", "\n  # another\n", 2),
    "exponents": PLAIN.replace("3.0", "+.3E1").replace("-0.001", "-1e-3").replace("1000.0", "1e+3"),
    "form feeds": PLAIN.replace(" ", "\f").replace("\f1\f", "\v1\f"),
    "scattered": "".join(sorted(PLAIN.splitlines(keepends=True), key=lambda line: line[::-1])),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstandard.compress])
def test_the_same_numbers(tmp_path: Path, gold: Path, text: str, packed: Packed) -> None:
    (tmp_path / "run").write_bytes(packed(text.encode()))
    assert scores(gold, tmp_path / "run") == pytest.approx(EXPECTED)


def test_parts_of_packed_files_are_read_on(tmp_path: Path, gold: Path) -> None:
    first, second = PLAIN[:40].encode(), PLAIN[40:].encode()
    for pack in (gzip.compress, zstandard.compress):
        (tmp_path / "run").write_bytes(pack(first) + pack(second))
        assert scores(gold, tmp_path / "run") == pytest.approx(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 7, 20, 64])
@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_wherever_the_pieces_end(
    tmp_path: Path, gold: Path, text: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK", chunk)
    (tmp_path / "run").write_text(text)
    assert scores(gold, tmp_path / "run") == pytest.approx(EXPECTED)


TWICE = "document 'a' appears twice for query '1' (first: run:1)"
WRONG_RUNS = {
    "1 Q0 a 1 x t": "run:1: the score must be a number (got 'x')",
    "1 Q0 a 1 nan t": "run:1: the score must be a number (got 'nan')",
    "1 Q0 a 1 -NaN t": "run:1: the score must be a number (got '-NaN')",
    "1 Q0 a 1 1_0 t": "run:1: the score must be a number (got '1_0')",
    "1 Q0 a 1 0x1 t": "run:1: the score must be a number (got '0x1')",
    "1 Q0 a 1 1,5 t": "run:1: the score must be a number (got '1,5')",
    "1 Q0 a 1 2.5e t": "run:1: the score must be a number (got '2.5e')",
    "1 Q0 a 1 ٣ t": "run:1: the score must be a number (got '٣')",
    "1 Q0 a 1 2 t\n\n1 Q0 b 1 2": "run:3: 5 columns, expected 6: query Q0 doc rank score run",
    "1 Q0  1 2 t": "run:1: 5 columns, expected 6: query Q0 doc rank score run",
    "1 0 a 1": "run:1: 4 columns, expected 6: query Q0 doc rank score run",
    "word": "run:1: 1 column, expected 6: query Q0 doc rank score run",
    "1,Q0,a,1,2,t": "run:1: 1 column, expected 6: query Q0 doc rank score run",
    "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 a 3 0 t": f"run:3: {TWICE}",
    "1 Q0 a 1 2 t\n2 Q0 a 2 1 t\n1 Q0 a 2 1 t": f"run:3: {TWICE}",
    "9 Q0 a 1 2 t\n9 Q0 a 2 1 t": "run:2: " + TWICE.replace("'1'", "'9'"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "message"), WRONG_RUNS.items(), ids=range(len(WRONG_RUNS)))
@pytest.mark.parametrize("chunk", [9, 1 << 20])
def test_wrong_runs_are_one_clear_line(
    here: Here, text: str, message: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK", chunk)
    write(here.folder / "qrels", qrels=WHOLE)
    here.write("run", text)
    assert here.refuses("rank", "qrels", "run") == message


NONE = "qrels: has no judgments (expected lines: query 0 doc rel)"
WRONG_QRELS = {
    "1 0 a": "qrels:1: 3 columns, expected 4: query 0 doc rel",
    "1 0 a 1\n1 0 b 1 x": "qrels:2: 5 columns, expected 4: query 0 doc rel",
    PLAIN: "qrels:1: 6 columns, expected 4: query 0 doc rel (a run? the judgments come first)",
    "1 0 a 1 x y": "qrels:1: 6 columns, expected 4: query 0 doc rel",
    "1 0 a 99999999999999999999": "qrels:1: the rel must be a whole number of at most 18 "
    "digits (got '99999999999999999999')",
    "1 0 a 1.5": "qrels:1: the rel must be a whole number of at most 18 digits (got '1.5')",
    "1 0 a one": "qrels:1: the rel must be a whole number of at most 18 digits (got 'one')",
    "1 0 a 1\n1 0 b 1\n2 0 a 1\n1 0 a 1": f"qrels:4: {TWICE.replace('run', 'qrels')}",
    "": NONE,
    "\n \n# nothing\n": NONE,
}


@pytest.mark.parametrize(("text", "message"), WRONG_QRELS.items(), ids=range(len(WRONG_QRELS)))
def test_wrong_qrels_are_one_clear_line(here: Here, text: str, message: str) -> None:
    here.write("qrels", text)
    write(here.folder / "run", run=RUN)
    assert here.refuses("rank", "qrels", "run") == message


PACKED = zstandard.compress(PLAIN.encode() * 50)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 Q0 caf\xe9 1 2 t\n", ("1", "8", "'caf�'")),
        ("1 Q0 a 1 2 t\n".encode("utf-16"), ("16", "8")),
        (gzip.compress(PLAIN.encode())[:-9], ()),
        (b"\x1f\x8bnot gzip", ()),
        (PACKED[:6] + b"????", ()),
        (PACKED[:-5], ()),
        (b"x" * (9 << 20), ("8",)),
        (b"\x00" * 100, ()),
        (b"<html>1 Q0 a</html>", ("1", "3", "6")),
        (b"[1, 2]", ()),
    ],
    ids=range(10),
)
def test_files_that_are_no_runs(here: Here, content: bytes, message: tuple[str, ...]) -> None:
    write(here.folder / "qrels", qrels=WHOLE)
    here.write("run", content)
    says(here.refuses("rank", "qrels", "run"), *message)


def test_files_that_are_not_there(here: Here) -> None:
    write(here.folder / "qrels", qrels=WHOLE)
    (here.folder / "folder").mkdir()
    says(here.refuses("rank", "qrels", "qrel"))
    says(here.refuses("rank", "qrels", "folder"))


def test_a_packed_file_may_not_unpack_to_anything(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here.folder / "qrels", qrels=WHOLE)
    here.write("run", gzip.compress(b"\n" * 100_000))
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", "10000")
    says(here.refuses("rank", "qrels", "run"), "10,000")


def test_an_empty_run_answers_nothing(tmp_path: Path, gold: Path) -> None:
    (tmp_path / "silent.txt.gz").write_bytes(gzip.compress(b""))
    rankings = opened(gold, tmp_path / "silent.txt.gz")
    assert rankings.runs == ("silent",)
    assert rankings.missing.tolist() == [True, True]
    with pytest.raises(ab.InputError, match="run 'silent' lacks 2 queries: '1', '2'"):
        ab.rank(gold, tmp_path / "silent.txt.gz", missing="error")


def test_several_runs_by_tag_and_by_file(tmp_path: Path, gold: Path) -> None:
    one, two, both = (tmp_path / name for name in ("one", "two", "both"))
    one.write_text(PLAIN.replace(" t\n", " A\n"))
    two.write_text("1 Q0 c 1 9 B\n")
    both.write_text("".join(sorted([*one.read_text().splitlines(keepends=True), two.read_text()])))
    for sources in ([one, two], [both]):
        rankings = opened(gold, *sources)
        assert set(rankings.runs) == {"A", "B"}
        own = dict(zip(rankings.runs, rankings.by_run(values("AP", rankings)), strict=True))
        np.testing.assert_allclose(own["A"], EXPECTED)
        np.testing.assert_allclose(own["B"], [0.5, 0])
    assert set(opened(gold, one, both).runs) == {"one", "both/A", "B"}
    (tmp_path / "more").mkdir()
    again = tmp_path / "more" / "one"
    again.write_text(one.read_text())
    assert set(opened(gold, one, again).runs) == {f"{tmp_path.name}/one", "more/one"}
    (tmp_path / "other" / "more").mkdir(parents=True)
    third = tmp_path / "other" / "more" / "one"
    third.write_text(one.read_text())
    assert set(opened(gold, again, third).runs) == {str(again), str(third)}
    with pytest.raises(ab.InputError, match=f"^{re.escape(str(one))}: appears twice$"):
        opened(gold, one, two, one)
    with pytest.raises(ab.InputError, match="one: appears twice"):
        opened(gold, one, tmp_path / "more" / ".." / "one")
    same = ab.rank(gold, {"mine": one, "yours": one}, measures=["AP"])
    assert {row.run for row in same.rows} == {"mine", "yours"}
    named = ab.rank(gold, {"mine": one, "yours": two}, measures=["AP"])
    assert {row.run for row in named.rows} == {"mine", "yours"}


def test_queries_without_judgments_are_named(tmp_path: Path, gold: Path) -> None:
    path = tmp_path / "run"
    for end in ("\n", "\r\n", "\r"):
        text = PLAIN + "\n# 77 is not here\n  \n5 Q0 77 1 1 t\n 77 Q0 a 1 1 t\n77 Q0 b 1 1 t\n"
        path.write_bytes(text.replace("\n", end).encode())
        assert opened(gold, path).unjudged == (("5", "77"),)


def test_the_rank_column_when_asked(tmp_path: Path, gold: Path) -> None:
    path = tmp_path / "run"
    path.write_text("1 Q0 x 3 9 t\n1 Q0 a 1 7 t\n1 Q0 c 2 8 t\n2 Q0 d 10 x t\n2 Q0 y 9 x t\n")
    assert values("AP", opened(gold, path, ties="rank")).tolist() == [1.0, 0.5]
    path.write_text("1 Q0 x 1 9 t\n1 Q0 a 2 7 t\n2 Q0 c 2 8 t\n1 Q0 c 01 8 t\n")
    with refuses(ab.InputError, "4", "1", "'1'"):
        opened(gold, path, ties="rank")
    path.write_text("1 Q0 x 1.5 9 t\n")
    with refuses(ab.InputError, "1", "'1.5'"):
        opened(gold, path, ties="rank")


blanks = st.text(" \t\r\v\f", min_size=1, max_size=3)
field = st.text(st.characters(exclude_categories=("Cc", "Cs", "Z")), min_size=1, max_size=6)
Line = tuple[list[tuple[str, str]], str, bool]


@given(lines=st.lists(st.tuples(st.lists(st.tuples(field, blanks)), blanks, st.booleans())))
@example(lines=[([("#", " ")], " ", True)])
def test_single_spacing_is_splitting(lines: list[Line]) -> None:
    parts = []
    for fields, lead, with_lead in lines:
        parts.append((lead if with_lead else "") + "".join(a + b for a, b in fields) + "\n")
    text = "".join(parts).encode()
    wanted = [line.split() for line in text.splitlines()]
    wanted = [pieces for pieces in wanted if pieces and not pieces[0].startswith(b"#")]
    got = [line.split(b" ") for line in single_spaced(text).split(b"\n") if line]
    assert got == wanted


PIECES = [*"12ab \t\n#\r", " Q0 ", " 1 ", ".5", "e-3", " t\n", "1 Q0 a 1 2.5 t\n", "nan", "inf"]
likely = st.lists(st.sampled_from(PIECES), max_size=40).map(lambda parts: "".join(parts).encode())


def check_line(text: str, path: Path) -> None:
    """One line that says where."""
    assert text.startswith(str(path))
    assert "\n" not in text


@pytest.mark.slow
@settings(max_examples=150)
@given(content=st.binary(max_size=200) | likely)
def test_any_bytes_are_scored_or_refused(tmp_path: Path, content: bytes) -> None:
    """Whatever is read agrees with reading line by line, and what is not has a place."""
    path = tmp_path / "run"
    path.write_bytes(content)
    try:
        rankings = opened(frames(GOLD, {})[0], path)
    except ab.InputError as error:
        check_line(str(error), path)
        return
    counts = dict.fromkeys(rankings.queries, 0)
    for _, fields in trec.lines(open_file(path)):
        assert len(fields) >= 6
        assert trec.NUMBER.fullmatch(fields[4])
        if (name := fields[0].decode()) in counts:
            counts[name] += 1
    assert rankings.by_run(rankings.returned).sum(axis=0).tolist() == list(counts.values())


@pytest.mark.slow
@settings(max_examples=75)
@given(content=st.binary(max_size=120) | st.text("12 0ab.\t\n#-\r", max_size=80).map(str.encode))
def test_any_bytes_are_judgments_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(content)
    try:
        rankings = opened(path, frames(GOLD, RUN)[1])
    except ab.InputError as error:
        check_line(str(error), path)
        return
    lines = [fields for _, fields in trec.lines(open_file(path))]
    assert all(len(fields) == 4 for fields in lines)
    grades = sorted(float(fields[3]) for fields in lines if float(fields[3]) >= 0)
    assert sorted(rankings.pool.grade.tolist()) == grades


@given(number=st.floats(allow_nan=False) | st.integers(-(10**18), 10**18))
def test_scores_are_read_exactly(tmp_path: Path, number: float) -> None:
    for text in (repr(number), f"{float(number):.17e}"):
        (tmp_path / "run").write_text(f"1 Q0 a 1 {text} t\n")
        (batch,) = trec.run_batches(open_file(tmp_path / "run"))
        assert batch["score"][0] == float(number)
