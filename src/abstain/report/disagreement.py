"""Why two measures put different runs first, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from abstain.measures import Measure

if TYPE_CHECKING:
    from abstain.analyses.score.result import Row


def disagreements(rows: Sequence[Row], measures: Sequence[Measure]) -> list[str]:
    """One sentence for each run that some measure puts first where the first measure does not.

    Two runs with c₁ + κu₁ and c₂ + κu₂ change places at κ = (c₁ − c₂)/(u₂ − u₁): the one with
    more blanks is ahead wherever a blank is worth more than that.
    """
    runs = [row for row in rows if row.reference is None]
    credits = [m for m in measures if m.definition.kappa is not None]
    winner = _winner(runs, credits[0]) if len(credits) > 1 else None
    if winner is None:
        return []
    rivals: dict[str, tuple[Row, list[Measure]]] = {}
    for other in credits[1:]:
        rival = _winner(runs, other)
        if rival is None or _tied(rival, winner, credits[0]) or _tied(rival, winner, other):
            continue
        rivals.setdefault(rival.run, (rival, []))[1].append(other)
    sentences = (_sentence(credits[0], winner, m, rival) for rival, m in rivals.values())
    return [sentence for sentence in sentences if sentence]


def _winner(rows: Sequence[Row], item: Measure) -> Row | None:
    defined = [row for row in rows if row.scores[str(item)] is not None]
    best = max if item.higher_is_better else min
    return best(defined, key=lambda row: row.score(str(item))) if defined else None


def _tied(a: Row, b: Row, item: Measure) -> bool:
    """Whether a measure puts two runs level."""
    x, y = a.score(str(item)), b.score(str(item))
    return math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)


def _sentence(first: Measure, a: Row, others: Sequence[Measure], b: Row) -> str:
    bold, silent = sorted((a, b), key=_blank_share)
    u_gap = _blank_share(silent) - _blank_share(bold)
    if u_gap == 0:
        return ""
    c_gap = bold.counts.right / bold.counts.n - silent.counts.right / silent.counts.n
    put = "puts" if len(others) == 1 else "put"
    line = f"{first} puts {a.run} first, {_listed(others)} {put} {b.run} first: "
    if a.counts.n == b.counts.n and _whole(a, b):
        blanks = int(silent.counts.unanswered - bold.counts.unanswered)
        right = int(bold.counts.right - silent.counts.right)
        more_or_fewer = f"{abs(right):,} {'fewer' if right >= 0 else 'more'} right"
        line += f"{silent.run} has {blanks:,} more blank and {more_or_fewer}, "
    line += f"so it is ahead where a blank is worth more than {c_gap / u_gap:.3f} right answers; "
    return line + ", ".join(f"{m} gives it {_range(m, a, b)}" for m in (first, *others))


def _listed(items: Sequence[Measure]) -> str:
    names = [str(item) for item in items]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _blank_share(row: Row) -> float:
    return row.counts.unanswered / row.counts.n


def _whole(*rows: Row) -> bool:
    return all(
        float(v).is_integer() for row in rows for v in (row.counts.right, row.counts.unanswered)
    )


def _range(item: Measure, a: Row, b: Row) -> str:
    low, high = sorted((item.kappa(a.counts), item.kappa(b.counts)))
    return f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
