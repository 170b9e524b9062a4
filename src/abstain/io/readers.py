"""Readers of other tools' logs: what each declares, and the rows that each fills.

A reader is one file in `logs/`, whose `READER` says all that is known of the tool's logs. Other
packages add readers by an entry point of the group `abstain.readers`. A reader turns a log into one
table: `question`, `outcome` (right, wrong, or why there is no answer), `answer`, what else the log
knows (`correct`, `options`, `confidence`, `reason`), and its metadata as attributes.
"""

import contextlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl
from msgspec.structs import replace

from abstain.entry_points import Loaded, Plugin, load_plugins
from abstain.errors import InputError, Place, UsageError, check_name, option, plural, shown
from abstain.io.files import BOM, HEAD, MAX_LINE, Opened
from abstain.io.frames import without
from abstain.io.tables import AS_JUDGED, FORMATS, ROW, Plan, Table, json_column, json_text

RIGHT_AT = "a score of at least this is right (for scores between 0 and 1)"
TEXTS = ("run", "question", "outcome", "why", "answer", "candidate", "reason", "response")
TYPES: dict[str, Any] = dict.fromkeys(TEXTS, pl.String) | {
    "confidence": pl.Float64,
    "correct": pl.List(pl.String),
    "options": pl.List(pl.String),
}
"""Columns that a reader fills; metadata of the same name, or of an attribute's, are renamed."""
TAKEN = (*TYPES, "grade", "answered", "option_texts", "accepted", "nothing_right", ROW)
MAX_ATTRIBUTES = 100
Verdict = tuple[str, str | None]
"""An outcome, and the reason of one that is no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """All that is known of a tool's logs."""

    name: str
    """By which `--from` knows it."""
    read: Callable[[Opened, Mapping[str, str]], Table] = field(repr=False)
    """A log, and what is picked of it, to a table."""
    sniff: re.Pattern[bytes] | None = None
    """How such a file begins; None: nothing in it says so safely, `--from` must."""
    picks: Mapping[str, str] = field(default_factory=dict)
    """What can be picked of a log, and what that means."""
    one_task: bool = False
    """Whether a log is of one task, so that those of one model are one run."""
    paired_by: str = ""
    """How documents of two logs are known to be the same, where that is by a hash."""
    example: str = ""
    """A short log, on which `abstain.testing.check_reader` tries it."""


@cache
def log_readers() -> Mapping[str, Reader]:
    from abstain.io import logs

    return {**{reader.name: reader for reader in logs.READERS}, **readers_of_plugins().items}


@cache
def readers_of_plugins() -> Loaded:

    from abstain.io import logs

    taken = (*FORMATS, *(reader.name for reader in logs.READERS))

    def take(plugin: Plugin, reader: Any) -> tuple[str, Reader]:
        if not isinstance(reader, Reader):
            raise UsageError(f"{plugin} is a {type(reader).__name__}, expected a Reader")
        if reader.name in taken:
            raise UsageError(f"{plugin}: there is a reader '{reader.name}' already")
        return reader.name, reader

    return load_plugins("abstain.readers", take)


def reader_named(name: str) -> Reader:
    """The reader that `--from` names; what is wrong with a broken one raises."""
    readers = log_readers()
    for fault in readers_of_plugins().faults.values() if name not in readers else ():
        raise UsageError(fault)
    check_name("table or log format", name, (*FORMATS, *readers))
    return readers[name]


def sniff_log(opened: Opened) -> str | None:
    """The reader of a log, by how it begins; None where that is not surely a log."""
    head = opened.head
    if len(head) == HEAD:  # the first record may be long
        with opened.stream() as file:
            head = file.read(MAX_LINE)
    text = head.removeprefix(BOM).lstrip()
    readers = log_readers().values()
    return next((r.name for r in readers if r.sniff is not None and r.sniff.match(text)), None)


