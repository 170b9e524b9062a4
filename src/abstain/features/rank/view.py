import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from abstain.errors import UsageError, option, plural, shown, some_of
from abstain.features.rank import analysis, truncation
from abstain.features.rank.analysis import RATES, RankResult, Rate
from abstain.measures import Measure
from abstain.measures.kinds import RankingMeasure
from abstain.measures.trec_eval import RUN_ID, printed_name
from abstain.report import view
from abstain.report.charts import coloured
from abstain.report.grid import Cell, Column, Grid
from abstain.report.leaderboard import first_sentence, score_figures
from abstain.report.page import Figure, Page, page_of
from abstain.report.view import first_few, known_measure, sentence, undefined_words

ALL = "all"
"""In place of a query's name: the mean over all of them; in brackets where one is called so."""


class View(view.View[RankResult]):
    def tables(self, **options: Any) -> list[Grid]:
        report = self.result.truncation
        more = [self._silence()] if self.result.silence else []
        more += [] if report is None else truncation.View(report).tables()
        return [self._with_counts(self._scores()), *more]

    def _silence(self) -> Grid:
        rates = self.result.silence
        grid = Grid.of_rows(Rate, rates, *Rate.__struct_fields__)
        grid.breaks = {at for at, each in enumerate(rates) if each.rate == rates[0].rate}
        grid.title = f"Returning nothing, with exact intervals ({100 * self.result.level:g} %)"
        grid.notes = [f"{'; '.join(f'{name}: {means}' for name, means in RATES)}."]
        return grid

    def whole(self, **options: Any) -> Grid:
        result = self.result
        scores = self._scores(*(["over"] if self._differ and not result.per_query else []))
        asked = "silence" if result.silence else "truncation" if result.truncation else ""
        if asked and (result.by or result.per_query):
            left_out = f"leave out {option('by')} and {option('per_query')}, or use JSON"
            raise UsageError(f"with {option(asked)}, CSV has one row for each run: {left_out}")
        scores = _with_rates(scores, result.silence)
        if result.truncation is None:
            return scores
        return truncation.View(result.truncation).beside(scores)

    def _scores(self, *more: str) -> Grid:
        result, settings = self.result, self.result.settings
        counts = ["queries"] if result.by else []
        if not result.per_query:
            counts += ["missing"] if any(each.missing for each in result.lists) else []
            ends = settings.nil is not None or settings.limit is not None
            counts += ["truncated"] if ends else []
        names = ("rank", "run", "slice", "scores", *counts, *more)
        grid, rows = _counted(Grid.of_rows(analysis.RankRow, result.rows, *names)), result.rows
        grid.breaks = {i for i, row in enumerate(rows) if not i or row.slice != rows[i - 1].slice}
        runs = {each.run for each in result.lists}
        grid.notes = [sentence(note, runs) for note in _list_notes(result)]
        grid.notes += undefined_words(result.rows)
        return self._with_queries(grid) if result.per_query else grid

    @cached_property
    def _differ(self) -> bool:
        return any(len(set(row.over.values())) > 1 for row in self.result.rows)

    def _with_counts(self, grid: Grid) -> Grid:
        """The table with how many queries means are over in their headings where these differ.

        AP (75) beside P@10 (93); in a terminal those over all queries go without.
        """
        rows = self.result.rows
        for at, column in enumerate(grid.columns if self._differ else ()):
            if counts := [row.over[column.name] for row in rows if column.name in row.over]:
                ends = "–".join(f"{end:,}" for end in sorted({min(counts), max(counts)}))
                short = column.name if counts == [row.queries for row in rows] else ""
                grid.columns[at] = replace(column, name=f"{column.name} ({ends})", short=short)
        return grid

    def _with_queries(self, means: Grid) -> Grid:
        result, at = self.result, 2 + len(self.result.by)
        overall = ALL
        while overall in {row.query for row in result.per_query}:
            overall = f"({overall})"
        single: dict[tuple[str | None, ...], list[list[Cell]]] = {}
        queries = Grid.of_rows(
            analysis.QueryRow, result.per_query, "run", "slice", "query", "scores"
        )
        for one, cells in zip(result.per_query, queries.rows, strict=True):
            row = ["", *cells, *([1] if result.by else [])]
            single.setdefault((one.run, *one.slice.values()), []).append(row)
        grid = replace(means, rows=[], breaks=set())
        grid.columns = [*means.columns[:at], Column("query"), *means.columns[at:]]
        for mean, cells in zip(result.rows, means.rows, strict=True):
            grid.breaks.add(len(grid.rows))
            grid.rows += single.get((mean.run, *mean.slice.values()), [])
            grid.rows.append([*cells[:at], overall, *cells[at:]])
        return grid

    def trec_eval(self) -> str:
        """The scores of each query, where they were asked for, and of all; nan where there is none.

        Measures have trec_eval's names where it has them. Of several runs each begins with its
        name.
        """
        if self.result.by:
            raise UsageError(f"trec_eval has no slices: leave out {option('by')}")
        cells = _trec_cells(self.result)
        return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in cells)

    def charts(self) -> view.Charts:
        specs = {figure.name: figure.spec for figure in self._figures()}
        report = self.result.truncation
        return coloured(specs | ({} if report is None else truncation.View(report).charts()))

    def _figures(self) -> list[Figure]:
        return list(score_figures(self.result.rows, self.result.measures[0]))

    def page(self) -> Page:
        result, name = self.result, self.result.measures[0]
        (section,) = super().page().sections
        captioned = {figure.name: figure for figure in self._figures()}
        figures = [captioned.get(figure.name, figure) for figure in section.figures]
        lead = first_sentence(result.rows, name, test="`abstain compare --scores`")
        title = f"{name} of {plural(len(result.lists), 'run')}"
        return page_of(result, title, lead, [replace(section, figures=figures)], how=())


