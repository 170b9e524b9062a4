"""The report on truncation as tables and charts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from abstain.analyses.rank.truncation import BINS, Pair, Truncation
from abstain.errors import InputError, plural, reason_of
from abstain.outcomes import Undefined
from abstain.report import charts
from abstain.report.grid import Cell, Column, Grid

NAMED = 20
"""Inverted pairs that a table names of each measure; JSON has them all."""
LABELLED = 30
"""With more runs than this, points have no names."""


def truncation_grids(report: Truncation) -> list[Grid]:
    """Lengths, scores, agreement; inverted pairs if there are any."""
    grids = [lengths_grid(report), scores_grid(report), agreement_grid(report)]
    return [*grids, *([inverted_grid(report)] if any(p.inversions for p in report.pairs) else [])]


def lengths_grid(report: Truncation) -> Grid:
    """How long the lists are, as returned and as scored (Figure 1)."""
    names = ("lists", "mean before", "mean after", "median before", "median after", "empty")
    columns = [Column("run"), *(Column(name, "count") for name in names)]
    columns += [Column(f"by {report.nil}", "count"), Column("at limit", "count")]
    rows: list[list[Cell]] = []
    for each in report.lengths:
        numbers = each.to_dict()
        rows.append(
            [
                each.run,
                *(numbers[name.replace(" ", "_")] for name in names),
                each.by_nil,
                each.at_limit,
            ]
        )
    return Grid(columns, rows, title=f"Lengths of lists, {_before_and_after(report)}")


def scores_grid(report: Truncation) -> Grid:
    """Share truncated, original and primed scores of each run (Figures 2 and 3)."""
    columns = [Column("run"), Column("truncated %", "percent")]
    for pair in report.pairs:
        columns += [Column(str(pair.original), "score"), Column(str(pair.primed), "score")]
    rows: list[list[Cell]] = []
    for number, each in enumerate(report.lengths):
        cells: list[Cell] = [each.run, 100 * each.share]
        for pair in report.pairs:
            cells += pair.scores[number]
        rows.append(cells)
    at_limit = any(each.at_limit for each in report.lengths)
    full = ", and so do the primed ones for a list at the limit" if at_limit else ""
    return Grid(
        columns,
        rows,
        title="Original and primed scores, and the share of lists that the system ended",
        notes=[f"Where a query has nothing relevant, the original measures count 0{full}."],
    )


def with_truncation(scored: Grid, report: Truncation) -> Grid:
    """A table of one row a run with the scores of the report beside its own."""
    added = scores_grid(report)
    cells = {row[0]: row[1:] for row in added.rows}
    share, *scores = added.columns[1:]
    renamed = [replace(column, name=f"{column.name} (truncation)") for column in scores]
    run = [column.name for column in scored.columns].index("run")
    rows = [[*row, *cells[row[run]]] for row in scored.rows]
    return Grid([*scored.columns, share, *renamed], rows, notes=scored.notes)


def agreement_grid(report: Truncation) -> Grid:
    """How far the two orderings of the runs agree (Table 3)."""
    columns = [Column("measures"), Column("Kendall's τ", "score"), Column("inverted", "count")]
    rows: list[list[Cell]] = [
        [f"{pair.original} / {pair.primed}", pair.tau, len(pair.inversions)]
        for pair in report.pairs
    ]
    reasons = {pair.tau.reason for pair in report.pairs if isinstance(pair.tau, Undefined)}
    return Grid(
        columns,
        rows,
        title="Agreement of the two orderings of the runs",
        notes=[f"τ is undefined (–): {reason}." for reason in sorted(reasons)],
    )


def inverted_grid(report: Truncation) -> Grid:
    """The pairs of runs that change places, the largest differences first."""
    columns = [Column("measures"), Column("ahead by original"), Column("ahead by primed")]
    columns += [Column("by", "score"), Column("by (primed)", "score")]
    rows: list[list[Cell]] = [
        [f"{pair.original} / {pair.primed}", i.first, i.second, i.original, i.primed]
        for pair in report.pairs
        for i in pair.inversions[:NAMED]
    ]
    notes = [
        f"{pair.original}: {plural(len(pair.inversions) - NAMED, 'smaller inversion')} not shown; "
        "JSON has them all."
        for pair in report.pairs
        if len(pair.inversions) > NAMED
    ]
    return Grid(columns, rows, title="Pairs of runs that change places", notes=notes)


# -------------------------------------------------------------------------------------- charts


def write_charts(report: Truncation, folder: Path) -> list[Path]:
    """Draw the report into a folder; what was written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", str(folder)) from None
    written = []
    for name, spec in all_charts(report):
        charts.write_chart(spec, folder / f"{name}.svg")
        written.append(folder / f"{name}.svg")
    return written


