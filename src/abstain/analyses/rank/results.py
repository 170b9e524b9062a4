"""What `rank` gives back: scores of rankings, with all that it takes to read them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from abstain import __version__
from abstain.measures.of_rankings import RankingMeasure
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    import polars as pl

Missing = Literal["empty", "error", "skip"]
Ties = Literal["trec", "rank"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How lists were read and averages taken; all of it is declared in the output."""

    nil: str | None = None
    nil_as_answer: bool = False
    limit: int | None = None
    missing: Missing = "empty"
    ties: Ties = "trec"
    trec_eval: bool = False


@dataclass(frozen=True, slots=True)
class RankRow:
    """One run in one slice: its means; or, with `query`, its scores for one query."""

    run: str
    slice: dict[str, str | None]
    scores: dict[str, float]
    queries: int
    """Those counted: not the missing ones where these are skipped."""
    nil_queries: int
    missing: int
    unjudged: int
    """Queries of the run that the gold does not have."""
    truncated: int
    """Lists that the system ended itself."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many queries a mean leaves out because the measure is undefined there."""
    query: str | None = None
    rank: str = ""

    @property
    def undefined(self) -> dict[str, str]:
        """Why the scores that do not exist do not."""
        return {k: v.reason for k, v in self.scores.items() if isinstance(v, Undefined)}

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data; a score that does not exist is None."""
        plain: dict[str, Any] = {"run": self.run, "slice": self.slice}
        if self.query is not None:
            plain |= {
                "query": self.query,
                "nil": bool(self.nil_queries),
                "missing": bool(self.missing),
                "truncated": bool(self.truncated),
            }
        else:
            plain |= {
                "queries": self.queries,
                "nil_queries": self.nil_queries,
                "missing": self.missing,
                "unjudged": self.unjudged,
                "truncated": self.truncated,
            }
        plain["scores"] = {k: None if math.isnan(v) else v for k, v in self.scores.items()}
        plain["undefined"] = self.undefined
        if self.left_out:
            plain["left_out"] = self.left_out
        return plain


@dataclass(frozen=True, slots=True)
class RankResult:
    """Scores of rankings, with all that it takes to read them."""

    measures: tuple[RankingMeasure, ...]
    by: tuple[str, ...]
    rows: tuple[RankRow, ...]
    queries: int
    nil_queries: int
    top_grade: float
    settings: Settings
    notes: tuple[str, ...] = ()

    @property
    def per_query(self) -> bool:
        """Whether there are rows of single queries."""
        return any(row.query is not None for row in self.rows)

    def slice_label(self, name: str) -> str:
        """The heading of a slice attribute, told apart from the columns that are there anyway."""
        taken = {"#", "rank", "run", "query", "queries", "nil", "missing", "truncated"}
        return f"{name} (slice)" if name in taken | {str(m) for m in self.measures} else name

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        return {
            "abstain": __version__,
            "kind": "rank",
            "queries": self.queries,
            "nil_queries": self.nil_queries,
            "top_grade": self.top_grade,
            "settings": asdict(self.settings),
            "notes": list(self.notes),
            "results": [row.to_dict() for row in self.rows],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row a run and slice (and query): rank, run, slice, scores, counts (polars)."""
        import polars as pl

        rows = self.rows
        schema: dict[str, Any] = {"rank": pl.String, "run": pl.String}
        columns: dict[str, list[Any]] = {
            "rank": [row.rank for row in rows],
            "run": [row.run for row in rows],
        }
        for name in self.by:
            schema[self.slice_label(name)] = pl.String
            columns[self.slice_label(name)] = [row.slice[name] for row in rows]
        if self.per_query:
            schema["query"] = pl.String
            columns["query"] = [row.query for row in rows]
        for item in self.measures:
            schema[str(item)] = pl.Float64
            scores = [row.scores[str(item)] for row in rows]
            columns[str(item)] = [None if math.isnan(s) else s for s in scores]
        for name in ("queries", "nil_queries", "missing", "truncated"):
            schema[name] = pl.Int64
            columns[name] = [getattr(row, name) for row in rows]
        return pl.DataFrame(columns, schema=schema, strict=False)
