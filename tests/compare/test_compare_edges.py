"""Where comparisons meet odd numbers: any scale, no value, and plans that cannot be."""

from __future__ import annotations

import io
import math
import re
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import UsageError
from abstain.outcomes import Counts
from abstain.report.grid import Column, Grid
from abstain.report.terminal import print_grid
from abstain.stats.intervals import interval
from abstain.stats.planning import plan
from tests.compare.asked import judged, scores, told
from tests.compare.test_words import graded
from tests.helpers import Here
from tests.snapshots import refuses, says

# ------------------------------------------------------------------------------------------- scale

TENTHS = ([8, 5, 9, 3, 7, 6, 2, 8, 4, 5], [6, 7, 11, 1, 8, 9, 2, 7, 5, 9])


def by_every_sign(first: list[int], second: list[int]) -> float:
    """The randomisation p of whole numbers, sign by sign."""
    own = [a - b for a, b in zip(first, second, strict=True)]
    sums = [abs(sum(s * d for s, d in zip(signs, own, strict=True))) for signs in _signs(len(own))]
    return float(Fraction(sum(x >= abs(sum(own)) for x in sums), len(sums)))


def _signs(size: int) -> Any:
    return product((1, -1), repeat=size)


@pytest.mark.parametrize("scale", [1e-14, 0.1, 1.0, 1e6 / 3, 1e10 / 7])
def test_p_of_scores_does_not_depend_on_their_scale(scale: float) -> None:
    first, second = TENTHS
    table = pl.DataFrame(
        {
            "topic": range(len(first)),
            "a": [x * scale for x in first],
            "b": [x * scale for x in second],
        }
    )
    expected = by_every_sign(first, second)
    (pair,) = scores(table, test="randomisation").pairs
    assert pair.p == pytest.approx(expected, abs=1e-12)
    (pair,) = scores(table, against="a", test="randomisation").pairs
    assert pair.p_adjusted == pytest.approx(expected, abs=1e-12)


def test_bca_of_scores_scales_with_them() -> None:
    first, second = TENTHS
    spans = []
    for scale in (2.0**-45, 1.0):
        own = {
            "a": [x**2 / 7 * scale for x in first],
            "b": [x**3 / 11 * scale for x in second],
        }
        (pair,) = scores(pl.DataFrame({"topic": range(len(first)), **own})).pairs
        spans.append(np.array([pair.interval[0], pair.interval[1]]) / scale)
    assert spans[0] == pytest.approx(spans[1], rel=1e-9)


# ----------------------------------------------------------------------------- what has no value


def test_a_difference_that_is_undefined_comes_from_nowhere(here: Here) -> None:
    frame = graded({"one": "aab-", "two": "----"}, topic=list("xxyy"))
    found = judged(frame, measure="precision", by=["topic"])
    assert "knowing" not in told(found)
    plain = found.to_dict()["origin"]
    assert plain["knowing"] is None
    assert plain["abstaining"] is None
    assert plain["contributions"] == {}
    assert {move["worth"] for move in plain["transitions"].values()} == {None}
    assert plain["transitions"]["right → blank"]["questions"] == 2
    assert {part["contribution"] for part in plain["slices"]} == {None}
    frame.write_csv(here.folder / "graded.csv")
    said = here("compare", "--judged", "graded.csv", "-m", "precision").out
    assert "Where it comes from" not in said
    assert "+nan" not in said


@pytest.mark.parametrize("reference", [None, "none"])
def test_where_nothing_was_tested_nothing_is_said_to_be_alike(reference: str | None) -> None:
    runs = {"one": "aab-", "none": "----", "nil": "----"}
    said = told(judged(graded(runs), measure="precision", against=reference))
    says(said)
    assert "told apart" not in said
    assert "separated" not in said


def test_only_the_comparisons_that_were_made_are_counted() -> None:
    runs = {"one": "aab-", "two": "abb-", "none": "----"}
    compared = judged(graded(runs), measure="precision", against="one")
    assert sum(pair.differs is not None for pair in compared.pairs) == 1


# ------------------------------------------------------------------------------------------- plans

PAIR = graded({"one": "aabbab-bab" * 3, "two": "abbabb-aab" * 3})


@pytest.mark.parametrize("power", [0.01, 0.05])
def test_a_power_that_chance_has_is_refused(power: float) -> None:
    with refuses(UsageError, "0.05"):
        judged(PAIR, power=power)


@pytest.mark.parametrize("detect", [1.5, math.inf, math.nan, -0.1])
def test_a_difference_out_of_range_is_refused(detect: float) -> None:
    with refuses(UsageError, "0", "1"):
        judged(PAIR, measure="accuracy", detect=detect)


