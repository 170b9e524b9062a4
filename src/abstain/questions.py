"""Questions and responses: tables in one shape, whatever they came as.

A gold is small and held in memory; responses stay lazy, in the engine they came in.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl

from abstain.columns import is_odd_moment, require_all, text_column
from abstain.engines import check_engine, moved, with_every_nan
from abstain.errors import AbstainError, InputError, Place, UsageError, nearest, plural, shown
from abstain.formats.files import bare_name, open_plain
from abstain.formats.tables import (
    ROW,
    UNTOLD,
    Pieces,
    Table,
    first_line,
    json_column,
    read_table,
    sniff,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

NONE_WORDS = ("none", "None", "NONE", "nil", "Nil", "NIL")
"""Answers that claim that no answer exists: right where the gold has none."""

SPLIT = "|"
"""Separates several accepted answers (and options) in one cell."""

RESERVED = ("question", "correct", "options", "option_texts")
DERIVED = ("accepted", "nothing_right")
"""Columns that a gold is given when it is read."""
RULE = "refusal"
"""The column that names the rule by which a text was found to decline."""
CLUSTER = "cluster"
"""The column by which judged rows say what hangs together."""
OF_A_RUN = (
    *("answer", "answered", "candidate", "confidence", "why", "run"),
    *("outcome", "reason", "response", RULE),
)
"""Columns of a log that speak of a response, not of its question."""


# ------------------------------------------------------------------------ tables, any kind


def open_table(
    data: Any, *, name: str = "", format: str | None = None, may_be_empty: bool = False
) -> Table:
    """A table from a path or from any dataframe that narwhals knows, eager or lazy."""
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_table(os.fspath(data), format=format)
    try:
        frame = nw.from_native(data)
    except nw.exceptions.DuplicateError:
        raise InputError("two columns have the same name", name or "the frame") from None
    except TypeError:
        raise UsageError(
            f"expected a path or a dataframe (polars, pandas, pyarrow, duckdb, Spark), "
            f"got {type(data).__name__}"
        ) from None
    label = name or "the frame"
    if isinstance(frame, nw.LazyFrame):
        native = frame.to_native()
        if isinstance(native, pl.LazyFrame):
            native = native.with_row_index(ROW)
        elif frame.implementation.is_duckdb():
            native = with_every_nan(native)
        return Table(label, "frame", tuple(frame.collect_schema().names()), native)
    eager = to_polars(frame, label)
    if eager.is_empty() and not may_be_empty:
        raise InputError("has no rows", label)
    return Table(label, "frame", tuple(eager.columns), eager.lazy().with_row_index(ROW))


def to_polars(frame: nw.DataFrame[Any], label: str) -> pl.DataFrame:
    """An eager frame as polars; columns of mixed objects become text."""
    if len(set(frame.columns)) < len(frame.columns):
        raise InputError("two columns have the same name", label)
    try:
        return frame.to_polars()
    except Exception:
        columns = frame.to_dict(as_series=False)
        cleaned = {
            str(name): [None if value is None or value != value else value for value in values]
            for name, values in columns.items()
        }
        return pl.DataFrame([json_column(name, values) for name, values in cleaned.items()])


def rename(table: Table, mapping: Mapping[str, str], *, side: str) -> Table:
    """Give columns the names that abstain knows: `mapping` is known name to actual name.

    A name may begin with `gold:` or `run:` to speak of one side only.
    """
    wanted: dict[str, str] = {}
    for known, actual in mapping.items():
        scope, colon, bare = known.rpartition(":")
        if not colon or scope == side:
            wanted[bare] = actual
    renames = {actual: known for known, actual in wanted.items() if actual in table.columns}
    if not renames:
        return table
    dropped = [known for known in renames.values() if known in table.columns]
    frame = nw.from_native(table.frame).drop([c for c in dropped if c not in renames])
    frame = frame.rename({a: k for a, k in renames.items() if a != k})
    columns = tuple(c for c in frame.collect_schema().names() if c != ROW)
    before = (*table.renamed, *renames)
    pieces = None if table.pieces is None else partial(_renamed_pieces, table.pieces, renames)
    return replace(table, columns=columns, frame=frame.to_native(), renamed=before, pieces=pieces)


def _renamed_pieces(
    pieces: Pieces, renames: Mapping[str, str], columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    before = {known: actual for actual, known in renames.items()}
    actual = [before.get(column, column) for column in columns]
    for piece in pieces(actual):
        yield piece.rename(dict(zip(actual, columns, strict=True)))


def check_mapping(mapping: Mapping[str, str], tables: Iterable[Table]) -> None:
    """Refuse a mapping from a column that no table has."""
    tables = list(tables)
    for known, actual in mapping.items():
        scope, _, _ = known.rpartition(":")
        if scope not in ("", "gold", "run"):
            raise UsageError(f"a column's scope is gold: or run: (got '{known}')")
        if not any(actual in (*table.columns, *table.renamed) for table in tables):
            seen = sorted({c for table in tables for c in table.columns})
            found = nearest(actual, seen)
            hint = f"nearest: {', '.join(found)}" if found else f"columns: {', '.join(seen[:20])}"
            raise UsageError(f"no table has a column '{actual}' ({hint})")


def collect(frame: nw.LazyFrame[Any], label: str) -> pl.DataFrame:
    """Run a lazy frame in its own engine and bring the (small) result here."""
    native = frame.to_native()
    with reading(label):
        if isinstance(native, pl.LazyFrame):
            return native.collect(engine="streaming")
        collected: pl.DataFrame = frame.collect(backend="polars").to_native()
        return collected


@contextmanager
def reading(label: str) -> Iterator[None]:
    """What goes wrong while an engine reads, in one line."""
    try:
        yield
    except (AbstainError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise InputError(f"cannot be read: {first_line(error)}", label) from None


# ------------------------------------------------------------------------------------ gold


@dataclass(frozen=True, slots=True)
class Gold:
    """The questions and what is right.

    `frame` has `question`, `accepted` (a list of texts; what no answer can match is never
    empty: where nothing is right it holds the words that say so), `nothing_right`, perhaps
    `options` and `option_texts`, and the attributes as text.
    """

    name: str
    frame: pl.DataFrame
    attributes: tuple[str, ...]
    table: Table
    verdicts: bool = False
    """Whether it is a log's: then the verdicts of logs count, and no answer is judged again."""

    def __len__(self) -> int:
        return self.frame.height

    @property
    def without_answer(self) -> int:
        """Questions for which nothing is right."""
        return int(self.frame["nothing_right"].sum())

    def check_attributes(self, names: Sequence[str]) -> None:
        """Refuse an attribute that the gold lacks."""
        for name in names:
            if name not in self.attributes:
                found = nearest(name, self.attributes)
                have = ", ".join(self.attributes) or "none"
                hint = f"nearest: {', '.join(found)}" if found else f"its attributes: {have}"
                raise UsageError(f"{self.name} has no attribute '{name}' ({hint})")