def _with_rates(scored: Grid, rates: tuple[Rate, ...]) -> Grid:
    run = [column.name for column in scored.columns].index("run")
    cells = {(each.run, each.rate): (each.value, each.low, each.high) for each in rates}
    names = list(dict.fromkeys(each.rate for each in rates))
    rows = [[*row, *(c for n in names for c in cells[str(row[run]), n])] for row in scored.rows]
    ends = [Column(f"{name}{end}", "score") for name in names for end in ("", " low", " high")]
    return Grid([*scored.columns, *ends], rows, notes=scored.notes)


def _counted(grid: Grid) -> Grid:
    """A table whose measures that add up over queries are counts."""
    for at, column in enumerate(grid.columns):
        item = known_measure(column.name)
        if item is not None and item.definition.total:
            grid.columns[at] = replace(column, kind="count")
    return grid


def _list_notes(result: RankResult) -> Iterator[str]:
    settings = result.settings
    items = (known_measure(name) for name in result.measures)
    measures = [item for item in items if isinstance(item, RankingMeasure)]
    yield _queries(result, measures)
    yield from _too_low(result, measures)
    if some := [f"{r.run} lacks {_of_queries(r.missing)}" for r in result.lists if r.missing]:
        becomes = "left out" if settings.missing == "skip" else "counted as empty lists"
        yield f"missing queries, {becomes}: {first_few(some)}"
    if (unjudged := result.unjudged) is not None:
        queries = f"{_of_queries(unjudged.queries)} of the runs"
        yield f"not judged, and not scored: {queries} ({some_of(unjudged.first)})"
    if settings.nil is not None or settings.limit is not None:
        yield _ends(result)
        full = result.full_for_nothing
        for count in dict.fromkeys(full.values()):
            names = ", ".join(name for name, lists in full.items() if lists == count)
            yield f"{plural(count, 'list')} at the limit, though nothing is relevant: 0 by {names}"
    elif any(m.definition.knows_end for m in measures):
        yield "there is no limit: every list counts as ended by its system"
    yield from result.notes
    for word in result.nil_words:
        other = "" if settings.nil is None else f", which is not {shown(settings.nil)}"
        how = "if it marks the end of a list, pass it with the option nil"
        yield f"some list has a document called {shown(word)}{other}: {how}"
    yield from _grades(result, measures)
    if settings.judged_only:
        yield "documents that nobody judged were taken out of the lists"
    if settings.trec_eval:
        yield "averages as in trec_eval: an undefined score counts as 0"


