"""Counts that somebody else made: read from a table and checked against themselves."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, Place, UsageError, option, shown
from abstain.io.columns import require_all, text_columns
from abstain.io.frames import check_mapping, collect, open_table, rename
from abstain.io.selection import Selection, narrowed, positions
from abstain.io.tables import ROW, Table
from abstain.judging.evaluation import Counted, Kind, Source, Values, having
from abstain.judging.reading import Reading
from abstain.judging.responses import Responses
from abstain.outcomes import MOST, OUTCOMES, Counts, CountsArray

NO_QUESTIONS = "counts say nothing about single questions: they can only be scored"
SPLIT = OUTCOMES[2:]
TOTALS = ("questions", "n", "total")
NUMBERS = (*OUTCOMES, "unanswered", "answered", *TOTALS)


class Given(Struct, frozen=True):
    """One row of counts."""

    run: str
    counts: Counts
    attributes: dict[str, str | None]
    place: Place | None = None


class GivenCounts(Source):
    """Counts by run, with whatever else a table says of each row."""

    kind: Kind = "counts"
    gold = None
    responses: tuple[Responses, ...] = ()
    cluster = None

    def __init__(
        self,
        rows: Sequence[Given],
        notes: Sequence[str],
        table: Table | None,
        *,
        subset: Selection | None = None,
    ) -> None:
        self.rows = tuple(rows)
        self.notes = tuple(notes)
        self.table = table
        self.subset = subset

    def counted(self, by: Sequence[str]) -> Counted:
        """The counts of every run and slice; none may stand twice."""
        self._require(by, "which was asked for as a slice", "to slice by")
        seen: dict[tuple[str | None, ...], Place | None] = {}
        for row in self.rows:
            key = (row.run, *(row.attributes.get(name) for name in by))
            if key in seen:
                raise InputError(
                    f"run {shown(row.run)} appears twice{_of_slice(by, key[1:])} "
                    f"(first: {seen[key]})"
                    + ("" if by else f"; slices are named with {option('by')}"),
                    row.place,
                )
            seen[key] = row.place
        counts = CountsArray.of(row.counts for row in self.rows)
        sizes = {row.counts.n for row in self.rows}
        return Counted(
            [str(key[0]) for key in seen],
            [key[1:] for key in seen],
            counts,
            int(sizes.pop()) if len(sizes) == 1 else None,
        )

    def _require(self, names: Iterable[str], why: str, what_for: str) -> None:
        if self.table is not None:
            require_all(self.table, dict.fromkeys(names, why))
        elif any(True for _ in names):
            raise UsageError(f"counts given by name have no attributes {what_for}")

    def only(self, runs: Collection[str] | str | None, where: Values) -> GivenCounts:
        """The rows of some runs, and of those the ones whose attributes have given values."""
        names = self.names()
        wanted = {names[at] for at in positions("run", names, runs)}
        asked = dict(where or {})
        self._require(asked, "by which rows are chosen", "to choose by")
        own = [row for row in self.rows if row.run in wanted]
        values = {
            name: pl.Series([row.attributes.get(name) for row in own], dtype=pl.String)
            for name in asked
        }
        inside, said = having(pl.DataFrame({ROW: range(len(own)), **values}), asked, what="row")
        rows = [row for row, there in zip(own, inside, strict=True) if there]
        left = list(dict.fromkeys(row.run for row in rows))
        chosen = narrowed(self.subset, runs=left, of_runs=len(names), where=said)
        return GivenCounts(rows, self.notes, self.table, subset=chosen)

    def names(self) -> list[str]:
        """The runs, as they stand."""
        return list(dict.fromkeys(row.run for row in self.rows))

    def questions(self, *_: Any, **__: Any) -> Any:
        """Counts have no questions, and so no kinds, no responses and no confidences of them."""
        raise UsageError(NO_QUESTIONS)

    count_kinds = fill = binned = questions


def read_given(data: Any, reading: Reading, *, skip_inconsistent: bool = False) -> GivenCounts:
    """The counts of a table, a frame, or a mapping of names to `Counts`."""
    if isinstance(data, Mapping) and all(isinstance(own, Counts) for own in data.values()):
        if not data:
            raise UsageError("there are no counts to score")
        return GivenCounts([Given(str(run), own, {}) for run, own in data.items()], (), None)
    opened = open_table(data, name="the counts", format=reading.format, pick=reading.pick)
    table = rename(opened, reading.columns, side="run")
    check_mapping(reading.columns, [table])
    needed = {"right": "the number of right answers", "wrong": "the number of wrong answers"}
    if not any(c in table.columns for c in ("unanswered", *SPLIT, *TOTALS)):
        needed["unanswered"] = "the number of questions without an answer"
    require_all(table, needed)
    frame = _texts(table)
    if frame.is_empty():
        raise InputError("has no rows", table.name)
    others = [c for c in frame.columns if c not in (ROW, "run", *NUMBERS)]
    rows: list[Given] = []
    faults: list[tuple[Place, str, str]] = []
    unreadable: list[InputError] = []
    for record in frame.iter_rows(named=True):
        place = table.place(record[ROW])
        run = record.get("run") or f"row {record[ROW] + 1}"
        try:
            numbers = {c: _whole(record[c], c, place) for c in NUMBERS if c in table.columns}
            if not any(numbers.get(c) is not None for c in ("unanswered", *SPLIT, *TOTALS)):
                raise InputError("nothing says how many questions were unanswered", place)
        except InputError as error:
            unreadable.append(error)
            continue
        wrong = _inconsistency(numbers)
        if wrong:
            faults.append((place, run, wrong))
            continue
        rows.append(Given(run, _counts(numbers), {c: record[c] for c in others}, place))
    if unreadable:
        raise InputError(unreadable[0].quoted() + _more(unreadable), unreadable[0].place)
    if faults and not skip_inconsistent:
        place, run, wrong = faults[0]
        how = option("skip_inconsistent", value=True)
        said = f"{shown(run)}: {wrong}{_more(faults)}; {how} scores the others"
        raise InputError(said, place)
    if not rows:
        raise UsageError("there are no counts to score")
    notes = [
        f"run {run} is left out, because its counts do not add up ({place}: {wrong})"
        for place, run, wrong in faults
    ]
    return GivenCounts(rows, notes, table)


def _of_slice(by: Sequence[str], values: Sequence[Any]) -> str:
    """Where a row stands among the slices.

    >>> _of_slice(["question"], ["q1"]), _of_slice([], [])
    (" for question 'q1'", '')
    """
    told = [f"{name} {shown(str(value or ''))}" for name, value in zip(by, values, strict=True)]
    return f" for {', '.join(told)}" if told else ""


def _texts(table: Table) -> pl.DataFrame:
    lazy = nw.from_native(table.frame)
    schema = lazy.collect_schema()
    wanted = [c for c in table.columns if c in NUMBERS or not schema[c].is_nested()]
    chosen = text_columns(lazy, wanted, table.name, trim=wanted)
    frame = collect(lazy.select(*chosen), table.name)
    return frame if ROW in frame.columns else frame.with_row_index(ROW)


def _whole(text: str | None, column: str, place: Place) -> int | None:
    if text is None or text == "":
        if column in ("right", "wrong"):
            raise InputError(f"{column} is empty, expected a whole number", place)
        return None
    try:
        value = int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        value = math.nan
    if value % 1 != 0:  # as of what is not finite
        expected = "a whole number"
    elif value < 0:
        expected = "0 or more"
    elif value > MOST:
        expected = "at most 2^53"
    else:
        return int(value)
    raise InputError(f"{column} is {shown(text)}, expected {expected}", place)


def _inconsistency(numbers: Mapping[str, int | None]) -> str:
    right, wrong = numbers["right"] or 0, numbers["wrong"] or 0
    said: list[str] = []
    answered = numbers.get("answered")
    if answered is not None and right + wrong != answered:
        said.append(f"{right} right + {wrong} wrong = {right + wrong}, not {answered} answered")
    parts = [numbers[c] for c in SPLIT if numbers.get(c) is not None]
    unanswered = numbers.get("unanswered")
    split = sum(p for p in parts if p is not None)
    if parts and unanswered is not None and split != unanswered:
        said.append(f"the kinds of unanswered questions add up to {split}, not {unanswered}")
    total = next((numbers[c] for c in TOTALS if numbers.get(c) is not None), None)
    blanks = unanswered if unanswered is not None else split if parts else None
    if total is not None and blanks is not None and right + wrong + blanks != total:
        said.append(f"the outcomes add up to {right + wrong + blanks}, not {total} questions")
    if total is not None and blanks is None and right + wrong > total:
        said.append(f"{right} right + {wrong} wrong are more than {total} questions")
    return "; ".join(said)


def _counts(numbers: Mapping[str, int | None]) -> Counts:
    right, wrong = numbers["right"] or 0, numbers["wrong"] or 0
    if any(numbers.get(c) is not None for c in SPLIT):
        return Counts(right, wrong, *(numbers.get(c) or 0 for c in SPLIT))
    unanswered = numbers.get("unanswered")
    if unanswered is None:
        total = next(own for c in TOTALS if (own := numbers.get(c)) is not None)
        unanswered = total - right - wrong
    return Counts(right, wrong, unsplit=unanswered)


def _more(faults: Sequence[object]) -> str:
    """How many rows are at fault beside the one that is named."""
    return f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
