"""Tests and intervals of small samples by enumeration, and what limits decide at their edges."""

from __future__ import annotations

import inspect
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import abstain as ab
from abstain.errors import UsageError
from abstain.measures import Measure
from abstain.stats import hypotheses, intervals, randomisation
from abstain.stats.delta_method import effective, one_run
from abstain.stats.hypotheses import (
    Flips,
    adjust,
    randomise_clusters,
    signed_gaps,
    wilcoxon,
)
from abstain.stats.intervals import cell_interval, check_method, interval, posterior, resampled
from abstain.stats.randomisation import (
    Tosses,
    binomial,
    exact_p,
    few_states,
    of_clusters,
    randomise,
    sampled_p,
    swap_lattice,
)
from tests.snapshots import refuses

OUTCOMES = np.eye(3)
JOINT = np.array([[2, 1, 0], [2, 1, 1], [0, 2, 1]])
WITH_ROOM = np.array([[1, 3, 1], [0, 1, 2], [1, 0, 0]])


def score(measure: Measure, rows: Any) -> float:
    right, wrong, blank = (int(x) for x in np.sum(rows, axis=0))
    return float(measure(ab.Counts(right=right, wrong=wrong, unanswered_empty=blank)))


def pairs(joint: Any) -> list[tuple[int, int]]:
    """The outcomes of every question: those of one run and of the other."""
    return [(a, b) for a in range(3) for b in range(3) for _ in range(joint[a][b])]


@pytest.mark.parametrize("name", ["accuracy", "c@1", "wrong-rate"])
@pytest.mark.parametrize("joint", [JOINT, WITH_ROOM, JOINT.T, np.diag([1, 2, 1])])
def test_the_exact_p_is_the_share_of_all_swaps_of_questions(name: str, joint: Any) -> None:
    measure, hits, ways = ab.measure(name), 0, 0
    both = [pair for pair in pairs(joint) if pair[0] != pair[1]]
    same = [OUTCOMES[a] for a, b in pairs(joint) if a == b]
    seen = abs(
        score(measure, same + [OUTCOMES[b] for _, b in both])
        - score(measure, same + [OUTCOMES[a] for a, _ in both])
    )
    for swapped in product((False, True), repeat=len(both)):
        one = [OUTCOMES[b if s else a] for (a, b), s in zip(both, swapped, strict=True)]
        two = [OUTCOMES[a if s else b] for (a, b), s in zip(both, swapped, strict=True)]
        drawn = abs(score(measure, same + two) - score(measure, same + one))
        hits, ways = hits + (drawn >= seen - 1e-12), ways + 1
    assert exact_p(measure, joint) == pytest.approx(hits / ways)
    assert randomise(measure, joint[None])[0].exact


def test_the_lattice_holds_every_way_once() -> None:
    weights, first, unseen = swap_lattice(JOINT)
    assert weights.sum() == pytest.approx(1)
    assert unseen == 0
    assert (first.sum(axis=1) == JOINT.sum()).all()
    both = [pair for pair in pairs(JOINT) if pair[0] != pair[1]]
    expected: dict[tuple[int, ...], float] = {}
    for swapped in product((0, 1), repeat=len(both)):
        ends = [pair[s] for pair, s in zip(both, swapped, strict=True)]
        counts = tuple(int(JOINT[k, k]) + ends.count(k) for k in range(3))
        expected[counts] = expected.get(counts, 0) + 0.5 ** len(both)
    found = {tuple(int(x) for x in row): w for row, w in zip(first, weights, strict=True)}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("change", [-1, 0])
