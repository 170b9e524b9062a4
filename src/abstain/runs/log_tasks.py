"""Logs of one model and several tasks, samples and epochs: what they are as runs.

Harnesses write a log for each task. Logs that name the same model and different tasks are one run
whose questions have their task as an attribute. A log says which samples it set out to answer and
how often: the other questions are `unasked` for it, which the policy excludes.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import UsageError, plural, shown
from abstain.io.readers import log_readers
from abstain.io.tables import ROW, Plan, Table
from abstain.outcomes import Why
from abstain.runs.gold import Gold
from abstain.runs.responses import OF_A_RUN, SAMPLE, Responses

TASK, EPOCH = "task", "epoch"


class _Log(Struct):
    at: int
    source: Responses
    task: str
    questions: pl.DataFrame
    """Its questions, each once, with what is right."""
    run_id: str
    asks: str = ""
    """The first task that asks the same questions: several tasks may share them."""

    @property
    def folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.source.table.name))

    @property
    def is_nameless(self) -> bool:  # logs of one folder are then of one model
        return self.source.table.format == "lm-eval" and self.source.run == self.task

    @property
    def model(self) -> str:
        return self.folder if self.is_nameless else self.run_id

    @property
    def dataset(self) -> str:
        return next((value for _, name, value in self.source.table.facts if name == "dataset"), "")

    def asks_what(self, other: _Log) -> bool:
        """Whether it asks questions of another task of its data set: what is right is the same."""
        if not self.dataset or self.dataset != other.dataset:
            return False
        both = self.questions.join(other.questions, on="question", suffix=" there")
        return both.height > 0 and bool((both["correct"] == both["correct there"]).all())


def join_tasks(sources: Sequence[Responses]) -> list[Responses]:
    """The sources, with logs of one model and different tasks made one run."""
    logs = [log for at, source in enumerate(sources) if (log := _log(at, source))]
    if not logs:
        return list(sources)
    _find_same_questions(logs)
    models: dict[str, list[_Log]] = defaultdict(list)
    for log in logs:
        if log.source.run == log.run_id:  # not renamed by a caller
            models[log.model].append(log)
    groups = [group for of_model in models.values() for group in _groups(of_model)]
    _name_by_task(logs)
    joined = dict(enumerate(sources)) | {log.at: log.source for log in logs}
    for group in groups:
        joined[group[0].at] = _joined(group)
        for log in group[1:]:
            del joined[log.at]
    return list(joined.values())


def _log(at: int, source: Responses) -> _Log | None:
    table = source.table
    reader = log_readers().get(table.format)
    if table.run_id is None or TASK not in table.columns or not reader or not reader.one_task:
        return None
    right = pl.col("correct").cast(pl.List(pl.String)).list.join("|")
    rows = table.frame.select(
        pl.col("question", TASK).cast(pl.String),
        correct=right.fill_null("") if "correct" in table.columns else pl.lit(""),
    ).collect()
    tasks = rows[TASK].unique().to_list()
    if len(tasks) != 1 or not tasks[0]:
        return None
    questions = rows.drop(TASK).unique("question", keep="first", maintain_order=True)
    return _Log(at, source, tasks[0], questions, table.run_id[0])


def _find_same_questions(logs: Sequence[_Log]) -> None:
    first: dict[str, _Log] = {}
    for log in logs:
        others = first.values()
        same = [o.asks for o in others if o.task == log.task or log.asks_what(o)]
        log.asks = same[0] if same else log.task
        first.setdefault(log.task, log)


def _groups(logs: Sequence[_Log]) -> list[list[_Log]]:
    tasks = {log.task for log in logs}
    if len(tasks) == 1 or len({log.asks for log in logs}) < len(tasks):
        return []  # the same questions again and again are as many runs
    if len(tasks) == len(logs):
        return [list(logs)]
    folders: dict[str, dict[str, _Log]] = defaultdict(dict)
    for log in logs:
        other = folders[log.folder].setdefault(log.task, log)
        if other is not log:
            two = f"{other.source.table.name} and {log.source.table.name}"
            what = f"model {shown(str(log.source.run))} has two logs of task {shown(log.task)}"
            raise UsageError(
                f"{what} ({two}) beside other tasks: give one, or a folder to each run"
            )
    return [list(group.values()) for group in folders.values() if len(group) > 1]


def _name_by_task(logs: Sequence[_Log]) -> None:
    """Prefix every question id with its task, if two tasks share an id."""
    asked = [log.questions.select("question", task=pl.lit(log.asks)) for log in logs]
    ids = pl.concat(asked).unique()["question"]
    shared = ids.filter(ids.is_duplicated()).min()
    if shared is None:
        return
    ids_alike = f"several tasks have the same ids (such as {shown(str(shared))})"
    for log in logs:
        table = log.source.table
        frame = table.frame.with_columns(_with_task(table.columns, pl.lit(log.asks)))
        notes = (*table.notes, f"{ids_alike}: questions are named task/id")
        log.source = replace(log.source, table=replace(table, frame=frame, notes=notes))


def _with_task(columns: Sequence[str], task: pl.Expr) -> list[pl.Expr]:
    ids = [name for name in ("question", SAMPLE) if name in columns]
    return [pl.concat_str(task, pl.lit("/"), pl.col(name)).alias(name) for name in ids]


def _joined(logs: Sequence[_Log]) -> Responses:
    run = os.path.basename(logs[0].folder) if logs[0].is_nameless else str(logs[0].source.run)
    tables = [log.source.table for log in logs]
    folders = {os.path.dirname(table.name) for table in tables}
    table = as_one_table(tables, folders.pop() if len(folders) == 1 else run)
    tasks = [log.task for log in logs]
    listed = ", ".join(tasks[:5]) + (" …" if tasks[5:] else "")
    joined = f"were joined into one run, one task per log ({listed})"
    notes = (*table.notes, f"{plural(len(logs), 'log')} of {run} {joined}")
    table = replace(table, notes=notes, run_id=(run, 1))
    teams = {log.source.team for log in logs}
    return Responses(table, run, teams.pop() if len(teams) == 1 else None)


def as_one_table(tables: Sequence[Table], name: str) -> Table:
    """Concatenate tables of logs; the rows keep their places in the files."""
    cluster = next((table.cluster for table in tables if table.cluster), None)
    frames, parts, start = [], [], 0
    for table in tables:
        frame = table.frame.collect()
        if cluster is not None and table.cluster is None:
            frame = frame.with_columns(pl.col("question").alias(cluster))
        frames.append(frame.with_columns((pl.col(ROW) + start).cast(pl.UInt32)))
        parts.append((start, table))
        start += frame.height
    whole = pl.concat(frames, how="diagonal_relaxed")
    plans = [table.plan for table in tables]
    weakest: Plan = None if None in plans else "epochs" if "epochs" in plans else "samples"
    return replace(
        tables[0],
        name=name,
        columns=tuple(column for column in whole.columns if column != ROW),
        frame=whole.lazy(),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        cluster=cluster,
        facts=tuple(fact for fact in tables[0].facts if fact[0] not in (TASK, "dataset")),
        plan=weakest,
        lines=None,
        parts=tuple(parts),
    )


def with_unasked(responses: Sequence[Responses], gold: Gold | None) -> list[Responses]:
    """The runs, with a row for each question that a log did not set out to answer.

    If the gold is not a log, its questions count, and only missing epochs get a row.
    """
    logs = {at: item.table.frame.collect() for at, item in enumerate(responses) if item.table.plan}
    if not logs:
        return list(responses)
    every = _questions(list(logs.values())) if gold is None else gold.frame
    padded = list(responses)
    for at, rows in logs.items():
        lacking = every.join(rows, on="question", how="anti")
        if padded[at].table.plan == "epochs" or (gold is not None and not gold.verdicts):
            lacking = _later_epochs(lacking, rows)
        if not lacking.is_empty():
            padded[at] = _with_blanks(padded[at], rows, lacking, every)
    return padded


FIRST_EPOCH = pl.lit(1, dtype=pl.Int64).alias(EPOCH)


def _questions(logs: Sequence[pl.DataFrame]) -> pl.DataFrame:
    asked = [log.drop([c for c in (ROW, *OF_A_RUN) if c in log.columns]) for log in logs]
    if any(EPOCH in log.columns for log in asked):
        asked = [log if EPOCH in log.columns else log.with_columns(FIRST_EPOCH) for log in asked]
    whole = pl.concat(asked, how="diagonal_relaxed")
    return whole.unique("question", keep="first", maintain_order=True)


def _later_epochs(lacking: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The lacking questions that are epochs of a log's samples after its last one."""
    if not {SAMPLE, EPOCH} <= {*lacking.columns} or SAMPLE not in rows.columns:
        return lacking.clear()
    last = pl.col(EPOCH).cast(pl.Int64).max() if EPOCH in rows.columns else pl.lit(1)
    epochs = rows.group_by(pl.col(SAMPLE).cast(pl.String)).agg(last.alias("__last"))
    later = lacking.join(epochs, on=SAMPLE, how="inner")
    return later.filter(pl.col(EPOCH).cast(pl.Int64) > pl.col("__last")).drop("__last")


