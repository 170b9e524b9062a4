"""How editions look: means year by year, changes, question types, languages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abstain.errors import plural
from abstain.features.editions.analysis import LANGUAGE
from abstain.features.editions.result import Change, Edition, EditionsResult, Part
from abstain.report import view
from abstain.report.grid import Grid
from abstain.report.view import sentence


class View(view.View[EditionsResult]):
    """Editions first, then what changed, then breakdowns."""

    def title(self) -> str:
        return "Editions"

    def line(self) -> str:
        return f"<EditionsResult: {plural(len(self.result.editions), 'edition')}>"

    def tables(self, **options: Any) -> list[Grid]:
        """Every table; the sentences below the last."""
        grids = [self.whole(), *self._changes(), *self._parts()]
        grids[-1].notes += [*self._sentences(), *(sentence(note) for note in self.result.notes)]
        return grids

    def whole(self, **options: Any) -> Grid:
        """One row an edition, and how many there are in all."""
        result = self.result
        registered = {
            key: sum(row.registered.get(key, 0) for row in result.editions)
            for row in result.editions
            for key in row.registered
        }
        total = Edition(
            edition="all",
            runs=sum(row.runs for row in result.editions),
            teams=result.teams,
            all_runs=None,
            best_runs=None,
            registered=registered | result.registered,
        )
        grid = Grid.of_rows(
            Edition,
            [*result.editions, total],
            *("edition", "tests", "questions", "registered", "runs", "teams"),
            *("all_runs", "best_runs", "baselines"),
        )
        grid.title = f"Mean {result.measure}{f' on {result.on}' if result.on else ''}"
        grid.dim = {len(result.editions)}
        return grid

    def _changes(self) -> Iterator[Grid]:
        if self.result.changes:
            grid = Grid.of_rows(Change, self.result.changes, *Change.__struct_fields__)
            grid.title = "From edition to edition"
            yield grid

    def _parts(self) -> Iterator[Grid]:
        over = f"on {self.result.on}" if self.result.on else ""
        for by in dict.fromkeys(part.by for part in self.result.parts):
            grid = Grid.of_rows(
                Part,
                [part for part in self.result.parts if part.by == by],
                *("edition", "level", "questions", "runs", "right", "unanswered"),
                *("all_runs", "best_runs", "baselines"),
                by=by,
            )
            where = over if by == LANGUAGE else over and "over all questions"
            grid.title = f"By {by}{where and ', '}{where}"
            yield grid

    def _sentences(self) -> Iterator[str]:
        result, alpha = self.result, 1 - self.result.level
        for change in result.changes:
            p = change.p_value
            if change.what != "all runs" or change.difference is None or p is None:
                continue
            verdict = (
                "more than the choice of questions and runs explains "
                f"(p = {p:.3f}, at the {100 * alpha:.3g} % level)."
                if p < alpha
                else f"which may be due to the choice of questions and runs (p = {p:.3f})."
            )
            yield (
                f"From {change.before} to {change.after} the mean {result.measure} of all runs "
                f"changed by {change.difference:+.3f}, {verdict}"
            )
        if result.changes:
            yield (
                "Best runs: the mean over each team's best run (best on all questions). The "
                "standard errors treat reading tests and teams as independent; that of questions "
                "is computed from all runs."
            )
