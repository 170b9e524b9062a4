"""The numbers and words of pages, where they were easy to get wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import polars as pl
import pytest

import abstain as ab
from tests.helpers import Here
from tests.report.saved import META, write_inputs
from tests.report.test_report import cells, data_of, lead
from tests.snapshots import says


@pytest.fixture
def inputs(here: Here) -> Here:
    write_inputs(here.folder)
    return here


def paged(here: Here, *command: str) -> str:
    """The page of what a command saves."""
    said = here(*command, "-o", "saved.json")
    assert said.code == 0, said.err
    return of_saved(here)


def of_saved(here: Here, **changed: Any) -> str:
    """The page of the saved result, with some of its fields replaced."""
    if changed:
        plain = json.loads((here.folder / "saved.json").read_text())
        here.write("saved.json", json.dumps(plain | changed))
    said = here("report", "saved.json", "-o", "saved.html")
    assert said.code == 0, said.err
    return (here.folder / "saved.html").read_text("utf-8")


def saved(here: Here, field: str) -> Any:
    return json.loads((here.folder / "saved.json").read_text())[field]


def caption(text: str, figure: str) -> str:
    found = re.search(rf'data-chart="{figure}">.*?<figcaption>(.*?)</figcaption>', text, re.S)
    assert found is not None, figure
    return unescape(found[1])


def test_a_score_below_zero_keeps_its_sign(here: Here) -> None:
    here.write("counts.csv", "run,right,wrong,unanswered\na,1,9,0\nb,2,8,0\n")
    text = paged(here, "score", "--counts", "counts.csv", "-m", "UF", "-m", "c@1")
    assert cells(text, "runs", "run") == ["b", "a"]
    assert cells(text, "runs", "UF") == pytest.approx([(2 - 8) / 10, (1 - 9) / 10])
    assert cells(text, "runs", "c@1") == pytest.approx([0.2, 0.1])
    assert "−0.6000" in text.partition("<script")[0]


def test_millions_are_whole_numbers(here: Here) -> None:
    counts = "run,right,wrong,unanswered\na,1234567,2345678,0\nb,2000000,1580243,2\n"
    here.write("counts.csv", counts)
    text = paged(here, "score", "--counts", "counts.csv")
    assert "2,000,000 right, 1,580,243 wrong, 2 blank" in lead(text)


def test_every_measure_of_a_stability_is_on_the_page(inputs: Here) -> None:
    names = ("c@1", "accuracy", "UF", "precision", "F", "coverage")
    chosen = [part for name in names for part in ("-m", name)]
    text = paged(inputs, "meta", "gold.csv", "runs.csv", *META, *chosen)
    tables = data_of(text)["tables"]
    heads = [c["name"] for t in tables.values() for c in t["columns"]]
    assert [head for head in heads if head.endswith(" error")] == [f"{n} error" for n in names]


def test_a_small_required_difference_is_not_rounded_away(inputs: Here) -> None:
    paged(inputs, "meta", "gold.csv", "runs.csv", *META)
    rows = saved(inputs, "sensitivity")
    row = rows[0]
    row |= {"width": 0.0005, "required": 0.0035, "sensitivity": 0.5}
    text = of_saved(inputs, sensitivity=rows)
    assert f"differ by 0.0035 in {row['measure']}" in lead(text)


def test_power_that_could_not_be_tested_has_a_page(inputs: Here) -> None:
    few = ("--subsets", "10", "--resamples", "10", "--draws", "shared")
    assert caption(paged(inputs, "meta", "gold.csv", "runs.csv", *few), "power")
    assert [row["bootstrap"] for row in saved(inputs, "power")] == [None] * 3


# --------------------------------------------------------------------------------- thresholds


def test_thresholds_say_what_the_terminal_says(here: Here) -> None:
    """0.99999 is not 1; what no threshold reaches is nothing, not none."""
    gold = ["question,correct", *(f"q{n},A" for n in range(4))]
    here.write("gold.csv", "\n".join(gold) + "\n")
    rows = ("q0,A,0.99999", "q1,A,0.5", "q2,B,0.25", "q3,B,")
    here.write("run.csv", "\n".join(["question,answer,confidence", *rows]) + "\n")
    text = paged(here, "curve", "gold.csv", "run.csv")
    shown = cells(text, "risk_points", "threshold")
    assert shown == ["nothing", 0.99999, 0.5, 0.25, "none"]
    terminal = here("curve", "gold.csv", "run.csv", "--show", "risk").out
    for word in ("nothing", "0.99999", "none"):
        assert re.search(rf"run +{word} ", terminal), word


def test_a_threshold_that_does_not_exist_is_undefined(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,A\nq2,A\n")
    here.write("run.csv", "run,question,answer,confidence\na,q1,A,0.5\na,q2,B,0.4\nb,q1,,\n")
    text = paged(here, "curve", "gold.csv", "run.csv")
    by_run = dict(
        zip(cells(text, "results", "run"), cells(text, "results", "threshold"), strict=True)
    )
    assert by_run == {"a": 0.5, "b": "–"}


def test_the_best_of_a_curve_may_be_its_lowest(here: Here) -> None:
    """Wrong where it is less sure: under-abstention is 0 at one of two, 1 at both."""
    here.write("gold.csv", "question,correct\nq1,A\nq2,A\n")
    here.write("run.csv", "question,answer,confidence\nq1,A,0.9\nq2,B,0.4\n")
    paged(here, "curve", "gold.csv", "run.csv", "-m", "under-abstention")
    (run,) = saved(here, "results")
    assert run["best"] == 0
    assert run["coverage"] in (0, 0.5)


# ---------------------------------------------------------------------------------- campaigns


def campaign(here: Here, *more: str) -> str:
    said = here("campaign", "gold.csv", "runs.csv", "-o", "overview", "--force", *more)
    assert said.code == 0, said.err
    assert "Warning" not in said.err
    return (here.folder / "overview" / "index.html").read_text("utf-8")


def test_a_campaign_writes_thresholds_as_words(here: Here) -> None:
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},A\n" for n in range(6)))
    sure = [f"a,q{n},A,{'' if n == 4 else 0.9 - n / 10}\n" for n in range(6)]
    silent = [f"b,q{n},B,0.{9 - n}\n" for n in range(6)]
    here.write("runs.csv", "".join(["run,question,answer,confidence\n", *sure, *silent]))
    text = campaign(here)
    shown = dict(
        zip(cells(text, "sureness", "run"), cells(text, "sureness", "threshold"), strict=True)
    )
    says(shown["a"])
    assert not {"nan", "inf"} & set(shown.values())


def test_a_topic_without_a_score_is_left_out_of_words(here: Here) -> None:
    """Precision does not exist where nothing is answered; by hand: law 1, music 1/2."""
    topics = ("art", "law", "music")
    gold = [f"q{n},A,{topics[n // 2]}\n" for n in range(6)]
    here.write("gold.csv", "".join(["question,correct,topic\n", *gold]))
    rows = [
        f"{run},q{n},{'' if n < 2 else 'B' if n == 5 else 'A'}\n" for run in "ab" for n in range(6)
    ]
    here.write("runs.csv", "".join(["run,question,answer\n", *rows]))
    text = campaign(here, "-m", "precision")
    drawn = data_of(text)["charts"]["topics"]["data"]["values"]
    assert {row["topic"]: row["mean"] for row in drawn if "mean" in row} == {
        "art": None,
        "law": 1.0,
        "music": 0.5,
    }


@pytest.mark.slow
def test_the_mean_that_is_drawn_is_that_of_all_runs(here: Here) -> None:
    """Of 301 runs one has nothing right: it counts in the mean."""
    here.write("gold.csv", "question,correct,topic\nq1,A,art\nq2,A,law\n")
    answers = [(f"r{n:03d}", "A") for n in range(300)] + [("z", "B")]
    rows = [f"{run},{q},{answer}\n" for run, answer in answers for q in ("q1", "q2")]
    here.write("runs.csv", "".join(["run,question,answer\n", *rows]))
    text = campaign(here, "-m", "accuracy")
    drawn = data_of(text)["charts"]["topics"]["data"]["values"]
    means = {row["topic"]: row["mean"] for row in drawn if "mean" in row}
    assert means == pytest.approx({"art": 300 / 301, "law": 300 / 301})
    assert len([row for row in drawn if "run" in row]) == 2 * 301


def test_ties_share_their_place_wherever_ranks_are_shown(here: Here) -> None:
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},A\n" for n in range(6)))
    rights = {"a": range(3), "b": range(3, 6), "c": range(1)}
    rows = [
        f"{run},q{n},{'A' if n in right else 'B'}\n"
        for run, right in rights.items()
        for n in range(6)
    ]
    here.write("runs.csv", "".join(["run,question,answer\n", *rows]))
    text = campaign(here)
    drawn = data_of(text)["charts"]["ranks"]["data"]["values"]
    assert [row["rank"] for row in drawn] == [1, 1, 3]
    assert all(row["low"] <= row["rank"] <= row["high"] for row in drawn)


def test_a_chart_passes_the_tests_that_the_table_passes(here: Here) -> None:
    """1 right and 2 blank of 12: (1 + 0.1·2)/12 is 0.1, in doubles a little less."""
    here.write("gold.csv", "question,correct,test\n" + "".join(f"q{n},A,t\n" for n in range(12)))
    rows = [f"a,q{n},{'A' if n < 1 else 'B' if n < 10 else ''}\n" for n in range(12)]
    here.write("runs.csv", "".join(["run,question,answer\n", *rows]))
    text = campaign(here, "-m", "credit(t=0.1)", "--pass-mark", "0.1")
    assert dict(
        zip(cells(text, "reading", "run"), cells(text, "reading", "tests passed"), strict=True)
    ) == {"a": 1}
    drawn = data_of(text)["charts"]["tests"]["data"]["values"]
    assert [row["passed"] for row in drawn] == ["passed"]
    says(caption(text, "tests"), "1")


# --------------------------------------------------------------------------------- comparisons


def test_a_tiny_p_is_not_zero(here: Here) -> None:
    """Forty questions that only one run has right: two-sided 2·2⁻⁴⁰."""
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},A\n" for n in range(40)))
    rows = [f"{run},q{n},{answer}\n" for run, answer in (("a", "A"), ("b", "B")) for n in range(40)]
    here.write("runs.csv", "".join(["run,question,answer\n", *rows]))
    text = paged(here, "compare", "gold.csv", "runs.csv", "--test", "mcnemar", "-m", "accuracy")
    assert saved(here, "pairs")[0]["p"] == pytest.approx(2 * 2**-40)
    assert cells(text, "pairs", "p") == ["<0.0001"]


@pytest.fixture
def silent(here: Here) -> Here:
    """Two runs, and a first one that answers nothing: it has no precision."""
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},A\n" for n in range(8)))
    answers = {"a": " " * 8, "b": "AAAABBBB", "c": "AAAAAABB"}
    rows = [
        f"{run},q{n},{one.strip()}\n" for run, own in answers.items() for n, one in enumerate(own)
    ]
    here.write("runs.csv", "".join(["run,question,answer\n", *rows]))
    return here


def test_a_pair_without_a_test_is_not_called_alike(silent: Here) -> None:
    text = paged(silent, "compare", "gold.csv", "runs.csv", "-m", "precision")
    pairs = zip(cells(text, "pairs", "run"), cells(text, "pairs", "against"), strict=True)
    told = dict(zip(map(frozenset, pairs), cells(text, "pairs", "verdict"), strict=True))
    assert told == {
        frozenset("ab"): "not tested",
        frozenset("ac"): "not tested",
        frozenset("bc"): "not told apart",
    }
    assert sorted(cells(text, "pairs", "p"))[-2:] == ["–", "–"]


def test_words_are_about_what_is_drawn(silent: Here) -> None:
    """Precision of c is 6/8, of b 4/8."""
    text = paged(silent, "compare", "gold.csv", "runs.csv", "-m", "precision")
    expected = "2 of 3 runs: precision from 0.500 to 0.750"
    assert caption(text, "scores").startswith(expected)


def test_what_unknown_responses_leave_open_is_on_the_page(here: Here) -> None:
    """Run b lacks two of four questions: accuracy from 1/4 to 3/4, and 1/4 where they are blank."""
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},A\n" for n in range(4)))
    rows = [*(f"a,q{n},A\n" for n in range(4)), "b,q0,A\n", "b,q1,B\n"]
    here.write("runs.csv", "".join(["run,question,answer\n", *rows]))
    text = paged(here, "compare", "gold.csv", "runs.csv", "-m", "accuracy")
    assert "2 responses are unknown" in unescape(text)
    assert cells(text, "runs", "run") == ["a", "b"]
    assert cells(text, "runs", "unknown") == [0, 2]
    assert cells(text, "runs", "worst") == [1.0, 0.25]
    assert cells(text, "runs", "best") == [1.0, 0.75]


def test_what_is_worst_depends_on_the_measure(here: Here) -> None:
    row = {"run": "a", "scores": {"over-abstention": 0.2}, "unknown": 2}
    row |= {"bounds": {"over-abstention": [0.1, 0.4]}}
    row |= {"corrected": {"over-abstention": 0.25}}
    row |= {"corrected_intervals": {"over-abstention": [0.2, 0.3]}}
    plain = {"abstain": "0.1.0", "kind": "compare", "measure": "over-abstention", "questions": 9}
    plain |= {"level": 0.95, "test": "randomisation", "correction": "holm", "trials": 10}
    plain |= {"questions_in_all": 9, "interval_method": "logit", "seed": 0}
    plain |= {"higher_is_better": False}
    row |= {"intervals": {"over-abstention": [0.1, 0.3]}}
    pair = {"run": "a", "against": "b", "difference": 0.0, "interval": [None, None], "p": 1.0}
    pair |= {"standard_error": None, "p_adjusted": 1.0, "exact": True, "questions": 9}
    pair |= {"differs": False}
    here.write(
        "saved.json",
        json.dumps(plain | {"results": [row, row | {"run": "b"}], "pairs": [pair]}),
    )
    text = of_saved(here)
    shown = {name: cells(text, "runs", name) for name in ("worst", "best", "corrected")}
    assert shown == {"worst": [0.4] * 2, "best": [0.1] * 2, "corrected": [0.25] * 2}
    ends = [cells(text, "runs", f"its {end}") for end in ("low", "high")]
    assert ends == [[0.2] * 2, [0.3] * 2]


# ---------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("kind", ["score", "rank"])
def test_results_without_scores_are_refused(here: Here, kind: str) -> None:
    saved: dict[str, Callable[[], ab.Result]] = {
        "score": lambda: ab.score(
            pl.DataFrame({"question": ["q"], "correct": ["A"]}),
            pl.DataFrame({"question": ["q"], "answer": ["A"]}),
        ),
        "rank": lambda: ab.rank({"q": {"d": 1}}, {"q": {"d": 1.0}}),
    }
    plain = saved[kind]().to_dict()
    for changed, said in (
        ({"results": []}, "has no results, expected at least one run"),
        ({"measures": []}, "has no measures, expected at least one"),
        ({"results": [plain["results"][0] | {"scores": {}}]}, "the scores or slices of result 1"),
    ):
        here.write("saved.json", json.dumps(plain | changed))
        line = here.refuses("report", "saved.json")
        says(line, "saved.json", f"{kind}", f"{said}")


@pytest.mark.slow
def test_a_leaderboard_with_text_for_a_count_is_refused(inputs: Here) -> None:
    campaign(inputs)
    plain = json.loads((inputs.folder / "overview" / "results.json").read_text())
    plain["results"][1]["counts"]["right"] = "many"
    inputs.write("saved.json", json.dumps(plain))
    line = inputs.refuses("report", "saved.json")
    says(line, "saved.json")
    assert "$.results[1].counts" in line


def test_a_curve_that_lacks_points_is_refused(inputs: Here) -> None:
    paged(inputs, "curve", "gold.csv", "runs.csv", "--show", "decision")
    whole = (inputs.folder / "saved.json").read_text()

    def refused(*place: str | int) -> str:
        plain = part = json.loads(whole)
        for name in place[:-1]:
            part = part[name]
        del part[place[-1]]
        inputs.write("saved.json", json.dumps(plain))
        return inputs.refuses("report", "saved.json")

    assert "is not a complete result" in refused("results", 0, "points", "right", 3)
    assert "missing required field `answers`" in refused("results", 0, "reliability", 1, "answers")
    assert "missing required field `t`" in refused("decision", "t")


def test_a_meta_evaluation_that_is_not_whole_is_refused(inputs: Here) -> None:
    paged(inputs, "meta", "gold.csv", "runs.csv", *META)
    plain = json.loads((inputs.folder / "saved.json").read_text())
    stability, required = plain["stability"], plain["required_by_questions"]
    flat = plain["sensitivity"][0] | {"width": 0}
    for changed in (
        {"stability": [stability[0], stability[1] | {"curve": []}]},
        {"required_by_questions": required[1:]},
        {"sensitivity": plain["sensitivity"][:1]},
        {"sensitivity": [flat, *plain["sensitivity"][1:]]},
    ):
        inputs.write("saved.json", json.dumps(plain | changed))
        assert "is not a complete result" in inputs.refuses("report", "saved.json")
