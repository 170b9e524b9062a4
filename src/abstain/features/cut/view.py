from itertools import accumulate
from typing import Any

import polars as pl

from abstain.errors import plural
from abstain.features.cut import RULES
from abstain.features.cut.result import CutResult, CutRow, CutRun, Promise
from abstain.features.cut.rules import Rule
from abstain.report import view
from abstain.report.charts import chart, lines, points
from abstain.report.grid import Column, Grid
from abstain.report.view import score_text

MAIN = ("score", "interval", "gain", "gain_interval", "kept")
MORE = ("over_best", "over_best_interval", "optimism", "recall", "silent")
POLICIES = {
    "everything": "keeping everything",
    "nothing": "answering nothing",
    "top 10": "keeping the first 10 documents of every list",
    "k": "keeping the first k documents of every list",
}


KINDS = {
    "relevant": "relevant",
    "others": "others",
    "fitted_relevant": "fitted, normal",
    "fitted_others": "fitted, exponential",
}
"""What the documents of a bin are called in the chart."""


class View(view.View[CutResult]):
    def tables(self, **options: Any) -> list[Grid]:
        result, rows = self.result, self.result.rows
        head = ("run", "rule") if len(result.runs) > 1 else ("rule",)
        best = ", ".join(dict.fromkeys(run.best_trivial for run in result.runs))
        main = Grid.of_rows(CutRow, rows, *head, *MAIN, measure=result.measure)
        main.title = f"{result.measure} on queries that were not used to choose the rule"
        more = Grid.of_rows(CutRow, rows, *head, *MORE, measure=result.measure)
        more.title = f"How far ahead of the best trivial policy ({best}), and what is kept"
        more.notes = self._notes()
        for grid in (main, more):
            grid.breaks = {i for i, row in enumerate(rows) if not i or row.run != rows[i - 1].run}
            grid.dim = {i for i, row in enumerate(rows) if row.reference}
        return [main, more]

    def whole(self, **options: Any) -> Grid:
        frame = self.result.to_frame()
        kinds = [(name, dtype.is_numeric()) for name, dtype in frame.schema.items()]
        columns = [Column(name, "score" if numeric else "text") for name, numeric in kinds]
        yes_no = {True: "yes", False: "no"}
        words = pl.col(pl.Boolean).replace_strict(yes_no, return_dtype=pl.String)
        return Grid(columns, list(map(list, frame.with_columns(words).rows())))

    def title(self) -> str:
        return "Where rankings should stop"

    def _notes(self) -> list[str]:
        result, first = self.result, self.result.runs[0]
        times = f", {result.repeats} times" if result.repeats > 1 else ""
        notes = [f"{self._of(run.run)}{self._advice(run)}" for run in result.runs]
        notes.append(
            f"{plural(first.queries, 'query', 'queries')} ({first.nil_queries:,} nil) in "
            f"{result.folds} folds{times} (seed {result.seed}): each fold is judged with rules "
            f"tuned on the other folds. Intervals are over queries ({100 * result.level:g} %)."
        )
        for row in result.rows:
            if row.chosen:
                folds = plural(sum(row.chosen.values()), "fold")
                each = ", ".join(f"{name} ({times})" for name, times in row.chosen.items())
                notes.append(f"{self._of(row.run)}In {folds}, {row.rule} chose: {each}.")
        notes += [_promise(run.promise) for run in result.runs if run.promise is not None]
        return notes + [view.sentence(note) for note in view.few(list(result.notes))]

    def _of(self, run: str) -> str:
        return f"{run}: " if len(self.result.runs) > 1 else ""

    def _advice(self, run: CutRun) -> str:
        result, rule = self.result, _rule(run.rule)
        rows = {row.rule: row for row in result.rows if row.run == run.run}
        row, best = rows[result.asked], rows[run.best_trivial]

        def scored(row: CutRow) -> str:
            return f"{score_text(row.score)} with {row.kept:.1f} documents per query"

        policy = POLICIES[best.rule]
        gains = f"a gain of {_signed(row.over_best)} over"
        gain = f"{100 * result.level:g} % interval of the gain: {row.over_best_interval}"
        against = f"{gains} the best trivial policy, {policy} ({scored(best)})"
        if run.advice == "cut":
            return f"Cut with the rule {rule}: {result.measure} {scored(row)}, {against}; {gain}."
        if run.advice == "perhaps":
            seems = f"It may pay to cut with the rule {rule}: {result.measure} {scored(row)}"
            return f"{seems}, {against}; {gain}, which reaches below 0."
        if run.advice == "not":
            depth = f" ({rule})" if best.rule == run.rule.rule == "k" else ""
            what = f"the rule '{result.asked}'" if result.asked in RULES[1:] else "choosing a rule"
            best_is = f"{policy}{depth} is as good: {result.measure} {scored(best)}"
            return f"Do not cut: {best_is}; {what} scores {scored(row)}, {gains} that; {gain}."
        nothing, every = score_text(best.score), score_text(rows["everything"].score)
        return (
            f"Answer nothing: the retrieval finds too little for {result.measure}, by which empty "
            f"lists score {nothing} and whole ones {every}; choosing a rule scores {scored(row)}, "
            f"{gains} empty lists; {gain}. Another measure may see a use in these lists."
        )

    def charts(self) -> view.Charts:
        specs: view.Charts = {}
        for place, run in enumerate(self.result.runs):
            ending = f"-{place + 1}" if place else ""
            name = f", {run.run}" if len(self.result.runs) > 1 else ""
            if run.points:
                specs[f"depths{ending}"] = self._depths(run, name)
            if run.bins:
                specs[f"scores{ending}"] = _scores(run, name)
            specs[f"kept{ending}"] = self._kept(run, name)
        return specs

    def _depths(self, run: CutRun, name: str) -> dict[str, Any]:
        measure, depths = self.result.measure, [point.depth for point in run.points]
        best = accumulate(point.best_for for point in run.points)
        series = {
            "all lists cut there": [point.score for point in run.points],
            "queries whose best depth is this or less": [n / max(run.queries, 1) for n in best],
        }
        rows = [
            {"depth": depth, "value": value, "what": what}
            for what, values in series.items()
            for depth, value in zip(depths, values, strict=True)
        ]
        titles = {"x_title": "documents kept", "y_title": f"{measure}, or share of queries"}
        layer = lines("depth", "value", colour="what", **titles)
        return chart(f"{measure} over depth{name}", rows, [layer])

    def _kept(self, run: CutRun, name: str) -> dict[str, Any]:
        """What rules keep, against one depth for all lists (the line)."""
        dots = [
            {"kept": row.kept, "recall": row.recall, "rule": row.rule}
            for row in self.result.rows
            if row.run == run.run and row.recall is not None
        ]
        curve = [
            {"kept": p.kept, "recall": p.recall, "rule": "one depth"}
            for p in run.points
            if p.recall is not None
        ]
        titles = {"x_title": "documents kept per query", "y_title": "share of relevant kept"}
        marks = points("kept", "recall", colour="rule", **titles)
        marks["mark"] |= {"size": 70, "opacity": 1}
        marks["transform"] = [{"filter": "datum.rule !== 'one depth'"}]
        order = [row["rule"] for row in dots]
        marks["encoding"]["color"] |= {"sort": order, "scale": {"domain": order}}
        # there are more rules than colours
        marks["encoding"]["shape"] = marks["encoding"]["color"] | {"scale": {"domain": order}}
        path = lines("kept", "recall", **titles)
        path["transform"] = [{"filter": "datum.rule === 'one depth'"}]
        title, rows = f"Documents kept and relevant documents kept{name}", [*curve, *dots]
        return chart(title, rows, [path, marks], subtitle="line: all lists cut at one depth")


