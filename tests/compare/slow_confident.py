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
        if name in QUICK:  # the reference tries every order of ties
            return QUICK[name](answers)
        found = REFERENCE[name](answers, len(run))
    except ZeroDivisionError:
        return math.nan
    return math.nan if found is None else float(found)


def area(answers: Sequence[tuple[int, float | None]]) -> float:
    """AURC, where of j tied answers of m a share j/m of the wrong ones is to be expected."""
    total, seen, wrong = 0.0, 0, 0
    for level in sorted({-1.0 if s is None else s for _, s in answers}, reverse=True):
        own = [right for right, s in answers if (-1.0 if s is None else s) == level]
        bad = own.count(0)
        for j in range(1, len(own) + 1):
            total += (wrong + bad * j / len(own)) / (seen + j)
        seen, wrong = seen + len(own), wrong + bad
    return total / len(answers)


def _best(answers: Sequence[tuple[int, float | None]]) -> float:
    return area([(right, float(right)) for right, _ in answers])


def _rejection(answers: Sequence[tuple[int, float | None]]) -> float:
    share = sum(not right for right, _ in answers) / len(answers)
    if share in (0, 1):
        return math.nan
    return (share - area(answers)) / (share - _best(answers))


QUICK: dict[str, Callable[[Sequence[tuple[int, float | None]]], float]] = {
    "E-AURC": lambda answers: area(answers) - _best(answers),
    "PRR": _rejection,
}


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


Influence = Callable[[Sequence[Response]], "list[float] | None"]
"""How much each question moves a measure of one run; None where it has no value."""


def auroc_influence(run: Sequence[Response]) -> list[float] | None:
    """DeLong's: how many of the other kind an answer beats, less the area, by those of its kind."""
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
            found.append((won - area) / len(right))
        elif outcome == "wrong":
            won = sum((r > sure) + (r == sure) / 2 for r in right) / len(right)
            found.append((won - area) / len(wrong))
        else:
            found.append(0.0)
    return found


def left_out(name: str) -> Influence:
    """What a measure loses without each answer in turn, times (N − 1)/N."""

    def influence(run: Sequence[Response]) -> list[float] | None:
        whole = value(name, run)
        if math.isnan(whole):
            return None
        size = sum(outcome != "blank" for outcome, _ in run)
        found = []
        for i, (outcome, _) in enumerate(run):
            without = whole
            if outcome != "blank":
                without = value(name, [*run[:i], *run[i + 1 :]])
            lost = 0.0 if math.isnan(without) else whole - without
            found.append(lost * (size - 1) / size)
        return found

    return influence


def logit_statistic(name: str, influence: Influence) -> Statistic:
    """A difference of logits over its standard error, and half a question of both together.

    A value has the weight of an eighth of all answers against one of both runs together.
    """

    def statistic(one: Sequence[Response], other: Sequence[Response]) -> float:
        both = [*one, *other]
        first, second, pooled = influence(one), influence(other), influence(both)
        if first is None or second is None or pooled is None:
            return math.nan
        answers = sum(outcome != "blank" for outcome, _ in both)
        edge = 1 / (2 * answers)
        middle = min(max(value(name, both), edge), 1 - edge)
        weight = answers / 8
        a, b = ((value(name, x) * weight + middle) / (weight + 1) for x in (one, other))
        steep_a, steep_b, steep = (1 / (x * (1 - x)) for x in (a, b, middle))
        n = len(one)
        variance = sum((x * steep_a - y * steep_b) ** 2 for x, y in zip(first, second, strict=True))
        variance *= n / (n - 1)
        variance += 0.5 * sum((2 * x * steep) ** 2 for x in pooled) / n
        gap = math.log(a / (1 - a)) - math.log(b / (1 - b))
        return gap / math.sqrt(variance) if variance else 0.0

    return statistic


def interval_of_difference(
    name: str, influence: Influence, one: Sequence[Response], other: Sequence[Response], t: float
) -> tuple[float, float]:
    """A 95 % interval by logit intervals of both, t the quantile of each run's answers less one."""
    runs = (one, other)
    scores = [value(name, run) for run in runs]
    moved = [influence(run) or [] for run in runs]
    sizes = [sum(outcome != "blank" for outcome, _ in run) for run in runs]
    squares = [sum(x * x for x in own) for own in moved]
    pooled = sum(s * n * n for s, n in zip(squares, sizes, strict=True)) / sum(sizes)
    ends = []
    for score, square, n in zip(scores, squares, sizes, strict=True):
        error = math.sqrt(square * n / (n - 1) + 0.5 * pooled / n**2)
        x = min(max(score, 1 / (2 * n)), 1 - 1 / (2 * n))
        place, reach = math.log(x / (1 - x)), t * error / (x * (1 - x))
        low, high = (1 / (1 + math.exp(-(place + side * reach))) for side in (-1, 1))
        ends.append((score - min(low, score), max(high, score) - score))
    (down_a, up_a), (down_b, up_b) = ends
    r = sum(x * y for x, y in zip(*moved, strict=True)) / math.sqrt(squares[0] * squares[1])
    shared = max((down_a - down_b) ** 2, (up_a - up_b) ** 2)

    def reach_of(x: float, y: float) -> float:
        if r < 0:
            return math.sqrt(x * x + y * y - 2 * r * x * y)
        return math.sqrt((1 - r) * (x * x + y * y) + r * shared)

    apart = scores[0] - scores[1]
    return apart - reach_of(down_a, up_b), apart + reach_of(up_a, down_b)


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
