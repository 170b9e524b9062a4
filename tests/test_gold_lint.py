"""`validate GOLD`: keys, options and balance of a gold by itself, by hand and by scipy."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binomtest

import abstain as ab
from abstain.cli import run
from tests.snapshots import SHARED, says

BAD = '''question,correct,options,text,option_texts
q1,A,A|B,Who?,"[""Ann"",""ann ""]"
q2,,A|B,Where?,"[""here"",""there""]"
q3,C,A|B,When?,"[""now"",""then""]"
q4,A,A|B,How?,"[""so"",""""]"
q5,B,A|B,When? ,"[""Then"",""now""]"
q6,B,A|B,Why?,"[""because"",""None of the abve""]"
q7,B,A|B,What?,"[""this"",""None of the above""]"
'''


def test_every_fault_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(BAD, encoding="utf-8")
    found = ab.validate(tmp_path / "gold.csv")
    assert not found.valid
    assert [(p.question, p.line, p.kind) for p in found.problems] == [
        ("q1", 2, "options alike"),
        ("q2", 3, "no right answer"),
        ("q3", 4, "key not an option"),
        ("q4", 5, "empty option"),
        ("q5", 6, "repeated question"),
    ]
    says([p.message for p in found.problems], "'q3'")
    assert any("'q6'" in note and "None of the abve" in note for note in found.notes)
    found.to_json(tmp_path / "saved.json")
    assert ab.load(tmp_path / "saved.json") == found


def test_a_gold_with_unanswerable_questions_or_without_options_is_no_fault() -> None:
    assert ab.validate(pl.DataFrame({"question": ["a", "b"], "correct": ["x", ""]})).valid
    marked = {"question": ["a"], "correct": [""], "options": ["A|B"], "answerable": ["no"]}
    assert ab.validate(pl.DataFrame(marked)).valid


def test_balance_by_hand() -> None:
    """Four questions of two options, one of three, one with two right answers (not counted)."""
    gold = pl.DataFrame(
        {
            "question": [f"q{n}" for n in range(6)],
            "correct": ["A", "A", "A", "B", "C", "A|B"],
            "options": [*["A|B"] * 4, "A|B|C", "A|B"],
            "option_texts": [
                '["long one","b"]',
                '["long one","b"]',
                '["x","y"]',
                '["x","yy"]',
                '["a","b","ccc"]',
                '["a","b"]',
            ],
        }
    )
    found = {row.where: row for row in ab.validate(gold).balance}
    assert {where: (row.right, row.questions) for where, row in found.items()} == {
        "option 1": (3, 5),
        "option 2": (1, 5),
        "option 3": (1, 1),
        "the longest option": (4, 4),
        "the shortest option": (0, 3),
    }
    assert found["option 1"].expected == pytest.approx(4 / 2 + 1 / 3)
    assert found["the longest option"].expected == pytest.approx(3 / 2 + 1 / 3)
    for row in found.values():
        p = row.expected / row.questions
        sides = [
            binomtest(row.right, row.questions, p, alternative="less").pvalue,
            binomtest(row.right, row.questions, p, alternative="greater").pvalue,
        ]
        assert row.p_value == pytest.approx(min(1, 2 * min(sides)))


def test_a_key_that_is_always_the_same_is_odd(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"question": range(12), "correct": "A", "options": "A|B|C"})
    frame.write_csv("gold.csv")
    assert run(["validate", "gold.csv"]) == 0
    says(capsys.readouterr().out, "option 1 is right in 12 of 12")


def test_a_named_run_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gold.csv").write_text("question,correct\nq1,A\n")
    (tmp_path / "r.csv").write_text("question,answer\nq1,A\n")
    assert run(["validate", str(tmp_path / "gold.csv"), f"mine={tmp_path / 'r.csv'}"]) == 0
    assert run(["validate", str(tmp_path / "gold.csv"), f"mine={tmp_path / 's.csv'}"]) == 2
    says(capsys.readouterr().err, "s.csv")


def test_letters_for_numbered_options() -> None:
    options = ["1|2|3|4|5"] * 2
    gold = pl.DataFrame({"question": ["a", "b"], "correct": ["2", "5"], "options": options})
    runs = {"x": pl.DataFrame({"question": ["a", "b"], "answer": ["B", "(d)"]})}
    problems = ab.validate(gold, runs).problems
    assert [p.kind for p in problems] == ["unknown option"] * 2
    says(problems[0].message, "--match letters")
    assert ab.validate(gold, runs, match="letters").valid
    row = ab.score(gold, runs, match="letters").rows[0]
    assert (row.counts.right, row.counts.wrong) == (1, 1)
    back = gold.with_columns(correct=pl.Series(["B", "E"]), options=pl.lit("A|B|C|D|E"))
    digits = pl.DataFrame({"question": ["a", "b"], "answer": ["2", "5"]})
    assert ab.score(back, digits, match="letters").rows[0].counts.right == 2


def test_a_run_that_is_left_out_needs_no_advice() -> None:
    gold = pl.DataFrame({"question": ["a", "b"], "correct": ["x", "y"]})
    good = pl.DataFrame({"question": ["a", "b"], "answer": ["x", "I don't know"]})
    bad = pl.DataFrame({"question": ["a", "c"], "answer": ["I don't know", "y"]})
    result = ab.campaign(gold, {"good": good, "bad": bad}, skip_invalid=True)
    assert result.skipped == ("bad",)
    assert [w.run for w in result.warnings if w.kind == "refusals"] == ["good"]


@pytest.mark.skipif(not Path(SHARED).is_dir(), reason="there is no folder of real data")
def test_real_golds() -> None:
    folder = Path(SHARED) / "data/qa4mre/gold"
    found = ab.validate(folder / "cmu11791_GS.xml")
    assert found.valid
    # counted with grep: correct="Yes" behind a_id 1 to 5
    positions = {row.where: row.right for row in found.balance}
    assert [positions[f"option {n}"] for n in range(1, 6)] == [19, 18, 18, 12, 33]
    assert [w.kind for w in found.warnings] == ["unbalanced"]
