"""How PAN's measures look."""

from __future__ import annotations

from typing import Any

from abstain.analyses.pan import MEASURES, PanResult
from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.words import undefined_sentences


class View(view.View[PanResult]):
    """A row a system, the best overall first."""

    def tables(self, **options: Any) -> list[Grid]:
        result = self.result
        names = (*MEASURES, "overall")
        lacking = any(own.missing for own in result.rows)
        columns = [Column("#"), Column("run"), *(Column(name, "score") for name in names)]
        columns += [Column(name, "count") for name in ("blank", "missing")[: 1 + lacking]]
        rows: list[list[Cell]] = [
            [own.rank, own.run, *own.scores.values(), *(own.blank, own.missing)[: 1 + lacking]]
            for own in result.rows
        ]
        four = "AUC, c@1, F1 and F0.5u" if result.year == 2020 else "all five"
        notes = [
            f"{self._runs()}, {plural(result.problems, 'problem')}.",
            f"Overall as in PAN {result.year}: the mean of {four}. Brier is 1 − the Brier score.",
            "A value of 0.5 and a missing problem are no answer (blank).",
            *undefined_sentences((own.run, own.undefined) for own in result.rows),
        ]
        return [Grid(columns, rows, notes=notes)]

    def title(self) -> str:
        return f"PAN {self.result.year}: {self._runs()}"

    def line(self) -> str:
        return f"<PanResult: {self._runs()}, {plural(self.result.problems, 'problem')}>"

    def _runs(self) -> str:
        return plural(len(self.result.rows), "run")
