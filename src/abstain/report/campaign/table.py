"""A table of an overview, and what all of them share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import plural
from abstain.report.grid import Grid

if TYPE_CHECKING:
    from abstain.outcomes import Array

WIDEST, LONGEST = 40, 2_000
"""Markdown and LaTeX are for reading and pasting: larger tables are left to CSV."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the overview."""

    name: str
    title: str
    reading: str
    grid: Grid

    @property
    def endings(self) -> tuple[str, ...]:
        """Of the files that it is written to."""
        small = len(self.grid.columns) <= WIDEST and len(self.grid.rows) <= LONGEST
        return ("csv", "md", "tex") if small else ("csv",)


def left_out(*scores: Array) -> str:
    """A sentence on scores that do not exist, which no mean, median or deviation holds."""
    lacking = sum(int(np.count_nonzero(np.isnan(block))) for block in scores)
    if not lacking:
        return ""
    return f" Undefined (–) and so left out of what sums up: {plural(lacking, 'score')}."


def safe(name: str) -> str:
    """A name that a file may have."""
    return "".join(sign if sign.isalnum() else "_" for sign in name.lower())[:40]


def short(text: str, most: int = 400) -> str:
    """A list in a sentence, cut where it is long."""
    return text if len(text) <= most else text[: most - 1].rsplit(",", 1)[0] + " …"
