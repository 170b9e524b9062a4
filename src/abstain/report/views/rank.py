"""How scores of rankings look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from abstain.analyses.rank import QueryRow, RankResult, lowest_grade
from abstain.errors import UsageError, option, plural, shown, some_of
from abstain.measures import definitions
from abstain.measures.kinds import RankingMeasure
from abstain.report import shared, view
from abstain.report.campaign.headings import explained_on
from abstain.report.charts import chart, coloured, points, tips
from abstain.report.grid import Cell, Column, Grid, Kind
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.trec_lines import trec_lines
from abstain.report.views import truncation
from abstain.report.words import listed, sentence

ALL = "all"
"""In place of a query's name: the mean over all of them; in brackets where one is called so."""
MOST_STRIPS = 25
MOST_QUERY_DOTS = 5_000


class View(view.View[RankResult]):
    """Rank, run, slice, query, scores; how many lists were missing and truncated."""

    def tables(self, **options: Any) -> list[Grid]:
        """The scores; what truncation does, where that is asked for."""
        report = self.result.truncation
        more = [] if report is None else truncation.View(report).tables()
        return [self._scores(), *more]

    def whole(self, **options: Any) -> Grid:
        """The scores, with those of the report on truncation beside them."""
        result = self.result
        if result.truncation is None:
            return self._scores()
        if result.by or result.per_query:
            raise UsageError(
                f"with {option('truncation')}, CSV has one row for each run: leave out "
                f"{option('by')} and {option('per_query')}, or use JSON"
            )
        return truncation.View(result.truncation).beside(self._scores())

    def line(self) -> str:
        result = self.result
        runs, queries = plural(len(result.lists), "run"), plural(result.queries, "query", "queries")
        return f"<RankResult: {runs}, {queries}, {', '.join(result.measures)}>"

    def _scores(self) -> Grid:
        result = self.result
        settings = result.settings
        counted = [("missing", any(own.missing for own in result.lists))]
        counted.append(("truncated", settings.nil is not None or settings.limit is not None))
        counts = [name for name, shown in counted if shown and not result.per_query]
        columns = [
            Column("#"),
            Column("run"),
            *(Column(result.slice_label(name)) for name in result.by),
            *([Column("query")] if result.per_query else []),
            *(Column(name, _kind(name)) for name in result.measures),
            *(Column(name, "count") for name in (["queries"] if result.by else []) + counts),
        ]
        overall = ALL
        names = {row.query for row in result.per_query}
        while overall in names:
            overall = f"({overall})"
        single: dict[tuple[str, tuple[str | None, ...]], list[QueryRow]] = {}
        for one in result.per_query:
            single.setdefault((one.run, tuple(one.slice.values())), []).append(one)
        grid = Grid(columns, [], notes=[*self._said(), *shared.undefined_words(result.rows)])
        last: tuple[object, ...] | None = None
        for row in result.rows:
            part = (*row.slice.values(), row.run if result.per_query else None)
            if part != last:
                grid.breaks.add(len(grid.rows))
                last = part
            head = [row.run, *(row.slice[name] or "–" for name in result.by)]
            for own in single.get((row.run, tuple(row.slice.values())), ()):
                scores = own.scores.values()
                grid.rows.append(["", *head, own.query, *scores, *([1] if result.by else [])])
            cells: list[Cell] = [row.rank, *head, *([overall] if result.per_query else [])]
            cells += row.scores.values()
            cells += [row.queries] if result.by else []
            grid.rows.append([*cells, *(getattr(row, name) for name in counts)])
        return grid

    def trec_eval(self) -> str:
        """Each query's scores and those of all, a line each."""
        return trec_lines(self.result)

    def _said(self) -> list[str]:
        runs = {own.run for own in self.result.lists}
        return [sentence(note, runs) for note in _list_notes(self.result)]

    def charts(self) -> view.Charts:
        """Scores of runs, by slice and by query; those of the report on truncation."""
        found = {figure.name: figure.spec for figure in (*self._figures(), *self._strips())}
        if self.result.truncation is not None:
            found |= truncation.View(self.result.truncation).charts()
        return coloured(found)

    def _figures(self) -> list[Figure]:
        rows, names = self.result.rows, list(self.result.measures)
        unsliced = [row for row in rows if not row.slice]
        return [*shared.slice_figures(rows, names), *shared.dot_figures(unsliced, names)]

    def page(self) -> Page:
        """The runs, their queries, what truncation does."""
        result, names = self.result, list(self.result.measures)
        queries = f"{result.queries:,}, {result.nil_queries:,} of them with nothing relevant"
        return shared.page_of(
            result,
            f"{names[0]} of {plural(len(result.lists), 'run')}",
            shared.lead_words(result.rows, names, test="`abstain compare --scores`"),
            self._sections(),
            ("measures", ", ".join(names)),
            ("queries", queries),
            ("grade with a gain of 1", f"{result.top_grade:g}"),
            said=self._said(),
        )

    def _sections(self) -> Iterator[Section]:
        result = self.result
        slices = [Column(name) for name in result.by]
        scores = [Column(name, _kind(name)) for name in result.measures]
        columns = [Column("#"), Column("run"), *slices, *scores]
        columns += [Column(n, "count") for n in ("queries", "nil", "missing", "truncated")]
        rows: list[list[Cell]] = [
            [
                *(row.rank, row.run, *(value or "–" for value in row.slice.values())),
                *row.scores.values(),
                *(row.queries, row.nil_queries, row.missing, row.truncated),
            ]
            for row in result.rows
        ]
        reading = "Scores are means over the queries for which they exist."
        grid = explained_on("runs", Grid(columns, rows), result.measures[0])
        yield Section(
            "leaderboard",
            "Leaderboard",
            said=shared.undefined_words(result.rows),
            tables=[PageTable("runs", "Runs", reading, grid, filters=result.by)],
            figures=self._figures(),
        )
        if result.per_query:
            rows = [
                [row.run, *(v or "–" for v in row.slice.values()), row.query, *row.scores.values()]
                for row in result.per_query
            ]
            grid = Grid([Column("run"), *slices, Column("query"), *scores], rows)
            every = PageTable("queries", "Every query", "", grid, filters=(*result.by, "run"))
            yield Section("queries", "Queries", figures=list(self._strips()), tables=[every])
        if result.truncation is not None:
            yield truncation.View(result.truncation).section()

    def _strips(self) -> Iterator[Figure]:
        """A tick a query, for as many of the first runs as there is room for, one at least."""
        name = self.result.measures[0]
        queries: dict[str, list[QueryRow]] = {row.run: [] for row in self.result.rows}
        for row in self.result.per_query:
            if row.scores[name] is not None:
                queries[row.run].append(row)
        there = [run for run, own in queries.items() if own][:MOST_STRIPS]
        if not there:
            return
        room = accumulate(len(queries[run]) for run in there)
        runs = there[: max(1, sum(taken <= MOST_QUERY_DOTS for taken in room))]
        data = [
            {"run": run, "query": r.query, name: r.scores[name]}
            for run in runs
            for r in queries[run][:MOST_QUERY_DOTS]
        ]
        cut = ""
        if len(queries[runs[0]]) > MOST_QUERY_DOTS:
            cut = f" (the first {MOST_QUERY_DOTS:,} queries)"
        layer = points(name, "run", y_type="nominal", y_title=" ", sort=runs)
        layer["mark"] |= {"type": "tick", "thickness": 2, "opacity": 0.6}
        layer["encoding"]["tooltip"] = tips(("run", "query"), (name,))
        yield Figure(
            "strips",
            f"{name} of each query: each tick is a query; {plural(len(runs), 'run')} shown{cut}.",
            chart("", data, [layer], height=max(80, 24 * len(runs))),
            title=f"{name} by query",
        )


