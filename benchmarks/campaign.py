"""`abstain campaign` against polars reading and joining the same files: one run, ratios.

    python benchmarks/campaign.py [--questions 100000] [--runs 200] [--repeat 3] [--test-size 20]

The peer reads the responses and joins them with the gold, nothing more: once keeping the joined
table, once only streaming through it. abstain judges, checks, breaks down by every attribute, pairs
main with auxiliary questions and writes the whole folder: as on a new machine, where the chart
library of the page has to be bundled first, and as ever after, when it is kept. Verdict: as ever
after, it takes at most 3 times as long as the join that keeps its table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from score import make, timed

MOST = 3
"""Times the join."""

JOINED = """
import polars as pl
runs, gold = pl.scan_parquet({runs!r}), pl.scan_parquet({gold!r})
joined = runs.join(gold, on="question", how="left").collect(engine="streaming")
assert joined.height == {size}
"""

STREAMED = """
import polars as pl
runs, gold = pl.scan_parquet({runs!r}), pl.scan_parquet({gold!r})
joined = runs.join(gold, on="question", how="left")
right = (pl.col("answer") == pl.col("correct")).sum()
seen = joined.select(pl.len(), right, pl.col("confidence").max()).collect(engine="streaming")
assert seen["len"][0] == {size}
"""

ABSTAIN = """
import os
os.environ["XDG_CACHE_HOME"] = {cache!r}
import shutil
import abstain as ab
shutil.rmtree({folder!r}, ignore_errors=True)
evaluation = ab.read({gold!r}, [{runs!r}])
evaluation.campaign().save({folder!r})
assert evaluation.data.codes.size == {size}
"""


def with_attributes(gold: str, test_size: int) -> None:
    """Give the gold tests, types, options and auxiliary questions."""
    import polars as pl

    frame = pl.read_parquet(gold).with_row_index("i")
    i = pl.col("i")
    auxiliary = pl.when(i % 7 == 6).then(pl.col("question").shift(1)).otherwise(pl.lit(""))
    frame.with_columns(
        options=pl.lit("1|2|3|4|5"),
        test=(i // test_size).cast(pl.String),
        type=(i % 5).cast(pl.String),
        nca=pl.when(i % 3 == 0).then(pl.lit("yes")).otherwise(pl.lit("no")),
        auxiliary_of=auxiliary,
    ).drop("i").write_parquet(gold)


def main() -> int:
    """Print times, memory and ratios; 1 if it is too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--test-size", type=int, default=20, help="questions a reading test")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gold, runs = make(Path(folder), given.questions, given.runs, shuffled=False)
        with_attributes(gold, given.test_size)
        values = {"gold": gold, "runs": runs, "size": given.questions * given.runs}
        values["folder"] = str(Path(folder) / "out")
        code = {"polars, joined": JOINED, "polars, streamed": STREAMED}
        code |= {"abstain, first time": ABSTAIN, "abstain": ABSTAIN}
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in code}
        for number in range(given.repeat):
            cache = str(Path(folder) / f"cache {number}")
            for name, text in code.items():
                found[name].append(timed(text.format(**values, cache=cache)))
    print(
        f"{given.runs} runs × {given.questions:,} questions, {given.test_size} a test, "
        f"median of {given.repeat}"
    )
    print(f"{'':39}{'seconds':>9}{'cpu s':>9}{'MiB':>9}")
    middle = {n: [median(x) for x in zip(*rows, strict=True)] for n, rows in found.items()}
    for name, (wall, cpu, memory) in middle.items():
        print(f"{name:39}{wall:9.2f}{cpu:9.2f}{memory:9.0f}")
    for peer in ("polars, joined", "polars, streamed"):
        for name in ("abstain, first time", "abstain"):
            ratios = [a / p for a, p in zip(middle[name], middle[peer], strict=True)]
            print(f"{name} / {peer:22}"[:39].ljust(39) + "".join(f"{r:9.2f}" for r in ratios))
    ratio = middle["abstain"][0] / middle["polars, joined"][0]
    print(f"{'ok' if ratio <= MOST else 'TOO SLOW'}: {ratio:.2f} times the join, at most {MOST}")
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main())
