"""Rules that say where a list stops, as data: each makes depths of scores alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from abstain.analyses.cut.distributions import posterior, surprise
from abstain.analyses.cut.expected import MOST_DRAWS, MOST_UNSEEN, best_depths
from abstain.analyses.cut.models import Model, sigmoid
from abstain.analyses.cut.shapes import DOCUMENT, LIST, Scores
from abstain.analyses.result import Facts
from abstain.errors import shown
from abstain.outcomes import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstain.measures.ranked_lists import Floats, Ints

RuleName: TypeAlias = Literal[
    "auto",
    "k",
    "threshold",
    "share",
    "gap",
    "surprise",
    "distribution",
    "probability",
    "expected",
]
RULES: tuple[RuleName, ...] = get_args(RuleName)
REFERENCES = ("nothing", "everything", "top 10", "oracle")
EQUAL = 1 - 1e-9
"""Of drops that differ by no more than rounding, the first is taken."""
SIGNALS = ("threshold", "share", "surprise", "distribution", "probability")
"""Rules that keep the documents for which a falling number is at least so much."""


class Rule(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One rule with its parameters."""

    rule: str
    k: int | None = None
    """The depth, of a rule that has one for all lists; null with `everything`."""
    at: float | None = None
    """The least score, share, surprise or chance that is kept; null: nothing is."""
    window: float | None = None
    """The part of the list in which the largest drop is looked for."""
    extra: int | None = None
    """How many documents are kept behind it."""
    origin: float = 0.0
    """What counts as no score where shares of the top score are taken."""
    document: Model | None = None
    """The chance that a document is relevant."""
    nothing: Model | None = None
    """The chance that a query has nothing relevant."""
    unseen: float | None = None
    """Relevant documents a query has beside those in its list, on average."""
    gain: float = 1.0
    """The mean gain of a relevant document."""
    measure: str | None = None
    """What is expected to be greatest."""
    draws: int | None = None
    price: float = 0.0
    """What a document costs, so that a budget is kept."""

    def check(self) -> None:
        """Refuse, with a ValueError, a rule of a file that cannot be one."""
        if self.rule not in (*RULES[1:], *REFERENCES[:3]):
            raise ValueError(f"there is no rule {shown(self.rule)}")
        for name, low, high in (
            ("k", 0, MOST),
            ("extra", 0, MOST),
            ("window", 0, 1),
            ("unseen", 0, MOST_UNSEEN),
            ("draws", 1, MOST_DRAWS),
            ("price", 0, MOST),
        ):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name} must be from {low} to {high:,} (got {value:g})")
        if not 0 < self.gain <= 1:
            raise ValueError(f"gain must be above 0 and at most 1 (got {self.gain:g})")
        for model, known in ((self.document, DOCUMENT), (self.nothing, LIST)):
            if model is not None:
                model.check(len(known))
        if self.rule in ("probability", "expected") and self.document is None:
            raise ValueError(f"the rule '{self.rule}' has no model of documents")
        if self.rule == "expected":
            if self.nothing is None:
                raise ValueError("the rule 'expected' has no model of lists")
            _expectable(self.measure)

    def depths(self, table: Floats) -> Ints:
        """How many documents each list keeps: lists × ranks of falling scores, NaN behind ends."""
        scores = Scores(table, self.origin)
        if self.rule == "gap":
            return gap_depths(scores, self.window or 1.0, (self.extra or 0,))[:, 0]
        if self.rule == "expected":
            return expected_depths(self, scores)
        if self.rule not in SIGNALS:
            k = table.shape[1] if self.k is None else self.k
            return np.minimum(scores.length, k)
        if self.at is None:
            return np.zeros(len(table), np.int64)
        kept = np.nan_to_num(signal(self, scores), nan=-np.inf) >= self.at
        return np.asarray(kept.sum(axis=1))


def _expectable(name: str | None) -> None:
    from abstain.errors import AbstainError
    from abstain.measures import measure

    try:
        known = getattr(measure(name or "").definition, "by_depth", None) is not None
    except AbstainError:
        known = False
    if not known:
        raise ValueError(f"the rule 'expected' cannot be used with the measure {shown(name or '')}")


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
            return posterior(scores)
    assert rule.document is not None
    return falling(sigmoid(scores.logits(rule.document)), scores)


def falling(chance: Floats, scores: Scores) -> Floats:
    """A chance that is at least that of every document behind; NaN behind a list's end."""
    inside = np.where(scores.inside, chance, -np.inf)
    running = np.maximum.accumulate(inside[:, ::-1], axis=1)[:, ::-1]
    return np.where(scores.inside, running, np.nan)


def gap_depths(scores: Scores, window: float, extra: Sequence[int]) -> Ints:
    """Lists cut at the largest drop within the first part, with so many documents more."""
    whole = np.broadcast_to(scores.length[:, None], (len(scores.table), len(extra)))
    if scores.table.shape[1] < 2:
        return whole
    drop = scores.table[:, :-1] - scores.table[:, 1:]
    reach = np.maximum(np.ceil(window * scores.length), 2)[:, None]
    place = np.arange(1, scores.table.shape[1])
    drop = np.where((place < reach) & ~np.isnan(drop), drop, -1.0)
    largest = drop.max(axis=1)
    first = np.argmax(drop >= (largest * EQUAL)[:, None], axis=1) + 1
    flat = largest <= 0  # nothing drops: there is no place to cut
    return np.where(flat[:, None], whole, np.minimum(first[:, None] + extra, whole))


def expected_depths(rule: Rule, scores: Scores) -> Ints:
    """The depths of the greatest expected measure."""
    from abstain.measures import measure

    assert rule.document is not None
    assert rule.nothing is not None
    return best_depths(
        sigmoid(scores.logits(rule.document)),
        rule.nothing.chance(scores.lists),
        scores.length,
        measure(rule.measure or ""),
        unseen=rule.unseen or 0.0,
        gain=rule.gain,
        draws=rule.draws or 1,
        price=rule.price,
    )
