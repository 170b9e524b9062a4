"""Rules tuned on some queries: every family, the choice among them, and promises."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from abstain.features.cut.rules import Rule, best_of, draws_for, expected_values, gap_depths, signal
from abstain.features.cut.scores import Lists, Model, logistic, short
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Bools, Floats, Ints

GRID = 200  # thresholds that are tried at most
CHANCES = np.concatenate([np.geomspace(0.002, 0.1, 24), np.linspace(0.12, 0.95, 36)])
GRIDS = {"share": np.round(np.linspace(0.0, 1.0, 101), 2), "probability": np.append(0.0, CHANCES)}
"""What is tried of numbers that mean the same in every list; of others, those that occur."""
ROUNDED = 1e-9  # how much fitted numbers differ by the order of a sum at most
WINDOWS, EXTRA = (0.1, 0.25, 0.5, 0.9, 1.0), (0, 1, 2, 5, 10)
RIDGE = 1.0
TRIVIAL = ("everything", "nothing", "top 10", "k")
"""Policies that look at no score; what a rule has to beat."""
TIERS: tuple[tuple[str, ...], ...] = (
    TRIVIAL,
    ("threshold", "share", "gap", "surprise", "distribution"),
    ("probability", "expected"),
)
"""From the simplest to those with a model of relevance."""
PLAIN = {
    "everything": Rule(rule="everything"),
    "nothing": Rule(rule="nothing", k=0),
    "top 10": Rule(rule="top 10", k=10),
}
MODEL, HALF, MANY = "expected", 0.5, 2.0
"""The standard errors that `expected` must be ahead of a trivial policy, and any of the others."""
MATTERS = 0.005  # a lead below that is none: it may be certain and still not worth a rule
INNER = 5  # folds inside the queries tuned on, by which a rule is chosen
ENOUGH = 500  # queries by which a rule is chosen at most
STEADY = 300
"""Fewer queries than that are parted several times: how they fall into folds matters more."""


class Fitted(NamedTuple):
    """A tuned rule, with the depths it gives to the queries asked for."""

    rule: Rule
    depth: Ints
    looked: float | None = None
    """The mean score of the queries it was tuned on, where that is known anyway."""


class Candidates(NamedTuple):
    """Rules of one family, and the depths that each gives to every query."""

    rules: Sequence[Rule]
    depth: Ints
    """Queries × rules; those that keep more come first."""
    values: Floats

    def best(self, train: Ints, budget: float | None) -> int:
        """The first of the greatest mean; where a budget is set, of those that keep it."""
        means, kept = self.values[train].mean(axis=0), self.depth[train].mean(axis=0)
        if budget is not None:
            within = kept <= budget + 1e-9
            if not within.any():
                return int(kept.argmin())
            means = np.where(within, means, -np.inf)
        return int(np.argmax(means >= means.max() - 1e-12))


@dataclass
class Chooser:
    lists: Lists
    measure: RankingMeasure
    rules: Sequence[str]
    budget: float | None = None
    known: dict[str, Candidates] = field(default_factory=dict)
    """The families that look at no judgment but to be tuned."""

    def fit(self, name: str, train: Ints, wanted: Ints) -> Fitted:
        if name in PLAIN:
            k, length = PLAIN[name].k, self.lists.scores.length[wanted]
            return Fitted(PLAIN[name], length if k is None else np.minimum(length, k))
        if name == "expected":
            return self._expected(train, wanted)
        tried = self.candidates(name, train)
        at = tried.best(train, self.budget)
        looked = float(tried.values[train, at].mean())
        return Fitted(tried.rules[at], tried.depth[wanted, at], looked)

    def candidates(self, name: str, train: Ints) -> Candidates:
        """The rules of a family that are tried, with a model learnt from some queries if any."""
        if name == "probability":
            model = self._document_model(train)
            return self._cut_at(Rule(rule=name, document=model, origin=self.lists.scores.origin))
        if name not in self.known:
            self.known[name] = self._candidates(name)
        return self.known[name]

    def _candidates(self, name: str) -> Candidates:
        scores = self.lists.scores
        if name == "k":
            depths = np.arange(scores.table.shape[1], -1, -1)
            rules = [Rule(rule="k", k=int(k)) for k in depths]
            return self._tried(rules, np.minimum(scores.length[:, None], depths))
        if name == "gap":
            rules = [Rule(rule="gap", window=w, extra=e) for w in WINDOWS for e in EXTRA]
            depth = np.column_stack([gap_depths(scores, w, EXTRA) for w in WINDOWS])
            order = np.argsort(-depth.mean(axis=0), kind="stable")
            return self._tried([rules[i] for i in order], depth[:, order])
        return self._cut_at(Rule(rule=name, origin=scores.origin if name == "share" else 0.0))

    def _cut_at(self, rule: Rule) -> Candidates:
        """A rule with each of the numbers that it may ask for, and with none: nothing is kept."""
        falls = signal(rule, self.lists.scores)
        at = GRIDS.get(rule.rule)
        if at is None:
            numbers = falls[self.lists.scores.inside]
            at = thresholds_of(numbers, halfway=rule.rule != "threshold")
        reached = [np.searchsorted(numbers, -at, side="right") for numbers in -falls]
        depth = np.column_stack([np.array(reached, np.int64), np.zeros(len(falls), np.int64)])
        return self._tried([*(replace(rule, at=each) for each in at.tolist()), rule], depth)

    def _tried(self, rules: list[Rule], depth: Ints) -> Candidates:
        return Candidates(rules, depth, np.take_along_axis(self.lists.values, depth, axis=1))

    def _document_model(self, train: Ints) -> Model:
        query, at, times = self.lists.sample
        use = np.flatnonzero(np.isin(query, train))
        relevant = self.lists.relevant[query[use], at[use]]
        return logistic(self.lists.known[use], relevant, ridge=RIDGE, times=times[use])

    def _expected(self, train: Ints, wanted: Ints) -> Fitted:
        lists, scores = self.lists, self.lists.scores
        some = train[~lists.nil[train]]
        has = some[scores.length[some] > 0]
        missed = lists.there[has] - lists.hits[has, -1]
        rule = Rule(
            rule="expected",
            document=self._document_model(some),
            nothing=logistic(scores.lists[train], lists.nil[train], ridge=RIDGE),
            unseen=short(float(missed.mean())) if len(has) else 0.0,
            gain=short(lists.gain) if self.measure.definition.scales_grades else 1.0,
            measure=str(self.measure),
            draws=draws_for(scores.table.shape[1]),
            origin=scores.origin,
        )
        if self.budget is not None:
            tuned_on, budget = scores.only(train), self.budget
            worth = expected_values(rule, tuned_on)

            def exceeds(price: float) -> bool:
                return bool(best_of(worth, tuned_on.length, price).mean() > budget)

            if exceeds(0.0):
                rule = replace(rule, price=halved(exceeds, 0.0, float(np.ptp(worth)) + 1.0)[1])
        values = expected_values(rule, scores.only(wanted))
        return Fitted(rule, best_of(values, scores.length[wanted], rule.price))

    def choose(self, train: Ints, draw: np.random.Generator) -> str:
        """The rule that does best inside some queries; a simpler one within a standard error."""
        if len(train) > ENOUGH:
            some = np.sort(draw.choice(train, ENOUGH, replace=False))
            known = {
                name: Candidates(tried.rules, tried.depth[some], tried.values[some])
                for name, tried in self.known.items()
            }
            lists = self.lists.only(some)
            chooser = Chooser(lists, self.measure, self.rules, self.budget, known)
            return chooser.choose(np.arange(ENOUGH), draw)
        names = [name for tier in TIERS for name in tier if name in (*PLAIN, *self.rules)]
        scores = {name: np.zeros(len(train)) for name in names}
        kept = {name: np.zeros(len(train)) for name in names}
        again = int(np.clip(STEADY // len(train), 1, 4))
        inside = min(INNER if len(train) < STEADY else 3, len(train))
        for _ in range(again):
            fold = folds_of(self.lists.nil[train], inside, draw)
            for part in range(inside):
                judged = np.flatnonzero(fold == part)
                inner = train[fold != part] if inside > 1 else train
                for name in names:
                    depth = self.fit(name, inner, train[judged]).depth
                    scores[name][judged] += self.lists.at(depth, train[judged]) / again
                    kept[name][judged] += depth / again
        return simplest(scores, kept, self.budget)


def simplest(scores: Mapping[str, Floats], kept: Mapping[str, Floats], budget: float | None) -> str:
    """The best trivial policy, unless a rule is ahead of it by more than chance may explain.

    Each rule must be two standard errors ahead, as the best of many looks better than it is, and
    `expected` half of one; all by what matters. Of those a simpler one stays where it is no more
    than half a standard error behind.
    """
    means = {name: float(values.mean()) for name, values in scores.items()}

    def ahead(name: str, other: str, errors: float) -> bool:
        by = scores[name] - scores[other]
        return bool(by.mean() > max(errors * _error(by), MATTERS))

    within = [
        name
        for name in scores
        if budget is None or name == "nothing" or kept[name].mean() <= budget + _error(kept[name])
    ]
    trivial = max((name for name in within if name in TRIVIAL), key=means.__getitem__)
    passed = [n for n in within if ahead(n, trivial, HALF if n == MODEL else MANY)]
    if not passed:
        return trivial
    best = max(passed, key=means.__getitem__)
    tied = [[n for n in tier if n in passed and not ahead(best, n, HALF)] for tier in TIERS]
    return max(next(filter(None, tied)), key=means.__getitem__)


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def thresholds_of(values: Floats, *, halfway: bool) -> Floats:
    """Numbers of documents, evenly spaced; `halfway` to the next below, as rounding moves them."""
    if not len(values):
        return np.zeros(1)
    at = np.unique(np.quantile(values, np.linspace(0, 1, GRID), method="lower"))
    if not halfway:
        return at
    ordered = np.sort(values)
    below = np.append(0.0, ordered)[np.searchsorted(ordered, at - ROUNDED)]
    return np.unique((at + below) / 2)


def halved(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """The last number for which something holds, and its neighbour, where it fails."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def folds_of(nil: Bools, folds: int, draw: np.random.Generator) -> Ints:
    """The fold of each query: nil queries are spread over all of them, and so are the others."""
    order = np.concatenate([draw.permutation(np.flatnonzero(kind)) for kind in (nil, ~nil)])
    fold = np.empty(len(nil), np.int64)
    fold[order] = np.arange(len(nil)) % folds
    return fold


