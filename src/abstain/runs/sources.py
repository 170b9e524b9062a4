"""Where responses come from: a gold and runs, judged rows, or a part of them.

Each is opened once. Its engine aggregates counts, which are cached; an analysis of single responses
fills the matrix of kinds: runs × questions, one byte each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl
from msgspec.structs import replace

from abstain.errors import UnknownNameError, UsageError
from abstain.io.frames import require
from abstain.io.tables import Table, cells
from abstain.measures.definition import Array, BoolArray, Codes, IntArray
from abstain.outcomes import EMPTY, EXCLUDED, CountsArray
from abstain.reading import PLAIN, Kind, Reading, Selection
from abstain.runs.counting import (
    KindCounts,
    Matrix,
    binned,
    count_cells,
    count_kinds,
    fill,
    kind_counts,
    refuse_runs,
)
from abstain.runs.gold import Gold, numbered_slices
from abstain.runs.judge import INDEX, Judged, judge
from abstain.runs.responses import Responses, notes_of_gold, notes_of_tables

if TYPE_CHECKING:
    from abstain.measures.answers import Answers

NAMELESS = "the rows name no question: each row counts as a question"

Values: TypeAlias = "Mapping[str, str | Collection[str]] | None"
"""For each attribute the value, or the values, that it must have."""
Published: TypeAlias = "tuple[list[str], list[tuple[str | None, ...]], CountsArray]"


class Source:
    kind: Kind
    gold: Gold | None = None
    responses: tuple[Responses, ...] = ()
    notes: tuple[str, ...] = ()
    cluster: str | None = None
    """The attribute by which questions are clustered."""
    subset: Selection | None = None
    marks_unanswerable: bool = False
    """Whether a column says which questions are unanswerable."""
    shares: Array | None = None
    """Runs × questions: the share right of each answer, with partial credit; NaN elsewhere."""

    def __init__(self, responses: Sequence[Responses] = (), reading: Reading = PLAIN) -> None:
        self.responses, self._reading = tuple(responses), reading
        self._held: Matrix | None = None
        self._counts: dict[tuple[str, ...], KindCounts] = {}
        self._judged: dict[tuple[tuple[str, ...], ...], Judged] = {}

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """The questions in order, with some of their attributes (None: all there are)."""
        raise NotImplementedError

    def _judge(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        raise NotImplementedError

    def judged(self, by: Sequence[str] = (), keep: Sequence[str] = ()) -> Judged:
        """Every response with its kind, still lazy; `keep` names other columns to keep."""
        key = tuple(by), tuple(keep)
        if key not in self._judged:
            self._judged[key] = self._judge(by, keep)
        return self._judged[key]

    def _count(self, by: Sequence[str]) -> KindCounts:
        return count_kinds(self.judged(by), by)

    def _fill(self, *, confident: bool) -> Matrix:
        return matrix_of(self.judged(), confident=confident)

    def names(self) -> list[str]:
        return self._held.runs if self._held else sorted(set(self.count_kinds(()).runs))

    def matrix(self, *, confident: bool) -> Matrix:
        if self._held is None or (confident and self._held.confidence is None):
            self._held = self._fill(confident=confident)
        return self._held

    def count_kinds(self, by: Sequence[str]) -> KindCounts:
        key = tuple(by)
        if key not in self._counts:
            self._counts[key] = self._count(by) if self._held is None else self._count_held(by)
        return self._counts[key]

    def _count_held(self, by: Sequence[str]) -> KindCounts:
        runs, kinds, _ = self.matrix(confident=False)
        slices, slice_of = numbered_slices(self.questions(by), by)
        table = count_cells(kinds, slice_of, len(slices))
        return kind_counts(runs, slices, table, kinds.shape[1])

    def binned(self, bins: int) -> pl.DataFrame:
        """Counts by run, kind and bin of confidence (−1: none), before any policy."""
        self.require_whole()
        return binned(self.judged(), bins)

    def require_whole(self) -> None:
        """Raise where answers have partial credit: no analysis may take them as right or wrong."""
        if self.shares is not None:
            from abstain.runs.partial import NOT_WHOLE

            raise UsageError(NOT_WHOLE)

    def published(self, by: Sequence[str]) -> Published | None:
        """Published counts by run and slice; None where responses were read."""
        return None

    def only(self, runs: Collection[str] | str | None, where: Values) -> Source | None:
        """A subset that needs no matrix; None where only the matrix can be indexed."""
        return None


class GoldRuns(Source):
    kind: Kind = "gold"
    gold: Gold

    def __init__(self, gold: Gold, responses: Sequence[Responses], reading: Reading) -> None:
        super().__init__(responses, reading)
        self.gold, self.match = gold, reading.match
        self.marks_unanswerable = gold.marks_unanswerable
        declared = declared_cluster(item.table for item in responses)
        self.cluster = reading.cluster or (declared if declared in gold.attributes else None)

    @cached_property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        notes = notes_of_gold(self.gold, self.responses)
        if self.gold.corrections:
            from abstain.runs.corrections import note_of

            notes.append(note_of(self.gold))
        return tuple(notes)

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        self.gold.check_attributes(attributes or ())
        return self.gold.frame

    def _judge(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        how = self._reading
        return judge(self.gold, self.responses, match=how.match, align=how.align, by=by, keep=keep)


class JudgedRows(Source):
    kind: Kind = "judged"

    def __init__(self, responses: Sequence[Responses], reading: Reading) -> None:
        super().__init__(responses, reading)
        self.cluster = reading.cluster or declared_cluster(item.table for item in responses)
        self.named = all("question" in item.table.columns for item in responses)
        self._rows: Sequence[Responses] = self.responses
        if not self.named:
            from abstain.runs.grades import named_by_place

            self._rows = named_by_place(responses)
        self._scale = None
        if reading.partial is not None:
            from abstain.runs.partial import PartialScale

            self._scale = PartialScale.of(reading.partial)

    @cached_property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        notes = notes_of_tables(item.table for item in self.responses)
        if self._scale is not None:
            notes.append(str(self._scale))
        return tuple(notes) if self.named else (*notes, NAMELESS)

    @cached_property
    def shares(self) -> Array | None:  # type: ignore[override]
        if self._reading.partial is None:
            return None
        from abstain.runs.partial import SHARE

        judged = self.judged()
        frames = [frame.with_columns(confidence=nw.col(SHARE)) for frame in judged.frames]
        return matrix_of(replace(judged, frames=tuple(frames)), confident=True).confidence

    @cached_property
    def marks_unanswerable(self) -> bool:  # type: ignore[override]
        from abstain.runs.usual_names import marking

        return any(marking(item.table) is not None for item in self.responses)

    @cached_property
    def _attributes(self) -> tuple[str, ...]:
        from abstain.runs.grades import shared_attributes

        return shared_attributes(self._rows)

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """The questions that the rows are about."""
        judged = self.judged(self._attributes if attributes is None else attributes)
        return judged.gold.frame

    def _judge(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        from abstain.runs.grades import judge_rows

        how = self._reading
        return judge_rows(self._rows, how.grades, by=by, keep=keep, partial=how.partial)

    def _count(self, by: Sequence[str]) -> KindCounts:
        from abstain.runs.grades import judge_rows

        if self._reading.partial is not None:
            return self._count_held(by)
        # a judge's confidence may have any scale where nobody asks for it
        judged = judge_rows(self._rows, self._reading.grades, by=by, confidence=False)
        return count_kinds(judged, by)

    def lists(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        """As `judged`, for runs with several rows per question; rows must name their question."""
        self.require_whole()
        for item in self.responses:
            require(item.table, {"question": "which names each question"})
        return self.judged(by, keep)


class Subset(Source):
    """Some of the runs of another source, on some of its questions."""

    def __init__(self, whole: Source, columns: IntArray, rows: IntArray) -> None:
        super().__init__(whole.responses)
        self.whole, self.columns, self.rows = whole, columns, rows
        gold = whole.gold
        self.kind = whole.kind
        self.gold = None if gold is None else replace(gold, frame=gold.frame[columns])
        self.notes, self.cluster, self.subset = whole.notes, whole.cluster, whole.subset
        self.marks_unanswerable = whole.marks_unanswerable
        if whole.shares is not None:
            self.shares = whole.shares[np.ix_(rows, columns)]

    def names(self) -> list[str]:
        """The runs in the order of its rows, which is not always that of their names."""
        names = self.whole.names()
        return [names[i] for i in self.rows]

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        return self.whole.questions(attributes)[self.columns]

    def _judge(self, by: Sequence[str], keep: Sequence[str]) -> Judged:
        judged = self.whole.judged(by, keep)
        runs, questions = self.names(), self.columns.tolist()
        inside = nw.col("run").is_in(runs), nw.col(INDEX).is_in(questions)
        return replace(judged, frames=tuple(frame.filter(*inside) for frame in judged.frames))

    def _count(self, by: Sequence[str]) -> KindCounts:
        return self._count_held(by)

    def _fill(self, *, confident: bool) -> Matrix:
        names, kinds, sure = self.whole.matrix(confident=confident)
        at = np.ix_(self.rows, self.columns)
        return Matrix([names[i] for i in self.rows], kinds[at], None if sure is None else sure[at])


def having(
    rows: pl.DataFrame, where: Values, *, what: str = "question"
) -> tuple[BoolArray, dict[str, list[str]]]:
    """Mask of the rows with the values asked for, and these as texts; an absent one raises."""
    inside = np.ones(rows.height, bool)
    asked: dict[str, list[str]] = {}
    for name, values in (where or {}).items():
        several = isinstance(values, Collection) and not isinstance(values, str)
        asked[name] = wanted = [str(value) for value in values] if several else [str(values)]
        column = cells(rows, name).cast(pl.String)
        for value in wanted:
            if not (column == value).any():
                known = column.drop_nulls().unique().sort().to_list()
                raise UnknownNameError(f"{what} with {name}", value, known)
        inside &= column.is_in(wanted).fill_null(value=False).to_numpy()
    if not inside.any():
        raise UsageError(f"there is no {what} left: none has all of these values")
    return inside, asked


def declared_cluster(tables: Iterable[Table]) -> str | None:
    """The attribute by which files declare that questions are clustered, if they agree."""
    names = {table.cluster for table in tables if table.cluster}
    return names.pop() if len(names) == 1 else None


def matrix_of(judged: Judged, *, confident: bool = False) -> Matrix:
    parts = [fill(judged, frame, confident=confident) for frame in judged.frames]
    runs = [run for part in parts for run in part.runs]
    refuse_runs(judged.responses, runs)
    order = sorted(range(len(runs)), key=runs.__getitem__)
    kinds = _in_order([part.kinds for part in parts], order)
    sure = _in_order([part.confidence for part in parts], order) if confident else None
    return Matrix([runs[i] for i in order], kinds, sure)


def _in_order(parts: Sequence[Any], order: list[int]) -> Any:
    """The rows of arrays in another order; what is in order already is not copied."""
    whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return whole if order == list(range(len(order))) else whole[order]


def has_answer(codes: Codes) -> BoolArray:
    has: BoolArray = codes < EMPTY
    return has


def answers_of(
    codes: Codes, confidence: Array, where: BoolArray | IntArray | None = None
) -> Answers:
    """The answers and candidates of a run, over all or some of the questions."""
    from abstain.measures.answers import Answers

    if where is not None:
        codes, confidence = codes[where], confidence[where]
    has = has_answer(codes)
    asked = len(codes)
    if not has.all():
        asked = int(np.count_nonzero(codes < EXCLUDED))
        codes, confidence = codes[has], confidence[has]
    return Answers((codes & 1) == 0, confidence, asked, codes < 2)


def count_stated(codes: Codes, confidence: Array) -> tuple[int, int]:
    """How many answers and candidates of a run have a confidence, and how many there are."""
    has = has_answer(codes)
    return int(np.count_nonzero(has & ~np.isnan(confidence))), int(has.sum())