def _kind(name: str) -> Kind:
    """Whether a measure is a score or counts documents."""
    item = shared.known_measure(name)
    return "count" if item is not None and item.definition.total else "score"


def _list_notes(result: RankResult) -> Iterator[str]:
    """How many lists and queries there were of each kind, and what became of them."""
    settings = result.settings
    items = (shared.known_measure(name) for name in result.measures)
    measures = [item for item in items if isinstance(item, RankingMeasure)]
    primed = _primed(measures)
    yield _queries(result, measures)
    yield from _too_low(result, measures)
    yield _missing(result)
    if (found := result.unjudged) is not None:
        have = plural(found.queries, "query of the runs has", "queries of the runs have")
        first = f"; first: {found.place}" if found.place else ""
        yield f"{have} no judgments and no score ({some_of(found.first)}{first})"
    if settings.nil is not None or settings.limit is not None:
        yield _ends(result)
        yield from _full_for_nothing(result, measures)
    elif primed:
        yield "no limit was given: every list counts as ended by its system"
    yield from result.notes
    for word in result.nil_words:
        other = "" if settings.nil is None else f", which is not {shown(settings.nil)}"
        yield (
            f"some list has a document called {shown(word)}{other}: if it marks the end of a list, "
            "pass it with the option nil"
        )
    yield from _grades(result, measures)
    if settings.judged_only:
        yield "documents that nobody judged were taken out of the lists"
    if settings.trec_eval:
        yield "averages as in trec_eval: an undefined score counts as 0"


def _primed(measures: Sequence[RankingMeasure]) -> list[str]:
    return [str(m) for m in measures if m.definition.knows_end]