@dataclass(slots=True)
class LogRows:
    opened: Opened
    format: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _asked: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(
        self,
        question: str,
        outcome: str,
        *,
        line: int | None = None,
        attributes: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        text: str | None = None,
        **values: Any,
    ) -> None:
        """One response; a blank's answer is empty, and its `text` stays as the response.

        `attributes` are what the reader knows of the question, `metadata` what the log says of it.
        """
        row: dict[str, Any] = {"question": question, "outcome": outcome}
        if text is not None:  # the answer and the response, unless these are among the values
            row |= {"answer": text, "response": text or None}
        row |= values
        if outcome not in ("right", "wrong"):
            row.setdefault("why", outcome if not outcome.startswith("unanswered") else "declined")
            row["answer"] = ""
        for name, value in (metadata or {}).items():
            if isinstance(value, (str, int, float, bool)):
                known = name.strip() or "metadata"
                is_taken = known in TAKEN or known in (attributes or {})
                row[f"{known} (metadata)" if is_taken else known] = value
        self.rows.append({**row, **(attributes or {})})
        if line is not None:
            self.lines.append(line)

    def again(self, key: str, run: str = "") -> str:
        """The id of a question by what is asked: `q1`, and `q1#2` where a run is asked it again."""
        self._asked[run, key] += 1
        return numbered(key, self._asked[run, key])

    def gold(self) -> Table:
        table = without(self.table(), "outcome")
        table = without(table, "answer") if "correct" in table.columns else table
        return replace(table, verdicts=None)

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
        if not self.rows:
            raise InputError("has no responses", self.opened.name)
        names = dict.fromkeys((*TYPES, *itertools.chain.from_iterable(self.rows)))
        if len(names) > len(TYPES) + MAX_ATTRIBUTES:
            raise InputError(f"has more than {MAX_ATTRIBUTES} attributes", self.opened.name)
        series = []
        for name in names:
            values = [row.get(name) for row in self.rows]
            if name in TEXTS:
                values = [None if value is None else str(value) for value in values]
            kind = TYPES.get(name)
            made = json_column(name, values) if kind is None else pl.Series(name, values, kind)
            if name == "answer" or made.null_count() < len(made):
                series.append(made)
        frame = pl.DataFrame(series).with_columns(pl.col("answer").fill_null(""))
        return Table(
            self.opened.name,
            self.format,
            tuple(frame.columns),
            frame.with_row_index(ROW).lazy(),
            self.opened,
            lines=self.lines if len(self.lines) == len(self.rows) else None,
            run_id=(run, 1) if run else None,
            notes=tuple(f"{self.opened.name}: {note}" for note in self.notes),
            facts=tuple(facts),
            plan=plan,
            cluster=cluster,
            verdicts="match" if by_match else "judge",
        )


def number_picked(picks: Mapping[str, str], name: str) -> float | None:
    if name not in picks:
        return None
    with contextlib.suppress(ValueError):
        if math.isfinite(value := float(picks[name])):
            return value
    raise UsageError(f"{name} must be a number (got '{picks[name]}')")


def verdict_of(number: float, threshold: float | None, *, place: Place) -> str:
    """Right or wrong by a score; unscored where it is not a number (NaN)."""
    if number != number:
        return "unscored"
    if threshold is not None:
        return "right" if number >= threshold else "wrong"
    if number in (0, 1):
        return "right" if number else "wrong"
    how = f"say from which score on it is right, as in {option('pick', {'right-at': '0.5'})}"
    value = shown(str(number))
    raise InputError(f"the score {value} is neither right (1) nor wrong (0); {how}", place)


def share(value: Any, *, what: str, place: Place) -> float:
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        if not isinstance(value, bool) and 0 <= float(value) <= 1:
            return float(value)
    raise InputError(f"{what} is {shown(str(value))}, expected a number from 0 to 1", place)


def plain_text(value: Any) -> str:
    return "" if value is None else json_text(value)


def first_text(responses: Any) -> str:
    """The first of some responses, which may be lists themselves."""
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return "" if isinstance(responses, list) else plain_text(responses)


def accepted(targets: Any) -> list[str]:
    """The accepted answers, one or a list; where a log has none, that it is as judged."""
    texts = map(plain_text, targets if isinstance(targets, list) else [targets])
    return list(filter(None, texts)) or [AS_JUDGED]


def numbered(question: str, time: int) -> str:
    """The id of a question that is asked again and again: `q1`, `q1#2`, …"""
    return question if time == 1 else f"{question}#{time}"


def one_of(names: Sequence[str], picked: str | None, what: str, name: str) -> str:
    if picked in names:
        return str(picked)
    if picked is None and len(names) == 1:
        return names[0]
    listed = ", ".join(shown(n, most=30)[1:-1] for n in names[:10]) or "none"
    if picked is not None:
        raise InputError(f"has no {what} {shown(picked)} (there are {listed})", name)
    how = f"name the one that counts, as in {option('pick', {what: (*names, 'NAME')[0]})}"
    raise InputError(f"has {plural(len(names), what)} ({listed}); {how}", name)
