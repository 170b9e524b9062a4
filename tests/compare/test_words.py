"""What a comparison says in words, and what it refuses to be asked."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace
from statsmodels.stats.multitest import multipletests

import abstain as ab
from abstain.errors import InputError, UsageError
from abstain.features.compare.judge_errors import never_checked, read_confusion
from abstain.stats import hypotheses as swaps_module
from abstain.stats.hypotheses import Flips, randomise_clusters
from tests.compare.asked import judged, looks, scores, told
from tests.helpers import Here
from tests.snapshots import refuses, says

GRADES = {"a": "CORRECT", "b": "INCORRECT", "-": "unanswered_empty"}


def graded(runs: dict[str, str], **attributes: list[str]) -> pl.DataFrame:
    """Judged rows from letters: a right, b wrong, - blank without a candidate."""
    rows: dict[str, list[str]] = {"run": [], "question": [], "grade": []}
    for run, letters in runs.items():
        rows["run"] += [run] * len(letters)
        rows["question"] += [f"q{i}" for i in range(len(letters))]
        rows["grade"] += [GRADES[x] for x in letters]
    return pl.DataFrame(rows | {name: own * len(runs) for name, own in attributes.items()})


# ------------------------------------------------------------------- what no test could have found


def test_few_questions_show_nothing_whatever_the_difference() -> None:
    said = told(judged(graded({"one": "bbbb", "two": "aaaa"})))
    says(said, "4", "0.125", "6")
    six = judged(graded({"one": "bbbbbb", "two": "aaaaaa"}))
    assert six.pairs[0].differs
    assert "no p is below" not in told(six)


def test_few_clusters_and_many_pairs_show_nothing_after_holm() -> None:
    """Eight clusters: p is 2/2⁸ at best, and ten pairs make that 0.078."""
    documents = [f"d{i // 2}" for i in range(16)]
    runs = dict.fromkeys("vwxy", "a" * 16) | {"z": "b" * 16}
    frame = graded(runs, document=documents)
    said = told(judged(frame, cluster="document"))
    says(said, "8", "0.00781", "0.0781")
    relaxed = judged(frame, cluster="document", correction="bh")
    assert sum(p.differs for p in relaxed.pairs) == 4
    assert "no p is below" not in told(relaxed)
    two = graded({run: runs[run] for run in "vwz"}, document=documents)
    against = judged(two, cluster="document", against="z")
    assert [p.p_adjusted for p in against.pairs] == [2 * 2 / 2**8] * 2
    said = told(against)
    says(said, "2", "5 %")


def test_few_resamples_show_nothing_after_holm() -> None:
    letters = dict.fromkeys("vwxy", "a" * 100 + "b" * 100) | {"z": "b" * 200}
    said = told(judged(graded(letters), test="bootstrap", resamples=100))
    says(said, "100", "0.0198", "0.198")
    strict = told(judged(graded(letters), test="bootstrap", resamples=100, level=0.99))
    says(strict, "1 %")


# ------------------------------------------------------------------------------ reversals, slices


def test_a_simpson_reversal_is_said_with_its_parts() -> None:
    """Precision: 1/1 and 2/5 against 4/5 and 0/1, but 3/6 against 4/6."""
    letters = {"other": "aaaab" + "b----", "own": "a----" + "aabbb"}
    found = judged(graded(letters, part=["x"] * 5 + ["y"] * 5), by=["part"], measure="precision")
    assert found.pairs[0].difference == pytest.approx(3 / 6 - 4 / 6)
    said = told(found)
    says(said, "0.1667", "Simpson")


def test_parts_that_show_no_difference_are_told_from_a_reversal() -> None:
    """The same with a part in which both are right once in two, and one where one says nothing."""
    letters = {"other": "aaaab" + "b----" + "ab" + "a", "own": "a----" + "aabbb" + "ab" + "-"}
    parts = ["x"] * 5 + ["y"] * 5 + ["z"] * 2 + ["w"]
    found = judged(graded(letters, part=parts), by=["part"], measure="precision")
    said = told(found)
    says(said)


def test_many_slices_are_cut_by_attribute_and_said(here: Here) -> None:
    parts = [f"p{i:02}" for i in range(20)]
    frame = graded({"one": "ab" * 10, "two": "ba" * 10}, part=parts, half=["h", "t"] * 10)
    frame.write_csv(here.folder / "graded.csv")
    out = here("compare", "--judged", "graded.csv", "--by", "part", "--by", "half").out
    says(out, "12", "20")
    assert len(re.findall(r"^part +p\d\d", out, re.M)) == 12
    assert len(re.findall(r"^half +[ht] ", out, re.M)) == 2


def test_a_move_that_is_worth_nothing_is_worth_nothing(here: Here) -> None:
    """Accuracy sees no difference between wrong and blank: no −0.0000."""
    graded({"one": "aa--ab", "two": "aaabab"}).write_csv(here.folder / "graded.csv")
    out = here("compare", "--judged", "graded.csv", "-m", "accuracy").out
    assert re.search(r"blank → wrong +1 +0\.0000", out)
    assert "−0.0000" not in out


def test_slices_are_of_two_runs(here: Here) -> None:
    frame = graded({"one": "ab", "two": "ba", "three": "aa"}, part=["x", "y"])
    with refuses(UsageError, "3"):
        judged(frame, by=["part"])


# ----------------------------------------------------------------------------- what a verdict is of


def test_where_lower_is_better_the_lower_is_ahead() -> None:
    letters = {"one": "aabbbbbb--", "two": "aaaab-----"}
    found = judged(graded(letters), measure="under-abstention")
    assert [row.run for row in found.rows] == ["two", "one"]
    assert found.pairs[0].difference == pytest.approx(1 / 6 - 6 / 8)
    says(told(found), "0.5833")


def test_bounds_of_a_measure_where_lower_is_better() -> None:
    """One: 8 of 10 wrong. Two: 1 wrong, 8 blank, 1 missing: from 1/10 (blank) to 2/10 (wrong)."""
    frame = graded({"one": "bbbbbbbb--", "two": "b---------"})
    found = judged(frame.head(19), measure="under-abstention")
    first, second = found.rows
    assert [first.run, second.run] == ["two", "one"]
    assert first.bounds["under-abstention"] == pytest.approx((1 / 10, 2 / 10))
    assert second.bounds["under-abstention"] == pytest.approx((8 / 10, 8 / 10))
    grid = looks(found).tables()[0]
    names = [column.name for column in grid.columns]
    assert grid.rows[0][names.index("worst")] == pytest.approx(2 / 10)
    assert grid.rows[0][names.index("best")] == pytest.approx(1 / 10)
    says(told(found))


def test_mcnemar_says_what_it_tests() -> None:
    letters = {"one": "a" * 50 + "b" * 50, "two": "a" * 50 + "-" * 50}
    said = told(judged(graded(letters), test="mcnemar"))
    says(said)
    assert "a difference of 0.000" not in said


def test_a_plan_does_not_promise_what_no_test_can_show() -> None:
    letters = {"one": "b" * 20 + "a" * 40, "two": "a" * 50 + "b" * 10}
    frame = graded(letters, part=[f"d{i % 4}" for i in range(60)])
    found = judged(frame, cluster="part", detect=0.1)
    said = told(found)
    says(said, "4", "0.12")
    assert "This test set could detect" not in said
    says(said, "0 %")
    assert found.plan is not None
    assert found.plan.needed is not None
    assert found.plan.needed >= 90
    assert found.to_dict()["plan"]["visible"] is None


def test_a_plan_for_precision_knows_that_one_answer_says_little() -> None:
    """One right answer against half of 200: a difference of 0.5 is not found, nor promised."""
    letters = {"shy": "a" + "-" * 199, "bold": "a" * 100 + "b" * 100}
    found = judged(graded(letters), measure="precision")
    assert found.pairs[0].difference == pytest.approx(1 - 0.5)
    assert not found.pairs[0].differs
    assert found.plan is not None
    assert found.plan.visible is not None
    assert found.plan.visible > 0.5


def test_runs_against_one_take_any_correction(here: Here) -> None:
    runs = {"v": "aaaaabbbbb", "w": "ab-abab-ba", "x": "aaaaaaaaab"}
    graded(runs).write_csv(here.folder / "graded.csv")
    args = ("compare", "--judged", "graded.csv", "--against", "v", "--format", "json")
    plain = [pair["p"] for pair in json.loads(here(*args).out)["pairs"]]
    for word, method in (("holm", "holm"), ("bh", "fdr_bh")):
        found = json.loads(here(*args, "--correction", word).out)["pairs"]
        expected = multipletests(plain, method=method)[1]
        assert [pair["p_adjusted"] for pair in found] == pytest.approx(list(expected))
    said = here(*args[:-2], "--correction", "none").out.replace("\n", " ")
    assert "not corrected" in said


def test_wilcoxon_says_when_it_is_exact() -> None:
    topics = [str(i) for i in range(8)]
    frame = pl.DataFrame({"topic": topics, "x": np.arange(8) / 9, "y": np.arange(8)[::-1] / 7})
    found = scores(frame, test="wilcoxon")
    assert found.to_dict()["pairs"][0]["exact"] is True
    says(told(found))
    many = pl.DataFrame({"topic": [str(i) for i in range(60)]}).with_columns(
        x=pl.Series(np.arange(60) % 7 / 7), y=pl.Series(np.arange(60) % 5 / 5)
    )
    assert scores(many, test="wilcoxon").pairs[0].exact is False


# --------------------------------------------------------------------------------------- undefined


def test_a_run_without_a_score_has_no_letter_and_separates_nobody() -> None:
    letters = {"good": "a" * 12, "fair": "a" * 11 + "b", "bad": "b" * 12, "mute": "-" * 12}
    found = judged(graded(letters), measure="precision")
    marks = {row.run: row.group for row in found.rows}
    assert marks == {"good": "a", "fair": "a", "bad": "b", "mute": ""}
    assert found.separated() == ["bad"]
    two = judged(graded({k: letters[k] for k in ("good", "bad", "mute")}), measure="precision")
    assert "too many groups" not in told(two)


def test_measures_of_other_things_are_refused() -> None:
    with refuses(UsageError):
        judged(graded({"one": "ab", "two": "ba"}), measure="AP")


def test_without_confidences_there_is_nothing_to_compare() -> None:
    said = told(judged(graded({"one": "ab", "two": "ba"}), measure="CWS"))
    says(said)


# ------------------------------------------------------------------------------------------- judge


def test_a_judges_table_is_read_strictly() -> None:
    unknown = "'rihgt' is not a verdict"
    with pytest.raises(InputError, match=unknown):
        read_confusion(pl.DataFrame({"true": ["right"], "rihgt": [3], "wrong": [1]}))


def test_a_judges_sample_is_told() -> None:
    judge = pl.DataFrame({"true": ["right", "wrong"], "right": [40, 5], "wrong": [10, 45]})
    assert never_checked(read_confusion(judge)) == ("blank",)
    said = told(judged(graded({"one": "aab-", "two": "abb-"}), judge_error=judge))
    says(said, "100")


# ---------------------------------------------------------------------------------- scores by query

WIDE: dict[str, list[Any]] = {
    "query": ["1", "2", "3", "4"],
    "x": [0.5, 0.25, 1.0, None],
    "y": [0.75, 0.5, 0.0, 0.5],
}


def long_scores() -> pl.DataFrame:
    """The same scores as `rank --per-query` writes them: the means beside a rank."""
    rows: list[dict[str, Any]] = []
    for rank, run in enumerate("xy", 1):
        rows += [
            {"#": None, "run": run, "query": q, "AP": s, "RR": 0.1}
            for q, s in zip(WIDE["query"], WIDE[run], strict=True)
            if s is not None
        ]
        rows.append({"#": rank, "run": run, "query": "all", "AP": 0.99, "RR": 0.1})
    return pl.DataFrame(rows)


def test_scores_by_row_are_those_by_column() -> None:
    wide = scores(pl.DataFrame(WIDE), test="wilcoxon")
    rows = scores(long_scores(), measure="ap", test="wilcoxon")
    # AP is known to lie from 0 to 1, so its interval ends there
    assert rows.pairs[0].interval == (-1, 1)
    assert [replace(p, interval=(None, None)) for p in rows.pairs] == [
        replace(p, interval=(None, None)) for p in wide.pairs
    ]
    assert (rows.questions, rows.questions_in_all, rows.absent) == (3, 4, {"x": 1})
    assert rows.measure == "mean AP"
    assert rows.pairs[0].difference == pytest.approx((0.25 + 0.25 - 1) / 3)


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        (long_scores(), {"measure": "PA"}, ("'PA'",)),
        (pl.DataFrame(WIDE), {"measure": "AP"}, ("'AP'",)),
        (pl.DataFrame(WIDE), {"cluster": "doc"}, ("'doc'",)),
        (
            pl.DataFrame(WIDE | {"doc": list("aabb")}),
            {"cluster": "doc", "test": "wilcoxon"},
            (),
        ),
        (
            pl.DataFrame(WIDE | {"y": [0.1, float("inf"), 1, 1]}),
            {},
            ("'y'", "'inf'"),
        ),
        (pl.concat([long_scores()] * 2), {"measure": "AP"}, ("'1'", "'x'")),
        (pl.DataFrame(WIDE), {"resamples": 10**9}, ("100", "1,000,000")),
    ],
)
def test_scores_that_cannot_be_compared(
    frame: pl.DataFrame, options: dict[str, Any], said: tuple[str, ...]
) -> None:
    with refuses((UsageError, InputError), *said):
        scores(frame, **options)


# ------------------------------------------------------------------------------------------ memory


def test_clusters_flip_alike_kept_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = np.random.default_rng(3).integers(0, 4, size=(3, 20, 3)).astype(float)
    wanted, measure = [(0, 1), (0, 2), (1, 2)], ab.measure("c@1")
    kept = randomise_clusters(measure, tables, wanted, Flips(20, trials=500, seed=1))
    monkeypatch.setattr(swaps_module, "MOST_KEPT", 0)
    assert randomise_clusters(measure, tables, wanted, Flips(20, trials=500, seed=1)) == kept


# ---------------------------------------------------------------------------- the bundled campaign


@pytest.mark.slow
def test_sixteen_clusters_hardly_tell_1431_pairs_apart() -> None:
    """2/2¹⁶ times 1,431 is 0.0437: Holm leaves room for the clearest pairs alone, BH for more."""
    folder = files("abstain") / "examples" / "qa4mre2013"
    gold, runs = str(folder / "gold.csv"), str(folder / "runs.csv.gz")
    strict = ab.compare(gold, runs, cluster="test")
    said = told(strict)
    assert strict.separated() == []
    assert min(p.p_adjusted or 0 for p in strict.pairs) == pytest.approx(2 / 2**16 * 1431)
    says(said, "16", "3", "05", "0.0437")
    relaxed = ab.compare(gold, runs, cluster="test", correction="bh")
    assert relaxed.separated() == ["jucs1302enen"]
    against = ab.compare(gold, runs, cluster="test", against="jucs1302enen")
    assert all(p.differs and (p.difference or 0) < 0 for p in against.pairs)


# ---------------------------------------------------------------- what an interval does not show


@pytest.mark.parametrize("against", [None, "bold"])
def test_p_is_not_below_that_of_an_interval_that_shows_nothing(against: str | None) -> None:
    """All swaps of ten questions but one in 512 show less; one answer says next to nothing."""
    frame = graded({"bold": "b" * 10, "shy": "a" + "-" * 9})
    (pair,) = judged(frame, against=against).pairs
    assert pair.by_interval
    assert pair.p > 0.05
    assert not pair.differs
    assert pair.p_adjusted == pair.p
    for step, holds in ((1e-4, True), (-1e-4, False)):
        (low, high) = judged(frame, level=1 - pair.p + step).pairs[0].interval
        assert (low <= 0 <= high) is holds
    says(told(judged(frame)), "1")


def test_p_of_swaps_stays_where_the_interval_shows_a_difference() -> None:
    """Eight swaps of eight questions: p = 2/256."""
    (pair,) = judged(graded({"bold": "b" * 8, "calm": "a" * 8})).pairs
    assert (pair.p, pair.by_interval, pair.differs) == (2 / 256, False, True)


def test_a_correction_that_turns_the_order_is_said_with_its_difference() -> None:
    """The judge takes half of the wrong for right: more answers look better than fewer right ones.

    `bold` is right on 60 and wrong on 40 of 100, 20 of which pass: 80. `shy` is right on 70, and
    leaves 30 blank. Undone: 80 = p + (1 − p)/2 makes p 0.6, and 0.7 stays.
    """
    frame = graded({"bold": "a" * 80 + "b" * 20, "shy": "a" * 70 + "-" * 30})
    confusion = pl.DataFrame(
        {"true": ["right", "wrong", "blank"], "right": [900, 400, 0], "wrong": [0, 400, 0]}
        | {"blank": [0, 0, 500]}
    )
    found = judged(frame, measure="accuracy", judge_error=confusion)
    (pair,), (one,) = found.pairs, found.corrected
    assert (pair.run, pair.against, pair.difference) == ("shy", "bold", pytest.approx(-0.1))
    assert (one.run, one.against) == ("shy", "bold")
    assert one.difference == pytest.approx(0.7 - 0.6)
    low, high = one.interval
    assert low is not None
    assert high is not None
    assert low < 0.1 < high
    rows = {row.run: row.corrected["accuracy"] for row in found.rows}
    assert (rows["shy"] or 0) - (rows["bold"] or 0) == pytest.approx(one.difference)
    assert "the judge puts bold ahead" in told(found)
