"""`abstain curve` and `abstain tune` from the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from tests.confidence.data import informed, saved_thresholds
from tests.helpers import Here, csv_text
from tests.snapshots import says

GOLD = "question,correct,part\n" + "".join(
    f"q{i:02d},a,{'dev' if i < 20 else 'test'}\n" for i in range(40)
)


def run_text(seed: int = 0, *, extra: str = "") -> str:
    rows = [["question", "answer", "confidence"]]
    for i, (outcome, sure) in enumerate(informed(40, seed, levels=20)):
        rows.append([f"q{i:02d}", "a" if outcome == "right" else "b", f"{sure}"])
    return csv_text(rows) + extra


@pytest.fixture
def files(here: Here) -> Here:
    here.write("gold.csv", GOLD)
    here.write("one.csv", run_text())
    here.write("two.csv", run_text(1))
    return here


VIEWS = ("summary", "risk", "measure", "reliability", "decision", "roc", "parts")


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("format", ["table", "json", "csv", "markdown", "latex"])
def test_every_view_in_every_format(files: Here, view: str, format: str) -> None:
    said = files("curve", "gold.csv", "one.csv", "two.csv", "--show", view, "-f", format)
    assert said.code == 0, said.err
    assert "one" in said.out
    if format == "json":
        assert "NaN" not in said.out
        assert said.data["questions"] == 40


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_a_chart(files: Here, view: str) -> None:
    said = files("curve", "gold.csv", "one.csv", "--show", view, "--chart", "c.json")
    assert said.code == 0, said.err
    spec = json.loads(Path("c.json").read_text())
    assert spec["data"]["values"]
    for layer in spec["layer"]:
        field = layer["encoding"]["y"]["field"]
        assert any(field in row for row in layer.get("data", spec["data"])["values"])


def test_the_chart_of_a_measure_names_it(files: Here) -> None:
    files("curve", "gold.csv", "one.csv", "--show", "measure", "-m", "F", "--chart", "c.json")
    assert "F and coverage" in json.dumps(json.loads(Path("c.json").read_text())["title"])


@pytest.mark.slow
def test_a_chart_is_drawn(files: Here) -> None:
    assert files("curve", "gold.csv", "one.csv", "--chart", "c.svg").code == 0
    assert Path("c.svg").read_text().startswith("<svg")
    line = files.refuses("curve", "gold.csv", "one.csv", "--chart", "d.gif")
    assert "ends in .svg" in line


def test_curve_says_what_it_cannot_show(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("plain.csv", "question,answer\nq00,a\nq01,b\n")
    here.write("some.csv", "question,answer,confidence\nq00,a,0.9\nq01,b,\nq02,a,0.1\n")
    said = here("curve", "gold.csv", "plain.csv", "some.csv")
    assert said.code == 0
    says(said.out, "'plain'")
    said = here("curve", "gold.csv", "some.csv")
    says(" ".join(said.out.split()), "1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ("q00,a,0.5\n", "every answer is right"),
        ("q00,b,0.5\n", "every answer is wrong"),
        ("q00,a,0.5\nq01,b,0.5\n", "0.5000"),
        ("q00,,\n", "there is no answer"),
    ],
)
def test_one_question_all_right_all_wrong_all_equal(here: Here, rows: str, shown: str) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer,confidence\n" + rows)
    for view in VIEWS:
        said = here("curve", "gold.csv", "run.csv", "--show", view)
        assert said.code == 0, said.err
    assert shown in " ".join(here("curve", "gold.csv", "run.csv").out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--show", "rik"], ("'rik'",)),
        (["-m", "c@1", "-m", "F"], ()),
        (["--bins", "0"], ("--bins", "1", "10,000")),
        (["--grade", "x=wrong"], ("--grade", "--judged")),
        (["--level", "2", "--show", "decision"], ("0", "1")),
        (["--level", "7"], ("0", "1")),
    ],
)
def test_curve_refuses(files: Here, arguments: list[str], said: tuple[str, ...]) -> None:
    says(files.refuses("curve", "gold.csv", "one.csv", *arguments), *said)


def test_bad_confidence_is_refused_with_its_line(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer,confidence\nq00,a,0.5\nq01,a,1.5\n")
    line = here.refuses("curve", "gold.csv", "run.csv")
    says(line, "run.csv:3", "1.5", "0", "1")
    here.write("judged.csv", "question,grade,confidence\nq00,right,0.5\nq01,wrong,high\n")
    line = here.refuses("curve", "--judged", "judged.csv")
    says(line, "judged.csv:3", "'high'", "0", "1")


@pytest.mark.parametrize("command", ["curve", "score", "validate"])
def test_a_decimal_comma_is_shown_and_told(here: Here, command: str) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question;answer;confidence\nq00;a;0.5\nq01;a;0,9\n")
    said = here(command, "gold.csv", "run.csv", *(["-f", "json"] if command == "validate" else []))
    line = "confidence is '0,9', expected a number from 0 to 1, with a decimal point"
    assert line in (said.out or f"{said.err.partition(': ')[2]}")
    here.write("judged.csv", "question;grade;confidence\nq00;right;0.5\nq01;wrong;0,9\n")
    assert here.refuses("curve", "--judged", "judged.csv") == f"judged.csv:3: {line}"


def test_runs_of_nothing_but_bad_confidences_are_refused(here: Here) -> None:
    """In whatever order they come: no cell of theirs is ever filled."""
    here.write("gold.csv", GOLD)
    for name in "ba":
        here.write(f"{name}.csv", "question,answer,confidence\nq00,a,high\n")
    line = here.refuses("compare", "gold.csv", "b.csv", "a.csv", "-m", "CWS")
    says(line, "b.csv:2", "'high'", "0", "1")


# ------------------------------------------------------------------------------------- tune


def test_a_named_split_tunes_and_judges_apart(files: Here) -> None:
    said = files("tune", "gold.csv", "one.csv", "--tune-on", "part=dev", "-f", "json")
    assert said.code == 0, said.err
    own = said.data["results"][0]
    assert sum(own["judged"]["counts"].values()) == 20
    # the test questions alone, thresholded by hand
    rows = informed(40, 0, levels=20)[20:]
    right = sum(o == "right" and (c or 0) >= own["threshold"] for o, c in rows)
    answered = sum((c or 0) >= own["threshold"] for _, c in rows)
    assert own["judged"]["score"] == pytest.approx(right / 20 * (1 + (20 - answered) / 20))


def test_a_gold_of_its_own(files: Here) -> None:
    head, *lines = GOLD.splitlines(keepends=True)
    files.write("dev.csv", head + "".join(lines[:20]))
    files.write("test.csv", head + "".join(lines[20:]))
    one = files("tune", "dev.csv", "one.csv", "--test-gold", "test.csv", "-f", "json").data
    two = files("tune", "gold.csv", "one.csv", "--tune-on", "part=dev", "-f", "json").data
    assert one["results"] == two["results"]
    line = files.refuses("tune", "gold.csv", "one.csv", "--test-gold", "test.csv")
    says(line, "gold.csv", "test.csv")


def test_the_optimism_is_shown_and_is_no_result(files: Here) -> None:
    out = " ".join(files("tune", "gold.csv", "one.csv").out.split())
    says(out)
    assert "Optimism avoided" in out
    assert "40 questions in 5 folds (seed 0)" in out


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "jsonl.zst"])
def test_the_thresholded_run_in_any_table_format(files: Here, ending: str) -> None:
    name = f"silent.{ending}"
    said = files("tune", "gold.csv", "one.csv", "--threshold-file", "t.json", "--run-file", name)
    assert said.code == 0, said.err
    threshold = json.loads(Path("t.json").read_text())["results"][0]["threshold"]
    result = ab.score("gold.csv", name, measures=["c@1"])
    rows = informed(40, 0, levels=20)
    given = [(o, c) for o, c in rows if (c or 0) >= threshold]
    counts = result.rows[0].counts
    assert counts.right == sum(o == "right" for o, _ in given)
    assert counts.wrong == sum(o == "wrong" for o, _ in given)
    assert counts.unanswered_empty == 0  # what was blanked stays as the candidate
    again = files("tune", "--apply", "t.json", "one.csv", "--run-file", f"again.{ending}")
    assert again.code == 0, again.err
    one, two = (ab.score("gold.csv", n).to_dict()["results"] for n in (name, f"again.{ending}"))
    assert one[0]["counts"] == two[0]["counts"]


def test_one_run_of_a_table_with_several(files: Here) -> None:
    both = [pl.read_csv(f"{name}.csv").with_columns(run=pl.lit(name)) for name in ("one", "two")]
    pl.concat(both).write_csv("both.csv")
    said = files(
        "tune", "gold.csv", "both.csv", "--run", "two", "--run-file", "out.csv", "-f", "json"
    )
    assert said.code == 0, said.err
    alone = files("tune", "gold.csv", "two.csv", "-f", "json").data["results"]
    assert said.data["results"] == alone
    assert set(pl.read_csv("out.csv")["run"]) == {"two"}
    said = files(
        "tune", "gold.csv", "both.csv", "--run-file", "all.csv", "--threshold-file", "t.json"
    )
    assert said.code == 0, said.err
    assert pl.read_csv("all.csv").height == 80
    assert files("tune", "--apply", "t.json", "both.csv", "--run-file", "again.csv").code == 0
    assert Path("all.csv").read_bytes() == Path("again.csv").read_bytes()


def test_qa4mre_xml(here: Here) -> None:
    here.write("gold.csv", "question,correct\n" + "".join(f"1/1/{i},1\n" for i in range(10)))
    rows = "".join(f"1/1/{i},{1 + (i % 3 == 0)},{i / 10}\n" for i in range(10))
    here.write("run.csv", "question,answer,confidence\n" + rows)
    said = here("tune", "gold.csv", "run.csv", "--folds", "2", "--run-file", "run.xml")
    assert said.code == 0, said.err
    assert "<output" in Path("run.xml").read_text()
    assert ab.score("gold.csv", "run.xml").rows[0].counts.n == 10
    said = here("tune", "gold.csv", "run.xml", "--folds", "2", "--run-file", "again.xml")
    assert said.code == 0, said.err


def test_candidates_that_are_sure_enough_are_given(here: Here) -> None:
    here.write("run.csv", "question,answer,candidate,confidence\nq1,,a,0.9\nq2,b,,0.1\nq3,c,,\n")
    here.write("t.json", saved_thresholds({"run": "r", "threshold": 0.5}))
    said = here("tune", "--apply", "t.json", "run.csv", "--run-file", "out.csv")
    assert said.code == 0, said.err
    says(said.err, "2", "1")
    rows = pl.read_csv("out.csv").fill_null("").rows()
    assert [r[:3] for r in rows] == [("q1", "a", ""), ("q2", "", "b"), ("q3", "", "c")]


def test_thresholds_per_slice_are_written_and_applied(files: Here) -> None:
    said = files(
        *("tune", "gold.csv", "one.csv", "--by", "part", "--shrink", "5", "--run-file", "out.csv"),
        *("--threshold-file", "t.json"),
    )
    assert said.code == 0, said.err
    entry = json.loads(Path("t.json").read_text())["results"][0]
    assert set(entry["thresholds"]) == {"dev", "test"}
    assert (
        files("tune", "--apply", "t.json", "gold.csv", "one.csv", "--run-file", "b.csv").code == 0
    )
    assert Path("out.csv").read_bytes() == Path("b.csv").read_bytes()
    line = files.refuses("tune", "--apply", "t.json", "one.csv", "--run-file", "c.csv")
    says(line, "one.csv")


SLICED = "question,correct,topic\nq1,a,x\nq2,a,x\nq3,a,x\nq4,a,y\nq5,a,y\nq6,a,y\n"
LATER = "question,correct,topic\nn1,a,x\nn2,a,x\nn3,a,y\nn4,a,y\n"
ANSWERS = (
    "question,answer,confidence\nq1,a,0.9\nq2,a,0.8\nq3,b,0.7\nq4,a,0.3\nq5,a,0.25\nq6,b,0.1\n"
    "n1,b,0.72\nn2,a,0.85\nn3,a,0.27\nn4,b,0.05\n"
)


def test_slices_of_a_gold_of_its_own_are_written(here: Here) -> None:
    """x: from 0.75 up, y: from 0.175 up, by hand: the written questions score as judged."""
    here.write("g.csv", SLICED)
    here.write("later.csv", LATER)
    here.write("run.csv", ANSWERS)
    say = ("--test-gold", "later.csv", "--by", "topic", "--shrink", "0", "--run-file", "out.csv")
    said = here("tune", "g.csv", "run.csv", *say, "-f", "json")
    assert said.data["results"][0]["thresholds"] == pytest.approx({"x": 0.75, "y": 0.175})
    given = {r[0]: r[1] for r in pl.read_csv("out.csv").fill_null("").rows()}
    assert [given[q] for q in ("n1", "n2", "n3", "n4")] == ["", "a", "a", ""]
    pl.read_csv("out.csv").filter(pl.col("question").str.starts_with("n")).write_csv("n.csv")
    (row,) = ab.score("later.csv", "n.csv", measures=["c@1"]).rows
    assert row.scores["c@1"] == said.data["results"][0]["judged"]["score"] == 0.75
    says(said.err, "10")


def test_slices_by_position(here: Here) -> None:
    here.write("g.csv", SLICED)
    here.write("run.csv", "answer,confidence\na,0.9\na,0.8\nb,0.7\na,0.3\na,0.25\nb,0.1\n")
    say = ("--align", "position", "--by", "topic", "--shrink", "0", "--folds", "6")
    said = here("tune", "g.csv", "run.csv", *say, "--run-file", "out.csv")
    assert said.code == 0, said.err
    assert [r[0] for r in pl.read_csv("out.csv").fill_null("").rows()] == [
        "a",
        "a",
        "",
        "a",
        "a",
        "",
    ]
    says(said.err)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "question,answer,confidence\nn1,a,high\n",
            ("x.csv:2", "'high'", "0", "1"),
        ),
        ("question,answer,confidence\nn1,a,\nn2,a,7\n", ("x.csv:3", "'7'")),
        ("question,answer,confidence\nn1,a,nan\n", ("x.csv:2", "'nan'")),
        (
            "run,question,answer,confidence\nA,n1,a,0.5\nB,n1,b,0.9\n",
            ("'A'",),
        ),
    ],
)
def test_runs_that_a_threshold_is_not_applied_to(
    here: Here, text: str, said: tuple[str, ...]
) -> None:
    here.write("x.csv", text)
    here.write("t.json", saved_thresholds({"run": "r", "threshold": 0.5}))
    says(here.refuses("tune", "--apply", "t.json", "x.csv", "--run-file", "out.csv"), *said)
    assert not Path("out.csv").exists()


def test_a_question_outside_the_gold_has_no_slice(here: Here) -> None:
    here.write("later.csv", LATER)
    here.write("x.csv", "question,answer,confidence\nn1,a,0.5\nzz,a,0.5\n")
    for own in ({}, {"by": "topic"}):
        entry = {"run": "r", "threshold": 0.5, "thresholds": {"x": 0.9} if own else {}}
        here.write("t.json", saved_thresholds(entry, **own))
        line = here.refuses(
            "tune", "--apply", "t.json", "later.csv", "x.csv", "--run-file", "out.csv"
        )
        says(line, "x.csv:3", "'zz'")


def test_ids_that_are_numbers_are_found_in_the_gold(here: Here) -> None:
    here.write("g.csv", "question,correct,topic\n1,a,x\n2,a,y\n")
    rows = {"question": [1.0, 2.0], "answer": ["a", "a"], "confidence": [0.6, 0.6]}
    pl.DataFrame(rows).write_parquet("r.parquet")
    own = {"run": "r", "threshold": 0.5, "thresholds": {"x": 0.9}}
    here.write("t.json", saved_thresholds(own, by="topic"))
    said = here("tune", "--apply", "t.json", "g.csv", "r.parquet", "--run-file", "out.csv")
    assert said.code == 0, said.err
    assert pl.read_csv("out.csv")["answered"].to_list() == ["NO", "YES"]


def test_the_threshold_of_another_run_is_said(here: Here) -> None:
    here.write("x.csv", "run,question,answer,confidence\nA,n1,a,0.5\n")
    here.write("t.json", saved_thresholds({"run": "r", "threshold": 0.5}))
    said = here("tune", "--apply", "t.json", "x.csv", "--run-file", "out.csv")
    says(said.err, "'A'", "'r'")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.5, "<= 1"),
        (-0.1, ">= 0"),
        (10**400, "out of range"),
        ("x", "got `str`"),
    ],
)
def test_thresholds_outside_the_range(files: Here, value: object, said: str) -> None:
    files.write("t.json", saved_thresholds({"run": "r", "threshold": value}))
    line = files.refuses("tune", "--apply", "t.json", "one.csv", "--run-file", "out.csv")
    assert line.startswith("t.json: is not ")
    assert said in line


@pytest.mark.parametrize(
    "value",
    [0.0, None],
)
def test_thresholds_beyond_every_confidence_are_said(files: Here, value: float | None) -> None:
    files.write("t.json", saved_thresholds({"run": "r", "threshold": value}))
    says(files("tune", "--apply", "t.json", "one.csv", "--run-file", "out.csv").err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--folds", "1"], ("--folds", "2", "1")),
        (["--folds", "50"], ("50", "40")),
        (["--tune-on", "part"], ("--tune-on",)),
        (["--tune-on", "part=de"], ("'de'",)),
        (["--tune-on", "prt=dev"], ("'prt'",)),
        (["--tune-on", "part=dev", "--folds", "3"], ()),
        (["--risk", "0.1", "--maximise", "F"], ()),
        (["--risk", "2"], ("--risk", "0", "1")),
        (["--maximise", "AUROC"], ()),
        (["--run", "on"], ("'on'",)),
        (["--apply", "t.json"], ("--apply", "--run-file")),
    ],
)
def test_tune_refuses(files: Here, arguments: list[str], said: tuple[str, ...]) -> None:
    says(files.refuses("tune", "gold.csv", "one.csv", *arguments), *said)


def test_a_split_with_an_empty_part(here: Here) -> None:
    here.write("gold.csv", GOLD.replace("test", "dev"))
    here.write("one.csv", run_text())
    line = here.refuses("tune", "gold.csv", "one.csv", "--tune-on", "part=dev")
    says(line)


def test_no_confidence_to_tune(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", "question,answer\nq00,a\n")
    line = here.refuses("tune", "gold.csv", "run.csv")
    sure = "numbers from 0 to 1"
    says(line, "run.csv", "'confidence'", f"{sure}")
    here.write("run.csv", "question,answer,certainty\nq00,a,0.5\n")
    for command in ("tune", "curve"):
        line = here.refuses(command, "gold.csv", "run.csv")
        says(line, "'confidence'", "--column")


def test_the_same_bytes_every_time(files: Here) -> None:
    one = files("tune", "gold.csv", "one.csv", "--seed", "3", "-f", "json").out
    assert one == files("tune", "gold.csv", "one.csv", "--seed", "3", "-f", "json").out
    assert one != files("tune", "gold.csv", "one.csv", "--seed", "4", "-f", "json").out


def test_score_takes_measures_of_confidence(files: Here) -> None:
    said = files(
        *("score", "gold.csv", "one.csv", "two.csv", "-m", "AUROC", "-m", "c@1"),
        *("--by", "part", "-f", "json"),
    )
    assert said.code == 0, said.err
    rows = informed(40, 0, levels=20)[:20]
    right = [c or 0 for o, c in rows if o == "right"]
    wrong = [c or 0 for o, c in rows if o == "wrong"]
    won = sum((r > w) + (r == w) / 2 for r in right for w in wrong)
    own = next(
        r for r in said.data["results"] if r["run"] == "one" and r["slice"] == {"part": "dev"}
    )
    assert own["scores"]["AUROC"] == pytest.approx(won / len(right) / len(wrong))
    files.write("counts.csv", "run,right,wrong,unanswered\na,1,2,0\n")
    line = files.refuses("score", "--counts", "counts.csv", "-m", "AUROC")
    says(line)


# ------------------------------------------------------------------- what could be misread


SOME = "question,grade,confidence\nq1,right,\nq2,right,0.2\nq3,wrong,0.9\nq4,right,0.5\n"


def test_what_no_threshold_reaches_is_said(here: Here) -> None:
    """Answering all four is best, 3/4; of those with a confidence two right, one wrong: 2/4·5/4."""
    here.write("j.csv", SOME)
    said = here("curve", "--judged", "j.csv", "-f", "json")
    (row,) = said.data["results"]
    assert (row["best"], row["threshold"]) == (0.75, None)
    assert row["even_without_confidence"] is True
    out = " ".join(here("curve", "--judged", "j.csv").out.split())
    says(out)
    tuned = here("tune", "--judged", "j.csv", "--folds", "2", "-f", "json")
    assert tuned.data["results"][0]["best_in_hindsight"]["score"] == 0.625
    out = " ".join(here("tune", "--judged", "j.csv", "--folds", "2").out.split())
    says(out)


def test_a_null_threshold_says_what_it_answers(here: Here) -> None:
    here.write("j.csv", SOME)
    (row,) = here("curve", "--judged", "j.csv", "-f", "json").data["results"]
    points = row["points"]
    assert [t is None for t in points["threshold"]] == [True, False, False, False, True]
    assert (points["answered"][0], points["answered"][-1]) == (0, 4)
    assert points["even_without_confidence"] is True
    here.write("k.csv", SOME.replace("q1,right,\n", ""))
    (row,) = here("curve", "--judged", "k.csv", "-f", "json").data["results"]
    assert [t is None for t in row["points"]["threshold"]] == [True, False, False, False]
    assert "even_without_confidence" not in row["points"]


def test_the_bins_of_an_ece_are_said(files: Here) -> None:
    out = " ".join(files("curve", "gold.csv", "one.csv").out.split())
    says(out)
    out = files("curve", "gold.csv", "one.csv", "--show", "reliability", "--bins", "7").out
    says(" ".join(out.split()), "7")
    rows = files(
        *("curve", "gold.csv", "one.csv", "--show", "reliability", "--bins", "7", "-f", "json")
    ).data["results"][0]["reliability"]
    gaps = sum(r["answers"] * abs(r["confidence"] - r["accuracy"]) for r in rows)
    own = files("curve", "gold.csv", "one.csv", "-m", "ECE(bins=7)", "-f", "json").data["results"]
    assert own[0]["scores"]["ECE(bins=7)"] == pytest.approx(gaps / 40)


def test_a_threshold_is_written_in_full(here: Here) -> None:
    here.write("g.csv", "question,correct\n" + "".join(f"q{i},a\n" for i in range(4)))
    sure = (0.98765432, 0.98123456, 0.3, 0.2)
    rows = "".join(f"q{i},{'ab'[i > 1]},{c}\n" for i, c in enumerate(sure))
    here.write("r.csv", "question,answer,confidence\n" + rows)
    plain = here("curve", "g.csv", "r.csv", "-f", "csv").out
    assert plain.splitlines()[1].split(",")[7] == "0.98123456"
    assert "0.9812" in here("curve", "g.csv", "r.csv").out
    tuned = here("tune", "g.csv", "r.csv", "--folds", "2", "-f", "csv").out
    assert f"with a threshold,{(0.98123456 + 0.3) / 2!r}," in tuned


def test_a_run_without_answers_or_confidence_has_no_curve(here: Here) -> None:
    here.write("j.csv", "run,question,grade,confidence\na,q1,,0.3\na,q2,,0.2\n")
    out = " ".join(here("curve", "--judged", "j.csv").out.split())
    says(out, "'a'")
    here.write("j.csv", "run,question,grade,confidence\na,q1,right,\na,q2,wrong,\n")
    said = here("curve", "--judged", "j.csv", "--show", "roc", "-f", "csv")
    assert said.out == "run\n"
    (row,) = here("curve", "--judged", "j.csv", "-f", "json").data["results"]
    assert "points" not in row


@pytest.mark.slow
@pytest.mark.parametrize(("points", "shown"), [(21, 20), (60, 50), (5, 5), (100, 100), (0, 100)])
def test_points_of_a_decision_curve_are_at_most_so_many(
    files: Here, points: int, shown: int
) -> None:
    out = files(
        *(
            "curve",
            "gold.csv",
            "one.csv",
            "--show",
            "decision",
            "--points",
            f"{points}",
            "-f",
            "csv",
        )
    ).out
    assert len(out.splitlines()) - 1 == shown


def test_one_threshold_is_no_limit_to_several(here: Here) -> None:
    here.write("g.csv", SLICED)
    here.write("later.csv", LATER)
    here.write("run.csv", ANSWERS)
    say = ("--test-gold", "later.csv", "--by", "topic", "--shrink", "0")
    out = " ".join(here("tune", "g.csv", "run.csv", *say).out.split())
    assert "best in hindsight" not in out
    says(out)


# ------------------------------------------------------------------------- hostile neighbours


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (saved_thresholds({}), ("run",)),
        (saved_thresholds({"run": "r", "thresholds": 7}), ("thresholds",)),
        (saved_thresholds({"run": "r", "thresholds": {"x": 2}}, by="part"), ("thresholds",)),
        (saved_thresholds(), ("results",)),
        (saved_thresholds({"run": "r"}, schema=2), ("2",)),
    ],
)
def test_a_file_of_thresholds_that_cannot_be_trusted(
    files: Here, text: str, said: tuple[str, ...]
) -> None:
    files.write("t.json", text)
    says(files.refuses("tune", "--apply", "t.json", "one.csv", "--run-file", "out.csv"), *said)
    assert not Path("out.csv").exists()


def test_a_result_without_thresholds_is_not_applied(files: Here) -> None:
    files("score", "gold.csv", "one.csv", "-o", "t.json")
    line = files.refuses("tune", "--apply", "t.json", "one.csv", "--run-file", "out.csv")
    says(line, "t.json", "score")


def test_a_file_that_is_nested_without_end(files: Here) -> None:
    files.write("t.json", "[" * 200_000)
    line = files.refuses("tune", "--apply", "t.json", "one.csv", "--run-file", "out.csv")
    says(line, "t.json")
    files.write("t.json", '{"runs":' * 200_000)
    line = files.refuses("tune", "--apply", "t.json", "one.csv", "--run-file", "out.csv")
    assert line.startswith("t.json: is no")


@pytest.mark.parametrize(
    "arguments",
    [
        ["tune", "gold.csv", "one.csv", "--run-file", "one.csv"],
        ["tune", "gold.csv", "one.csv", "--run-file", "./gold.csv"],
        ["tune", "gold.csv", "one.csv", "--threshold-file", "one.csv"],
        ["tune", "--apply", "t.json", "one.csv", "--run-file", "one.csv"],
        ["tune", "--apply", "t.json", "one.csv", "--run-file", "t.json"],
        ["curve", "gold.csv", "one.csv", "-o", "one.csv"],
        ["curve", "gold.csv", "one.csv", "--chart", "one.csv"],
    ],
)
def test_nothing_that_is_read_is_overwritten(files: Here, arguments: list[str]) -> None:
    files("tune", "gold.csv", "one.csv", "--threshold-file", "t.json")
    before = {p: Path(p).read_bytes() for p in ("gold.csv", "one.csv", "t.json")}
    assert "would overwrite" in files.refuses(*arguments)
    assert before == {p: Path(p).read_bytes() for p in before}


def test_one_file_is_not_written_twice(files: Here) -> None:
    line = files.refuses(
        "tune", "gold.csv", "one.csv", "--run-file", "x.csv", "--threshold-file", "x.csv"
    )
    says(line, "--threshold-file", "x.csv", "--run-file")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tune-on", "part=dev", "--repeats", "3"], ("--repeats", "--tune-on")),
        (["--next"], ("--next", "--risk")),
        (
            ["--apply", "t.json", "--risk", "0.1", "--run-file", "x.csv"],
            ("--risk",),
        ),
        (
            ["--apply", "t.json", "--policy", "error=wrong", "--run-file", "x.csv"],
            ("--policy",),
        ),
        (
            ["--apply", "t.json", "--level", "0.8", "--run-file", "x.csv"],
            ("--level",),
        ),
        (
            ["--apply", "t.json", "--match", "text", "--run-file", "x.csv"],
            ("--match",),
        ),
        (["--level", "0.7"], ("--level", "--risk")),
        (["--shrink", "7"], ("--shrink", "--by")),
    ],
)
def test_options_that_do_not_go_together(
    files: Here, arguments: list[str], said: tuple[str, ...]
) -> None:
    says(files.refuses("tune", "gold.csv", "one.csv", *arguments), *said)


@pytest.mark.slow
def test_the_bound_is_promised_and_counted_in_words(here: Here) -> None:
    rows = [["question", "grade", "confidence"]]
    for i, (outcome, sure) in enumerate(informed(400, 3)):
        rows.append([f"q{i:03d}", outcome, f"{sure}"])
    here.write("j.csv", csv_text(rows))
    say = ("tune", "--judged", "j.csv", "--risk", "0.3", "--folds", "2", "--repeats", "5")
    plain = here(*say, "-f", "json").data
    assert plain["aim"] == {"risk": 0.3, "level": 0.9}
    kept = plain["results"][0]["kept"]
    out = " ".join(here(*say).out.split())
    says(out, "0.3", f"{kept['over_all']}", "10", "0.9")
    following = here(*say, "--next", "-f", "json").data
    assert following["aim"]["next_questions"] is True
    own = following["results"][0]
    assert own["judged"]["coverage"] <= plain["results"][0]["judged"]["coverage"]
    out = " ".join(here(*say, "--next").out.split())
    says(out, "0.3", f"{own['kept']['seen']}", "10", "200", "0.9")


def test_silence_promises_nothing(here: Here) -> None:
    here.write(
        "j.csv", "question,grade,confidence\n" + "".join(f"q{i},right,0.5\n" for i in range(9))
    )
    out = here("tune", "--judged", "j.csv", "--risk", "0.1").out
    assert "should answer nothing" in " ".join(out.split())
    assert "The bound holds" not in out


def test_a_bound_that_is_seen_broken_is_tested(here: Here) -> None:
    """Tuned where all is right, judged where a third is wrong: 20 of 60 at a risk of 0.2."""
    rows = [["question", "part", "grade", "confidence"]]
    for i in range(120):
        wrong = i >= 60 and i % 3 == 0
        rows.append(
            [f"q{i:03d}", "dev" if i < 60 else "test", "wrong" if wrong else "right", "0.9"]
        )
    here.write("j.csv", csv_text(rows))
    said = here("tune", "--judged", "j.csv", "--risk", "0.2", "--tune-on", "part=dev")
    tail = sum(math.comb(60, k) * 0.2**k * 0.8 ** (60 - k) for k in range(20, 61))
    out = " ".join(said.out.split())
    says(out, f"{tail:.3f}")
