"""Tables from paths or dataframes: opened, columns renamed and checked, read as text or numbers."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import polars as pl
from msgspec.structs import replace
from narwhals.typing import IntoFrame

from abstain.errors import (
    InputError,
    MissingColumnError,
    Place,
    UsageError,
    check_name,
    nearest,
    option,
)
from abstain.io.files import Opened, read_errors
from abstain.io.tables import ROW, Chunks, Table, col, column_of, json_column, read_table


def open_table(
    data: Any,
    *,
    name: str = "",
    format: str | None = None,
    pick: Mapping[str, str] | None = None,
    may_be_empty: bool = False,
) -> Table:
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike, Opened)):
        return read_table(data, format=format, pick=pick)
    try:
        frame = nw.from_native(_with_index(data))
    except nw.exceptions.DuplicateError:
        raise InputError("two columns have the same name", name or "the frame") from None
    except TypeError:
        expected = "expected a path or a dataframe (polars, pandas, pyarrow, duckdb, Spark)"
        label = f"{name}: " if name else ""
        raise UsageError(f"{label}{expected}, got {type(data).__name__}") from None
    label = name or "the frame"
    if isinstance(frame, nw.LazyFrame):
        native = frame.to_native()
        if isinstance(native, pl.LazyFrame):
            native = native.with_row_index(ROW)
        elif frame.implementation.is_duckdb():
            from abstain.io.engines import with_every_nan

            native = with_every_nan(native)
        with read_errors(label, engine=True):  # a query may be wrong before it is run
            columns = tuple(frame.collect_schema().names())
        return Table(label, "frame", columns, native)
    eager = to_polars(frame)
    if eager.is_empty() and not may_be_empty:
        raise InputError("has no rows", label)
    return Table(label, "frame", tuple(eager.columns), eager.lazy().with_row_index(ROW))


def _with_index(data: Any) -> Any:
    if not nw.dependencies.is_pandas_like_dataframe(data):
        return data
    columns = {str(name) for name in data.columns}
    kept = []
    for level, name in enumerate(data.index.names):
        of_texts = data.index.get_level_values(level).inferred_type == "string"
        if of_texts if name is None else str(name) not in columns:
            kept.append(level)
    return data.reset_index(level=kept) if kept else data


def to_polars(frame: nw.DataFrame[Any]) -> pl.DataFrame:
    try:
        return frame.to_polars()
    except Exception:
        columns = frame.to_dict(as_series=False)
        known = {  # NaN becomes None
            str(name): [None if value is None or value != value else value for value in values]
            for name, values in columns.items()
        }
        return pl.DataFrame([json_column(name, values) for name, values in known.items()])


def rename(table: Table, mapping: Mapping[str, str], *, side: str) -> Table:
    wanted: dict[str, str] = {}
    for known, actual in mapping.items():
        scope, colon, bare = known.rpartition(":")
        if not colon or scope == side:
            wanted[bare] = actual
    renames = {actual: known for known, actual in wanted.items() if actual in table.columns}
    if not renames:
        return table
    dropped = [c for c in renames.values() if c in table.columns and c not in renames]
    moved = {a: k for a, k in renames.items() if a != k}
    frame = nw.from_native(table.frame)
    # where nothing changes nothing is selected: DuckDB would take a column `*` for all of them
    frame = frame.drop(dropped) if dropped else frame
    frame = frame.rename(moved) if moved else frame
    columns = tuple(c for c in frame.collect_schema().names() if c != ROW)
    before = {**table.renamed, **renames}
    chunks = None if table.chunks is None else partial(_renamed_chunks, table.chunks, renames)
    return replace(table, columns=columns, frame=frame.to_native(), renamed=before, chunks=chunks)


def without(table: Table, column: str) -> Table:
    frame = nw.from_native(table.frame).drop(column).to_native()
    columns = tuple(name for name in table.columns if name != column)
    return replace(table, frame=frame, columns=columns)


def _renamed_chunks(
    chunks: Chunks, renames: Mapping[str, str], columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    before = {known: actual for actual, known in renames.items()}
    actual = [before.get(column, column) for column in columns]
    for chunk in chunks(actual):
        yield chunk.rename(dict(zip(actual, columns, strict=True)))


def check_mapping(mapping: Mapping[str, str], tables: Iterable[Table]) -> None:
    tables = list(tables)
    for known, actual in mapping.items():
        scope, _, _ = known.rpartition(":")
        if scope not in ("", "gold", "run"):
            raise UsageError(f"a column's scope is gold: or run: (got '{known}')")
        seen = {table.in_file(column) for table in tables for column in table.columns}
        seen |= {column for table in tables for column in table.renamed}
        check_name("column", actual, sorted(seen))


def collect(frame: nw.LazyFrame[Any], label: str) -> pl.DataFrame:
    """Run a lazy frame in its engine and bring the (small) result here."""
    native = frame.to_native()
    with read_errors(label, engine=True):
        if isinstance(native, pl.LazyFrame):
            return native.collect(engine="streaming")
        collected: pl.DataFrame = frame.collect(backend="polars").to_native()
        return collected


def in_engine(small: pl.DataFrame, like: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A small table, moved to the engine of the frame that it will be joined with."""
    native = like.to_native()
    if isinstance(native, pl.LazyFrame):
        return nw.from_native(small.lazy())
    from abstain.io.engines import to_duckdb, to_spark

    if like.implementation.is_duckdb():
        return into_lazy(to_duckdb(small, native))
    if like.implementation.is_pyspark():
        return into_lazy(to_spark(small, native.sparkSession))
    how = "collect the frame, or use polars, duckdb or Spark"
    raise UsageError(f"lazy {like.implementation} frames are not supported; {how}")


