"""Ready-made judgements: rows that say what became of each response, with their kinds.

They become what a gold and runs become, `Judged`, so that everything else is the same for both.
A letter may mean two things (`C` is "not attempted" in SimpleQA and "correct" in Inspect), so
the words of a whole data set are read together: they must all belong to one scale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, UnknownNameError, UsageError, nearest, option, plural, shown
from abstain.io.columns import NUMBER, USUAL_NAMES, require_all, text_column
from abstain.io.frames import collect, in_engine
from abstain.io.tables import Table
from abstain.judging.counting import KindCounts, count_kinds, counted, with_missing
from abstain.judging.faults import CONFLICT, NO_QUESTION
from abstain.judging.gold import Gold
from abstain.judging.judge import (
    INDEX,
    KIND,
    Judged,
    bad_confidence_of,
    bad_reason,
    by_engine,
    canonical,
    code,
    filled_in,
    first_of,
    keys_of,
    reason_of,
)
from abstain.judging.responses import OF_A_RUN, Responses
from abstain.judging.slices import BY
from abstain.outcomes import KIND_OF_WORD, OUTCOMES, RIGHT, WRONG, Why, blank_kind

COLUMNS = ("outcome", "grade")
GRADED = "__graded"
"""The kind that a grade alone says."""
NOT_ATTRIBUTES = (*OF_A_RUN, "question", "grade", "rank", "known")


def judge_rows(
    sources: Sequence[Responses],
    grades: Mapping[str, str],
    *,
    by: Sequence[str] = (),
    keep: Sequence[str] = (),
    confidence: bool = False,
) -> Judged:
    """Rows with their kinds, and the questions that they are about; `keep` names other columns.

    Where no table names its questions there are none, until `numbered` finds some.
    """
    for source in sources:
        _require(source.table, by)
    frames = [
        _canonical(source, index, by, keep, confidence=confidence)
        for index, source in enumerate(sources)
    ]
    named = ["question" in source.table.columns for source in sources]
    if any(named) and not all(named):
        nameless = sources[named.index(False)].table.name
        raise InputError("has no column 'question', but other tables do", nameless)
    found = [
        collect(frame.select("run", "grade").unique(), source.table.name)
        for source, frame in zip(sources, frames, strict=True)
    ]
    if all(own.is_empty() for own in found):
        raise InputError("has no rows", sources[0].table.name)
    values = [own["grade"].unique().to_list() for own in found]
    scales = _scales(sources, frames, values, grades)
    _refuse_runs(sources, [own["run"] for own in found])
    frames = [_graded(frame, scale) for frame, scale in zip(frames, scales, strict=True)]
    questions = pl.DataFrame(schema={"question": pl.String})
    if all(named):
        questions = _questions(sources, frames, by)
        frames = [frame.drop([BY + name for name in by]) for frame in frames]
    together = by_engine(sources, frames)
    if all(named):
        together = [
            frame.join(in_engine(keys_of(questions, by, frame), frame), on="question", how="left")
            for frame in together
        ]
    judged = [frame.with_columns(_kind(frame.collect_schema().names())) for frame in together]
    table = sources[0].table
    gold = Gold(table.name, questions, tuple(by), table)
    return Judged(tuple(judged), tuple(sources), gold, graded=True)


def grade_rows(source: Responses) -> pl.DataFrame:
    """The judged rows of one table, each with its run, its question and its kind."""
    judged = judge_rows([source], {})
    count_kinds(judged)  # what is wrong with a row is refused
    columns = ["run", "question", KIND]
    return collect(judged.frames[0].select(columns), source.table.name)


def shared_attributes(sources: Sequence[Responses]) -> tuple[str, ...]:
    """Columns that say one thing of each question, whatever run the row is of."""
    schemas = [own.frame.collect_schema() for own in sources]
    shared = [
        name
        for name in sources[0].table.columns
        if name not in NOT_ATTRIBUTES
        and all(name in own and not own[name].is_nested() for own in schemas)
    ]
    rows = pl.concat(
        collect(
            own.frame.select(
                text_column(own.frame, name, own.table.name).alias(name)
                for name in ("question", *shared)
            ),
            own.table.name,
        )
        for own in sources
    )
    differ = rows.group_by("question").agg(pl.exclude("question").n_unique()).max()
    return tuple(name for name in shared if differ[name][0] in (None, 1))


def _require(table: Table, by: Sequence[str]) -> None:
    if not any(column in table.columns for column in COLUMNS):
        require_all(table, {"outcome": "which gives the outcome of each response (or 'grade')"})
    for name in by:
        if name not in table.columns:
            near = nearest(name, table.columns)
            raise InputError(
                f"has no column '{name}' to slice by"
                + (f" (nearest: {', '.join(near)})" if near else ""),
                table.name,
            )


def _canonical(
    source: Responses, index: int, by: Sequence[str], keep: Sequence[str], *, confidence: bool
) -> nw.LazyFrame[Any]:
    table, frame = source.table, source.frame
    column = next(c for c in COLUMNS if c in table.columns)
    extra = [text_column(frame, column, table.name, trim=True).alias("grade")]
    extra += [text_column(frame, name, table.name).alias(BY + name) for name in by]
    texts = ("question", "why", *keep)
    return canonical(source, index, texts, trim=(), extra=extra, confidence=confidence)


def _refuse_runs(sources: Sequence[Responses], runs: Sequence[pl.Series]) -> None:
    """A run needs a name, and one in two tables might have a question twice, unseen."""
    home: dict[str, str] = {}
    for source, own in zip(sources, runs, strict=True):
        for run in own.unique().sort():
            if not run:
                raise InputError("a row has no run name", source.table.name)
            if run in home:
                raise InputError(
                    f"run {shown(run)} is in two tables (first: {home[run]}); a run belongs in one",
                    source.table.name,
                )
            home[run] = source.table.name


def _scales(
    sources: Sequence[Responses],
    frames: Sequence[nw.LazyFrame[Any]],
    values: Sequence[list[str | None]],
    grades: Mapping[str, str],
) -> list[dict[str, int]]:
    """The scale of each table; one that leaves it open is read together with the others."""
    found: list[dict[str, int]] = []
    for source, frame, own in zip(sources, frames, values, strict=True):
        try:
            found.append(read_scale(own, grades))
        except UsageError:
            try:
                together = read_scale([v for some in values for v in some], grades)
            except UsageError:
                rows = collect(frame.group_by("grade").agg(nw.len().alias("n")), source.table.name)
                counts = dict(rows.select("grade", "n").iter_rows())
                try:
                    read_scale(own, grades, counts)
                except UsageError as alone:
                    raise InputError(alone.quoted(), source.table.name) from None
            found.append(together)
    return found


def _graded(frame: nw.LazyFrame[Any], scale: Mapping[str, int]) -> nw.LazyFrame[Any]:
    """Each row with what its grade says; no grade is an empty response."""
    cases = [(nw.col("grade") == value.strip(), code(kind)) for value, kind in scale.items()]
    return frame.with_columns(first_of(cases, code(blank_kind(Why.EMPTY))).alias(GRADED))


def _kind(names: Sequence[str]) -> nw.Expr:
    """The kind of a row: its grade's, but a blank that says why keeps its reason."""
    cases = [(nw.col(INDEX).is_null(), code(NO_QUESTION))] if INDEX in names else []
    graded = nw.col(GRADED)
    if "why" in names:
        answered = graded.is_in((RIGHT, WRONG))
        cases.append((filled_in("why") & answered, code(CONFLICT)))
    cases += [*bad_reason(names), *bad_confidence_of(names)]
    if "why" in names:
        cases.append((filled_in("why"), reason_of(names) + (graded - 2) % 3))
    return first_of(cases, graded).cast(nw.Int8).alias(KIND)


