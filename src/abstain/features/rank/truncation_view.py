"""How the report on truncation looks."""

from __future__ import annotations

from typing import Any

from msgspec.structs import astuple, replace

from abstain.errors import plural
from abstain.features.rank.truncation import Lengths, Pair, TruncationResult
from abstain.report import charts, view
from abstain.report.grid import Cell, Column, Grid, columns_of
from abstain.report.page import Section
from abstain.report.view import known_measure, sentence

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
        notes = [sentence(note, self.result.lengths) for note in self.result.notes]
        return [*grids[:-1], replace(grids[-1], notes=[*grids[-1].notes, *notes])]

    def whole(self, **options: Any) -> Grid:
        """Share truncated, original and primed scores of each run."""
        return self._scores()

    def line(self) -> str:
        inverted = sum(len(pair.inverted) for pair in self.result.pairs)
        runs = plural(len(self.result.lengths), "run")
        return f"<TruncationResult: {runs}, {plural(inverted, 'inverted pair')}>"

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
        """How long the lists are, as returned and as scored (Figure 1)."""
        lengths = self.result.lengths
        names = [name for name in Lengths.__struct_fields__ if name != "truncated"]
        columns = columns_of(Lengths, list(lengths.values()), *names, nil=self.result.nil)
        title = f"Lengths of lists, {self._before_and_after()}"
        return Grid.of([(Column("run"), list(lengths)), *columns], title=title)

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
            scores = [pair.scores[run] for run in lengths]
            primed = Column(pair.primed, "score", joined=True, short=pair.primed)
            columns.append((Column(pair.original, "score"), [each.original for each in scores]))
            columns.append((primed, [each.primed for each in scores]))
        title = "Original and primed scores, and the share of lists that the system ended"
        return Grid.of(columns, title=title, notes=[self._compared()])

    def _compared(self) -> str:
        """What the original measures score, and what they say where nothing is relevant."""
        result, nil = self.result, self.result.nil
        notes = []
        if not result.same_lists and result.nil_is_right:
            notes.append(
                f"The original measures score the lists with {nil} as an answer; the primed "
                f"measures score the lists cut at {nil}."
            )
        right = f"{nil} as a right answer" if result.nil_is_right else "0"
        notes.append(f"If a query has nothing relevant, the original measures count {right}.")
        if any(lengths.at_limit for lengths in result.lengths.values()):
            notes.append("For such a query the primed measures count 0 for a list at the limit.")
        return " ".join(notes)

    def _agreement(self) -> Grid:
        """How far the two orderings of the runs agree (Table 3)."""
        pairs = self.result.pairs
        reasons = sorted({pair.undefined for pair in pairs if pair.undefined is not None})
        return Grid.of(
            [
                (Column("measures"), [f"{pair.original} / {pair.primed}" for pair in pairs]),
                (Column("Kendall's τ", "score"), [pair.kendall_tau for pair in pairs]),
                (Column("inverted", "count"), [len(pair.inverted) for pair in pairs]),
            ],
            title="Agreement of the two orderings of the runs",
            notes=[f"τ is undefined (–): {reason}." for reason in reasons],
        )

    def _inverted(self) -> Grid:
        columns = [Column("measures"), Column("ahead (original)"), Column("ahead (primed)")]
        columns += [Column("by", "score"), Column("by (primed)", "score", short="primed")]
        pairs = self.result.pairs
        rows: list[list[Cell]] = [
            [f"{pair.original} / {pair.primed}", *astuple(inversion)]
            for pair in pairs
            for inversion in pair.inverted[:NAMED]
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
        specs = {"lengths": self._lengths_chart()}
        for pair in self.result.pairs:
            item = known_measure(pair.original)
            name = (pair.original if item is None else item.name).lower()
            if f"original-primed-{name}" in specs:  # RBP with another p
                name = f"{name}-{len(specs)}"
            specs[f"original-primed-{name}"] = self._scores_chart(pair)
            specs[f"share-truncated-{name}"] = self._share_chart(pair)
        return specs

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
            {"run": run, "original": both.original, "primed": both.primed, "equal": both.original}
            for run, both in pair.scores.items()
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
            {"run": run, "truncated": 100 * lengths.share, "score": score, "measure": name}
            for run, lengths in self.result.lengths.items()
            if lengths.share is not None
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
        return replace(self.page().sections[0], name="truncation", title="Truncation")

    def title(self) -> str:
        """What its page is called."""
        return f"Truncation of {plural(len(self.result.lengths), 'run')}"