@pytest.mark.parametrize(
    ("name", "limit", "table", "states"),
    [
        # right + blank of the first run: 0…3 of the 2 + 1, and 0…3 of the 1 + 2 that hold blanks
        ("c@1", "EXACT_STATES", [[5, 2, 1], [0, 5, 2], [0, 0, 5]], 4 * 4),
        ("precision", "STUDENTISED_STATES", [[5, 2, 1], [0, 5, 2], [0, 0, 5]], 3 * 2 * 3),
    ],
)
def test_as_many_states_as_the_limit_are_written_down(
    name: str, limit: str, table: Any, states: int, change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(randomisation, limit, states + change)
    assert few_states(ab.measure(name), np.array(table)) == (change == 0)


def test_five_outcomes_have_as_many_states_as_ways_to_swap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = np.zeros((5, 5), np.int64)
    table[0, 1], table[2, 4] = 3, 1
    for limit, few in ((8, True), (7, False)):
        monkeypatch.setattr(randomisation, "EXACT_STATES", limit)
        assert few_states(ab.measure("forced-accuracy"), table) == few


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_few_clusters_are_corrected_by_their_number(groups: int) -> None:
    """G/(G − 1) times the squares of what each cluster adds; with one alone nothing is known."""
    measure = ab.measure("accuracy")
    own = np.array([[3.0, 1, 0], [0, 3, 1], [2, 1, 2]])[:groups]
    other = np.array([[1.0, 2, 1], [1, 2, 1], [1, 4, 0]])[:groups]
    n = own.sum()
    shares = [(own.sum(axis=0)[0] + 0.5) / (n + 1.5), (other.sum(axis=0)[0] + 0.5) / (n + 1.5)]
    psi = [np.array([1 - p, -p, -p]) for p in shares]  # of accuracy: right or not, less its share
    sums = own @ psi[0] - other @ psi[1]
    spread = groups / max(groups - 1, 1) * (sums**2).sum()
    spread += 0.5 / 3 * sum((x - y) ** 2 for x in psi[0] for y in psi[1])
    expected = (own[:, 0].sum() - other[:, 0].sum()) / n * n / math.sqrt(spread)
    found = of_clusters(measure, own, other, np.ones((1, groups)))
    assert found[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("m", [41, 1_000, 300_001])
def test_the_chances_of_many_tosses_add_up_to_one(m: int) -> None:
    assert float(binomial(m).sum()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("block", [1, 4, 10, 1000])
def test_random_swaps_are_the_same_block_by_block(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, done = np.stack([np.diag([3, 4, 5]), JOINT + np.eye(3, dtype=int)]), list[int]()
    for name in ("accuracy", "precision"):
        whole = sampled_p(ab.measure(name), tables, trials=10, seed=3)
        with monkeypatch.context() as patched:
            patched.setattr(randomisation, "BLOCK_BYTES", block * 8 * 3)  # a word, three kinds
            drawn = sampled_p(ab.measure(name), tables, trials=10, seed=3, progress=done.append)
        assert drawn.tolist() == whole.tolist()
        assert drawn[0] == 1  # runs that never differ
    assert done == [1] * 4


def test_a_run_may_differ_in_every_question() -> None:
    """As many coins are tossed as there are questions, also where these fill their words."""
    for questions in (63, 64, 64 * 64, 65 * 64):
        joint = np.zeros((1, 3, 3), np.int64)
        joint[0, 0, 1] = questions
        assert sampled_p(ab.measure("accuracy"), joint, trials=4, seed=0)[0] == 1 / 5


def test_every_coin_may_show_either_side() -> None:
    words = np.array([[0, (1 << 64) - 1], [(1 << 64) - 1, 0]], np.uint64)
    tosses = Tosses(words)
    assert tosses.heads(64).tolist() == [0, 64]
    assert tosses.heads(65).tolist() == [1, 64]
    assert tosses.heads(100).tolist() == [36, 64]


@pytest.mark.parametrize(
    ("function", "defaults"),
    [
        (randomise, {"trials": 10_000, "seed": 0, "exact": None}),
        (interval, {"level": 0.95, "trials": 10_000, "seed": 0, "method": "beta"}),
        (cell_interval, {"level": 0.95, "trials": 10_000, "seed": 0, "method": "beta"}),
    ],
)
def test_ten_thousand_trials_from_seed_0_at_95_percent(function: Any, defaults: Any) -> None:
    signature = inspect.signature(function)
    assert {name: signature.parameters[name].default for name in defaults} == defaults


# ------------------------------------------------------------------------------ other tests


def test_differences_are_equal_to_nine_decimals_of_the_largest() -> None:
    assert signed_gaps(np.array([4e-10, 6e-10, 1.0])).tolist() == [0, 1e-9, 1]
    assert signed_gaps(np.array([4e-9, 10.0, math.nan])).tolist() == [0, 1]
    assert wilcoxon(np.array([1.0, 4e-10])).p == 1


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ([0.01, 0.02, 0.03], [0.03, 0.04, 0.04]),
        ([0.5, 0.1], [0.5, 0.2]),
        ([0.9, 0.8], [1, 1]),
        ([0.2], [0.2]),
        ([], []),
    ],
)
def test_holm_by_hand(p: list[float], expected: list[float]) -> None:
    assert adjust(np.array([math.nan, *p]), "holm")[1:] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ([0.01, 0.02, 0.03], [0.03, 0.03, 0.03]),
        ([0.5, 0.1], [0.5, 0.2]),
        ([0.9, 0.8], [0.9, 0.9]),
        ([0.01, 0.5, 0.011, 0.04], [0.022, 0.5, 0.022, 0.04 * 4 / 3]),
        ([], []),
    ],
)
def test_benjamini_and_hochberg_by_hand(p: list[float], expected: list[float]) -> None:
    assert adjust(np.array(p), "bh") == pytest.approx(expected)


