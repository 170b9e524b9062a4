"""Comparisons by measures of confidence against slow and obvious loops."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import abstain as ab
from abstain.errors import UsageError
from abstain.features.compare.comparison import MOST_DRAWN
from abstain.features.compare.words import sentences
from abstain.measures.influence import influence_of
from abstain.stats.confidence_intervals import Sample, Scale, difference_interval, sample_of
from abstain.stats.hypotheses import Flips
from abstain.stats.swapped_answers import MeansOfAnswers, SortedAnswers
from tests.compare import slow_confident as slow
from tests.compare.asked import judged, looks, scores, told
from tests.compare.slow_confident import Response
from tests.helpers import Here
from tests.measures.confidence_reference import REFERENCE
from tests.snapshots import refuses, says


@pytest.fixture(scope="module", autouse=True)
def _few_are_enough() -> Iterator[None]:
    """Swaps are tried on runs so small that every way can be listed; a verdict takes more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "abstain.features.compare.resampled.ConfidenceComparison.too_few", lambda *_: ""
        )
        patch.setattr("abstain.features.compare.comparison.LEAST_RESAMPLED", 1)
        yield


BIASED = (
    *("ECE", "ECE(bins=4)", "ECE-mass(bins=3)", "adaptive-ECE(bins=3)", "smooth-ECE"),
    *("RMSCE(size=2)", "RMSCE-HLE(size=2)"),
)
PLAIN = ("K1", "K", "MRR", "coverage@risk(r=0.25)", *(n for n in BIASED[1:] if n != "smooth-ECE"))
"""Their references are sums; that of smooth-ECE is an integral on a grid."""


def responses(seed: int, size: int, *, blanks: int = 1, skill: float = 1.0) -> list[Response]:
    """Responses with many ties; the first few are blank."""
    rng = np.random.default_rng(seed)
    sure = rng.integers(0, 6, size) / 5
    right = rng.random(size) < 0.2 + 0.6 * skill * sure
    found: list[Response] = [
        ("right" if r else "wrong", float(s)) for r, s in zip(right, sure, strict=True)
    ]
    return [("blank", None)] * blanks + found[blanks:]


def table(clusters: Sequence[int] | None = None, **runs: Sequence[Response]) -> pl.DataFrame:
    rows = [
        {"run": run, "question": f"q{i:03}", "grade": outcome, "confidence": sure}
        | ({} if clusters is None else {"doc": f"d{clusters[i]}"})
        for run, own in runs.items()
        for i, (outcome, sure) in enumerate(own)
    ]
    return pl.DataFrame(rows, schema_overrides={"confidence": pl.Float64}).with_columns(
        pl.col("grade").replace("blank", "unanswered")
    )


def compared(name: str, clusters: Sequence[int] | None = None, **more: Any) -> Any:
    runs = {k: v for k, v in more.items() if isinstance(v, list)}
    rules = {k: v for k, v in more.items() if k not in runs}
    rules |= {} if clusters is None else {"cluster": "doc"}
    return judged(table(clusters, **runs), measure=name, **rules)


def binormal(
    rng: np.random.Generator, *, accuracy: float, blank: float, apart: float, size: int = 120
) -> Sample:
    """A run whose AUROC depends on `apart` alone, whatever its accuracy and coverage."""
    right = rng.random(size) < accuracy
    sure = 1 / (1 + np.exp(-(rng.normal(size=size) + apart * right)))
    outcomes = np.where(rng.random(size) < blank, 4, np.where(right, 0, 1))
    return sample_of(outcomes.astype(np.int8), sure)


def coins(rng: np.random.Generator, trials: int, units: int) -> Any:
    """Rows of ±1."""
    return rng.integers(0, 2, (trials, units)) * 2.0 - 1


