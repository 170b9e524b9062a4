"""Several measures at once: one family of tests or several, the plain t-test, a paper's table."""

from __future__ import annotations

import math
import re
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import abstain as ab
from abstain.errors import UsageError
from abstain.features.compare.view import beaten, marked
from tests.compare.asked import looks, told
from tests.helpers import Here, words
from tests.rankings.collections_by_hand import write_collection
from tests.snapshots import refuses, says

METHODS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}


def judged(runs: int = 3, questions: int = 60, seed: int = 1) -> pl.DataFrame:
    """Runs that are worse from one to the next, and leave more blank."""
    rng = np.random.default_rng(seed)
    names = "abcdefgh"[:runs]
    shares = [(0.75 - 0.12 * k, 0.2 + 0.04 * k, 0.05 + 0.08 * k) for k in range(runs)]
    outcomes = [
        rng.choice(["right", "wrong", "declined"], questions, p=np.divide(p, sum(p)))
        for p in shares
    ]
    return pl.DataFrame(
        {
            "run": [name for name in names for _ in range(questions)],
            "question": [str(q) for q in range(questions)] * runs,
            "grade": np.concatenate(outcomes),
            "confidence": rng.random(runs * questions),
        }
    )


def matrix(runs: int = 4, topics: int = 50, seed: int = 3) -> dict[str, pl.DataFrame]:
    """Two measures of runs, better from one to the next."""
    rng = np.random.default_rng(seed)
    base, names = rng.normal(0.4, 0.15, topics), [f"s{k}" for k in range(runs)]
    tables = {}
    for measure, noise in (("AP", 0.10), ("P@10", 0.2)):
        columns = {n: base + 0.03 * k + rng.normal(0, noise, topics) for k, n in enumerate(names)}
        tables[measure] = pl.DataFrame({"topic": [f"t{t}" for t in range(topics)], **columns})
    return tables


OUTCOMES = ab.read_judged(judged())
SCORES = ab.read_scores(matrix())


def measures_of(found: ab.CompareResult) -> list[str]:
    return [part.measure for part in found.parts]


# ----------------------------------------------------------------- each as if it were alone


@pytest.mark.parametrize(
    ("asked", "measures"),
    [(OUTCOMES, ["c@1", "F", "precision"]), (OUTCOMES, ["c@1", "Brier"]), (SCORES, ["AP", "P@10"])],
)
def test_each_measure_is_compared_as_if_it_were_alone(asked: Any, measures: list[str]) -> None:
    together = asked.compare(measures, family="measure", resamples=500)
    assert len(together.parts) == len(measures)
    order = [row.run for row in asked.compare(measures[0]).rows]
    for name, part in zip(measures, together.parts, strict=True):
        alone = asked.compare(name, resamples=500)
        assert [row.run for row in part.rows] == order  # that of the first measure
        rows = {row.run: row for row in alone.rows}
        for row in part.rows:
            assert (row.scores, row.intervals) == (rows[row.run].scores, rows[row.run].intervals)
        pairs = {frozenset((pair.run, pair.against)): pair for pair in alone.pairs}
        for pair in part.pairs:
            own = pairs[frozenset((pair.run, pair.against))]
            sign = 1 if own.run == pair.run else -1
            assert pair.difference == pytest.approx(sign * (own.difference or 0.0))
            assert pair.p == pytest.approx(own.p)
            assert pair.p_adjusted == pytest.approx(own.p_adjusted)
            assert pair.differs == own.differs


@pytest.mark.parametrize("correction", METHODS)
@pytest.mark.parametrize("asked", [OUTCOMES, SCORES], ids=["outcomes", "scores"])
def test_one_family_is_corrected_as_statsmodels_does(asked: Any, correction: Any) -> None:
    names = ["c@1", "F"] if asked is OUTCOMES else ["AP", "P@10"]
    found = asked.compare(names, correction=correction)
    p = [pair.p for part in found.parts for pair in part.pairs]
    expected = multipletests(p, method=METHODS[correction])[1]
    assert [x.p_adjusted for part in found.parts for x in part.pairs] == pytest.approx(expected)
    apart = asked.compare(names, correction=correction, family="measure")
    for part in apart.parts:
        own = multipletests([pair.p for pair in part.pairs], method=METHODS[correction])[1]
        assert [pair.p_adjusted for pair in part.pairs] == pytest.approx(own)
    says(told(found), "over all measures")
    says(told(apart), "for each measure alone")


