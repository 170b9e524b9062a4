"""Scores of runs as data: a row for each run and slice, with all that it takes to read them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec
import polars as pl

from abstain.analyses.result import Facts, Result, check_rows, written
from abstain.outcomes import OUTCOMES, Counts, Undefined

Number: TypeAlias = int | float
Ends: TypeAlias = tuple[float | None, float | None]
Reference: TypeAlias = Literal["answer nothing", "random blanking", "best blanking"]
HEAD = ("rank", "run")
TAKEN = {"#", "rank", "run", "blank", "unanswered", "reference", *OUTCOMES}
"""Headings that are there anyway."""


class Row(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run in one slice."""

    run: str
    slice: dict[str, str | None] = msgspec.field(default_factory=written)
    numbers: dict[str, Number | None] = msgspec.field(name="counts", default_factory=written)
    """The counts by outcome; where the split of the blanks is unknown, nulls and their sum."""
    scores: dict[str, float | None]
    undefined: dict[str, str] = msgspec.field(default_factory=written)
    """Why the scores that do not exist do not."""
    rank: str = ""
    intervals: dict[str, Ends] = {}
    no_interval: dict[str, str] = {}
    """Why intervals that do not exist do not."""
    break_even: dict[str, float | None] = {}
    blanks: dict[str, int] = {}
    """Blanks by their reason, before the policy."""
    excluded: int = 0
    """Responses that the policy excludes."""
    reference: Reference | None = None

    @property
    def counts(self) -> Counts:
        """The counts, as measures take them."""
        return Counts.from_dict(self.numbers)

    def score(self, name: str) -> float:
        """A score; where it does not exist a NaN that knows why."""
        found = self.scores[name]
        return Undefined(self.undefined.get(name, "undefined")) if found is None else found


class ScoreResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="score"):
    """Scores of runs, with all that it takes to read them."""

    measures: tuple[str, ...]
    by: tuple[str, ...] = ()
    questions: int | None = None
    interval_method: str | None = None
    """How the intervals were made, where there are some."""
    resampled_method: str | None = None
    """How those of measures of confidence were made."""
    trials: int | None = None
    level: float | None = None
    cluster: str | None = None
    """The attribute by which questions are clustered, as the intervals took them."""
    seed: int | None = None
    rows: tuple[Row, ...] = msgspec.field(name="results")

    def check(self) -> None:
        """Every row has the scores and slices of the first."""
        check_rows(self.rows, self.measures, self.by)
        for row in self.rows:
            _ = row.counts

    def slice_label(self, name: str) -> str:
        """The heading of a slice attribute, told apart from the columns that are there anyway."""
        return f"{name} (slice)" if name in TAKEN | set(self.measures) else name

    def _frame(self, table: str) -> pl.DataFrame:
        """One row a run and slice: rank, run, slice attributes, scores, counts."""

        def column(name: str, kind: Any, values: Iterable[Any]) -> pl.Series:
            return pl.Series(name, list(values), dtype=kind, strict=False)

        rows = self.rows
        columns = [column(name, pl.String, (getattr(r, name) for r in rows)) for name in HEAD]
        for name in self.by:
            columns.append(column(self.slice_label(name), pl.String, (r.slice[name] for r in rows)))
        for name in self.measures:
            columns.append(column(name, pl.Float64, (r.scores[name] for r in rows)))
            for end, which in enumerate(("low", "high") if self.interval_method else ()):
                ends = (r.intervals.get(name, (None, None))[end] for r in rows)
                columns.append(column(f"{name} {which}", pl.Float64, ends))
        values = [value for row in rows for value in row.numbers.values() if value]
        whole = all(math.isfinite(v) and float(v).is_integer() for v in values)
        count = pl.Int64 if whole else pl.Float64
        columns += [column(name, count, (r.numbers.get(name) for r in rows)) for name in OUTCOMES]
        if any("unanswered" in row.numbers for row in rows):
            columns.append(column("unanswered", count, (r.counts.unanswered for r in rows)))
        if any(row.reference for row in rows):
            columns.append(column("reference", pl.String, (r.reference for r in rows)))
        return pl.DataFrame(columns)