# ---------------------------------------------------------------------------------- exact tests


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("seed", range(3))
def test_exact_p_of_a_plain_difference(name: str, seed: int) -> None:
    one, two = responses(seed, 8), responses(seed + 50, 8, blanks=2, skill=0.3)
    (pair,) = compared(name, one=one, two=two, resamples=100).pairs
    assert pair.exact
    assert pair.difference == pytest.approx(slow.plain(name)(two, one), abs=1e-12)
    assert pair.p == pytest.approx(slow.randomisation(slow.plain(name), one, two), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "statistic"),
    [
        ("Brier", slow.brier_statistic),
        ("AUROC", slow.logit_statistic("AUROC", slow.auroc_influence)),
        ("E-AURC", slow.logit_statistic("E-AURC", slow.left_out("E-AURC"))),
    ],
)
@pytest.mark.parametrize("seed", range(6))
def test_exact_p_of_a_difference_over_its_error(
    name: str, statistic: slow.Statistic, seed: int
) -> None:
    """Some swaps leave a run with right answers only: AUROC has no value there."""
    one, two = responses(seed, 8, skill=0.5), responses(seed + 50, 8, blanks=2, skill=1.5)
    found = compared(name, one=one, two=two, resamples=100)
    (pair,) = found.pairs
    expected = slow.randomisation(statistic, one, two)
    if math.isnan(slow.value(name, one) - slow.value(name, two)):
        assert pair.p is None
        return
    assert (pair.p, pair.exact) == (pytest.approx(expected, abs=1e-12), True)
    assert found.studentised


def test_whole_clusters_are_swapped() -> None:
    clusters = [0, 0, 1, 2, 2, 2, 3, 4, 5, 5]
    one, two = responses(3, 10), responses(4, 10, skill=0.2)
    (pair,) = compared("K1", clusters, one=one, two=two).pairs
    expected = slow.randomisation(slow.plain("K1"), one, two, clusters)
    assert (pair.p, pair.exact) == (pytest.approx(expected, abs=1e-12), True)


def test_brier_of_runs_that_answer_all_is_a_flip_of_mean_differences() -> None:
    """Divided by their errors, means over the same questions keep the order of swaps."""
    one, two = responses(1, 12, blanks=0), responses(2, 12, blanks=0, skill=0.2)
    each = pl.DataFrame(
        {
            "topic": [str(i) for i in range(12)],
            "one": [((s or 0) - (o == "right")) ** 2 for o, s in one],
            "two": [((s or 0) - (o == "right")) ** 2 for o, s in two],
        }
    )
    theirs = scores(each, test="randomisation").pairs[0]
    (own,) = compared("Brier", one=one, two=two).pairs
    assert (own.difference, own.p) == pytest.approx((theirs.difference, theirs.p), abs=1e-12)


@pytest.mark.parametrize("name", ["AUROC", "AURC", "Brier", "CWS", "Pearson-r"])
def test_random_swaps_come_near_all_of_them(name: str) -> None:
    outcomes = [np.array([0, 1, 0, 0, 1, 1, 0, 1, 4, 0, 0, 1]), np.array([1, 0, 0] * 4)]
    sure = np.random.default_rng(3).integers(1, 9, (2, 12)) / 9
    samples = [sample_of(o.astype(np.int8), s) for o, s in zip(outcomes, sure, strict=True)]
    item = ab.measure(name)
    work = (MeansOfAnswers if name == "Brier" else SortedAnswers)(item, samples)
    two = work.pair(0, 1)
    seen = two.swapped(np.ones((1, 12)))[0]
    every = two.swapped(np.concatenate(list(Flips(12, trials=0, seed=0).blocks())))
    rng = np.random.default_rng(1)
    some = two.swapped(coins(rng, 4000, 12))
    shares = [(~(np.abs(x) < abs(seen) - 1e-9)).mean() for x in (every, some)]
    assert shares[0] == pytest.approx(shares[1], abs=4 * math.sqrt(0.25 / 4000))


@pytest.mark.parametrize("name", REFERENCE)
def test_a_swap_of_all_changes_the_sign_alone(name: str) -> None:
    rng = np.random.default_rng(8)
    samples = [
        sample_of(rng.choice([0, 0, 1, 2, 3, 4], 30).astype(np.int8), rng.integers(1, 9, 30) / 9)
        for _ in range(2)
    ]
    item = ab.measure(name)
    kind = MeansOfAnswers if name in ("Brier", "log-score", "K1", "K", "MRR") else SortedAnswers
    signs = coins(rng, 50, 30)
    found = kind(item, samples).pair(0, 1).swapped(signs)
    assert not np.isnan(found).all()
    negative = pytest.approx(-found, abs=1e-9, nan_ok=True)
    assert kind(item, samples).pair(0, 1).swapped(-signs) == negative
    assert kind(item, samples).pair(1, 0).swapped(signs) == negative


# ---------------------------------------------------------------------------------- influences


