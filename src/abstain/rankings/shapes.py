"""Scores by query in the shapes of other tools: ir_measures, PyTerrier, pytrec_eval, ranx."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from abstain.errors import check_name

Shape: TypeAlias = Literal["ir_measures", "pyterrier", "pytrec_eval", "ranx"]
Row: TypeAlias = tuple[str, str, Mapping[str, float | None]]
"""A run, a query, and its score by each measure; None where there is none."""


def shaped(rows: Iterable[Row], shape: Shape) -> Any:
    """Scores by query as another tool has them; a score that does not exist is left out.

    ir_measures: a frame of run, query_id, measure, value. pyterrier: name, qid, measure, value, as
    `Experiment(perquery=True)` returns. pytrec_eval: {run: {query: {measure: value}}}. ranx: {run:
    {measure: {query: value}}}, each run's being what its `Run.scores` holds.

    >>> shaped([("a", "q1", {"AP": 0.5, "RR": None})], "ranx")
    {'a': {'AP': {'q1': 0.5}}}
    """
    check_name("shape", shape, get_args(Shape))
    single = [
        (run, query, measure, value)
        for run, query, scores in rows
        for measure, value in scores.items()
        if value is not None
    ]
    if shape in ("ir_measures", "pyterrier"):
        names = ("run", "query_id") if shape == "ir_measures" else ("name", "qid")
        schema = {**dict.fromkeys((*names, "measure"), pl.String), "value": pl.Float64}
        return pl.DataFrame(single, schema=schema, orient="row")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for run, query, measure, value in single:
        outer, inner = (query, measure) if shape == "pytrec_eval" else (measure, query)
        found.setdefault(run, {}).setdefault(outer, {})[inner] = value
    return found
