"""Scores of rankings as data: a row for each run and slice, with all that it takes to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from abstain.analyses.result import Facts, Result
from abstain.analyses.truncation import TruncationResult
from abstain.outcomes import Undefined
from abstain.rankings.settings import ListSettings

if TYPE_CHECKING:
    import polars as pl

TAKEN = {"#", "rank", "run", "query", "queries", "nil", "nil_queries", "missing", "truncated"}
"""Headings that are there anyway."""
COUNTS = ("queries", "nil_queries", "missing", "truncated")
FLAGS = ("nil", "missing", "truncated")


class RankRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run in one slice: its means."""

    run: str
    slice: dict[str, str | None]
    rank: str = ""
    queries: int
    """Those counted: not the missing ones where these are skipped."""
    nil_queries: int
    missing: int
    unjudged: int
    """Queries of the run that the judgments do not have."""
    truncated: int
    """Lists that the system ended itself."""
    scores: dict[str, float | None]
    undefined: dict[str, str]
    """Why the scores that do not exist do not."""
    left_out: dict[str, int] = {}
    """How many queries a mean leaves out because the measure is undefined there."""

    def score(self, name: str) -> float:
        """A score; where it does not exist a NaN that knows why."""
        found = self.scores[name]
        return Undefined(self.undefined.get(name, "undefined")) if found is None else found

    @property
    def intervals(self) -> dict[str, tuple[float | None, float | None]]:
        """None: means of rankings have them in `compare`."""
        return {}

    @property
    def reference(self) -> str | None:
        """None: it is a run."""
        return None


class QueryRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run on one query."""

    run: str
    slice: dict[str, str | None] = {}
    query: str
    scores: dict[str, float | None]
    undefined: dict[str, str] = {}
    nil: bool
    """Whether nothing is relevant."""
    missing: bool
    truncated: bool


class Lists(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run's lists, counted by how they end."""

    run: str
    lists: int
    """Those that count."""
    missing: int
    truncated: int
    """Ended by the system itself."""
    by_nil: int
    """Ended by a NIL."""
    at_limit: int


class Unjudged(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Queries of the runs that the judgments do not have."""

    queries: int
    first: tuple[str, ...]
    """The first few."""
    place: str = ""
    """Where the first one is."""


class RankResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="rank"):
    """Scores of rankings, with all that it takes to read them."""

    TABLES: ClassVar[tuple[str, ...]] = ("main", "queries")

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
    """How each run's lists end, in the order given."""
    nothing_relevant: dict[str, int]
    """For each measure, how many queries have no document that is relevant to it."""
    full_for_nothing: dict[str, int] = {}
    """For each primed measure, how many of these queries' lists reach the limit."""
    unjudged: Unjudged | None = None
    nil_words: tuple[str, ...] = ()
    """Documents that look like a NIL and are not the one that was named."""
    rows: tuple[RankRow, ...] = msgspec.field(name="results")
    per_query: tuple[QueryRow, ...] = ()
    """Each query's scores, where they are asked for."""
    truncation: TruncationResult | None = None

    def check(self) -> None:
        """Every row has the scores and slices that were asked for."""
        if not self.rows:
            raise ValueError("has no results, expected at least one run")
        if not self.measures:
            raise ValueError("has no measures, expected at least one")
        rows: list[RankRow | QueryRow] = [*self.rows, *self.per_query]
        for number, row in enumerate(rows, 1):
            if list(row.scores) != list(self.measures) or list(row.slice) != list(self.by):
                raise ValueError(f"result {number} has other scores or slices than are asked for")
        if list(self.nothing_relevant) != list(self.measures):
            raise ValueError("'nothing_relevant' has other measures than are asked for")

    def slice_label(self, name: str) -> str:
        """The heading of a slice attribute, told apart from the columns that are there anyway."""
        return f"{name} (slice)" if name in TAKEN | set(self.measures) else name

    def _frame(self, table: str) -> pl.DataFrame:
        """Means: a row a run and slice. Queries: a row a run and query."""
        import polars as pl

        rows: tuple[Any, ...] = self.rows if table == "main" else self.per_query
        names = ("rank", "run") if table == "main" else ("run", "query")
        counts: dict[str, Any] = dict.fromkeys(COUNTS, pl.Int64)
        if table != "main":
            counts = dict.fromkeys(FLAGS, pl.Boolean)
        series = [
            pl.Series(name, [getattr(row, name) for row in rows], pl.String) for name in names
        ]
        for name in self.by:
            own = [row.slice[name] for row in rows]
            series.append(pl.Series(self.slice_label(name), own, pl.String))
        for name in self.measures:
            series.append(pl.Series(name, [row.scores[name] for row in rows], pl.Float64))
        for name, kind in counts.items():
            series.append(pl.Series(name, [getattr(row, name) for row in rows], kind))
        return pl.DataFrame(series)