STUDENTISED = [n for n in REFERENCE if ab.measure(n).definition.influence is not None]


@pytest.mark.parametrize("name", [n for n in STUDENTISED if "coverage" not in n])
def test_influence_is_what_one_more_answer_does(name: str) -> None:
    """With each answer 3,000 times, one more of it moves the measure as its derivative says."""
    item: Any = ab.measure(name)
    rng = np.random.default_rng(4)
    outcomes = rng.choice([0, 0, 1], 12).astype(np.int8)
    sample = sample_of(outcomes, rng.permutation(12) / 12)
    many = np.full((12, 1), 3000)
    own = sample.resamples(many)
    value = item(own)
    found, question = influence_of(item, own, value)
    more = item(sample.resamples(many + 30 * np.eye(12, dtype=np.int64)))
    moved = (more - value)[sample.unit] / 30
    expected = found[:, 0] + question
    scale = np.abs(expected).max()
    assert moved == pytest.approx(expected, abs=0.15 * scale)
    assert np.corrcoef(moved, expected)[0, 1] > 0.99


@pytest.mark.parametrize("name", ["E-AURC", "PRR"])
@pytest.mark.parametrize("seed", range(8))
def test_of_what_bends_the_influence_is_what_leaving_an_answer_out_does(
    name: str, seed: int
) -> None:
    """With ties, blanks, and answers without which the measure has no value (nothing is lost)."""
    run = responses(seed, 5 + seed, blanks=seed % 3)
    sample = sample_of(
        np.array([{"right": 0, "wrong": 1, "blank": 4}[o] for o, _ in run], np.int8),
        np.array([np.nan if s is None else s for _, s in run]),
    )
    item: Any = ab.measure(name)
    own = sample.resamples(np.ones((len(run), 1), np.int64))
    expected = slow.left_out(name)(run)
    if expected is None:
        assert np.isnan(item(own))
        return
    found = influence_of(item, own, item(own))[0][:, 0]
    assert found == pytest.approx(np.array(expected)[sample.unit], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDENTISED)
def test_influences_make_the_error_that_resamples_show(name: str) -> None:
    rng = np.random.default_rng(9)
    sample = binormal(rng, accuracy=0.6, blank=0.1, apart=1.0, size=600)
    item: Any = ab.measure(name)
    own = sample.resamples(np.ones((600, 1), np.int64))
    by_answer, by_question = influence_of(item, own, item(own))
    moved = np.zeros(600)
    moved[sample.unit] = by_answer[:, 0]
    times = rng.multinomial(600, np.full(600, 1 / 600), size=1000).T
    expected = np.nanstd(sample.values(item, times))
    rough = 0.35 if "coverage" in name else 0.1  # the point that reaches it is taken as fixed
    assert math.sqrt(((moved + by_question) ** 2).sum()) == pytest.approx(expected, rel=rough)


# ------------------------------------------------------------------- intervals of differences


@pytest.mark.parametrize(
    ("name", "influence"),
    [("AUROC", slow.auroc_influence), ("E-AURC", slow.left_out("E-AURC"))],
)
@pytest.mark.parametrize("seed", range(6))
def test_interval_of_a_difference_as_a_loop(
    name: str, influence: slow.Influence, seed: int
) -> None:
    one, two = responses(seed, 14, blanks=0), responses(seed + 30, 14, blanks=0, skill=0.3)
    found = compared(name, one=one, two=two, resamples=100)
    assert found.interval_method_of_differences == "logit"
    (pair,) = found.pairs
    quantile = float(stats.t.ppf(0.975, 13))
    expected = slow.interval_of_difference(name, influence, two, one, quantile)
    assert (pair.interval[0], pair.interval[1]) == pytest.approx(expected, abs=1e-9)


def test_the_same_run_twice_is_sure_to_be_the_same() -> None:
    own = responses(2, 30)
    (pair,) = compared("AUROC", one=own, two=own, resamples=100).pairs
    assert (pair.interval[0], pair.interval[1]) == pytest.approx((0, 0), abs=1e-9)


