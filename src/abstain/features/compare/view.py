import math
from collections.abc import Iterator, Sequence
from string import ascii_letters
from typing import Any

from msgspec.structs import replace

from abstain.errors import UsageError, option, plural
from abstain.features.compare import result as kinds
from abstain.features.compare import words
from abstain.features.compare.result import CompareResult, Origin, Pair, RunRow
from abstain.features.compare.words import heading, of_each
from abstain.report import view
from abstain.report.charts import chart, coloured, dots_and_spans
from abstain.report.grid import Cell, Column, Grid, columns_of
from abstain.report.leaderboard import dot_figure
from abstain.report.page import Figure, Page, PageTable, Section, page_of
from abstain.report.result import places
from abstain.report.view import listed, measure_summary

MOST_SLICES = 12
MOST_PAIRS = 60

MEASURE = Column("measure", means="what the two scores are by", plain=True)
ABOVE, BELOW = "†", "‡"


class View(view.View[CompareResult]):
    def tables(self, *, marks: bool = False, **options: Any) -> list[Grid]:
        c = self.result
        if marks:
            return [marked(c)]
        shown = list(c.pairs) if c.against or len(c.rows) == 2 else c.neighbours()
        grids = [self._runs(), self._pairs(shown)]
        for part in c.parts:
            if (origin := part.origin) is None:
                continue
            if part.pairs[0].difference is not None and not c.more:
                grids.append(self._moves(origin, "Where it comes from"))
            if origin.slices:
                title = f"Slices by {heading(c, part)}" if c.more else "Slices"
                grids.append(View(part)._slices(origin, MOST_SLICES, title))
        grids[-1].notes = words.sentences(self.result)
        return grids

    def whole(self, **options: Any) -> Grid:
        return self._pairs(list(self.result.pairs), full=True)

    def _runs(self, *, bars: bool = False) -> Grid:
        c, rows = self.result, self.result.rows
        if c.more:
            return systems(c, whole=bars)
        shown = {
            "bar": bars and rows[0].numbers,
            "interval": c.interval_method is not None,
            "group": c.grouped,
            "outcomes": rows[0].numbers,
            "unknown": any(row.bounds for row in rows),
        }
        names = [name for name, there in shown.items() if there]
        names = ["run", "scores", *names, "bounds", "corrected", "corrected_intervals"]
        low, high = ("worst", "best") if c.higher_is_better else ("best", "worst")
        return Grid.of_rows(kinds.RunRow, rows, *names, level=100 * c.level, low=low, high=high)

    def _pairs(self, pairs: Sequence[Pair], *, full: bool = False, verdicts: bool = False) -> Grid:
        """Differences with intervals and p, by every measure; `full` keeps every digit."""
        c, many = self.result, len(self.result.pairs) * len(self.result.parts) > 1
        names_of = {(pair.run, pair.against) for pair in pairs}
        by = [(k, p) for k in c.parts for p in k.pairs if (p.run, p.against) in names_of]
        pairs = [pair for _, pair in by]
        names = ["run", "against", "difference"]
        names += ["verdict"] if verdicts else []
        names += ["interval"] if full or c.interval_method is not None else []
        p_values = ("p", "p_adjusted") if full else ("shown_p", "shown_p_adjusted")
        columns = columns_of(Pair, pairs, *names, *p_values[: 1 + many], level=100 * c.level)
        if c.more:
            columns.insert(2, (MEASURE, [heading(c, part) for part, _ in by]))
        if c.of_scores:
            counts = ("wins", "ties", "losses") if full else ("record",)
            effects = [p.effect for p in pairs]
            columns += columns_of(kinds.Effect, effects, "standardised", *counts)
        title = "Neighbours" if len(pairs) < len(c.parts) * len(c.pairs) else ""
        return Grid.of(columns, title=title)

    def _moves(self, origin: Origin, title: str = "") -> Grid:
        pair = self.result.pairs[0]
        columns = [
            Column(f"{pair.against} → {pair.run}", means="first → second"),
            Column("questions", "count", plain=True),
            Column("worth", "score", means="how much these questions add to the difference"),
        ]
        rows: list[list[Cell]] = [[name, m.questions, m.worth] for name, m in origin.moves.items()]
        return Grid(columns, [*rows, ["the same", origin.same, 0.0]], title=title)

    def _slices(self, origin: Origin, most: int | None = None, title: str = "") -> Grid:
        pair, shown = self.result.pairs[0], []
        for attribute in dict.fromkeys(s.attribute for s in origin.slices):
            slices = [s for s in origin.slices if s.attribute == attribute]
            shown += slices[:most]
            if most is not None and len(slices) > most:
                title += f"; {most} of {len(slices)} parts by {attribute}"
        heads = {"run": pair.run, "against": pair.against, "measure": self.result.measure}
        names = ("attribute", "name", *kinds.OF_SLICES)
        return replace(Grid.of_rows(kinds.SliceShare, shown, *names, **heads), title=title)

    def charts(self) -> view.Charts:
        dots = self._dots(most=len(self.result.rows))
        for figure, c in zip(dots, self.result.parts, strict=False):
            spanned = f" with {100 * c.level:g} % intervals" if c.interval_method else ""
            figure.spec["title"] = c.measure + spanned
        return coloured({each.name: each.spec for each in (*dots, *differences(self.result))})

    def _dots(self, **most: Any) -> list[Figure]:
        figures: list[Figure] = []
        for number, c in enumerate(self.result.parts):
            rows = [(row.run, row.score, *row.interval) for row in c.rows]
            figures += dot_figure(f"scores{number or ''}", rows, c.measure, **most)
        return figures

    def page(self) -> Page:
        c = self.result
        lead, *rest = of_each(c, words.verdict)
        if len(c.rows) > 2 and (best := c.rows[0]).score is not None:
            of_best = f"{best.run} ({c.measure} {best.score:.4f}){words.distinct_from(c, best.run)}"
            lead, rest = f"The best run is {of_best}.", [lead, *rest]
        return page_of(
            c,
            f"{plural(len(c.rows), 'run')} compared by {listed([k.measure for k in c.parts])}",
            lead,
            self._sections(rest),
            how=[text for text in words.sentences(self.result) if text not in (lead, *rest)],
        )

    def _sections(self, sentences: list[str]) -> Iterator[Section]:
        c = self.result
        runs = [PageTable("runs", "Runs", "", self._runs(bars=True))]
        more: dict[str, Any] = {"key": True, "tables": runs, "figures": self._dots()}
        yield Section("leaderboard", "Runs", sentences, **more)
        pairs = PageTable(
            "pairs",
            "All pairs",
            "The score of the first run minus that of the second.",
            self._pairs(c.pairs, verdicts=True),
            filters=("run", "against", *["measure"][: len(c.more)], "verdict"),
            beneath=("against", *["measure"][: len(c.more)]),
        )
        yield Section("pairs", "Pairs", figures=[*differences(c)], tables=[pairs])
        if (origin := c.origin) is not None:
            tables = [PageTable("moves", "Moves", "", self._moves(origin))]
            if origin.slices:
                tables.append(PageTable("parts", "Slices", "", self._slices(origin)))
            yield Section("origin", "Where the difference comes from", tables=tables)


