"""Slow and obvious references for comparisons by confidence: swap by swap, question by question."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from tests.measures.confidence_reference import REFERENCE

Response = tuple[str, float | None]
"""right, wrong or blank, with a confidence."""
Statistic = Callable[[Sequence[Response], Sequence[Response]], float]


def value(name: str, run: Sequence[Response]) -> float:
    """A measure of one run by the reference of the measures' own tests."""
    answers = [(int(outcome == "right"), sure) for outcome, sure in run if outcome != "blank"]
    try:
        found = REFERENCE[name](answers, len(run))
    except ZeroDivisionError:
        return math.nan
    return math.nan if found is None else float(found)


def plain(name: str) -> Statistic:
    return lambda one, other: value(name, one) - value(name, other)


def brier_statistic(one: Sequence[Response], other: Sequence[Response]) -> float:
    """Brier's difference over its standard error, and half a question of both runs together."""

    def influence(run: Sequence[Response], brier: float, size: float) -> list[float]:
        return [
            0.0
            if outcome == "blank"
            else (((sure or 0) - (outcome == "right")) ** 2 - brier) / size
            for outcome, sure in run
        ]

    def answered(run: Sequence[Response]) -> int:
        return sum(outcome != "blank" for outcome, _ in run)

    n = len(one)
    scores = [value("Brier", run) for run in (one, other)]
    moved = [
        influence(run, score, answered(run))
        for run, score in zip((one, other), scores, strict=True)
        if not math.isnan(score)
    ]
    if len(moved) < 2:
        return math.nan
    variance = n / (n - 1) * sum((a - b) ** 2 for a, b in zip(*moved, strict=True))
    both = [*one, *other]
    pooled = influence(both, value("Brier", both), answered(both) / 2)
    variance += 0.5 * sum(x * x for x in pooled) / n
    return (scores[0] - scores[1]) / math.sqrt(variance) if variance else 0.0


def auroc_statistic(one: Sequence[Response], other: Sequence[Response]) -> float:
    """AUROC's difference over DeLong's standard error, and half a question of both together."""

    def influence(run: Sequence[Response], weight: float) -> list[float] | None:
        right = [sure or 0.0 for outcome, sure in run if outcome == "right"]
        wrong = [sure or 0.0 for outcome, sure in run if outcome == "wrong"]
        if not right or not wrong:
            return None
        area = value("AUROC", run)
        found = []
        for outcome, given in run:
            sure = given or 0.0
            if outcome == "right":
                won = sum((sure > w) + (sure == w) / 2 for w in wrong) / len(wrong)
                found.append((won - area) / (len(right) * weight))
            elif outcome == "wrong":
                won = sum((r > sure) + (r == sure) / 2 for r in right) / len(right)
                found.append((won - area) / (len(wrong) * weight))
            else:
                found.append(0.0)
        return found

    first, second, pooled = influence(one, 1), influence(other, 1), influence([*one, *other], 0.5)
    if first is None or second is None or pooled is None:
        return math.nan
    n = len(one)
    variance = n / (n - 1) * sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
    variance += 0.5 * sum(x * x for x in pooled) / n
    gap = value("AUROC", one) - value("AUROC", other)
    return gap / math.sqrt(variance) if variance else 0.0


def randomisation(
    statistic: Statistic,
    one: Sequence[Response],
    other: Sequence[Response],
    clusters: Sequence[int] | None = None,
) -> float:
    """The exact p: every way of swapping questions or whole clusters, one by one."""
    units = list(range(len(one))) if clusters is None else list(clusters)
    seen = abs(statistic(one, other))
    hits = 0
    for swaps in product((False, True), repeat=max(units) + 1):
        pairs = [(b, a) if swaps[u] else (a, b) for a, b, u in zip(one, other, units, strict=True)]
        drawn = statistic([a for a, _ in pairs], [b for _, b in pairs])
        hits += not abs(drawn) < seen - 1e-9
    return float(hits / 2 ** (max(units) + 1))
