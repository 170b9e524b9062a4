"""What is not known of a score: responses that could not be read, and a judge that errs."""

import math
import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from abstain.errors import InputError, Place, UsageError, check_name, option, shown
from abstain.measures import Measure
from abstain.measures.definition import Array
from abstain.outcomes import VERDICTS, CountsArray
from abstain.stats.delta_method import JEFFREYS, cells_of, difference, effective, one_run
from abstain.stats.intervals import Interval

JudgeDrawn: TypeAlias = Literal["random", "truth", "verdict"]
"""How a judge's checked responses were drawn: at random, or a fixed number of each true outcome
or of each verdict."""
MOST_WAYS = 1_000_000
CLOSE = 1e-12
DRAWS = 10_000
NO_ERROR = 0.02
"""Of a verdict: the prior of a judge whose unseen errors are hardly possible."""
_ALSO = {"correct": "right", "incorrect": "wrong", "unanswered": "blank", "not_attempted": "blank"}


def bounds_of(measure: Measure, counts: Array, unknown: int) -> tuple[float, float]:
    """The worst and best score if unknown responses may be anything; `counts` are of the known."""
    spots = cells_of(measure).columns
    ways, step = ways_of_sharing(unknown, len(spots))

    def scores(some: Array) -> Array:
        table = np.tile(np.asarray(counts, np.float64), (len(some), 1))
        table[:, spots] += some
        return np.asarray(measure(CountsArray(table)))

    if np.isnan(scores(ways)).all():
        return math.nan, math.nan
    return lowest_score(scores, ways, step), -lowest_score(lambda some: -scores(some), ways, step)


def lowest_score(scores: Callable[[Array], Array], ways: Array, step: int) -> float:
    """The lowest score of all ways, and of those reached by moving responses between kinds."""
    parts = ways.shape[1]
    moves = (np.eye(parts)[:, None] - np.eye(parts)).reshape(-1, parts)
    values = scores(ways)
    way, best = ways[int(np.nanargmin(values))], float(np.nanmin(values))
    while step > 0:
        near = way + step * moves
        near = near[(near >= 0).all(axis=1)]
        values = np.nan_to_num(scores(near), nan=math.inf)
        at = int(values.argmin())
        if values[at] < best - CLOSE:
            way, best = near[at], float(values[at])
        else:
            step //= 2
    return best


