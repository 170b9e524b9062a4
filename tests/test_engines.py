"""The same numbers from every engine: counts, refusals, and where they were found."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.cli import run
from abstain.outcomes import OUTCOMES
from abstain.reading import EngineName
from abstain.runs import counting
from tests.engines import ENGINES, needs
from tests.helpers import Here
from tests.snapshots import refuses, says

QUESTIONS = 40


def random_runs(seed: int, runs: int = 4) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A gold and responses of every kind, some of them missing, in no order."""
    rng = np.random.default_rng(seed)
    gold = pl.DataFrame(
        {
            "question": [f"q{i}" for i in range(QUESTIONS)],
            "correct": [("a", "b", "a|c", "")[i] for i in rng.integers(0, 4, QUESTIONS)],
            "topic": [("x", "y", None)[i] for i in rng.integers(0, 3, QUESTIONS)],
        }
    )
    size = runs * QUESTIONS
    words = np.array(["a", "b", "c", "none", "", None], dtype=object)
    answer = words[rng.integers(0, 6, size)]
    blank = np.array([a in ("", None) for a in answer])
    table = pl.DataFrame(
        {
            "run": np.repeat([f"r{i}" for i in range(runs)], QUESTIONS),
            "question": gold["question"].to_list() * runs,
            "answer": pl.Series(answer.tolist(), dtype=pl.String),
            "candidate": pl.Series(
                [
                    w if b else None
                    for w, b in zip(words[rng.integers(0, 6, size)], blank, strict=True)
                ],
                dtype=pl.String,
            ),
            "why": pl.Series(
                [
                    ("declined", "unparseable", None)[i] if b else None
                    for i, b in zip(rng.integers(0, 3, size), blank, strict=True)
                ],
                dtype=pl.String,
            ),
            "confidence": np.round(rng.random(size), 2),
        }
    )
    kept = rng.permutation(size)[: int(size * rng.uniform(0.5, 1))]
    return gold, table[kept.tolist()]


def slow_counts(gold: pl.DataFrame, table: pl.DataFrame) -> dict[tuple[str, Any], list[int]]:
    """Right, wrong, and blanks by candidate, counted response by response."""
    facts = {row["question"]: row for row in gold.iter_rows(named=True)}
    counts = {
        (run, topic): [0] * 5 for run in table["run"].unique() for topic in gold["topic"].unique()
    }
    seen = set()
    for row in table.iter_rows(named=True):
        fact = facts[row["question"]]
        seen.add((row["run"], row["question"]))
        accepted = fact["correct"].split("|") if fact["correct"] else ["none"]
        if row["answer"]:
            outcome = 0 if row["answer"] in accepted else 1
        elif row["why"] == "unparseable":
            outcome = 1
        elif row["candidate"]:
            outcome = 2 if row["candidate"] in accepted else 3
        else:
            outcome = 4
        counts[row["run"], fact["topic"]][outcome] += 1
    for name in table["run"].unique():
        for question, fact in facts.items():
            if (name, question) not in seen:
                counts[name, fact["topic"]][4] += 1
    return counts


