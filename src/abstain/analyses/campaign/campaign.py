"""`campaign`: all the facts of an overview, asked of one evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import structs

from abstain.analyses.campaign.first_runs import first_runs
from abstain.analyses.campaign.overview import fourfold_of, with_role
from abstain.analyses.campaign.result import (
    Breakdown,
    CampaignResult,
    CampaignRow,
    Questions,
    ReferenceRun,
    Stability,
    UnrankedRun,
)
from abstain.analyses.compare import compare
from abstain.analyses.result import ranked, read_as
from abstain.analyses.runs_info import (
    LATE,
    OFFICIAL,
    UNOFFICIAL,
    WITHDRAWN,
    RunsInfo,
    alike,
    read_info,
    repaired,
    teams_of,
)
from abstain.analyses.score.intervals import interval_rows
from abstain.analyses.score.scoring import rows_of
from abstain.analyses.validate.odd import misspelt, odd_things
from abstain.analyses.validate.result import Problem, ValidateResult
from abstain.errors import UsageError, nearest
from abstain.io.frames import collect
from abstain.io.names import cells
from abstain.io.tables import ROW
from abstain.judging.evaluation import Evaluation
from abstain.judging.judge import INDEX, KIND
from abstain.judging.naming import parse_run_name
from abstain.judging.slices import Slices, slices_of
from abstain.judging.sources import GoldRuns
from abstain.measures import Measure, count_measure
from abstain.outcomes import EXCLUDED, OUTCOMES, RIGHT, WRONG, Counts, reasons_named
from abstain.stats.intervals import check_level, check_method
from abstain.stats.resampling.cells import of_outcomes
from abstain.stats.resampling.sources import random_multiplicities, stream

if TYPE_CHECKING:
    from abstain.analyses.compare.result import CompareResult
    from abstain.analyses.curve.result import CurveResult
    from abstain.outcomes import Array, IntArray
    from abstain.stats.intervals import IntervalMethod

MOST_SLICES = 60
"""An attribute with more values than this is an id or a text, not a slice."""

MOST_CELLS = 5_000_000
"""Responses beyond which an overview does without answers, curves and resampled ranks."""

MOST_CURVES = 6
"""Runs whose confidence an overview looks at: the best that state one."""

MOST_COMPARED = 100
"""Beyond this many runs, all pairs take longer than the rest of a campaign."""

OF_CONFIDENCE = ("AUROC", "AURC", "ECE", "Brier")
BYTE = 255

MANY_CELLS = 1_000_000
TRIALS, FEW_TRIALS = 1_000, 200
HELD = 1 << 22
"""Numbers that a block of trials may hold."""

HIDDEN = (
    *("auxiliary_of", "text", "option_texts", "simplified", "simplification"),
    *("doc_id", "sample", "description"),
)
SCORED = ("run", "slice", "rank", "numbers", "scores", "undefined", "blanks")
"""What a row has as `score` made it."""


def campaign(
    evaluation: Evaluation,
    *,
    measure: str | Measure = "c@1",
    by: Sequence[str] | str | None = None,
    topic_by: str = "topic",
    test_by: str = "test",
    pass_mark: float = 0.5,
    runs_info: Any = None,
    references: bool = True,
    interval: IntervalMethod | None = None,
    level: float = 0.95,
    seed: int = 0,
    title: str = "Campaign",
    about: str = "",
    checked: ValidateResult | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CampaignResult:
    """Count all runs by every attribute, and compare them.

    Args:
        evaluation: Runs that were judged against a gold.
        measure: What runs are ranked by.
        by: Attributes to break down by; None: all that have few enough values.
        topic_by: The attribute of topics.
        test_by: The attribute of reading tests.
        pass_mark: A reading test is passed with this score.
        runs_info: A table of what is known of the runs: run, team, status, align, language, …
        references: Whether reference runs stand in the leaderboard.
        interval: How the intervals of scores are made.
        level: Their level.
        seed: For the random reference run, and for what is drawn.
        title: What the overview is called.
        about: What its readers should know of it.
        checked: What is wrong with all runs that were handed in, where some were left out.
        progress: Is told how many pairs of runs are compared, of how many.
    """
    if evaluation.kind != "gold":
        raise UsageError(
            "a campaign needs a gold and runs, because it reports on single answers and questions"
        )
    if not 0 <= pass_mark <= 1:
        raise UsageError(f"the pass mark must be from 0 to 1 (got {pass_mark:g})")
    if checked is not None and not isinstance(checked, ValidateResult):
        raise UsageError(
            f"`checked` must be the result of `validate` (got {type(checked).__name__})"
        )
    chosen, method = count_measure(measure), check_method(interval or "")
    level = check_level(level)
    questions = with_role(evaluation.questions)
    attributes = _attributes(questions, by, topic_by, test_by)
    table = read_info(runs_info)
    evaluation = repaired(evaluation, table)
    said = table.notes(evaluation.runs) if table.name else []
    said += misspelt(evaluation.source.gold) if evaluation.source.gold else []
    known = _runs_info(evaluation, table)
    if checked is not None:
        said += [note for note in checked.notes if note not in (*said, *evaluation.notes)]
    elif "team" in known.columns:
        said += alike(known["team"].drop_nulls())
    status = table.of("status")
    unranked = [r for r in evaluation.runs if status.get(r, OFFICIAL) in (LATE, UNOFFICIAL)]
    withdrawn = [r for r in evaluation.runs if status.get(r) == WITHDRAWN]
    everything, evaluation = evaluation, _official(evaluation, {*unranked, *withdrawn})
    info = known.filter(pl.col("run").is_in(evaluation.runs))
    codes = evaluation.codes  # before anything is counted: nothing is read twice
    counted, name = evaluation.counted(), str(chosen)
    scored = rows_of(counted, (), [chosen], {})
    rows = ranked(scored, name, higher_is_better=chosen.higher_is_better)
    place = {run: i for i, run in enumerate(evaluation.runs)}
    order = [place[row.run] for row in rows]
    asked = {attribute: slices_of(questions, attribute) for attribute in attributes}
    made = {"level": level, "seed": seed}
    comparison = _comparison(evaluation, chosen, interval=method, progress=progress, **made)
    groups: dict[str, str] = {}
    if comparison is not None and comparison.grouped:
        groups = {row.run: row.group for row in comparison.rows}
    if comparison is not None and comparison.questions == comparison.questions_in_all:
        spans = {row.run: row.intervals[name] for row in comparison.rows}
    else:
        found = interval_rows(rows, evaluation, (), [chosen], method=method, **made)
        spans = {row.run: row.intervals[name] for row in found}
    fourfold = fourfold_of(questions, codes)
    warnings = _warnings(everything) if checked is None else checked.warnings
    return CampaignResult(
        **read_as(everything, *said),
        policy=evaluation.policy.to_dict(),
        touched={} if counted.blanks is None else reasons_named(counted.blanks.sum(axis=0)),
        title=title,
        about=about,
        measure=name,
        pass_mark=pass_mark,
        seed=seed,
        level=level,
        topic_by=topic_by if topic_by in asked else None,
        test_by=test_by if test_by in asked else None,
        rows=tuple(
            CampaignRow(
                **{field: getattr(row, field) for field in SCORED},
                intervals={name: spans[row.run]},
                group=groups.get(row.run, ""),
                info={key: info[key][i] for key in info.columns if key != "run"},
                pairs=None if fourfold is None else tuple(fourfold[i].tolist()),
            )
            for i, row in zip(order, rows, strict=True)
        ),
        questions=_questions(everything, evaluation, questions),
        breakdowns=tuple(_breakdown(evaluation, own, order) for own in asked.values()),
        references=tuple(_references(everything, list(asked.values()), seed)) if references else (),
        unranked=tuple(_unranked(everything, unranked, list(asked.values()), status, known)),
        withdrawn=tuple(withdrawn),
        first_runs=first_runs(evaluation, questions, info, chosen, level),
        problems=() if checked is None else checked.problems,
        warnings=warnings,
        skipped=() if checked is None else checked.skipped,
        comparison=comparison,
        stability=_stability(evaluation, chosen, order, seed),
        curves=_curves(evaluation, order, chosen),
    )


def _attributes(
    questions: pl.DataFrame, by: Sequence[str] | str | None, topic: str, test: str
) -> list[str]:
    """The attributes to slice by: those asked for, else all with few enough values."""
    known = _texts(questions)
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
        if name not in HIDDEN and 1 < cells(questions, name).drop_nulls().n_unique() <= MOST_SLICES
    ]
    return list(dict.fromkeys([*structure, *few]))


def _texts(questions: pl.DataFrame) -> list[str]:
    """The attributes of the questions."""
    inner = {"question", "accepted", "nothing_right", "options", "option_texts", ROW}
    return [c for c in questions.columns if c not in inner and questions[c].dtype == pl.String]


def _breakdown(evaluation: Evaluation, slices: Slices, order: Sequence[int]) -> Breakdown:
    table = evaluation.sliced(slices).table[order]
    numbers = {name: table[..., i].tolist() for i, name in enumerate(OUTCOMES)}
    return Breakdown(attribute=slices.attribute, slices=slices.names, **numbers)


def _comparison(evaluation: Evaluation, measure: Measure, **options: Any) -> CompareResult | None:
    """All pairs of runs, on the questions that count for all; None where that cannot be had."""
    if not 2 <= len(evaluation.runs) <= MOST_COMPARED:
        return None
    if not (evaluation.codes < EXCLUDED).all(axis=0).any():
        return None
    # What the campaign's policy makes of missing responses holds here too.
    return compare(evaluation.with_policy(evaluation.policy), measure, **options)


def _runs_info(evaluation: Evaluation, info: RunsInfo) -> pl.DataFrame:
    """What is known of the runs: their ids taken apart, their folders, the caller's table."""
    runs = list(evaluation.runs)
    parsed = [parse_run_name(run) for run in runs]
    frame = pl.DataFrame({"run": runs}, schema={"run": pl.String})
    teams = teams_of(runs, evaluation.source.responses, info)
    if any(teams.values()):
        names = [None if own is None else own.name for own in teams.values()]
        frame = frame.with_columns(team=pl.Series(names, dtype=pl.String))
    if any(parsed):
        taken_apart = [
            (f"{p.number:02d}", p.source, "01" if p.number == 1 else "others") if p else (None,) * 3
            for p in parsed
        ]
        schema = dict.fromkeys(("number", "language", "first_run"), pl.String)
        frame = frame.hstack(pl.DataFrame(taken_apart, schema=schema, orient="row"))
    own = info.frame.drop("team", "align", strict=False)
    kept = frame.drop([c for c in frame.columns if c != "run" and c in own.columns])
    return kept.join(own, on="run", how="left", maintain_order="left")


