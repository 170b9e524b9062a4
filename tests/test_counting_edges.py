"""Refusals of judging in every engine, with how many more there are; joins and counts by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from msgspec.structs import replace

import abstain as ab
from abstain.features.validate.problems import missing_questions
from abstain.io.tables import ROW, Table
from abstain.outcomes import CODES, EXCLUDED, KINDS, RIGHT, WRONG, Why, blank_kind
from abstain.runs import counting
from abstain.runs.counting import count_kinds, fill
from abstain.runs.faults import repeats
from abstain.runs.gold import Slices, natural_key, read_gold
from abstain.runs.grades import fold, read_scale
from abstain.runs.judge import INDEX, KIND, SLICE, SPOT, judge, keys_of
from abstain.runs.log_tasks import as_one_table
from abstain.runs.refusals import with_refusals
from abstain.runs.responses import Responses, notes_of_gold, read_responses
from abstain.runs.sources import answers_of, count_stated, matrix_of
from abstain.runs.usual_names import recognised, refuse_pooled
from tests.snapshots import refuses, says

GOLD = pl.DataFrame({"question": ["a", "b", "c"], "correct": ["x", "y", "z"]})


def duckdb(frame: pl.DataFrame) -> Any:
    return pytest.importorskip("duckdb").connect().from_arrow(frame.to_arrow())


def arrow(frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow()


def pandas(frame: pl.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(frame.to_dict(as_series=False))


ENGINES: list[Callable[[pl.DataFrame], Any]] = [pl.DataFrame.lazy, pandas, arrow, duckdb]


def rows(*cells: tuple[str, str], **columns: list[Any]) -> pl.DataFrame:
    asked, answers = zip(*cells, strict=True)
    return pl.DataFrame({"question": list(asked), "answer": list(answers), **columns})


def refused(frame: Any, gold: Any = GOLD) -> str:
    with pytest.raises(ab.InputError) as caught:
        ab.read(gold, frame).score("c@1")
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("faults", [0, 1, 2, 3])
def test_unknown_questions_are_named_and_counted(
    engine: Callable[[pl.DataFrame], Any], faults: int
) -> None:
    some = rows(("a", "x"), ("b", "n"), *[("ninth", "x")] * faults)
    if not faults:
        (row,) = ab.read(GOLD, engine(some)).score("c@1").rows
        assert (row.counts.right, row.counts.wrong, row.counts.n) == (1, 1, 3)
        return
    said = refused(engine(some))
    says(said, "'ninth'")
    more = f"(and {faults - 1} more; `abstain validate` lists them)"
    assert said.endswith(more) == (faults > 1)
    assert ("more" in said) == (faults > 1)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_questions_again_are_named_and_counted(
    engine: Callable[[pl.DataFrame], Any], times: int
) -> None:
    """The last question by the gold's order is answered several times, the others once."""
    some = rows(("a", "x"), ("b", "y"), *[("c", "z")] * times)
    if times == 1:
        (row,) = ab.read(GOLD, engine(some)).score("c@1").rows
        assert row.counts.right == 3
        return
    said = refused(engine(some))
    says(said, "'c'")
    more = f"(and {times - 2} more; `abstain validate` lists them)"
    assert said.endswith(more) == (times > 2)
    assert ("more" in said) == (times > 2)


def judged(*frames: Any) -> Any:
    gold = read_gold(GOLD)
    named = [
        read_responses(frame, ab.Reading(), name=f"r{at}") for at, frame in enumerate(frames, 1)
    ]
    return judge(gold, named)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_at_most_so_many_repeats_are_looked_up(most: int) -> None:
    """Two in a frame of polars, two in one of DuckDB: as many as asked for, the first ones."""
    some = rows(("a", "x"), ("a", "x"), ("b", "y"), ("b", "y"))
    found = repeats(judged(some, duckdb(some)), most=most)
    assert [(own.run, own.question) for own in found] == [
        ("r1", "a"),
        ("r1", "b"),
        ("r2", "a"),
        ("r2", "b"),
    ][:most]


