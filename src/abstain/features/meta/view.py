"""How a judgment of measures looks: tables, notes, advice, page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from abstain.errors import plural
from abstain.features.meta.charts import (
    COEFFICIENT,
    how_drawn,
    meta_charts,
    one_below_another,
    percent,
)
from abstain.features.meta.parts import MANY, TWO_MEASURES
from abstain.features.meta.result import PARTS, MetaResult
from abstain.report import view
from abstain.report.charts import write_charts
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Page
from abstain.report.view import first_few, listed, policy_words, sentence
from abstain.stats.resampling.draws import SAME
from abstain.stats.resampling.reversals import WIDTH


class View(view.View[MetaResult]):
    """A table for each part, with what it takes to read it below."""

    def tables(self, **options: Any) -> list[Grid]:
        """The tables of all parts, one below another."""
        result, parts = self.result, self._by_part()
        if "sensitivity" in parts:
            parts["sensitivity"][-1].notes.append(" ".join(advice_of(result)))
        grids = [grid for part in parts.values() for grid in part] or [Grid([], [])]
        names = (*result.measures, *result.runs)
        grids[-1].notes += [
            f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}.",
            *(sentence(note, names) for note in (*result.notes, *notes_of(result))),
            *policy_words(result.policy, result.touched),
        ]
        return grids

    def whole(self, **options: Any) -> Grid:
        columns = [Column(name) for name in ("part", "measure", "other")]
        columns += [Column("at", "score"), Column("quantity"), Column("value", "score")]
        return Grid(columns, [list(row) for row in self.result.records()])

    def charts(self) -> dict[str, dict[str, Any]]:
        return meta_charts(self.result)

    def draw(self, path: Path, **options: Any) -> None:
        """All charts one below another in a file; one a file in a folder."""
        charts = self.charts()
        if path.suffix and charts:
            charts = {"meta": one_below_another(charts.values())}
        write_charts(charts, path)

    def _by_part(self) -> dict[str, list[Grid]]:
        made = (self._stability, self._sensitivity, self._power, self._agreement)
        parts = zip(PARTS, made, strict=True)
        return {part: tables() for part, tables in parts if getattr(self.result, part)}

    def _stability(self) -> list[Grid]:
        rows = self.result.stability
        columns: list[tuple[Column, list[Cell]]] = [
            (Column("fuzziness"), [f"{point.fuzziness:g}" for point in rows[0].curve])
        ]
        for row in rows:
            errors = [_percent(point.error, point.error_se) for point in row.curve]
            ties = [_percent(point.ties) for point in row.curve]
            columns.append((Column(f"{row.measure} error", "percent"), errors))
            columns.append((Column("ties", "percent", joined=True), ties))
        title = "Stability: how often another sample reverses two runs, in percent"
        notes = [f"{how_drawn(self.result)}; ± is the Monte Carlo error."]
        return [Grid.of(columns, title=title, notes=notes)]

    def _sensitivity(self) -> list[Grid]:
        result = self.result
        columns = [
            Column("measure"),
            *(Column(name, "score") for name in ("required", "range", "highest")),
            *(Column(f"{name} %", "percent") for name in ("relative", "sensitivity")),
        ]
        rows: list[list[Cell]] = [
            [
                row.measure,
                in_bins(row.required, row.width),
                _range(row.required_range, row.width),
                in_bins(row.highest, row.width),
                _in_100(row.relative),
                _in_100(row.sensitivity),
            ]
            for row in result.sensitivity
        ]
        notes = [f"{row.measure}: {row.reason}." for row in result.sensitivity if row.reason]
        notes.append(
            f"{how_drawn(result)}; from the required difference on, at most "
            f"{percent(1 - result.level)} % of the comparisons swap on a disjoint subset; "
            "its range allows for two Monte Carlo errors. Relative: divided by the highest score. "
            "Sensitivity: the share of the comparisons that reach it."
        )
        title = f"Sensitivity: the difference required at {percent(result.level)} %"
        return [Grid(columns, rows, title=title, notes=notes), self._required()]

    def _required(self) -> Grid:
        points = self.result.required_by_questions
        widths = {row.measure: row.width for row in self.result.sensitivity}
        known = {(p.questions, p.measure): in_bins(p.required, widths[p.measure]) for p in points}
        columns = [Column("questions", "count"), *(Column(name, "score") for name in widths)]
        rows: list[list[Cell]] = [
            [size, *(known[size, name] for name in widths)]
            for size in sorted({s for s, _ in known})
        ]
        return Grid(columns, rows, title="The difference required, by the number of questions")

    def _power(self) -> list[Grid]:
        result = self.result
        columns = [
            *(Column("measure"), Column("pairs", "count"), Column("bootstrap", "count")),
            *(Column("power %", "percent"), Column("Tukey HSD", "count")),
            Column("honest difference", "score"),
        ]
        rows: list[list[Cell]] = [
            [
                *(row.measure, row.pairs, row.bootstrap, _in_100(row.discriminative_power)),
                *(row.tukey, row.honest_difference),
            ]
            for row in result.power
        ]
        notes = [*dict.fromkeys(f"–: {row.reason}." for row in result.power if row.reason)]
        notes.append(
            f"{plural(result.resamples, 'resample')} and as many permutations, seed "
            f"{result.seed}. The bootstrap tests each pair separately, Tukey's HSD all together."
        )
        title = f"Power: pairs of runs told apart at {percent(result.power[0].alpha)} %"
        grid = Grid(columns, rows, title=title, notes=notes)
        return [grid.chosen(range(5)) if result.given_scores else grid]

    def _agreement(self) -> list[Grid]:
        pairs = self.result.agreement
        columns = [Column("measure"), Column("and"), Column("runs", "count")]
        columns += [Column(label, "score") for label in COEFFICIENT.values()]
        rows: list[list[Cell]] = [
            [*pair.measures, pair.runs, *(getattr(pair, name) for name in COEFFICIENT)]
            for pair in pairs
        ]
        title = "Agreement: how far two measures order the runs alike"
        notes = [f"{' and '.join(item.measures)}: {item.reason}." for item in pairs if item.reason]
        return [Grid(columns, rows, title=title, notes=notes)]

    def title(self) -> str:
        result = self.result
        return f"{listed(result.measures)} judged over {plural(len(result.runs), 'run')}"

    def page(self) -> Page:
        page = super().page()
        page.lead = next(iter(advice_of(self.result)), page.lead)
        return page


def _percent(value: float | None, error: float | None = None) -> Cell:
    if value is None:
        return None
    return f"{100 * value:.2f}" + ("" if error is None else f" ± {100 * error:.2f}")


def _in_100(share: float | None) -> Cell:
    return None if share is None else 100 * share


def _range(bounds: tuple[float | None, float | None], width: float) -> Cell:
    low, high = (in_bins(bound, width) for bound in bounds)
    return low and (f"{low} to {high}" if high else f"above {low}")


def in_bins(value: float | None, width: float) -> str | None:
    """A score as exact as bins of this width make it, and to two decimals at least.

    >>> in_bins(0.3, 0.01), in_bins(41, 1), in_bins(0.0035, 0.0005), in_bins(4e-9, 1e-11)
    ('0.30', '41.00', '0.0035', '4e-09')
    """
    if value is None:
        return None
    digits = -math.floor(math.log10(width) + 1e-9)
    fixed = -6 <= digits <= 6
    text = f"{value:.{max(2, digits)}f}" if fixed else f"{value:.4g}"
    return text.replace("-", "−") if fixed else text


def notes_of(result: MetaResult) -> list[str]:
    """What limits the conclusions: scores that do not exist, bins, what was left out."""
    few = "agreement" in result.parts and len(result.measures) < 2
    return [*_scores(result), *_bins(result), *_left_out(result), *([TWO_MEASURES] if few else [])]


def _scores(result: MetaResult) -> Iterator[str]:
    """Measures that are undefined, or equal for all runs, on all questions."""
    for name, scores in result.scores.items():
        known = [score for score in scores.values() if score is not None]
        undefined = [run for run, score in scores.items() if score is None]
        if undefined:
            yield f"{name} is undefined for {first_few(undefined)} on all questions"
        elif max(known) - min(known) <= SAME * max(map(abs, known)):
            yield f"all runs have the same {name}"


def _bins(result: MetaResult) -> Iterator[str]:
    """Bins on another scale than the papers', and differences beyond them or without a swap."""
    for row in result.sensitivity:
        name = row.measure
        if result.width is None and row.width != WIDTH:
            yield f"{name} spans {result.spans[name]:g}, so its bins are {row.width:g} wide"
        if row.required is not None and row.bins and row.required > row.bins[-1].start:
            yield f"{name} requires {row.required:g}, beyond the {len(row.bins):,} listed bins"
        if row.tied_elsewhere is not None and row.tied_elsewhere > 1 - result.level:
            yield (
                f"{name}: {100 * row.tied_elsewhere:.0f} % of the differences that are large "
                "enough are ties on the other questions, which do not count as swaps"
            )


