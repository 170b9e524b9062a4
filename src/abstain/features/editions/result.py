"""Editions of a campaign: the facts, and how they look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from abstain.report import view
from abstain.report.grid import Column, Grid, frame_of_rows
from abstain.report.result import Facts, Result
from abstain.report.view import sentence

if TYPE_CHECKING:
    import polars as pl

Count = Annotated[int | None, Column(kind="count")]


class Edition(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One edition, or one task of an edition."""

    edition: str
    tests: Count = None
    questions: Count = None
    runs: Count = None
    teams: Count = None
    all_runs: Annotated[float | None, Column("all runs", "score")] = None
    """The mean score of all runs."""
    best_runs: Annotated[float | None, Column("best runs", "score")] = None
    """The mean score of each team's best run over all questions."""
    right: Annotated[float | None, Column("right %", "percent")] = None
    """Percent of all responses."""
    unanswered: Annotated[float | None, Column("unanswered %", "percent")] = None
    below: Annotated[int | None, Column("below chance", "count")] = None
    """Runs that score less than an answer at random would."""
    baselines: Annotated[dict[str, float | None], Column("{key}", "score")] = {}
    registered: Annotated[dict[str, int], Column("{key}", "count")] = {}
    """What a table of registrations says of it."""


class Part(Edition, frozen=True, kw_only=True, omit_defaults=True):
    """Some questions, or the runs of one language, in one edition."""

    by: str
    level: Annotated[str, Column("{by}")]


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
        if table == "changes":
            return frame_of_rows(Change, self.changes, *Change.__struct_fields__)
        figures = ("all_runs", "best_runs", "right", "unanswered")
        if table == "parts":
            names = ("edition", "by", "level", "questions", "runs", *figures, "baselines")
            return frame_of_rows(Part, self.parts, *names, by="level")
        names = ("edition", "tests", "questions", "runs", "teams", *figures, "below")
        return frame_of_rows(Edition, self.editions, *names, "registered", "baselines")


class View(view.View[EditionsResult]):
    """Editions first, then what changed, then breakdowns."""

    def title(self) -> str:
        return "Editions"

    def tables(self, **options: Any) -> list[Grid]:
        result, grids = self.result, [self.whole()]
        if result.changes:
            names = Change.__struct_fields__
            grids.append(Grid.of_rows(Change, result.changes, *names))
            grids[-1].title = "From edition to edition"
        for by in dict.fromkeys(part.by for part in result.parts):
            rows = [part for part in result.parts if part.by == by]
            names = ("edition", "level", "questions", "runs", "right", "unanswered")
            names += ("all_runs", "best_runs", "baselines")
            grids.append(Grid.of_rows(Part, rows, *names, by=by))
            grids[-1].title = f"By {by}{f', on {result.on}' if result.on else ''}"
        grids[-1].notes += [*self._sentences(), *map(sentence, result.notes)]
        return grids

    def whole(self, **options: Any) -> Grid:
        result = self.result
        registered: Counter[str] = Counter()
        for row in result.editions:
            registered.update(row.registered)
        sums: dict[str, Any] = {"teams": result.teams}
        for name in ("tests", "questions", "runs", "below", "teams"):
            each = [getattr(row, name) for row in result.editions]
            sums[name] = None if None in each else sums.get(name, sum(each))
        named = dict(registered) | result.registered
        total = Edition(edition="all", registered=named, **sums)
        grid = Grid.of_rows(
            Edition,
            [*result.editions, total],
            *("edition", "tests", "questions", "registered", "runs", "teams"),
            *("all_runs", "best_runs", "unanswered", "below", "baselines"),
        )
        grid.title = f"Mean {result.measure}{f' on {result.on}' if result.on else ''}"
        grid.dim = {len(result.editions)}
        return grid

    def _sentences(self) -> Iterator[str]:
        result, alpha = self.result, 1 - self.result.level
        for change in result.changes:
            p = change.p_value
            if change.what != "all runs" or change.difference is None or p is None:
                continue
            chance = "the choice of questions and runs"
            verdict = (
                f"more than {chance} explains" if p < alpha else f"which may be due to {chance}"
            )
            yield (
                f"From {change.before} to {change.after} the mean {result.measure} of all runs "
                f"changed by {change.difference:+.3f}, {verdict} (p = {p:.3f})."
            )
        if result.changes:
            yield (
                "Best runs: the mean over each team's best run (best on all questions). The "
                "standard errors treat reading tests and teams as independent."
            )
