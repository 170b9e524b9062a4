"""`abstain meta`: the four ways in, the looks, and what is handled and said."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from tests.helpers import Here, csv_text
from tests.snapshots import says

RUNS, QUESTIONS = 5, 24
QUICK = ("--subsets", "20", "--resamples", "20")


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


@pytest.mark.parametrize("way", ["gold", "judged"])
def test_what_a_failed_response_is_must_be_said(files: Here, way: str) -> None:
    """As everywhere: it is never left out in silence."""
    files.write("failed.csv", "run,question,answer,why\nr9,q00,,error\n")
    files.write("failed-judged.csv", "run,question,grade\nr9,q00,error\nr8,q00,right\n")
    given = {
        "gold": ("gold.csv", "runs.csv", "failed.csv"),
        "judged": ("--judged", "failed-judged.csv"),
    }[way]
    line = files.refuses("meta", *given, "--part", "agreement")
    says(line, "1", "'r9'")
    said = files("meta", *given, "--part", "agreement", "--policy", "error=wrong")
    assert said.code == 0, said
    assert "1 error → wrong" in " ".join(said.out.split())


def test_all_ways_in_say_the_same(files: Here) -> None:
    ways = [("gold.csv", "runs.csv"), ("--judged", "grades.csv"), ("--counts", "counts.csv")]
    said = [files("meta", *way, *QUICK, "--format", "json") for way in ways]
    assert [s.code for s in said] == [0, 0, 0], said
    parts = ("stability", "sensitivity", "power", "agreement", "scores", "required_by_questions")
    data = [{name: s.data[name] for name in parts} for s in said]
    assert data[0] == data[1] == data[2]
    counted = [s.data["scores"]["accuracy"] for s in said]
    ready = files("meta", "--scores", "scores.csv", *QUICK, "--format", "json").data
    assert ready["scores"]["scores"] == pytest.approx(counted[0])


def test_json_csv_and_the_python_result_agree(files: Here) -> None:
    result = ab.meta("gold.csv", "runs.csv", subsets=20, resamples=20)
    data = files("meta", "gold.csv", "runs.csv", *QUICK, "--format", "json").data
    says(data.pop("command"), "gold.csv", "runs.csv", f"{' '.join(QUICK)}")
    assert data == json.loads(result.to_json())
    assert data["seed"] == 0
    assert data["size"] == QUESTIONS // 2
    text = files("meta", "gold.csv", "runs.csv", *QUICK, "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    frame = result.to_frame()
    assert len(rows) == frame.height
    for row, own in zip(rows, frame.iter_rows(named=True), strict=True):
        assert row["quantity"] == own["quantity"]
        assert (float(row["value"]) if row["value"] else None) == own["value"]


def leaves(data: Any) -> Iterator[float]:
    """Every number in plain data."""
    if isinstance(data, dict):
        data = data.values()
    elif isinstance(data, (int, float)):
        yield float(data)
    if not isinstance(data, (str, int, float)) and data is not None:
        for item in data:
            yield from leaves(item)


def test_the_table_has_every_number_of_the_plain_data(files: Here) -> None:
    result = ab.meta("gold.csv", "runs.csv", subsets=60, resamples=60)
    frame, data = result.to_frame(), result.to_dict()
    tables = {
        "scores": ["scores"],
        "stability": ["stability"],
        "sensitivity": ["sensitivity", "swap rates"],
        "required_by_questions": ["required by questions"],
        "questions_needed": ["questions needed"],
        "power": ["power", "asl"],
        "agreement": ["agreement"],
    }
    for name, parts in tables.items():
        own = frame.filter(frame["part"].is_in(parts))
        listed = {*own["value"].drop_nulls(), *own["at"].drop_nulls()}
        assert not set(leaves(data.get(name, []))) - listed, name
    found = {
        (row["measure"], row["quantity"]): row["value"]
        for row in frame.filter(frame["part"] == "sensitivity").iter_rows(named=True)
    }
    for row in data["sensitivity"]:
        low, high = row["required_range"]
        assert found[row["measure"], "required_low"] == low
        assert found[row["measure"], "required_high"] == high
        assert found[row["measure"], "tied_elsewhere"] == row["tied_elsewhere"]
    for item in data["power"]:
        levels = frame.filter((frame["part"] == "asl") & (frame["measure"] == item["measure"]))
        assert levels["value"].to_list() == list(item["asl"])
        assert levels["at"].to_list() == list(range(1, 11))  # the pairs of five runs
    errors = frame.filter(frame["quantity"] == "se")["value"].to_list()
    assert errors == [own["se"] for row in data["sensitivity"] for own in row["bins"]]


def test_tables_of_many_measures_stay_within_80_columns(files: Here) -> None:
    names = ["ap", "err20", "ndcg20", "p10", "p20", "a_measure_with_a_longer_name"]
    for k, name in enumerate(names):
        files.write(f"{name}.csv", matrix(seed=k))
    paths = [f"{name}.csv" for name in names]
    out = files("meta", "--scores", *paths, *QUICK).out
    part = out[: out.index("Sensitivity")]
    assert max(map(len, part.splitlines())) <= 80
    for name in names:
        assert part.count(f"{name} error") == 1
    assert (part.count("fuzziness"), part.count("Stability")) == (3, 1)
    assert part.count("20 subsets of") == 1


@pytest.mark.slow
def test_parts_looks_and_the_seed(files: Here) -> None:
    whole = files("meta", "gold.csv", "runs.csv", *QUICK).out
    for title in ("Stability", "Sensitivity", "by the number of questions", "Power", "Agreement"):
        assert title in whole
    assert "seed 0" in whole
    assert whole == files("meta", "gold.csv", "runs.csv", *QUICK, "--threads", "3").out
    assert whole != files("meta", "gold.csv", "runs.csv", *QUICK, "--seed", "1").out
    part = files("meta", "gold.csv", "runs.csv", *QUICK, "--part", "agreement").out
    assert "Stability" not in part
    assert "Kendall" in part
    markdown = files("meta", "gold.csv", "runs.csv", *QUICK, "--format", "markdown").out
    assert markdown.count("**") == 10
    latex = files("meta", "gold.csv", "runs.csv", *QUICK, "-o", "out.tex")
    assert latex.out == ""
    text = (files.folder / "out.tex").read_text()
    assert text.count("\\begin{tabular}") == 5
    assert "% Stability: how often another sample reverses two runs, in percent\n" in text
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert r"$\pm$" in body
    says(body)
    assert body.isascii()


@pytest.mark.slow
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
    says(said, "2", "1")
    files.write("narrow.csv", "topic,a\nt1,0.5\nt2,0.7\n")
    says(files.refuses("meta", "--scores", "narrow.csv"), "narrow.csv", "1", "2")


def test_subsets_larger_than_half(files: Here) -> None:
    said = files.refuses("meta", "gold.csv", "runs.csv", "--size", "13")
    assert "from 1 to 12" in said
    alone = files("meta", "gold.csv", "runs.csv", "--size", "13", "--part", "stability")
    assert alone.code == 0
    assert "subsets of 13 of 24 questions" in alone.out
    too_large = files.refuses("meta", "gold.csv", "runs.csv", "--size", "25", "--part", "stability")
    assert "from 1 to 24 (got 25)" in too_large


def test_constant_scores(files: Here) -> None:
    rows = [["topic", "a", "b", "c"], *([f"t{k}", "0.5", "0.5", "0.5"] for k in range(40))]
    files.write("flat.csv", csv_text(rows))
    other = [["topic", "a", "b", "c"], *([f"t{k}", "0.5", "0.1", str(k / 40)] for k in range(40))]
    files.write("other.csv", csv_text(other))
    said = files("meta", "--scores", "flat.csv", "other.csv", *QUICK)
    assert said.code == 0
    flat = " ".join(said.out.split())
    says(flat)
    data = files("meta", "--scores", "flat.csv", "other.csv", *QUICK, "-f", "json").data
    assert data["sensitivity"][0]["required"] is None
    assert all(point["ties"] == 1 for point in data["stability"][0]["curve"])
    assert (data["power"][0]["bootstrap"], data["power"][0]["tukey"]) == (0, 0)


def test_runs_over_different_questions(files: Here) -> None:
    lines = tables()["runs.csv"].splitlines(keepends=True)
    files.write("short.csv", "".join(lines[:-6]))
    said = " ".join(files("meta", "gold.csv", "short.csv", *QUICK).out.split())
    says(said, "6", "1")
    assert "6 missing → unanswered" in said
    counts = tables()["counts.csv"].splitlines(keepends=True)
    files.write("some.csv", "".join(counts[:-6]))
    said = " ".join(files("meta", "--counts", "some.csv", *QUICK).out.split())
    says(said, "6", "24")


def test_matrices_that_differ(files: Here) -> None:
    files.write("m_ap.csv", "topic,a,b,c\nt1,0.1,0.2,0.3\nt2,0.4,0.1,\nt3,0.2,0.2,0.4\nt4,1,0,1\n")
    files.write("m_rr.csv", "topic,b,a\nt3,0.1,0.2\nt2,0.4,0.1\nt1,0.3,0.5\nt5,1,1\n")
    said = " ".join(files("meta", "--scores", "m_ap.csv", "m_rr.csv", *QUICK).out.split())
    says(said, "1", "3", "2", "5")
    data = files("meta", "--scores", "m_ap.csv", "m_rr.csv", *QUICK, "-f", "json").data
    assert data["measures"] == ["m_ap", "m_rr"]
    assert data["scores"]["m_rr"] == {"a": pytest.approx(0.8 / 3), "b": pytest.approx(0.8 / 3)}
    alone = " ".join(files("meta", "--scores", "m_ap.csv", *QUICK).out.split())
    says(alone, "1", "4")
    files.write("bad.csv", "topic,a,b\nt1,0.1,0.2\nt2,much,0.1\n")
    says(files.refuses("meta", "--scores", "bad.csv"), "bad.csv:3", "'a'", "'much'")
    files.write("long.csv", "a,b\n0.1,0.2\n0.3,0.1\n0.2,0.2\n")
    files.write("brief.csv", "a,b\n0.1,0.2\n0.3,0.1\n")
    data = files("meta", "--scores", "long.csv", "brief.csv", *QUICK, "-f", "json").data
    says(data["notes"], "1", "3")


def test_parquet_matrices(files: Here) -> None:
    import polars as pl

    pl.DataFrame({"a": [0.1, 0.5, 0.3, 0.2], "b": [0.2, 0.1, 0.4, 0.9]}).write_parquet("m.parquet")
    data = files("meta", "--scores", "m.parquet", *QUICK, "-f", "json").data
    assert data["scores"]["m"] == {"a": pytest.approx(0.275), "b": pytest.approx(0.4)}
    frames = {"x": pl.read_parquet("m.parquet"), "y": pl.read_parquet("m.parquet") * 2}
    assert ab.read_scores(frames).meta(subsets=5, resamples=5).agreement[0].tau_b == 1


def test_a_measure_undefined_on_some_subsets(files: Here) -> None:
    """A run that answers one question has no precision on subsets without it."""
    shy = "".join(f"shy,q{k:02},{'a' if k == 0 else ''}\n" for k in range(QUESTIONS))
    files.write("runs.csv", tables()["runs.csv"] + shy)
    said = files("meta", "gold.csv", "runs.csv", "-m", "precision", "-m", "c@1", *QUICK)
    text = " ".join(said.out.split())
    says(text.lower())
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
    says(" ".join(said.out.split()))


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--subsets", "0"), ("1", "100,000")),
        (("--subsets", "100001"), ("1", "100,000")),
        (("--level", "1"), ("0", "1")),
        (("--draws", "both"), ()),
        (("--part", "stabilty"), ("'stabilty'",)),
        (("--fuzziness", "2"), ()),
        (("--seed", "-1"), ("'--seed'", "-1")),
        (("--sizes", "13"), ("1", "12", "13")),
        (("--size", "0"), ("1", "12", "0")),
        (("--size", "-3"), ("1", "12", "-3")),
        (("--size", "0", "--part", "stability"), ("1", "24", "0")),
        (("--bins", "1"), ("2",)),
        (("--width", "0"), ()),
        (("--difference", "0"), ("0",)),
        (("--chart", "x.pdf"), ()),
        (("--scores", "--counts"), ()),
        (("--grade", "x=wrong"), ("--grade", "--judged")),
        (("--scores", "--align", "position"), ("--align",)),
        (("--scores", "--match", "text"), ("--match",)),
        (("--judged", "--match", "text"), ("--match",)),
        (("--judged", "--align", "position"), ("--align",)),
    ],
)
def test_refusals(files: Here, args: tuple[str, ...], said: tuple[str, ...]) -> None:
    says(files.refuses("meta", "gold.csv", "runs.csv", *args), *said)


@pytest.mark.parametrize("option", ["-o", "--chart"])
def test_a_folder_that_is_not_there_costs_no_time(
    files: Here, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ab.Evaluation, "meta", None)  # calling it would be another error
    said = files.refuses("meta", "gold.csv", "runs.csv", option, "nowhere/x.json")
    says(said, "nowhere/x.json")
    (files.folder / "folder.json").mkdir()
    said = files.refuses("meta", "gold.csv", "runs.csv", option, "folder.json")
    says(said, "folder.json")


def test_the_result_and_its_chart_are_two_files(files: Here) -> None:
    said = files.refuses("meta", "gold.csv", "runs.csv", "-o", "x.json", "--chart", "x.json")
    says(said, "--chart", "x.json")


def test_a_chart_that_cannot_be_drawn_costs_no_time(files: Here) -> None:
    assert "ends in" in files.refuses("meta", "gold.csv", "runs.csv", "--chart", "x.txt")
    assert not Path("x.txt").exists()


def test_progress_is_told_in_percent(files: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    @contextmanager
    def working(_: str) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: told.append((done, total))

    monkeypatch.setattr(import_module("abstain.features.meta.command"), "working", working)
    files("meta", "gold.csv", "runs.csv", "--part", "stability")
    assert told
    assert told[-1] == (100, 100)


def test_a_hundred_thousand_trials(files: Here) -> None:
    said = files(
        *("meta", "gold.csv", "runs.csv", "-m", "c@1", "--part", "stability", "--draws", "shared"),
        *("--subsets", "100000", "--fuzziness", "0.05", "-f", "json"),
    )
    curve = said.data["stability"][0]
    assert curve["comparisons"] == 10 * 100_000
    assert curve["curve"][0]["error_se"] < 0.001


# ----------------------------------------------------------------- one difference, any scale


def matrix(scale: float = 1, runs: int = 8, topics: int = 40, seed: int = 1) -> str:
    """Systems of rising ability over topics, in any unit."""
    rng = random.Random(seed)
    rows = [["topic", *(f"s{k}" for k in range(runs))]]
    for q in range(topics):
        drawn = [min(1, max(0, rng.gauss(0.3 + 0.05 * k, 0.25))) for k in range(runs)]
        rows.append([f"t{q}", *(repr(round(v, 3) * scale) for v in drawn)])
    return csv_text(rows)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "width"), [(100, 1), (1e-6, 1e-8), (1e100, 1e98), (10, 0.1)])
def test_bins_follow_the_scale_of_the_scores(files: Here, scale: float, width: float) -> None:
    files.write("share.csv", matrix())
    files.write("other.csv", matrix(scale))
    said = files("meta", "--scores", "share.csv", "other.csv", *QUICK)
    assert (said.code, said.err) == (0, "")
    text = " ".join(said.out.split())
    says(text, f"{scale:g}", f"{width:g}")
    assert "share spans" not in text
    data = files("meta", "--scores", "share.csv", "other.csv", *QUICK, "-f", "json").data
    share, other = data["sensitivity"]
    assert (share["width"], other["width"]) == (0.01, pytest.approx(width))
    assert other["required"] == pytest.approx(share["required"] * scale)
    assert other["sensitivity"] == share["sensitivity"]
    says(text, f"{5 * width:g}")
    needed = {own["measure"]: own for own in data["questions_needed"]}
    assert needed["other"]["difference"] == pytest.approx(5 * width)
    assert needed["other"]["questions"] == needed["share"]["questions"]
    assert data["power"][0]["bootstrap"] == data["power"][1]["bootstrap"]
    wide = files("meta", "--scores", "other.csv", *QUICK, "--width", str(2 * width), "-f", "json")
    assert wide.data["sensitivity"][0]["width"] == 2 * width


def test_scores_beyond_all_bounds_are_refused(files: Here) -> None:
    files.write("big.csv", "topic,a,b\nt1,1,2\nt2,1e308,-1e308\n")
    says(files.refuses("meta", "--scores", "big.csv"), "big.csv:3", "'a'", "'1e308'", "100")


def test_table_curve_and_advice_name_one_difference(files: Here) -> None:
    """Few questions: what is required lies beyond the 21 bins, and everything says so."""
    files.write("m.csv", matrix(topics=32))
    how = ("meta", "--scores", "m.csv", "--subsets", "200", "--part", "sensitivity")
    data = files(*how, "-f", "json").data
    (row,) = data["sensitivity"]
    assert row["required"] > 0.2
    assert len(row["bins"]) == 21
    curve = {p["questions"]: p["required"] for p in data["required_by_questions"]}
    assert curve[16] == row["required"]
    text = " ".join(files(*how).out.split())
    says(text, f"{row['required']:g}")
    assert f"m {row['required']:.2f} " in text
    assert "beyond the 21 listed bins" in text
    more = files(*how, "--bins", "101", "-f", "json").data["sensitivity"][0]
    names = ("required", "required_range", "sensitivity", "relative")
    assert [more[n] for n in names] == [row[n] for n in names]
    assert more["within_bins"] == more["required"]


def test_many_ties_make_no_difference_enough(files: Here) -> None:
    """One topic of 40 tells two systems from the rest: no subset confirms what another shows."""
    rows = [["topic", *"abcdef"]]
    rows += [
        [f"t{q}", *("1" if q == 3 and s in "ab" else "0" for s in "abcdef")] for q in range(40)
    ]
    files.write("ties.csv", csv_text(rows))
    how = ("meta", "--scores", "ties.csv", "--part", "sensitivity", *QUICK)
    text = " ".join(files(*how).out.split())
    says(text, "0", "300", "20")
    (row,) = files(*how, "-f", "json").data["sensitivity"]
    assert (row["required"], row["sensitivity"]) == (None, None)


def test_agreement_alone(files: Here) -> None:
    """It takes two measures and one question, and says what is missing in the user's terms."""
    for name in ("one.csv", "other.csv"):
        files.write(name, "topic,a,b,c\nt1,0.1,0.2,0.3\n")
    alone = ("--part", "agreement")
    found = files("meta", "--scores", "one.csv", "other.csv", *alone, "-f", "json")
    assert found.data["agreement"][0]["tau_b"] == 1
    says(files.refuses("meta", "--scores", "one.csv", *alone))
    says(files.refuses("meta", "gold.csv", "runs.csv", "-m", "c@1", *alone))
    assert "at least 2 questions (got 1)" in files.refuses("meta", "--scores", "one.csv")


