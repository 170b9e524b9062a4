"""What every analysis returns: facts in a frozen struct, with the same interface for every kind.

A result holds numbers, names and what was asked for. Its view decides how it looks: the same view
makes the terminal's table, Markdown, LaTeX, CSV, the page and what a notebook shows, for fresh and
for loaded results. JSON, its parser and its schema come from the fields alone.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import msgspec

from abstain import __version__
from abstain.errors import InputError, UsageError, check_name, reason_of, shown
from abstain.outcomes import Undefined
from abstain.reading import ListSettings, Reading, Selection
from abstain.registry import RESULTS, part, result_parts, view_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from abstain.measures import Measure
    from abstain.outcomes import Array
    from abstain.rankings.rankings import Rankings
    from abstain.rankings.scores import ScoreMatrix
    from abstain.runs.evaluation import Evaluation
    from abstain.stats.intervals import Interval

Number: TypeAlias = int | float
Ends: TypeAlias = tuple[float | None, float | None]
"""The lower and the upper end of an interval; None where there is none."""
R = TypeVar("R", bound="Facts")

SCHEMA = 1
"""The version of the JSON form. Fields may be added; none is removed or changes its meaning."""

RESULT_KINDS = sorted(RESULTS)


def written() -> dict[Any, Any]:
    """Default factory for an empty mapping: JSON omits plain defaults, but writes this one."""
    return {}


def number(value: float) -> float | None:
    """A float, or None for NaN."""
    return None if math.isnan(value) else float(value)


def finite(value: float) -> float | None:
    """A float, or None for NaN and infinities."""
    return float(value) if math.isfinite(value) else None


def ends(interval: Interval) -> Ends:
    """The ends of an interval, each a float or None."""
    return finite(interval.low), finite(interval.high)


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base struct of the parts of a result: plain data, None for an undefined number."""