def read_gold(
    data: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> Gold:
    """Read a gold standard: `question`, `correct`, and any attributes."""
    if isinstance(data, (str, os.PathLike)) and os.path.isdir(data):
        from abstain.joining import gold_of_folder

        data = gold_of_folder(os.fspath(data), format)
    table = open_table(data, name="gold", format=_gold_format(data, format))
    is_log = table.verdicts is not None
    if is_log:
        table = questions_of(table)
    table = rename(table, columns or {}, side="gold")
    require_all(
        table,
        {
            "question": "which names each question",
            "correct": "which holds what is right (empty: nothing is)",
        },
    )
    for name in set(table.columns) & set(DERIVED):
        raise InputError(
            f"column '{name}' has a name that is ours, expected another for an attribute",
            Place(table.name, 1 if table.format in ("csv", "tsv") else None),
        )
    lazy = nw.from_native(table.frame)
    attributes = tuple(c for c in table.columns if c not in RESERVED)
    plain = [_attribute(lazy, c, table.name) for c in attributes if _is_scalar(lazy, c)]
    attributes = tuple(c for c in attributes if _is_scalar(lazy, c))
    lists = [
        nw.col(c) if _is_list(lazy, c) else text_column(lazy, c, table.name).alias(c)
        for c in ("correct", "options", "option_texts")
        if c in table.columns
    ]
    row = [nw.col(ROW)] if ROW in lazy.collect_schema().names() else []
    chosen = lazy.select(
        text_column(lazy, "question", table.name).alias("question"), *lists, *plain, *row
    )
    frame = collect(chosen, table.name)
    if ROW not in frame.columns:
        frame = frame.with_row_index(ROW)
    if frame.is_empty():
        raise InputError("has no questions", table.name)
    _check_ids(frame, table)
    accepted = _as_list(frame, "correct")
    frame = frame.with_columns(accepted.alias("accepted")).with_columns(
        nothing_right=pl.col("accepted").list.len() == 0
    )
    nothing = pl.lit(pl.Series([list(NONE_WORDS)])).first()
    frame = frame.with_columns(
        accepted=pl.when("nothing_right").then(nothing).otherwise("accepted"),
        **({"options": _as_list(frame, "options")} if "options" in frame.columns else {}),
        **({"option_texts": _as_texts(frame)} if "option_texts" in frame.columns else {}),
    ).drop("correct")
    return Gold(table.name, frame, attributes, table, verdicts=is_log)


def _gold_format(data: Any, format: str | None) -> str | None:
    """The format of a gold: runs may be some tool's logs while their gold is a table."""
    from abstain.formats.logs.registry import READERS, split_format

    if format is None or not isinstance(data, (str, os.PathLike)):
        return format
    name, picks = split_format(format)
    reader = READERS.get(name)
    if reader is None or reader.sniff is None or "gold" in picks:
        return format
    return format if sniff(open_plain(os.fspath(data))) == reader.name else None


def questions_of(log: Table) -> Table:
    """The questions of a log, each once, without what its run said."""
    frame = collect(nw.from_native(log.frame), log.name)
    kept = [c for c in frame.columns if c not in OF_A_RUN]
    first = frame.select(kept).unique("question", keep="first", maintain_order=True)
    if "correct" not in kept:
        first = first.with_columns(correct=pl.lit(pl.Series([[UNTOLD]])).first())
    known = pl.col("correct").fill_null(pl.lit(pl.Series([[UNTOLD]])).first())
    first = first.with_columns(known)
    columns = tuple(c for c in first.columns if c != ROW)
    return replace(log, columns=columns, frame=first.lazy())


def _attribute(frame: nw.LazyFrame[Any], column: str, label: str) -> nw.Expr:
    """An attribute as text; an empty one is none, however its table writes that."""
    if is_odd_moment(frame.collect_schema()[column]):
        text = nw.col(column).cast(nw.String)  # no id that must be the same elsewhere
    else:
        text = text_column(frame, column, label)
    return nw.when(text != "").then(text).alias(column)


def _is_list(frame: nw.LazyFrame[Any], column: str) -> bool:
    return frame.collect_schema()[column] in (nw.List, nw.Array)


def _is_scalar(frame: nw.LazyFrame[Any], column: str) -> bool:
    return not frame.collect_schema()[column].is_nested()


def _as_list(frame: pl.DataFrame, column: str) -> pl.Series:
    """A cell as a list of non-empty trimmed texts; a text cell is split at `|`."""
    values = frame[column]
    if values.dtype == pl.String:
        values = values.fill_null("").str.split(SPLIT)
    values = values.cast(pl.List(pl.String)).fill_null([])
    trimmed = values.list.eval(pl.element().str.strip_chars())
    return trimmed.list.eval(pl.element().filter(pl.element().fill_null("") != ""))


def _as_texts(frame: pl.DataFrame) -> pl.Series:
    """The options' texts: lists, or a JSON list in each cell (a text may hold any separator)."""
    values = frame["option_texts"]
    if values.dtype == pl.String:
        as_json = values.str.starts_with("[").fill_null(value=False)
        if as_json.all():
            try:
                return values.str.json_decode(pl.List(pl.String))
            except pl.exceptions.PolarsError:
                pass
        values = values.fill_null("").str.split(SPLIT)
    return values.cast(pl.List(pl.String)).fill_null([])


def _check_ids(frame: pl.DataFrame, table: Table) -> None:
    blank = frame.filter(pl.col("question").is_null() | (pl.col("question") == ""))
    if blank.height:
        raise InputError("a question has no id", table.place(blank[ROW][0]))
    twice = frame.filter(pl.col("question").is_duplicated())
    if twice.height:
        question = twice["question"][0]
        rows = twice.filter(pl.col("question") == question)[ROW]
        raise InputError(
            f"question {shown(question)} stands twice (first: {table.place(rows[0])})",
            table.place(rows[1]),
        )


# ------------------------------------------------------------------------------- responses


@dataclass(frozen=True, slots=True)
class Responses:
    """The responses of one table: a lazy frame and what its runs are called."""

    table: Table
    frame: nw.LazyFrame[Any]
    run: str | None
    """The one run of the table; None when a `run` column names several."""

    def place(self, row: int | None) -> Place:
        """Where a response stands."""
        return self.table.place(row)


def read_responses(
    data: Any,
    *,
    name: str = "",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Responses:
    """Open one table of responses, perhaps in another engine; nothing is counted yet.

    A log stays in polars until `in_its_engine`, so that it can be joined with others.
    """
    opened, chosen = open_table(data, name=name, format=format), check_engine(engine, master)
    if opened.refusals and chosen != "polars":
        raise UsageError(f"--detect-refusals reads text with polars, not with --engine {chosen}")
    here = opened.verdicts is not None  # a log's rows are in memory: they may move later
    table = opened if here else moved(opened, chosen, master)
    table = rename(table, columns or {}, side="run")
    if table.refusals:
        from abstain.refusals.detect import with_refusals

        table = with_refusals(table, table.refusals)
    if (
        table.cluster is None
        and CLUSTER in table.columns
        and {"outcome", "grade"} & {*table.columns}
    ):
        table = replace(table, cluster=CLUSTER)
    frame = nw.from_native(table.frame)
    if not isinstance(frame, nw.LazyFrame):
        frame = frame.lazy()
    if "run" in table.columns:
        return Responses(table, frame, None)
    own_name = bare_name(table.name) if table.opened is not None else "run"
    if table.run_id is not None:
        own_name = table.run_id[0]
    own_name = own_name.encode(errors="replace").decode()  # a file's name may be no text at all
    return Responses(table, frame, name or own_name)


def in_its_engine(source: Responses, engine: str | None, master: str | None) -> Responses:
    """The rows of a log, handed to the engine that is asked for."""
    table = source.table
    if table.verdicts is None:
        return source
    table = moved(table, check_engine(engine, master), master)
    return replace(source, table=table, frame=into_lazy(table.frame))


def describe(gold: Gold, sources: Sequence[Responses] = ()) -> list[str]:
    """What a reader should know of a gold and its runs before reading scores."""
    notes = told([gold.table, *(s.table for s in sources)])
    logs = sum(s.table.verdicts is not None for s in sources)
    if gold.verdicts and logs:
        notes.append(f"the verdicts are those of {plural(logs, 'log')}")
    elif logs:
        notes.append(
            f"the answers of {plural(logs, 'log')} were judged against {gold.name}, "
            "whatever their own verdicts"
        )
    if gold.without_answer and not gold.verdicts:
        count = plural(gold.without_answer, "question has", "questions have")
        notes.append(f"{count} no right answer: only an answer such as 'none' is right there")
    return notes


PAIRED_BY = {"lm-eval": "by doc_hash", "abstentionbench": "by what they ask"}
"""Logs that know a question by a hash, and of what."""


def told(tables: Iterable[Table]) -> list[str]:
    """The notes of tables, each once, and where logs of one tool are of different questions."""
    tables = list(tables)
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    for format, how in PAIRED_BY.items():
        notes += _different_documents([t for t in tables if t.format == format], how)
    return notes


def _different_documents(logs: Sequence[Table], how: str) -> list[str]:
    """Logs of one task are paired by the hash of each document; say where they differ."""
    frames = {t.name: collect(into_lazy(t.frame), t.name) for t in logs}
    found = {name: set(frame["question"]) for name, frame in frames.items()}
    plain = [
        name
        for name, own in frames.items()
        if "doc_id" in own.columns and (own["question"] == own["doc_id"]).all()
    ]
    if plain and len(plain) < len(frames):
        return [
            f"{plain[0]}: has no doc_hash, which other logs have, so their documents do not pair: "
            "--column question=doc_id takes doc_id for all"
        ]
    common = set.intersection(*found.values()) if found else set()
    return [
        f"{name}: {plural(len(own - common), 'document')} of {len(own):,} not the same in all "
        f"logs ({how})"
        for name, own in found.items()
        if own - common
    ]


def own_cluster(tables: Iterable[Table], known: Sequence[str] | None = None) -> str | None:
    """What hangs together by the files' own word, where they agree and the questions have it."""
    names = {table.cluster for table in tables if table.cluster}
    if len(names) != 1:
        return None
    name = names.pop()
    return name if known is None or name in known else None


def into_lazy(frame: IntoFrame) -> nw.LazyFrame[Any]:
    """A native frame as a narwhals lazy frame."""
    return nw.from_native(frame).lazy()