def found(result: ab.ScoreResult) -> dict[tuple[str, Any], list[float]]:
    return {
        (row.run, row.slice["topic"]): [row.counts.to_dict()[name] or 0 for name in OUTCOMES]
        for row in result.rows
    }


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(2))
def test_every_engine_counts_what_a_loop_counts(
    engine: EngineName, seed: int, tmp_path: Path
) -> None:
    needs(engine)
    gold, table = random_runs(seed)
    table.write_parquet(tmp_path / "runs.parquet", row_group_size=17)
    result = ab.score(gold, tmp_path / "runs.parquet", by=["topic"], engine=engine)
    assert found(result) == slow_counts(gold, table)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), batch=st.integers(1, 200), bits=st.sampled_from([0, 1 << 30])
)
def test_the_size_of_a_batch_changes_nothing(seed: int, batch: int, bits: int) -> None:
    gold, table = random_runs(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BATCH", batch)
        patch.setattr(counting, "MAX_CELLS", bits)
        assert found(ab.score(gold, table.lazy(), by=["topic"])) == slow_counts(gold, table)


@pytest.mark.parametrize("engine", ENGINES)
def test_judged_rows_count_the_same(engine: EngineName, tmp_path: Path) -> None:
    needs(engine)
    rows = pl.DataFrame(
        {
            "run": ["a", "a", "b"],
            "question": [1, 2, 1],
            "grade": ["correct", None, "incorrect"],
            "topic": ["x", None, "x"],
        }
    )
    rows.write_parquet(tmp_path / "rows.parquet")
    result = ab.read_judged(tmp_path / "rows.parquet", engine=engine).score(by=["topic"])
    assert {(row.run, *row.slice.values()): row.counts for row in result.rows} == {
        ("a", "x"): ab.Counts(right=1),
        ("a", None): ab.Counts(unsplit=1),
        ("b", "x"): ab.Counts(wrong=1),
        ("b", None): ab.Counts(unsplit=1),
    }


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": "q77"}, ("runs.parquet", "8", "'q77'")),
        ({"confidence": 1.5}, ("runs.parquet", "8", "1.5", "0", "1")),
        ({"confidence": float("nan")}, ("8", "0", "1")),
        ({"run": "r0", "question": "q3"}, ("8", "'r0'", "'q3'")),
    ],
)
def test_every_engine_refuses_with_the_row(
    engine: EngineName, change: dict[str, Any], said: tuple[str, ...], tmp_path: Path
) -> None:
    needs(engine)
    gold, _ = random_runs(0)
    table = pl.DataFrame(
        {
            "run": ["r0"] * 20 + ["r1"] * 20,
            "question": [f"q{i}" for i in range(20)] * 2,
            "answer": ["a"] * 40,
            "confidence": [0.5] * 40,
        }
    )
    rows = table.to_dicts()
    rows[7] |= change
    pl.DataFrame(rows).write_parquet(tmp_path / "runs.parquet", row_group_size=5)
    with pytest.raises(ab.InputError) as caught:
        ab.score(gold, tmp_path / "runs.parquet", engine=engine)
    says(str(caught.value), *said)
    assert "more" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_may_be_spread_over_files(engine: EngineName, tmp_path: Path) -> None:
    """As traffic is: a file a day, of different columns, the same systems in each."""
    needs(engine)
    gold, table = random_runs(3)
    days = [table[::2], table[1::2].select("confidence", "candidate", "answer", "question", "run")]
    days[1] = days[1].filter(table[1::2]["why"].is_null())
    for day, rows in zip("ab", days, strict=True):
        rows.write_parquet(tmp_path / f"{day}.parquet")
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    whole = pl.concat(days, how="diagonal")
    assert found(ab.score(gold, files, by=["topic"], engine=engine)) == slow_counts(gold, whole)
    days[1][:1].vstack(days[1]).write_parquet(tmp_path / "b.parquet")
    with refuses(ab.InputError, "b.parquet", "2"):
        ab.score(gold, files, engine=engine)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), bits=st.sampled_from([0, 1 << 20]))
def test_duckdb_counts_by_itself_what_batches_count(seed: int, bits: int) -> None:
    needs("duckdb")
    gold, table = random_runs(seed)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(counting, "MOST_BITS", bits)
        counted_there: list[Any] = []
        count = watched(counting.count_in_duckdb, counted_there)
        patch.setattr(counting, "count_in_duckdb", count)
        table.write_parquet(f"{folder}/runs.parquet", row_group_size=17)
        result = ab.score(gold, f"{folder}/runs.parquet", by=["topic"], engine="duckdb")
    assert found(result) == slow_counts(gold, table)
    assert len(counted_there) == (1 if bits else 0)


def watched(function: Any, calls: list[Any]) -> Any:
    """A function that leaves a mark when it is called."""

    def call(*given: Any) -> Any:
        calls.append(given)
        return function(*given)

    return call


