"""The findings of an audit as a table."""

from __future__ import annotations

from abstain.analyses.audit import Audit, Finding
from abstain.errors import plural
from abstain.report.grid import Cell, Column, Grid

CORRECTIONS = 3


def audit_grid(audit: Audit, *, most: int = 50) -> Grid:
    """Where, what is printed, what follows, what would mend it; below, what was checked."""
    columns = [
        *(Column("place"), Column("row"), Column("column"), Column("printed")),
        *(Column("what follows"), Column("correction")),
    ]
    shown = audit.findings if most == 0 else audit.findings[:most]
    rows: list[list[Cell]] = [
        [str(f.place), f.row, f.column, f.printed, f.follows, _corrections(f)] for f in shown
    ]
    rules = ", ".join(f"{rule} {count:,}" for rule, count in audit.rules.items())
    looked = f"{plural(len(audit.files), 'file')}, {plural(len(audit.checked), 'cell')} checked" + (
        f" ({rules})" if rules else ""
    )
    if audit.agrees:
        verdict = "nothing disagrees" if audit.checked else "nothing could be checked"
    else:
        found = plural(len(audit.findings), "disagreement")
        where = len({(f.place, f.row) for f in audit.findings})
        verdict = f"{found} in {plural(where, 'row')}"
    notes = [f"{looked}: {verdict}."]
    if len(shown) < len(audit.findings):
        notes.append(f"{len(shown)} are shown; set most to 0 to show all.")
    return Grid(columns, rows, notes=[*notes, *audit.notes])


def narrow_grid(audit: Audit, *, most: int = 50) -> Grid:
    """The same for a terminal: two columns, the second wrapped to its width."""
    full = audit_grid(audit, most=most)
    rows: list[list[Cell]] = []
    for place, row, column, printed, follows, correction in full.rows:
        mend = f" Correction: {correction}." if correction else ""
        rows.append([place, f"{row}, {column} {printed}: {follows}.{mend}"])
    return Grid([Column("place"), Column("finding")], rows, notes=full.notes, wrap=True)


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
