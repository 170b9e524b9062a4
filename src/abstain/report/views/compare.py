"""How a comparison looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abstain.analyses.compare.result import CompareResult, Pair
from abstain.errors import plural
from abstain.report import compare_method as method
from abstain.report import compare_words as words
from abstain.report import view
from abstain.report.campaign.headings import explained_on
from abstain.report.charts import cells, chart, coloured, points
from abstain.report.compare_words import p_text, units
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.rewards import measure_facts
from abstain.report.shared import MOST_DOTS, known_measure, page_of, score_figure
from abstain.report.words import count_text, number, policy_words, sentence, undefined_sentences
from abstain.stats.functional import THREE

MOST_SLICES = 12
MOST_PAIRS, MOST_SQUARE = 60, 60
WON = ("won", "tied", "lost")
VERDICTS = {None: "not tested", True: "differ", False: "not told apart"}
"""What a test says of a pair, by whether it differs."""


class View(view.View[CompareResult]):
    """Runs with intervals and groups, pairs with p-values, where a difference comes from."""

    def tables(self, *, digits: int = 4, **options: Any) -> list[Grid]:
        """The runs, their pairs, and of two runs the moves and slices; words below the last."""
        c = self.result
        shown = list(c.pairs) if c.against or len(c.rows) == 2 else c.neighbours()
        grids = [self._runs(), self._pairs(shown)]
        if c.origin is not None:
            if c.pairs[0].difference is not None:
                grids.append(self._moves())
            if c.origin.slices:
                grids.append(self._slices())
        grids[-1].notes = [*self.sentences(), *method.rounded_away(c, digits)]
        return grids

    def whole(self, **options: Any) -> Grid:
        """Every pair, with every digit."""
        return self._pairs(list(self.result.pairs), full=True)

    def line(self) -> str:
        c = self.result
        return f"<CompareResult: {plural(len(c.rows), 'run')} by {c.measure}, {c.test}>"

    def sentences(self) -> list[str]:
        """What follows, in words."""
        c = self.result
        return [*self._before(), *words.verdict(c), *self._after(), *self._policy()]

    def _before(self) -> list[str]:
        c = self.result
        return [words.what(c), *undefined_sentences((row.run, row.undefined) for row in c.rows)]

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
        return policy_words(c.policy, c.touched)

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
        groups: tuple[Column, list[Cell]] = (Column("group"), [row.group for row in rows])
        if c.grouped and bars:
            found.append(groups)
        if c.interval_method is not None:
            for end, name in enumerate(("low", "high")):
                found.append((Column(name, "score"), [row.interval[end] for row in rows]))
        if c.grouped and not bars:
            found.append(groups)
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

    def _pairs(self, pairs: list[Pair], *, full: bool = False, told: bool = False) -> Grid:
        """Differences with intervals and p; `full` keeps every digit, `told` says what follows."""
        c = self.result
        many = len(c.pairs) > 1
        columns = [Column("run"), Column("against"), Column("difference", "score")]
        ends = full or c.interval_method is not None
        columns += [Column("verdict")] if told else []
        columns += [Column("low", "score"), Column("high", "score")] if ends else []
        columns += [Column("p", "score")] + ([Column("p, corrected", "score")] if many else [])
        if c.of_scores:
            columns.append(Column("d", "score"))
            columns += [Column(name, "count") for name in WON] if full else [Column("W/T/L")]
        rows: list[list[Cell]] = []
        for pair in pairs:
            cells: list[Cell] = [pair.run, pair.against, pair.difference]
            cells += [VERDICTS[pair.differs]] if told else []
            cells += pair.interval if ends else ()
            p = [pair.p, pair.p_adjusted] if many else [pair.p]
            cells += p if full else [p_text(x) for x in p]
            if c.of_scores:
                cells += _effect(pair, full=full)
            rows.append(cells)
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

    def charts(self) -> dict[str, dict[str, Any]]:
        """Scores with their intervals, differences, and of two runs the moves."""
        figures = [*_differences_figure(self.result), *_moves_figure(self.result)]
        drawn = {figure.name: figure.spec for figure in figures}
        return coloured(_scores_chart(self.result) | drawn)

    def page(self) -> Page:
        """Runs with intervals and groups, their pairs, where a difference comes from."""
        c = self.result
        lead, *verdict = [*words.best(c), *words.verdict(c)]
        return page_of(
            c,
            f"{plural(len(c.rows), 'run')} compared by {c.measure}",
            lead,
            self._sections(verdict),
            ("measure", c.measure),
            ("questions", f"{c.questions:,}"),
            ("intervals", c.interval_method and f"{100 * c.level:g} %, {c.interval_method}"),
            ("test", f"{c.test}, {_how_tested(c)}".removesuffix(", ")),
            ("correction", c.correction),
            ("against", c.against),
            ("cluster", c.cluster),
            said=[*self._policy(), *self._before(), *self._after()],
        )

    def _sections(self, verdict: list[str]) -> Iterator[Section]:
        c = self.result
        ends = c.interval_method is not None
        runs = PageTable("runs", "Runs", "", self._told("runs", self._runs(bars=True)))
        figures = _scores_figure(c)
        yield Section("leaderboard", "Runs", said=verdict, key=True, tables=[runs], figures=figures)
        said = "The score of the first run minus that of the second"
        pairs = PageTable(
            "pairs",
            "All pairs",
            said + (", with its interval." if ends else "."),
            self._told("pairs", self._pairs(list(c.pairs), told=True)),
            filters=("run", "against", "verdict"),
            beneath=("against",),
        )
        yield Section("pairs", "Pairs", figures=list(_differences_figure(c)), tables=[pairs])
        if c.origin is not None:
            yield self._origin_section()
        if (item := known_measure(c.measure)) is not None:
            yield Section("measure", "What is rewarded", facts=measure_facts(item))

    def _told(self, table: str, grid: Grid) -> Grid:
        """A table with what its headings mean."""
        c = self.result
        return explained_on(table, grid, c.measure, level=c.level, runs=[row.run for row in c.rows])

    def _origin_section(self) -> Section:
        o = self.result.origin
        assert o is not None
        columns = [Column("from → to"), Column("questions", "count"), Column("worth", "score")]
        moves: list[list[Cell]] = [
            [name, own.questions, own.worth] for name, own in o.transitions.items()
        ]
        reading = (
            "How much each change of outcome, from the second run to the first, adds to the "
            "difference."
        )
        tables = [PageTable("moves", "Moves", reading, self._told("moves", Grid(columns, moves)))]
        if o.slices:
            grid = self._slices(most=None)
            own = self._told("parts_of", Grid(grid.columns, grid.rows))
            tables.append(PageTable("parts", "Slices", "", own))
        one = [Column("question"), Column("contributes", "score")]
        each: list[list[Cell]] = [[name, value] for name, value in o.contributions.items()]
        told = self._told("contributions", Grid(one, each))
        every = PageTable("contributions", "Every question", "", told)
        return Section(
            "origin",
            "Where the difference comes from",
            figures=list(_moves_figure(self.result)),
            tables=tables,
            folded=[every] if each else [],
        )


def _effect(pair: Pair, *, full: bool) -> list[Cell]:
    """The standardised difference, and on how many topics the run is better, equal, worse."""
    own = pair.effect
    if own is None:
        return [None] * (1 + len(WON) if full else 2)
    counts: list[Cell] = [own.wins, own.ties, own.losses]
    return [own.standardised, *(counts if full else ["/".join(map(str, counts))])]


def _how_tested(c: CompareResult) -> str:
    """Whether p is exact, or by how many trials."""
    if all(pair.exact for pair in c.pairs):
        return "exact"
    return f"{c.trials:,} trials" if c.test in method.BY_TRIALS else ""


def _scores_figure(c: CompareResult, *, most: int = MOST_DOTS) -> list[Figure]:
    """Scores as dots with their intervals, where two runs have one."""
    rows = [(row.run, row.score, *row.interval) for row in c.rows]
    return score_figure("scores", rows, c.measure, most=most)


def _scores_chart(c: CompareResult) -> dict[str, dict[str, Any]]:
    """The scores of all runs as a chart that stands alone: with a title and the runs' groups."""
    figures = _scores_figure(c, most=len(c.rows))
    if not figures:
        return {}
    spec, spanned = figures[0].spec, c.interval_method is not None
    spec["title"] = {
        "text": c.measure + (f" with {100 * c.level:g} % intervals" if spanned else ""),
        "subtitle": units(c.questions, c.unit) + (f"; {c.interval_method}" if spanned else ""),
    }
    if c.grouped and spanned:
        groups = {row.run: row.group for row in c.rows}
        for row in spec["data"]["values"]:
            row["group"] = groups.get(row["run"], "")
        dots = spec["layer"][-1]["encoding"]
        letters = {"x": {**dots["x"], "field": "high"}, "y": dots["y"], "text": {"field": "group"}}
        mark = {"type": "text", "align": "left", "dx": 6, "fontSize": 9}
        spec["layer"].append({"mark": mark, "encoding": letters})
    return {"scores": spec}