def _queries(result: RankResult, measures: Sequence[RankingMeasure]) -> str:
    settings, count = result.settings, result.nil_queries
    text = f"{plural(len(result.lists), 'run')}, {plural(result.queries, 'query', 'queries')}"
    if not count:
        return f"{text}, none of them nil"
    text += f", {count:,} of them nil (nothing is relevant)"
    if settings.nil_as_answer:
        return f"{text}; for these, {settings.nil or 'NIL'} is the only right answer"
    left_out = [
        str(m)
        for m in measures
        if m.definition.leaves_out_nil and result.nothing_relevant[str(m)] == count
    ]
    if left_out and not settings.trec_eval:
        text += f": {_do(left_out, 'leave')} these out"
    if _primed(measures):
        return text
    knowing = [n for n, d in definitions("ranking", strict=False).items() if d.knows_end]
    return f"{text}; {listed(knowing)} score them"


def _too_low(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """Queries where something is relevant, but too little for what a measure asks."""
    settings = result.settings
    known = 0 if settings.nil_as_answer else result.nil_queries
    for lowest in dict.fromkeys(map(lowest_grade, measures)):
        asking = [m for m in measures if lowest_grade(m) == lowest]
        nothing = result.nothing_relevant[str(asking[0])]
        if lowest is None or nothing == known:
            continue
        primed = _primed(asking)
        left_out = [
            str(m) for m in asking if m.definition.leaves_out_nil and not settings.trec_eval
        ]
        zero = [str(m) for m in asking if str(m) not in (*primed, *left_out)]
        kinds = [("left out by", left_out), ("scored 0 by", zero), ("treated as nil by", primed)]
        becomes = ", ".join(f"{what} {', '.join(names)}" for what, names in kinds if names)
        queries = plural(nothing, "query has", "queries have")
        yield f"{queries} no document of grade {lowest:g} or above: {becomes}"


def _do(names: Sequence[str], verb: str) -> str:
    return f"{', '.join(names)} {verb if len(names) > 1 else verb + 's'}"


def _missing(result: RankResult) -> str:
    some = [
        f"{own.run} lacks {plural(own.missing, 'query', 'queries')}"
        for own in result.lists
        if own.missing
    ]
    if not some:
        return "no query is missing from a run"
    runs = ", ".join(some[:3]) + (f" and {len(some) - 3} more runs lack some" if some[3:] else "")
    skipped = result.settings.missing == "skip"
    becomes = "left out" if skipped else "counted as empty lists"
    how = ", as in trec_eval without -c" if skipped and result.settings.trec_eval else ""
    return f"missing queries, {becomes}{how}: {runs}"


def _ends(result: RankResult) -> str:
    nil, limit = result.settings.nil, result.settings.limit
    full = sum(own.at_limit for own in result.lists)
    if result.settings.nil_as_answer:
        text = f"{nil} counts as a document, which is relevant where no other is (TREC 2001)"
        at_limit = plural(full, "list")
        return text if limit is None else f"{text}; at the limit of {limit:,}: {at_limit}"
    lists = plural(sum(own.lists for own in result.lists), "list")
    text = f"truncated: {sum(own.truncated for own in result.lists):,} of {lists}"
    if nil is not None:
        text += f", {sum(own.by_nil for own in result.lists):,} of them by {nil}"
    if limit is not None:
        reach = plural(full, "list reaches", "lists reach")
        scored = " (scored by the original measure)" if full else ""
        text += f"; {reach} the limit of {limit:,}{scored}"
    return text


def _full_for_nothing(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """Lists at the limit for nil queries, which have found nothing and not stopped either."""
    there = [m for m in measures if str(m) in result.full_for_nothing]
    for lowest in dict.fromkeys(map(lowest_grade, there)):
        names = [str(m) for m in there if lowest_grade(m) == lowest]
        what = "relevant" if lowest is None else f"of grade {lowest:g} or above"
        lists = plural(result.full_for_nothing[names[0]], "list")
        counted = f"{_do(names, 'count')} 0 for them"
        yield f"{lists} at the limit, though nothing is {what} for the query: {counted}"


def _grades(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """What becomes of grades that are not 0 and 1."""
    scaled = [m for m in measures if m.definition.scales_grades and "rel" not in m.arguments]
    top = result.top_grade
    if not scaled or top <= 1:
        return
    names = ", ".join(map(str, scaled))
    yield f"{names}: a document's gain is its grade / {top:g}, the top grade"
    lowered = [str(m) for m in scaled if m.definition.lower_grades_cost]
    if lowered and result.graded:
        yield (
            f"{', '.join(lowered)}: even a perfect list scores less than 1 if it has a relevant "
            f"document with a grade below {top:g}; with rel=1, every grade of 1 or more has a "
            "gain of 1"
        )
