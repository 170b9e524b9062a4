"""Columns by the names that people use: `model` for the run, `id` for the question.

One name that fits is taken, and the output says so. Where two fit, or where rows of several systems
would be pooled, the table is refused with the line to type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import narwhals as nw
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, option
from abstain.io.frames import collect, into_lazy, rename
from abstain.io.tables import Table

ALIASES: dict[str, tuple[str, ...]] = {
    "run": ("model", "system", "run_id", "model_name"),
    "question": ("id", "qid", "question_id", "sample_id", "doc_id", "example_id"),
    "answer": ("response", "output", "prediction", "completion"),
    "confidence": ("conf", "prob", "probability", "p"),
    "grade": ("is_correct", "verdict", "judgement", "judgment", "correct", "label", "score"),
    "correct": ("target", "gold", "reference", "expected", "answer_key"),
}
"""What others call our columns; `question`, `grade` and so on in another case fit too."""

ONLY_WITH_GRADES = ("correct", "label", "score")
"""Names that mean many things: they are grades only where they hold known grades."""

GOLD = ("question", "correct")
RUN = ("run", "question", "answer", "confidence")
JUDGED = ("run", "question", "grade", "confidence")
INSTEAD = {"grade": ("outcome",)}
"""Columns that leave a meaning nothing to look for."""

MOST_GRADES = 20
FEW_ROWS = 20
"""With fewer rows nobody can tell an id from an attribute."""
MOST_SYSTEMS = 200
MOST_COLUMNS = 30


def recognised(
    table: Table, meanings: Sequence[str], grades: Mapping[str, str] | None = None
) -> Table:
    """The table with known names for the columns that others call otherwise."""
    if table.verdicts is not None or table.format == "qa4mre":
        return table
    taken = {}
    for meaning in meanings:
        if meaning in table.columns or any(c in table.columns for c in INSTEAD.get(meaning, ())):
            continue
        fit = [c for c in _called(table, meaning) if _holds(table, meaning, c, grades or {})]
        if len(fit) > 1:
            raise InputError(
                f"columns {' and '.join(map(repr, fit))} could each be the {meaning}; say which: "
                f"{option('columns', {meaning: fit[0]})}",
                table.name,
            )
        if fit:
            taken[meaning] = fit[0]
    if not taken:
        return table
    said = ", ".join(f"{actual} as {known}" for known, actual in taken.items())
    table = rename(table, taken, side="")
    return replace(table, notes=(*table.notes, f"columns read by their usual names: {said}"))


def _called(table: Table, meaning: str) -> list[str]:
    """The columns whose name means something; case, spaces and hyphens aside."""
    names = (meaning, *ALIASES[meaning])
    return [column for column in table.columns if _plain(column) in names]


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _holds(table: Table, meaning: str, column: str, grades: Mapping[str, str]) -> bool:
    """Whether a column can have a meaning, by what it holds."""
    dtype = into_lazy(table.frame).collect_schema()[column]
    if dtype.is_nested():
        return False
    if meaning == "confidence":
        return dtype.is_numeric() or table.format in ("csv", "tsv")
    if meaning != "grade" or _plain(column) not in ONLY_WITH_GRADES:
        return True
    from abstain.judging.grades import SCALES, fold

    known = {word for scale in SCALES.values() for word in scale} | {fold(word) for word in grades}
    rows = into_lazy(table.frame).select(nw.col(column).cast(nw.String)).unique()
    found = collect(rows.head(MOST_GRADES + 1), table.name)[column].drop_nulls()
    return 0 < len(found) <= MOST_GRADES and all(fold(value) in known for value in found)


def refuse_pooled(table: Table) -> None:
    """Refuse graded rows that name no question where a column would: systems may be pooled."""
    frame = table.frame
    if "question" in table.columns or not isinstance(frame, pl.LazyFrame):
        return
    free = _free(table)
    if not free:
        return
    counts = frame.select(pl.len().alias(""), *(_named(c).n_unique() for c in free)).collect()
    rows, sizes = counts.item(0, 0), dict(zip(free, counts.row(0)[1:], strict=True))
    if rows < FEW_ROWS:
        return
    run = ["run"] if "run" in table.columns else []
    for column in filter(_names_items, free):
        if sizes[column] == rows or (run and _apart(frame, [*run, column], rows)):
            raise _unnamed(table, {"question": column})
    for system, column in permutations(free, 2) if not run else ():
        split = 1 < sizes[system] <= min(MOST_SYSTEMS, sizes[column] // 2)
        if (
            split
            and sizes[system] * sizes[column] == rows
            and _apart(frame, [system, column], rows)
        ):
            raise _unnamed(table, {"run": system, "question": column})


def _names_items(column: str) -> bool:
    """Whether a column is called as ids are: `item`, `prompt_id`, `questionId`."""
    return any(part in _plain(column) for part in ITEMS)


def _unnamed(table: Table, mapped: dict[str, str]) -> InputError:
    names = " and ".join(f"'{actual}'" for actual in mapped.values())
    tells = "tell" if len(mapped) > 1 else "tells"
    return InputError(
        f"has no column 'question', but {names} {tells} the rows apart; say what they are: "
        f"{option('columns', mapped)}",
        table.name,
    )


def telling_apart(table: Table) -> str:
    """Advice for runs that have a question twice: the column that would tell its rows apart."""
    frame = table.frame
    if not isinstance(frame, pl.LazyFrame):
        return ""
    key = [name for name in ("run", "question") if name in table.columns]
    rows = frame.select(pl.len()).collect().item()
    for column in _free(table):
        if _apart(frame, [*key, column], rows):
            return f"; column '{column}' tells them apart: {option('columns', {'run': column})}"
    return ""


def likely_confidence(tables: Sequence[Table]) -> str:
    """Advice for runs that state no confidence: the columns that may hold one."""
    for table in tables:
        schema = into_lazy(table.frame).collect_schema()
        named = [c for c in table.columns if any(part in _plain(c) for part in HINTS)]
        for column in [*named, *(c for c in table.columns if schema[c].is_float())]:
            if column not in KNOWN:
                return (
                    f"; column '{column}' may hold it: {option('columns', {'confidence': column})}"
                )
    return ""


ITEMS = ("id", "key", "idx", "index", "item", "question", "prompt", "sample", "query", "problem")
HINTS = ("conf", "prob", "certain", "sure", "score")
KNOWN = {"run", "question", "answer", "answered", "candidate", "confidence", "why", "outcome"}
KNOWN |= {"grade", "reason", "response", "refusal", "correct", "options", "cluster"}


def _free(table: Table) -> list[str]:
    """Columns that no meaning takes and that could name something."""
    schema = table.frame.collect_schema()
    return [
        column
        for column in table.columns[:MOST_COLUMNS]
        if column not in KNOWN and (schema[column] == pl.String or schema[column].is_integer())
    ]


def _named(column: str) -> pl.Expr:
    """A column by its name, which is never read as a pattern."""
    return pl.col([column])


def _apart(frame: pl.LazyFrame, columns: Sequence[str], rows: int) -> bool:
    found = frame.select(pl.struct(list(columns)).n_unique()).collect().item()
    return bool(found == rows)
