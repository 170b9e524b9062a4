"""How scores of several answers a question look."""

from __future__ import annotations

from typing import Any

from abstain.analyses.score.several import SeveralResult
from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.words import policy_words, sentence, undefined_sentences


class View(view.View[SeveralResult]):
    """Place, run, slice, scores, what was handed in."""

    def title(self) -> str:
        return f"{self.result.measures[0]} of {self._runs()}"

    def tables(self, **options: Any) -> list[Grid]:
        result = self.result
        counts = ("answers", "right", "repeated", "unanswered")
        columns = [
            *(Column("#"), Column("run"), *(Column(name) for name in result.by)),
            *(Column(name, "score") for name in result.measures),
            *(Column(name, "count") for name in counts),
        ]
        grid = Grid(columns, [], notes=self._notes())
        for number, row in enumerate(result.rows):
            if number and row.slice != result.rows[number - 1].slice:
                grid.breaks.add(number)
            own = row.answers
            cells: list[Cell] = [row.rank, row.run, *(row.slice[name] or "–" for name in result.by)]
            cells += [*row.scores.values(), own.given, own.right, own.repeated, row.unanswered]
            grid.rows.append(cells)
        return [grid]

    def _runs(self) -> str:
        return plural(len({row.run for row in self.result.rows}), "run")

    def _notes(self) -> list[str]:
        result = self.result
        said = [f"{self._runs()}, {plural(result.questions, 'question')}."]
        said += [sentence(note) for note in result.notes]
        said += [f"{name}: {text}." for name, text in result.conventions.items()]
        said += policy_words(result.policy, result.touched)
        return [*said, *undefined_sentences((row.run, row.undefined) for row in result.rows)]

    def line(self) -> str:
        return f"<SeveralResult: {self._runs()}, {', '.join(self.result.measures)}>"