def _differences_figure(c: CompareResult) -> Iterator[Figure]:
    """Every pair with its interval; of many pairs the square of all runs."""
    if len(c.pairs) > MOST_PAIRS:
        yield from _square(c)
        return
    drawn = [p for p in c.pairs if p.difference is not None]
    if not drawn:
        return
    data = [
        {
            "pair": f"{p.run} − {p.against}",
            "difference": p.difference,
            "low": p.interval[0],
            "high": p.interval[1],
            "p": p.p_adjusted,
        }
        for p in drawn
    ]
    names = [str(row["pair"]) for row in data]
    dots = points("difference", "pair", y_type="nominal", y_title=" ", sort=names)
    span = points("low", "pair", y_type="nominal", y_title=" ", sort=names)
    span["encoding"]["x"]["title"] = dots["encoding"]["x"]["title"] = "difference"
    span["mark"] = {"type": "rule", "strokeWidth": 3, "color": "#56b4e9"}
    span["encoding"]["x2"] = {"field": "high"}
    zero = {
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"},
        "encoding": {"x": {"datum": 0}},
    }
    dots["mark"] |= {"size": 55, "opacity": 1}
    dots["encoding"]["y"]["axis"] = span["encoding"]["y"]["axis"] = {"labelLimit": 260}
    spec = chart("", data, [span, zero, dots], height=max(80, 22 * len(data)))
    title = f"Differences in {c.measure}"
    yield Figure("differences", _caption(drawn), spec, title=title)


