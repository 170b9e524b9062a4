"""One paragraph from the results: which measure needs least here, and how many questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from abstain.analyses.meta.bins import edge
from abstain.analyses.meta.sources import Scores, Source
from abstain.analyses.meta.swap import Swap
from abstain.errors import plural

if TYPE_CHECKING:

    class Point(Protocol):
        """A point of the curve of required differences."""

        @property
        def measure(self) -> str: ...
        @property
        def questions(self) -> int: ...
        @property
        def required(self) -> float | None: ...


FIVE = 5
"""Bins that make the difference to advise on, unless one is given."""
MANY = 10**15
"""Questions beyond which nobody counts."""


def questions_needed(points: Sequence[Point], difference: float) -> int | None:
    """How many questions make a difference hold.

    Where the sizes that were tried reach it, the smallest from which on all do. Beyond them by
    required = a/√questions, as chance differences shrink, with a from the larger half of the sizes.
    Nothing is said where the largest size tells no difference: what smaller ones did was chance.
    More than `MANY` are as many as that.
    """
    if not points or max(points, key=lambda p: p.questions).required is None:
        return None
    known = sorted((p.questions, p.required) for p in points if p.required is not None)
    reached = None
    for size, required in reversed(known):
        if required > difference:
            break
        reached = size
    if reached is not None:
        return reached
    upper = [(n, required) for n, required in known if 2 * n >= known[-1][0]]
    a = sum(required * math.sqrt(n) for n, required in upper) / len(upper)
    return math.ceil(min(a / difference, math.sqrt(MANY)) ** 2 - 1e-9)


def advice_of(
    swap: Sequence[Swap], points: Sequence[Point], source: Source, difference: float | None
) -> str:
    """The paragraph; without a difference to advise on it takes five bins of each measure."""
    known = [row for row in swap if row.required is not None]
    said: list[str] = []
    if known:
        said.append(_least(known))
        said += _spans(known, source)
    for row in swap:
        if row.required is None:
            said.append(f"{row.measure} requires no difference that could be told: {row.reason}.")
    needs: dict[float, list[tuple[str, int]]] = {}
    for row in swap:
        asked = difference or edge(FIVE, row.width)
        own = questions_needed(_tried(row, points), asked)
        if own is not None:
            needs.setdefault(asked, []).append((row.measure, own))
    said += [_needed(*item) for item in needs.items()]
    tried = max((p.questions for row in swap for p in _tried(row, points)), default=0)
    if any(n > tried for own in needs.values() for _, n in own):
        said.append(
            f"Beyond the {tried:,} that were tried, the required difference is taken to fall with "
            "the root of the number of questions."
        )
    return " ".join(said)


def _tried(row: Swap, points: Sequence[Point]) -> list[Point]:
    """The curve of a measure, with the size of its row if that is not on it."""
    own = [p for p in points if p.measure == row.measure]
    return own if any(p.questions == row.size for p in own) else [*own, row]


def _needed(difference: float, needs: Sequence[tuple[str, int]]) -> str:
    told = [f"{n:,} with {name}" if n < MANY else f"over 10^15 with {name}" for name, n in needs]
    told[0] = told[0].replace(" with", " questions with", 1)
    about = "about " if needs[0][1] < MANY else ""
    return f"A difference of {difference:g} would need {about}{_listed(told)}."


def _least(known: Sequence[Swap]) -> str:
    """Which measure needs least; on different scales as a share of the highest score.

    Where the highest score is not above 0 there is no share, and nothing to compare.
    """
    one_scale = len({row.width for row in known}) == 1
    amounts = [(row.required if one_scale else row.relative) for row in known]
    compared = [a for a in amounts if a is not None]
    if not compared:
        told = _listed([f"{row.measure} needs {row.required:g}" for row in known])
        return f"On {plural(known[0].size, 'question')} {told}, on scales that cannot be compared."
    best = [
        row
        for row, amount in zip(known, amounts, strict=True)
        if amount is not None and math.isclose(amount, min(compared), rel_tol=1e-9)
    ]
    names = _listed([row.measure for row in best])
    needs = "needs" if len(best) == 1 else "need"
    size = plural(best[0].size, "question")
    share = _listed(list(dict.fromkeys(f"{100 * (row.sensitivity or 0):.0f} %" for row in best)))
    needed = _listed(list(dict.fromkeys(_amount(row) for row in best)))
    which = "the smallest difference" if len(compared) > 1 else "this difference"
    text = (
        f"On {size} {names} {needs} {which}"
        f"{'' if one_scale or len(compared) < 2 else ', as a share of the highest score'}: "
        f"{needed} between two runs is "
        f"reversed on other questions at most {100 - best[0].confidence:g} times in 100, and "
        f"{share} of the comparisons reach it"
    )
    others = [row for row in known if row not in best]
    if others:
        text += "; " + _listed([f"{row.measure} needs {row.required:g}" for row in others])
    apart = [row.measure for row, amount in zip(known, amounts, strict=True) if amount is None]
    if apart:
        text += f" ({_listed(apart)} cannot be compared: no score is above 0)"
    return text + "."


def _amount(row: Swap) -> str:
    return f"{row.required:g} or more" if row.required else "any difference"


def _spans(known: Sequence[Swap], source: Source) -> list[str]:
    """A measure with a wider range needs larger differences for no other reason."""
    spans = dict(zip(source.measures, source.spans, strict=True))
    if isinstance(source, Scores) or len({spans[row.measure] for row in known}) < 2:
        return []
    wide = [f"{row.measure} {(row.required or 0) / spans[row.measure]:.3g}" for row in known]
    return [f"Their ranges differ; as a share of its range each needs: {', '.join(wide)}."]


def _listed(items: Sequence[str]) -> str:
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]
