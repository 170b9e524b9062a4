"""`ScoreMatrix`: per-topic scores of runs, the common currency of `compare` and `meta`.

`read_scores` makes one of tables, one or several.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import abstain
from abstain.errors import InputError, UnknownNameError, UsageError, checked, option, plural
from abstain.io.files import bare_name
from abstain.io.selection import Selection, narrowed, positions
from abstain.rankings.shapes import Shape, shaped

if TYPE_CHECKING:
    from abstain.analyses.compare import compare as _compare
    from abstain.analyses.meta import meta as _meta
    from abstain.judging.reading import ReadingOptions
    from abstain.measures.ranked_lists import Bools, Floats, Ints
    from abstain.rankings.score_tables import Given
    from abstain.rankings.settings import ListSettings


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreMatrix:
    """Scores of runs on topics, by one measure or several.

    >>> import abstain as ab
    >>> given = pl.DataFrame({"topic": ["t1", "t2"], "a": [0.1, 0.4], "b": [0.3, None]})
    >>> sm = ab.read_scores(given)
    >>> sm
    <ScoreMatrix: 1 measure × 2 runs × 2 topics>
    >>> sm.absent, sm.complete().topics
    ({'b': 1}, ('t1',))
    """

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    """Their names; their numbers from 1 where nothing names them."""
    values: Floats
    """Measures × runs × topics, NaN where there is no score."""
    higher_is_better: tuple[bool, ...] = ()
    """Of each measure; all are, unless said."""
    attributes: pl.DataFrame = field(default_factory=pl.DataFrame)
    """What else is known of each topic, as text, a row a topic."""
    cluster: str | None = None
    """The attribute whose values make clusters."""
    unit: str = "topic"
    """What the input calls a topic: topic, query or question."""
    undefined: Bools = field(default_factory=lambda: np.zeros(0, bool))
    """Measures × runs × topics: which scores are known to be undefined, not just missing."""
    source: str = ""
    """Where the scores come from, in messages."""
    notes: tuple[str, ...] = ()
    """What reading had to say."""
    reading: ReadingOptions = field(default_factory=dict)  # type: ignore[assignment]
    """How the input was read."""
    settings: ListSettings | None = None
    """How lists were read, where they are scores of rankings."""
    subset: Selection | None = None
    """Which runs and topics were chosen; None: all that were read."""

    def __post_init__(self) -> None:
        if self.undefined.shape != self.values.shape:
            object.__setattr__(self, "undefined", np.zeros(self.values.shape, bool))
        if not self.higher_is_better:
            object.__setattr__(self, "higher_is_better", (True,) * len(self.measures))

    def __repr__(self) -> str:
        units = {"query": "queries"}.get(self.unit, f"{self.unit}s")
        return (
            f"<ScoreMatrix: {plural(len(self.measures), 'measure')} × "
            f"{plural(len(self.runs), 'run')} × {plural(len(self.topics), self.unit, units)}>"
        )

    # ------------------------------------------------------------------------------ what it holds

    @property
    def absent(self) -> dict[str, int]:
        """For each run that lacks a score, on how many topics it does."""
        return self._on_how_many(np.isnan(self.values) & ~self.undefined)

    @property
    def undefined_on(self) -> dict[str, int]:
        """For each run with a score that is undefined, on how many topics there is one."""
        return self._on_how_many(self.undefined)

    def _on_how_many(self, cells: Bools) -> dict[str, int]:
        counts = cells.any(axis=0).sum(axis=1)
        return {run: int(n) for run, n in zip(self.runs, counts, strict=True) if n}

    @checked
    def scores(self, measure: str | None = None) -> Floats:
        """Runs × topics of one measure, NaN where there is no score."""
        table: Floats = self.values[self.measures.index(self.single(measure).measures[0])]
        return table

    def clusters(self) -> Ints | None:
        """The number of each topic's cluster; a topic without a value is one of its own."""
        if self.cluster is None:
            return None
        values = self.attributes[self.cluster].to_list()
        numbers: dict[object, int] = {}
        keys = [(n,) if v in (None, "") else v for n, v in enumerate(values)]
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)

    def to_frame(self) -> pl.DataFrame:
        """A row a run and topic, a column a measure (polars)."""
        runs, topics = len(self.runs), len(self.topics)
        names = {
            "run": np.repeat(np.array(self.runs, object), topics).tolist(),
            self.unit: list(self.topics) * runs,
        }
        return pl.DataFrame(names, schema=dict.fromkeys(names, pl.String)).with_columns(
            pl.Series(name, own.ravel(), pl.Float64, nan_to_null=True)
            for name, own in zip(self.measures, self.values, strict=True)
        )

    @checked
    def to_shape(self, shape: Shape) -> Any:
        """The scores as ir_measures, pyterrier, pytrec_eval or ranx have them by query."""
        cells = np.moveaxis(self.values, 0, -1).tolist()
        rows = (
            (run, topic, {m: v if v == v else None for m, v in zip(self.measures, at, strict=True)})
            for run, own in zip(self.runs, cells, strict=True)
            for topic, at in zip(self.topics, own, strict=True)
        )
        return shaped(rows, shape)

    # ------------------------------------------------------------------------------------ subsets

    @checked
    def single(self, measure: str | None = None) -> ScoreMatrix:
        """One of the measures: the one named, or the only one there is."""
        if measure is not None:
            return self.only(measures=[measure])
        if len(self.measures) > 1:
            raise UsageError(
                f"{self.source or 'the input'} has more than one score: say which with "
                f"{option('measure')} ({', '.join(self.measures)})"
            )
        return self

    @checked
    def only(
        self,
        *,
        measures: Sequence[str] | str | None = None,
        runs: Collection[str] | str | None = None,
    ) -> ScoreMatrix:
        """Some of the measures, some of the runs, in the order named."""
        measures = [measures] if isinstance(measures, str) else measures
        runs = [runs] if isinstance(runs, str) else runs
        ours = {_folded(name): i for i, name in enumerate(self.measures)}
        wanted = [_folded(name) for name in (self.measures if measures is None else measures)]
        for name, key in zip(measures or (), wanted, strict=False):
            if key not in ours:
                one = len(self.measures) == 1
                there = f"there {'is only' if one else 'are'} {', '.join(self.measures)}"
                raise UnknownNameError("score", name, self.measures, hint=there)
        positions("run", self.runs, runs)  # a name that is not there is refused
        m = [ours[key] for key in dict.fromkeys(wanted)]
        named = [runs] if isinstance(runs, str) else runs
        chosen = self.runs if named is None else tuple(dict.fromkeys(named))
        r = [self.runs.index(name) for name in chosen]
        at = np.ix_(m, r)
        return replace(
            self,
            measures=tuple(self.measures[i] for i in m),
            higher_is_better=tuple(self.higher_is_better[i] for i in m),
            runs=chosen,
            values=self.values[at],
            undefined=self.undefined[at],
            subset=narrowed(self.subset, runs=chosen, of_runs=len(self.runs), unit=self.unit),
        )

    def complete(self) -> ScoreMatrix:
        """The topics on which every run has every score; what is left out is noted."""
        gone: Bools = np.asarray(np.isnan(self.values).any(axis=(0, 1)))
        if not gone.any():
            return self
        if gone.all():
            where = self.source or None
            raise InputError(f"no {self.unit} has a score for every system", where)
        many = {"query": "queries"}.get(self.unit)
        note = (
            f"left out: {int(gone.sum()):,} of {plural(len(gone), self.unit, many)}, where some "
            f"system has no score{self._why(gone)}"
        )
        return replace(
            self,
            topics=tuple(t for t, out in zip(self.topics, gone, strict=True) if not out),
            values=self.values[:, :, ~gone],
            undefined=self.undefined[:, :, ~gone],
            attributes=self.attributes.filter(~gone) if self.attributes.width else self.attributes,
            notes=(*self.notes, note),
        )

    def _why(self, gone: Bools) -> str:
        """On how many of the topics that are left out some score is undefined."""
        known, all_gone = int(self.undefined.any(axis=(0, 1)).sum()), int(gone.sum())
        if not known:
            return ""
        where = "there" if known == all_gone else f"on {known:,} of them"
        return f"; the score is undefined {where}"

    # ------------------------------------------------------------------------------------ analyses

    if TYPE_CHECKING:
        compare = _compare
        meta = _meta
    else:
        compare = abstain.Asked("compare")
        meta = abstain.Asked("meta")


