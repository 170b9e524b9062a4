"""Scores of several answers a question as a table."""

from __future__ import annotations

from abstain.analyses.score.several import SeveralResult
from abstain.errors import plural
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import policy_sentence, sentence
from abstain.report.undefined import undefined_sentences


def several_grid(result: SeveralResult) -> Grid:
    """Place, run, slice, scores, what was handed in."""
    counts = ("answers", "right", "repeated", "unanswered")
    columns = [
        *(Column("#"), Column("run"), *(Column(name) for name in result.by)),
        *(Column(str(item), "score") for item in result.measures),
        *(Column(name, "count") for name in counts),
    ]
    rows: list[list[Cell]] = []
    breaks: set[int] = set()
    for number, row in enumerate(result.rows):
        if number and row.slice != result.rows[number - 1].slice:
            breaks.add(number)
        cells: list[Cell] = [row.place, row.run, *(row.slice[name] or "–" for name in result.by)]
        cells += row.scores.values()
        cells += [row.answers, row.right, row.repeated, row.unanswered]
        rows.append(cells)
    return Grid(columns, rows, notes=_notes(result), breaks=breaks)


def _notes(result: SeveralResult) -> list[str]:
    runs = len({row.run for row in result.rows})
    said = [f"{plural(runs, 'run')}, {plural(result.questions, 'question')}."]
    said += [sentence(note) for note in result.notes]
    said += [f"{item}: {item.definition.convention}." for item in result.measures]
    if result.touched:
        said.append(policy_sentence(result.policy, result.touched))
    return [*said, *undefined_sentences((row.run, row.undefined) for row in result.rows)]
