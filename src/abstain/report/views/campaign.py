"""How a campaign looks: its leaderboard and summary, every table, a page, a folder of all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.result import CampaignResult
from abstain.errors import InputError, UsageError, check_name, option, plural
from abstain.io.files import whole_folder
from abstain.report import view
from abstain.report.campaign.charts import campaign_figures
from abstain.report.campaign.page import campaign_page
from abstain.report.campaign.participants import problem_table
from abstain.report.campaign.summary import sentences
from abstain.report.campaign.tables import all_tables
from abstain.report.campaign.team import Revealed, Teams
from abstain.report.charts import coloured
from abstain.report.grid import Grid, legend_sentence, markdown_text
from abstain.report.page import PageTable, render
from abstain.report.view import ENDINGS, LOOKS
from abstain.report.words import policy_words, sentence

if TYPE_CHECKING:
    import polars as pl

    from abstain.analyses.validate.result import Problem
    from abstain.report.page import Page


class View(view.View[CampaignResult]):
    """The leaderboard first; every other table by its name."""

    @cached_property
    def overview(self) -> Overview:
        """The facts as arrays."""
        return Overview(self.result)

    @cached_property
    def named(self) -> dict[str, PageTable]:
        """Every table that the data allow, by the name of its file."""
        return {table.name: table for table in all_tables(self.overview)}

    def tables(self, *, written: str = "", **options: Any) -> list[Grid]:
        """The leaderboard as a terminal has room for it, with the summary below.

        `written` says where the rest of the overview is.
        """
        full = self.named["leaderboard"].grid
        wanted = (
            *("#", "run", self.result.measure, "low", "high", "group"),
            *("right", "wrong", "unanswered", "status"),
        )
        keep = [i for i, c in enumerate(full.columns) if c.name in wanted or c.kind == "bar"]
        grid = full.chosen(keep)
        notes = [
            legend_sentence(grid.without_bars().columns),
            *sentences(self.overview),
            *(sentence(note) for note in self.result.notes),
            *policy_words(self.result.policy, self.result.touched),
            *filter(None, [written]),
        ]
        return [replace(grid, notes=notes)]

    def whole(self, **options: Any) -> Grid:
        """The leaderboard with every column."""
        return self.named["leaderboard"].grid

    def frame(self, table: str) -> pl.DataFrame:
        """A table by name, as data."""
        names = self.frame_names()
        check_name("table", table, names)
        import polars as pl

        named = self.named["leaderboard" if table == "main" else table]
        bare = named.grid.without_bars()  # they say what counts say
        columns = []
        for i, column in enumerate(bare.columns):
            cells = [None if row[i] != row[i] else row[i] for row in bare.rows]
            columns.append(pl.Series(column.name, cells, strict=False))
        return pl.DataFrame(columns)

    def frame_names(self) -> tuple[str, ...]:
        """The leaderboard as the main one, and every table that the data allow."""
        return ("main", *self.named)

    def charts(self) -> dict[str, dict[str, Any]]:
        """Every chart of the page."""
        drawn = campaign_figures(self.overview)
        return coloured({name: own.spec for name, own in drawn.items()})

    def page(self) -> Page:
        """The page for those who have no folder beside it."""
        return campaign_page(self.overview, self.named.values(), in_folder=False)

    def save(self, path: Path, *, digits: int = 4, **options: Any) -> None:
        """As every result; a name without an ending is a folder for all that an overview needs."""
        if path.suffix:
            super().save(path, digits=digits, **options)
        else:
            write_campaign(self.result, path)

    def line(self) -> str:
        """Runs, questions, the measure."""
        runs = plural(len(self.result.rows), "run")
        asked = plural(self.overview.questions.height, "question")
        return f"<CampaignResult: {runs}, {asked}, {self.result.measure}>"


# -------------------------------------------- a folder: tables in three formats, results, a page


WIDEST, LONGEST = 40, 2_000
"""Markdown and LaTeX are for reading and pasting: larger tables are left to CSV."""


def write_campaign(
    result: CampaignResult, folder: str | Path, *, force: bool = False
) -> list[PageTable]:
    """Write everything, or nothing if that fails; the tables that were written."""
    whole_folder_free(Path(folder), force=force)
    with whole_folder(folder) as draft:
        c = Overview(result)
        tables = [replace(table, filed=_endings(table.grid)) for table in all_tables(c)]
        (draft / "tables").mkdir()
        for table in tables:
            for ending in table.filed:
                text = LOOKS[ENDINGS[f".{ending}"]](table.grid, 2)
                _write(draft / "tables" / f"{table.name}.{ending}", text)
        if c.result.problems or c.result.warnings:
            problems = next(problem_table(c)).grid
            _write(draft / "problems.csv", LOOKS["csv"](problems, 2))
        _write(draft / "summary.md", summary_text(c))
        _write(draft / "results.json", msgspec.json.encode(result).decode() + "\n")
        _write(draft / "index.html", render(campaign_page(c, tables, in_folder=True)))
        if result.blind:
            _without_times(draft)
    return tables


TEAMS = "teams.md"
"""The file that tells a folder of teams' pages."""


