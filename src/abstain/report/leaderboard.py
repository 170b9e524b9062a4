"""What pages of scores share: who is first, figures of scores, what a measure makes of blanks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.errors import plural
from abstain.measures import Measure, measure
from abstain.outcomes import CountsArray
from abstain.report.charts import NOT_A_RUN, chart, dots_and_spans, heat_map, lines
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, PageTable, Section
from abstain.report.view import count_text, score_text, slice_text
from abstain.stats.orderings import Lead, leads

if TYPE_CHECKING:
    from abstain.measures.definition import Array
    from abstain.report.view import ScoredRow

MOST_DOTS, MOST_CELLS, MOST_LINES = 60, 3_000, 6
HIGHEST_T = 0.8
REWARDS = (
    *("accuracy", "credit(t=0.25)", "c@1", "F", "credit(t=0.5)", "credit(t=0.75)"),
    *("precision", "answer-all-bound"),
)
REWARDED = [
    Column("measure", means="a measure, by what it credits a blank"),
    Column("formula", means="c, w, u: the shares right, wrong and blank"),
    Column("κ", means="the credit for a blank, in right answers"),
    Column("p*", means="the chance of being right above which answering pays"),
    Column("puts first", means="the run with the best score by this measure"),
    Column("score", "score", means="its score"),
    Column("κ there", "score", means="κ for that run"),
    Column("p* there", "score", means="p* for that run"),
    Column("second", means="the run that comes next"),
]
T_AXIS, S_AXIS = "t: answering pays above this chance", "penalised score S(t)"


def first_sentence(rows: Sequence[ScoredRow], name: str, *, test: str = "`abstain compare`") -> str:
    """Which run is best, slices by their first row, and whether that is sure by `test`."""
    scored = [row for row in rows if row.scores[name] is not None]
    if not scored:
        return f"No run has a {name}."
    if best_of := {slice_text(row): row.run for row in reversed(scored) if row.slice}:
        run, most = Counter(best_of.values()).most_common(1)[0]
        return f"{run} is first by {name} in {most} of {plural(len(best_of), 'slice')}."
    best, *others = scored
    figures = f"{name} {score_text(best.scores[name])}"
    if any(outcomes := getattr(best, "outcomes", ())):
        right, wrong, blank = map(count_text, outcomes)
        figures += f": {right} right, {wrong} wrong, {blank} blank"
    if not others:
        return f"{best.run} has {figures}."
    first, second, *_ = (row.scores[name] or 0.0 for row in scored)
    place = "level with" if math.isclose(first, second, rel_tol=1e-12) else "before"
    place += f" {others[0].run} ({score_text(second)})"
    sure = f"{test} tests the difference"
    low, high = best.intervals.get(name, (None, None))
    if low is not None and high is not None:
        ends = [row.intervals.get(name, (None, None)) for row in others]
        overlapping = sum(a is None or b is None or (a <= high and low <= b) for a, b in ends)
        sure = f"its interval overlaps that of {plural(overlapping, 'other run')} ({sure})"
    return f"The best run is {best.run} ({figures}), {place}; {sure}."


def score_figures(rows: Sequence[ScoredRow], name: str) -> Iterator[Figure]:
    """Runs × slices as a heat map, or the runs on all questions as dots."""
    yield from slice_figure(rows, name)
    whole = [row for row in rows if not row.slice]
    ends = [row.intervals.get(name, (None, None)) for row in whole]
    dots = [(row.run, row.scores[name], *e) for row, e in zip(whole, ends, strict=True)]
    yield from dot_figure("scores", dots, name)


def dot_figure(
    name: str,
    rows: Sequence[tuple[str, float | None, float | None, float | None]],
    measure: str,
    *,
    most: int = MOST_DOTS,
    what: str = "run",
) -> list[Figure]:
    """Scores as dots with their intervals, the best on top; none where fewer than two have one."""
    there = [row for row in rows if row[1] is not None]
    if len(there) < 2:
        return []
    shown = there[:most]
    data = [dict(zip(("run", measure, "low", "high"), row, strict=True)) for row in shown]
    layers = dots_and_spans(measure, "run", [run for run, *_ in shown], x_title=measure)
    if all(low is None for _, _, low, _ in shown):
        del layers[0]
    for layer in layers:
        layer["encoding"]["color"] = {"field": "run", "type": "nominal", "legend": None}
    scores = [score for _, score, _, _ in shown if score is not None]
    drawn = f"All {what}s" if len(shown) == len(rows) else f"{len(shown)} of {len(rows)} {what}s"
    caption = f"{drawn}: {measure} from {min(scores):.3f} to {max(scores):.3f}."
    spec = chart("", data, layers, height=max(80, 18 * len(shown)))
    return [Figure(name, caption, spec, title=f"{measure} by run")]


def slice_figure(rows: Sequence[ScoredRow], name: str) -> Iterator[Figure]:
    """Runs × slices as a heat map, where there are several slices and not too many cells."""
    attributes = list(rows[0].slice) if rows else []
    texts = [
        (row.slice[attributes[0]] or "–") if len(attributes) == 1 else slice_text(row)
        for row in rows
    ]
    slices, runs = list(dict.fromkeys(texts)), list(dict.fromkeys(row.run for row in rows))
    if len(slices) < 2 or len(slices) * len(runs) > MOST_CELLS:
        return
    data = [
        {"run": row.run, "slice": text, name: row.scores[name]}
        for row, text in zip(rows, texts, strict=True)
    ]
    title = attributes[0] if len(attributes) == 1 else None
    layer = heat_map("slice", "run", name, slices, runs, title)
    yield Figure(
        "slices",
        f"{name} of {plural(len(runs), 'run')} in {plural(len(slices), 'slice')}.",
        chart("", data, [layer], height=max(120, 22 * len(runs))),
        title=f"{name} by slice",
    )


def measure_facts(item: Measure) -> list[tuple[str, str]]:
    """What one should know of a measure."""
    d = item.definition
    facts = [
        ("measure", f"{d.signature}: {d.summary}"),
        ("formula", d.formula),
        ("a blank is credited", f"κ = {d.kappa_text} right answers" if d.kappa else None),
        ("answering pays above", f"p* = {d.break_even_text}" if d.break_even else None),
        ("to game it", d.gaming or None),
        ("note", d.note or None),
        ("source", d.source),
    ]
    return [(name, value) for name, value in facts if value is not None]


def rewards_section(
    runs: Sequence[str], counts: CountsArray, measures: Sequence[Measure]
) -> Section:
    """What the first measure rewards; of runs with counts who would be first under another one."""
    facts = measure_facts(measures[0])
    section = Section("measure", "What is rewarded", facts=facts, short="Rewards")
    if runs:
        section.figures = [decision_figure(runs, counts)]
        section.folded = [rewards_table(runs, counts, measures)]
    return section


def rewards_table(runs: Sequence[str], counts: CountsArray, chosen: Sequence[Measure]) -> PageTable:
    """Measures by what they credit a blank, and the run that each puts first."""
    items = list(dict.fromkeys([*chosen, *(measure(name) for name in REWARDS)]))
    rows: list[list[Cell]] = []
    for item in items:
        d = item.definition
        if d.takes != "counts" or (d.kappa is None and d.break_even is None):
            continue
        scores = item(counts)
        if np.isnan(scores).all():
            continue
        falling = np.nan_to_num(-scores if item.higher_is_better else scores, nan=np.inf)
        first, *others = np.argsort(falling, kind="stable").tolist()
        best = counts[first]
        rows.append(
            [
                *(str(item), d.formula, d.kappa_text, d.break_even_text, runs[first]),
                float(scores[first]),
                item.kappa(best) if d.kappa is not None else None,
                item.break_even(best) if d.break_even is not None else None,
                runs[others[0]] if others else "",
            ]
        )
    return PageTable(
        "rewards",
        "What other measures would say",
        "What each measure makes of a blank, and whom it puts first.",
        Grid(REWARDED, rows),
    )


def _shares(counts: CountsArray) -> tuple[Array, Array]:
    """Right and wrong of all questions; NaN for a run that has none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts.right / counts.n, counts.wrong / counts.n


