"""Receipts: the facts, and how they look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain.errors import plural
from abstain.report import view
from abstain.report.grid import Grid, frame_of_rows
from abstain.report.result import Result
from abstain.report.view import few, sentence
from abstain.runs.ledger import Receipt

if TYPE_CHECKING:
    import polars as pl


class ReceiveResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="receive"):
    """Receipts, by the time of arrival."""

    receipts: tuple[Receipt, ...]
    again: tuple[int, ...] = ()
    """Those of files that were received before: nothing was added."""

    def _frame(self, table: str) -> pl.DataFrame:
        return frame_of_rows(Receipt, self.receipts, *Receipt.__struct_fields__)


class View(view.View[ReceiveResult]):
    """A row a receipt, what validation found below."""

    def title(self) -> str:
        return "Receipts"

    def tables(self, **options: Any) -> list[Grid]:
        rows, again = self.result.receipts, ", ".join(map(str, self.result.again))
        same = f"sent before, so nothing was added: {again} (--again adds it)"
        lines = [f"receipt {r.number}: {line}" for r in rows for line in r.found.splitlines()]
        notes = [plural(len(rows), "receipt"), *([same] if again else []), *few(lines, 20)]
        grid = Grid.of_rows(Receipt, rows, "number", "time", "team", "run", "state", "left", "hash")
        grid.notes = [*map(sentence, notes), *map(sentence, self.result.notes)]
        return [grid]

    def whole(self, **options: Any) -> Grid:
        return Grid.of_rows(Receipt, self.result.receipts, *Receipt.__struct_fields__)