def write_teams(
    result: CampaignResult,
    folder: str | Path,
    *,
    pseudonyms: Mapping[str, str] | None = None,
    revealed: Revealed | None = None,
    held: Mapping[str, str] | None = None,
    force: bool = False,
) -> int:
    """Write a folder for each team: its page and its tables; how many there are.

    Unless something is revealed, runs that are `held` have no score, and every file has the same
    time: the order of writing tells nothing.
    """
    whole_folder_free(Path(folder), force=force, marker=TEAMS)
    with whole_folder(folder) as draft:
        count = 0
        for own in Teams(result, pseudonyms, revealed, held).pages():
            place = draft / own.folder
            place.mkdir()
            _write(place / "index.html", render(own.page))
            for table in own.tables:
                _write(place / f"{table.name}.csv", LOOKS["csv"](table.grid, 2))
            count += 1
        _write(draft / TEAMS, "A folder for each team, written by `abstain campaign --teams`.\n")
        if revealed is None:
            _without_times(draft)
    return count


def _without_times(folder: Path) -> None:
    """Give everything in a folder the same time."""
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (EPOCH, EPOCH))


EPOCH = 946_684_800
"""The time of files that are to tell nothing: the year 2000."""


def _endings(grid: Grid) -> tuple[str, ...]:
    """Of the files that a table is written to."""
    small = len(grid.columns) <= WIDEST and len(grid.rows) <= LONGEST
    return ("csv", "md", "tex") if small else ("csv",)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def summary_text(c: Overview) -> str:
    """The summary as Markdown."""
    result = c.result
    lines = [f"# {markdown_text(result.title)}", ""]
    if result.about:
        lines += [markdown_text(result.about), ""]
    lines += [f"- {markdown_text(sentence)}" for sentence in sentences(c)]
    lines += ["", *map(markdown_text, policy_words(result.policy, result.touched)), ""]
    if result.notes:
        lines += [f"- {markdown_text(sentence(note))}" for note in result.notes] + [""]
    if result.problems:
        lines += ["## Problems of what was handed in", ""]
        lines += [f"- {markdown_text(_told(own))}" for own in result.problems[:MOST_PROBLEMS]]
        if more := len(result.problems) - MOST_PROBLEMS:
            lines += [f"- and {more:,} more: problems.csv has them all."] * (more > 0)
        lines.append("")
    return "\n".join(lines)


MOST_PROBLEMS = 200


def _told(problem: Problem) -> str:
    """A problem in a line."""
    whose = f"{problem.team}: " if problem.team else ""
    return f"{whose}{problem.place}: {problem.typed or problem.message}"


def whole_folder_free(target: Path, *, force: bool, marker: str = "results.json") -> None:
    """Refuse a folder that may not be written, before any work is done.

    `marker` is the file that tells a folder of ours.
    """
    if target.exists() and not target.is_dir():
        raise InputError("is a file, expected a folder to write", str(target))
    if not target.exists() or not any(target.iterdir()):
        return
    if not force:
        raise UsageError(f"{target} exists; {option('force', value=True)} replaces it")
    if not (target / marker).exists():
        raise UsageError(f"{target} is not a campaign's folder; it is left as it is")
