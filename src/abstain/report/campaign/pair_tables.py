"""The tables of an overview that set main questions against their auxiliary twins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.pairs import Pairs, levels, tally_pairs
from abstain.report.campaign.headings import kinds_of_simplification
from abstain.report.campaign.table import Table, safe
from abstain.report.grid import Cell, Column, Grid

if TYPE_CHECKING:
    import numpy.typing as npt


def pair_tables(c: Overview, pairs: Pairs) -> Iterator[Table]:
    """What the simplified twins of main questions show."""
    everything = np.ones(len(pairs), bool)
    parts = list(levels(pairs, "simplified")) or [("", everything)]
    for part, inside in parts:
        title = f"Main and auxiliary questions, {part} simplified" if part else "Main and auxiliary"
        yield Table(
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
    yield Table(
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
