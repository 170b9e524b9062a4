"""`read_scores`: tables of per-topic scores, one or several, become one `ScoreMatrix`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.errors import InputError, UsageError, plural
from abstain.io.files import bare_name
from abstain.io.frames import check_mapping
from abstain.rankings.score_tables import Columns, Given, open_scores, read_given
from abstain.rankings.scores import ScoreMatrix

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Ints


def read_scores(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    cluster: str | None = None,
) -> ScoreMatrix:
    """Read per-topic scores: paths or dataframes in one of two shapes.

    A table with a column a system and a row a topic is one measure, called as its file or as its
    key in a mapping. A table with the columns run and query (topic, question), as `rank
    --per-query` writes it in CSV, JSON or JSONL, has a column a measure. A cell that is empty,
    `-` or NA is missing. Several tables are cut down to the systems and topics that all have.

    `columns` may name the column of topics and of runs: {"question": "qid"}. `cluster` is the
    column whose values make clusters of topics.
    """
    tables = {name: open_scores(own, name=name, format=format) for name, own in _named(data)}
    check_mapping(columns or {}, tables.values())
    named = Columns.of(columns or {}, cluster)
    given = {name: read_given(table, named) for name, table in tables.items()}
    measures = _measures(given)
    notes = [note for own in given.values() for note in own.notes]
    runs = _common_runs(list(given.values()), notes)
    topics, rows = _common_topics(given, notes)
    values = np.concatenate(
        [
            own.values[:, [own.runs.index(run) for run in runs]][:, :, rows[name]]
            for name, own in given.items()
        ]
    )
    first_name, first = next(iter(given.items()))
    attributes = first.attributes
    return ScoreMatrix(
        measures=tuple(measures),
        runs=tuple(runs),
        topics=tuple(topics),
        values=values,
        attributes=attributes[rows[first_name]] if attributes.width else attributes,
        cluster=cluster,
        unit=first.unit,
        source=first.name,
        notes=tuple(notes),
    )


def _named(data: Any) -> list[tuple[str, Any]]:
    if isinstance(data, Mapping):
        named = [(str(name), own) for name, own in data.items()]
    else:
        several = isinstance(data, Sequence) and not isinstance(data, (str, bytes))
        listed = list(data) if several else [data]
        names = [
            bare_name(own)
            if isinstance(own, (str, os.PathLike))
            else ("score" if len(listed) == 1 else f"measure {k + 1}")
            for k, own in enumerate(listed)
        ]
        short = without_prefix(names)
        twice = next((n for n in short if short.count(n) > 1), None)
        if twice is not None:
            raise UsageError(f"two tables are called '{twice}'; a measure belongs in one")
        named = list(zip(short, listed, strict=True))
    if not named:
        raise UsageError("there is no table of scores")
    return named


def without_prefix(names: list[str]) -> list[str]:
    """Names of files that begin alike, without what they share; what is left begins with a letter.

    >>> without_prefix(["web_ap", "web_rr"]), without_prefix(["web_ndcg_10", "web_ndcg_20"])
    (['ap', 'rr'], ['ndcg_10', 'ndcg_20'])
    """
    if len(names) < 2:
        return names
    low, high = min(names), max(names)
    same = next((k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    cuts = [at + 1 for at in range(same) if low[at] in "_-. "]
    for cut in reversed(cuts):
        if all(name[cut : cut + 1].isalpha() for name in names):
            return [name[cut:] for name in names]
    return names


def _measures(given: Mapping[str, Given]) -> dict[str, str]:
    """Each measure, and the table that has it."""
    found: dict[str, str] = {}
    for name, own in given.items():
        for measure in own.measures or [name]:
            if measure in found:
                raise UsageError(
                    f"'{measure}' stands in {found[measure]} and in {own.name}; a measure "
                    "belongs in one table"
                )
            found[measure] = own.name
    return found


def _common_runs(given: Sequence[Given], notes: list[str]) -> list[str]:
    common = [run for run in given[0].runs if all(run in own.runs for own in given)]
    if len(common) < 2:
        systems = plural(len(common), "system")
        where = f" that are in all {len(given)} tables" if len(given) > 1 else ""
        raise InputError(f"has scores of {systems}{where}, expected at least 2", given[0].name)
    seen = {run for own in given for run in own.runs}
    if len(common) < len(seen):
        notes.append(
            f"{len(seen) - len(common):,} of {plural(len(seen), 'system')} are not in every "
            "table and are left out"
        )
    return common


def _common_topics(
    given: Mapping[str, Given], notes: list[str]
) -> tuple[list[str], dict[str, Ints]]:
    """The topics' names, and for each table the rows to take, in one order for all."""
    lengths = {name: own.values.shape[2] for name, own in given.items()}
    if any(own.topics is None for own in given.values()):
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{own.name} {lengths[name]:,}" for name, own in given.items())
            raise InputError(f"the tables have different numbers of topics ({said})")
        size = next(iter(lengths.values()))
        names = next((own.topics for own in given.values() if own.topics is not None), None)
        numbered = [str(n + 1) for n in range(size)]
        return names or numbered, {name: np.arange(size) for name in given}
    places = {
        name: {topic: k for k, topic in enumerate(own.topics or ())} for name, own in given.items()
    }
    first = next(iter(places.values()))
    common = [topic for topic in first if all(topic in own for own in places.values())]
    seen = {topic for own in places.values() for topic in own}
    if not common:
        raise InputError("the tables have no topic in common")
    if len(common) < len(seen):
        notes.append(
            f"{len(seen) - len(common):,} of {plural(len(seen), 'topic')} are not in every table "
            "and are left out"
        )
    return common, {
        name: np.array([own[topic] for topic in common], np.int64) for name, own in places.items()
    }