def test_two_runs_are_corrected_for_several_measures() -> None:
    two = ab.read_judged(judged(2))
    found = two.compare(["c@1", "F"], correction="bonferroni")
    alone = two.compare("c@1").pairs[0].p
    assert found.pairs[0].p_adjusted == pytest.approx(min(1.0, 2 * (alone or 0.0)))
    says(told(found), "corrected p")


def test_a_result_of_several_measures_is_saved_and_looks_alike(tmp_path: Any) -> None:
    for asked in (OUTCOMES, SCORES):
        found = asked.compare(["c@1", "F"] if asked is OUTCOMES else None)
        found.to_json(tmp_path / "x.json")
        again = ab.load(tmp_path / "x.json")
        assert again == found
        assert str(again) == str(found)
        assert again.to_frame().height == sum(len(part.pairs) for part in found.parts)
        assert set(again.to_frame()["measure"]) == set(measures_of(found))
        assert again.to_frame("runs").height == 2 * len(found.rows)
    assert "measure" not in OUTCOMES.compare("c@1").to_frame().columns


def test_all_scores_of_a_table_are_compared() -> None:
    assert measures_of(SCORES.compare()) == ["mean AP", "mean P@10"]
    assert measures_of(SCORES.compare("P@10")) == ["mean P@10"]


def test_what_has_no_meaning_for_several_measures_is_refused() -> None:
    with refuses(UsageError):
        OUTCOMES.compare(["c@1", "F"], test="mcnemar")
    with refuses(UsageError, "family"):
        OUTCOMES.compare(["c@1", "F"], family="pair")  # type: ignore[arg-type]
    with refuses(UsageError, "Brier"):
        ab.read_judged(judged(2)).compare(["c@1", "Brier"], by="topic")


def test_slices_are_shown_for_each_measure() -> None:
    two = judged(2).with_columns(topic=pl.col("question").cast(pl.Int64).mod(2).cast(pl.String))
    found = ab.read_judged(two).compare(["c@1", "accuracy"], by="topic")
    titles = [grid.title for grid in looks(found).tables()]
    assert titles[-2:] == ["Slices by c@1", "Slices by accuracy"]


# ------------------------------------------------------------------------- the plain t-test


