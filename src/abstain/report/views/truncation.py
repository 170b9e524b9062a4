"""How the report on truncation looks."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from abstain.analyses.truncation import Pair, TruncationResult
from abstain.errors import plural
from abstain.report import charts, view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.shared import known_measure, page_of
from abstain.report.words import number, sentence

NAMED = 20
"""Inverted pairs that a table names of each measure; JSON has them all."""
LABELLED = 30
"""With more runs than this, points have no names."""


class View(view.View[TruncationResult]):
    """Lengths, scores, agreement; inverted pairs if there are any."""

    def tables(self, **options: Any) -> list[Grid]:
        """The tables of the paper's figures."""
        grids = [self._lengths(), self._scores(), self._agreement()]
        if any(p.inverted for p in self.result.pairs):
            grids.append(self._inverted())
        said = [sentence(note, self.result.lengths) for note in self.result.notes]
        return [*grids[:-1], replace(grids[-1], notes=[*grids[-1].notes, *said])]

    def whole(self, **options: Any) -> Grid:
        """Share truncated, original and primed scores of each run."""
        return self._scores()

    def line(self) -> str:
        inverted = sum(len(pair.inverted) for pair in self.result.pairs)
        runs = plural(len(self.result.lengths), "run")
        return f"<TruncationResult: {runs}, {plural(inverted, 'inverted pair')}>"

    def beside(self, scored: Grid) -> Grid:
        """A table of one row a run with the scores of the report beside its own."""
        added = self._scores()
        cells = {row[0]: row[1:] for row in added.rows}
        share, *scores = added.columns[1:]
        renamed = [replace(column, name=f"{column.name} (truncation)") for column in scores]
        run = [column.name for column in scored.columns].index("run")
        rows = [[*row, *cells[row[run]]] for row in scored.rows]
        return Grid([*scored.columns, share, *renamed], rows, notes=scored.notes)

    def _lengths(self) -> Grid:
        """How long the lists are, as returned and as scored (Figure 1)."""
        names = ("lists", "mean before", "mean after", "median before", "median after", "empty")
        columns = [Column("run"), *(_length(name) for name in names)]
        columns += [Column(f"by {self.result.nil}", "count"), Column("at limit", "count")]
        rows: list[list[Cell]] = [
            [
                run,
                *(getattr(own, name.replace(" ", "_")) for name in names),
                own.by_nil,
                own.at_limit,
            ]
            for run, own in self.result.lengths.items()
        ]
        return Grid(columns, rows, title=f"Lengths of lists, {self._before_and_after()}")

    def _before_and_after(self) -> str:
        return f"before and after cutting at {self.result.nil} and at the limit"

    def _scores(self) -> Grid:
        """Share truncated, original and primed scores of each run (Figures 2 and 3)."""
        result = self.result
        columns = [Column("run"), Column("truncated %", "percent")]
        for pair in result.pairs:
            columns.append(Column(pair.original, "score"))
            columns.append(Column(pair.primed, "score", joined=True, short=pair.primed))
        rows: list[list[Cell]] = []
        for run, own in result.lengths.items():
            cells: list[Cell] = [run, None if own.share is None else 100 * own.share]
            for pair in result.pairs:
                cells += [pair.scores[run].original, pair.scores[run].primed]
            rows.append(cells)
        return Grid(
            columns,
            rows,
            title="Original and primed scores, and the share of lists that the system ended",
            notes=self._compared(),
        )

    def _compared(self) -> list[str]:
        """What the original measures score, and what they say where nothing is relevant."""
        result, nil = self.result, self.result.nil
        at_limit = any(own.at_limit for own in result.lengths.values())
        said = []
        if not result.same_lists and result.nil_is_right:
            said.append(
                f"The original measures score the lists with {nil} as an answer; the primed "
                f"measures score the lists cut at {nil}."
            )
        full = "the primed measures count 0 for a list at the limit"
        if result.nil_is_right:
            said.append(
                "If a query has nothing relevant, the original measures count "
                f"{nil} as a right answer."
            )
            said += [f"For such a query {full}."] if at_limit else []
        else:
            also = ", and so do the primed measures for a list at the limit" if at_limit else ""
            said.append(f"If a query has nothing relevant, the original measures count 0{also}.")
        return [" ".join(said)]

    def _agreement(self) -> Grid:
        """How far the two orderings of the runs agree (Table 3)."""
        columns = [Column("measures"), Column("Kendall's τ", "score"), Column("inverted", "count")]
        rows: list[list[Cell]] = [
            [f"{pair.original} / {pair.primed}", pair.kendall_tau, len(pair.inverted)]
            for pair in self.result.pairs
        ]
        reasons = {pair.undefined for pair in self.result.pairs if pair.undefined is not None}
        return Grid(
            columns,
            rows,
            title="Agreement of the two orderings of the runs",
            notes=[f"τ is undefined (–): {reason}." for reason in sorted(reasons)],
        )

    def _inverted(self) -> Grid:
        columns = [Column("measures"), Column("ahead (original)"), Column("ahead (primed)")]
        columns += [Column("by", "score"), Column("by (primed)", "score", short="primed")]
        pairs = self.result.pairs
        rows: list[list[Cell]] = [
            [
                *(f"{pair.original} / {pair.primed}", i.first, i.second),
                *(i.first_ahead_by, i.second_ahead_by),
            ]
            for pair in pairs
            for i in pair.inverted[:NAMED]
        ]
        notes = [
            f"{pair.original}: {plural(len(pair.inverted) - NAMED, 'smaller inversion')} not "
            "shown; the JSON output has all of them."
            for pair in pairs
            if len(pair.inverted) > NAMED
        ]
        return Grid(columns, rows, title="Pairs of runs that change places", notes=notes)

    def charts(self) -> view.Charts:
        """Figures 1 to 3 of the paper, the latter two for each pair of measures."""
        found = {"lengths": self._lengths_chart()}
        for pair in self.result.pairs:
            item = known_measure(pair.original)
            name = (pair.original if item is None else item.name).lower()
            if f"original-primed-{name}" in found:  # RBP with another p
                name = f"{name}-{len(found)}"
            found[f"original-primed-{name}"] = self._scores_chart(pair)
            found[f"share-truncated-{name}"] = self._share_chart(pair)
        return found

    def _lengths_chart(self) -> dict[str, Any]:
        """How many lists have which length, before and after (Figure 1)."""
        histogram = self.result.histogram
        rows = [
            {"length": edge, "lists": count, "when": when}
            for when, counts in (("before", histogram.before), ("after", histogram.after))
            for edge, count in zip(histogram.edges, (*counts, 0), strict=True)
        ]
        layer = charts.steps(
            "length", "lists", colour="when", x_title="documents in a list", zero=True
        )
        subtitle = self._before_and_after()
        return charts.chart("Lengths of lists", rows, [layer], subtitle=subtitle)

    def _scores_chart(self, pair: Pair) -> dict[str, Any]:
        """Original against primed score (Figure 2)."""
        rows = [
            {"run": run, "original": own.original, "primed": own.primed, "equal": own.original}
            for run, own in pair.scores.items()
        ]
        titles = {"x_title": pair.original, "y_title": pair.primed}
        diagonal = charts.lines("original", "equal", **titles)
        diagonal["mark"] |= {"color": "#c9ced6", "strokeDash": [4, 4]}
        layers = [diagonal, charts.points("original", "primed", **titles)]
        if len(rows) <= LABELLED:
            names = charts.points("original", "primed", **titles)
            names["mark"] = {"type": "text", "align": "left", "dx": 6, "fontSize": 9}
            names["encoding"]["text"] = {"field": "run"}
            layers.append(names)
        inverted = plural(len(pair.inverted), "pair of runs changes", "pairs of runs change")
        return charts.chart(
            f"{pair.original} and {pair.primed}",
            rows,
            layers,
            subtitle=f"{inverted} places; dashed: equal scores",
        )

    def _share_chart(self, pair: Pair) -> dict[str, Any]:
        """Score against the share of lists that the system ended (Figure 3)."""
        rows = [
            {
                "run": run,
                "truncated": None if own.share is None else 100 * own.share,
                "score": score,
                "measure": name,
            }
            for run, own in self.result.lengths.items()
            for name, score in (
                (pair.original, pair.scores[run].original),
                (pair.primed, pair.scores[run].primed),
            )
        ]
        layer = charts.points(
            "truncated", "score", colour="measure", x_title="lists ended by the system, %"
        )
        return charts.chart(f"{pair.original} and truncation", rows, [layer])

    def section(self) -> Section:
        """The report as a part of a page."""
        pairs = self.result.pairs
        data = [
            {"measure": pair.primed, "run": run, "original": own.original, "primed": own.primed}
            for pair in pairs
            for run, own in pair.scores.items()
        ]
        layer = charts.points("original", "primed", colour="measure")
        layer["encoding"]["tooltip"] = charts.tips(("run", "measure"), ("original", "primed"))
        words = "; ".join(
            f"{p.original} and {p.primed}: Kendall's τ {number(p.kendall_tau, 3)}, "
            f"{plural(len(p.inverted), 'pair')} of runs in a different order"
            for p in pairs
        )
        figure = Figure(
            "primed", f"{words}.", charts.chart("", data, [layer]), title="Original and primed"
        )
        lengths, scores, agreement, *inverted = self.tables()
        return Section(
            "truncation",
            "Truncation",
            figures=[figure] if data else [],
            tables=[
                _page_table("lengths", lengths, "Lengths of lists"),
                _page_table("primed", scores, "Original and primed scores"),
            ],
            folded=[
                _page_table("agreement", agreement, "Agreement of the two orderings"),
                *(_page_table("inverted", grid, grid.title) for grid in inverted),
            ],
        )

    def page(self) -> Page:
        """The report alone."""
        section = self.section()
        title = f"Truncation of {plural(len(self.result.lengths), 'run')}"
        lead = section.figures[0].caption if self.result.pairs else ""
        return page_of(self.result, title, lead, [section], ("ends a list", self.result.nil))


def _length(name: str) -> Column:
    """A column of lengths; one after the limit stays beside the one before."""
    after = name.endswith(" after")
    return Column(name, "count", joined=after, short="after" if after else "")


def _page_table(name: str, grid: Grid, title: str) -> PageTable:
    return PageTable(name, title, " ".join(grid.notes), replace(grid, title="", notes=[]))