@pytest.mark.slow
@pytest.mark.parametrize("questions", [6, 60, 1000, 2000])
def test_the_power_for_a_large_difference_is_a_number(questions: int) -> None:
    """It grows with the difference, and at twelve standard errors nothing is missed."""
    plans = [plan(0.02, questions, detect=0.02 * size) for size in np.linspace(0.1, 40, 400)]
    powers = np.array([p.power for p in plans if p is not None], float)
    assert len(powers) == 400
    assert powers.min() > 0.05
    assert np.all(np.diff(powers) > -1e-9)
    assert powers[120:] == pytest.approx(np.ones(280), abs=1e-6)


def test_a_plan_takes_no_fewer_questions_than_can_show_anything() -> None:
    """At 5 % that is six, 2/2⁶ being the first below; and six clusters, of three questions each."""
    runs = {"one": "aabbab-bab" * 3, "two": "abbabb-aab" * 3}
    clustered = graded(runs, document=[f"d{i // 3}" for i in range(30)])
    for cluster, least in ((None, 6), ("document", 18)):
        found = judged(clustered, detect=1.0, power=0.06, cluster=cluster).plan
        assert found is not None
        assert found.needed == least


def test_a_test_set_that_shows_nothing_shows_no_difference_with_power() -> None:
    table = pl.DataFrame({"topic": [1, 2, 3], "a": [0.1, 0.2, 0.3], "b": [0.3, 0.7, 0.5]})
    found = scores(table, test="randomisation", detect=0.4)
    says(told(found), "5 %")
    assert "This test set could detect" not in told(found)
    says(told(found), "0 %", "0.4", "80 %")
    assert found.to_dict()["plan"]["visible"] is None


def test_scores_may_be_planned_for_any_finite_difference() -> None:
    table = pl.DataFrame({"topic": range(9), "a": range(9), "b": [3, 1, 4, 1, 5, 9, 2, 6, 5]})
    found = scores(table, detect=5.0).plan
    assert found is not None
    assert found.detect == 5.0
    with refuses(UsageError, "0"):
        scores(table, detect=math.inf)


@pytest.mark.parametrize("detect", [1e-200, 1e-9])
def test_a_difference_too_small_to_plan_for_is_refused(here: Here, detect: float) -> None:
    PAIR.write_csv(here.folder / "graded.csv")
    said = here("compare", "--judged", "graded.csv", "--detect", str(detect))
    assert said.code == 2
    says(said.line, f"{detect:g}")


# --------------------------------------------------------------------------- what goes in, strictly


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("true,right,wrong\nright,9,1\nwrong,0.5,9\n", ("3", "'0.5'")),
        ("true,right,wrong\nright,9,1\nwrong,-1,9\n", ("3", "'-1'")),
        ("true,right,wrong\nright,9,1\nmaybe,1,9\n", ("3", "'maybe'")),
        (
            "true,right,wrong\nright,9,1\nwrong,1,9\nright,1,1\n",
            ("4",),
        ),
        (
            "true,judged,count\nright,right,9\nwrong,wrong,9\ncorrect,right,1\n",
            ("4",),
        ),
    ],
)
def test_a_judges_table_holds_each_count_once(
    here: Here, table: str, said: tuple[str, ...]
) -> None:
    PAIR.write_csv(here.folder / "graded.csv")
    here.write("judge.csv", table)
    found = here.refuses("compare", "--judged", "graded.csv", "--judge-error", "judge.csv")
    says(found, "judge.csv", *said)


def test_scores_too_large_to_square_are_refused(here: Here) -> None:
    here.write("s.csv", "topic,a,b\n1,0.5,0.25\n2,1e308,-1e308\n3,0.5,1\n")
    found = here.refuses("compare", "--scores", "s.csv")
    says(found, "s.csv:3", "'a'", "'1e308'", "100")


@pytest.mark.parametrize("option", ["--level", "--seed"])
def test_what_only_intervals_take_is_not_ignored(here: Here, option: str) -> None:
    PAIR.write_csv(here.folder / "graded.csv")
    value = {"--level": "0.9", "--seed": "3"}[option]
    assert here.refuses("score", "--judged", "graded.csv", option, value) == (
        f"{option} needs --interval"
    )
    assert here("score", "--judged", "graded.csv", "--interval", option, value).code == 0


def test_a_misspelt_method_is_no_file(here: Here) -> None:
    PAIR.write_csv(here.folder / "jeffrey")
    PAIR.write_csv(here.folder / "graded.csv")
    said = here.refuses("score", "--judged", "graded.csv", "--interval", "willson")
    says(said, "'willson'")
    says(here.refuses("score", "--judged", "--interval", "absent.csv"), "absent.csv")
    assert here("score", "--judged", "--from", "csv", "--interval", "jeffrey").code == 0


def test_a_method_of_proportions_names_some(here: Here) -> None:
    PAIR.write_csv(here.folder / "graded.csv")
    said = here.refuses("score", "--judged", "graded.csv", "--interval", "wilson")
    says(said, "1")
    assert (
        here("score", "--judged", "graded.csv", "--interval", "wilson", "-m", "accuracy").code == 0
    )