def _questions(
    everything: Evaluation, evaluation: Evaluation, questions: pl.DataFrame
) -> Questions:
    """Every question with what the runs made of it."""
    lists = {
        name: questions[name].to_list()
        for name in ("options", "option_texts")
        if name in questions.columns
    }
    small = evaluation.codes.size <= MOST_CELLS
    return Questions(
        attributes={name: questions[name].to_list() for name in ("question", *_texts(questions))},
        right=_per_question(evaluation, RIGHT),
        wrong=_per_question(evaluation, WRONG),
        blank=_per_question(evaluation, 2, 3, 4),
        accepted=questions["accepted"].to_list(),
        nothing_right=questions["nothing_right"].to_list(),
        choices=_choices(everything, evaluation.runs, questions.height) if small else [],
        **lists,
    )


def _per_question(evaluation: Evaluation, *outcomes: int) -> list[int]:
    """For each question, in how many runs its response had one of some outcomes."""
    codes = evaluation.codes
    found = np.zeros(codes.shape[1], np.int64)
    for start in range(0, len(codes), BYTE):
        few = codes[start : start + BYTE]
        for outcome in outcomes:  # a byte holds the sum of so few runs, and bytes add fast
            found += np.add.reduce(few == outcome, axis=0, dtype=np.uint8)
    return found.tolist()


