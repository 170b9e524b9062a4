"""A table of queries and their attributes, to slice by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from abstain.errors import InputError, UsageError, nearest, option, shown
from abstain.io.columns import require
from abstain.io.frames import collect, open_table, rename
from abstain.io.tables import Table
from abstain.rankings.tables import chosen_columns, place_in

QUERY = "query"


def needs_queries(argument: str) -> UsageError:
    """The error of who asks for attributes where there is no table of them."""
    asked, needed = option(argument), option("queries", "FILE")
    return UsageError(f"{asked} needs a table of the queries: {needed}")


def open_queries(data: Any, *, columns: Mapping[str, str] | None = None) -> Table:
    """A table of queries, not read yet."""
    return rename(open_table(data, name="queries"), columns or {}, side="queries")


def read_queries(table: Table, by: Sequence[str] = ()) -> pl.DataFrame:
    """The column `query` and the wanted attributes, as text."""
    require(table, QUERY, "which names the query")
    attributes = [c for c in table.columns if c != QUERY]
    for name in by:
        if name not in attributes:
            found = nearest(name, attributes)
            have = ", ".join(attributes[:20]) or "none"
            hint = f"nearest: {', '.join(found)}" if found else f"its attributes: {have}"
            raise UsageError(f"{table.name} has no attribute '{name}' ({hint})")
    rows = collect(chosen_columns(table, (QUERY, *by)), table.name)
    blank = (rows[QUERY].is_null() | (rows[QUERY] == "")).arg_true()
    if len(blank):
        raise InputError("a query has no id", place_in(table, rows, blank[0]))
    twice = (~rows[QUERY].is_first_distinct()).arg_true()
    if len(twice):
        query = shown(rows[QUERY][twice[0]])
        raise InputError(f"query {query} stands twice", place_in(table, rows, twice[0]))
    return rows.select(QUERY, *by)


def query_attributes(
    table: pl.DataFrame, by: Sequence[str], queries: Sequence[str]
) -> dict[str, list[str | None]]:
    """Each attribute's value for each of the queries; None where the table has none."""
    wanted = pl.DataFrame({QUERY: list(queries)}, schema={QUERY: pl.String})
    joined = wanted.join(table, on=QUERY, how="left", maintain_order="left")
    return {name: [value or None for value in joined[name].to_list()] for name in by}