@pytest.mark.slow
def test_a_run_in_the_best_order_is_not_sure_to_stay_so() -> None:
    best: list[Response] = [("right" if i > 5 else "wrong", i / 15) for i in range(15)]
    (pair,) = compared("AUROC", one=responses(1, 15), two=best, resamples=100).pairs
    assert pair.interval[0] < pair.difference < pair.interval[1]
    (same,) = compared("AUROC", one=best, two=best[::-1], resamples=100).pairs
    assert (same.interval[0], same.interval[1]) == (0, 0)
    says(same.no_interval)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_a_bootstrap_that_is_asked_for_is_of_differences_too(method: str) -> None:
    one, two = responses(1, 30), responses(2, 30)
    found = compared("AUROC", one=one, two=two, resamples=100, interval=method)
    assert (found.interval_method, found.interval_method_of_differences) == (method, None)
    assert "of differences" not in told(found)
    usual = compared("AUROC", one=one, two=two, resamples=100)
    assert (usual.interval_method, usual.interval_method_of_differences) == ("bca", "logit")
    says(told(usual), "0")
    assert usual.to_dict()["interval_method_of_differences"] == "logit"
    risky = compared("coverage@risk(r=0.25)", one=one, two=two, resamples=100)
    assert (risky.interval_method, risky.interval_method_of_differences) == ("bca", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("AUROC", [{"accuracy": 0.6, "blank": 0.1, "apart": 1.0}] * 2),
        ("E-AURC", [{"accuracy": 0.6, "blank": b, "apart": 1.0} for b in (0.0, 0.7)]),
    ],
)
def test_intervals_of_differences_cover(name: str, kinds: Sequence[dict[str, Any]]) -> None:
    """No difference: two runs that are alike but for what one of them leaves blank."""
    rng = np.random.default_rng(12)
    kind, item, scale = SortedAnswers, ab.measure(name), Scale(0, 1)
    hits, times = 0, 400
    for _ in range(times):
        samples = [binormal(rng, size=80, **k) for k in kinds]
        work = kind(item, samples)
        values = tuple(float(item(s.answers)) for s in samples)
        moved = np.stack([work.moved(0), work.moved(1)])
        units = len(samples[0].unit), len(samples[1].unit)
        hits += 0 in difference_interval(scale, (values[0], values[1]), moved, units, level=0.95)
    assert hits / times == pytest.approx(0.95, abs=0.035)


# ----------------------------------------------------------------------------------- bootstrap


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Brier", "K1", "AUROC", "AURC", "CWS", "Pearson-r"])
def test_bootstrap_as_a_loop_over_the_same_draws(name: str) -> None:
    one, two = responses(11, 15), responses(12, 15, skill=0.2)
    rules: dict[str, Any] = {"test": "bootstrap", "interval": "percentile", "resamples": 100}
    (pair,) = compared(name, one=one, two=two, seed=3, **rules).pairs
    generator = np.random.default_rng([3, 11])
    gaps = []
    for _ in range(100):
        times = generator.multinomial(15, np.full(15, 1 / 15))
        drawn = [
            [q for q, n in zip(run, times, strict=True) for _ in range(n)] for run in (two, one)
        ]
        gaps.append(_loop_value(name, drawn[0]) - _loop_value(name, drawn[1]))
    known = [g for g in gaps if not math.isnan(g)]
    ends = np.quantile(known, [0.025, 0.975])
    assert (pair.interval[0], pair.interval[1]) == pytest.approx(tuple(ends), abs=1e-9)
    assert pair.standard_error == pytest.approx(float(np.std(known, ddof=1)), abs=1e-9)
    low, high = sum(not g > 0 for g in gaps), sum(not g < 0 for g in gaps)
    assert pair.p == pytest.approx(min(1.0, 2 * (min(low, high) + 1) / 101))


def _loop_value(name: str, run: Sequence[Response]) -> float:
    """By the measure itself, one resample at a time (its reference tries every order of ties)."""
    own = [(o == "right", s) for o, s in run if o != "blank"]
    item: Any = ab.measure(name)
    return float(item([r for r, _ in own], [s for _, s in own], questions=len(run)))


def test_resamples_without_a_value_are_told() -> None:
    """One wrong answer each: half of the swaps leave one run without any."""
    sure = [0.9, 0.8, 0.3, 0.6, 0.5, 0.4]
    one: list[Response] = [("right" if i != 2 else "wrong", s) for i, s in enumerate(sure)]
    two: list[Response] = [("right" if i != 3 else "wrong", s) for i, s in enumerate(sure)]
    found = compared("AUROC", one=one, two=two, resamples=500)
    said = told(found)
    says(said, "500")
    assert (found.pairs[0].undefined_swaps, found.swaps) == (16, 32)
    assert found.pairs[0].p >= 0.5


