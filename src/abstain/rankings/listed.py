"""Every document of the runs again, with its score: what a rule that cuts lists looks at.

`Rankings` keep judged documents alone. Who needs the others reads the runs once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, UsageError, option, plural

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats, Ints, RankedLists
    from abstain.rankings.sources import Source

MOST_CELLS = 1 << 27
"""Queries times the longest list: more scores than that are not held at once."""


class Origin(Struct, frozen=True):
    """Where a run comes from: its name here, its tag there, and the source that holds it."""

    run: str
    tag: str
    source: Source


def runs_of(origins: Sequence[Origin]) -> Iterator[tuple[Source, dict[str, str]]]:
    """Each source once, with the names of its runs by their tags."""
    found: dict[int, tuple[Source, dict[str, str]]] = {}
    for own in origins:
        found.setdefault(id(own.source), (own.source, {}))[1][own.tag] = own.run
    yield from found.values()


def score_table(origins: Sequence[Origin], lists: RankedLists) -> dict[str, Floats]:
    """Of each run queries × ranks: the scores in falling order, NaN behind a list's end."""
    queries = pl.Enum(lists.queries)
    depths = dict(zip(lists.runs, lists.by_run(lists.depth), strict=True))
    parts: dict[str, list[tuple[Ints, Floats]]] = {run: [] for run in lists.runs}
    for source, names in runs_of(origins):
        for batch in source.batches(by_rank=False):
            coded = batch.select("run", "score", code=pl.col("query").cast(queries, strict=False))
            coded = coded.with_columns(code=pl.col("code").to_physical()).drop_nulls("code")
            for (tag,), rows in coded.partition_by("run", as_dict=True).items():
                own = parts.get(names.get(str(tag), ""))
                if own is not None:
                    own.append((rows["code"].to_numpy(), rows["score"].to_numpy()))
    return {run: _ranked(parts.pop(run), depths[run], run) for run in lists.runs}


def _ranked(parts: Sequence[tuple[Ints, Floats]], depth: Ints, run: str) -> Floats:
    longest = int(depth.max(initial=0))
    if len(depth) * longest > MOST_CELLS:
        raise InputError(
            f"run '{run}' has {plural(len(depth), 'list')} of up to {longest:,} documents: too "
            f"many scores to hold; shorten the lists with {option('limit', '1000')}"
        )
    table = np.full((len(depth), longest), np.nan)
    if not parts:
        return table
    code = np.concatenate([part[0] for part in parts])
    score = np.concatenate([part[1] for part in parts])
    order = np.lexsort((-score, code))
    code, score = code[order], score[order]
    starts = np.searchsorted(code, np.arange(len(depth)))
    place = np.arange(len(code)) - starts[code]
    inside = place < depth[code]
    table[code[inside], place[inside]] = score[inside]
    return table


def ranked_rows(origin: Origin, nil: str | None = None) -> pl.DataFrame:
    """All rows of a run, query by query as they came, best first: query, doc, score, rank.

    Equal scores are in falling order of document id; `nil` and what stands behind it is left out.
    """
    parts = [
        batch.filter(pl.col("run") == origin.tag).select("query", "doc", "score")
        for batch in origin.source.batches(by_rank=False)
    ]
    schema = {"query": pl.String, "doc": pl.String, "score": pl.Float64}
    rows = pl.concat(parts) if parts else pl.DataFrame(schema=schema)
    first = pl.col("query").rank("dense")
    seen = rows["query"].unique(maintain_order=True)
    rows = rows.with_columns(at=pl.col("query").cast(pl.Enum(seen)).to_physical())
    is_nil = pl.lit(value=False) if nil is None else pl.col("doc") == nil
    del first
    rows = rows.with_columns(ends=is_nil).sort(
        ["at", "score", "ends", "doc"], descending=[False, True, False, True]
    )
    rows = rows.filter(~pl.col("ends").cum_max().over("at"))
    return rows.select("query", "doc", "score", rank=pl.int_range(1, pl.len() + 1).over("at"))


def tags_of(source: Source) -> list[str]:
    """The run tags that a source holds, in the order they come."""
    seen: dict[str, None] = {}
    for batch in source.batches(by_rank=False):
        seen |= dict.fromkeys(batch["run"].unique(maintain_order=True))
    return list(seen)


def require_scores(by_rank: bool) -> None:
    """Refuse lists that are ordered by their rank column."""
    if by_rank:
        raise UsageError(
            f"cutting needs scores, and {option('ties', 'rank')} reads none: it orders documents "
            "by rank"
        )
