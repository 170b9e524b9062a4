"""What runs set out to do: logs of several epochs, samples and tasks beside each other.

A log says which samples it was to answer and how often. A run is judged on those; the other
questions are `unasked` for it, which the policy excludes unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from msgspec.structs import replace

from abstain.errors import plural
from abstain.io.tables import ROW
from abstain.judging.gold import Gold
from abstain.judging.opening import SAMPLE, TASK, with_task
from abstain.judging.responses import OF_A_RUN, Responses
from abstain.outcomes import Why

EPOCH = "epoch"


def planned(responses: Sequence[Responses], gold: Gold | None) -> list[Responses]:
    """The runs, with a row for each question that a log did not set out to answer.

    A gold of one's own says which questions count; of a log then only the epochs are looked at.
    """
    logs = {at: own.table.frame.collect() for at, own in enumerate(responses) if own.table.plan}
    if not logs:
        return list(responses)
    every = _questions(list(logs.values())) if gold is None else gold.frame
    every = every.with_columns(pl.col("question").cast(pl.String))
    found = list(responses)
    for at, rows in logs.items():
        lacking = every.join(rows, on="question", how="anti")
        if found[at].table.plan == "epochs" or (gold is not None and not gold.verdicts):
            lacking = _later_epochs(lacking, rows)
        if not lacking.is_empty():
            found[at] = _with_unasked(found[at], rows, lacking, every)
    return found


def _questions(logs: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The questions of all logs, each once, with their attributes; one epoch is the first."""
    own = [log.drop([c for c in (ROW, *OF_A_RUN) if c in log.columns]) for log in logs]
    if any(EPOCH in log.columns for log in own):
        own = [log if EPOCH in log.columns else log.with_columns(_first(log)) for log in own]
    return pl.concat(own, how="diagonal_relaxed").unique(
        "question", keep="first", maintain_order=True
    )


def _first(_: pl.DataFrame) -> pl.Expr:
    return pl.lit(1, dtype=pl.Int64).alias(EPOCH)


def _later_epochs(lacking: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Those of the questions that are later epochs of a log's samples than it has."""
    if not {SAMPLE, EPOCH} <= {*lacking.columns} or SAMPLE not in rows.columns:
        return lacking.clear()
    last = pl.col(EPOCH).cast(pl.Int64).max() if EPOCH in rows.columns else pl.lit(1)
    epochs = rows.group_by(pl.col(SAMPLE).cast(pl.String)).agg(last.alias("__last"))
    later = lacking.join(epochs, on=SAMPLE, how="inner")
    return later.filter(pl.col(EPOCH).cast(pl.Int64) > pl.col("__last")).drop("__last")


def _with_unasked(
    own: Responses, rows: pl.DataFrame, lacking: pl.DataFrame, every: pl.DataFrame
) -> Responses:
    """A log with a blank for each question that it was not to answer, and a note of that."""
    if EPOCH in every.columns and EPOCH not in rows.columns:
        rows = rows.with_columns(_first(rows))
    kept = [name for name in lacking.columns if name in rows.columns and name not in OF_A_RUN]
    blanks = lacking.select(pl.col(name).cast(rows.schema[name], strict=False) for name in kept)
    start = int(rows[ROW].max() or 0) + 1  # type: ignore[arg-type]
    blanks = blanks.with_columns(
        outcome=pl.lit(Why.UNASKED.value),
        why=pl.lit(Why.UNASKED.value),
        answer=pl.lit(""),
        **{ROW: pl.int_range(start, start + pl.len(), dtype=pl.UInt32)},
    )
    whole = pl.concat([rows, blanks], how="diagonal_relaxed")
    note = (
        f"{own.run} was asked {rows.height:,} of {plural(every.height, 'question')}"
        f"{_epochs(rows, every)} and is judged on those"
    )
    columns = tuple(name for name in whole.columns if name != ROW)
    lines = own.table.lines
    if lines is not None:
        lines = [*lines, *[lines[-1]] * blanks.height]
    table = replace(
        own.table,
        frame=whole.lazy(),
        columns=columns,
        lines=lines,
        notes=(*own.table.notes, note),
    )
    return replace(own, table=table)


def _epochs(rows: pl.DataFrame, every: pl.DataFrame) -> str:
    """How many of the epochs, where those differ."""
    if EPOCH not in every.columns:
        return ""
    here, there = (frame[EPOCH].cast(pl.Int64).n_unique() for frame in (rows, every))
    return f" ({here} of {there} epochs)" if here < there else ""


# ------------------------------------------------------------------- a gold and logs agree


def agreed(gold: Gold, responses: Sequence[Responses]) -> tuple[Gold, list[Responses]]:
    """A gold and the logs of runs, with the same names for the same questions.

    Ids may have their task before them on one side only. A gold has each sample once: the epochs
    of a run are repeats of it.
    """
    found = list(responses)
    ids = gold.frame["question"]
    for at, own in enumerate(found):
        table = own.table
        if table.verdicts is None or not {TASK, "question"} <= {*table.columns}:
            continue
        rows = table.frame.select(pl.col("question", TASK).cast(pl.String)).collect()
        if rows["question"].is_in(ids.implode()).any():
            continue
        tasks = rows[TASK].unique().to_list()
        if len(tasks) == 1 and (f"{tasks[0]}/" + rows["question"]).is_in(ids.implode()).any():
            found[at] = replace(own, table=with_task(table, tasks[0]))
        elif gold.verdicts and TASK in gold.attributes:
            named = gold.frame.select(pl.concat_str(TASK, pl.lit("/"), "question"))[TASK]
            if rows["question"].is_in(named.implode()).any():
                gold, ids = replace(gold, frame=_renamed(gold.frame, named)), named
    return _with_epochs(gold, found), found


def _renamed(frame: pl.DataFrame, named: pl.Series) -> pl.DataFrame:
    frame = frame.with_columns(named.alias("question"))
    if SAMPLE in frame.columns:
        frame = frame.with_columns(pl.concat_str(TASK, pl.lit("/"), SAMPLE).alias(SAMPLE))
    return frame


def _with_epochs(gold: Gold, responses: Sequence[Responses]) -> Gold:
    """The gold, with every epoch in which a run answers one of its questions."""
    logs = [
        own.table.frame.select(
            pl.col("question", SAMPLE).cast(pl.String), pl.col(EPOCH).cast(pl.String)
        ).collect()
        for own in responses
        if own.table.verdicts is not None and {SAMPLE, EPOCH} <= {*own.table.columns}
    ]
    if not logs:
        return gold
    names = {"question": "__again", SAMPLE: "question", EPOCH: "__epoch"}
    asked = pl.concat(logs).unique(maintain_order=True)
    again = asked.join(gold.frame, on="question", how="anti").rename(names)
    again = gold.frame.join(again, on="question", how="inner")
    if again.is_empty():
        return gold
    frame = gold.frame
    if SAMPLE not in frame.columns:
        frame = frame.with_columns(pl.col("question").alias(SAMPLE))
    if EPOCH not in frame.columns:
        frame = frame.with_columns(pl.lit("1").alias(EPOCH))
    again = again.with_columns(
        pl.col("question").alias(SAMPLE), pl.col("__epoch").alias(EPOCH)
    ).with_columns(pl.col("__again").alias("question"))
    frame = pl.concat([frame, again.select(frame.columns)], how="vertical_relaxed")
    attributes = tuple(dict.fromkeys([*gold.attributes, SAMPLE, EPOCH]))
    return replace(gold, frame=frame, attributes=attributes)