@pytest.mark.parametrize(
    ("asked", "gone"),
    [
        (["b", "a"], ["c", "d"]),
        (["c"], ["a", "b", "d"]),
        (["a", "d", "b"], ["c"]),
        (["a", "b", "c", "d"], []),
    ],
)
def test_what_a_run_lacks_is_listed_in_the_order_of_the_gold(
    asked: list[str], gone: list[str]
) -> None:
    gold = pl.DataFrame({"question": list("abcd"), "correct": list("xyzw")})
    frame = pl.LazyFrame({"question": asked, "answer": "x"}).with_row_index(ROW)
    own = Table("r.csv", "csv", ("question", "answer"), frame, lines=[5, 6, 7, 8])
    found = missing_questions(judge(read_gold(gold), [Responses(own, "r")]))
    assert [(one.question, str(one.place)) for one in found] == [(q, "r.csv") for q in gone]


# -------------------------------------------------------------------------- counts and cells


@pytest.mark.parametrize("engine", ENGINES)
def test_kinds_by_slice_in_every_engine(engine: Callable[[pl.DataFrame], Any]) -> None:
    gold = pl.DataFrame(
        {"question": list("abcd"), "correct": list("xyzw"), "topic": ["t", "u", "t", None]}
    )
    frame = rows(("a", "x"), ("b", "n"), ("c", ""))
    own = judge(read_gold(gold), [read_responses(engine(frame), name="r")], by=["topic"])
    found = count_kinds(own, ["topic"])
    kinds = {
        ("t", RIGHT): 1,
        ("u", WRONG): 1,
        ("t", blank_kind(Why.EMPTY)): 1,
        (None, blank_kind(Why.MISSING)): 1,
    }
    assert found.questions == 4
    for (slice_of,), table in zip(found.slices, found.table, strict=True):
        assert table.tolist() == [kinds.get((slice_of, kind), 0) for kind in range(CODES)]


@pytest.mark.parametrize("confident", [False, True])
def test_responses_are_put_in_their_cells(confident: bool) -> None:
    one = rows(("c", "z"), ("a", "n"), confidence=[0.5, None])
    names, kinds, sure = matrix_of(judged(one, duckdb(one[:1])), confident=confident)
    assert names == ["r1", "r2"]
    missing = blank_kind(Why.MISSING)
    assert kinds.tolist() == [[WRONG, missing, RIGHT], [missing, missing, RIGHT]]
    if confident:
        assert sure is not None
        np.testing.assert_array_equal(sure, [[np.nan, np.nan, 0.5], [np.nan, np.nan, 0.5]])
    else:
        assert sure is None


def test_as_many_cells_as_fit_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    own = judged(rows(("a", "x"), ("c", "z")))
    (frame,) = own.frames
    assert counting.MAX_CELLS == 4 * 2**30  # of one byte
    monkeypatch.setattr(counting, "MAX_CELLS", 3)
    assert fill(own, frame)[0] == ["r1"]
    monkeypatch.setattr(counting, "MAX_CELLS", 2)
    with refuses(ab.InputError, "1", "3"):
        fill(own, frame)
    assert count_kinds(own).table[0, RIGHT] == 2  # then the engine counts


