"""`decisions`: was an answer due, and was one given?

The 2 × 2 table of questions that can and that cannot be answered by what each run did, its rates,
and those of three runs without any judgement: one that refuses everything, one that answers
everything, and a coin that declines as often as the run.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from msgspec.structs import replace

from abstain import outcomes
from abstain.errors import InputError, UsageError
from abstain.features.decisions import result as facts_of
from abstain.features.decisions.result import DEFAULT_MEASURES, Pair, Undecided
from abstain.measures import Measure, measure, swept
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import DECISIONS, Decisions, Why
from abstain.report.result import Ends, defined, ends, finite, read_as
from abstain.runs.evaluation import Evaluation
from abstain.stats.delta_method import few_clusters
from abstain.stats.hypotheses import adjust
from abstain.stats.intervals import check_level, interval

OVER, UNDER = map(measure, DEFAULT_MEASURES[:2])
MOST_TESTED = 10
"""Runs of which every pair is tested."""
COMPARED = ("run", "against", "difference", "interval", "p", "no_test", "questions")
NOT_COMPARED = "runs are not compared: "
UNSCORED = [outcomes.blank_kind(Why.UNSCORED, candidate) for candidate in outcomes.CANDIDATES]


def decisions(
    evaluation: Evaluation,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    by: Sequence[str] | str = (),
    level: float = 0.95,
    seed: int = 0,
) -> facts_of.DecisionsResult:
    """Whether runs answered where an answer was due, and declined where it was not.

    Questions that cannot be answered are marked by a column (`answerable`, `is_impossible`, …) or
    by an empty `correct`. What the policy leaves unanswered counts as declined.

    Args:
        evaluation: What was read.
        measures: Of decisions or of counts (default: all of decisions).
        by: Attributes to slice by.
        level: Of the intervals; what it leaves is the error of the tests of all pairs together.
        seed: Of the tests.
    """
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    chosen = tuple(dict.fromkeys(map(measure, swept(measures) or DEFAULT_MEASURES)))
    for item in chosen:
        if (takes := item.definition.takes) not in ("counts", "decisions"):
            raise UsageError(f"{item} is a measure of {takes}, expected one of decisions or counts")
    check_level(level)
    data, policy = evaluation.data, evaluation.policy
    decided, counted, sides = data.decided(by), data.counted(by), data.sides(by)
    of_clusters = data.by_cluster(by), data.by_cluster(by, decisions=True)
    rows = []
    for at, key in enumerate(zip(counted.runs, counted.slices, strict=True)):
        groups = [None if tables is None else tables[key] for tables in of_clusters]
        mine: dict[str, tuple[Any, Array | None]] = {
            "counts": (counted.counts[at], groups[0]),
            "decisions": (decided[at], groups[1]),
        }
        spans: dict[str, Ends] = {}
        for item in dict.fromkeys((*chosen, OVER, UNDER)):
            table, clusters = mine[item.definition.takes]
            spans[str(item)] = ends(interval(item, table, clusters=clusters, level=level))
        scores, undefined = defined({str(m): m(mine[m.definition.takes][0]) for m in chosen})
        of_decisions = [m for m in chosen if m.definition.takes == "decisions"]
        leaning, beats_coin = leaning_of(decided[at], spans[str(OVER)], spans[str(UNDER)])
        references = {
            name: defined({str(m): m(table) for m in of_decisions})[0]
            for name, table in without_judgement(decided[at]).items()
        }
        rows.append(
            facts_of.Row(
                run=key[0],
                slice=dict(zip(by, key[1], strict=True)),
                numbers=decided[at].to_dict(),
                scores=scores,
                undefined=undefined,
                intervals={name: spans[name] for name in scores},
                **references,
                leaning=leaning,
                beats_coin=beats_coin,
                undecided=undecided(of_decisions, sides[at], policy),
            )
        )
    notes = [*_notes(evaluation, sides), *few_clusters(of_clusters[1])]
    pairs: tuple[Pair, ...] = ()
    if not by and 2 <= len(evaluation.runs) <= MOST_TESTED:
        try:
            pairs = tested(evaluation, level, seed)
        except InputError as error:
            notes.append(f"{NOT_COMPARED}{error.message}")
    leanings = {row.run: row.leaning for row in rows}
    if by:
        whole = decisions(evaluation, OVER, level=level, seed=seed)
        leanings, pairs = whole.leanings, whole.pairs
        notes += [note for note in whole.notes if note.startswith(NOT_COMPARED)]
    return facts_of.DecisionsResult(
        **read_as(evaluation, *notes),
        policy=policy.to_dict(),
        touched=data.touched,
        measures=tuple(map(str, chosen)),
        by=by,
        questions=len(evaluation),
        level=level,
        cluster=data.cluster,
        seed=seed if pairs else None,
        rows=tuple(rows),
        leanings=leanings,
        pairs=pairs,
    )


def without_judgement(d: Decisions) -> dict[str, Decisions]:
    """Decisions of runs that look at no question: all declined, all answered, a coin's mean.

    >>> table = Decisions(right=5, wrong=1, wrongly_declined=2, rightly_declined=4)
    >>> coin = without_judgement(table)["coin"]
    >>> coin.right, coin.wrongly_declined, coin.wrongly_answered, coin.rightly_declined
    (4.0, 4.0, 2.0, 2.0)
    """
    cannot = d.wrongly_answered + d.rightly_declined
    can = d.n - cannot
    share = (d.wrongly_declined + d.rightly_declined) / d.n if d.n else 0.0

    def declining(share: float) -> Decisions:
        answered, declined = 1 - share, share
        return Decisions(can * answered, 0, can * declined, cannot * answered, cannot * declined)

    return {"coin": declining(share), "refuse": declining(1.0), "answer": declining(0.0)}


def leaning_of(
    d: Decisions, over: Ends, under: Ends
) -> tuple[facts_of.Leaning | None, bool | None]:
    """In which direction a run errs, and whether it surely tells questions apart.

    By intervals of the difference and of the sum of both rates, made of those of the rates, whose
    questions differ (MOVER, Zou and Donner 2008).
    """
    (low, high), (least, most) = over, under
    declined = d.wrongly_declined + d.rightly_declined
    if d.n and declined in (0, d.n):
        return ("refuses everything" if declined else "answers everything"), False
    if low is None or high is None or least is None or most is None:
        return None, None
    o, u = OVER(d), UNDER(d)
    beats_coin = o + u + math.hypot(high - o, most - u) < 1
    if o - u - math.hypot(o - low, most - u) > 0:
        return "errs towards declining", beats_coin
    if o - u + math.hypot(high - o, u - least) < 0:
        return "errs towards answering", beats_coin
    return "errs in no clear direction", beats_coin


def undecided(
    measures: Sequence[Measure], sides: IntArray, policy: outcomes.Policy
) -> Undecided | None:
    """The scores if responses without a verdict had been answers, or refusals; None without any.

    Each measure rises or falls as one of them becomes an answer, so the ends are where all do.
    """
    known, unknown = sides.copy(), sides[:, UNSCORED].sum(axis=1)
    if not unknown.any():
        return None
    known[:, UNSCORED] = 0
    table = policy.apply(known.reshape(-1), decisions=True)
    ways = np.tile(table, (4, 1))
    for way, (can, cannot) in zip(
        ways, product(("right", DECISIONS[2]), DECISIONS[3:]), strict=True
    ):
        way[DECISIONS.index(can)] += unknown[0]
        way[DECISIONS.index(cannot)] += unknown[1]
    bounds = {}
    for item in measures:
        scores = item(outcomes.DecisionsArray(ways))
        bounds[str(item)] = finite(np.fmin.reduce(scores)), finite(np.fmax.reduce(scores))
    return Undecided(answerable=int(unknown[0]), unanswerable=int(unknown[1]), bounds=bounds)


def _notes(evaluation: Evaluation, sides: IntArray) -> list[str]:
    notes, effects = [], evaluation.policy.effects
    counted = outcomes.by_reason(sides.reshape(len(sides), -1)).sum(axis=(0, 1))
    unchosen = [
        f"{n:,} {why}"
        for why, n in zip(Why, counted, strict=True)
        if n and why not in outcomes.DECLINING and effects[why] is outcomes.Effect.UNANSWERED
    ]
    if unchosen:
        notes.append(f"{', '.join(unchosen)}: left unanswered, which counts as declined")
    return notes


def tested(evaluation: Evaluation, level: float, seed: int) -> tuple[Pair, ...]:
    pairs = [
        Pair(measure=str(item), **{name: getattr(pair, name) for name in COMPARED})
        for item in (OVER, UNDER)
        for pair in evaluation.compare(item, correction="none", level=level, seed=seed).pairs
    ]
    adjusted = adjust(np.array([math.nan if one.p is None else one.p for one in pairs]), "holm")
    return tuple(
        replace(one, p_adjusted=(p := finite(value)), differs=None if p is None else p <= 1 - level)
        for one, value in zip(pairs, adjusted, strict=True)
    )