def _folded(name: str) -> str:
    """A measure's name as it is compared: in any case, by its own spelling if it is a known one."""
    from abstain.measures import measure

    try:
        return str(measure(name)).casefold()
    except UsageError:
        return name.casefold()


# ---------------------------------------------------------------------------------------- reading


@checked
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
    from abstain.io.frames import check_mapping
    from abstain.rankings.score_tables import Columns, open_scores, read_given

    tables = {name: open_scores(own, name=name, format=format) for name, own in _named(data)}
    check_mapping(columns or {}, tables.values())
    named = Columns.of(columns or {}, cluster)
    given = {name: read_given(table, named) for name, table in tables.items()}
    measures = _measures(given)
    notes = [note for own in given.values() for note in own.notes]
    runs = _common_runs(list(given.values()), notes)
    topics, rows = _common_topics(given, notes)
    chosen = {name: [own.runs.index(run) for run in runs] for name, own in given.items()}
    values, undefined = (
        np.concatenate(
            [getattr(own, cells)[:, chosen[name]][:, :, rows[name]] for name, own in given.items()]
        )
        for cells in ("values", "undefined")
    )
    first_name, first = next(iter(given.items()))
    attributes = first.attributes
    return ScoreMatrix(
        measures=tuple(measures),
        runs=tuple(runs),
        topics=tuple(topics),
        values=values,
        undefined=undefined,
        attributes=attributes[rows[first_name]] if attributes.width else attributes,
        cluster=cluster,
        unit=first.unit,
        source=first.name,
        notes=tuple(notes),
        reading={"columns": columns, "format": format, "cluster": cluster},
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
            raise UsageError(
                f"two tables are called '{twice}', which would be the name of both measures; give "
                "the tables different names"
            )
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
                    f"'{measure}' is in {found[measure]} and in {own.name}; a measure "
                    "belongs in one table"
                )
            found[measure] = own.name
    return found


def _common_runs(given: Sequence[Given], notes: list[str]) -> list[str]:
    common = [run for run in given[0].runs if all(run in own.runs for own in given)]
    if len(common) < 2:
        systems = plural(len(common), "system")
        where = f" in all {len(given)} tables" if len(given) > 1 else ""
        raise InputError(f"has {systems} with scores{where}, expected at least 2", given[0].name)
    seen = {run for own in given for run in own.runs}
    _note_left_out(len(seen), len(common), "system", notes)
    return common


def _note_left_out(seen: int, kept: int, what: str, notes: list[str]) -> None:
    if kept < seen:
        left = f"{seen - kept:,} of {plural(seen, what)}"
        notes.append(f"left out: {left}, not in every table")


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
    _note_left_out(len(seen), len(common), "topic", notes)
    return common, {
        name: np.array([own[topic] for topic in common], np.int64) for name, own in places.items()
    }
