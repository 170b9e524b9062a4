"""`campaign`: all the facts of an overview, asked of one evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from msgspec import structs

from abstain.errors import UsageError, check_name, option, some_of
from abstain.features.campaign.blind import answer_rows
from abstain.features.campaign.overview import MOST_CELLS, fourfold_of, taken_out, with_role
from abstain.features.campaign.participants import known_of_runs, private_columns, runs_apart
from abstain.features.campaign.resampling import first_runs, stability
from abstain.features.campaign.result import (
    LUCK,
    NO_ANSWERS,
    YARDSTICKS,
    Breakdown,
    CampaignResult,
    CampaignRow,
    Moved,
    Questions,
    ReferenceRun,
    UnrankedRun,
)
from abstain.features.compare.analysis import compare
from abstain.features.score.analysis import interval_rows, rows_of
from abstain.features.validate.problems import misspelt, odd_things
from abstain.features.validate.result import ValidateResult
from abstain.io.tables import ROW, cells
from abstain.measures import Measure, count_measure
from abstain.outcomes import ANSWERED, COUNTED, EXCLUDED, RIGHT, WRONG, reasons_named
from abstain.reading import Reading
from abstain.report.result import ranked, read_as
from abstain.runs import evaluate
from abstain.runs.evaluation import Evaluation
from abstain.runs.gold import UNANSWERABLE, Slices, slices_of
from abstain.runs.judge import INDEX
from abstain.runs.run_names import (
    LATE,
    OFFICIAL,
    UNOFFICIAL,
    WITHDRAWN,
    read_info,
    repaired,
    runs_of,
    team_spellings,
)
from abstain.runs.season import STATUS, read_season
from abstain.runs.sources import GoldRuns
from abstain.stats.intervals import check_level, check_method

if TYPE_CHECKING:
    from abstain.features.compare.result import CompareResult
    from abstain.features.curve.result import CurveResult
    from abstain.features.score.result import Row
    from abstain.outcomes import Array
    from abstain.stats.intervals import IntervalMethod

MOST_SLICES = 60
"""An attribute with more values than this is an id or a text, not a slice."""

MOST_CURVES = 6
"""Runs whose confidence an overview looks at: the best that state one."""

MOST_COMPARED = 100
"""Beyond this many runs, all pairs take longer than the rest of a campaign."""

OF_CONFIDENCE = ("AUROC", "AURC", "ECE", "Brier")

HIDDEN = (
    *("auxiliary_of", "text", "option_texts", "simplified", "simplification"),
    *("doc_id", "sample", "description"),
)


def campaign_of_files(
    gold: Any,
    runs: Any = None,
    *,
    runs_info: Any = None,
    skip_invalid: bool = False,
    max_runs: int | None = None,
    **options: Any,
) -> CampaignResult:
    """Everything that an overview of runs needs; `campaign(gold, runs).save("overview")`.

    With `skip_invalid` runs that are not valid are left out and listed; `max_runs` is how many a
    team may send. The other arguments are those of `Evaluation.campaign` and of `read`. The folder
    of a season stands for its gold, its runs and what its ledger knows of them.
    """
    names = [name for name in Reading.__struct_fields__ if name in options]
    reading = Reading.of(**{name: options.pop(name) for name in names})
    if runs is None:
        season = read_season(gold)
        gold, runs, reading = season.gold, season.runs(*STATUS), season.reading_with(reading)
        runs_info, skip_invalid, options = season.info(runs_info), True, season.options | options
    evaluation, checked = opened_campaign(gold, runs, reading, runs_info, skip_invalid, max_runs)
    return campaign(evaluation, runs_info=runs_info, checked=checked, **options)


def opened_campaign(
    gold: Any, runs: Any, reading: Reading, runs_info: Any, skip_invalid: bool, max_runs: int | None
) -> tuple[Evaluation, ValidateResult | None]:
    """The runs of a campaign, with what is wrong with those that are left out."""
    if skip_invalid:
        from abstain.features.validate.analysis import valid_runs

        return valid_runs(gold, runs, reading, max_runs=max_runs, runs_info=runs_info)
    if max_runs is not None:
        raise UsageError(f"{option('max_runs')} needs {option('skip_invalid', value=True)}")
    return repaired(evaluate(gold, runs, reading), read_info(runs_info)), None


def campaign(
    evaluation: Evaluation,
    *,
    measure: str | Measure = "c@1",
    by: Sequence[str] | str | None = None,
    topic_by: str = "topic",
    test_by: str = "test",
    pass_mark: float = 0.5,
    runs_info: Any = None,
    references: bool = False,
    interval: IntervalMethod | None = None,
    level: float = 0.95,
    seed: int = 0,
    title: str = "Campaign",
    about: str = "",
    secret: Sequence[str] = (),
    languages: Sequence[str] = (),
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
        references: Whether tables list reference runs (random, oracle, …).
        interval: How the intervals of scores are made.
        level: Their level.
        seed: For the random reference run, and for what is drawn.
        title: What the overview is called.
        about: What its readers should know of it.
        secret: Attributes whose slices a blind phase hides.
        languages: Languages that the campaign offered: they are listed even without a run.
        checked: What is wrong with all runs that were handed in, where some were left out.
        progress: Called with how many pairs of runs are compared, of how many.
    """
    if evaluation.data.kind != "gold":
        raise UsageError(
            "a campaign needs a gold and runs, because it reports on single answers and questions"
        )
    if not 0 <= pass_mark <= 1:
        raise UsageError(f"the pass mark must be from 0 to 1 (got {pass_mark:g})")
    chosen, method = count_measure(measure), check_method(interval or "")
    level = check_level(level)
    questions = with_role(evaluation.questions)
    attributes = _attributes(questions, by, topic_by, test_by)
    for attribute in secret:
        check_name("attribute in the gold", attribute, _texts(questions))
    table = read_info(runs_info)
    evaluation = repaired(evaluation, table)
    notes = table.notes(evaluation.runs) if table.name else [*table.remarks]
    notes += misspelt(evaluation.data.source.gold) if evaluation.data.source.gold else []
    info_of = known_of_runs(evaluation, table)
    if unused := private_columns(table):
        notes.append(f"{table.name}: columns that are kept out of all tables: {some_of(unused)}")
    if checked is not None:
        notes += [note for note in checked.notes if note not in (*notes, *evaluation.notes)]
    else:
        notes += team_spellings(filter(None, (facts.get("team") for facts in info_of.values())))
    listed, everything = table.of("status"), evaluation
    status = {run: listed.get(run, OFFICIAL) for run in evaluation.runs}
    codes = everything.data.codes  # before anything is counted: nothing is read twice
    silent = (codes > WRONG).all(axis=1)
    if (before := _as_asked(everything)) is not None:  # a blank that is right is no answer
        silent |= ~np.isin(before.data.kinds, ANSWERED).any(axis=1)
    for at in np.flatnonzero(silent):
        if status[run := everything.runs[at]] == OFFICIAL:
            status[run] = NO_ANSWERS
    official = [run for run in everything.runs if status[run] == OFFICIAL]
    unranked = [r for r in everything.runs if status[r] in (LATE, UNOFFICIAL, NO_ANSWERS)]
    if not official:
        raise UsageError("no run is official and has an answer: nothing can be ranked")
    if len(official) < len(everything.runs):
        evaluation = everything.only(runs=official)
        codes = evaluation.data.codes
    counted, name = evaluation.data.counted(), str(chosen)
    made = {"level": level, "seed": seed}
    scored = ranked(rows_of(counted, (), [chosen], {}), chosen)
    rows = [*interval_rows(scored, evaluation, (), [chosen], method=method, **made)]
    place = {run: i for i, run in enumerate(evaluation.runs)}
    order = [place[row.run] for row in rows]
    asked = {attribute: slices_of(questions, attribute) for attribute in attributes}
    comparison = _comparison(evaluation, chosen, interval=method, progress=progress, **made)
    grouped = comparison.rows if comparison is not None and comparison.grouped else ()
    groups = {row.run: row.group for row in grouped}
    source = everything.data.source
    corrections = source.gold.corrections if source.gold else ()
    fourfold = fourfold_of(questions, codes, taken_out(corrections))
    counted_apart = _counted_runs(everything, [*asked.values()]) if unranked else {}
    if checked is None:
        odd = odd_things(source) if isinstance(source, GoldRuns) else ()
        checked = ValidateResult(valid=True, questions=0, runs=0, problems=(), warnings=tuple(odd))
    return CampaignResult(
        **read_as(everything, *notes),
        policy=evaluation.policy.to_dict(),
        touched={} if counted.blanks is None else reasons_named(counted.blanks.sum(axis=0)),
        title=title,
        about=about,
        secret=tuple(secret),
        sha256=_hashes(source) if isinstance(source, GoldRuns) else {},
        languages=tuple(languages),
        measure=name,
        pass_mark=pass_mark,
        seed=seed,
        level=level,
        topic_by=topic_by if topic_by in asked else None,
        test_by=test_by if test_by in asked else None,
        rows=tuple(
            CampaignRow(
                **structs.asdict(row) | {"no_interval": {}},
                group=groups.get(row.run, ""),
                info=info_of[row.run],
                pairs=None if fourfold is None else tuple(fourfold[i].tolist()),
            )
            for i, row in zip(order, rows, strict=True)
        ),
        questions=_questions(everything, evaluation, questions),
        breakdowns=tuple(_breakdown(evaluation, slices, order) for slices in asked.values()),
        references=tuple(_references(everything, [*asked.values()], seed, every=references)),
        with_references=references,
        unranked=tuple(
            UnrankedRun(**counted_apart[run], status=status[run], info=info_of[run])
            for run in unranked
        ),
        withdrawn=tuple(run for run in everything.runs if status[run] == WITHDRAWN),
        over_limit=table.over,
        apart=runs_apart(status, info_of, checked),
        corrections=corrections,
        moved=tuple(_moved(before, rows, chosen)),
        first_runs=first_runs(evaluation, questions, info_of, chosen, level),
        problems=checked.problems,
        warnings=checked.warnings,
        skipped=checked.skipped,
        comparison=comparison,
        stability=stability(evaluation, chosen, order, seed),
        curves=_curves(evaluation, order, chosen),
    )


