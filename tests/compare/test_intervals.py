"""Intervals: hand-worked cases, peers, slow references, and coverage by simulation."""

from __future__ import annotations

import importlib.util
import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import abstain as ab
from abstain.cli import options
from abstain.errors import UsageError
from abstain.measures import definitions
from abstain.outcomes import Counts
from abstain.stats.delta_method import (
    THREE,
    beta,
    cells_of,
    degrees_of_freedom,
    delta,
    difference,
    effective,
    influence,
    logit,
    one_run,
    standard_error,
)
from abstain.stats.intervals import (
    METHODS,
    Interval,
    bca_levels,
    interval,
    resampled,
)
from tests.compare import slow
from tests.helpers import ROOT
from tests.measures.reference import REFERENCE
from tests.snapshots import refuses, says


def _simulation() -> Any:
    """benchmarks/coverage.py, whose name another package has too."""
    spec = importlib.util.spec_from_file_location(
        "coverage_of_intervals", ROOT / "benchmarks" / "coverage.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


simulation = _simulation()
Setting, coverage, simulate = simulation.Setting, simulation.coverage, simulation.simulate

JUCS = Counts(right=138, wrong=87, unanswered_empty=59)


def sample(size: int, seed: int = 7) -> list[str]:
    generator = np.random.default_rng(seed)
    return [str(x) for x in generator.choice(["R", "W", "UR", "UW", "UE"], size=size)]


def counts_of(letters: list[str]) -> Counts:
    return Counts.of(letters.count(x) for x in ("R", "W", "UR", "UW", "UE"))


def cells(name: str, letters: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    k = counts_of(letters)
    six = np.array([getattr(k, f) for f in Counts.__slots__], float)
    return cells_of(ab.measure(name)).merge(six)


# ---------------------------------------------------------------------------- the delta method


def test_c_at_1_has_the_influence_of_the_formula() -> None:
    n, c, u = 284, 138 / 284, 59 / 284
    psi = influence(one_run(ab.measure("c@1")), np.array([138.0, 87, 59]))
    by_hand = [(1 + u) * (r - c) + c * (b - u) for r, b in ((1, 0), (0, 0), (0, 1))]
    assert psi == pytest.approx(by_hand, abs=1e-8)
    assert (np.array([138, 87, 59]) / n * psi).sum() == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("n", [100, 10_000, 1_000_000])
@pytest.mark.parametrize("each", [3, 10])
def test_precision_has_its_error_among_any_number_of_blanks(n: int, each: int) -> None:
    """√(p(1 − p)/A), with n/(n − 1) for the questions: a step must stay below the few answers."""
    f = one_run(ab.measure("precision"))
    found = standard_error(f, np.array([each, each, n - 2 * each], float), None)
    assert found == pytest.approx(math.sqrt(0.25 / (2 * each) * n / (n - 1)), rel=1e-5)


def test_c_at_1_standard_error_question_by_question() -> None:
    letters = sample(60)
    groups = [i // 5 for i in range(60)]
    f = one_run(ab.measure("c@1"))
    assert standard_error(f, cells("c@1", letters), None) == pytest.approx(
        slow.c_at_1_error(letters), rel=1e-6
    )
    table = np.stack([cells("c@1", letters[5 * g : 5 * g + 5]) for g in range(12)])
    assert standard_error(f, cells("c@1", letters), table) == pytest.approx(
        slow.c_at_1_error(letters, groups), rel=1e-6
    )


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_every_measure_has_a_jackknife_like_error(name: str) -> None:
    """The infinitesimal jackknife and the plain one agree to first order in 1/n."""
    letters = sample(400)
    f = one_run(ab.measure(name))
    own = cells(name, letters)
    kinds = np.flatnonzero(own)
    left = np.array([f.value(own - np.eye(f.size)[k]) for k in kinds])
    weights = own[kinds]
    mean = (weights * left).sum() / weights.sum()
    n = len(letters)
    jackknife = math.sqrt((n - 1) / n * float((weights * (left - mean) ** 2).sum()))
    assert standard_error(f, own, None) == pytest.approx(jackknife, rel=0.05)


def test_the_error_of_a_difference_is_that_of_paired_influences() -> None:
    one, other = sample(80), sample(80, seed=8)
    short = {"R": 0, "W": 1}
    joint = np.zeros((3, 3))
    for a, b in zip(other, one, strict=True):
        joint[short.get(a, 2), short.get(b, 2)] += 1

    def psi(letters: list[str]) -> list[float]:
        n = len(letters)
        c, u = letters.count("R") / n, sum(x.startswith("U") for x in letters) / n
        return [(1 + u) * ((o == "R") - c) + c * (o.startswith("U") - u) for o in letters]

    differences = [x - y for x, y in zip(psi(one), psi(other), strict=True)]
    expected = math.sqrt(80 / 79 * sum(d * d for d in differences)) / 80
    found = standard_error(difference(ab.measure("c@1")), joint.ravel(), None)
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_logit_interval_of_a_proportion_by_hand() -> None:
    """With n = 100, x = 7: log((x + .6)/(n − x + .6)) ± 1.96 √(1/(x + .6) + 1/(n − x + .6))."""
    found = interval(ab.measure("accuracy"), Counts(right=7, wrong=93), method="logit")
    middle, reach = math.log(7.6 / 93.6), 1.959964 * math.sqrt(1 / 7.6 + 1 / 93.6)
    expected = [1 / (1 + math.exp(-(middle + side * reach))) for side in (-1, 1)]
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)


def test_the_default_is_the_same_at_both_ends() -> None:
    """c − w with right and wrong exchanged: the interval is mirrored."""
    m = ab.measure("S(t=0.5)")
    table = np.array([[9.0, 1, 0], [10, 0, 0], [7, 1, 2], [10, 0, 0], [9, 0, 1], [8, 2, 0]])
    low, high = logit(one_run(m), table.sum(axis=0), table, level=0.95)
    turned = table[:, [1, 0, 2]]
    other_low, other_high = logit(one_run(m), turned.sum(axis=0), turned, level=0.95)
    assert (other_low, other_high) == pytest.approx((-high, -low), abs=1e-9)


def test_the_worth_of_clusters_by_hand() -> None:
    """Four clusters of four that are all right or all wrong: 4 questions, cut by t with 3 degrees.

    The spread of the cluster sums is none, so the degrees are G − 1. Var with clusters is
    4/3 · 4 · 4² · ¼ / 16² = 1/12, of single questions ¼/15: the effect is 5, and 16/5 remain.
    """
    f = one_run(ab.measure("precision"))
    table = np.array([[4.0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 4, 0]])
    found = effective(f, table.sum(axis=0), table, level=0.95)
    t = float(stats.t(3).ppf(0.975))
    assert found == pytest.approx(16 / 5 * (1.959964 / t) ** 2, rel=1e-5)


def test_where_few_clusters_carry_the_variance_the_degrees_are_few() -> None:
    """Satterthwaite: of sums 1, 1, …, 1, 6 the largest says nearly all."""
    sums = np.array([1.0] * 15 + [6.0])
    second, fourth = 51.0, 15 + 6.0**4
    expected = 2 * second**2 / (fourth - second**2 / 16)
    assert expected < 5
    assert degrees_of_freedom(sums) == pytest.approx(expected)
    assert degrees_of_freedom(np.array([1.0, -1, 1, -1, 1, -1])) == 5


@pytest.mark.parametrize("sizes", [[4] * 30, [2, 5] * 20, [1, 2, 3, 6, 8]])
def test_where_no_cluster_errs_clusters_are_counted_not_questions(sizes: list[int]) -> None:
    """All right: as many trials as clusters of equal size, (Σn)²/Σn², of which none fails."""
    table = np.array([[float(size), 0, 0] for size in sizes])
    f = one_run(ab.measure("accuracy"))
    trials = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    assert effective(f, table.sum(axis=0), table, level=0.95) == pytest.approx(trials)
    if trials >= 20:
        counts = np.column_stack([table, np.zeros((len(table), 3))])
        found = interval(ab.measure("accuracy"), counts.sum(axis=0), clusters=counts)
        assert found.low == pytest.approx(stats.beta(trials + 0.5, 0.75).ppf(0.025))
        assert found.high == 1


@pytest.mark.parametrize("wrong", [1, 2, 5, 20])
def test_few_clusters_with_an_error_leave_the_correlation_open(wrong: int) -> None:
    """40 clusters of 3, `wrong` of them with one error: between questions and clusters."""
    table = np.array([[2.0, 1, 0]] * wrong + [[3.0, 0, 0]] * (40 - wrong))
    f, cells = one_run(ab.measure("accuracy")), table.sum(axis=0)
    p = cells[0] / 120
    sums = np.array([right * (1 - p) - bad * p for right, bad, _ in table])
    carrying = (sums**2).sum() ** 2 / (sums**4).sum()
    plain = 120 / effective(f, cells, table, level=0.95, careful=False)
    expected = plain + max(3 - plain, 0) / (1 + carrying**2)
    assert effective(f, cells, table, level=0.95) == pytest.approx(120 / expected, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "correlation"), [(0.03, 0.8), (0.01, 0.5), (0.1, 0.8)])
def test_intervals_cover_where_errors_are_rare_and_in_the_same_clusters(
    wrong: float, correlation: float
) -> None:
    generator = np.random.default_rng(3)
    strength = (1 - correlation) / correlation
    chance = generator.beta(wrong * strength, (1 - wrong) * strength, size=(1500, 30))
    errors = generator.binomial(4, chance).astype(float)
    table = np.stack([4 - errors, errors, np.zeros_like(errors)], axis=-1)
    low, high = beta(one_run(ab.measure("accuracy")), table.sum(axis=1), table, level=0.95)
    covers = (low <= 1 - wrong) & (1 - wrong <= high)
    assert covers.mean() > 0.92
    few, _ = beta(one_run(ab.measure("accuracy")), table.sum(axis=1), None, level=0.95)
    assert (low <= few + 1e-12).mean() > 0.9


# ------------------------------------------------------------------------------- proportions


PROPORTIONS = {n: d.proportion for n, d in definitions("counts").items() if d.proportion}


def test_which_measures_are_proportions() -> None:
    """Every count measure whose formula is one sum of outcomes over another, and no other."""
    assert set(PROPORTIONS) == {
        *("accuracy", "precision", "answer-all-bound", "coverage", "forced-accuracy"),
        *("correctly-discarded", "discard-recall", "over-abstention", "under-abstention"),
        *("qa-accuracy", "qa-rej-accuracy", "qa-performance"),
        *("validation-precision", "validation-recall", "selective-risk", "wrong-rate"),
        "hallucination-rate",
    }


@pytest.mark.parametrize("name", PROPORTIONS)
def test_proportions_are_what_they_say(name: str) -> None:
    letters = sample(50)
    successes, trials = PROPORTIONS[name].of(counts_of(letters))
    assert REFERENCE[name](letters) == Fraction(int(successes), int(trials))


@pytest.mark.parametrize(("method", "peer"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
@pytest.mark.parametrize(
    ("name", "successes", "trials"),
    [("over-abstention", 3, 10), ("under-abstention", 5, 11), ("discard-recall", 6, 11)],
)
def test_what_abstention_costs_is_a_proportion(
    name: str, successes: int, trials: int, method: str, peer: str
) -> None:
    """7 right and 3 blanks that would have been; 5 wrong and 6 blanks that would have been."""
    counts = Counts(7, 5, unanswered_right=3, unanswered_wrong=4, unanswered_empty=2)
    found = interval(ab.measure(name), counts, method=method)
    theirs = stats.binomtest(successes, trials).proportion_ci(0.95, method=peer)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(("method", "peer"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
@pytest.mark.parametrize("right", [0, 1, 30, 99, 100])
def test_proportions_as_scipy(method: str, peer: str, right: int) -> None:
    found = interval(ab.measure("accuracy"), Counts(right=right, wrong=100 - right), method=method)
    theirs = stats.binomtest(right, 100).proportion_ci(0.95, method=peer)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_jeffreys_of_a_proportion_is_a_beta() -> None:
    found = interval(ab.measure("precision"), JUCS, method="jeffreys")
    beta = stats.beta(138.5, 87.5)
    assert found.low == pytest.approx(beta.ppf(0.025), abs=0.003)
    assert found.high == pytest.approx(beta.ppf(0.975), abs=0.003)


def test_a_proportion_is_asked_for() -> None:
    with refuses(UsageError, "1"):
        interval(ab.measure("c@1"), JUCS, method="wilson")


def test_the_methods_of_the_command_line_are_the_methods() -> None:
    assert tuple(METHODS) == options.METHODS


# --------------------------------------------------------------------------------- bootstrap


def test_bca_as_scipy_question_by_question() -> None:
    """scipy resamples questions and leaves each out; here counts stand for them."""
    letters = ["R"] * 30 + ["W"] * 25 + ["UE"] * 15
    codes = np.array([{"R": 0, "W": 1, "UE": 2}[x] for x in letters])

    def statistic(x: Any, axis: int = -1) -> Any:
        right = np.mean(np.equal(x, 0), axis=axis)
        return right * (1 + np.mean(np.equal(x, 2), axis=axis))

    theirs = stats.bootstrap(
        (codes,), statistic, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    found = interval(ab.measure("c@1"), counts_of(letters), method="bca", trials=20_000, seed=2)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_bca_levels_by_a_slow_jackknife() -> None:
    f = one_run(ab.measure("c@1"))
    own = np.array([12.0, 20, 8])
    values = resampled(f.value, own, None, trials=2000, generator=np.random.default_rng(0))
    seen = float(f.value(own))
    share = np.mean([(v < seen - 1e-12) + 0.5 * (abs(v - seen) <= 1e-12) for v in values])
    bias = stats.norm.ppf(share)
    questions = [0] * 12 + [1] * 20 + [2] * 8
    left = []
    for gone in range(40):
        kept = questions[:gone] + questions[gone + 1 :]
        left.append(float(f.value(np.bincount(kept, minlength=3).astype(float))))
    off = np.mean(left) - np.array(left)
    a = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
    expected = [
        stats.norm.cdf(bias + (bias + z) / (1 - a * (bias + z)))
        for z in (stats.norm.ppf(0.025), stats.norm.ppf(0.975))
    ]
    assert bca_levels(f.value, own, None, values, level=0.95) == pytest.approx(expected, abs=1e-9)


def test_resampling_clusters_keeps_them_whole() -> None:
    f = one_run(ab.measure("accuracy"))
    table = np.array([[10.0, 0, 0], [0, 10, 0], [10, 0, 0]])
    values = resampled(
        f.value, table.sum(axis=0), table, trials=500, generator=np.random.default_rng(0)
    )
    assert set(np.round(values * 3)) <= {0, 1, 2, 3}
    assert np.allclose(values * 3, np.round(values * 3))


# ------------------------------------------------------------------------------------- edges


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "counts",
    [Counts(right=10), Counts(wrong=10), Counts(right=1, wrong=99), Counts(right=99, wrong=1)],
)
def test_intervals_stay_in_range_and_hold_the_score(method: str, counts: Counts) -> None:
    for name in ("accuracy", "precision"):
        found = interval(ab.measure(name), counts, method=method)
        assert 0 <= found.low <= found.high <= 1
        if method != "jeffreys":
            assert ab.measure(name)(counts) in Interval(found.low - 1e-9, found.high + 1e-9, method)


def test_what_has_no_interval_says_why() -> None:
    blank = interval(ab.measure("precision"), Counts(unanswered_empty=5))
    assert math.isnan(blank.low)
    assert blank.why_not == "no question was answered"
    one = interval(ab.measure("c@1"), Counts(right=1))
    says(one.why_not)
    cluster = interval(ab.measure("c@1"), JUCS, clusters=np.array([[138.0, 87, 0, 0, 59, 0]]))
    says(cluster.why_not)


def test_a_wider_level_is_wider() -> None:
    narrow = interval(ab.measure("c@1"), JUCS, level=0.8)
    wide = interval(ab.measure("c@1"), JUCS, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_same_seed_gives_the_same_interval() -> None:
    found = [interval(ab.measure("c@1"), JUCS, method="bca", seed=3) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] != interval(ab.measure("c@1"), JUCS, method="bca", seed=4)


# ---------------------------------------------------------------------------------- coverage

SIZE = 3000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c@1", "F", "precision", "S(t=0.5)"])
@pytest.mark.parametrize(
    "setting",
    [
        Setting(0.05, 0.1, (100,)),
        Setting(0.95, 0.0, (100,)),
        Setting(0.5, 0.25, (100,)),
        Setting(0.2, 0.78, (100,)),
        Setting(0.99, 0.005, (100,)),
        Setting(0.05, 0.1, (5,) * 20, 0.3),
        Setting(0.8, 0.1, (10,) * 40, 0.2),
        Setting(0.95, 0.025, (10,) * 10, 0.2),
        Setting(0.05, 0.4, (10,) * 10, 0.2),
    ],
    ids=str,
)
def test_the_default_covers(name: str, setting: Any) -> None:
    """At least 92 %, less three standard errors of a simulation of this size."""
    table = simulate(setting, SIZE, np.random.default_rng(11))
    found = coverage(name, setting, table)
    noise = 3 * math.sqrt(0.05 * 0.95 / SIZE)
    assert found["beta"][0] >= 0.92 - noise


def test_the_plain_delta_method_fails_at_the_edge_and_the_naive_error_on_clusters() -> None:
    edge = Setting(0.05, 0.0, (100,))
    found = coverage("c@1", edge, simulate(edge, SIZE, np.random.default_rng(1)))
    assert found["delta"][0] < 0.90 < 0.93 <= found["beta"][0]
    clustered = Setting(0.5, 0.1, (10,) * 40, 0.2)
    found = coverage("c@1", clustered, simulate(clustered, SIZE, np.random.default_rng(2)))
    assert found["naive"][0] < 0.80
    assert 0.92 <= found["beta"][0] <= 0.98


def test_one_rare_event_is_covered_exactly() -> None:
    """By the binomial itself: at every expected number of rare events, at least 90 %."""
    from scipy.stats import binom

    for n in (25, 100, 1000):
        x = np.arange(n + 1)
        low, high = beta(
            one_run(ab.measure("accuracy")), np.stack([n - x, x, 0 * x], axis=-1), None, level=0.95
        )
        for events in np.linspace(0.05, 6, 120):
            holds = (low <= 1 - events / n + 1e-12) & (high >= 1 - events / n - 1e-12)
            assert binom.pmf(x, n, events / n)[holds].sum() >= 0.9


def test_the_default_of_a_proportion_is_a_pair_of_beta_quantiles() -> None:
    """By scipy's distribution; to the end where nothing fails."""
    from scipy.stats import beta as distribution

    found = interval(ab.measure("accuracy"), Counts(right=24, wrong=1))
    low = distribution.ppf(0.025, 24.5, 1.75)
    high = distribution.ppf(0.975, 24.75, 1.5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert interval(ab.measure("accuracy"), Counts(right=25)).high == 1


def test_a_wrong_answer_that_was_not_seen_may_be_there() -> None:
    """S(t=0.95) of 100 questions without a wrong one holds the score with two of them."""
    found = interval(ab.measure("S(t=0.95)"), Counts(right=20, unanswered_empty=80))
    assert 0.2 - 19 * 0.02 in found


def test_intervals_of_differences_cover() -> None:
    generator = np.random.default_rng(5)
    f = difference(ab.measure("c@1"))
    for joint in (
        [0.02, 0.02, 0.01, 0.03, 0.82, 0.03, 0.01, 0.03, 0.03],
        [0.4, 0.1, 0.05, 0.05, 0.2, 0.05, 0.05, 0.05, 0.05],
    ):
        true = float(f.value(np.array(joint)))
        drawn = generator.multinomial(150, joint, size=SIZE).astype(float)
        low, high = beta(f, drawn, None, level=0.95)
        assert 0.925 <= np.mean((low <= true) & (true <= high)) <= 0.975


def test_differences_of_clustered_runs_that_hardly_disagree_are_covered() -> None:
    """Where the plain delta method falls below 90 %."""
    generator = np.random.default_rng(6)
    f = difference(ab.measure("c@1"))
    joint = np.array([0.9, 0.005, 0, 0.01, 0.05, 0, 0.01, 0.005, 0.02])
    own = generator.standard_gamma(np.maximum(joint * 4, 1e-12), size=(SIZE, 10, 9))
    table = generator.multinomial(10, own / own.sum(axis=-1, keepdims=True)).astype(float)
    true = float(f.value(joint))
    shares = []
    for method in (beta, delta):
        low, high = method(f, table.sum(axis=1), table, level=0.95)
        shares.append(np.mean((low <= true) & (true <= high)))
    assert shares[0] >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / SIZE)
    assert shares[1] < 0.9


def test_cells_and_counts_agree() -> None:
    six = np.array([3.0, 2, 1, 1, 1, 0])
    assert THREE.merge(six).tolist() == [3, 2, 3]
    assert THREE.counts(np.array([3.0, 2, 3])).n == 8