def differences(c: CompareResult) -> Iterator[Figure]:
    names = ("pair", "difference", "low", "high", "p")
    for number, part in enumerate(c.parts):
        known = [p for p in part.pairs if p.difference is not None]
        rows = [(f"{p.run} − {p.against}", p.difference, *p.interval, p.p_adjusted) for p in known]
        data = [dict(zip(names, row, strict=True)) for row in rows]
        if not 0 < len(data) <= MOST_PAIRS:
            continue
        pairs = [str(row["pair"]) for row in data]
        span, dots = dots_and_spans("difference", "pair", pairs, x_title="difference")
        dots["encoding"]["y"]["axis"] = span["encoding"]["y"]["axis"] = {"labelLimit": 260}
        dashed = {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"}
        zero = {"mark": dashed, "encoding": {"x": {"datum": 0}}}
        spec = chart("", data, [span, zero, dots], height=max(80, 22 * len(data)))
        caption = f"{plural(len(data), 'difference')}, with intervals where there are some."
        title = f"Differences in {part.measure}"
        yield Figure(f"differences{number or ''}", caption, spec, title=title)


def _score(c: CompareResult, part: CompareResult) -> tuple[Column, list[Cell]]:
    means = measure_summary(part.measure.removeprefix("mean "))
    return Column(heading(c, part), "score", means=means), [row.score for row in part.rows]


def systems(c: CompareResult, *, whole: bool = False) -> Grid:
    columns = columns_of(RunRow, c.rows, "run", *["bar"][: whole and bool(c.rows[0].numbers)])
    for part in c.parts:
        columns.append(_score(c, part))
        if whole and part.interval_method is not None:
            level = {"level": 100 * c.level}
            ends = columns_of(RunRow, part.rows, "interval", **level)
            columns += [(replace(column, joined=True), cells) for column, cells in ends]
        if part.grouped:
            columns.append((replace(kinds.GROUP, joined=True), [row.group for row in part.rows]))
    return Grid.of(columns)


def beaten(part: CompareResult) -> Iterator[tuple[str, str]]:
    """Each pair whose difference is significant: the better run and the other one."""
    for pair in part.pairs:
        if pair.differs and pair.difference:
            better = (pair.difference > 0) == part.higher_is_better
            yield (pair.run, pair.against) if better else (pair.against, pair.run)


def marked(c: CompareResult) -> Grid:
    """Runs by measures as a paper shows them: the best in bold, marks where a run is better."""
    runs = [row.run for row in c.rows]
    if len(runs) > len(ascii_letters) and c.against is None:
        fewer = f"compare all with one: {option('against', 'RUN')}"
        raise UsageError(
            f"there are only {len(ascii_letters)} letters for {len(runs)} runs; {fewer}"
        )
    letter = dict(zip(runs, ascii_letters, strict=False))
    columns: list[tuple[Column, list[Cell]]] = columns_of(RunRow, c.rows, "run")
    if c.against is None:
        columns.insert(0, (Column(), [*letter.values()]))
    marks, bold = {}, set()
    for part in c.parts:
        at, pairs = len(columns), set(beaten(part))
        columns.append(_score(c, part))
        scores = [math.nan if row.score is None else row.score for row in part.rows]
        place = places(scores, higher_is_better=part.higher_is_better)
        bold |= {(row, at) for row, text in enumerate(place) if text.rstrip("=") == "1"}
        for row, run in enumerate(runs):
            if c.against is None:
                marks[row, at] = "".join(letter[other] for other in runs if (run, other) in pairs)
            else:
                better, worse = (run, c.against) in pairs, (c.against, run) in pairs
                marks[row, at] = ABOVE * better + BELOW * worse
    return Grid.of(columns, marks=marks, bold=bold, caption=caption(c))


def caption(c: CompareResult) -> str:
    if c.against is None:
        what = "Superscripts name the runs that a run is significantly better than"
    else:
        what = f"{ABOVE}: significantly better than {c.against}, {BELOW}: significantly worse"
    every = [pair.differs for part in c.parts for pair in part.pairs]
    how = f"{words.test_text(c)}; {words.corrected_text(c)}; {100 * c.alpha:g} % level"
    texts = [f"{what} ({how}; {plural(len(every), 'comparison')})."]
    if untested := every.count(None):
        texts.append(f"{plural(untested, 'comparison has', 'comparisons have')} no verdict.")
    low = [heading(c, part) for part in c.parts if not part.higher_is_better]
    texts.append(f"Bold: the best by each measure{f' (low is good: {listed(low)})' * bool(low)}.")
    if len({part.questions for part in c.parts}) == 1:
        texts.append(f"{kinds.units_text(c.questions, c.unit)}.")
    return " ".join(texts)