@given(st.integers(2, 60), st.integers(0, 10**6))
@settings(max_examples=30)
def test_student_is_the_paired_t_test_of_scipy(topics: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random(topics), rng.random(topics) ** 2
    frame = pl.DataFrame({"topic": [f"t{k}" for k in range(topics)], "x": x, "y": y})
    found = ab.read_scores(frame).compare(test="student")
    expected = stats.ttest_rel(y, x)
    (pair,) = found.pairs
    assert pair.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert pair.differs == (expected.pvalue <= 0.05)
    ends = expected.confidence_interval(0.95)  # by which it differs exactly if 0 is outside
    assert pair.interval == pytest.approx((max(ends.low, -1e9), min(ends.high, 1e9)), abs=1e-9)
    assert found.interval_method == "delta"


def test_student_of_differences_that_are_all_equal_has_no_verdict() -> None:
    frame = pl.DataFrame({"topic": ["a", "b", "c"], "x": [0.1, 0.2, 0.3], "y": [0.2, 0.3, 0.4]})
    (pair,) = ab.read_scores(frame).compare(test="student").pairs
    assert (pair.p, pair.differs) == (None, None)
    says(pair.no_test)
    same = frame.with_columns(y=pl.col("x"))
    (pair,) = ab.read_scores(same).compare(test="student").pairs
    assert (pair.p, pair.differs) == (1.0, False)


@pytest.mark.parametrize("topics", [20, 80])
def test_the_careful_test_says_where_the_plain_one_disagrees(topics: int) -> None:
    seen = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        gaps = rng.exponential(1, topics) ** 2 * rng.choice([1, -0.3], topics, p=[0.3, 0.7])
        table = {"topic": [f"t{k}" for k in range(topics)], "x": np.zeros(topics), "y": gaps}
        found = ab.read_scores(pl.DataFrame(table)).compare()
        (pair,) = found.pairs
        plain = float(stats.ttest_rel(gaps, np.zeros(topics)).pvalue)
        if (plain <= 0.05) == pair.differs:
            assert pair.plain_p is None
            assert "plain" not in told(found)
        else:
            assert pair.plain_p == pytest.approx(plain)
            assert "By the plain paired t-test (student) instead" in told(found)
        seen.add((pair.differs, pair.plain_p is None))
    assert len(seen) > 1 or topics == 20
    careful = {differs for differs, _ in seen}
    assert careful == ({None} if topics == 20 else careful & {True, False})


def test_the_plain_one_is_corrected_as_the_careful_one() -> None:
    found = SCORES.compare(correction="bonferroni")
    tables = matrix()
    for part in found.parts:
        table = tables[part.measure.removeprefix("mean ")]
        for pair in part.pairs:
            plain = 12 * stats.ttest_rel(table[pair.run], table[pair.against]).pvalue
            assert (pair.plain_p is not None) == ((plain <= 0.05) != pair.differs)


def test_a_test_of_scores_is_refused_of_outcomes() -> None:
    with refuses(UsageError, "student"):
        OUTCOMES.compare("c@1", test="student")


# ------------------------------------------------------------------------ a paper's table


def marks_in(found: ab.CompareResult) -> list[dict[str, str]]:
    """For each measure, the marks of each run."""
    grid = marked(found)
    first = len(grid.columns) - len(found.parts)
    return [
        {row.run: grid.marks[at, first + k] for at, row in enumerate(found.rows)}
        for k in range(len(found.parts))
    ]


@given(st.integers(0, 10**6), st.integers(2, 7), st.sampled_from(["holm", "bonferroni", "none"]))
@settings(max_examples=25, deadline=None)
def test_a_mark_is_there_exactly_if_p_is_below_the_level(
    seed: int, runs: int, correction: Any
) -> None:
    sm = ab.read_scores(matrix(runs, 40, seed))
    found = sm.compare(correction=correction, test="student")
    letter = dict(zip([row.run for row in found.rows], "abcdefg", strict=False))
    for part, marks in zip(found.parts, marks_in(found), strict=True):
        p = {(x.run, x.against): x.p_adjusted for x in part.pairs}
        mean = {row.run: row.score or 0.0 for row in part.rows}
        for one, other in combinations(letter, 2):
            small = (p.get((one, other)) or p.get((other, one)) or 0.0) <= 0.05
            better, worse = (one, other) if mean[one] > mean[other] else (other, one)
            assert (letter[worse] in marks[better]) == small
            assert letter[better] not in marks[worse]
    against = sm.compare(correction=correction, test="student", against="s0")
    for part, marks in zip(against.parts, marks_in(against), strict=True):
        assert marks["s0"] == ""
        for pair in part.pairs:
            sign = "†" if (pair.difference or 0) > 0 else "‡"
            assert marks[pair.run] == (sign if (pair.p_adjusted or 0.0) <= 0.05 else "")


def test_a_run_without_a_verdict_has_no_mark() -> None:
    few = ab.read_scores(matrix(2, 10)).compare()
    assert {pair.differs for part in few.parts for pair in part.pairs} == {None}
    assert not any(marks for each in marks_in(few) for marks in each.values())
    says(marked(few).caption, "2 comparisons have no verdict")


def test_lower_is_better_where_it_is() -> None:
    found = OUTCOMES.compare(["accuracy", "wrong-rate"] if _known("wrong-rate") else ["Brier"])
    for part in found.parts:
        scores = {row.run: row.score or 0.0 for row in part.rows}
        for better, worse in beaten(part):
            assert (scores[better] > scores[worse]) == part.higher_is_better
        best = (max if part.higher_is_better else min)(scores.values())
        grid = marked(found)
        column = len(grid.columns) - len(found.parts) + found.parts.index(part)
        bold = {row for row, at in grid.bold if at == column}
        assert bold == {k for k, row in enumerate(part.rows) if row.score == best}


def _known(name: str) -> bool:
    try:
        ab.measure(name)
    except UsageError:
        return False
    return True


def test_the_table_of_a_paper_in_latex_and_markdown(here: Here) -> None:
    for name, table in matrix(3, 60).items():
        table.write_csv(here.folder / f"{name}.csv")
    args = ("compare", "--scores", "AP.csv", "P@10.csv", "--digits", "3")
    latex = here(*args, "-f", "latex", "--marks").out
    found = ab.read_scores(["AP.csv", "P@10.csv"]).compare()
    means = {row.run: [round(p.rows[k].score or 0, 3) for p in found.parts]
             for k, row in enumerate(found.rows)}  # fmt: skip
    rows = [line for line in latex.splitlines() if re.match(r"[a-z] & s", line)]
    assert [line.split(" & ")[1] for line in rows] == [row.run for row in found.rows]
    for line, marks in zip(rows, zip(*(m.values() for m in marks_in(found)), strict=True),
                           strict=True):  # fmt: skip
        _, run, *cells = line.removesuffix(r" \\").split(" & ")
        for cell, mean, mark in zip(cells, means[run], marks, strict=True):
            assert f"{mean:.3f}" in cell
            assert (rf"\textsuperscript{{{mark}}}" in cell) == bool(mark)
    assert latex.count(r"\textbf{") == 2
    assert latex.startswith("\\begin{table}\n\\centering\n\\caption{")
    assert latex.endswith("\\end{tabular}\n\\end{table}\n")
    says(latex, "Holm", r"5 \% level")
    says(here(*args, "-f", "markdown", "--marks", "--baseline", "s0").out, "†")
    says(here(*args, "-o", "t.tex", "--marks", "--against", "s0").err)
    assert r"\textsuperscript{\dag{}}" in (here.folder / "t.tex").read_text()


def test_marks_are_for_a_paper(here: Here) -> None:
    judged().write_csv(here.folder / "g.csv")
    for look in ("table", "csv", "json", "html"):
        refused = here.refuses("compare", "--judged", "g.csv", "--marks", "-f", look)
        assert refused == "--marks needs --format latex or markdown"
    many = pl.DataFrame({"topic": ["a", "b"], **{f"r{k:02}": [k, k + 1] for k in range(53)}})
    many.write_csv(here.folder / "m.csv")
    refused = here.refuses("compare", "--scores", "m.csv", "--marks", "-f", "latex")
    says(refused, "--against", "53")


# ------------------------------------------------------------------------------ the matrix


SETS = {
    "outcomes": ("--judged", "g.csv"),
    "scores": ("--scores", "AP.csv", "P@10.csv"),
    "rankings": ("qrels.txt", "r00.run", "r01.run"),
}
NAMES = {"outcomes": ["c@1", "F"], "scores": ["AP", "P@10"], "rankings": ["AP", "P@10"]}
QUICK = ("--part", "stability", "--part", "agreement", "--subsets", "5", "--sizes", "2")


@pytest.fixture
def everything(here: Here) -> Here:
    judged().write_csv(here.folder / "g.csv")
    for name, table in matrix().items():
        table.write_csv(here.folder / f"{name}.csv")
    write_collection(here.folder)
    return here


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("command", ["score", "compare", "meta"])
def test_every_question_of_every_input_with_one_and_several_measures(
    everything: Here, command: str, kind: str, count: int
) -> None:
    names = NAMES[kind][:count]
    asked = [text for name in names for text in ("-m", name)]
    files = SETS[kind]
    if command == "score" and kind != "outcomes":  # the means of scores are those of `compare`
        command = "rank" if kind == "rankings" else "compare"
    more = QUICK if command == "meta" else ()
    said = everything(command, *files, *asked, *more, "-f", "json")
    assert said.code == 0, said.err
    data = said.data
    if command == "compare":
        found = [part["measure"].removeprefix("mean ") for part in [data, *data.get("more", [])]]
    elif command == "meta":
        found = data["measures"]
    else:
        found = list(data["results"][0]["scores"])
    assert found == names
    page = everything(command, *files, *asked, *more, "-f", "html").out
    assert all(name.replace("'", "&#39;") in page for name in names)


def test_compare_shows_a_table_of_systems_and_measures(everything: Here) -> None:
    said = everything("compare", *SETS["scores"]).out
    assert said.splitlines()[0].split() == ["run", "AP", "group", "P@10", "group"]
    assert max(map(len, said.splitlines())) <= 80
    says(words(said), "Neighbours")
    assert math.isclose(everything("compare", *SETS["scores"], "-f", "json").data["level"], 0.95)
