"""The tables of an overview that put runs in groups: teams, languages, any attribute of runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from abstain.analyses.campaign.overview import Overview
from abstain.report.campaign.table import Table, left_out, safe
from abstain.report.grid import Cell, Column, Grid
from abstain.stats.averages import over_runs


def teams(c: Overview) -> Iterator[Table]:
    """The best run of each team against its others."""
    if "team" not in c.runs_info.columns or c.runs_info["team"].drop_nulls().is_empty():
        return
    rows: list[list[Cell]] = []
    members: dict[str, list[int]] = {}
    for i in c.order:
        members.setdefault(c.runs_info["team"][i] or "–", []).append(i)
    for team, own in members.items():
        rest = c.scores[own[1:]]
        there = rest[~np.isnan(rest)]
        rows.append(
            [
                *(team, len(own), c.runs[own[0]], float(c.scores[own[0]])),
                float(there.mean()) if there.size else None,
                float(there.min()) if there.size else None,
            ]
        )
    columns = [Column("team"), Column("runs", "count"), Column("best run")]
    columns += [Column(n, "score") for n in (str(c.measure), "mean of the others", "lowest")]
    title = "The best run of each team against its others"
    reading_text = f"{c.measure} over all questions." + left_out(c.scores)
    yield Table("teams", title, reading_text, Grid(columns, rows))


def groups(c: Overview) -> Iterator[Table]:
    """Runs in groups by each attribute of the runs: mean, median, deviation, best."""
    for attribute in c.runs_info.columns:
        values = c.runs_info[attribute]
        if attribute in ("run", "team") or not 1 < values.drop_nulls().n_unique() <= 30:
            continue
        rows: list[list[Cell]] = []
        for value in sorted(values.drop_nulls().unique().to_list()):
            own = [i for i in c.order if values[i] == value]
            summary = over_runs(c.scores[own])
            best = own[0]
            cells: list[Cell] = [value, len(own), *(float(v) for v in summary.values())]
            rows.append([*cells, float(c.scores[best]), c.runs[best]])
        columns = [Column(attribute), Column("runs", "count")]
        columns += [Column(w, "score") for w in ("mean", "median", "st. dev.", "best")]
        columns.append(Column("best run"))
        yield Table(
            f"runs_by_{safe(attribute)}",
            f"Runs by {attribute}",
            f"{c.measure} over all questions." + left_out(c.scores),
            Grid(columns, rows),
        )
