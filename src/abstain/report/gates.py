"""How gates look: several of them in one table, those that failed first."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from abstain.report.grid import Column, Grid
from abstain.report.terminal import print_grid

FAILED = "FAILED"
BOUND = "lower bound of a score or of the difference from a baseline; upper bound for `at most`"


def gate_table(gates: Sequence[Mapping[str, Any]], tests: Sequence[str] = ()) -> Grid:
    """Gates in plain numbers and texts as a table; `tests` are those that they stand in."""
    order = sorted(range(len(gates)), key=lambda at: bool(gates[at]["passed"]))
    columns = [Column("gate"), Column("run"), Column("measure"), Column("score", "score")]
    columns += [
        Column("asked"),
        Column("bound", "score", means=BOUND),
        Column("questions", "count"),
    ]
    rows = [
        [
            "passed" if own["passed"] else FAILED,
            *(own[name] for name in ("run", "measure", "score")),
            _asked(own),
            *(own[name] for name in ("bound", "questions")),
        ]
        for own in (gates[at] for at in order)
    ]
    if tests:
        columns.append(Column("test"))
        rows = [[*row, tests[at]] for row, at in zip(rows, order, strict=True)]
    failed = sum(not own["passed"] for own in gates)
    title = f"{len(gates) - failed} of {len(gates)} gates passed"
    return Grid(columns, rows, title=title, wrap=bool(tests))


def _asked(gate: Mapping[str, Any]) -> str:
    if gate["side"] == "not worse":
        return f"not worse by more than {abs(gate['wanted']):g}"
    return f"{gate['side']} {gate['wanted']:g}"


def gate_text(grid: Grid, *, width: int | None = None) -> str:
    """The table as text."""
    stream = io.StringIO()
    print_grid(grid, file=stream, width=width)
    return stream.getvalue().rstrip("\n")
