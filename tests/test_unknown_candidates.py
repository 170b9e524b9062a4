"""A blank whose candidate nobody knows is no blank without a candidate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.reading import EngineName
from tests.engines import ENGINES, needs
from tests.helpers import Here
from tests.snapshots import refuses, says

NEEDY = ["over-abstention", "correctly-discarded", "forced-accuracy", "estimated-qa-performance"]
IDS = [f"q{i}" for i in range(1, 6)]
GOLD = pl.DataFrame({"question": IDS, "correct": ["a", "b", "c", "d", "e"]})
ANSWERS = {"question": IDS[:4], "answer": ["a", "x", None, None]}
"""One right, one wrong, two blank, one missing."""


def run(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame({**ANSWERS, **columns})


WAYS: dict[str, tuple[pl.DataFrame, ab.Counts]] = {
    "no column says": (run(), ab.Counts(1, 1, unsplit=3)),
    "a column without a candidate": (
        run(candidate=[None, None, "", None]).cast({"candidate": pl.String}),
        ab.Counts(1, 1, unanswered_empty=3),
    ),
    "a column with some": (
        run(candidate=[None, None, "c", "x"]),
        ab.Counts(1, 1, unanswered_right=1, unanswered_wrong=1, unanswered_empty=1),
    ),
    "answered, without any": (run(answered=["yes", "yes", "no", "no"]), ab.Counts(1, 1, unsplit=3)),
    "answered, with one that was held back": (
        run(answered=["yes", "yes", "no", "no"], answer=["a", "x", "c", None]),
        ab.Counts(1, 1, unanswered_right=1, unanswered_empty=2),
    ),
    "why": (run(why=[None, None, "declined", "limit"]), ab.Counts(1, 2, unsplit=2)),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("way", WAYS)
def test_only_a_table_that_says_so_has_no_candidate(way: str, engine: EngineName) -> None:
    needs(engine)
    frame, expected = WAYS[way]
    evaluation = ab.read(GOLD, {"run": frame}, engine=engine)
    assert evaluation.score().rows[0].counts == expected, "as the engine counts"
    assert evaluation.data.overall()[0] == expected, "as the matrix counts"


@pytest.mark.parametrize("engine", ENGINES)
def test_each_run_says_so_for_itself(engine: EngineName) -> None:
    needs(engine)
    frames = {name: frame for name, (frame, _) in WAYS.items()}
    result = ab.read(GOLD, frames, engine=engine).score()
    assert {row.run: row.counts for row in result.rows} == {
        name: expected for name, (_, expected) in WAYS.items()
    }


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        (["CORRECT", "INCORRECT", "NOT_ATTEMPTED"], ab.Counts(1, 1, unsplit=1)),
        (["A", "B", "C"], ab.Counts(1, 1, unsplit=1)),
        (["C", "I", "N"], ab.Counts(1, 1, unsplit=1)),
        (["1", "0", "-1"], ab.Counts(1, 1, unsplit=1)),
        (["R", "W", "U"], ab.Counts(1, 1, unsplit=1)),
        (["R", "W", "UE"], ab.Counts(1, 1, unanswered_empty=1)),
        (["R", "UW", "UE"], ab.Counts(1, unanswered_wrong=1, unanswered_empty=1)),
        (["right", "wrong", ""], ab.Counts(1, 1, unsplit=1)),
        (["right", "wrong", "unanswered"], ab.Counts(1, 1, unsplit=1)),
        (["right", "wrong", "unanswered_empty"], ab.Counts(1, 1, unanswered_empty=1)),
        (["right", "wrong", "missing"], ab.Counts(1, 1, unsplit=1)),
    ],
)
def test_what_a_grade_says_of_the_candidate(grades: list[str], expected: ab.Counts) -> None:
    rows = pl.DataFrame({"question": IDS[:3], "grade": grades})
    for frame in (rows, rows.drop("question"), rows.with_columns(why=pl.lit(""))):
        assert ab.read_judged(frame).score().rows[0].counts == expected


def test_outcomes_are_read_back_as_they_are() -> None:
    for frame, expected in (each for way, each in WAYS.items() if way != "why"):
        outcomes = ab.read(GOLD, {"run": frame}).outcomes()
        assert ab.read_judged(outcomes).score().rows[0].counts == expected


def reloaded(result: Any, folder: Path) -> Any:
    result.to_json(folder / "result.json")
    return ab.load(folder / "result.json")


def unknown() -> dict[str, ab.Evaluation]:
    """One right, one wrong and three blanks of which nothing more is known, by every way in."""
    grades = pl.DataFrame({"question": IDS, "grade": ["A", "B", "C", "C", "C"]})
    counts: Mapping[str, ab.Counts] = {"run": ab.Counts(1, 1, unsplit=3)}
    return {
        "gold": ab.read(GOLD, {"run": run()}),
        "judged": ab.read_judged(grades),
        "nameless": ab.read_judged(grades.drop("question")),
        "counts": ab.read_counts(counts),
    }


@pytest.mark.parametrize("way", unknown())
def test_measures_of_candidates_are_undefined(way: str) -> None:
    result = unknown()[way].score([*NEEDY, "c@1"], interval=way != "counts", break_even=True)
    (row,) = result.rows
    assert row.scores == {**dict.fromkeys(NEEDY), "c@1": pytest.approx(1 / 5 * (1 + 3 / 5))}
    assert set(row.undefined) == set(NEEDY)
    assert all("not known" in why for why in row.undefined.values())
    assert all(row.intervals[name] == (None, None) for name in NEEDY if row.intervals)
    assert row.candidates == (None, None, None)
    assert row.numbers["unanswered"] == 3


def test_analyses_of_single_questions_know_it_too(tmp_path: Path) -> None:
    first = run(confidence=[0.9, 0.8, 0.4, 0.1])
    second = run(answer=["a", "b", None, None], confidence=[0.9, 0.8, 0.4, 0.1])
    pair = ab.read(GOLD, {"first": first, "second": second}, policy={"missing": "unanswered"})
    compared = pair.compare("over-abstention", resamples=100)
    assert [row.score for row in compared.rows] == [None, None]
    assert (compared.pairs[0].difference, compared.pairs[0].interval) == (None, (None, None))
    assert (compared.pairs[0].p, compared.origin) == (None, None)
    curve = pair.curve("forced-accuracy")
    assert all(each.best is None and each.as_submitted is None for each in curve.runs)
    assert reloaded(compared, tmp_path) == compared
    gold = pl.DataFrame({"question": range(40), "correct": "a"})
    many = pl.DataFrame(
        {"question": range(40), "answer": ["a", "b", None, "a"] * 10, "confidence": [0.5, 0.9] * 20}
    )
    tuned = ab.read(gold, {"first": many}).tune(folds=2)
    assert tuned.runs[0].judged.counts.unsplit == 10
    assert reloaded(tuned, tmp_path) == tuned
    assert reloaded(curve, tmp_path) == curve
    halves = {name: pair.only(runs=name).score().rows[0].counts for name in pair.runs}
    assert {k.unsplit for k in halves.values()} == {3}
    frame = pair.counts()
    assert frame["unanswered_empty"].to_list() == [None, None]
    assert frame["unanswered"].to_list() == [3, 3]


def test_the_table_says_why(here: Here) -> None:
    here.write("graded.csv", "question,grade\nq1,CORRECT\nq2,INCORRECT\nq3,NOT_ATTEMPTED\n")
    said = here("score", "--judged", "graded.csv", *(x for name in NEEDY for x in ("-m", name)))
    assert "0.0000" not in said.out
    says(" ".join(said.out.split()), "3")


def test_a_frame_has_one_column_of_blanks() -> None:
    two = {
        name: WAYS[way][0] for name, way in (("a", "no column says"), ("b", "a column with some"))
    }
    result = ab.read(GOLD, two).score("c@1", by=[])
    frame = result.to_frame()
    assert dict(zip(frame["run"], frame["blank"], strict=True)) == {"a": 3, "b": 3}
    assert dict(zip(frame["run"], frame["unanswered_right"], strict=True)) == {"a": None, "b": 1}
    assert "unanswered" not in frame.columns
    written = frame.select("run", "right", "wrong", "blank")
    assert ab.read_counts(written).score("c@1")["a"].scores == result["a"].scores


def test_rows_of_a_result_are_had_by_run() -> None:
    gold = GOLD.with_columns(topic=pl.Series(["x", "x", "y", "y", "y"]))
    read = ab.read(gold, {"a": run(), "b": run()})
    assert read.score(references=True)["b"].run == "b"
    sliced = read.score(by="topic")
    assert sliced["a", "y"].counts == ab.Counts(unsplit=3)
    with refuses(ab.UnknownNameError, "'c'"):
        sliced["c"]
    with refuses(ab.UsageError, "('a', 'x')"):
        sliced["a"]


def test_an_evaluation_says_what_it_is_without_counting() -> None:
    assert repr(ab.read(GOLD, {"a": run()})) == "<Evaluation: 1 table, gold>"
    assert repr(ab.read_counts({"a": ab.Counts(1)})) == "<Evaluation: 0 tables, counts>"


def test_rows_without_a_grade_are_refused_as_they_are_read() -> None:
    with refuses(ab.InputError, "'outcome'", "answer"):
        ab.read_judged(run())


def test_a_count_of_blanks_has_a_name() -> None:
    with pytest.raises(TypeError):
        ab.Counts(134, 28, 38)  # type: ignore[call-arg]
    assert ab.Counts.of([134, 28, 0, 0, 0, 38]) == ab.Counts(134, 28, unsplit=38)
