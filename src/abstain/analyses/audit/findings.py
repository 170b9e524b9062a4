"""What an audit found, what it looked at, and what it took for granted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from abstain import __version__
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


@dataclass(frozen=True, slots=True)
class Change:
    """One cell that would read otherwise."""

    row: str
    column: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.column} {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class Correction:
    """The smallest change that makes everything around it agree."""

    changes: tuple[Change, ...]
    checks: int
    """How many checks hold after it: all that the cell takes part in."""

    def __str__(self) -> str:
        return " and ".join(map(str, self.changes))


@dataclass(frozen=True, slots=True)
class Finding:
    """A cell that disagrees."""

    rule: str
    place: Place
    row: str
    column: str
    printed: str
    follows: str
    corrections: tuple[Correction, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "rule": self.rule,
            "file": self.place.path,
            "line": self.place.line,
            "row": self.row,
            "column": self.column,
            "printed": self.printed,
            "follows": self.follows,
            "corrections": [
                {
                    "changes": [
                        {"row": c.row, "column": c.column, "from": c.old, "to": c.new}
                        for c in correction.changes
                    ],
                    "checks": correction.checks,
                }
                for correction in self.corrections
            ],
        }


@dataclass(slots=True)
class Audit:
    """The findings of an audit, with what was checked and what was inferred."""

    files: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)
    """How many checks each rule made."""
    checked: set[tuple[str, int, str]] = field(default_factory=set)
    """The cells that some rule looked at."""

    @property
    def agrees(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

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
        self.findings.append(
            Finding(
                rule,
                sheet.place(row),
                sheet.row_name(row),
                column,
                sheet.texts[row].get(column) or "",
                follows,
                tuple(corrections),
            )
        )

    def note(self, text: str) -> None:
        """Remember something that was taken for granted, once."""
        if text not in self.notes:
            self.notes.append(text)

    def sort(self) -> None:
        """Findings in the order of the files and their lines."""
        order = {name: number for number, name in enumerate(self.files)}
        self.findings.sort(key=lambda f: (order.get(f.place.path, 0), f.place.line or 0))

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain data: what `--format json` prints."""
        return {
            "abstain": __version__,
            "agrees": self.agrees,
            "files": list(self.files),
            "cells": len(self.checked),
            "rules": dict(self.rules),
            "notes": self.notes,
            "findings": [finding.to_dict() for finding in self.findings],
        }
