"""How a campaign looks: its leaderboard and summary, every table, a page."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.result import CampaignResult
from abstain.errors import UnknownNameError, plural
from abstain.report import view
from abstain.report.campaign.charts import campaign_figures
from abstain.report.campaign.page import campaign_page
from abstain.report.campaign.summary import sentences
from abstain.report.campaign.tables import all_tables
from abstain.report.grid import Grid, legend_sentence
from abstain.report.words import policy_sentence, sentence

if TYPE_CHECKING:
    import polars as pl

    from abstain.report.pieces import Page, PageTable


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
            *("right", "wrong", "unanswered"),
        )
        keep = [i for i, c in enumerate(full.columns) if c.name in wanted or c.kind == "bar"]
        grid = full.chosen(keep)
        notes = [
            legend_sentence(grid.without_bars().columns),
            *sentences(self.overview),
            *(sentence(note) for note in self.result.notes),
            policy_sentence(self.result.policy, self.result.touched),
            *filter(None, [written]),
        ]
        return [replace(grid, notes=notes)]

    def whole(self, **options: Any) -> Grid:
        """The leaderboard with every column."""
        return self.named["leaderboard"].grid

    def frame(self, table: str) -> pl.DataFrame:
        """A table by name, as data."""
        if table not in self.named:
            hint = f"there are {', '.join(self.named)}"
            raise UnknownNameError("table", table, self.named, hint=hint)
        return frame_of(self.named[table].grid)

    def charts(self) -> dict[str, dict[str, Any]]:
        """Every chart of the page."""
        return {name: own.spec for name, own in campaign_figures(self.overview).items()}

    def page(self) -> Page:
        """The page for those who have no folder beside it."""
        return campaign_page(self.overview, self.named.values(), in_folder=False)

    def save(self, path: Path, *, digits: int = 4, **options: Any) -> None:
        """As every result; a name without an ending is a folder for all that an overview needs."""
        if path.suffix:
            super().save(path, digits=digits, **options)
            return
        from abstain.report.campaign.folder import write_campaign

        write_campaign(self.result, path)

    def line(self) -> str:
        """Runs, questions, the measure."""
        runs = plural(len(self.result.rows), "run")
        asked = plural(len(self.result.questions.right), "question")
        return f"<CampaignResult: {runs}, {asked}, {self.result.measure}>"


def frame_of(grid: Grid) -> pl.DataFrame:
    """The cells of a table as data; bars are left out, they say what counts say."""
    import polars as pl

    bare = grid.without_bars()
    columns = []
    for i, column in enumerate(bare.columns):
        cells = [None if row[i] != row[i] else row[i] for row in bare.rows]
        columns.append(pl.Series(column.name, cells, strict=False))
    return pl.DataFrame(columns)
