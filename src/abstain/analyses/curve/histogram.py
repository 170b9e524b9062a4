"""Curves of runs that no memory holds: the engine counts confidences into bins.

A bin begins at a multiple of 1/bins, and bins are a power of two, so that the product of a
confidence and their number is exact: at the edge of a bin every count is that of the exact curve.
Inside a bin nobody knows the order; the area under the curve lies between its best and its worst.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from abstain import __version__
from abstain.analyses.curve.curve import Curve
from abstain.analyses.curve.matrix import missing_notes
from abstain.errors import InputError, UsageError, option
from abstain.io.frames import check_mapping, collect
from abstain.judging.evaluation import refuse_undecided
from abstain.judging.gold import read_gold
from abstain.judging.judge import KIND, Judged, check_align, judge
from abstain.judging.opening import old_reading, open_runs
from abstain.judging.responses import describe
from abstain.judging.tally import tally
from abstain.measures import Measure, count_measure
from abstain.measures.answers import Groups
from abstain.outcomes import Counts, Policy, blanks_by_reason, reasons_named

if TYPE_CHECKING:
    from abstain.outcomes import IntArray

BINS = 1024
MOST_BINS = 1 << 20
UNSURE = -1
"""The bin of answers without a confidence: less sure than any other."""


@dataclass(frozen=True, eq=False)
class BinnedCurve:
    """A run over the edges of the bins."""

    curve: Curve
    aurc: tuple[float, float, float]
    """With the answers of a bin tied; at best; at worst."""
    stated: tuple[int, int]
    """How many answers have a confidence, of how many; where none has there is no curve."""


@dataclass(frozen=True, eq=False)
class HistogramResult:
    """Curves counted in bins, with all that it takes to read them."""

    bins: int
    along: Measure
    runs: tuple[BinnedCurve, ...]
    questions: int
    policy: Policy
    touched: dict[str, int]
    notes: tuple[str, ...] = ()

    def rows(self, points: int = 0) -> list[dict[str, Any]]:
        """The points of every run, at most so many each (0: all)."""
        found: list[dict[str, Any]] = []
        for curve in (own.curve for own in self.runs if own.stated[0]):
            last = {"risk": curve.risk, str(self.along): curve.along(self.along)}
            found += curve.rows(points, curve.columns | last)
        return found

    def summaries(self) -> list[dict[str, Any]]:
        """One row a run: the area under its curve, and the best threshold of those at edges."""
        found = []
        for own in self.runs:
            best = own.curve.best(self.along) if own.stated[0] else None
            scores = own.curve.along(self.along)
            found.append(
                {
                    "run": own.curve.run,
                    "AURC": own.aurc[0],
                    "at best": own.aurc[1],
                    "at worst": own.aurc[2],
                    f"best {self.along}": np.nan if best is None else float(scores[best]),
                    "threshold": np.nan if best is None else float(own.curve.thresholds[best]),
                }
            )
        return found

    def to_frame(self, *, points: int = 0) -> pl.DataFrame:
        """The points as a table (polars)."""
        return pl.DataFrame(self.rows(points), infer_schema_length=None)

    def to_dict(self, *, points: int = 0) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        return {
            "abstain": __version__,
            "questions": self.questions,
            "bins": self.bins,
            "policy": self.policy.to_dict(),
            "touched": self.touched,
            "notes": list(self.notes),
            "summary": [_plain(row) for row in self.summaries()],
            "results": [_plain(row) for row in self.rows(points)],
        }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()}


def curve_histogram(
    gold: Any,
    runs: Any,
    *,
    bins: int = BINS,
    measure_name: str | Measure = "c@1",
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    align: str = "id",
    match: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> HistogramResult:
    """Risk, coverage and a measure over the thresholds k/bins, counted by the runs' own engine."""
    along = count_measure(measure_name)
    rules = Policy.of(policy)
    check_bins(bins)
    standard = read_gold(gold, old_reading(columns, format))
    sources = open_runs(runs, columns=columns, format=format, engine=engine, master=master)
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    judged = judge(standard, sources, match=match, align=check_align(align))
    tallies = tally(judged)
    reasons = blanks_by_reason(tallies.table)
    refuse_undecided(reasons, tallies.runs, rules)
    counts = dict(zip(tallies.runs, rules.apply(tallies.table), strict=True))
    binned = _counted(judged, bins)
    curves = tuple(_binned(run, own, binned, rules, bins) for run, own in counts.items())
    return HistogramResult(
        bins,
        along,
        curves,
        len(standard),
        rules,
        reasons_named(reasons.sum(axis=0)),
        (
            *describe(standard, sources),
            *missing_notes({own.curve.run: own.stated for own in curves}),
        ),
    )


