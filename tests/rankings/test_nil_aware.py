"""Measures that do not exist on some queries, judged together with those that do."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import abstain as ab
from abstain.stats.resampling import power
from abstain.stats.resampling.samplers import of_scores
from tests.rankings.collections_by_hand import frames, random_collection

LIMIT = 8


def average_precision(listed: list[int], relevant: int) -> float | None:
    """Of the gains of a list; None where there is nothing to find."""
    if not relevant:
        return None
    hits, total = 0, 0.0
    for rank, gain in enumerate(listed, 1):
        hits += gain
        total += gain * hits / rank
    return total / relevant


def average_precision_t(listed: list[int], relevant: int) -> float:
    """AP' of Liu et al. 2016: a list shorter than the limit ends with a document of gain r_t.

    One that reaches it was not ended: its AP, or 0 where nothing is relevant.
    """
    if len(listed) >= LIMIT:
        return average_precision(listed, relevant) or 0.0
    gains = [*map(float, listed), 1.0 if not relevant else sum(listed) / relevant]
    total = sum(g * sum(gains[: i + 1]) / (i + 1) for i, g in enumerate(gains))
    return total / (relevant + 1)


@pytest.mark.slow
def test_kendalls_tau_of_47_systems_on_492_queries_keeps_the_nil_queries() -> None:
    qrels, runs = random_collection(47, 492, nil=49 / 492, seed=2001)
    files = [frames(qrels, run, name)[1] for name, run in runs.items()]
    rk = ab.read_rankings(frames(qrels, {})[0], pl.concat(files), limit=LIMIT)
    nil = {query for query, grades in qrels.items() if not any(grades.values())}
    assert 30 < len(nil) < 70
    assert set(rk.nil_queries) == nil
    names = ["AP", "AP'", "P@5", "NDCG'"]
    found = rk.meta(names, parts="agreement")
    assert found.questions == 492

    slow: dict[str, list[float]] = {"AP": [], "AP'": [], "P@5": []}
    for run in runs.values():
        scores: dict[str, list[float]] = {"AP": [], "AP'": [], "P@5": []}
        for query, grades in qrels.items():
            ranked = sorted(run[query], key=lambda doc, own=run[query]: -own[doc])  # type: ignore[misc]
            listed, relevant = [int(grades[doc]) for doc in ranked], int(sum(grades.values()))
            if (ap := average_precision(listed, relevant)) is not None:
                scores["AP"].append(ap)
            scores["AP'"].append(average_precision_t(listed, relevant))
            scores["P@5"].append(sum(listed[:5]) / 5)
        assert (len(scores["AP"]), len(scores["AP'"])) == (492 - len(nil), 492)
        for name, values in scores.items():
            slow[name].append(math.fsum(values) / len(values))
    for name, means in slow.items():
        assert list(found.scores[name].values()) == pytest.approx(means, abs=1e-12)
    taus = {pair.measures: pair.tau_b for pair in found.agreement}
    for pair in combinations(slow, 2):
        expected = stats.kendalltau(np.round(slow[pair[0]], 12), np.round(slow[pair[1]], 12))
        assert taus[pair] == pytest.approx(expected.statistic, abs=1e-12)
    assert not any("left out" in note for note in found.notes)


# ------------------------------------------------------------------ masked means, every part


def masked(seed: int = 5) -> tuple[dict[str, Any], Any]:
    """Two measures of four runs on 60 topics, of which the first lacks a third."""
    rng = np.random.default_rng(seed)
    tables = {"one": rng.random((4, 60)), "two": rng.random((4, 60))}
    gone = rng.random(60) < 1 / 3
    tables["one"][:, gone] = np.nan
    return tables, ~gone


def test_scores_on_subsets_and_resamples_are_means_of_what_there_is() -> None:
    tables, known = masked()
    source = of_scores(list("abcd"), tables)
    assert source.spans[0] == pytest.approx(np.ptp(tables["one"][:, known]))
    rng = np.random.default_rng(0)
    subsets = rng.random((7, 60)) < 0.3
    for m, table in enumerate(tables.values()):
        for k, inside in enumerate(subsets):
            expected = np.nanmean(table[:, inside], axis=1)
            assert source.on(subsets)[m, :, k] == pytest.approx(expected)
    weights = rng.integers(0, 3, (3, 60)).astype(np.float32)
    drawn = source.weighed(weights)
    for k, times in enumerate(weights.astype(int)):
        again = np.repeat(tables["one"], times, axis=1)
        assert drawn[0, :, k] == pytest.approx(np.nanmean(again, axis=1))
    assert np.isnan(source.on(~known[None])[0]).all()
    first, second = (np.array([0, 1]), np.array([2, 3]))
    x, y = source.resamples(np.random.default_rng(3), (first, second), trials=4)
    assert x.shape == y.shape == (2, 2, 4)
    full = source.full()
    assert full[0] == pytest.approx(np.nanmean(tables["one"], axis=1))


def test_the_bootstrap_tests_only_topics_that_have_a_score() -> None:
    tables, known = masked()
    source = of_scores(list("abcd"), tables)
    weights = np.random.default_rng(1).integers(0, 3, (5, 60)).astype(np.float32)
    pairs = (np.array([0, 2]), np.array([1, 3]))
    null, observed = power.student(source.features, source.known, pairs, weights[None])
    for place, (i, j) in enumerate(zip(*pairs, strict=True)):
        gaps = tables["one"][i, known] - tables["one"][j, known]
        assert observed[0, place] == pytest.approx(
            gaps.mean() / (np.std(gaps) / math.sqrt(len(gaps) - 1))
        )
        for k, times in enumerate(weights[:, known].astype(int)):
            again = np.repeat(gaps - gaps.mean(), times)
            expected = again.mean() / (np.std(again) / math.sqrt(len(again) - 1))
            assert null[0, place, k] == pytest.approx(expected)
    none = power.student(source.features, source.known, pairs, (~known)[None, None].astype(float))
    assert np.isnan(none[0][0]).all()


def test_tukeys_test_looks_only_at_topics_that_have_a_score() -> None:
    tables, known = masked()
    both = ab.read_scores(
        {
            name: pl.DataFrame({"topic": [f"t{k}" for k in range(60)]}).with_columns(
                **{run: pl.Series(row, nan_to_null=True) for run, row in zip("abcd", table,
                                                                             strict=True)}
            )
            for name, table in tables.items()
        }
    )  # fmt: skip
    found = both.meta(parts=["power", "sensitivity"], subsets=20, resamples=40)
    assert found.questions == 60
    assert found.notes == (
        f"means of one leave out {60 - int(known.sum())} of 60 topics, where it is undefined",
    )
    few = [row for row in found.power if row.tukey is None]
    assert [row.measure for row in few] == (["one"] if known.sum() < 40 else [])
    two = {row.measure: row for row in found.power}["two"]
    alone = both.only(measures=["two"]).meta(parts="power", resamples=40).power[0]
    assert (two.pairs, alone.pairs) == (6, 6)
    assert two.tukey == alone.tukey


def test_a_score_that_one_run_lacks_leaves_its_topic_out_for_all() -> None:
    one = pl.DataFrame({"topic": ["x", "y", "z"], "a": [0.1, None, 0.3], "b": [0.2, 0.2, 0.4]})
    two = pl.DataFrame({"topic": ["x", "y", "z"], "a": [0.1, 0.7, None], "b": [0.2, 0.2, None]})
    sm = ab.read_scores({"one": one, "two": two})
    kept = sm.complete(by_measure=True)
    assert kept.topics == ("x", "z")
    assert kept.values[0].tolist() == [[0.1, 0.3], [0.2, 0.4]]
    assert np.isnan(kept.values[1]).tolist() == [[False, True]] * 2
    assert sm.complete().topics == ("x",)
