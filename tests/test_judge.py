"""Judging: answers, candidates, reasons, policies, conflicts, several accepted answers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.outcomes import Effect, Why
from abstain.reading import Match
from tests.helpers import GOLD, RUN, Here, counts_of
from tests.snapshots import says

GOLD_FRAME = pl.DataFrame({"question": ["q1", "q2", "q3"], "correct": ["a", "b", "c"]})


def judged(gold: Any = None, *, options: dict[str, Any] | None = None, **columns: Any) -> Any:
    """The counts of one run, (R, W, UR, UW, UE)."""
    frame = pl.DataFrame(columns)
    return counts_of(ab.score(GOLD_FRAME if gold is None else gold, frame, **(options or {})))[
        "run"
    ]


# ---------------------------------------------------------------------------------- policies

EFFECT_OF = {"unanswered": (1, 0, 0, 1, 1), "wrong": (1, 1, 0, 1, 0), "excluded": (1, 0, 0, 1, 0)}
"""One right, one blank of the kind without a candidate, one declined with a wrong candidate."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("why", "effect"), list(itertools.product(Why, ("unanswered", "wrong", "excluded")))
)
def test_every_kind_becomes_what_the_policy_says(why: Why, effect: str) -> None:
    """`declined` is tried with another kind in the third row, to tell the two apart."""
    other = "empty" if why is Why.DECLINED else "declined"
    run = pl.DataFrame(
        {
            "question": ["q1", "q2", "q3"],
            "answer": ["a", None, None],
            "candidate": [None, None, "x"],
            "why": [None, why.value, other],
        }
    )
    result = ab.score(GOLD_FRAME, run, policy={why.value: effect})
    assert counts_of(result)["run"] == EFFECT_OF[effect]
    told = result.to_dict()
    assert told["policy"][why.value] == effect
    assert told["touched"] == {why.value: 1, other: 1}
    assert told["results"][0].get("excluded", 0) == (effect == "excluded")


def test_default_policy() -> None:
    assert ab.Policy().to_dict() == {
        "declined": "unanswered",
        "empty": "unanswered",
        "unparseable": "wrong",
        "error": "stop",
        "missing": "unanswered",
        "limit": "wrong",
        "unscored": "stop",
        "unasked": "excluded",
    }
    assert judged(question=["q1", "q2"], answer=["", "b"], why=["unparseable", None]) == (
        *(1, 1, 0, 0),
        1,
    )


def test_failed_responses_stop_until_the_policy_names_them(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer,why\nq1,a,\nq2,,error\nq3,,error\n")
    line = here.refuses("score", "gold.csv", "run.csv")
    says(line, "2", "'run'")
    assert "--policy error=unanswered" in line
    said = here("score", "gold.csv", "run.csv", "--policy", "error=excluded", "-f", "json")
    assert said.data["results"][0]["counts"]["unanswered"] == 1
    assert said.data["results"][0]["excluded"] == 2


def test_policy_is_said_in_the_table(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer,why\nq1,a,\nq2,,unparseable\nq3,,\n")
    said = here("score", "gold.csv", "run.csv", "--policy", "missing=wrong")
    flat = " ".join(said.out.split())
    says(flat, "1")


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (["decline=wrong"], ("'decline'",)),
        (["declined=right"], ("'right'",)),
        (["declined"], ()),
        (["error=wrong", "error=excluded"], ()),
    ],
)
def test_unreadable_policies(policy: list[str], said: tuple[str, ...]) -> None:
    with pytest.raises(ab.UsageError) as caught:
        ab.Policy.of(policy)
    says(str(caught.value), *said)


def test_ways_to_give_a_policy() -> None:
    wanted = ab.Policy.of(["error=wrong"]).effects
    assert ab.Policy.of({"error": "wrong"}).effects == wanted
    assert ab.Policy.of("ERROR = Wrong").effects == wanted
    assert wanted[Why.ERROR] is Effect.WRONG