def _questions(
    sources: Sequence[Responses], frames: Sequence[nw.LazyFrame[Any]], by: Sequence[str]
) -> pl.DataFrame:
    """The questions that have an id, each once, with some attributes."""
    columns = ["question", *(BY + name for name in by)]
    found = pl.concat(
        collect(frame.select(columns).unique(), source.table.name)
        for source, frame in zip(sources, frames, strict=True)
    )
    known = found.filter(pl.col("question") != "").drop(BY + "question", strict=False)
    known = known.rename({BY + name: name for name in by if name != "question"})
    known = known.unique().sort("question")
    twice = known.filter(pl.col("question").is_duplicated())
    if twice.height:
        raise InputError(
            f"question {shown(twice['question'][0])} is in two slices of {', '.join(by)}; "
            "a question's attributes must agree in every row",
            sources[0].table.name,
        )
    return known


def numbered(judged: Judged) -> Judged:
    """Rows that name no question, each known by its place in its run."""
    label = judged.sources[0].table.name
    rows = pl.concat([collect(frame, label) for frame in judged.frames], how="diagonal")
    rows = rows.with_columns(pl.int_range(pl.len()).over("run").cast(pl.Int32).alias(INDEX))
    named = [pl.col(BY + name).first().alias(name) for name in judged.gold.attributes]
    questions = rows.group_by(INDEX).agg(*named).sort(INDEX)
    place = (pl.col(INDEX) + 1).cast(pl.String).str.zfill(9)
    questions = questions.select(place.alias("question"), *judged.gold.attributes)
    gold = replace(judged.gold, frame=questions)
    return replace(judged, frames=(nw.from_native(rows.lazy()),), gold=gold)