def _of_queries(count: int) -> str:
    return plural(count, "query", "queries")


def _queries(result: RankResult, measures: Sequence[RankingMeasure]) -> str:
    settings, nil = result.settings, result.nil_queries
    text = f"{plural(len(result.lists), 'run')}, {_of_queries(result.queries)}"
    if not nil:
        return f"{text}, none of them nil"
    text += f", {nil:,} of them nil (nothing is relevant)"
    if settings.nil_as_answer:
        return f"{text}; for these, {settings.nil or 'NIL'} is the only right answer"
    if settings.queries == "relevant":
        return f"{text}: left out of all means"
    leaving = [str(m) for m in measures if m.definition.leaves_out_nil]
    names = [name for name in leaving if result.nothing_relevant[name] == nil]
    what = "counted as 0 by" if settings.queries == "all" else "left out of"
    return f"{text}: {what} {', '.join(names)}" if names else text


def _too_low(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """Queries where something is relevant, but too little for what a measure asks."""
    known = 0 if result.settings.nil_as_answer else result.nil_queries
    for lowest in dict.fromkeys(m.arguments.get("rel") for m in measures):
        names = [str(m) for m in measures if m.arguments.get("rel") == lowest]
        nothing = result.nothing_relevant[names[0]]
        if lowest is not None and nothing != known:
            queries = f"{_of_queries(nothing)} without a document of grade {lowest:g} or above"
            yield f"{queries}: nil for {', '.join(names)}"


def _ends(result: RankResult) -> str:
    nil, limit = result.settings.nil, result.settings.limit
    full = plural(sum(run.at_limit for run in result.lists), "list")
    at_limit = "" if limit is None else f"; at the limit of {limit:,}: {full}"
    if result.settings.nil_as_answer:
        return f"{nil} is a document, the right one where no other is (TREC 2001){at_limit}"
    lists = plural(sum(run.lists for run in result.lists), "list")
    by_nil = f", {sum(run.by_nil for run in result.lists):,} of them by {nil}"
    truncated = f"truncated: {sum(run.truncated for run in result.lists):,} of {lists}"
    return f"{truncated}{'' if nil is None else by_nil}{at_limit}"


def _grades(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    scaled = [m for m in measures if m.definition.scales_grades and "rel" not in m.arguments]
    top = result.top_grade
    if not scaled or top <= 1:
        return
    yield f"{', '.join(map(str, scaled))}: a document's gain is its grade / {top:g}, the top grade"
    lowered = [str(m) for m in scaled if m.definition.lower_grades_cost]
    if lowered and result.graded:
        why = f"a relevant document of a grade below {top:g} keeps even a perfect list below 1"
        yield f"{', '.join(lowered)}: {why}"


def _trec_cells(result: RankResult) -> Iterator[tuple[str, str, str]]:
    measures = {name: known_measure(name) for name in result.measures}
    level = result.settings.relevance_level or 1
    names = {n: n if m is None else printed_name(m, level) for n, m in measures.items()}
    each = [
        n for n, m in measures.items() if m is None or all(t.per_query for t in m.definition.trec)
    ]
    for row in result.rows:
        if len(result.rows) > 1:
            yield RUN_ID, ALL, row.run
        single = sorted((q.query, q.scores) for q in result.per_query if q.run == row.run)
        for query, scores in single:
            yield from ((names[n], query, _text(measures[n], scores[n])) for n in each)
        yield from ((names[n], ALL, _text(measures[n], v)) for n, v in row.scores.items())


def _text(item: Measure | None, value: float | None) -> str:
    if value is not None and item is not None and item.definition.total:
        return str(int(value))
    return f"{math.nan if value is None else value:6.4f}"
