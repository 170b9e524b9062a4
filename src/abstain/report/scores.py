"""A result of `score` as a table."""

from __future__ import annotations

import re
from collections.abc import Iterable

from abstain.analyses.score.result import Row, ScoreResult
from abstain.errors import plural
from abstain.outcomes import Counts, Effect, Policy, Why
from abstain.report.grid import Cell, Column, Grid
from abstain.report.undefined import label, undefined_sentences


def score_grid(result: ScoreResult, *, split: bool = False, break_even: bool = False) -> Grid:
    """Rank, run, slice, scores, counts; `split` shows what the blanks would have been."""
    columns = [
        Column("#"),
        Column("run"),
        *(Column(result.slice_label(name)) for name in result.by),
    ]
    for item in result.measures:
        columns.append(Column(str(item), "score"))
        if result.interval_method is not None:
            columns += [
                Column(f"{item} {end}", "score", joined=True, short=end) for end in ("low", "high")
            ]
        if break_even and item.definition.break_even is not None:
            columns.append(Column(f"p* {item}", "score"))
    columns.append(Column("right", "count"))
    columns += [Column(name, "count", joined=True) for name in ("wrong", "blank")]
    if split:
        columns += [Column(f"blank, {name}", "count") for name in ("right", "wrong", "empty")]
    columns.append(Column("right▕wrong▕blank", "bar"))
    rows: list[list[Cell]] = []
    breaks: set[int] = set()
    dim: set[int] = set()
    last: tuple[str | None, ...] | None = None
    slices = {tuple(row.slice[name] for name in result.by) for row in result.rows}
    for number, row in enumerate(result.rows):
        part = tuple(row.slice[name] for name in result.by)
        if part != last:
            if len(result.rows) > len(slices):
                breaks.add(number)
            last = part
        if row.reference:
            dim.add(number)
        rows.append(_cells(row, result, split=split, break_even=break_even))
    return Grid(columns, rows, notes=notes(result), breaks=breaks, dim=dim)


def _cells(row: Row, result: ScoreResult, *, split: bool, break_even: bool) -> list[Cell]:
    k = row.counts
    cells: list[Cell] = [
        row.rank,
        label(row.run, row.reference),
        *(row.slice[name] or "–" for name in result.by),
    ]
    for item in result.measures:
        cells.append(row.scores[str(item)])
        if result.interval_method is not None:
            cells += row.intervals.get(str(item), (None, None))
        if break_even and item.definition.break_even is not None:
            cells.append(item.break_even(k))
    cells += [k.right, k.wrong, k.unanswered]
    if split:
        cells += _split(k)
    cells.append((k.right, k.wrong, k.unanswered))
    return cells


def _split(k: Counts) -> list[Cell]:
    if k.unsplit:
        return [None, None, None]
    return [k.unanswered_right, k.unanswered_wrong, k.unanswered_empty]


def notes(result: ScoreResult) -> list[str]:
    """What it takes to read the scores: what was counted, the policy, what is undefined."""
    said: list[str] = []
    runs = len({row.run for row in result.rows if not row.reference})
    if result.questions is not None:
        said.append(f"{plural(runs, 'run')}, {plural(result.questions, 'question')}.")
    names = {row.run for row in result.rows}
    said += [sentence(note, names) for note in result.notes]
    if result.policy is not None:
        said.append(policy_sentence(result.policy, result.touched))
    lacking = ((label(row.run, row.reference), row.undefined) for row in result.rows)
    return [*said, *undefined_sentences(lacking)]


def policy_sentence(policy: Policy, touched: dict[str, int]) -> str:
    """The policy in words, with how many responses of each kind there were."""
    parts = []
    for why, effect in policy.effects.items():
        count = touched.get(why.value, 0)
        if not count and (effect is Effect.STOP or why is Why.LIMIT):
            continue
        parts.append(f"{count:,} {why} → {effect}")
    return "Policy: " + ", ".join(parts) + "."


def sentence(note: str, names: Iterable[str] = ()) -> str:
    """A note with a capital and a full stop; what is no plain word, or a given name, stays.

    >>> sentence("some rows were left out"), sentence("c@1 is low"), sentence("bold won", ["bold"])
    ('Some rows were left out.', 'c@1 is low.', 'bold won.')
    """
    plain = re.match(r"[a-z]+(['’-][a-z]+)*[,:]?(\s|$)", note)
    named = any(re.match(rf"{re.escape(name)}\b", note) for name in names if name)
    text = note[:1].upper() + note[1:] if plain and not named else note
    return text if text.endswith((".", "!", "?")) else text + "."
