"""How the choice of where rankings stop looks."""

from __future__ import annotations

from typing import Any

from abstain.analyses.cut.result import CutResult, CutRow, CutRun
from abstain.errors import plural
from abstain.report import view, words
from abstain.report.campaign.headings import explained_on
from abstain.report.charts import PALETTE, chart, lines, points
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.shared import page_of

SHAPES = ("circle", "diamond")
RULES = "References are in italics: everything, nothing, top 10, and the oracle."


class View(view.View[CutResult]):
    """Each rule and reference, what it gained, what it keeps."""

    def tables(self, **options: Any) -> list[Grid]:
        """One table of rules, one of what they keep."""
        many = len(self.result.runs) > 1
        run = [Column("run")] if many else []
        measure = self.result.measure
        scores = Grid(
            [
                *(*run, Column("rule"), Column(measure, "score"), Column("interval")),
                *(Column("gain", "score"), Column("over everything"), Column("kept", "count")),
            ],
            [],
            title=f"{measure} on queries that were not used to choose the rule",
        )
        best = dict.fromkeys(own.best_reference for own in self.result.runs)
        kept = Grid(
            [
                *(*run, Column("rule"), Column("ahead", "score"), Column("interval")),
                *(Column("optimism", "score"), Column("relevant kept", "score")),
                Column("nil silent", "score"),
            ],
            [],
            title=f"How far ahead of the best reference ({', '.join(best)}), and what is kept",
            notes=self._notes(),
        )
        before = ""
        for row in self.result.rows:
            own: list[Cell] = [row.run] if many else []
            for grid in (scores, kept):
                if row.run != before:
                    grid.breaks.add(len(grid.rows))
                if row.reference:
                    grid.dim.add(len(grid.rows))
            before = row.run
            scores.rows.append(
                [
                    *(*own, row.rule, row.score, _range(row.low, row.high)),
                    *(row.gain, _range(row.gain_low, row.gain_high), row.kept),
                ]
            )
            kept.rows.append(
                [
                    *(*own, row.rule, row.over_best, _range(row.over_best_low, row.over_best_high)),
                    *(row.optimism, row.recall, row.silent),
                ]
            )
        return [scores, kept]

    def whole(self, **options: Any) -> Grid:
        """Every number of every row."""
        frame = self.result.to_frame()
        text = ("run", "rule", "chosen", "reference", "within_budget")
        columns = [Column(name, "text" if name in text else "score") for name in frame.columns]
        rows = [[_cell(value) for value in row] for row in frame.rows()]
        return Grid(columns, rows)

    def line(self) -> str:
        """Runs and what was sought."""
        return (
            f"<CutResult: {plural(len(self.result.runs), 'run')}, maximise {self.result.measure}>"
        )

    def title(self) -> str:
        """What its page is called."""
        return "Where rankings should stop"

    # ------------------------------------------------------------------------------------ in words

    def _notes(self) -> list[str]:
        result = self.result
        said = [self._advice(own) for own in result.runs]
        times = f", {result.repeats} times" if result.repeats > 1 else ""
        first = result.runs[0]
        said.append(
            f"{plural(first.queries, 'query', 'queries')} ({first.nil_queries:,} nil) in "
            f"{result.folds} folds{times} (seed {result.seed}): each fold is judged with rules "
            f"tuned on the other folds. Intervals are over queries ({100 * result.level:g} %). "
            "Optimism is how much better a rule looked on the queries it was tuned on. The oracle "
            "cuts each list in hindsight; no rule can reach it."
        )
        for own in result.runs:
            said += self._chosen(own)
            if own.promise is not None:
                said.append(self._promise(own))
        return said + [words.sentence(note) for note in words.few(list(result.notes))]

    def _row(self, run: str, rule: str) -> CutRow:
        return next(row for row in self.result.rows if row.run == run and row.rule == rule)

    def _advice(self, own: CutRun) -> str:
        """What to do, in a sentence."""
        result = self.result
        row, every = self._row(own.run, result.asked), self._row(own.run, "everything")
        many = f"{own.run}: " if len(result.runs) > 1 else ""
        gained = (
            f"{result.measure} {_score(row.score)} with {row.kept:.1f} documents per query, "
            f"instead of {_score(every.score)} with {every.kept:.1f}"
        )
        span = f"gain {_signed(row.gain)}, {_range(row.gain_low, row.gain_high)}"
        best = own.best_reference
        behind = ""
        if best != "everything" and row.over_best is not None:
            ahead = f"{_signed(row.over_best)}, {_range(row.over_best_low, row.over_best_high)}"
            span += f"; gain over the best reference ({best}): {ahead}"
            if row.over_best < 0:
                score = _score(self._row(own.run, best).score)
                behind = f" But the reference {best} scores more ({score})."
        limit = _parameter(own)
        how = (
            f"with the rule {own.rule.rule}{limit}" if limit else f"with the rule '{own.rule.rule}'"
        )
        if own.promise is not None:
            share = f"at least {100 * own.promise.keep:g} %"
            if own.advice == "not":
                return (
                    f"{many}Do not cut: there is no cut for which the data show that it keeps "
                    f"{share} of the relevant documents."
                )
            return f"{many}Cut {how}: it keeps {share} of the relevant documents ({gained})."
        if result.budget is not None:
            documents = "document" if result.budget == 1 else "documents"
            within = f"With at most {result.budget:g} {documents} per query"
            return f"{many}{within}, cut {how}: {gained} ({span}).{behind}"
        match own.advice:
            case "cut":
                return f"{many}Cut {how}: {gained} ({span}).{behind}"
            case "nothing":
                return f"{many}Answer nothing: {gained} ({span}).{behind}"
            case "perhaps":
                return (
                    f"{many}Cutting {how} seems to pay: {gained} ({span}); the interval "
                    f"covers 0, so more queries are needed to be sure.{behind}"
                )
        if result.asked != "auto":
            return f"{many}Do not cut {how}: keeping everything is as good ({span}).{behind}"
        told = "choosing among the rules gains nothing over keeping everything"
        if (row.gain or 0.0) > 0:
            told = "the rule chosen on all queries keeps everything"
        return f"{many}Do not cut: {told} ({span}).{behind}"

    def _chosen(self, own: CutRun) -> list[str]:
        said = []
        many = f"{own.run}: " if len(self.result.runs) > 1 else ""
        for row in self.result.rows:
            if row.run == own.run and row.chosen:
                each = ", ".join(f"{name} ({times})" for name, times in row.chosen.items())
                folds = plural(sum(row.chosen.values()), "fold")
                said.append(f"{many}In {folds}, {row.rule} chose: {each}.")
        return said

    def _promise(self, own: CutRun) -> str:
        promise = own.promise
        assert promise is not None
        share = "expected share of relevant documents that a list keeps"
        if promise.next_queries:
            share = "share of relevant documents that the lists of the next queries keep on average"
        least = f"at least {100 * promise.keep:g} %"
        return (
            f"With a probability of at least {1 - promise.delta:g}, the {share} is {least}; only "
            f"queries with a relevant document in their list count ({promise.queries:,} in this "
            f"data). On the judged queries, the average share was {least} in "
            f"{promise.held} of {promise.parts} folds."
        )

    # -------------------------------------------------------------------------------- charts, page

    def charts(self) -> view.Charts:
        """Depths, scores, and what is kept against what is found, for each run."""
        found: view.Charts = {}
        for number, own in enumerate(self.result.runs):
            ending = f"-{number + 1}" if number else ""
            for figure in self._figures(own):
                found[f"{figure.name}{ending}"] = figure.spec
        return found

    def _figures(self, own: CutRun) -> list[Figure]:
        many = f", {own.run}" if len(self.result.runs) > 1 else ""
        made = []
        if own.points:
            made.append(self._depths(own, many))
        if own.bins:
            made.append(self._scores(own, many))
        made.append(self._kept(own, many))
        return made

    def _depths(self, own: CutRun, many: str) -> Figure:
        """The measure over the depth, with how many queries are best there."""
        measure = self.result.measure
        total = max(own.queries, 1)
        rows: list[dict[str, Any]] = [
            {"depth": p.depth, "value": p.score, "what": "all lists cut there"} for p in own.points
        ]
        share = 0
        for point in own.points:
            share += point.best_for
            rows.append(
                {
                    "depth": point.depth,
                    "value": share / total,
                    "what": "queries whose best depth is this or less",
                }
            )
        titles = {"x_title": "documents kept", "y_title": f"{measure}, or share of queries"}
        layer = lines("depth", "value", colour="what", **titles)
        spec = chart(f"{measure} over depth{many}", rows, [layer])
        caption = (
            f"{measure} if every list is cut at this depth, and the share of queries whose best "
            "depth is this depth or less."
        )
        return Figure("depths", caption, spec, title=f"{measure} over depth")

    def _scores(self, own: CutRun, many: str) -> Figure:
        """How the scores of relevant and other documents lie."""
        kinds = {
            "relevant": "relevant",
            "others": "others",
            "fitted_relevant": "fitted, normal",
            "fitted_others": "fitted, exponential",
        }
        rows = []
        for name, what in kinds.items():
            total = sum(getattr(b, name) or 0.0 for b in own.bins) or 1.0
            for b in own.bins:
                share = (getattr(b, name) or 0.0) / total
                rows.append({"score": (b.low + b.high) / 2, "share": share, "what": what})
        layer = lines(
            "score", "share", colour="what", y_title="share of the documents of each kind"
        )
        spec = chart(f"Scores{many}", rows, [layer])
        caption = (
            "Scores of relevant and of other documents, and the normal and exponential parts of "
            "the mixture fitted to all of them without judgments."
        )
        return Figure("scores", caption, spec, title="Scores")

    def _kept(self, own: CutRun, many: str) -> Figure:
        """What rules keep against the relevant documents among it."""
        curve = [
            {"kept": p.kept, "recall": p.recall, "rule": "k"}
            for p in own.points
            if p.recall is not None
        ]
        dots = [
            {"kept": row.kept, "recall": row.recall, "rule": row.rule}
            for row in self.result.rows
            if row.run == own.run and row.recall is not None
        ]
        titles = {"x_title": "documents kept per query", "y_title": "share of relevant kept"}
        marks = points("kept", "recall", colour="rule", **titles)
        marks["mark"] |= {"size": 70, "opacity": 1}
        marks["transform"] = [{"filter": "datum.rule !== 'one depth'"}]
        order = [row["rule"] for row in dots]  # more rules than colours: shapes tell them apart
        shapes = [SHAPES[n // len(PALETTE) % len(SHAPES)] for n in range(len(order))]
        colour = marks["encoding"]["color"]
        colour |= {"sort": order, "scale": {"domain": order}}
        scale = {"domain": order, "range": shapes}
        marks["encoding"]["shape"] = {**colour, "scale": scale}
        path = lines("kept", "recall", **titles)
        path["transform"] = [{"filter": "datum.rule === 'one depth'"}]
        named = [{**row, "rule": "one depth"} for row in curve]
        title = "Documents kept and relevant documents kept"
        spec = chart(f"{title}{many}", [*named, *dots], [path, marks])
        caption = (
            "The line shows all lists cut at the same depth; a rule above the line keeps more "
            "relevant documents for the same number kept."
        )
        return Figure("kept", caption, spec, title=title)

    def page(self) -> Page:
        """What to do, the rules, the charts."""
        result = self.result
        scores, kept = self.tables()
        said, kept.notes = list(kept.notes), []
        sections = [
            Section(
                "rules",
                "Rules",
                said=said,
                tables=[
                    PageTable(name, grid.title, RULES, explained_on("cut", grid, result.measure))
                    for name, grid in (("results", scores), ("kept", kept))
                ],
                figures=self._figures(result.runs[0]) if len(result.runs) == 1 else [],
            )
        ]
        for number, own in enumerate(result.runs if len(result.runs) > 1 else (), 1):
            figures = [
                Figure(f.name if number == 1 else f"{f.name}-{number}", f.caption, f.spec, f.title)
                for f in self._figures(own)
            ]
            sections.append(Section(f"run-{number}", own.run, figures=figures))
        return page_of(
            result,
            self.title(),
            said[0],
            sections,
            ("queries", f"{result.runs[0].queries:,}"),
            ("maximise", result.measure),
        )


def _parameter(own: CutRun) -> str:
    rule = own.rule
    if rule.rule == "k":
        return f" = {rule.k}"
    return "" if rule.at is None else f" ≥ {rule.at:.4g}"


def _cell(value: Any) -> Cell:
    return ("yes" if value else "no") if isinstance(value, bool) else value


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"[{low:z.3f}, {high:z.3f}]".replace("-", "−")


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+z.4f}".replace("-", "−")