def into_lazy(frame: IntoFrame) -> nw.LazyFrame[Any]:
    return nw.from_native(frame).lazy()


ALIASES: dict[str, tuple[str, ...]] = {
    "run": ("model", "system", "run_id", "model_name"),
    "question": ("id", "qid", "question_id", "sample_id", "doc_id", "example_id"),
    "answer": ("response", "output", "prediction", "completion"),
    "confidence": ("conf", "prob", "probability"),
    "grade": ("is_correct", "verdict", "judgement", "judgment", "correct", "label", "score"),
    "correct": ("target", "gold", "reference", "expected", "answer_key", "ground_truth"),
}
"""Usual names of our columns: a column of such a name is taken if only one fits."""

PREDICTED = (
    *("pred", "predicted", "prediction", "predictions", "predicted_answer", "extracted_answer"),
    *("model_answer", "model_output", "model_outputs", "model_response", "generated_answer"),
)
"""Certainly a system's answers: an `answer` beside one of them may be the right one."""

USUAL_NAMES = {
    "question": (*ALIASES["question"], "query", "problem", "problem_id"),
    "correct": (*ALIASES["correct"], "label", "answer", "answers"),
    "answer": (*ALIASES["answer"], *PREDICTED),
    "outcome": ALIASES["grade"],
}
"""Names that an error proposes for a missing column, the likeliest first."""

KNOWN = {
    *("run", "question", "answer", "answered", "candidate", "confidence", "why", "outcome"),
    *("grade", "reason", "response", "refusal", "correct", "options", "cluster"),
}
"""Our columns: others are attributes, or have a usual name."""

SYSTEMS = (
    *("llm", "llms", "model", "models", "system", "engine"),
    *("checkpoint", "assistant", "agent", "bot"),
)
NAMING = ("name", "id", "version", "tag", "variant", "config", "key", "ai", "or", "path")
"""Words that may accompany those for systems: a `model_output` names no system."""


def words_of(column: str) -> set[str]:
    """The words of a column's name, in lower case: of `questionId`, `question` and `id`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return {word for word in re.split(r"[^a-z0-9]+", apart.casefold()) if word} or {column}


def names_systems(column: str) -> bool:
    """Whether a column's name is one for systems: `llm`, `model_id`, `ai-model`."""
    words = words_of(column)
    return bool(words & {*SYSTEMS}) and words.issubset((*SYSTEMS, *NAMING))


WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What is trimmed from a text: the white space of Unicode."""

LEAST_POWER = 10**16
"""Whole numbers from here on are written with an exponent."""

NUMBER = r"^[+-]?(?:(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))$"


def require(table: Table, columns: Mapping[str, str], *, side: str = "") -> None:
    """Refuse a table that lacks columns, with their purposes; `side` is the scope of the advice."""
    missing = {name: purpose for name, purpose in columns.items() if name not in table.columns}
    if not missing:
        return
    from abstain.io.trec import looks_like_trec

    if table.format == "qa4mre":
        kinds = "gold, expected a run" if "correct" in table.columns else "run, expected a gold"
        raise InputError(f"is a QA4MRE {kinds}", Place(table.name, 1))
    for name in missing:
        if (known := table.renamed.get(name, name)) != name:
            raise MissingColumnError(f"column '{name}' is read as '{known}' already", table.name)
    free = [table.in_file(name) for name in table.columns if name not in columns]
    advice = {}
    for name in missing:
        usual = [other for other in USUAL_NAMES.get(name, ()) if other in free]
        guess = next(iter(usual or nearest(name, free)), "NAME")
        advice[f"{side}:{name}" if side and guess in USUAL_NAMES else name] = guess
    have = ", ".join(map(table.in_file, table.columns[:20])) or "none"
    lacking = ", and no column ".join(f"'{name}', {purpose}" for name, purpose in missing.items())
    how = f"map another name with {option('columns', advice)}"
    grade = next((column for column in ("outcome", "grade") if column in table.columns), None)
    if grade is not None and "correct" in missing:
        name = table.in_file(grade)
        how = f"rows with their grade (column '{name}') need no gold: {option('judged')}"
    if looks_like_trec(have.encode()):
        how = "judgments and runs of TREC are for `abstain rank`, `compare` and `meta`"
    raise MissingColumnError(f"has no column {lacking} (its columns: {have}); {how}", table.header)


def text_column(
    frame: nw.LazyFrame[Any], column: str, label: str, *, trim: bool = False
) -> nw.Expr:
    """A column as text: whole floats lose their `.0`; what comes typed is trimmed where asked."""
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
    return _time_as_text(frame, column, label) if dtype.is_temporal() else expr.cast(nw.String)


def text_columns(
    frame: nw.LazyFrame[Any], names: Iterable[str], label: str, *, trim: Collection[str] = ()
) -> list[nw.Expr]:
    texts = [text_column(frame, name, label, trim=name in trim).alias(name) for name in names]
    return [*texts, nw.col(ROW)] if ROW in frame.collect_schema().names() else texts


def trimmed(frame: nw.LazyFrame[Any], text: nw.Expr) -> nw.Expr:
    """Text without the white space around it: the same characters in every engine."""
    if frame.implementation.is_polars():
        return text.str.strip_chars()  # the same characters by default, and faster
    stripped = text.str.strip_chars(WHITE_SPACE)
    if not frame.implementation.is_duckdb():
        return stripped
    visible, last = (text >= "!") & (text < "\x7f"), text.str.tail(1)
    # DuckDB strips slowly, and looks at a last letter slowly: most texts need neither
    kept = nw.when(visible & (text.str.len_chars() == 1)).then(text)
    return kept.when(visible & (last >= "!") & (last <= "~")).then(text).otherwise(stripped)


def read_numbers(frame: nw.LazyFrame[Any], column: str, into: str) -> nw.LazyFrame[Any]:
    """The frame with a column of text parsed into the column `into`; what is no number is null."""
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


def differs_by_engine(dtype: Any) -> bool:
    plain = dtype == nw.Date or (isinstance(dtype, nw.Datetime) and dtype.time_zone is None)
    return bool(dtype.is_temporal()) and not plain


def _time_as_text(frame: nw.LazyFrame[Any], column: str, label: str) -> nw.Expr:
    """A date, or a date with its time as SQL writes it: seconds with the digits that it takes."""
    dtype, expr = frame.collect_schema()[column], column_of(frame, column)
    if differs_by_engine(dtype):
        what = "times with a time zone" if isinstance(dtype, nw.Datetime) else f"a {dtype}"
        raise _not_alike(column, what, "every engine", label)
    if dtype == nw.Date or not frame.implementation.is_polars():
        return expr.cast(nw.String)
    return expr.dt.to_string("%Y-%m-%d %H:%M:%S%.9f").str.replace_all(r"\.?0+$", "")


def _number_as_text(frame: nw.LazyFrame[Any], column: str, label: str) -> nw.Expr:
    """Floats as text, cell by cell: 1 for 1.0, the shortest exact digits for others, 1e17, 1e-6."""
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
    odd = frame.select(others.alias("odd")).filter(~nw.col("odd").is_null()).head(1)
    for value in collect(odd, label)["odd"]:
        engine = "Spark" if frame.implementation.is_pyspark() else "DuckDB"
        raise _not_alike(column, f"the number {value!r}", engine, label)


def _not_alike(column: str, what: str, engine: str, label: str) -> InputError:
    how = f"which {engine} writes differently; cast the column to text first"
    return InputError(f"column '{column}' holds {what}, {how}", label)


def is_all_null(frame: nw.LazyFrame[Any], column: str) -> bool:
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        return native.collect_schema()[column] == pl.Null
    if frame.implementation.is_duckdb():
        return str(native.types[native.columns.index(column)]).strip('"') == "NULL"
    return False
