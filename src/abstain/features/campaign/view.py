"""How a campaign looks: its leaderboard and summary, every table, a page, a folder of all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, check_name, option, plural
from abstain.features.campaign.overview import Overview
from abstain.features.campaign.page import campaign_page
from abstain.features.campaign.participants import problem_table
from abstain.features.campaign.result import CampaignResult
from abstain.features.campaign.summary import campaign_figures, sentences
from abstain.features.campaign.tables import all_tables
from abstain.features.campaign.team import Teams
from abstain.io.output import whole_folder
from abstain.report import view
from abstain.report.charts import coloured
from abstain.report.grid import Grid, legend
from abstain.report.html import render
from abstain.report.page import PageTable
from abstain.report.text_formats import markdown_text
from abstain.report.view import ENDINGS, grid_text, policy_words, sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from abstain.report.page import Page


class View(view.View[CampaignResult]):
    """The leaderboard first; every other table by its name."""

    @cached_property
    def overview(self) -> Overview:
        return Overview(self.result)

    @cached_property
    def by_name(self) -> dict[str, PageTable]:
        return {table.name: table for table in all_tables(self.overview)}

    def tables(self, *, written: str = "", **options: Any) -> list[Grid]:
        """The leaderboard as a terminal has room for it, with the summary below.

        `written` says where the rest of the overview is.
        """
        names = ("#", "run", self.result.measure, "low", "high", "group", "outcomes")
        grid = self.whole().in_order((*names, "right", "wrong", "unanswered", "status"))
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

        check_name("table", table, self.frame_names())
        named = self.by_name["leaderboard" if table == "main" else table]
        bare = named.grid.without_bars()  # they say what counts say
        return pl.DataFrame(
            [
                pl.Series(column.name, [None if c != c else c for c in cells], strict=False)
                for column, cells in zip(bare.columns, bare.cells(), strict=True)
            ]
        )

    def frame_names(self) -> tuple[str, ...]:
        return ("main", *self.by_name)

    def charts(self) -> dict[str, dict[str, Any]]:
        drawn = campaign_figures(self.overview)
        return coloured({name: figure.spec for name, figure in drawn.items()})

    def page(self) -> Page:
        """The page for those who have no folder beside it."""
        return campaign_page(self.overview, self.by_name.values(), in_folder=False)

    def save(self, path: Path, *, digits: int = 4, **options: Any) -> None:
        """As every result; a name without an ending is a folder for all that an overview needs."""
        if path.suffix:
            super().save(path, digits=digits, **options)
        else:
            write_campaign(self.result, path)

    def line(self) -> str:
        runs = plural(len(self.result.rows), "run")
        asked = plural(self.overview.questions.height, "question")
        return f"<CampaignResult: {runs}, {asked}, {self.result.measure}>"


WIDEST, LONGEST = 40, 2_000
"""Markdown and LaTeX are for reading and pasting: larger tables are left to CSV."""
MOST_PROBLEMS = 200
TEAMS = "teams.md"
"""The file that tells a folder of teams' pages."""
EPOCH = 946_684_800
"""The time of files that are to tell nothing: the year 2000."""


def write_campaign(
    result: CampaignResult, folder: str | Path, *, force: bool = False
) -> list[PageTable]:
    """Write everything, or nothing if that fails; the tables that were written."""
    c = Overview(result)
    tables = [replace(table, filed=_endings(table.grid)) for table in all_tables(c)]
    with _new_folder(folder, blind=result.blind, force=force) as draft:
        for table in tables:
            for ending in table.filed:
                text = grid_text(table.grid, ENDINGS[f".{ending}"], 2)
                _write(draft / "tables" / f"{table.name}.{ending}", text)
        for problems in problem_table(c):
            _write(draft / "problems.csv", grid_text(problems.grid, "csv"))
        _write(draft / "summary.md", summary_text(c))
        _write(draft / "results.json", msgspec.json.encode(result).decode() + "\n")
        _write(draft / "index.html", render(campaign_page(c, tables, in_folder=True)))
    return tables


def write_teams(
    result: CampaignResult,
    folder: str | Path,
    *,
    pseudonyms: Mapping[str, str] | None = None,
    revealed: Mapping[str, npt.NDArray[np.uint8]] | None = None,
    held: Mapping[str, str] | None = None,
    force: bool = False,
) -> None:
    """Write a folder for each team: its page and its tables.

    Unless something is revealed, runs that are `held` have no score, and every file has the same
    time: the order of writing tells nothing.
    """
    with _new_folder(folder, blind=revealed is None, force=force, marker=TEAMS) as draft:
        for name, page in Teams(result, pseudonyms, revealed, held).pages():
            _write(draft / name / "index.html", render(page))
            for table in (table for section in page.sections for table in section.tables):
                _write(draft / name / f"{table.name}.csv", grid_text(table.grid, "csv"))
        _write(draft / TEAMS, "A folder for each team, written by `abstain campaign --teams`.\n")


@contextmanager
def _new_folder(
    folder: str | Path, *, blind: bool, force: bool, marker: str = "results.json"
) -> Iterator[Path]:
    """A folder that is written whole or not at all; a blind one tells no times."""
    whole_folder_free(Path(folder), force=force, marker=marker)
    with whole_folder(folder) as draft:
        yield draft
        for path in (*draft.rglob("*"), draft) if blind else ():
            os.utime(path, (EPOCH, EPOCH))


def whole_folder_free(target: Path, *, force: bool, marker: str = "results.json") -> None:
    """Refuse a folder that may not be written; `marker` is the file that tells a folder of ours."""
    if target.exists() and not target.is_dir():
        raise InputError("is a file, expected a folder to write", str(target))
    if target.exists() and any(target.iterdir()):
        if not force:
            raise UsageError(f"{target} exists; {option('force', value=True)} replaces it")
        if not (target / marker).exists():
            raise UsageError(f"{target} is not a campaign's folder; it is left as it is")


def _endings(grid: Grid) -> tuple[str, ...]:
    small = len(grid.columns) <= WIDEST and len(grid.rows) <= LONGEST
    return ("csv", "md", "tex") if small else ("csv",)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def summary_text(c: Overview) -> str:
    result = c.result
    problems = [
        f"{f'{p.team}: ' if p.team else ''}{p.place}: {p.typed or p.message}"
        for p in result.problems[:MOST_PROBLEMS]
    ]
    if (more := len(result.problems) - MOST_PROBLEMS) > 0:
        problems.append(f"and {more:,} more: problems.csv has them all.")
    policy = "\n".join(map(markdown_text, policy_words(result.policy, result.touched)))
    notes, heading = _bullets(map(sentence, result.notes)), "## Problems of what was handed in"
    blocks = [f"# {markdown_text(result.title)}", markdown_text(result.about)]
    blocks += [_bullets(sentences(c)), policy, notes]
    blocks += [heading * bool(problems), _bullets(problems)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {markdown_text(line)}" for line in lines)
