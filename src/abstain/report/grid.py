"""A table before it is rendered: its columns, its rows, the notes below it.

Columns are declared once, on the fields of the struct that a row is:

    class Score(Facts, frozen=True):
        run: Annotated[str, Column("run", means="a system's responses", plain=True)]
        scores: Annotated[dict[str, float | None], Column("{key}", "score", means=measure_summary)]
        intervals: Annotated[
            dict[str, Ends],
            Column("{key} low", "score", means="the ends of a {level:g} % interval"),
            Column("{key} high", "score", joined=True, means="the ends of a {level:g} % interval"),
        ] = {}

        @property
        def outcomes(self) -> Annotated[Bar, Column("outcomes", "bar", means="the shares")]: ...

A dict makes a set of columns for each of its keys, which the heading names as `{key}`; several
columns on one field take the parts of a tuple. A property is declared by what it returns. A view
only says which columns of which rows, in order; a tuple of names interleaves dicts by their key:

    Grid.of_rows(Score, rows, "run", ("scores", "intervals"), "outcomes", level=95)
    frame_of_rows(Score, rows, "run", ("scores", "intervals"))
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct, field
from msgspec.structs import fields, replace

if TYPE_CHECKING:
    import polars as pl

Cell: TypeAlias = str | int | float | tuple[float, float, float] | None
CellKind: TypeAlias = Literal["text", "score", "count", "percent", "bar"]

UNDEFINED = "–"


class Column(Struct, frozen=True):
    """A column: its heading and what its cells are."""

    name: str = ""
    """Its heading; a field's name where its declaration has none."""
    kind: CellKind = "text"
    joined: bool = False
    """Whether it needs the column before it: they stay in one block."""
    short: str = ""
    """A heading that is enough in a terminal, beside the column before it."""
    means: str | Callable[[str], str] = ""
    """What it holds, in half a sentence; for a dict perhaps a function of the key."""
    plain: bool = False
    """Whether its heading needs no line in a legend."""
    empty: str | None = None
    """The text of a cell without a value."""

    @property
    def meaning(self) -> str:
        """What it holds, if that is a text."""
        return self.means if isinstance(self.means, str) else ""


class Grid(Struct):
    """Columns and rows, with notes to print below."""

    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    title: str = ""
    dim: set[int] = field(default_factory=set)
    """Rows in a dim style: references, totals."""
    breaks: set[int] = field(default_factory=set)
    """Rows before which a group begins."""
    marks: dict[tuple[int, int], str] = field(default_factory=dict)
    """Superscripts, by row and column, where a table is for a paper."""
    bold: set[tuple[int, int]] = field(default_factory=set)
    """Cells in bold there, by row and column."""
    caption: str = ""
    """Its caption there."""

    @classmethod
    def of(cls, columns: Iterable[tuple[Column, Sequence[Cell]]], **more: Any) -> Grid:
        """A table of columns, each with its cells."""
        heads, cells = zip(*columns, strict=True)
        return cls(list(heads), list(map(list, zip(*cells, strict=True))), **more)

    @classmethod
    def of_rows(
        cls, kind: type[Struct], rows: Sequence[Any], *names: str | tuple[str, ...], **words: Any
    ) -> Grid:
        """A table of declared columns; `words` fill the placeholders in headings and meanings."""
        return cls.of(columns_of(kind, rows, *names, **words))

    def chosen(self, order: Sequence[int]) -> Grid:
        """The table with these columns, in this order."""
        rows = [[row[i] for i in order] for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in order], rows=rows)

    def in_order(self, names: Iterable[str]) -> Grid:
        """The table with the columns of these names that it has, in this order."""
        places = {column.name: at for at, column in enumerate(self.columns)}
        return self.chosen([places[name] for name in names if name in places])

    def without_bars(self) -> Grid:
        """The table without bars, which repeat the counts."""
        return self.chosen([i for i, c in enumerate(self.columns) if c.kind != "bar"])

    def cells(self) -> list[Sequence[Cell]]:
        return [*zip(*self.rows, strict=True)] or [()] * len(self.columns)

    def texts(self, digits: int) -> list[list[str]]:
        """The cells of every column as people read them."""
        kinds = [column.kind for column in self.columns]
        return [cell_texts(c, kind, digits) for c, kind in zip(self.cells(), kinds, strict=True)]


