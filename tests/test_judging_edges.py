"""Judging piece by piece: tables that grow or join, clusters, advice, notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import abstain as ab
from abstain.io.tables import Table
from abstain.reading import Reading
from abstain.runs.counting import grown, refuse_counts
from abstain.runs.gold import cluster_numbers, slices_of
from abstain.runs.refusals import cleaned
from abstain.runs.responses import notes_of_tables, read_responses
from tests.snapshots import refuses, says


def test_a_table_grows_to_twice_its_rows_or_to_what_is_asked_for() -> None:
    table = np.arange(6).reshape(3, 2)
    assert grown(table, 3) is table
    for rows, room in ((4, 6), (6, 6), (10, 10)):
        larger = grown(table, rows)
        assert larger.shape == (room, 2)
        assert larger[:3].tolist() == table.tolist()
        assert (larger[3:] == 0).all()
        assert larger.dtype == table.dtype
    assert np.isnan(grown(np.zeros((1, 2)), 2, np.nan)[1]).all()


def test_clusters_are_numbered_without_a_gap() -> None:
    frame = pl.DataFrame({"question": list("abcdef"), "doc": ["y", None, "x10", "", "x9", "y"]})
    assert cluster_numbers(frame, "doc").tolist() == [2, 3, 1, 4, 0, 2]
    none = pl.DataFrame({"question": ["a", "b"], "doc": pl.Series([None, None], dtype=pl.String)})
    assert cluster_numbers(none, "doc").tolist() == [0, 1]


def test_slices_sum_what_their_questions_have() -> None:
    frame = pl.DataFrame({"question": list("abcd"), "topic": ["10", "9", None, "10"]})
    own = slices_of(frame, "topic")
    assert own.names == ["9", "10"]
    assert own.slice_of.tolist() == [1, 0, -1, 1]
    assert own.sizes.tolist() == [1, 2]
    table = np.array([[1.0, 10], [2, 20], [4, 40], [8, 80]])
    assert own.sums(table).tolist() == [[2, 20], [9, 90]]


def graded(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"outcome": ["right"] * len(next(iter(columns.values()))), **columns})


def test_rows_of_one_question_are_refused() -> None:
    frame = graded(run=["a", "a", "b"], question=[1, 1, 2], kind=["x", "y", "x"])
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged(frame).score("c@1")
    says(str(caught.value), "row 2", "'a'", "'1'")


def test_a_column_of_systems_is_not_pooled() -> None:
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged(graded(question=[1, 1], kind=["x", "y"], engine_name=["x", "y"])).score(
            "c@1"
        )
    says(str(caught.value), "'engine_name'")


def test_the_grades_without_a_meaning_are_named() -> None:
    grades = ["correct", "meh", "bah", "meh"]
    frame = pl.DataFrame({"question": range(len(grades)), "grade": grades})
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged(frame).score("c@1")
    says(str(caught.value), "'bah', 'meh'")
    assert "'correct'" not in str(caught.value)


@pytest.mark.parametrize(
    "row",
    [
        {"right": 5, "wrong": 2, "unanswered": 3, "questions": 10},
        {"right": 5, "wrong": 2, "unanswered_right": 1, "unanswered_empty": 2, "total": 10},
        {"right": 5, "wrong": 2, "answered": 7, "n": 10},
        {"right": 5, "wrong": 2, "unanswered": 3, "unanswered_wrong": 3},
        {"right": 10, "wrong": 0, "n": 10},
    ],
)
def test_counts_that_add_up(row: dict[str, int]) -> None:
    frame = pl.DataFrame([{"run": "a", **row}])
    (found,) = ab.read_counts(frame).score("accuracy").rows
    assert found.scores["accuracy"] == pytest.approx(row["right"] / 10)
    assert found.counts.n == 10


@pytest.mark.parametrize(("letters", "typed"), [(40, "z" * 40), (41, "GRADE")])
def test_a_long_grade_is_not_in_the_line_to_type(letters: int, typed: str) -> None:
    frame = pl.DataFrame({"question": [1, 2], "grade": ["correct", "z" * letters]})
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged(frame).score("c@1")
    assert f'grades={{"{typed}": "right|wrong|blank"}}' in str(caught.value)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("question-0l", "question 'question-0l' is not in the gold (nearest: 'question-01'"),
        ("question-0123", "(nearest: 'question-01'"),  # two letters more
        ("question-01234", "question 'question-01234' is not in the gold"),
        ("entirely else", "question 'entirely else' is not in the gold"),
    ],
)
def test_the_nearest_ids_are_named(question: str, said: str) -> None:
    gold = pl.DataFrame({"question": ["question-01", "another-999"], "correct": ["a", "b"]})
    run = pl.DataFrame({"question": ["question-01", question], "answer": ["a", "b"]})
    with pytest.raises(ab.InputError) as caught:
        ab.read(gold, run).score("c@1")
    assert said in str(caught.value)
    assert ("nearest" in str(caught.value)) == ("nearest" in said)


@pytest.mark.parametrize(
    ("sure", "said"),
    [
        (1.5, ("1.5", "0", "1")),
        (-0.25, ("-0.25", "0", "1")),
        ("0,9", ("'0,9'", "0", "1")),
        ("much", ("'much'", "0", "1")),
    ],
)
def test_what_is_no_confidence(sure: object, said: tuple[str, ...]) -> None:
    gold = pl.DataFrame({"question": ["a"], "correct": ["x"]})
    run = pl.DataFrame({"question": ["a"], "answer": ["x"], "confidence": [sure]})
    with pytest.raises(ab.InputError) as caught:
        ab.read(gold, run).score("c@1")
    says(str(caught.value), *said)


def test_a_note_of_several_files_is_said_once(tmp_path: Path) -> None:
    tables = []
    for name, note in (("a", "3 of 1,200 rows are odd"), ("b", "4 of 5 rows are odd")):
        path = tmp_path / f"{name}.csv"
        path.write_text("question,answer\nq1,x\n", "utf-8")
        table = read_responses(path, Reading()).table
        tables.append(replace(table, notes=(f"{table.name}: {note}", "said of all")))
    one, two = tables
    assert notes_of_tables([one]) == list(one.notes)
    assert notes_of_tables(tables) == [
        f"{one.name}: 3 of 1,200 rows are odd (and 1 more file alike)",
        "said of all",
    ]
    assert notes_of_tables([one, one]) == list(one.notes)
    other = replace(two, notes=(f"{two.name}: has no header",))
    assert notes_of_tables([one, other]) == [*one.notes, *other.notes]


def test_counts_without_a_run_are_called_by_their_rows() -> None:
    frame = pl.DataFrame({"right": [1, 2], "wrong": [1, 0], "unanswered": [0, 0]})
    found = ab.read_counts(frame).score("c@1").rows
    assert {row.run: row.counts.right for row in found} == {"row 1": 1, "row 2": 2}


@pytest.mark.parametrize(("given", "kept"), [(1_999, 1_999), (2_000, 2_000), (2_001, 2_000)])
def test_refusals_are_looked_for_in_the_first_two_thousand_letters(given: int, kept: int) -> None:
    assert pl.select(cleaned(pl.lit("a" * given))).item() == "a" * kept


def log(name: str, question: list[str], doc_id: list[str]) -> Table:
    frame = pl.LazyFrame({"question": question, "doc_id": doc_id})
    return Table(name, "lm-eval", ("question", "doc_id"), frame, verdicts="judge")


def test_logs_of_different_documents_are_told() -> None:
    ids, hashes = ["0", "1"], ["ab", "cd"]
    plain, own = log("plain", ids, ids), log("hashed", hashes, ids)
    for note, name in zip(notes_of_tables([own, plain]), ("hashed", "plain"), strict=True):
        says(note, name, "2")
    assert notes_of_tables([plain, log("other", ids, ids)]) == []
    assert notes_of_tables([own, log("other", hashes, ["7", "8"])]) == []
    one, two = notes_of_tables([own, log("other", ["ab", "ef", "gh"], ["0", "1", "2"])])
    says(one, "1", "2")
    says(two, "2", "3")


def test_a_result_has_at_most_a_hundred_thousand_rows() -> None:
    refuse_counts(100, 1_000, "t")
    for runs, slices in ((100_001, 1), (1, 100_001)):
        with refuses(ab.InputError, "100,000"):
            refuse_counts(runs, slices, "t")


@pytest.mark.parametrize(
    ("why", "said"), [("declind", "(nearest: declined)"), ("xyzzy", "expected one of")]
)
def test_a_reason_that_is_none(why: str, said: str) -> None:
    gold = pl.DataFrame({"question": ["a"], "correct": ["x"]})
    run = pl.DataFrame({"question": ["a"], "answer": [""], "why": [why]})
    with pytest.raises(ab.InputError) as caught:
        ab.read(gold, run).score("c@1")
    says(str(caught.value), "'why'", f"{why}")
    assert said in str(caught.value)
    assert ("nearest" in str(caught.value)) == ("nearest" in said)


def test_rows_without_a_run_name_that_repeat_a_question_are_told(tmp_path: Path) -> None:
    gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["a", "b"]})
    frame = pl.DataFrame({"run": [None, "a", "a", None], "question": "q1", "answer": "a"})
    frame.write_parquet(tmp_path / "runs.parquet")
    problems = ab.validate(gold, tmp_path / "runs.parquet").problems
    assert [(own.kind, own.row) for own in problems if own.row] == [
        ("no run name", 1),
        ("repeated question", 3),
        ("no run name", 4),
    ]
