"""QA4MRE XML: what it says, where it stands, and what is refused."""

from __future__ import annotations

import gzip
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.cli import run as command
from abstain.errors import AbstainError, InputError
from abstain.io.qa4mre import id_levels, is_none_of_the_above, question_id
from abstain.io.tables import ROW, Table, read_table, write_table
from abstain.runs.gold import read_gold
from tests.qa4mre_files import GOLD, RUN, gold_xml, real, run_xml
from tests.snapshots import refuses

FEW = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def saved(folder: Path, text: str | bytes, name: str = "file.xml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def frame(table: Table) -> pl.DataFrame:
    return table.frame.collect().drop(ROW)


# ----------------------------------------------------------------------------------- golds


def test_a_gold_has_its_questions_attributes_and_lines(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, GOLD))
    assert frame(table).rows(named=True) == [
        {
            "question": "1/1/1",
            "correct": ["2"],
            "options": ["1", "2", "3"],
            "topic": "AIDS",
            "test": "1",
            "nca": "no",
            "text": "Who pays?",
            "option_texts": ["nobody", "Tom & Jerry", "None of the above"],
        },
        {
            "question": "1/1/2",
            "correct": ["3"],
            "options": ["1", "2", "3"],
            "topic": "AIDS",
            "test": "1",
            "nca": "yes",
            "text": "Why?",
            "option_texts": ["so", "because", "NONE of the above."],
        },
        {
            "question": "2/2/1",
            "correct": ["1"],
            "options": ["1", "2"],
            "topic": "Music",
            "test": "2",
            "nca": "no",
            "text": "How?",
            "option_texts": ["thus", "otherwise"],
        },
    ]
    assert [table.place(row).line for row in range(3)] == [6, 13, 23]
    gold = read_gold(saved(tmp_path, GOLD))
    assert gold.attributes == ("topic", "test", "nca", "text")


def test_tests_that_restart_in_each_topic_keep_apart(tmp_path: Path) -> None:
    gold = read_gold(saved(tmp_path, GOLD.replace('r_id="2"', 'r_id="1"')))
    assert gold.frame["test"].to_list() == ["1/1", "1/1", "2/1"]


def test_attributes_of_a_question_are_attributes_of_the_gold(tmp_path: Path) -> None:
    gold = read_gold(saved(tmp_path, GOLD.replace('<q q_id="2"', '<q q_id="2" type="why"')))
    assert gold.frame["type"].to_list() == [None, "why", None]


def test_several_and_no_right_answers(tmp_path: Path) -> None:
    text = GOLD.replace("<answer a_id='1' >", "<answer a_id='1' correct='yes'>").replace(
        ' correct="x"', ' correct=""'
    )
    gold = read_gold(saved(tmp_path, text))
    assert gold.frame["accepted"].list.len().to_list()[:2] == [2, 1]
    assert gold.frame["nothing_right"].to_list() == [False, False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((' a_id="2"', ""), r"14|16: has an answer to question '1/1/2' with the a_id ''"),
        (
            ('<answer a_id="2">b', '<answer a_id="1">b'),
            r":16: has an answer to question .* with the a_id '1', expected another",
        ),
        (('q_id="2"', 'q_id="1"'), r":13: question '1/1/1' appears twice \(first: .*:6\)"),
        (('q_id="2"', ""), r":13: a question has no id"),
        (('a_id="2">b', 'a_id="a|b">b'), r":16: has an answer .* with the a_id 'a\|b'"),
    ],
)
def test_faults_of_a_gold_have_their_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_gold(saved(tmp_path, GOLD.replace(*change)))


def test_a_run_is_not_a_gold_nor_a_gold_a_run(tmp_path: Path) -> None:
    gold, run = saved(tmp_path, GOLD, "gold.xml"), saved(tmp_path, RUN, "run.xml")
    with refuses(InputError, "run.xml:1"):
        ab.score(run, [run])
    with refuses(InputError, "gold.xml:1"):
        ab.score(gold, [gold])


