"""`abstain score` against polars alone: ten million responses, one run, ratios.

    python benchmarks/score.py [--questions 100000] [--runs 100] [--repeat 3]

Both read the same Parquet file, join it with the gold and count by run and topic; abstain also
checks every row (repeated and unknown questions, confidence), applies a policy and scores. Each is
a process of its own, started in turn, so that imports, time and peak memory are whole and fair.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

POLARS = """
import polars as pl
runs, gold = pl.scan_parquet({runs!r}), pl.scan_parquet({gold!r})
pl.Config.set_engine_affinity("streaming")
answer = pl.col("answer")
counts = runs.join(gold, on="question", how="left").group_by("run", "topic").agg(
    right=(answer == pl.col("correct")).sum(), blank=answer.is_null().sum(), n=pl.len()
).collect(engine="streaming")
assert counts["n"].sum() == {size}
"""

ABSTAIN = """
import abstain as ab
result = ab.score({gold!r}, {runs!r}, by=["topic"], measures=["c@1"])
assert sum(row.counts.n for row in result.rows) == {size}
"""

MEASURE = """
import resource, time
start = time.perf_counter()
{body}
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
peak = next(int(x.split()[1]) for x in open("/proc/self/status") if x.startswith("VmHWM"))
print(wall, used.ru_utime + used.ru_stime, peak / 1024)
"""


def make(folder: Path, questions: int, runs: int, *, shuffled: bool) -> tuple[str, str]:
    """A gold and the responses of all runs, as Parquet."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    ids = pl.Series("question", [f"q{i:07d}" for i in range(questions)])
    gold = pl.DataFrame(
        {
            "question": ids,
            "correct": pl.Series(rng.integers(1, 6, questions)).cast(pl.String),
            "topic": pl.Series(rng.integers(0, 20, questions)).cast(pl.String),
        }
    )
    parts = []
    for number in range(runs):
        blank = pl.Series(rng.random(questions) < 0.15)
        answer = pl.Series(rng.integers(1, 6, questions)).cast(pl.String)
        parts.append(
            pl.DataFrame(
                {
                    "run": pl.repeat(f"run{number:03d}", questions, eager=True),
                    "question": ids,
                    "answer": answer.set(blank, None),
                    "confidence": rng.random(questions),
                }
            )
        )
    table = pl.concat(parts)
    if shuffled:
        table = table.sample(fraction=1, shuffle=True, seed=1)
    gold.write_parquet(folder / "gold.parquet")
    table.write_parquet(folder / "runs.parquet")
    return str(folder / "gold.parquet"), str(folder / "runs.parquet")


def timed(code: str) -> tuple[float, float, float]:
    """Seconds, processor seconds and MiB of a fresh process."""
    body = MEASURE.format(body=code)
    done = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, check=True)
    wall, cpu, memory = map(float, done.stdout.split()[-3:])
    return wall, cpu, memory


def main() -> None:
    """Print times, memory and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    print(f"{given.runs} runs × {given.questions:,} questions, median of {given.repeat}")
    print(f"{'':22}{'seconds':>9}{'cpu s':>9}{'MiB':>9}")
    for shuffled in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            gold, runs = make(Path(folder), given.questions, given.runs, shuffled=shuffled)
            values = {"gold": gold, "runs": runs, "size": given.questions * given.runs}
            found: dict[str, list[tuple[float, float, float]]] = {"polars": [], "abstain": []}
            for _ in range(given.repeat):
                found["polars"].append(timed(POLARS.format(**values)))
                found["abstain"].append(timed(ABSTAIN.format(**values)))
            order = "shuffled" if shuffled else "by run"
            middle = {n: [median(x) for x in zip(*rows, strict=True)] for n, rows in found.items()}
            for name, (wall, cpu, memory) in middle.items():
                print(f"{name + ', ' + order:22}{wall:9.2f}{cpu:9.2f}{memory:9.0f}")
            ratios = [a / p for a, p in zip(middle["abstain"], middle["polars"], strict=True)]
            print(f"{'ratio':22}{ratios[0]:9.2f}{ratios[1]:9.2f}{ratios[2]:9.2f}")


if __name__ == "__main__":
    main()
