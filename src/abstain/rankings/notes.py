"""What a reader must know of the lists before reading scores, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from abstain.errors import plural, shown
from abstain.rankings.layout import Rankings


def notes(
    rankings: Rankings,
    undefined: Sequence[str],
    primed: Sequence[str],
    scaled: Sequence[str],
    *,
    nil: str | None,
    nil_as_answer: bool,
    limit: int | None,
    missing: str,
    trec_eval: bool,
) -> list[str]:
    """How many lists and queries there were of each kind, and what became of them.

    `undefined`, `primed` and `scaled` name the measures asked for that do not exist for some
    queries, that know where a list stops, and that divide grades by the top grade.
    """
    said = [
        _queries(rankings, undefined, primed, trec_eval=trec_eval, nil_as_answer=nil_as_answer),
        *_missing(rankings, missing, trec_eval=trec_eval),
        *_unjudged(rankings),
    ]
    if nil is not None or limit is not None:
        said.append(_ends(rankings, nil, limit, nil_as_answer=nil_as_answer))
        gone = [name for name in undefined if name in primed and not trec_eval]
        said += _full_where_nothing_is(rankings, gone)
    elif primed:
        said.append("no --limit was given: every list counts as ended by its system")
    if scaled and rankings.pool.top > 1:
        top = f"{rankings.pool.top:g}"
        said.append(f"{_names(scaled)}: a document's gain is its grade / {top}, the top grade")
    if trec_eval:
        said.append("averages as trec_eval takes them: what does not exist counts 0")
    return said


def _queries(
    rankings: Rankings,
    undefined: Sequence[str],
    primed: Sequence[str],
    *,
    trec_eval: bool,
    nil_as_answer: bool,
) -> str:
    runs = plural(len(rankings.runs), "run")
    text = f"{runs}, {plural(len(rankings.queries), 'query', 'queries')}"
    count = int(rankings.nil.sum())
    if not count:
        return f"{text}, none of them nil"
    text += f", {count:,} of them nil (nothing is relevant)"
    if nil_as_answer:
        return f"{text}: there NIL is the one right answer"
    left_out = [name for name in undefined if name not in primed]
    if left_out and not trec_eval:
        text += f": {_names(left_out)} {'leave' if len(left_out) > 1 else 'leaves'} these out"
    return text if primed else f"{text}; AP', NDCG', RR' and RBP' score them"


def _missing(rankings: Rankings, missing: str, *, trec_eval: bool) -> Iterator[str]:
    gone = rankings.by_run(rankings.missing)
    if not gone.any():
        yield "no query is missing from a run"
        return
    runs = _each(rankings, gone.sum(axis=1), "query", "queries")
    becomes = "left out" if missing == "skip" else "counted as empty lists"
    how = ", as in trec_eval without -c" if trec_eval and missing == "skip" else ""
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
        yield f"not judged: {count} of the runs ({some}), which are not scored"


def _ends(rankings: Rankings, nil: str | None, limit: int | None, *, nil_as_answer: bool) -> str:
    lists = plural(rankings.size, "list")
    truncated = int(rankings.stopped.sum())
    if nil_as_answer:
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
        yield f"{lists} at the limit where nothing is relevant: not in the mean of {_names(primed)}"


def _names(measures: Sequence[str]) -> str:
    return ", ".join(measures)
