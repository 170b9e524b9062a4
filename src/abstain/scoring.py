"""`score`: runs and a gold (or judged rows, or counts) to a table of scores."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from abstain import __version__
from abstain.errors import InputError, UsageError, plural
from abstain.measures import Measure, count_measure, measure
from abstain.outcomes import (
    OUTCOMES,
    Counts,
    CountsArray,
    Effect,
    Policy,
    Undefined,
    Why,
    blanks_by_reason,
)

if TYPE_CHECKING:
    import polars as pl

    from abstain.outcomes import IntArray

DEFAULT_MEASURES = ("c@1", "accuracy", "precision", "coverage")

Known = dict[tuple[str, tuple[str | None, ...]], dict[str, float]]
"""Run and slice to scores that were computed elsewhere."""

STOPPED = {Why.ERROR: "failed", Why.UNSCORED: "got no verdict"}

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


# ---------------------------------------------------------------------------- three ways in


def score(
    gold: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    by: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    align: str = "id",
    match: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    baselines: bool = False,
    ci: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    engine: str | None = None,
    master: str | None = None,
) -> ScoreResult:
    """Score runs against a gold; with `ci` each score has an interval, by question or cluster.

    `gold` is a path or a dataframe; `runs` is one of those, a sequence of them, or a mapping of
    names to them. Dataframes are those that narwhals knows: polars, pandas, pyarrow, duckdb,
    Spark; a lazy one is counted by its own engine. `engine` is who reads paths: polars, duckdb or
    spark (at `master`).
    """
    from abstain.judge import check_align, judge
    from abstain.questions import check_mapping, describe, own_cluster, read_gold
    from abstain.tally import tally

    chosen = _measures(measures)
    by = _names(by)
    rules = Policy.of(policy)
    standard = read_gold(gold, columns=columns, format=format if _is_path(gold) else None)
    sources = open_runs(runs, columns=columns, format=format, engine=engine, master=master)
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    if ci is not None and cluster is None:
        cluster = own_cluster((s.table for s in sources), standard.attributes)
    grouped = _with_cluster(by, cluster)
    judged = judge(standard, sources, match=match, align=check_align(align), by=grouped)
    tallies, clusters = _regrouped(tally(judged, grouped), by, grouped, cluster)
    confident: Known = {}
    matrix = None
    if any(item.definition.takes == "confidence" for item in chosen):
        from abstain.confidence.matrix import read_matrix
        from abstain.confidence.scores import scores_by_slice

        matrix = read_matrix(
            standard,
            runs,
            policy=rules,
            align=align,
            match=match,
            columns=columns,
            format=format,
        )
        confident = scores_by_slice(matrix, chosen, by)
    result = from_tallies(
        tallies,
        chosen,
        by,
        rules,
        notes=describe(standard, sources),
        baselines=baselines,
        known=confident,
    )
    return _with_intervals(
        result, ci, clusters, cluster=cluster, level=level, seed=seed, matrix=matrix
    )


def score_judged(
    runs: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    by: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    grades: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    baselines: bool = False,
    ci: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    engine: str | None = None,
    master: str | None = None,
) -> ScoreResult:
    """Score rows that carry their own outcome, in a column `outcome` or `grade`."""
    from abstain.grades import tally_grades
    from abstain.questions import check_mapping, own_cluster, told

    chosen = _measures(measures)
    by = _names(by)
    sources = open_runs(runs, columns=columns, format=format, engine=engine, master=master)
    check_mapping(columns or {}, [s.table for s in sources])
    if ci is not None and cluster is None:
        cluster = own_cluster(s.table for s in sources)
    grouped = _with_cluster(by, cluster)
    fine, notes = tally_grades(sources, by=grouped, grades=grades or {})
    tallies, clusters = _regrouped(fine, by, grouped, cluster)
    rules = Policy.of(policy)
    confident: Known = {}
    matrix = None
    if any(item.definition.takes == "confidence" for item in chosen):
        from abstain.confidence.matrix import read_judged_matrix
        from abstain.confidence.scores import scores_by_slice

        matrix = read_judged_matrix(
            runs, attributes=grouped, policy=rules, grades=grades, columns=columns, format=format
        )
        confident = scores_by_slice(matrix, chosen, by)
    result = from_tallies(
        tallies,
        chosen,
        by,
        rules,
        notes=[*told(s.table for s in sources), *notes],
        baselines=baselines,
        known=confident,
    )
    return _with_intervals(
        result, ci, clusters, cluster=cluster, level=level, seed=seed, matrix=matrix
    )


def score_counts(
    counts: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    by: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    baselines: bool = False,
    skip_inconsistent: bool = False,
    ci: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ScoreResult:
    """Score given counts: a path, a dataframe, or a mapping of names to `Counts`."""
    from abstain.given_counts import read_counts

    chosen = tuple(count_measure(item) for item in _measures(measures))
    by = _names(by)
    if isinstance(counts, Mapping) and all(isinstance(v, Counts) for v in counts.values()):
        if by:
            raise UsageError("counts given by name have no attributes to slice by")
        rows: list[tuple[str, tuple[str | None, ...], Counts]]
        rows = [(str(run), (), value) for run, value in counts.items()]
        notes: list[str] = []
    else:
        rows, notes = read_counts(
            counts, by=by, columns=columns, format=format, skip_inconsistent=skip_inconsistent
        )
    if not rows:
        raise UsageError("there are no counts to score")
    built = _rows(
        [run for run, _, _ in rows],
        [dict(zip(by, values, strict=True)) for _, values, _ in rows],
        CountsArray.of(value for _, _, value in rows),
        chosen,
    )
    sizes = {row.counts.n for row in built}
    questions = int(next(iter(sizes))) if len(sizes) == 1 else None
    if questions is None and not by:
        notes.append(f"the runs cover from {min(sizes):,.0f} to {max(sizes):,.0f} questions")
    result = _finish(built, chosen, by, questions=questions, notes=notes, baselines=baselines)
    return _with_intervals(result, ci, None, cluster=None, level=level, seed=seed)


def open_runs(
    runs: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> list[Any]:
    """The response tables that a caller named, each with the name of its run."""
    from abstain.joining import join_tasks
    from abstain.questions import in_its_engine, name_runs, read_responses

    sources = [
        read_responses(
            data,
            name=name,
            columns=columns,
            format=format if _is_path(data) else None,
            engine=engine,
            master=master,
        )
        for name, data in _named_runs(runs, format)
    ]
    return [in_its_engine(own, engine, master) for own in name_runs(join_tasks(sources))]


def _named_runs(runs: Any, format: str | None) -> list[tuple[str, Any]]:
    """The runs with the names that the caller gave; a folder stands for the logs in it."""
    if isinstance(runs, Mapping):
        named = [(str(name), data) for name, data in runs.items()]
    elif isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)):
        every = [part for data in runs for part in _logs_of(data, format)]
        several = sum(not _is_path(data) for data in every) > 1
        named = [
            (f"run {i + 1}" if several and not _is_path(data) else "", data)
            for i, data in enumerate(every)
        ]
    else:
        named = [("", data) for data in _logs_of(runs, format)]
    if not named:
        raise UsageError("there is no run to score")
    return named


def _logs_of(data: Any, format: str | None) -> list[Any]:
    if not _is_path(data) or not os.path.isdir(data):
        return [data]
    from abstain.joining import logs_in

    return list(logs_in(os.fspath(data), format))


# --------------------------------------------------------------------------------- intervals


def _with_cluster(by: Sequence[str], cluster: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*by, cluster))) if cluster else tuple(by)


def _regrouped(
    fine: Any, by: Sequence[str], grouped: Sequence[str], cluster: str | None
) -> tuple[Any, Any]:
    if cluster is None:
        return fine, None
    from abstain.compare.rows import regroup

    return regroup(fine, len(by), list(grouped).index(cluster))


def _with_intervals(
    result: ScoreResult,
    ci: str | None,
    clusters: Any,
    *,
    cluster: str | None,
    level: float,
    seed: int,
    matrix: Any = None,
) -> ScoreResult:
    if ci is None:
        if cluster is not None:
            raise UsageError("--cluster goes with --ci: it makes intervals, not scores")
        return result
    from abstain.compare.rows import with_intervals

    return with_intervals(
        result, ci, clusters, cluster=cluster, level=level, seed=seed, matrix=matrix
    )


# ------------------------------------------------------------------------- tallies to result


def from_tallies(
    tallies: Any,
    measures: Sequence[Measure],
    by: Sequence[str],
    policy: Policy,
    *,
    notes: Sequence[str] = (),
    baselines: bool = False,
    known: Known | None = None,
) -> ScoreResult:
    """Apply a policy to tallies and score what comes out.

    `known` holds scores that counts alone do not give.
    """
    reasons = blanks_by_reason(tallies.table)
    refuse_undecided(reasons, tallies.runs, policy)
    counts = policy.apply(tallies.table)
    rows = _rows(
        tallies.runs,
        [dict(zip(by, values, strict=True)) for values in tallies.slices],
        CountsArray(counts),
        measures,
        blanks=reasons,
        excluded=tallies.table.sum(axis=1) - counts.sum(axis=1),
        known=known,
    )
    touched = {why.value: int(n) for why, n in zip(Why, reasons.sum(axis=0), strict=True) if n}
    return _finish(
        rows,
        measures,
        by,
        questions=tallies.questions,
        policy=policy,
        touched=touched,
        notes=notes,
        baselines=baselines,
    )


def refuse_undecided(reasons: IntArray, runs: Sequence[str], policy: Policy) -> None:
    """Stop where the policy does not say what a kind of blank becomes and there are some."""
    for position, why in enumerate(Why):
        if policy.effects[why] is Effect.STOP and reasons[:, position].any():
            count = int(reasons[:, position].sum())
            run = runs[int(reasons[:, position].argmax())]
            raise InputError(
                f"{plural(count, 'response')} {STOPPED.get(why, 'stopped it')} ({why}), the first "
                f"in run '{run}'; say what "
                f"they count as: --policy {why}=unanswered, {why}=wrong or {why}=excluded"
            )


def _rows(
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
                blanks={}
                if blanks is None
                else {w.value: int(n) for w, n in zip(Why, blanks[i], strict=True) if n},
                excluded=0 if excluded is None else int(excluded[i]),
                reference=references[i] if references else None,
            )
        )
    return built


def _finish(
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
    from abstain.disagreement import disagreements

    if baselines:
        from abstain.references import reference_counts

        for run, part, reference, counts in reference_counts(rows):
            rows += _rows([run], [part], CountsArray.of([counts]), measures, references=[reference])
    ordered = _ranked(rows, measures[0], by)
    said = [*notes, *(disagreements(ordered, measures) if not by else ())]
    return ScoreResult(
        tuple(measures), tuple(by), tuple(ordered), questions, policy, touched or {}, tuple(said)
    )


def _ranked(rows: list[Row], first: Measure, by: Sequence[str]) -> list[Row]:
    """By slice, then by the first measure, the undefined last; ties share their rank."""
    from abstain.ties import places

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


def _measures(given: Sequence[str | Measure]) -> tuple[Measure, ...]:
    if isinstance(given, (str, Measure)):
        given = [given]
    chosen = tuple(dict.fromkeys(measure(item) for item in given))
    if not chosen:
        raise UsageError("name at least one measure")
    return chosen


def _names(by: Sequence[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))
