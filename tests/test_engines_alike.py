"""What engines read in ways of their own must come out alike: paths, numbers, blanks, columns."""

from __future__ import annotations

import random
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.io.frames import WHITE_SPACE
from abstain.outcomes import KINDS
from abstain.reading import EngineName
from abstain.runs import counting
from tests.engines import ENGINES, needs, spark
from tests.helpers import Here
from tests.snapshots import refuses, says

GOLD = pl.DataFrame({"question": ["q1", "q2", "q3"], "correct": ["A", "B", "C"]})
RIGHT = pl.DataFrame({"question": ["q1", "q2", "q3"], "answer": ["A", "B", "C"]})
WRONG = RIGHT.with_columns(answer=pl.lit("X"))
OTHERS = ENGINES[1:]


def score(run: Any, engine: EngineName, gold: Any = GOLD, **options: Any) -> Any:
    (row,) = ab.score(gold, run, engine=engine, **options).rows
    return row.counts.right, row.counts.wrong, row.counts.unanswered


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "name",
    ["run[1]", "r*", "r?n1", "[!a]", "{run1,x}", "a b", "a%20b", "a#b", "a\\b", "'x'", "é"],
)
def test_a_path_is_no_pattern(engine: EngineName, name: str, tmp_path: Path) -> None:
    needs(engine)
    WRONG.write_parquet(tmp_path / "run1.parquet")
    WRONG.write_parquet(tmp_path / "a.parquet")
    RIGHT.write_parquet(tmp_path / f"{name}.parquet")
    assert score(tmp_path / f"{name}.parquet", engine) == (3, 0, 0)


@pytest.mark.parametrize("name", ["_run", ".run", "a:b"])
def test_what_spark_passes_over_is_read(name: str, tmp_path: Path) -> None:
    spark()
    RIGHT.write_parquet(tmp_path / f"{name}.parquet")
    assert score(tmp_path / f"{name}.parquet", "spark") == (3, 0, 0)


NUMBERS = [1e-5, -1.25e-5, 9.5e-6, 1e-7, 5e-324, 0.1, 0.30000000000000004, 2.5, 1e15 + 0.5]
NUMBERS += [9.1e15, 1e16, 1e17, -1.5e300, float("inf"), 2.0, -0.0]


def written(value: float) -> str:
    """A number as we write it, made from Python's own shortest digits."""
    if value == int(value) if abs(value) < 1e16 else False:
        return str(int(value))
    text = repr(value).replace("e+", "e").replace("e-0", "e-")
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    if text.endswith("e-5"):
        text = "0.0000" + text.removesuffix("e-5").replace(".", "")
    return sign + text


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_numbers_are_the_same_text(engine: EngineName, tmp_path: Path) -> None:
    """Against a gold of texts, so that no engine is only compared with itself."""
    needs(engine)
    rng = random.Random(3)
    values = NUMBERS + [rng.random() * 10.0 ** rng.randint(-9, 20) for _ in range(3000)]
    gold = pl.DataFrame({"question": range(len(values)), "correct": [written(v) for v in values]})
    run = pl.DataFrame({"question": range(len(values)), "answer": values})
    run.write_parquet(tmp_path / "run.parquet")
    assert score(tmp_path / "run.parquet", engine, gold) == (len(values), 0, 0)


@pytest.mark.parametrize(
    ("engine", "kind"), [("spark", pl.Float64), ("spark", pl.Float32), ("duckdb", pl.Float32)]
)
def test_fractions_that_an_engine_writes_otherwise_are_refused(
    engine: EngineName, kind: Any, tmp_path: Path
) -> None:
    needs(engine)
    gold = pl.DataFrame({"question": [1, 2], "correct": ["1", "0.5"]})
    run = pl.DataFrame({"question": [1.0, 2.0], "answer": pl.Series([1.0, 0.5], dtype=kind)})
    run.write_parquet(tmp_path / "run.parquet")
    with refuses(ab.InputError, "'answer'", "0.5"):
        score(tmp_path / "run.parquet", engine, gold)
    run.with_columns(answer=pl.Series([1.0, None], dtype=kind)).write_parquet(
        tmp_path / "whole.parquet"
    )
    assert score(tmp_path / "whole.parquet", engine, gold) == (1, 0, 1)


