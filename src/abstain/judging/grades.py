"""Ready-made judgements: rows that say what became of each response, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from abstain.errors import InputError, Place, UsageError, nearest, option, shown
from abstain.io.columns import USUAL_NAMES, require_all, text_column
from abstain.io.frames import collect
from abstain.io.tables import ROW, Table
from abstain.judging.binning import binned_cells
from abstain.judging.faults import UNREAD, bad_confidence
from abstain.judging.judge import FILE, KIND, with_confidence
from abstain.judging.responses import OF_A_RUN, Responses, own_cluster, told
from abstain.judging.scales import read_scale
from abstain.judging.slices import BY, slice_sizes
from abstain.judging.tally import Tallies, counted, with_missing
from abstain.outcomes import KINDS, RIGHT, WRONG, Why, blank_kind

if TYPE_CHECKING:
    from abstain.judging.evaluation import Kind
    from abstain.judging.matrix import Filled
    from abstain.judging.reading import Reading

EMPTY = blank_kind(Why.EMPTY)
COLUMNS = ("outcome", "grade")
NAMELESS = "the rows name no question: each is counted as one"
NOT_ATTRIBUTES = (*OF_A_RUN, "question", "grade", "rank", "known")


class JudgedRows:
    """Rows that say what became of each response."""

    kind: Kind = "judged"
    gold = None

    def __init__(self, responses: Sequence[Responses], reading: Reading) -> None:
        self.responses = tuple(responses)
        self.cluster = own_cluster(own.table for own in responses)
        self._reading = reading
        self._tallies: dict[tuple[str, ...], Tallies] = {}
        self._questions: dict[tuple[str, ...], pl.DataFrame] = {}

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the rows."""
        said = told(own.table for own in self.responses)
        return tuple(said) if self.named else (*said, NAMELESS)

    @property
    def named(self) -> bool:
        """Whether the rows name their questions."""
        return all("question" in own.table.columns for own in self.responses)

    def tally(self, by: Sequence[str]) -> Tallies:
        """Judged rows by run and slice, counted by the engine that they live in."""
        key = tuple(by)
        if key not in self._tallies:
            self._tallies[key] = tally_grades(self.responses, by=by, grades=self._reading.grades)
        return self._tallies[key]

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """The questions that the rows are about; rows that name none are counted by place."""
        wanted = self._attributes() if attributes is None else tuple(attributes)
        if wanted not in self._questions:
            self._questions[wanted] = self._found(wanted)
        return self._questions[wanted]

    def _attributes(self) -> tuple[str, ...]:
        """Columns that say one thing of each question, whatever run the row is of."""
        schemas = [own.frame.collect_schema() for own in self.responses]
        shared = [
            name
            for name in self.responses[0].table.columns
            if name not in NOT_ATTRIBUTES
            and all(name in own and not own[name].is_nested() for own in schemas)
        ]
        if not self.named or not shared:
            return tuple(shared) if self.named else ()
        frames, _ = _read(self.responses, shared, self._reading.grades)
        rows = pl.concat(
            collect(frame.select("question", *(BY + name for name in shared)), own.table.name)
            for own, frame in zip(self.responses, frames, strict=True)
        )
        differ = rows.group_by("question").agg(pl.exclude("question").n_unique()).max()
        return tuple(name for name in shared if (differ[BY + name][0] or 0) <= 1)

    def _found(self, attributes: Sequence[str]) -> pl.DataFrame:
        frames, questions = graded(self.responses, by=attributes, grades=self._reading.grades)
        if questions is not None:
            return questions
        rows = _numbered(
            pl.concat([judged_rows(s, f) for s, f in zip(self.responses, frames, strict=True)])
        )
        named = [pl.col(BY + name).first().alias(name) for name in attributes]
        return rows.group_by("question").agg(*named).sort("question")

    def fill(self, *, confident: bool) -> Filled:
        """The kind of every run's row for every question; a run without one is missing there."""
        frames, questions = graded(self.responses, by=(), grades=self._reading.grades)
        tables = [judged_rows(s, f) for s, f in zip(self.responses, frames, strict=True)]
        rows = pl.concat(tables, how="diagonal")
        if rows.is_empty():
            raise InputError("has no rows", self.responses[0].table.name)
        if questions is None:
            rows = _numbered(rows)
            questions = rows.select("question").unique().sort("question")
        runs = sorted(rows["run"].unique())
        placed = rows.join(
            questions.select("question").with_row_index("column"), on="question", how="left"
        ).join(pl.DataFrame({"run": runs}).with_row_index("row"), on="run", how="left")
        width = questions.height
        at = placed["row"].to_numpy().astype(np.int64) * width + placed["column"].to_numpy()
        if len(np.unique(at)) < len(at):
            raise UsageError("a run is in two tables with the same question; a run belongs in one")
        kinds = np.full((len(runs), width), blank_kind(Why.MISSING), np.uint8)
        kinds.reshape(-1)[at] = placed[KIND].to_numpy()
        if not confident:
            return runs, kinds, None
        sure = np.full((len(runs), width), np.nan)
        sure.reshape(-1)[at] = placed["confidence"].fill_null(np.nan).to_numpy()
        return runs, kinds, sure

    def lists(
        self, by: Sequence[str], keep: Sequence[str]
    ) -> tuple[list[pl.DataFrame], pl.DataFrame]:
        """Rows of runs that may have several a question, and the questions; `keep` names columns.

        Their confidences are from 0 to 1 or none.
        """
        grades = self._reading.grades
        tables, questions = graded_lists(self.responses, by=by, grades=grades, keep=keep)
        checked = zip(self.responses, tables, strict=True)
        return [checked_confidence(own, table) for own, table in checked], questions

    def binned(self, bins: int) -> pl.DataFrame:
        """Confidences counted into bins."""
        return binned_cells(*self.fill(confident=True), bins)


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows that name no question, each known by its place in its run."""
    place = (pl.int_range(pl.len()).over("run") + 1).cast(pl.String).str.zfill(9)
    return rows.with_columns(question=place)


def judged_rows(source: Responses, frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """The judged rows of one table with their confidence, null where there is none."""
    rows = collect(frame, source.table.name).drop(FILE, "grade", "why", strict=False)
    return checked_confidence(source, rows)


def checked_confidence(source: Responses, rows: pl.DataFrame) -> pl.DataFrame:
    """Judged rows with a confidence from 0 to 1 or none; anything else is refused."""
    if "confidence" not in rows.columns:
        return rows.with_columns(confidence=pl.lit(None, pl.Float64))
    value = pl.col("confidence")
    bad = (value < 0) | (value > 1) | value.is_nan()
    if UNREAD in rows.columns:
        bad = bad | pl.col(UNREAD).is_not_null()
    faulty = rows.filter(bad.fill_null(value=False))
    if faulty.height:
        first = faulty.row(0, named=True)
        message = bad_confidence(first.get(UNREAD) or first["confidence"])
        raise InputError(message, source.place(first.get(ROW)))
    return rows.drop(UNREAD, strict=False)


def tally_grades(
    sources: Sequence[Responses], *, by: Sequence[str], grades: Mapping[str, str]
) -> Tallies:
    """Count judged rows by run and slice."""
    frames, named = _read(sources, by, grades)
    columns = [BY + name for name in by]
    per_table, questions = [], []
    for source, frame in zip(sources, frames, strict=True):
        per_table.append(counted(frame, columns, source.table.name))
        _refuse_bad_rows(source, frame, per_table[-1])
        if named:
            questions.append(_questions(source, frame, by))
    _refuse_shared_runs(per_table, sources)
    kinds = pl.concat(per_table)
    if kinds.is_empty():
        raise InputError("has no rows", sources[0].table.name)
    if named:
        known = _all_questions(pl.concat(questions), sources, by)
        sizes = slice_sizes(known, by)
        return with_missing(kinds, sizes, columns, questions=known.height)
    _refuse_different_lengths(kinds, sources)
    return _without_questions(kinds, columns)


def graded(
    sources: Sequence[Responses],
    *,
    by: Sequence[str],
    grades: Mapping[str, str],
    questions: bool = False,
) -> tuple[list[nw.LazyFrame[Any]], pl.DataFrame | None]:
    """Judged rows with their kinds, a frame for each table, and the questions they are about.

    There are no questions where no table names them, which is refused where they are needed.
    """
    frames, named = _read(sources, by, grades, confidence=True, questions=questions)
    per_table = []
    for source, frame in zip(sources, frames, strict=True):
        per_table.append(counted(frame, [], source.table.name))
        _refuse_bad_rows(source, frame, per_table[-1])
    _refuse_shared_runs(per_table, sources)
    if not named:
        return frames, None
    found = [_questions(s, f, by) for s, f in zip(sources, frames, strict=True)]
    return frames, _all_questions(pl.concat(found), sources, by)


def graded_lists(
    sources: Sequence[Responses],
    *,
    by: Sequence[str],
    grades: Mapping[str, str],
    keep: Sequence[str],
) -> tuple[list[pl.DataFrame], pl.DataFrame]:
    """As `graded`, where a run may have several rows a question; `keep` names columns to keep."""
    frames, _ = _read(sources, by, grades, confidence=True, keep=keep, questions=True)
    tables, found = [], []
    for source, frame in zip(sources, frames, strict=True):
        _refuse_bad_rows(source, frame, counted(frame, [], source.table.name))
        _refuse_nameless(source, frame)
        tables.append(collect(frame, source.table.name))
        found.append(tables[-1].select("question", *(BY + name for name in by)).unique())
    return tables, _all_questions(pl.concat(found), sources, by)


def grade_rows(
    sources: Sequence[Responses],
    *,
    by: Sequence[str],
    grades: Mapping[str, str],
    confident: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judged rows one by one (run, question, KIND), and the questions with their attributes.

    Where asked for they have a confidence too, null where none was given.
    """
    frames, questions = graded(sources, by=by, grades=grades, questions=True)
    assert questions is not None
    columns = ["run", "question", KIND]
    rows = pl.concat(
        judged_rows(source, frame).select(*columns, "confidence")
        if confident
        else collect(frame.select(columns), source.table.name)
        for source, frame in zip(sources, frames, strict=True)
    )
    if rows.is_empty():
        raise InputError("has no rows", sources[0].table.name)
    return rows, questions


