"""Rules tuned on some queries: every family, and the choice among them by nested folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from abstain.analyses.cut.expected import best_of, draws_for, expected_values
from abstain.analyses.cut.models import Model, logistic, sigmoid
from abstain.analyses.cut.rules import Rule, gap_depths, signal

if TYPE_CHECKING:
    from abstain.analyses.cut.lists import Lists
    from abstain.measures.kinds import RankingMeasure
    from abstain.measures.ranked_lists import Bools, Floats, Ints

GRID = 200
"""Thresholds that are tried at most."""
CHANCES = np.concatenate([np.geomspace(0.002, 0.1, 24), np.linspace(0.12, 0.95, 36)])
ODDS = np.log(CHANCES / (1 - CHANCES))
COMPUTED, ROUNDED = ("surprise", "distribution"), 1e-9
"""Rules whose numbers are fitted, and how much these differ by the order of a sum at most."""
SHARES = tuple(np.round(np.linspace(0.0, 1.0, 101), 2).tolist())
WINDOWS, EXTRA = (0.1, 0.25, 0.5, 0.9, 1.0), (0, 1, 2, 5, 10)
RIDGE = 1.0
TIERS: tuple[tuple[str, ...], ...] = (
    ("everything", "nothing", "top 10"),
    ("k", "threshold", "share", "gap", "surprise", "distribution"),
    ("probability", "expected"),
)
"""From the simplest to those with a model of relevance."""
PLAIN = {
    "everything": Rule(rule="everything"),
    "nothing": Rule(rule="nothing", k=0),
    "top 10": Rule(rule="top 10", k=10),
}
MODEL, HALF, MANY = "expected", 0.5, 2.0
"""The standard errors that `expected` must be ahead of a reference, and any of the others."""
MATTERS = 0.005
"""A lead below that is none: it may be certain and still not worth a rule."""
INNER = 5
"""Folds inside the queries tuned on, by which a rule is chosen."""
STEADY = 300
"""Fewer queries than that are parted several times: how they fall into folds matters more."""


@dataclass(frozen=True)
class Fitted:
    """A tuned rule, with the depths it gives to the queries asked for."""

    rule: Rule
    depth: Ints
    looked: float | None = None
    """The mean score of the queries it was tuned on, where that is known anyway."""


@dataclass(frozen=True)
class Candidates:
    """Rules of one family, and the depths that each gives to every query."""

    rules: Sequence[Rule]
    depth: Ints
    """Queries × rules; those that keep more come first."""
    values: Floats

    def best(self, train: Ints, budget: float | None) -> int:
        """The one that is best for some queries, within a budget."""
        return best_column(self.values[train], self.depth[train], budget)


def best_column(values: Floats, depth: Ints, budget: float | None) -> int:
    """The first column of the greatest mean; where a budget is set, of those that keep it."""
    means = values.mean(axis=0)
    if budget is not None:
        within = depth.mean(axis=0) <= budget + 1e-9
        means = np.where(within, means, -np.inf)
        if not within.any():
            return int(depth.mean(axis=0).argmin())
    return int(np.argmax(means >= means.max() - 1e-12))


@dataclass
class Chooser:
    """Tunes rules on the lists of one run."""

    lists: Lists
    measure: RankingMeasure
    rules: Sequence[str]
    budget: float | None = None
    known: dict[str, Candidates] = field(default_factory=dict)
    started: dict[bool, Model] = field(default_factory=dict)
    """Models to start others from."""

    def fit(self, name: str, train: Ints, wanted: Ints) -> Fitted:
        """The best rule of a family for some queries, with the depths it gives to others."""
        if name in PLAIN:
            rule = PLAIN[name]
            k = self.lists.values.shape[1] if rule.k is None else rule.k
            return Fitted(rule, np.minimum(self.lists.scores.length[wanted], k))
        if name == "probability":
            return self._probability(train, wanted)
        if name == "expected":
            return self._expected(train, wanted)
        if name not in self.known:
            self.known[name] = self._candidates(name)
        own = self.known[name]
        at = own.best(train, self.budget)
        looked = float(own.values[train, at].mean())
        return Fitted(own.rules[at], own.depth[wanted, at], looked)

    # ------------------------------------------------- rules that look at no judgment but to tune

    def _candidates(self, name: str) -> Candidates:
        scores, lists = self.lists.scores, self.lists
        if name == "k":
            most = scores.table.shape[1]
            depths = np.arange(most, -1, -1)
            depth = np.minimum(scores.length[:, None], depths)
            rules = [Rule(rule="k", k=int(k)) for k in depths]
            return Candidates(rules, depth, lists.scored(depth))
        if name == "gap":
            rules = [Rule(rule="gap", window=w, extra=e) for w in WINDOWS for e in EXTRA]
            depth = np.column_stack([gap_depths(scores, w, EXTRA) for w in WINDOWS])
            order = np.argsort(-depth.mean(axis=0), kind="stable")
            rules, depth = [rules[i] for i in order], depth[:, order]
            return Candidates(rules, depth, lists.scored(depth))
        empty = Rule(rule=name, origin=scores.origin if name == "share" else 0.0)
        falls = signal(empty, scores)
        at = np.array(SHARES) if name == "share" else thresholds_of(falls[scores.inside])
        if name in COMPUTED:
            at = between(at, falls[scores.inside])
        depth = np.column_stack([counts_from(falls, at), np.zeros(lists.size, np.int64)])
        rules = [replace(empty, at=float(a)) for a in at]
        return Candidates([*rules, empty], depth, lists.scored(depth))

    # ------------------------------------------------------------------- rules with a model

    def _document_model(self, train: Ints, *, with_nil: bool) -> Model:
        lists = self.lists
        query, at, times = lists.sample
        chosen = np.zeros(lists.size, bool)
        chosen[train] = True
        if not with_nil:
            chosen &= ~lists.nil
        use = np.flatnonzero(chosen[query])
        model = logistic(
            lists.known[use],
            lists.relevant[query[use], at[use]],
            ridge=RIDGE,
            times=times[use],
            start=self.started.get(with_nil),
        )
        self.started.setdefault(with_nil, model)
        return model

    def _probability(self, train: Ints, wanted: Ints) -> Fitted:
        scores = self.lists.scores
        model = self._document_model(train, with_nil=True)
        rule = Rule(rule="probability", document=model, origin=scores.origin)
        depth = self._chances(model, train)
        values = np.take_along_axis(self.lists.values[train], depth, axis=1)
        best = best_column(values, depth, self.budget)
        levels = [0.0, *CHANCES.tolist(), None]
        looked = float(values[:, best].mean())
        return Fitted(replace(rule, at=levels[best]), self._chances(model, wanted)[:, best], looked)

    def _chances(self, model: Model, some: Ints) -> Ints:
        """Queries × chances: how many documents of some lists reach each; all, none at the ends."""
        odds = self.lists.scores.logits(model, some)
        # the last document that reaches a chance is kept, with all before it
        falls = np.maximum.accumulate(odds[:, ::-1], axis=1)[:, ::-1]
        length = self.lists.scores.length[some]
        return np.column_stack([length, counts_from(falls, ODDS), 0 * length])

    def _expected(self, train: Ints, wanted: Ints) -> Fitted:
        lists, scores = self.lists, self.lists.scores
        document = self._document_model(train, with_nil=False)
        nothing = logistic(scores.lists[train], lists.nil[train], ridge=RIDGE)
        has = train[~lists.nil[train] & (scores.length[train] > 0)]
        missed = lists.there[has] - lists.found[has, -1]
        rule = Rule(
            rule="expected",
            document=document,
            nothing=nothing,
            unseen=float(missed.mean()) if len(has) else 0.0,
            gain=lists.gain if self.measure.definition.scales_grades else 1.0,
            measure=str(self.measure),
            draws=draws_for(scores.table.shape[1]),
            origin=scores.origin,
        )
        if self.budget is not None:
            rule = replace(rule, price=self._price(rule, train))
        values = self._expected_values(rule, wanted)
        return Fitted(rule, best_of(values, scores.length[wanted], rule.price))

    def _expected_values(self, rule: Rule, some: Ints) -> Floats:
        scores = self.lists.scores
        assert rule.document is not None
        assert rule.nothing is not None
        return expected_values(
            sigmoid(scores.logits(rule.document, some)),
            rule.nothing.chance(scores.lists[some]),
            self.measure,
            unseen=rule.unseen or 0.0,
            gain=rule.gain,
            draws=rule.draws or 1,
        )

    def _price(self, rule: Rule, train: Ints) -> float:
        """The lowest price of a document at which the queries tuned on keep to the budget."""
        assert self.budget is not None
        values, length = self._expected_values(rule, train), self.lists.scores.length[train]
        if best_of(values, length).mean() <= self.budget:
            return 0.0
        low, high = 0.0, float(np.ptp(values)) + 1.0
        for _ in range(40):
            middle = (low + high) / 2
            if best_of(values, length, middle).mean() <= self.budget:
                high = middle
            else:
                low = middle
        return high

    # ------------------------------------------------------------------------ the choice of a rule

    def choose(self, train: Ints, draw: np.random.Generator) -> str:
        """The rule that does best inside some queries; a simpler one within a standard error."""
        names = [name for tier in TIERS for name in tier if name in PLAIN or name in self.rules]
        found = {name: np.zeros(len(train)) for name in names}
        kept = {name: np.zeros(len(train)) for name in names}
        again = int(np.clip(STEADY // len(train), 1, 4))
        for _ in range(again):
            inside = INNER if len(train) < STEADY else 3
            fold = folds_of(self.lists.nil[train], min(inside, len(train)), draw)
            for part in range(int(fold.max(initial=0)) + 1):
                inner, judged = train[fold != part], np.flatnonzero(fold == part)
                if not len(inner):
                    inner = train
                for name in names:
                    depth = self.fit(name, inner, train[judged]).depth
                    found[name][judged] += self.lists.at(depth, train[judged]) / again
                    kept[name][judged] += depth / again
        return simplest(found, kept, self.budget)


def simplest(found: Mapping[str, Floats], kept: Mapping[str, Floats], budget: float | None) -> str:
    """The best reference, unless a rule is ahead of it by as much as chance may explain.

    One rule among many that are tried looks better than it is, so each must be two standard errors
    ahead; `expected`, of which there is one, by half of one; and all of them by what matters. Among
    those that are, a simpler one stays where it is no more than half a standard error behind.
    """
    within = [
        name
        for name in found
        if budget is None or name == "nothing" or kept[name].mean() <= budget + _error(kept[name])
    ]

    def ahead(name: str, other: str, errors: float) -> bool:
        by = found[name] - found[other]
        return bool(by.mean() > max(errors * _error(by), MATTERS))

    def mean(name: str) -> float:
        return float(found[name].mean())

    reference = max((name for name in within if name in PLAIN), key=mean)
    passed = [n for n in within if ahead(n, reference, HALF if n == MODEL else MANY)]
    if not passed:
        return reference
    best = max(passed, key=mean)
    return next(
        max(own, key=mean)
        for tier in TIERS
        if (own := [n for n in tier if n in passed and not ahead(best, n, HALF)])
    )


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def thresholds_of(values: Floats) -> Floats:
    """Documents' own numbers, evenly spaced: a threshold between two of them cuts alike."""
    if not len(values):
        return np.zeros(1)
    return np.unique(np.quantile(values, np.linspace(0, 1, GRID), method="lower"))


