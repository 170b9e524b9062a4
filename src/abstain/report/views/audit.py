"""How the findings of an audit look."""

from __future__ import annotations

from typing import Any

from abstain.analyses.audit.result import AuditResult, Finding
from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid

CORRECTIONS = 3


class View(view.View[AuditResult]):
    """Where, what is printed, what follows, what would mend it; below, what was checked."""

    def tables(self, *, most: int = 50, **options: Any) -> list[Grid]:
        """The first findings; 0 shows all of them."""
        columns = [
            *(Column("place"), Column("row"), Column("column"), Column("printed")),
            *(Column("what follows"), Column("correction")),
        ]
        shown = self.result.findings[: most or None]
        rows: list[list[Cell]] = [
            [str(f.place), f.row, f.column, f.printed, f.follows, _corrections(f)] for f in shown
        ]
        return [Grid(columns, rows, notes=self._notes(len(shown)))]

    def on_terminal(self, *, most: int = 50, **options: Any) -> list[Grid]:
        """Two columns, the second wrapped to its width."""
        rows: list[list[Cell]] = []
        shown = self.result.findings[: most or None]
        for f in shown:
            mend = f" Correction: {text}." if (text := _corrections(f)) else ""
            rows.append([str(f.place), f"{f.row}, {f.column} {f.printed}: {f.follows}.{mend}"])
        columns = [Column("place"), Column("finding")]
        return [Grid(columns, rows, notes=self._notes(len(shown)), wrap=True)]

    def title(self) -> str:
        return f"Audit of {plural(len(self.result.files), 'file')}"

    def line(self) -> str:
        return f"<AuditResult: {plural(len(self.result.files), 'file')}, {self._verdict()}>"

    def _verdict(self) -> str:
        result = self.result
        if result.agrees:
            return "nothing disagrees" if result.cells else "nothing could be checked"
        found = plural(len(result.findings), "disagreement")
        where = len({(f.place, f.row) for f in result.findings})
        return f"{found} in {plural(where, 'row')}"

    def _notes(self, shown: int) -> list[str]:
        result = self.result
        rules = ", ".join(f"{rule} {count:,}" for rule, count in result.rules.items())
        files = plural(len(result.files), "file")
        looked = f"{files}, {plural(result.cells, 'cell')} checked" + (
            f" ({rules})" if rules else ""
        )
        notes = [f"{looked}: {self._verdict()}."]
        if shown < len(result.findings):
            notes.append(f"{shown} are shown; --most 0 (in Python: most=0) shows all.")
        return [*notes, *result.notes]


def _corrections(finding: Finding) -> str:
    if not finding.corrections:
        return ""
    first = finding.corrections[:CORRECTIONS]
    text = " or ".join(str(c) if len(c.changes) == 1 else f"({c})" for c in first)
    if any(change.row != finding.row for c in first for change in c.changes):
        text = " or ".join(
            " and ".join(f"{change.row}: {change}" for change in c.changes) for c in first
        )
    more = len(finding.corrections) - len(first)
    checks = finding.corrections[0].checks
    return (
        text
        + (f" or {more} more" if more else "")
        + (f" (all {checks} checks hold)" if checks > 1 else "")
    )
