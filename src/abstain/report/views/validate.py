"""How problems of runs look."""

from __future__ import annotations

from collections import Counter
from typing import Any

from abstain.analyses.validate.result import ValidateResult
from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.words import sentence

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
        notes = [f"{self._verdict()}."]
        if len(shown) < len(problems):
            notes.append(f"{len(shown)} are shown; --most 0 (in Python: most=0) shows all.")
        if most and (folded := sum(len(p.details) for p in shown)):
            hidden = plural(
                folded,
                "more message with the same cause is",
                "more messages with the same causes are",
            )
            notes.append(f"{hidden} hidden; --most 0 (in Python: most=0) shows all.")
        notes += [sentence(note) for note in (*self._odd(), *self.result.notes)]
        return [Grid([Column("place"), Column("problem")], rows, notes=notes, wrap=bool(problems))]

    def _odd(self) -> list[str]:
        """What is odd but no problem, the first of it."""
        odd = self.result.warnings
        said = [f"odd, but no problem: {own.place}: {own.message}" for own in odd[:MOST_ODD]]
        if len(odd) > MOST_ODD:
            said.append(f"{plural(len(odd) - MOST_ODD, 'more thing')} like this: -f json lists all")
        return said

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