def _read(
    sources: Sequence[Responses],
    by: Sequence[str],
    grades: Mapping[str, str],
    *,
    confidence: bool = False,
    keep: Sequence[str] = (),
    questions: bool = False,
) -> tuple[list[nw.LazyFrame[Any]], bool]:
    """The tables in one shape, each row with its kind, and whether they name their questions."""
    for source in sources:
        _require(source.table, questions=questions)
    frames = [
        _canonical(s, index, by, confidence=confidence, keep=keep)
        for index, s in enumerate(sources)
    ]
    named = ["question" in frame.collect_schema().names() for frame in frames]
    if any(named) and not all(named):
        nameless = sources[named.index(False)].table.name
        raise InputError("has no column 'question', but other tables do", nameless)
    distinct = [
        collect(frame.select("grade").unique(), source.table.name)["grade"].to_list()
        for source, frame in zip(sources, frames, strict=True)
    ]
    scales = _scales(sources, distinct, grades)
    kinds = [_with_kinds(frame, scale) for frame, scale in zip(frames, scales, strict=True)]
    return kinds, named[0]


def _scales(
    sources: Sequence[Responses], values: Sequence[list[str | None]], grades: Mapping[str, str]
) -> list[dict[str, int]]:
    """The scale of each table; one that leaves it open is read together with the others."""
    found: list[dict[str, int]] = []
    for source, own in zip(sources, values, strict=True):
        try:
            found.append(read_scale(own, grades))
        except UsageError as alone:
            try:
                together = read_scale([v for some in values for v in some], grades)
            except UsageError:
                raise InputError(alone.quoted(), source.table.name) from None
            found.append(together)
    return found


