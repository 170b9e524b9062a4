import math
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import structs
from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.meta.result import (
    COEFFICIENT,
    MANY,
    TWO_MEASURES,
    Agreement,
    MetaResult,
    Power,
)
from abstain.report import charts, view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Page
from abstain.report.view import first_few, listed, policy_words, sentence
from abstain.stats.resampling.draws import SAME
from abstain.stats.resampling.reversals import WIDTH


class View(view.View[MetaResult]):
    def tables(self, **options: Any) -> list[Grid]:
        result = self.result
        names = (*result.measures, *result.runs)
        grids = [self._stability()] if result.stability else []
        grids += [self._sensitivity(), self._required()] if result.sensitivity else []
        grids += [self._power()] if result.power else []
        grids += [self._agreement()] if result.agreement else []
        grids = grids or [Grid([], [])]
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
        result = self.result
        made = {
            "stability": (_stability_chart, result.stability),
            "swap": (_swap_chart, result.sensitivity),
            "required": (_required_chart, result.sensitivity),
            "power": (_asl_chart, result.power),
        }
        specs = {name: draw(result) for name, (draw, part) in made.items() if part}
        maps = COEFFICIENT if result.agreement else ()
        return specs | {f"agreement_{name}": _heat_map(result, name) for name in maps}

    def draw(self, path: Path, **options: Any) -> None:
        specs = self.charts()
        if path.suffix and specs:
            outside = {"$schema": charts.SCHEMA, "config": charts.CONFIG}
            bare = [{k: v for k, v in each.items() if k not in outside} for each in specs.values()]
            resolve = {"scale": {"color": "independent"}}
            inside = bare[0] if len(bare) == 1 else {"vconcat": bare, "resolve": resolve}
            specs = {"meta": outside | inside}
        charts.write_charts(specs, path)

    def _stability(self) -> Grid:
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
        return Grid.of(columns, title=title, notes=notes)

    def _sensitivity(self) -> Grid:
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
        return Grid(columns, rows, title=title, notes=notes)

    def _required(self) -> Grid:
        points = self.result.required_by_questions
        widths = {row.measure: row.width for row in self.result.sensitivity}
        known = {(p.questions, p.measure): in_bins(p.required, widths[p.measure]) for p in points}
        columns = [Column("questions", "count"), *(Column(name, "score") for name in widths)]
        rows: list[list[Cell]] = [
            [size, *(known[size, name] for name in widths)]
            for size in sorted({s for s, _ in known})
        ]
        title, notes = "The difference required, by the number of questions", advice_of(self.result)
        return Grid(columns, rows, title=title, notes=[" ".join(notes)])

    def _power(self) -> Grid:
        result = self.result
        names = ("measure", "pairs", "bootstrap", "power_in_100", "tukey", "honest_difference")
        grid = Grid.of_rows(Power, result.power, *names[: 5 if result.given_scores else 6])
        notes = [*dict.fromkeys(f"–: {row.reason}." for row in result.power if row.reason)]
        notes.append(
            f"{plural(result.resamples, 'resample')} and as many permutations, seed "
            f"{result.seed}. The bootstrap tests each pair separately, Tukey's HSD all together."
        )
        title = f"Power: pairs of runs told apart at {percent(result.power[0].alpha)} %"
        return replace(grid, title=title, notes=notes)

    def _agreement(self) -> Grid:
        pairs = self.result.agreement
        grid = Grid.of_rows(Agreement, pairs, "measures", "runs", *COEFFICIENT)
        title = "Agreement: how far two measures order the runs alike"
        notes = [f"{' and '.join(item.measures)}: {item.reason}." for item in pairs if item.reason]
        return replace(grid, title=title, notes=notes)

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
    """A score as exact as bins of this width make it, and to two decimals at least."""
    if value is None:
        return None
    digits = -math.floor(math.log10(width) + 1e-9)
    fixed = -6 <= digits <= 6
    text = f"{value:.{max(2, digits)}f}" if fixed else f"{value:.4g}"
    return text.replace("-", "−") if fixed else text


def notes_of(result: MetaResult) -> list[str]:
    few = "agreement" in result.parts and len(result.measures) < 2
    return [*_scores(result), *_bins(result), *_left_out(result), *([TWO_MEASURES] if few else [])]


