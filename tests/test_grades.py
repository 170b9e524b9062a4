"""Ready-made judgements."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import abstain as ab
from tests.helpers import Here, counts_of
from tests.snapshots import refuses, says


def graded(*grades: Any, column: str = "grade", **options: Any) -> tuple[float, ...]:
    ids = [f"q{i}" for i in range(len(grades))]
    frame = pl.DataFrame({"question": ids, column: list(grades)})
    return counts_of(ab.read_judged(frame, **options).score())["run"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "grades",
    [
        ("correct", "incorrect", "not attempted"),
        ("CORRECT", "Incorrect", "NOT_ATTEMPTED"),
        ("right", "wrong", "unanswered"),
        ("True", "False", None),
        ("yes", "no", "I don't know"),
        ("pass", "fail", "abstained"),
        ("A", "B", "C"),
        ("a", "b", " c "),
        ("C", "I", "N"),
        ("R", "W", "U"),
        ("1", "0", ""),
        ("1", "0", "-1"),
        ("1.0", "0.0", None),
    ],
)
@pytest.mark.parametrize("column", ["grade", "outcome"])
def test_scales(grades: tuple[str | None, ...], column: str) -> None:
    assert graded(*grades, column=column) == (1, 1, 0, 0, 1)


def test_typed_grades() -> None:
    assert graded(1, 0, None) == (1, 1, 0, 0, 1)
    assert graded(1.0, 0.0, float("nan")) == (1, 1, 0, 0, 1)
    assert graded(True, False, None) == (1, 1, 0, 0, 1)


def test_own_outcomes_keep_their_candidates() -> None:
    assert graded("right", "wrong", "unanswered_right", "unanswered_wrong", "unanswered_empty") == (
        1,
        1,
        1,
        1,
        1,
    )
    assert graded("R", "W", "UR", "UW", "UE") == (1, 1, 1, 1, 1)


def test_a_letter_with_two_meanings_is_asked_about() -> None:
    with pytest.raises(ab.InputError) as caught:
        graded("C", "C")
    says(str(caught.value), "'C'")
    assert graded("C", "C", grades={"C": "right"}) == (2, 0, 0, 0, 0)
    assert graded("C", "A") == (1, 0, 0, 0, 1)
    assert graded("C", "I") == (1, 1, 0, 0, 0)


def test_unusual_grades_are_mapped() -> None:
    words = {"meh": "wrong", "great": "right", "later": "declined"}
    assert graded("great", "meh", "later", "correct", grades=words) == (2, 1, 0, 0, 1)


def test_unknown_grades_are_named(here: Here) -> None:
    here.write("j.csv", "question,grade\nq1,correct\nq2,incorect\n")
    line = here.refuses("score", "--judged", "j.csv")
    says(line, "1", "'incorect'")
    assert "--grade 'incorect=right|wrong|blank'" in line
    assert here("score", "--judged", "j.csv", "--grade", "incorect=wrong").code == 0
    line = here.refuses("score", "--judged", "j.csv", "--grade", "incorect=rong")
    says(line, "'rong'")
    assert "needs judged rows (--judged)" in here.refuses(
        "score", "j.csv", "j.csv", "--grade", "a=wrong"
    )


def test_mixed_scales_are_refused() -> None:
    with pytest.raises(ab.InputError, match="no scale"):
        graded("A", "I", "1")


def test_each_table_may_have_a_scale_of_its_own(here: Here) -> None:
    here.write("letters.csv", "question,grade\nq1,A\nq2,C\n")
    here.write("words.csv", "question,grade\nq1,incorrect\nq2,correct\n")
    here.write("open.csv", "question,grade\nq1,C\nq2,C\n")
    said = here("score", "--judged", "letters.csv", "words.csv", "-f", "json")
    counts = {r["run"]: ab.Counts.from_dict(r["counts"]) for r in said.data["results"]}
    assert counts == {"letters": ab.Counts(right=1, unsplit=1), "words": ab.Counts(1, 1)}
    together = here("score", "--judged", "letters.csv", "open.csv", "-f", "json").data["results"]
    assert {r["run"]: r["counts"]["unanswered"] for r in together} == {
        "letters": 1,
        "open": 2,
    }


def test_rows_without_ids_must_be_as_many_in_every_run(here: Here) -> None:
    here.write("whole.csv", "problem,grade\na,A\nb,B\n")
    here.write("cut.csv", "problem,grade\na,A\n")
    assert "--column question=problem" in here.refuses("score", "--judged", "whole.csv", "cut.csv")
    here.write("nameless.csv", "topic,grade\nx,A\nx,B\n")
    here.write("short.csv", "topic,grade\nx,A\n")
    line = here.refuses("score", "--judged", "nameless.csv", "short.csv")
    says(line, "'short'", "1", "'nameless'", "2")
    line = here.refuses("score", "--judged", "whole.csv", "cut.csv")
    assert "--column question=problem" in line
    assert here("score", "--judged", "whole.csv", "cut.csv", "-c", "question=problem").code == 0


def test_reasons_and_policies(here: Here) -> None:
    here.write(
        "j.csv",
        "question,outcome,why\nq1,right,\nq2,,unparseable\nq3,unanswered,empty\nq4,unparseable,\n"
        "q5,error,\n",
    )
    assert "1 response failed (error)" in here.refuses("score", "--judged", "j.csv")
    said = here("score", "--judged", "j.csv", "--policy", "error=unanswered", "-f", "json")
    assert said.data["touched"] == {"empty": 1, "unparseable": 2, "error": 1}
    assert said.data["results"][0]["counts"]["wrong"] == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question,outcome,why\nq1,right,declined\n", ("j.csv:2",)),
        ("question,outcome,why\nq1,,lazy\n", ("j.csv:2", "'why'", "'lazy'")),
        ("question,outcome\nq1,right\n,wrong\n", ("j.csv:3",)),
        (
            "question,outcome\nq1,right\nq2,wrong\nq1,wrong\n",
            ("j.csv:4", "'j'", "'q1'", "j.csv:2"),
        ),
        ("question,opinion\nq1,right\n", ("j.csv:1", "'outcome'")),
        ("question,outcome,run\nq1,right,\n", ("j.csv",)),
    ],
)
def test_bad_rows(here: Here, text: str, said: tuple[str, ...]) -> None:
    here.write("j.csv", text)
    says(here.refuses("score", "--judged", "j.csv"), *said)


def test_what_a_run_lacks_is_missing_and_slices_work(here: Here) -> None:
    here.write(
        "j.csv",
        "run,question,grade,topic\na,q1,A,x\na,q2,B,y\nb,q1,C,x\n",
    )
    said = here("score", "--judged", "j.csv", "--by", "topic", "-f", "json")
    found = {
        (row["run"], row["slice"]["topic"]): ab.Counts.from_dict(row["counts"])
        for row in said.data["results"]
    }
    assert found == {
        ("a", "x"): ab.Counts(right=1),
        ("a", "y"): ab.Counts(wrong=1),
        ("b", "x"): ab.Counts(unsplit=1),
        ("b", "y"): ab.Counts(unsplit=1),
    }
    assert said.data["touched"] == {"declined": 1, "missing": 1}
    assert "topic" in here.refuses("score", "--judged", "j.csv", "--by", "topc")


def test_rows_without_questions_count_as_they_are() -> None:
    frame = pl.DataFrame({"grade": ["A", "B", "B", "C"]})
    result = ab.read_judged(frame).score()
    assert counts_of(result) == {"run": (1, 2, 0, 0, 1)}
    assert any("name no question" in note for note in result.notes)


def test_a_question_in_two_slices_is_refused() -> None:
    frame = pl.DataFrame(
        {"run": ["a", "b"], "question": ["q", "q"], "grade": ["A", "B"], "topic": ["x", "y"]}
    )
    with refuses(ab.InputError, "'q'"):
        ab.read_judged(frame).score(by=["topic"])


def test_a_run_may_be_spread_over_tables(here: Here) -> None:
    here.write("one.csv", "run,question,grade\na,q1,correct\na,q2,correct\n")
    here.write("two.csv", "run,question,grade\nb,q1,correct\na,q3,incorrect\n")
    found = counts_of(ab.read_judged(["one.csv", "two.csv"]).score())
    assert found == {"a": (2, 1, 0, 0, 0), "b": (1, 0, 0, 0, 2)}
    here.write("two.csv", "run,question,grade\nb,q1,correct\na,q1,incorrect\n")
    says(here.refuses("score", "--judged", "one.csv", "two.csv"), "two.csv:3", "'a'", "one.csv:2")


def test_slices_of_nameless_rows_come_as_they_are_in_the_file() -> None:
    slices = [f"s{i:02d}" for i in range(40)]
    frame = pl.DataFrame({"grade": ["correct"] * 40, "part": slices[::-1]})
    result = ab.read_judged(frame).score(by=["part"])
    assert [row.slice["part"] for row in result.rows] == slices[::-1]


def test_a_line_to_type_decides_nothing(here: Here) -> None:
    """What an error proposes cannot be pasted unread: it would make blanks wrong, or right."""
    here.write("g.csv", "id,grade\n1,richtig\n2,falsch\n3,keine Antwort\n4,keine Antwort\n")
    line = here.refuses("score", "--judged", "g.csv")
    assert "--grade 'falsch=right|wrong|blank'" in line
    pasted = here.refuses("score", "--judged", "g.csv", "--grade", "falsch=right|wrong|blank")
    says(pasted, "'right|wrong|blank'", "blank")
    words = ["richtig=right", "falsch=wrong", "keine Antwort=blank"]
    grades = [text for word in words for text in ("--grade", word)]
    (row,) = here("score", "--judged", "g.csv", *grades, "-f", "json").data["results"]
    assert (row["counts"]["right"], row["counts"]["wrong"], row["blanks"]) == (
        1,
        1,
        {"declined": 2},
    )


def test_grades_that_two_scales_read_differently_propose_no_meaning(here: Here) -> None:
    here.write("g.csv", "id,grade\n1,C\n2,C\n")
    assert "--grade 'C=right|wrong|blank'" in here.refuses("score", "--judged", "g.csv")
