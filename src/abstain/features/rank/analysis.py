"""`rank`: the means of every run, by slices, with all that it takes to read them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
import polars as pl
from msgspec import structs

from abstain.errors import UsageError, option, plural, some_of
from abstain.features.rank.truncation import TruncationResult, asked_depths, ends_of
from abstain.features.rank.truncation import truncation as truncation_of
from abstain.measures import Measure, measure
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Floats, Ints
from abstain.outcomes import DecisionsArray, Undefined
from abstain.rankings.rankings import Rankings, Shape, shaped
from abstain.reading import ListSettings
from abstain.report.grid import Column, frame_of_rows
from abstain.report.result import Facts, Result, check_rows, number, ranked, read_as
from abstain.report.view import measure_summary
from abstain.stats.intervals import exact, exact_f1

FIRST = 4  # names of unjudged queries that a result keeps
NOT_IN_RUN = "the run has none of these queries"
RUN = Column("run", means="a system's lists for all queries")
SLICE = Column("{key}", means="an attribute of the queries", empty="–")
SCORE = Column("{key}", "score", means=measure_summary)
COUNTS = ("queries", "nil_queries", "missing", "truncated")
OF_THE_WHOLE: dict[str, Any] = {"reading": None, "settings": None, "subset": None, "notes": ()}
"""What a result says and a report inside it need not."""
FLAGS = ("nil", "missing", "truncated")
RATES = (
    ("over-refusal", "empty of the queries with something relevant"),
    ("under-refusal", "not empty of the nil queries"),
    ("abstention-precision", "nil of the queries with an empty list"),
    ("abstention-recall", "empty of the nil queries"),
    ("abstention-F1", "their harmonic mean"),
)
"""The measures of decisions that are shown, and what they are for lists."""
END = "an end of the interval"


class RankRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run in one slice: its means."""

    run: Annotated[str, RUN]
    slice: Annotated[dict[str, str | None], SLICE]
    rank: Annotated[str, Column("#", means="rank; = where several share it")] = ""
    queries: Annotated[int, Column("queries", "count", means="how many queries the means are over")]
    """Those counted: not the missing ones where these are skipped."""
    nil_queries: Annotated[int, Column("nil", "count", means="queries with no relevant document")]
    missing: Annotated[int, Column("missing", "count", means="queries that the run lacks")]
    unjudged: int
    """Queries of the run that the judgments do not have."""
    truncated: Annotated[
        int, Column("truncated", "count", means="lists that the system ended itself")
    ]
    scores: Annotated[dict[str, float | None], SCORE]
    undefined: dict[str, str]
    over: Annotated[
        dict[str, int], Column("{key} queries", "count", means="how many queries this mean is over")
    ]
    """The others are left out because the measure is undefined there."""

    def score(self, name: str) -> float:
        """A score; where it does not exist a NaN that knows why."""
        score = self.scores[name]
        return Undefined(self.undefined.get(name, "undefined")) if score is None else score

    @property
    def intervals(self) -> dict[str, tuple[float | None, float | None]]:
        return {}

    @property
    def reference(self) -> str | None:
        return None


class QueryRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run on one query."""

    run: Annotated[str, RUN]
    slice: Annotated[dict[str, str | None], SLICE] = {}
    query: str
    scores: Annotated[dict[str, float | None], SCORE]
    undefined: dict[str, str] = {}
    nil: bool
    """Whether nothing is relevant."""
    missing: bool
    truncated: bool


class Lists(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run's lists, counted by how they end."""

    run: str
    lists: int
    missing: int
    truncated: int
    by_nil: int
    at_limit: int