@pytest.mark.parametrize("questions", [7, 8, 9, 16, 17])
def test_every_question_has_a_cell(questions: int) -> None:
    gold = pl.DataFrame({"question": [f"q{at:02}" for at in range(questions)], "correct": "x"})
    whole = gold.select("question", answer="correct")
    (row,) = ab.read(gold, whole).score("c@1").rows
    assert row.counts.right == questions
    again = pl.concat([whole, whole.tail(1)])
    assert f"question 'q{questions - 1:02}' again" in refused(again, gold)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bits", "runs", "fits"), [(6, 2, True), (5, 2, False), (3, 1, True), (2, 1, False)]
)
def test_what_duckdb_may_remember(
    bits: int, runs: int, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.setattr(counting, "MOST_BITS", bits)
    path = tmp_path / "r.csv"
    path.write_text(
        "run,question,answer\n" + "".join(f"r{at},a,x\n" for at in range(runs)), "utf-8"
    )
    reading = ab.Reading(engine="duckdb")
    own = judge(read_gold(GOLD), [read_responses(path, reading)])
    assert counting.fits_in_duckdb(own, own.frames[0], np.array([3])) is fits
    assert counting.run_count(own.responses[0]) == runs


def test_questions_are_known_by_slice_and_place_there() -> None:
    questions = read_gold(GOLD.with_columns(topic=pl.Series(["t", "u", "t"]))).frame
    keys = keys_of(questions, ["topic"])
    assert keys[INDEX].to_list() == [0, 1, 2]
    assert keys[SLICE].to_list() == [0, 1, 0]
    assert keys[SPOT].to_list() == [0, 0, 1]


def test_confidences_fall_in_bins_that_hold_their_lower_end() -> None:
    frame = pl.DataFrame(
        {
            "run": "r",
            "question": list("abcde"),
            "outcome": ["right", "right", "wrong", "wrong", "right"],
            "confidence": [0.25, 0.49, 0.5, None, 1.0],
        }
    )
    found = ab.read_judged(frame).data.source.binned(4).sort("bin", KIND)
    assert found.rows() == [
        ("r", WRONG, -1, 1),
        ("r", RIGHT, 1, 2),
        ("r", WRONG, 2, 1),
        ("r", RIGHT, 4, 1),
    ]


def test_answers_and_candidates_by_their_codes() -> None:
    """Right, wrong, a blank that was right, one that was wrong, an empty one, one left out."""
    codes = np.array([0, 1, 2, 3, 4, EXCLUDED], np.uint8)
    sure = np.array([0.9, 0.8, 0.7, np.nan, 0.5, 0.4])
    found = answers_of(codes, sure)
    assert found.right.tolist() == [True, False, True, False]
    assert found.questions == 5
    assert found.confidence[:3].tolist() == [0.9, 0.8, 0.7]
    assert count_stated(codes, sure) == (3, 4)
    some = answers_of(codes, sure, np.array([1, 4]))
    assert (some.right.tolist(), some.questions) == ([False], 2)


def test_counts_by_slice_of_what_has_one() -> None:
    frame = pl.DataFrame(
        {
            "question": list("abcd"),
            "outcome": ["right", "wrong", "unanswered_empty", "right"],
        }
    )
    own = ab.read_judged(frame)
    found = own.data.sliced(Slices("t", ["u", "v"], np.array([0, 1, 1, -1])))
    assert found.table.tolist() == [[[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0]]]
    whole = own.data.sliced(Slices("t", ["u", "v"], np.array([0, 1, 1, 1])))
    assert whole.table.tolist() == [[[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 1, 0]]]
    assert own.data.overall().table.tolist() == [[2, 1, 0, 0, 1, 0]]


def test_numbers_in_names_are_in_order() -> None:
    assert sorted(["t10", "t9", "10", "t", "9b", "u1"], key=natural_key) == [
        *("9b", "10", "t", "t9", "t10", "u1"),
    ]


# --------------------------------------------------------------------------------- grades


def test_a_letter_of_two_scales_is_asked_about() -> None:
    with refuses(ab.UsageError, "'C'"):
        read_scale(["C"], {})
    assert read_scale(["C", "I"], {}) == {"C": RIGHT, "I": WRONG}
    assert read_scale(["C"], {"c": "wrong"}) == {"C": WRONG}
    assert read_scale(["", None, " "], {}) == {}


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("-1", "-1"),
        (" -1 ", "-1"),
        ("Not_Attempted.", "not attempted"),
        ("I don't know", "i dont know"),
    ],
)
def test_grades_are_looked_up_whatever_their_writing(word: str, folded: str) -> None:
    assert fold(word) == folded