# ---------------------------------------------------------------------------------- properties

short = st.lists(
    st.tuples(
        st.sampled_from(["right", "wrong", "right", "wrong", "blank"]),
        st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]),
    ),
    min_size=3,
    max_size=6,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
@settings(max_examples=8)
@given(own=short)
def test_identical_runs_do_not_differ(name: str, own: list[Response]) -> None:
    (pair,) = compared(name, one=own, two=own, resamples=100).pairs
    if pair.difference is None:
        assert pair.p is None
    else:
        assert (pair.difference, pair.p) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
@settings(max_examples=8)
@given(own=short, seed=st.randoms(use_true_random=False))
def test_the_other_way_round_is_the_negative(name: str, own: list[Response], seed: Any) -> None:
    other = seed.sample(own, len(own))
    (pair,) = compared(name, one=own, two=other, resamples=100).pairs
    (back,) = compared(name, one=other, two=own, resamples=100).pairs
    if pair.difference is None:
        assert (pair.p, back.difference, back.p) == (None, None, None)
    else:
        assert (pair.difference, pair.p) == pytest.approx((-back.difference, back.p), abs=1e-12)


# ------------------------------------------------------------------------------ level and power


def rejected(name: str, kinds: Sequence[dict[str, Any]], times: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    kind = MeansOfAnswers if name == "Brier" else SortedAnswers
    found = 0
    for trial in range(times):
        two = kind(ab.measure(name), [binormal(rng, **k) for k in kinds]).pair(0, 1)
        seen = two.swapped(np.ones((1, 120)))[0]
        drawn = np.concatenate(
            [two.swapped(s) for s in Flips(120, trials=199, seed=trial).blocks()]
        )
        found += bool((1 + np.count_nonzero(~(np.abs(drawn) < abs(seen) - 1e-9))) / 200 <= 0.05)
    return found / times


SAME: dict[str, Any] = {"accuracy": 0.6, "blank": 0.1, "apart": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AUROC", "AURC", "Brier", "PRR"])
def test_alike_runs_are_told_apart_as_often_as_the_level_says(name: str) -> None:
    assert rejected(name, [SAME, SAME], 200, 5) == pytest.approx(0.05, abs=0.046)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AUROC", "Brier", "E-AURC"])
def test_equal_scores_at_unequal_coverage_are_no_difference(name: str) -> None:
    few = SAME | {"blank": 0.8}
    assert rejected(name, [SAME | {"blank": 0.0}, few], 200, 6) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AUROC", "AURC", "Brier", "PRR"])
def test_power(name: str) -> None:
    assert rejected(name, [SAME | {"apart": 2.5}, SAME | {"apart": 0.0}], 40, 7) > 0.9


# ------------------------------------------------------------------------- many runs, and in words


def four(size: int = 40) -> dict[str, Any]:
    skills = {"sharp": 1.3, "fair": 1.0, "dull": 0.0}
    runs = {
        name: responses(i, size, blanks=0, skill=s) for i, (name, s) in enumerate(skills.items())
    }
    sure = np.linspace(0.05, 0.95, size)
    runs["sharp"] = [("right" if s > 0.5 else "wrong", float(s)) for s in sure]
    runs["dull"] = [("right" if s < 0.5 else "wrong", float(s)) for s in sure]
    runs["mute"] = [(o, None) for o, _ in runs["fair"]]
    return runs


def test_all_pairs_with_letters_and_a_run_without_confidence() -> None:
    found = compared("AUROC", resamples=500, **four())
    assert [row.run for row in found.rows] == ["sharp", "fair", "dull", "mute"]
    letters = {row.run: row.group for row in found.rows}
    assert letters == {"sharp": "a", "fair": "b", "dull": "c", "mute": ""}
    said = told(found)
    says(said)
    assert all((p.p is None) == ("mute" in (p.run, p.against)) for p in found.pairs)
    holm = {(p.run, p.against): p.p_adjusted for p in found.pairs}
    raw = sorted(p.p for p in found.pairs if p.p is not None)
    assert sorted(x for x in holm.values() if x is not None)[0] == pytest.approx(3 * raw[0])


def test_runs_against_one_by_a_loop() -> None:
    """Each run's own p over all 2^7 swaps, by the slow statistic; then Holm's correction of two."""
    from itertools import product

    runs: dict[str, Any] = {}
    runs |= {
        n: responses(i + 20, 8, skill=s)
        for i, (n, s) in enumerate(zip("abc", (1, 0, 1.5), strict=True))
    }
    found = compared("K1", against="a", **runs)
    statistic = slow.plain("K1")
    p = {}
    for name in "bc":
        seen, hits = abs(statistic(runs[name], runs["a"])), 0
        for swaps in product((False, True), repeat=7):
            pairs = [
                (y, x) if s else (x, y)
                for x, y, s in zip(runs[name], runs["a"], (*swaps, False), strict=True)
            ]
            hits += abs(statistic([x for x, _ in pairs], [y for _, y in pairs])) >= seen - 1e-9
        p[name] = hits / 128
    low, high = sorted(p.values())
    assert sorted(pair.p_adjusted for pair in found.pairs) == pytest.approx(
        [min(1, 2 * low), min(1, max(2 * low, high))]
    )
    assert {pair.run: pair.p for pair in found.pairs} == pytest.approx(p)


def test_lower_is_better_is_kept() -> None:
    found = compared("Brier", resamples=500, **{k: v for k, v in four().items() if k != "mute"})
    assert found.rows[0].run == "sharp"
    assert found.pairs[0].difference < 0


@pytest.mark.parametrize("name", BIASED)
def test_calibration_errors_have_a_p_but_no_interval(name: str) -> None:
    runs = {k: v for k, v in four().items() if k in ("sharp", "dull")}
    found = compared(name, resamples=200, **runs)
    (pair,) = found.pairs
    assert pair.interval[0] is None
    assert 0 < pair.p <= 1
    assert found.plan is None
    said = told(found)
    assert "is biased upwards" in said
    assert "Intervals:" not in said
    assert found.to_dict()["interval_method"] is None
    runs_shown, pairs_shown = looks(found).tables()[:2]
    assert [c.name for c in runs_shown.columns] == ["run", name, "right", "wrong", "blank"]
    assert [c.name for c in pairs_shown.columns] == ["run", "against", "difference", "p"]
    assert "%" not in json.dumps(found.charts()["scores"]["title"])
    with refuses(UsageError):
        compared(name, test="bootstrap", **runs)
    with refuses(UsageError):
        compared(name, detect=0.1, **runs)


@pytest.mark.parametrize(
    "rules",
    [
        {"test": "mcnemar"},
        {"test": "wilcoxon"},
        {"judge_error": {"right": 1}},
        {"interval": "delta"},
    ],
)
def test_what_cannot_be_had_is_said_in_one_line(rules: dict[str, Any]) -> None:
    runs = {k: v for k, v in four().items() if k in ("sharp", "dull")}
    with refuses(UsageError):
        compared("AUROC", **runs, **rules)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [{}, {"test": "bootstrap"}, {"against": "fair"}])
@pytest.mark.parametrize("name", ["AUROC", "Brier", "ECE"])
def test_progress_goes_to_the_end_and_never_back(name: str, rules: dict[str, Any]) -> None:
    if name == "ECE" and rules.get("test") == "bootstrap":
        return
    calls: list[tuple[int, int]] = []
    compared(name, resamples=200, progress=lambda *now: calls.append(now), **four(), **rules)
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1] > 0


