"""Two runs over all of t, in words."""

from __future__ import annotations

from collections.abc import Sequence

from abstain.analyses.curve.result import Comparison

STEP = 0.01
"""Between two t of a decision curve."""


def decision_words(c: Comparison) -> str:
    """Who is better where, and where the data cannot tell."""
    if c.leader is None:
        return f"{c.first} and {c.second} score the same at every t."
    if c.undecided == ((0.0, 1.0),):
        return f"The data cannot tell {c.first} and {c.second} apart at any t."
    return f"{_told(c, c.leader)}; {_unsure(c)}."


def _told(c: Comparison, leader: str) -> str:
    """Who is better where."""
    leads = [leader]
    other = {c.first: c.second, c.second: c.first}
    crossings = _wide(c.crossings)
    for _ in crossings:
        leads.append(other[leads[-1]])
    if len(leads) == 1:
        return f"{leads[0]} is better than {other[leads[0]]} at every t"
    if len(leads) == 2:
        return f"{leads[0]} is better below t = {crossings[0]:.2f}, {leads[1]} above"
    edges = [0.0, *crossings, 1.0]
    where: dict[str, list[str]] = {}
    for lead, low, high in zip(leads, edges[:-1], edges[1:], strict=True):
        where.setdefault(lead, []).append(
            f"below t = {high:.2f}"
            if low == 0
            else f"above {low:.2f}"
            if high == 1
            else f"from {low:.2f} to {high:.2f}"
        )
    one, two = where.items()
    return f"{one[0]} is better {_listed(one[1])}, {two[0]} {_listed(two[1])}"


def _wide(crossings: Sequence[float]) -> list[float]:
    """Without the pairs of crossings between which hardly anything lies."""
    kept: list[float] = []
    for crossing in crossings:
        if kept and crossing - kept[-1] < 2 * STEP:
            kept.pop()
        else:
            kept.append(crossing)
    return kept


def _unsure(c: Comparison) -> str:
    merged: list[tuple[float, float]] = []
    for low, high in c.undecided:
        if merged and low - merged[-1][1] < 2 * STEP:
            merged[-1] = (merged[-1][0], high)
        elif high - low >= STEP:
            merged.append((low, high))
    if not merged:
        return "the data can tell at every t"
    spans = [
        f"below {high:.2f}"
        if low == 0
        else f"above {low:.2f}"
        if high == 1
        else f"between {low:.2f} and {high:.2f}"
        for low, high in merged
    ]
    return f"{_listed(spans)} the data cannot tell"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
