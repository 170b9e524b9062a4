"""The findings of an audit, as data."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import polars as pl

from abstain.errors import Place
from abstain.report.grid import frame_of_rows
from abstain.report.result import Facts, Result


class Change(Facts, frozen=True):
    """One cell that would read otherwise."""

    row: str
    column: str
    old: str = msgspec.field(name="from")
    new: str = msgspec.field(name="to")

    def __str__(self) -> str:
        return f"{self.column} {self.old} → {self.new}"


class Correction(Facts, frozen=True):
    """The smallest change that makes everything around it agree."""

    changes: tuple[Change, ...]
    checks: int
    """How many checks hold after it: all that the cell takes part in."""

    def __str__(self) -> str:
        return " and ".join(map(str, self.changes))


class Finding(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A cell that disagrees."""

    rule: str
    file: str
    line: int | None
    at_row: int | None = None
    """The number of its row, in a file without lines."""
    row: str
    """What the row is called."""
    column: str
    printed: str
    follows: str
    """What follows from the other cells."""
    corrections: tuple[Correction, ...] = ()

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.file, self.line, self.at_row)


class AuditResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="audit"):
    """Whether published tables agree, and every cell that does not."""

    agrees: bool
    files: tuple[str, ...]
    cells: int
    """How many were checked."""
    rules: dict[str, int]
    """How many checks each rule made."""
    findings: tuple[Finding, ...]

    TABLES: ClassVar[tuple[str, ...]] = ("main", "corrections")

    def check(self) -> None:
        """Tables agree where there are no findings."""
        if self.agrees == bool(self.findings):
            raise ValueError("'agrees' must be true exactly if there are no findings")

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a finding; `corrections` has a row a cell to change, by finding and correction."""
        if table == "main":
            names = ("rule", "file", "line", "row", "column", "printed", "follows")
            return frame_of_rows(Finding, self.findings, *names)
        changes = [
            (n, m, change.row, change.column, change.old, change.new, fix.checks)
            for n, finding in enumerate(self.findings, 1)
            for m, fix in enumerate(finding.corrections, 1)
            for change in fix.changes
        ]
        names = ("finding", "correction", "row", "column", "from", "to", "checks")
        texts = names[2:6]
        schema = {name: pl.String if name in texts else pl.Int64 for name in names}
        return pl.DataFrame(changes, schema=schema, orient="row")