def test_where_nothing_was_tested_no_test_is_named() -> None:
    mute: list[Response] = [("right", None)] * 9
    said = told(compared("AUROC", one=mute, two=mute))
    says(said)
    assert "Intervals:" not in said
    assert "Test:" not in said
    alone = told(compared("AUROC", one=[("right", 0.5)], two=[("wrong", 0.5)]))
    says(alone)


def test_below_a_reference_is_ahead_where_lower_is_better() -> None:
    runs = {k: v for k, v in four().items() if k != "mute"}
    said = sentences(compared("Brier", resamples=500, against="fair", **runs))
    says(said)


def test_questions_may_be_their_own_clusters() -> None:
    one, two = responses(1, 12), responses(2, 12)
    frame = table(None, one=one, two=two)
    (alone,) = judged(frame, measure="AURC").pairs
    found = judged(frame, measure="AURC", cluster="question")
    assert (found.pairs[0].p, found.clusters) == (alone.p, 12)


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
@pytest.mark.parametrize("name", ["K1", "Brier", "AURC"])
def test_one_question_shows_nothing(name: str, test: str) -> None:
    one: list[Response] = [("right", 0.9)]
    two: list[Response] = [("wrong", 0.4)]
    (pair,) = compared(name, one=one, two=two, test=test).pairs
    assert pair.p == 1
    assert pair.interval[0] is None


