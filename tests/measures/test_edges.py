"""Values at the very edge of a rule, where a change of one sign would go unnoticed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.features.tune.choose import KeepRisk
from abstain.measures.answers import least_area
from abstain.outcomes import OUTCOMES
from abstain.stats.hypotheses import Flips, mcnemar
from tests.helpers import GOLD, Here
from tests.snapshots import refuses, says


def test_tied_ranks_below_the_first_take_the_last_of_theirs() -> None:
    mrr: Any = ab.measure("MRR")
    value = mrr([0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6], question=["a"] * 4, rank=[1, 2, 2, 3])
    assert value == pytest.approx(1 / 3)
    first = mrr([1, 0, 0, 0], [0.9, 0.8, 0.7, 0.6], question=["a"] * 4, rank=[1, 2, 2, 3])
    assert first == 1


def test_a_threshold_passes_where_its_chance_is_just_delta() -> None:
    # one answer, not wrong: where half are wrong that has a chance of exactly a half
    curve: Any = SimpleNamespace(wrong=np.array([0]), answered=np.array([1]))
    point = np.array([0])
    assert KeepRisk(alpha=0.5, delta=0.5).passes(curve, point, 0).tolist() == [True]
    assert KeepRisk(alpha=0.5, delta=0.49).passes(curve, point, 0).tolist() == [False]


def test_a_column_called_refusal_changes_nothing_unless_asked(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", "question,answer,refusal\nq1,a,yes\nq2,c,yes\nq3,c,\nq4,d,x\n")
    row = here("score", "gold.csv", "a.csv", "-f", "json").data["results"][0]
    assert (row["counts"]["right"], row["counts"]["wrong"]) == (3, 1)


@pytest.mark.parametrize("top", ["0.5", "0", "-1"])
def test_a_top_grade_below_the_largest(here: Here, top: str) -> None:
    here.write("qrels", "q1 0 d1 1\n")
    here.write("run", "q1 Q0 d1 1 0.5 a\n")
    line = here.refuses("rank", "qrels", "run", "--top", top)
    says(line, "1", f"{top}")
    assert here("rank", "qrels", "run", "--top", "1").code == 0


def test_the_largest_beta() -> None:
    assert ab.measure("F(beta=1000000)").arguments == {"beta": 1e6}
    with pytest.raises(ab.UsageError, match="beta"):
        ab.measure("F(beta=1000001)")


def test_k1_reaches_both_of_its_bounds() -> None:
    k1: Any = ab.measure("K1")
    assert k1.bounds == (-1, 1)
    assert k1([1, 1], [1, 1]) == 1
    assert k1([0, 0], [1, 1]) == -1


def test_totals_over_resamples_leave_out_what_has_no_confidence() -> None:
    from abstain.measures.answers import Resamples

    often = np.array([[1, 2], [1, 0]])
    sure = np.array([0.9, np.nan])
    own = Resamples(np.array([True, False]), sure, often.sum(axis=0), numbers=often)
    assert own.total(own.confidence).tolist() == [0.9, 1.8]


def test_mcnemar_by_hand() -> None:
    # of 8 questions split 1 to 7: 2 · (C(8,0) + C(8,1)) / 2^8 = 18/256; an even split is at most 1
    assert mcnemar(1, 7) == pytest.approx(18 / 256)
    assert mcnemar(7, 1) == pytest.approx(18 / 256)
    assert mcnemar(1, 1) == 1
    assert mcnemar(0, 1) == 1


@pytest.mark.parametrize(("groups", "rows"), [(0, 1), (1, 1), (2, 2), (3, 4), (5, 16)])
def test_signs_of_few_clusters_are_all_of_them_up_to_a_change_of_all(
    groups: int, rows: int
) -> None:
    flips = Flips(groups, trials=7, seed=0)
    every = {tuple(row) for block in flips.blocks() for row in block.tolist()}
    assert (flips.exact, flips.trials, len(every)) == (True, rows, rows)
    if groups:
        both = every | {tuple(-sign for sign in row) for row in every}
        assert len(both) == 2**groups


def test_signs_of_many_clusters_are_as_many_as_asked_for() -> None:
    flips = Flips(40, trials=7, seed=0)
    assert (flips.exact, flips.trials) == (False, 7)
    assert sum(len(block) for block in flips.blocks()) == 7


def test_the_least_area_by_hand() -> None:
    # right, right, wrong, wrong: risks 0, 0, 1/3, 2/4; one wrong answer: 1; no answer: 0
    assert least_area(np.array([2]), np.array([4])) == pytest.approx((1 / 3 + 2 / 4) / 4)
    assert least_area(np.array([0]), np.array([1])) == 1
    assert least_area(np.array([1]), np.array([1])) == 0
    assert least_area(np.array([0]), np.array([0])) == 0


@pytest.mark.parametrize(("t", "least"), [(0.0, 0.0), (0.25, -1 / 3), (0.5, -1.0), (0.75, -3.0)])
def test_the_bounds_of_the_penalised_score(t: float, least: float) -> None:
    # nothing but wrong answers cost t/(1 − t) each; nothing but right ones give 1
    found: Any = ab.measure(f"S(t={t})")
    assert found.bounds == (pytest.approx(least), 1)


@pytest.mark.parametrize(
    ("right", "wrong", "candidate", "f"),
    [(1, 0, 0, 1.0), (0, 1, 0, 0.0), (0, 0, 1, 0.0), (1, 0, 1, 2 / 3), (0, 1, 1, 0.0)],
)
def test_validation_with_one_answer_or_candidate_has_a_value(
    right: int, wrong: int, candidate: int, f: float
) -> None:
    kinds = ["right"] * right + ["wrong"] * wrong + ["unanswered_right"] * candidate
    counts: Any = ab.Counts(
        right=right, wrong=wrong, unanswered_right=candidate, unanswered_empty=3 - len(kinds)
    )
    measure: Any = ab.measure("validation-F")
    assert measure(counts) == pytest.approx(f)


def test_reasons_stay_where_refusals_are_looked_for(here: Here) -> None:
    here.write("gold.csv", GOLD)
    sorry = "I'm sorry, but I can't answer that question."
    here.write("a.csv", f'question,answer,why\nq1,a,\nq2,,error\nq3,"{sorry}",\nq4,d,\n')
    asked = ("score", "gold.csv", "a.csv", "--detect-refusals", "en", "-f", "json")
    assert "1 response failed (error)" in here.refuses(*asked)
    row = here(*asked, "--policy", "error=excluded").data["results"][0]
    assert row["counts"]["wrong"] == 0
    assert row["counts"]["right"] == 2


def test_an_answer_to_a_question_that_was_declined_is_its_candidate(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", "question,answer,answered\nq1,a,no\nq2,c,no\nq3,,no\nq4,d,yes\n")
    counts = here("score", "gold.csv", "a.csv", "-f", "json").data["results"][0]["counts"]
    blanks = [counts[f"unanswered_{kind}"] for kind in ("right", "wrong", "empty")]
    assert (counts["right"], counts["wrong"], blanks) == (1, 0, [1, 1, 1])


@pytest.mark.parametrize("row", ["q1,,yes,declined", "q1,a,,declined", "q1,a,yes,declined"])
def test_a_reason_to_be_blank_contradicts_an_answer(here: Here, row: str) -> None:
    here.write("gold.csv", GOLD)
    rest = "q2,b,yes,\nq3,c,yes,\nq4,d,yes,\n"
    here.write("a.csv", f"question,answer,answered,why\n{row}\n{rest}")
    assert here.refuses("score", "gold.csv", "a.csv").startswith("a.csv:2:")


def test_counts_of_a_dictionary_keep_every_blank() -> None:
    """Kinds of blanks that are left out are unknown, not 0; what contradicts itself is refused."""
    assert ab.Counts.from_dict({"right": 5, "wrong": 3, "unanswered": 2}) == ab.Counts(
        5, 3, unsplit=2
    )
    assert ab.Counts.from_dict({"right": 5, "unanswered_empty": 2, "unanswered": 2}).n == 7
    whole = ab.Counts.of([5, 3, 1, 1, 2])
    assert ab.Counts.from_dict(whole.to_dict()) == whole
    for kinds in ({"unanswered_empty": 100}, dict.fromkeys(OUTCOMES[2:], 1)):
        with refuses(ab.UsageError):
            ab.Counts.from_dict({"right": 5, "wrong": 3, "unanswered": 99, **kinds})