# ------------------------------------------------------------------------------------ runs


def test_a_run_has_its_responses_name_and_lines(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, RUN))
    assert frame(table).rows() == [
        ("1/1/1", "2", "YES"),
        ("1/1/2", "3", "NO"),
        ("2/2/1", "", "NO"),
    ]
    assert [table.place(row).line for row in range(3)] == [6, 9, 16]
    assert table.run_id == ("jucs1302enen", 3)


def test_scores_of_a_run(tmp_path: Path) -> None:
    row = ab.score(saved(tmp_path, GOLD, "g.xml"), saved(tmp_path, RUN, "r.xml")).rows[0]
    assert row.run == "jucs1302enen"
    assert row.counts == ab.Counts(right=1, unanswered_right=1, unanswered_empty=1)


def test_nca_is_a_slice(tmp_path: Path) -> None:
    gold, run = saved(tmp_path, GOLD, "g.xml"), saved(tmp_path, RUN, "r.xml")
    slices = {row.slice["nca"]: row.counts.n for row in ab.score(gold, run, by=["nca"]).rows}
    assert slices == {"yes": 1, "no": 2}


def test_a_shared_run_id_names_no_run(tmp_path: Path) -> None:
    gold = saved(tmp_path, GOLD, "g.xml")
    runs = [saved(tmp_path, RUN, f"{name}.xml") for name in ("one", "two")]
    runs.append(saved(tmp_path, RUN.replace("jucs1302enen", "three"), "other.xml"))
    assert {row.run for row in ab.score(gold, runs).rows} == {"one", "two", "three"}


def test_two_answers_to_a_question_are_refused(tmp_path: Path) -> None:
    text = RUN.replace('<answer a_id="2"/>', '<answer a_id="2"/><answer a_id="1"/>')
    with refuses(InputError, "7", "'1/1/1'"):
        read_table(saved(tmp_path, text))


@pytest.mark.parametrize("name", ["r.xml", "r.dat", "r.csv"])
def test_xml_is_known_by_its_bytes(tmp_path: Path, name: str) -> None:
    assert read_table(saved(tmp_path, RUN, name)).format == "qa4mre"


def test_packed_files_and_other_encodings(tmp_path: Path) -> None:
    accented = GOLD.replace("nobody", "Peñas")
    packed = {
        "g.xml.gz": gzip.compress(accented.encode()),
        "g.xml.zst": zstandard.ZstdCompressor().compress(accented.encode()),
        "latin.xml": accented.replace("UTF-8", "ISO-8859-1").encode("latin-1"),
        "bom.xml": b"\xef\xbb\xbf" + accented.encode(),
    }
    for name, data in packed.items():
        texts = frame(read_table(saved(tmp_path, data, name)))["option_texts"][0].to_list()
        assert texts[0] == "Peñas", name


@pytest.mark.slow
def test_lines_are_right_beyond_65535(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, run_xml([("1", range(1, 70_001))])))
    assert table.place(69_999).line == 70_003


# ------------------------------------------------------------------------------- round trips

NAMES = st.text(
    st.characters(
        exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"), exclude_characters="|/"
    ),
    min_size=1,
    max_size=8,
)
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn")), max_size=20).map(
    lambda text: " ".join(text.split())
)
IDS = st.one_of(
    NAMES, st.tuples(NAMES, NAMES, NAMES).map("/".join), st.tuples(NAMES, NAMES).map("/".join)
)