Fields: TypeAlias = str | tuple[str, ...]
"""A field or property, or several dicts whose columns are interleaved by their key."""


class _Declared(NamedTuple):
    """What a struct declares of a field or property."""

    columns: tuple[Column, ...]
    type: Any
    by_key: bool
    """Whether it is a dict, whose values have that type."""


_Filled: TypeAlias = tuple[Column, list[Any], Any, str]
"""A declared column with its cells, their type and its name in data."""


def columns_of(
    kind: type[Struct], rows: Sequence[Any], *names: Fields, **words: Any
) -> list[tuple[Column, list[Cell]]]:
    """The declared columns of these fields and properties, with the cells of every row."""
    return [
        (column, [column.empty if cell is None else cell for cell in cells])
        for column, cells, _, _ in _filled(kind, rows, names, words)
    ]


def frame_of_rows(
    kind: type[Struct], rows: Sequence[Any], *names: Fields, **words: Any
) -> pl.DataFrame:
    """The declared columns as data (polars), typed as the fields are.

    A column has its field's name; one of several that a field makes has its heading.
    """
    import polars as pl

    return pl.DataFrame(
        [  # of a generator polars would stack every thousand columns
            pl.Series(name, cells, _data_type(type_, cells), strict=False)
            for _, cells, type_, name in _filled(kind, rows, names, words)
        ]
    )


def _filled(
    kind: type[Struct], rows: Sequence[Any], names: Iterable[Fields], words: dict[str, Any]
) -> Iterator[_Filled]:
    groups = [(name,) if isinstance(name, str) else name for name in names]
    for group in groups:
        values = {name: list(map(attrgetter(name), rows)) for name in group}
        if not _declared(kind, group[0]).by_key:
            for name, cells in values.items():
                yield from _parts(kind, name, None, cells, words)
            continue
        keys = {name: dict.fromkeys(chain.from_iterable(cells)) for name, cells in values.items()}
        for key in keys[group[0]]:
            for name, cells in values.items():
                if key in keys[name]:
                    text = _declared(kind, name).columns[0].kind == "text"
                    taken = text and key in _taken(kind, rows, chain.from_iterable(groups))
                    heading = f"{key} ({name})" if taken else key
                    of_key = [cell.get(key) for cell in cells]
                    yield from _parts(kind, name, key, of_key, {**words, "key": heading})


def _taken(kind: type[Struct], rows: Sequence[Any], names: Iterable[str]) -> set[str]:
    """Reserved headings: a dict's keys, which come from the data, may not shadow them."""
    taken = set(kind.__struct_fields__)
    for name in names:
        columns, _, by_key = _declared(kind, name)
        taken |= {column.name for column in columns}
        if by_key and columns[0].kind != "text":
            taken |= {key for row in rows for key in getattr(row, name)}
    return taken


def _parts(
    kind: type[Struct], name: str, key: str | None, cells: list[Any], words: dict[str, Any]
) -> Iterator[_Filled]:
    """The columns of a field or of one key of it: several take the parts of a tuple."""
    columns, type_, by_key = _declared(kind, name)
    several = len(columns) > 1
    types = (*get_args(type_), *[type_] * len(columns)) if several else (type_,)
    for at, column in enumerate(columns):
        part = [None if cell is None else cell[at] for cell in cells] if several else cells
        means = column.means
        worded = replace(
            column,
            name=column.name.format_map(words),
            means=means.format_map(words) if isinstance(means, str) else means(key or name),
        )
        yield worded, part, types[at], worded.name if several or by_key else name