# -------------------------------------------------------------- blanks, candidates, conflicts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"answer": "a"}, "right"),
        ({"answer": "b"}, "wrong"),
        ({"answer": None}, "unanswered"),
        ({"answer": " "}, "unanswered"),
        ({"answer": "", "candidate": "a"}, "unanswered_right"),
        ({"answer": "", "candidate": "b"}, "unanswered_wrong"),
        ({"answer": "a", "candidate": "a"}, "right"),
        ({"answer": "a", "answered": "yes"}, "right"),
        ({"answer": "a", "answered": "YES"}, "right"),
        ({"answer": "a", "answered": ""}, "right"),
        ({"answer": "a", "answered": "NO"}, "unanswered_right"),
        ({"answer": "b", "answered": "false"}, "unanswered_wrong"),
        ({"answer": "", "answered": "0", "candidate": "a"}, "unanswered_right"),
        ({"answer": "b", "answered": "n", "why": "declined"}, "unanswered_wrong"),
        ({"answer": "", "answered": "no", "why": "unparseable"}, "wrong"),
        ({"answer": "", "answered": "no", "why": "UNPARSEABLE"}, "wrong"),
        ({"answer": "None of the above"}, "wrong"),
        ({"answer": "a", "confidence": 0.0}, "right"),
        ({"answer": "a", "confidence": None}, "right"),
    ],
)
def test_one_response(row: dict[str, Any], expected: str) -> None:
    gold = pl.DataFrame({"question": ["q"], "correct": ["a"]})
    result = ab.score(gold, pl.DataFrame([{"question": "q", **row}]))
    counts = result.rows[0].counts.to_dict()
    assert {name for name, count in counts.items() if count} == {expected}


def test_why_wins_over_not_answered() -> None:
    run = pl.DataFrame(
        {
            "question": ["q1", "q2", "q3"],
            "answer": [None, None, None],
            "answered": ["no", "no", "no"],
            "why": ["empty", "missing", None],
        }
    )
    assert ab.score(GOLD_FRAME, run).touched == {"declined": 1, "empty": 1, "missing": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        (
            "question,answer,candidate",
            "q1,a,b",
            ("'a'", "'b'"),
        ),
        (
            "question,answer,why",
            "q1,a,declined",
            ("'a'", "'declined'"),
        ),
        ("question,answer,answered,why", "q1,,yes,declined", ()),
        ("question,answer,answered", "q1,a,maybe", ("'answered'", "'maybe'")),
        ("question,answer,why", "q1,,decline", ("'why'", "'decline'")),
        ("question,answer,confidence", "q1,a,nan", ("0", "1")),
        ("question,answer,confidence", "q1,a,1.01", ("1.01", "0", "1")),
        ("question,answer,confidence", "q1,a,-0.1", ("-0.1", "0", "1")),
        ("question,answer,confidence", "q1,a,inf", ("0", "1")),
        ("question,answer,confidence", "q1,a,high", ("'high'",)),
        ("question,answer", ",a", ()),
        ("question,answer,run", "q1,a,", ()),
        ("question,answer", "Q1,a", ("'Q1'", "'q1'")),
        ("question,answer", "q 1,a", ("1", "'q1'")),
    ],
)
def test_bad_rows_are_named(here: Here, header: str, row: str, said: tuple[str, ...]) -> None:
    here.write("gold.csv", GOLD)
    fill = "," * (header.count(",") - 1)
    good = "q2,b,r" if header.endswith("run") else f"q2,b{fill}"
    here.write("run.csv", f"{header}\n{good}\n\n{row}\n")
    line = here.refuses("score", "gold.csv", "run.csv", "-o", "out.csv")
    says(line, "run.csv:4", *said)
    verdict = here("validate", "gold.csv", "run.csv", "--format", "json")
    assert verdict.code == 1
    places = [(p["line"], p["message"]) for p in verdict.data["problems"] if p["line"]]
    assert len(places) == 1
    assert places[0][0] == 4
    says(places[0][1], *said)


