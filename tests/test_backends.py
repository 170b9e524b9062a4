"""The same counts whatever the responses come in: one test over all backends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import abstain as ab
from abstain.reading import Match
from tests.helpers import counts_of
from tests.snapshots import refuses, says

GOLD: dict[str, list[Any]] = {
    "question": [1, 2, 3, 4, 5, 6],
    "correct": ["a", "b|bb", "c", "d", "e", ""],
    "topic": ["x", "x", "y", None, "y", "x"],
}
RUNS: dict[str, list[Any]] = {
    "run": ["one"] * 6 + ["two"] * 4,
    "question": [1, 2, 3, 4, 5, 6, 1, 2, 3, 5],
    "answer": ["a", "bb", None, "x", "", "none", "z", "b", "c", ""],
    "answered": ["yes", None, "no", None, None, None, None, None, "no", None],
    "candidate": [None, None, "c", None, "q", None, None, None, None, None],
    "confidence": [0.5, 1.0, None, 0.0, 0.25, 0.125, 0.5, 0.5, 0.5, None],
    "why": [None, None, None, None, None, None, None, None, None, "unparseable"],
}
# one: 1 right, 2 right, 3 declined with the right candidate, 4 wrong, 5 blank with a wrong
#      candidate, 6 ("none", where nothing is right) right.
# two: 1 wrong, 2 right, 3 not answered but right, 5 unparseable so wrong, 4 and 6 missing.
EXPECTED = {"one": (3, 1, 1, 1, 0), "two": (1, 2, 1, 0, 2)}
EXPECTED_BY = {
    ("one", "x"): (3, 0, 0, 0, 0),
    ("one", "y"): (0, 0, 1, 1, 0),
    ("one", None): (0, 1, 0, 0, 0),
    ("two", "x"): (1, 1, 0, 0, 1),
    ("two", "y"): (0, 1, 1, 0, 0),
    ("two", None): (0, 0, 0, 0, 1),
}

CONNECTION = duckdb.connect()
Maker = Callable[[dict[str, list[Any]], Path], Any]


def in_duckdb(columns: dict[str, list[Any]], connection: Any) -> Any:
    table = pl.DataFrame(columns).to_arrow()
    return connection.from_arrow(table)


def written(columns: dict[str, list[Any]], folder: Path, ending: str) -> Path:
    frame = pl.DataFrame(columns)
    path = folder / f"{'runs' if 'run' in columns else 'gold'}.{ending}"
    if ending == "csv":
        frame.write_csv(path)
    elif ending == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    return path


def pandas_floats(columns: dict[str, list[Any]], _: Path) -> pd.DataFrame:
    """As a missing value leaves them: ids became floats, 3.0 is question 3."""
    return pd.DataFrame(columns).astype({"question": "float64"})


def pandas_mixed(columns: dict[str, list[Any]], _: Path) -> pd.DataFrame:
    """A column of objects: numbers and texts together."""
    frame = pd.DataFrame(columns)
    mixed = [str(v) if i % 2 else v for i, v in enumerate(columns["question"])]
    return frame.assign(question=pd.Series(mixed, dtype=object))


MAKERS: dict[str, Maker] = {
    "polars": lambda columns, _: pl.DataFrame(columns),
    "polars lazy": lambda columns, _: pl.LazyFrame(columns),
    "polars categorical": lambda columns, _: pl.DataFrame(columns).with_columns(
        pl.col(pl.String).cast(pl.Categorical)
    ),
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "pandas float ids": pandas_floats,
    "pandas mixed ids": pandas_mixed,
    "pyarrow": lambda columns, _: pl.DataFrame(columns).to_arrow(),
    "duckdb": lambda columns, _: in_duckdb(columns, duckdb),
    "duckdb own connection": lambda columns, _: in_duckdb(columns, CONNECTION),
    "csv": lambda columns, folder: written(columns, folder, "csv"),
    "jsonl": lambda columns, folder: written(columns, folder, "jsonl"),
    "parquet": lambda columns, folder: written(columns, folder, "parquet"),
}


def numbers(k: ab.Counts) -> tuple[float, ...]:
    return k.right, k.wrong, k.unanswered_right, k.unanswered_wrong, k.unanswered_empty


@pytest.mark.slow
@pytest.mark.parametrize("backend", MAKERS)
@pytest.mark.parametrize("match", ["id", "text"])
def test_same_counts(backend: str, match: Match, tmp_path: Path) -> None:
    gold, runs = MAKERS[backend](GOLD, tmp_path), MAKERS[backend](RUNS, tmp_path)
    result = ab.score(gold, runs, match=match)
    assert {row.run: numbers(row.counts) for row in result.rows} == EXPECTED
    assert result.touched == {"declined": 2, "empty": 1, "unparseable": 1, "missing": 2}
    assert all(type(v) is int for row in result.rows for v in numbers(row.counts))


@pytest.mark.slow
@pytest.mark.parametrize("backend", MAKERS)
def test_same_slices(backend: str, tmp_path: Path) -> None:
    gold, runs = MAKERS[backend](GOLD, tmp_path), MAKERS[backend](RUNS, tmp_path)
    result = ab.score(gold, runs, by=["topic"])
    found = {(row.run, row.slice["topic"]): numbers(row.counts) for row in result.rows}
    assert found == EXPECTED_BY


@pytest.mark.slow
@pytest.mark.parametrize("backend", MAKERS)
def test_same_grades(backend: str, tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "run": ["a", "a", "b"],
        "question": [1, 2, 1],
        "grade": ["correct", None, "incorrect"],
        "topic": ["x", None, "x"],
    }
    result = ab.read_judged(MAKERS[backend](columns, tmp_path)).score(by=["topic"])
    found = {(row.run, row.slice["topic"]): row.counts for row in result.rows}
    assert {key: (k.right, k.wrong, k.unsplit) for key, k in found.items()} == {
        ("a", "x"): (1, 0, 0),
        ("a", None): (0, 0, 1),  # whether a candidate was right is not known
        ("b", "x"): (0, 1, 0),
        ("b", None): (0, 0, 1),
    }
    assert {sum(numbers(k)) + k.unsplit for k in found.values()} == {1}


@pytest.mark.slow
@pytest.mark.parametrize("backend", MAKERS)
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("question", 7, ("'7'",)),
        ("question", 2, ("'2'",)),
        ("confidence", 1.5, ("1.5", "0", "1")),
        ("why", "lazy", ("'why'", "'lazy'")),
        ("candidate", "z", ()),
    ],
)
def test_same_refusals(
    backend: str, column: str, value: Any, said: tuple[str, ...], tmp_path: Path
) -> None:
    bad = {**RUNS, column: [value, *RUNS[column][1:]]}
    if column == "why":
        bad["answer"], bad["answered"] = ["", *RUNS["answer"][1:]], [None, *RUNS["answered"][1:]]
    if column == "candidate":
        bad["answer"] = ["a", *RUNS["answer"][1:]]
    with pytest.raises(ab.InputError) as caught:
        ab.score(MAKERS[backend](GOLD, tmp_path), MAKERS[backend](bad, tmp_path))
    says(str(caught.value), *said)


@pytest.mark.slow
def test_backends_together(tmp_path: Path) -> None:
    one = {
        k: [v for v, run in zip(vs, RUNS["run"], strict=True) if run == "one"]
        for k, vs in RUNS.items()
    }
    two = {
        k: [v for v, run in zip(vs, RUNS["run"], strict=True) if run == "two"]
        for k, vs in RUNS.items()
    }
    result = ab.score(
        pd.DataFrame(GOLD), [in_duckdb(one, duckdb), pl.LazyFrame(two)], measures=["c@1"]
    )
    assert {row.run: numbers(row.counts) for row in result.rows} == EXPECTED
    with refuses(ab.UsageError, "'one'"):
        ab.score(pl.DataFrame(GOLD), [in_duckdb(one, duckdb), pl.LazyFrame(one)])


def test_frames_without_run_names() -> None:
    plain = {k: v for k, v in RUNS.items() if k != "run"}
    frame = pl.DataFrame(plain).head(6)
    result = ab.score(pl.DataFrame(GOLD), {"mine": frame, "yours": frame.head(3)})
    assert {row.run for row in result.rows} == {"mine", "yours"}
    unnamed = ab.score(pl.DataFrame(GOLD), [frame, frame.head(3)])
    assert {row.run for row in unnamed.rows} == {"run 1", "run 2"}


@pytest.mark.parametrize("kind", ["polars", "polars lazy", "duckdb"])
def test_a_frame_without_rows_is_refused(kind: str, tmp_path: Path) -> None:
    none = pl.DataFrame(schema={"question": pl.String, "answer": pl.String})
    frame = {
        "polars": none,
        "polars lazy": none.lazy(),
        "duckdb": duckdb.from_arrow(none.to_arrow()),
    }
    with pytest.raises(ab.InputError, match="has no rows"):
        ab.score(pl.DataFrame(GOLD), frame[kind])
    with pytest.raises(ab.InputError, match="has no rows"):
        ab.score(pl.DataFrame(GOLD), [pl.DataFrame(RUNS), frame[kind]])


@pytest.mark.parametrize("in_batches", [True, False])
def test_a_relation_is_counted_by_its_own_engine(
    in_batches: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing longer than the counts (or the gold, or a batch) is brought over from duckdb."""
    import abstain.runs.counting as tally_module
    import abstain.runs.gold as gold_module

    monkeypatch.setattr(tally_module, "BATCH", 2048)
    batches: list[int] = []
    batches_of = tally_module.native_batches

    def watched_batches(*given: Any) -> Any:
        for batch in batches_of(*given):
            batches.append(batch.height)
            yield batch

    monkeypatch.setattr(tally_module, "native_batches", watched_batches)
    if not in_batches:  # as where there are too many runs × questions to remember
        monkeypatch.setattr(tally_module, "MAX_CELLS", 5_000)
    heights: list[int] = []
    original = gold_module.collect  # type: ignore[attr-defined]

    def watched(frame: Any, label: str) -> pl.DataFrame:
        result = original(frame, label)
        heights.append(result.height)
        return result

    for module in (gold_module, tally_module):
        monkeypatch.setattr(module, "collect", watched)
    n = 20_000
    relation = duckdb.sql(
        f"select 'r' || (i % 2) as run, i // 2 as question, "
        f"case when i % 6 < 2 then 'a' when i % 6 < 4 then 'b' end as answer from range({n}) t(i)"
    )
    gold = pl.DataFrame({"question": range(n // 2), "correct": "a", "topic": "x"})
    result = ab.score(gold, relation, by=["topic"])
    expected = ab.Counts(3334, 3333, unsplit=3333)
    assert {row.run: row.counts for row in result.rows} == {"r0": expected, "r1": expected}
    *small, gold_height = sorted(heights)
    if in_batches:
        assert not small
        assert len(batches) >= n // 2048
        assert max(batches) <= 2048
    else:
        assert len(small) >= 2
        assert max(small) <= 10
        assert len(batches) == 1, "the first batch says that there is too much"
    assert gold_height == n // 2, "the gold is the only large thing that is held"


@pytest.mark.parametrize("data", [3, {"question": [1]}, [1, 2], None])
def test_what_is_no_table_is_refused(data: Any) -> None:
    with pytest.raises(ab.UsageError, match="expected a path or a dataframe"):
        ab.score(data, pl.DataFrame(RUNS))


def test_result_as_a_frame() -> None:
    result = ab.score(pl.DataFrame(GOLD), pl.DataFrame(RUNS), by=["topic"], measures=["precision"])
    frame = result.to_frame()
    assert frame.columns == [
        *("rank", "run", "topic", "precision", "right", "wrong", "blank"),
        *("unanswered_right", "unanswered_wrong", "unanswered_empty"),
    ]
    assert frame.height == 6
    blank = frame.filter(pl.col("run") == "two", pl.col("topic").is_null())
    assert blank["precision"].to_list() == [None]
    assert frame.schema["right"] == pl.Int64


@pytest.mark.slow
@pytest.mark.parametrize("backend", MAKERS)
def test_a_number_reads_the_same_in_every_column(backend: str, tmp_path: Path) -> None:
    gold: dict[str, list[Any]] = {
        "question": [1.0, 2.0, 3.5, 4.0],
        "correct": [1.0, 2.5, -3.0, 4.0],
    }
    runs: dict[str, list[Any]] = {
        "run": ["r"] * 4,
        "question": [1.0, 2.0, 3.5, 4.0],
        "answer": [1.0, 3.0, -3.0, None],
    }
    result = ab.score(MAKERS[backend](gold, tmp_path), MAKERS[backend](runs, tmp_path))
    assert counts_of(result)["r"] == (2, 1, 0, 0, 1)


def test_numbers_beside_texts_and_whole_numbers_are_the_same_numbers(tmp_path: Path) -> None:
    gold, run = tmp_path / "gold.jsonl", tmp_path / "run.jsonl"
    gold.write_text(
        '{"question": 1, "correct": 2.0}\n{"question": 2, "correct": [3.0, "three"]}\n'
        '{"question": 3.0, "correct": 2.5}\n'
    )
    run.write_text(
        '{"question": 1.0, "answer": 2}\n{"question": "2", "answer": "3"}\n'
        '{"question": 3, "answer": 2.50}\n'
    )
    assert counts_of(ab.score(gold, run))["run"] == (3, 0, 0, 0, 0)


def test_numbers_of_a_frame_meet_texts_of_a_file(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("question,correct\na,1\nb,2.5\nc,1e300\n")
    run = pl.DataFrame({"question": ["a", "b", "c"], "answer": [1.0, 2.5, float("inf")]})
    assert counts_of(ab.score(gold, run))["run"] == (2, 1, 0, 0, 0)