def _as_asked(everything: Evaluation) -> Evaluation | None:
    """The runs with the gold as it was before corrections; None where there are none."""
    source = everything.data.source
    if not isinstance(source, GoldRuns) or source.gold.before is None:
        return None
    asked = GoldRuns(source.gold.before, source.responses, everything.reading)
    return Evaluation(asked, everything.reading)


def _moved(before: Evaluation | None, rows: Sequence[Row], measure: Measure) -> Iterator[Moved]:
    if before is None:
        return
    name = str(measure)
    scored = rows_of(before.data.counted(), (), [measure], {})
    official = {row.run for row in rows}
    was = {row.run: row for row in ranked((r for r in scored if r.run in official), measure)}
    for row in rows:
        old, new = was[row.run].scores[name], row.scores[name]
        ranks = {"rank_before": was[row.run].rank, "rank": row.rank}
        yield Moved(run=row.run, **ranks, score_before=old, score=new)


def _hashes(source: GoldRuns) -> dict[str, str]:
    tables = [(["gold"], source.gold.table)]
    tables += [(runs_of(item), item.table) for item in source.responses]
    hashed = [dict.fromkeys(names, t.opened.sha256()) for names, t in tables if t.opened]
    return {name: sha256 for each in hashed for name, sha256 in each.items()}


