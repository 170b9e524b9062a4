"""`run_campaign`: all the numbers of an overview, from one matrix of outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from abstain.analyses.campaign.matrix import OutcomeMatrix, Slices, outcome_matrix, slices_of
from abstain.analyses.campaign.pairs import Pairs, find_pairs
from abstain.errors import InputError, UsageError, nearest, plural, shown
from abstain.judging.opening import old_reading
from abstain.measures import Measure, count_measure
from abstain.outcomes import (
    RIGHT,
    WRONG,
    Counts,
    CountsArray,
    Policy,
    blanks_by_reason,
    reasons_named,
)

if TYPE_CHECKING:
    from abstain.analyses.campaign.stability import RankStability
    from abstain.analyses.compare.result import Comparison
    from abstain.analyses.curve.result import CurveResult
    from abstain.judging.gold import Gold
    from abstain.judging.judge import Judged
    from abstain.outcomes import Array
    from abstain.stats.intervals import Interval

MOST_PARTS = 60
"""An attribute with more values than this is an id or a text, not a slice."""

MOST_CHOICES = 5_000_000
"""Responses up to which the answers given to each question are counted."""

HIDDEN = (
    *("auxiliary_of", "text", "option_texts", "simplified", "simplification"),
    *("doc_id", "sample", "description"),
)
ROLE = "role"


@dataclass(frozen=True, slots=True)
class Campaign:
    """Runs over one gold, with everything that the tables are made of."""

    measure: Measure
    matrix: OutcomeMatrix
    overall: CountsArray
    scores: Array
    """The measure of each run over all questions."""
    order: list[int]
    """Runs from the best to the worst."""
    slices: dict[str, Slices]
    sliced: dict[str, CountsArray]
    """For each attribute, counts by run and part."""
    part_scores: dict[str, Array]
    """For each attribute, the measure by run and part."""
    topic: str | None
    test: str | None
    pass_mark: float
    pairs: Pairs | None
    runs_info: pl.DataFrame
    """One row a run, in the order of the matrix: `run` and its attributes."""
    choices: dict[int, list[tuple[str, int]]]
    """For each question, the answers given and how many runs gave them, the most frequent first."""
    baselines: dict[str, tuple[Counts, dict[str, CountsArray]]]
    """Reference runs: counts overall and, for each attribute, by part."""
    policy: Policy
    touched: dict[str, int]
    notes: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    """An interval for each run's score."""
    comparison: Comparison | None = None
    """All pairs of runs, where there are not too many."""
    seed: int = 0
    level: float = 0.95
    stability: RankStability | None = None
    """Ranks over resamples of the questions, where there are not too many responses."""
    sureness: CurveResult | None = None
    """The curves of the best runs that state a confidence."""

    @property
    def runs(self) -> list[str]:
        """The runs, in the order of the matrix."""
        return self.matrix.runs

    def slice_scores(self, attribute: str) -> Array:
        """The measure by run and part of an attribute."""
        return self.part_scores[attribute]