def _refuse_different_lengths(kinds: pl.DataFrame, sources: Sequence[Responses]) -> None:
    """Without ids nobody knows what a shorter run lacks, and a cut-off log would win."""
    lengths = kinds.group_by("run").agg(pl.col("n").sum()).sort("n", "run")
    if lengths["n"].n_unique() < 2:
        return
    short, long = lengths.row(0), lengths.row(-1)
    columns = sources[0].table.columns
    guess = next((c for c in USUAL_NAMES["question"] if c in columns), "NAME")
    raise InputError(
        f"run {shown(short[0])} has {short[1]:,} rows and run {shown(long[0])} {long[1]:,}, and "
        f"no column 'question' says which are missing ({option('columns', {'question': guess})} "
        "names one)",
        sources[0].table.name,
    )


def _refuse_shared_runs(counted: Sequence[pl.DataFrame], sources: Sequence[Responses]) -> None:
    """A run in two tables might have a question twice, unseen."""
    home: dict[str, str] = {}
    for kinds, source in zip(counted, sources, strict=True):
        for run in kinds["run"].unique().sort():
            if run in home:
                raise InputError(
                    f"run {shown(run)} is in two tables (first: {home[run]}); a run belongs in one",
                    source.table.name,
                )
            home[run] = source.table.name


