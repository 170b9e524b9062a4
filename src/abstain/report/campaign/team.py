"""A page for each team: its own runs by every breakdown, its ranks, the field, its problems.

Nothing on it gives the gold or another team away unless it is to be revealed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from abstain.analyses.campaign.blind import blinded, safe_breakdowns, teams_of_campaign
from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.withheld import UNSAID, guarded, team_of_row, team_of_unranked
from abstain.errors import plural
from abstain.outcomes import OUTCOMES
from abstain.report.campaign.tables import safe, sizes_said
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Page, PageTable, Section
from abstain.stats.standings import over_runs

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.analyses.campaign.result import CampaignResult, UnrankedRun
    from abstain.analyses.validate.result import Problem

AROUND = 5
"""Places of the field that are shown above and below each of a team's own."""
MOST_PROBLEMS = 500


class Revealed(Struct, frozen=True):
    """What a team may see once the gold is public: what became of each of its responses."""

    runs: tuple[str, ...]
    codes: npt.NDArray[np.uint8]
    """Runs × questions, as an `Evaluation` has them."""


class TeamPage(Struct, frozen=True):
    """A team's page before it has a look, with the tables that lie beside it."""

    folder: str
    page: Page
    tables: tuple[PageTable, ...]


class Teams:
    """The pages of all teams of a campaign."""

    def __init__(
        self,
        result: CampaignResult,
        pseudonyms: Mapping[str, str] | None = None,
        revealed: Revealed | None = None,
        held: Mapping[str, str] | None = None,
    ) -> None:
        self.everything, self.pseudonyms, self.revealed = result, pseudonyms, revealed
        self.held = {} if revealed else held or {}
        self.result = result if revealed else guarded(result, self.held)
        self.c = Overview(self.result)

    @cached_property
    def teams(self) -> list[str]:
        """Every team that handed something in."""
        return teams_of_campaign(self.everything)

    @cached_property
    def _attributes(self) -> list[str]:
        """What runs are broken down by: all, or what gives nothing away."""
        own = self.result.breakdowns if self.revealed else safe_breakdowns(self.result)
        return [breakdown.attribute for breakdown in own]

    @cached_property
    def _members(self) -> dict[str, list[int]]:
        """The places of each team's ranked runs, from the best."""
        found: dict[str, list[int]] = {}
        for at, row in enumerate(self.result.rows):
            found.setdefault(team_of_row(row), []).append(at)
        return found

    @cached_property
    def _summaries(self) -> dict[str, list[list[float]]]:
        """For each attribute the mean and the best of the field, over all and by slice."""
        sign = 1 if self.c.measure.higher_is_better else -1
        found = {}
        for name in self._attributes:
            scores = self._scores(name)
            best = sign * np.nanmax(np.where(np.isnan(scores), -np.inf, sign * scores), axis=0)
            found[name] = [over_runs(scores)["mean"].tolist(), best.tolist()]
        return found

    def _scores(self, attribute: str) -> npt.NDArray[np.float64]:
        """Runs × all and slices, in the order of the runs' names."""
        return np.concatenate([self.c.scores[:, None], self.c.slice_scores[attribute]], axis=1)

    @cached_property
    def _tables(self) -> dict[str, npt.NDArray[np.float64]]:
        return {name: self._scores(name) for name in self._attributes}

    def pages(self) -> Iterator[TeamPage]:
        """The page of each team, in the order of what they are called here."""
        taken: set[str] = set()
        called = {
            (team if self.pseudonyms is None else self.pseudonyms[team]): team
            for team in self.teams
        }
        for name, team in sorted(called.items()):
            folder, number = safe(name) or "team", 1
            while folder in taken:
                number += 1
                folder = f"{safe(name)}_{number}"
            taken.add(folder)
            yield self._page(team, name, folder)

    def _page(self, team: str, name: str, folder: str) -> TeamPage:
        own = self._members.get(team, [])
        late = [u for u in self.result.unranked if team_of_unranked(u) == team]
        held = [run for run, whose in self._held_teams.items() if whose == team]
        problems = [p for p in self.result.problems if p.team == team]
        warnings = [p for p in self.result.warnings if self._concerns(p, team)]
        shown = [self._runs(own, late, held)] if own or late or held else []
        parts = [self._breakdown(name, own, late) for name in self._attributes if own or late]
        field = [self._field(team, own)] if own else []
        wrong = (
            [_problems(problems, warnings, self._run_names(team))] if problems or warnings else []
        )
        asked = [self._questions(own)] if own and self.revealed is not None else []
        sections = [
            Section("runs", "Your runs", tables=shown),
            Section("field", "The field around you", tables=field, said=self._standing(own)),
            Section("breakdowns", "Your runs by breakdown", tables=parts, short="Breakdowns"),
            Section(
                "problems", "What is wrong with your submission", tables=wrong, short="Problems"
            ),
            Section("questions", "Your responses", tables=asked),
        ]
        left = len({p.file for p in problems})
        lead = f"{plural(len(own), 'run')} ranked"
        lead += f", {len(late)} scored without a rank" if late else ""
        lead += f", {len(held)} held back" if held else ""
        lead += f"; {plural(left, 'file has', 'files have')} problems" if left else ""
        page = Page(
            title=f"{self.result.title}: {name}", lead=f"{lead}.", sections=sections, digits=3
        )
        tables = (*shown, *field, *parts, *wrong, *asked)
        return TeamPage(folder, page, tables)

    @cached_property
    def _held_teams(self) -> dict[str, str]:
        """The team of each run that is held back."""
        found = {row.run: team_of_row(row) for row in self.everything.rows}
        found |= {own.name: team_of_unranked(own) for own in self.everything.unranked}
        return {run: found[run] for run in self.held}

    def _run_names(self, team: str) -> set[str]:
        own = {row.run for row in self.everything.rows if team_of_row(row) == team}
        return own | {u.name for u in self.everything.unranked if team_of_unranked(u) == team}

    def _concerns(self, problem: Problem, team: str) -> bool:
        return problem.team == team or problem.run in self._run_names(team)

    def _runs(
        self, own: Sequence[int], late: Sequence[UnrankedRun], held: Sequence[str]
    ) -> PageTable:
        """Rank, score, interval and outcomes of each run."""
        name, rows = self.result.measure, []
        for at in own:
            row = self.result.rows[at]
            low, high = row.intervals.get(name, (None, None))
            counts = [row.numbers.get(outcome) or 0 for outcome in OUTCOMES]
            rows.append(_run_row(row.rank, row.run, row.scores.get(name), low, high, counts, ""))
        for item in late:
            score = float(self.c.measure(self.c.baselines[item.name][0]))
            rows.append(_run_row("", item.name, score, None, None, item.counts, item.status))
        for run in held:
            rows.append(["", run, *([None] * 6), f"held back: {self.held[run]}"])
        columns = [Column("#"), Column("run"), Column(name, "score")]
        columns += [Column("low", "score"), Column("high", "score")]
        columns += [Column(n, "count") for n in ("right", "wrong", "unanswered")]
        if late or held:
            columns.append(Column("status"))
        else:
            rows = [row[:-1] for row in rows]
        reading = f"Ranks are among {plural(len(self.result.rows), 'run')}."
        if held:
            reading += (
                " A run is held back if its score would reveal whether single answers are right."
            )
        return PageTable("runs", "Runs", reading, Grid(columns, rows))

    def _breakdown(
        self, attribute: str, own: Sequence[int], late: Sequence[UnrankedRun]
    ) -> PageTable:
        names = self.c.slices[attribute].names
        scores = self._tables[attribute]
        rows: list[list[Cell]] = [
            [self.result.rows[at].run, *scores[self.c.order[at]].tolist()] for at in own
        ]
        for item in late:
            overall, sliced = self.c.baselines[item.name]
            parts = self.c.measure(sliced[attribute]).tolist()
            rows.append([item.name, float(self.c.measure(overall)), *parts])
        hidden = any(cell != cell for row in rows for cell in row)
        mean, best = self._summaries[attribute]
        rows += [["mean of all runs", *mean], ["best of all runs", *best]]
        columns = [Column("run"), *(Column(n, "score") for n in ("all", *names))]
        return PageTable(
            f"by_{safe(attribute)}",
            f"{self.c.measure} by {attribute}",
            sizes_said(self.c.slices[attribute]) + (f" {UNSAID}" if hidden else ""),
            Grid(columns, rows, dim={len(rows) - 2, len(rows) - 1}),
        )

    # ------------------------------------------------------------------------------ the field

    @cached_property
    def _places(self) -> list[tuple[str, str, str, float | None]]:
        """Rank, team, what it is called, score: of every run, or of each team's best."""
        rows, name = self.result.rows, self.result.measure
        if self.pseudonyms is None:
            called = [row.run if self.revealed else "another run" for row in rows]
            return [
                (row.rank, team_of_row(row), who, row.scores.get(name))
                for row, who in zip(rows, called, strict=True)
            ]
        real = {name: team for team, name in self.pseudonyms.items()}
        return [
            (row.rank, real[row.run], row.run, row.scores.get(name))
            for row in blinded(self.everything, self.pseudonyms, self.held).rows
        ]

    def _field(self, team: str, own: Sequence[int]) -> PageTable:
        """The places around a team's own, the first of all among them."""
        mine = [at for at, (_, whose, _, _) in enumerate(self._places) if whose == team]
        wanted = {near for at in mine for near in range(at - AROUND, at + AROUND + 1)} | {0}
        rows: list[list[Cell]] = []
        bold = set()
        for at in sorted(wanted & set(range(len(self._places)))):
            rank, whose, who, score = self._places[at]
            if whose == team:
                bold.add(len(rows))
                who = "you" if self.pseudonyms else self.result.rows[at].run
            rows.append([rank, who, score])
        what = "teams, each with its best run" if self.pseudonyms else "runs"
        return PageTable(
            "field",
            "The field",
            f"The top of the ranking, and the places next to yours ({len(self._places):,} {what}).",
            Grid(
                [Column("#"), Column("who"), Column(self.result.measure, "score")],
                rows,
                dim=set(range(len(rows))) - bold,
            ),
        )

    def _standing(self, own: Sequence[int]) -> list[str]:
        if not own:
            return []
        s = over_runs(self.c.scores)
        if np.isnan(s["mean"]):
            return []
        return [
            f"Over all {plural(len(self.c.runs), 'run')} the mean {self.c.measure} is "
            f"{s['mean']:.2f}, the median {s['median']:.2f}."
        ]

    def _questions(self, own: Sequence[int]) -> PageTable:
        """What became of every response of a team, with what is right."""
        assert self.revealed is not None
        q = self.result.questions
        runs = [self.result.rows[at].run for at in own]
        words = np.array(["right", "wrong", *["unanswered"] * 3, "excluded"], object)
        codes = self.revealed.codes[[self.revealed.runs.index(run) for run in runs]]
        correct = [
            "none" if none else " | ".join(texts)
            for none, texts in zip(q.nothing_right, q.accepted, strict=True)
        ]
        cells = [q.attributes["question"], correct, *words[np.minimum(codes, 5)].tolist()]
        columns = [Column("question"), Column("correct"), *(Column(run) for run in runs)]
        return PageTable(
            "responses",
            "Your responses",
            "What is right, and what became of each of your responses.",
            Grid.of(zip(columns, cells, strict=True)),
        )


