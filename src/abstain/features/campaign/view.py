"""How a campaign looks: its tables, a page, a folder of all, and a folder for each team."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, option, plural
from abstain.features.campaign.blind import (
    SMALL_SLICES,
    answers_of,
    blinded,
    guarded,
    published,
    safe_breakdowns,
    teams_of_campaign,
)
from abstain.features.campaign.overview import Overview, columns, free_name, grid_of, safe
from abstain.features.campaign.page import campaign_page
from abstain.features.campaign.participants import letters, problem_grid, problem_table, problems_of
from abstain.features.campaign.result import CampaignResult
from abstain.features.campaign.summary import campaign_figures, sentences
from abstain.features.campaign.tables import STATISTICS, all_tables, by_slice, leaderboard
from abstain.io.output import whole_folder
from abstain.report import view
from abstain.report.charts import coloured
from abstain.report.grid import Cell, Column, Grid, legend
from abstain.report.page import Page, PageTable, Section, render
from abstain.report.text_formats import markdown_text
from abstain.report.view import ENDINGS, grid_text, policy_words, score_text, sentence

if TYPE_CHECKING:
    import polars as pl

    from abstain.runs.evaluation import Evaluation


class View(view.View[CampaignResult]):
    """The leaderboard first; every other table by its name."""

    @cached_property
    def overview(self) -> Overview:
        return Overview(self.result)

    @cached_property
    def by_name(self) -> dict[str, PageTable]:
        return {table.name: table for table in all_tables(self.overview)}

    def tables(self, *, written: str = "", **options: Any) -> list[Grid]:
        """The leaderboard with the summary below; `written` says where the rest is."""
        names = ["#", "run", self.result.measure, "low", "high", "group", "outcomes"]
        names += ["right", "wrong", "blank", "status"]
        grid = self.whole().in_order(names)
        for spare in (["low", "high"], ["group"], ["status"]):  # one table, read at a glance
            bare = grid.without_bars()
            columns = zip(bare.columns, bare.texts(4), strict=True)
            if sum(2 + max(map(len, (c.name, *texts))) for c, texts in columns) > WIDTH:
                names = [name for name in names if name not in spare]
                grid = grid.in_order(names)
        meanings = legend(grid.without_bars().columns)
        grid.notes = [
            f"Columns: {'; '.join(f'{names}: {means}' for names, means in meanings)}.",
            *sentences(self.overview),
            *map(sentence, self.result.notes),
            *policy_words(self.result.policy, self.result.touched),
            *filter(None, [written]),
        ]
        return [grid]

    def whole(self, **options: Any) -> Grid:
        return self.by_name["leaderboard"].grid

    def frame(self, table: str) -> pl.DataFrame:
        import polars as pl

        named = self.by_name["leaderboard" if table == "main" else table]
        bare = named.grid.without_bars()  # they say what counts say
        return pl.DataFrame(
            [
                pl.Series(column.name, [None if c != c else c for c in cells], strict=False)
                for column, cells in zip(bare.columns, bare.cells(), strict=True)
            ]
        )

    def charts(self) -> dict[str, dict[str, Any]]:
        drawn = campaign_figures(self.overview)
        return coloured({name: figure.spec for name, figure in drawn.items()})

    def page(self) -> Page:
        """The page for those who have no folder beside it: what may be published."""
        c = Overview(published(self.result))
        return campaign_page(c, all_tables(c), in_folder=False)

    def save(self, path: Path, *, digits: int = 4, **options: Any) -> None:
        """As every result; a name without an ending is a folder for all that an overview needs."""
        if path.suffix and not options.get("organiser"):
            super().save(path, digits=digits, **options)
        else:
            write_campaign(self.result, path, **options)

    def line(self) -> str:
        runs = plural(len(self.result.rows), "run")
        asked = plural(self.overview.questions.height, "question")
        return f"<CampaignResult: {runs}, {asked}, {self.result.measure}>"


WIDTH = 82
OURS = RESULTS, TEAMS, LETTERS = "results.json", "teams.md", "letters.md"
"""Files that tell a folder that was written here."""
EPOCH = 946_684_800
"""The time of files that are to tell nothing: the year 2000."""


def write_campaign(
    result: CampaignResult, folder: str | Path, *, organiser: bool = False, force: bool = False
) -> list[PageTable]:
    """Write all that may be published, or all for the organiser; nothing if that fails.

    Returns the tables that were written.
    """
    title = f"{result.title} (organiser)"
    result = replace(result, title=title) if organiser else published(result)
    c = Overview(result)
    tables = [replace(table, filed=("csv", "md", "tex")) for table in all_tables(c)]
    with _new_folder(folder, blind=result.blind, force=force) as draft:
        for table in tables:
            for ending in table.filed:
                text = grid_text(table.grid, ENDINGS[f".{ending}"], 2)
                _write(draft / "tables" / f"{table.name}.{ending}", text)
        for problems in problem_table(c):
            _write(draft / "problems.csv", grid_text(problems.grid, "csv"))
        _write(draft / "summary.md", summary_text(c))
        _write(draft / RESULTS, msgspec.json.encode(result).decode() + "\n")
        _write(draft / "index.html", render(campaign_page(c, tables, in_folder=True)))
    return tables


def write_teams(
    result: CampaignResult,
    folder: str | Path,
    *,
    pseudonyms: Mapping[str, str] | None = None,
    revealed: Evaluation | None = None,
    held: Mapping[str, str] | None = None,
    force: bool = False,
) -> None:
    """Write a folder for each team: its page and its tables, blind unless runs are revealed."""
    with _new_folder(folder, blind=revealed is None, force=force) as draft:
        files = {}
        for name, team, page in Teams(result, pseudonyms, revealed, held).pages():
            files[team] = name
            _write(draft / name / "index.html", render(page))
            for table in (table for section in page.sections for table in section.tables):
                _write(draft / name / f"{table.name}.csv", grid_text(table.grid, "csv"))
        _write(draft / TEAMS, _contents("folder for", "teams", files))


def write_letters(result: CampaignResult, folder: str | Path, *, force: bool = False) -> None:
    taken: set[str] = set()
    with _new_folder(folder, blind=False, force=force) as draft:
        files = {}
        for team, text in letters(result).items():
            files[team] = f"{free_name(safe(team) or 'team', taken)}.txt"
            _write(draft / files[team], text)
        _write(draft / LETTERS, _contents("letter to", "letters", files))


def _contents(what: str, option: str, files: Mapping[str, str]) -> str:
    others = {file: team for team, file in files.items() if team != file.removesuffix(".txt")}
    lines = _bullets(f"{file}: {team}" for file, team in others.items())
    return (
        f"A {what} each team, written by `abstain campaign --{option}`.\n\n{lines}".rstrip() + "\n"
    )


@contextmanager
def _new_folder(folder: str | Path, *, blind: bool, force: bool) -> Iterator[Path]:
    """A folder that is written whole or not at all; a blind one tells no times."""
    whole_folder_free(Path(folder), force=force)
    with whole_folder(folder) as draft:
        yield draft
        for path in (*draft.rglob("*"), draft) if blind else ():
            os.utime(path, (EPOCH, EPOCH))


def whole_folder_free(target: Path, *, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise InputError("is a file, expected a folder to write", str(target))
    if target.exists() and any(target.iterdir()):
        if not force:
            raise UsageError(f"{target} exists; {option('force', value=True)} replaces it")
        if not any((target / name).exists() for name in OURS):
            raise UsageError(f"{target} is not a campaign's folder; it is left as it is")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def summary_text(c: Overview) -> str:
    result = c.result
    policy = "\n".join(map(markdown_text, policy_words(result.policy, result.touched)))
    notes = _bullets(map(sentence, result.notes))
    blocks = [f"# {markdown_text(result.title)}", markdown_text(result.about)]
    blocks += [_bullets(sentences(c)), policy, notes]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {markdown_text(line)}" for line in lines)


AROUND = 5
"""Places of the field that are shown above and below each of a team's places."""