def defined(
    values: Mapping[str, float], why: Callable[[str], str] | None = None
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Scores with None for the undefined ones, and the reasons why those are undefined.

    `why` gives the reason for a plain NaN; an `Undefined` carries its own.
    """
    reasons = {k: v.reason for k, v in values.items() if isinstance(v, Undefined)}
    if why is not None:
        lost = [k for k, v in values.items() if math.isnan(v) and k not in reasons]
        reasons |= {name: why(name) for name in lost}
    return {name: number(value) for name, value in values.items()}, reasons


def check_rows(rows: Sequence[Any], measures: Sequence[str], by: Sequence[str]) -> None:
    """Raise if rows are missing or have other scores or slices than were asked for."""
    if not rows:
        raise ValueError("has no results, expected at least one run")
    if not measures:
        raise ValueError("has no measures, expected at least one")
    for at, row in enumerate(rows, 1):
        if list(row.scores) != list(measures) or list(row.slice) != list(by):
            raise ValueError(
                f"the scores or slices of result {at} differ from those that were asked for"
            )


def places(scores: Sequence[float] | Array, *, higher_is_better: bool = True) -> list[str]:
    """The place of every score; ties, up to rounding, share theirs, and NaN has none.

    >>> places([0.5, 0.7, 0.5])
    ['2=', '1', '2=']
    """
    there = [at for at, score in enumerate(scores) if not math.isnan(score)]
    there.sort(key=lambda at: scores[at], reverse=higher_is_better)
    first: dict[int, int] = {}
    for place, (before, at) in enumerate(zip([*there[:1], *there], there, strict=False), 1):
        tied = math.isclose(scores[at], scores[before], rel_tol=1e-12, abs_tol=1e-15)
        first[at] = first.get(before, 1) if tied else place
    shared = Counter(first.values())
    texts = {at: f"{place}=" if shared[place] > 1 else f"{place}" for at, place in first.items()}
    return [texts.get(at, "") for at in range(len(scores))]


def ranked(rows: Iterable[R], measure: Measure) -> list[R]:
    """Rows from the best score to the worst, then those without one, each with its rank.

    Ties share their rank; a reference has none.
    """
    name, higher = str(measure), measure.higher_is_better

    def place(row: Any) -> tuple[bool, float, str]:
        score = row.scores[name]
        return score is None, (-1 if higher else 1) * (score or 0.0), row.run

    ordered: list[Any] = sorted(rows, key=place)
    runs = [row for row in ordered if getattr(row, "reference", None) is None]
    scores = [math.nan if row.scores[name] is None else row.scores[name] for row in runs]
    ranks = dict(zip(map(id, runs), places(scores, higher_is_better=higher), strict=True))
    return [msgspec.structs.replace(row, rank=ranks.get(id(row), "")) for row in ordered]


def without_clusters(cluster: str | None) -> tuple[str, ...]:
    """The note of an analysis that ignores clusters, if clusters were asked for."""
    why = "each question counts by itself"
    return () if cluster is None else (f"clusters ({cluster}) have no effect here: {why}",)


def read_as(
    asked: Evaluation | Rankings | ScoreMatrix, *notes: str, clusters: bool = True
) -> dict[str, Any]:
    """The fields in which a result records its input: settings of reading, subset, notes."""
    part = [] if asked.subset is None else [str(asked.subset)]
    reading = asked.reading
    held = vars(asked)  # what the class lacks would be looked up among plug-ins
    alone = () if clusters else without_clusters(held.get("cluster", reading.cluster))
    return {
        "reading": reading,
        "settings": held.get("settings"),
        "subset": asked.subset,
        "notes": (*part, *asked.notes, *notes, *alone),
    }


class Result(Facts, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base struct of every result."""

    abstain: str = msgspec.field(default_factory=lambda: __version__)
    """The version that made it."""
    schema: int = msgspec.field(default_factory=lambda: SCHEMA)
    command: str = ""
    """The command that gave it, without where its result went."""
    reading: Reading | None = None
    """How its input was read."""
    settings: ListSettings | None = None
    """How lists were read and averages taken, where scores come from rankings."""
    subset: Selection | None = None
    """Which of the runs and questions that were read it is about; None: all of them."""
    notes: tuple[str, ...] = msgspec.field(default_factory=lambda: ())  # written if empty too
    """What reading and judging had to say."""
    policy: dict[str, str] = {}
    """What each kind of blank became."""
    touched: dict[str, int] = msgspec.field(default_factory=written)
    """How many responses each part of the policy touched."""

    TABLES: ClassVar[tuple[str, ...]] = ("main",)
    """The names that `to_frame` knows."""

    @property
    def kind(self) -> str:
        """Which analysis it is of."""
        return str(self.__struct_config__.tag)

    def to_frame(self, table: str = "main") -> pl.DataFrame:
        """A table of the result, tidy (polars); further tables by name."""
        check_name("table", table, self.TABLES)
        return self._frame(table)

    def _frame(self, table: str) -> pl.DataFrame:
        raise NotImplementedError

    def to_pandas(self, table: str = "main") -> pd.DataFrame:
        """As `to_frame`, for pandas."""
        frame = self.to_frame(table)
        try:
            return frame.to_pandas()
        except ModuleNotFoundError as error:
            raise UsageError(f"to_pandas needs {error.name}: pip install {error.name}") from None

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what JSON holds."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The result as JSON, also written to `path` if there is one; `load` reads it back."""
        from abstain.io.output import json_of

        return _also_written(json_of(self), path)

    def __str__(self) -> str:
        return str(view_of(self).text(width=80))

    def __repr__(self) -> str:
        return str(view_of(self).line())

    def _repr_html_(self) -> str:
        return str(view_of(self).notebook())

    def charts(self) -> dict[str, dict[str, Any]]:
        """Its charts by name, as Vega-Lite: altair and any viewer take them."""
        specs: dict[str, dict[str, Any]] = view_of(self).charts()
        return specs

    def page(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> str:
        """The result as one HTML page, also written to `path` if there is one."""
        return _also_written(view_of(self).html(title=title), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it in the form that the name ends in: .json .csv .md .tex .txt .html .svg .png."""
        view_of(self).save(Path(path))

    def check(self) -> None:
        """Raise if facts do not fit together (for `load`): where no page can be made of them."""
        view = view_of(self)
        view.tables()
        view.page()


def _also_written(text: str, path: str | os.PathLike[str] | None) -> str:
    from abstain.io.output import write_text

    if path is not None:
        write_text(Path(path), text)
    return text


def load(path: str | os.PathLike[str]) -> Result:
    """Load a saved result, equal to the one that was saved; any other file raises."""
    from abstain.io.files import open_file

    name = os.fspath(path)
    text = open_file(path).read()
    what = "the JSON of a saved result"
    try:
        head = msgspec.json.decode(text, type=_Head)
        if result_parts(head.kind) is None:
            known = ", ".join(RESULT_KINDS)
            raise InputError(f"is a result of kind {shown(head.kind)}, expected {known}", name)
        if head.schema > SCHEMA:
            later = f"written by a later abstain; this one reads up to version {SCHEMA}"
            raise InputError(f"has schema version {head.schema}, {later}", name)
        what = f"a complete result of `abstain {head.kind}`"
        result = msgspec.json.decode(text, type=result_class(head.kind))
        result.check()
    except InputError:
        raise
    except Exception as error:  # a page of facts that do not fit fails in many ways
        unknown = isinstance(error, KeyError)
        reason = f"no part of it describes {error}" if unknown else reason_of(error)
        reason = reason if reason[:2].isupper() else reason[:1].lower() + reason[1:]
        raise InputError(f"is not {what}: {reason}", name) from None
    return result


class _Head(msgspec.Struct):
    """The fields that identify a saved result and its kind."""

    abstain: str
    kind: str
    schema: int = 1


def result_class(kind: str) -> type[Result]:
    """The struct of a kind of result."""
    parts = result_parts(kind)
    assert parts is not None
    struct: type[Result] = part(parts[0])
    return struct
