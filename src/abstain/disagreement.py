"""Why two measures put different runs first, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from abstain.measures import Measure

if TYPE_CHECKING:
    from abstain.scoring import Row


def disagreements(rows: Sequence[Row], measures: Sequence[Measure]) -> list[str]:
    """One sentence for each measure whose winner is not the first measure's.

    Two runs with c₁ + κu₁ and c₂ + κu₂ change places at κ = (c₁ − c₂)/(u₂ − u₁): the one with
    more blanks is ahead wherever a blank is worth more than that.
    """
    runs = [row for row in rows if row.reference is None]
    said: list[str] = []
    credits = [m for m in measures if m.definition.kappa is not None]
    if len(credits) < 2 or len(runs) < 2:
        return said
    first = credits[0]
    winner = _winner(runs, first)
    for other in credits[1:]:
        rival = _winner(runs, other)
        if winner is None or rival is None or rival is winner:
            continue
        if rival.scores[str(first)] == winner.scores[str(first)]:
            continue
        sentence = _sentence(first, winner, other, rival)
        if sentence:
            said.append(sentence)
    return said


def _winner(rows: Sequence[Row], item: Measure) -> Row | None:
    defined = [row for row in rows if not math.isnan(row.scores[str(item)])]
    best = max if item.higher_is_better else min
    return best(defined, key=lambda row: row.scores[str(item)]) if defined else None


def _sentence(first: Measure, a: Row, other: Measure, b: Row) -> str:
    bold, silent = sorted((a, b), key=_blank_share)
    u_gap = _blank_share(silent) - _blank_share(bold)
    if u_gap == 0:
        return ""
    c_gap = bold.counts.right / bold.counts.n - silent.counts.right / silent.counts.n
    line = f"{first} puts {a.run} first, {other} puts {b.run} first: "
    if a.counts.n == b.counts.n and _whole(a, b):
        blanks = int(silent.counts.unanswered - bold.counts.unanswered)
        right = int(bold.counts.right - silent.counts.right)
        more_or_fewer = f"{abs(right):,} {'fewer' if right >= 0 else 'more'} right"
        line += f"{silent.run} has {blanks:,} more blank and {more_or_fewer}, "
    line += f"so it is ahead where a blank is worth more than {c_gap / u_gap:.3f} right answers; "
    return line + " and ".join(
        f"{m} gives it {_range(m, a, b)}" for m in (first, other)
    )


def _blank_share(row: Row) -> float:
    return row.counts.unanswered / row.counts.n


def _whole(*rows: Row) -> bool:
    return all(
        float(v).is_integer() for row in rows for v in (row.counts.right, row.counts.unanswered)
    )


def _range(item: Measure, a: Row, b: Row) -> str:
    low, high = sorted((item.kappa(a.counts), item.kappa(b.counts)))
    return f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
