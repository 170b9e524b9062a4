"""Editions of a campaign as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from abstain.analyses.result import Facts, Result

if TYPE_CHECKING:
    import polars as pl


class Edition(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One edition, or one task of an edition."""

    edition: str
    tests: int | None = None
    questions: int | None = None
    runs: int
    teams: int
    all_runs: float | None
    """The mean score of all runs."""
    best_runs: float | None
    """The mean score of each team's best run over all questions."""
    baselines: dict[str, float | None] = {}
    registered: dict[str, int] = {}
    """What a table of registrations says of it."""


class Part(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Some questions, or the runs of one language, in one edition."""

    edition: str
    by: str
    level: str
    questions: int | None = None
    runs: int
    all_runs: float | None
    best_runs: float | None
    right: float | None
    """Percent of all responses."""
    unanswered: float | None
    baselines: dict[str, float | None] = {}


class Change(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """An edition against the one before."""

    before: str
    after: str
    what: str
    """all runs, or best runs."""
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    question_error: float | None = None
    """The standard error that is owed to the choice of questions; None: it is not known."""
    run_error: float | None = None
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

    def check(self) -> None:
        """There is an edition."""
        if not self.editions:
            raise ValueError("has no editions")

    def _frame(self, table: str) -> pl.DataFrame:
        """A row an edition; `parts` by question type and language, `changes` year by year."""
        import polars as pl

        rows: tuple[Facts, ...] = {
            "main": self.editions,
            "parts": self.parts,
            "changes": self.changes,
        }[table]
        kind = {"main": Edition, "parts": Part, "changes": Change}[table]
        names = [n for n in kind.__struct_fields__ if n not in ("baselines", "registered")]
        columns = {name: [getattr(row, name) for row in rows] for name in names}
        for extra in ("registered", "baselines"):
            if extra in kind.__struct_fields__:
                found = dict.fromkeys(key for row in rows for key in getattr(row, extra))
                columns |= {key: [getattr(row, extra).get(key) for row in rows] for key in found}
        texts = ("edition", "by", "level", "before", "after", "what")
        counts = ("tests", "questions", "runs", "teams")
        schema = {
            name: pl.String if name in texts else pl.Int64 if name in counts else pl.Float64
            for name in columns
        }
        return pl.DataFrame(columns, schema=schema, strict=False)