def _require(table: Table, *, questions: bool) -> None:
    needed = {"question": "which names each question"} if questions else {}
    if not any(column in table.columns for column in COLUMNS):
        needed["outcome"] = "which says what became of each response (or 'grade')"
    require_all(table, needed)


def _canonical(
    source: Responses,
    index: int,
    by: Sequence[str],
    *,
    confidence: bool = False,
    keep: Sequence[str] = (),
) -> nw.LazyFrame[Any]:
    table, frame = source.table, source.frame
    column = next(c for c in COLUMNS if c in table.columns)
    for name in by:
        if name not in table.columns:
            near = nearest(name, table.columns)
            raise InputError(
                f"has no column '{name}' to slice by"
                + (f" (nearest: {', '.join(near)})" if near else ""),
                table.name,
            )
    chosen = [text_column(frame, column, table.name, trim=True).alias("grade")]
    chosen += [
        text_column(frame, name, table.name).alias(name)
        for name in ("question", "why", *keep)
        if name in table.columns
    ]
    chosen += [text_column(frame, name, table.name).alias(BY + name) for name in by]
    run = (
        nw.lit(source.run).cast(nw.String) if source.run else text_column(frame, "run", table.name)
    )
    if confidence and "confidence" in table.columns:
        frame, extra = with_confidence(frame)
        chosen += extra
    if ROW in frame.collect_schema().names():
        chosen.append(nw.col(ROW))
    return frame.select(run.alias("run"), nw.lit(index).alias(FILE), *chosen)


def _with_kinds(frame: nw.LazyFrame[Any], scale: Mapping[str, int]) -> nw.LazyFrame[Any]:
    """Each row with its kind; beyond `KINDS`: it contradicts itself, or its reason is unknown."""
    names = frame.collect_schema().names()
    blank = nw.col("grade").is_null() | (nw.col("grade") == "")
    chain = nw.when(blank).then(nw.lit(EMPTY))
    for value, code in scale.items():
        chain = chain.when(nw.col("grade") == value.strip()).then(nw.lit(code))
    kind = chain.otherwise(nw.lit(KINDS))
    if "why" in names:
        kind = _with_reason(kind)
    return frame.with_columns(kind.cast(nw.Int16).alias(KIND))


def _refuse_bad_rows(source: Responses, frame: nw.LazyFrame[Any], kinds: pl.DataFrame) -> None:
    if kinds["run"].is_null().any() or (kinds["run"] == "").any():
        raise InputError("a row has no run name", source.table.name)
    if (kinds[KIND] >= KINDS).any():
        _raise_bad_reason(source, frame)


