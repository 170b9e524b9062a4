"""What is not known of a score: responses that could not be read, and a judge that errs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import numpy as np

from abstain.errors import InputError, Place, UnknownNameError, UsageError, option, shown
from abstain.measures import Measure
from abstain.outcomes import CountsArray
from abstain.stats.functional import JEFFREYS, cells_of, effective, one_run
from abstain.stats.intervals import Interval

if TYPE_CHECKING:
    from abstain.outcomes import Array

JudgeDrawn: TypeAlias = Literal["random", "truth", "verdict"]
"""How a judge's checked responses were drawn: at random, or a fixed number of each true outcome
or of each verdict."""
MOST_WAYS = 1_000_000
CLOSE = 1e-12
DRAWS = 10_000
NO_ERROR = 0.02
"""Of a verdict: the prior of a judge whose unseen errors are hardly possible."""
WORDS = ("right", "wrong", "blank")
_ALSO = {"correct": "right", "incorrect": "wrong", "unanswered": "blank", "not_attempted": "blank"}


def bounds_of(measure: Measure, counts: Array, unknown: int) -> tuple[float, float]:
    """The worst and the best score over all ways in which unknown responses could have gone.

    `counts` are the six counts of the responses that are known. Each unknown one may be right,
    wrong or any kind of blank.
    """
    spots = _spots(measure)
    known = np.asarray(counts, np.float64)
    ways, step = _ways(unknown, len(spots))

    def scores(some: Array) -> Array:
        table = np.tile(known, (len(some), 1))
        table[:, list(spots)] += some
        return np.asarray(measure(CountsArray(table)))

    values = scores(ways)
    if np.isnan(values).all():
        return math.nan, math.nan
    lowest, highest = ways[int(np.nanargmin(values))], ways[int(np.nanargmax(values))]
    return (
        _lowered(scores, lowest, step),
        -_lowered(lambda some: -scores(some), highest, step),
    )


def _spots(measure: Measure) -> tuple[int, ...]:
    return (0, 1, 2, 3, 4) if measure.definition.needs_candidates else (0, 1, 4)


def all_ways(measure: Measure, unknown: int) -> bool:
    """Whether `bounds_of` looks at every way, or at an even sample of them and what lies near."""
    return _step(unknown, len(_spots(measure))) == 1


def _lowered(scores: Callable[[Array], Array], way: Array, step: int) -> float:
    """The lowest score that is reached from a way by moving responses from one kind to another."""
    moves = np.eye(len(way))[:, None] - np.eye(len(way))
    moves = moves.reshape(-1, len(way))
    best = float(scores(way[None])[0])
    while step > 0:
        near = way + step * moves
        near = near[(near >= 0).all(axis=1)]
        values = scores(near)
        at = int(np.nanargmin(values)) if not np.isnan(values).all() else 0
        if values[at] < best - CLOSE:
            way, best = near[at], float(values[at])
        else:
            step //= 2
    return best


def _step(total: int, parts: int) -> int:
    step = 1
    while math.comb(total // step + parts, parts - 1) > MOST_WAYS:
        step += 1
    return step


def _ways(total: int, parts: int) -> tuple[Array, int]:
    """Ways of sharing `total` among parts, all or every step-th with the corners; and the step."""
    step = _step(total, parts)
    marks = np.unique(np.append(np.arange(0, total + 1, step), total))
    rows = np.zeros((1, 0), np.int64)
    for _ in range(parts - 1):
        rows = np.column_stack([np.repeat(rows, len(marks), axis=0), np.tile(marks, len(rows))])
        rows = rows[rows.sum(axis=1) <= total]
    return np.column_stack([rows, total - rows.sum(axis=1)]).astype(np.float64), step


# ------------------------------------------------------------------------------ a judge's errors


def read_confusion(source: Any) -> Array:
    """A judge's confusion table: rows what is true, columns what the judge said, whole numbers.

    A table with a column `true` and one a verdict (right, wrong, blank), or with `true`, `judged`
    and `count`.
    """
    from abstain.io.frames import collect, into_lazy, open_table
    from abstain.io.names import exact

    table = open_table(source, name="the judge's errors")
    frame = collect(into_lazy(table.frame).select(*map(exact, table.columns)), table.name)
    named: dict[str, str] = {}
    for name in frame.columns:
        if (word := _word(name)) in named:
            both = f"columns '{named[word]}' and '{name}'"
            raise InputError(f"has the {both}, which are the same verdict", table.name)
        named[word] = name
    if "true" not in named:
        raise InputError(
            f"has no column 'true', which holds the right verdict (its columns: "
            f"{', '.join(frame.columns)})",
            table.name,
        )
    odd = [n for w, n in named.items() if w not in ("true", "judged", "count", *WORDS)]
    if odd:
        raise InputError(
            f"has an unknown column '{odd[0]}', expected the columns true and {', '.join(WORDS)} "
            "(what the judge said), or true, judged and count",
            table.name,
        )
    found = np.zeros((3, 3))
    seen: set[tuple[int, ...]] = set()
    by_pair = "judged" in named and "count" in named
    for at, row in enumerate(frame.to_dicts()):
        place = table.place(at)
        true = _verdict(row[named["true"]], place)
        if by_pair:
            said = _verdict(row[named["judged"]], place)
            _once((true, said), seen, place)
            cells = {said: row[named["count"]]}
        else:
            _once((true,), seen, place)
            cells = {k: row[named[word]] for k, word in enumerate(WORDS) if word in named}
        for said, cell in cells.items():
            found[true, said] = _number(cell, place)
    if not found.sum():
        raise InputError("has no counts of verdicts (columns right, wrong, blank)", table.name)
    return found


def never_checked(confusion: Array, drawn: JudgeDrawn = "random") -> tuple[str, ...]:
    """The verdicts that no checked response should have had, or had where they were drawn by it."""
    sums = confusion.sum(axis=0 if drawn == "verdict" else 1)
    return tuple(word for word, n in zip(WORDS, sums, strict=True) if not n)


def check_drawn(drawn: str | None, confusion: Array) -> JudgeDrawn:
    """How the checked responses were drawn: at random unless said and unless the table says not.

    As many checked of each verdict are no random sample.
    """
    known = get_args(JudgeDrawn)
    if drawn is not None and drawn not in known:
        raise UnknownNameError("kind of sample", drawn, known, hint=f"there are {', '.join(known)}")
    said = [sums[sums > 0] for sums in (confusion.sum(axis=0), confusion.sum(axis=1))]
    by_verdict, by_truth = (len(own) > 1 and bool(np.ptp(own) == 0) for own in said)
    if drawn is None and by_verdict:
        raise UsageError(
            f"the judge's table has {said[0][0]:.0f} responses of each verdict, so it does not "
            f"look like a random sample: say how it was drawn, {option('judge_drawn', 'verdict')} "
            f"(a fixed number of each verdict of the judge), {option('judge_drawn', 'truth')} (a "
            f"fixed number of each true outcome) or {option('judge_drawn', 'random')}"
        )
    if drawn is None:
        return "truth" if by_truth else "random"
    return cast("JudgeDrawn", drawn)


def _word(name: Any) -> str:
    word = str(name).strip().lower().replace(" ", "_")
    return _ALSO.get(word, word)


def _once(verdicts: tuple[int, ...], seen: set[tuple[int, ...]], place: Place) -> None:
    if verdicts in seen:
        words = ", judged = ".join(WORDS[v] for v in verdicts)
        raise InputError(f"the row true = {words} appears twice, expected one row of each", place)
    seen.add(verdicts)


def _verdict(cell: Any, place: Place) -> int:
    word = _word(cell)
    if word not in WORDS:
        raise InputError(
            f"{shown(str(cell))} is not a verdict; there are {', '.join(WORDS)}", place
        )
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
            f"{shown(str(cell))} is not a count of responses, expected a whole number", place
        )
    return value


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

    Where the checked responses were drawn by the judge's verdict, their numbers say nothing of
    P(judged | true): there p = q · P(true | judged), without anything to solve. A verdict that was
    never checked has no rates: the judge is taken at its word there. The interval draws the rates
    and the judged shares from their posteriors; clustered questions count by their effective
    number. Half a verdict added to each rate would by itself explain away an outcome rarer than
    that, and next to none takes errors never seen for impossible: the interval holds what either
    says.
    """
    if measure.definition.needs_candidates:
        raise UsageError(f"{measure} asks for candidates, which a judge's table does not hold")
    by_verdict = drawn == "verdict"
    solved = _mixed if by_verdict else _solved
    confusion = confusion.T if by_verdict else confusion
    rates = _rates(confusion)
    if not by_verdict and abs(float(np.linalg.det(rates))) < 1e-6:
        raise UsageError("the judge's table is useless: its verdicts do not depend on the truth")
    generator, method = np.random.default_rng([seed, 7]), "jeffreys"
    score = float(solved(measure, (cells / cells.sum())[None], rates[None])[0])
    several = clusters if clusters is not None and len(clusters) > 1 else None
    worth = float(effective(one_run(measure), cells, several, level=level)) / cells.sum()
    judged = generator.standard_gamma(cells * worth + JEFFREYS, size=(draws, 3))
    judged /= judged.sum(axis=-1, keepdims=True)
    ends = [
        np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        for prior in (JEFFREYS, NO_ERROR)
        if len(values := _drawn_scores(measure, judged, confusion, prior, generator, solved))
    ]
    if not ends:
        return score, Interval.none(method, "the score is undefined in every random draw")
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    return score, Interval(float(low), float(high), method)