class Teams:
    """The pages of all teams; unless runs are `revealed`, they tell no gold and no team."""

    def __init__(
        self,
        result: CampaignResult,
        pseudonyms: Mapping[str, str] | None = None,
        revealed: Evaluation | None = None,
        held: Mapping[str, str] | None = None,
    ) -> None:
        self.everything, self.pseudonyms, self.revealed = result, pseudonyms, revealed
        self.held = {} if revealed else held or {}
        self.result = result if revealed else guarded(result, self.held)
        self.c = Overview(self.result)
        self.board = leaderboard(self.c).grid
        breakdowns = self.result.breakdowns if revealed else safe_breakdowns(self.result)
        self.breakdowns = [by_slice(self.c, breakdown.attribute) for breakdown in breakdowns]
        shown = self.result if pseudonyms is None else blinded(result, pseudonyms, self.held)
        teams = {name: team for team, name in (pseudonyms or {}).items()}
        self.field = [(teams.get(row.run, row.team), row) for row in shown.rows]
        """Each place of the ranking that is shown, with its team."""

    def pages(self) -> Iterator[tuple[str, str, Page]]:
        """The folder, name and page of each team, in the order of the names shown."""
        taken: set[str] = set()
        teams = teams_of_campaign(self.everything)
        names = self.pseudonyms or {team: team for team in teams}
        for team in sorted(teams, key=lambda team: names[team]):
            folder = free_name(safe(names[team]) or "team", taken)
            yield folder, names[team], self._page(team, names[team])

    def _page(self, team: str, name: str) -> Page:
        mine = [at for at, row in enumerate(self.result.rows) if row.team == team]
        late = [run.name for run in self.result.unranked if run.team == team]
        runs = {row.run for row in self.everything.rows if row.team == team}
        runs |= {run.name for run in self.everything.unranked if run.team == team}
        held = [run for run in self.held if run in runs]
        files = len({p.file for p in self.result.problems if p.team == team})
        parts = [f"{len(late)} scored without a rank" * bool(late)]
        parts += [f"{len(held)} held back" * bool(held)]
        parts += [f"{plural(files, 'file has', 'files have')} problems" * bool(files)]
        tiles, lead = [], "No run of yours is ranked"
        if mine:
            best, c = self.result.rows[mine[0]], self.c
            score = score_text(best.scores[self.result.measure], 2)
            tiles = [
                (best.rank or "–", f"rank among {plural(len(c.runs), 'run')}"),
                (score, f"best {c.measure}"),
            ]
            lead = f"{best.run} has rank {best.rank or '–'} of {len(c.runs):,}"
        lead = ", ".join(filter(None, (lead, *parts)))
        runs_shown = [self.c.runs[at] for at in mine] + late
        tables = [self._breakdown(each, runs_shown) for each in self.breakdowns if runs_shown]
        ranks = [self._runs(runs_shown, held)] if runs_shown or held else []
        field = [self._field(team)] if mine else []
        problems, questions = [*self._problems(team, runs)], [*self._questions(mine)]
        wrong = "What is wrong with your submission"
        sections = [
            Section("runs", "Your runs", tables=ranks),
            Section("field", "The field around you", tables=field),
            Section("breakdowns", "Your runs by breakdown", tables=tables, short="Breakdowns"),
            Section("problems", wrong, tables=problems, short="Problems"),
            Section("questions", "Your responses", tables=questions),
        ]
        title = f"{self.result.title}: {name}"
        return Page(title, f"{lead}.", sections=sections, tiles=tiles, digits=3)

    def _runs(self, runs: Sequence[str], held: Sequence[str]) -> PageTable:
        names = ["#", "run", self.result.measure, "low", "high", "right", "wrong", "blank"]
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
        whom = "the runs shown" if np.isnan(scores).any() else "all runs"
        field = [[f"mean of {whom}", *grid.rows[count][1:]], [f"best of {whom}", *best.tolist()]]
        hidden = any(cell != cell for row in rows for cell in row)
        reading = table.reading + (f" {SMALL_SLICES}" if hidden else "")
        grid = Grid(grid.columns, [*rows, *field], dim={len(rows), len(rows) + 1})
        return replace(table, reading=reading, grid=grid)

    def _field(self, team: str) -> PageTable:
        """The places around a team's runs, the first of all among them."""
        mine = {at for at, (whose, _) in enumerate(self.field) if whose == team}
        near = {at + step for at in mine for step in range(-AROUND, AROUND + 1)} | {0}
        wanted = sorted(near & set(range(len(self.field))))
        rows: list[list[Cell]] = []
        for at in wanted:
            _, row = self.field[at]
            who = row.run if self.pseudonyms or self.revealed or at in mine else "another run"
            who = "you" if self.pseudonyms and at in mine else who
            rows.append([row.rank, who, row.scores.get(self.result.measure)])
        what = "teams, each with its best run" if self.pseudonyms else "runs"
        rank_column, score_column = columns(self.c, "#", self.result.measure)
        return PageTable(
            "field",
            "The field",
            f"The top of the ranking, and the places next to yours ({len(self.field):,} {what}).",
            Grid(
                [rank_column, Column("who"), score_column],
                rows,
                dim={n for n, at in enumerate(wanted) if at not in mine},
            ),
            hides_dim=False,
        )

    @cached_property
    def _answers(self) -> Mapping[str, Any]:
        return {} if self.revealed is None else answers_of(self.revealed)

    def _questions(self, mine: Sequence[int]) -> Iterator[PageTable]:
        """Every answer of a team and what became of it, with what is right."""
        if self.revealed is None or not mine:
            return
        q = self.result.questions
        words = np.array(["right", "wrong", *["blank"] * 4, "excluded"], object)
        cells: dict[Any, list[Any]] = {"question": q.attributes["question"], "correct": q.correct}
        for run in (self.result.rows[at].run for at in mine):
            codes = self.revealed.data.codes[self.revealed.runs.index(run)]
            cells[Column(f"{run}: answer")] = self._answers[run].tolist()
            cells[Column(run)] = words[np.minimum(codes, 5)].tolist()
        reading = "What is right, what you answered, and what became of each of your responses."
        yield PageTable("responses", "Your responses", reading, grid_of(self.c, cells))

    def _problems(self, team: str, runs: set[str]) -> Iterator[PageTable]:
        grid = problem_grid(self.c, *problems_of(self.result, team, runs))
        if grid.rows:
            reading = "A run with a problem is not scored; a warning changes nothing."
            grid = grid.in_order(("place", "what is wrong", "severity", "kind"))
            yield PageTable("problems", "Problems", reading, grid)
