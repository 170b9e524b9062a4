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
import numpy as np
import polars as pl

from abstain.errors import Place, UsageError, option
from abstain.io.columns import BLANKS, read_numbers, require_all, text_column, trimmed
from abstain.io.frames import collect, in_engine
from abstain.io.normalise import matcher
from abstain.io.tables import ROW
from abstain.judging.faults import (
    BAD_ANSWERED,
    BAD_CONFIDENCE,
    BAD_WHY,
    CONFLICT,
    NO_QUESTION,
    NO_RUN,
    UNKNOWN_QUESTION,
    UNREAD,
    Problem,
    fault_problem,
)
from abstain.judging.gold import Gold
from abstain.judging.responses import RULE, Responses
from abstain.judging.slices import BY, slice_numbers, slice_sizes, spots
from abstain.outcomes import CANDIDATES, KIND_OF_WORD, KINDS, RIGHT, WRONG, Why, blank_kind

FILE, INDEX, KIND, CORRECT = "__file", "__index", "__kind", "__correct"
VERDICT = "__verdict"
AS_GIVEN = "__as_given"
"""An answer before it is trimmed, in engines that trim slowly: most need none of it."""
SLICE, SPOT = "__slice", "__spot"
"""The number of a question's slice and its place there, where the engine counts by them."""
YES, NO = ("yes", "true", "1", "y"), ("no", "false", "0", "n")


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

    def fault(self, row: Mapping[str, Any], *, hints: bool = True) -> Problem:
        """The problem that a faulty row is."""
        return fault_problem(row[KIND], row, self.place(row), self.gold, hints=hints)


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
    needed = {"question": "which names each question"} if align == "id" else {}
    require_all(table, needed | {"answer": "which holds the answer (empty: none was given)"})
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
    if frame.implementation.is_duckdb():
        columns.append(text_column(frame, "answer", table.name).alias(AS_GIVEN))
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
    return chain.cast(nw.Int8)


def with_confidence(frame: nw.LazyFrame[Any]) -> tuple[nw.LazyFrame[Any], list[nw.Expr]]:
    """Confidence as a float, and the text of one that cannot be one."""
    if frame.collect_schema()["confidence"] != nw.String:
        return frame, [nw.col("confidence").cast(nw.Float64)]
    frame = read_numbers(frame, "confidence", "__number")
    text = trimmed(frame, nw.col("confidence"))
    unread = nw.when(nw.col("__number").is_null() & (text != "")).then(text)
    return frame, [nw.col("__number").alias("confidence"), unread.alias(UNREAD)]


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
    if frame.implementation.is_duckdb():
        slice_of = slice_numbers(gold.frame, slice_sizes(gold.frame, by), by)
        keys = keys.with_columns(
            pl.Series(SLICE, slice_of.astype(np.int32)), spots(slice_of).alias(SPOT)
        )
    accepted = gold.frame.select("question", "accepted").explode("accepted")
    several = accepted.height > len(gold)
    if align == "position":
        frame = _by_position(frame)
    if match != "id":
        normal = matcher(match)
        frame = _normalised(frame, normal)
        names = [name for name in names if name != AS_GIVEN]
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
        right = [_is_right(as_given=AS_GIVEN in names).alias("__right")]
        if "candidate" in names:
            right.append((nw.col("candidate") == nw.col(CORRECT)).alias("__candidate_right"))
        frame = frame.with_columns(*right)
    if RULE in names:
        frame, names = _without_refusals(frame, names), [*names, "why"]
    return frame.with_columns(_kind(names, align).alias(KIND))


def _is_right(*, as_given: bool) -> nw.Expr:
    """Whether an answer is the one that is right, trimmed only where that can make it so."""
    correct = nw.col(CORRECT)
    if not as_given:
        return nw.col("answer") == correct
    given = nw.col(AS_GIVEN)
    longer = given.str.len_chars() > correct.str.len_chars()
    same = given.str.strip_chars(BLANKS) == correct
    chain = nw.when(given == correct).then(nw.lit(value=True)).when(longer).then(same)
    return chain.otherwise(nw.lit(value=False))


def _has_answer(names: Sequence[str]) -> nw.Expr:
    """Whether there is an answer, trimmed only where it does not begin with a visible letter."""
    if AS_GIVEN not in names:
        return _filled("answer")
    given = nw.col(AS_GIVEN)
    visible = (given >= "!") & (given < "\x7f")
    some = ~given.is_null() & (given.str.strip_chars(BLANKS) != "")
    return nw.when(visible).then(nw.lit(value=True)).otherwise(some)


