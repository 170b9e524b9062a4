"""What participants see of a gold: the same bytes, whatever its keys and other attributes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from abstain.cli import run
from tests.snapshots import SHARED, refuses, says

XML = """<?xml version="1.0"?>
<test-set key="{key}"><!-- right: {key} -->
 <topic t_id="1" t_name="Music" answer="{key}">
  <reading-test r_id="1" solution="{key}">
   <doc d_id="7" right="{key}">A <b class="{key}">bold</b> text.<note>right: {key}</note></doc>
   <q q_id="1" type="CAUSAL" nca="{nca}" correct="{key}">
    <q_str hint="{key}">Why is <i>x</i> so?<hint>{key}</hint></q_str>
    {answers}
    <explanation>It is {key}.</explanation>
   </q>
  </reading-test>
 </topic>
</test-set>
"""


def xml_gold(key: str) -> str:
    """A gold that gives its answer away wherever it can."""
    answers = "".join(
        f'<answer a_id="{n}" {mark}score="{"1" if n == key else "0"}">option {n}{space}</answer>'
        for n in "12345"
        for mark, space in [('correct="Yes" ', "  ") if n == key else ("", "")]
    )
    return XML.format(key=key, nca="yes" if key == "5" else "no", answers=answers)


@pytest.mark.parametrize("ending", ["xml", "csv", "jsonl", "parquet"])
def test_a_test_set_of_xml_does_not_depend_on_the_key(tmp_path: Path, ending: str) -> None:
    seen = set()
    for key in "12345":
        (tmp_path / "gold.xml").write_text(xml_gold(key), encoding="utf-8")
        target = tmp_path / f"test.{ending}"
        questions, left_out = ab.testset(tmp_path / "gold.xml", target)
        assert questions == 1
        assert {"correct", "nca", "type"} <= {*left_out}
        seen.add(target.read_bytes())
    assert len(seen) == 1
    if ending == "xml":
        text = seen.pop().decode()
        assert "A <b>bold</b> text." in text
        assert "Why is <i>x</i> so?" in text
        assert "option 3<" in text
        for word in ("right", "solution", "score", "explanation", "hint", "CAUSAL", "correct"):
            assert word not in text


@pytest.mark.parametrize("source", ["csv", "tsv", "jsonl", "json", "parquet"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_test_set_of_a_table_does_not_depend_on_the_key(
    tmp_path: Path, source: str, ending: str
) -> None:
    rng, seen = random.Random(1), set()
    for _ in range(5):
        keys = rng.choices("ABC", k=6)
        frame = pl.DataFrame(
            {
                "question": [f"1/{n}/1" for n in range(6)],
                "correct": keys,
                "text": [f"Who is {n}?" for n in range(6)],
                "options": ["A|B|C"] * 6,
                "option_texts": ['["Ann","Bo|b","Cy"]'] * 6,
                "topic": ["t"] * 6,
                "difficulty": keys,
                "answerable": ["yes"] * 6,
            }
        )
        path = tmp_path / f"gold.{source}"
        match source:
            case "csv" | "tsv":
                frame.write_csv(path, separator="\t" if source == "tsv" else ",")
            case "jsonl":
                frame.write_ndjson(path)
            case "json":
                frame.write_json(path)
            case _:
                frame.write_parquet(path)
        target = tmp_path / f"test.{ending}"
        _, left_out = ab.testset(path, target)
        assert {*left_out} == {"correct", "difficulty", "answerable"}
        seen.add(target.read_bytes())
    assert len(seen) == 1
    with refuses(ab.UsageError, "test.xml"):
        ab.testset(path, tmp_path / "test.xml")
    again = ab.validate(tmp_path / f"test.{ending}", run_of([f"1/{n}/1" for n in range(6)], "B"))
    assert again.valid  # participants check their runs against it


def run_of(questions: list[str], answer: str) -> pl.DataFrame:
    return pl.DataFrame({"question": questions, "answer": [answer] * len(questions)})


def test_what_an_organiser_names_is_seen_but_never_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.xml").write_text(xml_gold("2"), encoding="utf-8")
    gold, target = str(tmp_path / "gold.xml"), tmp_path / "test.xml"
    assert run(["testset", gold, "-o", str(target), "--keep", "type"]) == 0
    says(capsys.readouterr().out, "correct")
    assert 'type="CAUSAL"' in target.read_text(encoding="utf-8")
    assert run(["testset", gold, "-o", str(target)]) == 2
    assert "--force" in capsys.readouterr().err
    with refuses(ab.UsageError, "nca"):
        ab.testset(gold, target, keep="nca")
    with refuses(ab.UnknownNameError, "tpye"):
        ab.testset(gold, target, keep=["tpye"])
    lines = tmp_path / "test.jsonl"
    ab.testset(gold, lines, keep=["type"])
    assert json.loads(lines.read_text(encoding="utf-8"))["type"] == "CAUSAL"


@pytest.mark.skipif(not Path(SHARED).is_dir(), reason="there is no folder of real data")
def test_real_golds_keep_documents_and_questions(tmp_path: Path) -> None:
    source = Path(SHARED) / "data/qa4mre/with_documents/QA4MRE-2012-EN_GS.xml"
    target = tmp_path / "test.xml"
    assert ab.testset(source, target) == (160, ("correct",))
    gold, seen = source.read_text("utf-8"), target.read_text("utf-8")
    assert "correct=" not in seen
    for tag in ("<doc ", "<q ", "<q_str", "<answer ", "<reading-test ", "<topic "):
        assert seen.count(tag) == gold.count(tag)
    documents = gold.count("African Women Confront Bush's AIDS Policy")
    assert seen.count("African Women Confront Bush's AIDS Policy") == documents == 1
