"""Rules that say where a list stops, as data: each makes depths of scores alone."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

import numpy as np
from msgspec import Meta

from abstain.errors import shown
from abstain.features.cut import RULES
from abstain.features.cut.distributions import posterior, surprise
from abstain.features.cut.scores import DOCUMENT, LIST, Model, Scores
from abstain.measures import measure
from abstain.measures.ranked_lists import Prefixes
from abstain.outcomes import MOST
from abstain.report.result import Facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstain.measures.kinds import RankingMeasure
    from abstain.measures.ranked_lists import Floats, Ints

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
IMPORTS = """from abstain.features.cut.rules import Model, Rule
from abstain.features.cut.runs import depths_of

"""
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

    def as_python(self) -> str:
        """A function `cut(scores)` to paste; what is more than a line asks the declared rule."""
        if self.rule == "threshold" and self.at is not None:
            return f"{HEAD}    return sum(score >= {self.at!r} for score in scores)\n"
        if self.rule not in (*SIGNALS, "gap", "expected"):
            kept = "len(scores)" if self.k is None else f"min(len(scores), {self.k})"
            return f"{HEAD}    return {kept}\n"
        return f"{IMPORTS}RULE = {self!r}\n\n\n{HEAD}    return depths_of(RULE, [scores])[0]\n"


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