def _scores(result: MetaResult) -> Iterator[str]:
    for name, scores in result.scores.items():
        known = [score for score in scores.values() if score is not None]
        undefined = [run for run, score in scores.items() if score is None]
        if undefined:
            yield f"{name} is undefined for {first_few(undefined)} on all questions"
        elif max(known) - min(known) <= SAME * max(map(abs, known)):
            yield f"all runs have the same {name}"


def _bins(result: MetaResult) -> Iterator[str]:
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


def _stability_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {
            "measure": item.measure,
            "fuzziness": point.fuzziness,
            "ties": point.ties,
            "error": point.error,
            "low": max(0.0, point.error - 2 * (point.error_se or 0)),
            "high": min(1.0, point.error + 2 * (point.error_se or 0)),
        }
        for item in result.stability
        for point in item.curve
        if point.error is not None
    ]
    titles = {"colour": "measure", "x_title": "proportion of ties", "y_title": "error rate"}
    layers = [
        charts.bands("ties", "low", "high", **titles),
        charts.lines("ties", "error", **titles),
    ]
    subtitle = f"{how_drawn(result)}; one point per fuzziness, band: two Monte Carlo errors"
    return charts.chart("Stability", rows, layers, subtitle=subtitle)


def _swap_chart(result: MetaResult) -> dict[str, Any]:
    limit = round(1 - result.level, 12)
    rates = [
        {"measure": row.measure, "difference": each.start, "swap rate": each.swap_rate}
        for row in result.sensitivity
        for each in row.bins[:-1]  # the last one is open: no point of the curve
        if each.swap_rate is not None
    ]
    required = [
        {"measure": row.measure, "difference": row.required, "swap rate": limit}
        for row in result.sensitivity
        if row.required is not None
    ]
    mark = {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"}
    layers: list[dict[str, Any]] = [{"mark": mark, "encoding": {"y": {"datum": limit}}}]
    titles = {"colour": "measure", "y_title": "swap rate"}
    diamonds = charts.points("difference", "swap rate", **titles)
    diamonds["mark"] |= {"shape": "diamond", "size": 110, "opacity": 1}
    layers += [charts.lines("difference", "swap rate", **titles)] if rates else []
    layers += [{"data": {"values": required}, **diamonds}] if required else []
    subtitle = f"dashed: {percent(1 - result.level)} %; diamond: the difference required"
    return charts.chart("Swap rates", rates, layers, subtitle=subtitle)


def _required_chart(result: MetaResult) -> dict[str, Any]:
    points = [p for p in result.required_by_questions if p.required is not None]
    layer = charts.lines("questions", "required", colour="measure", y_title="required difference")
    layer["mark"] |= {"point": True}  # one size alone makes no line
    return charts.chart(
        "The difference required, by the number of questions", map(structs.asdict, points), [layer]
    )


def _asl_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {"measure": item.measure, "pair": point["pair"], "ASL": point["asl"]}
        for item in result.power
        for point in item.curve
    ]
    layer = charts.lines("pair", "ASL", colour="measure", x_title="pairs of runs, the surest first")
    return charts.chart("Achieved significance levels", rows, [layer])


def _heat_map(result: MetaResult, name: str) -> dict[str, Any]:
    rows = [{"measure": m, "and": m, "value": 1.0} for m in result.measures]
    for item in result.agreement:
        value = getattr(item, name)
        for one, other in (item.measures, item.measures[::-1]):
            rows.append({"measure": one, "and": other, "value": value})
    layer = charts.heat_map("measure", "and", "value", result.measures, result.measures, None)
    layer["encoding"]["color"]["scale"]["domain"] = [0 if name == "rbo" else -1, 1]
    side = max(160, 48 * len(result.measures))
    return charts.chart(f"Agreement: {COEFFICIENT[name]}", rows, [layer], width=side, height=side)


def percent(share: float) -> str:
    return f"{100 * share:g}"


def how_drawn(result: MetaResult) -> str:
    how = "drawn for each pair" if result.draws == "paired" else "the same for all pairs"
    return (
        f"{plural(result.subsets, 'subset')} of {result.size:,} of "
        f"{plural(result.questions, 'question')}, {how}, seed {result.seed}"
    )
