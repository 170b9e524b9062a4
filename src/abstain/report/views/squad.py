"""How SQuAD 2's scores look."""

from __future__ import annotations

from typing import Any

from abstain.analyses.squad import SCORES, SquadResult, kinds_of
from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.words import undefined_sentences


class View(view.View[SquadResult]):
    """Two rows a run, exact match and F1: over all questions, with and without an answer."""

    def tables(self, **options: Any) -> list[Grid]:
        result = self.result
        heads = ["all", "HasAns", "NoAns", *(["best", "best at"] if result.tuned_on_test else [])]
        columns = [Column("run"), Column("score"), *(Column(name, "score") for name in heads)]
        rows: list[list[Cell]] = []
        for own in result.rows:
            for name in SCORES:
                keys = kinds_of(name, tuned=bool(result.tuned_on_test))
                rows.append([own.run, name, *(own.scores[key] for key in keys)])
        return [Grid(columns, rows, notes=self._notes())]

    def _notes(self) -> list[str]:
        result = self.result
        said = [
            f"{self._runs()}, {plural(result.questions, 'question')}, "
            f"{result.with_answer:,} of them with an answer."
        ]
        if result.threshold is not None:
            said.append(
                "An answer is held back where its no-answer probability is above "
                f"{result.threshold:g}."
            )
        if result.tuned_on_test:
            said.append(
                "best: tuned on the same questions that it is scored on, so do not report it; "
                "questions with equal probabilities are all answered or all held back."
            )
            if -1.0 in [own.scores[f"best {name} at"] for own in result.rows for name in SCORES]:
                said.append(
                    "A best threshold of −1 is below every probability: no question is answered."
                )
        said += [
            f"{own.run}: {plural(own.missing, 'question has', 'questions have')} no prediction; "
            "each counts as an empty one."
            for own in result.rows
            if own.missing
        ]
        return [*said, *undefined_sentences((own.run, own.undefined) for own in result.rows)]

    def title(self) -> str:
        return f"SQuAD: {self._runs()}"

    def line(self) -> str:
        return f"<SquadResult: {self._runs()}, {plural(self.result.questions, 'question')}>"

    def _runs(self) -> str:
        return plural(len(self.result.rows), "run")
