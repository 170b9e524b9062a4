"""`score`: runs and a gold (or judged rows, or counts) to a table of scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstain.analyses.score.result import Known, ScoreResult, finished, rows_of
from abstain.errors import InputError, UsageError, plural
from abstain.measures import Measure, count_measure, measure
from abstain.outcomes import (
    Counts,
    CountsArray,
    Effect,
    Policy,
    Why,
    blanks_by_reason,
    reasons_named,
)

if TYPE_CHECKING:
    from abstain.analyses.curve.matrix import ConfidenceMatrix
    from abstain.judging.tally import Tallies
    from abstain.outcomes import IntArray

DEFAULT_MEASURES = ("c@1", "accuracy", "precision", "coverage")

STOPPED = {Why.ERROR: "failed", Why.UNSCORED: "got no verdict"}

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
    from abstain.io.frames import check_mapping
    from abstain.judging.gold import read_gold
    from abstain.judging.judge import check_align, judge
    from abstain.judging.responses import describe, own_cluster
    from abstain.judging.tally import tally

    chosen, by, rules = _measures(measures), _names(by), Policy.of(policy)
    standard = read_gold(gold, columns=columns, format=format)
    sources = open_runs(runs, columns=columns, format=format, engine=engine, master=master)
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    if ci is not None and cluster is None:
        cluster = own_cluster((s.table for s in sources), standard.attributes)
    asked = _Asked(chosen, by, rules, baselines, ci, cluster, level, seed)
    judged = judge(standard, sources, match=match, align=check_align(align), by=asked.grouped)

    def sure() -> ConfidenceMatrix:
        from abstain.analyses.curve.matrix import read_matrix

        return read_matrix(
            standard,
            runs,
            policy=rules,
            align=align,
            match=match,
            columns=columns,
            format=format,
        )

    return _scored(
        asked, tally(judged, asked.grouped), notes=describe(standard, sources), confidences=sure
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
    from abstain.io.frames import check_mapping
    from abstain.judging.grades import tally_grades
    from abstain.judging.responses import own_cluster, told

    chosen, by, rules = _measures(measures), _names(by), Policy.of(policy)
    sources = open_runs(runs, columns=columns, format=format, engine=engine, master=master)
    check_mapping(columns or {}, [s.table for s in sources])
    if ci is not None and cluster is None:
        cluster = own_cluster(s.table for s in sources)
    asked = _Asked(chosen, by, rules, baselines, ci, cluster, level, seed)
    tallies, notes = tally_grades(sources, by=asked.grouped, grades=grades or {})

    def sure() -> ConfidenceMatrix:
        from abstain.analyses.curve.matrix import read_judged_matrix

        return read_judged_matrix(
            runs,
            attributes=asked.grouped,
            policy=rules,
            grades=grades,
            columns=columns,
            format=format,
        )

    notes = [*told(s.table for s in sources), *notes]
    return _scored(asked, tallies, notes=notes, confidences=sure)


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
    from abstain.judging.given_counts import read_counts

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
    built = rows_of(
        [run for run, _, _ in rows],
        [dict(zip(by, values, strict=True)) for _, values, _ in rows],
        CountsArray.of(value for _, _, value in rows),
        chosen,
    )
    sizes = {row.counts.n for row in built}
    questions = int(next(iter(sizes))) if len(sizes) == 1 else None
    if questions is None and not by:
        notes.append(f"the runs cover from {min(sizes):,.0f} to {max(sizes):,.0f} questions")
    result = finished(built, chosen, by, questions=questions, notes=notes, baselines=baselines)
    if ci is None:
        return result
    from abstain.analyses.score.intervals import with_intervals

    return with_intervals(result, ci, None, cluster=None, level=level, seed=seed)


def open_runs(
    runs: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> list[Any]:
    """The response tables that a caller named, each with the name of its run."""
    from abstain.judging.joining import join_tasks
    from abstain.judging.responses import in_its_engine, read_responses
    from abstain.judging.run_names import name_runs

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
    from abstain.judging.joining import logs_in

    return list(logs_in(os.fspath(data), format))


# ------------------------------------------------------------------------- tallies to result


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for, however the outcomes are come by."""

    measures: tuple[Measure, ...]
    by: tuple[str, ...]
    policy: Policy
    baselines: bool
    ci: str | None
    cluster: str | None
    level: float
    seed: int

    @property
    def grouped(self) -> tuple[str, ...]:
        """What to count by: the slices, and the cluster within them."""
        return tuple(dict.fromkeys((*self.by, self.cluster))) if self.cluster else self.by


def _scored(
    asked: _Asked,
    tallies: Tallies,
    *,
    notes: Sequence[str],
    confidences: Callable[[], ConfidenceMatrix],
) -> ScoreResult:
    """Tallies, scored; `confidences` are read where a measure needs them.

    Intervals come from the clusters, or from the questions.
    """
    clusters = matrix = None
    known: Known = {}
    if asked.cluster is not None:
        from abstain.analyses.score.intervals import regroup

        place = asked.grouped.index(asked.cluster)
        tallies, clusters = regroup(tallies, len(asked.by), place)
    if any(item.definition.takes == "confidence" for item in asked.measures):
        from abstain.analyses.score.confident import scores_by_slice

        matrix = confidences()
        known = scores_by_slice(matrix, asked.measures, asked.by)
    result = from_tallies(
        tallies,
        asked.measures,
        asked.by,
        asked.policy,
        notes=notes,
        baselines=asked.baselines,
        known=known,
    )
    if asked.ci is None:
        if asked.cluster is not None:
            raise UsageError("--cluster goes with --interval: it makes intervals, not scores")
        return result
    from abstain.analyses.score.intervals import with_intervals

    return with_intervals(
        result,
        asked.ci,
        clusters,
        cluster=asked.cluster,
        level=asked.level,
        seed=asked.seed,
        matrix=matrix,
    )


def from_tallies(
    tallies: Tallies,
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
    rows = rows_of(
        tallies.runs,
        [dict(zip(by, values, strict=True)) for values in tallies.slices],
        CountsArray(counts),
        measures,
        blanks=reasons,
        excluded=tallies.table.sum(axis=1) - counts.sum(axis=1),
        known=known,
    )
    return finished(
        rows,
        measures,
        by,
        questions=tallies.questions,
        policy=policy,
        touched=reasons_named(reasons.sum(axis=0)),
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