@cache
def _declared(kind: type[Struct], name: str) -> _Declared:
    """The declaration of a field or property; without a `Column` its type gives the look."""
    member = getattr(kind, name)
    if isinstance(member, property):
        annotation = get_type_hints(member.fget, include_extras=True)["return"]
    else:
        annotation = _annotations(kind)[name]
    type_: Any = annotation
    metadata: list[Any] = []
    if get_origin(annotation) is Annotated:
        type_, *metadata = get_args(annotation)
    by_key = get_origin(type_) is dict
    if by_key:
        type_ = get_args(type_)[1]
    look: CellKind = "score" if float in _types(type_) else "count" if type_ is int else "text"
    columns = [each for each in metadata if isinstance(each, Column)] or [Column(kind=look)]
    heading = "{key}" if by_key else name
    named = tuple([replace(each, name=each.name or heading) for each in columns])
    return _Declared(named, type_, by_key)


@cache
def _annotations(kind: type[Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in fields(kind)}


def _types(annotation: Any) -> set[Any]:
    return set(get_args(annotation) or (annotation,)) - {type(None)}


def _data_type(annotation: Any, cells: Iterable[Any]) -> Any:
    """The type of a column of data; numbers that are all whole are integers."""
    import polars as pl

    kinds = _types(annotation)
    if kinds == {int, float}:
        whole = all(cell is None or float(cell).is_integer() for cell in cells)
        return pl.Int64 if whole else pl.Float64
    numbers = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64}
    return next((type_ for kind, type_ in numbers.items() if kind in kinds), pl.String)


def cell_texts(cells: Iterable[Cell], kind: CellKind, digits: int) -> list[str]:
    """The cells of a column as people read them."""
    texts = []
    for cell in cells:
        if cell is None or cell != cell:
            text = "" if kind == "text" else UNDEFINED
        elif isinstance(cell, tuple):
            text = ""
        elif kind == "text" and isinstance(cell, float):
            # 0.999998 is not 1: a run may give most of its answers between the two
            near = 1 - math.floor(math.log10(1 - cell)) if 0.999 < cell < 1 else 0
            text = f"{cell:.{max(4, near)}g}"
        elif kind == "text" or isinstance(cell, str):
            text = str(cell)
        elif kind == "count":
            text = f"{cell:,.{0 if float(cell).is_integer() else 1}f}"
        else:
            text = f"{cell:z.{digits if kind == 'score' else 2}f}".replace("-", "−")
        texts.append(text)
    return texts


def legend(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """What headings mean; those of the same meaning share an entry, `AIDS: mean` as `mean`.

    >>> legend([Column("low", means="an end"), Column("x: high", means="an end"), Column("run")])
    [('low / high', 'an end')]
    """
    alike: dict[str, list[str]] = {}
    for column in columns:
        if column.meaning and not column.plain:
            name = column.name.rpartition(": ")[2]
            names = alike.setdefault(column.meaning, [])
            names += [] if name in names else [name]
    return [
        (" / ".join([*names[:3], *(["…"] if names[3:] else [])]), means)
        for means, names in alike.items()
    ]


LONGEST = 4_000
"""The most characters of a text that are shown; data files have all of it."""


def clean(text: str) -> str:
    """Text without control characters, line breaks or marks of writing direction.

    >>> clean("a\\x1b[31mb\\nc")
    'a�[31mb c'
    """
    if len(text) > LONGEST:  # a name of a megabyte stands in many places
        text = text[: LONGEST - 1] + "…"
    if text.isprintable():
        return text
    spaced = re.sub(r"[\t\r\n\v\f\x85\u2028\u2029]+", " ", text)
    return re.sub(
        r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]",
        "\ufffd",
        spaced,
    )


BETWEEN_WORDS = re.compile(r"([^\w\s]|_|[^\W_]{18})(?=.)")


def name_parts(name: str) -> list[str]:
    """A name in parts between which a line may break: after a sign, or in a very long word.

    >>> name_parts("team/run_1")
    ['team/', 'run_', '1']
    """
    return BETWEEN_WORDS.sub("\\1\0", clean(name)).split("\0")
