"""How editions look: means year by year, changes, question types, languages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from abstain.analyses.editions.comparing import LANGUAGE
from abstain.analyses.editions.result import EditionsResult, Part
from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.words import sentence


class View(view.View[EditionsResult]):
    """Editions first, then what changed, then breakdowns."""

    def title(self) -> str:
        """What its page is called."""
        return "Editions"

    def line(self) -> str:
        """How many."""
        return f"<EditionsResult: {plural(len(self.result.editions), 'edition')}>"

    def tables(self, **options: Any) -> list[Grid]:
        """Every table; the sentences below the last."""
        grids = [self.whole(), *self._changes(), *self._parts()]
        grids[-1].notes += [*self._said(), *(sentence(note) for note in self.result.notes)]
        return grids

    def whole(self, **options: Any) -> Grid:
        """One row an edition, and how many there are in all."""
        result = self.result
        said = [*(own.registered for own in result.editions), result.registered]
        counts = list(dict.fromkeys(name for own in said for name in own))
        base = list(dict.fromkeys(k for own in result.editions for k in own.baselines))
        columns = [Column("edition"), Column("tests", "count"), Column("questions", "count")]
        columns += [Column(name, "count") for name in counts]
        columns += [Column("runs", "count"), Column("teams", "count")]
        columns += [Column("all runs", "score"), Column("best runs", "score")]
        columns += [Column(name, "score") for name in base]
        rows: list[list[Cell]] = [
            [
                *(own.edition, own.tests, own.questions),
                *(own.registered.get(name) for name in counts),
                *(own.runs, own.teams, own.all_runs, own.best_runs),
                *(own.baselines.get(name) for name in base),
            ]
            for own in result.editions
        ]
        last: list[Cell] = ["all", None, None]
        sums = {n: sum(own.get(n, 0) for own in said[:-1]) for n in counts} | result.registered
        last += [sums[n] for n in counts]
        last += [sum(own.runs for own in result.editions), result.teams]
        rows.append([*last, *([None] * (2 + len(base)))])
        on = f" on {result.on}" if result.on else ""
        return Grid(columns, rows, title=f"Mean {result.measure}{on}", dim={len(rows) - 1})

    def _changes(self) -> list[Grid]:
        if not self.result.changes:
            return []
        columns = [Column("from"), Column("to"), Column("what")]
        columns += [Column(name, "score") for name in ("difference", "low", "high", "p")]
        columns += [Column("error of questions", "score"), Column("error of runs", "score")]
        rows: list[list[Cell]] = [
            [
                *(own.before, own.after, own.what, own.difference, own.low, own.high),
                *(own.p_value, own.question_error, own.run_error),
            ]
            for own in self.result.changes
        ]
        return [Grid(columns, rows, title="From edition to edition")]

    def _parts(self) -> list[Grid]:
        names = dict.fromkeys(own.by for own in self.result.parts)
        over = f"on {self.result.on}" if self.result.on else ""
        grids = []
        for name in names:
            where = over if name == LANGUAGE else over and "over all questions"
            parts = [own for own in self.result.parts if own.by == name]
            grids.append(_part_grid(name, parts, f"By {name}{where and ', '}{where}"))
        return grids

    def _said(self) -> Iterable[str]:
        level = 100 * (1 - self.result.level)
        for own in self.result.changes:
            if own.what != "all runs" or own.difference is None or own.p_value is None:
                continue
            more = own.p_value < 1 - self.result.level
            yield (
                f"From {own.before} to {own.after} the mean {self.result.measure} of all runs "
                f"changed by {own.difference:+.3f}, "
                + (
                    f"more than the choice of questions and runs explains (p = {own.p_value:.3f}, "
                    f"at the {level:.3g} % level)."
                    if more
                    else "which may be due to the choice of questions and runs "
                    f"(p = {own.p_value:.3f})."
                )
            )
        if self.result.changes:
            yield (
                "all runs: the mean over all runs. best runs: the mean over the best run of each "
                "team (best on all questions). The errors are standard errors; they treat reading "
                "tests and teams as independent. The error of questions is computed from all runs, "
                "also in the rows of best runs."
            )


def _part_grid(by: str, parts: list[Part], title: str) -> Grid:
    base = list(dict.fromkeys(key for own in parts for key in own.baselines))
    columns = [Column("edition"), Column(by), Column("questions", "count"), Column("runs", "count")]
    columns += [Column("right %", "percent"), Column("unanswered %", "percent")]
    columns += [Column(name, "score") for name in ("all runs", "best runs", *base)]
    rows: list[list[Cell]] = [
        [
            *(own.edition, own.level, own.questions, own.runs, own.right, own.unanswered),
            *(own.all_runs, own.best_runs, *(own.baselines.get(name) for name in base)),
        ]
        for own in parts
    ]
    return Grid(columns, rows, title=title)
