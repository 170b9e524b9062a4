"""Columns by the names that people use: `model` for the run, `id` for the question.

One name that fits is taken, and the output says so. Where two fit, or where rows of several systems
would be pooled, the table is refused with the line to type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import narwhals as nw
from msgspec.structs import replace

from abstain.errors import InputError, Place, option
from abstain.io.columns import read_numbers
from abstain.io.frames import collect, into_lazy, rename
from abstain.io.names import column_of
from abstain.io.tables import Table

ALIASES: dict[str, tuple[str, ...]] = {
    "run": ("model", "system", "run_id", "model_name"),
    "question": ("id", "qid", "question_id", "sample_id", "doc_id", "example_id"),
    "answer": ("response", "output", "prediction", "completion"),
    "confidence": ("conf", "prob", "probability", "p"),
    "grade": ("is_correct", "verdict", "judgement", "judgment", "correct", "label", "score"),
    "correct": ("target", "gold", "reference", "expected", "answer_key", "ground_truth"),
}
"""What others call our columns; `question`, `grade` and so on in another case fit too."""

PREDICTED = (
    *("pred", "predicted", "prediction", "predictions", "predicted_answer", "extracted_answer"),
    *("model_answer", "model_output", "model_outputs", "model_response", "generated_answer"),
)
"""Answers of a system for certain: an `answer` beside one of them may be what is right."""

ONLY_WITH_GRADES = ("correct", "label", "score")
"""Names that mean many things: they are grades only where they hold known grades."""
UNCLEAR = (*ONLY_WITH_GRADES, "verdict", "judgement", "judgment")
"""Names of grades, and of answers yes and no: beside what is right in the same words, who knows?"""
CHOICES = ("A/B/C",)
"""Scales whose words are also the options of a question: under such a name nobody can tell."""
ONLY_SHARES = ("p",)
"""Names of a confidence that mean many things: they must hold numbers from 0 to 1."""

GOLD = ("question", "correct")
RUN = ("run", "question", "answer", "confidence")
JUDGED = ("run", "question", "grade", "confidence")
INSTEAD = {"grade": ("outcome",)}
"""Columns that leave a meaning nothing to look for."""

MOST_GRADES = 20
FEW_ROWS = 8
"""With fewer rows nobody can tell an id from an attribute by what it holds."""
MOST_SYSTEMS = 200
MOST_COLUMNS = 30

SYSTEMS = (
    "llm",
    "llms",
    "model",
    "models",
    "system",
    "engine",
    "checkpoint",
    "assistant",
    "agent",
    "bot",
)
"""Words for systems in the names of columns."""
NAMING = ("name", "id", "version", "tag", "variant", "config", "key", "ai", "or", "path")
"""Words that may stand beside them: a `model_output` names no system."""
ITEMS = ("item", "question", "prompt", "sample", "query", "problem", "example", "instance")
"""Words in the names of columns that name questions."""
REPEATS = ("epoch", "epochs", "repeat", "repetition", "replicate", "trial", "attempt")
"""Words in the names of columns that number the repeats of a question."""
IDS = ("id", "ids", "key", "idx", "index", "no", "nr", "number", "uid", "uuid")
"""Words that such a name may end in."""


def recognised(
    table: Table, meanings: Sequence[str], grades: Mapping[str, str] | None = None
) -> Table:
    """The table with known names for the columns that others call otherwise."""
    if table.verdicts is not None or table.format == "qa4mre":
        return table
    if "answer" in meanings and "grade" not in meanings:
        _refuse_two_answers(table)
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
        elif meaning == "grade":
            _refuse_unclear(table, grades or {})
    if not taken:
        return table
    said = ", ".join(f"{actual} as {known}" for known, actual in taken.items())
    table = rename(table, taken, side="")
    return replace(table, notes=(*table.notes, f"columns read by their usual names: {said}"))


def _refuse_two_answers(table: Table) -> None:
    """Refuse an `answer` that may be what is right: every answer would be right."""
    own = [column for column in table.columns if _plain(column) in PREDICTED]
    if "answer" in table.columns and "answer" not in table.renamed and own:
        raise InputError(
            f"the run's answers may be in column 'answer' or in column '{own[0]}' (then 'answer' "
            "may hold the right answers); say which column holds the run's answers: "
            f"{option('columns', {'run:answer': own[0]})}, or "
            f"{option('columns', {'run:answer': 'answer'})}",
            _header(table),
        )


def _refuse_unclear(table: Table, grades: Mapping[str, str]) -> None:
    """Refuse a column that may hold grades, answers or what is right: nobody can tell which."""
    for column in _called(table, "grade"):
        unclear = _plain(column) in UNCLEAR
        if unclear and _all_known(table, column, _known_grades(grades, every=True)):
            raise InputError(
                f"column '{column}' may hold grades, answers or what is right; if it holds grades: "
                f"{option('columns', {'grade': column})}; if not, judge the answers against a gold",
                _header(table),
            )


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
        if _plain(column) in ONLY_SHARES:
            return _are_shares(table, column)
        return dtype.is_numeric() or table.format in ("csv", "tsv")
    if meaning != "grade" or _plain(column) not in UNCLEAR:
        return True
    known = _known_grades(grades)
    if not _all_known(table, column, known):
        return _plain(column) not in ONLY_WITH_GRADES  # its words are refused one by one
    # answers, or what is right, in the same words: then nobody can tell what these are
    others = ("answer", *ALIASES["answer"], *PREDICTED, "correct", *ALIASES["correct"])
    beside = [c for c in table.columns if _plain(c) in others and c != column]
    return not any(_all_known(table, own, known) for own in beside)


def _known_grades(grades: Mapping[str, str], *, every: bool = False) -> set[str]:
    """The words of every scale; unless all are asked for, without those of options."""
    from abstain.judging.grades import SCALES, fold

    scales = [scale for name, scale in SCALES.items() if every or name not in CHOICES]
    return {word for scale in scales for word in scale} | {fold(word) for word in grades}


def _all_known(table: Table, column: str, known: set[str]) -> bool:
    """Whether a column holds nothing but known grades, and not too many."""
    from abstain.judging.grades import fold

    rows = into_lazy(table.frame)
    if rows.collect_schema()[column].is_nested():
        return False
    own = column_of(rows, column)
    rows = rows.filter(~own.is_null()).select(own.cast(nw.String)).unique()
    found = collect(rows.head(MOST_GRADES + 1), table.name)[column]
    return 0 < len(found) <= MOST_GRADES and all(fold(value) in known for value in found)


def _are_shares(table: Table, column: str) -> bool:
    """Whether a column holds numbers from 0 to 1 alone, empty cells aside."""
    frame = into_lazy(table.frame)
    if frame.collect_schema()[column] == nw.String:
        own = column_of(frame, column)
        frame = frame.filter(~own.is_null(), own.str.strip_chars() != "")
        frame = read_numbers(frame, column, "__share")
    else:
        if not frame.collect_schema()[column].is_numeric():
            return False
        own = column_of(frame, column)
        frame = frame.filter(~own.is_null()).with_columns(own.alias("__share"))
    inside = nw.col("__share").cast(nw.Float64).is_between(0, 1)
    odd = frame.filter(~inside | nw.col("__share").is_null()).head(1)
    return collect(odd.select("__share"), table.name).is_empty()


# ----------------------------------------------------------- rows that say too little


def refuse_pooled(table: Table, *, judged: bool) -> None:
    """Refuse rows of several systems that nothing tells apart, and those that name no question.

    A column whose name says that it holds systems must be that of the runs. Where judged rows name
    no question, so must columns that tell the rows apart as systems and questions would.
    """
    if table.verdicts is not None or table.format == "qa4mre":
        return
    if judged and not {"outcome", "grade"} & {*table.columns}:
        return  # that is what is said of it
    run = "run" in table.columns
    named = "question" in table.columns or not judged
    free = _free(table)
    systems = [c for c in free if _names_systems(c)]
    if (named and (run or not systems)) or not free:
        return
    rows, sizes = _sizes(table, free)
    several = [c for c in systems if 1 < sizes[c] <= MOST_SYSTEMS]
    if named:
        if several:
            raise _pooled(table, several[0], sizes[several[0]])
        return
    texts = [c for c in free if _may_name_items(table, c)]
    items = [c for c in texts if _names_items(c) and c not in systems]
    for column in items:
        if sizes[column] == rows and not several:
            raise _unnamed(table, {"question": column})
        keys = [["run", column], *(["run", own, column] for own in free if own != column)]
        if run and any(_apart(table, key, rows) for key in keys):
            raise _unnamed(table, {"question": column})
    if run:
        for system in several:
            if not _follows(table, system):
                raise _pooled(table, system, sizes[system])
        return
    likely = [(s, c) for s in (several or free) for c in (*items, *texts) if s != c]
    for system, column in likely:
        cells = sizes[system] * sizes[column]
        if not 1 < sizes[system] <= min(MOST_SYSTEMS, sizes[column]) or rows > cells:
            continue
        sure = system in several or column in items
        full = rows == cells if rows < 2 * FEW_ROWS else 2 * rows > cells
        enough = sizes[system] <= sizes[column] // 2 and rows >= FEW_ROWS and full
        if (sure or enough) and _apart(table, [system, column], rows):
            raise _unnamed(table, {"run": system, "question": column})
    if several:
        raise _pooled(table, several[0], sizes[several[0]])


def _follows(table: Table, column: str) -> bool:
    """Whether each run has one value of a column: then it says nothing that the run does not."""
    frame = into_lazy(table.frame)
    both = frame.select("run", column_of(frame, column)).unique()
    found = collect(both.select(nw.len(), nw.col("run").n_unique().alias("runs")), table.name)
    return bool(found["len"][0] == found["runs"][0])


def _sizes(table: Table, columns: Sequence[str]) -> tuple[int, dict[str, int]]:
    """The number of rows, and how many different values each of some columns has."""
    frame = into_lazy(table.frame)
    counts = collect(
        frame.select(nw.len().alias("__rows"), *(column_of(frame, c).n_unique() for c in columns)),
        table.name,
    )
    values = counts.row(0)
    return int(values[0]), {c: int(n) for c, n in zip(columns, values[1:], strict=True)}


def _words(column: str) -> list[str]:
    """The words of a column's name: `questionId`, `llm_name`.

    >>> _words("questionId"), _words("LLM-name")
    (['question', 'id'], ['llm', 'name'])
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return [word for word in re.split(r"[^a-z0-9]+", apart.casefold()) if word]


