"""A thousand seeded cases, and every failure that the fuzzer ever found, by name."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

import abstain as ab
from abstain.cli import app as cli
from abstain.io import floods
from tests.fuzz import materials
from tests.fuzz.fuzzing import failure_of, failures
from tests.fuzz.making import COMMANDS, Case
from tests.helpers import GOLD, ROOT, RUN, Here

CASES = 1_000
PARTS = 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_seeded_cases(part: int) -> None:
    size = CASES // PARTS
    found = [(own.seed, own.why) for own in failures(range(part * size, (part + 1) * size))]
    assert found == []


def test_every_command_is_fuzzed() -> None:
    assert sorted(COMMANDS) == sorted(cli.COMMANDS)


def parquet(**columns: list[Any] | pl.Series) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(out)
    return out.getvalue()


PLAIN = {"gold.csv": GOLD.encode(), "a.csv": RUN.encode()}
STARS = b"question,correct,*,^.*$\nq1,a,x,y\nq2,b,y,z\n"
TWO = b"question,answer\nq1,a\nq2,c\n"
SCORES = b"topic,*,^.*$,b\nt1,0.1,0.2,0.3\nt2,0.3,0.4,0.5\nt3,.5,.6,.1\n"
BOM = b"\xef\xbb\xbf"
QRELS = b"".join(b"q%d 0 d%d %d\n" % (q, d, d % 2) for q in range(4) for d in range(4))
LISTS = b"".join(b"q%d Q0 d%d 1 0.%d a\n" % (q, d, 5 - d) for q in range(4) for d in range(5))

CATEGORIES = parquet(
    query=["q0", "q1"], doc=["d1", "d1"], score=pl.Series(["x", "y"], dtype=pl.Categorical)
)

FOUND: dict[str, tuple[dict[str, bytes], str, int]] = {
    "every row of the first run at fault": (
        {"b.csv": b"question,answer\n1,a\n2,b\n"},
        "score gold.csv b.csv a.csv",
        2,
    ),
    "a column called *": ({"b.csv": b"question,answer,*\nq1,a,x\n"}, "score gold.csv b.csv", 0),
    "a pattern as a column": (
        {"b.csv": b"question,answer,^a.*$\nq1,a,x\n"},
        "score gold.csv b.csv",
        0,
    ),
    "a slice called *": (
        {"g.csv": STARS, "b.csv": TWO},
        "score g.csv b.csv --by *",
        0,
    ),
    "a slice called as a pattern": (
        {"g.csv": STARS, "b.csv": TWO},
        "score g.csv b.csv --by ^.*$",
        0,
    ),
    "systems called as patterns": ({"s.csv": SCORES}, "meta --scores s.csv", 0),
    "systems called as patterns, compared": ({"s.csv": SCORES}, "compare --scores s.csv", 0),
    "a key called as a pattern": (
        {"b.jsonl": b'{"question": "q1", "answer": "a", "^q.$": "x"}'},
        "score gold.csv b.jsonl",
        0,
    ),
    "a key without a name": ({"b.jsonl": b'{"": null}'}, "curve gold.csv a.csv b.jsonl", 2),
    "a byte order mark before bad JSON": (
        {"log.json": BOM + b'{"a": [}'},
        "score gold.csv log.json --from inspect",
        2,
    ),
    "nothing but a key without a name": (
        {"log.json": b'{"": null}'},
        "score --judged log.json --from simpleqa",
        2,
    ),
    "more than fits in a word": ({}, "refusals a.csv --most 99999999999999999999", 0),
    "a struct as confidence": (
        {"b.parquet": parquet(question=["q1"], answer=["a"], confidence=[{"a": 1}])},
        "score gold.csv b.parquet",
        2,
    ),
    "bytes to CSV": (
        {"b.parquet": parquet(question=["q1"], answer=["a"], x=[b"\xff"])},
        "convert b.parquet out.csv",
        2,
    ),
    "a struct to XML": (
        {"g.parquet": parquet(question=["q1"], correct=["a"], x=[{"a": 1}])},
        "convert g.parquet out.xml",
        2,
    ),
    "a number as a question, to XML": (
        {"g.parquet": parquet(question=[1.5, 2.0], correct=["a", "b"])},
        "convert g.parquet out.xml",
        0,
    ),
    "a list as a question, to XML": (
        {"r.json": b'[{"question": ["q1"], "answer": "a"}]'},
        "convert r.json out.xml",
        2,
    ),
    "no column that XML has": ({"r.csv": b"x,y\n1,2\n"}, "convert r.csv out.xml", 2),
    "one record and no line end": (
        {"b.jsonl": b'{"question": "q1", "answer": "a"}'},
        "score gold.csv b.jsonl",
        0,
    ),
    "one long header": ({"b.csv": b"question,answer\n"}, "score gold.csv b.csv", 2),
    "more cross-fits of a threshold than end": (
        {},
        "tune gold.csv a.csv --repeats 1000000",
        2,
    ),
    "more cross-fits of a cut than end": (
        {"q.txt": QRELS, "r.txt": LISTS},
        "cut q.txt r.txt --repeats 1000000",
        2,
    ),
    "scores whose squares are no numbers": (
        {"q.txt": QRELS, "r.txt": LISTS.replace(b"0.5", b"1e308").replace(b"0.1", b"-1e308")},
        "cut q.txt r.txt --folds 2",
        0,
    ),
    "Parquet lists in another engine, cut": (
        {
            "q.txt": QRELS,
            "r.parquet": parquet(query=["q0", "q0", "q1"], doc=["d1", "d2", "d1"], score=[3, 2, 1]),
        },
        "cut q.txt r.parquet --folds 2 --engine duckdb",
        0,
    ),
    "a column without a name, in an engine that gives it one": (
        {"b.csv": b'questio,""\nq1,a\n'},
        "score gold.csv b.csv --engine duckdb",
        2,
    ),
    "a key without a name beside a grade": (
        {"log.json": b'{"": null, "grade": "A"}'},
        "score --judged log.json --from simpleqa",
        0,
    ),
    "a struct as a question, to XML": (
        {"r.parquet": parquet(question=[{"a": 1}], answer=["a"])},
        "convert r.parquet out.xml",
        2,
    ),
    "lists of lists of answers": (
        {"g.parquet": parquet(question=["q1"], correct=[[["a"]]])},
        "score g.parquet a.csv",
        2,
    ),
    "a list as a question, searched for refusals": (
        {"r.json": b'[{"question": ["q1"], "answer": "no"}]'},
        "refusals r.json -l en",
        2,
    ),
    "categories as scores of documents": (
        {"q.txt": QRELS, "r.parquet": CATEGORIES},
        "rank q.txt r.parquet",
        2,
    ),
    "4,096 cross-fits of a cut": (
        {"q.txt": QRELS, "r.txt": LISTS},
        "cut q.txt r.txt --folds 2 --repeats 4096",
        2,
    ),
    "pseudonyms where every run is held back": (
        {},
        "campaign gold.csv a.csv -o folder --blind --pseudonyms names.csv",
        2,
    ),
    "a folder that no campaign wrote": ({"x/y.csv": b"a"}, "editions 2012=x", 2),
    "nothing as a saved result": ({"saved.json": b" \n"}, "report saved.json", 2),
    "a negative seed of a campaign of three": (
        dict.fromkeys(("b.csv", "c.csv"), TWO + b"q3,a\n"),
        "campaign gold.csv a.csv b.csv c.csv -o folder --seed -1",
        2,
    ),
    "a negative seed": ({}, "campaign gold.csv a.csv -o folder --seed -1", 2),
    "a name of 5,000 letters": ({}, "explain " + "x" * 5_000, 2),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_once(name: str, here: Here) -> None:
    files, typed, code = FOUND[name]
    case = Case({**PLAIN, **files}, typed.split())
    assert failure_of(case, here.folder) == ""
    assert here(*typed.split(), *(["--force"] if "convert" in typed else [])).code == code


@pytest.mark.parametrize("command", ["refusals", "audit"])
def test_parquet_that_is_corrupt(here: Here, command: str) -> None:
    texts = [f"I do not know {n * 7919}" for n in range(500)]
    whole = parquet(question=[f"q{n}" for n in range(500)], answer=texts)
    here.write("b.parquet", whole[:200] + b"\xff" * 300 + whole[500:])
    assert here.refuses(command, "b.parquet").startswith("b.parquet: cannot be read: ")


def test_a_saved_result_that_is_not_utf8(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    saved = here("score", "gold.csv", "a.csv", "-f", "json").out.encode()
    at = saved.index(b"a.csv")
    here.write("saved.json", saved[:at] + b"\xff\xfe" + saved[at + 2 :])
    assert here.refuses("report", "saved.json").startswith("saved.json: is not a complete result")


def without_a_score(saved: dict[str, Any]) -> None:
    del saved["results"][0]["scores"]["exact"]


def with_a_slice_of_another_name(saved: dict[str, Any]) -> None:
    attributes = saved["questions"]["attributes"]
    attributes["*"] = attributes.pop("topic")


def with_a_number_of_128_bits(saved: dict[str, Any]) -> None:
    saved["results"][0]["counts"]["right"] = 10**30


def with_a_count_that_is_none(saved: dict[str, Any]) -> None:
    saved["references"][0]["slices"][0][0][0] = None


def with_numbers_that_are_objects(saved: dict[str, Any]) -> None:
    saved["references"][0]["slices"][0][0][0] = 2**63


def with_five_counts_less(saved: dict[str, Any]) -> None:
    saved["references"][0]["slices"][0].pop()


def with_a_pair_of_nobody(saved: dict[str, Any]) -> None:
    saved["comparison"]["pairs"][0]["run"] = "nobody"


def with_a_level_of_one(saved: dict[str, Any]) -> None:
    saved["comparison"]["level"] = 1


def with_a_count_of_another_name(saved: dict[str, Any]) -> None:
    saved["results"][0]["judged"]["counts"]["len"] = 1


def with_a_score_too_many(saved: dict[str, Any]) -> None:
    saved["results"][0]["scores"]["x"] = 0.5


def with_more_right_than_answered(saved: dict[str, Any]) -> None:
    saved["results"][0]["points"]["right"][-1] = 2**62


def with_a_question_less(saved: dict[str, Any]) -> None:
    saved["questions"]["attributes"]["topic"].pop()


@pytest.mark.parametrize(
    ("command", "kind", "change"),
    [
        ("report", "squad", without_a_score),
        ("report", "campaign", with_a_question_less),
        ("editions", "campaign", with_a_question_less),
        ("editions", "campaign", with_a_slice_of_another_name),
        ("report", "score", with_a_number_of_128_bits),
        ("report", "curve", with_a_score_too_many),
        ("report", "curve", with_more_right_than_answered),
        ("report", "tune", with_a_count_of_another_name),
        ("report", "campaign", with_a_pair_of_nobody),
        ("report", "campaign", with_a_level_of_one),
        ("editions", "campaign", with_a_count_that_is_none),
        ("editions", "campaign", with_numbers_that_are_objects),
        ("editions", "campaign", with_five_counts_less),
    ],
)
def test_a_saved_result_whose_parts_do_not_fit(
    here: Here, command: str, kind: str, change: Callable[[dict[str, Any]], None]
) -> None:
    saved = json.loads(materials.saved()[kind])
    change(saved)
    here.write("saved.json", json.dumps(saved))
    named = "saved.json" if command == "report" else "2026=saved.json"
    line = here.refuses(command, named)
    assert line.startswith(f"saved.json: is not a complete result of `abstain {kind}`: ")
    with pytest.raises(ab.InputError) as raised:
        ab.load("saved.json").page()
    assert str(raised.value) == line.rstrip()


def test_a_fault_of_ours_is_no_fault_of_a_saved_result(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("saved.json", materials.saved()["score"].decode())

    def broken(*_: Any, **__: Any) -> str:
        raise KeyError("x")

    monkeypatch.setattr(ab.ScoreResult, "page", broken)
    said = here("report", "saved.json")
    assert said.code == 3


def test_questions_as_numbers_keep_their_names_in_xml(here: Here) -> None:
    here.write("g.parquet", parquet(question=[1.5, 2.0], correct=["a", "b"]))
    assert here("convert", "g.parquet", "g.xml").code == 0
    assert here("convert", "g.xml", "g.csv").code == 0
    assert pl.read_csv("g.csv", infer_schema=False)["question"].to_list() == ["1.5", "2"]


# ------------------------------------------------------------------------------------- bounds


def bomb(head: bytes, unit: bytes, size: int) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    parts = [packer.compress(head)]
    parts += [packer.compress(unit * (1 << 16)) for _ in range(size // (len(unit) << 16))]
    return b"".join([*parts, packer.flush()])


@pytest.mark.slow
@pytest.mark.parametrize(
    "head", [b"question,answer\nq1,", b'{"a": "', b"PAR1", b"<output>"], ids=lambda h: str(h[:4])
)
def test_a_bomb_is_refused_long_before_it_is_unpacked(here: Here, head: bytes) -> None:
    here.write("gold.csv", GOLD)
    packed = bomb(head, b"A" * 16, 200 << 20)
    here.write("b.csv.zst", packed)
    began = time.process_time()
    line = here.refuses("score", "gold.csv", "b.csv.zst")
    assert time.process_time() - began < 5
    assert "unpacks to more than 67,108,864 bytes" in line  # as others say after 200 MB


def test_a_file_that_packs_well_is_read(here: Here) -> None:
    here.write("gold.csv", GOLD)
    text = RUN + "\n" * 2_000_000
    here.write("b.csv.zst", zstandard.compress(text.encode()))
    assert here("score", "gold.csv", "b.csv.zst").code == 0


def test_random_bytes_are_refused_by_the_first_of_them(here: Here) -> None:
    here.write("gold.csv", GOLD)
    assert "is binary (a zero byte at" in here.refuses("score", "gold.csv", "/dev/urandom")


@pytest.mark.slow
def test_repeated_rows_are_counted_not_collected(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("b.csv", "question,answer\n" + "q1,a\n" * 30_000)
    line = here.refuses("score", "gold.csv", "b.csv")
    assert "b.csv:3: run 'b' has question 'q1' again" in line
    assert "(first: b.csv:2) (and 29,998 more" in line
    problems = here("validate", "gold.csv", "b.csv", "-f", "json").data["problems"]
    details = [own for problem in problems for own in problem.get("details", [])]
    assert len(details) <= 1_100
    assert "has at least 1,000 problems of one kind" in problems[0]["message"]


@pytest.mark.parametrize("name", ["b.csv", "b.csv.gz", "b.jsonl"])
@pytest.mark.parametrize("command", ["score", "validate"])
def test_a_flood_of_one_record_is_refused_while_it_is_read(
    here: Here, monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    monkeypatch.setattr(floods, "MOST_AGAIN", 1_000)
    here.write("gold.csv", GOLD)
    text = b"question,answer\n" + b"q1,a\nq2,b\n" * 600
    if name.endswith("jsonl"):
        text = b'{"question": "q1", "answer": "a"}\n' * 1_200
    here.write(name, gzip.compress(text) if name.endswith("gz") else text)
    said = here(command, "gold.csv", name, "-f", "json") if command == "validate" else None
    line = said.data["problems"][0]["message"] if said else here.refuses(command, "gold.csv", name)
    assert "is repeated here, and the file has more than 1,000 such repeats" in line
    if said is None:  # of two records in turn, line 4 has the first again
        assert line.startswith(f"{name}:{3 if name == 'b.jsonl' else 4}: ")


def test_a_flood_of_many_records_in_turn_is_refused_while_it_is_read(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floods, "MOST_AGAIN", 1_000)
    questions = range(500)
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},a\n" for n in questions))
    once = "".join(f"q{n},{'ab'[n % 2]}\n" for n in questions)
    here.write("b.csv", "question,answer\n" + 4 * once)
    assert here.refuses("score", "gold.csv", "b.csv").startswith(
        "b.csv:502: the record 'q0,a' is repeated here, and the file has more than 1,000 such "
        "repeats"
    )
    here.write("c.csv", "question,answer\n" + 2 * once)
    assert "c.csv:502: run 'c' has question 'q0' again" in here.refuses(
        "score", "gold.csv", "c.csv"
    )


@pytest.mark.parametrize("name", ["b.csv", "b.jsonl"])
def test_a_large_table_is_held_as_it_was_read(
    here: Here, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from abstain.io import files, holding, separated
    from abstain.io.tables import read_table

    for module in (files, separated):
        monkeypatch.setattr(module, "BLOCK", 2_000, raising=False)
    rows = [
        {
            "question": f"q{n}",  # always another
            "*": "ab"[n % 2],  # one of a few, with an odd name
            "x": f"x{n % 3 if n < 1_500 else n}",  # few at first, then always another
            "empty": None if n % 5 else " é ",
        }
        for n in range(3_000)
    ]
    frame = pl.DataFrame(rows)
    write = frame.write_csv if name.endswith("csv") else frame.write_ndjson
    write(here.folder / name)
    plain = read_table(here.folder / name).frame.collect()
    monkeypatch.setattr(holding, "LARGE", 1_000)
    large = read_table(here.folder / name).frame
    assert "cast" in large.explain()
    assert large.collect().equals(plain)
    assert large.collect_schema() == plain.schema


ROWS = 12_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("q{of_gold},x{n}\n", "has question 'q0' again, with another answer"),
        ("u{n},a\n", "question 'u0' is not in the gold (and 11,999,999 more"),
    ],
    ids=["answers that all differ", "questions that nobody asked"],
)
def test_twelve_million_faults_take_little_memory(here: Here, row: str, said: str) -> None:
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},a\n" for n in range(5_000)))
    with (here.folder / "b.csv").open("w") as file:
        file.write("question,answer\n")
        for start in range(0, ROWS, 100_000):
            some = range(start, start + 100_000)
            file.write("".join(row.format(n=n, of_gold=n % 5_000) for n in some))
    code = (
        "import resource, sys; from abstain.cli import run; code = run(sys.argv[1:]); "
        "own = resource.getrusage(resource.RUSAGE_SELF); "
        "print(code, own.ru_maxrss >> 10, round(own.ru_utime + own.ru_stime))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "score", "gold.csv", "b.csv"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": ""},
    )
    exit_code, megabytes, _ = map(int, done.stdout.split())
    assert exit_code == 2
    assert said in done.stderr
    assert megabytes < 500


def test_runs_of_more_rows_than_are_compared(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.analyses.validate import odd

    here.write("gold.csv", "question,correct\nq1,a\n")
    here.write("b.csv", "run,question,answer\nr1,q1,a\nr2,q1,a\n")
    for most, alike in ((2, 1), (1, 0)):
        monkeypatch.setattr(odd, "MOST_CELLS", most)
        said = here("validate", "gold.csv", "b.csv", "-f", "json").data
        assert len(said.get("warnings", [])) == alike


def test_records_of_no_question_may_stand_again(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floods, "MOST_AGAIN", 1_000)
    here.write("judged.csv", "grade\n" + "right\n" * 3_000)
    assert here("score", "--judged", "judged.csv").code == 0
    here.write("gold.csv", GOLD)
    here.write("b.csv", RUN + "\n" * 5_000)
    assert here("score", "gold.csv", "b.csv").code == 0


def test_many_rows_are_searched_for_the_first_that_stands_again(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    from abstain.judging import counting

    here.write("gold.csv", GOLD)
    here.write("a.csv", "question,answer\nq1,a\nq2,b\n")
    here.write("b.csv", "question,answer\nq1,a\nq2,b\nq3,c\nq2,c\nq1,a\n")
    lines = []
    for looked_at in (1, 4, 5, 1 << 20):
        monkeypatch.setattr(counting, "LOOKED_AT", looked_at)
        lines.append(here.refuses("score", "gold.csv", "a.csv", "b.csv"))
    assert set(lines) == {lines[0]}
    assert lines[0].startswith("b.csv:5: run 'b' has question 'q2' again, with another answer")


def test_more_runs_than_a_table_may_name(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.io import tables

    monkeypatch.setattr(tables, "FEW_RUNS", 2)
    monkeypatch.setattr(tables, "MAX_RUNS", 10)
    here.write("gold.csv", GOLD)
    rows = "".join(f"r{number},q1,a\n" for number in range(11))
    here.write("ten.csv", "run,question,answer\n" + rows[: rows.index("r10")])
    here.write("more.csv", "run,question,answer\n" + rows)
    assert here("score", "gold.csv", "ten.csv").code == 0
    assert "names more than 10 runs" in here.refuses("score", "gold.csv", "more.csv")


def test_more_runs_than_are_validated(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.judging import cells
    from abstain.outcomes import KINDS

    monkeypatch.setattr(cells, "MAX_COUNTS", 2 * KINDS)
    here.write("gold.csv", GOLD)
    here.write("three.csv", "run,question,answer\nr1,q1,a\nr2,q1,a\nr3,q1,a\n")
    assert "3 runs × 1 slices are more than the 2" in here.refuses(
        "validate", "gold.csv", "three.csv"
    )


def test_an_impossible_score_costs_an_audit_little(here: Here) -> None:
    here.write("t.csv", "run,c@1\na,7.5\nb,0.66\nc,0.43\n")
    began = time.process_time()
    said = here("audit", "t.csv", "-n", "500")
    assert said.code == 1
    assert time.process_time() - began < 5


def test_an_audit_that_checks_nothing_writes_nothing(here: Here) -> None:
    here.write("t.csv", "run,x\na,7.5\n")
    assert "nothing could be checked" in here.refuses("audit", "t.csv", "-o", "out.json")
    assert not (here.folder / "out.json").exists()


def test_more_slices_than_a_result_may_have(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.judging import cells
    from abstain.outcomes import KINDS

    monkeypatch.setattr(cells, "MAX_COUNTS", KINDS)
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    line = here.refuses("score", "gold.csv", "a.csv", "--by", "topic")
    assert "1 runs × 2 slices are more than the 1 rows of a result" in line


def test_a_name_of_a_megabyte_is_shortened_where_it_is_shown(here: Here) -> None:
    name = "N" * 1_000_000
    here.write("gold.csv", GOLD)
    here.write("a.csv", f"run,question,answer\n{name},q1,a\n")
    assert len(here("score", "gold.csv", "a.csv", "-f", "markdown").out) < 50_000
    assert name in here("score", "gold.csv", "a.csv", "-f", "json").out


def test_a_campaign_of_names_of_a_megabyte_is_small(here: Here) -> None:
    name = "N" * 1_000_000
    here.write("gold.csv", GOLD)
    here.write("a.csv", f"run,question,answer\n{name},q1,a\nb,q1,b\n")
    assert here("campaign", "gold.csv", "a.csv", "-o", "folder").code == 0
    sizes = {path.name: path.stat().st_size for path in (here.folder / "folder").rglob("*.*")}
    assert sizes["index.html"] < 2_000_000
    assert sum(sizes.values()) < 12_000_000


# ------------------------------------------------------------------------------ order and care


def test_an_output_keeps_the_mode_of_the_file_that_it_replaces(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    out = here.write("out.json", "old")
    out.chmod(0o640)
    assert here("score", "gold.csv", "a.csv", "-o", "out.json").code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o640


def test_a_folder_behind_a_link_stays_behind_it(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    (here.folder / "real").mkdir()
    (here.folder / "link").symlink_to("real")
    for more in ([], ["--force"]):
        assert here("campaign", "gold.csv", "a.csv", "-o", "link", *more).code == 0
    assert (here.folder / "link").is_symlink()
    assert (here.folder / "real" / "results.json").exists()
    assert not [path.name for path in here.folder.iterdir() if path.name.startswith(".")]


def test_a_folder_that_was_moved_aside_comes_back(here: Here) -> None:
    from abstain.io.files import whole_folder

    (here.folder / ".out.123.old").mkdir()
    here.write(".out.123.old/kept", "x")
    with pytest.raises(RuntimeError), whole_folder("out"):
        raise RuntimeError
    assert (here.folder / "out" / "kept").read_text() == "x"


KILLED = """
import os, signal
from abstain.io import files

