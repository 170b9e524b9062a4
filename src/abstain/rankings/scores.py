"""`ScoreMatrix`: per-topic scores of runs, the common currency of `compare` and `meta`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import abstain
from abstain.errors import InputError, UnknownNameError, UsageError, option, plural

if TYPE_CHECKING:
    from abstain.analyses.compare import compare as _compare
    from abstain.analyses.meta import meta as _meta
    from abstain.measures.ranked_lists import Bools, Floats, Ints


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
    source: str = ""
    """Where the scores come from, in messages."""
    notes: tuple[str, ...] = ()
    """What reading had to say."""

    def __post_init__(self) -> None:
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
        gone = np.isnan(self.values).any(axis=0).sum(axis=1)
        return {run: int(n) for run, n in zip(self.runs, gone, strict=True) if n}

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

    # ------------------------------------------------------------------------------------ subsets

    def single(self, measure: str | None = None) -> ScoreMatrix:
        """One of the measures: the one named, or the only one there is."""
        if measure is not None:
            return self.only(measures=[measure])
        if len(self.measures) > 1:
            raise UsageError(
                f"{self.source or 'there'} has more than one score: say which with "
                f"{option('measure')} ({', '.join(self.measures)})"
            )
        return self

    def only(
        self, *, measures: Sequence[str] | None = None, runs: Sequence[str] | None = None
    ) -> ScoreMatrix:
        """Some of the measures, some of the runs, in the order named."""
        ours = {_folded(name): i for i, name in enumerate(self.measures)}
        wanted = [_folded(name) for name in (self.measures if measures is None else measures)]
        for name, key in zip(measures or (), wanted, strict=False):
            if key not in ours:
                one = len(self.measures) == 1
                there = f"there {'is only' if one else 'are'} {', '.join(self.measures)}"
                raise UnknownNameError("score", name, self.measures, hint=there)
        for name in runs or ():
            if name not in self.runs:
                raise UnknownNameError("run", name, self.runs)
        m = [ours[key] for key in dict.fromkeys(wanted)]
        chosen = self.runs if runs is None else tuple(dict.fromkeys(runs))
        r = [self.runs.index(name) for name in chosen]
        return replace(
            self,
            measures=tuple(self.measures[i] for i in m),
            higher_is_better=tuple(self.higher_is_better[i] for i in m),
            runs=chosen,
            values=self.values[np.ix_(m, r)],
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
            f"{int(gone.sum()):,} of {plural(len(gone), self.unit, many)} lack the score of some "
            "system and are left out"
        )
        return replace(
            self,
            topics=tuple(t for t, out in zip(self.topics, gone, strict=True) if not out),
            values=self.values[:, :, ~gone],
            attributes=self.attributes.filter(~gone) if self.attributes.width else self.attributes,
            notes=(*self.notes, note),
        )

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
