"""Refusals in runs and logs: counted, listed, overruled by labels, checked by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.features.tune.apply import apply_thresholds
from abstain.features.tune.choose import Threshold
from tests.helpers import Here
from tests.snapshots import says

GOLD = "question,correct\n" + "".join(f"q{i},{i}\n" for i in range(1, 7))
DATA = Path(__file__).parents[1] / "formats" / "logs" / "data"
SUMS = str(DATA / "lm_eval" / "careful" / "samples_sums_2026-01-01T00-00-00.000000.jsonl")
STRICT = ("--from", "lm-eval", "--pick", "filter=strict")


def counts(here: Here, *args: str) -> list[float]:
    said = here("score", *args, "--format", "json")
    assert said.code == 0, said
    found = said.data["results"][0]["counts"]
    return [found["right"], found["wrong"], ab.Counts.from_dict(found).unanswered]


@pytest.mark.slow
def test_off_unless_asked_for(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer\nq1,1\nq2,I don't know.\nq3,Keine Ahnung.\nq4,5\n")
    assert counts(here, "gold.csv", "run.csv") == [1, 3, 2]
    assert counts(here, "gold.csv", "run.csv", "--detect-refusals", "en") == [1, 2, 3]
    assert counts(here, "gold.csv", "run.csv", "--detect-refusals", "en,de") == [1, 1, 4]
    assert counts(here, "gold.csv", "run.csv", "--from", "csv", "--detect-refusals", "all") == [
        1,
        1,
        4,
    ]
    said = here("score", "gold.csv", "run.csv", "--detect-refusals", "all", "--format", "json")
    assert said.data["touched"] == {"declined": 2, "missing": 2}
    assert any("refusals found in text" in n and "2 of 4" in n for n in said.data["notes"])


def test_a_pattern_of_ones_own(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer\nq1,1\nq2,ASK the help-desk!\nq3,No idea.\nq4,5\n")
    own = ("--refusal-pattern", r"ask the help[- ]desk")
    assert counts(here, "gold.csv", "run.csv", *own) == [1, 2, 3]
    assert counts(here, "gold.csv", "run.csv", *own, "--detect-refusals", "en") == [1, 1, 4]
    said = here("refusals", "run.csv", *own, "--format", "json")
    assert said.data["by_rule"] == {"en/no-idea": 1, "own/1": 1}
    ask = ("score", "gold.csv", "run.csv", "--refusal-pattern")
    says(here.refuses(*ask, "ask ("), "'ask ('", "unclosed group")
    says(here.refuses(*ask, "a(?=b)"), "look-around")
    says(here.refuses(*ask, "a" * 1001), "1,000")
    says(here.refuses(*ask, "(a{999}){999}"), "--refusal-pattern")
    says(here.refuses(*ask, "x", "--engine", "duckdb"), "polars")
    frame = pl.DataFrame({"question": ["q1"], "answer": ["Ask the help desk"]})
    gold = pl.DataFrame({"question": ["q1"], "correct": ["a"]})
    read = ab.read(gold, frame, refusal_pattern=["help desk", "x"])
    assert read.score().rows[0].counts.unanswered == 1
    assert ab.refusals(frame, refusal_pattern="desk").by_rule == {"own/1": 1}


@pytest.mark.slow
def test_a_column_wins(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write(
        "run.csv",
        "question,answer,answered,why\nq1,No idea,yes,\nq2,No idea,,\nq3,No idea,no,\nq4,,,error\n",
    )
    said = here(
        *("score", "gold.csv", "run.csv", "--detect-refusals", "en", "--format", "json"),
        *("--policy", "error=excluded"),
    )
    assert said.code == 0, said
    assert said.data["results"][0]["counts"]["wrong"] == 1  # q1 says that it is an answer
    assert said.data["touched"] == {"declined": 2, "error": 1, "missing": 2}


def test_what_a_label_overrules_is_counted_beside_what_is_used(here: Here) -> None:
    here.write("gold.csv", GOLD)
    rows = "q1,No idea,yes\nq2,No idea,\nq3,No idea,yes\nq4,No idea,yes\nq5,5,\nq6,,\n"
    here.write("run.csv", "question,answer,answered\n" + rows)
    said = here("score", "gold.csv", "run.csv", "--detect-refusals", "en", "--format", "json")
    (note,) = [n for n in said.data["notes"] if "refusals found" in n]
    says(note, "1", "5", "3")
    here.write("run.csv", "question,answer,answered\nq1,No idea,yes\nq2,No idea,\n")
    said = here("score", "gold.csv", "run.csv", "--detect-refusals", "en", "--format", "json")
    assert any("1 of 2 responses; 1 more looks like" in n for n in said.data["notes"])
    here.write("run.csv", "question,answer,answered\nq1,1,yes\nq2,No idea,\n")
    said = here("score", "gold.csv", "run.csv", "--detect-refusals", "en", "--format", "json")
    assert not any("more look" in n for n in said.data["notes"])


@pytest.mark.slow
def test_a_judges_label_wins(here: Here) -> None:
    here.write("g.csv", "question,grade,answer\na,INCORRECT,I don't know\nb,CORRECT,No idea\n")
    for more in ([], ["--detect-refusals", "en"]):
        assert counts(here, "--judged", "g.csv", *more) == [1, 1, 0]
    said = here("score", "--judged", "g.csv", "--detect-refusals", "en", "--format", "json")
    assert any(
        "0 of 2 responses; 2 more look like a refusal, but a label takes precedence" in n
        for n in said.data["notes"]
    )
    # Inspect's scorer knew refusals by itself: nothing is found on top.
    log = str(DATA / "inspect.eval")
    policy = ("--policy", "unscored=excluded")
    assert counts(here, "--judged", log, *policy) == [3, 1, 1]
    assert counts(here, "--judged", log, *policy, "--detect-refusals", "en") == [3, 1, 1]


@pytest.mark.slow
def test_a_verdict_by_comparing_texts_is_looked_at(here: Here) -> None:
    assert counts(here, "--judged", SUMS, *STRICT) == [2, 3, 1]
    assert counts(here, "--judged", SUMS, *STRICT, "--detect-refusals", "en") == [2, 1, 3]
    assert counts(here, SUMS, SUMS, *STRICT, "--detect-refusals", "en") == [2, 1, 3]


@pytest.mark.slow
def test_every_command_detects(here: Here) -> None:
    more = [*STRICT, "--detect-refusals", "en"]
    bold = SUMS.replace("careful", "bold")
    for command in (
        ["campaign", SUMS, SUMS, bold, "-o", "out"],
        ["validate", SUMS, SUMS],
        ["compare", "--judged", SUMS, bold],
        ["meta", SUMS, SUMS, bold, "--size", "3"],
        ["convert", SUMS, "out.csv"],
    ):
        said = here(*command, *more)
        assert said.code == 0, (command, said)
    rows = list(csv.DictReader(Path("out.csv").read_text().splitlines()))
    assert [r["refusal"] for r in rows if r["refusal"]] == ["en/do-not-know", "en/not-sure"]
    assert [r["response"] for r in rows if r["refusal"]] == ["I don't know.", "I am not sure."]


@pytest.mark.slow
def test_hits_are_listed(here: Here) -> None:
    said = here("refusals", SUMS, *STRICT, "--format", "json")
    assert said.code == 0, said
    assert said.data["responses"] == 6
    assert said.data["by_rule"] == {"en/do-not-know": 1, "en/not-sure": 1}
    assert [hit["text"] for hit in said.data["hits"]] == ["I don't know.", "I am not sure."]
    rules = here("refusals", "--rules", "--languages", "de", "--format", "json").data["rules"]
    assert {rule["rule"].partition("/")[0] for rule in rules} == {"de"}
    assert "1 more" in here("refusals", SUMS, *STRICT, "--most", "1").out


@pytest.mark.slow
def test_a_hand_checked_sample_gives_the_errors(here: Here) -> None:
    here("convert", SUMS, "log.jsonl", *STRICT)
    ids = [json.loads(line)["question"] for line in Path("log.jsonl").read_text().splitlines()]
    true = ["right", "blank", "blank", "right", "blank", "right"]  # the last: "It is 12"
    rows = "".join(f"{q},{t}\n" for q, t in zip(ids, true, strict=True))
    here.write("checked.csv", "question,true\n" + rows)
    said = here("refusals", SUMS, *STRICT, "--check", "checked.csv", "-o", "judge.csv")
    assert said.code == 0, said
    table = list(csv.reader(Path("judge.csv").read_text().splitlines()))
    assert table == [
        ["true", "right", "wrong", "blank"],
        *[["right", "2", "1", "0"], ["wrong", "0", "0", "0"], ["blank", "0", "0", "3"]],
    ]
    bold = SUMS.replace("careful", "bold")
    compared = here(
        *("compare", "--judged", SUMS, bold, *STRICT, "--detect-refusals", "en"),
        *("--judge-error", "judge.csv", "-m", "accuracy"),
    )
    assert compared.code == 0, compared
    says(" ".join(compared.out.split()).lower())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["score", "gold.csv", "run.csv", "--detect-refusals", "xx"], ("'xx'",)),
        (["score", "gold.csv", "run.csv", "--detect-refusals", ""], ()),
        (["refusals"], ()),
        (["refusals", "gold.csv"], ()),
        (["refusals", "run.csv", "--check", "gold.csv"], ("'true'",)),
        (["refusals", "run.csv", "--check", "odd.csv"], ("'outcome'",)),
        (["refusals", SUMS, *STRICT, "--check", "odd.csv"], ("'q1'",)),
    ],
)
def test_what_is_refused(here: Here, args: list[str], expected: tuple[str, ...]) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer\nq1,1\n")
    here.write("odd.csv", "question,true\nq1,maybe\n")
    says(here.refuses(*args), *expected)


def test_from_python(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("question,answer\nq1,1\nq2,No lo sé.\n")
    (tmp_path / "gold.csv").write_text(GOLD)
    result = ab.score(str(tmp_path / "gold.csv"), str(path), format="csv", detect_refusals="es")
    assert result.touched == {"declined": 1, "missing": 4}


BBQ = "question,correct\nq1,Unknown\nq2,Not known\nq3,Paris\nq4,Pass\n"
BBQ_RUN = (
    "question,answer,confidence\nq1,Unknown,0.9\nq2,Not known,0.8\nq3,I don't know,0.2\nq4,Pass,1\n"
)
DETECT = ("--detect-refusals", "en")


@pytest.mark.slow
def test_what_is_right_by_the_gold_stands(here: Here) -> None:
    here.write("gold.csv", BBQ)
    here.write("run.csv", BBQ_RUN)
    assert counts(here, "gold.csv", "run.csv") == [3, 1, 0]
    assert counts(here, "gold.csv", "run.csv", *DETECT) == [3, 0, 1]
    here.write("loud.csv", BBQ_RUN.replace("Unknown", "UNKNOWN."))
    assert counts(here, "gold.csv", "loud.csv", *DETECT) == [2, 0, 2]
    assert counts(here, "gold.csv", "loud.csv", *DETECT, "--match", "text") == [3, 0, 1]
    assert counts(here, "gold.csv", "run.csv", *DETECT, "--align", "position") == [3, 0, 1]
    here.write("gold2.csv", BBQ.replace("Paris", "Paris|Lutetia"))
    assert counts(here, "gold2.csv", "run.csv", *DETECT) == [3, 0, 1]
    said = here("score", "gold.csv", "run.csv", *DETECT, "--format", "json")
    assert any(
        "4 of 4 responses; answers that the gold accepts stay right" in n
        for n in said.data["notes"]
    )


@pytest.mark.slow
def test_what_is_right_stands_for_every_command(here: Here) -> None:
    here.write("gold.csv", BBQ)
    here.write("run.csv", BBQ_RUN)
    here.write("all.csv", BBQ_RUN.replace("I don't know", "Paris"))
    said = here(
        "compare", "gold.csv", "run.csv", "all.csv", *DETECT, "-m", "accuracy", "-f", "json"
    )
    assert said.code == 0, said
    assert sorted(r["scores"]["accuracy"] for r in said.data["results"]) == [0.75, 1.0]
    risk = here("score", "gold.csv", "run.csv", *DETECT, "-m", "AURC", "-f", "json")
    assert risk.code == 0, risk
    assert risk.data["results"][0]["scores"]["AURC"] == 0  # three answers, all of them right
    here("convert", "run.csv", "copy.csv", *DETECT)  # no gold says what is right: answers stay
    rows = list(csv.DictReader(Path("copy.csv").read_text().splitlines()))
    assert [r["answer"] for r in rows] == ["Unknown", "Not known", "I don't know", "Pass"]
    assert all(r["refusal"].startswith("en/") for r in rows)
    assert counts(here, "gold.csv", "copy.csv", *DETECT) == [3, 0, 1]


@pytest.mark.slow
def test_a_log_judged_anew_keeps_what_is_right(here: Here) -> None:
    rows = [
        {"doc_id": i, "target": "x", "resps": [[said]], "filtered_resps": [said], "filter": "none",
         "metrics": ["exact_match"], "exact_match": 0.0}
        for i, said in enumerate(["Unknown", "I don't know."])
    ]  # fmt: skip
    here.write("log.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    here.write("gold.csv", "question,correct\n0,Unknown\n1,Lima\n")
    assert counts(here, "--judged", "log.jsonl", *DETECT) == [0, 0, 2]
    assert counts(here, "gold.csv", "log.jsonl", *DETECT) == [1, 0, 1]


def test_a_threshold_keeps_what_is_right(here: Here) -> None:
    here.write("gold.csv", BBQ)
    here.write("run.csv", BBQ_RUN)
    lowest = {"run": Threshold(0.0)}
    reading = ab.Reading.of(format="csv", detect_refusals="en")
    table, _ = apply_thresholds("run.csv", lowest, reading, gold="gold.csv")
    assert table["answer"].to_list() == ["Unknown", "Not known", "", "Pass"]


@pytest.mark.slow
def test_responses_without_answers_are_listed(here: Here) -> None:
    here.write("resp.csv", "question,response\na,I don't know\nb,Lima\n")
    said = here("refusals", "resp.csv", "--format", "json")
    assert said.code == 0, said
    assert [hit["question"] for hit in said.data["hits"]] == ["a"]
    here.write("gold.csv", BBQ)
    line = here.refuses("score", "gold.csv", "resp.csv", *DETECT)  # a response is an answer
    says(line, "resp.csv:2", "'a'")


CHECKED = "question,outcome,answer\na,right,1\nb,unparseable,\nc,limit,\nd,empty,\ne,error,\n"


@pytest.mark.slow
def test_a_check_counts_as_the_score_does(here: Here) -> None:
    here.write("log.csv", CHECKED)
    here.write("true.csv", "question,true\na,right\nb,wrong\nc,wrong\nd,blank\n")
    check = ("refusals", "log.csv", "--check", "true.csv", "--format", "csv")
    assert "1 response failed (error)" in here.refuses(*check)
    said = here(*check, "--policy", "error=excluded")
    assert said.code == 0, said
    table = {row[0]: row[1:] for row in csv.reader(said.out.splitlines())}
    assert table["right"] == ["1", "0", "0"]
    assert table["wrong"] == ["0", "2", "0"]
    assert table["blank"] == ["0", "0", "1"]
    said = here(*check, "--policy", "error=excluded", "--policy", "limit=unanswered")
    assert "wrong,0,1,1" in said.out
    here.write("true.csv", "question,true\na,right\na,right\n")
    assert "question 'a' ('right'): appears twice" in here.refuses(
        *check, "--policy", "error=wrong"
    )
    here.write("log.csv", "question,outcome,answer\na,right,1\na,wrong,2\n")
    here.write("true.csv", "question,true\na,right\n")
    assert "question 'a' again" in here.refuses(*check)


# ------------------------------------------------------------------ grades that know no third

YES_AND_NO = {
    "booleans": [True, False, False, True],
    "numbers": [1, 0, 0, 1],
    "floats": [1.0, 0.0, 0.0, 1.0],
    "words": ["yes", "No", "no", "YES"],
    "results": ["pass", "fail", "FAIL", "pass"],
}
TEXTS = ["Lima", "I don't know.", "Cusco", "I don't know."]
"""The second declines; so does the fourth, but whoever graded it found it right."""


@pytest.mark.parametrize("kind", YES_AND_NO)
@pytest.mark.parametrize("frame", ["polars", "pandas"])
def test_a_wrong_answer_that_declines_is_no_answer_where_grades_are_binary(
    kind: str, frame: str
) -> None:
    rows: Any = pl.DataFrame(
        {"id": [1, 2, 3, 4], "is_correct": YES_AND_NO[kind], "response": TEXTS}
    )
    rows = rows.to_pandas() if frame == "pandas" else rows
    (plain,) = ab.read_judged(rows).score().rows
    assert (plain.counts.right, plain.counts.wrong, plain.counts.unanswered) == (2, 2, 0)
    result = ab.read_judged(rows, detect_refusals="en").score()
    (row,) = result.rows
    assert (row.counts.right, row.counts.wrong, row.counts.unanswered) == (2, 1, 1)
    assert result.touched["declined"] == 1
    assert "1 of 4 responses" in " ".join(result.notes)


def test_a_scale_with_a_third_grade_decides_by_itself() -> None:
    rows = pl.DataFrame(
        {"id": [1, 2, 3], "grade": ["A", "B", "C"], "response": ["Lima", "I don't know.", "Cusco"]}
    )
    (row,) = ab.read_judged(rows, detect_refusals="en").score().rows
    assert (row.counts.right, row.counts.wrong, row.counts.unanswered) == (1, 1, 1)