def _name(runs: Sequence[str], lead: Lead) -> str:
    return NOT_A_RUN if lead.run is None else runs[lead.run]


def decision_figure(runs: Sequence[str], counts: CountsArray) -> Figure:
    """The penalised score over t: the best runs, those that lead somewhere, and silence."""
    right, wrong = _shares(counts)
    result = leads(right, wrong)
    ahead = [lead.run for lead in result if lead.run is not None and lead.start < HIGHEST_T]
    shown = list(dict.fromkeys([*ahead, *range(len(runs))]))[: max(MOST_LINES, len(ahead))]
    rows: list[dict[str, Any]] = [
        {"t": t, "S": float(right[i] - t / (1 - t) * wrong[i]), "run": runs[i]}
        for t in np.round(np.arange(0, HIGHEST_T + 0.01, 0.02), 2).tolist()
        for i in shown
    ]
    rows += [{"t": t, "S": 0.0, "run": NOT_A_RUN} for t in (0.0, HIGHEST_T)]
    top = float(np.nan_to_num(right).max())
    shape = {"x_domain": (0, HIGHEST_T), "y_domain": (-0.6 * top - 0.05, 1.1 * top + 0.01)}
    layer = lines("t", "S", colour="run", x_title=T_AXIS, y_title=S_AXIS, **shape)
    layer["mark"] |= {"clip": True, "strokeWidth": 2}
    layer["encoding"]["color"] |= {"sort": None, "title": None}
    words = ", ".join(
        f"{_name(runs, lead)} is best from t = {lead.start:.2f} to {lead.stop:.2f}"
        for lead in result
    )
    return Figure(
        "decision",
        f"{words}. {plural(len(shown), 'run')} drawn.",
        chart("", rows, [layer], height=340),
        title="If a wrong answer cost more",
    )
