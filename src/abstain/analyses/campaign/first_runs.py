"""A team's run 01 against the best of its other runs, paired by question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.analyses.campaign.overview import ROLE
from abstain.analyses.campaign.result import FirstRun
from abstain.analyses.result import number
from abstain.judging.slices import Slices
from abstain.outcomes import EXCLUDED

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation
    from abstain.measures import Measure

MOST_TEAMS = 500
RESAMPLES = 1_000
"""Of the questions, both runs of a pair on the same ones."""
HELD = 1 << 23
"""Numbers that a block of resamples may hold."""


def first_runs(
    evaluation: Evaluation,
    questions: pl.DataFrame,
    info: pl.DataFrame,
    measure: Measure,
    level: float,
    seed: int = 0,
) -> tuple[FirstRun, ...]:
    """Every team that has a run 01 and others, by name; on main questions where some are.

    The interval is that of a bootstrap of the questions, the same for both runs.
    """
    pairs = _pairs(evaluation, questions, info, measure)
    if not pairs:
        return ()
    inside = _main(questions)
    scores = measure(evaluation.sliced(_only(inside)))[:, 0]
    codes = evaluation.codes[:, np.flatnonzero(inside)]
    low, high = _spans(codes, pairs, measure, level, seed)
    return tuple(
        FirstRun(
            team=team,
            first=evaluation.runs[a],
            first_score=number(scores[a]),
            other=evaluation.runs[b],
            other_score=number(scores[b]),
            difference=number(scores[a] - scores[b]),
            low=number(low[at]),
            high=number(high[at]),
        )
        for at, (team, a, b) in enumerate(pairs)
    )


def _main(questions: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if ROLE not in questions.columns:
        return np.ones(questions.height, bool)
    return (questions[ROLE].fill_null("") == "main").to_numpy()


def _only(inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Slices:
    return Slices("", [""], np.where(inside, 0, -1).astype(np.int64))


def _pairs(
    evaluation: Evaluation, questions: pl.DataFrame, info: pl.DataFrame, measure: Measure
) -> list[tuple[str, int, int]]:
    """Each team with the places of its run 01 and of its best other run."""
    if not {"team", "number"} <= {*info.columns}:
        return []
    place = {run: at for at, run in enumerate(evaluation.runs)}
    scores = measure(evaluation.sliced(_only(_main(questions))))[:, 0]
    better = scores if measure.higher_is_better else -scores
    known = info.filter(pl.col("team").is_not_null(), pl.col("number").is_not_null())
    found = []
    for (team,), own in known.group_by(["team"], maintain_order=True):
        numbers = own["number"].str.strip_chars_start("0")
        first = own.filter(numbers == "1")["run"].to_list()
        others = [place[run] for run in own.filter(numbers != "1")["run"]]
        others = [at for at in others if not np.isnan(better[at])]
        if len(first) == 1 and others:
            best = max(others, key=lambda at: (better[at], -at))
            found.append((str(team), place[first[0]], best))
    return sorted(found)[:MOST_TEAMS]


def _spans(
    codes: np.ndarray[tuple[int, int], np.dtype[np.uint8]],
    pairs: list[tuple[str, int, int]],
    measure: Measure,
    level: float,
    seed: int,
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    """The ends of each difference's interval over resamples of the questions."""
    from abstain.stats.resampling.cells import of_outcomes
    from abstain.stats.resampling.sources import random_multiplicities, stream

    chosen = sorted({at for _, *two in pairs for at in two})
    spot = {at: i for i, at in enumerate(chosen)}
    picked = codes[chosen]
    kept = (picked < EXCLUDED).all(axis=0)
    if not kept.any():
        nothing = np.full(len(pairs), np.nan)
        return nothing, nothing
    picked = picked[:, kept]
    source = of_outcomes([str(at) for at in chosen], picked, [measure])
    step = max(1, HELD // max(picked.shape[1], 3 * len(chosen)))
    scores = np.empty((len(chosen), RESAMPLES))
    for at, start in enumerate(range(0, RESAMPLES, step)):
        rows = min(step, RESAMPLES - start)
        weights = random_multiplicities(stream(seed, 11, at), rows, picked.shape[1])
        scores[:, start : start + rows] = source.weighed(weights)[0]
    first = [spot[a] for _, a, _ in pairs]
    other = [spot[b] for _, _, b in pairs]
    tail = (1 - level) / 2
    low, high = np.nanquantile(scores[first] - scores[other], (tail, 1 - tail), axis=1)
    return low, high
