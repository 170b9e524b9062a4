"""Judged rows: rows that carry an outcome or a grade, mapped to kinds.

They become a `Judged`, as a gold and runs do, so that everything else is the same for both.
A letter may mean two things (`C` is "not attempted" in SimpleQA and "correct" in Inspect), so
the words of a whole data set are read together: they must all belong to one scale.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, check_name, nearest, option, shown, some_of
from abstain.io.frames import NUMBER, USUAL_NAMES, collect, in_engine, require, text_column
from abstain.outcomes import (
    CANDIDATES,
    KIND_OF_WORD,
    OUTCOMES,
    RIGHT,
    WITHHELD,
    WRONG,
    Why,
    blank_kind,
)
from abstain.reading import languages_of
from abstain.runs.counting import count_kinds
from abstain.runs.gold import BY, Gold
from abstain.runs.judge import (
    BAD_ANSWERABLE,
    CONFLICT,
    INDEX,
    KIND,
    NO_QUESTION,
    NO_RUN,
    SIDE,
    Judged,
    bad_confidence_of,
    bad_reason,
    by_engine,
    code,
    columns_as_text,
    filled_in,
    first_of,
    keys_of,
    kind_by_reason,
)
from abstain.runs.partial import PartialScale, shared, words_of
from abstain.runs.refusals import rule_of, text_of
from abstain.runs.responses import OF_A_RUN, OUTCOME, Responses
from abstain.runs.usual_names import ANSWERABLE, answerable_text, by_evidence, marking, sides_of

COLUMNS = ("outcome", "grade")
MARK = "__mark"
"""The column that marks questions as answerable or not, as text."""
BY_EVIDENCE = "__by_evidence"
"""Whether questions are marked by their evidence: an answer without it may be right."""
DECLINES = "__declines"
GRADED = "__graded"
NOT_ATTRIBUTES = (*OF_A_RUN, "question", "grade", "rank", "known")


def judge_rows(
    responses: Sequence[Responses],
    grades: Mapping[str, str],
    *,
    by: Sequence[str] = (),
    keep: Sequence[str] = (),
    confidence: bool = True,
    partial: str | None = None,
) -> Judged:
    """Rows with their kinds and `keep` columns, and the questions that they name.

    With a scale of `partial` credit, an answer with a number is right by the share in `SHARE`.
    """
    frames = [
        _columns_to_judge(item, index, by, keep, confidence=confidence)
        for index, item in enumerate(responses)
    ]
    shares = None if partial is None else PartialScale.of(partial)
    words = []
    for item, frame in zip(responses, frames, strict=True):
        present = collect(frame.select("grade").unique(), item.table.name)["grade"]
        words.append(present if shares is None else words_of(present, shares, item.table.name))
    scales = _scales(responses, words, grades)
    frames = [
        _graded(frame, scale) if shares is None else shared(frame, shares, scale, GRADED)
        for frame, scale in zip(frames, scales, strict=True)
    ]
    questions = _questions(responses, frames, by)
    keys = keys_of(questions, by)
    together = [
        frame.join(in_engine(keys, frame), on="question", how="left")
        for frame in by_engine(responses, frames)
    ]
    judged = [frame.with_columns(_kind(frame.collect_schema().names())) for frame in together]
    table = responses[0].table
    gold = Gold(table.name, questions, tuple(by), table)
    known = tuple(not CANDIDATES_KNOWN.isdisjoint(scale.values()) for scale in scales)
    return Judged(tuple(judged), tuple(responses), gold, graded=True, with_candidates=known)


def grade_rows(item: Responses) -> pl.DataFrame:
    judged = judge_rows([item], {})
    count_kinds(judged)  # what is wrong with a row is refused
    columns = ["run", "question", KIND]
    return collect(judged.frames[0].select(columns), item.table.name)


def shared_attributes(responses: Sequence[Responses]) -> tuple[str, ...]:
    """Columns that are constant within each question, over all runs: its attributes."""
    schemas = [item.frame.collect_schema() for item in responses]
    shared = [
        name
        for name in responses[0].table.columns
        if name not in NOT_ATTRIBUTES
        and all(name in schema and not schema[name].is_nested() for schema in schemas)
    ]
    parts = []
    for item in responses:
        texts = [
            text_column(item.frame, c, item.table.name).alias(c) for c in ("question", *shared)
        ]
        parts.append(collect(item.frame.select(texts), item.table.name))
    rows = pl.concat(parts)
    differ = rows.group_by("question").agg(pl.exclude("question").n_unique()).max()
    return tuple(name for name in shared if differ[name][0] in (None, 1))


def _columns_to_judge(
    item: Responses, index: int, by: Sequence[str], keep: Sequence[str], *, confidence: bool
) -> nw.LazyFrame[Any]:
    table, frame = item.table, item.frame
    column = next((c for c in COLUMNS if c in table.columns), "outcome")
    require(table, {column: OUTCOME} | dict.fromkeys(by, "to slice by"))
    extra = [text_column(frame, column, table.name, trim=True).alias("grade")]
    extra += [text_column(frame, name, table.name).alias(BY + name) for name in by]
    marks, languages = marking(table), table.refusals
    if marks is not None:
        frame = frame.with_columns(text_column(frame, marks, table.name, trim=True).alias(MARK))
        extra += [answerable_text(MARK, marks), nw.lit(by_evidence(marks)).alias(BY_EVIDENCE)]
        # the text is looked at where a grade of right may be for declining
        languages = languages or (languages_of("all") if by_evidence(marks) else ())
    text = text_of(table.columns)
    if languages and text and frame.implementation.is_polars():
        declines = rule_of(text, languages).is_not_null().alias(DECLINES)
        frame = nw.from_native(frame.to_native().with_columns(declines).collect().lazy())
        extra.append(nw.col(DECLINES))
    item = replace(item, table=replace(table, frame=frame.to_native()))
    texts = ("question", "why", *keep)
    return columns_as_text(item, index, texts, trim=(), extra=extra, confidence=confidence)


def _scales(
    responses: Sequence[Responses], words: Sequence[pl.Series], grades: Mapping[str, str]
) -> list[dict[str, int]]:
    """The scale of each table; an ambiguous table is read together with the others."""
    every = [word for of_table in words for word in of_table]
    scales: list[dict[str, int]] = []
    for item, of_table in zip(responses, words, strict=True):
        try:
            scales.append(read_scale(of_table.to_list(), grades))
        except UsageError as alone:
            try:
                scales.append(read_scale(every, grades))
            except UsageError:
                raise InputError(alone.quoted(), item.table.name) from None
    return scales


def _graded(frame: nw.LazyFrame[Any], scale: Mapping[str, int]) -> nw.LazyFrame[Any]:
    """Each row with the kind of its grade; no grade is an empty response.

    A refusal that is graded right marks its question as unanswerable, unless columns do so.
    """
    cases = [(nw.col("grade") == value.strip(), code(kind)) for value, kind in scale.items()]
    frame = frame.with_columns(first_of(cases, code(blank_kind(Why.EMPTY))).alias(GRADED))
    names = frame.collect_schema().names()
    if DECLINES not in names or ANSWERABLE in names:
        return frame
    due = (nw.col(GRADED) == RIGHT) & nw.col(DECLINES)
    return frame.with_columns(
        nw.when(due).then(nw.lit("no")).otherwise(nw.lit("")).alias(ANSWERABLE)
    )


def _kind(names: Sequence[str]) -> nw.Expr:
    cases = [(~filled_in("run"), code(NO_RUN)), (nw.col(INDEX).is_null(), code(NO_QUESTION))]
    graded, side = nw.col(GRADED), nw.col(SIDE) if SIDE in names else code(0)
    if ANSWERABLE in names:
        readable = nw.col(ANSWERABLE).is_in(("yes", "no", "")) | nw.col(ANSWERABLE).is_null()
        cases.append((~readable, code(BAD_ANSWERABLE)))
    if "why" in names:
        answered = graded.is_in((RIGHT, WRONG))
        cases.append((filled_in("why") & answered, code(CONFLICT)))
    cases += [*bad_reason(names), *bad_confidence_of(names)]
    if "why" in names:
        reason = kind_by_reason(names) + (graded - 2) % len(CANDIDATES)
        cases.append((filled_in("why"), reason + side))
    if BY_EVIDENCE in names:
        right = (graded == RIGHT) & (side > 0)
        if DECLINES in names:
            cases.append((right & nw.col(DECLINES), code(DECLINED) + side))
        cases.append((right & nw.col(BY_EVIDENCE), code(WITHHELD) + side))
    return first_of(cases, graded + side).cast(nw.Int8).alias(KIND)


def _questions(
    responses: Sequence[Responses], frames: Sequence[nw.LazyFrame[Any]], by: Sequence[str]
) -> pl.DataFrame:
    columns = ["question", *(BY + name for name in by)]
    parts = []
    for item, frame in zip(responses, frames, strict=True):
        marks = [ANSWERABLE] * (ANSWERABLE in frame.collect_schema().names())
        parts.append(collect(frame.select(*columns, *marks).unique(), item.table.name))
    rows = pl.concat(parts, how="diagonal").filter(pl.col("question") != "")
    sides = None
    if ANSWERABLE in rows.columns:
        sides = sides_of(rows.select("question", ANSWERABLE), responses[0].table.name)
        rows = rows.drop(ANSWERABLE)
    known = rows.drop(BY + "question", strict=False)
    known = known.rename({BY + name: name for name in by if name != "question"})
    known = known.unique().sort("question")
    twice = known.filter(pl.col("question").is_duplicated())
    if twice.height:
        what = f"question {shown(twice['question'][0])} is in two slices of {', '.join(by)}"
        raise InputError(f"{what}; all its rows must agree", responses[0].table.name)
    return known if sides is None else known.join(sides, on="question", how="left")


def named_by_place(responses: Sequence[Responses]) -> list[Responses]:
    """Rows that name no question, named by their places; runs of other lengths are refused."""
    tables, sizes = [], []
    for item in responses:
        table = item.table
        if "question" in table.columns:
            raise InputError("has a column 'question', which other tables lack", item.table.name)
        rows = collect(item.frame, table.name)
        run = rows["run"].cast(pl.String) if item.run is None else pl.lit(item.run)
        rows = rows.with_columns(__run=run)
        place = pl.int_range(1, pl.len() + 1).over("__run").cast(pl.String).str.zfill(9)
        rows = rows.with_columns(question=place)
        sizes.append(rows.group_by("__run").len())
        columns = ("question", *table.columns)
        table = replace(table, frame=rows.drop("__run").lazy(), columns=columns, chunks=None)
        tables.append(replace(item, table=table))
    lengths = pl.concat(sizes).sort("len", "__run")
    if lengths["len"].n_unique() > 1:  # a log that was cut off would win
        table = responses[0].table
        guess = next((c for c in USUAL_NAMES["question"] if c in table.columns), "NAME")
        (one, few), (other, many) = lengths.row(0), lengths.row(-1)
        what = f"run {shown(one)} has {few:,} rows and run {shown(other)} has {many:,} rows"
        how = f"name the column of questions: {option('columns', {'question': guess})}"
        raise InputError(f"{what}, and nothing says which are missing; {how}", table.name)
    return tables


DECLINED = blank_kind(Why.DECLINED)
CANDIDATES_KNOWN = frozenset(blank_kind(Why.DECLINED, name) for name in CANDIDATES[:-1])
"""The kinds of grades that say what stands behind a blank."""

_RIGHT_WORDS = ("right", "correct", "true", "yes", "pass", "passed")
_WRONG_WORDS = ("wrong", "incorrect", "false", "no", "fail", "failed")
_BLANK_WORDS = (
    *("not attempted", "no answer", "unanswered", "abstained", "abstain", "abstention"),
    *("refused", "refusal", "noa", "blank", "idk", "i dont know", "skipped"),
)

SCALES: dict[str, dict[str, int]] = {
    "words": {
        **{word.replace("_", " "): kind for word, kind in KIND_OF_WORD.items()},
        **dict.fromkeys(_RIGHT_WORDS, RIGHT),
        **dict.fromkeys(_WRONG_WORDS, WRONG),
        **dict.fromkeys(_BLANK_WORDS, DECLINED),
    },
    "A/B/C": {"a": RIGHT, "b": WRONG, "c": DECLINED},
    "C/I/N": {"c": RIGHT, "i": WRONG, "n": DECLINED},
    "R/W/U": {
        "r": RIGHT,
        "w": WRONG,
        "u": DECLINED,
        "ur": blank_kind(Why.DECLINED, "right"),
        "uw": blank_kind(Why.DECLINED, "wrong"),
        "ue": blank_kind(Why.DECLINED, "empty"),
    },
    "1/0": {"1": RIGHT, "0": WRONG, "1.0": RIGHT, "0.0": WRONG, "-1": DECLINED},
}
"""Each scale is a set of words with their meanings; an empty cell is a blank in all of them."""

MEANINGS = {**KIND_OF_WORD, "blank": DECLINED}
CHOICE = "right|wrong|blank"
"""A placeholder for a meaning in a suggested option, so that nobody can paste it unread."""
LONGEST = 40


def read_scale(values: Sequence[str | None], meanings: Mapping[str, str]) -> dict[str, int]:
    """The kind of each distinct grade, by its declared meaning or by the one scale that fits."""
    declared = {}
    for word, meaning in meanings.items():
        name = meaning.strip().lower().replace(" ", "_").replace("-", "_")
        check_name("outcome", name, MEANINGS)
        declared[fold(word)] = MEANINGS[name]
    present = {value: fold(value) for value in values if value is not None and fold(value)}
    unknown = {word for word in present.values() if word not in declared}
    fitting = {name: scale for name, scale in SCALES.items() if unknown <= scale.keys()}
    if not fitting:
        raise _no_scale(present)
    readings = [{word: scale[word] for word in unknown} for scale in fitting.values()]
    if any(reading != readings[0] for reading in readings):
        what = f"the grades {some_of(sorted(present))} could be read as {' or '.join(fitting)}"
        raise UsageError(f"{what}; say which: {option('grades', {next(iter(present)): CHOICE})}")
    table = declared | readings[0]
    return {value: table[word] for value, word in present.items()}


def _no_scale(present: Mapping[str, str]) -> UsageError:
    known = {word for scale in SCALES.values() for word in scale}
    odd = sorted(value for value, word in present.items() if word not in known) or sorted(present)
    what = f"no scale ({', '.join(SCALES)}) has the grades {some_of(odd)}"
    if re.fullmatch(NUMBER, odd[0]):
        low, *_, high = sorted(float(each) for each in (*odd, *odd) if re.fullmatch(NUMBER, each))
        how = option("partial", "0-1" if low >= 0 and high <= 1 else "LOW-HIGH")
        return UsageError(f"{what}; turn numbers into 1 and 0, or count shares with {how}")
    near = nearest(fold(odd[0]), SCALES["words"])[:1]
    what += f" (nearest to the first: {near[0]})" if near else ""
    example = option("grades", {odd[0] if len(odd[0]) <= LONGEST else "GRADE": CHOICE})
    also = ", ".join((*OUTCOMES[2:], *Why))
    return UsageError(f"{what}; say what each is, choosing one of {example} (also {also})")


def fold(value: str) -> str:
    text = value.strip()
    if text == "-1":
        return text
    text = text.casefold().replace("_", " ").replace("-", " ").removesuffix(".")
    return text.replace("'", "").replace("  ", " ")