def run_campaign(
    gold: Any,
    runs: Any,
    *,
    measure_name: str | Measure = "c@1",
    by: Sequence[str] | None = None,
    topic: str = "topic",
    test: str = "test",
    pass_mark: float = 0.5,
    runs_info: Any = None,
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    align: str = "id",
    match: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    baselines: bool = True,
    seed: int = 0,
    ci: str = "",
    level: float = 0.95,
    cluster: str | None = None,
    engine: str | None = None,
    master: str | None = None,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Campaign:
    """Judge all runs once and count them by every attribute.

    Another engine reads and judges; what comes back is one byte for every run and question.
    """
    from abstain.analyses.campaign.stability import rank_stability
    from abstain.analyses.campaign.sureness import sure_curves
    from abstain.analyses.campaign.uncertainty import run_intervals, told_apart
    from abstain.analyses.compare.result import Settings
    from abstain.io.frames import check_mapping
    from abstain.judging.gold import read_gold
    from abstain.judging.judge import check_align, judge
    from abstain.judging.opening import open_runs
    from abstain.judging.responses import describe, own_cluster

    if not 0 <= pass_mark <= 1:
        raise UsageError(f"the pass mark must be from 0 to 1 (got {pass_mark:g})")
    chosen = count_measure(measure_name)
    rules = Policy.of(policy)
    standard = read_gold(gold, old_reading(columns, format))
    sources = open_runs(runs, columns=columns, format=format, engine=engine, master=master)
    cluster = cluster or own_cluster((s.table for s in sources), standard.attributes)
    settings = Settings(method=ci, level=level, cluster=cluster, seed=seed).checked()
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    judged = judge(standard, sources, match=match, align=check_align(align))
    matrix = with_role(outcome_matrix(judged, rules))
    attributes = _attributes(matrix.questions, by, topic, test)
    slices = {name: slices_of(matrix.questions, name) for name in attributes}
    sliced = {name: matrix.counts(s.part_of, len(s.names)) for name, s in slices.items()}
    info, said = _runs_info(matrix.runs, runs_info)
    overall = matrix.overall()
    scores = chosen(overall)
    order = _best_first(scores, matrix.runs, higher=chosen.higher_is_better)
    comparison = told_apart(matrix, chosen, settings, rules, progress=progress)
    return Campaign(
        measure=chosen,
        matrix=matrix,
        overall=overall,
        scores=scores,
        order=order,
        slices=slices,
        sliced=sliced,
        part_scores={name: chosen(counts) for name, counts in sliced.items()},
        topic=topic if topic in slices else None,
        test=test if test in slices else None,
        pass_mark=pass_mark,
        pairs=find_pairs(matrix),
        runs_info=info,
        choices=_choices(judged) if matrix.outcomes.size <= MOST_CHOICES else {},
        baselines=_baselines(standard, slices, rules, match=match, seed=seed) if baselines else {},
        policy=rules,
        touched=reasons_named(blanks_by_reason(matrix.kinds).sum(axis=0)),
        notes=(*describe(standard, sources), *said),
        intervals=tuple(run_intervals(matrix, overall, chosen, settings, comparison)),
        comparison=comparison,
        seed=seed,
        level=level,
        stability=rank_stability(matrix, chosen, seed),
        sureness=sure_curves(judged, matrix, order, chosen, rules),
    )


def with_role(matrix: OutcomeMatrix) -> OutcomeMatrix:
    """Mark questions as main or auxiliary where the gold says which belong to which."""
    if "auxiliary_of" not in matrix.questions.columns or ROLE in matrix.questions.columns:
        return matrix
    auxiliary = pl.col("auxiliary_of").fill_null("") != ""
    if not matrix.questions.select(auxiliary.any()).item():
        return matrix
    role = pl.when(auxiliary).then(pl.lit("auxiliary")).otherwise(pl.lit("main")).alias(ROLE)
    return OutcomeMatrix(
        matrix.runs, matrix.questions.with_columns(role), matrix.outcomes, matrix.kinds
    )


def _attributes(
    questions: pl.DataFrame, by: Sequence[str] | None, topic: str, test: str
) -> list[str]:
    """The attributes to slice by: those asked for, else all with few enough values."""
    from abstain.io.tables import ROW

    inner = {"question", "accepted", "nothing_right", "options", ROW}
    known = [c for c in questions.columns if c not in inner and questions[c].dtype == pl.String]
    structure = [name for name in (topic, test) if name in known]
    by = [by] if isinstance(by, str) else by
    usual = ("topic", "test")  # a gold may do without them where nobody asked
    for name in [*(n for n in (topic, test) if n not in usual), *(by or ())]:
        if name not in known:
            near = nearest(name, known)
            hint = f"nearest: {', '.join(near)}" if near else f"there are {', '.join(known)}"
            raise UsageError(f"the gold has no attribute '{name}' ({hint})")
    if by is not None:
        return list(dict.fromkeys([*structure, *by]))
    few = [
        name
        for name in known
        if name not in HIDDEN and 1 < questions[name].drop_nulls().n_unique() <= MOST_PARTS
    ]
    return list(dict.fromkeys([*structure, *few]))


def _choices(judged: Judged) -> dict[int, list[tuple[str, int]]]:
    """The answers given to each question; blanks and their candidates stay out."""
    from abstain.io.frames import collect
    from abstain.judging.judge import INDEX, KIND

    parts = [
        collect(
            frame.filter(nw.col(KIND).is_in([RIGHT, WRONG]))
            .group_by(INDEX, "answer")
            .agg(nw.len().alias("len")),
            judged.sources[0].table.name,
        ).cast({INDEX: pl.Int64, "len": pl.Int64})
        for frame in judged.frames
    ]
    given = pl.concat(parts).group_by(INDEX, "answer").agg(pl.col("len").sum())
    given = given.sort("len", "answer", descending=[True, False])
    found: dict[int, list[tuple[str, int]]] = {}
    for index, answer, count in given.iter_rows():
        found.setdefault(int(index), []).append((answer, int(count)))
    return found


def _best_first(scores: Array, runs: Sequence[str], *, higher: bool) -> list[int]:
    sign = -1 if higher else 1
    return sorted(
        range(len(runs)),
        key=lambda i: (bool(np.isnan(scores[i])), sign * float(np.nan_to_num(scores[i])), runs[i]),
    )


def _runs_info(runs: Sequence[str], given: Any) -> tuple[pl.DataFrame, list[str]]:
    """What is known of the runs: their ids taken apart, and a table that the caller gave.

    With notes on names that only one side has: they may be slips.
    """
    from abstain.io.columns import require
    from abstain.io.frames import collect, into_lazy, open_table
    from abstain.judging.run_names import parse_run_name

    parsed = [parse_run_name(run) for run in runs]
    frame = pl.DataFrame({"run": list(runs)})
    if any(parsed):
        frame = frame.with_columns(
            team=pl.Series([p.team if p else None for p in parsed], dtype=pl.String),
            number=pl.Series([f"{p.number:02d}" if p else None for p in parsed], dtype=pl.String),
            language=pl.Series([p.source if p else None for p in parsed], dtype=pl.String),
            first_run=pl.Series(
                [("01" if p.number == 1 else "others") if p else None for p in parsed],
                dtype=pl.String,
            ),
        )
    if given is None:
        return frame, []
    table = open_table(given, name="the runs' attributes")
    require(table, "run", "which names the run")
    info = collect(into_lazy(table.frame).select(*table.columns), table.name)
    info = info.with_columns(pl.all().cast(pl.String))
    twice = info.filter(pl.col("run").is_duplicated())
    if twice.height:
        raise InputError(f"run {shown(twice['run'][0])} stands twice", table.name)
    present = set(runs)
    unknown = [r for r in info["run"] if r not in present]
    if len(unknown) == info.height:
        raise InputError(f"names none of the runs (its first: {shown(unknown[0])})", table.name)
    kept = frame.drop([c for c in frame.columns if c != "run" and c in info.columns])
    joined = kept.join(info, on="run", how="left", maintain_order="left")
    named = set(info["run"])
    absent = [run for run in runs if run not in named]
    notes = [
        f"{what}: {', '.join(shown(str(r)) for r in names[:3])}{', …' if names[3:] else ''}"
        for what, names in (
            (f"{plural(len(unknown), 'run')} of {table.name} did not take part", unknown),
            (f"{plural(len(absent), 'run is', 'runs are')} not in {table.name}", absent),
        )
        if names
    ]
    return joined, notes


def _baselines(
    gold: Gold, slices: Mapping[str, Slices], policy: Policy, *, match: str, seed: int
) -> dict[str, tuple[Counts, dict[str, CountsArray]]]:
    """Reference runs, judged as any run is and counted by the same slices."""
    from abstain.analyses.campaign.baselines import all_baselines, can_guess, chances
    from abstain.judging.judge import judge
    from abstain.judging.responses import read_responses

    found: dict[str, tuple[Counts, dict[str, CountsArray]]] = {}
    made = all_baselines(gold, seed=seed)
    if can_guess(gold):
        luck = chances(gold)
        table = np.zeros((len(gold), len(fields(Counts))))
        table[:, RIGHT], table[:, WRONG] = luck, 1 - luck
        parts = {name: CountsArray(s.sums(table)) for name, s in slices.items()}
        found["random (expected)"] = Counts(*table.sum(axis=0)), parts
    responses = [b.responses.with_columns(run=pl.lit(b.title)) for b in made]
    source = read_responses(pl.concat(responses), name="the reference runs")
    matrix = outcome_matrix(judge(gold, [source], match=match), policy)
    overall = matrix.overall()
    sliced = {name: matrix.counts(s.part_of, len(s.names)) for name, s in slices.items()}
    for b in made:
        i = matrix.runs.index(b.title)
        parts = {name: CountsArray(counts.table[i]) for name, counts in sliced.items()}
        found[b.title] = overall[i], parts
    return found
