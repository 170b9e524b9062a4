"""Would other questions have led to the same ranks, and a team's run 01 the same lead?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.features.campaign.overview import MOST_CELLS, ROLE
from abstain.features.campaign.result import FirstRun, Stability
from abstain.outcomes import EXCLUDED
from abstain.report.result import number
from abstain.runs.gold import Slices
from abstain.stats.resampling.samplers import of_outcomes, random_multiplicities, stream

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.measures import Measure
    from abstain.measures.definition import Array, IntArray
    from abstain.runs.evaluation import Evaluation

MANY_CELLS = 1_000_000
RESAMPLES, FEW_RESAMPLES = 1_000, 200
RANK_BLOCK, PAIR_BLOCK = 1 << 22, 1 << 23
"""Numbers that a block of resamples may hold."""


def stability(
    evaluation: Evaluation, measure: Measure, order: Sequence[int], seed: int
) -> Stability | None:
    """Ranks over resamples, runs in this order; None for one run or too many responses."""
    codes = evaluation.data.codes
    if len(codes) < 2 or codes.size > MOST_CELLS:
        return None
    resamples = RESAMPLES if codes.size <= MANY_CELLS else FEW_RESAMPLES
    sign = 1 if measure.higher_is_better else -1
    scores = _resampled(codes, measure, resamples, RANK_BLOCK, (seed, 7))
    drawn = ranks(sign * scores.T)
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0, method="inverted_cdf")
    first = (drawn == 1).mean(axis=0)
    return Stability(
        trials=resamples,
        seed=seed,
        low=low[order].astype(int).tolist(),
        high=high[order].astype(int).tolist(),
        first=first[order].tolist(),
    )


def _resampled(
    codes: npt.NDArray[np.uint8],
    measure: Measure,
    resamples: int,
    block: int,
    seed: tuple[int, int],
) -> Array:
    """Scores, runs × resamples of the questions, made in blocks; all runs on the same questions."""
    runs, questions = codes.shape
    source = of_outcomes([str(run) for run in range(runs)], codes, [measure])
    step = max(1, block // max(questions, 3 * runs))
    blocks = []
    for at, start in enumerate(range(0, resamples, step)):
        rows = min(step, resamples - start)
        weights = random_multiplicities(stream(*seed, at), rows, questions)
        blocks.append(source.weighed(weights)[0])
    return np.concatenate(blocks, axis=1)


def ranks(scores: Array) -> IntArray:
    """Rank 1 for the highest of each row; equal scores share the better rank.

    >>> ranks(np.array([[0.2, 0.5, 0.5, np.nan]])).tolist()
    [[3, 1, 1, 4]]
    """
    from scipy.stats import rankdata

    values = np.round(np.nan_to_num(-scores, nan=np.inf), 12)
    return np.asarray(rankdata(values, method="min", axis=1), np.int64)


def first_runs(
    evaluation: Evaluation,
    questions: pl.DataFrame,
    info: Mapping[str, Mapping[str, str | None]],
    measure: Measure,
    level: float,
) -> tuple[FirstRun, ...]:
    """Every team with a run 01 and others, on main questions if any; with bootstrap intervals."""
    main = np.ones(questions.height, bool)
    if ROLE in questions.columns:
        main = (questions[ROLE].fill_null("") == "main").to_numpy()
    counts = evaluation.data.sliced(Slices("", [""], np.where(main, 0, -1).astype(np.int64)))
    scores = measure(counts)[:, 0]
    better = scores if measure.higher_is_better else -scores
    pairs = _pairs(evaluation.runs, info, better)
    if not pairs:
        return ()
    _, first, other = zip(*pairs, strict=True)
    codes = evaluation.data.codes[:, main]
    codes = codes[:, (codes[[*first, *other]] < EXCLUDED).all(axis=0)]
    low = high = np.full(len(pairs), np.nan)
    if codes.size:
        chosen, spots = np.unique([*first, *other], return_inverse=True)
        drawn = _resampled(codes[chosen], measure, RESAMPLES, PAIR_BLOCK, (0, 11))
        differences = drawn[spots[: len(pairs)]] - drawn[spots[len(pairs) :]]
        low, high = np.nanquantile(differences, ((1 - level) / 2, (1 + level) / 2), axis=1)
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


def _pairs(
    runs: Sequence[str], info: Mapping[str, Mapping[str, str | None]], better: Array
) -> list[tuple[str, int, int]]:
    facts = {name: [info[run].get(name) for run in runs] for name in ("team", "number")}
    frame = pl.DataFrame(facts, schema=dict.fromkeys(facts, pl.String)).with_row_index("at")
    frame = frame.with_columns(better=better).drop_nulls()
    is_first = pl.col("number").str.strip_chars_start("0") == "1"
    first = frame.filter(is_first & (is_first.sum().over("team") == 1))
    others = frame.filter(~is_first & pl.col("better").is_not_nan())
    best = others.sort("better", "at", descending=[True, False]).unique("team", keep="first")
    return first.join(best, on="team").sort("team").select("team", "at", "at_right").rows()
