"""What resampling says of measures, as tables."""

from __future__ import annotations

import math

from abstain.analyses.meta.agreement import COEFFICIENTS, LABELS
from abstain.analyses.meta.result import MetaResult
from abstain.errors import plural
from abstain.outcomes import Policy
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import policy_sentence, sentence

SMALL = 1e-3
WIDTH = 80


def meta_grids(result: MetaResult) -> list[Grid]:
    """A table for each part, with what it takes to read it below."""
    grids = [grid for own in grids_by_part(result).values() for grid in own]
    if grids:
        grids[-1].notes += _notes(result)
    else:
        grids = [Grid([], [], notes=_notes(result))]
    return grids


def grids_by_part(result: MetaResult) -> dict[str, list[Grid]]:
    """The tables of each part that there is."""
    found: dict[str, list[Grid]] = {}
    if "stability" in result.parts:
        found["stability"] = _stability(result)
    if "sensitivity" in result.parts:
        found["sensitivity"] = [_sensitivity(result), _required(result)]
    if "power" in result.parts:
        found["power"] = [_power(result)]
    if "agreement" in result.parts and result.agreement:
        found["agreement"] = [_agreement(result)]
    return found


def tidy_grid(result: MetaResult) -> Grid:
    """Every number in one long table: what CSV holds."""
    columns = [Column(name) for name in ("part", "measure", "other")]
    columns += [Column("at", "score"), Column("quantity"), Column("value", "score")]
    rows: list[list[Cell]] = [[row[c.name] for c in columns] for row in result.records()]
    return Grid(columns, rows)


def how_drawn(result: MetaResult) -> str:
    plan = result.plan
    whose = "each pair its own" if plan.draws == "paired" else "one for all pairs"
    return (
        f"{plural(plan.trials, 'trial')}, subsets of {plan.size:,} of "
        f"{plural(result.questions, 'question')}, {whose}, seed {plan.seed}"
    )


def _stability(result: MetaResult) -> list[Grid]:
    """As many measures beside each other as 80 columns have room for; the others below them."""
    title = "Stability: how often another sample reverses two runs, in percent"
    levels = [f"{level:g}" for level in result.stability[0].fuzziness]
    grids: list[Grid] = []
    room = 0
    for item in result.stability:
        error = [_percent(*own) for own in zip(item.error, item.error_se, strict=True)]
        ties = [_percent(own) for own in item.ties]
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


def _percent(value: float | None, error: float | None = None) -> Cell:
    if value is None:
        return None
    text = f"{100 * value:.2f}"
    return f"{text} ± {100 * error:.2f}" if error is not None else text


def _sensitivity(result: MetaResult) -> Grid:
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
        for row in result.swap
    ]
    notes = [f"{row.measure}: {row.reason}." for row in result.swap if row.reason]
    notes.append(
        f"{how_drawn(result)} and disjoint. The required difference is the first at which, and "
        f"above which, at most {100 - result.confidence:g} % of the comparisons swap; the range "
        "allows two Monte Carlo errors. Relative: over the highest score seen. Sensitivity: the "
        "share of the comparisons that reach it."
    )
    title = f"Sensitivity: the difference required at {result.confidence:g} %"
    return Grid(columns, rows, title=title, notes=notes)


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


def _range(bounds: tuple[float | None, float | None], width: float) -> Cell:
    low, high = (in_bins(bound, width) for bound in bounds)
    if low is None:
        return None
    return f"above {low}" if high is None else f"{low} to {high}"


def _required(result: MetaResult) -> Grid:
    sizes = sorted({item.questions for item in result.requirements})
    columns = [Column("questions", "count"), *(Column(name, "score") for name in result.measures)]
    known = {(item.questions, item.measure): item.required for item in result.requirements}
    widths = {row.measure: row.width for row in result.swap}
    rows: list[list[Cell]] = [
        [size, *(in_bins(known[size, name], widths[name]) for name in result.measures)]
        for size in sizes
    ]
    gaps = any(item.required is None for item in result.requirements)
    unknown = ["–: no difference could be told."] if gaps else []
    return Grid(
        columns,
        rows,
        title="The difference required, by the number of questions",
        notes=[*unknown, *([result.advice] if result.advice else [])],
    )


def _power(result: MetaResult) -> Grid:
    level = 100 * result.power[0].alpha
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
        f"{result.plan.seed}. The bootstrap tests pair by pair, Tukey's test all pairs together: "
        "it separates those that differ by more than the honest difference."
    )
    reasons = dict.fromkeys(f"–: {item.reason}." for item in result.power if item.reason)
    return Grid(
        columns,
        rows,
        title=f"Power: pairs of runs told apart at {level:g} %",
        notes=[*reasons, note],
    )


def _small(value: float | None) -> Cell:
    """A score, with its first digits where four decimals would show none."""
    return f"{value:.3g}" if value and abs(value) < SMALL else value


def _agreement(result: MetaResult) -> Grid:
    columns = [
        Column("measure"),
        Column("and"),
        *(Column(LABELS[c], "score") for c in COEFFICIENTS),
    ]
    rows: list[list[Cell]] = [
        [item.first, item.second, *(getattr(item, c) for c in COEFFICIENTS)]
        for item in result.agreement
    ]
    notes = [
        f"{item.first} and {item.second}: {item.reason}."
        for item in result.agreement
        if item.reason
    ]
    common = {item.runs for item in result.agreement}
    alike = len(common) == 1 and min(common) > 1
    over = f"the {plural(min(common), 'run')}" if alike else "the runs"
    if len(common) > 1:
        columns.insert(2, Column("runs", "count"))
        for row, item in zip(rows, result.agreement, strict=True):
            row.insert(2, item.runs)
    title = f"Agreement: how far two measures order {over} alike"
    return Grid(columns, rows, title=title, notes=notes)


def _notes(result: MetaResult) -> list[str]:
    said = [f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}."]
    said += [sentence(note, (*result.measures, *result.runs)) for note in result.notes]
    if result.policy is not None:
        rules = Policy.of(result.policy)
        said.append(policy_sentence(rules, dict(result.touched or {})))
    return said
