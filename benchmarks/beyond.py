"""Counting more responses than fit in memory: `abstain score` against its engines' bare queries.

    python benchmarks/beyond.py [--questions 1000000] [--runs 200] [--repeat 3] [--folder DIR]
                                [--engine polars] [--engine duckdb]

Makes a Parquet file (200 million responses, about 560 MB, in a folder that is removed, or in DIR,
which keeps it) and counts it by run and topic. The bare query joins, groups and counts what is
right, blank and all; abstain also checks every row (unknown and repeated questions, confidence),
applies a policy and scores. Each is a process of its own, started in turn, so that imports, time
and peak memory are whole and fair. With every engine that is asked for it must need at most 1.5
times as long and less than 2 GB; else the script ends with 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

MOST_TIMES, MOST_MEMORY = 1.5, 2000.0
ROW_GROUP = 250_000

BARE = {
    "polars": """
import polars as pl
runs, gold = pl.scan_parquet({runs!r}), pl.scan_parquet({gold!r})
answer = pl.col("answer")
counts = runs.join(gold, on="question", how="left").group_by("run", "topic").agg(
    right=(answer == pl.col("correct")).sum(), blank=answer.is_null().sum(), n=pl.len()
).collect(engine="streaming")
assert counts["n"].sum() == {size}
print(counts["right"].sum(), counts["blank"].sum())
""",
    "duckdb": """
import duckdb
counts = duckdb.sql('''
    select run, topic, count(*) filter (answer = correct), count(*) filter (answer is null),
           count(*)
    from read_parquet({runs!r}) left join read_parquet({gold!r}) using (question)
    group by run, topic
''').fetchall()
assert sum(row[4] for row in counts) == {size}
print(sum(row[2] for row in counts), sum(row[3] for row in counts))
""",
}

ABSTAIN = """
import abstain as ab
result = ab.score({gold!r}, {runs!r}, by=["topic"], measures=["c@1"], engine={engine!r})
assert sum(row.counts.n for row in result.rows) == {size}
print(sum(row.counts.right for row in result.rows),
      sum(row.counts.unanswered for row in result.rows))
"""

MEASURE = """
import resource, time
start = time.perf_counter()
{body}
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
peak = next(int(x.split()[1]) for x in open("/proc/self/status") if x.startswith("VmHWM"))
print(wall, used.ru_utime + used.ru_stime, peak / 1000)
"""


def make(folder: Path, questions: int, runs: int) -> tuple[str, str]:
    """A gold and the responses of all runs, written run by run."""
    import numpy as np
    import polars as pl
    import pyarrow.parquet as pq

    gold_path, runs_path = folder / "gold.parquet", folder / "runs.parquet"
    rng = np.random.default_rng(0)
    ids = pl.Series("question", [f"q{i:07d}" for i in range(questions)])
    gold = {
        "question": ids,
        "correct": pl.Series(rng.integers(1, 6, questions)).cast(pl.String),
        "topic": pl.Series(rng.integers(0, 20, questions)).cast(pl.String),
    }
    pl.DataFrame(gold).write_parquet(gold_path)
    writer = None
    for number in range(runs):
        blank = pl.Series(rng.random(questions) < 0.15)
        answer = pl.Series(rng.integers(1, 6, questions)).cast(pl.String)
        columns = {
            "run": pl.repeat(f"run{number:04d}", questions, eager=True),
            "question": ids,
            "answer": answer.set(blank, None),
            "confidence": np.round(rng.random(questions), 3),
        }
        table = pl.DataFrame(columns).to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or pq.ParquetWriter(runs_path, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=ROW_GROUP)
    assert writer is not None
    writer.close()
    return str(gold_path), str(runs_path)


def check_size(runs: str, size: int) -> None:
    """Refuse a file that was made for other numbers of questions and runs."""
    import polars as pl

    rows = pl.scan_parquet(runs).select(pl.len()).collect().item()
    if rows != size:
        sys.exit(
            f"{runs} holds {rows:,} responses, not {size:,}: say its --questions and --runs, or "
            "name another --folder"
        )


def timed(code: str) -> tuple[list[float], str]:
    """Seconds, processor seconds and MB of a fresh process, and what it counted."""
    body = MEASURE.format(body=code)
    command = [sys.executable, "-c", body]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:  # what it said went to stderr
        sys.exit(f"a process that counts ended with {done.returncode}")
    *_, counted, numbers = done.stdout.strip().splitlines()
    return [float(x) for x in numbers.split()], counted


def compared(engine: str, values: dict[str, object], repeat: int) -> bool:
    """Print an engine's bare query, abstain and their ratio; whether that is within bounds."""
    codes = {engine: BARE[engine], f"abstain, {engine}": ABSTAIN}
    found: dict[str, list[list[float]]] = {name: [] for name in codes}
    counts = set()
    for _ in range(repeat):
        for name, code in codes.items():
            numbers, counted = timed(code.format(engine=engine, **values))
            found[name].append(numbers)
            counts.add(counted)
    assert len(counts) == 1, f"the counts differ: {counts}"
    middle = {n: [median(x) for x in zip(*rows, strict=True)] for n, rows in found.items()}
    for name, (wall, cpu, memory) in middle.items():
        print(f"{name:22}{wall:9.2f}{cpu:9.2f}{memory:9.0f}")
    bare, own = middle.values()
    times, work = own[0] / bare[0], own[1] / bare[1]
    good = bool(times <= MOST_TIMES and own[2] < MOST_MEMORY)
    print(f"{'ratio':22}{times:9.2f}{work:9.2f}   {'within' if good else 'NOT within'} bounds")
    return good


def main() -> int:
    """Print times, memory and ratios; 0 if every engine is within bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to make the files, and keep them")
    parser.add_argument("--engine", action="append", choices=list(BARE))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        gold, runs = str(folder / "gold.parquet"), str(folder / "runs.parquet")
        if not Path(runs).exists():
            folder.mkdir(parents=True, exist_ok=True)
            gold, runs = make(folder, given.questions, given.runs)
        size = given.questions * given.runs
        check_size(runs, size)
        print(f"{given.runs} runs × {given.questions:,} questions, median of {given.repeat}")
        print(f"{'':22}{'seconds':>9}{'cpu s':>9}{'MB':>9}")
        values: dict[str, object] = {"gold": gold, "runs": runs, "size": size}
        good = [compared(engine, values, given.repeat) for engine in given.engine or BARE]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
