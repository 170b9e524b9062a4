"""Scores of runs as data: a row for each run and slice, with all that it takes to read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from abstain import __version__
from abstain.measures import Measure
from abstain.outcomes import OUTCOMES, Counts, CountsArray, Policy, Undefined, reasons_named

if TYPE_CHECKING:
    import polars as pl

    from abstain.outcomes import IntArray

Known = dict[tuple[str, tuple[str | None, ...]], dict[str, float]]
"""Run and slice to scores that were computed elsewhere."""

Reference = Literal["answer nothing", "random blanking", "best blanking"]


@dataclass(frozen=True, slots=True)
class Row:
    """One run in one slice."""

    run: str
    slice: dict[str, str | None]
    counts: Counts
    scores: dict[str, float]
    blanks: dict[str, int] = field(default_factory=dict)
    excluded: int = 0
    rank: str = ""
    reference: Reference | None = None
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    """For each measure, low and high; NaN where there is none."""

    @property
    def undefined(self) -> dict[str, str]:
        """Why the scores that do not exist do not."""
        return {k: v.reason for k, v in self.scores.items() if isinstance(v, Undefined)}

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data; a score that does not exist is None."""
        plain: dict[str, Any] = {
            "run": self.run,
            "slice": self.slice,
            "counts": self.counts.to_dict(),
            "scores": {k: None if math.isnan(v) else v for k, v in self.scores.items()},
            "undefined": self.undefined,
        }
        if self.intervals:
            plain["intervals"] = {
                k: [None if math.isnan(x) else x for x in ends]
                for k, ends in self.intervals.items()
            }
        if self.blanks:
            plain["blanks"] = self.blanks
        if self.excluded:
            plain["excluded"] = self.excluded
        if self.reference:
            plain["reference"] = self.reference
        return plain


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """Scores of runs, with all that it takes to read them."""

    measures: tuple[Measure, ...]
    by: tuple[str, ...]
    rows: tuple[Row, ...]
    questions: int | None
    policy: Policy | None = None
    touched: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    interval_method: str | None = None
    """How the intervals were made, where there are some."""
    level: float = 0.95
    cluster: str | None = None
    """The attribute by which questions hang together, as the intervals took them."""

    def slice_label(self, name: str) -> str:
        """The heading of a slice attribute, told apart from the columns that are there anyway."""
        taken = {"#", "rank", "run", "blank", "unanswered", "reference", *OUTCOMES}
        return f"{name} (slice)" if name in taken | {str(m) for m in self.measures} else name

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        plain: dict[str, Any] = {"abstain": __version__, "kind": "score"}
        if self.questions is not None:
            plain["questions"] = self.questions
        if self.policy is not None:
            plain["policy"] = self.policy.to_dict()
            plain["touched"] = self.touched
        if self.interval_method is not None:
            plain["interval_method"] = self.interval_method
            plain["level"] = self.level
        if self.notes:
            plain["notes"] = list(self.notes)
        plain["results"] = [row.to_dict() for row in self.rows]
        return plain

    def to_frame(self) -> pl.DataFrame:
        """One row a run and slice: rank, run, slice attributes, scores, counts (polars)."""
        import polars as pl

        schema: dict[str, Any] = {"rank": pl.String, "run": pl.String}
        columns: dict[str, list[Any]] = {
            "rank": [row.rank for row in self.rows],
            "run": [row.run for row in self.rows],
        }
        for name in self.by:
            schema[self.slice_label(name)] = pl.String
            columns[self.slice_label(name)] = [row.slice[name] for row in self.rows]
        for item in self.measures:
            schema[str(item)] = pl.Float64
            scores = [row.scores[str(item)] for row in self.rows]
            columns[str(item)] = [None if math.isnan(s) else s for s in scores]
            for end, name in enumerate(("low", "high") if self.interval_method else ()):
                schema[f"{item} {name}"] = pl.Float64
                ends = [row.intervals.get(str(item), (math.nan,) * 2)[end] for row in self.rows]
                columns[f"{item} {name}"] = [None if math.isnan(x) else x for x in ends]
        names = [*OUTCOMES]
        if any(row.counts.unsplit for row in self.rows):
            names.append("unanswered")
        whole = all(
            float(v).is_integer() for row in self.rows for v in row.counts.to_dict().values() if v
        )
        for name in names:
            schema[name] = pl.Int64 if whole else pl.Float64
            columns[name] = [
                row.counts.unanswered if name == "unanswered" else row.counts.to_dict()[name]
                for row in self.rows
            ]
        if any(row.reference for row in self.rows):
            schema["reference"] = pl.String
            columns["reference"] = [row.reference for row in self.rows]
        return pl.DataFrame(columns, schema=schema, strict=False)


# -------------------------------------------------------------------------- counts to rows


def rows_of(
    runs: Sequence[str],
    slices: Sequence[dict[str, str | None]],
    counts: CountsArray,
    measures: Sequence[Measure],
    *,
    blanks: IntArray | None = None,
    excluded: IntArray | None = None,
    references: Sequence[Reference | None] | None = None,
    known: Known | None = None,
) -> list[Row]:
    """Counts of runs in slices, scored; what counts alone do not give is `known` or undefined."""
    scores = {str(m): m(counts) for m in measures if m.definition.takes == "counts"}
    built = []
    for i, run in enumerate(runs):
        own = counts[i]
        given = (known or {}).get((run, tuple(slices[i].values())), {})
        values = {
            str(item): given.get(str(item), Undefined("counts alone do not give it"))
            if str(item) not in scores
            else float(scores[str(item)][i])
            if not math.isnan(scores[str(item)][i])
            else Undefined(item.why_undefined(own) or "undefined")
            for item in measures
        }
        built.append(
            Row(
                run,
                slices[i],
                own,
                values,
                blanks={} if blanks is None else reasons_named(blanks[i]),
                excluded=0 if excluded is None else int(excluded[i]),
                reference=references[i] if references else None,
            )
        )
    return built


def finished(
    rows: list[Row],
    measures: Sequence[Measure],
    by: Sequence[str],
    *,
    questions: int | None,
    policy: Policy | None = None,
    touched: dict[str, int] | None = None,
    notes: Sequence[str] = (),
    baselines: bool = False,
) -> ScoreResult:
    """Rows in order, with rows to read them by where those are asked for."""
    from abstain.analyses.score.disagreement import disagreements

    if baselines:
        from abstain.analyses.score.references import reference_counts

        for run, part, reference, counts in reference_counts(rows):
            rows += rows_of(
                [run], [part], CountsArray.of([counts]), measures, references=[reference]
            )
    ordered = _ranked(rows, measures[0], by)
    said = [*notes, *(disagreements(ordered, measures) if not by else ())]
    return ScoreResult(
        tuple(measures), tuple(by), tuple(ordered), questions, policy, touched or {}, tuple(said)
    )


def _ranked(rows: list[Row], first: Measure, by: Sequence[str]) -> list[Row]:
    """By slice, then by the first measure, the undefined last; ties share their rank."""
    from abstain.stats.ties import places

    name = str(first)
    sign = -1 if first.higher_is_better else 1
    slices: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        slices.setdefault(tuple(row.slice[b] for b in by), []).append(row)
    ordered: list[Row] = []
    for members in slices.values():
        members.sort(
            key=lambda r: (math.isnan(r.scores[name]), sign * _or_zero(r.scores[name]), r.run)
        )
        ranked = [r.scores[name] for r in members if r.reference is None]
        ranks = iter(places(ranked, higher_is_better=first.higher_is_better))
        for row in members:
            ordered.append(row if row.reference is not None else replace(row, rank=next(ranks)))
    return ordered


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value
