"""`Rankings`: runs ranked and judged once; every question is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

import numpy as np
import polars as pl

import abstain
from abstain.errors import plural
from abstain.rankings.chosen import default_measures, ranking_measures

if TYPE_CHECKING:
    from abstain.analyses.compare.options import Correction, Progress, Test
    from abstain.analyses.compare.result import CompareResult
    from abstain.analyses.meta.result import MetaResult
    from abstain.analyses.meta.settings import MetaOptions
    from abstain.analyses.rank.result import RankResult
    from abstain.analyses.truncation import TruncationResult
    from abstain.io.tables import Table
    from abstain.judging.reading import ReadingOptions
    from abstain.measures import Measure
    from abstain.measures.of_rankings import RankingMeasure
    from abstain.measures.ranked_lists import Bools, Floats, RankedLists
    from abstain.rankings.scores import ScoreMatrix
    from abstain.rankings.settings import ListSettings
    from abstain.stats.intervals import IntervalMethod


class Rankings:
    """Ranked lists of runs for the queries of some judgments."""

    def __init__(
        self,
        lists: RankedLists,
        settings: ListSettings,
        *,
        attributes: Table | None = None,
        reading: ReadingOptions | None = None,
    ) -> None:
        self.lists = lists
        """Every list as measures take it."""
        self.settings = settings
        self.reading: ReadingOptions = reading or {}
        """How the files were read."""
        self._attributes = attributes

    def __repr__(self) -> str:
        queries = plural(len(self.queries), "query", "queries")
        return f"<Rankings: {plural(len(self.runs), 'run')} × {queries}>"

    # ------------------------------------------------------------------------------ what it holds

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs in the order given."""
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
        """Runs × queries: which lists count; a missing one may be skipped."""
        if self.settings.missing != "skip":
            return np.ones((len(self.runs), len(self.queries)), bool)
        return ~self.lists.by_run(self.lists.missing)

    def values(self, measure: RankingMeasure) -> Floats:
        """Runs × queries of a measure; NaN where it does not exist, or 0 as trec_eval has it."""
        values = self.lists.by_run(measure.values(self.lists))
        return np.nan_to_num(values, nan=0.0) if self.settings.trec_eval else values

    def attributes(
        self, names: Sequence[str]
    ) -> tuple[dict[str, list[str | None]], tuple[str, ...]]:
        """Each attribute's value for each query, and the queries that the table does not have."""
        if not names:
            return {}, ()
        from abstain.rankings.queries import QUERY, needs_queries, query_attributes, read_queries

        if self._attributes is None:
            raise needs_queries("by")
        table = read_queries(self._attributes, names)
        listed = set(table[QUERY])
        strangers = tuple(query for query in self.queries if query not in listed)
        return query_attributes(table, names, self.queries), strangers

    # ------------------------------------------------------------------------------------ analyses

    def score(
        self,
        measures: Sequence[str | Measure] | str | Measure = (),
        *,
        by: Sequence[str] | str = (),
        per_query: bool = False,
        truncation: bool = False,
    ) -> RankResult:
        """The means of every run, by slices and query by query where asked for.

        Parameters:
            measures: such as "AP'" or ["NDCG@10", "RBP(p=0.8)"]; the first orders the runs.
            by: attributes of the table of queries to slice by; several are crossed.
            per_query: whether each query's scores are in the result.
            truncation: whether the report on truncation is.
        """
        found: RankResult = abstain.ask(
            "rank", self, measures, by=by, per_query=per_query, truncation=truncation
        )
        return found

    def truncation(self, *, p: float = 0.8) -> TruncationResult:
        """What truncation does to scores: lengths, original and primed scores, inverted pairs.

        `p` is the persistence of RBP and RBP'.
        """
        found: TruncationResult = abstain.ask("truncation", self, p=p)
        return found

    def scores(
        self,
        measures: Sequence[str | Measure] | str | Measure = (),
        *,
        cluster: str | None = None,
    ) -> ScoreMatrix:
        """Each query's scores, to compare runs or to judge measures by.

        `cluster` is the attribute of the table of queries whose values make clusters.
        """
        from abstain.rankings.scores import ScoreMatrix

        chosen = ranking_measures(measures or default_measures(self.settings))
        values = np.stack([self.values(item) for item in chosen])
        values[:, ~self.counted] = np.nan
        found, _ = self.attributes([] if cluster is None else [cluster])
        return ScoreMatrix(
            measures=tuple(str(item) for item in chosen),
            runs=self.runs,
            topics=self.queries,
            values=values,
            higher_is_better=tuple(item.higher_is_better for item in chosen),
            attributes=pl.DataFrame(found, schema=dict.fromkeys(found, pl.String)),
            cluster=cluster,
            unit="query",
            notes=self.notes,
        )

    def compare(
        self,
        measure: str | Measure = "AP",
        *,
        against: str | None = None,
        test: Test = "randomisation",
        correction: Correction | None = None,
        interval: IntervalMethod | None = None,
        level: float = 0.95,
        trials: int = 10_000,
        seed: int = 0,
        detect: float | None = None,
        power: float = 0.8,
        cluster: str | None = None,
        progress: Progress | None = None,
    ) -> CompareResult:
        """Compare the runs by the means of a measure; see `ScoreMatrix.compare`.

        `cluster` is the attribute of the table of queries whose values make clusters.
        """
        return self.scores(measure, cluster=cluster).compare(
            against=against,
            test=test,
            correction=correction,
            interval=interval,
            level=level,
            trials=trials,
            seed=seed,
            detect=detect,
            power=power,
            progress=progress,
        )

    def meta(
        self,
        measures: Sequence[str | Measure] | str | Measure = (),
        **options: Unpack[MetaOptions],
    ) -> MetaResult:
        """Judge measures by how they order the runs; see `abstain.meta`."""
        return self.scores(measures).meta(**options)
