"""How the reports on truncation look: tables, and the figures of Quit While Ahead."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import astuple, replace

from abstain.errors import plural
from abstain.features.rank.truncation import Lengths, Pair, TruncationResult
from abstain.report import charts, view
from abstain.report.grid import Cell, Column, Grid, columns_of
from abstain.report.view import sentence

NAMED, LABELLED = 20, 60
"""Inverted pairs that a table names, and runs that a chart joins; runs whose points have names."""


class View(view.View[TruncationResult]):
    def tables(self, **options: Any) -> list[Grid]:
        grids = [self._lengths(), self._scores(), self._agreement()]
        if any(pair.inverted for pair in self.result.pairs):
            grids.append(self._inverted())
        grids[-1].notes += [sentence(note, self.result.lengths) for note in self.result.notes]
        return grids

    def whole(self, **options: Any) -> Grid:
        return self._scores()

    def beside(self, scored: Grid) -> Grid:
        """A table of one row a run with the scores of the report beside it."""
        added = self._scores()
        cells = {row[0]: row[1:] for row in added.rows}
        share, *scores = added.columns[1:]
        renamed = [replace(column, name=f"{column.name} (truncation)") for column in scores]
        run = [column.name for column in scored.columns].index("run")
        rows = [[*row, *cells[row[run]]] for row in scored.rows]
        return Grid([*scored.columns, share, *renamed], rows, notes=scored.notes)

    def _lengths(self) -> Grid:
        lengths = self.result.lengths
        names = [name for name in Lengths.__struct_fields__ if name != "truncated"]
        columns = columns_of(Lengths, [*lengths.values()], *names, nil=self.result.nil)
        title = f"Lengths of lists, {self._before_and_after()}"
        return Grid.of([(Column("run"), [*lengths]), *columns], title=title)

    def _before_and_after(self) -> str:
        return f"before and after cutting at {self.result.nil} and at the limit"

    def _scores(self) -> Grid:
        """Share truncated, original and primed scores of each run (Figures 2 and 3)."""
        lengths = self.result.lengths
        shares = [None if each.share is None else 100 * each.share for each in lengths.values()]
        columns: list[tuple[Column, list[Any]]] = [
            (Column("run"), list(lengths)),
            (Column("truncated %", "percent"), shares),
        ]
        for pair in self.result.pairs:
            original, primed = zip(*map(astuple, pair.scores.values()), strict=True)
            columns.append((Column(pair.original, "score"), list(original)))
            heading = Column(pair.primed, "score", joined=True, short=pair.primed)
            columns.append((heading, list(primed)))
        title = "Original and primed scores, and the share of lists that the system ended"
        return Grid.of(columns, title=title, notes=[self._compared()])

    def _compared(self) -> str:
        result, nil = self.result, self.result.nil
        lists = "the same lists as the primed measures"
        if result.nil_is_right and not result.same_lists:
            lists = f"lists with {nil} as an answer, the primed measures lists cut at {nil}"
        right = f"{nil} as a right answer" if result.nil_is_right else "0"
        return (
            f"The original measures score {lists}. If a query has nothing relevant, the original "
            f"measures count {right}; the primed measures count 0 for a list at the limit."
        )

    def _agreement(self) -> Grid:
        pairs = self.result.pairs
        reasons = sorted({pair.undefined for pair in pairs if pair.undefined is not None})
        columns: list[tuple[Column, list[Any]]] = [
            (Column("measures"), [f"{pair.original} / {pair.primed}" for pair in pairs]),
            (Column("Kendall's τ", "score"), [pair.kendall_tau for pair in pairs]),
            (Column("inverted", "count"), [len(pair.inverted) for pair in pairs]),
        ]
        notes = [f"τ is undefined (–): {reason}." for reason in reasons]
        return Grid.of(columns, title="Agreement of the two orderings of the runs", notes=notes)

    def _inverted(self) -> Grid:
        columns = [Column("measures"), Column("ahead (original)"), Column("ahead (primed)")]
        columns += [Column("by", "score"), Column("by (primed)", "score", short="primed")]
        rows: list[list[Cell]] = [
            [f"{original} / {primed}", *rest]
            for original, primed, *rest in self.result.inversions(NAMED)
        ]
        title = "Pairs of runs that change places"
        if any(len(pair.inverted) > NAMED for pair in self.result.pairs):
            title += f", the {NAMED} largest inversions of each measure (JSON has all)"
        return Grid(columns, rows, title=title)

    def charts(self) -> view.Charts:
        specs = {"lengths": self._lengths_chart()}
        for pair in self.result.pairs:
            name = re.split(r"[(@]", pair.original)[0].lower()
            if f"original-primed-{name}" in specs:  # RBP with another p
                name = f"{name}-{len(specs)}"
            specs[f"original-primed-{name}"] = self._scores_chart(pair)
            specs[f"share-truncated-{name}"] = self._share_chart(pair)
        return specs

    def _lengths_chart(self) -> dict[str, Any]:
        """Bars side by side, before and after, at every length (Figure 1)."""
        histogram = self.result.histogram
        bins = zip(histogram.edges, histogram.edges[1:], strict=False)
        names = ["–".join(map(str, dict.fromkeys((low, high - 1)))) for low, high in bins]
        rows = [
            {"length": name, "lists": count, "when": when}
            for when, counts in (("before", histogram.before), ("after", histogram.after))
            for name, count in zip(names, counts, strict=True)
        ]
        titles = {"x_title": "documents in a list", "x_type": "nominal", "sort": names}
        layer = charts.bars("length", "lists", colour="when", zero=True, **titles)
        layer["encoding"]["xOffset"] = {"field": "when", "sort": ["before", "after"]}
        layer["encoding"]["x"]["axis"] = {"labelAngle": 0, "labelOverlap": True}
        layer["encoding"]["color"]["sort"] = ["before", "after"]
        subtitle = self._before_and_after()
        return charts.chart("Lengths of lists", rows, [layer], subtitle=subtitle)

    def _scores_chart(self, pair: Pair) -> dict[str, Any]:
        """A labelled point a run, by both measures (Figure 2)."""
        ordered = sorted(pair.scores.items(), key=lambda item: item[1].original or 0.0)
        rows = [
            {"run": run, "original": both.original, "primed": both.primed, "side": at % 2}
            for at, (run, both) in enumerate(ordered)
        ]
        titles = {"x_title": pair.original, "y_title": pair.primed}
        diagonal = charts.lines("original", "original", **titles)
        diagonal["mark"] |= {"color": "#c9ced6", "strokeDash": [4, 4]}
        layers = [diagonal, charts.points("original", "primed", **titles)]
        for side, align in enumerate(("right", "left") if len(rows) <= LABELLED else ()):
            names = charts.points("original", "primed", **titles)
            names["mark"] = {"type": "text", "align": align, "dx": 12 * side - 6, "fontSize": 8}
            names["encoding"]["text"] = {"field": "run"}
            layers.append({"transform": [{"filter": f"datum.side == {side}"}], **names})
        inverted = plural(len(pair.inverted), "inverted pair of runs", "inverted pairs of runs")
        heading = f"{pair.original} and {pair.primed}"
        subtitle = f"{inverted}; dashed: equal scores"
        return charts.chart(heading, rows, layers, subtitle=subtitle, height=560)

    def _share_chart(self, pair: Pair) -> dict[str, Any]:
        """A run's scores over the share of its lists that it ended; the best joined (Figure 3)."""
        scores = {run: both.original or 0.0 for run, both in pair.scores.items()}
        best = sorted(scores, key=lambda run: -scores[run])[:NAMED]
        rows = [
            {"run": run, "truncated": 100 * lengths.share, "score": score, "measure": name}
            | {"best": run in best}
            for run, lengths in self.result.lengths.items()
            if lengths.share is not None
            for name, score in zip(
                (pair.original, pair.primed), astuple(pair.scores[run]), strict=True
            )
        ]
        title = "lists ended by the system, %"
        joined = charts.lines("truncated", "score", x_title=title)
        joined["mark"] |= {"color": "#9aa5b3", "strokeWidth": 1}
        joined["encoding"]["detail"] = {"field": "run"}
        joined = {"transform": [{"filter": "datum.best"}], **joined}
        both = charts.points("truncated", "score", colour="measure", x_title=title)
        both["encoding"]["color"]["sort"] = [pair.original, pair.primed]
        layers = [joined, both]
        subtitle = f"joined: both scores of the best {len(best)} by {pair.original}"
        return charts.chart(f"{pair.original} and truncation", rows, layers, subtitle=subtitle)

    def title(self) -> str:
        return f"Truncation of {plural(len(self.result.lengths), 'run')}"
