"""The same responses by every way in: frames, file formats, packing, engines. Seeded."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import zstandard

import abstain as ab

pytestmark = pytest.mark.slow

SEEDS = range(6)
TEXTS = ("a", "b", " a ", "", "A", "é", "None", "1", "1.0", "a,b", 'a"b', "x y")


def drawn(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A gold and a run of a few questions, with blanks and missing responses."""
    rng = random.Random(seed)
    ids = [f"q{number}" for number in range(rng.choice((1, 7, 30)))]
    gold = pl.DataFrame(
        {
            "question": ids,
            "correct": [rng.choice(("a", "b", "é")) for _ in ids],
            "topic": [rng.choice(("x", " x", "y", "")) for _ in ids],
        }
    )
    some = rng.sample(ids, max(1, len(ids) - rng.randrange(3)))
    run = pl.DataFrame(
        {
            "question": some,
            "answer": [rng.choice(TEXTS) for _ in some],
            "confidence": [rng.choice((0.0, 0.25, 0.5, 1.0)) for _ in some],
        }
    )
    return gold, run


def by_hand(gold: pl.DataFrame, run: pl.DataFrame) -> tuple[int, int, int]:
    """Right, wrong and unanswered, by a slow and obvious loop."""
    said = dict(zip(run["question"], run["answer"], strict=True))
    right = wrong = 0
    for question, correct in zip(gold["question"], gold["correct"], strict=True):
        answer = said.get(question, "").strip()
        right += answer == correct
        wrong += bool(answer) and answer != correct
    return right, wrong, len(gold) - right - wrong


def file(name: str, write: Callable[[pl.DataFrame, Path], object]) -> Callable[..., Any]:
    def made(frame: pl.DataFrame, folder: Path, stem: str) -> Any:
        path = folder / f"{stem}{name}"
        write(frame, path)
        return path

    return made


def packed(frame: pl.DataFrame, path: Path) -> None:
    path.write_bytes(zstandard.compress(frame.write_csv().encode()))


WAYS: dict[str, Callable[..., Any]] = {
    "polars": lambda frame, *_: frame,
    "lazy polars": lambda frame, *_: frame.lazy(),
    "pandas": lambda frame, *_: frame.to_pandas(),
    "pyarrow": lambda frame, *_: frame.to_arrow(),
    "duckdb": lambda frame, *_: duckdb.from_arrow(frame.to_arrow()),
    "csv": file(".csv", pl.DataFrame.write_csv),
    "tsv": file(".tsv", lambda frame, path: frame.write_csv(path, separator="\t")),
    "jsonl": file(".jsonl", pl.DataFrame.write_ndjson),
    "json": file(".json", pl.DataFrame.write_json),
    "parquet": file(".parquet", pl.DataFrame.write_parquet),
    "packed": file(".csv.zst", packed),
}


def counted(result: Any) -> list[tuple[Any, ...]]:
    return sorted(
        (row.slice.get("topic") or "", row.counts.right, row.counts.wrong, row.counts.unanswered)
        for row in result.rows
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_every_way_in_gives_the_same_counts(seed: int, tmp_path: Path) -> None:
    gold, run = drawn(seed)
    right, wrong, blank = by_hand(gold, run)
    slices = None
    for way, made in WAYS.items():
        engines = ("polars", "duckdb") if way in ("csv", "jsonl", "parquet") else ("polars",)
        given = made(gold, tmp_path, "gold")
        if way == "duckdb":
            given = gold
        for engine in engines:
            named: Any = {} if engine == "polars" else {"engine": engine}
            own = made(run, tmp_path, "run")
            read = ab.read(given, {"run": own}, **named)
            assert counted(read.score()) == [("", right, wrong, blank)], (way, engine)
            found = counted(read.score(by="topic"))
            slices = slices or found
            assert found == slices, (way, engine)
