"""Where judgments and runs come from: TREC files, tables, frames; all checked to one standard."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from abstain.errors import InputError, Place
from abstain.io import trec
from abstain.io.engines import check_engine
from abstain.io.files import BOM, PARQUET, STDIN, Opened, bare_name, open_streamed
from abstain.io.tables import format_of_name
from abstain.rankings.judgments import RepeatedError

if TYPE_CHECKING:
    import polars as pl

    from abstain.rankings.tables import RankedTable

TREC = "trec"


Source: TypeAlias = "TrecFile | RankedTable"
"""Judgments or runs; both kinds answer the same questions."""


class Origin(Struct, frozen=True):
    """What is known of both kinds."""

    name: str
    """Its place in messages."""
    run: str
    """What its run is called, where nothing inside says so."""
    named: bool
    """Whether the caller gave that name, which then counts for more than what is inside."""
    path: str | None
    """The file, where it is one."""


class TrecFile(Origin, frozen=True):
    """A file in TREC's format."""

    opened: Opened

    def judgments(self) -> pl.DataFrame:
        """The rows of the qrels: query, doc, rel."""
        return trec.read_qrels(self.opened)

    def batches(self, *, by_rank: bool, marks: Sequence[pl.Expr] = ()) -> Iterator[pl.DataFrame]:
        """The rows of the runs, some at a time: query, doc, score, run, and what `marks` say.

        With `by_rank` the score is −rank.
        """
        yield from trec.run_batches(self.opened, by_rank=by_rank, marks=marks)

    def places_of(self, error: RepeatedError) -> Sequence[Place]:
        """Where that is which appears twice for a query."""
        lines = trec.lines_with(self.opened, error.query, doc=error.doc, rank=error.rank)
        return [Place(self.name, line) for line in lines]

    def place_of(self, query: str) -> Place:
        """Where a query is first met."""
        return Place(self.name, trec.first_line_with(self.opened, query))


def open_source(
    data: Any,
    *,
    side: Literal["gold", "run"],
    name: str = "",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Source:
    """A path (TREC, or a table by its bytes or its name), any dataframe, or a dict of dicts.

    Another engine reads Parquet itself; of other files it is given the rows.
    """
    chosen = check_engine(engine, master)
    if isinstance(data, (str, os.PathLike, Opened)) and format in (None, TREC):
        path = data.name if isinstance(data, Opened) else os.fspath(data)
        opened = data if isinstance(data, Opened) else open_streamed(path)
        if format == TREC or _is_trec(opened):
            own = name or bare_name(path).encode(errors="replace").decode()
            where = None if path == STDIN or opened is data else path
            plain = TrecFile(opened.name, own, bool(name), where, opened)
            if chosen == "polars":
                return plain
            from abstain.rankings.tables import as_table

            return as_table(plain, chosen, master)
    from abstain.rankings.tables import open_rows

    return open_rows(
        data,
        side=side,
        name=name,
        columns=columns or {},
        format=format,
        engine=chosen,
        master=master,
    )


def is_ranking(data: str | Opened) -> bool:
    """Whether a file of a folder or an archive holds a run: by its name, or its first line."""
    opened = data if isinstance(data, Opened) else open_streamed(data)
    if opened.broken or format_of_name(opened.name) is not None:
        return True
    try:
        first = opened.head().removeprefix(BOM).split(b"\n", 1)[0]
    except InputError:
        return False
    return len(first.split()) == len(trec.RUN_COLUMNS) and trec.looks_like_trec(first)


def _is_trec(opened: Opened) -> bool:
    """TREC files have no header and often no ending; tables say what they are."""
    begins = opened.head().removeprefix(BOM)
    if begins.startswith(PARQUET):
        return False
    if trec.looks_like_trec(begins):
        return True
    return format_of_name(opened.name) is None and not begins.lstrip().startswith((b"{", b"["))
