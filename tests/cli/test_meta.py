"""`abstain meta`: the four ways in, the looks, and what is handled and said."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest

import abstain as ab
from tests.helpers import Here, csv_text

RUNS, QUESTIONS = 5, 24
QUICK = ("--trials", "20", "--resamples", "20")


def tables(runs: int = RUNS, questions: int = QUESTIONS, seed: int = 1) -> dict[str, str]:
    """The same campaign as gold and runs, as grades, as counts and as scores."""
    rng = random.Random(seed)
    names = [f"q{k:02}" for k in range(questions)]
    gold = [["question", "correct"], *([q, "a"] for q in names)]
    responses = [["run", "question", "answer"]]
    grades = [["run", "question", "grade"]]
    counts = [["run", "question", "right", "wrong", "unanswered"]]
    scores = [["topic", *(f"r{r}" for r in range(runs))], *([q] for q in names)]
    for run in range(runs):
        for k, q in enumerate(names):
            kind = rng.choices("abc", [0.2 + run / 8, 0.4, 0.2])[0]
            responses.append([f"r{run}", q, "" if kind == "c" else kind])
            grade = {"a": "CORRECT", "b": "INCORRECT", "c": "NOT_ATTEMPTED"}[kind]
            grades.append([f"r{run}", q, grade])
            counts.append([f"r{run}", q, *(str(int(kind == other)) for other in "abc")])
            scores[k + 1].append(str(int(kind == "a")))
    return {
        "gold.csv": csv_text(gold),
        "runs.csv": csv_text(responses),
        "grades.csv": csv_text(grades),
        "counts.csv": csv_text(counts),
        "scores.csv": csv_text(scores),
    }


@pytest.fixture
def files(here: Here) -> Here:
    for name, text in tables().items():
        here.write(name, text)
    return here


def test_all_ways_in_say_the_same(files: Here) -> None:
    ways = [("gold.csv", "runs.csv"), ("--judged", "grades.csv"), ("--counts", "counts.csv")]
    said = [files("meta", *way, *QUICK, "--format", "json") for way in ways]
    assert [s.code for s in said] == [0, 0, 0], said
    parts = ("stability", "sensitivity", "power", "agreement", "scores", "advice")
    data = [{name: s.data[name] for name in parts} for s in said]
    assert data[0] == data[1] == data[2]
    counted = [s.data["scores"]["accuracy"] for s in said]
    ready = files("meta", "--scores", "scores.csv", *QUICK, "--format", "json").data
    assert ready["scores"]["scores"] == pytest.approx(counted[0])


def test_json_csv_and_the_python_result_agree(files: Here) -> None:
    result = ab.meta("gold.csv", "runs.csv", trials=20, resamples=20)
    data = files("meta", "gold.csv", "runs.csv", *QUICK, "--format", "json").data
    assert data.pop("command") == f"abstain meta gold.csv runs.csv {' '.join(QUICK)}"
    assert data == json.loads(json.dumps(result.to_dict()))
    assert data["seed"] == 0
    assert data["size"] == QUESTIONS // 2
    text = files("meta", "gold.csv", "runs.csv", *QUICK, "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    frame = result.to_frame()
    assert len(rows) == frame.height
    for row, own in zip(rows, frame.iter_rows(named=True), strict=True):
        assert row["quantity"] == own["quantity"]
        assert (float(row["value"]) if row["value"] else None) == own["value"]


def test_parts_looks_and_the_seed(files: Here) -> None:
    whole = files("meta", "gold.csv", "runs.csv", *QUICK).out
    for title in ("Stability", "Sensitivity", "by the number of questions", "Power", "Agreement"):
        assert title in whole
    assert "seed 0" in whole
    assert whole == files("meta", "gold.csv", "runs.csv", *QUICK, "--threads", "3").out
    assert whole != files("meta", "gold.csv", "runs.csv", *QUICK, "--seed", "1").out
    part = files("meta", "gold.csv", "runs.csv", *QUICK, "--only", "agreement").out
    assert "Stability" not in part
    assert "Kendall" in part
    markdown = files("meta", "gold.csv", "runs.csv", *QUICK, "--format", "markdown").out
    assert markdown.count("**") == 10
    latex = files("meta", "gold.csv", "runs.csv", *QUICK, "-o", "out.tex")
    assert latex.out == ""
    assert (files.folder / "out.tex").read_text().count("\\begin{tabular}") == 5


@pytest.mark.parametrize("ending", ["json", "svg", "html"])
def test_charts(files: Here, ending: str) -> None:
    name = f"meta.{ending}"
    assert files("meta", "gold.csv", "runs.csv", *QUICK, "--chart", name).code == 0
    text = (files.folder / name).read_text()
    for title in ("Stability", "Swap rates", "Achieved significance", "Kendall"):
        assert title in text
    if ending == "json":
        charts = json.loads(text)["vconcat"]
        assert len(charts) == 8
        assert {row["measure"] for row in charts[0]["data"]["values"]} == {"c@1", "accuracy", "UF"}
        heat = charts[4]["data"]["values"]
        assert len(heat) == 9


# -------------------------------------------------------------------- handled, and said


def test_too_few_runs(files: Here) -> None:
    files.write("one.csv", "".join(tables()["runs.csv"].splitlines(keepends=True)[: QUESTIONS + 1]))
    said = files.refuses("meta", "gold.csv", "one.csv")
    assert said == "measures are judged by pairs of runs: at least 2 (got 1)"
    files.write("narrow.csv", "topic,a\nt1,0.5\nt2,0.7\n")
    assert "1 system is common" in files.refuses("meta", "--scores", "narrow.csv")


def test_subsets_larger_than_half(files: Here) -> None:
    said = files.refuses("meta", "gold.csv", "runs.csv", "--size", "13")
    assert "a subset of 13 leaves no disjoint one" in said
    assert "with 24 questions at most 12" in said
    alone = files("meta", "gold.csv", "runs.csv", "--size", "13", "--only", "stability")
    assert alone.code == 0
    assert "subsets of 13 of 24 questions" in alone.out
    too_large = files.refuses("meta", "gold.csv", "runs.csv", "--size", "25", "--only", "stability")
    assert "from 1 to 24 (got 25)" in too_large


def test_constant_scores(files: Here) -> None:
    rows = [["topic", "a", "b", "c"], *([f"t{k}", "0.5", "0.5", "0.5"] for k in range(8))]
    files.write("flat.csv", csv_text(rows))
    other = [["topic", "a", "b", "c"], *([f"t{k}", "0.5", "0.1", str(k / 8)] for k in range(8))]
    files.write("other.csv", csv_text(other))
    said = files("meta", "--scores", "flat.csv", "other.csv", *QUICK)
    assert said.code == 0
    flat = " ".join(said.out.split())
    assert "flat: no two runs differ on any subset." in flat
    assert "All runs have the same flat." in flat
    assert "flat and other: all runs have the same flat." in flat
    data = files("meta", "--scores", "flat.csv", "other.csv", *QUICK, "-f", "json").data
    assert data["sensitivity"][0]["required"] is None
    assert all(point["ties"] == 1 for point in data["stability"][0]["curve"])
    assert (data["power"][0]["bootstrap"], data["power"][0]["tukey"]) == (0, 0)


def test_runs_over_different_questions(files: Here) -> None:
    lines = tables()["runs.csv"].splitlines(keepends=True)
    files.write("short.csv", "".join(lines[:-6]))
    said = " ".join(files("meta", "gold.csv", "short.csv", *QUICK).out.split())
    assert "6 responses of 1 run are missing (r4)" in said
    assert "6 missing → unanswered" in said
    counts = tables()["counts.csv"].splitlines(keepends=True)
    files.write("some.csv", "".join(counts[:-6]))
    said = " ".join(files("meta", "--counts", "some.csv", *QUICK).out.split())
    assert "6 of 24 questions were not asked of every run and are left out" in said


def test_matrices_that_differ(files: Here) -> None:
    files.write("m_ap.csv", "topic,a,b,c\nt1,0.1,0.2,0.3\nt2,0.4,0.1,\nt3,0.2,0.2,0.4\nt4,1,0,1\n")
    files.write("m_rr.csv", "topic,b,a\nt3,0.1,0.2\nt2,0.4,0.1\nt1,0.3,0.5\nt5,1,1\n")
    said = " ".join(files("meta", "--scores", "m_ap.csv", "m_rr.csv", *QUICK).out.split())
    assert "1 of 3 systems are not in every matrix" in said
    assert "2 of 5 topics are not in every matrix" in said
    data = files("meta", "--scores", "m_ap.csv", "m_rr.csv", *QUICK, "-f", "json").data
    assert data["measures"] == ["ap", "rr"]
    assert data["scores"]["rr"] == {"a": pytest.approx(0.8 / 3), "b": pytest.approx(0.8 / 3)}
    alone = " ".join(files("meta", "--scores", "m_ap.csv", *QUICK).out.split())
    assert "1 of 4 topics lack the score of some system and are left out" in alone
    assert "Agreement needs two measures" in alone
    files.write("bad.csv", "topic,a,b\nt1,0.1,0.2\nt2,much,0.1\n")
    assert (
        files.refuses("meta", "--scores", "bad.csv")
        == "bad.csv:3: the score of 'a' is 'much', expected a number"
    )
    files.write("long.csv", "a,b\n0.1,0.2\n0.3,0.1\n0.2,0.2\n")
    files.write("brief.csv", "a,b\n0.1,0.2\n0.3,0.1\n")
    said = files.refuses("meta", "--scores", "long.csv", "brief.csv")
    assert "different numbers of topics (long.csv 3, brief.csv 2)" in said


def test_parquet_matrices(files: Here) -> None:
    import polars as pl

    pl.DataFrame({"a": [0.1, 0.5, 0.3, 0.2], "b": [0.2, 0.1, 0.4, 0.9]}).write_parquet("m.parquet")
    data = files("meta", "--scores", "m.parquet", *QUICK, "-f", "json").data
    assert data["scores"]["m"] == {"a": pytest.approx(0.275), "b": pytest.approx(0.4)}
    frames = {"x": pl.read_parquet("m.parquet"), "y": pl.read_parquet("m.parquet") * 2}
    assert ab.meta_scores(frames, trials=5, resamples=5).agreement[0].tau_b == 1


def test_a_measure_undefined_on_some_subsets(files: Here) -> None:
    """A run that answers one question has no precision on subsets without it."""
    shy = "".join(f"shy,q{k:02},{'a' if k == 0 else ''}\n" for k in range(QUESTIONS))
    files.write("runs.csv", tables()["runs.csv"] + shy)
    said = files("meta", "gold.csv", "runs.csv", "-m", "precision", "-m", "c@1", *QUICK)
    text = " ".join(said.out.split())
    assert "precision did not exist for one of two runs in" in text.lower()
    assert "they are left out" in text
    data = files("meta", "gold.csv", "runs.csv", "-m", "precision", *QUICK, "-f", "json").data
    swap = data["sensitivity"][0]
    # Of 15 pairs 5 have the shy run, and one of two halves lacks its answer.
    assert swap["undefined"] == 5 * 20
    assert swap["comparisons"] == 10 * 20
    curve = data["stability"][0]
    assert 0 < curve["undefined"] < 100
    silent = "".join(f"silent,q{k:02},\n" for k in range(QUESTIONS))
    files.write("runs.csv", tables()["runs.csv"] + silent)
    said = files("meta", "gold.csv", "runs.csv", "-m", "precision", "-m", "c@1", *QUICK)
    assert "recision does not exist for silent, on all questions" in said.out


def test_several_samples_a_question(files: Here) -> None:
    """Counts above one: the weights do it, and scores are those of all counts together."""
    rng = random.Random(3)
    rows = [["run", "question", "right", "wrong", "unanswered"]]
    for run in "ab":
        for k in range(10):
            rows.append([run, f"q{k}", *(str(rng.randint(0, 3)) for _ in range(3))])
    files.write("many.csv", csv_text(rows))
    data = files("meta", "--counts", "many.csv", "-m", "accuracy", *QUICK, "-f", "json").data
    for run in "ab":
        own = [list(map(int, row[2:])) for row in rows[1:] if row[0] == run]
        expected = sum(row[0] for row in own) / sum(map(sum, own))
        assert data["scores"]["accuracy"][run] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--trials", "0"), "trials must be from 1 to 100,000"),
        (("--trials", "100001"), "trials must be from 1 to 100,000"),
        (("--confidence", "100"), "between 0 and 100"),
        (("--draws", "both"), "draws are paired or shared"),
        (("--only", "stabilty"), "there is no part 'stabilty' (nearest: stability)"),
        (("--fuzziness", "2"), "a fuzziness is a share"),
        (("--seed", "-1"), "the seed must be 0 or more"),
        (("--sizes", "13"), "from 1 to 12 (got 13)"),
        (("--bins", "1"), "bins must be from 2"),
        (("--width", "0"), "the width of a bin"),
        (("--difference", "0"), "the difference must be above 0"),
        (("--chart", "x.pdf"), "a chart's file ends in"),
        (("--scores", "--counts"), "exclude each other"),
        (("--scores", "-m", "c@1"), "-m has nothing to choose"),
        (("--grade", "x=wrong"), "--grade goes with --judged"),
    ],
)
def test_refusals(files: Here, args: tuple[str, ...], said: str) -> None:
    assert said in files.refuses("meta", "gold.csv", "runs.csv", *args)


def test_a_chart_that_cannot_be_drawn_costs_no_time(files: Here) -> None:
    assert "ends in" in files.refuses("meta", "gold.csv", "runs.csv", "--chart", "x")
    assert not Path("x").exists()


def test_a_bar_on_a_terminal() -> None:
    """The bar is for people: nothing of it reaches a pipe."""
    from abstain.cli.meta import _progress

    with _progress() as report:
        assert report is None


def test_a_hundred_thousand_trials(files: Here) -> None:
    said = files(
        *("meta", "gold.csv", "runs.csv", "-m", "c@1", "--only", "stability", "--draws", "shared"),
        *("--trials", "100000", "--fuzziness", "0.05", "-f", "json"),
    )
    curve = said.data["stability"][0]
    assert curve["comparisons"] == 10 * 100_000
    assert curve["curve"][0]["error_se"] < 0.001