@pytest.mark.parametrize(("groups", "rows"), [(0, 1), (1, 1), (2, 2), (3, 4), (5, 16)])
def test_flips_of_few_clusters_are_all_up_to_their_mirror_image(groups: int, rows: int) -> None:
    flips = Flips(groups, trials=7, seed=0)
    (signs,) = flips.blocks()
    assert flips.exact
    assert signs.shape == (rows, groups)
    assert len({tuple(row) for row in signs} | {tuple(-row) for row in signs}) == min(
        2**groups, 2 * rows
    )
    assert set(signs.ravel()) <= {-1.0, 1.0}


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_random_flips_are_as_many_as_asked_for_in_any_blocks(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hypotheses, "EXACT_UNITS", 2)
    monkeypatch.setattr(randomisation, "AT_ONCE", block)
    own = Flips(3, trials=5, seed=1)
    assert not own.exact
    assert [len(signs) for signs in own.blocks()] == {
        1: [1] * 5,
        2: [2, 2, 1],
        3: [3, 2],
        100: [5],
    }[block]
    assert (np.abs(own @ np.eye(3)) == 1).all()
    monkeypatch.setattr(randomisation, "BLOCK_BYTES", 8 * 3 * 2)  # two rows of three doubles
    assert max(len(signs) for signs in own.blocks()) == min(block, 2)


@pytest.mark.parametrize("name", ["accuracy", "c@1"])
def test_the_p_of_swapped_clusters_by_all_swaps(name: str) -> None:
    measure = ab.measure(name)
    tables = np.array([[[3.0, 1, 0], [2, 2, 1], [4, 0, 1]], [[1.0, 2, 1], [2, 3, 0], [1, 3, 1]]])
    seen = abs(score(measure, tables[0]) - score(measure, tables[1]))
    drawn = []
    for swapped in product((0, 1), repeat=3):
        one = [tables[s][g] for g, s in enumerate(swapped)]
        two = [tables[1 - s][g] for g, s in enumerate(swapped)]
        drawn.append(abs(score(measure, one) - score(measure, two)))
    expected = np.mean([own >= seen - 1e-12 for own in drawn])
    (found,) = randomise_clusters(measure, tables, [(0, 1)], Flips(3, trials=0, seed=0))
    assert found.p == pytest.approx(expected)
    assert found.exact


# -------------------------------------------------------------------------------- intervals


