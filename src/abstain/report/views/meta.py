"""How a judgment of measures looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from abstain.analyses.meta.result import MetaResult
from abstain.analyses.meta.settings import PARTS
from abstain.errors import plural
from abstain.report import meta_words as words
from abstain.report import view
from abstain.report.charts import write_charts
from abstain.report.grid import Cell, Column, Grid
from abstain.report.meta_charts import agreement_chart, meta_charts, one_below_another
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.rewards import measure_facts
from abstain.report.shared import again, known_measure, page_of
from abstain.report.words import policy_words, sentence

SMALL = 1e-3
WIDTH = 80


class View(view.View[MetaResult]):
    """A table for each part, with what it takes to read it below."""

    def tables(self, **options: Any) -> list[Grid]:
        """The tables of all parts, one below another."""
        parts = self._by_part()
        if "sensitivity" in parts:
            parts["sensitivity"][-1].notes.append(words.advice_of(self.result))
        grids = [grid for own in parts.values() for grid in own]
        if not grids:
            grids = [Grid([], [])]
        result = self.result
        said = [f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}."]
        names = (*result.measures, *result.runs)
        said += [sentence(note, names) for note in (*result.notes, *words.notes_of(result))]
        said += policy_words(result.policy, result.touched)
        grids[-1].notes += said
        return grids

    def whole(self, **options: Any) -> Grid:
        """Every number in one long table."""
        columns = [Column(name) for name in ("part", "measure", "other")]
        columns += [Column("at", "score"), Column("quantity"), Column("value", "score")]
        return Grid(columns, [list(row) for row in self.result.records()])

    def line(self) -> str:
        result = self.result
        runs = plural(len(result.runs), "run")
        questions = plural(result.questions, "question")
        return f"<MetaResult: {', '.join(result.measures)} over {runs} and {questions}>"

    def charts(self) -> dict[str, dict[str, Any]]:
        """The papers' figures, and heat maps of the agreement."""
        return meta_charts(self.result)

    def draw(self, path: Path, **options: Any) -> None:
        """All charts one below another in a file; each in its own in a folder."""
        charts = self.charts()
        if path.suffix and charts:
            charts = {"meta": one_below_another(charts.values())}
        write_charts(charts, path)

    def _by_part(self) -> dict[str, list[Grid]]:
        """The tables of each part that there is."""
        return {part: getattr(self, f"_{part}")() for part in PARTS if getattr(self.result, part)}

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
        grids[-1].notes.append(f"{words.how_drawn(result)}; ± is the Monte Carlo error.")
        return grids

    def _sensitivity(self) -> list[Grid]:
        result, rows = self.result, self.result.sensitivity
        columns: list[tuple[Column, list[Cell]]] = [
            (Column("measure"), [row.measure for row in rows]),
            (Column("required", "score"), [words.in_bins(row.required, row.width) for row in rows]),
            (Column("range", "score"), [_range(row.required_range, row.width) for row in rows]),
            (Column("highest", "score"), [words.in_bins(row.highest, row.width) for row in rows]),
            (Column("relative %", "percent"), [_in_100(row.relative) for row in rows]),
            (Column("sensitivity %", "percent"), [_in_100(row.sensitivity) for row in rows]),
        ]
        notes = [f"{row.measure}: {row.reason}." for row in rows if row.reason]
        notes.append(
            f"{words.how_drawn(result)}; the two subsets of a comparison are disjoint. The "
            "required difference is the smallest one such that, at this difference and above it, "
            f"at most {words.percent(1 - result.level)} % of the comparisons swap; its range "
            "allows for two Monte Carlo errors. Relative: the required difference divided by the "
            "highest score. Sensitivity: the share of the comparisons that reach the required "
            "difference."
        )
        title = f"Sensitivity: the difference required at {words.percent(result.level)} %"
        return [Grid.of(columns, title=title, notes=notes), self._required()]

    def _required(self) -> Grid:
        result = self.result
        points = result.required_by_questions
        known = {(point.questions, point.measure): point.required for point in points}
        widths = {row.measure: row.width for row in result.sensitivity}
        columns = [Column("questions", "count")]
        columns += [Column(name, "score") for name in result.measures]
        rows: list[list[Cell]] = [
            [size, *(words.in_bins(known[size, name], widths[name]) for name in result.measures)]
            for size in sorted({size for size, _ in known})
        ]
        gaps = any(point.required is None for point in points)
        return Grid(
            columns,
            rows,
            title="The difference required, by the number of questions",
            notes=["–: no required difference could be determined."] if gaps else [],
        )

    def _power(self) -> list[Grid]:
        result, rows = self.result, self.result.power
        columns: list[tuple[Column, list[Cell]]] = [
            (Column("measure"), [row.measure for row in rows]),
            (Column("pairs", "count"), [row.pairs for row in rows]),
            (Column("bootstrap", "count"), [row.bootstrap for row in rows]),
            (Column("power %", "percent"), [_in_100(row.discriminative_power) for row in rows]),
            (Column("Tukey HSD", "count"), [row.tukey for row in rows]),
        ]
        if not result.given_scores:
            honest: list[Cell] = [_small(row.honest_difference) for row in rows]
            columns.append((Column("honest difference", "score"), honest))
        note = (
            f"{plural(result.resamples, 'resample')} and as many permutations, seed "
            f"{result.seed}. The bootstrap ({words.bootstrap(result)}) tests each pair separately. "
            "Tukey's test tests all pairs together and separates those "
        )
        if result.given_scores:
            note += (
                "whose difference, divided by its standard error, is larger than chance would make "
                "the largest of all pairs."
            )
        else:
            note += (
                "that differ by more than the honest difference (HSD, the honestly significant "
                "difference)."
            )
        varies = any(row.tukey is not None and row.honest_difference is None for row in rows)
        if varies and not result.given_scores:
            note += (
                " If the denominator of a measure varies, Tukey's test compares differences "
                "divided by their standard errors, and there is no single honest difference."
            )
        reasons = dict.fromkeys(f"–: {row.reason}." for row in rows if row.reason)
        title = f"Power: pairs of runs told apart at {words.percent(rows[0].alpha)} %"
        return [Grid.of(columns, title=title, notes=[*reasons, note])]

    def _agreement(self) -> list[Grid]:
        pairs = self.result.agreement
        columns = [Column("measure"), Column("and")]
        columns += [Column(label, "score") for label in words.COEFFICIENT.values()]
        rows: list[list[Cell]] = [
            [*item.measures, *(getattr(item, name) for name in words.COEFFICIENT)] for item in pairs
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
        return [Grid(columns, rows, title=title, notes=notes)]

    def page(self) -> Page:
        """Would another sample of questions have said the same?"""
        result = self.result
        said = [sentence(note, result.measures) for note in words.notes_of(result)]
        return page_of(
            result,
            f"{', '.join(result.measures)} judged over {plural(len(result.runs), 'run')}",
            words.lead_of(result),
            self._sections(),
            ("questions", f"{result.questions:,}"),
            ("trials", f"{result.trials:,}, subsets of {result.size:,}, draws {result.draws}"),
            ("resamples", f"{result.resamples:,}"),
            ("level", f"{words.percent(result.level)} %"),
            said=[*again(result), *said],
        )

    def _sections(self) -> Iterator[Section]:
        """A section for each part, and what each measure rewards."""
        result, figures = self.result, self._figures()
        for part, grids in self._by_part().items():
            tables = [
                PageTable(f"{part}_{n}", grid.title, " ".join(grid.notes), grid)
                for n, grid in enumerate(grids)
                if grid.rows
            ]
            said = [words.advice_of(result)] if part == "sensitivity" else []
            drawn = figures.get(part, [])
            yield Section(part, part.capitalize(), said=said, figures=drawn, tables=tables)
        known = [item for name in result.measures if (item := known_measure(name)) is not None]
        for n, item in enumerate(known):
            if item.definition.takes == "counts":
                yield Section(f"measure{n}", f"What {item} rewards", facts=measure_facts(item))

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
                caption, title = words.chart_words(name, self.result), spec["title"]["text"]
                figure = Figure(f"chart_{name}", caption, spec, title=title)
                found.setdefault(_home(name), []).append(figure)
        return found


def _home(name: str) -> str:
    return {"swap": "sensitivity", "required": "sensitivity"}.get(name, name.split("_")[0])


def _percent(value: float | None, error: float | None = None) -> Cell:
    if value is None:
        return None
    text = f"{100 * value:.2f}"
    return f"{text} ± {100 * error:.2f}" if error is not None else text


def _in_100(share: float | None) -> Cell:
    return None if share is None else 100 * share


def _range(bounds: tuple[float | None, float | None], width: float) -> Cell:
    low, high = (words.in_bins(bound, width) for bound in bounds)
    if low is None:
        return None
    return f"above {low}" if high is None else f"{low} to {high}"


def _small(value: float | None) -> Cell:
    """A score, with its first digits where four decimals would show none."""
    return f"{value:.3g}" if value and abs(value) < SMALL else value