def _caption(drawn: list[Pair]) -> str:
    """Of one difference its numbers, of several how many there are."""
    spanned = any(p.interval[0] is not None for p in drawn)
    if len(drawn) > 1:
        chance = " with intervals; a difference whose interval contains 0 may be chance."
        rest = chance if spanned else "."
        return plural(len(drawn), "difference") + rest
    (one,) = drawn
    low, high = (number(end) for end in one.interval)
    span = f"interval {low} to {high}, " if spanned else ""
    return f"{one.run} minus {one.against}: {number(one.difference)}, {span}p {p_text(one.p)}."


def _square(c: CompareResult) -> Iterator[Figure]:
    """Runs against runs, coloured where they differ."""
    runs = [row.run for row in c.rows]
    if len(runs) > MOST_SQUARE:
        return
    square = [
        {"run": a, "against": b, "difference": sign * p.difference, "p": p.p_adjusted}
        for p in c.pairs
        if p.difference is not None and p.differs
        for a, b, sign in ((p.run, p.against, 1), (p.against, p.run, -1))
    ]
    layer = cells("against", "run", "difference")
    layer["encoding"]["x"] |= {"sort": runs, "scale": {"domain": runs}, "title": "against"}
    layer["encoding"]["x"]["axis"] = {"labelOverlap": True}
    layer["encoding"]["y"] |= {"sort": runs, "scale": {"domain": runs}, "title": None}
    layer["encoding"]["color"]["scale"] = {"scheme": "blueorange", "domainMid": 0}
    caption = (
        f"The colour shows the difference, for the {len(square) // 2:,} of "
        f"{plural(len(c.pairs), 'pair')} that differ at the {100 * c.alpha:.3g} % level; the "
        "others cannot be told apart and are blank."
    )
    spec = chart("", square, [layer], height=max(160, 15 * len(runs)))
    yield Figure("differences", caption, spec, title="Which runs can be told apart")


def _moves_figure(c: CompareResult) -> Iterator[Figure]:
    """How many questions went from which outcome to which, of two runs."""
    o = c.origin
    if o is None:
        return
    data = [
        {"was": was, "is": now, "questions": own.questions}
        for (was, now), own in ((name.split(" → "), own) for name, own in o.transitions.items())
    ]
    pair = c.pairs[0]
    titles = {"x_title": f"outcome of {pair.run}", "y_title": f"outcome of {pair.against}"}
    layer = cells("is", "was", "questions", sort=THREE.names, **titles)
    layer["encoding"]["x"]["axis"] = {"labelAngle": 0}
    layer["encoding"]["color"]["scale"] = {"scheme": "blues"}
    total = [own.questions for own in o.transitions.values()]
    text = {
        "mark": {"type": "text", "fontSize": 13},
        "encoding": {
            **{axis: dict(layer["encoding"][axis]) for axis in ("x", "y")},
            "text": {"field": "questions", "type": "quantitative"},
            "color": {
                "condition": {
                    "test": f"datum.questions > {max(total, default=0) / 2}",
                    "value": "white",
                },
                "value": "#17202b",
            },
        },
    }
    same = f"{count_text(o.same)} of {count_text(sum(total))} questions keep their outcome"
    caption = f"From {pair.against} to {pair.run}, {same}."
    if o.knowing is not None:
        caption += (
            f" Of the difference, {number(o.knowing)} comes from knowing and "
            f"{number(o.abstaining)} from choosing blanks."
        )
    yield Figure("moves", caption, chart("", data, [layer, text], height=180), title="Moves")
