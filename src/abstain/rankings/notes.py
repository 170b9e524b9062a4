"""What a reader must know of the lists before reading scores, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from abstain.errors import plural, shown
from abstain.measures.registry import RankingMeasure
from abstain.rankings.layout import Rankings
from abstain.rankings.results import Settings


def notes(
    rankings: Rankings, measures: Sequence[RankingMeasure], settings: Settings
) -> Iterator[str]:
    """How many lists and queries there were of each kind, and what became of them."""
    primed = [str(m) for m in measures if m.definition.family == "truncated"]
    yield _queries(rankings, measures, primed, settings)
    yield from _missing(rankings, settings)
    yield from _unjudged(rankings)
    if settings.nil is not None or settings.limit is not None:
        yield _ends(rankings, settings)
        gone = [name for name in _undefined(measures) if name in primed]
        if not settings.trec_eval:
            yield from _full_where_nothing_is(rankings, gone)
    elif primed:
        yield "no --limit was given: every list counts as ended by its system"
    for word in rankings.nil_words:
        yield (
            f"a list has a document {shown(word)}: where it says that there is nothing more to "
            f"find, give --nil {word}"
        )
    scaled = [str(m) for m in measures if _is_scaled(m)]
    if scaled and rankings.pool.top > 1:
        top = f"{rankings.pool.top:g}"
        yield f"{', '.join(scaled)}: a document's gain is its grade / {top}, the top grade"
    if settings.trec_eval:
        yield "averages as trec_eval takes them: what does not exist counts 0"


def _is_scaled(item: RankingMeasure) -> bool:
    """Whether it makes gains of grades by dividing them by the top grade."""
    scaled = any(p.name == "rel" and p.optional for p in item.definition.parameters)
    return scaled and "rel" not in item.arguments and item.name != "RR'"


def _queries(
    rankings: Rankings,
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
        return f"{text}: there NIL is the one right answer"
    left_out = [name for name in _undefined(measures) if name not in primed]
    if left_out and not settings.trec_eval:
        text += f": {', '.join(left_out)} {'leave' if len(left_out) > 1 else 'leaves'} these out"
    return text if primed else f"{text}; AP', NDCG', RR' and RBP' score them"


def _missing(rankings: Rankings, settings: Settings) -> Iterator[str]:
    gone = rankings.by_run(rankings.missing)
    if not gone.any():
        yield "no query is missing from a run"
        return
    runs = _each(rankings, gone.sum(axis=1), "query", "queries")
    skipped = settings.missing == "skip"
    becomes = "left out" if skipped else "counted as empty lists"
    how = ", as in trec_eval without -c" if skipped and settings.trec_eval else ""
    yield f"missing queries, {becomes}{how}: {runs}"


def _each(rankings: Rankings, counts: np.ndarray, noun: str, many: str) -> str:
    """Which runs have how many, the first few of them."""
    some = [
        f"{run} lacks {plural(int(count), noun, many)}"
        for run, count in zip(rankings.runs, counts, strict=True)
        if count
    ]
    return ", ".join(some[:3]) + (f" and {len(some) - 3} more runs lack some" if some[3:] else "")


def _unjudged(rankings: Rankings) -> Iterator[str]:
    names = list(dict.fromkeys(name for run in rankings.unjudged for name in run))
    if names:
        some = ", ".join(shown(name) for name in names[:3]) + (", …" if names[3:] else "")
        count = plural(len(names), "query", "queries")
        first = f"; first: {rankings.unjudged_at}" if rankings.unjudged_at is not None else ""
        yield f"not judged: {count} of the runs ({some}{first}), not scored"


def _ends(rankings: Rankings, settings: Settings) -> str:
    nil, limit = settings.nil, settings.limit
    lists = plural(rankings.size, "list")
    truncated = int(rankings.stopped.sum())
    if settings.nil_as_answer:
        return f"{nil} is a document like others, the right one where nothing else is (TREC 2001)"
    reach = rankings.returned if limit is None else np.minimum(rankings.returned, limit)
    cut = int((rankings.stopped & (rankings.depth < reach)).sum())
    text = f"truncated: {truncated:,} of {lists}"
    if nil is not None:
        text += f", {cut:,} of them by {nil}"
    if limit is not None:
        full = rankings.size - truncated
        text += f"; at the limit of {limit:,}, and scored in the original manner: {full:,}"
    return text


def _full_where_nothing_is(rankings: Rankings, primed: Sequence[str]) -> Iterator[str]:
    """Lists at the limit for nil queries: there the unmodified measure does not exist."""
    count = int((~rankings.by_run(rankings.stopped) & rankings.nil).sum())
    if primed and count:
        lists = plural(count, "list")
        left = ", ".join(primed)
        yield f"{lists} at the limit where nothing is relevant: not in the mean of {left}"


def _undefined(measures: Sequence[RankingMeasure]) -> list[str]:
    """Those of the measures that do not exist for some queries."""
    return [str(m) for m in measures if m.definition.undefined]
