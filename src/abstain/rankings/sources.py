"""Where judgments and runs come from: TREC files, tables, frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import polars as pl
from msgspec import Struct

from abstain.errors import InputError, Place
from abstain.io import trec
from abstain.io.files import BOM, PARQUET, STDIN, Opened, bare_name, open_file
from abstain.io.tables import format_of_name
from abstain.rankings.judgments import RepeatedError
from abstain.reading import PLAIN, Reading

if TYPE_CHECKING:
    from abstain.rankings.tables import RankedTable

TREC = "trec"

Source: TypeAlias = "TrecFile | RankedTable"


class SourceNames(Struct, frozen=True):
    name: str
    run: str
    named: bool
    path: str | None


class RunOrigin(Struct, frozen=True):
    """Where a run comes from: its name here, its tag there, and the source that holds it."""

    run: str
    tag: str
    source: Source


class TrecFile(SourceNames, frozen=True):
    opened: Opened

    elsewhere: ClassVar[bool] = False
    """Whether another engine than polars ranks it: it is read and ranked line by line."""

    def judgments(self) -> pl.DataFrame:
        return trec.read_qrels(self.opened)

    def batches(self, *, by_rank: bool, marks: Sequence[pl.Expr] = ()) -> Iterator[pl.DataFrame]:
        yield from trec.run_batches(self.opened, by_rank=by_rank, marks=marks)

    def places_of(self, error: RepeatedError) -> Sequence[Place]:
        lines = trec.lines_with(self.opened, error.query, doc=error.doc, rank=error.rank)
        return [Place(self.name, line) for line in lines]


def open_source(
    data: Any, reading: Reading = PLAIN, *, side: Literal["gold", "run"], name: str = ""
) -> Source:
    path = os.fspath(data) if isinstance(data, (str, os.PathLike)) else None
    known = path if path is not None else data.name if isinstance(data, Opened) else None
    run = name or ("run" if known is None else run_name(known))
    names = run, bool(name), None if path == STDIN else path
    if known is not None and reading.format in (None, TREC):
        opened = data if path is None else open_file(path)
        if reading.format == TREC or is_trec(opened):
            return TrecFile(opened.name, *names, opened)
    from abstain.rankings.tables import RankedTable, open_rows

    table = open_rows(data, reading, side, name)
    return RankedTable(table.name, *names, table)


def run_name(path: Any) -> str:
    """The name of a file without folders and endings; bytes that are no text are replaced."""
    return bare_name(path).encode(errors="replace").decode()


def is_ranking(data: str | Opened) -> bool:
    """Whether a file of a folder or an archive holds a run: by its name, or its first line."""
    opened = data if isinstance(data, Opened) else open_file(data)
    if opened.broken or format_of_name(opened.name) is not None:
        return True
    try:
        first = opened.head.removeprefix(BOM).split(b"\n", 1)[0]
    except InputError:
        return False
    return len(first.split()) == len(trec.RUN_COLUMNS) and trec.looks_like_trec(first)


def is_trec(opened: Opened) -> bool:
    """TREC files have no header and often no ending; tables say what they are."""
    head = opened.head.removeprefix(BOM)
    if head.startswith(PARQUET):
        return False
    if trec.looks_like_trec(head):
        return True
    return format_of_name(opened.name) is None and not head.lstrip().startswith((b"{", b"["))
