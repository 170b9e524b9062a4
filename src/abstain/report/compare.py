"""A comparison as tables, sentences and a chart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from abstain.compare.functional import THREE
from abstain.compare.intervals import METHODS, OF_ONE_PROPORTION, RANDOM
from abstain.compare.randomisation import EXACT_CLUSTERS
from abstain.compare.result import TESTS, Comparison, Pair
from abstain.errors import plural
from abstain.outcomes import Undefined
from abstain.report.charts import chart, points
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import policy_sentence

CORRECTED = {
    "holm": "corrected by Holm",
    "bh": "corrected by Benjamini and Hochberg",
    "none": "not corrected",
}
MOST_QUESTIONS = 5
MOST_SLICES = 12


def compare_grids(c: Comparison) -> list[Grid]:
    """Everything that a reader sees, in order; the sentences stand below the last table."""
    grids = [run_grid(c), pair_grid(c, _shown_pairs(c))]
    if c.origin is not None:
        grids.append(transition_grid(c))
        if c.origin.slices:
            grids.append(slice_grid(c))
    grids[-1].notes = sentences(c)
    return grids


def run_grid(c: Comparison) -> Grid:
    """The runs with their intervals and groups."""
    columns = [Column("run"), Column(c.measure, "score")]
    columns += [Column("low", "score"), Column("high", "score")]
    groups = c.grouped
    counted = all(row.counts is not None for row in c.rows)
    bounded = any(row.bounds is not None for row in c.rows)
    corrected = any(row.corrected is not None for row in c.rows)
    if groups:
        columns.append(Column("group"))
    if counted:
        columns += [Column(name, "count") for name in THREE.names]
    if bounded:
        columns += [Column("unknown", "count"), Column("worst", "score"), Column("best", "score")]
    if corrected:
        columns += [Column(n, "score") for n in ("corrected", "its low", "its high")]
    rows: list[list[Cell]] = []
    for row in c.rows:
        cells: list[Cell] = [row.run, row.score, row.interval.low, row.interval.high]
        if groups:
            cells.append(row.letters)
        if row.counts is not None:
            cells += [row.counts.right, row.counts.wrong, row.counts.unanswered]
        if bounded:
            low, high = row.bounds or (math.nan, math.nan)
            cells += [row.unknown, low, high]
        if corrected:
            k = row.corrected
            cells += [k.score, k.low, k.high] if k is not None else [None, None, None]
        rows.append(cells)
    return Grid(columns, rows)


def _shown_pairs(c: Comparison) -> list[Pair]:
    return list(c.pairs) if c.settings.reference or len(c.rows) == 2 else c.neighbours()


def pair_grid(c: Comparison, pairs: list[Pair], *, full: bool = False) -> Grid:
    """Differences with intervals and p-values; `full` keeps every digit."""
    many = len(c.pairs) > 1
    columns = [Column("run"), Column("against"), Column("difference", "score")]
    columns += [Column("low", "score"), Column("high", "score"), Column("p", "score")]
    if many:
        columns.append(Column("p, corrected", "score"))
    rows: list[list[Cell]] = []
    for pair in pairs:
        cells: list[Cell] = [pair.run, pair.against, pair.difference]
        cells += [pair.interval.low, pair.interval.high]
        p = [pair.p, pair.adjusted] if many else [pair.p]
        cells += p if full else [p_text(x) for x in p]
        rows.append(cells)
    title = "" if full or not many or c.settings.reference else "Neighbours"
    return Grid(columns, rows, title=title)


def p_text(p: float) -> str:
    """A p-value as people read it.

    >>> p_text(0.04211), p_text(1e-9)
    ('0.0421', '<0.0001')
    """
    if math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def transition_grid(c: Comparison) -> Grid:
    """Each kind of move, how many questions made it, what it is worth."""
    assert c.origin is not None
    pair = c.pairs[0]
    columns = [Column(f"{pair.against} → {pair.run}"), Column("questions", "count")]
    columns.append(Column("worth", "score"))
    rows: list[list[Cell]] = []
    for i, a in enumerate(THREE.names):
        for j, b in enumerate(THREE.names):
            if c.origin.transitions[i, j] and i != j:
                worth = float(c.origin.worth[i, j])
                rows.append([f"{a} → {b}", float(c.origin.transitions[i, j]), worth])
    rows.sort(key=lambda r: -abs(float(r[2])))  # type: ignore[arg-type]
    same = float(np.trace(c.origin.transitions))
    return Grid(columns, [*rows, ["the same", same, 0.0]], title="Where it comes from")


def slice_grid(c: Comparison) -> Grid:
    """The parts of the questions by what they contribute."""
    assert c.origin is not None
    pair = c.pairs[0]
    columns = [Column("slice"), Column("part"), Column("questions", "count")]
    columns += [Column(pair.run, "score"), Column(pair.against, "score")]
    columns += [Column("difference", "score"), Column("contributes", "score")]
    rows: list[list[Cell]] = [
        [s.attribute, s.name, s.questions, s.own, s.other, s.difference, s.contribution]
        for s in c.origin.slices[:MOST_SLICES]
    ]
    return Grid(columns, rows, title="Slices")


# ------------------------------------------------------------------------------------ in words


def sentences(c: Comparison) -> list[str]:
    """What follows, in words."""
    said = [_what(c)]
    said += _undefined(c)
    said += verdict(c)
    said += _origin(c)
    said += _bounds(c)
    said += _corrected(c)
    said += _plan(c)
    said.append(how(c))
    said += [note[:1].upper() + note[1:].rstrip(".") + "." for note in c.notes]
    if c.policy is not None:
        said.append(policy_sentence(c.policy, c.touched))
    return said


def verdict(c: Comparison) -> list[str]:
    """Which differences are real."""
    if c.settings.reference:
        return _reference(c)
    return _two(c) if len(c.rows) == 2 else _many(c)


def _what(c: Comparison) -> str:
    text = f"{plural(len(c.rows), 'run')}, paired by question on "
    if c.questions == c.in_all:
        text += plural(c.questions, "question")
    else:
        text += (
            f"the {c.questions:,} of {plural(c.in_all, 'question')} that all of them have "
            f"({_names(f'{run} lacks {gone:,}' for run, gone in c.absent.items())})"
        )
    if c.clusters is not None:
        text += f" in {plural(c.clusters, 'cluster')} ({c.settings.cluster})"
        if c.clusters < 2:
            text += ": one cluster shows no spread, so there is no interval and p is 1"
    elif c.questions == 1:
        text += ": one question shows no spread, so there is no interval and p is 1"
    return text + "."


def _names(items: Any, most: int = 3) -> str:
    listed = list(items)
    tail = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + tail


def _undefined(c: Comparison) -> list[str]:
    found: dict[str, list[str]] = {}
    for row in c.rows:
        if isinstance(row.score, Undefined):
            found.setdefault(row.score.reason, []).append(row.run)
    return [
        f"{c.measure} is undefined (–) where {reason}: {_names(runs)}."
        for reason, runs in found.items()
    ]


def _two(c: Comparison) -> list[str]:
    (pair,) = c.pairs
    if math.isnan(pair.difference):
        return ["Where a score is undefined there is no difference to test."]
    if c.origin is not None and np.trace(c.origin.transitions) == c.questions and not pair.p < 1:
        alike = f"{pair.run} and {pair.against} have the same outcome on every question"
        return [f"{alike}: there is no difference to be seen."]
    size = f"{abs(pair.difference):.4f}"
    test = f"p = {p_text(pair.p)}".replace("= <", "< ")
    if pair.difference == 0:
        return [f"{pair.run} and {pair.against} have the same {c.measure} ({test})."]
    ahead = "ahead of" if pair.difference > 0 else "behind"
    text = f"{pair.run} is {ahead} {pair.against} by {size} ({test}): "
    if c.differs(pair):
        return [text + f"a difference at the {100 * c.alpha:g} % level."]
    return [text + f"not a difference at the {100 * c.alpha:g} % level, chance could have made it."]


def _many(c: Comparison) -> list[str]:
    tested = [p for p in c.pairs if not math.isnan(p.adjusted)]
    found = sum(c.differs(p) for p in tested)
    said = [
        f"Of {plural(len(tested), 'pair')}, {plural(found, 'differs', 'differ')} at the "
        f"{100 * c.alpha:g} % level ({CORRECTED[c.settings.correction]})."
    ]
    separated = c.separated()
    if separated:
        runs = _names(separated, most=5)
        verb = "is" if len(separated) == 1 else "are"
        said.append(f"{runs} {verb} separated from all others.")
    else:
        said.append("No run is separated from all others.")
    near = [p for p in c.neighbours() if not math.isnan(p.adjusted)]
    alike = sum(not c.differs(p) for p in near)
    if near:
        most = "most neighbours" if 2 * alike > len(near) else "some neighbours"
        head = "All neighbours differ" if not alike else f"But {most} are not told apart"
        if alike and not separated:
            head = head.removeprefix("But ").capitalize()
        said.append(
            f"{head}: {alike} of {plural(len(near), 'pair')} next to each other in the ranking "
            "could have come by chance."
        )
    if c.grouped:
        said.append("Runs that share a letter (group) cannot be told apart.")
    elif len(c.rows) > 2:
        said.append("There are too many groups for letters.")
    same = [p for p in c.pairs if p.error == 0 and p.difference == 0]
    if same:
        pairs = _names(f"{p.run} and {p.against}" for p in same)
        said.append(f"Alike throughout, as far as {c.measure} can tell: {pairs}.")
    return said


def _reference(c: Comparison) -> list[str]:
    better = [p.run for p in c.pairs if c.differs(p) and p.difference > 0]
    worse = [p.run for p in c.pairs if c.differs(p) and p.difference < 0]
    rest = sum(not math.isnan(p.adjusted) for p in c.pairs) - len(better) - len(worse)
    said = []
    for runs, word in ((better, "above"), (worse, "below")):
        if runs:
            verb = "is" if len(runs) == 1 else "are"
            said.append(f"{_names(runs, most=5)} {verb} {word} {c.settings.reference}.")
    said.append(
        f"{plural(rest, 'run')} cannot be told apart from {c.settings.reference} "
        f"(max-T over {plural(len(c.pairs), 'comparison')}, {100 * c.alpha:g} %)."
    )
    return said


def _origin(c: Comparison) -> list[str]:
    o = c.origin
    if o is None or math.isnan(o.knowing) or not np.abs(o.contributions).any():
        return []
    pair = c.pairs[0]
    text = (
        f"Of the difference of {_signed(pair.difference)}, {_signed(o.knowing)} is knowing more "
        f"or less and {_signed(o.abstaining)} is when to abstain"
    )
    if o.without_candidate:
        moves = plural(o.without_candidate, "move")
        text += f" ({moves} from or to a blank without a candidate count as abstaining)"
    said = [text + "."]
    moved = np.argsort(-np.abs(o.contributions), kind="stable")[:MOST_QUESTIONS]
    alike = np.abs(np.abs(o.contributions) - np.abs(o.contributions[moved[0]])) < 1e-12
    if alike.sum() <= MOST_QUESTIONS:
        listed = [
            f"{c.question_ids[i]} ({_signed(float(o.contributions[i]))})"
            for i in moved
            if abs(o.contributions[i]) > 0
        ]
        said.append(f"The questions that carry it: {', '.join(listed)}.")
    for attribute in o.reversals:
        said.append(
            f"Simpson's reversal: in every part by {attribute} the difference goes the other way."
        )
    return said


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def _bounds(c: Comparison) -> list[str]:
    unknown = [row for row in c.rows if row.unknown and row.bounds is not None]
    if not unknown:
        return []
    total = sum(row.unknown for row in unknown)
    said = [
        f"{plural(total, 'response is', 'responses are')} unknown (unparseable, failed or missing):"
        f" worst and best are the scores over all {plural(c.in_all, 'question')} and all ways they "
        "could have gone."
    ]
    if len(c.rows) == 2 and all(row.bounds is not None for row in c.rows):
        first, second = c.rows
        assert first.bounds is not None
        assert second.bounds is not None
        if first.bounds[0] > second.bounds[1]:
            said.append(f"{first.run} stays ahead of {second.run} whatever they were.")
        else:
            said.append("They could turn the order of the two runs.")
    return said


def _corrected(c: Comparison) -> list[str]:
    if not any(row.corrected is not None for row in c.rows):
        return []
    return [
        "The corrected scores undo the judge's errors by its rates on the checked sample; their "
        "intervals include the uncertainty of those rates."
    ]


def _plan(c: Comparison) -> list[str]:
    if c.plan is None:
        return []
    p = c.plan
    if p.visible > 1:
        return ["This test set is too small to show any difference reliably."]
    whose = "at the disagreement seen" if len(c.pairs) == 1 else "at the median disagreement"
    said = [
        f"This test set shows a difference of {p.visible:.3f} with a power of "
        f"{100 * p.power_asked:g} % ({whose}, one comparison)."
    ]
    if p.detect is not None:
        assert p.power is not None
        assert p.needed is not None
        said.append(
            f"A difference of {p.detect:g} would be found with a power of {100 * p.power:.0f} %; "
            f"{100 * p.power_asked:g} % takes {plural(p.needed, 'question')}."
        )
    return said


def how(c: Comparison) -> str:
    """How intervals and p-values were made."""
    s = c.settings
    text = f"Intervals: {100 * s.level:g} %, {METHODS[s.method]} ({s.method})"
    text += "; of differences: logit. " if s.method in OF_ONE_PROPORTION else ". "
    text += f"Test: {TESTS[s.test]}"
    drawn = [p for p in c.pairs if not p.exact] if s.test != "wilcoxon" else []
    exact = sum(p.exact for p in c.pairs)
    if exact:
        text += ", exact" if exact == len(c.pairs) else f", exact for {plural(exact, 'pair')}"
    swapped = c.questions if c.clusters is None else c.clusters
    chance = drawn or s.method in RANDOM or (s.reference and swapped > EXACT_CLUSTERS)
    text += f"; {s.trials:,} trials, seed {s.seed}." if chance else "."
    floor = len(c.pairs) / (s.trials + 1)
    if drawn and s.correction == "holm" and not s.reference and floor > c.alpha:
        text += (
            f" So few trials cannot tell any of {plural(len(c.pairs), 'pair')} apart after Holm's "
            f"correction: take --trials {math.ceil(2 * len(c.pairs) / c.alpha):,} or bh."
        )
    return text


# --------------------------------------------------------------------------------------- chart


def compare_chart(c: Comparison) -> dict[str, Any]:
    """Scores with their intervals, the best on top."""
    rows = [
        {
            "run": row.run,
            "score": float(row.score),
            "low": row.interval.low,
            "high": row.interval.high,
            "group": row.letters,
        }
        for row in c.rows
    ]
    names = [row.run for row in c.rows]
    titles: dict[str, Any] = {"x_title": c.measure, "y_title": "", "y_type": "nominal"}
    span = points("low", "run", sort=names, **titles)
    span["mark"] = {"type": "rule", "strokeWidth": 2, "color": "#56b4e9"}
    span["encoding"]["x2"] = {"field": "high"}
    dots = points("score", "run", sort=names, **titles)
    layers = [span, dots]
    if any(row.letters for row in c.rows):
        text = points("high", "run", sort=names, **titles)
        text["mark"] = {"type": "text", "align": "left", "dx": 6, "fontSize": 9}
        text["encoding"]["text"] = {"field": "group"}
        layers.append(text)
    return chart(
        f"{c.measure} with {100 * c.settings.level:g} % intervals",
        rows,
        layers,
        subtitle=f"{c.questions:,} questions; {c.settings.method}",
        height=max(80, 18 * len(rows)),
    )