def _names_systems(column: str) -> bool:
    """Whether a column is called as systems are: `llm`, `model_id`, `ai-model`."""
    words = {*_words(column)}
    return bool(words & {*SYSTEMS}) and words.issubset((*SYSTEMS, *NAMING))


def _names_items(column: str) -> bool:
    """Whether a column is called as ids are: `item`, `prompt_id`, `questionId`."""
    words = _words(column)
    return bool(words) and (words[-1] in IDS or any(word.startswith(ITEMS) for word in words))


def _may_name_items(table: Table, column: str) -> bool:
    dtype = into_lazy(table.frame).collect_schema()[column]
    return dtype == nw.String or bool(dtype.is_integer())


def _pooled(table: Table, column: str, count: int) -> InputError:
    return InputError(
        f"column '{column}' names {count:,} systems, which would be counted as one run; say what "
        f"it is: {option('columns', {'run': column})}",
        _header(table),
    )


def _header(table: Table) -> Place:
    return Place(table.name, 1 if table.format in ("csv", "tsv") else None)


def _unnamed(table: Table, mapped: dict[str, str]) -> InputError:
    names = " and ".join(f"'{actual}'" for actual in mapped.values())
    tells, these = ("tell", "these are") if len(mapped) > 1 else ("tells", "this is")
    return InputError(
        f"has no column 'question', but {names} {tells} the rows apart; say what {these}: "
        f"{option('columns', mapped)}",
        _header(table),
    )