def _left_out(result: MetaResult) -> Iterator[str]:
    """Comparisons, resamples, pairs and permutations in which a measure does not exist."""
    for row in result.sensitivity or result.stability:
        if row.undefined:
            total = row.comparisons + row.undefined
            yield f"left out, without {row.measure}: {row.undefined:,} of {total:,} comparisons"
    for power in result.power:
        lost = [
            (power.undefined_resamples, f"of {power.resamples:,} resamples"),
            (power.undefined, "pairs"),
            (power.undefined_permutations, "permutations"),
        ]
        if texts := [f"{number:,} {what}" for number, what in lost if number]:
            yield f"left out of the tests of power, without {power.measure}: {listed(texts)}"


def advice_of(result: MetaResult) -> list[str]:
    """The difference that each measure needs here, and how many questions: sentences."""
    rows = result.sensitivity
    known = [row for row in rows if row.required is not None]
    sentences: list[str] = []
    if known:
        texts = [f"{row.required:g}" if row.required else "any amount" for row in known]
        amounts = [f"{text} in {row.measure}" for text, row in zip(texts, known, strict=True)]
        sentences.append(
            f"On {plural(known[0].size, 'question')}, other questions reverse two runs in at most "
            f"{percent(1 - result.level)} % of cases if they differ by {listed(amounts)}."
        )
    needs = sorted(result.questions_needed, key=lambda need: need.difference)
    for difference, group in groupby(needs, key=lambda need: need.difference):
        texts = [
            f"{'over 10^15' if n.questions >= MANY else f'{n.questions:,}'} with {n.measure}"
            for n in group
        ]
        sentences.append(f"Questions needed for a difference of {difference:g}: {listed(texts)}.")
    sizes = [point.questions for point in result.required_by_questions]
    tried = max([*sizes, *(row.size for row in rows)], default=0)
    if any(need.questions > tried for need in result.questions_needed):
        sentences.append(
            f"Beyond the {tried:,} that were tried, the required difference is assumed to fall "
            "with the square root of the number of questions."
        )
    return sentences