def _drawn_scores(
    measure: Measure,
    judged: Array,
    confusion: Array,
    prior: float,
    generator: np.random.Generator,
    solved: Callable[[Measure, Array, Array], Array],
) -> Array:
    """Corrected scores by rates drawn from their posterior under a prior of so many verdicts."""
    checked = confusion.sum(axis=1, keepdims=True) > 0
    shape = np.where(checked, confusion + prior, np.eye(3) * 1e9)
    drawn = generator.standard_gamma(shape, size=(len(judged), 3, 3))
    values = solved(measure, judged, drawn / drawn.sum(axis=-1, keepdims=True))
    return values[~np.isnan(values)]


def _rates(confusion: Array) -> Array:
    sums = confusion.sum(axis=1, keepdims=True)
    return np.where(sums > 0, confusion / np.where(sums > 0, sums, 1), np.eye(3))


def _mixed(measure: Measure, judged: Array, chances: Array) -> Array:
    """Scores where the truth is spread over each verdict by the chances (…, judged, true)."""
    true = (judged[..., None, :] @ chances)[..., 0, :]
    return np.asarray(measure(cells_of(measure).counts(true)))


def _solved(measure: Measure, judged: Array, rates: Array) -> Array:
    """True shares by inversion, brought back to shares where chance pushed them outside."""
    flat = np.abs(np.linalg.det(rates)) < 1e-9
    safe = np.where(flat[:, None, None], np.eye(3), rates)
    true = np.linalg.solve(np.swapaxes(safe, -1, -2), judged[..., None])[..., 0]
    true = np.maximum(true, 0)
    true /= true.sum(axis=-1, keepdims=True)
    values = np.asarray(measure(cells_of(measure).counts(true)))
    return np.where(flat, np.nan, values)