def count_nameless(judged: Judged, by: Sequence[str]) -> KindCounts:
    """Count rows that name no question: nothing can be missing."""
    columns = [BY + name for name in by]
    kinds = pl.concat([counted(judged, frame, columns) for frame in judged.frames])
    _refuse_different_lengths(kinds, judged.sources)
    per_slice = kinds.group_by("run", *columns).agg(size=pl.col("n").sum())
    if columns:
        sizes = per_slice.group_by(columns).agg(pl.col("size").max()).sort(columns)
    else:
        sizes = per_slice.select(pl.col("size").max().fill_null(0))
    counts = with_missing(kinds, sizes, columns, questions=int(sizes["size"].sum()))
    counts.table[:, blank_kind(Why.MISSING)] = 0
    return counts


def _refuse_different_lengths(kinds: pl.DataFrame, sources: Sequence[Responses]) -> None:
    """Without ids nobody knows what a shorter run lacks, and a cut-off log would win."""
    lengths = kinds.group_by("run").agg(pl.col("n").sum()).sort("n", "run")
    if lengths["n"].n_unique() < 2:
        return
    short, long = lengths.row(0), lengths.row(-1)
    columns = sources[0].table.columns
    guess = next((c for c in USUAL_NAMES["question"] if c in columns), "NAME")
    raise InputError(
        f"run {shown(short[0])} has {short[1]:,} rows and run {shown(long[0])} has {long[1]:,}; "
        "without a column 'question' nobody can tell which are missing (name that column: "
        f"{option('columns', {'question': guess})})",
        sources[0].table.name,
    )


# ------------------------------------------- the words that others use for outcomes

DECLINED = blank_kind(Why.DECLINED)

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
        "ue": DECLINED,
    },
    "1/0": {"1": RIGHT, "0": WRONG, "1.0": RIGHT, "0.0": WRONG, "-1": DECLINED},
}
"""Each scale is a set of words with their meanings; an empty cell is a blank in all of them."""


