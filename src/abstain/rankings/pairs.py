"""Items that are a document with an answer string, as TREC's question answering had them.

The same document with two answers is two items. They become frames whose column `doc` holds both,
so that everything after this reads them as documents.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from abstain.errors import InputError, Place, UsageError, plural
from abstain.io import trec
from abstain.io.files import open_file
from abstain.io.frames import collect, open_table, rename, require, text_columns
from abstain.io.tables import ROW
from abstain.rankings.sources import is_trec, run_name
from abstain.rankings.tables import columns_of

FIELDS = {"gold": trec.QRELS_COLUMNS, "run": trec.RUN_COLUMNS}
TEXTS = ("query", "doc", "answer", "pattern")
NEEDED = {"doc": "which names the document", "answer": "which holds the answer string"}


def with_answers(
    qrels: Any, runs: Sequence[tuple[str, Any]], *, nil: str | None, **how: Any
) -> tuple[pl.DataFrame, list[tuple[str, pl.DataFrame]]]:
    """Judgments and runs of such items; patterns judge the items of these runs."""
    gold, frames = _rows(qrels, "gold", **how), []
    for name, data in runs:
        rows = _joined(_rows(data, "run", **how), nil)
        unnamed = isinstance(data, str) and not name and "run" not in rows.columns
        frames.append((run_name(data) if unnamed else name, rows))
    if "pattern" in gold.columns:
        items = pl.concat(rows.select("query", "doc", "answer") for _, rows in frames)
        items = items.unique(maintain_order=True)
        return _by_patterns(gold, items), frames
    return _joined(gold, nil), frames


def _rows(
    data: Any, side: str, columns: Mapping[str, str], format: str | None = None
) -> pl.DataFrame:
    if isinstance(data, str) and format in (None, "trec") and is_trec(opened := open_file(data)):
        lines, names, last = [*trec.lines(opened)], FIELDS[side], "answer"
        if side == "gold" and not all(
            trec.looks_like_trec(b" ".join(fields[: len(names)])) for _, fields in lines
        ):
            names, last = ("query",), "pattern"
        for line, fields in lines:
            if len(fields) < len(names) + (last == "pattern"):
                what = f"expected {' '.join(names)} {last}"
                raise InputError(f"{plural(len(fields), 'column')}, {what}", Place(data, line))
        texts = [[field.decode(errors="replace") for field in fields] for _, fields in lines]
        rows = [[*each[: len(names)], " ".join(each[len(names) :])] for each in texts]
        return pl.DataFrame(rows, schema=[*names, last], orient="row")
    if isinstance(data, Mapping):
        raise UsageError("a dict has no answer strings: pass a frame with a column 'answer'")
    table = open_table(data, name=side, format=format)
    table = rename(table, columns_of(table, columns, side), side=side)
    if side == "run" or "pattern" not in table.columns:
        require(table, NEEDED)
    lazy = nw.from_native(table.frame).lazy()
    texts_of = text_columns(lazy, [name for name in TEXTS if name in table.columns], table.name)
    return collect(lazy.with_columns(*texts_of).drop(ROW, strict=False), table.name)


def _joined(rows: pl.DataFrame, nil: str | None) -> pl.DataFrame:
    doc, answer = pl.col("doc"), pl.col("answer").fill_null("")
    pair = pl.concat_str(doc, answer, separator=" ")
    alone = (answer == "") | (doc == (nil or ""))
    return rows.with_columns(doc=pl.when(alone).then(doc).otherwise(pair), answer=answer)


def _by_patterns(patterns: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """The grade of each item: 1 if a pattern of its query occurs in the answer, in any case.

    A query whose pattern is NIL is nil. Of another one that no item answers, something is relevant
    that no run lists.
    """
    words = patterns.select("query", "pattern")
    found = pl.col("answer").str.contains("(?i)" + pl.col("pattern")) & (pl.col("pattern") != "NIL")
    try:
        pairs = items.join(words, on="query", maintain_order="left_right")
        judged = pairs.group_by("query", "doc", maintain_order=True).agg(
            rel=found.any().cast(float)
        )
    except pl.exceptions.ComputeError as error:
        reason = str(error).partition("\n\n")[0].splitlines()[-1]
        raise InputError(f"a pattern is no regular expression: {reason}", "patterns") from None
    queries = words.unique("query", keep="first", maintain_order=True)
    others = queries.join(judged.filter(pl.col("rel") > 0), on="query", how="anti")
    missing = others.select("query", doc="pattern", rel=(pl.col("pattern") != "NIL").cast(float))
    judged = pl.concat([missing, judged.join(missing, on=["query", "doc"], how="anti")])
    return queries.select("query").join(judged, on="query", maintain_order="left_right")