# ------------------------------------------------------------------------------- how it was found


def test_trials_are_told_of_what_they_were_drawn_for() -> None:
    runs = {"one": "aabbab-bab" * 3, "two": "abbabb-aab" * 3, "three": "abbb-b-aab" * 3}
    said = told(judged(graded(runs), interval="bca", resamples=200, seed=4))
    says(said, "200", "4")
    said = told(judged(graded(runs), interval="jeffreys", resamples=200))
    says(said, "20,000", "0")
    said = told(judged(graded(runs), against="one", resamples=200))
    says(said)
    more = {name: letters * 2 for name, letters in runs.items()}
    said = told(judged(graded(more), test="bootstrap", resamples=200))
    assert "(beta). Test: paired bootstrap; 200 resamples, seed 0." in said


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_bootstrap_without_width_says_so(here: Here, method: str) -> None:
    table = pl.DataFrame({"topic": range(6), "a": [0.1] * 6, "b": [0.3] * 6, "c": range(6)})
    said = told(scores(table, interval=method))
    says(said, "3")
    assert "no width" not in told(scores(table, interval="delta"))
    here.write("graded.csv", graded({"one": "b" + "-" * 9}).write_csv())
    said = here("score", "--judged", "graded.csv", "-m", "precision", "--interval", method).out
    why = "almost all resamples are the same, so a bootstrap interval has no width"
    assert f"1 interval: {why}." in " ".join(said.split())


@pytest.mark.parametrize("right", [1, 30, 69])
def test_jeffreys_of_accuracy_as_statsmodels(right: int) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    counts = Counts(right=right, wrong=70 - right, unanswered_empty=30)
    found = interval(ab.measure("accuracy"), counts, method="jeffreys", seed=1)
    theirs = proportion.proportion_confint(right, 100, method="jeffreys")
    assert (found.low, found.high) == pytest.approx(theirs, abs=1e-9)
    assert found == interval(ab.measure("accuracy"), counts, method="jeffreys", seed=2)


def test_jeffreys_holds_the_score_at_the_ends() -> None:
    none = interval(ab.measure("accuracy"), Counts(wrong=20), method="jeffreys")
    every = interval(ab.measure("accuracy"), Counts(right=20), method="jeffreys")
    assert none.low == 0
    assert every.high == 1
    assert (1 - every.low, 1 - every.high) == pytest.approx((none.high, none.low), abs=1e-12)


def test_jeffreys_of_clusters_is_wider() -> None:
    table = np.array([[10.0, 0, 0, 0, 0, 0], [0, 10, 0, 0, 0, 0]] * 4)
    whole = interval(ab.measure("accuracy"), table.sum(axis=0), method="jeffreys")
    parts = interval(ab.measure("accuracy"), table.sum(axis=0), clusters=table, method="jeffreys")
    assert parts.high - parts.low > 2 * (whole.high - whole.low)


# ---------------------------------------------------------------------------------- how it is shown


def test_too_few_decimals_are_said(here: Here) -> None:
    here.write("graded.csv", graded({"one": "a" * 40, "two": "a" * 30 + "b" * 10}).write_csv())
    command = ("compare", "--judged", "graded.csv", "-m", "accuracy")
    said = here(*command, "--digits", "0").out
    says(said, "1", "0")
    assert "−0" not in said.split("paired by question")[0]
    assert "shown as 0" not in here(*command, "--digits", "2").out


def test_tiny_differences_are_said_to_be_shown_as_nothing(here: Here) -> None:
    here.write("s.csv", "topic,a,b,c\n1,1e-9,2e-9,4e-9\n2,2e-9,3e-9,1e-9\n3,3e-9,2e-9,7e-9\n")
    said = here("compare", "--scores", "s.csv").out
    says(said, "3", "0", "4")


def test_a_score_and_its_interval_stay_in_one_block() -> None:
    names = [f"measure {i}" for i in range(4)]
    columns = [Column("run")]
    for name in names:
        columns.append(Column(name, "score"))
        columns += [Column(f"{name} {end}", "score", joined=True) for end in ("low", "high")]
    columns += [Column("right", "count"), Column("wrong", "count")]
    grid = Grid(columns, [["a run", *([0.5] * 12), 1, 2]])
    out = io.StringIO()
    print_grid(grid, file=out, width=80)
    heads = [block.splitlines()[0] for block in out.getvalue().split("\n\n")]
    blocks = [re.split(r"\s{2,}", head.strip()) for head in heads]
    assert [name for block in blocks for name in block[1:]] == [c.name for c in columns[1:]]
    for head, shown in zip(heads, blocks, strict=True):
        assert len(head) <= 80
        for name in names:
            assert sum(text.startswith(name) for text in shown) in {0, 3}
