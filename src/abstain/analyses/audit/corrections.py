"""The smallest correction: one cell first, then two; of those, the fewest digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from abstain.analyses.audit.constraints import Score, Sum
from abstain.analyses.audit.printed import edits
from abstain.analyses.audit.result import Change, Correction

GRID = 1_000_000
"""A pair of cells is tried in full up to so many pairs of values; beyond, near misprints."""
MOST = 100
"""Corrections that are kept; a row that has more says too little to be corrected."""


def corrections(
    row: str,
    counts: Mapping[str, int],
    columns: Mapping[str, str],
    texts: Mapping[str, str],
    sums: Sequence[Sum],
    scores: Sequence[Score],
) -> list[Correction]:
    """Every minimal change of printed cells after which all sums and scores of a row hold.

    `counts` holds every count, `columns` those that are printed (and may be misprints);
    `texts` is what each column shows.
    """
    cells = [*columns, *(score.column for score in scores)]
    for size in (1, 2):
        found: list[tuple[int, tuple[Change, ...]]] = []
        for chosen in combinations(cells, size):
            found += _try(row, chosen, counts, columns, texts, sums, scores)
        if found:
            fewest = min(cost for cost, _ in found)
            checks = len(sums) + len(scores)
            best = [changes for cost, changes in found if cost == fewest]
            return [Correction(changes, checks) for changes in best[:MOST]]
    return []


def _try(
    row: str,
    chosen: Sequence[str],
    counts: Mapping[str, int],
    columns: Mapping[str, str],
    texts: Mapping[str, str],
    sums: Sequence[Sum],
    scores: Sequence[Score],
) -> list[tuple[int, tuple[Change, ...]]]:
    """What the chosen cells would have to say: counts are tried, scores then follow."""
    import numpy as np

    roles = [c for c in chosen if c in columns]
    free = [s for s in scores if s.column in chosen]
    kept = [s for s in scores if s.column not in chosen]
    top = max(counts.get("questions", 0), 2 * max(counts.values()), 9)
    domains = [np.arange(top + 1) if top < GRID else _implied(r, counts, sums) for r in roles]
    if len(roles) == 2 and (top + 1) ** 2 > GRID:
        domains = [_near(counts[role]) for role in roles]
    grid = np.meshgrid(*domains, indexing="ij") if roles else [np.zeros(1, dtype=np.int64)]
    values: dict[str, Any] = dict(counts) | {
        r: g.ravel() for r, g in zip(roles, grid, strict=False)
    }
    good = np.ones(grid[0].size, dtype=np.bool_)
    for role in roles:
        good &= values[role] != counts[role]
    for total in sums:
        good &= total.holds(values)
    for score in kept:
        good &= score.holds(values)
    hits = np.flatnonzero(good)
    found: list[tuple[int, tuple[Change, ...]]] = []
    for hit in hits[: 10 * MOST]:
        here = dict(counts) | {role: int(values[role][hit]) for role in roles}
        changes = [Change(row, columns[r], texts[columns[r]], str(here[r])) for r in roles]
        for score in free:
            value = float(score.values_of(here))
            if value != value or score.printed.rounds(value):
                break
            new = score.printed.like(value)
            changes.append(Change(row, score.column, texts[score.column], new))
        else:
            found.append((sum(edits(c.old, c.new) for c in changes), tuple(changes)))
    return found


def _implied(role: str, counts: Mapping[str, int], sums: Sequence[Sum]) -> Any:
    """The values near a misprint, and those that one of the sums asks for."""
    import numpy as np

    asked = {int(number) for number in _near(counts[role])}
    for total in sums:
        gap = sum(counts[part] for part in total.parts) - counts[total.whole]
        if role in (*total.parts, total.whole):
            asked.add(max(0, counts[role] + (gap if role == total.whole else -gap)))
    return np.array(sorted(asked))


def _near(number: int) -> Any:
    """The numbers that one wrong, lost or added digit, or two swapped ones, could have been."""
    import numpy as np

    text = str(number)
    near = {text[:i] + d + text[i + 1 :] for i in range(len(text)) for d in "0123456789"}
    near |= {text[:i] + d + text[i:] for i in range(len(text) + 1) for d in "0123456789"}
    near |= {text[:i] + text[i + 1 :] for i in range(len(text))}
    near |= {text[:i] + text[i + 1] + text[i] + text[i + 2 :] for i in range(len(text) - 1)}
    return np.array(sorted({int(t) for t in near if t}))
