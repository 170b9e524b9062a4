"""What a measure makes of blanks: κ, p*, who wins under it, and who would under another t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain.errors import plural
from abstain.measures import Measure, measure
from abstain.measures.arrays import Array
from abstain.outcomes import CountsArray
from abstain.report.cards import signature
from abstain.report.charts import NOT_A_RUN, chart, lines, points
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, PageTable
from abstain.stats.standings import Lead, leads

MOST_LINES = 6
HIGHEST_T = 0.8
T_AXIS, S_AXIS = "t: answering pays above this chance", "penalised score S(t)"
SILENCE = NOT_A_RUN
REWARDS = (
    *("accuracy", "credit(t=0.25)", "c@1", "F", "credit(t=0.5)", "credit(t=0.75)"),
    *("precision", "answer-all-bound"),
)


def measure_facts(item: Measure) -> list[tuple[str, str]]:
    """What one should know of a measure."""
    d = item.definition
    facts = [
        ("measure", f"{signature(d)}: {d.summary}"),
        ("formula", d.formula),
        ("a blank is credited", f"κ = {d.kappa_text} right answers" if d.kappa else None),
        ("answering pays above", f"p* = {d.break_even_text}" if d.break_even else None),
        ("to game it", d.gaming or None),
        ("note", d.note or None),
        ("source", d.source),
    ]
    return [(name, value) for name, value in facts if value is not None]


def rewards_table(runs: Sequence[str], counts: CountsArray, chosen: Sequence[Measure]) -> PageTable:
    """Measures by what they credit a blank, and the run that each puts first."""
    columns = [Column("measure"), Column("formula"), Column("κ"), Column("p*")]
    columns += [Column("puts first"), Column("score", "score")]
    columns += [Column("κ there", "score"), Column("p* there", "score"), Column("second")]
    items = list(dict.fromkeys([*chosen, *(measure(name) for name in REWARDS)]))
    rows: list[list[Cell]] = []
    for item in items:
        d = item.definition
        if d.takes != "counts" or (d.kappa is None and d.break_even is None):
            continue
        scores = item(counts)
        if np.isnan(scores).all():
            continue
        falling = -scores if item.higher_is_better else scores
        order = np.lexsort((np.arange(len(runs)), np.nan_to_num(falling, nan=np.inf)))
        first = int(order[0])
        best = counts[first]
        rows.append(
            [
                *(str(item), d.formula, d.kappa_text, d.break_even_text, runs[first]),
                float(scores[first]),
                item.kappa(best) if d.kappa is not None else None,
                item.break_even(best) if d.break_even is not None else None,
                runs[int(order[1])] if len(order) > 1 else "",
            ]
        )
    return PageTable(
        "rewards",
        "What other measures would say",
        "κ: the credit for a blank, in right answers. p*: the chance of being right above which "
        "answering pays. The columns “κ there” and “p* there” give their values for the run that "
        "the measure puts first.",
        Grid(columns, rows),
    )


def leads_table(runs: Sequence[str], counts: CountsArray) -> PageTable:
    """Who would win under another t."""
    right, wrong = _shares(counts)
    ends = "one end of a range of t; at t, answering pays if the chance of being right is above t"
    columns = [Column("from t", "score", means=ends), Column("to t", "score", means=ends)]
    columns.append(Column("first", means="the run that is best in this range"))
    shares = (("right %", "its share of right answers"), ("wrong %", "its share of wrong ones"))
    columns += [Column(name, "percent", means=means) for name, means in shares]
    rows: list[list[Cell]] = []
    for lead in leads(right, wrong):
        share: list[Cell] = [0.0, 0.0]
        if lead.run is not None:
            share = [100 * float(right[lead.run]), 100 * float(wrong[lead.run])]
        rows.append([lead.start, lead.stop, _name(runs, lead), *share])
    return PageTable(
        "leads",
        "Who would win under another t",
        "At t a wrong answer costs t/(1−t) right ones, so answering pays if the chance of being "
        "right is above t.",
        Grid(columns, rows),
    )


def _shares(counts: CountsArray) -> tuple[Array, Array]:
    """Right and wrong of all questions; NaN for a run that has none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts.right / counts.n, counts.wrong / counts.n