def telling_apart(table: Table) -> str:
    """Advice for runs that have a question twice: the column that would tell its rows apart."""
    key = [name for name in ("run", "question") if name in table.columns]
    if "question" not in key or table.format == "qa4mre":
        return ""
    rows, _ = _sizes(table, key)
    for column in sorted(_free(table), key=lambda c: not _names_systems(c)):
        if not _apart(table, [*key, column], rows):
            continue
        if {*_words(column)} & {*REPEATS}:
            return (
                f"; column '{column}' numbers the repeats of a question: rename the column of the "
                "question ids to 'cluster', and make a new column 'question' from the id and this "
                "number"
            )
        if "run" in key and not _apart(table, ["question", column], rows):
            return (
                f"; column '{column}' tells them apart only together with the run: join the two "
                f"into one column, and name it: {option('columns', {'run': 'NAME'})}"
            )
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


HINTS = ("conf", "prob", "certain", "sure", "score")
KNOWN = {"run", "question", "answer", "answered", "candidate", "confidence", "why", "outcome"}
KNOWN |= {"grade", "reason", "response", "refusal", "correct", "options", "cluster"}


def _free(table: Table) -> list[str]:
    """Columns that no meaning takes and that could name something."""
    schema = into_lazy(table.frame).collect_schema()
    names = (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
    return [
        column
        for column in table.columns[:MOST_COLUMNS]
        if column not in KNOWN
        and column in schema
        and (schema[column] in names or schema[column].is_numeric())
    ]


def _apart(table: Table, columns: Sequence[str], rows: int) -> bool:
    """Whether no two rows are alike in some columns."""
    frame = into_lazy(table.frame)
    chosen = frame.select(*(column_of(frame, name) for name in columns))
    different = chosen.unique().select(nw.len().alias("n"))
    return bool(collect(different, table.name)["n"][0] == rows)