def _choices(
    evaluation: Evaluation, runs: Sequence[str], questions: int
) -> list[list[tuple[str, int]]]:
    """The answers that some runs gave to each question; blanks and their candidates stay out."""
    if not isinstance(evaluation.source, GoldRuns):  # a view of some runs or questions
        return []
    judged = evaluation.source.judged()
    some = [nw.col("run").is_in(list(runs))] if len(runs) < len(evaluation.runs) else []
    tables = [
        collect(
            frame.filter(nw.col(KIND).is_in([RIGHT, WRONG]), *some)
            .group_by(INDEX, "answer")
            .agg(nw.len().alias("len")),
            judged.sources[0].table.name,
        ).cast({INDEX: pl.Int64, "len": pl.Int64})
        for frame in judged.frames
    ]
    given = pl.concat(tables).group_by(INDEX, "answer").agg(pl.col("len").sum())
    given = given.sort("len", "answer", descending=[True, False])
    found: list[list[tuple[str, int]]] = [[] for _ in range(questions)]
    for index, answer, count in given.iter_rows():
        found[int(index)].append((answer, int(count)))
    return found


def _references(evaluation: Evaluation, slices: Sequence[Slices], seed: int) -> list[ReferenceRun]:
    """Reference runs, judged as any run is and counted by the same slices."""
    from abstain.analyses.baselines import all_baselines, can_guess, chances
    from abstain.judging.reading import Reading
    from abstain.judging.sources import evaluate

    gold = evaluation.source.gold
    assert gold is not None
    found: list[tuple[str, Array, list[Array]]] = []
    if can_guess(gold):
        luck = chances(gold)
        table = np.zeros((len(gold), len(fields(Counts))))
        table[:, RIGHT], table[:, WRONG] = luck, 1 - luck
        sums = [own.sums(table) for own in slices]
        found.append(("random (expected)", table.sum(axis=0), sums))
    made = all_baselines(gold, seed=seed)
    responses = pl.concat([b.responses.with_columns(run=pl.lit(b.title)) for b in made])
    reading = Reading(match=evaluation.reading.match, policy=evaluation.reading.policy)
    judged = evaluate(gold, responses, reading)
    overall = judged.overall()
    sliced = [judged.sliced(own).table for own in slices]
    for b in made:
        i = judged.runs.index(b.title)
        found.append((b.title, overall.table[i], [own[i] for own in sliced]))
    width = len(OUTCOMES)
    return [
        ReferenceRun(
            name=name,
            counts=counts[:width].tolist(),
            slices=[own[:, :width].T.tolist() for own in parts],
        )
        for name, counts, parts in found
    ]


