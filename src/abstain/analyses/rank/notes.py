"""What a reader must know of the lists before reading scores, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from abstain.analyses.rank.results import Settings
from abstain.errors import plural, shown
from abstain.measures.of_rankings import RankingMeasure
from abstain.measures.ranked_lists import Bools, RankedLists


def notes(
    rankings: RankedLists, measures: Sequence[RankingMeasure], settings: Settings
) -> Iterator[str]:
    """How many lists and queries there were of each kind, and what became of them."""
    primed = [str(m) for m in measures if m.definition.knows_end]
    yield _queries(rankings, measures, primed, settings)
    yield from _too_low(rankings, measures, settings)
    yield from _missing(rankings, settings)
    yield from _unjudged(rankings)
    if settings.nil is not None or settings.limit is not None:
        yield _ends(rankings, settings)
        yield from _full_where_nothing_is(rankings, measures)
    elif primed:
        yield "no limit was given: every list counts as ended by its system"
    yield from rankings.remarks
    for word in rankings.nil_words:
        other = "" if settings.nil is None else f", which is not {shown(settings.nil)}"
        yield (
            f"a list has a document {shown(word)}{other}: where it says that there is nothing "
            f"more to find, name it as nil"
        )
    yield from _grades(rankings, measures)
    if settings.trec_eval:
        yield "averages as trec_eval takes them: what does not exist counts 0"


def _grades(rankings: RankedLists, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """What becomes of grades that are not 0 and 1."""
    scaled = [m for m in measures if _is_scaled(m)]
    top, grade = rankings.pool.top, rankings.pool.grade
    if not scaled or top <= 1:
        return
    names = ", ".join(map(str, scaled))
    yield f"{names}: a document's gain is its grade / {top:g}, the top grade"
    lowered = [str(m) for m in scaled if m.definition.lower_grades_cost]
    if lowered and ((grade > 0) & (grade < top)).any():
        yield (
            f"{', '.join(lowered)}: a perfect list with a grade below {top:g} scores less than 1; "
            "rel=1 makes every grade from 1 on a gain of 1"
        )


def some_of(names: Sequence[str]) -> str:
    """The first few of some names."""
    return ", ".join(shown(name) for name in names[:3]) + (", …" if names[3:] else "")


def _is_scaled(item: RankingMeasure) -> bool:
    """Whether it makes gains of grades by dividing them by the top grade."""
    return item.definition.scales_grades and "rel" not in item.arguments


def _queries(
    rankings: RankedLists,
    measures: Sequence[RankingMeasure],
    primed: Sequence[str],
    settings: Settings,
) -> str:
    runs = plural(len(rankings.runs), "run")
    text = f"{runs}, {plural(len(rankings.queries), 'query', 'queries')}"
    count = int(rankings.nil.sum())
    if not count:
        return f"{text}, none of them nil"
    text += f", {count:,} of them nil (nothing is relevant)"
    if settings.nil_as_answer:
        return f"{text}: there {settings.nil or 'NIL'} is the one right answer"
    left_out = [
        str(m)
        for m in measures
        if m.definition.undefined and np.array_equal(_nothing(rankings, _lowest(m)), rankings.nil)
    ]
    if left_out and not settings.trec_eval:
        text += f": {_do(left_out, 'leave')} these out"
    return text if primed else f"{text}; AP', NDCG', RR' and RBP' score them"


def _too_low(
    rankings: RankedLists, measures: Sequence[RankingMeasure], settings: Settings
) -> Iterator[str]:
    """Queries where something is relevant, but too little for what a measure asks."""
    known = np.zeros_like(rankings.nil) if settings.nil_as_answer else rankings.nil
    for lowest in dict.fromkeys(map(_lowest, measures)):
        nothing = _nothing(rankings, lowest)
        asking = [m for m in measures if _lowest(m) == lowest]
        primed = [str(m) for m in asking if m.definition.knows_end]
        left_out = [str(m) for m in asking if m.definition.undefined and not settings.trec_eval]
        zero = [str(m) for m in asking if str(m) not in (*primed, *left_out)]
        if lowest is None or np.array_equal(nothing, known):
            continue
        kinds = [("left out by", left_out), ("0 for", zero), ("nil for", primed)]
        becomes = ", ".join(f"{what} {', '.join(names)}" for what, names in kinds if names)
        queries = plural(int(nothing.sum()), "query has", "queries have")
        yield f"{queries} no document of grade {lowest:g} or above: {becomes}"


def _lowest(item: RankingMeasure) -> float | None:
    """The lowest grade that counts for a measure; None if every one above 0 does."""
    default = next((p.default for p in item.definition.parameters if p.name == "rel"), None)
    return item.arguments.get("rel", default)


def _nothing(rankings: RankedLists, lowest: float | None) -> Bools:
    """The queries for which no judged document counts."""
    pool = rankings.pool
    return np.equal(pool.count(pool.grade > 0 if lowest is None else pool.grade >= lowest), 0)


def _do(names: Sequence[str], verb: str) -> str:
    return f"{', '.join(names)} {verb if len(names) > 1 else verb + 's'}"


def _missing(rankings: RankedLists, settings: Settings) -> Iterator[str]:
    gone = rankings.by_run(rankings.missing)
    if not gone.any():
        yield "no query is missing from a run"
        return
    runs = _each(rankings, gone.sum(axis=1), "query", "queries")
    skipped = settings.missing == "skip"
    becomes = "left out" if skipped else "counted as empty lists"
    how = ", as in trec_eval without -c" if skipped and settings.trec_eval else ""
    yield f"missing queries, {becomes}{how}: {runs}"


def _each(rankings: RankedLists, counts: np.ndarray, noun: str, many: str) -> str:
    """Which runs have how many, the first few of them."""
    some = [
        f"{run} lacks {plural(int(count), noun, many)}"
        for run, count in zip(rankings.runs, counts, strict=True)
        if count
    ]
    return ", ".join(some[:3]) + (f" and {len(some) - 3} more runs lack some" if some[3:] else "")


def _unjudged(rankings: RankedLists) -> Iterator[str]:
    names = list(dict.fromkeys(name for run in rankings.unjudged for name in run))
    if names:
        count = plural(len(names), "query", "queries")
        first = f"; first: {rankings.unjudged_at}" if rankings.unjudged_at is not None else ""
        yield f"not judged: {count} of the runs ({some_of(names)}{first}), not scored"


def _ends(rankings: RankedLists, settings: Settings) -> str:
    nil, limit = settings.nil, settings.limit
    counted = ~rankings.missing if settings.missing == "skip" else np.ones(rankings.size, bool)
    lists = plural(int(counted.sum()), "list")
    truncated = int((rankings.stopped & counted).sum())
    full = int((~rankings.stopped).sum())
    if settings.nil_as_answer:
        text = f"{nil} is a document like others, the right one where nothing else is (TREC 2001)"
        return (
            text if limit is None else f"{text}; at the limit of {limit:,}: {plural(full, 'list')}"
        )
    reach = rankings.returned if limit is None else np.minimum(rankings.returned, limit)
    cut = int((rankings.stopped & (rankings.depth < reach)).sum())
    text = f"truncated: {truncated:,} of {lists}"
    if nil is not None:
        text += f", {cut:,} of them by {nil}"
    if limit is not None:
        text += f"; at the limit of {limit:,}, and scored in the original manner: {full:,}"
    return text


def _full_where_nothing_is(
    rankings: RankedLists, measures: Sequence[RankingMeasure]
) -> Iterator[str]:
    """Lists at the limit for nil queries, which have found nothing and not stopped either."""
    full = ~rankings.by_run(rankings.stopped)
    primed = [m for m in measures if m.definition.knows_end]
    for lowest in dict.fromkeys(map(_lowest, primed)):
        if count := int((full & _nothing(rankings, lowest)).sum()):
            names = [str(m) for m in primed if _lowest(m) == lowest]
            what = "relevant" if lowest is None else f"of grade {lowest:g} or above"
            yield f"{plural(count, 'list')} at the limit where nothing is {what}: " + (
                f"{_do(names, 'count')} 0 there"
            )