def _name(runs: Sequence[str], lead: Lead) -> str:
    return SILENCE if lead.run is None else runs[lead.run]


def decision_figure(runs: Sequence[str], counts: CountsArray, best: Sequence[int]) -> Figure:
    """The penalised score over t: the best runs, those that lead somewhere, and silence."""
    right, wrong = _shares(counts)
    found = leads(right, wrong)
    ahead = [lead.run for lead in found if lead.run is not None and lead.start < HIGHEST_T]
    shown = list(dict.fromkeys([*ahead, *best]))[: max(MOST_LINES, len(ahead))]
    rows: list[dict[str, Any]] = [
        {"t": t, "S": float(right[i] - t / (1 - t) * wrong[i]), "run": runs[i]}
        for t in np.round(np.arange(0, HIGHEST_T + 0.01, 0.02), 2).tolist()
        for i in shown
    ]
    rows += [{"t": t, "S": 0.0, "run": SILENCE} for t in (0.0, HIGHEST_T)]
    changes = [lead for lead in found[1:] if lead.start < HIGHEST_T]
    for lead in changes:
        odds = lead.start / (1 - lead.start)
        height = 0.0 if lead.run is None else float(right[lead.run] - odds * wrong[lead.run])
        rows.append({"t": lead.start, "crossover": height, "takes the lead": _name(runs, lead)})
    top = float(np.nan_to_num(right).max())
    layer = lines(
        "t",
        "S",
        colour="run",
        x_title=T_AXIS,
        y_title=S_AXIS,
        x_domain=(0, HIGHEST_T),
        y_domain=(-0.6 * top - 0.05, 1.1 * top + 0.01),
    )
    layer["mark"] |= {"clip": True, "strokeWidth": 2}
    layer["transform"] = [{"filter": "isValid(datum.S)"}]
    layer["encoding"]["color"] |= {"sort": None, "title": None}
    layers = [layer]
    if changes:
        mark = points("t", "crossover", x_title=T_AXIS, y_title=S_AXIS)
        mark["mark"] |= {"size": 90, "filled": False, "strokeWidth": 2, "clip": True}
        mark["encoding"]["color"] = {"value": "#7f7f7f"}
        mark["encoding"]["tooltip"] = [
            {"field": "takes the lead", "type": "nominal"},
            {"field": "t", "type": "quantitative", "format": ".3f"},
        ]
        for axis in ("x", "y"):
            mark["encoding"][axis].pop("scale")
        mark["transform"] = [{"filter": "isValid(datum.crossover)"}]
        layers.append(mark)
    return Figure(
        "decision",
        decision_words(runs, found, len(shown)),
        chart("", rows, layers, height=340),
        title="If a wrong answer cost more",
    )


def decision_words(runs: Sequence[str], found: Sequence[Lead], shown: int) -> str:
    """Where the leader changes as wrong answers grow dearer."""
    said = "Scores fall as a wrong answer costs more."
    for lead in found:
        since = f"From t = {lead.start:.2f}" if lead.start > 0 else ""
        until = f"to {lead.stop:.2f}" if since else f"Up to t = {lead.stop:.2f}"
        where = " ".join(filter(None, (since, until if lead.stop < 1 else ""))) or "At every t"
        best = "it is best to answer nothing" if lead.run is None else f"{runs[lead.run]} is best"
        said += f" {where} {best}."
    drawn = f"{said} {plural(shown, 'run is', 'runs are')} drawn"
    marked = any(lead.start < HIGHEST_T for lead in found[1:])
    return f"{drawn}; a circle marks a change of lead." if marked else f"{drawn}."
