"""Questions that have no answer: which those are, and what declining and answering them means."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import abstain as ab
from abstain.outcomes import KINDS, RIGHT, WITHHELD, WRONG, Why, blank_kind
from tests.formats.logs.test_others import RESPONSES
from tests.formats.logs.test_squad import GOLD as SQUAD_GOLD
from tests.formats.logs.test_squad import SAID
from tests.helpers import Here, counts_of
from tests.snapshots import refuses, says

GOLD = pl.DataFrame(
    {
        "question": ["q1", "q2", "q3", "q4", "q5", "q6", "q7"],
        "correct": ["a", "b", None, None, None, "f", "g"],
        "answerable": ["yes", None, "no", "no", "no", "no", "no"],
    }
)
RUN = pl.DataFrame(
    {
        "question": ["q1", "q2", "q3", "q4", "q5", "q6"],
        "answer": ["a", None, None, "none", "x", "f"],
    }
)
"""Right, a blank; then of unanswerable ones: declined, said to have no answer, answered, the answer
that the gold holds; q7 is missing."""

WAYS = [
    ("right", [3, 2, 0, 0, 2]),
    ("blank", [3, 1, 0, 0, 3]),
    ("wrong", [2, 3, 0, 0, 2]),
]
"""R, W, UR, UW, UE. Right: q1, q3, q4; or q1, q4, q6; or q1, q4. q2 and q7 are blank always."""


@pytest.mark.parametrize(("way", "counts"), WAYS)
def test_what_declining_counts_as(way: Any, counts: list[int], tmp_path: Path) -> None:
    result = ab.score(GOLD, RUN, unanswerable=way)
    assert list(counts_of(result)["run"]) == counts
    assert result.policy["unanswerable"] == way
    touched = {"empty": 1, "missing": 1, "unanswerable": 1}
    assert result.touched == ({"empty": 2, "missing": 1} if way == "blank" else touched)
    says("\n".join(str(result).splitlines()[-4:]))
    result.to_json(tmp_path / "result.json")
    assert ab.load(tmp_path / "result.json") == result


def test_what_declining_counts_as_where_no_question_is_marked() -> None:
    gold, run = GOLD.head(2).drop("answerable"), RUN.head(2)
    note = "no question is marked as unanswerable"
    assert note in ab.score(gold, run, unanswerable="right").notes
    assert note not in ab.score(gold, run).notes
    graded = pl.DataFrame({"question": ["q1"], "grade": ["declined"]})
    assert note in ab.read_judged(graded, unanswerable="right").score().notes


def test_the_default_depends_on_who_marks_the_questions() -> None:
    """A column means that declining is right; where only `correct` is empty, it is a blank."""
    assert ab.score(GOLD, RUN).policy["unanswerable"] == "right"
    bare = GOLD.drop("answerable")
    result = ab.score(bare, RUN)
    assert "unanswerable" not in result.policy
    assert list(counts_of(result)["run"]) == [3, 1, 0, 0, 3]
    asked = ab.score(bare, RUN, unanswerable="right")
    # q6 and q7 have an answer, so that they are answerable here; q6's is right.
    assert list(counts_of(asked)["run"]) == [4, 1, 0, 0, 2]
    assert not ab.read(bare, RUN).data.marks_unanswerable
    assert ab.read(GOLD, RUN).data.marks_unanswerable
    all_answerable = ab.read(GOLD.head(2), RUN.head(2))
    assert not all_answerable.data.marks_unanswerable
    assert "unanswerable" not in all_answerable.score().policy


@pytest.mark.parametrize("confident", [False, True])
def test_another_way_reads_nothing_again(here: Here, confident: bool) -> None:
    GOLD.write_csv("gold.csv")
    RUN.write_csv("run.csv")
    evaluation = ab.read("gold.csv", "run.csv", policy={"missing": "wrong"})
    if confident:
        assert evaluation.data.codes.shape == (1, 7)
    evaluation.score()
    Path("gold.csv").unlink()
    Path("run.csv").unlink()
    for way, (right, wrong, _, _, blank) in WAYS:
        other = evaluation.with_policy(unanswerable=way)  # type: ignore[arg-type]
        counts = [right, wrong + 1, 0, 0, blank - 1]  # q7 is missing, which is wrong here
        assert list(counts_of(other.score())["run"]) == counts
        assert other.reading.unanswerable == way
        again = other.with_policy({"missing": "unanswered"})
        assert list(counts_of(again.score())["run"]) == [right, wrong, 0, 0, blank]
        by_policy = evaluation.with_policy(other.policy)
        assert list(counts_of(by_policy.score())["run"]) == counts


def test_only_declining_is_credited() -> None:
    """Errors, limits and the like follow the policy wherever they are."""
    questions = [f"q{n}" for n, _ in enumerate(Why)]
    gold = pl.DataFrame({"question": questions, "correct": "", "answerable": "no"})
    run = pl.DataFrame({"question": questions, "answer": "", "why": [why.value for why in Why]})
    rules = {why.value: "unanswered" for why in Why}
    evaluation = ab.read(gold, run, policy=rules)
    right = [row["why"] for row in evaluation.outcomes().to_dicts() if row["outcome"] == "right"]
    assert right == ["declined", "empty"]


# ------------------------------------------------------------------------ against a slow reference


def slow_kind(row: dict[str, Any], answer: str | None) -> int:
    """The kind of one response by the rules as they are written."""
    accepted = [text for text in (row["correct"] or "").split("|") if text]
    unanswerable = row["answerable"] == "no" or not accepted
    side = KINDS if unanswerable else 0
    if answer is None:
        return side + blank_kind(Why.MISSING)
    if not answer:
        return side + blank_kind(Why.EMPTY)
    if not accepted:
        return side + (RIGHT if answer.lower() in ("none", "nil") else WRONG)
    if answer not in accepted:
        return side + WRONG
    return side + WITHHELD if unanswerable else RIGHT


def lazy(frame: pl.DataFrame) -> Any:
    return frame.lazy()


def duckdb(frame: pl.DataFrame) -> Any:
    duck = pytest.importorskip("duckdb")
    table = frame.to_arrow()
    return duck.connect().from_arrow(table)


def pandas(frame: pl.DataFrame) -> Any:
    return nw.from_native(frame).to_pandas()


@pytest.mark.parametrize("engine", [lazy, duckdb, pandas])
@pytest.mark.parametrize("several", [False, True])
def test_kinds_by_slice_and_side(engine: Callable[[pl.DataFrame], Any], several: bool) -> None:
    chance = random.Random(29 + several)
    corrects = ["a", "b", None, *(["a|b"] if several else [])]
    rows: list[dict[str, Any]] = []
    for n in range(200):
        correct = chance.choice(corrects)
        marks = ["no", None] if correct is None else ["yes", "no", None]
        rows.append(
            {
                "question": f"q{n}",
                "correct": correct,
                "answerable": chance.choice(marks),
                "topic": chance.choice("xyz"),
            }
        )
    answers = {
        (run, row["question"]): chance.choice(["a", "b", "none", "NIL", ""])
        for run in ("r", "s")
        for row in rows
        if chance.random() < 0.8
    }
    frame = pl.DataFrame(
        [{"run": run, "question": q, "answer": text} for (run, q), text in answers.items()]
    )
    expected: Counter[tuple[str, str, int]] = Counter()
    for run in ("r", "s"):
        for row in rows:
            kind = slow_kind(row, answers.get((run, row["question"])))
            expected[run, row["topic"], kind] += 1
    counted = ab.read(pl.DataFrame(rows), engine(frame))
    held = ab.read(pl.DataFrame(rows), engine(frame))
    assert held.data.kinds.shape == (2, 200)
    for evaluation in (counted, held, held.only(runs=["r", "s"])):
        sides = evaluation.data.sides(["topic"])
        counts = evaluation.data.source.count_kinds(["topic"])
        assert sides.shape == (6, 2, KINDS)
        seen = {
            (run, topic, side * KINDS + kind): n
            for run, (topic,), table in zip(counts.runs, counts.slices, sides, strict=True)
            for side, kinds in enumerate(table.tolist())
            for kind, n in enumerate(kinds)
            if n
        }
        assert seen == expected
    for way in ("right", "blank", "wrong"):
        one, other = (e.with_policy(unanswerable=way) for e in (counted, held))
        assert (one.data.counted().counts.table == other.data.overall().table).all()


# ------------------------------------------------------------------------------ columns that say so

YES_MEANS = {
    "answerable": True,
    "has_evidence": True,
    "Has Evidence": True,
    "is_impossible": False,
    "should_abstain": False,
    "unanswerable": False,
}
WORDS = [("yes", "no"), ("TRUE", "False"), ("1", "0"), (True, False), (1, 0), (1.0, 0.0)]


@pytest.mark.parametrize(("name", "means"), YES_MEANS.items())
@pytest.mark.parametrize(("yes", "no"), WORDS)
def test_a_column_by_each_name_and_in_each_writing(
    name: str, means: bool, yes: Any, no: Any
) -> None:
    """Two questions can be answered and two cannot; a run declines one of each."""
    marks = [yes, yes, no, no] if means else [no, no, yes, yes]
    ids = ["q1", "q2", "q3", "q4"]
    gold = pl.DataFrame({"question": ids, "correct": ["a", "b", None, None], name: marks})
    run = pl.DataFrame({"question": ids, "answer": ["a", "", "", "x"]})
    assert list(counts_of(ab.score(gold, run))["run"]) == [2, 1, 0, 0, 1]
    assert ab.read(gold, run).score(by=name).to_frame().height == 2, "it is an attribute still"
    graded = pl.DataFrame({"question": ids, "grade": ["right", "", "", "wrong"], name: marks})
    for rows in (graded, graded.drop("question")):
        evaluation = ab.read_judged(rows)
        assert evaluation.data.marks_unanswerable
        assert list(counts_of(evaluation.score())["run"]) == [2, 1, 0, 0, 1]
        assert evaluation.data.sides().sum(axis=2).tolist() == [[2, 2]]
        assert evaluation.data.codes.tolist() == [[0, 5, 0, 1]]


def test_a_column_that_has_another_name() -> None:
    gold = GOLD.rename({"answerable": "kind"})
    said = ab.score(gold, RUN, columns={"answerable": "kind"})
    assert list(counts_of(said)["run"]) == [3, 2, 0, 0, 2]
    negated = gold.with_columns(pl.col("kind").replace({"yes": "no", "no": "yes"}))
    said = ab.score(negated, RUN, columns={"unanswerable": "kind"})
    assert list(counts_of(said)["run"]) == [3, 2, 0, 0, 2]
    impossible = negated.rename({"kind": "is_impossible"})
    with refuses(ab.UsageError, "is_impossible", "answerable"):
        ab.score(impossible, RUN, columns={"answerable": "is_impossible"})


def test_what_is_no_yes_or_no_is_refused_with_its_place(here: Here) -> None:
    here.write("gold.csv", "question,correct,answerable\nq1,a,yes\nq2,,perhaps\n")
    here.write("run.csv", "question,answer\nq1,a\nq2,\n")
    with refuses(ab.InputError, "gold.csv:3", "'perhaps'", "answerable"):
        ab.score("gold.csv", "run.csv")
    here.write("graded.csv", "question,grade,is_impossible\nq1,right,no\nq2,,perhaps\n")
    with refuses(ab.InputError, "graded.csv:3", "'perhaps'", "is_impossible"):
        ab.read_judged("graded.csv").score()


def test_of_several_columns_that_mark_questions_one_counts(here: Here) -> None:
    here.write("gold.csv", "question,correct,is_impossible,answerable\nq1,a,yes,yes\nq2,,yes,no\n")
    here.write("run.csv", "question,answer\nq1,a\nq2,\n")
    assert list(counts_of(ab.score("gold.csv", "run.csv"))["run"]) == [2, 0, 0, 0, 0]
    here.write(
        "graded.csv", "question,grade,is_impossible,answerable\nq1,right,yes,yes\nq2,,no,no\n"
    )
    assert list(counts_of(ab.read_judged("graded.csv").score())["graded"]) == [2, 0, 0, 0, 0]


def test_an_answerable_question_has_an_answer(here: Here) -> None:
    here.write("gold.csv", "question,correct,answerable\nq1,a,yes\nq2,,yes\n")
    here.write("run.csv", "question,answer\nq1,a\nq2,\n")
    with refuses(ab.InputError, "gold.csv:3", "'q2'", "answerable"):
        ab.score("gold.csv", "run.csv")
    here.write("gold.csv", "question,correct,has_evidence\nq1,a,yes\nq2,,yes\n")
    assert list(counts_of(ab.score("gold.csv", "run.csv"))["run"]) == [1, 0, 0, 0, 1]


def test_judged_rows_of_one_question_agree(here: Here) -> None:
    rows = "run,question,grade,answerable\na,q1,right,no\nb,q1,right,{}\n"
    here.write("graded.csv", rows.format("yes"))
    with refuses(ab.InputError, "graded.csv", "'q1'"):
        ab.read_judged("graded.csv").score()
    here.write("graded.csv", rows.format(""))
    assert ab.read_judged("graded.csv").data.sides().sum(axis=2).tolist() == [[0, 1], [0, 1]]


def test_judged_rows_without_such_a_column_stay_as_they_are() -> None:
    rows = pl.DataFrame({"question": ["q1", "q2"], "grade": ["right", ""]})
    result = ab.read_judged(rows).score()
    assert "unanswerable" not in result.policy
    assert list(counts_of(result)["run"]) == [1, 0, 0, 0, 1]


def test_a_missing_row_has_the_side_of_its_question() -> None:
    rows = pl.DataFrame(
        {
            "run": ["a", "a", "b"],
            "question": ["q1", "q2", "q1"],
            "grade": ["right", "declined", "wrong"],
            "answerable": ["yes", "no", "yes"],
        }
    )
    judged = ab.read_judged(rows)
    assert judged.runs == ("a", "b")
    sides = judged.data.sides()
    assert sides[:, 1].sum(axis=1).tolist() == [1, 1]
    assert sides[1, 1, blank_kind(Why.MISSING)] == 1


# ------------------------------------------------------------------------------ the same by any way


def test_squad_and_a_plain_table_say_the_same(here: Here) -> None:
    here.write("dev.json", SQUAD_GOLD)
    here.write("p.json", json.dumps(SAID))
    squad = {"format": "squad", "pick": {"gold": "dev.json"}}
    gold = "question,correct,answerable\na,the Nile|river Nile,yes\nb,Rhine,yes\nc,Paris,yes\n"
    here.write("gold.csv", gold + "d,,no\ne,,no\n")
    answers = "".join(f"{name},{text}\n" for name, text in SAID.items())
    here.write("p.csv", f"question,answer\n{answers}")
    for way in (None, "right", "blank", "wrong"):
        judged = ab.read_judged("p.json", **squad, unanswerable=way)  # type: ignore[arg-type]
        by_data = ab.read("dev.json", "p.csv", match="squad", unanswerable=way)
        plain = ab.read("gold.csv", "p.csv", match="squad", unanswerable=way)
        counts = [list(counts_of(e.score())["p"]) for e in (judged, by_data, plain)]
        assert counts[0] == counts[1] == counts[2]
        # Right: a (and d); wrong: b, e; blank: c (and d).
        right = {None: [2, 2, 0, 0, 1], "right": [2, 2, 0, 0, 1], "blank": [1, 2, 0, 0, 2]}
        assert counts[0] == right.get(way, [1, 3, 0, 0, 1])
        tables = [e.data.sides() for e in (judged, by_data, plain)]
        for table in tables:  # an empty answer is declined in SQuAD, and empty in a table
            blanks = [blank_kind(why) for why in (Why.DECLINED, Why.EMPTY)]
            assert table[0][:, [RIGHT, WRONG]].tolist() == [[1, 1], [0, 1]]
            assert table[0][:, blanks].sum(axis=1).tolist() == [1, 1]


def test_abstentionbench_and_a_plain_table_say_the_same(here: Here) -> None:
    asked = [
        {**item, "prompt": {**item["prompt"], "question": f"question {n}"}}
        for n, item in enumerate(RESPONSES[:5])
    ]
    here.write("Data_Model/1/Eval.json", json.dumps({"responses": asked}))
    rows = "question,grade,answerable\n0,declined,no\n1,wrong,no\n2,declined,yes\n3,right,yes\n"
    here.write("graded.csv", rows + "4,wrong,yes\n")
    for way, counts in ((None, [2, 2, 1]), ("blank", [1, 2, 2]), ("wrong", [1, 3, 1])):
        log = ab.read_judged("Data_Model/1/Eval.json", unanswerable=way)  # type: ignore[arg-type]
        table = ab.read_judged("graded.csv", unanswerable=way)  # type: ignore[arg-type]
        assert (log.data.sides() == table.data.sides()).all()
        for evaluation in (log, table):
            (k,) = counts_of(evaluation.score()).values()
            assert [k[0], k[1], sum(k[2:])] == counts


def test_on_the_command_line(here: Here) -> None:
    GOLD.write_csv("gold.csv")
    RUN.write_csv("run.csv")
    said = here("score", "gold.csv", "run.csv", "--unanswerable", "blank", "--format", "json").data
    assert (said["reading"]["unanswerable"], said["policy"]["unanswerable"]) == ("blank", "blank")
    assert said["results"][0]["counts"]["right"] == 3
    assert here("score", "gold.csv", "run.csv", "--unanswerable", "maybe").code == 2
    refused = here("score", "--counts", "gold.csv", "--unanswerable", "right")
    assert refused.code == 2
    says(refused.line)
