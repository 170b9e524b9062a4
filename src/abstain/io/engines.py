"""Engines that read and count: polars, DuckDB and Spark, the latter two imported when needed."""

from __future__ import annotations

import functools
import importlib.util
import logging
import re
import shutil
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, option, reason_of, shown
from abstain.io.files import read_errors
from abstain.io.tables import ROW, Table
from abstain.reading import Reading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DUCKDB_ROW = "file_row_number"
ODD_PATH = re.compile(r"(^|/)[_.][^/]*$|[*?\[\]{}\\:]")
"""What engines pass over or take for a pattern: the rows of such a file are handed over."""


def moved(table: Table, reading: Reading) -> Table:
    engine = reading.engine or "polars"
    if engine == "polars" or table.opened is None or not isinstance(table.frame, pl.LazyFrame):
        return table
    times = Counter(map(str.lower, table.columns))
    if alike := [shown(name) for name in table.columns if times[name.lower()] > 1]:
        what = f"columns {' and '.join(alike)} are the same to {engine}"
        raise InputError(f"{what}, which ignores case; rename one, or use polars", table.name)
    frame = _in_duckdb(table) if engine == "duckdb" else _in_spark(table, reading.master)
    return replace(table, frame=frame)


def _parquet(table: Table) -> Path | None:
    if table.format != "parquet" or table.opened is None:
        return None
    path = table.opened.plain_path
    return None if path is None or ODD_PATH.search(str(path.absolute())) else path


def _needed(package: str, extra: str) -> None:
    if importlib.util.find_spec(package) is None:
        how = f"pip install 'abstain[{extra}]'"
        raise UsageError(f"{option('engine', extra)} needs {package}: {how}")


@functools.cache
def _connection() -> Any:
    """One connection for all files, so that their rows can be put together."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    # The statistics of a Parquet file know of no NaN, and DuckDB believes them: isnan() is false.
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    return connection


def _in_duckdb(table: Table) -> Any:
    for package in ("duckdb", "pyarrow"):
        _needed(package, "duckdb")
    file = _parquet(table)
    if file is None:
        return _connection().from_arrow(table.frame.collect().to_arrow())
    # Without a number for its rows where a column has the name that DuckDB would give it.
    numbered = DUCKDB_ROW not in map(str.lower, table.columns)
    with read_errors(table.name, engine=True):
        relation = _connection().read_parquet([str(file)], file_row_number=numbered)
    row = [f"{DUCKDB_ROW} AS {ROW}"] if numbered else []
    return relation.project(", ".join([*map(quoted, table.columns), *row]))


def with_every_nan(relation: Any) -> Any:
    """A relation whose floats stand behind CASE: by its statistics DuckDB would find no NaN."""
    kinds = zip(relation.columns, relation.types, strict=True)
    floats = [quoted(name) for name, kind in kinds if str(kind) in ("DOUBLE", "FLOAT")]
    same = ", ".join(f"CASE WHEN {c} IS NULL THEN NULL ELSE {c} END AS {c}" for c in floats)
    return relation.project(f"* REPLACE ({same})") if floats else relation


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def to_duckdb(small: pl.DataFrame, relation: Any) -> Any:
    # A relation does not tell its connection, but a query on it runs there and sees Python's
    # variables; tables of the caller come before those, so nothing of theirs may have the name.
    small_table_of_abstain_6b1d0f52 = small.to_arrow()  # noqa: F841
    return relation.query(
        "unused_view_of_abstain_6b1d0f52", "SELECT * FROM small_table_of_abstain_6b1d0f52"
    )


def to_spark(small: pl.DataFrame, session: SparkSession) -> Any:
    from pyspark.sql.functions import broadcast

    return broadcast(_spark_frame(small, session))


def _spark_frame(frame: pl.DataFrame, session: SparkSession) -> Any:
    unsigned = pl.selectors.by_dtype(pl.UInt8, pl.UInt16, pl.UInt32)  # which Spark does not know
    signed = frame.with_columns(unsigned.cast(pl.Int64))
    return session.createDataFrame(signed.to_arrow(compat_level=pl.CompatLevel.oldest()))


def spark_session(master: str | None = None) -> SparkSession:
    _needed("pyspark", "spark")
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        at = running.sparkContext.master
        if master not in (None, at):
            raise UsageError(f"a Spark session is running at {at}, not at {master}")
        return running
    master = master or "local[*]"
    if master.startswith("local") and shutil.which("java") is None:
        raise UsageError(f"{option('engine', 'spark')} needs Java 17 or newer")
    logging.getLogger("py4j").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    try:
        builder = SparkSession.builder.master(master).appName("abstain")
        session = builder.config(map=SETTINGS).getOrCreate()
    except Exception as error:
        raise UsageError(f"there is no Spark at {master}: {reason_of(error)}") from None
    session.sparkContext.setLogLevel("OFF")
    return session


SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.pyspark.python": sys.executable,
}


def _in_spark(table: Table, master: str | None) -> Any:
    session = spark_session(master)
    path = _parquet(table)
    if path is None:
        return _spark_frame(table.frame.collect(), session)
    from pyspark.sql.functions import col

    with read_errors(table.name, engine=True):
        frame = session.read.parquet(f"file:{path.absolute()}")
        names = [col(f"`{name.replace('`', '``')}`") for name in table.columns]
        return frame.select(*names, col("_metadata.row_index").cast("long").alias(ROW))