def all_charts(report: Truncation) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each chart with the name of its file."""
    yield "lengths", lengths_chart(report)
    for pair in report.pairs:
        name = pair.original.name.lower()
        yield f"original-primed-{name}", scores_chart(report, pair)
        yield f"share-truncated-{name}", share_chart(report, pair)


def lengths_chart(report: Truncation) -> dict[str, Any]:
    """How many lists have which length, before and after (Figure 1)."""
    before = np.concatenate([each.before for each in report.lengths])
    after = np.concatenate([each.after for each in report.lengths])
    longest = int(max(before.max(initial=0), after.max(initial=0)))
    edges = np.unique(np.linspace(0, longest + 1, min(longest + 1, BINS) + 1).astype(np.int64))
    rows = [
        {"length": int(edge), "lists": int(count), "when": when}
        for when, lengths in (("before", before), ("after", after))
        for edge, count in zip(edges, np.append(np.histogram(lengths, edges)[0], 0), strict=True)
    ]
    layer = charts.steps("length", "lists", colour="when", x_title="documents in a list", zero=True)
    return charts.chart("Lengths of lists", rows, [layer], subtitle=_before_and_after(report))


def _before_and_after(report: Truncation) -> str:
    return f"before and after {report.nil} and the limit"


def scores_chart(report: Truncation, pair: Pair) -> dict[str, Any]:
    """Original against primed score (Figure 2)."""
    rows = [
        {"run": each.run, "original": own[0], "primed": own[1], "equal": own[0]}
        for each, own in zip(report.lengths, pair.scores, strict=True)
    ]
    titles = {"x_title": str(pair.original), "y_title": str(pair.primed)}
    diagonal = charts.lines("original", "equal", **titles)
    diagonal["mark"] |= {"color": "#c9ced6", "strokeDash": [4, 4]}
    layers = [diagonal, charts.points("original", "primed", **titles)]
    if len(rows) <= LABELLED:
        names = charts.points("original", "primed", **titles)
        names["mark"] = {"type": "text", "align": "left", "dx": 6, "fontSize": 9}
        names["encoding"]["text"] = {"field": "run"}
        layers.append(names)
    inverted = plural(len(pair.inversions), "pair of runs changes", "pairs of runs change")
    return charts.chart(
        f"{pair.original} and {pair.primed}",
        rows,
        layers,
        subtitle=f"{inverted} places; dashed: equal scores",
    )


def share_chart(report: Truncation, pair: Pair) -> dict[str, Any]:
    """Score against the share of lists that the system ended (Figure 3)."""
    rows = [
        {"run": each.run, "truncated": 100 * each.share, "score": score, "measure": str(item)}
        for each, own in zip(report.lengths, pair.scores, strict=True)
        for item, score in zip((pair.original, pair.primed), own, strict=True)
    ]
    layer = charts.points(
        "truncated", "score", colour="measure", x_title="lists ended by the system, %"
    )
    return charts.chart(f"{pair.original} and truncation", rows, [layer])
