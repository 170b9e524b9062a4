"""Each rule against a slow, literal loop; and the lines of Python that `--explain` prints."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import poisson

import abstain as ab
from abstain.features.cut import RULES
from abstain.features.cut.rules import Rule, poisson_counts, uniforms
from abstain.features.cut.scores import Lists, logistic, of_run, origin_of, score_tables
from abstain.features.cut.tuning import Chooser
from abstain.rankings.read import read_rankings

pytestmark = pytest.mark.slow

MEASURES = ("AP'", "SetF", "NDCG'", "RBP'(p=0.7)", "RR'", "pDCG", "RBP-effort(p=0.8,e=0.2)")


def collection(queries: int = 14, seed: int = 0, *, shift: float = 0.0) -> tuple[Any, Any]:
    """Lists of all lengths, an empty one among them, ties, and some nil queries."""
    draw = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(queries):
        length = [0, 1, 2, 12][number] if number < 4 else int(draw.integers(3, 30))
        scores = np.round(np.sort(draw.gamma(2, 2, length))[::-1], 1) + shift
        chance = np.exp(-np.arange(length) / 4) * (number % 4 != 3)
        hits = draw.random(length) < chance
        qrels[f"q{number:02d}"] = {f"d{i:02d}": int(hit) for i, hit in enumerate(hits)}
        if number % 4 != 3:
            qrels[f"q{number:02d}"] |= {"unseen": 1}
        run[f"q{number:02d}"] = {f"d{i:02d}": float(s) for i, s in enumerate(scores)}
    return qrels, {query: own for query, own in run.items() if own}


def lists_of(qrels: Any, run: Any, measure: str) -> Lists:
    rankings = read_rankings(qrels, run)
    (table,) = score_tables(rankings.origins, rankings.lists).values()
    return of_run(rankings.lists, table, ab.measure(measure), origin_of(table))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", MEASURES)
def test_what_every_depth_is_worth(name: str) -> None:
    """One list at a time, cut at each depth, by the measure itself."""
    qrels, run = collection()
    lists, item = lists_of(qrels, run, name), ab.measure(name)
    for at, query in enumerate(qrels):
        ranked = sorted(
            run.get(query, {}).items(), key=lambda pair: (pair[1], pair[0]), reverse=True
        )
        gains = [qrels[query].get(doc, 0) for doc, _ in ranked]
        pool = sum(qrels[query].values())
        for depth in range(lists.values.shape[1]):
            assert lists.values[at, depth] == pytest.approx(
                item(gains[:depth], pool=pool), abs=1e-12
            )


def slow_share(scores: list[float], at: float) -> int:
    return sum(score / scores[0] >= at for score in scores)


def slow_gap(scores: list[float], window: float, extra: int) -> int:
    best, place = 0.0, None
    for i in range(1, len(scores)):
        drop = round(scores[i - 1] - scores[i], 6)  # scores have one decimal, and so have drops
        if i < max(math.ceil(window * len(scores)), 2) and drop > best:
            best, place = drop, i
    return len(scores) if place is None else min(place + extra, len(scores))


SLOW: dict[str, Callable[[Rule, list[float]], int]] = {
    "k": lambda rule, scores: min(len(scores), rule.k or 0),
    "threshold": lambda rule, scores: sum(score >= (rule.at or 0) for score in scores),
    "share": lambda rule, scores: slow_share(scores, rule.at or 0) if scores else 0,
    "gap": lambda rule, scores: slow_gap(scores, rule.window or 1, rule.extra or 0),
}


@pytest.mark.parametrize("name", SLOW)
def test_a_tuned_rule_is_the_best_of_a_slow_loop(name: str) -> None:
    """The tuned one has the greatest mean of all that are tried, each cut list by list."""
    qrels, run = collection()
    lists = lists_of(qrels, run, "SetF")
    chooser = Chooser(lists, ab.measure("SetF"), RULES)  # type: ignore[arg-type]
    some = np.arange(lists.size)
    fitted = chooser.fit(name, some, some)
    scores = [[float(s) for s in row[~np.isnan(row)]] for row in lists.scores.table]
    assert fitted.depth.tolist() == [SLOW[name](fitted.rule, own) for own in scores]
    means = []
    for rule in chooser.known[name].rules:
        if rule.at is not None or name in ("k", "gap"):
            depths = [SLOW[name](rule, own) for own in scores]
            means.append(np.mean([lists.values[i, d] for i, d in enumerate(depths)]))
    assert lists.at(fitted.depth).mean() >= max(means) - 1e-12


@pytest.mark.parametrize("shift", [0.0, -20.0])
@pytest.mark.parametrize("name", [*(name for name in RULES if name != "auto"), "nothing", "top 10"])
def test_the_printed_lines_cut_as_the_rule_does(name: str, shift: float) -> None:
    for measure in MEASURES if name == "expected" else ("SetF",):
        qrels, run = collection(queries=24, shift=shift)
        lists = lists_of(qrels, run, measure)
        chooser = Chooser(lists, ab.measure(measure), RULES)  # type: ignore[arg-type]
        some = np.arange(lists.size)
        fitted = chooser.fit(name, some, some)
        made: dict[str, Any] = {}
        exec(fitted.rule.as_python(), made)
        printed = [made["cut"](row[~np.isnan(row)].tolist()) for row in lists.scores.table]
        assert printed == fitted.depth.tolist() == fitted.rule.depths(lists.scores.table).tolist()


def test_the_printed_lines_of_rules_that_cut_somewhere() -> None:
    """Tuned rules may keep everything: these do not."""
    table = lists_of(*collection(queries=30), "SetF").scores.table
    for rule in (
        Rule(rule="surprise", at=1.2),
        Rule(rule="distribution", at=0.4),
        Rule(rule="gap", window=0.5, extra=1),
        Rule(rule="share", at=0.5),
        Rule(rule="threshold", at=4.0),
    ):
        made: dict[str, Any] = {}
        exec(rule.as_python(), made)
        printed = [made["cut"](row[~np.isnan(row)].tolist()) for row in table]
        assert printed == rule.depths(table).tolist()
        assert 0 < sum(printed) < (~np.isnan(table)).sum()


def test_expected_against_a_slow_loop() -> None:
    qrels, run = collection()
    lists, item = lists_of(qrels, run, "AP'"), ab.measure("AP'")
    chooser = Chooser(lists, item, RULES)  # type: ignore[arg-type]
    some = np.arange(lists.size)
    fitted = chooser.fit("expected", some, some)
    rule = fitted.rule
    assert rule.document is not None
    assert rule.nothing is not None
    drawn = uniforms(lists.scores.table.shape[1], rule.draws or 0)
    unseen = poisson_counts(rule.unseen or 0, rule.draws or 0)
    for at in range(lists.size):
        length = int(lists.scores.length[at])
        places = np.arange(length)
        chance = rule.document.chance(lists.scores.at(np.full(length, at), places))
        nothing = float(rule.nothing.chance(lists.scores.lists[at]))
        best, kept = -math.inf, 0
        for depth in range(length + 1):
            total = 0.0
            for u, more in zip(drawn, unseen, strict=True):
                gains = [int(u[i] < chance[i]) for i in range(length)]
                total += item(gains[:depth], pool=max(sum(gains) + int(more), 1))
            value = (1 - nothing) * total / len(drawn) + nothing * item([0] * depth, pool=0)
            if value > best + 1e-9:
                best, kept = value, depth
        assert fitted.depth[at] == kept


def test_the_draws_are_those_of_python() -> None:
    import random

    own = random.Random(0)
    assert uniforms(5, 3).T.ravel().tolist() == [own.random() for _ in range(15)]


def test_poisson_counts_have_the_mean() -> None:
    assert poisson_counts(2.5, 1000).mean() == pytest.approx(2.5, abs=0.02)
    assert set(poisson_counts(0.0, 8).tolist()) == {0}
    for mean in (380.0, 420.0, 900.0, 5000.0):  # e^−900 is 0
        counts = poisson_counts(mean, 64)
        levels = (np.arange(64) + 0.5) / 64
        assert counts.tolist() == poisson.ppf(levels, mean).astype(int).tolist()


def test_large_numbers_that_are_all_the_same_have_no_weight() -> None:
    """Of 1e30 less their mean, rounding leaves 1e14."""
    known = np.column_stack([np.full(8, 1e30), np.log(np.arange(1.0, 9.0)), np.full(8, 3e29)])
    found = logistic(known, np.arange(8) % 3 == 0, ridge=1.0)
    plain = logistic(known[:, 1:2], np.arange(8) % 3 == 0, ridge=1.0)
    assert found.weights == pytest.approx((0.0, plain.weights[0], 0.0))
    assert found.bias == pytest.approx(plain.bias)