def test_short_floats_have_the_limits_of_long_ones(tmp_path: Path) -> None:
    values = pl.Series([1e-6, 2e-5, 0.1, 1e17], dtype=pl.Float32)
    run = pl.DataFrame({"question": [1, 2, 3, 4], "answer": values})
    gold = pl.DataFrame({"question": [1, 2, 3, 4], "correct": ["1e-6", "0.00002", "0.1", "1e17"]})
    assert score(run, "polars", gold) == (4, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_are_the_same_text(engine: EngineName, unit: Any, tmp_path: Path) -> None:
    """Days and times of day may be ids: against a gold of texts."""
    needs(engine)
    if (engine, unit) == ("spark", "ns"):
        pytest.skip("Spark reads no Parquet with nanoseconds")
    moments = [
        datetime(2026, 1, 1),
        datetime(2026, 1, 1, 12, 30, 10, 500_000),
        datetime(1960, 12, 31, 23, 59, 59, 120_000),
    ]
    texts = ["2026-01-01 00:00:00", "2026-01-01 12:30:10.5", "1960-12-31 23:59:59.12"]
    gold = pl.DataFrame({"question": texts, "correct": ["2026-01-01", "2026-01-02", "1960-12-31"]})
    run = pl.DataFrame(
        {
            "question": pl.Series(moments, dtype=pl.Datetime(unit)),
            "answer": [date(2026, 1, 1), date(2026, 1, 2), date(1960, 12, 30)],
        }
    )
    run.write_parquet(tmp_path / "run.parquet")
    assert score(tmp_path / "run.parquet", engine, gold) == (2, 1, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_moments_of_a_time_zone_are_refused(engine: EngineName, tmp_path: Path) -> None:
    needs(engine)
    moments = pl.Series([datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)])
    RIGHT.with_columns(question=moments).write_parquet(tmp_path / "run.parquet")
    said = r"'question' holds times with a time zone, which .*; cast the column to text first"
    with pytest.raises(ab.InputError, match=said):
        score(tmp_path / "run.parquet", engine)
    asked = GOLD.with_columns(asked=moments)  # an attribute is matched with nothing
    RIGHT.write_parquet(tmp_path / "run.parquet")
    assert score(tmp_path / "run.parquet", engine, asked) == (3, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32])
def test_a_nan_is_found_on_a_connection_of_the_caller(kind: Any, tmp_path: Path) -> None:
    """Where statistics, which know of no NaN, let DuckDB leave out its rows."""
    needs("duckdb")
    import duckdb
    import pyarrow.parquet as pq

    sure = pl.Series([0.5, float("nan"), 0.7], dtype=kind)
    pq.write_table(RIGHT.with_columns(confidence=sure).to_arrow(), tmp_path / "run.parquet")
    for relation in (
        duckdb.connect().read_parquet(str(tmp_path / "run.parquet")),
        duckdb.connect().from_arrow(pq.read_table(tmp_path / "run.parquet")),
    ):
        with refuses(ab.InputError, "0", "1"):
            ab.score(GOLD, relation)
        with refuses(ab.InputError, "0", "1"):
            ab.score(GOLD, relation, measures=["AURC"])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_blanks_are_trimmed(engine: EngineName, tmp_path: Path) -> None:
    """All of Unicode's white space, and nothing that only looks empty."""
    needs(engine)
    assert all(c.isspace() for c in WHITE_SPACE)
    others = ["\u200b", "\ufeff", "\x1f", "\u2060"]
    cells_ = [*(f"{c}A{c}" for c in WHITE_SPACE), *(f"A{c}" for c in others)]
    gold = pl.DataFrame({"question": range(len(cells_)), "correct": "A"})
    run = pl.DataFrame({"question": range(len(cells_)), "answer": cells_})
    run.write_parquet(tmp_path / "run.parquet")
    assert score(tmp_path / "run.parquet", engine, gold) == (len(WHITE_SPACE), len(others), 0)
    assert len(WHITE_SPACE) == 25


