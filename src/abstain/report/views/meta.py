"""How a judgment of measures looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from abstain.analyses.meta.result import MetaResult
from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.meta_advice import advice_of
from abstain.report.meta_charts import agreement_chart, meta_charts, one_below_another
from abstain.report.meta_words import (
    COEFFICIENT,
    chart_words,
    how_drawn,
    in_bins,
    lead_of,
    notes_of,
    percent,
)
from abstain.report.pieces import Figure, Page, PageTable, Section
from abstain.report.rewards import measure_facts
from abstain.report.scores import policy_sentence, sentence
from abstain.report.shared import again, blanks_table, facts, known_measure

SMALL = 1e-3
WIDTH = 80
PARTS = {
    "stability": "Stability",
    "sensitivity": "Sensitivity",
    "power": "Power",
    "agreement": "Agreement",
}


class View(view.View[MetaResult]):
    """A table for each part, with what it takes to read it below."""

    def tables(self, **options: Any) -> list[Grid]:
        """The tables of all parts, one below another."""
        parts = self._by_part()
        if "sensitivity" in parts:
            parts["sensitivity"][-1].notes.append(advice_of(self.result))
        grids = [grid for own in parts.values() for grid in own]
        if not grids:
            grids = [Grid([], [])]
        grids[-1].notes += self._notes()
        return grids

    def whole(self, **options: Any) -> Grid:
        """Every number in one long table."""
        columns = [Column(name) for name in ("part", "measure", "other")]
        columns += [Column("at", "score"), Column("quantity"), Column("value", "score")]
        return Grid(columns, [list(row) for row in self.result.records()])

    def line(self) -> str:
        """Runs, questions and measures."""
        result = self.result
        runs = plural(len(result.runs), "run")
        questions = plural(result.questions, "question")
        return f"<MetaResult: {', '.join(result.measures)} over {runs} and {questions}>"

    def charts(self) -> dict[str, dict[str, Any]]:
        """The papers' figures, and heat maps of the agreement."""
        return meta_charts(self.result)

    def draw(self, path: Path, **options: Any) -> None:
        """All charts one below another in a file; each in its own in a folder."""
        from abstain.report.charts import write_charts

        charts = self.charts()
        if path.suffix and charts:
            charts = {"meta": one_below_another(charts.values())}
        write_charts(charts, path)

    def _by_part(self) -> dict[str, list[Grid]]:
        """The tables of each part that there is."""
        found: dict[str, list[Grid]] = {}
        if self.result.stability:
            found["stability"] = self._stability()
        if self.result.sensitivity:
            found["sensitivity"] = [self._sensitivity(), self._required()]
        if self.result.power:
            found["power"] = [self._power()]
        if self.result.agreement:
            found["agreement"] = [self._agreement()]
        return found

    def _notes(self) -> list[str]:
        result = self.result
        said = [f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}."]
        names = (*result.measures, *result.runs)
        said += [sentence(note, names) for note in (*result.notes, *notes_of(result))]
        if result.policy:
            said.append(policy_sentence(result.policy, result.touched))
        return said

    # ------------------------------------------------------------------------ a table a part

    def _stability(self) -> list[Grid]:
        """As many measures beside each other as 80 columns have room for; the others below."""
        result = self.result
        title = "Stability: how often another sample reverses two runs, in percent"
        levels = [f"{point.fuzziness:g}" for point in result.stability[0].curve]
        grids: list[Grid] = []
        room = 0
        for item in result.stability:
            error = [_percent(point.error, point.error_se) for point in item.curve]
            ties = [_percent(point.ties) for point in item.curve]
            names = f"{item.measure} error", "ties"
            taken = sum(
                2 + max(len(str(cell)) for cell in own)
                for own in zip(names, *zip(error, ties, strict=True), strict=True)
            )
            if taken > room:
                grids.append(
                    Grid([Column("fuzziness", "score")], [[level] for level in levels], title=title)
                )
                title = "Stability, further measures"
                room = WIDTH - max(map(len, ("fuzziness", *levels)))
            room -= taken
            grids[-1].columns.extend(Column(name, "percent") for name in names)
            for row, *cells in zip(grids[-1].rows, error, ties, strict=True):
                row += cells
        grids[-1].notes.append(f"{how_drawn(result)}; ± is the Monte Carlo error.")
        return grids

    def _sensitivity(self) -> Grid:
        result = self.result
        columns = [
            Column("measure"),
            Column("required", "score"),
            Column("range", "score"),
            Column("highest", "score"),
            Column("relative %", "percent"),
            Column("sensitivity %", "percent"),
        ]
        rows: list[list[Cell]] = [
            [
                row.measure,
                in_bins(row.required, row.width),
                _range(row.required_range, row.width),
                in_bins(row.highest, row.width),
                None if row.relative is None else 100 * row.relative,
                None if row.sensitivity is None else 100 * row.sensitivity,
            ]
            for row in result.sensitivity
        ]
        notes = [f"{row.measure}: {row.reason}." for row in result.sensitivity if row.reason]
        notes.append(
            f"{how_drawn(result)} and disjoint. The required difference is the first at which, "
            f"and above which, at most {percent(1 - result.level)} % of the comparisons swap; the "
            "range allows two Monte Carlo errors. Relative: over the highest score seen. "
            "Sensitivity: the share of the comparisons that reach it."
        )
        title = f"Sensitivity: the difference required at {percent(result.level)} %"
        return Grid(columns, rows, title=title, notes=notes)

    def _required(self) -> Grid:
        result = self.result
        points = result.required_by_questions
        known = {(point.questions, point.measure): point.required for point in points}
        widths = {row.measure: row.width for row in result.sensitivity}
        columns = [Column("questions", "count")]
        columns += [Column(name, "score") for name in result.measures]
        rows: list[list[Cell]] = [
            [size, *(in_bins(known[size, name], widths[name]) for name in result.measures)]
            for size in sorted({size for size, _ in known})
        ]
        gaps = any(point.required is None for point in points)
        return Grid(
            columns,
            rows,
            title="The difference required, by the number of questions",
            notes=["–: no difference could be told."] if gaps else [],
        )

    def _power(self) -> Grid:
        result = self.result
        columns = [
            Column("measure"),
            Column("pairs", "count"),
            Column("bootstrap", "count"),
            Column("power %", "percent"),
            Column("Tukey HSD", "count"),
            Column("honest difference", "score"),
        ]
        rows: list[list[Cell]] = [
            [
                item.measure,
                item.pairs,
                item.bootstrap,
                None if item.discriminative_power is None else 100 * item.discriminative_power,
                item.tukey,
                _small(item.honest_difference),
            ]
            for item in result.power
        ]
        note = (
            f"{plural(result.resamples, 'resample')} and as many permutations, seed "
            f"{result.seed}. The bootstrap tests pair by pair, Tukey's test all pairs together: "
            "it separates those that differ by more than the honest difference."
        )
        reasons = dict.fromkeys(f"–: {item.reason}." for item in result.power if item.reason)
        title = f"Power: pairs of runs told apart at {percent(result.power[0].alpha)} %"
        return Grid(columns, rows, title=title, notes=[*reasons, note])

    def _agreement(self) -> Grid:
        pairs = self.result.agreement
        columns = [Column("measure"), Column("and")]
        columns += [Column(label, "score") for label in COEFFICIENT.values()]
        rows: list[list[Cell]] = [
            [*item.measures, *(getattr(item, name) for name in COEFFICIENT)] for item in pairs
        ]
        notes = [f"{' and '.join(item.measures)}: {item.reason}." for item in pairs if item.reason]
        common = {item.runs for item in pairs}
        alike = len(common) == 1 and min(common) > 1
        over = f"the {plural(min(common), 'run')}" if alike else "the runs"
        if len(common) > 1:
            columns.insert(2, Column("runs", "count"))
            for row, item in zip(rows, pairs, strict=True):
                row.insert(2, item.runs)
        title = f"Agreement: how far two measures order {over} alike"
        return Grid(columns, rows, title=title, notes=notes)

    # -------------------------------------------------------------------------------- page

    def page(self) -> Page:
        """Would another sample of questions have said the same?"""
        result = self.result
        grids = self._by_part()
        figures = self._figures()
        sections = [
            Section(
                part,
                title,
                said=[advice_of(result)] if part == "sensitivity" and result.sensitivity else [],
                figures=figures.get(part, []),
                tables=[
                    PageTable(f"{part}_{n}", g.title, " ".join(g.notes), g)
                    for n, g in enumerate(grids.get(part, []))
                    if g.rows
                ],
            )
            for part, title in PARTS.items()
        ]
        known = [item for name in result.measures if (item := known_measure(name)) is not None]
        sections += [
            Section(f"measure{n}", f"What {item} rewards", facts=measure_facts(item))
            for n, item in enumerate(known)
            if item.definition.takes == "counts"
        ]
        return Page(
            title=f"{', '.join(result.measures)} judged over {plural(len(result.runs), 'run')}",
            lead=lead_of(result),
            sections=sections,
            again=[*again(result), *(sentence(note, result.measures) for note in notes_of(result))],
            again_facts=facts(
                result,
                ("questions", f"{result.questions:,}"),
                ("trials", f"{result.trials:,}, subsets of {result.size:,}, draws {result.draws}"),
                ("resamples", f"{result.resamples:,}"),
                ("level", f"{percent(result.level)} %"),
            ),
            again_tables=blanks_table(result),
            command=result.command,
        )

    def _figures(self) -> dict[str, list[Figure]]:
        """The charts of each part that show something; agreement in one where that is enough."""
        charts = self.charts()
        one = agreement_chart(self.result)
        if one is not None:
            charts = {n: spec for n, spec in charts.items() if _home(n) != "agreement"}
            charts["agreement"] = one
        found: dict[str, list[Figure]] = {}
        for name, spec in charts.items():
            if spec["data"]["values"]:
                words, title = chart_words(name, self.result), spec["title"]["text"]
                figure = Figure(f"chart_{name}", words, spec, title=title)
                found.setdefault(_home(name), []).append(figure)
        return found


def _home(name: str) -> str:
    """The part that a chart belongs to."""
    return {"swap": "sensitivity", "required": "sensitivity"}.get(name, name.split("_")[0])


def _percent(value: float | None, error: float | None = None) -> Cell:
    if value is None:
        return None
    text = f"{100 * value:.2f}"
    return f"{text} ± {100 * error:.2f}" if error is not None else text


def _range(bounds: tuple[float | None, float | None], width: float) -> Cell:
    low, high = (in_bins(bound, width) for bound in bounds)
    if low is None:
        return None
    return f"above {low}" if high is None else f"{low} to {high}"


def _small(value: float | None) -> Cell:
    """A score, with its first digits where four decimals would show none."""
    return f"{value:.3g}" if value and abs(value) < SMALL else value
