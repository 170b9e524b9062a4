"""Problems of submissions as a table."""

from __future__ import annotations

from collections import Counter

from abstain.analyses.validate.validation import Verdict
from abstain.errors import plural
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import sentence


def problems_grid(verdict: Verdict, *, most: int = 50) -> Grid:
    """Where and what, with a count of each kind below."""
    shown = verdict.problems if most == 0 else verdict.problems[:most]
    rows: list[list[Cell]] = []
    for problem in shown:
        rows.append([str(problem.place), problem.typed or problem.message])
        if most == 0:
            rows += [[str(p.place), f"· {p.message}"] for p in problem.details]
    runs = plural(verdict.runs, "file")
    said = [sentence(note) for note in verdict.notes]
    if not verdict.problems:
        note = f"{runs}: nothing wrong, {plural(verdict.questions, 'question')} in the gold."
        return Grid([Column("place"), Column("problem")], [], notes=[note, *said])
    kinds = Counter(p.kind for p in verdict.problems)
    summary = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
    notes = [f"{runs}: {plural(len(verdict.problems), 'problem')} ({summary})."]
    if len(shown) < len(verdict.problems):
        notes.append(f"{len(shown)} are shown; set most to 0 to show all.")
    if most and (folded := sum(len(p.details) for p in shown)):
        notes.append(f"They explain {plural(folded, 'detail')}; set most to 0 to show them.")
    return Grid([Column("place"), Column("problem")], rows, notes=[*notes, *said], wrap=True)