def _curves(evaluation: Evaluation, order: Sequence[int], measure: Measure) -> CurveResult | None:
    """The curves of the best runs that state a confidence; None where none of them does."""
    if evaluation.codes.size > MOST_CELLS or not evaluation.states_confidence:
        return None
    able = np.asarray(~np.isnan(evaluation.confidence).all(axis=1))
    chosen = [evaluation.runs[i] for i in order if able[i]][:MOST_CURVES]
    if not chosen:
        return None
    found = evaluation.only(runs=chosen).curve([*OF_CONFIDENCE, measure])
    return structs.replace(found, reading=None, subset=None, notes=(), policy={}, touched={})


def _official(evaluation: Evaluation, others: set[str]) -> Evaluation:
    """The runs that are ranked and averaged."""
    if not others:
        return evaluation
    ranked_runs = [run for run in evaluation.runs if run not in others]
    if not ranked_runs:
        raise UsageError("no run is official: nothing can be ranked")
    return evaluation.only(runs=ranked_runs)


def _warnings(evaluation: Evaluation) -> tuple[Problem, ...]:
    """What is odd about the runs, though all can be scored."""
    source = evaluation.source
    found = odd_things(source) if isinstance(source, GoldRuns) else []
    return tuple(Problem.of(own) for own in found)


def _unranked(
    evaluation: Evaluation,
    runs: Sequence[str],
    slices: Sequence[Slices],
    status: Mapping[str, str],
    info: pl.DataFrame,
) -> list[UnrankedRun]:
    """Late and unofficial runs, counted by the same slices."""
    if not runs:
        return []
    overall = evaluation.overall().table
    sliced = [evaluation.sliced(own).table for own in slices]
    place = {run: i for i, run in enumerate(evaluation.runs)}
    width = len(OUTCOMES)
    return [
        UnrankedRun(
            name=run,
            status=status[run],
            info=dict(zip(info.columns[1:], info.row(place[run])[1:], strict=True)),
            counts=overall[place[run], :width].tolist(),
            slices=[own[place[run], :, :width].T.tolist() for own in sliced],
        )
        for run in runs
    ]


# ------------------------------------- would other questions have ranked the runs the same?


def _stability(
    evaluation: Evaluation, measure: Measure, order: Sequence[int], seed: int
) -> Stability | None:
    """Ranks over resamples, runs in a given order; None for one run or too many responses."""
    codes = evaluation.codes
    runs, questions = codes.shape
    if runs < 2 or codes.size > MOST_CELLS:
        return None
    trials = TRIALS if codes.size <= MANY_CELLS else FEW_TRIALS
    source = of_outcomes(list(evaluation.runs), codes, [measure])
    sign = 1 if measure.higher_is_better else -1
    step = max(1, HELD // max(questions, 3 * runs))
    found = np.empty((trials, runs), np.int64)
    for number, start in enumerate(range(0, trials, step)):
        rows = min(step, trials - start)
        weights = random_multiplicities(stream(seed, 7, number), rows, questions)
        found[start : start + rows] = ranks(sign * source.weighed(weights)[0].T)
    low, high = np.quantile(found, (0.025, 0.975), axis=0, method="inverted_cdf")
    first = (found == 1).mean(axis=0)
    return Stability(
        trials=trials,
        seed=seed,
        low=low[order].tolist(),
        high=high[order].tolist(),
        first=first[order].tolist(),
    )


def ranks(scores: Array) -> IntArray:
    """Rank 1 for the highest of each row; equal scores share the better rank.

    >>> ranks(np.array([[0.2, 0.5, 0.5, np.nan]])).tolist()
    [[3, 1, 1, 4]]
    """
    values = np.round(np.nan_to_num(-scores, nan=np.inf), 12)
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    place = np.arange(values.shape[1])
    begins = np.ones(values.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    shared = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    found = np.empty(values.shape, np.int64)
    np.put_along_axis(found, order, shared + 1, axis=1)
    return found
