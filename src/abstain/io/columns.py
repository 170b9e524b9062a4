"""Columns of tables: those that must be there, and what they hold as text or numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import narwhals as nw
import polars as pl

from abstain.errors import InputError, MissingColumnError, Place, nearest, option
from abstain.io.frames import collect
from abstain.io.names import col, column_of
from abstain.io.tables import ROW, Table

ALIASES: dict[str, tuple[str, ...]] = {
    "run": ("model", "system", "run_id", "model_name"),
    "question": ("id", "qid", "question_id", "sample_id", "doc_id", "example_id"),
    "answer": ("response", "output", "prediction", "completion"),
    "confidence": ("conf", "prob", "probability", "p"),
    "grade": ("is_correct", "verdict", "judgement", "judgment", "correct", "label", "score"),
    "correct": ("target", "gold", "reference", "expected", "answer_key", "ground_truth"),
}
"""What others call our columns: a column of such a name is taken where only one fits."""

USUAL_NAMES = {
    "question": ("question_id", "qid", *ALIASES["question"], "query", "problem", "problem_id"),
    "correct": ("gold", "label", "target", "answer", "answers", *ALIASES["correct"]),
    "answer": ("prediction", "predicted", *ALIASES["answer"], "predicted_answer", "pred"),
    "outcome": ("grade", "judgement", "judgment", "score", "is_correct", "correct"),
}
"""Names that an error proposes for a missing column, the likeliest first."""

BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What is trimmed from a text: white space as Unicode has it."""

LEAST_POWER = 10**16
"""Whole numbers from here on are written with an exponent."""

NUMBER = r"^[+-]?(?:(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))$"
"""A text that polars reads as a number."""


def require(table: Table, column: str, purpose: str) -> None:
    """Refuse a table without a column, naming what it has and how to map it."""
    require_all(table, {column: purpose})


def require_all(table: Table, columns: Mapping[str, str], *, side: str = "") -> None:
    """Refuse a table without some columns (with their purposes): all that it lacks at once.

    `side` is the scope of the advice where a column's name is known on the other side too.
    """
    missing = {name: purpose for name, purpose in columns.items() if name not in table.columns}
    if not missing:
        return
    if table.format == "qa4mre":
        kinds = "run, expected a gold (<test-set>)"
        if "correct" in table.columns:
            kinds = "gold, expected a run (<output>)"
        raise InputError(f"is a QA4MRE {kinds}", Place(table.name, 1))
    have = ", ".join(table.columns[:20]) or "none"
    lacking = ", and no column ".join(f"'{name}', {purpose}" for name, purpose in missing.items())
    guessed = {name: _guess(table, columns, name) for name in missing}
    mapped = option(
        "columns",
        {f"{side}:{n}" if side and name in USUAL_NAMES else n: name for n, name in guessed.items()},
    )
    renamed = "it has another name, map it"
    if len(missing) > 1:
        renamed = "they have other names, map them"
    raise MissingColumnError(
        f"has no column {lacking} (its columns: {have}); if {renamed} with {mapped}",
        Place(table.name, 1 if table.format in ("csv", "tsv") else None),
    )


def _guess(table: Table, required: Iterable[str], column: str) -> str:
    """The column that may be meant: one of its usual names, or the nearest to its name.

    A column that is required itself is not another one.
    """
    free = [name for name in table.columns if name not in required]
    usual = [name for name in USUAL_NAMES.get(column, ()) if name in free]
    return next(iter(usual or nearest(column, free)), "NAME")


def text_column(
    frame: nw.LazyFrame[Any], column: str, label: str, *, trim: bool = False
) -> nw.Expr:
    """A column as text; whole numbers that came as floats lose their `.0`.

    Text files are trimmed as they are read; what comes typed is trimmed only where asked.
    """
    dtype = frame.collect_schema()[column]
    expr = column_of(frame, column)
    if dtype in (nw.Categorical, nw.Enum):
        expr = expr.cast(nw.String)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return trimmed(frame, expr) if trim else expr
    if dtype.is_float():
        return _number_as_text(frame, column, label)
    if dtype.is_integer() or dtype == nw.Boolean or is_all_null(frame, column):
        return expr.cast(nw.String)
    if dtype in (nw.Unknown, nw.Binary) or dtype.is_nested():
        what = f"column '{column}' holds {dtype}, expected one text or number per row"
        raise InputError(what, label)
    return _moment_as_text(frame, column, label) if dtype.is_temporal() else expr.cast(nw.String)


def text_columns(
    frame: nw.LazyFrame[Any], names: Iterable[str], label: str, *, trim: Collection[str] = ()
) -> list[nw.Expr]:
    """Columns as text, and the number of each row where the frame has it."""
    texts = [text_column(frame, name, label, trim=name in trim).alias(name) for name in names]
    return [*texts, nw.col(ROW)] if ROW in frame.collect_schema().names() else texts


