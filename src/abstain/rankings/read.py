"""`read_rankings`: judgments and runs, whatever they come as, read and ranked once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from abstain.errors import InputError, UsageError, plural, shown, some_of
from abstain.io.files import Opened, is_bundle, split_name
from abstain.measures.ranked_lists import Listed, Pool, RankedLists, offsets_of
from abstain.rankings.collector import (
    MARKS,
    Collected,
    Collector,
    Hits,
    ScatteredError,
    looked_at,
    together,
)
from abstain.rankings.judgments import NIL, UNJUDGED, Judgments, RepeatedError
from abstain.rankings.rankings import Rankings
from abstain.rankings.sources import RunOrigin, Source, TrecFile, is_ranking, open_source
from abstain.reading import (
    EngineName,
    Item,
    ListSettings,
    Missing,
    Reading,
    Ties,
    queries_asked,
)

if TYPE_CHECKING:
    from abstain.io.tables import Table

MOST_AT_ONCE = 8  # files read at once: each needs memory for some of its rows
FILE_TYPES = (str, os.PathLike, Opened)


def read_rankings(
    qrels: Any,
    runs: Any,
    *,
    nil: str | None = None,
    nil_as_answer: bool = False,
    limit: int | None = None,
    missing: Missing | None = None,
    ties: Ties = "trec",
    trec_eval: bool = False,
    top: float | None = None,
    queries: Any = None,
    all_queries: bool = False,
    relevance_level: float | None = None,
    judged_only: bool = False,
    item: Item = "document",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: EngineName | None = None,
    master: str | None = None,
    cluster: str | None = None,
) -> Rankings:
    """Read relevance judgments and runs.

    `qrels` is a path (TREC, CSV, JSONL, Parquet), a dataframe with query, doc and rel, or a dict
    {query: {doc: rel}}. `runs` is one of those with query, doc and score, a sequence of them, or
    a mapping of names to them. A lazy frame of duckdb or Spark is ranked by that engine. Columns
    may have the names of ir_measures (query_id, doc_id, relevance) or PyTerrier (qid, docno,
    label); Qrels and Run of ranx are taken as the dicts that they hold.

    Parameters:
        nil: the document id that ends a list, such as NIL or -1.
        nil_as_answer: NIL is a document instead, right where nothing else is (TREC 2001).
        limit: how long a list could be. A shorter one was ended by its system.
        missing: what a query is that a run lacks: "empty" (the default), "error" or "skip".
        ties: "trec" orders by score, equal ones by falling id; "rank" by the rank column.
        trec_eval: averages as trec_eval takes them.
        top: the grade that is a gain of 1 (default: the largest judged).
        queries: a table of queries and their attributes, to slice by. Or which queries all means
            are over: "all" (0 where a measure is undefined, as in trec_eval, ir_measures and ranx)
            or "relevant" (those with a relevant document); by default each measure's mean is over
            the queries where it exists. Both as a sequence: [table, "all"].
        all_queries: every query of that table counts; one without judgments is a nil query.
        relevance_level: the lowest relevant grade, for every measure that has a `rel`.
        judged_only: documents that nobody judged are taken out of the lists first.
        item: "document+answer" for lists of documents with an answer string: the same document
            with two answers is two items. The string is what follows the sixth column of a run and
            the fourth of the judgments, or the column `answer`; or the judgments are patterns.
        columns: known name to actual name: {"query": "qid"}.
        format: trec, csv, tsv, jsonl, json or parquet, where it is not evident.
        engine: who reads paths: polars, duckdb or spark (at `master`).
        cluster: the attribute of queries whose values make clusters, for tests.

    >>> rk = read_rankings({"q": {"d1": 1}}, {"q": {"d1": 2.0, "d2": 3.0}})
    >>> rk.score("RR").rows[0].scores
    {'RR': 0.5}
    """
    over, queries = queries_asked(queries)
    asked = {n: value for n, value in locals().items() if n in ListSettings.__struct_fields__}
    asked |= {"queries": over, "missing": missing or ("skip" if trec_eval else "empty")}
    settings = ListSettings(**asked).checked()
    columns, qrels = columns or {}, qrels.to_dict() if _is_ranx(qrels) else qrels
    table: Table | None = None
    also = [str(q) for q, docs in qrels.items() if not docs] if isinstance(qrels, Mapping) else []
    if queries is not None or all_queries:
        from abstain.rankings.tables import needs_queries, open_queries, read_queries

        if queries is None:
            raise needs_queries("all_queries")
        table = open_queries(queries, columns)
        listed = read_queries(table)["query"].to_list()
        also += listed if all_queries else []
    named = _named_runs(runs)
    how: Any = {"engine": engine, "master": master, "cluster": cluster}
    reading = Reading.of(columns=columns, format=format, **how)
    opening = reading
    if item != "document":
        from abstain.rankings.pairs import with_answers

        qrels, named = with_answers(qrels, named, nil=nil, columns=columns, format=format)
        columns, opening = {}, Reading.of(**how)
    gold = open_source(qrels, structs.replace(opening, engine=None, master=None), side="gold")
    sources = [open_source(data, opening, side="run", name=name) for name, data in named]
    if columns:
        from abstain.io.frames import check_mapping

        tables = [each.table for each in (gold, *sources) if not isinstance(each, TrecFile)]
        check_mapping(columns, tables if table is None else [*tables, table])
    load = partial(ranked_lists, gold, sources, also=also)
    lists, origins = load(settings)
    return Rankings(lists, settings, table, reading, origins=origins, read_again=load)


def _named_runs(runs: Any) -> list[tuple[str, Any]]:
    if isinstance(runs, Mapping) and not _is_one_run(runs):
        pairs = [(str(name), data) for name, data in runs.items()]
    else:
        several = isinstance(runs, Sequence) and not isinstance(runs, (str, bytes))
        pairs = [pair for data in (runs if several else [runs]) for pair in _unfolded(data)]
        if sum(not isinstance(data, FILE_TYPES) for _, data in pairs) > 1:
            pairs = [
                (name if name or isinstance(data, FILE_TYPES) else f"run {number}", data)
                for number, (name, data) in enumerate(pairs, 1)
            ]
    if not pairs:
        raise UsageError("there is no run to score")
    return [(name, data.to_dict() if _is_ranx(data) else data) for name, data in pairs]


def _is_one_run(runs: Mapping[Any, Any]) -> bool:
    """Whether a mapping is {query: {document: score}} itself, not runs by their names."""
    if not all(isinstance(documents, Mapping) for documents in runs.values()):
        return False
    values = [value for documents in runs.values() for value in documents.values()]
    return bool(values) and not any(isinstance(value, Mapping) for value in values)


def _is_ranx(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "ranx" and hasattr(data, "to_dict")


def _unfolded(data: Any) -> list[tuple[str, Any]]:
    """A run and the name that `name=path` gives it; those of a folder or an archive have none."""
    if _is_ranx(data):
        return [(str(getattr(data, "name", None) or ""), data)]
    name, path = split_name(data)
    if not is_bundle(path):
        return [(name, path)]
    from abstain.io.submissions import files_in, refuse

    files = [file for file in files_in(path) if is_ranking(file)] or refuse(path)
    if name and len(files) > 1:
        raise InputError(f"holds {len(files)} files, expected one run for the name '{name}'", path)
    return [(name, file) for file in files]


def ranked_lists(
    qrels: Source, runs: Sequence[Source], settings: ListSettings, *, also: Sequence[str] = ()
) -> tuple[RankedLists, tuple[RunOrigin, ...]]:
    """The lists of all runs for the queries of the qrels, and for those in `also`.

    Rows are ordered as trec_eval orders them, but in double precision, or by the rank column. A
    source with several run tags holds several runs.
    """
    judged = qrels.judgments()
    ends, by_rank = not settings.nil_as_answer, settings.ties == "rank"
    try:
        judgments = Judgments(judged, nil=settings.nil, nil_ends=ends, top=settings.top, also=also)
    except RepeatedError as error:
        raise _repeated(qrels, error) from None

    def collected(source: Source) -> dict[str, Collected]:
        if isinstance(source, TrecFile) or not source.elsewhere:
            return _collect(source, judgments, by_rank=by_rank)
        from abstain.rankings.tables import collect_in_engine

        return collect_in_engine(source, judged, judgments, by_rank=by_rank)

    every = [
        (tag, source, each)
        for source, by_tag in zip(runs, _of_all(runs, collected), strict=True)
        for tag, each in by_tag.items()
    ]
    names = _names([(tag, source) for tag, source, _ in every])
    lists = _assemble(judgments, names, [each for *_, each in every], limit=settings.limit)
    lists = lists.judged_only() if settings.judged_only else lists
    if settings.missing == "error":
        _refuse_missing(lists)
    origins = tuple(
        RunOrigin(name, tag, source) for name, (tag, source, _) in zip(names, every, strict=True)
    )
    negative = 'with negative grades only (which mean "not judged")'
    added = "in the list of queries but not in the judgments"
    remarks = tuple(
        f"{plural(len(queries), 'query', 'queries')} {what}: counted as nil, with nothing relevant "
        f"({some_of(queries)})"
        for queries, what in ((judgments.negative_only, negative), (judgments.added, added))
        if queries
    )
    return replace(lists, remarks=remarks), origins


def _of_all(
    runs: Sequence[Source], collected: Callable[[Source], dict[str, Collected]]
) -> list[dict[str, Collected]]:
    """The runs of each source, in their order; all cores read files at once."""
    cores = os.cpu_count() or 1
    if len(runs) < 2 or cores < 2 or any(source.elsewhere for source in runs):
        return [collected(source) for source in runs]
    with ThreadPoolExecutor(max_workers=min(cores, len(runs), MOST_AT_ONCE)) as pool:
        return list(pool.map(collected, runs))


def _refuse_missing(lists: RankedLists) -> None:
    for run, missing in zip(lists.runs, lists.by_run(lists.missing), strict=True):
        names = [q for q, gone in zip(lists.queries, missing, strict=True) if gone]
        if names:
            lacks = plural(len(names), "query", "queries")
            raise InputError(f"run {shown(run)} lacks {lacks}: {some_of(names)}")


def _collect(
    source: Source, judgments: Judgments, *, by_rank: bool, gather: bool = False
) -> dict[str, Collected]:
    collectors: dict[str, Collector] = {}
    new = partial(Collector, judgments, by_rank=by_rank)
    try:
        batches = source.batches(by_rank=by_rank, marks=MARKS)
        for name, seen in looked_at(judgments, batches, by_rank=by_rank, gather=gather):
            if name not in collectors:
                collectors[name] = new()
            collectors[name].add(seen)
        every = collectors or {source.run: new()}  # an empty run answers nothing, and is a run
        return {name: each.finish() for name, each in every.items()}
    except ScatteredError:
        return _collect(source, judgments, by_rank=by_rank, gather=True)
    except RepeatedError as error:
        raise _repeated(source, error) from None


def _repeated(source: Source, error: RepeatedError) -> InputError:
    what = f"document {shown(error.doc)}" if error.doc is not None else f"rank {error.rank}"
    problem = f"{what} appears twice for query {shown(error.query)}"
    places = source.places_of(error)
    if len(places) < 2:
        return InputError(problem, source.name)
    return InputError(f"{problem} (first: {places[0]})", places[1])


def _names(tagged: Sequence[tuple[str, Source]]) -> list[str]:
    """What the runs are called: a caller's name, else a tag of one source alone, else the file."""
    tags = Counter(tag for tag, _ in tagged)
    inside = Counter(id(source) for _, source in tagged)
    choices = []
    for tag, source in tagged:
        of_tag = [tag] if tags[tag] == 1 and not source.named else []
        ending = f"/{tag}" if inside[id(source)] > 1 else ""
        choices.append([*of_tag, *(f"{name}{ending}" for name in _names_of_file(source))])
    for _ in range(3):
        taken = Counter(names[0] for names in choices)
        choices = [names[1:] if taken[names[0]] > 1 and names[1:] else names for names in choices]
    for name, times in Counter(names[0] for names in choices).items():
        if times > 1:
            raise InputError("appears twice", name)
    return [names[0] for names in choices]