def _run_row(
    rank: str,
    run: str,
    score: float | None,
    low: float | None,
    high: float | None,
    counts: Sequence[float],
    status: str,
) -> list[Cell]:
    right, wrong, *blank = counts
    return [rank, run, score, low, high, right, wrong, sum(blank), status]


def _problems(
    problems: Sequence[Problem], warnings: Sequence[Problem], runs: set[str]
) -> PageTable:
    """A team's validation report, without a word on other teams."""
    rows: list[list[Cell]] = [
        [str(own.place), _told(own, runs), severity, own.kind]
        for found, severity in ((problems, "problem"), (warnings, "warning"))
        for own in found[:MOST_PROBLEMS]
    ]
    columns = ("place", "what is wrong", "severity", "kind")
    reading = "A run with a problem is not scored; a warning changes nothing."
    return PageTable("problems", "Problems", reading, Grid([Column(n) for n in columns], rows))


def _told(problem: Problem, runs: set[str]) -> str:
    """The message without other teams' files and runs, and without options beside a question."""
    text = problem.typed or problem.message
    if problem.kind == "shared run id":
        text = re.sub(r" \(first: .*\)", "", text)
    if problem.kind == "identical runs":
        text, _, other = text.partition(" as run ")
        text += f" as run {other}" if other.strip("'") in runs else " as a run of another team"
    return re.sub(r" \(its options: .*\)", "", text)
