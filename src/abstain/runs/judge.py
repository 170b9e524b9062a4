"""Responses and gold to kinds: right, wrong, or a blank with its reason and its candidate.

One expression gives every response its kind, in the engine that the responses live in;
faults (a question the gold lacks, a row that contradicts itself) are kinds too, so
counting detects them at no cost, and only then are their rows looked up.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, Place, UsageError, option
from abstain.io.frames import (
    collect,
    in_engine,
    into_lazy,
    is_all_null,
    read_numbers,
    require,
    text_column,
    text_columns,
    trimmed,
)
from abstain.io.tables import ROW
from abstain.outcomes import (
    CANDIDATES,
    CODES,
    KIND_OF_WORD,
    KINDS,
    RIGHT,
    WITHHELD,
    WRONG,
    Why,
    blank_kind,
)
from abstain.runs.gold import UNANSWERABLE, Gold, by_position, numbered_slices
from abstain.runs.responses import RULE, Responses

FILE, INDEX, KIND, CORRECT = "__file", "__index", "__kind", "__correct"
VERDICT = "__verdict"
UNREAD = "__unread"
SLICE, SPOT = "__slice", "__spot"
"""The number of a question's slice and its place there, for engines that count by them."""
EVERYONE = "__everyone"
"""Whether every response to a question is right: its key was corrected to `everyone`."""
SIDE, ACCEPTED = "__side", "__accepted"
"""What a question adds to a kind if it is unanswerable, and the kind of an accepted answer."""

UNKNOWN_QUESTION, NO_QUESTION, NO_RUN, BAD_ANSWERED, BAD_WHY, CONFLICT, BAD_CONFIDENCE = range(
    CODES, CODES + 7
)
BAD_ANSWERABLE = CODES + 7
"""Faults: the kinds of responses that cannot be judged (`faults`)."""
YES, NO = ("yes", "true", "1", "y"), ("no", "false", "0", "n")


class Judged(Struct, frozen=True):
    """Responses with their kinds, still lazy: one frame for each engine.

    Columns: `run`, `INDEX` (the question's position in the gold), `SLICE` and `SPOT`, `KIND`, and
    what it takes to find a row again.
    """

    frames: tuple[nw.LazyFrame[Any], ...]
    responses: tuple[Responses, ...]
    """Their tables; the column `FILE` is an index into them."""
    gold: Gold
    """The questions; those of graded rows have only what the rows say about them."""
    graded: bool = False
    with_candidates: tuple[bool, ...] = ()
    """Of each table whether it says of its blanks what their candidates are."""

    @property
    def label(self) -> str:
        return self.responses[0].table.name

    def place(self, row: Mapping[str, Any]) -> Place:
        item: Responses = self.responses[row[FILE]]
        return item.table.place(row.get(ROW))

    def missing(self, runs: Sequence[str]) -> list[int]:
        """For each run the kind of a missing response: one that states candidates has none."""
        states: dict[str | None, bool] = {}
        for item, known in zip(self.responses, self.with_candidates, strict=True):
            states[item.run] = known and states.get(item.run, True)
        unknown, empty = blank_kind(Why.MISSING), blank_kind(Why.MISSING, "empty")
        return [empty if states.get(run, states.get(None)) else unknown for run in runs]


