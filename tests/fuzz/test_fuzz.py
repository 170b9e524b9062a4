"""A thousand seeded cases, and every failure that the fuzzer ever found, by name."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain import registry
from tests.fuzz import materials
from tests.fuzz.fuzzing import failure_of, failures
from tests.fuzz.making import COMMANDS, Case
from tests.helpers import GOLD, RUN, Here
from tests.snapshots import says

CASES = 1_000
PARTS = 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_seeded_cases(part: int) -> None:
    size = CASES // PARTS
    found = [(own.seed, own.why) for own in failures(range(part * size, (part + 1) * size))]
    assert found == []


def test_every_command_is_fuzzed() -> None:
    assert sorted(COMMANDS) == sorted(registry.COMMANDS)


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

SQUAD = (
    b'{"version": "v2.0", "data": [{"paragraphs": [{"context": "", "qas": ['
    b'{"id": "q1", "question": "?", "answers": [{"text": "A"}]}, '
    b'{"id": "q2", "question": "?", "answers": []}]}]}]}'
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
        {"r.parquet": parquet(question=[1.5, 2.0], answer=["a", "b"])},
        "convert r.parquet out.xml",
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
    "a row without a run beside rows with one": (
        {"b.jsonl": b'{"question": "q1", "answer": ""}\n{"question": "q1", "run": "x"}\n'},
        "validate gold.csv b.jsonl",
        1,
    ),
    "a no-answer probability without bound": (
        {
            "dev.json": SQUAD,
            "said.json": b'{"q1": "A", "q2": ""}',
            "na.json": b'{"q1": 1e300, "q2": -1e300}',
        },
        "score --judged said.json --from squad -m squad "
        "--pick gold=dev.json --pick na-prob=na.json",
        0,
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
    says(here.refuses("report", "saved.json"), "saved.json")


def with_a_slice_of_another_name(saved: dict[str, Any]) -> None:
    attributes = saved["questions"]["attributes"]
    attributes["*"] = attributes.pop("topic")


def with_a_number_of_128_bits(saved: dict[str, Any]) -> None:
    saved["results"][0]["counts"]["right"] = 10**30


def with_a_count_that_is_none(saved: dict[str, Any]) -> None:
    saved["references"][0]["slices"][0][0][0] = None


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


def with_a_question_less(saved: dict[str, Any]) -> None:
    saved["questions"]["attributes"]["topic"].pop()


def without_keeping_everything(saved: dict[str, Any]) -> None:
    saved["results"] = [row for row in saved["results"] if row["rule"] != "everything"]


def with_a_rule_that_nobody_judged(saved: dict[str, Any]) -> None:
    saved["asked"] = "x"


def with_a_reference_of_another_name(saved: dict[str, Any]) -> None:
    saved["runs"][0]["best_trivial"] = "x"


def with_a_range_of_lengths_less(saved: dict[str, Any]) -> None:
    saved["histogram"]["edges"].pop()


def with_a_question_right_in_fewer_than_no_run(saved: dict[str, Any]) -> None:
    saved["questions"]["right"][0] = -1


def with_a_question_right_in_more_runs_than_there_are(saved: dict[str, Any]) -> None:
    saved["questions"]["right"][0] = 2**53


@pytest.mark.parametrize(
    ("command", "kind", "change"),
    [
        ("report", "cut", without_keeping_everything),
        ("report", "cut", with_a_rule_that_nobody_judged),
        ("report", "cut", with_a_reference_of_another_name),
        ("report", "truncation", with_a_range_of_lengths_less),
        ("report", "campaign", with_a_question_right_in_fewer_than_no_run),
        ("report", "campaign", with_a_question_right_in_more_runs_than_there_are),
        ("report", "campaign", with_a_question_less),
        ("editions", "campaign", with_a_question_less),
        ("editions", "campaign", with_a_slice_of_another_name),
        ("report", "score", with_a_number_of_128_bits),
        ("report", "curve", with_a_score_too_many),
        ("report", "tune", with_a_count_of_another_name),
        ("report", "campaign", with_a_pair_of_nobody),
        ("report", "campaign", with_a_level_of_one),
        ("editions", "campaign", with_a_count_that_is_none),
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
    says(line, "saved.json", f"{kind}")
    with pytest.raises(ab.InputError) as raised:
        ab.load("saved.json").page()
    assert line.startswith(str(raised.value))


def test_a_fault_of_ours_is_no_fault_of_a_saved_result(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write("saved.json", materials.saved()["score"].decode())

    def broken(*_: Any, **__: Any) -> str:
        raise KeyError("x")

    monkeypatch.setattr(ab.ScoreResult, "page", broken)
    said = here("report", "saved.json")
    assert said.code == 3


def test_lists_as_confidences_under_a_threshold(here: Here) -> None:
    here.write("rule.json", materials.saved()["tune rule"].decode())
    here.write("a.jsonl", '{"question": "q1", "answer": "a", "confidence": ["0.5"]}')
    line = here.refuses("tune", "--apply", "rule.json", "a.jsonl", "--run-file", "out.csv")
    says(line, "a.jsonl", "'confidence'")


def test_questions_as_numbers_keep_their_names_in_xml(here: Here) -> None:
    here.write("r.parquet", parquet(question=[1.5, 2.0], answer=["a", "b"]))
    assert here("convert", "r.parquet", "r.xml").code == 0
    assert here("convert", "r.xml", "r.csv").code == 0
    assert pl.read_csv("r.csv", infer_schema=False)["question"].to_list() == ["1.5", "2"]


@pytest.mark.parametrize("mapped", ["question=question", "run:question=id"])
def test_a_column_called_star_is_no_wildcard_of_duckdb(here: Here, mapped: str) -> None:
    name = mapped.partition("=")[2]
    here.write("gold.csv", "question,correct\nq1,A\n")
    here.write("a.jsonl", f'{{"{name}": "q1", "answer": "A", "*": "x"}}\n')
    found = here("score", "gold.csv", "a.jsonl", "--engine", "duckdb", "-c", mapped)
    assert "1 run, 1 question." in found.out


def test_a_saved_curve_along_a_measure_called_star(here: Here) -> None:
    saved = json.loads(materials.saved()["curve"])
    saved["along"] = "*"
    here.write("saved.json", json.dumps(saved))
    assert ab.load("saved.json").to_frame("measure").columns[-1] == "*"


def test_metrics_of_a_log_that_are_no_names(here: Here) -> None:
    here.write(
        "samples_t.jsonl",
        '{"doc_id": 0, "metrics": [["acc"], 7, {}], "acc": 1, "filtered_resps": []}\n',
    )
    line = here.refuses("score", "--judged", "samples_t.jsonl", "--from", "lm-eval")
    says(line, "samples_t.jsonl")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--teams", "a", "--pseudonyms", "a"), "--teams and --pseudonyms"),
        (("--teams", "out"), "--teams and -o"),
        (("--teams", "a", "--pseudonyms", "./out"), "-o and --pseudonyms"),
    ],
)
def test_a_campaign_writes_each_thing_elsewhere(
    here: Here, options: tuple[str, ...], said: str
) -> None:
    here.write("gold.csv", "question,correct\nq1,A\n")
    here.write("r.csv", "question,answer\nq1,A\n")
    line = here.refuses("campaign", "gold.csv", "r.csv", "-o", "out", *options)
    says(line.rstrip(), f"{said}")
    assert sorted(path.name for path in here.folder.iterdir()) == ["gold.csv", "r.csv"]
