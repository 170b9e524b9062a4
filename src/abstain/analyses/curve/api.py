"""`curve` and `tune`: from files or frames to results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from abstain.analyses.curve.curve import curves
from abstain.analyses.curve.decision import check_level
from abstain.analyses.curve.matrix import ConfidenceMatrix, read_judged_matrix, read_matrix
from abstain.analyses.curve.result import DEFAULT_MEASURES, CurveResult, split_measures
from abstain.analyses.tune.choose import SHRINK
from abstain.analyses.tune.split import Split
from abstain.analyses.tune.tuned import TuneResult
from abstain.analyses.tune.tuning import tune_matrix
from abstain.errors import UsageError, option, shown
from abstain.judging.gold import Gold, read_gold
from abstain.judging.judge import NO, YES
from abstain.judging.opening import old_reading
from abstain.measures import Measure, measure


def curve(
    gold: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = (),
    should_abstain: str | None = None,
    bins: int = 10,
    equal_mass: bool = False,
    decision: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    **reading: Any,
) -> CurveResult:
    """Runs over all their thresholds, judged against a gold.

    `measures` are those of confidence to sum up and one of counts to follow along the curve (c@1).
    `reading` is as for `score`: policy, align, match, columns, format.
    """
    extra = (should_abstain,) if should_abstain else ()
    matrix = read_matrix(gold, runs, attributes=extra, **reading)
    return _result(matrix, measures, should_abstain, bins, equal_mass, decision, level, seed)


def curve_judged(
    runs: Any,
    *,
    measures: Sequence[str | Measure] = (),
    should_abstain: str | None = None,
    bins: int = 10,
    equal_mass: bool = False,
    decision: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    **reading: Any,
) -> CurveResult:
    """As `curve`, for rows that carry their own outcome; `reading` is as for `score_judged`."""
    extra = (should_abstain,) if should_abstain else ()
    matrix = read_judged_matrix(runs, attributes=extra, **reading)
    return _result(matrix, measures, should_abstain, bins, equal_mass, decision, level, seed)


def _result(
    matrix: ConfidenceMatrix,
    measures: Sequence[str | Measure],
    should_abstain: str | None,
    bins: int,
    equal_mass: bool,
    decision: str | None,
    level: float,
    seed: int,
) -> CurveResult:
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    if not 1 <= bins <= 10_000:
        raise UsageError(f"{option('bins')} is from 1 to 10,000 (got {bins})")
    check_level(level)
    summed, along = split_measures(measures)
    should, label = matrix.nothing_right, "questions without a right answer"
    if should_abstain is not None:
        should, label = _should_abstain(matrix, should_abstain), should_abstain
    notes = (*matrix.notes, *matrix.missing_notes())
    return CurveResult(
        matrix,
        curves(matrix),
        summed or tuple(measure(name) for name in DEFAULT_MEASURES),
        along or measure("c@1"),
        bins,
        equal_mass,
        decision,
        level,
        seed,
        should,
        label,
        notes,
    )


def _should_abstain(matrix: ConfidenceMatrix, attribute: str) -> Any:
    """Where an attribute says that a question should be left blank: it says yes or no."""
    values = matrix.questions[attribute].cast(pl.String).fill_null("")
    said = values.str.strip_chars().str.to_lowercase()
    strange = values.filter(~said.is_in([*YES, *NO, ""]))
    if len(strange):
        raise UsageError(
            f"{option('should_abstain')} reads yes or no in '{attribute}' (got '{strange[0]}')"
        )
    return said.is_in(YES).to_numpy()


def tune(
    gold: Any,
    runs: Any,
    *,
    maximise: str | Measure | None = None,
    risk: float | None = None,
    delta: float = 0.1,
    next_questions: bool = False,
    split: tuple[str, str] | None = None,
    test_gold: Any = None,
    folds: int | None = None,
    repeats: int = 1,
    per: str | None = None,
    shrink: float = SHRINK,
    run: str | None = None,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    **reading: Any,
) -> TuneResult:
    """The threshold to abstain at, chosen on one part of the questions and judged on another.

    `split` names an attribute and the value to tune on; `test_gold` holds other questions to
    judge on, answered in the same runs; otherwise it is cross-fitted over `folds` (5). With `risk`
    the share of wrong answers is bounded: in the long run, or, with `next_questions`, as it will
    be seen on as many questions as a part judges.
    """
    _one_split(split, test_gold, folds, repeats)
    needed = tuple(name for name in (per, split[0] if split else None) if name)
    standard: Any = gold
    parting = Split(folds=folds or 5, repeats=repeats)
    if split:
        parting = Split(attribute=split[0], value=split[1])
    if test_gold is not None:
        standard, tune_on = _both(gold, test_gold, columns)
        label = os.fspath(test_gold) if isinstance(test_gold, (str, os.PathLike)) else "test gold"
        parting = Split(tune_on=tune_on, label=label)
    matrix = read_matrix(standard, runs, attributes=needed, columns=columns, **reading)
    return tune_matrix(
        matrix if run is None else matrix.only(run),
        maximise=maximise,
        risk=risk,
        delta=delta,
        next_questions=next_questions,
        split=parting,
        per=per,
        shrink=shrink,
        seed=seed,
    )


def tune_judged(
    runs: Any,
    *,
    maximise: str | Measure | None = None,
    risk: float | None = None,
    delta: float = 0.1,
    next_questions: bool = False,
    split: tuple[str, str] | None = None,
    folds: int | None = None,
    repeats: int = 1,
    per: str | None = None,
    shrink: float = SHRINK,
    run: str | None = None,
    seed: int = 0,
    **reading: Any,
) -> TuneResult:
    """As `tune`, for rows that carry their own outcome."""
    _one_split(split, None, folds, repeats)
    needed = tuple(dict.fromkeys(n for n in (per, split[0] if split else None) if n))
    matrix = read_judged_matrix(runs, attributes=needed, **reading)
    parting = Split(folds=folds or 5, repeats=repeats)
    if split:
        parting = Split(attribute=split[0], value=split[1])
    return tune_matrix(
        matrix if run is None else matrix.only(run),
        maximise=maximise,
        risk=risk,
        delta=delta,
        next_questions=next_questions,
        split=parting,
        per=per,
        shrink=shrink,
        seed=seed,
    )


def _one_split(split: Any, test_gold: Any, folds: int | None, repeats: int) -> None:
    given = [
        option(name)
        for name, value in (("tune_on", split), ("test_gold", test_gold), ("folds", folds))
        if value is not None
    ]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other")
    if repeats > 1 and given and folds is None:
        raise UsageError(
            f"{given[0]} parts the questions one way: {option('repeats')} goes with "
            f"{option('folds')}"
        )
    if repeats < 1:
        raise UsageError(f"{option('repeats')} is 1 or more (got {repeats})")
    if folds is not None and folds < 2:
        raise UsageError(
            "tuned and judged on the same questions a threshold flatters itself: "
            f"{option('folds')} is 2 or more (got {folds})"
        )


def _both(
    gold: Any, test_gold: Any, columns: Mapping[str, str] | None
) -> tuple[Gold, np.ndarray[Any, Any]]:
    """Two golds as one, and which of its questions are of the first."""
    first, second = (read_gold(g, old_reading(columns)) for g in (gold, test_gold))
    common = set(first.frame["question"]) & set(second.frame["question"])
    if common:
        raise UsageError(
            f"question {shown(min(common))} is in both golds: what is tuned on cannot be judged on"
        )
    frame = pl.concat([first.frame, second.frame], how="diagonal_relaxed")
    attributes = tuple(dict.fromkeys([*first.attributes, *second.attributes]))
    both = replace(first, frame=frame, attributes=attributes)
    return both, np.arange(len(both)) < len(first)
