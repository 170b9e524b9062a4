"""How scores of runs look."""

from __future__ import annotations

from typing import Any

from abstain.analyses.score.result import Row, ScoreResult
from abstain.errors import plural
from abstain.measures import Measure
from abstain.outcomes import Counts, CountsArray
from abstain.report import view
from abstain.report.disagreement import disagreements
from abstain.report.grid import Cell, Column, Grid
from abstain.report.leaders import (
    dot_figures,
    lead_words,
    slice_figures,
    undefined_words,
)
from abstain.report.pieces import Page, PageTable, Section
from abstain.report.rewards import decision_figure, leads_table, measure_facts, rewards_table
from abstain.report.scores import policy_sentence, sentence
from abstain.report.shared import again, blanks_table, facts, known_measure, slice_text
from abstain.report.undefined import label, undefined_sentences
from abstain.stats.intervals import METHODS

ENDS = ("low", "high")


class View(view.View[ScoreResult]):
    """Rank, run, slice, scores, counts."""

    def tables(self, *, candidates: bool = False, **options: Any) -> list[Grid]:
        """One table; `candidates` shows what the blanks would have been."""
        result = self.result
        columns = [
            Column("#"),
            Column("run"),
            *(Column(result.slice_label(name)) for name in result.by),
        ]
        for name in result.measures:
            columns.append(Column(name, "score"))
            if result.interval_method is not None:
                columns += [
                    Column(f"{name} {end}", "score", joined=True, short=end) for end in ENDS
                ]
            if self._pays(name):
                columns.append(Column(f"p* {name}", "score"))
        columns.append(Column("right", "count"))
        columns += [Column(name, "count", joined=True) for name in ("wrong", "blank")]
        if candidates:
            columns += [Column(f"blank, {name}", "count") for name in ("right", "wrong", "empty")]
        columns.append(Column("right▕wrong▕blank", "bar"))
        grid = Grid(columns, [], notes=self._notes())
        slices = {slice_text(row) for row in result.rows}
        last = None
        for number, row in enumerate(result.rows):
            if slice_text(row) != last and len(result.rows) > len(slices):
                grid.breaks.add(number)
            last = slice_text(row)
            if row.reference:
                grid.dim.add(number)
            grid.rows.append(self._cells(row, candidates=candidates))
        return [grid]

    def _pays(self, name: str) -> bool:
        return any(name in row.break_even for row in self.result.rows)

    def _cells(self, row: Row, *, candidates: bool) -> list[Cell]:
        k = row.counts
        cells: list[Cell] = [
            row.rank,
            label(row.run, row.reference),
            *(row.slice[name] or "–" for name in self.result.by),
        ]
        for name in self.result.measures:
            cells.append(row.scores[name])
            if self.result.interval_method is not None:
                cells += row.intervals.get(name, (None, None))
            if self._pays(name):
                cells.append(row.break_even.get(name))
        three = (k.right, k.wrong, k.unanswered)
        return [*cells, *three, *(_split(k) if candidates else ()), three]

    # --------------------------------------------------------------------------- in words

    def _notes(self) -> list[str]:
        """What it takes to read the scores: what was counted, the policy, what is undefined."""
        result = self.result
        names = {row.run for row in result.rows}
        real = [row for row in result.rows if not row.reference]
        runs = plural(len({row.run for row in real}), "run")
        said: list[str] = []
        if result.questions is not None:
            said.append(f"{runs}, {plural(result.questions, 'question')}.")
        said += [sentence(note, names) for note in result.notes]
        if result.questions is None and not result.by:
            sizes = [row.counts.n for row in real]
            said.append(f"The runs cover from {min(sizes):,.0f} to {max(sizes):,.0f} questions.")
        if not result.by:
            measures = [m for name in result.measures if (m := known_measure(name))]
            said += [sentence(text, names) for text in disagreements(result.rows, measures)]
        said += self._interval_words()
        if result.policy:
            said.append(policy_sentence(result.policy, result.touched))
        lacking = ((label(row.run, row.reference), row.undefined) for row in result.rows)
        return [*said, *undefined_sentences(lacking)]

    def _interval_words(self) -> list[str]:
        """How the intervals were made, and why some do not exist."""
        result = self.result
        if result.interval_method is None:
            return []
        used = result.interval_method
        said = f"Intervals: {100 * (result.level or 0):g} %, {METHODS.get(used, used)} ({used})"
        if result.cluster is not None:
            said += f", questions clustered by {result.cluster}"
        if result.resampled_method not in (None, used):
            said += f"; of measures of confidence: {result.resampled_method}"
        if result.trials is not None:
            said += f", {result.trials:,} trials"
        if result.seed is not None:
            said += f", seed {result.seed}"
        reasons: dict[str, int] = {}
        for row in result.rows:
            for reason in row.no_interval.values():
                reasons[reason] = reasons.get(reason, 0) + 1
        return [f"{said}.", *(f"{plural(n, 'interval')}: {why}." for why, n in reasons.items())]

    def line(self) -> str:
        """Runs, measures and the best score."""
        result = self.result
        runs = plural(len({row.run for row in result.rows if not row.reference}), "run")
        return f"<ScoreResult: {runs}, {', '.join(result.measures)}>"

    # ------------------------------------------------------------------------ charts, page

    def charts(self) -> dict[str, dict[str, Any]]:
        """Scores with their intervals, or a heat map of slices."""
        return {figure.name: figure.spec for figure in self._figures()}

    def _figures(self) -> list[Any]:
        real = [row for row in self.result.rows if not row.reference]
        whole = [row for row in real if not row.slice]
        names = list(self.result.measures)
        return [*slice_figures(real, names), *dot_figures(whole, names)]

    def page(self) -> Page:
        """The runs, what the measures reward, the slices."""
        result = self.result
        names = list(result.measures)
        real = [row for row in result.rows if not row.reference]
        whole = [row for row in real if not row.slice]
        sections = [
            Section(
                "leaderboard",
                "Leaderboard",
                key=True,
                said=undefined_words(list(result.rows)),
                tables=[self._page_table()],
                figures=self._figures(),
            ),
        ]
        if (item := known_measure(names[0])) is not None:
            rewarded = Section("measure", "What is rewarded", facts=measure_facts(item))
            if whole:
                _rewards(rewarded, whole, [m for n in names if (m := known_measure(n))])
            sections.append(rewarded)
        settings = [("questions", f"{result.questions:,}")] if result.questions is not None else []
        if result.interval_method:
            level = "" if result.level is None else f"{100 * result.level:g} %, "
            settings.append(("intervals", f"{level}{result.interval_method}"))
        return Page(
            title=f"{names[0]} of {plural(len({row.run for row in real}), 'run')}",
            lead=lead_words(list(real), names),
            sections=sections,
            again=[*again(result), *self._interval_words()],
            again_facts=facts(result, ("measures", ", ".join(names)), *settings),
            again_tables=blanks_table(result),
            command=result.command,
        )

    def _page_table(self) -> PageTable:
        """The first measure and the outcomes first; the others and their intervals when asked."""
        result = self.result
        names, parts = list(result.measures), list(result.by)
        spans = ENDS if result.interval_method is not None else ()
        columns = [Column("#"), Column("run"), *(Column(part) for part in parts)]
        columns += [Column(names[0], "score"), Column("outcomes", "bar")]
        columns += [Column(f"{names[0]} {end}", "score") for end in spans]
        columns += [Column(name, "score") for name in names[1:]]
        columns += [Column(n, "count") for n in ("right", "wrong", "blank")]
        late = [f"{name} {end}" for name in names[1:] for end in spans]
        late += [f"p* {name}" for name in names if self._pays(name)]
        columns += [Column(name, "score") for name in late]
        grid = Grid(columns, [])
        last = None
        for n, row in enumerate(result.rows):
            k = row.counts
            ends = {m: row.intervals.get(m, (None, None)) if spans else () for m in names}
            here: list[Cell] = [
                row.rank,
                label(row.run, row.reference),
                *(row.slice[p] or "–" for p in parts),
                row.scores[names[0]],
                (k.right, k.wrong, k.unanswered),
                *ends[names[0]],
                *(row.scores[name] for name in names[1:]),
                *(k.right, k.wrong, k.unanswered),
                *(end for name in names[1:] for end in ends[name]),
                *(row.break_even.get(name) for name in names if self._pays(name)),
            ]
            if row.reference:
                grid.dim.add(n)
            if parts and slice_text(row) != last:
                grid.breaks.add(n)
                last = slice_text(row)
            grid.rows.append(here)
        reading = "Rows in italics are references to read scores by." if grid.dim else ""
        return PageTable(
            "runs",
            "Runs",
            reading,
            grid,
            filters=tuple(parts),
            late=tuple(late),
            beneath=tuple(parts),
            ordered_by=None,
        )


def _split(k: Counts) -> list[Cell]:
    if k.unsplit:
        return [None, None, None]
    return [k.unanswered_right, k.unanswered_wrong, k.unanswered_empty]


def _rewards(section: Section, rows: list[Row], measures: list[Measure]) -> None:
    counts = CountsArray.of(row.counts for row in rows)
    runs = [row.run for row in rows]
    if not all(row.counts.n for row in rows):
        return
    section.figures = [decision_figure(runs, counts, range(len(runs)))]
    section.tables = [leads_table(runs, counts)]
    section.folded = [rewards_table(runs, counts, measures)]
