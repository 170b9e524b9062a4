"""A rule as lines of Python with its numbers in them, to paste into a retriever."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.cut.distributions import (
    FEWEST,
    FITTED,
    GOLDEN,
    GRID,
    LOWEST_SHAPE,
    REFINED,
    ROUNDS,
    WINDOWS,
)
from abstain.analyses.cut.expected import poisson_counts
from abstain.analyses.cut.rules import EQUAL

if TYPE_CHECKING:
    from abstain.analyses.cut.models import Model
    from abstain.analyses.cut.rules import Rule

HEAD = '''def cut(scores):
    """How many of the documents with these scores to keep, the best first."""
'''
SORTED = """    s = np.sort(np.asarray(scores, float))[::-1]
    n = len(s)
    if not n:
        return 0
"""
KNOWN = """    k, spread, top = np.arange(n + 1.0), s.std(), s[0] - {origin!r}
    spread += 1e-12 * abs(s).max() + 1e-300
    share = (s - {origin!r}) / top if top > 0 else np.ones(n)
    gap = np.append(s[:-1] - s[1:], 0) / spread
    known = [s, share, (s - s.mean()) / spread, np.log(k[1:]), 0 * s + s[0], 0 * s + spread, gap]
    chance = 1 / (1 + np.exp(-({document})))
"""
EXPECTED = """    drop = (s[0] - s[min(9, n - 1)]) / top if top > 0 else 0
    shape = [s[0], spread, n, drop, s.mean()]
    nothing = 1 / (1 + np.exp(-({nothing})))
    S = lambda x: np.append(0, np.cumsum(x))
    def worth(r, n):
        R, c = {gain!r} * n, S(r)
        t = c / R if R else np.ones(len(k))
        return {value}
    drawn = np.random.RandomState([0]).random_sample((n, {draws})).T
    unseen = np.repeat({numbers}, {times})
    hits = [(1.0 * (u < chance), more) for u, more in zip(drawn, unseen)]
    mean = sum(worth({gain!r} * x, max(x.sum() + more, 1)) for x, more in hits) / {draws}
    value = (1 - nothing) * mean + nothing * worth(0 * s, 0) - {price!r} * k
    return int(np.argmax(value >= value.max() - 1e-9))
"""
EVENLY = """    m = min(n, {fitted})
    some = s[((np.arange(m) + 0.5) * (n / m)).astype(int)]
"""
SURPRISE = """    def survival(y, xi, sigma):
        if abs(xi) < 1e-9:
            return y / sigma
        return np.log1p(np.maximum(xi * y / sigma, -1 + 1e-12)) / xi
    best = (np.inf, np.inf, 0, 1, 1)
    for window in {windows}:
        end = int(np.ceil(window * m)) - 1
        y = some[:end] - some[end]
        if end < (1 if window == 1 else {fewest}) or y[0] <= 0:
            continue
        mean, shape = y.mean(), lambda o: np.log1p(np.maximum(o * y, -1 + 1e-12)).mean()
        def scale(o):
            return shape(o) / o if abs(o) * mean > 1e-9 else mean
        def fit(o):
            fits = shape(o) >= {lowest}
            return -np.log(max(scale(o), 1e-300)) - 1 - shape(o) if fits else -np.inf
        grid = [g / (y[0] if g < 0 else mean) for g in {grid}]
        at = int(np.argmax([fit(o) for o in grid]))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        for _ in range({refined}):
            a, b = high - {golden!r} * (high - low), low + {golden!r} * (high - low)
            low, high = (a, high) if fit(a) < fit(b) else (low, b)
        o, low, high = (low + high) / 2, y[0] / 2, y[0]
        for _ in range({refined}):
            a = (low + high) / 2
            low, high = (a, high) if (y / np.maximum(2 * a - y, 1e-300)).mean() > 1 else (low, a)
        edge = np.log1p(-y / (2 * high)).mean() - np.log(high)
        xi, sigma = ({lowest}, high) if fit(o) < edge else (shape(o), scale(o))
        xi, sigma = (xi, sigma) if end >= {fewest} else (0, mean)
        tail = survival(y, xi, sigma)
        miss = 1 - np.exp(-tail) - (1 - (2 * np.arange(1, end + 1) - 1) / (2 * end))
        best = min(best, ((miss ** 2).sum() + 1 / (12 * end), some[end], xi, sigma, (end + 1) / m))
    _, start, xi, sigma, part = best
    y = np.maximum(s - start, 0)
    tail = survival(y, xi, sigma)
    below = np.minimum(-np.log(np.searchsorted(-s, -s, "right") / n), -np.log(part))
    return int((np.where(s > start, tail - np.log(part), below) >= {at!r}).sum())
