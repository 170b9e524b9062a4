"""An audit under way: what was checked, what disagrees, what was inferred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from abstain.features.audit.result import AuditResult, Change, Correction, Finding

if TYPE_CHECKING:
    from abstain.features.audit.table import Sheet

COUNTS = "counts add up"
SCORES = "scores follow from the counts"
ATTAINABLE = "scores are attainable"
SUMMARIES = "summaries follow from their rows"
SUMS = "columns add up"
PERCENTAGES = "percentages follow"
TABLES = "tables agree"
READABLE = "figures are numbers"


@dataclass(slots=True)
class Audit:
    """An audit under way."""

    files: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
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
        place = sheet.places[row]
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
        fix = sheet.change(row, column, plus + printed.like(middle))
        cut = "; truncated" if printed.truncates(middle) else ""
        self.find(rule, sheet, row, column, follows + cut, [Correction((fix,), 1)])

    def note(self, text: str) -> None:
        """Remember something that was inferred, once."""
        self.notes[text] = None

    def result(self) -> AuditResult:
        """All of it, the findings in the order of the files and their lines."""
        order = {name: number for number, name in enumerate(self.files)}
        self.findings.sort(key=lambda f: (order.get(f.file, 0), f.line or 0))
        return AuditResult(
            notes=tuple(self.notes),
            agrees=not self.findings,
            files=self.files,
            cells=len(self.checked),
            rules=dict(self.rules),
            findings=tuple(self.findings),
        )


def fewest_digits(fixes: Sequence[tuple[Change, ...]]) -> list[tuple[Change, ...]]:
    """The corrections that change the fewest digits."""
    costs = [sum(edits(change.old, change.new) for change in fix) for fix in fixes]
    return [fix for fix, cost in zip(fixes, costs, strict=True) if cost == min(costs)]


def edits(old: str, new: str) -> int:
    """The edit distance of two texts.

    >>> edits("60", "69"), edits("0", "42")
    (1, 2)
    """
    row = list(range(len(new) + 1))
    for i, a in enumerate(old, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(new, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]