@pytest.mark.slow
@FEW
@given(data=st.data())
def test_a_run_written_reads_the_same(data: st.DataObject, tmp_path: Path) -> None:
    ids = data.draw(st.lists(IDS, min_size=1, max_size=8, unique=True))
    rows = [
        (name, *data.draw(st.sampled_from([("", "NO"), (data.draw(NAMES), "YES"), ("b", "NO")])))
        for name in ids
    ]
    written = pl.DataFrame(rows, schema=["question", "answer", "answered"], orient="row")
    path = tmp_path / "run.xml"
    write_table(written.with_columns(run=pl.lit(name := data.draw(NAMES))), path)
    table = read_table(path)
    assert frame(table).equals(written)
    assert table.run_id == (name, 2)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_a_gold_goes_to_every_format(tmp_path: Path, ending: str) -> None:
    path = saved(tmp_path, GOLD, "gold.xml")
    ab.convert(path, there := tmp_path / f"there.{ending}")
    first, second = read_gold(path), read_gold(there)
    assert second.frame.drop(ROW).equals(first.frame.drop(ROW))
    assert second.attributes == first.attributes


def test_what_a_blank_is_survives(tmp_path: Path) -> None:
    csv = "question,answer,candidate,confidence,why\nq1,a,,0.9,\nq2,,b,0.2,\nq3,,,,unparseable\n"
    ab.convert(saved(tmp_path, csv, "run.csv"), tmp_path / "run.xml")
    gold = saved(tmp_path, "question,correct\nq1,a\nq2,b\nq3,c\n", "gold.csv")
    rows = [ab.score(gold, tmp_path / name).rows[0] for name in ("run.csv", "run.xml")]
    assert rows[0].counts == rows[1].counts == ab.Counts(right=1, unanswered_right=1, wrong=1)
    assert rows[0].run == rows[1].run == "run"
    assert frame(read_table(tmp_path / "run.xml"))["confidence"].to_list() == ["0.9", "0.2", None]


@pytest.mark.parametrize(
    ("csv", "message"),
    [
        ("question,answer,run\nq1,a,x\nq1,a,y\n", ("2",)),
        ("question,answer\n,a\n", ()),
        ("question,answer\nq\x01,a\n", ()),
        ("question,text\nq,a\n", ("'answer'",)),
        ("question,correct,options\nq,a,b\n", ("'answer'",)),
    ],
)
def test_what_xml_cannot_hold_is_refused(
    tmp_path: Path, csv: str, message: tuple[str, ...]
) -> None:
    with refuses(InputError, *message):
        ab.convert(saved(tmp_path, csv, "t.csv"), tmp_path / "t.xml")
    assert not (tmp_path / "t.xml").exists()


def test_markup_in_names_is_escaped(tmp_path: Path) -> None:
    evil = """<a href='x' onclick="y">&amp;"""
    write_table(
        pl.DataFrame({"question": [evil], "answer": [evil], "run": [evil]}), tmp_path / "r.xml"
    )
    table = read_table(tmp_path / "r.xml")
    assert frame(table)["question"].to_list() == frame(table)["answer"].to_list() == [evil]
    assert table.run_id == (evil, 2)


@FEW
@given(st.lists(NAMES, min_size=3, max_size=3))
def test_ids_come_apart_and_together(levels: list[str]) -> None:
    whole = question_id(*levels)
    assert whole is not None
    assert id_levels(whole) == tuple(levels)


def test_none_of_the_above_whatever_its_look() -> None:
    same = ("None of the above", "none of the above.", " NONE OF THE ABOVE!", "None-of-the-above")
    assert all(is_none_of_the_above(text) for text in same)
    assert not any(is_none_of_the_above(text) for text in ("none", "All of the above", ""))


# --------------------------------------------------------------------------------- hostile

BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE output [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
    + ']>\n<output run_id="&j;"/>'
)
HOSTILE: dict[str, tuple[bytes, str]] = {
    "entity bomb": (BOMB.encode(), r":2: has a document type declaration"),
    "external entity": (
        b'<!DOCTYPE output [<!ENTITY x SYSTEM "file:///etc/passwd">]><output>&x;</output>',
        r":1: has a document type declaration",
    ),
    "external DTD": (
        b'<!DOCTYPE output SYSTEM "http://localhost:1/x.dtd"><output/>',
        r":1: has a document type declaration",
    ),
    "parameter entity": (
        b'<!DOCTYPE output [<!ENTITY % x SYSTEM "http://localhost:1/"> %x;]><output/>',
        r":1: has a document type declaration",
    ),
    "undefined entity": (b"<output>\n&nbsp;</output>", r":2: is not XML"),
    "deep": (b"<output>" + b"<topic>\n" * 10_000, r":50: is nested more than 50 elements deep"),
    "truncated": (RUN[:300].encode(), r":\d+: is not XML"),
    "cut in a tag": (
        RUN[: RUN.index('q_id ="2"')].encode(),
        r":9: is not XML",
    ),
    "wrong root": (b"<results>\n</results>", r":1: has the root '<results>'"),
    "HTML": (b"\n\n<!DOCTYPE html>\n<html></html>", r":3: is an HTML page"),
    "HTML without a doctype": (b"<HTML><p>", r":1: has the root '<HTML>'"),
    "empty": (b"", ": is empty, expected"),
    "no questions": (b"<output run_id='a'>\n</output>", r":1: has no questions"),
    "text": (b"question,answer\n", r":1: is not XML"),
    "two roots": (b"<output/>\n<output/>", r":2: is not XML"),
    "mismatch": (b"<output>\n<topic>\n</output>", r":3: is not XML"),
    "Latin-1 as UTF-8": (
        RUN.replace("jucs", "Pe\xf1as").encode("latin-1"),
        r":3: .*not UTF-8 text",
    ),
    "UTF-16": (RUN.encode("utf-16"), r"is UTF-16"),
    "UTF-7": (b'<?xml version="1.0" encoding="UTF-7"?><output/>', r":1: is not XML"),
    "zero bytes": (RUN.encode() + b"\0" * 2_000, r":\d+: is not XML"),
    "many attributes": (
        RUN.replace(
            'q_id="1" a', " ".join(f'x{i}="1"' for i in range(100_000)) + ' q_id="1" a', 1
        ).encode(),
        r":6: has more than 100 different attributes",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_give_one_line_and_code_2(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data, message = HOSTILE[name]
    gold, bad = saved(tmp_path, GOLD, "gold.xml"), saved(tmp_path, data, "bad.xml")
    began = time.process_time()
    assert command(["score", str(gold), str(bad)]) == 2
    assert command(["score", str(bad), str(gold)]) == 2
    assert time.process_time() - began < 5
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith(f"{bad}:")
        assert re.search(message, line), line


HUGE = {
    "100 MB attribute": (
        'file.write(b\'<output run_id="\'); [file.write(b"x" * 1_000_000) for _ in range(100)]; '
        "file.write(b'\"/>')",
        "has a tag or text of more than",
    ),
    "1 GB": ("file.write(b'<output>\\n'); file.truncate(1 << 30)", "is not XML"),
    "depth in bulk": (
        'file.write(b"<output>" + b"<q>" * 10_000_000)',
        ":1: is nested more than 50 elements",
    ),
    "comments": (
        'file.write(b"<output>"); '
        '[file.write(b"<!--" + b"x" * 990 + b"-->\\n") for _ in range(100_000)]',
        ": is not XML",
    ),
}


@pytest.mark.slow
def test_a_packed_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", str(20 << 20))
    bomb = gzip.compress(b"<output>" + b"\n" * (40 << 20))
    with refuses(InputError, "20,971,520"):
        read_table(saved(tmp_path, bomb, "bomb.xml.gz"))


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_huge_files_are_refused_quickly_in_little_memory(name: str, tmp_path: Path) -> None:
    code, message = HUGE[name]
    with (tmp_path / "huge.xml").open("wb") as file:
        exec(code, {"file": file})
    gold = saved(tmp_path, GOLD, "gold.xml")

    def bounded() -> None:  # seconds of work, whatever else the machine does
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))

    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource, sys; from abstain.cli import run; import polars;"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
            "code = run(sys.argv[1:]);"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before);"
            "sys.exit(code)",
            *("score", str(gold), str(tmp_path / "huge.xml")),
        ],
        capture_output=True,
        text=True,
        preexec_fn=bounded,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert int(done.stdout) < 170_000  # KiB beyond what the imports take