def test_a_table_of_the_caller_is_left_alone() -> None:
    import duckdb

    connection = duckdb.connect()
    for name in ("small_table", "__unused"):
        connection.execute(f"CREATE TABLE {name} AS SELECT 'q1' AS question, 1 AS __index")
    connection.register("runs", RIGHT.to_arrow())
    (row,) = ab.score(GOLD, connection.table("runs")).rows
    assert row.counts.right == 3
    assert connection.sql("SELECT question FROM __unused").fetchall() == [("q1",)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_confidence_may_be_text(engine: EngineName, tmp_path: Path) -> None:
    needs(engine)
    texts = pl.Series([" 0.5\u00a0", "", None])
    RIGHT.with_columns(confidence=texts).write_parquet(tmp_path / "run.parquet")
    assert score(tmp_path / "run.parquet", engine) == (3, 0, 0)
    for odd in ("high", "0_1", "0.5f", "0x1", "0,5"):
        bad = RIGHT.with_columns(confidence=pl.Series(["0.5", odd, "1"]))
        bad.write_parquet(tmp_path / "run.parquet")
        said = f"row 2: confidence is '{odd}', expected a number from 0 to 1"
        with pytest.raises(ab.InputError, match=re.escape(said)):
            score(tmp_path / "run.parquet", engine)
    bad = RIGHT.with_columns(confidence=pl.Series(["0.5", "1.5e0", "1"]))
    bad.write_parquet(tmp_path / "run.parquet")
    with refuses(ab.InputError, "2", "1.5", "0", "1"):
        score(tmp_path / "run.parquet", engine)


def test_confidence_in_csv_may_be_empty_for_an_engine(tmp_path: Path) -> None:
    needs("duckdb")
    (tmp_path / "run.csv").write_text('question,answer,confidence\nq1,A,0.5\nq2,B,""\nq3,C,1\n')
    assert score(tmp_path / "run.csv", "duckdb") == (3, 0, 0)


@pytest.mark.parametrize("engine", OTHERS)
def test_columns_that_differ_in_case_are_refused(engine: EngineName, tmp_path: Path) -> None:
    needs(engine)
    both = RIGHT.with_columns(Answer=pl.lit("X")).select("question", "Answer", "answer")
    both.write_parquet(tmp_path / "run.parquet")
    assert score(tmp_path / "run.parquet", "polars") == (3, 0, 0)
    with refuses(ab.InputError, "'Answer'", "'answer'", f"{engine}"):
        score(tmp_path / "run.parquet", engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_may_have_the_name_of_an_engines_own(engine: EngineName, tmp_path: Path) -> None:
    needs(engine)
    named = RIGHT.with_columns(file_row_number=pl.lit(1), filename=pl.lit("x"))
    named.write_parquet(tmp_path / "run.parquet")
    assert score(tmp_path / "run.parquet", engine) == (3, 0, 0)
    named.with_columns(question=pl.lit("q9")).write_parquet(tmp_path / "run.parquet")
    with refuses(ab.InputError, "run.parquet", "'q9'"):
        score(tmp_path / "run.parquet", engine)


@pytest.mark.parametrize("bits", [0, 1 << 30])
def test_more_slices_than_are_counted_at_once(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_COUNTS", 3 * KINDS)
    monkeypatch.setattr(counting, "MAX_CELLS", bits)
    gold = GOLD.with_columns(topic=pl.col("question"))
    assert len(ab.score(gold, RIGHT, by=["topic"]).rows) == 3
    with refuses(ab.InputError, "2", "3"):
        ab.score(gold, {"a": RIGHT, "b": WRONG}, by=["topic"])


# -------------------------------------------------------------------------------- rankings


def rank(here: Here, *options: str) -> Any:
    return here("rank", "qrels.txt", "run.txt", "-m", "AP", "--format", "csv", *options)


@pytest.mark.parametrize("engine", OTHERS)
def test_only_what_orders_documents_must_be_read(engine: EngineName, here: Here) -> None:
    needs(engine)
    (here.folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n")
    (here.folder / "run.txt").write_text("1 Q0 a x 2.0 r\n1 Q0 b 2 1.0 r\n")
    there, memory = rank(here, "--engine", engine), rank(here)
    assert there.code == memory.code == 0
    assert there.out == memory.out
    there, memory = (rank(here, "--ties", "rank", *more) for more in (("--engine", engine), ()))
    assert there.code == memory.code == 2
    assert there.err == memory.err
    says(there.err, "run.txt:1", "'x'")
    (here.folder / "run.txt").write_text("1 Q0 a 1 x r\n1 Q0 b 2 1.0 r\n")
    there, memory = (rank(here, "--ties", "rank", *more) for more in (("--engine", engine), ()))
    assert there.code == memory.code == 0
    assert there.out == memory.out
    assert rank(here, "--engine", engine).err == rank(here).err


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (
            {"score": [True, False]},
            ("'score'",),
        ),
        ({"score": ["2", "x"]}, ("'score'",)),
        ({"rank": [1, 2]}, ("'rank'",)),
    ],
)
def test_scores_are_held_to_the_same_standard(
    engine: EngineName, scores: dict[str, Any], said: tuple[str, ...], tmp_path: Path
) -> None:
    needs(engine)
    qrels = pl.DataFrame({"query": ["1"], "doc": ["a"], "rel": [1]})
    pl.DataFrame({"query": ["1", "1"], "doc": ["a", "b"], **scores}).write_parquet(
        tmp_path / "run.parquet"
    )
    for each in ("polars", engine):
        with pytest.raises(ab.InputError) as caught:
            ab.rank(qrels, tmp_path / "run.parquet", measures=["AP"], engine=each)
        says(str(caught.value), *said)


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_documents_may_be_called_by_numbers(engine: EngineName, tmp_path: Path) -> None:
    needs(engine)
    qrels = pl.DataFrame({"query": ["1"], "doc": ["0.00001"], "rel": [1]})
    run = pl.DataFrame({"query": [1.0, 1.0], "doc": [1e17, 1e-5], "score": ["2e0", "3"]})
    run.write_parquet(tmp_path / "run.parquet")
    result = ab.rank(qrels, tmp_path / "run.parquet", measures=["AP"], engine=engine)
    assert result.rows[0].scores["AP"] == 1
