"""Responses and gold to kinds: right, wrong, or a blank with its reason and its candidate.

One expression gives every response its kind, in the engine that the responses live in;
faults (a question the gold lacks, a row that contradicts itself) are kinds of their own, so
counting finds them for nothing and only then are their rows looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import narwhals as nw
import polars as pl

from abstain.errors import InputError, Place, UsageError, nearest, plural, shown
from abstain.formats.tables import ROW
from abstain.normalise import matcher
from abstain.outcomes import CANDIDATES, KIND_OF_WORD, KINDS, RIGHT, WRONG, Why, blank_kind
from abstain.questions import RULE, Gold, Responses, collect, require, text_column

FILE, INDEX, KIND, CORRECT = "__file", "__index", "__kind", "__correct"
VERDICT = "__verdict"
BY = "by:"
"""Prefix of a slice attribute's column, so that no attribute can take another column's name."""
YES, NO = ("yes", "true", "1", "y"), ("no", "false", "0", "n")

UNKNOWN_QUESTION, NO_QUESTION, NO_RUN, BAD_ANSWERED, BAD_WHY, CONFLICT, BAD_CONFIDENCE = range(
    KINDS, KINDS + 7
)
FAULTS = {
    UNKNOWN_QUESTION: "unknown question",
    NO_QUESTION: "no question id",
    NO_RUN: "no run name",
    BAD_ANSWERED: "unreadable 'answered'",
    BAD_WHY: "unknown reason",
    CONFLICT: "contradiction",
    BAD_CONFIDENCE: "bad confidence",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a submission, with its place."""

    kind: str
    place: Place
    message: str
    run: str | None = None
    question: str | None = None
    details: tuple[Problem, ...] = ()
    """The problems that this one explains."""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"

    def error(self, others: int = 0) -> InputError:
        """The problem as an error that says how many more there are."""
        tail = f" (and {others:,} more; `abstain validate` lists them)" if others else ""
        return InputError(self.message + tail, self.place)


@dataclass(frozen=True, slots=True)
class Judged:
    """Responses with their kinds, still lazy: one frame for each engine.

    Columns: `run`, the slice attributes, `INDEX` (the question's position in the gold), `KIND`,
    and what it takes to find a row again.
    """

    frames: tuple[nw.LazyFrame[Any], ...]
    sources: tuple[Responses, ...]
    gold: Gold

    def place(self, row: Mapping[str, Any]) -> Place:
        """Where a row that was found stands."""
        source: Responses = self.sources[row[FILE]]
        return source.place(row.get(ROW))


