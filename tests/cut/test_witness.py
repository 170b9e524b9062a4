"""The rules with a model, each against a witness of its own: the definition, list by list.

A witness shares nothing with the rule but what the documentation fixes: which parts of a list may
be a tail, how few documents are a tail, the grid of chances. Fits are scipy's and scikit-learn's.
Two optimisers stop at slightly different places, so numbers are compared within `CLOSE`, and depths
exactly at thresholds that lie no closer than that to any document's number.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import abstain as ab
from abstain.features.cut import RULES
from abstain.features.cut.rules import Rule, fit_mixture, signal, surprise
from abstain.features.cut.scores import Lists, Scores, logistic
from abstain.features.cut.tuning import CHANCES, Chooser
from tests.cut.test_rules import collection, lists_of

pytestmark = pytest.mark.slow

CLOSE = 1e-3
TINY = 1e-12


def scores_of(lists: Lists) -> list[list[float]]:
    return [row[~np.isnan(row)].tolist() for row in lists.scores.table]


def between(numbers: list[list[float]]) -> list[float]:
    """Thresholds between any two numbers that are further apart than the tolerance."""
    known = sorted({number for own in numbers for number in own if math.isfinite(number)})
    gaps = [(a + b) / 2 for a, b in itertools.pairwise(known) if b - a > 2 * CLOSE]
    return [known[0] - 1, *gaps, known[-1] + 1]


def best_of_loop(lists: Lists, numbers: list[list[float]], some: list[int]) -> float:
    """The greatest mean that any threshold gives to some queries; nothing is a threshold too."""
    best = -math.inf
    for at in between(numbers):
        total = 0.0
        for query in some:
            depth = sum(number >= at for number in numbers[query])
            total += lists.values[query, depth]
        best = max(best, total / len(some))
    return best


def the_same_depths(rule: str, numbers: list[list[float]], table: Any) -> None:
    thresholds = between(numbers)
    assert len(thresholds) > 20  # or next to nothing is compared
    for at in thresholds:
        expected = [sum(number >= at for number in own) for own in numbers]
        assert Rule(rule=rule, at=at).depths(table).tolist() == expected


# ---------------------------------------------------------------------------------------- surprise


def fitted_tail(excess: list[float]) -> Any:
    """The generalised Pareto distribution of greatest likelihood whose shape is −½ at least."""
    if len(excess) < 8:
        return stats.expon(scale=np.mean(excess))

    def lack(parameters: Any) -> float:
        shape, scale = parameters[0], math.exp(parameters[1])
        lack = -float(stats.genpareto.logpdf(excess, shape, scale=scale).sum())
        return lack if shape >= -0.5 and math.isfinite(lack) else 1e9

    found, _, wide = stats.genpareto.fit(excess, floc=0)
    starts = [(found, wide)] if found > -0.5 else []
    starts += [(shape, np.mean(excess) * (1 - shape)) for shape in (-0.45, -0.2, 0.1, 0.5)]
    exact = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000, "maxfev": 4000}
    ends = [
        optimize.minimize(lack, (a, math.log(b)), method="Nelder-Mead", options=exact)
        for a, b in starts
    ]
    shape, scale = min(ends, key=lambda end: end.fun).x
    return stats.genpareto(shape, scale=math.exp(scale))


def surprises(scores: list[float]) -> list[float]:
    """−log of the chance of so high a score, by the tail of least Cramér–von Mises distance."""
    best, tail, start, share = math.inf, None, math.inf, 1.0
    for part in (1.0, 0.6, 0.35, 0.2):
        last = math.ceil(part * len(scores)) - 1
        excess = [score - scores[last] for score in scores[:last]]
        if not excess or excess[0] <= 0 or (part < 1 and last < 8):
            continue
        law = fitted_tail(excess)
        distance = 0.0  # of one document there is one part
        if len(excess) > 1:
            distance = stats.cramervonmises(excess, law.cdf).statistic
        if distance < best:
            best, tail, start = distance, law, scores[last]
            share = (last + 1) / len(scores)
    found = []
    for score in scores:
        as_high = sum(other >= score for other in scores) / len(scores)
        chance = max(as_high, share)
        if tail is not None and score > start:
            chance = share * float(tail.sf(score - start))
        found.append(-math.log(chance) if chance > 0 else math.inf)
    return found


def test_surprise_is_that_of_a_tail_fitted_by_scipy() -> None:
    lists = lists_of(*collection(queries=20), "SetF")
    expected = [surprises(own) for own in scores_of(lists)]
    found = signal(Rule(rule="surprise"), lists.scores)
    for own, row in zip(expected, found, strict=True):
        assert row[~np.isnan(row)].tolist() == pytest.approx(own, abs=CLOSE)
    the_same_depths("surprise", expected, lists.scores.table)


def test_surprise_is_tuned_to_the_best_threshold() -> None:
    lists = lists_of(*collection(queries=12), "SetF")
    assert lists.scores.inside.sum() < 200  # so that every document's number is tried
    numbers = [surprises(own) for own in scores_of(lists)]
    train = list(range(0, lists.size, 2))
    chooser = Chooser(lists, ab.measure("SetF"), RULES)  # type: ignore[arg-type]
    fitted = chooser.fit("surprise", np.array(train), np.array(train))
    assert fitted.looked == pytest.approx(best_of_loop(lists, numbers, train), abs=1e-12)


def test_the_tail_of_a_long_list_is_that_of_all_its_documents() -> None:
    """A long list is fitted at evenly spaced ranks: what that changes is small."""
    draw = np.random.default_rng(4)
    scores = np.sort(draw.gamma(2, 2, 500))[::-1]
    found = surprise(Scores(scores[None]))[0]
    assert found[:400].tolist() == pytest.approx(surprises(scores.tolist())[:400], rel=0.1, abs=0.1)


# ------------------------------------------------------------------------------------ distribution


def mixture_of(x: list[float], rounds: int = 80) -> tuple[float, float, float, float]:
    """A truncated normal and an exponential distribution by EM: share, mean, deviation, scale.

    A truncated normal has the mean µ + σh and the variance σ²(1 + αh − h²), where α = −µ/σ and h is
    the hazard at α. The new µ and σ solve these for the weighted moments, with the old ones on the
    right.
    """
    numbers = np.array(x)
    most = max(x)
    high = [value for value in x if value >= most / 2]
    share = min(max(len(high) / len(x), 0.02), 0.5)
    mean, deviation, scale = sum(high) / len(high), 0.2 * most, sum(x) / len(x)
    for _ in range(rounds):
        own = chance_of(numbers, share, mean, deviation, scale)
        weight = own.sum()
        first = (own * numbers).sum() / weight
        second = (own * (numbers - first) ** 2).sum() / weight
        scale = max(((1 - own) * numbers).sum() / (len(x) - weight), TINY)
        alpha = -mean / deviation
        hazard = math.exp(stats.norm.logpdf(alpha) - stats.norm.logsf(alpha))
        mean = min(max(first - deviation * hazard, 0.0), most)
        deviation = math.sqrt(second / max(1 + alpha * hazard - hazard**2, 0.05))
        deviation = min(max(deviation, 0.02 * most), most)
        share = min(max(weight / len(x), 1e-6), 1 - 1e-6)
    return share, mean, deviation, scale


def chance_of(value: Any, share: float, mean: float, deviation: float, scale: float) -> Any:
    """That a number is of the truncated normal distribution (Bayes, in logs)."""
    normal = stats.norm.logpdf(value, mean, deviation) - stats.norm.logsf(0, mean, deviation)
    one = math.log(share) + normal
    other = math.log(1 - share) - value / scale - math.log(scale)
    return np.exp(one - np.logaddexp(one, other))


def chances(scores: list[float]) -> list[float]:
    """The chance of relevance, never below that of a lower score; ½ where all scores are equal."""
    if not scores or scores[0] == scores[-1]:
        return [0.5] * len(scores)
    x = [score - scores[-1] for score in scores]
    fitted = mixture_of(x)
    own = chance_of(np.array(x), *fitted).tolist()
    return [max(own[i:]) for i in range(len(own))]


def bimodal(
    queries: int, seed: int, length: int = 40, normal: tuple[float, float] = (8, 1.2)
) -> tuple[Any, Any]:
    """Relevant documents with normal scores, others with exponential ones, every fourth nil."""
    draw = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(queries):
        hits = 0 if number % 4 == 3 else int(draw.integers(4, 10))
        scores = [*draw.normal(*normal, hits), *draw.exponential(1.5, length - hits)]
        names = [f"{'r' if i < hits else 'x'}{i:02d}" for i in range(length)]
        qrels[f"q{number:02d}"] = dict.fromkeys(names[:hits], 1) or {"none": 0}
        run[f"q{number:02d}"] = dict(zip(names, map(float, scores), strict=True))
    return qrels, run


@pytest.mark.parametrize("made", [collection(queries=20), bimodal(10, 3)], ids=["gamma", "mixture"])
def test_distribution_is_that_of_a_plain_em(made: tuple[Any, Any]) -> None:
    lists = lists_of(*made, "SetF")
    expected = [chances(own) for own in scores_of(lists)]
    found = signal(Rule(rule="distribution"), lists.scores)
    for own, row in zip(expected, found, strict=True):
        assert row[~np.isnan(row)].tolist() == pytest.approx(own, abs=CLOSE)
    the_same_depths("distribution", expected, lists.scores.table)


def test_distribution_is_tuned_to_the_best_threshold() -> None:
    lists = lists_of(*bimodal(8, 5, length=20), "SetF")
    numbers = [chances(own) for own in scores_of(lists)]
    train = list(range(0, lists.size, 2))
    chooser = Chooser(lists, ab.measure("SetF"), RULES)  # type: ignore[arg-type]
    fitted = chooser.fit("distribution", np.array(train), np.array(train))
    assert fitted.looked == pytest.approx(best_of_loop(lists, numbers, train), abs=1e-12)


def test_distribution_cuts_where_the_most_likely_mixture_does() -> None:
    """No EM at all: the likelihood itself, by scipy, from four starts."""
    lists = lists_of(*bimodal(8, 9, length=80, normal=(14, 1)), "SetF")
    has = [i for i in range(lists.size) if not lists.nil[i]]
    table = lists.scores.table[has]
    found = signal(Rule(rule="distribution"), Scores(table))
    for row, own in zip(found, table, strict=True):
        x = own - own[-1]

        def lack(p: Any, x: Any = x) -> float:
            share, mean, deviation, scale = p
            normal = stats.norm.pdf(x, mean, deviation) / stats.norm.sf(0, mean, deviation)
            other = stats.expon.pdf(x, scale=scale)
            return -float(np.log(share * normal + (1 - share) * other + 1e-300).sum())

        bounds = [(1e-3, 0.999), (0, x[0]), (0.02 * x[0], x[0]), (1e-3, 10 * x[0])]
        starts = [(s, m * x[0], 0.15 * x[0], 0.2 * x[0]) for s in (0.1, 0.3) for m in (0.6, 0.8)]
        ends = [optimize.minimize(lack, start, bounds=bounds) for start in starts]
        share, mean, deviation, scale = min(ends, key=lambda end: end.fun).x
        fitted = tuple(float(part[0]) for part in fit_mixture(x[None]))
        assert lack(fitted) <= min(end.fun for end in ends) + 0.05
        expected = chance_of(x, share, mean, deviation, scale).tolist()
        for at in (0.2, 0.5, 0.8):
            kept = sum(max(expected[i:]) >= at for i in range(len(x)))
            assert int((row >= at).sum()) == kept


# ------------------------------------------------------------------------------------- probability


def known_of(scores: list[float], origin: float) -> list[list[float]]:
    """What the model sees of each document."""
    if not scores:
        return []
    n = len(scores)
    mean = sum(scores) / n
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / n) + 1e-9
    rows = []
    for i, score in enumerate(scores):
        gap = (score - scores[i + 1]) / spread if i + 1 < n else 0.0
        share = (score - origin) / (scores[0] - origin)
        z = (score - mean) / spread
        rows.append([score, share, z, math.log(i + 1), scores[0], spread, gap])
    return rows


@pytest.mark.parametrize("shift", [0.0, -30.0])
def test_probability_is_a_logistic_regression_of_scikit_learn(shift: float) -> None:
    from sklearn.linear_model import LogisticRegression

    lists = lists_of(*collection(queries=24, shift=shift), "SetF")
    scores = scores_of(lists)
    lowest = min(score for own in scores for score in own)
    known = [known_of(own, min(0.0, lowest)) for own in scores]
    train = [i for i in range(lists.size) if i % 3]
    judged = [i for i in range(lists.size) if i % 3 == 0]
    rows = [row for i in train for row in known[i]]
    hits = [bool(lists.relevant[i, at]) for i in train for at in range(len(known[i]))]
    mean, deviation = np.mean(rows, axis=0), np.std(rows, axis=0)
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=5000)
    model.fit((np.array(rows) - mean) / deviation, hits)
    chance = [
        model.predict_proba((np.array(own) - mean) / deviation)[:, 1].tolist() if own else []
        for own in known
    ]

    def depth(query: int, at: float) -> int:
        """All up to the last document that is likely enough."""
        return max((i + 1 for i, own in enumerate(chance[query]) if own >= at), default=0)

    levels = [0.0, *CHANCES.tolist(), 2.0]
    means = [np.mean([lists.values[q, depth(q, at)] for q in train]) for at in levels]
    best = levels[int(np.argmax(np.array(means) >= max(means) - 1e-12))]
    chooser = Chooser(lists, ab.measure("SetF"), RULES)  # type: ignore[arg-type]
    fitted = chooser.fit("probability", np.array(train), np.array(judged))
    assert fitted.rule.at == pytest.approx(best)
    assert fitted.looked == pytest.approx(max(means), abs=1e-12)
    assert fitted.depth.tolist() == [depth(query, best) for query in judged]
    found = signal(fitted.rule, lists.scores)
    for own, row in zip(chance, found, strict=True):
        falling = [max(own[i:]) for i in range(len(own))]
        assert row[~np.isnan(row)].tolist() == pytest.approx(falling, abs=1e-5)
    every = sorted({number for query in train for number in chance[query]})
    finest = max(np.mean([lists.values[q, depth(q, at)] for q in train]) for at in every)
    assert max(means) >= finest - 0.01  # the grid of chances is fine enough


@pytest.mark.parametrize(("queries", "width"), [(20, 200), (5, 100), (100, 1000)])
def test_a_model_of_long_lists_is_that_of_scikit_learn(queries: int, width: int) -> None:
    """Where relevance ends after the first ranks, whole steps of Newton's method go astray."""
    from sklearn.linear_model import LogisticRegression

    draw = np.random.default_rng(0)
    table = -np.sort(-draw.gamma(2, 2, (queries, width)), axis=1)
    hit = draw.random((queries, width)) < 0.5 * np.exp(-np.arange(width) / 20)
    known = Scores(table).at(*np.nonzero(np.ones_like(hit)))
    z = (known - known.mean(axis=0)) / known.std(axis=0)
    witness = LogisticRegression(C=1.0, tol=1e-10, max_iter=5000).fit(z, hit.ravel())
    found = logistic(known, hit.ravel(), ridge=1.0)
    weights = np.array(found.weights) * known.std(axis=0)
    assert weights == pytest.approx(witness.coef_[0], abs=2e-3)
    assert found.chance(known) == pytest.approx(witness.predict_proba(z)[:, 1], abs=1e-4)
