"""The engines that are there to be tested."""

from __future__ import annotations

import functools
import importlib.util
import shutil
from typing import Any

import pytest

ENGINES = ("polars", "duckdb", "spark")


def needs(engine: str) -> None:
    """Skip where an engine is not installed, saying what is missing; start Spark if it is meant."""
    if engine == "spark":
        spark()
    elif engine == "duckdb":
        pytest.importorskip("duckdb")


@functools.cache
def _why_no_spark() -> str:
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: make test-spark installs it"
    if shutil.which("java") is None:
        return "Spark needs Java 17 and there is no java"
    return ""


def spark() -> Any:
    """A Spark session on this machine, small and quiet; the one for all tests of a process."""
    if reason := _why_no_spark():
        pytest.skip(reason)
    from abstain.io.engines import spark_session

    session = spark_session("local[2]")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return session
