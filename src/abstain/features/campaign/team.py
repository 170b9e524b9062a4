"""A page for each team: its runs by every breakdown, its ranks, the field, its problems.

Nothing on it gives the gold or another team away unless it is to be revealed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.campaign.blind import (
    SMALL_SLICES,
    blinded,
    guarded,
    safe_breakdowns,
    teams_of_campaign,
)
from abstain.features.campaign.overview import Overview, columns, free_name, grid_of, safe
from abstain.features.campaign.tables import STATISTICS, by_slice, leaderboard
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Page, PageTable, Section

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.features.campaign.result import CampaignResult

AROUND = 5
"""Places of the field that are shown above and below each of a team's places."""
MOST_PROBLEMS = 500


class Teams:
    """The pages of all teams of a campaign.

    `revealed` are the outcomes of each run as an `Evaluation` has them, once the gold is public.
    """

    def __init__(
        self,
        result: CampaignResult,
        pseudonyms: Mapping[str, str] | None = None,
        revealed: Mapping[str, npt.NDArray[np.uint8]] | None = None,
        held: Mapping[str, str] | None = None,
    ) -> None:
        self.everything, self.pseudonyms, self.revealed = result, pseudonyms, revealed
        self.held = {} if revealed else held or {}
        self.result = result if revealed else guarded(result, self.held)
        self.c = Overview(self.result)
        self.board = leaderboard(self.c).grid
        breakdowns = self.result.breakdowns if revealed else safe_breakdowns(self.result)
        names = [breakdown.attribute for breakdown in breakdowns]
        by = f"{self.c.measure} by"
        self.breakdowns = [by_slice(self.c, n, f"by_{safe(n)}", f"{by} {n}") for n in names]

    def pages(self) -> Iterator[tuple[str, Page]]:
        """The folder and the page of each team, in the order of the names shown."""
        taken: set[str] = set()
        teams = teams_of_campaign(self.everything)
        names = self.pseudonyms or {team: team for team in teams}
        for team in sorted(teams, key=lambda team: names[team]):
            folder = free_name(safe(names[team]) or "team", taken)
            yield folder, self._page(team, names[team])

    def _page(self, team: str, name: str) -> Page:
        mine = [at for at, row in enumerate(self.result.rows) if row.team == team]
        late = [run.name for run in self.result.unranked if run.team == team]
        runs = {row.run for row in self.everything.rows if row.team == team}
        runs |= {run.name for run in self.everything.unranked if run.team == team}
        held = [run for run in self.held if run in runs]
        files = len({p.file for p in self.result.problems if p.team == team})
        lead = f"{plural(len(mine), 'run')} ranked"
        lead += f", {len(late)} scored without a rank" if late else ""
        lead += f", {len(held)} held back" if held else ""
        lead += f"; {plural(files, 'file has', 'files have')} problems" if files else ""
        runs_shown = [self.c.runs[at] for at in mine] + late
        parts = [self._breakdown(each, runs_shown) for each in self.breakdowns if runs_shown]
        ranks = [self._runs(runs_shown, held)] if runs_shown or held else []
        field = [self._field(team)] if mine else []
        problems, questions = [*self._problems(team, runs)], [*self._questions(mine)]
        wrong = "What is wrong with your submission"
        sections = [
            Section("runs", "Your runs", tables=ranks),
            Section("field", "The field around you", tables=field),
            Section("breakdowns", "Your runs by breakdown", tables=parts, short="Breakdowns"),
            Section("problems", wrong, tables=problems, short="Problems"),
            Section("questions", "Your responses", tables=questions),
        ]
        return Page(f"{self.result.title}: {name}", f"{lead}.", sections=sections, digits=3)

    def _runs(self, runs: Sequence[str], held: Sequence[str]) -> PageTable:
        """Rank, score, interval and outcomes of each run."""
        names = ["#", "run", self.result.measure, "low", "high", "right", "wrong", "unanswered"]
        apart = {run.name: run.status for run in self.result.unranked}
        grid = self.board.in_order(names)
        rows = {str(row[1]): row for row in grid.rows}
        lines = [[*rows[run], apart.get(run, "")] for run in runs]
        lines += [["", run, *([None] * 6), f"held back: {self.held[run]}"] for run in held]
        whole = Grid([*grid.columns, *columns(self.c, "status")], lines)
        reading = f"Ranks are among {plural(len(self.result.rows), 'run')}."
        if held:
            reading += " A run is held back if its score would reveal single answers."
        names += ["status"] * any(row[-1] for row in lines)
        return PageTable("runs", "Runs", reading, whole.in_order(names))

    def _breakdown(self, table: PageTable, runs: Sequence[str]) -> PageTable:
        """A team's lines of a table by slices, with the mean and the best of the field."""
        count, grid = len(self.c.runs), table.grid
        below = grid.rows[count + len(STATISTICS) :]
        line = {str(row[0]): row for row in (*grid.rows[:count], *below)}
        rows = [line[run] for run in runs]
        scores = np.array([row[1:] for row in grid.rows[:count]], float)
        sign = 1 if self.c.measure.higher_is_better else -1
        best = sign * np.where(np.isnan(scores), -np.inf, sign * scores).max(axis=0)
        field = [["mean of all runs", *grid.rows[count][1:]], ["best of all runs", *best.tolist()]]
        hidden = any(cell != cell for row in rows for cell in row)
        reading = table.reading + (f" {SMALL_SLICES}" if hidden else "")
        grid = Grid(grid.columns, [*rows, *field], dim={len(rows), len(rows) + 1})
        return replace(table, reading=reading, grid=grid)

    @cached_property
    def _places(self) -> list[tuple[str, str, str, float | None]]:
        """Rank, team, name shown, score: of every run, or of each team's best."""
        result, teams = self.result, {}
        if self.pseudonyms is not None:
            result = blinded(self.everything, self.pseudonyms, self.held)
            teams = {name: team for team, name in self.pseudonyms.items()}
        shown = self.pseudonyms is not None or self.revealed is not None
        names = [row.run if shown else "another run" for row in result.rows]
        return [
            (row.rank, teams.get(row.run, row.team), name, row.scores.get(result.measure))
            for row, name in zip(result.rows, names, strict=True)
        ]

    def _field(self, team: str) -> PageTable:
        """The places around a team's runs, the first of all among them."""
        mine = [at for at, (_, whose, _, _) in enumerate(self._places) if whose == team]
        near = {at + step for at in mine for step in range(-AROUND, AROUND + 1)} | {0}
        wanted = sorted(near & set(range(len(self._places))))
        rows: list[list[Cell]] = []
        for at in wanted:
            rank, whose, who, score = self._places[at]
            if whose == team:
                who = "you" if self.pseudonyms else self.result.rows[at].run
            rows.append([rank, who, score])
        what = "teams, each with its best run" if self.pseudonyms else "runs"
        rank_column, score_column = columns(self.c, "#", self.result.measure)
        dim = {n for n, at in enumerate(wanted) if at not in mine}
        return PageTable(
            "field",
            "The field",
            f"The top of the ranking, and the places next to yours ({len(self._places):,} {what}).",
            Grid([rank_column, Column("who"), score_column], rows, dim=dim),
        )

    def _questions(self, mine: Sequence[int]) -> Iterator[PageTable]:
        """What became of every response of a team, with what is right."""
        if self.revealed is None or not mine:
            return
        q = self.result.questions
        words = np.array(["right", "wrong", *["unanswered"] * 3, "excluded"], object)
        cells: dict[Any, list[Any]] = {"question": q.attributes["question"], "correct": q.correct}
        for run in (self.result.rows[at].run for at in mine):
            cells[Column(run)] = words[np.minimum(self.revealed[run], 5)].tolist()
        reading = "What is right, and what became of each of your responses."
        yield PageTable("responses", "Your responses", reading, grid_of(self.c, cells))

    def _problems(self, team: str, runs: set[str]) -> Iterator[PageTable]:
        """A team's validation report, without a word on other teams."""
        problems = [p for p in self.result.problems if p.team == team]
        warnings = [p for p in self.result.warnings if p.team == team or p.run in runs]
        rows: list[list[Cell]] = [
            [str(p.place), _without_others(p.typed or p.message, p.kind, runs), severity, p.kind]
            for severity, some in (("problem", problems), ("warning", warnings))
            for p in some[:MOST_PROBLEMS]
        ]
        if rows:
            reading = "A run with a problem is not scored; a warning changes nothing."
            heads = columns(self.c, "place", "what is wrong", "severity", "kind")
            yield PageTable("problems", "Problems", reading, Grid(heads, rows))


def _without_others(message: str, kind: str, runs: set[str]) -> str:
    """A message without other teams' files and runs, and without options beside a question."""
    if kind == "shared run id":
        message = re.sub(r" \(first: .*\)", "", message)
    if kind == "identical runs":
        message, _, other = message.partition(" as run ")
        message += f" as run {other}" if other.strip("'") in runs else " as a run of another team"
    return re.sub(r" \(its options: .*\)", "", message)
