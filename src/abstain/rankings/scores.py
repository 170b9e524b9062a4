"""`ScoreMatrix`: per-topic scores of runs, the common currency of `compare` and `meta`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.errors import InputError, UnknownNameError, UsageError, option, plural
from abstain.rankings.rankings import Shape, shaped
from abstain.reading import PLAIN, ListSettings, Reading, Selection, narrowed, positions
from abstain.registry import with_feature_methods

if TYPE_CHECKING:
    from abstain.features.compare.analysis import compare as _compare
    from abstain.features.meta.analysis import meta as _meta
    from abstain.measures.ranked_lists import Bools, Floats, Ints


@with_feature_methods
@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreMatrix:
    """Scores of runs on topics, by one measure or several.

    >>> import abstain as ab
    >>> frame = pl.DataFrame({"topic": ["t1", "t2"], "a": [0.1, 0.4], "b": [0.3, None]})
    >>> sm = ab.read_scores(frame)
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
    """Of each measure; by default all are."""
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
    reading: Reading = PLAIN
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
        sizes = f"{plural(len(self.measures), 'measure')} × {plural(len(self.runs), 'run')}"
        return f"<ScoreMatrix: {sizes} × {plural(len(self.topics), self.unit, self._units)}>"

    @property
    def _units(self) -> str | None:
        return "queries" if self.unit == "query" else None

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

    def scores(self, measure: str | None = None) -> Floats:
        """Runs × topics of one measure, NaN where there is no score."""
        table: Floats = self.single(measure).values[0]
        return table

    def clusters(self) -> Ints | None:
        """The number of each topic's cluster; a topic without a value is a cluster alone."""
        if self.cluster is None:
            return None
        values = self.attributes[self.cluster].to_list()
        numbers: dict[object, int] = {}
        keys = [(n,) if v in (None, "") else v for n, v in enumerate(values)]
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)

    def to_frame(self) -> pl.DataFrame:
        """A row a run and topic, a column a measure (polars)."""
        names = {
            "run": [run for run in self.runs for _ in self.topics],
            self.unit: list(self.topics) * len(self.runs),
        }
        frame = pl.DataFrame(names, schema=dict.fromkeys(names, pl.String))
        return frame.with_columns(
            pl.Series(name, table.ravel(), pl.Float64, nan_to_null=True)
            for name, table in zip(self.measures, self.values, strict=True)
        )

    def to_shape(self, shape: Shape) -> Any:
        """The scores as ir_measures, pyterrier, pytrec_eval or ranx have them by query."""
        rows = self.to_frame().iter_rows()
        names = self.measures
        return shaped(((r, t, dict(zip(names, at, strict=True))) for r, t, *at in rows), shape)

    def single(self, measure: str | None = None) -> ScoreMatrix:
        """One of the measures: the one asked for, or the only one there is."""
        if measure is not None:
            return self.only(measures=[measure])
        if len(self.measures) > 1:
            how = f"say which with {option('measure')} ({', '.join(self.measures)})"
            raise UsageError(f"{self.source or 'the input'} has more than one score: {how}")
        return self

    def only(
        self,
        *,
        measures: Sequence[str] | str | None = None,
        runs: Collection[str] | str | None = None,
    ) -> ScoreMatrix:
        """Some of the measures, some of the runs, in the order of the arguments."""
        wanted = [measures] if isinstance(measures, str) else measures
        folded = [_folded(name) for name in self.measures]
        for name in wanted or ():
            if _folded(name) not in folded:
                there = f"there are {', '.join(self.measures)}"
                raise UnknownNameError("score", name, self.measures, hint=there)
        asked = folded if wanted is None else dict.fromkeys(map(_folded, wanted))
        m = [folded.index(name) for name in asked]
        positions("run", self.runs, runs)  # a name that is not there is refused
        chosen = tuple(dict.fromkeys([runs] if isinstance(runs, str) else runs or self.runs))
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

    def complete(self, *, by_measure: bool = False) -> ScoreMatrix:
        """The topics on which every run has every score; what is left out is noted.

        With `by_measure` a topic on which some measure does not exist stays for the other ones.
        """
        lacks = np.isnan(self.values)
        nowhere = np.zeros((len(self.measures), len(self.topics)), bool)
        if by_measure:
            nowhere |= (self.undefined | lacks.all(axis=1, keepdims=True)).any(axis=1)
        gone: Bools = np.asarray((lacks & ~nowhere[:, None]).any(axis=(0, 1)))
        gone |= nowhere.all(axis=0)
        if not (gone.any() or nowhere.any()):
            return self
        if gone.all():
            raise InputError(f"no {self.unit} has a score for every system", self.source or None)
        every = plural(len(gone), self.unit, self._units)
        notes = [
            f"means of {name} leave out {n:,} of {every}, where it is undefined"
            for name, n in zip(self.measures, nowhere.sum(axis=1).tolist(), strict=True)
            if n
        ]
        if lost := int((gone & ~nowhere.all(axis=0)).sum()):
            notes.append(f"left out: {lost:,} of {every}, where some system has no score")
        return replace(
            self,
            topics=tuple(t for t, out in zip(self.topics, gone, strict=True) if not out),
            values=np.where(nowhere[:, None], np.nan, self.values)[:, :, ~gone],
            undefined=self.undefined[:, :, ~gone],
            attributes=self.attributes.filter(~gone) if self.attributes.width else self.attributes,
            notes=(*self.notes, *notes),
        )

    if TYPE_CHECKING:
        compare = _compare
        meta = _meta


def _folded(name: str) -> str:
    """A measure's name as it is compared: in any case, known ones by their usual spelling."""
    from abstain.measures import measure

    try:
        return str(measure(name)).casefold()
    except UsageError:
        return name.casefold()