@pytest.mark.slow
@pytest.mark.parametrize("bits", [0, 1 << 20])
@pytest.mark.parametrize("by", [(), ("topic",)])
def test_repeats_are_counted_in_duckdb(
    bits: int, by: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the same question is once right and once wrong."""
    needs("duckdb")
    monkeypatch.setattr(counting, "MOST_BITS", bits)
    gold, _ = random_runs(0)
    once = pl.DataFrame({"run": "r", "question": gold["question"], "answer": "a"})
    others = once.with_columns(run=pl.lit("s")), once.with_columns(answer=pl.lit("b"))
    pl.concat([others[0], once, once, others[1].head(5)]).write_parquet(tmp_path / "runs.parquet")
    with refuses(ab.InputError, "'r'", "'q0'", "44"):
        ab.score(gold, tmp_path / "runs.parquet", by=by, engine="duckdb")


def test_repeats_are_counted_over_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BATCH", 7)
    gold, _ = random_runs(0)
    once = pl.DataFrame({"run": "r", "question": gold["question"], "answer": "a"})
    other = once.with_columns(run=pl.lit("s"))
    thrice = pl.concat([other, once, once, once.head(5)])
    with refuses(ab.InputError, "'r'", "'q0'", "44"):
        ab.score(gold, thrice.lazy())


def test_text_files_are_handed_to_an_engine(tmp_path: Path) -> None:
    needs("duckdb")
    gold, table = random_runs(5)
    table.write_csv(tmp_path / "runs.csv")
    result = ab.score(gold, tmp_path / "runs.csv", by=["topic"], engine="duckdb")
    assert found(result) == slow_counts(gold, table)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "duck"], ("--engine", "'duck'")),
        (["--engine", "duckdb", "--master", "local"], ("--master", "--engine")),
    ],
)
def test_engines_that_are_not(
    options: list[str], said: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, table = random_runs(0)
    gold.write_csv(tmp_path / "gold.csv")
    table.write_csv(tmp_path / "runs.csv")
    assert run(["score", str(tmp_path / "gold.csv"), str(tmp_path / "runs.csv"), *options]) == 2
    says(capsys.readouterr().err, *said)


def test_an_engine_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    gold, table = random_runs(0)
    table.write_parquet(tmp_path / "runs.parquet")
    for engine in ("duckdb", "spark"):
        with pytest.raises(ab.UsageError, match=rf"pip install 'abstain\[{engine}\]'"):
            ab.score(gold, tmp_path / "runs.parquet", engine=engine)


def plain(data: Any) -> Any:
    """A result without how its input was read, wherever it says so."""
    if isinstance(data, dict):
        return {name: plain(own) for name, own in data.items() if name != "reading"}
    return [plain(own) for own in data] if isinstance(data, (list, tuple)) else data


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES[1:])
def test_a_campaign_is_the_same_from_every_engine(engine: EngineName, tmp_path: Path) -> None:
    from tests.campaign.asked import overview

    needs(engine)
    gold, table = random_runs(7)
    one, two = table.filter(run="r0"), table.filter(pl.col("run") != "r0")
    one.write_parquet(tmp_path / "one.parquet")
    two.write_parquet(tmp_path / "two.parquet")
    files = [tmp_path / "two.parquet", tmp_path / "one.parquet"]
    expected = overview(gold, files)
    result = overview(gold, files, engine=engine)
    assert result.runs == expected.runs
    assert sorted(expected.runs) == ["r0", "r1", "r2", "r3"]
    told, other = (plain(own.result.to_dict()) for own in (result, expected))
    assert told == other
    assert result.result.questions.choices == expected.result.questions.choices
    counted = slow_counts(gold, table)
    names = result.slices["topic"].names
    for i, name in enumerate(result.runs):
        for j, topic in enumerate(names):
            assert result.sliced["topic"].table[i, j, :5].tolist() == counted[name, topic]


def test_spark_on_the_command_line(here: Here) -> None:
    from abstain.io.engines import spark_session

    needs("spark")
    gold, table = random_runs(1)
    gold.write_parquet(here.folder / "gold.parquet")
    table.write_parquet(here.folder / "runs.parquet")
    shared = ("score", "gold.parquet", "runs.parquet", "--by", "topic", "--format", "json")
    there, memory = here(*shared, "--engine", "spark"), here(*shared)
    assert there.code == memory.code == 0
    found, expected = json.loads(there.out), json.loads(memory.out)
    assert found.pop("command") == expected.pop("command") + " --engine spark"
    assert (found.pop("reading"), expected.pop("reading")) == ({"engine": "spark"}, {})
    assert found == expected
    with refuses(ab.UsageError, "2", "7"):
        spark_session("local[7]")
