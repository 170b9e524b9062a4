"""Editions of a campaign as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from abstain.report.grid import Column, frame_of_rows
from abstain.report.result import Facts, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

AllRuns = Annotated[float | None, Column("all runs", "score")]
BestRuns = Annotated[float | None, Column("best runs", "score")]
Baselines = Annotated[dict[str, float | None], Column("{key}", "score")]
Counted = Annotated[dict[str, int], Column("{key}", "count")]
Count = Annotated[int | None, Column(kind="count")]


class Edition(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One edition, or one task of an edition."""

    edition: str
    tests: Count = None
    questions: Count = None
    runs: int
    teams: int
    all_runs: AllRuns
    """The mean score of all runs."""
    best_runs: BestRuns
    """The mean score of each team's best run over all questions."""
    baselines: Baselines = {}
    registered: Counted = {}
    """What a table of registrations says of it."""


class Part(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Some questions, or the runs of one language, in one edition."""

    edition: str
    by: str
    level: Annotated[str, Column("{by}")]
    questions: Count = None
    runs: int
    all_runs: AllRuns
    best_runs: BestRuns
    right: Annotated[float | None, Column("right %", "percent")]
    """Percent of all responses."""
    unanswered: Annotated[float | None, Column("unanswered %", "percent")]
    baselines: Baselines = {}


class Change(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """An edition against the one before."""

    before: Annotated[str, Column("from")]
    after: Annotated[str, Column("to")]
    what: str
    """all runs, or best runs."""
    difference: float | None
    low: float | None
    high: float | None
    p_value: Annotated[float | None, Column("p", "score")]
    question_error: Annotated[float | None, Column("error of questions", "score")] = None
    """The standard error that is owed to the choice of questions; None: it is not known."""
    run_error: Annotated[float | None, Column("error of runs", "score")] = None
    """That which is owed to who took part."""


class EditionsResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="editions"):
    """Campaigns side by side."""

    measure: str
    level: float = 0.95
    on: str = ""
    """The questions that count, as attribute=value; empty: all of them."""
    editions: tuple[Edition, ...]
    parts: tuple[Part, ...] = ()
    changes: tuple[Change, ...] = ()
    teams: int
    """Different teams over all editions."""
    registered: dict[str, int] = {}
    """What a table of registrations says of all together; their sum where it says nothing."""

    TABLES: ClassVar[tuple[str, ...]] = ("main", "parts", "changes")

    def _frame(self, table: str) -> pl.DataFrame:
        """A row an edition; `parts` by question type and language, `changes` year by year."""
        kinds: dict[str, tuple[type[Facts], Sequence[Facts]]] = {
            "main": (Edition, self.editions),
            "parts": (Part, self.parts),
            "changes": (Change, self.changes),
        }
        kind, rows = kinds[table]
        names = [n for n in kind.__struct_fields__ if n not in ("baselines", "registered")]
        names += [n for n in ("registered", "baselines") if n in kind.__struct_fields__]
        return frame_of_rows(kind, rows, *names, by="level")