def _with_blanks(
    item: Responses, rows: pl.DataFrame, lacking: pl.DataFrame, every: pl.DataFrame
) -> Responses:
    """A log with a blank for each question that it was not asked, and a note of that."""
    if EPOCH in every.columns and EPOCH not in rows.columns:
        rows = rows.with_columns(FIRST_EPOCH)
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
    asked = f"{rows.height:,} of {plural(every.height, 'question')}"
    note = f"{item.run} was asked {asked} and is judged on those"
    lines = item.table.lines
    table = replace(
        item.table,
        frame=whole.lazy(),
        columns=tuple(name for name in whole.columns if name != ROW),
        lines=None if lines is None else [*lines, *[lines[-1]] * blanks.height],
        notes=(*item.table.notes, note),
    )
    return replace(item, table=table)


def with_shared_ids(gold: Gold, responses: Sequence[Responses]) -> tuple[Gold, list[Responses]]:
    """A gold and the logs of runs, with the same names for the same questions.

    Ids may have their task before them on one side only. A gold has each sample once: the epochs
    of a run are repeats of it.
    """
    named = list(responses)
    for at, item in enumerate(named):
        table, ids = item.table, gold.frame["question"].implode()
        if table.verdicts is None or not {TASK, "question"} <= {*table.columns}:
            continue
        rows = table.frame.select(pl.col("question", TASK).cast(pl.String)).collect()
        if rows["question"].is_in(ids).any():
            continue
        tasks = rows[TASK].unique().to_list()
        if len(tasks) == 1 and (f"{tasks[0]}/" + rows["question"]).is_in(ids).any():
            frame = table.frame.with_columns(_with_task(table.columns, pl.lit(tasks[0])))
            named[at] = replace(item, table=replace(table, frame=frame))
        elif gold.verdicts and TASK in gold.attributes:
            longer = gold.frame.with_columns(_with_task(gold.frame.columns, pl.col(TASK)))
            if rows["question"].is_in(longer["question"].implode()).any():
                gold = replace(gold, frame=longer)
    return _with_epochs(gold, named), named


def _with_epochs(gold: Gold, responses: Sequence[Responses]) -> Gold:
    """The gold, with every epoch in which a run answers one of its questions."""
    logs = [
        item.table.frame.select(pl.col("question", SAMPLE, EPOCH).cast(pl.String)).collect()
        for item in responses
        if item.table.verdicts is not None and {SAMPLE, EPOCH} <= {*item.table.columns}
    ]
    if not logs:
        return gold
    again = pl.concat(logs).unique(maintain_order=True).join(gold.frame, on="question", how="anti")
    samples = gold.frame.drop(SAMPLE, EPOCH, strict=False).rename({"question": SAMPLE})
    again = samples.join(again, on=SAMPLE, how="inner")
    if again.is_empty():
        return gold
    first = {SAMPLE: pl.col("question"), EPOCH: pl.lit("1")}
    lacking = {name: cell for name, cell in first.items() if name not in gold.frame.columns}
    frame = gold.frame.with_columns(**lacking)
    frame = pl.concat([frame, again.select(frame.columns)], how="vertical_relaxed")
    attributes = tuple(dict.fromkeys([*gold.attributes, SAMPLE, EPOCH]))
    return replace(gold, frame=frame, attributes=attributes)
