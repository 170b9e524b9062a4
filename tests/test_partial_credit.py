"""Partial credit: shares right by hand, in fractions, against scipy and by every swap."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import abstain as ab
from abstain.reading import EngineName
from tests.engines import ENGINES, needs
from tests.helpers import Here
from tests.snapshots import refuses, says

ONE = ["1", "0.5", "0.25", "0", "", "1", "0.75", "0.5"]
TWO = ["0.5", "0.5", "1", "0", "0", "NOT_ATTEMPTED", "0.25", "1"]
IDS = [f"q{i}" for i in range(8)]
PARTS = list("xxxyyyyy")


def graded(**runs: list[str]) -> pl.DataFrame:
    frames = [
        pl.DataFrame({"run": name, "question": IDS[: len(grades)], "grade": grades})
        for name, grades in runs.items()
    ]
    return pl.concat(frames).with_columns(
        part=pl.col("question").replace_strict(dict(zip(IDS, PARTS, strict=True)))
    )


def reloaded(result: Any, folder: Path) -> Any:
    result.to_json(folder / "result.json")
    return ab.load(folder / "result.json")


def shares(grades: list[str]) -> tuple[Fraction, Fraction, Fraction]:
    """c, w and u, in fractions: an answer is right by its share."""
    blank = sum(text in ("", "NOT_ATTEMPTED") for text in grades)
    right = sum(
        (Fraction(text) for text in grades if text not in ("", "NOT_ATTEMPTED")), Fraction()
    )
    n = len(grades)
    return right / n, (n - blank - right) / n, Fraction(blank, n)


FORMULAS: dict[str, Any] = {
    "accuracy": lambda c, w, u: c,
    "c@1": lambda c, w, u: c * (1 + u),
    "precision": lambda c, w, u: c / (c + w),
    "coverage": lambda c, w, u: c + w,
    "F": lambda c, w, u: 2 * c / (2 - u),
    "S(t=0.75)": lambda c, w, u: c - 3 * w,
    "wrong-rate": lambda c, w, u: w,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("named", [True, False])
def test_every_count_measure_takes_the_shares(
    engine: EngineName, named: bool, tmp_path: Path
) -> None:
    needs(engine)
    rows = graded(one=ONE, two=TWO)
    rows = rows if named else rows.drop("question")
    evaluation = ab.read_judged(rows, partial="0-1", engine=engine)
    result = evaluation.score(list(FORMULAS))
    for row in result.rows:
        c, w, u = shares(ONE if row.run == "one" else TWO)
        assert c + w + u == 1
        assert (row.counts.right, row.counts.wrong) == (float(8 * c), float(8 * w))
        assert (row.counts.unsplit, row.counts.n) == (float(8 * u), 8.0)
        for name, formula in FORMULAS.items():
            assert row.scores[name] == pytest.approx(float(formula(c, w, u)), abs=1e-14)
    assert reloaded(result, tmp_path) == result
    assert result.to_frame()["right"].to_list() == [4.0, 3.25]
    assert evaluation.counts()["wrong"].to_list() == [3.0, 3.75]


def test_slices_and_parts_add_up() -> None:
    evaluation = ab.read_judged(graded(one=ONE, two=TWO), partial="0-1")
    rows = {(row.run, row.slice["part"]): row.counts for row in evaluation.score(by="part").rows}
    assert rows["one", "x"] == ab.Counts(1.75, 1.25)
    assert rows["one", "y"] == ab.Counts(2.25, 1.75, unsplit=1)
    assert rows["two", "x"] == ab.Counts(2.0, 1.0)
    assert rows["two", "y"] == ab.Counts(1.25, 2.75, unsplit=1)
    part = evaluation.only(runs=["two"], where={"part": "x"})
    assert [row.counts for row in part.score().rows] == [ab.Counts(2.0, 1.0)]


def test_whole_grades_count_and_vary_as_ever() -> None:
    grades = ["1", "0", "1", "1", "", "0", "1", "0"]
    options: Any = {"measures": ["c@1", "precision"], "interval": "delta"}
    plain = ab.read_judged(graded(one=grades)).score(**options).rows[0]
    same = ab.read_judged(graded(one=grades), partial="0-1").score(**options).rows[0]
    assert same.counts == plain.counts
    for name in ("c@1", "precision"):
        assert same.intervals[name] == pytest.approx(plain.intervals[name], abs=1e-9)


def test_the_interval_of_a_mean_is_students() -> None:
    drawn = np.round(np.random.default_rng(1).random(60), 2)
    rows = pl.DataFrame({"question": range(60), "grade": drawn})
    score = ab.read_judged(rows, partial="0-1").score("accuracy", interval="delta").rows[0]
    low, high = stats.t.interval(0.95, 59, drawn.mean(), stats.sem(drawn))
    assert score.intervals["accuracy"] == pytest.approx((low, high), abs=1e-6)
    for method in ("beta", "logit", "percentile", "bca"):
        made = ab.read_judged(rows, partial="0-1").score("accuracy", interval=method).rows[0]
        ends = made.intervals["accuracy"]
        assert ends[0] is not None
        assert ends[1] is not None
        assert ends[0] < drawn.mean() < ends[1]
        assert 0.5 * (high - low) < ends[1] - ends[0] < 2 * (high - low)


def test_clusters_sum_their_shares() -> None:
    """SE² = G/(G−1) Σ (Σ_g (x − m))² / n², cluster by cluster."""
    drawn = np.round(np.random.default_rng(2).random(90), 2)
    places = np.arange(90) // 3
    rows = pl.DataFrame({"question": range(90), "grade": drawn, "place": places})
    evaluation = ab.read_judged(rows, partial="0-1", cluster="place")
    score = evaluation.score("accuracy", interval="delta")
    sums = [sum(drawn[i] - drawn.mean() for i in range(90) if places[i] == g) for g in range(30)]
    error = (30 / 29 * sum(s**2 for s in sums)) ** 0.5 / 90
    reach = stats.t.ppf(0.975, 29) * error
    expected = drawn.mean() - reach, drawn.mean() + reach
    assert score.rows[0].intervals["accuracy"] == pytest.approx(expected, abs=1e-6)
    assert score.cluster == "place"


def swapped(one: list[str], two: list[str], formula: Any) -> float:
    """The p of all ways to swap the runs' grades question by question."""
    observed: Fraction = abs(formula(*shares(one)) - formula(*shares(two)))
    hits: int = 0
    for signs in product((False, True), repeat=len(one)):
        a = [y if swap else x for x, y, swap in zip(one, two, signs, strict=True)]
        b = [x if swap else y for x, y, swap in zip(one, two, signs, strict=True)]
        hits += bool(abs(formula(*shares(a)) - formula(*shares(b))) >= observed)
    return float(hits / 2 ** len(one))