def _with_reason(kind: nw.Expr) -> nw.Expr:
    """A blank that says why keeps its reason."""
    given = ~nw.col("why").is_null() & (nw.col("why") != "")
    answered = (kind == RIGHT) | (kind == WRONG)
    candidate = (kind - 2) % 3
    chain = nw.when(~given).then(kind).when(answered).then(nw.lit(KINDS + 1))
    for why in Why:
        chain = chain.when(nw.col("why").str.to_lowercase() == why.value).then(
            nw.lit(blank_kind(why, "right")) + candidate
        )
    return chain.otherwise(nw.lit(KINDS + 2))


def _raise_bad_reason(source: Responses, frame: nw.LazyFrame[Any]) -> None:
    rows = collect(frame.filter(nw.col(KIND) >= KINDS), source.table.name)
    row = rows.sort(ROW).row(0, named=True) if ROW in rows.columns else rows.row(0, named=True)
    place = source.place(row.get(ROW))
    if row[KIND] == KINDS + 1:
        raise InputError(
            f"the row contradicts itself: grade {shown(row['grade'])}, why {shown(row['why'])}",
            place,
        )
    raise InputError(f"why is {shown(row['why'])}, expected one of {', '.join(Why)}", place)


def _questions(source: Responses, frame: nw.LazyFrame[Any], by: Sequence[str]) -> pl.DataFrame:
    """The questions of a table, after making sure that no run has one twice."""
    label = source.table.name
    per_run = collect(
        frame.group_by("run").agg(
            nw.len().alias("rows"), nw.col("question").n_unique().alias("distinct")
        ),
        label,
    )
    _refuse_nameless(source, frame)
    if (per_run["rows"] > per_run["distinct"]).any():
        raise _repeat(source, frame)
    columns = [BY + name for name in by]
    return collect(frame.select("question", *columns).unique(), label)


def _refuse_nameless(source: Responses, frame: nw.LazyFrame[Any]) -> None:
    lost = nw.col("question").is_null() | (nw.col("question") == "")
    blank = collect(frame.filter(lost).head(1), source.table.name)
    if blank.height:
        row = blank[ROW][0] if ROW in blank.columns else None
        raise InputError("the row has no question id", source.place(row))


def _repeat(source: Responses, frame: nw.LazyFrame[Any]) -> InputError:
    rows = collect(frame, source.table.name)
    if ROW in rows.columns:
        rows = rows.sort(ROW)
    twice = rows.filter(pl.struct("run", "question").is_duplicated())
    run, question = twice["run"][0], twice["question"][0]
    same = twice.filter((pl.col("run") == run) & (pl.col("question") == question))
    places = [source.place(r) for r in same[ROW][:2]] if ROW in rows.columns else []
    how = "with another grade" if same["grade"].n_unique() > 1 else "with the same grade"
    first = f" (first: {places[0]})" if places else ""
    others = len(twice) - twice.select("run", "question").n_unique() - 1
    tail = f" (and {others:,} more)" if others else ""
    return InputError(
        f"run {shown(run)} has question {shown(question)} again, {how}{first}{tail}",
        places[1] if places else Place(source.table.name),
    )


def _all_questions(
    found: pl.DataFrame, sources: Sequence[Responses], by: Sequence[str]
) -> pl.DataFrame:
    known = found.drop(BY + "question", strict=False).unique().sort("question")
    known = known.rename({BY + name: name for name in by if name != "question"})
    twice = known.filter(pl.col("question").is_duplicated())
    if twice.height:
        question = twice["question"][0]
        raise InputError(
            f"question {shown(question)} is in two slices of {', '.join(by)}; "
            "a question's attributes must agree in every row",
            sources[0].table.name,
        )
    return known


def _without_questions(kinds: pl.DataFrame, columns: Sequence[str]) -> Tallies:
    """Tallies of rows that name no question: nothing can be missing."""
    per_slice = kinds.group_by("run", *columns).agg(size=pl.col("n").sum())
    if columns:
        sizes = per_slice.group_by(columns).agg(pl.col("size").max()).sort(columns)
    else:
        sizes = per_slice.select(pl.col("size").max().fill_null(0))
    tallies = with_missing(kinds, sizes, columns, questions=int(sizes["size"].sum()))
    tallies.table[:, blank_kind(Why.MISSING)] = 0
    return tallies
