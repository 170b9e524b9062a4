"""A rule put to work: runs whose lists stop where it says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.analyses.cut.shapes import finite
from abstain.errors import UsageError, plural, shown
from abstain.io.files import whole
from abstain.io.tables import format_of_name, write_table
from abstain.rankings.listed import Origin, ranked_rows, tags_of
from abstain.rankings.sources import TREC, open_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abstain.analyses.cut.result import CutResult
    from abstain.analyses.cut.rules import Rule

NIL = "NIL"
"""The document of an empty list."""
SCORES = "expected scores: a list of numbers, a list of lists, or {query: {document: score}}"
CELLS = 1 << 22
"""Scores that are looked at at a time."""


def depths_of(rule: Rule, lists: Sequence[Any]) -> list[int]:
    """How many documents of each list of scores, in any order, a rule keeps."""
    try:
        falling = [-np.sort(-np.asarray(list(own), np.float64)) for own in lists]
    except (TypeError, ValueError):
        falling = [np.array([np.nan])]
    if any(own.ndim != 1 or np.isnan(own).any() for own in falling):
        raise UsageError(SCORES)
    longest = max((len(own) for own in falling), default=0)
    depths: list[int] = []
    step = max(1, CELLS // max(longest, 1))
    for start in range(0, len(falling), step):
        some = falling[start : start + step]
        table = np.full((len(some), max(len(own) for own in some)), np.nan)
        for row, own in zip(table, some, strict=True):
            row[: len(own)] = own
        depths += rule.depths(finite(table)[0]).tolist()
    return depths


def cut_origin(origin: Origin, rule: Rule, nil: str | None) -> tuple[pl.DataFrame, str]:
    """The rows of a run that a rule keeps, an empty list as NIL, and what was done."""
    rows = ranked_rows(origin, nil)
    empty = rows.is_empty()
    lists = rows.group_by("query", maintain_order=True).agg("score")
    depth = [] if empty else depths_of(rule, [own.to_numpy() for own in lists["score"]])
    ends = lists.select("query", depth=pl.Series(depth, dtype=pl.Int64))
    kept = rows.join(ends, on="query", how="left", maintain_order="left")
    kept = kept.filter(pl.col("rank") <= pl.col("depth")).drop("depth")
    silent = ends.filter(pl.col("depth") == 0).select(
        "query", doc=pl.lit(nil or NIL), score=pl.lit(0.0), rank=pl.lit(1, pl.Int64)
    )
    made = pl.concat([kept, silent.cast({"rank": kept.schema["rank"]})])
    order = pl.col("query").cast(pl.Enum(lists["query"])).to_physical()
    made = made.sort(order, "rank").select(pl.lit(origin.run).alias("run"), pl.all())
    said = (
        f"{rows.height:,} documents of {plural(lists.height, 'list')} cut to {kept.height:,}; "
        f"{plural(silent.height, 'list')} empty ({nil or NIL})"
    )
    return made, said


def cut_run(
    run: Any,
    result: CutResult,
    *,
    nil: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """A run without judgments, cut by the rules of a result, and what was done."""
    source = open_source(run, side="run", columns=columns, format=format)
    parts, notes = [], []
    known = [own.run for own in result.runs]
    own_nil = nil if nil is not None or result.settings is None else result.settings.nil
    for tag in tags_of(source):
        name = tag if tag in known or len(known) > 1 else known[0]
        if name != tag:
            notes.append(f"run {shown(tag)} cut by the rule of {shown(name)}")
        rows, said = cut_origin(Origin(tag, tag, source), result.rule_of(name), own_nil)
        parts.append(rows)
        notes.append(said)
    if not parts:
        raise UsageError("the run is empty: there is nothing to cut")
    return pl.concat(parts), notes


def write_run(rows: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a run: TREC's columns, or a table where the name ends so."""
    target = Path(path)
    form = format_of_name(str(target))
    if form not in (None, TREC, "trec"):
        write_table(rows, target)
        return
    lines = rows.select(
        pl.format(
            "{} Q0 {} {} {} {}",
            "query",
            "doc",
            "rank",
            pl.col("score").map_elements(repr, return_dtype=pl.String),
            "run",
        )
    ).to_series()
    with whole(target) as draft:
        draft.write_text("\n".join([*lines, ""]), encoding="utf-8")
