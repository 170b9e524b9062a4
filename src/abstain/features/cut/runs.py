"""The rows of runs: all their scores, to choose a rule by; and cut where a rule says."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.errors import InputError, UsageError, option, plural, shown
from abstain.io.output import whole
from abstain.io.tables import format_of_name, write_table
from abstain.rankings.sources import TREC, RunOrigin, open_source
from abstain.reading import Reading

if TYPE_CHECKING:
    from abstain.features.cut.result import CutResult
    from abstain.features.cut.rules import Rule
    from abstain.measures.ranked_lists import Floats, Ints, RankedLists

NIL = "NIL"  # the document of an empty list
MOST_SCORES = 1 << 27  # queries times the longest list: more scores than that are not held at once


def score_tables(origins: Sequence[RunOrigin], lists: RankedLists) -> dict[str, Floats]:
    """Of each run queries × ranks: the scores in falling order, NaN behind a list's end."""
    queries = pl.Enum(lists.queries)
    depths = dict(zip(lists.runs, lists.by_run(lists.depth), strict=True))
    sources = {id(origin.source): origin.source for origin in origins}
    names = {(id(origin.source), origin.tag): origin.run for origin in origins}
    parts: dict[str, list[pl.DataFrame]] = {run: [] for run in lists.runs}
    for key, source in sources.items():
        for batch in source.batches(by_rank=False):
            code = pl.col("query").cast(queries, strict=False).to_physical()
            coded = batch.select("run", "score", code=code).drop_nulls("code")
            for (tag,), rows in coded.partition_by("run", as_dict=True).items():
                if (run := names.get((key, str(tag)))) in parts:
                    parts[run].append(rows.drop("run"))
    return {run: _score_table(parts.pop(run), depths[run], run) for run in lists.runs}


def _score_table(parts: Sequence[pl.DataFrame], depth: Ints, run: str) -> Floats:
    longest = max(1, int(depth.max(initial=0)))
    if len(depth) * longest > MOST_SCORES:
        size = f"{plural(len(depth), 'list')} of up to {longest:,} documents"
        shorter = f"shorten the lists with {option('limit', '1000')}"
        raise InputError(f"run {shown(run)} has {size}: too many scores to hold; {shorter}")
    table = np.full((len(depth), longest), np.nan)
    if not parts:
        return table
    rows = pl.concat(parts).sort("code", "score", descending=[False, True])
    code, score = rows["code"].to_numpy().astype(np.int64), rows["score"].to_numpy()
    place = np.arange(len(code)) - np.searchsorted(code, np.arange(len(depth)))[code]
    inside = place < depth[code]
    table[code[inside], place[inside]] = score[inside]
    return table


def cut_runs(
    origins: Sequence[RunOrigin], result: CutResult, nil: str | None
) -> tuple[pl.DataFrame, list[str]]:
    """Runs cut by the rules of a result, and what was done; a rule alone cuts any run."""
    names = {(id(each.source), each.tag): each.run for each in origins if each.run}
    rules = {each.run: each.rule for each in result.runs}
    parts, notes = [], []
    for source in {id(each.source): each.source for each in origins}.values():
        columns = ("run", "query", "doc", "score")
        batches = [batch.select(columns) for batch in source.batches(by_rank=False)]
        every = pl.concat(batches) if batches else pl.DataFrame(schema=columns)
        for (tag,), rows in every.partition_by("run", as_dict=True, maintain_order=True).items():
            run = names.get((id(source), str(tag)), str(tag))
            if not names or run in rules:
                rule = result.rule_of(None if not names and len(rules) == 1 else run)
                made, summary = _cut_rows(_ranked(rows, nil), run, rule, nil)
                parts.append(made)
                notes.append(summary)
    if not parts:
        raise UsageError("the run is empty: there is nothing to cut")
    return pl.concat(parts), notes


def _ranked(rows: pl.DataFrame, nil: str | None) -> pl.DataFrame:
    """A run query by query, the best first: query, doc, score, rank; `nil` ends a list."""
    queries = pl.Enum(rows["query"].unique(maintain_order=True))
    is_nil = pl.lit(value=False) if nil is None else pl.col("doc") == nil
    ordered = rows.with_columns(at=pl.col("query").cast(queries), ends=is_nil).sort(
        "at", "score", "ends", "doc", descending=[False, True, False, True]
    )
    kept = ordered.filter(~pl.col("ends").cum_max().over("at"))
    return kept.select("query", "doc", "score", rank=pl.int_range(1, pl.len() + 1).over("query"))


def _cut_rows(
    rows: pl.DataFrame, run: str, rule: Rule, nil: str | None
) -> tuple[pl.DataFrame, str]:
    """The rows of a run that a rule keeps, an empty list as NIL, and what was done."""
    lists = rows.group_by("query", maintain_order=True).agg(pl.all())
    depth = pl.Series(rule.cut([each.to_numpy() for each in lists["score"]]), dtype=pl.Int64)
    made = lists.with_columns(pl.exclude("query").list.head(pl.lit(depth)))
    made = made.explode("doc", "score", "rank")
    nothing = {"doc": nil or NIL, "score": 0.0, "rank": 1}
    made = made.with_columns(pl.col(name).fill_null(value) for name, value in nothing.items())
    summary = (
        f"run {shown(run)}: {rows.height:,} documents of {plural(lists.height, 'list')} cut to "
        f"{depth.sum():,}; {plural(int((depth == 0).sum()), 'list')} empty ({nil or NIL})"
    )
    return made.select(pl.lit(run).alias("run"), pl.all()), summary


def cut_by_saved(
    run: Any,
    result: CutResult,
    *,
    nil: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """A run without judgments, cut by the rules of a result, and what was done."""
    if nil is None and result.settings is not None:
        nil = result.settings.nil
    source = open_source(run, Reading.of(columns=columns, format=format), side="run")
    return cut_runs([RunOrigin("", "", source)], result, nil)


def write_run(rows: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a run: TREC's columns, or a table where the name ends so."""
    target = Path(path)
    if format_of_name(str(target)) not in (None, TREC):
        write_table(rows, target)
        return
    score = pl.col("score").map_elements(repr, return_dtype=pl.String)
    lines = rows.select(pl.format("{} Q0 {} {} {} {}", "query", "doc", "rank", score, "run"))
    with whole(target) as draft:
        draft.write_text("\n".join([*lines.to_series(), ""]), encoding="utf-8")