def test_rows_without_ids_are_known_by_their_place_from_1() -> None:
    outcomes = ["right", "wrong", "wrong", "right"]
    frame = pl.DataFrame({"run": ["a", "b", "a", "b"], "outcome": outcomes})
    own = ab.read_judged(frame).outcomes()
    assert own.rows_by_key(["run", "question"], unique=True).keys() == {
        (run, f"00000000{place}") for run in "ab" for place in (1, 2)
    }
    assert own.sort("run", "question")["outcome"].to_list() == ["right", "wrong", "wrong", "right"]


# ------------------------------------------------------------------------------- columns


def table(format: str = "csv", **columns: Any) -> Table:
    frame = pl.DataFrame(columns).lazy().with_row_index(ROW)
    return Table("t.csv", format, tuple(columns), frame)


@pytest.mark.parametrize(
    ("column", "values", "read"),
    [
        ("correct", ["yes", "no"], True),
        ("correct", ["Lima", "Rome"], False),  # what is right
        ("score", [1, 0], True),
        ("score", [0.25, 0.5], False),
        ("is_correct", ["maybe", "yes"], True),  # what it is follows from its name
    ],
)
def test_columns_are_grades_by_what_they_hold(column: str, values: list[Any], read: bool) -> None:
    own = recognised(table("csv", question=["1", "2"], **{column: values}), ("question", "grade"))
    assert ("grade" in own.columns) is read
    assert bool(own.notes) is read


def test_words_that_are_given_are_grades_too() -> None:
    own = table(question=["1", "2"], label=["good", "bad"])
    assert "grade" not in recognised(own, ("grade",)).columns
    given = {"good": "right", "bad": "wrong"}
    assert "grade" in recognised(own, ("grade",), given).columns


def test_two_names_for_one_thing_are_asked_about() -> None:
    with refuses(ab.InputError, "'id'", "'qid'"):
        recognised(table(id=["1"], qid=["2"]), ("question",))
    assert recognised(table(question=["1"], qid=["2"]), ("question",)).notes == ()


@pytest.mark.parametrize("format", ["csv", "json"])
def test_the_header_is_the_first_line_of_a_csv(format: str) -> None:
    own = table(format, question=["1", "2"], llm=["s", "t"])
    with pytest.raises(ab.InputError) as caught:
        refuse_pooled(own, judged=False)
    place = "t.csv:1: " if format == "csv" else "t.csv: "
    assert str(caught.value).startswith(place)


# ------------------------------------------------------------------------------ refusals


DECLINES = "I don't know."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "answered", "said"),
    [
        ([DECLINES, "Lima", DECLINES, ""], None, "2 of 3 responses; answers that the gold"),
        ([DECLINES, "Lima"], ["yes", ""], "0 of 2 responses; 1 more looks like a refusal, but"),
        ([DECLINES, DECLINES, "Lima"], ["yes", "", ""], "1 of 3 responses; 1 more looks like"),
        (["Lima"], None, "0 of 1 response"),
    ],
)
def test_what_was_found_is_counted(
    answers: list[str], answered: list[str] | None, said: str
) -> None:
    """Of the responses that hold something."""
    more = {} if answered is None else {"answered": answered}
    (note,) = with_refusals(table("csv", answer=answers, **more), ["en"]).notes
    says(note, f"{said}")
    assert ("more" in note) == ("more" in said)


# ----------------------------------------------------------------------- logs and their tasks


def log(path: str = "logs/a.json", correct: bool = True, **columns: Any) -> Table:
    given: dict[str, Any] = {"question": ["1", "2"], "task": ["t", "t"]}
    if correct:
        given["correct"] = [["x"], ["y", "z"]]
    given |= columns
    frame = pl.DataFrame(given).lazy().with_row_index(ROW)
    return Table(path, "inspect", tuple(given), frame, verdicts="judge", run_id=("m", 1))


