"""Runs with scores, whether of questions or of rankings: their order, words and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from abstain.errors import plural
from abstain.report.charts import cells, chart
from abstain.report.pieces import Figure
from abstain.report.shared import ScoredRow as Row
from abstain.report.shared import (
    count_text,
    higher_is_better,
    number,
    score_figure,
    slice_text,
    tally_of,
)
from abstain.report.undefined import label, undefined_sentences
from abstain.stats.ties import following, same

MOST_CELLS = 3_000


def flat_labels(count: int) -> dict[str, float | bool]:
    """The labels of a few columns lie flat; of many those are left out that have no room."""
    return {"labelAngle": 0, "labelOverlap": True} if count <= 6 else {"labelOverlap": True}


def best_first(rows: Sequence[Row], name: str) -> list[Row]:
    """Rows from the best score to the worst."""
    sign = -1 if higher_is_better(name) else 1

    def key(row: Row) -> tuple[bool, float]:
        score = row.scores[name]
        return score is None, sign * (score or 0.0)

    return sorted(rows, key=key)


def lead_words(rows: Sequence[Row], names: list[str]) -> str:
    """The result in one sentence."""
    if not names or not rows:
        return "There is nothing to rank."
    name = names[0]
    parts: dict[str, list[Row]] = {}
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


def _tied(rows: Sequence[Row], one: Row, name: str) -> list[str]:
    """Runs that have the same score as one of them."""
    value = one.scores[name]
    if value is None:
        return []
    scores = [math.nan if (own := row.scores[name]) is None else own for row in rows]
    return [row.run for row, tied in zip(rows, same(scores, value), strict=True) if tied]


def undefined_words(rows: Sequence[Row]) -> list[str]:
    """Which scores do not exist, and why."""
    return undefined_sentences((label(row.run, row.reference), row.undefined) for row in rows)


def dot_figures(rows: Sequence[Row], names: list[str]) -> Iterator[Figure]:
    """The runs by their first score."""
    if not rows or not names:
        return
    name = names[0]
    ends = [(row, row.intervals.get(name, (None, None))) for row in best_first(rows, name)]
    figure = score_figure("scores", [(r.run, r.scores[name], *e) for r, e in ends], name)
    if figure is not None:
        yield figure


def slice_figures(rows: Sequence[Row], names: list[str]) -> Iterator[Figure]:
    """Runs × slices as a heat map."""
    attributes = list(rows[0].slice) if rows else []
    alone = attributes[0] if len(attributes) == 1 else None

    def text(row: Row) -> str:
        return (row.slice[alone] or "–") if alone is not None else slice_text(row)

    parts = list(dict.fromkeys(text(row) for row in rows))
    runs = list(dict.fromkeys(row.run for row in rows))
    if not names or len(parts) < 2 or len(parts) * len(runs) > MOST_CELLS:
        return
    name = names[0]
    data = [{"run": r.run, "slice": text(r), name: r.scores[name]} for r in rows]
    layer = cells("slice", "run", name)
    layer["encoding"]["x"] |= {"sort": parts, "title": alone, "axis": flat_labels(len(parts))}
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
