"""Responses: tables in one shape, lazy, in the engine they came in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import UsageError, option, plural
from abstain.io.engines import moved
from abstain.io.files import bare_name
from abstain.io.frames import collect, into_lazy, open_table, rename
from abstain.io.readers import READERS
from abstain.io.tables import Table
from abstain.judging.aliases import JUDGED, RUN, recognised
from abstain.judging.reading import Reading

if TYPE_CHECKING:
    from abstain.judging.gold import Gold

RULE = "refusal"
"""The column that names the rule by which a text was found to decline."""
CLUSTER = "cluster"
"""The column by which judged rows name the cluster of their question."""
OF_A_RUN = (
    *("answer", "answered", "candidate", "confidence", "why", "run"),
    *("outcome", "reason", "response", RULE),
)
"""Columns of a log that speak of a response, not of its question."""
PLAIN = Reading()


class Responses(Struct, frozen=True):
    """The responses of one table, and what its runs are called."""

    table: Table
    run: str | None
    """The one run of the table; None when a `run` column names several."""
    team: str | None = None
    """Who handed it in, where a folder says so."""

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        """The rows, in the engine they came in."""
        return into_lazy(self.table.frame)


def read_responses(
    data: Any, reading: Reading = PLAIN, *, name: str = "", judged: bool = False
) -> Responses:
    """Open one table of responses, in the engine that is asked for; nothing is counted yet.

    A log stays in polars until `in_its_engine`, so that it can be joined with others.
    """
    opened = open_table(data, name=name, format=reading.format, pick=reading.pick)
    chosen = reading.engine or "polars"
    if reading.detect_refusals:
        if chosen != "polars":
            raise UsageError(
                f"{option('detect_refusals')} reads text with polars, not with "
                f"{option('engine', chosen)}"
            )
        opened = replace(opened, refusals=reading.detect_refusals)
    here = opened.verdicts is not None  # a log's rows are in memory: they may move later
    table = opened if here else moved(opened, chosen, reading.master)
    table = rename(table, reading.columns, side="run")
    meanings: tuple[str, ...] = JUDGED if judged else RUN
    if judged and reading.detect_refusals and "response" not in table.columns:
        meanings = (*meanings, "answer")  # the text in which refusals are looked for
    table = recognised(table, meanings, reading.grades)
    if table.refusals:
        from abstain.judging.refusals.detect import with_refusals

        table = with_refusals(table, table.refusals)
    if (
        table.cluster is None
        and CLUSTER in table.columns
        and {"outcome", "grade"} & {*table.columns}
    ):
        table = replace(table, cluster=CLUSTER)
    if "run" in table.columns:
        return Responses(table, None)
    own = bare_name(table.name) if table.opened is not None else "run"
    own = own if table.run_id is None else table.run_id[0]
    # a file's name may be no text at all
    return Responses(table, name or own.encode(errors="replace").decode())


def in_its_engine(source: Responses, reading: Reading) -> Responses:
    """The rows of a log, handed to the engine that is asked for."""
    if source.table.verdicts is None:
        return source
    table = moved(source.table, reading.engine or "polars", reading.master)
    return replace(source, table=table)


def describe(gold: Gold, sources: Sequence[Responses] = ()) -> list[str]:
    """What a reader should know of a gold and its runs before reading scores."""
    notes = told([gold.table, *(s.table for s in sources)])
    logs = sum(s.table.verdicts is not None for s in sources)
    if gold.verdicts and logs:
        notes.append(f"the verdicts are those of {plural(logs, 'log')}")
    elif logs:
        notes.append(
            f"the answers of {plural(logs, 'log')} were judged against {gold.name}, "
            "not by their own verdicts"
        )
    if gold.without_answer and not gold.verdicts:
        notes.append(
            f"the gold has no right answer for {plural(gold.without_answer, 'question')}: there, "
            "only an answer such as 'none' counts as right"
        )
    return notes


def told(tables: Iterable[Table]) -> list[str]:
    """The notes of tables, each once, and where logs of one tool are of different questions."""
    tables = list(tables)
    notes = _one_each(tables)
    for format in dict.fromkeys(t.format for t in tables if t.verdicts is not None):
        if format in READERS and (how := READERS[format].paired_by):
            notes += _different_documents([t for t in tables if t.format == format], how)
    return notes


OF = re.compile(r"(\d[\d,]*) of (\d[\d,]*)")
"""Counts in a note that several files may share, so that they are added up."""


def _one_each(tables: Sequence[Table]) -> list[str]:
    """One note of each kind: what several files share is said once, with their counts added up."""
    kinds: dict[tuple[str, bool], dict[str, str]] = {}
    for table in tables:
        for note in table.notes:
            text = note.removeprefix(f"{table.name}: ")
            files = kinds.setdefault((OF.sub("{}", text), text != note), {})
            files.setdefault(table.name, text)
    return [
        _shared(files) if named and len(files) > 1 else (f"{name}: {text}" if named else text)
        for (_, named), files in kinds.items()
        for name, text in list(files.items())[:1]
    ]


def _shared(files: Mapping[str, str]) -> str:
    """A note of several files: the first is named, the others are counted."""
    (name, text), *others = files.items()
    pairs = [OF.findall(own) for own in files.values()]
    sums = iter(
        " of ".join(
            f"{sum(int(n.replace(',', '')) for n in part):,}" for part in zip(*same, strict=True)
        )
        for same in zip(*pairs, strict=True)
    )
    text = OF.sub(lambda _: next(sums), text)
    return f"{name} and {plural(len(others), 'more file')}: {text}"


def _different_documents(logs: Sequence[Table], how: str) -> list[str]:
    """Logs of one task are paired by the hash of each document; say where they differ."""
    frames = {t.name: collect(into_lazy(t.frame), t.name) for t in logs}
    found = {name: set(frame["question"]) for name, frame in frames.items()}
    plain = [
        name
        for name, own in frames.items()
        if "doc_id" in own.columns and (own["question"] == own["doc_id"]).all()
    ]
    if plain and len(plain) < len(frames):
        return [
            f"{plain[0]}: has no doc_hash, but other logs do, so their documents cannot be paired; "
            "to pair all logs by doc_id, map the column question to doc_id"
        ]
    common = set.intersection(*found.values()) if found else set()
    return [
        f"{name}: {len(own - common):,} of {plural(len(own), 'document')} "
        f"{'is' if len(own - common) == 1 else 'are'} not in all logs (compared {how})"
        for name, own in found.items()
        if own - common
    ]


def own_cluster(tables: Iterable[Table], known: Sequence[str] | None = None) -> str | None:
    """The attribute that clusters questions, if the files declare one and the questions have it."""
    names = {table.cluster for table in tables if table.cluster}
    if len(names) != 1:
        return None
    name = names.pop()
    return name if known is None or name in known else None