def _without_refusals(frame: nw.LazyFrame[Any], names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Answers that a rule found to decline as blanks; what is right all the same stands."""
    declines = ~nw.col(RULE).is_null() & ~nw.col("__right").fill_null(value=False)
    why = nw.col("why") if "why" in names else nw.lit(None).cast(nw.String)
    answers = [name for name in ("answer", AS_GIVEN) if name == "answer" or name in names]
    return frame.with_columns(
        *(nw.when(declines).then(nw.lit("")).otherwise(nw.col(n)).alias(n) for n in answers),
        nw.when(declines).then(nw.lit(Why.DECLINED.value)).otherwise(why).alias("why"),
    )


def _kind(names: Sequence[str], align: str) -> nw.Expr:
    """The kind of a response from its columns; the first fault found wins.

    Nothing is asked of columns that are not there, and a condition that is null does not hold.
    """
    has_answer, said_no = _has_answer(names), None
    if "answered" in names:
        said_no = _filled("answered") & nw.col("answered").str.to_lowercase().is_in(NO)
    # an answer inside an unanswered question is its candidate
    aside = None if said_no is None else has_answer & said_no
    chain: Any = nw
    for code, condition in _faults(names, align, has_answer, said_no):
        chain = chain.when(condition).then(_code(code))
    if VERDICT in names:
        chain = chain.when(~nw.col(VERDICT).is_null()).then(nw.col(VERDICT))
    blank = _reason(names, said_no) + _fate(names, aside)
    kind: nw.Expr = (
        chain.when(~has_answer if aside is None else ~has_answer | aside)
        .then(blank)
        .when(nw.col("__right"))
        .then(_code(RIGHT))
        .otherwise(_code(WRONG))
    )
    return kind.cast(nw.Int8)


def _code(number: int) -> nw.Expr:
    return nw.lit(number, dtype=nw.Int8)


def _filled(name: str) -> nw.Expr:
    return ~nw.col(name).is_null() & (nw.col(name) != "")


def _faults(
    names: Sequence[str], align: str, has_answer: nw.Expr, said_no: nw.Expr | None
) -> list[tuple[int, nw.Expr]]:
    """What may be wrong with a response, in the order in which it is told."""
    col = nw.col
    found = [(NO_RUN, ~_filled("run"))]
    if align == "position":
        found.append((UNKNOWN_QUESTION, col("__lost")))
    else:  # the gold has no question without an id
        found.append((NO_QUESTION, col(INDEX).is_null() & ~_filled("question")))
        found.append((UNKNOWN_QUESTION, col(INDEX).is_null()))
    if "answered" in names:
        known = col("answered").str.to_lowercase().is_in((*YES, *NO))
        found.append((BAD_ANSWERED, _filled("answered") & ~known))
    conflicts = []
    if "why" in names:
        given = _filled("why")
        found.append((BAD_WHY, given & ~col("why").str.to_lowercase().is_in(tuple(Why))))
        if said_no is None:
            conflicts.append(given & has_answer)
        else:
            conflicts.append(given & (_filled("answered") | has_answer) & ~said_no)
    if "candidate" in names:
        differs = col("candidate") != col("answer")
        conflicts.append(has_answer & _filled("candidate") & differs)
    if conflicts:
        found.append((CONFLICT, reduce(lambda a, b: a | b, conflicts)))
    if "confidence" in names:
        bad = ~col("confidence").is_between(0, 1)  # NaN is not
        bad = bad | ~col(UNREAD).is_null() if UNREAD in names else bad
        found.append((BAD_CONFIDENCE, bad))
    return found


def _reason(names: Sequence[str], said_no: nw.Expr | None) -> nw.Expr:
    """Why a blank is blank; a reason that is given says more than "not answered"."""
    chain: Any = nw
    if "why" in names:
        why_text = nw.col("why").str.to_lowercase()
        for why in Why:
            chain = chain.when(why_text == why.value).then(_code(blank_kind(why, "right")))
    if said_no is not None:
        chain = chain.when(said_no).then(_code(blank_kind(Why.DECLINED, "right")))
    empty = _code(blank_kind(Why.EMPTY, "right"))
    reason: nw.Expr = empty if chain is nw else chain.otherwise(empty)
    return reason


def _fate(names: Sequence[str], aside: nw.Expr | None) -> nw.Expr:
    """What the candidate behind a blank is."""
    right, wrong, empty = (_code(CANDIDATES.index(name)) for name in ("right", "wrong", "empty"))
    chain: Any = nw
    if aside is not None:
        chain = chain.when(aside & nw.col("__right")).then(right).when(aside).then(wrong)
    if "candidate" in names:
        there = _filled("candidate")
        chain = chain.when(there & nw.col("__candidate_right")).then(right).when(there).then(wrong)
    fate: nw.Expr = empty if chain is nw else chain.otherwise(empty)
    return fate


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
        raise UsageError(
            f"{option('align', 'position')} needs rows in order: give a file or an eager frame"
        )
    position = pl.col(ROW).rank("ordinal").over(FILE, "run").cast(pl.Int32) - 1
    return nw.from_native(native.with_columns(position.alias(INDEX)))
