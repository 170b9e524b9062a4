"""A table from one format to another, its known columns under their known names."""

import os
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import narwhals as nw
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, option, plural
from abstain.io.files import bare_name, is_bundle
from abstain.io.frames import check_mapping, collect, open_table, rename
from abstain.io.normalise import matcher
from abstain.io.tables import ROW, Table, format_of_name, write_table
from abstain.reading import Reading, ReadingOptions
from abstain.runs.gold import by_position, read_gold
from abstain.runs.judge import NO
from abstain.runs.log_tasks import as_one_table
from abstain.runs.refusals import STAND, blanked, with_refusals
from abstain.runs.responses import CLUSTER, RULE, RUN, Responses, opened_runs, with_our_names

PLACE, TEXT, VOTES = "__row", "__text", "__votes"


class Converted(NamedTuple):
    rows: int
    notes: tuple[str, ...]
    """What a reader should know of the table."""


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    gold: Any = None,
    vote: bool = False,
    **options: Unpack[ReadingOptions],
) -> Converted:
    """Write a gold or a run in another format, its known columns under their known names.

    Text stays text: an id such as `007` survives. Only `confidence` becomes a number, where
    every cell is one. A run keeps the name that it has, in its file or by it.

    Args:
        source: A table in any format, or a folder of logs.
        target: The file to write, which may be there already.
        to: csv, tsv, jsonl, json, parquet or qa4mre; by default the ending of `target`.
        gold: With `align="position"`, the gold (or the test set) whose ids a run is to have.
        vote: Make one response of several samples of a question: the majority's answer, with the
            share of the samples that agree as confidence.
        options: Those of `read` that are about files and refusals, which become blanks; `align`.
    """
    reading = Reading.of(**options)
    if (gold is None) == (reading.align == "position"):
        both = f"{option('gold', 'GOLD')} and {option('align', 'position')}"
        raise UsageError(f"{both} go together: they give a run the ids of the gold")
    to_format = to or format_of_name(str(target))
    raw = _opened(source, reading)
    check_mapping(reading.columns, [raw])
    table = rename(rename(raw, reading.columns, side="gold"), reading.columns, side="run")
    if vote:
        table = with_our_names(table, RUN)
    if gold is not None:
        if "answer" not in table.columns:
            raise InputError("has no column 'answer', expected a run", table.name)
        standard = read_gold(gold, replace(reading, format=None, pick={}), answers=False)
        run = None if "run" in table.columns else bare_name(source)
        table = by_position(Responses(table, run), standard).table
    if table.refusals and ("correct" not in table.columns or table.verdicts is not None):
        table = with_refusals(table, table.refusals)
    frame = collect(nw.from_native(table.frame), table.name)
    if table.refusals and RULE in frame.columns and (vote or table.verdicts is not None):
        frame = blanked(frame)
    frame = frame.drop(ROW, strict=False)
    if "confidence" in frame.columns and frame["confidence"].dtype == pl.String:
        numbers = frame["confidence"].cast(pl.Float64, strict=False)
        empty = frame["confidence"].is_null() | (frame["confidence"] == "")
        if (numbers.is_not_null() | empty).all():
            frame = frame.with_columns(numbers)
    is_log = table.verdicts is not None
    is_run = "answer" in frame.columns and (is_log or "correct" not in frame.columns)
    if is_run and "run" not in frame.columns and (table.run_id or to_format == "qa4mre"):
        run = table.run_id[0] if table.run_id else bare_name(source)
        frame = frame.with_columns(pl.lit(run).alias("run"))
    notes = list(table.notes)
    if vote:
        frame, note = voted(frame, table.name)
        notes = [each.removesuffix(STAND) for each in notes]  # a vote asks no gold
        notes.append(f"{target}: {note}")
    if (declared := table.cluster) in frame.columns:
        if CLUSTER in frame.columns and declared != CLUSTER:
            how = f"for intervals, cluster by the column {declared}, as the log does"
        else:
            frame = frame.with_columns(pl.col(str(declared)).alias(CLUSTER))
            how = f"the column {CLUSTER} names the clusters that intervals use"
        notes.append(f"{target}: {how}")
    write_table(frame, Path(target), format=to_format)
    return Converted(frame.height, tuple(notes))


def _opened(source: str | os.PathLike[str], reading: Reading) -> Table:
    """The table of a file, or of the runs in a folder or an archive: a model's tasks are one."""
    if not is_bundle(source):
        table = open_table(source, format=reading.format, pick=reading.pick)
        return replace(table, refusals=reading.refusals)
    sources = opened_runs(os.fspath(source), replace(reading, columns={}))
    if len(sources) == 1:
        return sources[0].table  # which has a name already
    named = [
        s.table
        if s.run is None
        else replace(s.table, frame=s.table.frame.with_columns(pl.lit(s.run).alias("run")))
        for s in sources
    ]
    return as_one_table(named, os.fspath(source))


def voted(rows: pl.DataFrame, name: str) -> tuple[pl.DataFrame, str]:
    """A row for each question of each run, and what there is to say of ties.

    Self-consistency (Wang et al. 2023): confidence is the share of the samples that agree.

    Answers are the same where they differ in case, width and punctuation alone. The first of tied
    ones is taken. Blanks count as samples: more of them than of any answer make a blank, whose
    candidate that answer is; as many are a tie, which the answer wins.
    """
    for column in ("question", "answer"):
        if column not in rows.columns:
            raise InputError(f"has no column '{column}', expected samples to vote on", name)
    keys = [key for key in ("run", "question") if key in rows.columns]
    if not rows.select(keys).is_duplicated().any():
        raise InputError("has one row for each question, expected several samples", name)
    text = pl.col("answer").cast(pl.String).fill_null("").str.strip_chars()
    if "answered" in rows.columns:
        declined = pl.col("answered").cast(pl.String).str.to_lowercase().is_in(list(NO))
        text = pl.when(declined.fill_null(value=False)).then(pl.lit("")).otherwise(text)
    normal, rows = matcher("text"), rows.with_columns(text.alias("answer")).with_row_index(PLACE)
    texts = rows["answer"].unique().to_list()
    same = pl.col("answer").replace_strict(texts, [normal(t) or t for t in texts])
    counted = (
        rows.group_by(*keys, same.alias(TEXT))
        .agg(pl.col(PLACE).min(), pl.len().alias(VOTES))
        .sort(pl.col(TEXT) == "", -pl.col(VOTES).cast(pl.Int64), PLACE)  # blanks last
    )
    most = pl.col(VOTES).filter(pl.col(TEXT) != "").max()
    questions = counted.group_by(keys, maintain_order=True).agg(
        pl.col(PLACE).first(),
        blank=pl.col(VOTES).filter(pl.col(TEXT) == "").sum() > most.fill_null(0),
        tied=(pl.col(VOTES) == most).sum() > 1,
        confidence=most / pl.col(VOTES).sum(),
    )
    stale = ("answered", "why", "confidence", "candidate")
    kept = rows.drop(stale, strict=False).join(questions.drop(keys), on=PLACE).sort(PLACE)
    blank, nothing = pl.col("blank"), pl.lit("")
    made = kept.with_columns(
        answer=pl.when(blank).then(nothing).otherwise("answer"),
        candidate=pl.when(blank).then("answer").otherwise(nothing),
    )
    note = f"{plural(rows.height, 'sample')} became {plural(made.height, 'response')}"
    if ties := int(made["tied"].sum()):
        note += f", {ties:,} of them tied: the answer sampled first is taken"
    return made.drop(PLACE, "blank", "tied"), note