@pytest.mark.parametrize("name", ["accuracy", "c@1", "S(t=0.75)"])
def test_pairs_are_tested_by_swapping_questions(name: str, tmp_path: Path) -> None:
    one = ["1", "1", "0.75", "1", "", "1", "0.75", "0.5"]
    two = ["0", "0.25", "0.5", "0", "0", "", "0.25", "0.5"]
    result = ab.read_judged(graded(one=one, two=two), partial="0-1").compare(name)
    (pair,) = result.pairs
    gap = FORMULAS[name](*shares(two)) - FORMULAS[name](*shares(one))
    assert pair.difference == pytest.approx(float(gap))
    expected = swapped(one, two, FORMULAS[name])
    assert pair.exact
    assert pair.p == pytest.approx(expected) or (pair.by_interval and (pair.p or 0) > expected)
    assert result.clusters is None
    assert reloaded(result, tmp_path) == result


def test_the_interval_of_a_difference_is_that_of_a_paired_t() -> None:
    rng = np.random.default_rng(3)
    first = np.round(rng.random(80), 2)
    second = np.round(np.clip(first + rng.normal(0.1, 0.2, 80), 0, 1), 2)
    frames = [
        pl.DataFrame({"run": run, "question": range(80), "grade": grades})
        for run, grades in (("a", first), ("b", second))
    ]
    evaluation = ab.read_judged(pl.concat(frames), partial="0-1")
    (pair,) = evaluation.compare("accuracy", interval="delta").pairs
    gaps = second - first
    low, high = stats.t.interval(0.95, 79, gaps.mean(), stats.sem(gaps))
    assert pair.difference == pytest.approx(gaps.mean())
    assert pair.interval == pytest.approx((low, high), abs=1e-6)
    assert pair.standard_error == pytest.approx(stats.sem(gaps), abs=1e-6)
    by_t = stats.ttest_rel(second, first).pvalue
    for test in ("randomisation", "bootstrap"):
        p = evaluation.compare("accuracy", test=test).pairs[0].p
        assert p == pytest.approx(by_t, abs=0.002)
    with_clusters = pl.concat(frames).with_columns(place=pl.col("question") // 2)
    clustered = ab.read_judged(with_clusters, partial="0-1", cluster="place")
    assert clustered.compare("accuracy").clusters == 40


def test_crags_scale_keeps_its_score() -> None:
    grades = [1, 0.5, 0, -1, 1, -1, 0, 1]
    rows = pl.DataFrame({"question": IDS, "grade": list(map(float, grades))})
    (row,) = ab.read_judged(rows, partial="crag").score(["S(t=0.5)", "coverage"]).rows
    assert row.scores["S(t=0.5)"] == pytest.approx(sum(grades) / 8)
    assert row.counts == ab.Counts(3.75, 2.25, unsplit=2)


@pytest.mark.parametrize(
    ("scale", "grades", "expected"),
    [
        ("1-5", ["5", "4", "3", "1", ""], ab.Counts(2.25, 1.75, unsplit=1)),
        ("0-10", ["10", "2.5", "IDK"], ab.Counts(1.25, 0.75, unsplit=1)),
        ("0-1", ["0.5", "correct", "incorrect", "-1"], ab.Counts(1.5, 1.5, unsplit=1)),
    ],
)
def test_scales(scale: str, grades: list[str], expected: ab.Counts) -> None:
    rows = pl.DataFrame({"question": IDS[: len(grades)], "grade": grades})
    assert ab.read_judged(rows, partial=scale).score().rows[0].counts == expected


def test_what_a_scale_does_not_have_is_refused(here: Here) -> None:
    here.write("g.csv", "question,grade\nq1,0.5\nq2,7\n")
    ask = ("score", "--judged", "g.csv")
    says(here.refuses(*ask, "--partial", "0-1"), "'7'", "0", "1")
    says(here.refuses(*ask, "--partial", "crag"), "'7'")
    says(here.refuses(*ask, "--partial", "5-1"), "'5-1'")
    says(here.refuses(*ask, "--partial", "yes"), "'yes'")
    assert "--partial LOW-HIGH" in here.refuses(*ask)
    here.write("h.csv", "question,grade\nq1,0.5\nq2,1\n")
    assert "--partial 0-1" in here.refuses("score", "--judged", "h.csv")
    here.write("w.csv", "question,grade\nq1,0.5\nq2,IDK\n")
    assert "--partial 0-1" in here.refuses("score", "--judged", "w.csv")
    here.write("n.csv", "question,grade\nq1,0.5\nq2,nan\n")
    says(here.refuses("score", "--judged", "n.csv", "--partial", "0-1"), "'nan'")
    here.write("gold.csv", "question,correct\nq1,a\n")
    here.write("run.csv", "question,answer\nq1,a\n")
    says(here.refuses("score", "gold.csv", "run.csv", "--partial", "0-1"), "--judged")


def test_what_needs_right_or_wrong_refuses_shares() -> None:
    rows = graded(one=ONE, two=TWO).with_columns(confidence=pl.lit(0.5), rank=pl.lit(1))
    evaluation = ab.read_judged(rows, partial="0-1")
    refused: list[Any] = [
        evaluation.curve,
        evaluation.decisions,
        evaluation.tune,
        evaluation.meta,
        evaluation.several,
        evaluation.outcomes,
        lambda: evaluation.score("AUROC"),
        lambda: evaluation.compare("AUROC"),
        lambda: evaluation.compare(test="mcnemar"),
        lambda: evaluation.compare(by="part"),
        lambda: evaluation.score("accuracy", interval="wilson"),
        lambda: evaluation.compare("accuracy", interval="clopper-pearson"),
        evaluation.data.sides,
    ]
    for ask in refused:
        with refuses(ab.UsageError, "partial"):
            ask()


def test_the_output_says_so(here: Here) -> None:
    graded(one=ONE, two=TWO).write_csv(here.folder / "g.csv")
    said = here("score", "--judged", "g.csv", "--partial", "0-1")
    says(" ".join(said.out.split()), "0", "1")
    said = here("compare", "--judged", "g.csv", "--partial", "0-1")
    says(" ".join(said.out.split()), "8")
