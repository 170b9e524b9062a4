"""How the findings of an audit look."""

from __future__ import annotations

from typing import Any

from abstain.errors import plural
from abstain.features.audit.result import AuditResult, Finding
from abstain.report import view
from abstain.report.grid import Column, Grid

CORRECTIONS = 3


class View(view.View[AuditResult]):
    """Where, what is printed, what follows, what would mend it; below, what was checked."""

    def tables(self, *, most: int = 50, **options: Any) -> list[Grid]:
        """The first findings; 0 shows all of them."""
        names = ("place", "row", "column", "printed", "what follows", "correction")
        findings = self.result.findings[: most or None]
        rows: list[list[Any]] = [
            [str(f.place), f.row, f.column, f.printed, f.follows, _corrections(f)] for f in findings
        ]
        return [Grid([*map(Column, names)], rows, notes=self._notes(len(rows)))]

    def on_terminal(self, **options: Any) -> list[Grid]:
        """Two columns, the second wrapped to its width."""
        (grid,) = self.tables(**options)
        rows: list[list[Any]] = []
        for place, row, column, printed, follows, correction in grid.rows:
            mend = f" Correction: {correction}." if correction else ""
            rows.append([place, f"{row}, {column} {printed}: {follows}.{mend}"])
        return [Grid([Column("place"), Column("finding")], rows, notes=grid.notes)]

    def title(self) -> str:
        return f"Audit of {plural(len(self.result.files), 'file')}"

    def line(self) -> str:
        return f"<AuditResult: {plural(len(self.result.files), 'file')}, {self._verdict()}>"

    def _verdict(self) -> str:
        result = self.result
        if result.agrees:
            return "nothing disagrees" if result.cells else "nothing could be checked"
        rows = len({(f.place, f.row) for f in result.findings})
        return f"{plural(len(result.findings), 'disagreement')} in {plural(rows, 'row')}"

    def _notes(self, most: int) -> list[str]:
        result = self.result
        rules = ", ".join(f"{rule} {count:,}" for rule, count in result.rules.items())
        checked = f"{plural(len(result.files), 'file')}, {plural(result.cells, 'cell')} checked"
        notes = [f"{checked}{f' ({rules})' if rules else ''}: {self._verdict()}."]
        if most < len(result.findings):
            notes.append(f"{most} are shown; --most 0 (in Python: most=0) shows all.")
        return [*notes, *result.notes]


def _corrections(finding: Finding) -> str:
    """The first corrections; a cell of another row is named with its row."""
    fixes = finding.corrections
    texts = [
        " and ".join(f"{'' if c.row == finding.row else f'{c.row}: '}{c}" for c in fix.changes)
        for fix in fixes[:CORRECTIONS]
    ]
    texts += [f"{len(fixes) - CORRECTIONS} more"] * (len(fixes) > CORRECTIONS)
    checks = fixes[0].checks if fixes else 0
    return " or ".join(texts) + (f" (all {checks} checks hold)" if checks > 1 else "")