def check_bins(bins: int) -> None:
    """Bins are a power of two: only then are their edges exact."""
    if not 2 <= bins <= MOST_BINS or bins & (bins - 1):
        raise UsageError(
            f"{option('histogram')} is a power of two, from 2 to {MOST_BINS:,} (got {bins:,})"
        )


def _counted(judged: Judged, bins: int) -> pl.DataFrame:
    """How many responses of each run and kind fall in each bin: run, KIND, bin, n."""
    parts = []
    stated = ["confidence" in frame.collect_schema().names() for frame in judged.frames]
    if not any(stated):
        raise InputError(
            "has no column 'confidence', which says how sure each answer is",
            judged.sources[0].table.name,
        )
    for frame, has in zip(judged.frames, stated, strict=True):
        placed = nw.lit(UNSURE)
        if has:
            sure = nw.col("confidence")
            placed = nw.when(~sure.is_null()).then((sure * bins).floor()).otherwise(placed)
        rows = frame.select("run", KIND, placed.cast(nw.Int64).alias("bin"))
        counted = rows.group_by("run", KIND, "bin").agg(nw.len().alias("n"))
        parts.append(
            collect(counted, judged.sources[0].table.name).select(
                pl.col("run").cast(pl.String),
                pl.col(KIND).cast(pl.Int64),
                pl.col("bin").cast(pl.Int64),
                pl.col("n").cast(pl.Int64),
            )
        )
    return pl.concat(parts)


def _binned(
    run: str, counts: IntArray, binned: pl.DataFrame, policy: Policy, bins: int
) -> BinnedCurve:
    """The curve of a run; candidates behind blanks are answers, as in every curve."""
    own = binned.filter(pl.col("run") == run)
    table = np.zeros((bins + 2, 2), np.int64)  # from the surest down, the unsure last; wrong, right
    for kind, end in enumerate(policy.outcomes(excluded=-1).tolist()):
        if not 0 <= end <= 3:
            continue
        some = own.filter(pl.col(KIND) == kind)
        np.add.at(table[:, 1 - end % 2], bins - some["bin"].to_numpy(), some["n"].to_numpy())
    filled = np.flatnonzero(table.sum(axis=1))
    level = np.where(filled == bins + 1, np.nan, (bins - filled) / bins)
    wrong, right = table[filled].T
    groups = _groups(level, wrong, right)
    system = Counts(*(int(x) for x in counts))
    curve = Curve.from_groups(run, groups, int(system.n), system)
    stated = int(table[:-1].sum()), int(table.sum())
    return BinnedCurve(curve, _areas(wrong, right) if stated[0] else (np.nan,) * 3, stated)


def _groups(level: Any, wrong: IntArray, right: IntArray) -> Groups:
    return Groups(level, np.cumsum(wrong + right), np.cumsum(right))


def _areas(wrong: IntArray, right: IntArray) -> tuple[float, float, float]:
    """AURC with the answers of a bin tied, with the right ones first, with the wrong ones first."""
    if not len(wrong):
        return (np.nan,) * 3
    nothing = np.zeros_like(wrong)
    right_first = np.stack([nothing, wrong], 1).ravel(), np.stack([right, nothing], 1).ravel()
    wrong_first = np.stack([wrong, nothing], 1).ravel(), np.stack([nothing, right], 1).ravel()
    return _aurc(wrong, right), _aurc(*right_first), _aurc(*wrong_first)


def _aurc(wrong: IntArray, right: IntArray) -> float:
    """(1/N) Σ_i E[wrong(i)]/i, as `Groups.mean_share` has it but with H(b) − H(a) from digamma."""
    from scipy.special import digamma

    some = wrong + right > 0
    added, sizes = wrong[some], (wrong + right)[some]
    after = np.cumsum(sizes)
    start, before = after - sizes, np.cumsum(added) - added
    slope = added / sizes
    spread = digamma(after + 1) - digamma(start + 1)
    return float((added + (before - start * slope) * spread).sum() / after[-1])
