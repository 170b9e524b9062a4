"""How problems of runs look."""

from __future__ import annotations

from collections import Counter
from typing import Any

from abstain.errors import plural
from abstain.features.validate.result import ValidateResult
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.view import sentence

MOST_ODD = 10


class View(view.View[ValidateResult]):
    """Where and what, with a count of each kind below."""

    def tables(self, *, most: int = 50, **options: Any) -> list[Grid]:
        """The first problems; 0 shows all, with what they explain."""
        problems = self.result.problems
        shown = problems[:most] if most else problems
        rows: list[list[Cell]] = []
        for problem in shown:
            rows.append([str(problem.place), problem.typed or problem.message])
            if not most:
                rows += [[str(p.place), f"· {p.message}"] for p in problem.details]
        result = self.result
        notes = [f"{self._verdict()}."]
        folded = sum(len(problem.details) for problem in shown) if most else 0
        if hidden := len(problems) - len(shown) + folded:
            notes.append(f"{hidden:,} more; --most 0 (in Python: most=0) shows all.")
        odd = [f"odd, but no problem: {p.place}: {p.message}" for p in result.warnings[:MOST_ODD]]
        if more := len(result.warnings) - len(odd):
            odd.append(f"{plural(more, 'more thing')} like this: -f json lists all")
        notes += [sentence(note) for note in (*odd, *result.notes)]
        return [Grid([Column("place"), Column("problem")], rows, notes=notes, wrap=bool(problems))]

    def title(self) -> str:
        return f"Problems of {plural(self.result.runs, 'file')}"

    def line(self) -> str:
        problems = plural(len(self.result.problems), "problem")
        return f"<ValidateResult: {plural(self.result.runs, 'file')}, {problems}>"

    def _verdict(self) -> str:
        result = self.result
        files = plural(result.runs, "file")
        if result.valid:
            return f"{files}: nothing wrong, {plural(result.questions, 'question')} in the gold"
        kinds = Counter(problem.kind for problem in result.problems)
        summary = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
        return f"{files}: {plural(len(result.problems), 'problem')} ({summary})"