@pytest.mark.slow
@settings(FEW, max_examples=100)
@given(data=st.data())
def test_mutated_xml_never_ends_in_a_traceback(data: st.DataObject, tmp_path: Path) -> None:
    text = bytearray(data.draw(st.sampled_from([GOLD, RUN])).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        match data.draw(st.integers(0, 3)):
            case 0:
                del text[at : at + data.draw(st.integers(1, 40))]
            case 1:
                text[at] = data.draw(st.integers(0, 255))
            case 2:
                text[at:at] = data.draw(st.binary(max_size=6))
            case _:
                end = at + data.draw(st.integers(1, 80))
                text[at:at] = text[at:end]
        text = text or bytearray(b" ")
    path, gold = saved(tmp_path, bytes(text), "m.xml"), saved(tmp_path, GOLD, "g.xml")
    for left, right in ((gold, path), (path, saved(tmp_path, RUN, "r.xml"))):
        for check in (ab.score, ab.validate):
            try:
                check(str(left), [str(right)])
            except AbstainError as error:
                assert len(str(error).splitlines()) == 1  # noqa: PT017


# -------------------------------------------------------------------------------- real files


@pytest.mark.parametrize(
    ("name", "questions", "tests", "options", "nca"),
    [
        ("QA4MRE-2012-EN_GS.xml", 160, 16, 5, 0),
        ("QA4MRE-2012_BIOMEDICAL_GS.xml", 40, 4, 5, 0),
        ("2013-sample-entrance-exam-test.xml", 5, 1, 4, 0),
        ("cmu11791_GS.xml", 100, 8, 5, 22),
    ],
)
def test_real_golds(name: str, questions: int, tests: int, options: int, nca: int) -> None:
    gold = read_gold(real("gold", name))
    assert len(gold) == questions
    assert gold.frame["test"].n_unique() == tests
    assert set(gold.frame["options"].list.len()) == {options}
    assert set(gold.frame["accepted"].list.len()) == {1}
    assert (gold.frame["nca"] == "yes").sum() == nca
    assert gold.frame["text"].str.len_chars().min() > 5  # type: ignore[operator]


BY_ID = ("team07_run1", "team07_run2", "team07_run3")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "right", "blank", "c_at_1"),
    [
        ("team07_run1", 41, 1, 0.4141),
        ("team07_run2", 36, 2, 0.3672),
        ("team07_run3", 35, 4, 0.3640),
        ("team07_output_old", 20, 42, 0.2840),
        ("team03_run1", 34, 0, 0.3400),
        ("oaqa_output_a", 57, 9, 0.6213),
    ],
)
def test_real_runs_score_what_is_known(name: str, right: int, blank: int, c_at_1: float) -> None:
    gold, run = real("gold", "cmu11791_GS.xml"), real("runs", f"{name}.xml")
    row = ab.score(gold, run, align="position").rows[0]
    assert (row.counts.right, row.counts.unanswered, row.counts.n) == (right, blank, 100)
    assert row.scores["c@1"] == pytest.approx(c_at_1, abs=1e-12)
    if name in BY_ID:
        assert ab.score(gold, run).rows[0].counts == row.counts
    else:
        with refuses(InputError):
            ab.score(gold, run)


def test_a_page_of_a_web_site_is_no_run() -> None:
    with refuses(InputError, "not_xml_at_all.xml:4"):
        read_table(real("runs", "not_xml_at_all.xml"))


@pytest.mark.slow
def test_a_gold_with_many_questions_reads_in_seconds(tmp_path: Path) -> None:
    path = saved(tmp_path, gold_xml([10] * 2_000))
    began = time.process_time()
    assert len(read_gold(path)) == 20_000
    assert time.process_time() - began < 5