def ways_of_sharing(total: int, parts: int) -> tuple[Array, int]:
    """Ways of sharing `total` among parts, all or every step-th with the corners; and the step."""
    step = 1
    while math.comb(total // step + parts, parts - 1) > MOST_WAYS:
        step += 1
    marks = np.unique(np.append(np.arange(0, total + 1, step), total))
    rows = np.zeros((1, 0), np.int64)
    for _ in range(parts - 1):
        rows = np.column_stack([np.repeat(rows, len(marks), axis=0), np.tile(marks, len(rows))])
        rows = rows[rows.sum(axis=1) <= total]
    return np.column_stack([rows, total - rows.sum(axis=1)]).astype(np.float64), step


def read_confusion(source: Any) -> Array:
    """A judge's confusion table: rows what is true, columns the judge's verdict, whole numbers.

    A table with a column `true` and one a verdict (right, wrong, blank), or with `true`, `judged`
    and `count`.
    """
    from abstain.io.frames import collect, into_lazy, open_table
    from abstain.io.tables import exact

    table = open_table(source, name="the judge's errors")
    frame = collect(into_lazy(table.frame).select(*map(exact, table.columns)), table.name)
    heads = [_word(name) for name in frame.columns]
    if "true" not in heads:
        raise InputError("has no column 'true', which holds the right verdict", table.name)
    confusion = np.full((3, 3), np.nan)
    for at, cells in enumerate(frame.rows()):
        place, row = table.place(at), dict(zip(heads, cells, strict=True))
        true, counts = _verdict(row["true"], place), zip(heads, cells, strict=True)
        if {"judged", "count"} <= row.keys():
            counts = zip([row["judged"]], [row["count"]], strict=True)
        for judged, cell in counts:
            if judged == "true":
                continue
            here = true, _verdict(judged, place)
            if not np.isnan(confusion[here]):
                raise InputError(f"{shown(str(judged))} appears twice, expected once", place)
            text = str(cell or 0).strip()
            if not re.fullmatch(r"\d{1,15}(\.0*)?", text):
                raise InputError(f"{shown(text)} is not a count, expected a whole number", place)
            confusion[here] = float(text)
    if not np.nansum(confusion):
        raise InputError("has no counts of verdicts (columns right, wrong, blank)", table.name)
    return np.asarray(np.nan_to_num(confusion))


def never_checked(confusion: Array, drawn: JudgeDrawn = "random") -> tuple[str, ...]:
    """The verdicts that no checked response should have had, or had where they were drawn by it."""
    sums = confusion.sum(axis=0 if drawn == "verdict" else 1)
    return tuple(word for word, n in zip(VERDICTS, sums, strict=True) if not n)


def check_drawn(drawn: str | None, confusion: Array) -> JudgeDrawn:
    if drawn is not None:
        check_name("kind of sample", drawn, get_args(JudgeDrawn))
        return cast("JudgeDrawn", drawn)
    totals = [sums[sums > 0] for sums in (confusion.sum(axis=0), confusion.sum(axis=1))]
    by_verdict, by_truth = (len(sums) > 1 and bool(np.ptp(sums) == 0) for sums in totals)
    if by_verdict:
        raise UsageError(
            f"the judge's table has {totals[0][0]:.0f} responses of each verdict, as no random "
            f"sample has: say how it was drawn, {option('judge_drawn', 'verdict')}, truth or random"
        )
    return "truth" if by_truth else "random"


def _word(name: Any) -> str:
    word = str(name).strip().lower().replace(" ", "_")
    return _ALSO.get(word, word)


def _verdict(cell: Any, place: Place) -> int:
    word = _word(cell)
    if word not in VERDICTS:
        known = ", ".join(VERDICTS)
        raise InputError(f"{shown(str(cell))} is not a verdict; there are {known}", place)
    return VERDICTS.index(word)


def correct_for_judge(
    measure: Measure,
    cells: Array,
    confusion: Array,
    *,
    drawn: JudgeDrawn = "random",
    clusters: Array | None = None,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> tuple[float, Interval]:
    """The score if the judge had not erred: shares q judged = p true · rates, solved for p.

    Of joint cells (rows the other run) it is the difference of both scores. Where checked responses
    were drawn by the judge's verdict, p = q · P(true | judged). A verdict that was never checked
    has no rates: there the judge is taken as right. The interval draws rates and judged shares from
    their posteriors, with the effective number of clustered questions, and holds the values under
    two priors: ½ of each verdict explains away a rare outcome, next to none takes errors never seen
    for impossible.
    """
    if measure.definition.needs_candidates:
        raise UsageError(f"{measure} asks for candidates, which a judge's table does not hold")
    table = confusion.T if drawn == "verdict" else confusion
    rates, checked = judge_rates(table), table.sum(axis=1, keepdims=True) > 0
    if drawn != "verdict" and abs(float(np.linalg.det(rates))) < 1e-6:
        raise UsageError("the judge's table is useless: its verdicts do not depend on the truth")
    f = one_run(measure) if len(cells) == len(VERDICTS) else difference(measure)
    score = float(_corrected(measure, (cells / cells.sum())[None], rates[None], drawn)[0])
    generator = np.random.default_rng([seed, 7])
    several = clusters if clusters is not None and len(clusters) > 1 else None
    worth = float(effective(f, cells, several, level=level)) / cells.sum()
    judged = generator.standard_gamma(cells * worth + f.prior, size=(draws, len(cells)))
    judged /= judged.sum(axis=-1, keepdims=True)
    ends = []
    for prior in (JEFFREYS, NO_ERROR):
        shape = np.where(checked, table + prior, np.eye(3) * 1e9)
        rates = generator.standard_gamma(shape, size=(draws, 3, 3))
        rates /= rates.sum(axis=-1, keepdims=True)
        values = _corrected(measure, judged, rates, drawn)
        if not np.isnan(values).all():
            ends += np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    if not ends:
        return score, Interval.none("jeffreys", "the score is undefined in every random draw")
    return score, Interval(min(ends), max(ends), "jeffreys")


def _corrected(measure: Measure, judged: Array, rates: Array, drawn: JudgeDrawn) -> Array:
    """The scores of judged shares, or differences of scores of joint ones, without the errors."""
    if judged.shape[-1] > len(VERDICTS):
        table = judged.reshape(-1, len(VERDICTS), len(VERDICTS))
        run, other = (_corrected(measure, table.sum(axis=n), rates, drawn) for n in (-2, -1))
        return np.asarray(run - other)
    mixed = (judged[..., None, :] @ rates)[..., 0, :]  # the truth behind each verdict
    true = mixed if drawn == "verdict" else _solved(np.broadcast_to(judged, mixed.shape), rates)
    values = np.asarray(measure(cells_of(measure).counts(true)))
    return np.where(np.isnan(true[:, 0]), np.nan, values)


def judge_rates(confusion: Array) -> Array:
    sums = confusion.sum(axis=1, keepdims=True)
    return np.where(sums > 0, confusion / np.where(sums > 0, sums, 1), np.eye(3))


def _solved(judged: Array, rates: Array) -> Array:
    flat = np.abs(np.linalg.det(rates)) < 1e-9
    safe = np.where(flat[:, None, None], np.eye(3), rates)
    true = np.linalg.solve(np.swapaxes(safe, -1, -2), judged[..., None])[..., 0]
    true = np.maximum(true, 0)
    return np.where(flat[:, None], np.nan, true / true.sum(axis=-1, keepdims=True))