def _promise(promise: Promise) -> str:
    which = "the next queries, as many as a fold has, keep" if promise.next else "queries keep"
    share = f"at least {100 * promise.keep:g} % of the relevant documents on average"
    mean = "observed share" if promise.next else "expected share"
    kept = "" if promise.kept is None else f", which kept {100 * promise.kept:.1f} % in the folds"
    return (
        f"With a probability of at least {promise.level:g}, {which} {share} (the {mean}). Only "
        f"queries with a relevant document in their list count: {promise.queries:,}{kept}."
    )


def _rule(rule: Rule) -> str:
    if rule.rule == "k":
        return f"k = {rule.k}"
    return f"'{rule.rule}'" if rule.at is None else f"{rule.rule} ≥ {rule.at:.4g}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+z.4f}".replace("-", "−")


def _scores(run: CutRun, name: str) -> dict[str, Any]:
    rows = []
    for kind, what in KINDS.items():
        counts = [getattr(b, kind) or 0.0 for b in run.bins]
        total = sum(counts) or 1.0
        for b, count in zip(run.bins, counts, strict=True):
            rows.append({"score": (b.low + b.high) / 2, "share": count / total, "what": what})
    layer = lines("score", "share", colour="what", y_title="share of the documents of each kind")
    return chart(f"Scores{name}", rows, [layer])
