"""`curve`: runs over all thresholds of their confidence.

Of runs that no memory holds `histogram` counts confidences into bins. At the edge of a bin every
count is that of the exact curve. Inside a bin nobody knows the order; the area under the curve lies
between its best and its worst.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from abstain import outcomes
from abstain.errors import UsageError, option
from abstain.features.curve import result as facts_of
from abstain.features.curve.decision import decision as decision_curves
from abstain.features.curve.result import CurveResult, HistogramResult, Points, Way
from abstain.measures import Measure, count_measure, measure, swept
from abstain.measures.answers import Answers, Groups
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import EXCLUDED, Counts, Policy
from abstain.report.result import defined, finite, number, read_as
from abstain.runs.evaluation import Evaluation
from abstain.runs.judge import KIND
from abstain.runs.sources import answers_of
from abstain.stats.curves import Curve, evenly, top
from abstain.stats.intervals import check_level

DEFAULT_MEASURES = ("AUROC", "AURC", "E-AURC", "ECE", "Brier")
SHOWN = (21, 101, 500)
"""Points that tables, pages and charts show: a result holds these, whatever else it holds."""
BINS, MOST_BINS = 1024, 1 << 20


def curve(
    evaluation: Evaluation,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    bins: int = 10,
    equal_mass: bool = False,
    decision: Way | bool = False,
    level: float = 0.95,
    points: int = 500,
    seed: int = 0,
) -> CurveResult:
    """Follow every run over all its thresholds.

    Args:
        evaluation: What was read.
        measures: Those of confidence to sum up, and one of counts to follow along the curve (c@1).
        bins: Bins of the reliability diagrams.
        equal_mass: Whether these are equally full instead of equally wide.
        decision: Whether to make decision curves, and how runs act in them.
        level: Of the bands of decision curves.
        points: So many points of each curve are in the result, evenly over coverage, besides those
            that tables and charts show; 0: all.
        seed: For the draws behind the bands.
    """
    if not 1 <= bins <= 10_000:
        raise UsageError(f"{option('bins')} is from 1 to 10,000 (got {bins})")
    check_level(level)
    summed, along = split_measures([measures] if isinstance(measures, (str, Measure)) else measures)
    data = evaluation.data
    data.require_confidence()
    confidence, codes, costs = data.confidence, data.codes, np.array(facts_of.PENALISED_AT)
    runs = []
    for run, of_run, sure in zip(evaluation.runs, codes, confidence, strict=True):
        answers = answers_of(of_run, sure)
        scores, undefined = defined({str(item): item(answers) for item in summed})
        counts = Counts.of(np.bincount(of_run, minlength=EXCLUDED + 1)[:EXCLUDED].tolist())
        stated = int(np.count_nonzero(answers.stated))
        line = Curve.of(answers, int(counts.unsplit)) if stated else None
        points_and_best, at = followed(line, along, points)
        parts = [decompose("as submitted", counts, along)]
        if line is not None and at is not None:
            parts.append(decompose("best in hindsight", line.counts[at], along))
        runs.append(
            facts_of.RunCurve(
                run=run,
                numbers=counts.to_dict(),
                answers=int(answers.size),
                stated=stated,
                scores=scores,
                undefined=undefined,
                as_submitted=number(along(counts)),
                penalised=tuple(line.penalised(costs).tolist()) if line else (),
                reliability=tuple(reliability(answers, bins, mass=equal_mass)),
                parts=tuple(parts),
                **points_and_best,
            )
        )
    sign = -1 if along.higher_is_better else 1
    way = None if decision is True else decision
    curves = way is not False and decision_curves(evaluation, way, level=level, seed=seed)
    return CurveResult(
        **read_as(evaluation, clusters=False),
        policy=evaluation.policy.to_dict(),
        touched=data.touched,
        questions=len(evaluation),
        measures=tuple(str(item) for item in summed),
        along=str(along),
        conventions={str(item): item.definition.convention for item in summed},
        bins=bins,
        equal_mass=equal_mass,
        runs=tuple(sorted(runs, key=lambda run: (run.best is None, sign * (run.best or 0.0)))),
        decision=curves or None,
    )


def split_measures(measures: Sequence[str | Measure]) -> tuple[tuple[Measure, ...], Measure]:
    chosen = list(dict.fromkeys(measure(item) for item in swept(measures)))
    for item in chosen:
        if item.definition.takes not in ("counts", "confidence"):
            what = f"{item} is a measure of {item.definition.takes}"
            raise UsageError(f"{what}, expected one of counts or confidence")
    of_counts = [m for m in chosen if m.definition.takes == "counts"]
    others = [m for m in chosen if m not in of_counts]
    if len(of_counts) > 1:
        both = f"{of_counts[0]} and {of_counts[1]}"
        raise UsageError(f"only one measure of counts can be followed along the curve (got {both})")
    summed = others or [measure(name) for name in DEFAULT_MEASURES]
    return tuple(summed), of_counts[0] if of_counts else measure("c@1")


def followed(
    curve: Curve | None, measure: Measure, points: int
) -> tuple[dict[str, Any], int | None]:
    """The points of a run's curve and the best of them, fields of `Followed`; the place of it.

    Points enough to show and to draw are held, and so many evenly over coverage; 0: all.
    """
    facts: dict[str, Any] = dict.fromkeys(("best", "threshold", "coverage"))
    if points < 0:
        raise UsageError(f"{option('points')} is 0 or more (got {points})")
    if curve is None:
        return facts, None
    scores = measure(curve.counts)
    held = np.unique(np.concatenate([evenly(curve.answered, n) for n in (*SHOWN, points)]))
    facts["points"] = Points(
        threshold=tuple(map(finite, curve.thresholds[held].tolist())),
        answered=tuple(curve.answered[held].tolist()),
        right=tuple(curve.right[held].tolist()),
        score=tuple(map(number, scores[held].tolist())),
        even_without_confidence=math.isnan(curve.thresholds[-1]),
    )
    if (at := top(scores, measure)) is not None:
        facts |= {"best": float(scores[at]), "coverage": float(curve.coverage[at])}
        facts["threshold"] = finite(curve.thresholds[at])
        facts["even_without_confidence"] = math.isnan(curve.thresholds[at])
    return facts, at


def decompose(where: facts_of.Where, k: Counts, measure: Measure) -> facts_of.Parts:
    """How much of a score is knowing, how much is choosing well when to answer.

        score = knowing + silence + choosing,   oracle = score + left

    knowing: the score if every answer and candidate were given; silence: what leaving as many blank
    as the run did, but blindly, changes; choosing: what choosing them as the run did adds; left:
    what answering exactly what it gets right would add. Questions without answer or candidate are
    blank in every part.
    """
    right, wrong = k.right + k.unanswered_right, k.wrong + k.unanswered_wrong
    forced = measure(
        Counts(right=right, wrong=wrong, unanswered_empty=k.unanswered_empty, unsplit=k.unsplit)
    )
    blind = measure(outcomes.blanked_at_random(k))
    score = measure(k)
    left = measure(outcomes.blanked_at_best(k)) - score
    return facts_of.Parts(
        where=where,
        coverage=k.answered / max(k.n, 1),
        score=number(score),
        knowing=number(forced),
        silence=number(blind - forced),
        choosing=number(score - blind),
        left=number(left),
        oracle=number(score + left),
    )


def reliability(answers: Answers, bins: int = 10, *, mass: bool = False) -> list[facts_of.Bin]:
    from abstain.measures.confidence import mass_bins, width_bins

    rated = answers.calibrated
    if not rated.size:
        return []
    sure = rated.confidence
    place = mass_bins(sure, bins) if mass else width_bins(sure, bins)
    sizes = np.bincount(place, minlength=bins)
    confidence = np.bincount(place, sure, minlength=bins)
    right = np.bincount(place, rated.right, minlength=bins)
    full = []
    for b in np.flatnonzero(sizes).tolist():
        inside = sure[place == b] if mass else np.array([b / bins, (b + 1) / bins])
        full.append(
            facts_of.Bin(
                low=float(inside.min()),
                high=float(inside.max()),
                answers=int(sizes[b]),
                confidence=float(confidence[b] / sizes[b]),
                accuracy=float(right[b] / sizes[b]),
            )
        )
    return full


def histogram(
    evaluation: Evaluation, measure: str | Measure = "c@1", *, bins: int = BINS, points: int = 500
) -> HistogramResult:
    """Risk, coverage and a measure over the thresholds k/bins, counted by the engine of the runs.

    Args:
        evaluation: What was read.
        measure: Of counts, to follow along the curve.
        bins: A power of two: only then are the edges exact.
        points: So many points of each curve are in the result, evenly over coverage, besides those
            that tables and charts show; 0: all.
    """
    along = count_measure(measure)
    if not 2 <= bins <= MOST_BINS or bins & (bins - 1):
        known = f"is a power of two, from 2 to {MOST_BINS:,} (got {bins:,})"
        raise UsageError(f"{option('histogram')} {known}")
    evaluation.data.require_confidence()
    counted = evaluation.data.counted()
    binned = evaluation.data.source.binned(bins)
    runs = []
    for run, row in zip(counted.runs, counted.counts.table.tolist(), strict=True):
        table = _table(binned.filter(pl.col("run") == run), evaluation.policy, bins)
        runs.append(_binned(run, Counts.of(row), table, along, points))
    return HistogramResult(
        **read_as(evaluation, clusters=False),
        policy=evaluation.policy.to_dict(),
        touched={}
        if counted.blanks is None
        else outcomes.reasons_named(counted.blanks.sum(axis=0)),
        questions=counted.questions or 0,
        bins=bins,
        along=str(along),
        runs=tuple(runs),
    )


def _table(counted: pl.DataFrame, policy: Policy, bins: int) -> IntArray:
    """Wrong and right answers by bin, from the surest down, those without a confidence last.

    Candidates behind blanks are answers, as in every curve.
    """
    table = np.zeros((bins + 2, 2), np.int64)
    for kind, end in enumerate(policy.outcomes(excluded=-1).tolist()):
        if 0 <= end <= 3:
            part = counted.filter(pl.col(KIND) == kind)
            np.add.at(table[:, 1 - end % 2], bins - part["bin"].to_numpy(), part["n"].to_numpy())
    return table


def _binned(
    run: str, counts: Counts, table: IntArray, along: Measure, points: int
) -> facts_of.BinnedRun:
    bins = len(table) - 2
    filled = np.flatnonzero(table.sum(axis=1))
    wrong, right = table[filled].T
    stated = int(table[:-1].sum())
    areas: dict[str, Any] = dict.fromkeys(("aurc", "aurc_at_best", "aurc_at_worst"))
    curve = None
    if stated:
        level: Array = np.where(filled == bins + 1, np.nan, (bins - filled) / bins)
        groups = Groups(level, np.cumsum(wrong + right), np.cumsum(right))
        curve = Curve.from_groups(groups, int(counts.n), int(counts.unsplit))
        first, last = (1, 0), (0, 1)
        areas["aurc"] = _aurc(wrong, right)
        areas["aurc_at_best"] = _aurc(np.kron(wrong, last), np.kron(right, first))
        areas["aurc_at_worst"] = _aurc(np.kron(wrong, first), np.kron(right, last))
    return facts_of.BinnedRun(
        run=run,
        numbers=counts.to_dict(),
        answers=int(table.sum()),
        stated=stated,
        **areas,
        **followed(curve, along, points)[0],
    )


def _aurc(wrong: IntArray, right: IntArray) -> float:
    """(1/N) Σ_i E[wrong(i)]/i, as `Groups.mean_share` has it but with H(b) − H(a) from digamma."""
    from scipy.special import digamma

    some = wrong + right > 0
    added, sizes = wrong[some], (wrong + right)[some]
    after = np.cumsum(sizes)
    start, before = after - sizes, np.cumsum(added) - added
    slope = added / sizes
    spread = digamma(after + 1) - digamma(start + 1)
    return float((added + (before - start * slope) * spread).sum() / after[-1])