def trimmed(frame: nw.LazyFrame[Any], text: nw.Expr) -> nw.Expr:
    """Text without the blanks around it: the same blanks in every engine."""
    # polars strips these blanks by default, and is faster then
    return text.str.strip_chars(None if frame.implementation.is_polars() else BLANKS)


def read_numbers(frame: nw.LazyFrame[Any], column: str, into: str) -> nw.LazyFrame[Any]:
    """A frame with a column of text read as numbers into another; what is no number is null."""
    native: Any = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        number = col(column).str.strip_chars().cast(pl.Float64, strict=False)
        return nw.from_native(native.with_columns(number.alias(into)))
    text = trimmed(frame, column_of(frame, column))
    kept = nw.when(text.str.contains(NUMBER)).then(text)  # engines read 1_0 or 0.5f too
    native = frame.with_columns(kept.alias(into)).to_native()
    if frame.implementation.is_duckdb():
        read = native.project(f'* REPLACE (TRY_CAST("{into}" AS DOUBLE) AS "{into}")')
    else:
        from pyspark.sql import functions

        read = native.withColumn(into, functions.col(into).try_cast("double"))
    numbers: nw.LazyFrame[Any] = nw.from_native(read)
    return numbers


def is_odd_moment(dtype: Any) -> bool:
    """Whether a type holds times that every engine writes differently."""
    plain = dtype == nw.Date or (isinstance(dtype, nw.Datetime) and dtype.time_zone is None)
    return bool(dtype.is_temporal()) and not plain


def _moment_as_text(frame: nw.LazyFrame[Any], column: str, label: str) -> nw.Expr:
    """A date, or a date with its time as SQL writes it: seconds with the digits that it takes."""
    dtype, expr = frame.collect_schema()[column], column_of(frame, column)
    if is_odd_moment(dtype):
        what = "times with a time zone" if isinstance(dtype, nw.Datetime) else f"a {dtype}"
        raise _not_alike(column, what, "every engine", label)
    if dtype == nw.Date or not frame.implementation.is_polars():
        return expr.cast(nw.String)
    return expr.dt.to_string("%Y-%m-%d %H:%M:%S%.9f").str.replace_all(r"\.?0+$", "")


def _number_as_text(frame: nw.LazyFrame[Any], column: str, label: str) -> nw.Expr:
    """Numbers that came as floats: 1 for 1.0, the shortest exact digits for others, 1e17, 1e-6.

    Cell by cell: 1.0 must read as 1 whether or not its column has a 2.5 elsewhere.
    """
    expr = column_of(frame, column)
    whole = (expr == expr.floor()) & (expr.abs() < LEAST_POWER)
    digits = nw.when(whole).then(expr).cast(nw.Int64).cast(nw.String)
    others = nw.when(~whole & ~expr.is_nan()).then(expr)
    engine = frame.implementation
    short = frame.collect_schema()[column] == nw.Float32
    if engine.is_pyspark() or (engine.is_duckdb() and short):
        _refuse_fractions(frame, column, others, label)
        return digits
    text = others.cast(nw.String)
    if engine.is_duckdb():
        text = text.str.replace_all(r"^(-?)(\d)\.?(\d*)e-05$", r"\10.0000\2\3")
        text = text.str.replace_all("e-0", "e-", literal=True)
    else:  # through a double, since polars has other limits for short floats
        text = text.cast(nw.Float64).cast(nw.String)
    return nw.when(whole).then(digits).otherwise(text.str.replace_all("e+", "e", literal=True))


def _refuse_fractions(frame: nw.LazyFrame[Any], column: str, others: nw.Expr, label: str) -> None:
    """The digits of some engines are not always the fewest: Spark's, and DuckDB's of a FLOAT."""
    odd = frame.select(others.alias("odd")).filter(~nw.col("odd").is_null()).head(1)
    for value in collect(odd, label)["odd"]:
        engine = "Spark" if frame.implementation.is_pyspark() else "DuckDB"
        raise _not_alike(column, f"the number {value!r}", engine, label)


def _not_alike(column: str, what: str, engine: str, label: str) -> InputError:
    how = f"which {engine} writes differently; cast the column to text first"
    return InputError(f"column '{column}' holds {what}, {how}", label)


def is_all_null(frame: nw.LazyFrame[Any], column: str) -> bool:
    """Whether a column has no type because it holds nothing."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        return native.collect_schema()[column] == pl.Null
    if frame.implementation.is_duckdb():
        return str(native.types[native.columns.index(column)]).strip('"') == "NULL"
    return False