def judge(
    gold: Gold,
    responses: Sequence[Responses],
    *,
    match: str = "id",
    align: str = "id",
    by: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> Judged:
    """Give every response its kind; `keep` names other columns to keep, as text, where present."""
    gold.check_attributes(by)
    if align == "position":
        responses = [_in_order(item, gold) for item in responses]
    known = tuple(map(_states_candidates, responses))
    unjudged = [
        _columns_to_judge(item, index, keep, verdicts=gold.verdicts, candidates=known[index])
        for index, item in enumerate(responses)
    ]
    frames = tuple(
        _with_kinds(frame, gold, match=match, by=by) for frame in by_engine(responses, unjudged)
    )
    return Judged(frames, tuple(responses), gold, with_candidates=known)


def _in_order(item: Responses, gold: Gold) -> Responses:
    if ROW not in item.frame.collect_schema().names():
        how = "needs rows in order: give a file or an eager frame"
        raise UsageError(f"{option('align', 'position')} {how}")
    return by_position(item, gold)


def _states_candidates(item: Responses) -> bool:
    """Whether a blank without a candidate has none: its table would say if it had one."""
    table = item.table
    if "candidate" in table.columns or table.format == "qa4mre":
        return True
    if not {"answered", "answer"} <= {*table.columns}:
        return False
    frame = into_lazy(table.frame)
    texts = text_columns(frame, ("answer", "answered"), table.name, trim=("answer", "answered"))
    aside = filled_in("answer") & nw.col("answered").str.to_lowercase().is_in(NO)
    return not collect(frame.select(*texts).filter(aside).head(1), table.name).is_empty()


def _columns_to_judge(
    item: Responses,
    index: int,
    keep: Sequence[str],
    *,
    verdicts: bool,
    candidates: bool,
) -> nw.LazyFrame[Any]:
    """The columns of a table that judging needs, as trimmed text, and the verdicts of a log.

    A candidate is null only where the table does not say whether there is one.
    """
    table = item.table
    needed = {"question": "which names each question"}
    require(table, needed | {"answer": "which holds the answer (empty: none was given)"})
    texts = tuple(dict.fromkeys(("answer", "answered", "candidate", "why", *keep)))
    extra = []
    if table.refusals and RULE in table.columns:
        extra.append(nw.col(RULE))
    if verdicts and table.verdicts is not None:
        words = [(nw.col("outcome") == word, nw.lit(kind)) for word, kind in KIND_OF_WORD.items()]
        extra.append(first_of(words, nw.lit(None)).cast(nw.Int8).alias(VERDICT))
    frame = columns_as_text(item, index, ("question", *texts), trim=texts, extra=extra)
    if not candidates:
        return frame
    there = "candidate" in table.columns
    candidate = nw.col("candidate").fill_null("") if there else nw.lit("")
    return frame.with_columns(candidate.alias("candidate"))


def columns_as_text(
    item: Responses,
    index: int,
    texts: Sequence[str],
    *,
    trim: Collection[str],
    extra: Sequence[nw.Expr] = (),
    confidence: bool = True,
) -> nw.LazyFrame[Any]:
    """The columns of `texts` that a table has, as text, with its run and its index (`FILE`)."""
    table, frame = item.table, item.frame
    present = [name for name in texts if name in table.columns]
    columns = text_columns(frame, present, table.name, trim=trim)
    run = nw.lit(item.run).cast(nw.String)
    if item.run is None:
        run = text_column(frame, "run", table.name)
    columns = [run.alias("run"), *columns, *extra]
    if confidence and "confidence" in table.columns:
        frame, read = _with_confidence(frame, table.name)
        columns += read
    return frame.select(nw.lit(index).cast(nw.Int32).alias(FILE), *columns)


def _with_confidence(
    frame: nw.LazyFrame[Any], label: str
) -> tuple[nw.LazyFrame[Any], list[nw.Expr]]:
    dtype = frame.collect_schema()["confidence"]
    if dtype.is_numeric() or dtype == nw.Boolean or is_all_null(frame, "confidence"):
        return frame, [nw.col("confidence").cast(nw.Float64)]
    if dtype in (nw.Categorical, nw.Enum):
        frame = frame.with_columns(nw.col("confidence").cast(nw.String))
    elif dtype != nw.String:
        raise not_numbers(dtype, label)
    frame = read_numbers(frame, "confidence", "__number")
    text = trimmed(frame, nw.col("confidence"))
    unread = nw.when(nw.col("__number").is_null() & (text != "")).then(text)
    return frame, [nw.col("__number").alias("confidence"), unread.alias(UNREAD)]


def not_numbers(dtype: object, label: str) -> InputError:
    return InputError(f"column 'confidence' holds {dtype}, expected one number per row", label)


def by_engine(
    responses: Sequence[Responses], frames: Sequence[nw.LazyFrame[Any]]
) -> list[nw.LazyFrame[Any]]:
    """The frames of tables, concatenated where they share an engine."""
    groups: dict[str, list[nw.LazyFrame[Any]]] = {}
    for index, (item, frame) in enumerate(zip(responses, frames, strict=True)):
        # Files that an engine opened for us share a connection; a caller's frames may not.
        shared = frame.implementation.is_polars() or item.table.opened is not None
        key = str(frame.implementation) if shared else f"table {index}"
        groups.setdefault(key, []).append(frame)
    return [
        nw.concat(group, how="diagonal") if len(group) > 1 else group[0]
        for group in groups.values()
    ]


def keys_of(questions: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """The table to join responses with: index of each question, its slice, its index in there."""
    number = pl.int_range(pl.len(), dtype=pl.Int32)
    places = numbered_slices(questions, by)[1].astype(np.int32) if by else 0
    slice_of = pl.lit(places, dtype=pl.Int32).alias(SLICE)
    everyone = [pl.col(EVERYONE)] if EVERYONE in questions.columns else []
    keys = questions.select(
        "question", number.alias(INDEX), slice_of, *_sides(questions), *everyone
    )
    return keys.with_columns(number.over(SLICE).alias(SPOT))


def _sides(questions: pl.DataFrame) -> list[pl.Expr]:
    """The columns `SIDE` and `ACCEPTED`; none if every question is answerable."""
    if UNANSWERABLE not in questions.columns or not questions[UNANSWERABLE].any():
        return []
    sides = [(pl.col(UNANSWERABLE).cast(pl.Int8) * KINDS).alias(SIDE)]
    if "nothing_right" in questions.columns:
        withheld = pl.col(UNANSWERABLE) & ~pl.col("nothing_right")
        right = pl.when(withheld).then(WITHHELD).otherwise(RIGHT)
        sides.append((right.cast(pl.Int8) + sides[0]).alias(ACCEPTED))
    return sides


def _with_kinds(
    frame: nw.LazyFrame[Any], gold: Gold, *, match: str, by: Sequence[str]
) -> nw.LazyFrame[Any]:
    names = frame.collect_schema().names()
    keys = keys_of(gold.frame, by).with_columns(gold.frame["accepted"].list.first().alias(CORRECT))
    accepted = gold.frame.select("question", "accepted").explode("accepted")
    several = accepted.height > len(gold)
    if gold.void:
        counts = ~nw.col("question").is_in(list(gold.void))
        frame = frame.filter(nw.col("question").is_null() | counts)
    if match != "id":
        from abstain.io.normalise import matcher

        normal = matcher(match)
        frame = _normalised(frame, normal)
        keys = keys.with_columns(pl.Series(CORRECT, [normal(text) for text in keys[CORRECT]]))
        accepted = accepted.with_columns(
            pl.Series("accepted", [normal(text) for text in accepted["accepted"]])
        )
    frame = frame.join(in_engine(keys, frame), on="question", how="left")
    if several:
        frame = _accept_several(frame, accepted, names)
    else:
        right = [(nw.col("answer") == nw.col(CORRECT)).alias("__right")]
        if "candidate" in names:
            right.append((nw.col("candidate") == nw.col(CORRECT)).alias("__candidate_right"))
        frame = frame.with_columns(*right)
    if RULE in names:
        frame, names = _without_refusals(frame, names), [*names, "why"]
    marked = SIDE in keys.columns
    side, accepts = (nw.col(SIDE), nw.col(ACCEPTED)) if marked else (code(0), code(RIGHT))
    if EVERYONE in keys.columns:
        names = [*names, EVERYONE]
    return frame.with_columns(_kind(names, side, accepts).alias(KIND))


def _without_refusals(frame: nw.LazyFrame[Any], names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Blank the answers that match a rule for refusals, unless the gold accepts them."""
    declines = ~nw.col(RULE).is_null() & ~nw.col("__right").fill_null(value=False)
    why = nw.col("why") if "why" in names else nw.lit(None).cast(nw.String)
    return frame.with_columns(
        nw.when(declines).then(nw.lit("")).otherwise(nw.col("answer")).alias("answer"),
        nw.when(declines).then(nw.lit(Why.DECLINED.value)).otherwise(why).alias("why"),
    )


def _kind(names: Sequence[str], side: nw.Expr, right: nw.Expr) -> nw.Expr:
    """The kind of a response from the columns that are there; the first fault wins.

    `side` is added where the question is unanswerable, `right` is the kind of an accepted answer.
    """
    has_answer, declined = filled_in("answer"), None
    if "answered" in names:
        declined = filled_in("answered") & nw.col("answered").str.to_lowercase().is_in(NO)
    # an answer inside an unanswered question is its candidate
    aside = None if declined is None else has_answer & declined
    cases = _faults(names, has_answer, declined)
    if EVERYONE in names:
        cases.append((nw.col(EVERYONE), code(RIGHT)))
    if VERDICT in names:
        cases.append((~nw.col(VERDICT).is_null(), nw.col(VERDICT) + side))
    blank = kind_by_reason(names, declined) + _candidate(names, aside) + side
    cases.append((~has_answer if aside is None else ~has_answer | aside, blank))
    cases.append((nw.col("__right"), right))
    return first_of(cases, code(WRONG) + side).cast(nw.Int8)


def first_of(cases: Iterable[tuple[nw.Expr, nw.Expr]], otherwise: nw.Expr) -> nw.Expr:
    """A when-then chain: the value of the first case whose condition holds."""
    chain: Any = nw
    for condition, value in cases:
        chain = chain.when(condition).then(value)
    expression: nw.Expr = otherwise if chain is nw else chain.otherwise(otherwise)
    return expression


def code(number: int) -> nw.Expr:
    """A kind code as a literal of one byte, alike in every engine."""
    return nw.lit(number, dtype=nw.Int8)


def filled_in(name: str) -> nw.Expr:
    return ~nw.col(name).is_null() & (nw.col(name) != "")


Cases = list[tuple[nw.Expr, nw.Expr]]
"""Pairs of a condition and a kind; the first condition that holds counts."""


def _faults(names: Sequence[str], has_answer: nw.Expr, declined: nw.Expr | None) -> Cases:
    col = nw.col
    cases = [
        (~filled_in("run"), code(NO_RUN)),
        # the gold has no question without an id
        (col(INDEX).is_null() & ~filled_in("question"), code(NO_QUESTION)),
        (col(INDEX).is_null(), code(UNKNOWN_QUESTION)),
    ]
    if "answered" in names:
        known = col("answered").str.to_lowercase().is_in((*YES, *NO))
        cases.append((filled_in("answered") & ~known, code(BAD_ANSWERED)))
    conflicts = []
    if "why" in names:
        reason = filled_in("why")
        if declined is None:
            conflicts.append(reason & has_answer)
        else:
            conflicts.append(reason & (filled_in("answered") | has_answer) & ~declined)
    if "candidate" in names:
        differs = col("candidate") != col("answer")
        conflicts.append(has_answer & filled_in("candidate") & differs)
    cases += bad_reason(names)
    if conflicts:
        cases.append((reduce(lambda a, b: a | b, conflicts), code(CONFLICT)))
    return cases + bad_confidence_of(names)


def bad_reason(names: Sequence[str]) -> Cases:
    if "why" not in names:
        return []
    unknown = ~nw.col("why").str.to_lowercase().is_in(tuple(Why))
    return [(filled_in("why") & unknown, code(BAD_WHY))]


def bad_confidence_of(names: Sequence[str]) -> Cases:
    if "confidence" not in names:
        return []
    bad = ~nw.col("confidence").is_between(0, 1)  # NaN is not
    return [(bad | ~nw.col(UNREAD).is_null() if UNREAD in names else bad, code(BAD_CONFIDENCE))]


def kind_by_reason(names: Sequence[str], declined: nw.Expr | None = None) -> nw.Expr:
    """The kind of a blank by its reason; a reason in `why` takes precedence over `answered=no`."""
    cases: Cases = []
    if "why" in names:
        reason = nw.col("why").str.to_lowercase()
        cases += [(reason == why.value, code(blank_kind(why, "right"))) for why in Why]
    if declined is not None:
        cases.append((declined, code(blank_kind(Why.DECLINED, "right"))))
    return first_of(cases, code(blank_kind(Why.EMPTY, "right")))


def _candidate(names: Sequence[str], aside: nw.Expr | None) -> nw.Expr:
    right, wrong, empty, unknown = [code(at) for at in range(len(CANDIDATES))]
    cases: Cases = []
    if aside is not None:
        cases += [(aside & nw.col("__right"), right), (aside, wrong)]
    if "candidate" in names:
        there = filled_in("candidate")
        cases += [(there & nw.col("__candidate_right"), right), (there, wrong)]
        cases.append((~nw.col("candidate").is_null(), empty))
    return first_of(cases, unknown)


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
