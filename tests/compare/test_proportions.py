"""Differences of proportions that have trials of their own, and what few answers can show."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import abstain as ab
from abstain.features.compare.judge_errors import correct_for_judge
from abstain.measures import definitions, measure
from abstain.stats import proportions
from abstain.stats.delta_method import effective_clusters
from abstain.stats.planning import plan
from tests.compare.asked import told
from tests.snapshots import says

SHY = np.array([[3, 0, 27], [2, 0, 28], [0, 0, 0]])
"""Rows of a run with 30 right of 60; columns of one with 5 right of 5."""


def answered(runs: dict[str, str], **columns: list[str]) -> pl.DataFrame:
    """Rows from strings of r, w and - for each run."""
    words = {"r": "right", "w": "wrong", "-": "unanswered_empty"}
    frames = [
        pl.DataFrame(
            {
                "run": name,
                "question": [f"q{k}" for k in range(len(text))],
                "outcome": [words[x] for x in text],
                **columns,
            }
        )
        for name, text in runs.items()
    ]
    return pl.concat(frames)


def test_five_of_five_is_no_proof() -> None:
    rows = answered({"bold": "rrrww" + "r" * 27 + "w" * 28, "shy": "rrrrr" + "-" * 55})
    found = ab.read_judged(rows).compare("precision")
    (pair,) = found.pairs
    assert pair.difference == 0.5
    assert pair.p == pytest.approx(stats.fisher_exact([[5, 0], [30, 30]]).pvalue, abs=1e-9)
    assert not pair.differs


def test_the_statistic_by_hand() -> None:
    """2,000 of 4,000 against 3,000 of 4,000 on other questions: what is added hardly counts."""
    table = np.zeros((3, 3))
    table[2, :2], table[:2, 2] = 2000, (3000, 1000)
    p = 5000 / 8000
    expected = -0.25 / math.sqrt(p * (1 - p) * (1 / 4000 + 1 / 4000))
    assert float(proportions.statistic(table)) == pytest.approx(expected, rel=1e-3)


def test_fitted_chances_have_the_pooled_proportion_and_the_answers_that_there_are() -> None:
    table = np.array([[12.0, 3, 10], [2, 4, 9], [5, 3, 12]])
    chances = proportions.alike(table) * table.sum()
    own, other = chances.sum(axis=0), chances.sum(axis=1)
    pooled = (19 + 25 + 0.5) / (29 + 40 + 1)
    assert own[0] / (own[0] + own[1]) == pytest.approx(pooled, abs=1e-6)
    assert other[0] / (other[0] + other[1]) == pytest.approx(pooled, abs=1e-6)
    assert own[2] == pytest.approx(31, abs=1e-6)
    odds = chances[0, 0] * chances[1, 1] / (chances[0, 1] * chances[1, 0])
    added = table + 1 / 6
    assert odds == pytest.approx(added[0, 0] * added[1, 1] / (added[0, 1] * added[1, 0]))


def test_few_answers_keep_the_level() -> None:
    """Equal precision, one run answers about ten of sixty: swaps erred 9 to 18 % here."""
    generator = np.random.default_rng(3)
    samples, questions = 400, 60
    right = generator.random((2, samples, questions)) < 0.8
    shy = generator.random((samples, questions)) < 10 / 60
    own = np.where(shy, np.where(right[0], 0, 1), 2)
    cell = np.where(right[1], 0, 1) * 3 + own
    table = np.stack([(cell == k).sum(axis=1) for k in range(9)], axis=1).reshape(-1, 3, 3)
    found = proportions.p_values(table, trials=199, seed=0)
    assert np.mean([one.p <= 0.05 for one in found]) <= 0.07 + 1.7 * math.sqrt(0.05 * 0.95 / 400)
    far = np.array([[2, 2, 36], [3, 13, 4], [0, 0, 0]])
    assert proportions.p_values(far[None], trials=199, seed=0)[0].p < 0.05


def test_mover_by_hand() -> None:
    """From the two beta intervals, by scipy; runs that answer other questions share nothing."""
    table = np.zeros((1, 3, 3))
    table[0, 2, :2], table[0, :2, 2] = (9, 3), (20, 20)
    low, high = proportions.mover(table, (1.0, 1.0), proportions.correlation(table), level=0.95)

    def ends(x: int, n: int) -> tuple[float, float]:
        one, two = stats.beta(x + 0.5, n - x + 0.75), stats.beta(x + 0.75, n - x + 0.5)
        return one.ppf(0.025), two.ppf(0.975)

    (a, b), (c, d) = ends(9, 12), ends(20, 40)
    assert low[0] == pytest.approx(0.25 - math.hypot(0.75 - a, d - 0.5))
    assert high[0] == pytest.approx(0.25 + math.hypot(b - 0.75, 0.5 - c))


def test_the_correlation_is_pearsons_where_both_answer_all() -> None:
    table = np.array([[30.0, 5, 0], [7, 18, 0], [0, 0, 0]])
    own = np.repeat([1, 0, 1, 0], [30, 5, 7, 18])
    other = np.repeat([1, 1, 0, 0], [30, 5, 7, 18])
    assert float(proportions.correlation(table)) == pytest.approx(np.corrcoef(own, other)[0, 1])


def test_every_proportion_has_its_trials() -> None:
    for own in definitions("counts").values():
        if own.proportion is not None and own.studentised:
            assert own.divides_by == own.proportion.trials


def test_meta_has_no_test_of_all_pairs_by_a_ratio() -> None:
    generator = np.random.default_rng(1)
    texts = {f"r{k}": "".join(generator.choice(list("rw-"), 60)) for k in range(4)}
    found = ab.read_judged(answered(texts)).meta(["precision", "accuracy"], parts="power")
    ratio, share = found.power
    assert ratio.tukey is None
    assert "Tukey" in ratio.reason
    assert ratio.bootstrap is not None
    assert share.honest_difference is not None
    says(str(found).replace("\n", " "))


# ----------------------------------------------------------------------------- no verdict


def test_too_few_answers_have_no_verdict_and_say_from_how_many_on() -> None:
    generator = np.random.default_rng(2)
    texts = {name: "".join(generator.choice(list("rw"), 60)) for name in ("one", "two")}
    texts["two"] = texts["two"][:12] + "-" * 48
    rows = answered(texts).with_columns(confidence=pl.Series(generator.random(120)))
    found = ab.read_judged(rows).compare("AUROC")
    (pair,) = found.pairs
    assert (pair.p, pair.differs) == (None, None)
    says(pair.no_test, "12")
    assert pair.no_test in told(found)
    assert ab.CompareResult.__name__ in repr(found)
    found = ab.read_judged(rows).compare("validation-F")
    assert found.pairs[0].p is None
    says(told(found), "40")


def test_the_errors_of_a_judge_are_undone_by_how_its_sample_was_drawn() -> None:
    """50 of each verdict: P(true | judged) by hand, 500 responses as they would be."""
    rates = np.array([[0.92, 0.06, 0.02], [0.08, 0.9, 0.02], [0.02, 0.03, 0.95]])
    both = np.array([0.6, 0.25, 0.15])[:, None] * rates
    judged = both.sum(axis=0)
    by_verdict = 50 * both / judged
    score, span = correct_for_judge(
        measure("accuracy"), 500 * judged, by_verdict, drawn="verdict", draws=2000
    )
    assert score == pytest.approx(0.6)
    assert 0.6 in span
    wrong, _ = correct_for_judge(measure("accuracy"), 500 * judged, by_verdict, draws=100)
    assert abs(wrong - 0.6) > 0.05


def test_as_many_of_each_verdict_have_to_say_how_they_were_drawn() -> None:
    rows = answered({"one": "rrrwww--", "two": "rrwwww--"})
    table = pl.DataFrame(
        {"true": ["right", "wrong", "blank"], "right": [45, 4, 1], "wrong": [5, 44, 1]}
    ).with_columns(blank=pl.Series([1, 2, 47]))
    with pytest.raises(ab.AbstainError, match="50 responses of each verdict"):
        ab.read_judged(rows).compare("accuracy", judge_error=table)
    found = ab.read_judged(rows).compare("accuracy", judge_error=table, judge_drawn="verdict")
    assert found.judge_drawn == "verdict"
    says(told(found))
    with pytest.raises(ab.AbstainError, match="needs"):
        ab.read_judged(rows).compare("accuracy", judge_drawn="verdict")


# ------------------------------------------------------------------------ gains, moves, clusters


def test_a_gain_has_an_interval_and_useless_confidence_no_gain() -> None:
    generator = np.random.default_rng(5)
    rows = answered({"one": "".join(generator.choice(list("rw"), 50))}).with_columns(
        confidence=pl.Series(generator.random(50))
    )
    (own,) = ab.read_judged(rows).tune().runs
    low, high = own.gain_interval
    assert low is not None
    assert high is not None
    assert low <= (own.gain or 0) <= high
    said = str(ab.read_judged(rows).tune()).replace("\n", " ")
    assert "this may be chance" in said


def test_moves_without_candidates_have_no_split() -> None:
    found = ab.read_judged(answered({"one": "rrww--", "two": "rr----"})).compare("c@1")
    assert found.origin is not None
    assert found.origin.knowing is None
    assert "column candidate" in told(found)


def test_few_clusters_are_told() -> None:
    assert float(effective_clusters(np.array([4.0, 4, 4]))) == pytest.approx(3)
    docs = [f"d{k // 3}" for k in range(12)]
    read = ab.read_judged(
        answered({"one": "rwrwrwrrwwrr", "two": "rrrwrwrrwwrw"}, doc=docs), cluster="doc"
    )
    warned = " 4 clusters are as informative as 4.0 clusters of equal size"
    assert warned in told(read.compare("accuracy"))
    assert any(warned in note for note in read.score("accuracy", interval=True).notes)


def test_a_plan_from_few_clusters_has_a_range() -> None:
    """The standard error of 8 clusters is known as well as χ² with 7 degrees says."""
    found = plan(0.02, 80, clusters=8, detect=0.05)
    assert found is not None
    assert found.visible_range is not None
    ends = [math.sqrt(7 / stats.chi2(7).ppf(q)) for q in (0.975, 0.025)]
    for end, scale in zip(found.visible_range, ends, strict=True):
        alone = plan(0.02 * scale, 80, clusters=8)
        assert alone is not None
        assert end == pytest.approx(alone.visible)
    assert found.needed_range is not None
    assert found.needed is not None
    assert found.needed_range[0] < found.needed < found.needed_range[1]
