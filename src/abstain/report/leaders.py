"""Runs with scores, whether of questions or of rankings: their order, words and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from abstain.errors import plural
from abstain.measures import Measure
from abstain.report.charts import cells, chart
from abstain.report.pieces import Figure
from abstain.report.shared import ScoredRow, higher_is_better, score_figure, slice_text, tally_of
from abstain.report.words import count_text, label, listed, number, undefined_sentences
from abstain.stats.standings import following, same

if TYPE_CHECKING:
    from abstain.analyses.score.result import Row

MOST_CELLS = 3_000


def best_first(rows: Sequence[ScoredRow], name: str) -> list[ScoredRow]:
    """Rows from the best score to the worst."""
    sign = -1 if higher_is_better(name) else 1

    def key(row: ScoredRow) -> tuple[bool, float]:
        score = row.scores[name]
        return score is None, sign * (score or 0.0)

    return sorted(rows, key=key)


def lead_words(rows: Sequence[ScoredRow], names: list[str]) -> str:
    """The result in one sentence."""
    if not names or not rows:
        return "There is nothing to rank."
    name = names[0]
    parts: dict[str, list[ScoredRow]] = {}
    for row in rows:
        parts.setdefault(slice_text(row), []).append(row)
    first = {part: best_first(own, name)[0] for part, own in parts.items()}
    if len(parts) > 1:
        wins: dict[str, int] = {}
        for row in first.values():
            wins[row.run] = wins.get(row.run, 0) + (row.scores[name] is not None)
        run, most = max(wins.items(), key=lambda item: item[1])
        return f"{run} is first by {name} in {most} of {plural(len(parts), 'slice')}."
    ordered = best_first(rows, name)
    best = ordered[0]
    if best.scores[name] is None:
        return f"No run has a {name}: {best.undefined.get(name, 'it is undefined')}."
    k = tally_of(best)
    text = f"{name} {number(best.scores[name])}"
    if k is not None:
        three = (("right", k.right), ("wrong", k.wrong), ("blank", k.unanswered))
        text += ": " + ", ".join(f"{count_text(n)} {word}" for word, n in three)
    others = [row for row in ordered[1:] if row.scores[name] is not None]
    if not others:
        return f"{best.run} has {text}."
    level = _tied(others, best, name)
    rest = others[len(level) :]
    text = f"The best run is {best.run} ({text})"
    if level:
        whom = level[0] if len(level) == 1 else f"{len(level)} others"
        text = text.replace("The best run is", "At the top is", 1) + f", level with {whom}"
    if not rest:
        return f"{text}."
    return f"{text}; {following(_tied(rest, rest[0], name))} ({number(rest[0].scores[name])})."


def _tied(rows: Sequence[ScoredRow], one: ScoredRow, name: str) -> list[str]:
    """Runs that have the same score as one of them."""
    value = one.scores[name]
    if value is None:
        return []
    scores = [math.nan if (own := row.scores[name]) is None else own for row in rows]
    return [row.run for row, tied in zip(rows, same(scores, value), strict=True) if tied]


def undefined_words(rows: Sequence[ScoredRow]) -> list[str]:
    """Which scores do not exist, and why."""
    return undefined_sentences((label(row.run, row.reference), row.undefined) for row in rows)


def dot_figures(rows: Sequence[ScoredRow], names: list[str]) -> Iterator[Figure]:
    """The runs by their first score."""
    if not rows or not names:
        return
    name = names[0]
    ends = [(row, row.intervals.get(name, (None, None))) for row in best_first(rows, name)]
    yield from score_figure("scores", [(r.run, r.scores[name], *e) for r, e in ends], name)


def slice_figures(rows: Sequence[ScoredRow], names: list[str]) -> Iterator[Figure]:
    """Runs × slices as a heat map."""
    attributes = list(rows[0].slice) if rows else []
    alone = attributes[0] if len(attributes) == 1 else None

    def text(row: ScoredRow) -> str:
        return (row.slice[alone] or "–") if alone is not None else slice_text(row)

    parts = list(dict.fromkeys(text(row) for row in rows))
    runs = list(dict.fromkeys(row.run for row in rows))
    if not names or len(parts) < 2 or len(parts) * len(runs) > MOST_CELLS:
        return
    name = names[0]
    data = [{"run": r.run, "slice": text(r), name: r.scores[name]} for r in rows]
    layer = cells("slice", "run", name)
    flat = {"labelAngle": 0} if len(parts) <= 6 else {}
    axis = {**flat, "labelOverlap": True}
    layer["encoding"]["x"] |= {"sort": parts, "title": alone, "axis": axis}
    layer["encoding"]["y"] |= {"sort": runs, "title": None}
    layer["encoding"]["color"] |= {"title": name, "scale": {"scheme": "blues"}}
    scores = [row.scores[name] for row in rows]
    there = [s for s in scores if s is not None]
    span = f" from {min(there):.3f} to {max(there):.3f}" if there else ""
    yield Figure(
        "slices",
        f"{name} of {plural(len(runs), 'run')} in {plural(len(parts), 'slice')},{span}.",
        chart("", data, [layer], height=max(120, 22 * len(runs))),
        title=f"{name} by slice",
    )


# ------------------------------------------------------------------ why measures disagree


def disagreements(rows: Sequence[Row], measures: Sequence[Measure]) -> list[str]:
    """One sentence for each run that some measure puts first where the first measure does not.

    Two runs with c₁ + κu₁ and c₂ + κu₂ change places at κ = (c₁ − c₂)/(u₂ − u₁): the one with
    more blanks is ahead wherever a blank is worth more than that.
    """
    runs = [row for row in rows if row.reference is None]
    credits = [m for m in measures if m.definition.kappa is not None]
    winner = _winner(runs, credits[0]) if len(credits) > 1 else None
    if winner is None:
        return []
    rivals: dict[str, tuple[Row, list[Measure]]] = {}
    for other in credits[1:]:
        rival = _winner(runs, other)
        if rival is None or _level(rival, winner, credits[0]) or _level(rival, winner, other):
            continue
        rivals.setdefault(rival.run, (rival, []))[1].append(other)
    sentences = (_sentence(credits[0], winner, m, rival) for rival, m in rivals.values())
    return [sentence for sentence in sentences if sentence]


def _winner(rows: Sequence[Row], item: Measure) -> Row | None:
    defined = [row for row in rows if row.scores[str(item)] is not None]
    best = max if item.higher_is_better else min
    return best(defined, key=lambda row: row.score(str(item))) if defined else None


def _level(a: Row, b: Row, item: Measure) -> bool:
    """Whether a measure puts two runs level."""
    x, y = a.score(str(item)), b.score(str(item))
    return math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)


def _sentence(first: Measure, a: Row, others: Sequence[Measure], b: Row) -> str:
    bold, silent = sorted((a, b), key=_blank_share)
    u_gap = _blank_share(silent) - _blank_share(bold)
    if u_gap == 0:
        return ""
    c_gap = bold.counts.right / bold.counts.n - silent.counts.right / silent.counts.n
    put = "puts" if len(others) == 1 else "put"
    line = f"{first} puts {a.run} first, {listed([str(m) for m in others])} {put} {b.run} first: "
    if a.counts.n == b.counts.n and _whole(a, b):
        blanks = int(silent.counts.unanswered - bold.counts.unanswered)
        right = int(bold.counts.right - silent.counts.right)
        more_or_fewer = f"{abs(right):,} {'fewer' if right >= 0 else 'more'} right"
        line += f"{silent.run} has {blanks:,} more blank and {more_or_fewer}, "
    line += f"so it is ahead where a blank is worth more than {c_gap / u_gap:.3f} right answers; "
    return line + ", ".join(f"{m} gives it {_range(m, a, b)}" for m in (first, *others))


def _blank_share(row: Row) -> float:
    return row.counts.unanswered / row.counts.n


def _whole(*rows: Row) -> bool:
    return all(
        float(v).is_integer() for row in rows for v in (row.counts.right, row.counts.unanswered)
    )


def _range(item: Measure, a: Row, b: Row) -> str:
    low, high = sorted((item.kappa(a.counts), item.kappa(b.counts)))
    return f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