def test_the_posterior_of_clustered_questions_counts_by_what_they_are_worth() -> None:
    """Accuracy where worth·6/10 and worth·4/10 questions speak: Beta(6w + ½, 4w + 1)."""
    accuracy, cells = one_run(ab.measure("accuracy")), np.array([6.0, 3, 1])
    clusters = np.array([[4.0, 0, 0], [2.0, 0, 1], [0, 3, 0]])
    worth = float(effective(accuracy, cells, clusters, level=0.95)) / 10
    assert worth < 0.7
    drawn = posterior(accuracy, cells, clusters, level=0.95, generator=np.random.default_rng(0))
    expected = stats.beta(6 * worth + 0.5, 4 * worth + 1)
    assert drawn.mean() == pytest.approx(expected.mean(), abs=0.006)
    assert drawn.std() == pytest.approx(expected.std(), rel=0.03)


@pytest.mark.parametrize("block", [1, 6, 7, 1000])
def test_resampled_clusters_are_as_many_in_any_blocks(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters = np.array([[2.0, 0, 0], [0, 2, 0], [1, 0, 1]])
    monkeypatch.setattr(intervals, "BLOCK", block)
    sizes: list[int] = []

    def value(cells: Any) -> Any:
        sizes.append(len(cells))
        assert (cells.sum(axis=1) == 6).all()  # three clusters of two
        return cells[:, 0]

    drawn = resampled(
        value, clusters.sum(axis=0), clusters, trials=5, generator=np.random.default_rng(0)
    )
    assert len(drawn) == 5
    assert sizes == {1: [1] * 5, 6: [2, 2, 1], 7: [2, 2, 1], 1000: [5]}[block]


def test_bca_reads_other_quantiles_than_the_percentile_bootstrap() -> None:
    c_at_1, cells = one_run(ab.measure("c@1")), np.array([12.0, 3, 5])
    plain = cell_interval(c_at_1, cells, method="percentile", trials=500)
    corrected = cell_interval(c_at_1, cells, method="bca", trials=500)
    values = resampled(c_at_1.value, cells, None, trials=500, generator=np.random.default_rng(0))
    assert (plain.low, plain.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))
    tails = intervals.bca_levels(c_at_1.value, cells, None, values, level=0.95)
    assert tails != pytest.approx((0.025, 0.975), abs=1e-4)
    assert (corrected.low, corrected.high) == pytest.approx(tuple(np.quantile(values, tails)))


def test_names_of_methods_are_read_as_people_write_them() -> None:
    assert [check_method(own) for own in ("", "auto", "default", " BCa ")] == ["beta"] * 3 + ["bca"]
    assert check_method("Clopper_Pearson") == "clopper-pearson"
    with pytest.raises(UsageError, match="there are beta, logit"):
        check_method("bootstrap")


def test_an_interval_of_a_proportion_counts_what_is_in_it() -> None:
    """Precision of 3 right and 1 wrong is 3 of 4, whatever is blank."""
    precision = ab.measure("precision")
    for method, expected in (("wilson", "wilson"), ("clopper-pearson", "exact")):
        found = interval(precision, np.array([3.0, 1, 0, 0, 5, 0]), method=method, level=0.9)
        theirs = stats.binomtest(3, 4).proportion_ci(0.9, method=expected)
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    with refuses(UsageError, "1"):
        interval(ab.measure("c@1"), np.array([3.0, 1, 0, 0, 5, 0]), method="wilson")


def test_only_outcomes_that_there_are_are_left_out() -> None:
    c_at_1 = one_run(ab.measure("c@1"))

    def value(cells: Any) -> Any:
        assert (cells >= 0).all()
        return c_at_1.value(cells)

    values = np.array([0.3, 0.5, 0.7])
    intervals.bca_levels(value, np.array([4.0, 0, 6]), None, values, level=0.9)


def test_resamples_that_are_all_0_are_equal_to_a_score_of_0() -> None:
    """Half of what is equal counts as below, so there is no bias; the acceleration is left."""
    left = np.array([0.1, -0.2, 0.9])
    off = left.mean() - left
    a = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
    z = stats.norm.ppf([0.05, 0.95])
    found = intervals.levels_from_jackknife(0.0, np.zeros(4), left, np.ones(3), level=0.9)
    assert found == pytest.approx(tuple(stats.norm.cdf(z / (1 - a * z))))
    assert found != pytest.approx((0.05, 0.95), abs=1e-3)