class Unjudged(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Queries of the runs that the judgments do not have."""

    queries: int
    first: tuple[str, ...]


class Rate(Facts, frozen=True, kw_only=True):
    """A rate of one run's decisions to return nothing."""

    run: Annotated[str, Column("run", plain=True)]
    rate: Annotated[str, Column("rate", plain=True)]
    count: Annotated[int, Column("count", "count", means="how many")]
    of: Annotated[int, Column("of", "count", means="of how many")]
    """For F1 the empty lists and the nil queries together; twice those that are both count."""
    value: Annotated[float | None, Column("value", "score", means="count / of")]
    """None where there is nothing to divide by."""
    low: Annotated[float | None, Column("low", "score", means=END)]
    high: Annotated[float | None, Column("high", "score", joined=True, means=END)]


class RankResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="rank"):
    """Scores of rankings, with all that it takes to read them."""

    TABLES: ClassVar[tuple[str, ...]] = ("main", "queries", "silence")

    measures: tuple[str, ...]
    by: tuple[str, ...] = ()
    queries: int
    nil_queries: int
    top_grade: float
    """The grade that is a gain of 1."""
    graded: bool = False
    """Whether something relevant is judged below the top grade."""
    settings: ListSettings
    lists: tuple[Lists, ...]
    nothing_relevant: dict[str, int]
    """For each measure, how many queries have no document that is relevant to it."""
    full_for_nothing: dict[str, int] = {}
    """For each primed measure, how many of these queries' lists reach the limit: they list nothing
    relevant and did not stop either."""
    unjudged: Unjudged | None = None
    nil_words: tuple[str, ...] = ()
    """Documents that look like a NIL and are not the one that was passed."""
    rows: tuple[RankRow, ...] = msgspec.field(name="results")
    per_query: tuple[QueryRow, ...] = ()
    silence: tuple[Rate, ...] = ()
    level: float = 0.95
    """That of the intervals of these rates."""
    truncation: TruncationResult | None = None

    def check(self) -> None:
        check_rows(self.rows and (*self.rows, *self.per_query), self.measures, self.by)
        if list(self.nothing_relevant) != list(self.measures):
            raise ValueError("'nothing_relevant' has other measures than were asked for")

    def to_shape(self, shape: Shape) -> Any:
        """Each query's scores as ir_measures, pyterrier, pytrec_eval or ranx have them."""
        if not self.per_query:
            asked = option("per_query", value=True)
            raise UsageError(f"there are no scores by query: ask for {asked}")
        return shaped(((row.run, row.query, row.scores) for row in self.per_query), shape)

    def _frame(self, table: str) -> pl.DataFrame:
        if table == "main":
            names = ["rank", "run", "slice", "scores", *COUNTS, "over"]
            return frame_of_rows(RankRow, self.rows, *names)
        if table == "silence":
            return frame_of_rows(Rate, self.silence, *Rate.__struct_fields__)
        names = ["run", "query", "slice", "scores", *FLAGS]
        return frame_of_rows(QueryRow, self.per_query, *names)


def rank(
    rankings: Rankings,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    by: Sequence[str] | str = (),
    per_query: bool = False,
    truncation: bool = False,
    same_lists: bool = False,
    silence: bool = False,
    level: float = 0.95,
) -> RankResult:
    """Score rankings: means by slice, each query's scores and a report on truncation if asked.

    `silence` asks how often it was right to return nothing, with intervals of that level.
    With `same_lists` the report's original measures score the same lists as the primed ones.
    """
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    chosen = rankings.measures(measures)
    lists = rankings.lists
    slices, unlisted = rankings.attributes(by)
    scored = [_Scored(item, rankings) for item in chosen]
    parts: dict[tuple[str | None, ...], list[int]] = {}
    for query in range(len(lists.queries)):
        parts.setdefault(tuple(values[query] for values in slices.values()), []).append(query)
    rows: list[RankRow] = []
    query_rows: list[QueryRow] = []
    for part in sorted(parts, key=lambda values: [(v is None, v or "") for v in values]):
        queries = np.array(parts[part])
        where = dict(zip(slices, part, strict=True))
        means = [_mean_row(rankings, run, where, queries, scored) for run in range(len(lists.runs))]
        ordered = ranked(means, chosen[0])
        rows += ordered
        if per_query:
            query_rows += [
                each for row in ordered for each in _query_rows(rankings, row, queries, scored)
            ]
    report = None
    if truncation or same_lists:
        report = truncation_of(rankings, p=asked_depths(chosen), same_lists=same_lists)
        report = structs.replace(report, **OF_THE_WHOLE)
    count = plural(len(unlisted), "query is", "queries are")
    lost = f"{count} not in the table of queries ({some_of(unlisted)}): no {', '.join(by)}"
    notes = [lost] if unlisted else []
    unjudged = tuple(dict.fromkeys(name for run in lists.unjudged for name in run)) or None
    grade, full = lists.pool.grade, ~lists.by_run(lists.stopped)
    nothing = {item: lists.pool.nothing(item.arguments.get("rel")) for item in chosen}
    missing = lists.by_run(lists.missing).sum(axis=1).tolist()
    primed = {m: (full & without).sum() for m, without in nothing.items() if m.definition.knows_end}
    return RankResult(
        **read_as(rankings, *notes),
        measures=tuple(str(item) for item in chosen),
        by=by,
        queries=len(lists.queries),
        nil_queries=int(lists.nil.sum()),
        top_grade=float(lists.pool.top),
        graded=bool(((grade > 0) & (grade < lists.pool.top)).any()),
        lists=tuple(
            Lists(run=run, missing=gone, **counts)
            for run, gone, counts in zip(rankings.runs, missing, ends_of(rankings), strict=True)
        ),
        nothing_relevant={str(item): int(without.sum()) for item, without in nothing.items()},
        full_for_nothing={str(item): int(count) for item, count in primed.items() if count},
        unjudged=unjudged and Unjudged(queries=len(unjudged), first=unjudged[:FIRST]),
        nil_words=lists.nil_words,
        rows=tuple(rows),
        per_query=tuple(query_rows),
        silence=rates_of(rankings, level) if silence else (),
        level=level,
        truncation=report,
    )


