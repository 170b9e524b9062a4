"""Judgments and runs, whatever they came as, to rankings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import polars as pl

from abstain.errors import InputError, UsageError, plural, shown
from abstain.rankings.assemble import NilMeans, assemble
from abstain.rankings.collector import Collected, Collector, ScatteredError
from abstain.rankings.engine import collect_in_engine, lives_elsewhere
from abstain.rankings.judgments import Judgments
from abstain.rankings.layout import Rankings
from abstain.rankings.order import RepeatedError
from abstain.rankings.sources import Source, batches_of, judgments_of, twice


def load(
    qrels: Source,
    runs: Sequence[Source],
    *,
    ties: Literal["trec", "rank"] = "trec",
    nil: str | None = None,
    nil_means: NilMeans = "end",
    limit: int | None = None,
    top: float | None = None,
    also: Sequence[str] = (),
) -> Rankings:
    """The rankings of all runs for the queries of the qrels, and for those in `also`.

    Rows are ordered by falling score and equal scores by falling document id, as trec_eval
    does, but in double precision; with `ties="rank"` by the rank column. A source with
    several run tags holds several runs.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"the limit must be at least 1 (got {limit})")
    judged = judgments_of(qrels)
    try:
        judgments = Judgments(judged, nil=nil, top=top, also=also)
    except RepeatedError as error:
        raise twice(qrels, error) from None
    given_ranks = ties == "rank"

    def collector(*, gather: bool) -> Collector:
        return Collector(judgments, nil=nil, given_ranks=given_ranks, gather=gather)

    def collected(source: Source) -> dict[str, Collected]:
        if lives_elsewhere(source):
            return collect_in_engine(source, judged, judgments, nil=nil, by_rank=given_ranks)
        return _collect(source, collector, by_rank=given_ranks)

    found = [(tag, source, each) for source in runs for tag, each in collected(source).items()]
    names = _names([(tag, source) for tag, source, _ in found])
    named = list(zip(names, (each for *_, each in found), strict=True))
    return assemble(judgments, named, limit=limit, nil_means=nil_means)


def refuse_missing(rankings: Rankings) -> None:
    """Stop where a run lacks a query."""
    for run, missing in zip(rankings.runs, rankings.by_run(rankings.missing), strict=True):
        names = [q for q, gone in zip(rankings.queries, missing, strict=True) if gone]
        if names:
            some = ", ".join(shown(name) for name in names[:3]) + (", …" if names[3:] else "")
            lacks = plural(len(names), "query", "queries")
            raise InputError(f"run {shown(run)} lacks {lacks}: {some}")


def _collect(
    source: Source, new: Callable[..., Collector], *, by_rank: bool
) -> dict[str, Collected]:
    """What was found of each run in a source."""
    try:
        try:
            collectors = _filled(source, lambda: new(gather=False), by_rank=by_rank)
            return {name: each.finish() for name, each in collectors.items()}
        except ScatteredError:
            collectors = _filled(source, lambda: new(gather=True), by_rank=by_rank)
            return {name: each.finish() for name, each in collectors.items()}
    except RepeatedError as error:
        raise twice(source, error) from None


def _filled(source: Source, new: Callable[[], Collector], *, by_rank: bool) -> dict[str, Collector]:
    collectors: dict[str, Collector] = {}
    for batch in batches_of(source, by_rank=by_rank):
        for name, rows in _by_run(batch):
            if name not in collectors:
                collectors[name] = new()
            collectors[name].add(rows)
    return collectors or {source.run: new()}  # an empty run answers nothing, and is a run


def _by_run(batch: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    if batch.height and (batch["run"] == batch["run"][0]).all():
        yield batch["run"][0], batch
        return
    for (name,), rows in batch.partition_by("run", as_dict=True, maintain_order=True).items():
        yield str(name), rows


def _names(found: Sequence[tuple[str, Source]]) -> list[str]:
    """What the runs are called: a caller's name, else the tag, else the file.

    A tag that several sources claim names none of them: their files do.
    """
    often = Counter(tag for tag, _ in found)
    inside = Counter(source.name for _, source in found)
    names = []
    for tag, source in found:
        alone = inside[source.name] == 1
        if source.named or often[tag] > 1:
            names.append(source.run if alone else f"{source.run}/{tag}")
        else:
            names.append(tag)
    often = Counter(names)
    for i, (_, source) in enumerate(found):
        if often[names[i]] > 1 and source.opened is not None:
            folder = os.path.basename(os.path.dirname(os.path.abspath(source.name)))
            names[i] = f"{folder}/{names[i]}"
    for name, times in Counter(names).items():
        if times > 1:
            where = next(
                source.name for n, (_, source) in zip(names, found, strict=True) if n == name
            )
            raise InputError(f"run {shown(name)} is given twice", where)
    return names
