"""Rows of a log, gathered one by one, as a table; and what a score means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from msgspec import Struct, field
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, option, plural, shown
from abstain.io.files import Opened
from abstain.io.tables import ROW, UNTOLD, Plan, Table, json_column, json_text

OURS = (
    *("run", "question", "outcome", "why", "answer", "candidate", "confidence", "reason"),
    *("response", "correct", "options"),
)
"""Columns that a reader fills; what a log's metadata calls the same is renamed."""
TAKEN = (*OURS, "grade", "answered", "option_texts", "accepted", "nothing_right", ROW)
LISTS = ("correct", "options")
MAX_ATTRIBUTES = 100
MAX_ROWS = 20_000_000
AT_ONCE = 20_000
"""Rows that are held as Python has them."""

RIGHT, WRONG = "right", "wrong"


class LogRows(Struct):
    """The rows of one log, column by column."""

    opened: Opened
    format: str
    columns: dict[str, list[Any]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)
    own: tuple[str, ...] = ()
    """Attributes that the reader fills by itself; metadata of the same name are renamed."""
    height: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    packed: int = 0
    """Rows whose cells, but for attributes, stand in `chunks`: Python's own take much memory."""
    chunks: dict[str, list[pl.Series]] = field(default_factory=dict)

    def add(
        self,
        question: str,
        outcome: str,
        *,
        line: int | None = None,
        own: Mapping[str, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
        **cells: Any,
    ) -> None:
        """One response; a blank's answer is empty, and what was `said` stays as the response.

        `own` are the attributes that the reader knows, `attributes` the log's metadata.
        """
        if self.height == MAX_ROWS:
            raise InputError(f"has more than {MAX_ROWS:,} responses", self.opened.name)
        row: dict[str, Any] = {"question": question, "outcome": outcome, **cells}
        if "said" in row:  # the answer and the response, unless these are told
            said = row.pop("said")
            row = {"answer": said, "response": said or None, **row}
        if outcome not in (RIGHT, WRONG):
            row.setdefault("why", outcome if not outcome.startswith("unanswered") else "declined")
            row["answer"] = ""
        for name, value in (attributes or {}).items():
            if isinstance(value, (str, int, float, bool)):
                row[self._attribute(name)] = value
        row.update(own or {})
        for name, value in row.items():
            self._padded(name).append(clean(value))
        self.height += 1
        self.outcomes[outcome] += 1
        if line is not None:
            self.lines.append(line)
        if self.height - self.packed == AT_ONCE:
            self._pack()

    def _padded(self, name: str) -> list[Any]:
        """What a column holds as Python has it, with None for rows that had nothing for it."""
        values = self.columns.setdefault(name, [])
        before = self.packed if name in self.chunks else 0
        values += [None] * (self.height - before - len(values))
        return values

    def _pack(self) -> None:
        for name in self.columns.keys() & set(OURS):
            chunk = _series(name, self._padded(name))
            self.chunks.setdefault(name, []).append(chunk)
            self.columns[name] = []
        self.packed = self.height

    def _column(self, name: str) -> pl.Series:
        """A whole column, which is then here no more."""
        if name in OURS:
            return pl.concat(self.chunks.pop(name), rechunk=True)
        values = self._padded(name)
        del self.columns[name]
        return _series(name, values)

    def _attribute(self, name: str) -> str:
        known = clean(str(name).strip()) or "metadata"
        known = f"{known} (metadata)" if known in TAKEN or known in self.own else known
        self.attributes.add(known)
        if len(self.attributes) > MAX_ATTRIBUTES:
            raise InputError(
                f"has more than {MAX_ATTRIBUTES} different attributes", self.opened.name
            )
        return known

    def again(self, key: str) -> str:
        """The id of a question by what is asked: `q1`, and `q1#2` where that is asked again."""
        self.asked[key] += 1
        return numbered(key, self.asked[key])

    def gold(self, *dropped: str) -> Table:
        """All rows as a table without verdicts: a gold, or answers that a gold judges."""
        table = self.table()
        gone = {"outcome", *dropped}
        kept = tuple(name for name in table.columns if name not in gone)
        return replace(table, columns=kept, frame=table.frame.drop(gone), verdicts=None)

    def table(
        self,
        *,
        run: str | None = None,
        cluster: str | None = None,
        by_match: bool = False,
        facts: Sequence[tuple[str, str, str]] = (),
        plan: Plan = None,
    ) -> Table:
        """All rows as a table; columns that nothing fills are left out."""
        if not self.height:
            raise InputError("has no responses", self.opened.name)
        order = [*OURS, *(name for name in self.columns if name not in OURS)]
        self._pack()
        series = [self._column(name) for name in order if name in self.columns]
        full = [s for s in series if s.name == "answer" or s.null_count() < self.height]
        frame = pl.DataFrame(full)
        if "answer" not in frame.columns:
            frame = frame.with_columns(answer=pl.lit(""))
        return Table(
            self.opened.name,
            self.format,
            tuple(frame.columns),
            frame.with_row_index(ROW).lazy(),
            self.opened,
            lines=self.lines if len(self.lines) == self.height else None,
            run_id=(run, 1) if run else None,
            notes=tuple(f"{self.opened.name}: {note}" for note in self.notes),
            facts=tuple(facts),
            plan=plan,
            cluster=cluster,
            verdicts="match" if by_match else "judge",
        )


def _series(name: str, values: list[Any]) -> pl.Series:
    if name in LISTS:
        lists = [None if v is None else [str(item) for item in v] for v in values]
        return pl.Series(name, lists, dtype=pl.List(pl.String))
    if name == "confidence":
        return pl.Series(name, values, dtype=pl.Float64)
    if name in OURS:
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
    return json_column(name, values)


def clean(value: Any) -> Any:
    """Text that can be written as UTF-8: half a surrogate pair cannot."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def number_picked(picks: Mapping[str, str], name: str) -> float | None:
    """A pick that is a number, where it was given."""
    text = picks.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{name} must be a number (got '{text}')")
    return value


def as_float(number: float) -> float:
    """A number of JSON, which may have more digits than a double holds: then it is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def verdict_of(number: float, threshold: float | None, *, place: Place) -> str | None:
    """Right or wrong by a number of JSON; None where it is not one (NaN)."""
    value = as_float(number)
    if math.isnan(value):
        return None
    if threshold is not None:
        return RIGHT if value >= threshold else WRONG
    if value in (0, 1):
        return RIGHT if value else WRONG
    raise InputError(
        f"the score {value:g} is neither right (1) nor wrong (0); say which score is the lowest "
        f"right one, as in {option('pick', {'right-at': '0.5'})}",
        place,
    )


def plain_text(value: Any) -> str:
    """A JSON value as the text of an answer."""
    return "" if value is None else json_text(value)


def accepted(targets: Iterable[Any]) -> list[str]:
    """The texts of what is right; where a log has none, that it is as judged."""
    return [text for text in map(plain_text, targets) if text] or [UNTOLD]


def numbered(question: str, time: int) -> str:
    """The id of a question that is asked again and again: `q1`, `q1#2`, …"""
    return question if time == 1 else f"{question}#{time}"


def one_of(found: Sequence[str], picked: str | None, *, what: str, name: str) -> str:
    """The one that was named, or the only one there is."""
    if picked is not None:
        if picked not in found:
            raise InputError(f"has no {what} {shown(picked)} (there are {_listed(found)})", name)
        return picked
    if len(found) == 1:
        return found[0]
    raise InputError(
        f"has {plural(len(found), what)} ({_listed(found)}); name the one that counts, as in "
        f"{option('pick', {what: found[0]})}",
        name,
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(shown(n, most=30)[1:-1] for n in names[:10]) + (" …" if names[10:] else "")
