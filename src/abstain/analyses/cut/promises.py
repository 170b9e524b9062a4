"""Promises: a share of the relevant documents that is kept, with confidence over queries.

Cuts are tried from keeping everything on, in an order fixed beforehand. Each is held against the
share of relevant documents that it loses, averaged over queries; the first one for which a loss
within the bound is not shown ends it. So the chance over the queries tuned on that the promise is
broken is at most δ (risk-controlling prediction sets: Bates et al. 2021; the expected loss alone
is what conformal risk control bounds: Angelopoulos et al. 2022). The test is a bet against a loss
above the bound (Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.cut.choosing import PLAIN, Fitted

if TYPE_CHECKING:
    from abstain.analyses.cut.choosing import Chooser
    from abstain.analyses.cut.lists import Lists
    from abstain.measures.ranked_lists import Bools, Floats, Ints

FAMILIES = ("k", "threshold", "share")
"""What may keep a promise: rules that look at no judgment. Each has its part of δ."""


def losses(lists: Lists, depth: Ints, some: Ints) -> Floats:
    """Queries × cuts: the share lost of the relevant documents that a list has; NaN of none."""
    listed = lists.found[some, -1].astype(np.float64)
    kept = np.take_along_axis(lists.found[some], depth, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(listed[:, None] > 0, 1 - kept / listed[:, None], np.nan)


def shown_within(lost: Floats, bound: float, delta: float) -> Bools:
    """Of each column of losses: whether a mean within the bound is shown at 1 − δ.

    A bet that wins where losses are small, staked before each query, in random order, is looked at.
    If the mean were
    above the bound, the chance that it ever multiplies its stake by 1/δ were at most δ.
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
    """The lowest mean loss that so many further queries may have and still stay within a bound.

    By Chernoff's inequality for losses from 0 to 1.
    """
    low, high = 0.0, bound
    for _ in range(60):
        middle = (low + high) / 2
        if math.exp(-queries * _divergence(bound, middle)) <= delta:
            low = middle
        else:
            high = middle
    return low


def _divergence(a: float, b: float) -> float:
    if b <= 0:
        return math.inf
    rest = (1 - a) * math.log((1 - a) / (1 - b)) if a < 1 else 0.0
    return (a * math.log(a / b) if a > 0 else 0.0) + rest


def keeping(
    chooser: Chooser,
    train: Ints,
    wanted: Ints,
    *,
    keep: float,
    delta: float,
    following: int | None = None,
) -> Fitted:
    """The rule that keeps the fewest documents of those shown to keep a share of the relevant ones.

    With `following` the promise is about what so many further queries lose, not the mean they
    tend to.
    """
    bound, chance = 1 - keep, delta
    if following is not None:
        chance = delta / 2
        bound = bound_for_next(1 - keep, max(following, 1), chance)
    lists = chooser.lists
    # queries come by year or by topic: in a random order each stake is placed on any of them
    mixed = np.random.default_rng(len(train)).permutation(train)
    best: tuple[float, Fitted] | None = None
    for name in FAMILIES:
        chooser.fit(name, train, wanted)
        own = chooser.known[name]
        lost = losses(lists, own.depth[mixed], mixed)
        lost = lost[~np.isnan(lost[:, 0])]
        passed = shown_within(lost, bound, chance / len(FAMILIES))
        last = int(np.argmin(np.append(passed, False))) - 1  # the first that fails ends it
        if last < 0:
            continue
        kept = float(own.depth[train, last].mean())
        if best is None or kept < best[0]:
            best = kept, Fitted(own.rules[last], own.depth[wanted, last])
    if best is None:
        return Fitted(PLAIN["everything"], lists.scores.length[wanted])
    return best[1]
