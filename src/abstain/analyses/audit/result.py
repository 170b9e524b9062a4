"""What an audit found, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from abstain.analyses.result import Facts, Result
from abstain.errors import Place

if TYPE_CHECKING:
    import polars as pl


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
    corrections: tuple[Correction, ...] = msgspec.field(default_factory=tuple)

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
        """Tables agree where nothing was found."""
        if self.agrees == bool(self.findings):
            raise ValueError("says that tables agree and lists findings, or neither")

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a finding; `corrections` has a row a cell to change, by finding and correction."""
        import polars as pl

        if table == "main":
            names = ("rule", "file", "line", "row", "column", "printed", "follows")
            rows = [tuple(getattr(own, name) for name in names) for own in self.findings]
            schema = {name: pl.Int64 if name == "line" else pl.String for name in names}
            return pl.DataFrame(rows, schema=schema, orient="row")
        changes = [
            (n, m, change.row, change.column, change.old, change.new, fix.checks)
            for n, own in enumerate(self.findings, 1)
            for m, fix in enumerate(own.corrections, 1)
            for change in fix.changes
        ]
        heads = ("finding", "correction", "row", "column", "from", "to", "checks")
        numbers = ("finding", "correction", "checks")
        schema = {name: pl.Int64 if name in numbers else pl.String for name in heads}
        return pl.DataFrame(changes, schema=schema, orient="row")
