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