def between(at: Floats, values: Floats) -> Floats:
    """Thresholds moved halfway to the next number below, so that rounding decides no document."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, at - ROUNDED) - 1
    lower = np.where(below >= 0, ordered[np.maximum(below, 0)], 0.0) if len(ordered) else 0.0
    return np.unique((at + lower) / 2)


def counts_from(falls: Floats, at: Floats) -> Ints:
    """Queries × thresholds: how many of each list's falling numbers reach each; NaN reaches none.

    By halving, all lists at once: `low` reach it and `high` or more do not.
    """
    low = np.zeros((len(falls), len(at)), np.int64)
    high = np.full_like(low, falls.shape[1])
    for _ in range(falls.shape[1].bit_length()):
        middle = (low + high) // 2
        reached = np.take_along_axis(falls, np.minimum(middle, falls.shape[1] - 1), axis=1) >= at
        open_ = low < high
        low = np.where(open_ & reached, middle + 1, low)
        high = np.where(open_ & ~reached, middle, high)
    return low


def folds_of(nil: Bools, folds: int, draw: np.random.Generator) -> Ints:
    """The fold of each query: nil queries are spread over all of them, and so are the others."""
    order = np.concatenate([draw.permutation(np.flatnonzero(own)) for own in (nil, ~nil)])
    fold = np.empty(len(nil), np.int64)
    fold[order] = np.arange(len(nil)) % folds
    return fold