def _names_of_file(source: Source) -> list[str]:
    if source.path is None:
        return [source.run]
    folder = os.path.basename(os.path.dirname(os.path.abspath(source.path)))
    path = os.path.normpath(source.path).encode(errors="replace").decode()
    return [source.run, f"{folder}/{source.run}", path]


def _assemble(
    judgments: Judgments, runs: Sequence[str], every: Sequence[Collected], *, limit: int | None
) -> RankedLists:
    """The lists of the runs for the queries of the qrels, run by run.

    Where a list ends (Table 2 of Liu et al. 2016): a NIL at rank i ends it after i − 1 documents; a
    list shorter than the limit was ended by its system; a list that reaches the limit was not.
    Where a NIL does not end its list it is a document in it, as in TREC 2001, with a gain of 1
    where the query has no relevant document and none elsewhere.
    """
    queries, names = len(judgments.queries), judgments.names()
    returned = np.concatenate([np.zeros(0, np.int64), *(run.lengths[:queries] for run in every)])
    each = _stacked(every, queries)
    only_pooled, known = each.grade == UNJUDGED, each.grade != UNJUDGED
    rows = np.bincount(each.code[only_pooled], minlength=len(returned))
    sampled = Listed(offsets_of(rows), each.rank[only_pooled])
    row, rank, grade = each.code[known], each.rank[known], each.grade[known]
    is_nil = grade == NIL
    pool = judgments.pool
    if not judgments.nil_ends:
        pool = _with_nil(pool)
        kept = ~is_nil | judgments.pool.nothing()[row % max(queries, 1)]
        grade = np.where(is_nil, pool.top, grade)[kept]
        row, rank, is_nil = row[kept], rank[kept], is_nil[kept]
    lists = RankedLists(
        runs=tuple(runs),
        queries=judgments.queries,
        pool=pool,
        depth=returned,
        offsets=offsets_of(np.bincount(row, minlength=len(returned))),
        rank=rank,
        grade=grade,
        missing=returned == 0,
        stopped=np.ones(len(returned), bool),
        returned=returned,
        nil=judgments.pool.nothing(),
        sampled=sampled,
        unjudged=tuple(tuple(names.gather(each.unjudged)) for each in every),
        nil_words=tuple(dict.fromkeys(word for each in every for word in each.nil_words)),
    )
    ends = np.full(len(returned), np.iinfo(np.int64).max)
    if judgments.nil_ends:
        ends[row[is_nil]] = rank[is_nil] - 1
    if limit is not None:
        reached = np.minimum(returned, ends) >= limit
        lists = replace(lists, stopped=~reached)
        ends = np.minimum(ends, limit)
    return lists.first(ends)


def _stacked(runs: Sequence[Collected], queries: int) -> Hits:
    parts = []
    for number, each in enumerate(runs):
        code, rank, grade = each.hits.code, each.hits.rank, each.hits.grade
        order = np.lexsort((rank, code))
        order = order[: np.count_nonzero(code < queries)]
        parts.append(Hits(code[order] + number * queries, rank[order], grade[order]))
    return together(parts)


def _with_nil(pool: Pool) -> Pool:
    top = pool.top or 1.0
    nothing = pool.nothing()
    grades = np.insert(pool.grade, pool.offsets[:-1][nothing], top)
    return Pool(pool.offsets + offsets_of(nothing), grades, top)
