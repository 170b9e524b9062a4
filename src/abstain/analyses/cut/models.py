"""Logistic models: the chance that a document is relevant, and that a query has nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.result import Facts

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Bools, Floats

STEPS, HALVED = 50, 30
CLOSE = 1e-6
SAME = 1e-12
"""Numbers that differ by less than this part of the largest are all the same."""


class Model(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A logistic model of standardised numbers; without weights the chance is always the same."""

    bias: float
    weights: tuple[float, ...] = ()
    middle: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    def check(self, width: int) -> None:
        """Refuse, with a ValueError, a model that does not look at so many numbers."""
        sizes = {len(self.weights), len(self.middle), len(self.scale)}
        if sizes not in ({0}, {width}) or not all(scale > 0 for scale in self.scale):
            raise ValueError(
                f"a model needs {width} weights, {width} middles and {width} scales (above 0), or "
                "none of the three"
            )

    def logit(self, known: Floats) -> Floats:
        """The log odds of what is known, along the last axis."""
        if not self.weights:
            return np.full(known.shape[:-1], self.bias)
        slope = np.array(self.weights) / np.array(self.scale)
        start = self.bias - float(slope @ np.array(self.middle))
        return np.asarray(known @ slope + start)

    def chance(self, known: Floats) -> Floats:
        """The chance of what is known, along the last axis."""
        return sigmoid(self.logit(known))


def sigmoid(logit: Floats) -> Floats:
    """1 / (1 + e^−x), whatever x."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -500, 500))))


CERTAIN = 40.0
"""Log odds of what was never, or always, seen."""


def logistic(
    known: Floats,
    happened: Bools,
    *,
    ridge: float,
    times: Floats | None = None,
    start: Model | None = None,
) -> Model:
    """The model of greatest likelihood, weights drawn towards 0 by `ridge`.

    By Newton's method, with steps halved that would lead upwards. Where it starts has no say in
    where it ends, only in how soon. Sums are einsum's: with so few columns the threads of `@` only
    wait for each other.
    """
    sums = np.einsum
    count = np.ones(len(known)) if times is None else times
    total, positive = float(count.sum()), float((count * happened).sum())
    if not len(known) or positive in (0.0, total):
        return Model(bias=CERTAIN if len(known) and positive else -CERTAIN)
    middle = sums("i,ij->j", count, known) / total
    z = np.ones((known.shape[1] + 1, len(known)))
    np.subtract(known.T, middle[:, None], out=z[1:])
    scale = np.sqrt(sums("i,ji,ji->j", count, z[1:], z[1:]) / total)
    same = scale <= SAME * np.abs(known).max(axis=0)
    scale = np.where(same, 1.0, scale)
    z[1:] /= scale[:, None]
    z[1:][same] = 0.0  # what rounding leaves of large numbers that are all the same
    w = np.zeros(len(z))
    w[0] = np.log(positive / (total - positive))
    if start is not None and start.weights:
        slope = np.array(start.weights) / np.array(start.scale)
        w[0] = start.bias + float(slope @ (middle - np.array(start.middle)))
        w[1:] = slope * scale
    pull = np.append(1e-6, np.full(len(w) - 1, ridge))

    def missed(w: Floats, odds: Floats) -> float:
        """What is minimised: minus the log likelihood, and what the weights cost."""
        return float((count * (np.logaddexp(0.0, odds) - happened * odds)).sum() + pull @ w**2 / 2)

    odds = sums("j,ji->i", w, z)
    least = missed(w, odds)
    for _ in range(STEPS):
        p = sigmoid(odds)
        slope = sums("ji,i->j", z, count * (p - happened)) + pull * w
        curve = sums("ji,ki->jk", z * (count * p * (1 - p)), z) + np.diag(pull)
        step = np.linalg.solve(curve, slope)
        for _ in range(HALVED):  # a whole step may lead up the other side
            odds = sums("j,ji->i", w - step, z)
            if (found := missed(w - step, odds)) <= least:
                break
            step /= 2
        else:
            break  # nothing below can be told from rounding
        w, least = w - step, found
        if np.abs(step).max() < CLOSE:
            break
    return Model(
        bias=float(w[0]),
        weights=tuple(w[1:].tolist()),
        middle=tuple(middle.tolist()),
        scale=tuple(scale.tolist()),
    )
