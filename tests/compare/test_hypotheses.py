"""Tests and corrections: exact references, peers, level and power."""

from __future__ import annotations

import string
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import abstain as ab
from abstain.stats.delta_method import difference
from abstain.stats.hypotheses import (
    Flips,
    adjust,
    bootstrap_p,
    counted_scores,
    mcnemar,
    randomise_clusters,
    wilcoxon,
)
from abstain.stats.intervals import resampled
from abstain.stats.orderings import letter_groups, letters
from abstain.stats.planning import plan
from abstain.stats.randomisation import PValue, exact_p, randomise
from tests.compare import slow
from tests.compare.asked import judged

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
RNG = np.random.default_rng(3)


def flipped(differences: np.ndarray[tuple[int, ...], np.dtype[np.float64]], flips: Flips) -> PValue:
    """p of a mean of paired differences by flips of their signs."""
    return counted_scores(flips @ differences, differences, exact=flips.exact)


def flat(groups: list[list[str]]) -> list[str]:
    return [letter for group in groups for letter in group]


def small_joint(size: int, questions: int) -> Table:
    flat = RNG.multinomial(questions, np.full(size * size, 1 / size**2))
    return np.asarray(flat.reshape(size, size))


# ------------------------------------------------------------------------------ randomisation


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c@1", "F", "S(t=0.5)", "accuracy", "coverage"])
def test_exact_randomisation_swap_by_swap(name: str) -> None:
    for _ in range(4):
        joint = small_joint(3, 9)
        one, other = slow.letters_of(joint)
        assert exact_p(ab.measure(name), joint) == pytest.approx(
            slow.randomisation(name, one, other), abs=1e-9
        )


def test_exact_randomisation_of_precision_swap_by_swap() -> None:
    for _ in range(4):
        joint = small_joint(3, 9)
        one, other = slow.letters_of(joint)
        assert exact_p(ab.measure("precision"), joint) == pytest.approx(
            slow.studentised_precision(one, other), abs=1e-9
        )


@pytest.mark.parametrize("name", ["forced-accuracy", "qa-performance", "estimated-qa-performance"])
def test_exact_randomisation_with_candidates(name: str) -> None:
    joint = small_joint(5, 9)
    one, other = slow.letters_of(joint)
    assert exact_p(ab.measure(name), joint) == pytest.approx(
        slow.randomisation(name, one, other), abs=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cells", "size"), [("c@1", 3, 200), ("precision", 3, 60), ("validation-F", 5, 12)]
)
def test_random_trials_come_near_the_exact_p(name: str, cells: int, size: int) -> None:
    same = np.eye(cells, dtype=np.int64) * 30
    joint = np.stack([small_joint(cells, size) + same for _ in range(6)])
    exact = randomise(ab.measure(name), joint, exact=True)
    drawn = randomise(ab.measure(name), joint, trials=20_000, exact=False)
    assert all(p.exact for p in exact)
    assert not any(p.exact for p in drawn)
    for a, b in zip(exact, drawn, strict=True):
        assert a.p == pytest.approx(b.p, abs=4 * np.sqrt(0.25 / 20_000) + 1e-4)


@pytest.mark.parametrize("m", [2_000, 100_000, 1_000_000])
def test_the_far_tail_as_scipys_binomial_test(m: int) -> None:
    """All questions are right for one run and wrong for the other: accuracy's p is a sign test."""
    off = int(4.5 * m**0.5)
    joint = np.zeros((3, 3), np.int64)
    joint[0, 1], joint[1, 0] = m // 2 + off, m // 2 - off
    expected = stats.binomtest(int(joint[0, 1]), m, 0.5).pvalue
    assert expected < 1e-18
    assert exact_p(ab.measure("accuracy"), joint) == pytest.approx(expected, rel=0.02, abs=0)


def test_a_pair_has_its_p_whatever_the_others_are() -> None:
    joint = np.stack([small_joint(3, 300) for _ in range(5)])
    whole = randomise(ab.measure("c@1"), joint, trials=500, exact=False)
    alone = randomise(ab.measure("c@1"), joint[3:4], trials=500, exact=False)
    assert whole[3] == alone[0]


def test_trials_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.stats import randomisation

    joint = small_joint(3, 500)[None]
    whole = randomise(ab.measure("c@1"), joint, trials=700, exact=False)
    monkeypatch.setattr(randomisation, "BLOCK_BYTES", 3 * 8 * 8 * 100)
    assert randomise(ab.measure("c@1"), joint, trials=700, exact=False) == whole


