"""Recognise columns by their usual names: `model` for the run, `id` for the question.

If one name fits, the column is renamed and a note says so. If two fit, or if rows of several
systems would be pooled, the table is refused; the error has the option to type. Which questions can
be answered is said by columns under the names that data sets use.
"""

from collections.abc import Mapping, Sequence

import narwhals as nw
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, option, shown
from abstain.io.frames import (
    ALIASES,
    KNOWN,
    PREDICTED,
    collect,
    into_lazy,
    names_systems,
    rename,
    text_column,
    words_of,
)
from abstain.io.tables import ROW, Table, column_of
from abstain.runs.gold import UNANSWERABLE
from abstain.runs.judge import NO, YES, filled_in, first_of
from abstain.runs.responses import SAMPLE

UNCLEAR = ("correct", "label", "score", "verdict", "judgement", "judgment")
"""Grades, or right answers, or numbers: grades only where they hold known grades."""
MOST_GRADES = 20

ITEMS = ("item", "question", "sample", "query", "example", "instance")
IDS = ("id", "ids", "key", "idx", "index", "no", "nr", "number", "uid", "uuid")
"""A column of such words only holds question ids: `item`, `query_id`, `questionId`."""

REPEATS = ("epoch", "epochs", "repeat", "repetition", "replicate", "trial", "attempt")


def recognised(
    table: Table, meanings: Sequence[str], grades: Mapping[str, str] | None = None
) -> Table:
    if table.verdicts is not None or table.format == "qa4mre":
        return table
    if "answer" in meanings and "grade" not in meanings:
        _refuse_two_answers(table)
    taken = {}
    for meaning in meanings:
        if meaning in table.columns or (meaning == "grade" and "outcome" in table.columns):
            continue
        names = [c for c in table.columns if plain(c) in (meaning, *ALIASES[meaning])]
        fitting = [c for c in names if _fits(table, meaning, c, grades or {})]
        if len(fitting) > 1:
            what = f"columns {' and '.join(map(repr, fitting))} could each be the {meaning}"
            how = option("columns", {meaning: fitting[0]})
            raise InputError(f"{what}; say which: {how}", table.name)
        if fitting:
            taken[meaning] = fitting[0]
        elif meaning == "grade":
            for column in names:
                if _grades_in(table, column, grades or {}):
                    how = f"if grades: {option('columns', {'grade': column})}; else use a gold"
                    what = f"column '{column}' may hold grades, answers or what is right"
                    raise InputError(f"{what}; {how}", table.header)
    if not taken:
        return table
    pairs = ", ".join(f"{actual} as {known}" for known, actual in taken.items())
    table = rename(table, taken, side="")
    return replace(table, notes=(*table.notes, f"columns read by their usual names: {pairs}"))


def plain(name: str) -> str:
    """A column's name without case; spaces and hyphens become underscores."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _refuse_two_answers(table: Table) -> None:
    """Raise if a column `answer` may be the gold's: every answer would be right."""
    predicted = [column for column in table.columns if plain(column) in PREDICTED]
    if "answer" in table.columns and "answer" not in table.renamed and predicted:
        how = " or ".join(option("columns", {"run:answer": c}) for c in (predicted[0], "answer"))
        what = f"the run's answers may be in column 'answer' or in column '{predicted[0]}'"
        raise InputError(f"{what}; say which: {how}", table.header)


def _fits(table: Table, meaning: str, column: str, grades: Mapping[str, str]) -> bool:
    dtype = into_lazy(table.frame).collect_schema()[column]
    if dtype.is_nested():
        return False
    if meaning == "confidence":
        return dtype.is_numeric() or table.format in ("csv", "tsv")
    if meaning != "grade" or plain(column) not in UNCLEAR:
        return True
    words = _grades_in(table, column, grades)
    if not words:
        return plain(column).startswith(("verdict", "judg"))  # its words are refused one by one
    others = ("answer", *ALIASES["answer"], *PREDICTED, "correct", *ALIASES["correct"])
    beside = [c for c in table.columns if plain(c) in others and c != column]
    others_words = [_grades_in(table, other, grades) for other in beside]
    return not _may_be_options(words) and all(map(_may_be_options, filter(None, others_words)))


def _may_be_options(words: set[str]) -> bool:
    return bool(words & {"a", "b"}) and words <= {*"abc"}


def _grades_in(table: Table, column: str, grades: Mapping[str, str]) -> set[str]:
    """The words of a column that holds nothing but known grades, and not too many; else none."""
    from abstain.runs.grades import SCALES, fold

    rows = into_lazy(table.frame)
    if rows.collect_schema()[column].is_nested():
        return set()
    cells = column_of(rows, column)
    distinct = rows.filter(~cells.is_null()).select(cells.cast(nw.String)).unique()
    values = collect(distinct.head(MOST_GRADES + 1), table.name)[column]
    words = {fold(value) for value in values}
    known = {word for scale in SCALES.values() for word in scale} | {fold(word) for word in grades}
    return words if len(values) <= MOST_GRADES and words <= known else set()


def refuse_pooled(table: Table, *, judged: bool) -> None:
    """Refuse columns named like systems or ids, if there is no `run` or no `question`."""
    if table.verdicts is not None or table.format == "qa4mre":
        return
    if judged and not {"outcome", "grade"} & {*table.columns}:
        return
    free = [column for column in table.columns if column not in KNOWN]
    mapped: dict[str, str] = {}
    if "run" not in table.columns:
        systems = [c for c in free if names_systems(c) and _distinct(table, [c]) > 1]
        mapped |= dict(zip(["run"], systems, strict=False))
    if judged and "question" not in table.columns:
        ids = [c for c in free if words_of(c) <= {*ITEMS, *IDS}]
        mapped |= dict(zip(["question"], ids, strict=False))
    for known, column in reversed(mapped.items()):
        what = "several systems, which would be one run" if known == "run" else "questions"
        how = option("columns", mapped)
        raise InputError(f"column '{column}' names {what}; say what it is: {how}", table.header)


