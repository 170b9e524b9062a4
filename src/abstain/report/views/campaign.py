"""How a campaign looks: its leaderboard and summary, every table, a page."""

from __future__ import annotations

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
from abstain.report.scores import policy_sentence, sentence

if TYPE_CHECKING:
    import polars as pl

    from abstain.report.campaign.table import Table
    from abstain.report.pieces import Page


class View(view.View[CampaignResult]):
    """The leaderboard first; every other table by its name."""

    @cached_property
    def overview(self) -> Overview:
        """The facts as arrays."""
        return Overview(self.result)

    @cached_property
    def named(self) -> dict[str, Table]:
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
        columns = [full.columns[i] for i in keep]
        notes = [
            legend_sentence([column for column in columns if column.kind != "bar"]),
            *sentences(self.overview),
            *(sentence(note) for note in self.result.notes),
            policy_sentence(self.result.policy, self.result.touched),
            *filter(None, [written]),
        ]
        rows = [[row[i] for i in keep] for row in full.rows]
        return [Grid(columns, rows, notes=notes, dim=full.dim)]

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
        return campaign_page(self.overview, list(self.named.values()), in_folder=False)

    def html(self, *, title: str = "") -> str:
        """The page as HTML."""
        if not title:
            return super().html()
        return type(self)(replace_title(self.result, title)).html()

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


def replace_title(result: CampaignResult, title: str) -> CampaignResult:
    """The result under another title."""
    from msgspec import structs

    return structs.replace(result, title=title)


def frame_of(grid: Grid) -> pl.DataFrame:
    """The cells of a table as data; bars are left out, they say what counts say."""
    import polars as pl

    keep = [(i, c) for i, c in enumerate(grid.columns) if c.kind != "bar"]
    columns = []
    for i, column in keep:
        cells = [row[i] for row in grid.rows]
        cells = [None if cell != cell else cell for cell in cells]
        columns.append(pl.Series(column.name, cells, strict=False))
    return pl.DataFrame(columns)