def test_clusters_are_swapped_whole() -> None:
    """Three clusters: eight ways of swapping, done by hand."""
    name = "c@1"
    one = [["R", "R"], ["W", "R"], ["UE", "R"]]
    other = [["W", "R"], ["W", "W"], ["R", "W"]]
    seen = abs(slow.score(name, flat(one)) - slow.score(name, flat(other)))
    hits = 0
    for code in range(8):
        first = flat([(other if code >> g & 1 else one)[g] for g in range(3)])
        second = flat([(one if code >> g & 1 else other)[g] for g in range(3)])
        hits += abs(slow.score(name, first) - slow.score(name, second)) >= seen - 1e-12
    place = {"R": 0, "W": 1, "UE": 2}

    def table(groups: list[list[str]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        found = np.zeros((3, 3))
        for g, members in enumerate(groups):
            for letter in members:
                found[g, place[letter]] += 1
        return found

    tables = np.stack([table(one), table(other)])
    (found,) = randomise_clusters(ab.measure(name), tables, [(0, 1)], Flips(3, trials=100, seed=0))
    assert found.exact
    assert found.p == pytest.approx(hits / 8)


def test_scores_as_scipys_permutation_test() -> None:
    differences = RNG.normal(0.3, 1, size=11)
    theirs = stats.permutation_test(
        (differences,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    found = flipped(differences, Flips(11, trials=100, seed=0))
    assert found.exact
    assert found.p == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.slow
def test_randomisation_holds_its_level_and_has_power() -> None:
    """Two equal runs are told apart in at most 5 % of samples; unequal ones mostly."""
    generator = np.random.default_rng(17)
    same = [0.2, 0.1, 0.05, 0.1, 0.35, 0.05, 0.05, 0.05, 0.05]
    better = [0.2, 0.17, 0.05, 0.03, 0.35, 0.03, 0.05, 0.07, 0.05]
    rates = []
    for shares in (same, better):
        joint = generator.multinomial(200, shares, size=600).reshape(-1, 3, 3)
        found = randomise(ab.measure("c@1"), joint)
        rates.append(np.mean([p.p <= 0.05 for p in found]))
    assert 0.02 <= rates[0] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    assert rates[1] > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("test", ["bootstrap", "mcnemar"])
def test_bootstrap_and_mcnemar_hold_their_level_and_have_power(test: str) -> None:
    generator = np.random.default_rng(19)
    m, times, n = ab.measure("accuracy"), 600, 200
    f = difference(m)
    rates = []
    for right, wrong in ((0.15, 0.15), (0.22, 0.08)):
        shares = [0.35, right, 0, wrong, 0.35, 0, 0, 0, 0]
        joint = generator.multinomial(n, shares, size=times)
        if test == "mcnemar":
            p = [mcnemar(int(own[1]), int(own[3])) for own in joint]
        else:
            p = [
                bootstrap_p(
                    resampled(f.value, own.astype(float), None, trials=400, generator=generator)
                )
                for own in joint
            ]
        rates.append(np.mean(np.array(p) <= 0.05))
    assert 0.01 <= rates[0] <= 0.06 + 3 * np.sqrt(0.06 * 0.94 / times)
    assert rates[1] > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
def test_equal_precision_at_unequal_coverage_is_no_difference(clustered: bool) -> None:
    """One run answers all, the other a tenth, both half right: the level holds all the same.

    The plain difference is called extreme in a quarter of the samples.
    """
    generator = np.random.default_rng(31)
    measure, times, questions = ab.measure("precision"), 400, 280
    shares = np.outer([0.5, 0.5, 0], [0.05, 0.05, 0.9]).ravel()
    if clustered:
        cells = generator.multinomial(4, shares, size=(times, questions // 4)).reshape(
            times, -1, 3, 3
        )
        flips = Flips(questions // 4, trials=400, seed=1)
        p = [
            randomise_clusters(
                measure, np.stack([own.sum(axis=1), own.sum(axis=2)]), [(0, 1)], flips
            )
            for own in cells.astype(float)
        ]
        found = np.array([one[0].p for one in p])
    else:
        joint = generator.multinomial(questions, shares, size=times).reshape(-1, 3, 3)
        found = np.array([x.p for x in randomise(measure, joint, trials=400, exact=False)])
    assert 0.02 <= (found <= 0.05).mean() <= 0.06 + 3 * np.sqrt(0.06 * 0.94 / times)


def test_randomisation_of_precision_has_power() -> None:
    generator = np.random.default_rng(37)
    shares = np.outer([0.6, 0.4, 0], [0.2, 0.3, 0.5]).ravel()
    joint = generator.multinomial(280, shares, size=200).reshape(-1, 3, 3)
    found = randomise(ab.measure("precision"), joint, trials=400, exact=False)
    assert np.mean([x.p <= 0.05 for x in found]) > 0.8


@pytest.mark.slow
def test_swapping_clusters_holds_the_level_that_swapping_questions_does_not() -> None:
    """Two equal runs whose ten outcomes in a cluster mostly go together, fourteen clusters."""
    generator = np.random.default_rng(29)
    measure, times, groups = ab.measure("c@1"), 300, 14
    shares = generator.dirichlet([0.4, 0.5, 0.1], size=(times, 2, groups, 1))
    draw = generator.random((times, 2, groups, 10, 1))
    hot = np.eye(3)[(draw > shares.cumsum(axis=-1)[..., :2]).sum(axis=-1)]
    flips = Flips(groups, trials=0, seed=0)
    tables = hot.sum(axis=3)
    whole = [randomise_clusters(measure, own, [(0, 1)], flips)[0].p for own in tables]
    joint = np.einsum("tgqi,tgqj->tij", hot[:, 0], hot[:, 1]).astype(np.int64)
    single = [p.p for p in randomise(measure, joint)]
    assert np.mean(np.array(whole) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / times)
    assert np.mean(np.array(single) <= 0.05) > 0.2


def test_studentised_clusters_of_one_question_are_questions() -> None:
    """Up to the factor G/(G − 1), which the pseudo-counts do not share."""
    joint = small_joint(3, 60)
    one, other = slow.letters_of(joint)
    place = {"R": 0, "W": 1, "UE": 2}
    tables = np.stack([np.eye(3)[[place[x] for x in run]] for run in (other, one)])
    (found,) = randomise_clusters(
        ab.measure("precision"), tables, [(0, 1)], Flips(60, trials=20_000, seed=0)
    )
    (whole,) = randomise(ab.measure("precision"), joint[None])
    assert found.p == pytest.approx(whole.p, abs=0.02)


def test_one_precision_against_another_needs_no_correction() -> None:
    rows: dict[str, list[str]] = {"run": [], "question": [], "grade": []}
    for run, text in (("x", "ABCABCAABBCA"), ("y", "AACBBCABCACC")):
        rows["run"] += [run] * 12
        rows["question"] += [f"q{i}" for i in range(12)]
        rows["grade"] += list(text)
    found = judged(pl.DataFrame(rows), against="x", measure="precision")
    assert found.correction == "holm"
    assert found.pairs[0].p_adjusted == found.pairs[0].p


# -------------------------------------------------------------------------- McNemar, Wilcoxon


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 5), (3, 9), (20, 21), (40, 80)])
def test_mcnemar_by_whole_numbers_and_statsmodels(b: int, c: int) -> None:
    assert mcnemar(b, c) == pytest.approx(float(slow.mcnemar(b, c)), rel=1e-9)
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    if b + c:
        assert mcnemar(b, c) == pytest.approx(
            tables.mcnemar([[5, b], [c, 5]], exact=True).pvalue, rel=1e-9
        )


def test_ties_are_ties_however_they_are_written() -> None:
    """0.7 − 0.5 and 0.3 − 0.1 are not the same double, but the same difference."""
    one = np.array([7, 4, 5, 4, 4, 2, 3, 3])
    other = np.array([5, 5, 3, 6, 2, 0, 1, 0])
    assert len({float(d) for d in one / 10 - other / 10}) > len(set(one - other))
    whole = wilcoxon((one - other).astype(float))
    assert whole.p == pytest.approx(0.109375)
    assert wilcoxon(one / 10 - other / 10) == whole
    assert wilcoxon(one * 1e5 / 3 - other * 1e5 / 3) == whole
    flips = Flips(8, trials=0, seed=0)
    shifted = flipped((one - other).astype(float), flips)
    for scale in (0.1, 1e9 / 3):
        assert flipped(one * scale - other * scale, flips) == shifted


def test_wilcoxon_sign_by_sign_and_scipy() -> None:
    for size in (4, 8, 11):
        differences = RNG.normal(0.4, 1, size=size)
        found = wilcoxon(differences)
        assert found.exact
        assert found.p == pytest.approx(slow.wilcoxon(list(differences)), abs=1e-12)
    small = np.array([0.1, 0.1, -0.1, 0.3, 0.0, 0.2, 0.2])
    ranks = np.array([2, 2, -2, 6, 4.5, 4.5])
    ways = np.array([(np.array(s) * np.abs(ranks)).sum() for s in product((-1, 1), repeat=6)])
    assert wilcoxon(small).p == pytest.approx((np.abs(ways) >= ranks.sum()).mean())
    ties = np.round(RNG.normal(0.2, 1, size=80), 1)
    kept = ties[ties != 0]
    assert not wilcoxon(ties).exact
    assert wilcoxon(ties).p == pytest.approx(stats.wilcoxon(kept, method="asymptotic").pvalue)
    assert wilcoxon(np.zeros(4)).p == 1
    assert wilcoxon(RNG.normal(size=40)).exact
    assert wilcoxon(np.array([1.0, np.nan, 2.0])).p == pytest.approx(slow.wilcoxon([1.0, 2.0]))


# -------------------------------------------------------------------------------- corrections


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_as_statsmodels_and_scipy(p: list[float]) -> None:
    values = np.array(p)
    assert adjust(values, "holm") == pytest.approx(slow.holm(p), abs=1e-12)
    assert adjust(values, "bh") == pytest.approx(stats.false_discovery_control(values), abs=1e-12)
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    assert adjust(values, "holm") == pytest.approx(
        multitest.multipletests(values, method="holm")[1]
    )
    assert adjust(values, "bh") == pytest.approx(
        multitest.multipletests(values, method="fdr_bh")[1]
    )


def test_what_has_no_p_is_not_counted() -> None:
    found = adjust(np.array([0.01, np.nan, 0.02]), "holm")
    assert found[[0, 2]] == pytest.approx([0.02, 0.02])
    assert np.isnan(found[1])


# ------------------------------------------------------------------------------------ letters


@given(st.integers(1, 9), st.data())
def test_runs_share_a_letter_where_they_do_not_differ(size: int, data: st.DataObject) -> None:
    pairs = list(combinations(range(size), 2))
    different = [p for p in pairs if data.draw(st.booleans())]
    groups = letter_groups(size, different)
    assert groups is not None
    members = [{g for g, group in enumerate(groups) if i in group} for i in range(size)]
    assert all(members)
    assert slow.letters_agree(members, set(different))
    written = letters(size, groups)
    assert all(set(text) <= set(string.ascii_letters) | {"–"} for text in written)


def test_letters_of_a_ladder() -> None:
    """Five runs in a row, each told apart from those two places away."""
    different = [(i, j) for i, j in combinations(range(5), 2) if j - i > 1]
    groups = letter_groups(5, different)
    assert groups == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert letters(5, groups) == ["a", "ab", "bc", "cd", "d"]
    assert letters(1, [[0]] * 5) == ["a–e"]


# ----------------------------------------------------------------------------------- planning


@pytest.mark.slow
def test_a_plan_says_how_often_the_randomisation_finds_it() -> None:
    """Samples of runs that differ by `detect`, and the test itself: no formula of the plan's."""
    generator = np.random.default_rng(41)
    m, times, n = ab.measure("accuracy"), 500, 120
    shares = np.array([0.4, 0.19, 0, 0.06, 0.35, 0, 0, 0, 0])
    error = np.sqrt((0.25 - 0.13**2) / n)
    found = plan(error, n, detect=0.13, power=0.95)
    assert found is not None
    assert found.power is not None
    assert found.needed is not None
    for size, power in ((n, found.power), (found.needed, 0.95)):
        joint = generator.multinomial(size, shares, size=times).reshape(-1, 3, 3)
        rate = np.mean([x.p <= 0.05 for x in randomise(m, joint)])
        assert rate == pytest.approx(power, abs=0.03 + 3 * np.sqrt(power * (1 - power) / times))


def test_a_plan_knows_that_few_clusters_show_less() -> None:
    """Ten clusters: the power of swapping them whole, and what a normal quantile would say."""
    times, groups = 2000, 10
    sums = np.random.default_rng(43).normal(0.8, 1, size=(times, groups))
    error = 1 / np.sqrt(groups)
    found = plan(error, 100, clusters=groups, detect=0.8)
    blind = plan(error, 100, clusters=100_000, detect=0.8)
    assert found is not None
    assert blind is not None
    assert found.power is not None
    assert blind.power is not None
    flips = Flips(groups, trials=0, seed=0)
    rate = np.mean([flipped(own, flips).p <= 0.05 for own in sums])
    assert found.power == pytest.approx(rate, abs=3 * np.sqrt(0.25 / times))
    assert blind.power > rate + 0.05


def test_with_too_few_clusters_nothing_shows_and_the_plan_asks_for_enough() -> None:
    found = plan(0.02, 60, clusters=4, least_units=6, detect=0.5)
    assert found is not None
    assert found.visible is None
    assert found.power == 0
    assert found.needed == 90


def test_without_disagreement_there_is_no_plan() -> None:
    assert plan(0.0, 100) is None
    assert plan(float("nan"), 100) is None
