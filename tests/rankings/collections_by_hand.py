"""Judgments and runs for tests: dictionaries as frames, files and rankings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from abstain.measures import measure
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Floats, RankedLists
from abstain.rankings.read import read_rankings

Numbers = Mapping[str, Mapping[str, float]]
"""Query and document to a grade or a score."""


def frames(qrels: Numbers, run: Numbers, name: str = "run") -> tuple[pl.DataFrame, pl.DataFrame]:
    """The same as the frames that `rank` takes."""
    gold = [(q, d, float(g)) for q, docs in qrels.items() for d, g in docs.items()]
    rows = [(q, d, float(s), name) for q, docs in run.items() for d, s in docs.items()]
    texts = {"query": pl.String, "doc": pl.String}
    return (
        pl.DataFrame(gold, schema=texts | {"rel": pl.Float64}, orient="row"),
        pl.DataFrame(rows, schema=texts | {"score": pl.Float64, "run": pl.String}, orient="row"),
    )


def write(path: Path, *, qrels: Numbers | None = None, run: Numbers | None = None) -> Path:
    """The same as a TREC file."""
    rows = [f"{q} 0 {d} {g}" for q, docs in (qrels or {}).items() for d, g in docs.items()]
    rows += [f"{q} Q0 {d} 1 {s!r} tag" for q, docs in (run or {}).items() for d, s in docs.items()]
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def opened(qrels: Any, *runs: Any, **options: Any) -> RankedLists:
    """Rankings from anything that `rank` takes."""
    return read_rankings(qrels, list(runs), **options).lists


def rankings_of(qrels: Numbers, run: Numbers, **options: Any) -> RankedLists:
    """Rankings of one run; an empty run is one too."""
    gold, rows = frames(qrels, run)
    return opened(gold, rows if rows.height else rows.lazy(), **options)


def values(name: str, rankings: RankedLists, *, empty: float = np.nan) -> Floats:
    """A measure's scores by row; what does not exist is nan, or 0 where that is asked for."""
    item = measure(name)
    assert isinstance(item, RankingMeasure)
    return np.nan_to_num(item.values(rankings), nan=empty)


def random_collection(
    runs: int, queries: int, *, nil: float = 0.2, documents: int = 8, seed: int = 0
) -> tuple[Numbers, dict[str, Numbers]]:
    """Judgments of which some are all zero, and runs of any length, better from one to the next."""
    rng = np.random.default_rng(seed)
    grades = (rng.random((queries, documents)) < 0.4) & (rng.random((queries, 1)) >= nil)
    names = [[f"d{q}-{d}" for d in range(documents)] for q in range(queries)]
    qrels = {f"q{q}": dict(zip(names[q], map(int, grades[q]), strict=True)) for q in range(queries)}
    found: dict[str, Numbers] = {}
    for run in range(runs):
        scores = grades * (run / max(1, runs - 1)) + rng.normal(0, 0.5, grades.shape)
        lengths = rng.integers(1, documents + 1, queries)
        found[f"r{run:02}"] = {
            f"q{q}": {names[q][d]: float(scores[q, d]) for d in np.argsort(-scores[q])[:length]}
            for q, length in enumerate(lengths)
        }
    return qrels, found


def write_collection(folder: Path, runs: int = 2, queries: int = 12, **more: Any) -> list[str]:
    """The same as TREC files, by their names: the qrels, then the runs."""
    qrels, found = random_collection(runs, queries, **more)
    files = [write(folder / "qrels.txt", qrels=qrels)]
    files += [write(folder / f"{name}.run", run=run) for name, run in found.items()]
    return [file.name for file in files]