def replace(one, other):
    calls.append(one)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(one, other)

calls, rename = [], os.replace
os.replace = replace
files._exchanged = lambda one, other: False
with files.whole_folder("out") as draft:
    (draft / "new").touch()
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals here")
def test_a_kill_between_two_renames_loses_nothing(here: Here) -> None:
    from abstain.io.files import whole_folder

    here.write("out/kept", "x")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", KILLED], check=False, env=env)
    assert done.returncode == -signal.SIGKILL
    assert not Path("out").exists()
    with pytest.raises(RuntimeError), whole_folder("out"):
        raise RuntimeError
    assert Path("out/kept").read_text() == "x"


def test_charts_are_whole_or_absent(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.report import charts

    drawn = charts._drawn

    def broken(spec: Any, ending: str) -> bytes:
        if calls:
            raise MemoryError
        calls.append(ending)
        return drawn(spec, ".json")

    calls: list[str] = []
    monkeypatch.setattr(charts, "_drawn", broken)
    with pytest.raises(MemoryError):
        charts.write_charts({"a": {}, "b": {}}, "folder")
    assert list(here.folder.iterdir()) == []


def test_a_chart_runs_no_script_but_its_own() -> None:
    from abstain.report.page import render_chart

    page = render_chart({"title": {"text": "x"}})
    policy = page[page.index("script-src") : page.index("img-src")]
    assert "unsafe-inline" not in policy
    assert policy.count("'sha256-") == 2


def test_baselines_say_names_harmlessly(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,\x1b[31mred\n")
    said = here("baseline", "gold.csv", "majority", "-o", "b.csv")
    assert "'\\x1b[31mred'" in said.err


def test_slices_of_frames_are_trimmed_as_those_of_files() -> None:
    gold = pl.DataFrame({"question": ["1", "2"], "correct": ["a", "b"], "topic": [" x ", "x"]})
    run = pl.DataFrame({"question": ["1", "2"], "answer": ["a", "b"]})
    assert [row.slice["topic"] for row in ab.score(gold, run, by="topic").rows] == ["x"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_a_folder_of_runs_is_no_run(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("runs/a.csv", RUN)
    os.mkfifo(here.folder / "runs" / "b.csv")
    said = here("score", "gold.csv", "runs", "-f", "json")
    assert [row["run"] for row in said.data["results"]] == ["a"]


def test_a_query_that_cannot_be_run_is_refused_in_a_line() -> None:
    gold = pl.DataFrame({"question": ["1"], "correct": ["a"]})
    run = pl.LazyFrame({"question": ["1"], "answer": ["a"]}).with_columns(x=pl.col("nowhere"))
    with pytest.raises(ab.InputError, match=r"^the frame: cannot be read: .*nowhere"):
        ab.score(gold, run)


LIMITED = 'exec "$0" -m abstain score gold.csv a.csv'


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [150, 300, 500, 800])
def test_little_address_space_ends_in_a_line_or_a_result(here: Here, megabytes: int) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    done = subprocess.run(
        ["bash", "-c", f"ulimit -v {megabytes << 10}; {LIMITED}", sys.executable],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    said = done.stderr.decode().splitlines()
    assert done.returncode == (2 if megabytes < 400 else 0), said
    assert len(said) == (megabytes < 400)


STOPPED = """
import os, signal, sys, threading
import abstain.cli as cli
from abstain.io import files

def slow(self, text, **_):
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(5)

files.Path.write_text = slow
cli.main(["score", "gold.csv", "a.csv", "-o", "out.json"])
"""


@pytest.mark.slow
def test_being_ended_leaves_nothing(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, timeout=60, check=False, env=env
    )
    assert (done.returncode, done.stderr) == (143, b"stopped\n")
    assert sorted(path.name for path in Path().iterdir()) == ["a.csv", "gold.csv"]


def test_a_log_that_is_cut_while_it_is_read(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.io import documents

    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []}
    path = here.write("log.json", json.dumps(log) + " " * 100_000)
    decode = documents.decode

    def cut(*args: Any, **named: Any) -> Any:
        os.truncate(path, 0)
        return decode(*args, **named)

    monkeypatch.setattr(documents, "decode", cut)
    assert here("score", "--judged", "log.json", "--from", "inspect").code == 2