def test_the_first_of_many_is_shown_and_the_rest_counted(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer\nq1,a\nx8,b\nx9,b\n")
    says(here.refuses("score", "gold.csv", "run.csv"), "run.csv:3", "'x8'", "1")


def test_validate_tells_what_is_missing_in_order(here: Here) -> None:
    here.write("gold.csv", GOLD)
    names = [f"r{i:02d}" for i in range(40)]
    here.write("runs.csv", "run,question,answer\n" + "".join(f"{n},q1,a\n" for n in names[::-1]))
    problems = here("validate", "gold.csv", "runs.csv", "--format", "json").data["problems"]
    assert [(p["run"], p["question"]) for p in problems] == [
        (name, question) for name in names for question in ("q2", "q3", "q4")
    ]


def test_the_first_of_very_many_faults_is_the_first_in_the_file(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer\n" + "".join(f"x{i},a\n" for i in range(20_000)))
    said = here.refuses("score", "gold.csv", "run.csv")
    says(said, "run.csv:2", "'x0'", "19,999")


@pytest.mark.parametrize("again", ["q1,a", "q1,b"])
def test_a_question_twice_names_both_lines(here: Here, again: str) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", f"question,answer\nq1,a\nq2,b\n{again}\n")
    says(
        here.refuses("score", "gold.csv", "run.csv"),
        "run.csv:4",
        "'run'",
        "'q1'",
        "run.csv:2",
    )
    here.write("gold2.csv", GOLD + "q1,b,x\n")
    says(here.refuses("score", "gold2.csv", "run.csv"), "gold2.csv:6", "'q1'", "gold2.csv:2")


def test_missing_questions_are_blanks_that_are_counted(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer\nq1,a\n")
    said = here("score", "gold.csv", "run.csv", "-f", "json")
    assert said.data["touched"] == {"missing": 3}
    assert said.data["results"][0]["counts"]["unanswered"] == 3
    verdict = here("validate", "gold.csv", "run.csv", "-f", "json")
    assert verdict.code == 1
    assert [p["question"] for p in verdict.data["problems"]] == ["q2", "q3", "q4"]


# ------------------------------------------------------------------------------ right answers


def test_several_accepted_answers(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("question,correct\nq1,a|b\nq2, c | d |\nq3,e\n")
    (tmp_path / "run.csv").write_text("question,answer,candidate\nq1,b,\nq2,,d\nq3,a,\n")
    assert counts_of(ab.score(tmp_path / "gold.csv", tmp_path / "run.csv")) == {
        "run": (1, 1, 1, 0, 0)
    }
    lists = pl.DataFrame({"question": ["q1", "q2"], "correct": [["a|x", "b"], ["c", "d"]]})
    assert judged(lists, question=["q1", "q2"], answer=["a|x", "x"]) == (1, 1, 0, 0, 0)


@pytest.mark.parametrize("match", ["id", "text", "squad"])
def test_an_answer_accepted_twice_counts_once(match: Match) -> None:
    gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["a|a|A", "b"]})
    assert judged(gold, question=["q1", "q2"], answer=["a", "b"], options={"match": match}) == (
        *(2, 0, 0, 0),
        0,
    )


def test_where_nothing_is_right() -> None:
    """NoA is a blank; "none" is an answer, right where nothing else is and wrong elsewhere."""
    gold = pl.DataFrame({"question": ["q1", "q2", "q3", "q4"], "correct": [None, "", "a", None]})
    result = ab.score(
        gold,
        pl.DataFrame({"question": ["q1", "q2", "q3", "q4"], "answer": ["none", "a", "none", ""]}),
    )
    assert counts_of(result)["run"] == (1, 2, 0, 0, 1)
    assert any("the gold has no right answer for 3 questions" in note for note in result.notes)
    other = judged(gold, question=["q1", "q2", "q4"], answer=["NIL", "nil", "None"])
    assert other == (3, 0, 0, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("match", "right"),
    [
        ("id", {"Paris"}),
        ("text", {"Paris", "paris", " PARIS. ", "Ｐａｒｉｓ", "«Paris»"}),
        ("squad", {"Paris", "paris", " PARIS. ", "the Paris"}),
    ],
)
def test_ways_of_matching(match: Match, right: set[str]) -> None:
    answers = ["Paris", "paris", " PARIS. ", "Ｐａｒｉｓ", "«Paris»", "the Paris", "Pari s", "Lyon"]
    ids = [f"q{i}" for i in range(len(answers))]
    gold = pl.DataFrame({"question": ids, "correct": ["Paris"] * len(ids)})
    for question, answer in zip(ids, answers, strict=True):
        result = ab.score(
            gold, pl.DataFrame({"question": [question], "answer": [answer]}), match=match
        )
        assert (result.rows[0].counts.right == 1) == (answer in right), answer


def test_an_answer_of_articles_alone_is_no_blank() -> None:
    gold = pl.DataFrame({"question": ["q1", "q2", "q3"], "correct": ["The", "A|b", "c"]})
    options = {"match": "squad"}
    assert judged(
        gold, question=["q1", "q2", "q3"], answer=["The", "the", "..."], options=options
    ) == (
        *(1, 2, 0, 0),
        0,
    )


def test_numbers_keep_their_signs_and_points_under_text() -> None:
    gold = pl.DataFrame({"question": ["1", "2", "3"], "correct": ["-3.5", "1,000", "C++"]})
    right = judged(
        gold, question=["1", "2", "3"], answer=["-3.5.", "1,000", "c++"], options={"match": "text"}
    )
    wrong = judged(
        gold, question=["1", "2", "3"], answer=["3.5", "1 000", "C"], options={"match": "text"}
    )
    assert (right, wrong) == ((3, 0, 0, 0, 0), (0, 3, 0, 0, 0))


def test_unknown_way_of_matching_or_pairing() -> None:
    with pytest.raises(ab.UnknownNameError, match=r"nearest: squad"):
        judged(question=["q1"], answer=["a"], options={"match": "squat"})
    with pytest.raises(ab.UsageError, match="there are id, position"):
        judged(question=["q1"], answer=["a"], options={"align": "row"})


# -------------------------------------------------------------------------------- by position


@pytest.mark.parametrize("match", ["id", "text"])
def test_by_position(tmp_path: Path, match: Match) -> None:
    """Ids are not looked at, runs are counted apart, the order of the file is the order."""
    n = 5_000
    gold = pl.DataFrame(
        {"question": [f"g{i}" for i in range(n)], "correct": [f"a{i}" for i in range(n)]}
    )
    answers = [f"a{i}" if i % 3 == 0 else "x" if i % 3 == 1 else "" for i in range(n)]
    run = pl.DataFrame({"answer": answers}).with_columns(run=pl.lit("one"))
    both = pl.concat([run, run[::-1].with_columns(run=pl.lit("two"))])
    mixed = both.with_columns(pl.int_range(pl.len()).over("run").alias("at")).sort(
        "at", "run", maintain_order=True
    )
    path = tmp_path / "runs.csv"
    mixed.drop("at").write_csv(path)
    backwards = list(zip(answers[::-1], gold["correct"], strict=True))
    slow = [sum(a == right for a, right in backwards), 0, 0, 0, answers.count("")]
    slow[1] = n - slow[0] - slow[4]
    result = ab.score(gold, path, align="position", match=match)
    assert counts_of(result) == {
        "one": (1667, 1667, 0, 0, 1666),
        "two": tuple(slow),
    }


def test_by_position_takes_a_row_for_each_question(here: Here) -> None:
    here.write("gold.csv", GOLD)
    for rows, text in ((5, RUN + "q5,a\n"), (3, RUN.rsplit("\n", 2)[0])):
        here.write("run.csv", text)
        line = here.refuses("score", "gold.csv", "run.csv", "--align", "position")
        says(line, "run.csv", "'run'", str(rows), "4")


# --------------------------------------------------------------------------------- run names


def test_runs_of_the_same_stem_are_told_apart(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a/run.csv", RUN)
    here.write("b/run.csv", RUN.replace("q1,a", "q1,b"))
    assert counts_of(ab.score("gold.csv", ["a/run.csv", "b/run.csv"])) == {
        "a/run": (2, 1, 0, 0, 1),
        "b/run": (1, 2, 0, 0, 1),
    }
    says(here.refuses("score", "gold.csv", "a/run.csv", "a/run.csv"), "'run'")


def test_runs_of_the_same_folder_and_stem_are_told_apart(here: Here) -> None:
    here.write("gold.csv", GOLD)
    for year in ("2012", "2013"):
        here.write(f"{year}/en/run.csv", RUN)
    result = ab.score("gold.csv", ["2012/en/run.csv", "2013/en/run.csv"])
    assert [row.run for row in result.rows] == ["2012/run", "2013/run"]
    assert "two runs are called" in here.refuses("score", "gold.csv", *["./2012/en/run.csv"] * 2)
    assert "two runs are called" in here.refuses(
        "score", "gold.csv", "2012/en/run.csv", "./2012/en/run.csv"
    )


def test_several_runs_in_one_file(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("runs.csv", "run,question,answer\nx,q1,a\ny,q1,b\nx,q2,\ny,q2,b\n")
    here.write("z.csv", RUN)
    assert counts_of(ab.score("gold.csv", ["runs.csv", "z.csv"])) == {
        "x": (1, 0, 0, 0, 3),
        "y": (1, 1, 0, 0, 2),
        "z": (2, 1, 0, 0, 1),
    }


def test_a_run_without_any_answer_scores_and_says_why(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("silent.csv", "question,answer\nq1,\nq2,\nq3,\nq4,\n")
    here.write("run.csv", RUN)
    said = here("score", "gold.csv", "silent.csv", "run.csv", "-m", "precision", "-f", "json")
    assert said.code == 0
    first, last = said.data["results"]
    assert first["run"] == "run"
    assert last["scores"] == {"precision": None}
    assert last["undefined"] == {"precision": "no question was answered"}
    table = here("score", "gold.csv", "silent.csv", "-m", "precision")
    assert "–" in table.out
    says(table.out)


def test_ties_are_shown_and_sorted_by_name(here: Here) -> None:
    here.write("gold.csv", GOLD)
    for name in ("zeta", "alpha"):
        here.write(f"{name}.csv", RUN)
    here.write("best.csv", "question,answer\nq1,a\nq2,b\nq3,c\nq4,d\n")
    here.write("worst.csv", "question,answer\nq1,x\n")
    result = ab.score("gold.csv", ["zeta.csv", "worst.csv", "alpha.csv", "best.csv"])
    assert [(row.rank, row.run) for row in result.rows] == [
        ("1", "best"),
        ("2=", "alpha"),
        ("2=", "zeta"),
        ("4", "worst"),
    ]


# ------------------------------------------------------------------------------------ columns


def test_columns_are_mapped(here: Here) -> None:
    here.write("gold.csv", "id,label,topic\nq1,a,x\nq2,b,x\nq3,c,y\nq4,d,y\n")
    here.write("run.csv", RUN.replace("question,answer", "qid,output"))
    mapping = ["gold:question=id", "correct=label", "run:question=qid", "answer=output"]
    options = [part for text in mapping for part in ("--column", text)]
    said = here("score", "gold.csv", "run.csv", *options, "-f", "json")
    assert said.code == 0, said.err
    assert said.data["results"][0]["scores"]["c@1"] == 0.625
    assert here("validate", "gold.csv", "run.csv", *options).code == 0
    refused = here.refuses("score", "gold.csv", "run.csv", *options, "-c", "why=reasn")
    says(refused, "'reasn'")
    refused = here.refuses("score", "gold.csv", "run.csv", "-c", "gold:quesion=id")
    assert "nearest: question" in refused
    assert "twice" in here.refuses(
        "score", "gold.csv", "run.csv", "-c", "answer=a", "-c", "answer=b"
    )


# ------------------------------------------------------------------------------------- slices


def test_slices_crossed_with_an_empty_attribute(here: Here) -> None:
    here.write(
        "gold.csv",
        'question,correct,topic,type\nq1,a,x,s\nq2,b,x,\nq3,c,,s\nq4,d,"",s\nq5,e,y,s\n',
    )
    here.write("run.csv", "question,answer\nq1,a\nq2,x\nq3,c\nq4,\nq5,e\n")
    said = here("score", "gold.csv", "run.csv", "--by", "topic", "--by", "type", "-f", "json")
    found = {
        (row["slice"]["topic"], row["slice"]["type"]): ab.Counts.from_dict(row["counts"])
        for row in said.data["results"]
    }
    assert found == {
        ("x", "s"): ab.Counts(right=1),
        ("x", None): ab.Counts(wrong=1),
        (None, "s"): ab.Counts(right=1, unsplit=1),
        ("y", "s"): ab.Counts(right=1),
    }
    table = here("score", "gold.csv", "run.csv", "--by", "topic")
    assert table.code == 0
    line = here.refuses("score", "gold.csv", "run.csv", "--by", "topik")
    says(line, "'topik'")


def test_slices_add_up_to_the_whole() -> None:
    import random

    draw = random.Random(1)
    n = 300
    gold = pl.DataFrame(
        {
            "question": [str(i) for i in range(n)],
            "correct": [draw.choice("abc") for _ in range(n)],
            "topic": [draw.choice(["x", "y", None]) for _ in range(n)],
            "type": [draw.choice(["s", "t"]) for _ in range(n)],
        }
    )
    rows = [
        {"run": run, "question": str(i), "answer": draw.choice(["a", "b", "c", ""])}
        for run in ("one", "two")
        for i in range(n)
        if draw.random() < 0.9
    ]
    run = pl.DataFrame(rows)
    correct = dict(zip(gold["question"], gold["correct"], strict=True))
    sliced = ab.score(gold, run, by=["topic", "type"])
    assert len(sliced.rows) == 2 * 6
    for row in sliced.rows:
        members = gold.filter(
            pl.col("topic").eq_missing(pl.lit(row.slice["topic"], pl.String)),
            pl.col("type") == row.slice["type"],
        )["question"].to_list()
        answers = {r["question"]: r["answer"] for r in rows if r["run"] == row.run}
        right = sum(1 for q in members if answers.get(q) == correct[q])
        blank = sum(1 for q in members if not answers.get(q))
        assert row.counts.right == right
        assert row.counts.unsplit == blank
        assert row.counts.n == len(members)


def test_options_are_checked_by_validate(here: Here) -> None:
    here.write("gold.csv", "question,correct,options\nq1,a,a|b\nq2,,a|b\nq3,a,\n")
    here.write("run.csv", "question,answer,candidate\nq1,c,\nq2,none,\nq3,z,\n")
    verdict = here("validate", "gold.csv", "run.csv", "-f", "json")
    assert verdict.code == 1
    assert [(p["kind"], p["line"]) for p in verdict.data["problems"]] == [("unknown option", 2)]


def test_attributes_named_like_our_columns_stay_apart() -> None:
    gold = GOLD_FRAME.with_columns(run=pl.lit("x"), right=pl.lit("y"), topic=pl.lit("z"))
    run = pl.DataFrame({"question": ["q1"], "answer": ["a"]})
    frame = ab.score(gold, {"mine": run}, by=["run", "right", "topic"]).to_frame()
    assert frame.select("run", "run (slice)", "right", "right (slice)", "topic").rows() == [
        ("mine", "x", 1, "y", "z")
    ]


@pytest.mark.parametrize("name", ["accepted", "nothing_right"])
def test_attributes_that_would_take_our_place_are_refused(here: Here, name: str) -> None:
    here.write("gold.csv", f"question,correct,{name}\nq1,a,x\n")
    here.write("run.csv", "question,answer\nq1,a\n")
    said = here.refuses("score", "gold.csv", "run.csv", "--by", name)
    says(said, "gold.csv:1", f"{name}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "where"), [("csv", "line"), ("jsonl", "line"), ("parquet", "row")]
)
def test_many_problems_of_a_kind_are_told_as_one(here: Here, ending: str, where: str) -> None:
    """Three thousand unknown ids: one problem, at once, whatever the format."""
    ids = [f"q{i}" for i in range(6_000)]
    pl.DataFrame({"question": ids, "correct": "a"}).write_csv(here.folder / "gold.csv")
    wrong = [f"x{i}" if i % 2 else q for i, q in enumerate(ids)]
    pl.DataFrame({"question": wrong, "answer": "a"}).write_csv(here.folder / "first.csv")
    assert here("convert", "first.csv", f"run.{ending}").code == 0
    said = here("validate", "gold.csv", f"run.{ending}", "--format", "json")
    unknown, missing = said.data["problems"]
    assert (unknown["kind"], len(unknown["details"])) == ("unknown question", 3_000)
    assert (missing["kind"], len(missing["details"])) == ("missing question", 3_000)
    assert unknown["file"] == f"run.{ending}"
    second_row = {"csv": 3, "jsonl": 2, "parquet": 2}[ending]
    assert unknown[where] == second_row
    assert unknown["details"][-1][where] == second_row + 5_998


def test_a_flood_of_repeats_is_counted_not_listed(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,A\n")
    here.write("flood.csv", "question,answer\n" + "q1,A\n" * 30_001)
    line = here.refuses("score", "gold.csv", "flood.csv")
    says(line, "flood.csv:3", "'flood'", "'q1'")
    assert "(and 29,999 more;" in line