class _Scored:
    """A measure's scores, runs × queries; where they do not exist, NaN and the reasons."""

    def __init__(self, item: RankingMeasure, rankings: Rankings) -> None:
        self.item, self.name, self.lists = item, str(item), rankings.lists
        self.table = rankings.values(item)

    @cached_property
    def reasons(self) -> list[str | None]:
        return self.item.reasons(self.lists)

    def overall(self, values: Floats) -> float:
        known = self.item.definition
        if known.total:
            return float(values.sum())
        return float(np.exp(np.log(values).mean()) if known.geometric else values.mean())

    def why(self, run: int, query: int) -> str:
        return self.reasons[run * len(self.lists.queries) + query] or "undefined"


def _mean_row(
    rankings: Rankings,
    run: int,
    where: dict[str, str | None],
    queries: Ints,
    scored: Sequence[_Scored],
) -> RankRow:
    lists = rankings.lists
    counted = queries[rankings.counted[run, queries]]
    scores: dict[str, float | None] = {}
    undefined: dict[str, str] = {}
    over: dict[str, int] = {}
    for each in scored:
        values = each.table[run, counted]
        known = values[~np.isnan(values)]
        scores[each.name] = each.overall(known) if len(known) else None
        if not len(known):
            undefined[each.name] = each.why(run, int(counted[0])) if len(values) else NOT_IN_RUN
        over[each.name] = len(known)
    return RankRow(
        run=lists.runs[run],
        slice=where,
        queries=len(counted),
        nil_queries=int(lists.nil[counted].sum()),
        missing=int(lists.by_run(lists.missing)[run, queries].sum()),
        unjudged=len(lists.unjudged[run]),
        truncated=int(lists.by_run(lists.stopped)[run, counted].sum()),
        scores=scores,
        undefined=undefined,
        over=over,
    )


def _query_rows(
    rankings: Rankings, mean: RankRow, queries: Ints, scored: Sequence[_Scored]
) -> list[QueryRow]:
    lists = rankings.lists
    run = lists.runs.index(mean.run)
    missing, stopped = lists.by_run(lists.missing)[run], lists.by_run(lists.stopped)[run]
    return [
        QueryRow(
            run=mean.run,
            slice=mean.slice,
            query=lists.queries[q],
            scores={each.name: number(each.table[run, q]) for each in scored},
            undefined={e.name: e.why(run, q) for e in scored if np.isnan(e.table[run, q])},
            nil=bool(lists.nil[q]),
            missing=bool(missing[q]),
            truncated=bool(stopped[q]),
        )
        for q in queries[rankings.counted[run, queries]].tolist()
    ]


def rates_of(rankings: Rankings, level: float) -> tuple[Rate, ...]:
    """The rates of each run: an empty list is right for a nil query, and wrong for another.

    Intervals are exact (Clopper and Pearson), so that they hold for few queries too.
    """
    lists = rankings.with_nil(as_answer=False).lists
    skip = rankings.settings.missing == "skip"
    counted = ~lists.by_run(lists.missing) if skip else np.ones((len(lists.runs), 1), bool)
    empty, nil = lists.by_run(lists.depth) == 0, lists.nil
    both, over, missed, answered = (
        (counted & is_nil & is_empty).sum(axis=1)
        for is_nil, is_empty in ((nil, empty), (~nil, empty), (nil, ~empty), (~nil, ~empty))
    )
    none = np.zeros_like(both)
    decisions = DecisionsArray(np.stack([answered, none, over, missed, both, none], axis=-1))
    rows = []
    for name, _ in RATES:
        share = measure(name).definition.proportion
        count, of = share.of(decisions) if share else (2 * both, 2 * both + over + missed)
        low, high = (exact if share else exact_f1)(count, of, level=level)
        value = np.divide(count, of, out=np.full(len(of), np.nan), where=of > 0)
        columns = (each.tolist() for each in (count, of, value, low, high))
        rows.append([*zip(lists.runs, *columns, strict=True)])
    return tuple(
        Rate(run=run, rate=name, count=x, of=n, value=number(value), low=number(a), high=number(b))
        for of_run in zip(*rows, strict=True)
        for (name, _), (run, x, n, value, a, b) in zip(RATES, of_run, strict=True)
    )
