"""The measures of confidence again, slowly: answer by answer, ties in every order.

Nothing of abstain is imported here. An answer is (right, confidence or None); a function takes a
list of them with the number of questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby, permutations, product

Answer = tuple[int, float | None]
Score = float | None


def sure(answer: Answer) -> float:
    return -1.0 if answer[1] is None else answer[1]


def orders(answers: Sequence[Answer]) -> list[list[Answer]]:
    """Every order from the surest down: tied answers in all their orders."""
    ranked = sorted(answers, key=sure, reverse=True)
    groups = [list(permutations(group)) for _, group in groupby(ranked, key=sure)]
    return [[a for group in choice for a in group] for choice in product(*groups)]


def mean_over_orders(answers: Sequence[Answer], score: Callable[[list[Answer]], float]) -> float:
    every = orders(answers)
    return sum(map(score, every)) / len(every)


def prefix_shares(order: Sequence[Answer], wanted: int) -> list[float]:
    return [sum(a[0] == wanted for a in order[:i]) / i for i in range(1, len(order) + 1)]


def cws(answers: Sequence[Answer], n: int) -> Score:
    return mean_over_orders(answers, lambda o: sum(prefix_shares(o, 1)) / n)


def aurc(answers: Sequence[Answer], n: int) -> Score:
    return mean_over_orders(answers, lambda o: sum(prefix_shares(o, 0)) / len(o))


def best_aurc(answers: Sequence[Answer]) -> float:
    return min(
        sum(prefix_shares(list(order), 0)) / len(order)
        for order in [sorted(answers, key=lambda a: -a[0])]
    )


def e_aurc(answers: Sequence[Answer], n: int) -> Score:
    own = aurc(answers, n)
    assert own is not None
    return own - best_aurc(answers)


def prr(answers: Sequence[Answer], n: int) -> Score:
    wrong = sum(1 - a[0] for a in answers) / len(answers)
    own = aurc(answers, n)
    assert own is not None
    return (wrong - own) / (wrong - best_aurc(answers))


def points(answers: Sequence[Answer]) -> list[tuple[int, int]]:
    """(answered, wrong) at each distinct confidence."""
    levels = sorted({sure(a) for a in answers}, reverse=True)
    kept = [[a for a in answers if sure(a) >= level] for level in levels]
    return [(len(own), sum(1 - a[0] for a in own)) for own in kept]


def augrc(answers: Sequence[Answer], n: int) -> Score:
    size = len(answers)
    area, last = 0.0, (0, 0)
    for point in points(answers):
        area += (point[0] - last[0]) / size * (point[1] + last[1]) / size / 2
        last = point
    return area


def risk_at(c: float) -> Callable[[Sequence[Answer], int], Score]:
    def score(answers: Sequence[Answer], n: int) -> Score:
        for answered, wrong in points(answers):
            if answered / n >= c:
                return wrong / answered
        return None

    return score


def accuracy_at(c: float) -> Callable[[Sequence[Answer], int], Score]:
    def score(answers: Sequence[Answer], n: int) -> Score:
        risk = risk_at(c)(answers, n)
        return None if risk is None else 1 - risk

    return score


def coverage_at(r: float) -> Callable[[Sequence[Answer], int], Score]:
    return lambda answers, n: max([0.0, *(a / n for a, wrong in points(answers) if wrong / a <= r)])


def k1(answers: Sequence[Answer], n: int) -> Score:
    return sum((1 if right else -1) * (s or 0.0) for right, s in answers) / n


def mrr(answers: Sequence[Answer], n: int) -> Score:
    return sum(right for right, _ in answers) / n


def stated(answers: Sequence[Answer]) -> list[tuple[int, float]]:
    return [(right, s) for right, s in answers if s is not None]


def pearson(answers: Sequence[Answer], n: int) -> Score:
    own = stated(answers)
    x, y = [s for _, s in own], [float(r) for r, _ in own]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    cov = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return cov / math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))


def auroc(answers: Sequence[Answer], n: int) -> Score:
    right = [sure(a) for a in answers if a[0]]
    wrong = [sure(a) for a in answers if not a[0]]
    won = sum((r > w) + (r == w) / 2 for r in right for w in wrong)
    return won / (len(right) * len(wrong))


def aupr(answers: Sequence[Answer], wanted: int) -> float:
    sign = 1 if wanted else -1
    total, area, before = sum(a[0] == wanted for a in answers), 0.0, 0
    for level in sorted({sign * sure(a) for a in answers}, reverse=True):
        kept = [a for a in answers if sign * sure(a) >= level]
        found = sum(a[0] == wanted for a in kept)
        area += (found - before) / total * found / len(kept)
        before = found
    return area


def binned(own: Sequence[tuple[int, float]], bin_of: Sequence[int]) -> float:
    total = 0.0
    for b in set(bin_of):
        inside = [a for a, k in zip(own, bin_of, strict=True) if k == b]
        right = sum(r for r, _ in inside) / len(inside)
        total += len(inside) / len(own) * abs(right - sum(s for _, s in inside) / len(inside))
    return total


def ece(bins: int) -> Callable[[Sequence[Answer], int], Score]:
    def score(answers: Sequence[Answer], n: int) -> Score:
        own = stated(answers)
        place = [next(b for b in range(bins) if s <= (b + 1) / bins) for _, s in own]
        return binned(own, place)

    return score


def ece_mass(bins: int) -> Callable[[Sequence[Answer], int], Score]:
    def score(answers: Sequence[Answer], n: int) -> Score:
        own = stated(answers)
        place = []
        for _, s in own:
            below = sum(t < s for _, t in own)
            tied = sum(t == s for _, t in own)
            place.append(math.floor((2 * below + tied) * bins / (2 * len(own))))
        return binned(own, place)

    return score


def by_count(size: int, *, last: bool) -> Callable[[Sequence[Answer], int], Score]:
    """Sorted bins of so many answers; a tied answer has its group's share of right ones."""

    def score(answers: Sequence[Answer], n: int) -> Score:
        own = sorted(stated(answers), key=lambda a: a[1])
        alike = [[r for r, t in own if t == s] for _, s in own]
        off = [sum(a) / len(a) - s for a, (_, s) in zip(alike, own, strict=True)]
        bins = max(len(own) // size, 1)
        starts = [b * size for b in range(bins)]
        ends = [*starts[1:], len(own)]
        parts = [off[i:j] for i, j in zip(starts, ends, strict=True)]
        kept = parts if last else parts[:-1]
        if not kept:
            return None
        return math.sqrt(sum(sum(part) ** 2 / len(part) for part in kept) / len(own))

    return score


def adaptive_ece(bins: int) -> Callable[[Sequence[Answer], int], Score]:
    """Bins between values at fractional ranks, which lie on straight lines between answers."""

    def score(answers: Sequence[Answer], n: int) -> Score:
        own = stated(answers)
        ranked = sorted(s for _, s in own)
        edges = []
        for b in range(1, bins):
            rank = min(b * len(own) / bins, len(own) - 1)
            low, high = ranked[math.floor(rank)], ranked[min(math.floor(rank) + 1, len(own) - 1)]
            edges.append(low + (rank - math.floor(rank)) * (high - low))
        return binned(own, [sum(edge < s for edge in edges) for _, s in own])

    return score


def smooth_ece(answers: Sequence[Answer], n: int) -> Score:
    """By the midpoint rule, with the images of each answer beyond 0 and 1 one by one."""
    own = stated(answers)
    points = [(i + 0.5) / 400 for i in range(400)]

    def error(width: float) -> float:
        reach = range(-1 - math.ceil(3 * width), 2 + math.ceil(3 * width))
        images = [(2 * k + sign * s, r - s) for r, s in own for k in reach for sign in (1, -1)]
        near = [sum(o * math.exp(-(((t - s) / width) ** 2) / 2) for s, o in images) for t in points]
        return sum(map(abs, near)) / 400 / len(own) / width / math.sqrt(2 * math.pi)

    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if error(middle) > middle else (low, middle)
    return (low + high) / 2


def brier(answers: Sequence[Answer], n: int) -> Score:
    own = stated(answers)
    return sum((s - r) ** 2 for r, s in own) / len(own)


def log(answers: Sequence[Answer], n: int) -> Score:
    own = stated(answers)
    least = 2.0**-52
    chance = [min(max(s, least), 1 - least) for _, s in own]
    picked = [p if r else 1 - p for (r, _), p in zip(own, chance, strict=True)]
    return -sum(map(math.log, picked)) / len(own)


REFERENCE: dict[str, Callable[[Sequence[Answer], int], Score]] = {
    "CWS": cws,
    "K1": k1,
    "K": k1,
    "MRR": mrr,
    "Pearson-r": pearson,
    "AURC": aurc,
    "E-AURC": e_aurc,
    "AUGRC": augrc,
    "PRR": prr,
    "risk@coverage(c=0.3)": risk_at(0.3),
    "risk@coverage(c=0.8)": risk_at(0.8),
    "accuracy@coverage(c=0.5)": accuracy_at(0.5),
    "coverage@risk(r=0)": coverage_at(0),
    "coverage@risk(r=0.25)": coverage_at(0.25),
    "AUROC": auroc,
    "AUPR-success": lambda answers, n: aupr(answers, 1),
    "AUPR-error": lambda answers, n: aupr(answers, 0),
    "ECE": ece(15),
    "ECE(bins=4)": ece(4),
    "ECE-mass(bins=3)": ece_mass(3),
    "RMSCE": by_count(100, last=True),
    "RMSCE(size=2)": by_count(2, last=True),
    "RMSCE-HLE(size=2)": by_count(2, last=False),
    "adaptive-ECE": adaptive_ece(15),
    "adaptive-ECE(bins=3)": adaptive_ece(3),
    "smooth-ECE": smooth_ece,
    "Brier": brier,
    "log-score": log,
}

TOLERANCE = {"smooth-ECE": 0.003}
"""Of measures that no sum gives: an integral on a grid, solved for its width."""
