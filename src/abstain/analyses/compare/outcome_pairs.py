"""Pairs of runs by their outcomes: intervals of the differences, tests, one reference for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.options import Options
from abstain.analyses.compare.pairs import bootstrap_p
from abstain.analyses.compare.table import OutcomeTable
from abstain.errors import UsageError, option
from abstain.measures import Measure
from abstain.stats.bootstrap import resampled
from abstain.stats.delta_method import delta, logit, standard_error
from abstain.stats.functional import difference
from abstain.stats.hypotheses import mcnemar
from abstain.stats.intervals import DEFAULT, OF_ONE_PROPORTION, Interval, cell_interval
from abstain.stats.randomisation import PValue, randomise
from abstain.stats.studentised import CLOSE as CLOSE_STUDENTISED
from abstain.stats.studentised import (
    after_swaps,
    of_clusters,
    statistic,
    swapped_tables,
)
from abstain.stats.swaps import (
    Flips,
    cluster_statistics,
    common_swaps,
    max_t,
    randomise_clusters,
)

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

BLOCK = 1 << 21
NO_SPREAD = 1e-9
"""Standard errors below this are what numerical derivatives leave of none."""
MOST_DRAWN = 50_000_000
"""Differences held at once, in trials times runs."""


def difference_intervals(
    table: OutcomeTable, wanted: Sequence[tuple[int, int]], joint: IntArray, options: Options
) -> tuple[list[Interval], Array]:
    """An interval and a standard error for each pair's difference, many pairs at a time."""
    f = difference(table.measure)
    flat = joint.reshape(len(joint), -1).astype(np.float64)
    spans: list[Interval] = []
    errors: list[float] = []
    at_once = max(1, BLOCK // (f.size * max(table.groups, f.size)))
    for start in range(0, len(wanted), at_once):
        some = wanted[start : start + at_once]
        cells = flat[start : start + at_once]
        groups = table.joints(some)
        enough = table.size > 1 and (groups is None or table.groups > 1)
        error = standard_error(f, cells, groups) if enough else np.full(len(some), np.nan)
        errors += [0.0 if e < NO_SPREAD else float(e) for e in error]
        if enough and options.method in ("logit", "delta"):
            make = logit if options.method == "logit" else delta
            low, high = make(f, cells, groups, level=options.level)
            spans += [
                Interval(float(a), float(b), options.method) for a, b in zip(low, high, strict=True)
            ]
            continue
        method = DEFAULT if options.method in OF_ONE_PROPORTION else options.method
        spans += [
            cell_interval(
                f,
                cells[k],
                clusters=None if groups is None else groups[k],
                method=method,
                level=options.level,
                trials=options.trials,
                seed=options.seed,
            )
            for k in range(len(some))
        ]
    return spans, np.array(errors)


def errors_to_plan_with(measure: Measure, joint: IntArray, errors: Array) -> Array:
    """Standard errors as the test sees them: of a ratio, not below those with pseudo-counts."""
    if not measure.definition.studentised:
        return errors
    f = difference(measure)
    cells = joint.reshape(len(joint), -1).astype(np.float64) + f.prior
    padded = standard_error(f, cells, None)
    return np.asarray(np.where(errors > 0, np.maximum(errors, padded), errors))


def tested_pairs(
    table: OutcomeTable,
    wanted: Sequence[tuple[int, int]],
    joint: IntArray,
    options: Options,
) -> list[PValue]:
    """The p of each pair by the test that is asked for."""
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done += more
        options.progress(done, len(wanted))

    if options.test == "mcnemar":
        step(len(wanted))
        only_own, only_other = joint[:, 1:, 0].sum(axis=1), joint[:, 0, 1:].sum(axis=1)
        return [
            PValue(mcnemar(int(a), int(b)), exact=True)
            for a, b in zip(only_own, only_other, strict=True)
        ]
    if options.test == "bootstrap":
        return _bootstrapped(table, wanted, joint, options, step)
    if table.of is None:
        return randomise(
            table.measure, joint, trials=options.trials, seed=options.seed, progress=step
        )
    flips = Flips(table.groups, trials=options.trials, seed=options.seed)
    tables = np.stack([table.by_unit(run) for run in range(len(table.scores))])
    return randomise_clusters(table.measure, tables, wanted, flips, step)


def _bootstrapped(
    table: OutcomeTable,
    wanted: Sequence[tuple[int, int]],
    joint: IntArray,
    options: Options,
    step: Callable[[int], None],
) -> list[PValue]:
    f = difference(table.measure)
    found = []
    for k, (i, j) in enumerate(wanted):
        values = resampled(
            f.value,
            joint[k].ravel().astype(np.float64),
            table.clustered_joint(i, j),
            trials=options.trials,
            generator=np.random.default_rng(options.seed),
        )
        found.append(PValue(bootstrap_p(values), exact=False))
        step(1)
    return found


def against_one(
    table: OutcomeTable, wanted: Sequence[tuple[int, int]], differences: Array, options: Options
) -> Array:
    """p of each run against the one named, adjusted by max-T."""
    if options.trials * len(wanted) > MOST_DRAWN:
        most = MOST_DRAWN // len(wanted)
        raise UsageError(
            f"{options.trials:,} trials of {len(wanted):,} runs against one are too many to hold; "
            f"take {option('trials', most)} or fewer"
        )
    rows = table.groups if table.of is not None else table.size
    flips = Flips(rows, trials=options.trials, seed=options.seed)
    if table.measure.definition.studentised:
        drawn, seen = _studentised(table, wanted, flips)
        return max_t(drawn, seen, exact=flips.exact, close=CLOSE_STUDENTISED)
    other = table.by_unit(wanted[0][1])
    at_once = max(1, 8 * BLOCK // (max(flips.trials, rows) * len(table.cells)))
    parts = [
        common_swaps(
            table.measure,
            [table.by_unit(i) for i, _ in wanted[start : start + at_once]],
            other,
            flips,
        )
        for start in range(0, len(wanted), at_once)
    ]
    return max_t(np.concatenate(parts, axis=1), differences, exact=flips.exact)


def _studentised(
    table: OutcomeTable, wanted: Sequence[tuple[int, int]], flips: Flips
) -> tuple[Array, Array]:
    """Differences over their standard errors (trials, runs) by common swaps, and those seen."""
    drawn = np.empty((flips.trials, len(wanted)))
    seen = np.empty(len(wanted))
    if table.of is not None:
        straight = np.ones((1, flips.groups))
        other = table.by_unit(wanted[0][1])
        for number, (i, _) in enumerate(wanted):
            own = table.by_unit(i)
            drawn[:, number] = cluster_statistics(table.measure, own, other, flips)
            seen[number] = of_clusters(table.measure, own, other, straight)[0]
        return drawn, seen
    at_once = max(1, BLOCK // max(flips.trials, table.size))
    for start in range(0, len(wanted), at_once):
        some = [
            swapped_tables(table.cells_of(i), table.cells_of(j), len(table.cells))
            for i, j in wanted[start : start + at_once]
        ]
        moved = np.split(flips @ np.concatenate([k for k, _, _ in some], axis=1), len(some), axis=1)
        for number, ((_, joint, pairs), own) in enumerate(zip(some, moved, strict=True), start):
            drawn[:, number] = statistic(table.measure, after_swaps(joint, pairs, own))
            seen[number] = statistic(table.measure, joint)
    return drawn, seen