def _attributes(
    questions: pl.DataFrame, by: Sequence[str] | str | None, topic: str, test: str
) -> list[str]:
    """The attributes to slice by: those asked for, else all with few enough values."""
    known = _texts(questions)
    chosen = [by] if isinstance(by, str) else by
    usual = ("topic", "test")  # a gold may do without them where nobody asked
    for name in [*(n for n in (topic, test) if n not in usual), *(chosen or ())]:
        check_name("attribute in the gold", name, known)
    if chosen is None:
        sizes = {name: cells(questions, name).drop_nulls().n_unique() for name in known}
        chosen = [n for n in known if n not in HIDDEN and 1 < sizes[n] <= MOST_SLICES]
    structure = [name for name in (topic, test) if name in known]
    return list(dict.fromkeys([*structure, *chosen]))


def _texts(questions: pl.DataFrame) -> list[str]:
    inner = {"question", "accepted", "nothing_right", "options", "option_texts", ROW, UNANSWERABLE}
    return [c for c in questions.columns if c not in inner and questions[c].dtype == pl.String]


def _breakdown(evaluation: Evaluation, slices: Slices, order: Sequence[int]) -> Breakdown:
    table = evaluation.data.sliced(slices).table[order]
    outcomes = dict(zip(COUNTED, _by_outcome(table), strict=True))
    return Breakdown(attribute=slices.attribute, slices=slices.names, **outcomes)


