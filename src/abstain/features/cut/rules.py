"""Rules that say where a list stops, as data: each makes depths of scores alone."""

from collections.abc import Sequence
from functools import lru_cache
from textwrap import wrap
from typing import Annotated, Any, NamedTuple, TypeAlias, cast

import numpy as np
from msgspec import Meta

from abstain.errors import UsageError, shown
from abstain.features.cut import RULES
from abstain.features.cut.scores import DOCUMENT, LIST, Model, Scores, finite, sigmoid
from abstain.measures import measure
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Floats, Ints, Prefixes
from abstain.outcomes import MOST
from abstain.report.result import Facts

REFERENCES = ("nothing", "everything", "top 10", "oracle")
SIGNALS = ("threshold", "share", "surprise", "distribution", "probability")
"""Rules that keep the documents for which a falling number is at least so much."""
MOST_DRAWS, FEWEST_DRAWS = 64, 16
MOST_UNSEEN = 10**6  # relevant documents beside those in a list, on average
CHUNK = 1 << 17  # numbers that are worked on at a time
SAME = 1e-9
"""Of depths expected to score the same the smallest is taken; of equal drops, the first."""
HEAD = '''def cut(scores):
    """How many of the documents with these scores to keep, the best first."""
'''
IMPORT = "from abstain.features.cut.rules import Model, Rule"
SCORES = "expected scores: a list of numbers, a list of lists, or {query: {document: score}}"
AT_ONCE = 1 << 22  # scores that are cut at a time
FITTED = 128  # documents of a list that are fitted at most
WINDOWS = (1.0, 0.6, 0.35, 0.2)  # how much of the list the tail may be
FEWEST = 8
"""Documents of a tail; a shorter one is exponential."""
LOWEST_SHAPE = -0.5
"""Below it the likelihood of a generalised Pareto distribution has no regular maximum."""
FLAT = 1e-9  # a shape, and a θ in 1 / mean, that is taken for 0
GRID = np.concatenate([-np.geomspace(0.98, 0.02, 6), [1e-6], np.geomspace(0.02, 60, 10)])
"""Where the maximum of the profile is looked for, before it is refined."""
GOLDEN = (5**0.5 - 1) / 2
REFINED, ROUNDS = 26, 80
Depth: TypeAlias = Annotated[int, Meta(ge=0, le=MOST)]