def test_logs_together_keep_what_the_first_says() -> None:
    first = replace(log("x/a"), facts=(("task", "task", "t"), ("settings", "s", "1")))
    second = replace(log("x/b"), facts=(("settings", "s", "2"),), format="lm-eval")
    found = as_one_table([first, second], "x")
    assert (found.name, found.format) == ("x", "inspect")
    assert found.facts == (("settings", "s", "1"),)
    rows = found.frame.collect()
    assert rows[ROW].to_list() == [0, 1, 2, 3]
    assert found.parts is not None
    assert [start for start, _ in found.parts] == [0, 2]


def test_whose_verdicts_these_are() -> None:
    gold = read_gold(GOLD)
    own, plain = Responses(log(), "m"), Responses(replace(log(), verdicts=None), "m")
    assert notes_of_gold(gold, [plain]) == []
    (said,) = notes_of_gold(gold, [own, own])
    says(said, "2")
    by_logs = replace(gold, verdicts=True)
    assert notes_of_gold(by_logs, [own]) == ["the verdicts are those of 1 log"]
    assert notes_of_gold(by_logs, [plain]) == []


def test_counts_by_name_are_counts_alone() -> None:
    (row,) = ab.read_counts({"r": ab.Counts(right=1, wrong=1)}).score("accuracy").rows
    assert (row.run, row.scores["accuracy"]) == ("r", 0.5)
    assert ab.read_counts(pl.DataFrame({"right": 1, "wrong": 3, "n": 4})).runs == ("row 1",)
    with refuses(ab.UsageError):
        ab.read_counts({"r": ab.Counts(right=1), "s": [1, 2]})
    with refuses(ab.UsageError):
        ab.read_counts({})


def test_counts_of_one_size_say_how_many_questions_there_are() -> None:
    one, two = ab.Counts(right=3, wrong=1), ab.Counts(right=1, wrong=1, unanswered_empty=2)
    assert ab.read_counts({"a": one}).data.counted().questions == 4
    assert ab.read_counts({"a": one, "b": two}).data.counted().questions == 4
    assert ab.read_counts({"a": one, "b": ab.Counts(right=3)}).data.counted().questions is None


@pytest.mark.parametrize(("right", "wrong"), [(0, 2), (2, 0), (0, 0)])
def test_counts_of_nothing_right_or_wrong(right: int, wrong: int) -> None:
    whole = {"right": right, "wrong": wrong, "answered": right + wrong, "unanswered": 3}
    for given in (
        whole,
        whole | {"n": right + wrong + 3},
        {"right": right, "wrong": wrong, "n": 5},
    ):
        (row,) = ab.read_counts(pl.DataFrame([given])).score("accuracy").rows
        assert (row.counts.right, row.counts.wrong) == (right, wrong)
        assert row.counts.n == given.get("n", right + wrong + 3)


@pytest.mark.parametrize("engine", [pl.DataFrame.lazy, pandas])
def test_as_many_slices_as_a_result_may_have(
    engine: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = GOLD.with_columns(topic=pl.Series(["t", "u", "t"]), kind=pl.Series(["v", "v", "w"]))
    own = ab.read(gold, engine(rows(("a", "x"))))
    for most, slices in ((2, ["topic"]), (3, ["topic", "kind"])):
        monkeypatch.setattr(counting, "MAX_COUNTS", most * KINDS)
        assert len(own.score("c@1", by=slices).rows) == most
        monkeypatch.setattr(counting, "MAX_COUNTS", (most - 1) * KINDS)
        with refuses(ab.InputError, "1", f"{most}"):
            ab.read(gold, engine(rows(("a", "x")))).score("c@1", by=slices)


def test_a_response_whose_answer_is_blank_declined_already() -> None:
    said = {"response": [DECLINES, DECLINES], "answer": ["", "unsure"]}
    (note,) = with_refusals(table("csv", **said), ["en"]).notes
    says(note, "1", "2")
    (note,) = with_refusals(table(response=[DECLINES]), ["en"]).notes
    assert "1 of 1 response" in note