# ------------------------------------------------------------------------------------- promises

FAMILIES = ("k", "threshold", "share")
"""What may keep a promise: rules that look at no judgment. Each has its part of δ."""


def losses(lists: Lists, depth: Ints, some: Ints) -> Floats:
    """Queries × cuts: the share lost of the relevant documents that a list has; NaN of none."""
    listed = lists.hits[some, -1].astype(np.float64)
    kept = np.take_along_axis(lists.hits[some], depth, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(listed[:, None] > 0, 1 - kept / listed[:, None], np.nan)


def shown_within(lost: Floats, bound: float, delta: float) -> Bools:
    """Of each column of losses: whether a mean within the bound is shown at 1 − δ.

    A bet wins where losses are small, each stake placed before its query, in random order. If the
    mean were above the bound, its capital would ever reach 1/δ with a probability of at most δ.
    """
    count = len(lost)
    if not count:
        return np.zeros(lost.shape[1], bool)
    number = np.arange(1, count + 1)[:, None]
    mean = (0.5 + np.cumsum(lost, axis=0)) / (number + 1)
    spread = (0.25 + np.cumsum((lost - mean) ** 2, axis=0)) / (number + 1)
    before = np.vstack([np.full((1, lost.shape[1]), 0.25), spread[:-1]])
    stake = np.minimum(np.sqrt(2 * math.log(1 / delta) / (count * before)), 0.9 / (1 - bound))
    capital = np.cumsum(np.log1p(-stake * (lost - bound)), axis=0)
    return np.asarray(capital.max(axis=0) >= math.log(1 / delta))


def bound_for_next(bound: float, queries: int, delta: float) -> float:
    """The mean loss with which so many further queries stay within a bound (by Chernoff)."""
    from scipy.special import rel_entr

    def stays(mean: float) -> bool:
        divergence = rel_entr(bound, mean) + rel_entr(1 - bound, 1 - mean)
        return bool(math.exp(-queries * divergence) <= delta)

    return halved(stays, 0.0, bound)[0]


def keeping(
    chooser: Chooser,
    train: Ints,
    wanted: Ints,
    keep: float,
    delta: float,
    following: int | None = None,
) -> Fitted:
    """The rule of the greatest mean score of those shown to keep a share of the relevant documents.

    With `following` that is promised of so many further queries, not of the mean they tend to.
    """
    bound, chance = 1 - keep, delta
    if following is not None:
        chance = delta / 2
        bound = bound_for_next(bound, following, chance)
    # queries come by year or by topic: in a random order each stake is placed on any of them
    mixed = np.random.default_rng(len(train)).permutation(train)
    best = chooser.fit("everything", train, wanted)
    most = float(chooser.lists.values[train, -1].mean())
    for name in FAMILIES:
        tried = chooser.candidates(name, train)
        lost = losses(chooser.lists, tried.depth[mixed], mixed)
        passed = shown_within(lost[~np.isnan(lost[:, 0])], bound, chance / len(FAMILIES))
        shown = int(np.argmin(np.append(passed, False)))  # the first that fails ends it
        means = tried.values[train, :shown].mean(axis=0)
        if shown and means.max() > most + 1e-12:
            at, most = int(means.argmax()), float(means.max())
            best = Fitted(tried.rules[at], tried.depth[wanted, at], most)
    return best