class Rule(Facts, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """One rule with its parameters."""

    rule: str
    k: Depth | None = None
    """The depth, of a rule that has one for all lists; null with `everything`."""
    at: float | None = None
    """The least score, share, surprise or chance that is kept; null: nothing is."""
    window: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The part of the list in which the largest drop is looked for."""
    extra: Depth | None = None
    """How many documents are kept behind it."""
    origin: float = 0.0
    """What counts as no score where shares of the top score are taken."""
    document: Model | None = None
    """The chance that a document is relevant."""
    nothing: Model | None = None
    """The chance that a query has nothing relevant."""
    unseen: Annotated[float, Meta(ge=0, le=MOST_UNSEEN)] | None = None
    """Relevant documents a query has beside those in its list, on average."""
    gain: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """The mean gain of a relevant document."""
    measure: str | None = None
    """What is expected to be greatest."""
    draws: Annotated[int, Meta(ge=1, le=MOST_DRAWS)] | None = None
    price: Annotated[float, Meta(ge=0, le=MOST)] = 0.0
    """What a document costs, so that a budget is kept."""

    def check(self) -> None:
        if self.rule not in (*RULES[1:], *REFERENCES[:3]):
            raise ValueError(f"there is no rule {shown(self.rule)}")
        needs = {"probability": 1, "expected": 2}.get(self.rule, 0)
        for model, known in ((self.document, DOCUMENT), (self.nothing, LIST))[:needs]:
            if model is None or not model.fits(len(known)):
                raise ValueError(f"the rule {self.rule} needs models of {len(known)} numbers")
        definition = measure(self.measure).definition if self.measure else None
        if self.rule == "expected" and getattr(definition, "by_depth", None) is None:
            raise ValueError(f"the rule 'expected' cannot be used with {self.measure}")

    def depths(self, table: Floats) -> Ints:
        """How many documents each list keeps: lists × ranks of falling scores, NaN behind ends."""
        scores = Scores(table, self.origin)
        if self.rule == "gap":
            return gap_depths(scores, self.window or 1.0, (self.extra or 0,))[:, 0]
        if self.rule == "expected":
            return best_of(expected_values(self, scores), scores.length, self.price)
        if self.rule not in SIGNALS:
            return scores.length if self.k is None else np.minimum(scores.length, self.k)
        at = np.inf if self.at is None else self.at
        return np.asarray((np.nan_to_num(signal(self, scores), nan=-np.inf) >= at).sum(axis=1))

    def cut(self, lists: Sequence[Any]) -> list[int]:
        """How many documents it keeps of each list of scores, in any order."""
        try:
            falling = [-np.sort(-np.asarray(list(values), np.float64)) for values in lists]
            if any(values.ndim != 1 or np.isnan(values).any() for values in falling):
                raise ValueError
        except (TypeError, ValueError):
            raise UsageError(SCORES) from None
        depths: list[int] = []
        step = max(1, AT_ONCE // max(1, max(map(len, falling), default=1)))
        for start in range(0, len(falling), step):
            some = falling[start : start + step]
            table = np.full((len(some), max(1, *map(len, some))), np.nan)
            for row, values in zip(table, some, strict=True):
                row[: len(values)] = values
            depths += self.depths(finite(table)[0]).tolist()
        return depths

    def as_python(self) -> str:
        """A function `cut(scores)` to paste; what is more than a line asks the declared rule."""
        if self.rule == "threshold" and self.at is not None:
            return f"{HEAD}    return sum(score >= {self.at!r} for score in scores)\n"
        if self.rule not in (*SIGNALS, "gap", "expected"):
            kept = "len(scores)" if self.k is None else f"min(len(scores), {self.k})"
            return f"{HEAD}    return {kept}\n"
        # what is in quotes is not broken
        whole = str(self.measure).replace(" ", "\0")
        text = f"RULE = {self!r}".replace(str(self.measure), whole)
        lines = wrap(text, 88, subsequent_indent="    ", break_on_hyphens=False)
        rule = "\n".join(lines).replace("\0", " ")
        return f"{IMPORT}\n\n{rule}\n\n\n{HEAD}    return RULE.cut([scores])[0]\n"


def signal(rule: Rule, scores: Scores) -> Floats:
    """The falling number that a rule looks at; NaN behind a list's end."""
    match rule.rule:
        case "threshold":
            return scores.table
        case "share":
            return scores.share
        case "surprise":
            return surprise(scores)
        case "distribution":
            chance = posterior(scores)
        case _:
            assert rule.document is not None
            chance = scores.chance(rule.document)
    # a chance is at least that of every document behind
    return np.where(scores.inside, np.fmax.accumulate(chance[:, ::-1], axis=1)[:, ::-1], np.nan)


def gap_depths(scores: Scores, window: float, extra: Sequence[int]) -> Ints:
    """Lists cut at the largest drop within the first part, with so many documents more."""
    whole = np.broadcast_to(scores.length[:, None], (len(scores.table), len(extra)))
    drop = -np.diff(scores.table, axis=1, append=np.nan)
    reach = np.maximum(np.ceil(window * scores.length), 2)[:, None]
    place = np.arange(1, drop.shape[1] + 1)
    drop = np.where((place < reach) & ~np.isnan(drop), drop, -1.0)
    largest = drop.max(axis=1)
    first = np.argmax(drop >= (largest * (1 - SAME))[:, None], axis=1) + 1
    flat = largest <= 0  # nothing drops: there is no place to cut
    return np.where(flat[:, None], whole, np.minimum(first[:, None] + extra, whole))


def draws_for(width: int) -> int:
    """How many draws lists of so many documents get: long ones fewer, they average themselves."""
    return int(np.clip(6400 // max(width, 1), FEWEST_DRAWS, MOST_DRAWS))


@lru_cache(maxsize=4)
def uniforms(width: int, draws: int) -> Floats:
    """Draws × ranks of numbers between 0 and 1, those of `random.Random(0)`, for every list."""
    generator = np.random.RandomState([0])
    return np.ascontiguousarray(generator.random_sample((width, draws)).T)


def poisson_counts(mean: float, draws: int) -> Ints:
    """So many evenly spaced quantiles of a Poisson distribution."""
    from scipy.special import pdtr, pdtrik

    levels = (np.arange(draws) + 0.5) / draws
    above = np.ceil(pdtrik(levels, max(mean, 1e-9)))
    below = np.maximum(above - 1, 0)
    return np.asarray(np.where(pdtr(below, mean) >= levels, below, above), np.int64)


def expected_values(rule: Rule, scores: Scores) -> Floats:
    item = cast("RankingMeasure", measure(rule.measure or ""))
    by_depth = item.definition.by_depth
    assert rule.document is not None
    assert rule.nothing is not None
    assert by_depth is not None
    chance, nil = np.nan_to_num(scores.chance(rule.document)), rule.nothing.chance(scores.lists)
    queries, width = chance.shape
    drawn = uniforms(width, rule.draws or 1)
    unseen = poisson_counts(rule.unseen or 0.0, rule.draws or 1)
    none = Prefixes(np.zeros((1, width)), np.zeros(1), np.zeros(1))
    empty = by_depth(none, **item.arguments).values
    values = np.empty((queries, width + 1))
    step = max(1, CHUNK // drawn.size)
    for start in range(0, queries, step):
        hit = (drawn[:, None, :] < chance[start : start + step]).astype(np.float64)
        relevant = np.maximum(hit.sum(axis=-1) + unseen[:, None], 1.0)
        prefixes = Prefixes(hit * rule.gain, relevant * rule.gain, relevant)
        values[start : start + step] = by_depth(prefixes, **item.arguments).mean()
    return np.asarray((1 - nil[:, None]) * values + nil[:, None] * empty)


def best_of(values: Floats, length: Ints, price: float = 0.0) -> Ints:
    """The smallest depth of the greatest value within each list's length."""
    depth = np.arange(values.shape[1])
    worth = np.where(depth <= length[:, None], values - price * depth, -np.inf)
    return np.asarray(np.argmax(worth >= worth.max(axis=1, keepdims=True) - SAME, axis=1))


# -------------------------------------- distributions fitted to the scores of each list at once


class Pareto(NamedTuple):
    shape: Floats
    scale: Floats

    def log_survival(self, excess: Floats) -> Floats:
        shape = np.where(np.abs(self.shape) > FLAT, self.shape, FLAT)[:, None]
        ratio = excess / np.maximum(self.scale, 1e-300)[:, None]
        return np.asarray(-np.log1p(np.maximum(shape * ratio, -1 + 1e-12)) / shape)


def fit_pareto(excess: Floats) -> Pareto:
    """The distributions of greatest likelihood of lists of excesses, NaN where there is none.

    With θ = shape / scale the shape is the mean of log(1 + θ·excess), and the likelihood a function
    of θ alone (Grimshaw 1993). Its maximum may lie on the edge of the lowest shape.
    """
    there = ~np.isnan(excess)
    count = np.maximum(there.sum(axis=1), 1)
    y = np.where(there, excess, 0.0)
    mean = np.maximum(y.sum(axis=1) / count, 1e-300)
    most = np.maximum(y.max(axis=1, initial=0.0), 1e-300)

    def fit(theta: Floats) -> tuple[Floats, Floats, Floats]:
        theta = np.where(np.abs(theta) * mean > FLAT, theta, FLAT / mean)
        inside = np.maximum(theta[:, None] * y, -1 + 1e-12)
        shape = np.log1p(inside).sum(axis=1) / count
        scale = shape / theta
        value = -np.log(np.maximum(scale, 1e-300)) - 1 - shape
        return shape, scale, np.where(shape >= LOWEST_SHAPE, value, -np.inf)

    # negative θ reaches down to −1 / the largest excess, positive θ is counted in 1 / mean
    steps = np.where(GRID[:, None] < 0, GRID[:, None] / most, GRID[:, None] / mean)
    values = np.stack([fit(theta)[2] for theta in steps])
    best = values.argmax(axis=0)
    at = np.arange(len(mean))
    low = steps[np.maximum(best - 1, 0), at]
    high = steps[np.minimum(best + 1, len(GRID) - 1), at]
    for _ in range(REFINED):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        lower = fit(left)[2] < fit(right)[2]
        low, high = np.where(lower, left, low), np.where(lower, high, right)
    shape, scale, value = fit((low + high) / 2)
    edge, at_edge = _on_the_edge(y, count, most)
    lower = value < at_edge
    shape, scale = np.where(lower, LOWEST_SHAPE, shape), np.where(lower, edge, scale)
    few = there.sum(axis=1) < FEWEST
    return Pareto(np.where(few, 0.0, shape), np.where(few, mean, scale))


def _on_the_edge(y: Floats, count: Ints, most: Floats) -> tuple[Floats, Floats]:
    """The scale of greatest likelihood at the lowest shape, −½, and that likelihood.

    There the mean of excess / (2·scale − excess) is 1, for a scale from most/2 to most.
    """
    low, high = 0.5 * most, most
    for _ in range(REFINED):
        middle = (low + high) / 2
        rest = np.maximum(2 * middle[:, None] - y, 1e-300)
        above = (y / rest).sum(axis=1) > count
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high, np.log1p(-y / (2 * high[:, None])).sum(axis=1) / count - np.log(high)


def cramer_von_mises(excess: Floats, fitted: Pareto) -> Floats:
    there = ~np.isnan(excess)
    count = there.sum(axis=1)
    place = np.cumsum(there, axis=1)
    expected = 1 - (2 * place - 1) / (2 * np.maximum(count, 1))[:, None]
    away = 1 - np.exp(fitted.log_survival(np.where(there, excess, 0.0))) - expected
    summed = np.where(there, away**2, 0.0).sum(axis=1)
    return np.where(count > 0, summed + 1 / (12 * np.maximum(count, 1)), np.inf)


def evenly(scores: Scores) -> tuple[Floats, Ints]:
    """At most so many scores of each list, at evenly spaced ranks, and how many these are."""
    length = scores.length
    kept = np.minimum(length, FITTED)
    place = np.arange(min(scores.table.shape[1], FITTED))
    spaced = ((place + 0.5) * (length / np.maximum(kept, 1))[:, None]).astype(np.int64)
    inside = place < kept[:, None]
    rows = np.arange(len(length))[:, None]
    return np.where(inside, scores.table[rows, np.where(inside, spaced, 0)], np.nan), kept


def surprise(scores: Scores) -> Floats:
    """−log of the chance of so high a score: in the tail by its Pareto fit, below by the share."""
    some, kept = evenly(scores)
    tails = np.stack([_tail(some, kept, window) for window in WINDOWS])
    best = tails[:, 0].argmin(axis=0)
    _, start, shape, scale, share = tails[best, :, np.arange(len(best))].T
    above = scores.table > start[:, None]
    tail = np.where(above, scores.table - np.where(above, start[:, None], 0.0), 0.0)
    inside = -np.log(share)[:, None] - Pareto(shape, scale).log_survival(tail)
    place = np.arange(1.0, scores.table.shape[1] + 1)
    is_last = np.diff(scores.table, axis=1, append=np.nan) != 0  # of equal scores
    as_high = np.where(is_last & scores.inside, place, np.nan)[:, ::-1]
    as_high = np.fmin.accumulate(as_high, axis=1)[:, ::-1]  # how many are at least as high
    below = np.log(np.maximum(scores.length, 1)[:, None] / as_high)
    return np.asarray(np.where(above, inside, np.minimum(below, -np.log(share)[:, None])))


def _tail(some: Floats, kept: Ints, window: float) -> Floats:
    """A tail fitted to a part of each list: distance, start, shape, scale, share of the list."""
    end = np.maximum(np.ceil(window * kept).astype(np.int64) - 1, 0)
    lowest = some[np.arange(len(some)), end]
    excess = np.where(np.arange(some.shape[1]) < end[:, None], some - lowest[:, None], np.nan)
    fitted = fit_pareto(excess)
    fits = (end >= (FEWEST if window < 1 else 1)) & (some[:, 0] > lowest)
    made = [cramer_von_mises(excess, fitted), lowest, *fitted, (end + 1) / np.maximum(kept, 1)]
    none = np.array([np.inf, np.inf, 0.0, 1.0, 1.0])[:, None]
    return np.where(fits, np.stack(made), none)


class Mixture(NamedTuple):
    """Mixtures of a normal distribution cut off at 0 and an exponential one, one a list."""

    share: Floats
    """Of the normal one, which is of relevant documents."""
    mean: Floats
    deviation: Floats
    """Before it is cut off."""
    scale: Floats
    """The mean of the exponential one."""

    def responsibility(self, y: Floats) -> Floats:
        """The chance that each number is of the normal distribution."""
        from scipy.special import log_ndtr

        share, mean, deviation, scale = (part[:, None] for part in self)
        normal = -0.5 * ((y - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2 * np.pi)
        normal = normal - log_ndtr(mean / deviation)
        odds = np.log(share) + normal - np.log1p(-share) - (-y / scale - np.log(scale))
        return sigmoid(odds)


def fit_mixture(x: Floats, rounds: int = ROUNDS) -> Mixture:
    """Mixtures fitted to lists of numbers of 0 or more, NaN where there is none, by EM."""
    from scipy.special import log_ndtr

    there = ~np.isnan(x)
    count = np.maximum(there.sum(axis=1), 1)
    y = np.where(there, x, 0.0)
    unit = np.maximum(y.max(axis=1, initial=0.0), 1e-300)
    y = y / unit[:, None]  # in shares of the largest, whatever scores are counted in
    mean = np.maximum(y.sum(axis=1) / count, 1e-12)
    high = there & (y >= 0.5)
    highs = np.maximum(high.sum(axis=1), 1)
    share = np.clip(highs / count, 0.02, 0.5)
    middle = np.where(high, y, 0.0).sum(axis=1) / highs
    deviation = np.full(len(unit), 0.2)
    scale = mean
    for _ in range(rounds):
        normal = Mixture(share, middle, deviation, scale).responsibility(y) * there
        weight = np.maximum(normal.sum(axis=1), 1e-12)
        rest = np.maximum(count - weight, 1e-12)
        first = (normal * y).sum(axis=1) / weight
        second = (normal * (y - first[:, None]) ** 2).sum(axis=1) / weight
        scale = np.maximum(((there - normal) * y).sum(axis=1) / rest, 1e-12)
        cut = -middle / deviation
        hazard = np.exp(-0.5 * cut**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(-cut))
        middle = np.clip(first - deviation * hazard, 0.0, 1.0)
        narrowed = np.maximum(1 + cut * hazard - hazard**2, 0.05)
        deviation = np.clip(np.sqrt(second / narrowed), 0.02, 1.0)
        share = np.clip(weight / count, 1e-6, 1 - 1e-6)
    return Mixture(share, middle * unit, deviation * unit, scale * unit)


def posterior(scores: Scores) -> Floats:
    """The chance of relevance by a mixture fitted to each list, counted from its lowest score."""
    lowest = scores.lowest[:, None]
    fitted = fit_mixture(evenly(scores)[0] - lowest)
    chance = fitted.responsibility(np.where(scores.inside, scores.table - lowest, 0.0))
    constant = scores.top[:, None] <= lowest
    return np.where(scores.inside, np.where(constant, 0.5, chance), np.nan)
