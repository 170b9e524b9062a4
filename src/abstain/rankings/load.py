"""Judgments and runs, whatever they came as, to rankings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from abstain.errors import InputError, plural, shown, some_of
from abstain.measures.ranked_lists import RankedLists
from abstain.rankings.assemble import NilMeans, assemble
from abstain.rankings.collector import MARKS, Collected, Collector, ScatteredError
from abstain.rankings.judgments import Judgments
from abstain.rankings.order import RepeatedError
from abstain.rankings.sources import Source, TrecFile


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
) -> RankedLists:
    """The rankings of all runs for the queries of the qrels, and for those in `also`.

    Rows are ordered by falling score and equal scores by falling document id, as trec_eval
    does, but in double precision; with `ties="rank"` by the rank column. A source with
    several run tags holds several runs.
    """
    _refuse_same_files(runs)
    judged = qrels.judgments()
    try:
        judgments = Judgments(judged, nil=nil, nil_ends=nil_means == "end", top=top, also=also)
    except RepeatedError as error:
        raise qrels.repeated(error) from None
    given_ranks = ties == "rank"

    def collector(*, gather: bool) -> Collector:
        return Collector(judgments, given_ranks=given_ranks, gather=gather)

    def collected(source: Source) -> dict[str, Collected]:
        if source.elsewhere:
            from abstain.rankings.engine import collect_in_engine

            assert not isinstance(source, TrecFile)
            return collect_in_engine(source, judged, judgments, nil=nil, by_rank=given_ranks)
        return _collect(source, collector, by_rank=given_ranks)

    found = [(tag, source, each) for source in runs for tag, each in collected(source).items()]
    names = _names([(tag, source) for tag, source, _ in found])
    named = list(zip(names, (each for *_, each in found), strict=True))
    rankings = assemble(judgments, named, limit=limit, nil_means=nil_means)
    rankings = replace(rankings, remarks=tuple(_remarks(judgments)))
    strangers = zip(rankings.unjudged, (source for _, source, _ in found), strict=True)
    first = next(((source, queries[0]) for queries, source in strangers if queries), None)
    return rankings if first is None else replace(rankings, unjudged_at=first[0].place_of(first[1]))


def _remarks(judgments: Judgments) -> Iterator[str]:
    for names, what in (
        (judgments.unknown, "judged by negative grades alone, which say nothing"),
        (judgments.added, "added that nobody judged"),
    ):
        if names:
            queries = plural(len(names), "query", "queries")
            yield f"{queries} {what}: counted as nil ({some_of(names)})"


def _refuse_same_files(runs: Sequence[Source]) -> None:
    seen: set[str] = set()
    for source in runs:
        if source.path is None or source.named:
            continue
        path = os.path.realpath(source.path)
        if path in seen:
            raise InputError("is given twice", source.name)
        seen.add(path)


def refuse_missing(rankings: RankedLists) -> None:
    """Stop where a run lacks a query."""
    for run, missing in zip(rankings.runs, rankings.by_run(rankings.missing), strict=True):
        names = [q for q, gone in zip(rankings.queries, missing, strict=True) if gone]
        if names:
            lacks = plural(len(names), "query", "queries")
            raise InputError(f"run {shown(run)} lacks {lacks}: {some_of(names)}")


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
        raise source.repeated(error) from None


def _filled(source: Source, new: Callable[[], Collector], *, by_rank: bool) -> dict[str, Collector]:
    collectors: dict[str, Collector] = {}
    for batch in source.batches(by_rank=by_rank, marks=MARKS):
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
        yield str(name), rows.with_columns(MARKS)  # other rows stand before them now


def _names(found: Sequence[tuple[str, Source]]) -> list[str]:
    """What the runs are called: a caller's name, else the tag, else the file.

    A tag that several sources claim names none of them: their files do, with their folders if
    need be.
    """
    often = Counter(tag for tag, _ in found)
    inside = Counter(id(source) for _, source in found)

    def own(tag: str, source: Source, file: str) -> str:
        if not source.named and often[tag] == 1:
            return tag
        return file if inside[id(source)] == 1 else f"{file}/{tag}"

    names = [own(tag, source, source.run) for tag, source in found]
    for longer in (_with_folder, _whole_path):
        often_named = Counter(names)
        names = [
            own(*each, longer(each[1])) if often_named[name] > 1 else name
            for name, each in zip(names, found, strict=True)
        ]
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"run {shown(name)} is given twice", found[names.index(name)][1].name)
    return names


def _with_folder(source: Source) -> str:
    if source.path is None:
        return source.run
    return f"{os.path.basename(os.path.dirname(os.path.abspath(source.path)))}/{source.run}"


def _whole_path(source: Source) -> str:
    return source.run if source.path is None else source.path.encode(errors="replace").decode()
