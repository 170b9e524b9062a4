"""The same numbers from Spark as from memory: rankings of 7 million lines, counts of responses.

    python benchmarks/spark.py [--lines 7000000] [--questions 100000] [--runs 50]
                               [--master local[*]]

Needs `pip install 'abstain[spark]'` and Java 17. Every query's scores and every count must be equal
to the last bit; the seconds are for orientation: on one machine Spark has nothing to win.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import abstain as ab

sys.path.insert(0, str(Path(__file__).parent))
MEASURES = ("AP", "NDCG@10", "P@10", "RR", "RBP(p=0.8)", "AP'", "NDCG'")


def timed(what: str, work: Callable[[], Any]) -> Any:
    """The result, after printing how long it took."""
    start = time.perf_counter()
    result = work()
    print(f"  {what:12}{time.perf_counter() - start:9.1f} s")
    return result


def rankings(folder: Path, lines: int, master: str) -> bool:
    """Whether every score of every query is the same."""
    import polars as pl

    from rank import generate

    qrels, run = generate(lines, "shuffled")
    table = folder / "run.parquet"
    names = ["query", "Q0", "doc", "rank", "score", "run"]
    texts = {"query": pl.String, "doc": pl.String}
    pl.scan_csv(
        run, separator=" ", has_header=False, new_columns=names, schema_overrides=texts
    ).select("run", "query", "doc", "score").sink_parquet(table)
    print(f"rank, {lines:,} lines, {len(MEASURES)} measures")
    shared: dict[str, Any] = {"measures": MEASURES, "per_query": True}
    here = timed("memory", lambda: ab.rank(qrels, table, **shared))
    there = timed("spark", lambda: ab.rank(qrels, table, engine="spark", master=master, **shared))
    one, two = (_by_query(result) for result in (here, there))
    same = one == two and len(one) == here.queries
    print(f"  {len(one):,} rows of scores are {'equal' if same else 'NOT EQUAL'}")
    return same


def _by_query(result: ab.RankResult) -> dict[tuple[str, str], Any]:
    return {(row.run, row.query): row for row in result.per_query}


def counts(folder: Path, questions: int, runs: int, master: str) -> bool:
    """Whether every count by run and topic is the same."""
    from beyond import make

    gold, table = make(folder, questions, runs)
    print(f"score, {questions * runs:,} responses by run and topic")
    shared: dict[str, Any] = {"by": ["topic"], "measures": ["c@1"]}
    here = timed("polars", lambda: ab.score(gold, table, **shared))
    there = timed("spark", lambda: ab.score(gold, table, engine="spark", master=master, **shared))
    same = here.to_dict() == there.to_dict() and len(here.rows) == 20 * runs
    print(f"  {len(here.rows):,} rows of counts are {'equal' if same else 'NOT EQUAL'}")
    return same


def main() -> int:
    """0 if all is equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=7_000_000)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--master", default="local[*]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        same = [
            rankings(Path(folder), given.lines, given.master),
            counts(Path(folder), given.questions, given.runs, given.master),
        ]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
