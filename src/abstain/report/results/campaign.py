"""The page of a campaign's results.json, for those who have no folder beside it."""

from __future__ import annotations

from collections.abc import Sequence

from abstain.analyses.campaign.headings import explained
from abstain.outcomes import CountsArray
from abstain.report.grid import Cell, Column, Grid, Kind
from abstain.report.page import DETAILS
from abstain.report.pieces import Page, PageTable, Section
from abstain.report.results.common import (
    again,
    blanks_table,
    counts_of,
    facts,
    known_measure,
    score_figure,
)
from abstain.report.results.saved import CampaignResults, CampaignTable
from abstain.report.rewards import decision_figure, leads_table, measure_facts, rewards_table

COUNTS = ("right", "wrong", "unanswered", "answered", "blank", "questions", "runs", "pairs")
OPEN = ("topics", "tests", "reading", "subsets", "questions")


def campaign_results_page(result: CampaignResults) -> Page:
    """The leaderboard with its bars, what is rewarded, every table."""
    item = known_measure(result.measure)
    counted = [(row.run, k) for row in result.results if (k := counts_of(row.counts)) and k.n]
    name = result.measure
    ends = [(row, row.intervals.get(name, (None, None))) for row in result.results]
    dots = score_figure("scores", [(r.run, r.scores.get(name), *e) for r, e in ends], name)
    said = list(result.summary)
    tables = {key: _table(key, own, name) for key, own in result.tables.items()}
    leaders = tables.pop("leaderboard", None)
    rewarded = Section("measure", "What is rewarded", facts=measure_facts(item) if item else ())
    if counted:
        runs = [run for run, _ in counted]
        counts = CountsArray.of(k for _, k in counted)
        rewarded.figures = [decision_figure(runs, counts, range(len(runs)))]
        rewarded.tables = [leads_table(runs, counts)]
        rewarded.folded = [rewards_table(runs, counts, [item] if item else [])]
    sections = [
        Section(
            "leaderboard",
            "Leaderboard",
            said=[*said[:1], *said[2:5]],
            more=said[5:],
            key=True,
            tables=[leaders] if leaders else [],
            figures=[dots] if dots else [],
        ),
        rewarded,
        *(Section(f"part_{k}", tables[k].title, tables=[tables[k]]) for k in OPEN if k in tables),
        Section("more", "More tables", folded=[t for k, t in tables.items() if k not in OPEN]),
    ]
    return Page(
        title=result.title,
        lead=said[1] if len(said) > 1 else (said or ["A campaign."])[0],
        about=result.about,
        sections=sections,
        again=again(result),
        again_facts=facts(result, ("ranked by", name), ("pass mark", f"{result.pass_mark:g}")),
        again_tables=blanks_table(result),
        command=result.command,
        digits=2,
    )


def _table(name: str, own: CampaignTable, measure: str) -> PageTable:
    """A table whose kinds are read off its cells; the leaderboard gets its bars back."""
    kinds = [_kind(column, [row[i] for row in own.rows]) for i, column in enumerate(own.columns)]
    columns = [Column(c, k) for c, k in zip(own.columns, kinds, strict=True)]
    rows: list[list[Cell]] = [list(row) for row in own.rows]
    late: tuple[str, ...] = ()
    three = [own.columns.index(n) for n in ("right", "wrong", "unanswered") if n in own.columns]
    grid = Grid(columns, rows)
    if name == "leaderboard" and len(three) == 3:
        at = kinds.index("score") + 1 if "score" in kinds else three[0]
        columns.insert(at, Column("outcomes", "bar"))
        for row, given in zip(rows, own.rows, strict=True):
            a, b, c = (float(given[i] or 0) for i in three)
            row.insert(at, (a, b, c))
        grid.dim = {n for n, row in enumerate(rows) if not row[0]}
        late = DETAILS
    return PageTable(
        f"t_{name}",
        own.title,
        own.reading,
        explained(grid, name, measure),
        late=late,
        rows_in_all=own.rows_in_all,
        whole_in=f"tables/{name}.csv of the campaign's folder",
    )


def _kind(name: str, cells: Sequence[str | float | None]) -> Kind:
    numbers = [cell for cell in cells if isinstance(cell, float | int)]
    if any(isinstance(cell, str) and cell for cell in cells) or not numbers:
        return "text"
    if name.endswith("%"):
        return "percent"
    whole = all(float(cell).is_integer() for cell in numbers)
    return "count" if name in COUNTS or (whole and max(numbers) > 1) else "score"