def judge(
    gold: Gold,
    sources: Sequence[Responses],
    *,
    match: str = "id",
    align: str = "id",
    by: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> Judged:
    """Give every response its kind; `keep` names other columns to keep, as text, where present."""
    gold.check_attributes(by)
    canonical = [
        _canonical(item, index, align, keep, verdicts=gold.verdicts)
        for index, item in enumerate(sources)
    ]
    groups: dict[str, list[nw.LazyFrame[Any]]] = {}
    for index, (source, frame) in enumerate(zip(sources, canonical, strict=True)):
        # Files that an engine opened for us share a connection; a caller's frames may not.
        shared = frame.implementation.is_polars() or source.table.opened is not None
        key = str(frame.implementation) if shared else f"table {index}"
        groups.setdefault(key, []).append(frame)
    frames = tuple(
        _with_kinds(
            nw.concat(group, how="diagonal") if len(group) > 1 else group[0],
            gold,
            match=match,
            align=align,
            by=by,
        )
        for group in groups.values()
    )
    return Judged(frames, tuple(sources), gold)


# ------------------------------------------------------------------------- one shape for all


def _canonical(
    source: Responses, index: int, align: str, keep: Sequence[str], *, verdicts: bool = False
) -> nw.LazyFrame[Any]:
    """The columns of a response, trimmed text, with the number of their table."""
    table, frame = source.table, source.frame
    if align == "id":
        require(table, "question", "which names each question")
    require(table, "answer", "which holds the answer (empty: none was given)")
    columns = [
        text_column(frame, name, table.name, trim=name != "question").alias(name)
        for name in ("question", "answer", "answered", "candidate", "why", *keep)
        if name in table.columns
    ]
    if table.refusals and RULE in table.columns:
        columns.append(nw.col(RULE))
    run = (
        nw.lit(source.run).cast(nw.String).alias("run")
        if source.run is not None
        else text_column(frame, "run", table.name).alias("run")
    )
    if verdicts and table.verdicts is not None:
        columns.append(_verdict().alias(VERDICT))
    if "confidence" in table.columns:
        frame, extra = with_confidence(frame)
        columns += extra
    if ROW in frame.collect_schema().names():
        columns.append(nw.col(ROW))
    return frame.select(run, nw.lit(index).cast(nw.Int32).alias(FILE), *columns)


def _verdict() -> nw.Expr:
    """The kind that a log's own outcome is."""
    chain = nw.when(nw.lit(value=False)).then(nw.lit(KINDS))
    for word, kind in KIND_OF_WORD.items():
        chain = chain.when(nw.col("outcome") == word).then(nw.lit(kind))
    return chain.cast(nw.Int16)


def with_confidence(frame: nw.LazyFrame[Any]) -> tuple[nw.LazyFrame[Any], list[nw.Expr]]:
    """Confidence as a float, and whether it can be one."""
    dtype = frame.collect_schema()["confidence"]
    native = frame.to_native()
    if dtype == nw.String and isinstance(native, pl.LazyFrame):
        text = pl.col("confidence").str.strip_chars()
        number = text.cast(pl.Float64, strict=False)
        unread = number.is_null() & text.is_not_null() & (text != "")
        native = native.with_columns(confidence=number, __unread=unread)
        frame = nw.from_native(native)
        return frame, [nw.col("confidence"), nw.col("__unread")]
    return frame, [nw.col("confidence").cast(nw.Float64)]


def check_align(align: str) -> str:
    """`id` or `position`."""
    if align not in ("id", "position"):
        raise UsageError(f"--align is id or position (got '{align}')")
    return align


# ------------------------------------------------------------------------------------ kinds


def _with_kinds(
    frame: nw.LazyFrame[Any], gold: Gold, *, match: str, align: str, by: Sequence[str]
) -> nw.LazyFrame[Any]:
    names = frame.collect_schema().names()
    keys = pl.DataFrame(
        {
            "question": gold.frame["question"],
            INDEX: pl.int_range(len(gold), dtype=pl.Int32, eager=True),
            CORRECT: gold.frame["accepted"].list.first(),
        }
    ).with_columns(**{BY + name: gold.frame[name] for name in by})
    accepted = gold.frame.select("question", "accepted").explode("accepted")
    several = accepted.height > len(gold)
    if align == "position":
        frame = _by_position(frame)
    if match != "id":
        normal = matcher(match)
        frame = _normalised(frame, normal)
        keys = keys.with_columns(pl.Series(CORRECT, [normal(text) for text in keys[CORRECT]]))
        accepted = accepted.with_columns(
            pl.Series("accepted", [normal(text) for text in accepted["accepted"]])
        )
    join_on = INDEX if align == "position" else "question"
    if join_on == INDEX and "question" in names:
        frame = frame.drop("question")
    frame = frame.join(in_engine(keys, frame), on=join_on, how="left")
    if align == "position":
        frame = frame.with_columns(nw.col(CORRECT).is_null().alias("__lost"))
    if several:
        frame = _accept_several(frame, accepted, names)
    else:
        right = [(nw.col("answer") == nw.col(CORRECT)).alias("__right")]
        if "candidate" in names:
            right.append((nw.col("candidate") == nw.col(CORRECT)).alias("__candidate_right"))
        frame = frame.with_columns(*right)
    if RULE in names:
        frame, names = _without_refusals(frame, names), [*names, "why"]
    return frame.with_columns(_kind(names, align).alias(KIND))


def _without_refusals(frame: nw.LazyFrame[Any], names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Answers that a rule found to decline as blanks; what is right all the same stands."""
    declines = ~nw.col(RULE).is_null() & ~nw.col("__right").fill_null(value=False)
    why = nw.col("why") if "why" in names else nw.lit(None).cast(nw.String)
    return frame.with_columns(
        nw.when(declines).then(nw.lit("")).otherwise(nw.col("answer")).alias("answer"),
        nw.when(declines).then(nw.lit(Why.DECLINED.value)).otherwise(why).alias("why"),
    )


def _kind(names: Sequence[str], align: str) -> nw.Expr:
    """The kind of a response from its columns; the first fault found wins."""
    col, lit, when = nw.col, nw.lit, nw.when

    def filled(name: str) -> nw.Expr:
        return ~col(name).is_null() & (col(name) != "")

    def nowhere() -> nw.Expr:
        return lit(value=False)

    answer = filled("answer")
    said_no, why_given, candidate = nowhere(), nowhere(), nowhere()
    if "answered" in names:
        said_no = filled("answered") & col("answered").str.to_lowercase().is_in(NO)
    if "why" in names:
        why_given = filled("why")
    if "candidate" in names:
        candidate = filled("candidate")

    def right(name: str) -> nw.Expr:
        return col(name).fill_null(value=False)

    aside = answer & said_no  # an answer inside an unanswered question is its candidate
    candidate_right = aside & right("__right")
    if "candidate" in names:
        candidate_right = candidate_right | (~aside & candidate & right("__candidate_right"))
    fate = (
        when(candidate_right)
        .then(lit(CANDIDATES.index("right")))
        .when(aside | candidate)
        .then(lit(CANDIDATES.index("wrong")))
        .otherwise(lit(CANDIDATES.index("empty")))
    )
    reason = when(nowhere()).then(lit(KINDS))
    if "why" in names:  # a reason that is given says more than "not answered"
        why_text = col("why").str.to_lowercase()
        for why in Why:
            reason = reason.when(why_given & (why_text == why.value)).then(
                lit(blank_kind(why, "right"))
            )
    reason = reason.when(said_no).then(lit(blank_kind(Why.DECLINED, "right")))
    blank = reason.otherwise(lit(blank_kind(Why.EMPTY, "right"))) + fate

    lost = col("__lost") if align == "position" else col(INDEX).is_null()
    faults: list[tuple[int, nw.Expr]] = [
        (NO_RUN, ~filled("run")),
        *([] if align == "position" else [(NO_QUESTION, ~filled("question"))]),
        (UNKNOWN_QUESTION, lost),
    ]
    if "answered" in names:
        known = col("answered").str.to_lowercase().is_in((*YES, *NO))
        faults.append((BAD_ANSWERED, filled("answered") & ~known))
    if "why" in names:
        faults.append((BAD_WHY, why_given & ~col("why").str.to_lowercase().is_in(tuple(Why))))
    conflicts = []
    if "why" in names and "answered" in names:
        conflicts.append(why_given & filled("answered") & ~said_no)
    if "why" in names:
        conflicts.append(why_given & answer & ~said_no)
    if "candidate" in names:
        conflicts.append(answer & candidate & (col("candidate") != col("answer")))
    if conflicts:
        faults.append((CONFLICT, reduce(lambda a, b: a | b, conflicts)))
    if "confidence" in names:
        confidence = col("confidence")
        outside = (confidence < 0) | (confidence > 1) | confidence.is_nan()
        bad = outside.fill_null(value=False)
        faults.append((BAD_CONFIDENCE, bad | col("__unread") if "__unread" in names else bad))

    chain = when(faults[0][1]).then(lit(faults[0][0]))
    for code, condition in faults[1:]:
        chain = chain.when(condition).then(lit(code))
    if VERDICT in names:
        chain = chain.when(~col(VERDICT).is_null()).then(col(VERDICT))
    return (
        chain.when(answer & ~aside & right("__right"))
        .then(lit(RIGHT))
        .when(answer & ~aside)
        .then(lit(WRONG))
        .otherwise(blank)
    ).cast(nw.Int8)


def _accept_several(
    frame: nw.LazyFrame[Any], accepted: pl.DataFrame, names: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Mark answers that are among several accepted ones, by a join on question and answer."""
    accepted = accepted.unique()
    for column, mark in (("answer", "__right"), ("candidate", "__candidate_right")):
        if column in names:
            right = accepted.rename({"accepted": column}).with_columns(
                pl.lit(value=True).alias(mark)
            )
            frame = frame.join(in_engine(right, frame), on=["question", column], how="left")
    return frame


def _normalised(frame: nw.LazyFrame[Any], normal: Any) -> nw.LazyFrame[Any]:
    """Answers and candidates normalised: each distinct text once, then joined back."""
    for column in ("answer", "candidate"):
        if column not in frame.collect_schema().names():
            continue
        distinct = collect(frame.select(column).unique(), "the responses")[column].drop_nulls()
        mapping = pl.DataFrame(
            {column: distinct, "__normal": [normal(text) for text in distinct]},
            schema={column: pl.String, "__normal": pl.String},
        )
        frame = (
            frame.join(in_engine(mapping, frame), on=column, how="left")
            .drop(column)
            .rename({"__normal": column})
        )
    return frame


def _by_position(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """The position of each response in its run as the index of its question."""
    native = frame.to_native()
    if not isinstance(native, pl.LazyFrame):
        raise UsageError("--align position needs rows in order: give a file or an eager frame")
    position = pl.col(ROW).rank("ordinal").over(FILE, "run").cast(pl.Int32) - 1
    return nw.from_native(native.with_columns(position.alias(INDEX)))


def in_engine(small: pl.DataFrame, like: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A small table, moved to the engine of the frame that it will be joined with."""
    native = like.to_native()
    if isinstance(native, pl.LazyFrame):
        return nw.from_native(small.lazy())
    if like.implementation.is_duckdb():
        # A relation runs in its own connection: a query on it sees Python's `small_table` there.
        small_table = small.to_arrow()  # noqa: F841
        relation: nw.LazyFrame[Any] = nw.from_native(
            native.query("__unused", "SELECT * FROM small_table")
        )
        return relation
    if like.implementation.is_pyspark():
        from abstain.engines import to_spark

        sent: nw.LazyFrame[Any] = nw.from_native(to_spark(small, native.sparkSession))
        return sent
    raise UsageError(
        f"lazy {like.implementation} frames are not supported; collect it, or use polars, duckdb "
        "or Spark"
    )


# --------------------------------------------------------------------------------- problems


def fault_problem(judged: Judged, row: Mapping[str, Any], *, hints: bool = True) -> Problem:
    """The problem that a faulty row is; `hints` names the nearest ids, which takes its time."""
    place, question = judged.place(row), row.get("question")
    match row[KIND]:
        case code if code == UNKNOWN_QUESTION and question is None:
            message = f"is one row more than the gold's {plural(len(judged.gold), 'question')}"
        case code if code == UNKNOWN_QUESTION:
            near = nearest(question or "", _alike(question or "", judged.gold)) if hints else []
            hint = f" (nearest: {', '.join(shown(n) for n in near)})" if near else ""
            message = f"question {shown(question or '')} is not in the gold{hint}"
        case code if code == NO_QUESTION:
            message = "the row has no question id"
        case code if code == NO_RUN:
            message = "the row has no run name"
        case code if code == BAD_ANSWERED:
            message = f"answered is {shown(row['answered'])}, expected yes or no"
        case code if code == BAD_WHY:
            near = nearest(row["why"], tuple(Why))
            hint = f" (nearest: {near[0]})" if near else ""
            message = f"why is {shown(row['why'])}, expected one of {', '.join(Why)}{hint}"
        case code if code == CONFLICT:
            message = f"the row contradicts itself: {_contradiction(row)}"
        case _:
            value = row.get("confidence")
            got = "not a number" if value is None else f"{value:g}"
            message = f"confidence is {got}, expected 0 to 1"
    return Problem(FAULTS[row[KIND]], place, message, row.get("run"), question)


def _alike(question: str, gold: Gold) -> list[str]:
    """Ids of about the same length, few enough to compare one by one."""
    ids = gold.frame["question"]
    lengths = ids.str.len_chars().cast(pl.Int64)
    return ids.filter((lengths - len(question)).abs() <= 2).head(5_000).to_list()


def _contradiction(row: Mapping[str, Any]) -> str:
    said = [
        f"{name} {shown(row[name])}"
        for name in ("answer", "answered", "candidate", "why")
        if row.get(name)
    ]
    return ", ".join(said)