def test_too_many_resamples_to_hold_are_refused() -> None:
    runs: dict[str, Any] = {f"r{i}": responses(i, 5) for i in range(60)}
    with refuses(UsageError, "1,000,000", "60"):
        compared("AUROC", against="r0", resamples=1_000_000, **runs)
    assert MOST_DRAWN < 60 * 1_000_000


def test_answers_without_a_confidence_are_told() -> None:
    one = responses(1, 20, blanks=0)
    two = [*one[:-3], *(("right", None) for _ in range(3))]
    for name in ("AUROC", "Brier"):
        shown = sentences(compared(name, one=one, two=two, resamples=100))
        says(shown, "3")


@pytest.mark.slow
def test_from_the_command_line(here: Here) -> None:
    rng = np.random.default_rng(2)
    gold = "question,correct,doc\n" + "".join(f"q{i},a,d{i // 4}\n" for i in range(40))
    here.write("gold.csv", gold)
    for name in ("one", "two", "three"):
        rows = (f"q{i},{rng.choice(['a', 'b'])},{rng.random():.2f}\n" for i in range(40))
        here.write(f"{name}.csv", "question,answer,confidence\n" + "".join(rows))
    args = ("compare", "gold.csv", "one.csv", "two.csv", "-m", "AUROC", "--resamples", "300")
    said = here(*args, "--seed", "4", "--format", "json")
    assert said.code == 0, said.err
    data = said.data
    assert (data["measure"], data["interval_method"], data["seed"]) == ("AUROC", "bca", 4)
    scored = here("score", *args[1:6], "--format", "json").data["results"]
    scores = {row["run"]: row["scores"]["AUROC"] for row in scored}
    (pair,) = data["pairs"]
    assert pair["difference"] == pytest.approx(scores["two"] - scores["one"])
    assert "origin" not in data
    assert here(*args, "--seed", "4", "--format", "json").out == said.out
    clustered = here(*args, "--cluster", "doc", "--format", "json").data
    assert (clustered["clusters"], clustered["pairs"][0]["exact"]) == (10, True)
    header, *lines = here(*args, "three.csv", "--format", "csv").out.splitlines()
    assert header.startswith("run,against,difference,low,high,p")
    assert len(lines) == 3
    line = here.refuses(*args, "--by", "doc")
    says(line, "--by")
    here.write("result.json", said.out)
    page = here("report", "result.json", "-o", "page.html")
    assert page.code == 0, page.err


def test_a_page_says_nothing_of_intervals_where_there_are_none(here: Here) -> None:
    rows = table(None, one=responses(1, 20), two=responses(2, 20))
    here.write("judged.csv", rows.write_csv())
    for name, there in (("ECE", False), ("Brier", True)):
        saved = f"{name}.json"
        here("compare", "--judged", "judged.csv", "-m", name, "--resamples", "100", "-o", saved)
        assert here("report", saved, "-o", "page.html").code == 0
        page = (here.folder / "page.html").read_text()
        assert ("the ends of a 95 % interval" in page) == there


def test_an_interval_of_few_clusters_is_not_drawn_from_a_bound_that_is_far() -> None:
    """The log score reaches from 0 to 36, and hardly a run is there: its interval is that of t."""
    rng = np.random.default_rng(3)
    runs = [binormal(rng, accuracy=0.6, blank=0.0, apart=1.0, size=20) for _ in range(2)]
    item = ab.measure("log-score")
    work = MeansOfAnswers(item, runs)
    values = float(item(runs[0].answers)), float(item(runs[1].answers))
    moved = np.stack([work.moved(0), work.moved(1)])
    found = difference_interval(Scale(*item.bounds), values, moved, (20, 20), level=0.95)
    error = math.sqrt(float(((moved[0] - moved[1]) ** 2).sum()) * 20 / 19)
    plain = 2 * float(stats.t.ppf(0.975, 19)) * error
    assert found.high - found.low == pytest.approx(plain, rel=0.25)