def _comparison(evaluation: Evaluation, measure: Measure, **options: Any) -> CompareResult | None:
    """All pairs of runs, on the questions that count for all; None where that cannot be had."""
    shared = (evaluation.data.codes < EXCLUDED).all(axis=0).any()
    if not (shared and 2 <= len(evaluation.runs) <= MOST_COMPARED):
        return None
    # What the campaign's policy makes of missing responses holds here too.
    return compare(evaluation.with_policy(evaluation.policy), measure, **options)


def _questions(
    everything: Evaluation, evaluation: Evaluation, questions: pl.DataFrame
) -> Questions:
    codes = evaluation.data.codes
    lists = {"options", "option_texts", "accepted", "nothing_right"} & {*questions.columns}
    small = codes.size <= MOST_CELLS
    return Questions(
        attributes={name: questions[name].to_list() for name in ("question", *_texts(questions))},
        right=(codes == RIGHT).sum(axis=0).tolist(),
        wrong=(codes == WRONG).sum(axis=0).tolist(),
        blank=((codes > WRONG) & (codes < EXCLUDED)).sum(axis=0).tolist(),
        choices=_choices(everything, evaluation.runs, questions.height) if small else [],
        **{name: questions[name].to_list() for name in lists},
    )


def _choices(
    evaluation: Evaluation, runs: Sequence[str], questions: int
) -> list[list[tuple[str, int]]]:
    """The answers that some runs gave to each question; blanks and their candidates stay out."""
    if not isinstance(evaluation.data.source, GoldRuns):  # a view of some runs or questions
        return []
    rows = answer_rows(evaluation.data.source).filter(pl.col("run").is_in(list(runs)))
    answers = rows.group_by(INDEX, "answer").len().sort("len", "answer", descending=[True, False])
    choices: list[list[tuple[str, int]]] = [[] for _ in range(questions)]
    for index, answer, count in answers.iter_rows():
        choices[index].append((answer, count))
    return choices


def _references(
    evaluation: Evaluation, slices: Sequence[Slices], seed: int, *, every: bool
) -> Iterator[ReferenceRun]:
    """Reference runs, judged as any run is and counted by the same slices."""
    from abstain.features.baseline.analysis import all_baselines, can_guess, chances

    gold = evaluation.data.source.gold
    assert gold is not None
    if can_guess(gold):
        luck = chances(gold)
        table = np.zeros((len(gold), len(COUNTED)))
        table[:, RIGHT], table[:, WRONG] = luck, 1 - luck
        parts = [_by_outcome(part.sums(table)) for part in slices]
        overall = _by_outcome(table.sum(axis=0))
        yield ReferenceRun(name=LUCK, counts=overall, slices=parts)
    made = [b for b in all_baselines(gold, seed=seed) if every or b.title in YARDSTICKS]
    if not made:
        return
    responses = pl.concat([b.responses.with_columns(run=pl.lit(b.title)) for b in made])
    how = evaluation.reading
    reading = Reading(match=how.match, policy=how.policy, unanswerable=how.unanswerable)
    counted = _counted_runs(evaluate(gold, responses, reading), slices)
    yield from (ReferenceRun(**counted[b.title]) for b in made)


def _counted_runs(evaluation: Evaluation, slices: Sequence[Slices]) -> dict[str, dict[str, Any]]:
    overall = evaluation.data.overall().table
    sliced = [evaluation.data.sliced(part).table for part in slices]
    return {
        run: {
            "name": run,
            "counts": _by_outcome(overall[at]),
            "slices": [_by_outcome(part[at]) for part in sliced],
        }
        for at, run in enumerate(evaluation.runs)
    }


def _by_outcome(table: Array) -> Any:
    """Counts with the outcomes as the first axis."""
    return np.moveaxis(table, -1, 0).tolist()


def _curves(evaluation: Evaluation, order: Sequence[int], measure: Measure) -> CurveResult | None:
    if evaluation.data.codes.size > MOST_CELLS or not evaluation.data.states_confidence:
        return None
    able = np.asarray(~np.isnan(evaluation.data.confidence).all(axis=1))
    chosen = [evaluation.runs[i] for i in order if able[i]][:MOST_CURVES]
    if not chosen:
        return None
    curves = evaluation.only(runs=chosen).curve([*OF_CONFIDENCE, measure])
    return structs.replace(curves, reading=None, subset=None, notes=(), policy={}, touched={})
