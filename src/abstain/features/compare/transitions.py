"""Where a difference comes from: which questions moved, and what each move is worth.

Along the straight way from one run's shares to the other's, φ is the mean of the measure's
gradient (Aumann and Shapley). A question that moves from outcome a to b contributes (φ_b − φ_a)/n,
and all contributions add up to the difference, whatever the measure.
"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl

from abstain.features.compare.result import Move, Origin, SliceShare
from abstain.measures import Measure
from abstain.measures.definition import Array, Codes
from abstain.outcomes import DECISIONS, VERDICTS
from abstain.report.result import finite
from abstain.runs.gold import Slices
from abstain.stats.delta_method import FIVE, OF_DECISIONS, Functional, influence, one_run

NODES = 12
FINEST = 30
"""Panels shorten by halves towards both ends, to 2⁻³⁰ of the way: where few are answered at one
end, a ratio changes fastest there."""
DECIMALS = 9
NOISE = 1e-8
NO_DIFFERENCE = 1e-12
RIGHT, WRONG, BLANK_RIGHT, BLANK_WRONG, BLANK_EMPTY = range(5)


def origin_of(
    measure: Measure,
    other: Codes,
    ours: Codes,
    ids: pl.Series,
    slices: Sequence[Slices],
    decided: Codes | None = None,
) -> Origin:
    """What each move is worth, and which questions and slices made it, from paired outcomes.

    `decided` are the decisions of both runs, where the data mark what can be answered.
    """
    decides = measure.definition.takes == "decisions"
    joint = np.zeros((5, 5))
    np.add.at(joint, (other, ours), 1)
    phi = path_gradient(measure, joint.sum(axis=1), joint.sum(axis=0))
    gains = (phi[None, :] - phi[:, None]) / len(ours)
    merge = np.eye(3)[:, [0, 1, 2, 1, 0] if decides else [0, 1, 2, 2, 2]]
    counts, worth = (merge @ table @ merge.T for table in (joint, joint * gains))
    contributions = gains[other, ours]
    shares, reversals = in_slices(measure, other, ours, contributions, slices)
    order = np.argsort(-np.abs(contributions), kind="stable")
    order = order[np.abs(contributions[order]) > 0]
    differ = ours != other
    unknown = np.count_nonzero(differ & ((ours == BLANK_EMPTY) | (other == BLANK_EMPTY)))
    known = 2 * unknown <= np.count_nonzero(differ) and not decides
    knowing = float((joint * _knowing(phi)).sum()) / len(ours)
    cells = zip(counts.ravel().tolist(), worth.ravel().tolist(), strict=True)
    moves = [Move(questions=int(count), worth=finite(value)) for count, value in cells]
    names = [f"{a} → {b}" for a, b in product(VERDICTS, repeat=2)]
    return Origin(
        transitions=dict(zip(names, moves, strict=True)),
        knowing=finite(knowing) if known else None,
        abstaining=finite(float(worth.sum()) - knowing) if known else None,
        without_candidate=0 if decides else int(unknown),
        decisions={} if decided is None else _by_decision(contributions, decided),
        slices=shares,
        reversals=reversals,
        contributions=dict(zip(ids.gather(order), contributions[order].tolist(), strict=True)),
    )


def _by_decision(contributions: Array, decided: Codes) -> dict[str, float | None]:
    """The contributions by what the runs did: they add up to the difference.

    Refusing is whatever differs where no answer was due, answering where one was due and one run
    declined, knowing where both answered.
    """
    declined = (decided == DECISIONS.index("wrongly_declined")).any(axis=0)
    where = np.where(decided[0] >= DECISIONS.index("wrongly_answered"), 0, np.where(declined, 1, 2))
    sums = map(finite, np.bincount(where, contributions, minlength=3))
    return dict(zip(("refusing", "answering", "knowing"), sums, strict=True))


def path_gradient(measure: Measure, other: Array, ours: Array) -> Array:
    """φ of each of the five outcomes, by Gauss–Legendre quadrature along the way.

    NaN where a run has no score. What a kink on the way leaves over is added by the least change
    of φ, so that the worths add up.
    """
    f = _of_five(measure)
    start, end = np.asarray(other, np.float64), np.asarray(ours, np.float64)
    half = np.append(0.0, 0.5 ** np.arange(FINEST, 0, -1.0))
    edges = np.append(half, 1 - half[-2::-1])
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    width = np.diff(edges)[:, None]
    at = (edges[:-1, None] + width * (nodes + 1) / 2).ravel()
    weights = (width * weights / 2).ravel()
    way = start * (1 - at[:, None]) + end * at[:, None]
    phi = np.asarray(np.round((weights[:, None] * influence(f, way)).sum(axis=0), DECIMALS))
    moved, n = end - start, start.sum()
    left = float(f.value(end) - f.value(start)) - float(phi @ moved) / n
    if math.isnan(left):
        return np.full(5, np.nan)
    if abs(left) > NOISE:
        phi += left * n * moved / (moved @ moved)
    return phi


def _of_five(measure: Measure) -> Functional:
    return one_run(measure, OF_DECISIONS if measure.definition.takes == "decisions" else FIVE)


def _knowing(phi: Array) -> Array:
    """The part of each move that is knowing: the candidate changes its rightness.

    Of a move that changes both, the mean over both orders (Shapley); a move to or from a blank
    without a candidate is abstaining.
    """
    knowing = np.zeros((5, 5))
    states = list(product((0, 1), repeat=2))  # silent?, wrong?: the code is 2·silent + wrong
    for (was_silent, was_wrong), (silent, wrong) in product(states, repeat=2):
        before = phi[2 * was_silent + wrong] - phi[2 * was_silent + was_wrong]
        after = phi[2 * silent + wrong] - phi[2 * silent + was_wrong]
        knowing[2 * was_silent + was_wrong, 2 * silent + wrong] = (before + after) / 2
    return knowing


def in_slices(
    measure: Measure, other: Codes, ours: Codes, contributions: Array, slices: Sequence[Slices]
) -> tuple[tuple[SliceShare, ...], tuple[str, ...]]:
    f = _of_five(measure)

    def value(codes: Codes) -> float:
        return float(f.value(np.bincount(codes, minlength=5).astype(float)))

    total = value(ours) - value(other)
    shares: list[SliceShare] = []
    reversed_by: list[str] = []
    for each in slices:
        rows = []
        for place in np.unique(each.slice_of[each.slice_of >= 0]).tolist():
            inside = each.slice_of == place
            score, against = value(ours[inside]), value(other[inside])
            rows.append(
                SliceShare(
                    slice={each.attribute: each.names[place]},
                    questions=int(inside.sum()),
                    score=finite(score),
                    score_against=finite(against),
                    difference=finite(score - against),
                    contribution=finite(contributions[inside].sum()),
                )
            )
        rows.sort(key=lambda s: (s.contribution is None, -abs(s.contribution or 0), s.name))
        shares += rows
        signs = {math.copysign(1, d) for s in rows if abs(d := s.difference or 0) > NO_DIFFERENCE}
        whole = bool((each.slice_of >= 0).all()) and len(rows) > 1
        if whole and abs(total) > 0 and signs == {-math.copysign(1, total)}:
            reversed_by.append(each.attribute)
    return tuple(shares), tuple(reversed_by)