def read_scale(
    values: Sequence[str | None], given: Mapping[str, str], counts: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The kind of each distinct grade, by what was given and else by the one scale that fits.

    `counts` says how many rows have each, where that is known, for what cannot be read.

    >>> read_scale(["A", "B"], {})
    {'A': 0, 'B': 1}
    """
    own = {fold(word): _own_kind(meaning) for word, meaning in given.items()}
    present = {value: fold(value) for value in values if value is not None and fold(value)}
    open_words = {word for word in present.values() if word not in own}
    fitting = {name: s for name, s in SCALES.items() if open_words <= s.keys()}
    meanings = [{word: scale[word] for word in open_words} for scale in fitting.values()]
    if open_words and not meanings:
        raise _no_scale(present, open_words, counts or {})
    if any(meaning != meanings[0] for meaning in meanings):
        names = " or ".join(fitting)
        raise UsageError(
            f"the grades {_listing(present)} could be read as {names}; "
            f"say which, as in {option('grades', {next(iter(present)): 'right'})}"
        )
    table = own | (meanings[0] if meanings else {})
    return {value: table[word] for value, word in present.items()}


def _own_kind(meaning: str) -> int:
    word = meaning.strip().lower().replace(" ", "_").replace("-", "_")
    if word not in KIND_OF_WORD:
        raise UnknownNameError(
            "outcome", meaning, KIND_OF_WORD, hint=f"there are {', '.join(KIND_OF_WORD)}"
        )
    return KIND_OF_WORD[word]


def _no_scale(
    present: Mapping[str, str], open_words: set[str], counts: Mapping[str, int]
) -> UsageError:
    known = {word for scale in SCALES.values() for word in scale}
    odd = [v for v, w in present.items() if w in open_words and w not in known]
    odd = odd or [v for v, w in present.items() if w in open_words]
    odd.sort(key=lambda value: (-counts.get(value, 0), value))
    example = option("grades", {odd[0]: "wrong"})
    meanings = f"(an outcome: {', '.join(OUTCOMES)}, unanswered; or a blank: {', '.join(Why)})"
    if all(word in known for word in open_words):
        return UsageError(
            f"the grades {_listing(present)} are of several scales ({', '.join(SCALES)}); say "
            f"what each is, as in {example} {meanings}"
        )
    numbers = [float(value) for value in present if re.fullmatch(NUMBER, value)]
    if len(numbers) == len(present):
        return UsageError(
            f"the grades are numbers from {min(numbers):g} to {max(numbers):g}, expected 1 and 0: "
            "turn them into a column of 1 and 0, for example by score >= 0.5"
        )
    unknown = ", ".join(_unknown(value, counts) for value in odd[:MOST_UNKNOWN])
    more = f" and {len(odd) - MOST_UNKNOWN:,} more" if odd[MOST_UNKNOWN:] else ""
    what = "grades have" if odd[1:] else "grade has"
    return UsageError(
        f"{len(odd)} {what} no known meaning: {unknown}{more}; say what each is, as in "
        f"{_suggested(odd)} {meanings}"
    )


MOST_UNKNOWN = 8
LONGEST = 40
"""Letters of a grade in a line to type."""


def _unknown(value: str, counts: Mapping[str, int]) -> str:
    near = nearest(fold(value), SCALES["words"])
    told = [plural(counts[value], "row")] if value in counts else []
    told += [f"nearest: {near[0]}"] if near else []
    return shown(value, most=30) + (f" ({', '.join(told)})" if told else "")


def _suggested(odd: Sequence[str]) -> str:
    """The line to type, with the nearest word's meaning for each."""
    kinds = {kind: word for word, kind in reversed([*KIND_OF_WORD.items()])}
    meant = {}
    for value in [own if len(own) <= LONGEST else "GRADE" for own in odd[:3]]:
        near = nearest(fold(value), SCALES["words"])
        meant[value] = kinds[SCALES["words"][near[0]]] if near else "wrong"
    return option("grades", meant)


def _listing(values: Mapping[str, str]) -> str:
    names = sorted(values)
    return ", ".join(shown(n, most=20) for n in names[:8]) + (" …" if len(names) > 8 else "")


def fold(value: str) -> str:
    """A grade as it is looked up: case, a final full stop and ways of writing aside."""
    text = value.strip()
    if text == "-1":
        return text
    text = text.casefold().replace("_", " ").replace("-", " ").removesuffix(".")
    return text.replace("'", "").replace("  ", " ")
