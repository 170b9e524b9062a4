"""What is not known of a score: responses that could not be read, and a judge that errs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.compare.delta_method import effective
from abstain.compare.functional import JEFFREYS, cells_of, one_run
from abstain.errors import InputError, Place, UsageError, shown
from abstain.measures import Measure
from abstain.outcomes import CountsArray

if TYPE_CHECKING:
    from abstain.outcomes import Array

MOST_WAYS = 2_000_000
DRAWS = 10_000
WORDS = ("right", "wrong", "blank")
_ALSO = {"correct": "right", "incorrect": "wrong", "unanswered": "blank", "not_attempted": "blank"}


def bounds_of(measure: Measure, counts: Array, unknown: int) -> tuple[float, float]:
    """The worst and the best score over all ways in which unknown responses could have gone.

    `counts` are the six counts of the responses that are known. Each unknown one may be right,
    wrong or any kind of blank.
    """
    spots = (0, 1, 2, 3, 4) if measure.definition.needs_candidates else (0, 1, 4)
    ways = _ways(unknown, len(spots))
    table = np.tile(np.asarray(counts, np.float64), (len(ways), 1))
    for position, column in enumerate(spots):
        table[:, column] += ways[:, position]
    values = measure(CountsArray(table))
    if np.isnan(values).all():
        return math.nan, math.nan
    return float(np.nanmin(values)), float(np.nanmax(values))


def _ways(total: int, parts: int) -> Array:
    """Ways of sharing `total` among parts: all of them, or an even sample that has the corners."""
    step = 1
    while (total // step + 2) ** (parts - 1) > MOST_WAYS:
        step += 1
    marks = np.unique(np.append(np.arange(0, total + 1, step), total))
    grids = np.meshgrid(*([marks] * (parts - 1)), indexing="ij")
    rows = np.stack([g.ravel() for g in grids], axis=-1)
    rows = rows[rows.sum(axis=1) <= total]
    return np.column_stack([rows, total - rows.sum(axis=1)]).astype(np.float64)


# ------------------------------------------------------------------------------ a judge's errors


@dataclass(frozen=True, slots=True)
class Corrected:
    """A score corrected for a judge's errors, with an interval that has the judge's uncertainty."""

    score: float
    low: float
    high: float


def read_confusion(source: Any) -> Array:
    """A judge's confusion table: rows what is true, columns what the judge said, whole numbers.

    A table with a column `true` and one a verdict (right, wrong, blank), or with `true`, `judged`
    and `count`.
    """
    from abstain.questions import collect, into_lazy, open_table

    table = open_table(source, name="the judge's errors")
    frame = collect(into_lazy(table.frame).select(*table.columns), table.name)
    named = {_word(name): name for name in frame.columns}
    if "true" not in named:
        raise InputError(
            f"has no column 'true', which holds the right verdict (its columns: "
            f"{', '.join(frame.columns)})",
            table.name,
        )
    odd = [n for w, n in named.items() if w not in ("true", "judged", "count", *WORDS)]
    if odd:
        raise InputError(
            f"has a column '{odd[0]}', expected true and {', '.join(WORDS)} (what the judge said), "
            "or true, judged and count",
            table.name,
        )
    found = np.zeros((3, 3))
    seen: set[tuple[int, ...]] = set()
    rows = frame.to_dicts()
    if "judged" in named and "count" in named:
        for at, row in enumerate(rows):
            place = table.place(at)
            pair = (_verdict(row[named["true"]], place), _verdict(row[named["judged"]], place))
            _once(pair, seen, place)
            found[pair] = _number(row[named["count"]], place)
    else:
        for at, row in enumerate(rows):
            place = table.place(at)
            true = _verdict(row[named["true"]], place)
            _once((true,), seen, place)
            for said, word in enumerate(WORDS):
                if word in named:
                    found[true, said] = _number(row[named[word]], place)
    if not found.sum():
        raise InputError("has no counts of verdicts (columns right, wrong, blank)", table.name)
    return found


def never_checked(confusion: Array) -> tuple[str, ...]:
    """The verdicts that no checked response should have had."""
    return tuple(word for word, n in zip(WORDS, confusion.sum(axis=1), strict=True) if not n)


def _word(name: Any) -> str:
    word = str(name).strip().lower().replace(" ", "_")
    return _ALSO.get(word, word)


def _once(verdicts: tuple[int, ...], seen: set[tuple[int, ...]], place: Place) -> None:
    if verdicts in seen:
        words = " judged ".join(WORDS[v] for v in verdicts)
        raise InputError(f"truly {words} stands twice, expected one row of each", place)
    seen.add(verdicts)


def _verdict(cell: Any, place: Place) -> int:
    word = _word(cell)
    if word not in WORDS:
        raise InputError(f"{shown(str(cell))} is no verdict; there are {', '.join(WORDS)}", place)
    return WORDS.index(word)


def _number(cell: Any, place: Place) -> float:
    if cell in (None, ""):
        return 0.0
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not (value >= 0 and value.is_integer()):
        raise InputError(
            f"{shown(str(cell))} is no count of responses, expected a whole number", place
        )
    return value


def correct_for_judge(
    measure: Measure,
    cells: Array,
    confusion: Array,
    *,
    clusters: Array | None = None,
    level: float = 0.95,
    seed: int = 0,
    draws: int = DRAWS,
) -> Corrected:
    """The score if the judge had not erred: shares q judged = p true · rates, solved for p.

    A verdict that was never checked has no rates: the judge is taken at its word there. The
    interval draws the rates and the judged shares from their posteriors (Jeffreys); clustered
    questions count by their effective number.
    """
    if measure.definition.needs_candidates:
        raise UsageError(f"{measure} asks for candidates, which a judge's table does not hold")
    rates = _rates(confusion)
    if abs(float(np.linalg.det(rates))) < 1e-6:
        raise UsageError("the judge's table says nothing: its verdicts do not depend on the truth")
    generator = np.random.default_rng([seed, 7])
    score = float(_solved(measure, (cells / cells.sum())[None], rates[None])[0])
    several = clusters if clusters is not None and len(clusters) > 1 else None
    worth = float(effective(one_run(measure), cells, several, level=level)) / cells.sum()
    judged = generator.standard_gamma(cells * worth + JEFFREYS, size=(draws, 3))
    prior = np.where(
        confusion.sum(axis=1, keepdims=True) > 0, confusion + JEFFREYS, np.eye(3) * 1e9
    )
    drawn = generator.standard_gamma(prior, size=(draws, 3, 3))
    values = _solved(
        measure,
        judged / judged.sum(axis=-1, keepdims=True),
        drawn / drawn.sum(axis=-1, keepdims=True),
    )
    values = values[~np.isnan(values)]
    if not len(values):
        return Corrected(score, math.nan, math.nan)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Corrected(score, float(low), float(high))


def _rates(confusion: Array) -> Array:
    sums = confusion.sum(axis=1, keepdims=True)
    return np.where(sums > 0, confusion / np.where(sums > 0, sums, 1), np.eye(3))


def _solved(measure: Measure, judged: Array, rates: Array) -> Array:
    """True shares by inversion, brought back to shares where chance pushed them outside."""
    flat = np.abs(np.linalg.det(rates)) < 1e-9
    safe = np.where(flat[:, None, None], np.eye(3), rates)
    true = np.linalg.solve(np.swapaxes(safe, -1, -2), judged[..., None])[..., 0]
    true = np.maximum(true, 0)
    true /= true.sum(axis=-1, keepdims=True)
    values = np.asarray(measure(cells_of(measure).counts(true)))
    return np.where(flat, np.nan, values)
