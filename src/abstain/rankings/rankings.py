"""`Rankings`: runs ranked and judged once; every question is asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from msgspec import structs

from abstain.errors import UsageError, check_name, plural
from abstain.measures import Measure, measure, swept
from abstain.measures.kinds import RankingMeasure
from abstain.reading import PLAIN, ListSettings, Reading, Selection, narrowed, positions
from abstain.registry import with_feature_methods

if TYPE_CHECKING:
    from abstain.features.compare.analysis import compare as _compare
    from abstain.features.cut.analysis import cut as _cut
    from abstain.features.meta.analysis import meta as _meta
    from abstain.features.rank.analysis import rank as _rank
    from abstain.features.rank.truncation import truncation as _truncation
    from abstain.io.tables import Table
    from abstain.measures.ranked_lists import Bools, Floats, RankedLists
    from abstain.rankings.scores import ScoreMatrix
    from abstain.rankings.sources import RunOrigin

    Reader: TypeAlias = Callable[[ListSettings], tuple[RankedLists, tuple[RunOrigin, ...]]]

DEFAULT_MEASURES = ("AP", "NDCG@10", "P@10", "RR")
PRIMED_MEASURES = ("AP'", "NDCG'", "RR'")  # shown too where lists are known to stop

MRR = re.compile(r"\s*mrr\s*(?=[(@]|$)", re.IGNORECASE)
"""A name that belongs to a measure of confidence; who types it here means RR."""


@with_feature_methods
@dataclass(frozen=True, eq=False)
class Rankings:
    """Ranked lists of runs for the queries of some judgments."""

    lists: RankedLists
    """Every list as measures take it."""
    settings: ListSettings
    query_table: Table | None = None
    """Queries and their attributes, to slice by."""
    reading: Reading = PLAIN
    subset: Selection | None = None
    """Which runs and queries were chosen with `only`; None: all that were read."""
    origins: tuple[RunOrigin, ...] = ()
    """Where each run comes from, for who needs more than its judged documents."""
    read_again: Reader | None = None
    """Reads the runs once more with other settings."""

    def __repr__(self) -> str:
        queries = plural(len(self.queries), "query", "queries")
        return f"<Rankings: {plural(len(self.runs), 'run')} × {queries}>"

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, in their order."""
        return self.lists.runs

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries of the judgments, and those that were added to them."""
        return self.lists.queries

    @property
    def nil_queries(self) -> tuple[str, ...]:
        """The queries for which nothing is relevant."""
        return tuple(q for q, nil in zip(self.queries, self.lists.nil, strict=True) if nil)

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading had to say."""
        return self.lists.remarks

    @cached_property
    def counted(self) -> Bools:
        """Runs × queries: which lists count; a missing one or a nil query may be left out."""
        counted = np.ones((len(self.runs), len(self.queries)), bool)
        if self.settings.missing == "skip":
            counted = ~self.lists.by_run(self.lists.missing)
        return counted & ~self.lists.nil if self.settings.queries == "relevant" else counted

    def measures(
        self, measures: Sequence[str | Measure] | str | Measure = ()
    ) -> tuple[RankingMeasure, ...]:
        """The measures asked for, or the usual ones, with the level of relevance asked for."""
        stops = self.settings.nil is not None or self.settings.limit is not None
        usual = (*DEFAULT_MEASURES, *(PRIMED_MEASURES if stops else ()))
        chosen, level = ranking_measures(measures or usual), self.settings.relevance_level
        return chosen if level is None else tuple(item.relevant_from(level) for item in chosen)

    def values(self, measure: RankingMeasure) -> Floats:
        """Runs × queries of a measure; where it does not exist NaN, or 0 if all means are over the
        same queries."""
        values = self.lists.by_run(measure.values(self.lists))
        return values if self.settings.queries == "each" else np.nan_to_num(values, nan=0.0)

    def attributes(
        self, names: Sequence[str]
    ) -> tuple[dict[str, list[str | None]], tuple[str, ...]]:
        """Each attribute's value for each query, and the queries that the table does not have.

        `nil` is known without a table: nil or relevant.
        """
        listed = () if self.query_table is None else self.query_table.columns
        known: dict[str, list[str | None]] = {}
        if "nil" in names and "nil" not in listed:
            known = {"nil": ["nil" if nil else "relevant" for nil in self.lists.nil.tolist()]}
        others = [name for name in names if name not in known]
        if not others:
            return known, ()
        from abstain.rankings.tables import needs_queries, read_queries

        if self.query_table is None:
            raise needs_queries("by")
        table = read_queries(self.query_table, others)
        wanted = pl.DataFrame({"query": self.queries}, schema={"query": pl.String})
        joined = wanted.join(table, on="query", how="left", maintain_order="left")
        unlisted = wanted.join(table, on="query", how="anti", maintain_order="left")
        known |= {name: [value or None for value in joined[name].to_list()] for name in others}
        return {name: known[name] for name in names}, tuple(unlisted["query"])

    def only(
        self,
        *,
        runs: Collection[str] | str | None = None,
        queries: Collection[str] | str | None = None,
    ) -> Rankings:
        """Some of the runs, for some of the queries; nothing is read again."""
        rows = positions("run", self.runs, runs)
        columns = positions("query", self.queries, queries)
        lists = self.lists.only(rows, columns)
        chosen = narrowed(
            self.subset,
            runs=lists.runs,
            of_runs=len(self.runs),
            where={"query": lists.queries},
            questions=len(columns),
            of_questions=len(self.queries),
            unit="query",
        )
        origins = tuple(origin for origin in self.origins if origin.run in lists.runs)
        return replace(self, lists=lists, subset=chosen, origins=origins)

    def with_nil(self, as_answer: bool = True) -> Rankings:
        """The same runs with NIL as an answer or as the end of a list; they are read once more.

        NIL has another place among documents of equal score then. Without a NIL both are the same.
        """
        if self.settings.nil is None or self.settings.nil_as_answer == as_answer:
            return self
        if self.read_again is None:
            raise UsageError("these rankings were not read from runs: NIL stays what it is")
        settings = structs.replace(self.settings, nil_as_answer=as_answer)
        lists, origins = self.read_again(settings)
        whole = replace(self, lists=lists, settings=settings, origins=origins, subset=None)
        return whole.only(runs=self.runs, queries=self.queries)

    def scores(
        self, measures: Sequence[str | Measure] | str | Measure = (), *, cluster: str | None = None
    ) -> ScoreMatrix:
        """Each query's scores, to compare runs or to judge measures by.

        `cluster` is the attribute of the table of queries whose values make clusters.
        """
        if self.settings.queries == "relevant" and self.lists.nil.any():
            part = self.only(queries=set(self.queries).difference(self.nil_queries))
            return replace(part, subset=self.subset).scores(measures, cluster=cluster)
        from abstain.rankings.scores import ScoreMatrix

        cluster = cluster or self.reading.cluster
        chosen = self.measures(measures)
        for item in chosen:
            if item.definition.geometric:
                raise UsageError(f"{item} is a geometric mean over queries: tests compare means")
        values = np.stack([self.values(item) for item in chosen])
        undefined = np.isnan(values) & self.counted
        values[:, ~self.counted] = np.nan
        attributes, _ = self.attributes([] if cluster is None else [cluster])
        return ScoreMatrix(
            measures=tuple(str(item) for item in chosen),
            runs=self.runs,
            topics=self.queries,
            values=values,
            undefined=undefined,
            higher_is_better=tuple(item.higher_is_better for item in chosen),
            attributes=pl.DataFrame(attributes, schema=dict.fromkeys(attributes, pl.String)),
            cluster=cluster,
            unit="query",
            notes=self.notes,
            reading=structs.replace(self.reading, cluster=cluster),
            settings=self.settings,
            subset=self.subset,
        )

    if TYPE_CHECKING:
        score = _rank
        compare = _compare
        meta = _meta
        truncation = _truncation
        cut = _cut