def test_agreement_says_how_many_runs_have_both_scores(files: Here) -> None:
    silent = "".join(f"silent,q{k:02},\n" for k in range(QUESTIONS))
    files.write("runs.csv", tables()["runs.csv"] + silent)
    asked = ("meta", "gold.csv", "runs.csv", "--part", "agreement")
    said = files(*asked, "-m", "precision", "-m", "c@1").out
    says(said, "5")
    said = files(*asked, "-m", "precision", "-m", "c@1", "-m", "accuracy").out
    says(said)
    rows = [line.split()[:3] for line in said.splitlines()[4:7]]
    assert rows == [
        ["precision", "c@1", "5"],
        ["precision", "accuracy", "5"],
        ["c@1", "accuracy", "6"],
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ()),
        (b"topic,a,b\n", ()),
        (b"topic,a,b\nt1,1,0\nt2,1,0\nt1,0,1\n", ("4", "'t1'")),
        (b"topic,a,a\nt1,1,0\nt2,1,0\n", ("1", "'a'")),
        (b"topic\nt1\nt2\n", ()),
        (b"topic,a,b\nt1,,1\nt2,nan,0\n", ()),
        (b"topic,a,b\nt1,inf,1\nt2,1,0\n", ("2", "'a'", "'inf'")),
        (b"topic,a,b\nt1,1\nt2,1,0\n", ("2", "3")),
    ],
)
def test_hostile_matrices(files: Here, content: bytes, said: tuple[str, ...]) -> None:
    files.write("m.csv", content)
    says(files.refuses("meta", "--scores", "m.csv"), "m.csv", *said)


def test_marks_and_line_ends_of_other_systems(files: Here) -> None:
    plain = matrix()
    files.write("plain.csv", plain)
    files.write("windows.csv", b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    found = [
        files("meta", "--scores", name, *QUICK, "-f", "json").data["sensitivity"][0]
        for name in ("plain.csv", "windows.csv")
    ]
    for row in found:
        row.pop("measure")
    assert found[0] == found[1]


def test_measures_of_something_else_are_refused(files: Here) -> None:
    said = files.refuses("meta", "--judged", "grades.csv", "-m", "AURC")
    says(said)


def test_counts_of_a_question_given_twice_name_it(files: Here) -> None:
    rows = "run,question,right,wrong,unanswered\na,q1,1,0,0\na,q2,1,0,0\na,q1,0,1,0\n"
    files.write("twice.csv", rows)
    said = files.refuses("meta", "--counts", "twice.csv")
    says(said, "twice.csv:4", "'a'", "'q1'", "twice.csv:2")
