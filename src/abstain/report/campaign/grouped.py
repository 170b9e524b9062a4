"""Tables of an overview that put runs or questions in groups, and what all its tables share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.pairs import Pairs, levels, tally_pairs
from abstain.errors import plural
from abstain.report.campaign.headings import kinds_of_simplification
from abstain.report.grid import Cell, Column, Grid
from abstain.report.pieces import PageTable
from abstain.stats.standings import over_runs

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array


def left_out(*scores: Array) -> str:
    """A sentence on scores that do not exist, which no mean, median or deviation holds."""
    lacking = sum(int(np.count_nonzero(np.isnan(block))) for block in scores)
    if not lacking:
        return ""
    return f" Undefined (–) and so left out of what sums up: {plural(lacking, 'score')}."


def safe(name: str) -> str:
    """A name that a file may have."""
    return "".join(sign if sign.isalnum() else "_" for sign in name.lower())[:40]


def short(text: str, most: int = 400) -> str:
    """A list in a sentence, cut where it is long."""
    return text if len(text) <= most else text[: most - 1].rsplit(",", 1)[0] + " …"


# ---------------------------------------------------------------------------- groups of runs


def teams(c: Overview) -> Iterator[PageTable]:
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
    yield PageTable("teams", title, reading_text, Grid(columns, rows))


def groups(c: Overview) -> Iterator[PageTable]:
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
        yield PageTable(
            f"runs_by_{safe(attribute)}",
            f"Runs by {attribute}",
            f"{c.measure} over all questions." + left_out(c.scores),
            Grid(columns, rows),
        )


# ------------------------------------------------- main questions and their auxiliary twins


def pair_tables(c: Overview, pairs: Pairs) -> Iterator[PageTable]:
    """What the simplified twins of main questions show."""
    everything = np.ones(len(pairs), bool)
    parts = list(levels(pairs, "simplified")) or [("", everything)]
    for part, inside in parts:
        title = f"Main and auxiliary questions, {part} simplified" if part else "Main and auxiliary"
        yield PageTable(
            f"pairs_{safe(part)}".rstrip("_"),
            title,
            f"Right responses of all {len(c.runs)} runs on {int(inside.sum())} main questions and "
            "on their auxiliary twins, in percent more; pairs whose auxiliary question got more "
            "right."
            + kinds_of_simplification([kind for kind, _ in levels(pairs, "simplification")]),
            _pair_grid(c, pairs, inside),
        )
    columns = [Column("run"), *(Column(n, "count") for n in _FOUR)]
    rows: list[list[Cell]] = [[c.runs[i], *map(int, pairs.fourfold[i])] for i in c.order]
    rows.append(["all runs", *map(int, pairs.fourfold.sum(axis=0))])
    yield PageTable(
        "pairs_runs",
        "Main and auxiliary questions by run",
        "Auxiliary only: the run knows the answer but lacks the inference that the auxiliary "
        "question spares it.",
        Grid(columns, rows, dim={len(rows) - 1}),
    )


_FOUR = ("both right", "main only", "auxiliary only", "neither")


def _pair_grid(c: Overview, pairs: Pairs, inside: npt.NDArray[np.bool_]) -> Grid:
    kinds = [("all", np.ones(len(pairs), bool)), *levels(pairs, "simplification")]
    columns = [Column("by"), Column("level")]
    for kind, _ in kinds:
        columns += [Column(f"{kind}: main", "count"), Column(f"{kind}: auxiliary", "count")]
        columns += [Column(f"{kind}: change %", "count")]
        columns += [Column(f"{kind}: better", "count"), Column(f"{kind}: pairs", "count")]
    grid = Grid(columns, [])
    for attribute in [n for n in ("type", c.topic) if n and n in pairs.attributes.columns]:
        grid.breaks.add(len(grid.rows))
        values = c.slices[attribute].names if attribute in c.slices else []
        chosen = dict(levels(pairs, attribute))
        nobody = np.zeros(len(pairs), bool)
        for level in [*values, "TOTAL"]:
            mask = inside if level == "TOTAL" else inside & chosen.get(level, nobody)
            cells: list[Cell] = [attribute, level]
            for _, of_kind in kinds:
                t = tally_pairs(pairs, mask & of_kind)
                change = None if t.change is None else round(t.change)
                cells += [t.main_right, t.auxiliary_right, change, t.better, t.pairs]
            grid.rows.append(cells)
    return grid