def ranking_measures(
    measures: Sequence[str | Measure] | str | Measure,
) -> tuple[RankingMeasure, ...]:
    """The measures asked for, each once; what is no measure of rankings is refused."""
    chosen = []
    for item in dict.fromkeys(known for text in swept(measures) for known in _measures_of(text)):
        if not isinstance(item, RankingMeasure):
            kind = item.definition.takes
            raise UsageError(f"{item} is a measure of {kind}, expected one of rankings, such as AP")
        chosen.append(item)
    if not chosen:
        raise UsageError("name at least one measure")
    return tuple(chosen)


def _measures_of(text: str | Measure) -> list[Measure]:
    if isinstance(text, str) and MRR.match(text):
        raise UsageError(f"for rankings the mean of {MRR.sub('RR', text)} is the MRR: ask for that")
    try:
        return [measure(text)]
    except UsageError:
        from abstain.measures.trec_eval import parse_trec_names

        if not isinstance(text, str) or not (known := parse_trec_names(text.strip())):
            raise
        return known


Shape: TypeAlias = Literal["ir_measures", "pyterrier", "pytrec_eval", "ranx"]
Row: TypeAlias = tuple[str, str, Mapping[str, float | None]]
"""A run, a query, and its score by each measure; None where there is none."""


def shaped(rows: Iterable[Row], shape: Shape) -> Any:
    """Scores by query as another tool has them; a score that does not exist is left out.

    ir_measures: a frame of run, query_id, measure, value. pyterrier: name, qid, measure, value, as
    `Experiment(perquery=True)` returns. pytrec_eval: {run: {query: {measure: value}}}. ranx: {run:
    {measure: {query: value}}}, each run's being what its `Run.scores` holds.
    """
    check_name("shape", shape, get_args(Shape))
    every = ((run, query, *score) for run, query, scores in rows for score in scores.items())
    single = [row for row in every if row[-1] is not None]
    if shape in ("ir_measures", "pyterrier"):
        names = ("run", "query_id") if shape == "ir_measures" else ("name", "qid")
        schema = {**dict.fromkeys((*names, "measure"), pl.String), "value": pl.Float64}
        return pl.DataFrame(single, schema=schema, orient="row")
    nested: dict[str, dict[str, dict[str, float | None]]] = {}
    for run, query, name, value in single:
        outer, inner = (query, name) if shape == "pytrec_eval" else (name, query)
        nested.setdefault(run, {}).setdefault(outer, {})[inner] = value
    return nested
