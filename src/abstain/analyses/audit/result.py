"""What an audit found, as data; and `Audit`, which gathers it as the audit goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import msgspec
import polars as pl

from abstain.analyses.result import Facts, Result
from abstain.errors import Place

if TYPE_CHECKING:
    from abstain.analyses.audit.sheet import Sheet

COUNTS = "counts add up"
SCORES = "scores follow from the counts"
ATTAINABLE = "scores are attainable"
SUMMARIES = "summaries follow from their rows"
SUMS = "columns add up"
PERCENTAGES = "percentages follow"
TABLES = "tables agree"
READABLE = "figures are numbers"


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
            raise ValueError(
                "contradicts itself: 'agrees' must be true if there are no findings, else false"
            )

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a finding; `corrections` has a row a cell to change, by finding and correction."""
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


@dataclass(slots=True)
class Audit:
    """An audit under way: findings, what was checked and what was inferred."""

    files: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)
    """How many checks each rule made."""
    checked: set[tuple[str, int, str]] = field(default_factory=set)
    """The cells that some rule looked at."""

    def check(self, rule: str, sheet: Sheet, cells: Iterable[tuple[int, str]]) -> None:
        """Remember that a rule looked at some cells."""
        self.rules[rule] += 1
        self.checked |= {(sheet.name, row, column) for row, column in cells}

    def find(
        self,
        rule: str,
        sheet: Sheet,
        row: int,
        column: str,
        follows: str,
        corrections: Sequence[Correction] = (),
    ) -> None:
        """Remember a cell that disagrees."""
        place = sheet.place(row)
        self.findings.append(
            Finding(
                rule=rule,
                file=place.path,
                line=place.line,
                at_row=place.row,
                row=sheet.row_name(row),
                column=column,
                printed=sheet.texts[row].get(column) or "",
                follows=follows,
                corrections=tuple(corrections),
            )
        )

    def find_misfit(
        self, rule: str, sheet: Sheet, row: int, column: str, middle: Fraction, follows: str
    ) -> None:
        """Remember a cell that shows another number than follows, with what it should show."""
        printed = sheet.number(row, column)
        assert printed is not None
        plus = "+" if rule == PERCENTAGES and printed.text.startswith("+") and middle > 0 else ""
        fix = Change(sheet.row_name(row), column, printed.text, plus + printed.like(middle))
        cut = "; truncated" if printed.truncates(middle) else ""
        self.find(rule, sheet, row, column, follows + cut, [Correction((fix,), 1)])

    def note(self, text: str) -> None:
        """Remember something that was taken for granted, once."""
        if text not in self.notes:
            self.notes.append(text)

    def result(self) -> AuditResult:
        """All of it, the findings in the order of the files and their lines."""
        order = {name: number for number, name in enumerate(self.files)}
        findings = sorted(self.findings, key=lambda f: (order.get(f.file, 0), f.line or 0))
        return AuditResult(
            notes=tuple(self.notes),
            agrees=not findings,
            files=self.files,
            cells=len(self.checked),
            rules=dict(self.rules),
            findings=tuple(findings),
        )
