"""How a comparison looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abstain.analyses.compare.result import CompareResult, Pair
from abstain.errors import plural
from abstain.report import compare_method as method
from abstain.report import compare_words as words
from abstain.report import view
from abstain.report.compare_charts import (
    differences_figure,
    moves_figure,
    scores_chart,
    scores_figure,
)
from abstain.report.compare_words import p_text
from abstain.report.grid import Cell, Column, Grid
from abstain.report.pieces import Page, PageTable, Section
from abstain.report.rewards import measure_facts
from abstain.report.shared import known_measure, page_of
from abstain.report.words import policy_sentence, sentence
from abstain.stats.functional import THREE

MOST_SLICES = 12


class View(view.View[CompareResult]):
    """Runs with intervals and groups, pairs with p-values, where a difference comes from."""

    def tables(self, *, digits: int = 4, **options: Any) -> list[Grid]:
        """The runs, their pairs, and of two runs the moves and slices; words below the last."""
        grids = [self._runs(), self._pairs(self._shown())]
        origin = self.result.origin
        if origin is not None:
            if self.result.pairs[0].difference is not None:
                grids.append(self._moves())
            if origin.slices:
                grids.append(self._slices())
        grids[-1].notes = [*self.sentences(), *method.rounded_away(self.result, digits)]
        return grids

    def whole(self, **options: Any) -> Grid:
        """Every pair, with every digit."""
        return self._pairs(list(self.result.pairs), full=True)

    def line(self) -> str:
        """What was compared by what."""
        c = self.result
        return f"<CompareResult: {plural(len(c.rows), 'run')} by {c.measure}, {c.test}>"

    # --------------------------------------------------------------------------- in words

    def sentences(self) -> list[str]:
        """What follows, in words."""
        c = self.result
        return [*self._before(), *words.verdict(c), *self._after(), *self._policy()]

    def _before(self) -> list[str]:
        return [words.what(self.result), *words.undefined(self.result)]

    def _after(self) -> list[str]:
        c, names = self.result, [row.run for row in self.result.rows]
        return [
            *words.origin(c),
            *method.bounds(c),
            *method.corrected(c),
            *method.plan(c),
            *method.how(c),
            *method.odd_intervals(c),
            *(sentence(note, names) for note in method.notes(c)),
        ]

    def _policy(self) -> list[str]:
        c = self.result
        return [policy_sentence(c.policy, c.touched)] if c.policy else []

    # -------------------------------------------------------------------------- the tables

    def _runs(self, *, bars: bool = False) -> Grid:
        """The runs with their intervals and groups; a page has bars of outcomes."""
        c, rows = self.result, self.result.rows
        found: list[tuple[Column, list[Cell]]] = [
            (Column("run"), [row.run for row in rows]),
            (Column(c.measure, "score"), [row.score for row in rows]),
        ]
        counts = [row.counts for row in rows]
        three: list[tuple[float, float, float] | None] = [
            None if k is None else (k.right, k.wrong, k.unanswered) for k in counts
        ]
        counted = all(k is not None for k in counts)
        if bars and counted:
            found.append((Column("outcomes", "bar"), list(three)))
        if c.interval_method is not None:
            for end, name in enumerate(("low", "high")):
                found.append((Column(name, "score"), [row.interval[end] for row in rows]))
        if c.grouped:
            found.append((Column("group"), [row.group for row in rows]))
        if counted:
            for at, name in enumerate(THREE.names):
                found.append((Column(name, "count"), [k and k[at] for k in three]))
        found += self._further()
        return Grid.of(found)

    def _further(self) -> Iterator[tuple[Column, list[Cell]]]:
        """Columns of what unknown responses leave open and of what a judge's errors hide."""
        c, rows = self.result, self.result.rows
        if any(row.bounds for row in rows):
            bounds = [row.bounds.get(c.measure, (None, None)) for row in rows]
            worst = 0 if c.higher_is_better else 1
            yield Column("unknown", "count"), [row.unknown for row in rows]
            yield Column("worst", "score"), [own[worst] for own in bounds]
            yield Column("best", "score"), [own[1 - worst] for own in bounds]
        if any(row.corrected for row in rows):
            spans = [row.corrected_intervals.get(c.measure, (None, None)) for row in rows]
            yield Column("corrected", "score"), [row.corrected.get(c.measure) for row in rows]
            yield Column("its low", "score", joined=True), [low for low, _ in spans]
            yield Column("its high", "score", joined=True), [high for _, high in spans]

    def _shown(self) -> list[Pair]:
        c = self.result
        return list(c.pairs) if c.against or len(c.rows) == 2 else c.neighbours()

    def _pairs(self, pairs: list[Pair], *, full: bool = False, told: bool = False) -> Grid:
        """Differences with intervals and p; `full` keeps every digit, `told` says what follows."""
        c = self.result
        many = len(c.pairs) > 1
        columns = [Column("run"), Column("against"), Column("difference", "score")]
        ends = full or c.interval_method is not None
        columns += [Column("low", "score"), Column("high", "score")] if ends else []
        columns += [Column("p", "score")] + ([Column("p, corrected", "score")] if many else [])
        columns += [Column("verdict")] if told else []
        rows: list[list[Cell]] = []
        for pair in pairs:
            cells: list[Cell] = [pair.run, pair.against, pair.difference]
            cells += pair.interval if ends else ()
            p = [pair.p, pair.p_adjusted] if many else [pair.p]
            cells += p if full else [p_text(x) for x in p]
            rows.append([*cells, _told(pair)] if told else cells)
        title = "" if full or told or not many or c.against else "Neighbours"
        return Grid(columns, rows, title=title)

    def _moves(self) -> Grid:
        """Each kind of move, how many questions made it, what it is worth."""
        pair, origin = self.result.pairs[0], self.result.origin
        assert origin is not None
        columns = [Column(f"{pair.against} → {pair.run}"), Column("questions", "count")]
        moves = sorted(origin.moves.items(), key=lambda item: -abs(item[1].worth or 0))
        rows: list[list[Cell]] = [[name, own.questions, own.worth] for name, own in moves]
        rows.append(["the same", origin.same, 0.0])
        return Grid([*columns, Column("worth", "score")], rows, title="Where it comes from")

    def _slices(self, most: int | None = MOST_SLICES) -> Grid:
        """The slices by what they contribute; of each attribute the largest."""
        pair, origin = self.result.pairs[0], self.result.origin
        assert origin is not None
        columns = [Column("slice"), Column("part"), Column("questions", "count")]
        columns += [Column(pair.run, "score"), Column(pair.against, "score")]
        columns += [Column("difference", "score"), Column("contributes", "score")]
        rows: list[list[Cell]] = []
        title = "Slices"
        for attribute in dict.fromkeys(s.attribute for s in origin.slices):
            own = [s for s in origin.slices if s.attribute == attribute]
            rows += [
                [
                    *(attribute, s.name, s.questions),
                    *(s.score, s.score_against, s.difference, s.contribution),
                ]
                for s in own[:most]
            ]
            if most is not None and len(own) > most:
                title += f"; {most} of {len(own)} parts by {attribute}"
        return Grid(columns, rows, title=title)

    # ------------------------------------------------------------------------ charts, page

    def charts(self) -> dict[str, dict[str, Any]]:
        """Scores with their intervals, differences, and of two runs the moves."""
        figures = [*differences_figure(self.result), *moves_figure(self.result)]
        return scores_chart(self.result) | {figure.name: figure.spec for figure in figures}

    def page(self) -> Page:
        """Runs with intervals and groups, their pairs, where a difference comes from."""
        c = self.result
        lead, *verdict = words.verdict(c)
        return page_of(
            c,
            f"{plural(len(c.rows), 'run')} compared by {c.measure}",
            lead,
            self._sections(verdict),
            ("measure", c.measure),
            ("questions", f"{c.questions:,}"),
            ("intervals", c.interval_method and f"{100 * c.level:g} %, {c.interval_method}"),
            ("test", f"{c.test}, {self._drawn()}"),
            ("correction", c.correction),
            ("against", c.against),
            ("cluster", c.cluster),
            said=[*self._policy(), *self._before(), *self._after()],
        )

    def _drawn(self) -> str:
        """How p-values were counted."""
        c = self.result
        exact = c.pairs and all(pair.exact for pair in c.pairs)
        return "exact" if exact else f"{c.trials:,} trials"

    def _sections(self, verdict: list[str]) -> Iterator[Section]:
        c = self.result
        ends = c.interval_method is not None
        reading = ["Low and high are the ends of an interval."] if ends else []
        reading += ["Runs that share a group cannot be told apart."] if c.grouped else []
        runs = PageTable("runs", "Runs", " ".join(reading), self._runs(bars=True))
        figures = scores_figure(c)
        yield Section("leaderboard", "Runs", said=verdict, key=True, tables=[runs], figures=figures)
        said = "The score of the first run minus that of the second"
        pairs = PageTable(
            "pairs",
            "All pairs",
            said + (", with its interval." if ends else "."),
            self._pairs(list(c.pairs), told=True),
            filters=("run", "against", "verdict"),
        )
        yield Section("pairs", "Pairs", figures=list(differences_figure(c)), tables=[pairs])
        if c.origin is not None:
            yield self._origin_section()
        if (item := known_measure(c.measure)) is not None:
            yield Section("measure", "What is rewarded", facts=measure_facts(item))

    def _origin_section(self) -> Section:
        o = self.result.origin
        assert o is not None
        columns = [Column("from → to"), Column("questions", "count"), Column("worth", "score")]
        moves: list[list[Cell]] = [
            [name, own.questions, own.worth] for name, own in o.transitions.items()
        ]
        reading = "What each kind of move is worth."
        tables = [PageTable("moves", "Moves", reading, Grid(columns, moves))]
        if o.slices:
            grid = self._slices(most=None)
            tables.append(PageTable("parts", "Slices", "", Grid(grid.columns, grid.rows)))
        one = [Column("question"), Column("contributes", "score")]
        each: list[list[Cell]] = [[name, value] for name, value in o.contributions.items()]
        every = PageTable("contributions", "Every question", "", Grid(one, each))
        return Section(
            "origin",
            "Where the difference comes from",
            figures=list(moves_figure(self.result)),
            tables=tables,
            folded=[every] if each else [],
        )


def _told(pair: Pair) -> str:
    if pair.differs is None:
        return "not tested"
    return "differ" if pair.differs else "not told apart"