"""
DISTRIBUTION = """    if s[0] == s[-1]:
        return n * (0.5 >= {at!r})
    from scipy.special import log_ndtr
    most = some[0] - s[-1]
    some, s = (some - s[-1]) / most, (s - s[-1]) / most
    scale, high = max(some.mean(), 1e-12), some[some >= 0.5]
    share, mean, sd = min(max(len(high) / m, 0.02), 0.5), high.mean(), 0.2
    def normal(y):
        odds = np.log(share) - 0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
        odds += y / scale + np.log(scale) - np.log1p(-share) - log_ndtr(mean / sd)
        return 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
    for _ in range({rounds}):
        own = normal(some)
        weight = max(own.sum(), 1e-12)
        first = (own * some).sum() / weight
        second = (own * (some - first) ** 2).sum() / weight
        scale, a = max(((1 - own) * some).sum() / max(m - weight, 1e-12), 1e-12), -mean / sd
        h = np.exp(-0.5 * a**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(-a))
        mean = min(max(first - sd * h, 0), 1)
        sd = min(max(np.sqrt(second / max(1 + a * h - h**2, 0.05)), 0.02), 1)
        share = min(max(weight / m, 1e-6), 1 - 1e-6)
    chance = np.maximum.accumulate(normal(s)[::-1])[::-1]
    return int((chance >= {at!r}).sum())
"""


def python_of(rule: Rule) -> str:
    """A function `cut(scores)` that keeps as many documents as the rule does."""
    if rule.rule == "gap":
        return "import math\n\n\n" + HEAD + _gap(rule)
    if rule.rule == "expected":
        return "import numpy as np\n\n\n" + HEAD + SORTED + _known(rule) + _expected(rule)
    if rule.rule not in ("threshold", "share", "surprise", "distribution", "probability"):
        return (
            HEAD
            + f"    return {'len(scores)' if rule.k is None else f'min(len(scores), {rule.k})'}\n"
        )
    if rule.at is None:
        return HEAD + "    return 0\n"
    if rule.rule == "threshold":
        return HEAD + f"    return sum(score >= {rule.at!r} for score in scores)\n"
    if rule.rule == "share":
        return HEAD + (
            f"    top = max(scores, default=0) - {rule.origin!r}\n"
            "    if top <= 0:\n"
            f"        return len(scores) * (1 >= {rule.at!r})\n"
            f"    return sum((score - {rule.origin!r}) / top >= {rule.at!r} for score in scores)\n"
        )
    start = "import numpy as np\n\n\n" + HEAD + SORTED
    if rule.rule == "probability":
        last = f"    return int((np.maximum.accumulate(chance[::-1])[::-1] >= {rule.at!r}).sum())\n"
        return start + _known(rule) + last
    start += EVENLY.format(fitted=FITTED)
    if rule.rule == "distribution":
        return start + DISTRIBUTION.format(at=rule.at, rounds=ROUNDS)
    return start + SURPRISE.format(
        at=rule.at,
        windows=WINDOWS,
        fewest=FEWEST,
        lowest=LOWEST_SHAPE,
        golden=GOLDEN,
        refined=REFINED,
        grid=[float(f"{value!r}") for value in GRID.tolist()],
    )


def _gap(rule: Rule) -> str:
    return (
        "    s = sorted(scores, reverse=True)\n"
        f"    reach = max(math.ceil({rule.window!r} * len(s)), 2)\n"
        "    drops = [a - b for a, b in zip(s, s[1:])][: reach - 1]\n"
        "    if max(drops, default=0) <= 0:\n"
        "        return len(s)\n"
        f"    first = next(i for i, d in enumerate(drops, 1) if d >= max(drops) * {EQUAL!r})\n"
        f"    return min(first + {rule.extra or 0}, len(s))\n"
    )


def _known(rule: Rule) -> str:
    assert rule.document is not None
    return KNOWN.format(origin=rule.origin, document=_linear(rule.document, "known", "0 * s"))


def _expected(rule: Rule) -> str:
    from abstain.measures import measure

    assert rule.nothing is not None
    assert rule.measure is not None
    wanted = measure(rule.measure)
    draws = rule.draws or 1
    runs = [(k, len(list(same))) for k, same in groupby(poisson_counts(rule.unseen or 0.0, draws))]
    return EXPECTED.format(
        nothing=_linear(rule.nothing, "shape", "0"),
        gain=rule.gain,
        value=wanted.definition.by_depth_text.format(**wanted.arguments),
        draws=draws,
        numbers=[int(k) for k, _ in runs],
        times=[times for _, times in runs],
        price=rule.price,
    )


def _linear(model: Model, known: str, zero: str) -> str:
    """The log odds of a model as an expression."""
    if not model.weights:
        return f"{model.bias!r} + {zero}"
    slope = np.array(model.weights) / np.array(model.scale)
    start = model.bias - float(slope @ np.array(model.middle))
    return f"np.dot({slope.tolist()}, {known}) + {start!r}"