def with_repeats(table: Table) -> Table:
    """Rows whose questions repeat, where a column numbers the repeats: as epochs in logs are."""
    numbers = [column for column in table.columns if words_of(column) & {*REPEATS}]
    if table.verdicts is not None or "question" not in table.columns or SAMPLE in table.columns:
        return table
    key = [name for name in ("run", "question") if name in table.columns]
    if len(numbers) != 1 or _distinct(table, key) == _distinct(table, [*key, *numbers]):
        return table
    frame, texts = into_lazy(table.frame), ("question", *numbers)
    question, repeat = (text_column(frame, name, table.name, trim=True) for name in texts)
    named = nw.concat_str(question, repeat, separator="#").alias("question")
    frame = frame.with_columns(question.alias(SAMPLE), named)
    note = f"column '{numbers[0]}' numbers the repeats of a question: a question is a cluster"
    return replace(
        table,
        frame=frame.to_native(),
        columns=(*table.columns, SAMPLE),
        cluster=SAMPLE,
        notes=(*table.notes, f"{table.name}: {note} ({SAMPLE})"),
    )


def _distinct(table: Table, columns: Sequence[str]) -> int:
    frame = into_lazy(table.frame)
    chosen = frame.select(*(column_of(frame, name) for name in columns)).unique()
    return int(collect(chosen.select(nw.len().alias("n")), table.name)["n"][0])


MEANS_ANSWERABLE: Mapping[str, bool] = {
    "answerable": True,
    "has_evidence": True,
    "is_impossible": False,
    "should_abstain": False,
    "unanswerable": False,
}
"""Columns that mark questions, and whether their yes means that a question can be answered."""

ANSWERABLE = "__answerable"
"""Whether a row says that its question can be answered: yes, no, empty, or an unreadable text."""


def marking(table: Table) -> str | None:
    """The column that says which questions can be answered; the first of several by their names."""
    columns = {plain(column): column for column in reversed(table.columns)}
    marks = next((columns[name] for name in MEANS_ANSWERABLE if name in columns), None)
    for column, name in table.renamed.items() if marks else ():
        means = MEANS_ANSWERABLE.get(plain(column))
        if name == marks and means not in (None, MEANS_ANSWERABLE[plain(name)]):
            how = f"leave out {option('columns', {name: column})}"
            raise UsageError(f"column '{column}' says the opposite of '{name}': {how}")
    return marks


def by_evidence(column: str) -> bool:
    """Whether a column says only that the evidence is there: an answer without it may be right."""
    return plain(column) == "has_evidence"


def answerable_text(name: str, means: str) -> nw.Expr:
    """A column of text as yes, no or empty, by what its name means; an unreadable text stays."""
    text, yes = nw.col(name).str.to_lowercase(), MEANS_ANSWERABLE[plain(means)]
    cases = [
        (~filled_in(name), nw.lit("")),
        (text.is_in(YES if yes else NO), nw.lit("yes")),
        (text.is_in(NO if yes else YES), nw.lit("no")),
    ]
    return first_of(cases, nw.col(name)).alias(ANSWERABLE)


def unreadable(text: str, table: Table) -> str:
    column = table.in_file(marking(table) or "")
    return f"'{column}' is {shown(text)}, expected yes or no"


def sides_of(rows: pl.DataFrame, label: str) -> pl.DataFrame:
    """Which questions are marked as unanswerable; all rows of one must agree."""
    says = {word: (pl.col(ANSWERABLE) == word).any() for word in ("yes", "no")}
    marks = rows.group_by("question").agg(**says).sort("question")
    both = marks.filter("yes", "no")
    if both.height:
        question = shown(both["question"][0])
        raise InputError(f"question {question} can be answered in one row, not in another", label)
    return marks.select("question", pl.col("no").fill_null(value=False).alias(UNANSWERABLE))


def marked(frame: pl.DataFrame, attributes: Sequence[str], table: Table) -> pl.Series | None:
    """Whether each question can be answered, null where no column says; None without such a column.

    A cell that is neither yes nor no is refused with its place.
    """
    column = marking(table)
    if column is None or column not in attributes:
        return None
    rows = nw.from_native(frame.select(column).lazy())
    texts = collect(rows.select(answerable_text(column, column)), table.name)[ANSWERABLE]
    strange = (~texts.is_in(["yes", "no", ""])).arg_true()
    if len(strange):
        row, text = frame[ROW][strange[0]], texts[strange[0]]
        raise InputError(unreadable(text, table), table.place(row))
    return pl.select(pl.when(texts != "").then(texts == "yes")).to_series()


def refuse_without_answer(frame: pl.DataFrame, says: pl.Series, table: Table) -> None:
    column = marking(table)
    wrong = (says & frame["nothing_right"]).fill_null(value=False).arg_true()
    if column is not None and not by_evidence(column) and len(wrong):
        question, name = shown(frame["question"][wrong[0]]), table.in_file(column)
        what = f"is answerable by column '{name}', but '{table.in_file('correct')}' is empty"
        raise InputError(f"question {question} {what}", table.place(frame[ROW][wrong[0]]))
