"""The findings of an audit: as they come in, as data, as a table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Annotated, Any, TypeAlias

import msgspec
import polars as pl

from abstain.errors import Place, plural
from abstain.features.audit.table import Sheet
from abstain.report import view
from abstain.report.grid import Column, Grid, frame_of_rows
from abstain.report.result import Facts, Result

COUNTS = "counts add up"
SCORES = "scores follow from the counts"
ATTAINABLE = "scores are attainable"
SUMMARIES = "summaries follow from their rows"
READABLE = "figures are numbers"
Cell: TypeAlias = tuple[int, str]
SHOWN = 3
"""Corrections of a finding that a table shows."""


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


class Finding(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A cell that disagrees."""

    rule: str
    file: str
    line: int | None
    row: str
    """What the row is called."""
    column: str
    printed: str
    follows: Annotated[str, Column("what follows")]
    """What follows from the other cells."""
    corrections: tuple[Correction, ...] = ()

    @property
    def place(self) -> str:
        return str(Place(self.file, self.line))

    @property
    def correction(self) -> str:
        """The first corrections; a cell of another row is named with its row."""
        texts = [
            " and ".join(f"{'' if c.row == self.row else f'{c.row}: '}{c}" for c in fix.changes)
            for fix in self.corrections[:SHOWN]
        ]
        texts += [f"{len(self.corrections) - SHOWN} more"] * (len(self.corrections) > SHOWN)
        checks = self.corrections[0].checks if self.corrections else 0
        return " or ".join(texts) + (f" (all {checks} checks hold)" if checks > 1 else "")

    @property
    def finding(self) -> str:
        mend = f" Correction: {self.correction}." if self.corrections else ""
        return f"{self.row}, {self.column} {self.printed}: {self.follows}.{mend}"


class AuditResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="audit"):
    """Whether published tables agree, and every cell that does not."""

    agrees: bool
    files: tuple[str, ...]
    cells: int
    """How many were checked."""
    rules: dict[str, int]
    """How many checks each rule made."""
    findings: tuple[Finding, ...]

    def _frame(self, table: str) -> pl.DataFrame:
        names = ("rule", "file", "line", "row", "column", "printed", "follows", "correction")
        return frame_of_rows(Finding, self.findings, *names)


class Audit:
    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.notes: dict[str, None] = {}
        self.rules: Counter[str] = Counter()
        self.checked: set[tuple[str, int, str]] = set()

    def check(
        self,
        rule: str,
        sheet: Sheet,
        cells: Sequence[Cell],
        wrong: str = "",
        fixes: Iterable[Correction] = (),
    ) -> None:
        """Remember a check of some cells, and what is wrong with the first of them, if it is."""
        self.rules[rule] += 1
        self.checked |= {(sheet.name, *cell) for cell in cells}
        if wrong:
            row, column = cells[0]
            place = sheet.places[row]
            finding = Finding(
                rule=rule,
                file=place.path,
                line=place.line,
                row=sheet.row_name(row),
                column=column,
                printed=sheet.texts[row][column],
                follows=wrong,
                corrections=tuple(fixes),
            )
            self.findings.append(finding)

    def note(self, text: str) -> None:
        self.notes[text] = None

    def result(self, files: Sequence[str]) -> AuditResult:
        self.findings.sort(key=lambda f: (files.index(f.file), f.line or 0))
        return AuditResult(
            notes=tuple(self.notes),
            agrees=not self.findings,
            files=tuple(files),
            cells=len(self.checked),
            rules=dict(self.rules),
            findings=tuple(self.findings),
        )


def change_of(sheet: Sheet, row: int, column: str, text: str) -> Change:
    return Change(sheet.row_name(row), column, sheet.texts[row][column], text)


def fewest_digits(fixes: Sequence[tuple[Change, ...]]) -> list[tuple[Change, ...]]:
    costs = [sum(digits_changed(change.old, change.new) for change in fix) for fix in fixes]
    return [fix for fix, cost in zip(fixes, costs, strict=True) if cost == min(costs)]


def digits_changed(old: str, new: str) -> int:
    """How many digits differ, place by place from the last.

    >>> digits_changed("60", "69"), digits_changed("0", "42")
    (1, 2)
    """
    return sum(a != b for a, b in zip_longest(reversed(old), reversed(new)))


class View(view.View[AuditResult]):
    def tables(self, *, most: int = 50, **options: Any) -> list[Grid]:
        return [self._of(most, "place", "row", "column", "printed", "follows", "correction")]

    def on_terminal(self, *, most: int = 50, **options: Any) -> list[Grid]:
        return [self._of(most, "place", "finding")]

    def _of(self, most: int, *names: str) -> Grid:
        result, shown = self.result, self.result.findings[: most or None]
        rules = ", ".join(f"{rule} {count:,}" for rule, count in result.rules.items())
        checked = f"{plural(len(result.files), 'file')}, {plural(result.cells, 'cell')} checked"
        count = len(result.findings)
        verdict = plural(count, "disagreement") if count else "nothing disagrees"
        notes = [f"{checked}{f' ({rules})' if rules else ''}: {verdict}."]
        if len(shown) < len(result.findings):
            notes.append(f"{len(shown)} are shown; --most 0 (in Python: most=0) shows all.")
        grid = Grid.of_rows(Finding, shown, *names)
        grid.notes = [*notes, *result.notes]
        return grid
