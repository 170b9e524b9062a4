"""`editions`: means over runs and over teams' best runs, year by year, and whether they differ.

Two things vary from year to year that say nothing of the field: which questions were asked, and
who took part. The error of a mean is made of both. Questions are clustered by reading test, runs
by team; the mean of a measure is linearised in the shares right and blank at their means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from abstain.analyses.editions.campaigns import BASELINES, Asked, Campaign, campaign_of
from abstain.analyses.editions.result import Change, Edition, EditionsResult, Part
from abstain.analyses.result import number
from abstain.errors import InputError, UsageError, checked, nearest, shown, some_of
from abstain.io.columns import require
from abstain.io.frames import collect, into_lazy, open_table
from abstain.measures import Measure, count_measure
from abstain.outcomes import Counts, CountsArray
from abstain.stats.intervals import check_level

if TYPE_CHECKING:
    from abstain.outcomes import Array

TYPE, LANGUAGE = "type", "language"
ALL = "all"
"""The row of registrations that is of no single edition."""
STEP = 1e-6
FEW = "has no results per question: the error from its choice of questions is left out"


@checked
def editions(
    campaigns: Mapping[str, Any],
    *,
    measure: str | Measure | None = None,
    on: Mapping[str, str] | None = None,
    by: Sequence[str] | str | None = None,
    registrations: Any = None,
    level: float = 0.95,
) -> EditionsResult:
    """Put editions of a campaign, or its tasks, side by side, in the order given.

    Args:
        campaigns: A name for each: a result of `campaign` or `score`, its file, or the folder that
            a campaign wrote.
        measure: A measure of counts; that of the first edition unless said.
        on: The questions that count, such as `{"role": "main"}`; editions without that attribute
            count all of theirs.
        by: Attributes to break down by: `type` unless said.
        registrations: A table of what else is known of each: edition, registered, downloaded, …;
            its row `all` is of all together.
        level: Of intervals.
    """
    if not isinstance(campaigns, Mapping) or not campaigns:
        raise UsageError(
            "campaigns is a mapping of names to results, files or folders, with one edition or more"
        )
    if on is not None and len(on) != 1:
        raise UsageError(
            f"expected one attribute and its value, which select the questions to count "
            f"(got {len(on)})"
        )
    found = [campaign_of(str(name), own) for name, own in campaigns.items()]
    chosen = count_measure(measure or found[0].measure)
    level = check_level(level)
    names = [TYPE] if by is None else [by] if isinstance(by, str) else [str(own) for own in by]
    _check_attributes(found, [*(on or ()), *((by and names) or ())])
    said, lost = _registrations(registrations, [own.name for own in found])
    views = [_on(own, on) for own in found]
    best = [_best_rows(own, chosen) for own in found]
    means = [_Means.of(own, chosen, rows) for own, rows in zip(views, best, strict=True)]
    notes = [f"{own.name} {FEW}" for own in views if own.asked is None and len(views) > 1]
    return EditionsResult(
        notes=(*notes, *lost),
        measure=str(chosen),
        level=level,
        on="".join(f"{key}={value}" for key, value in (on or {}).items()),
        editions=tuple(
            Edition(
                edition=own.name,
                tests=own.tests,
                questions=own.questions,
                runs=len(own.runs),
                teams=len(set(own.teams)),
                all_runs=number(mean.all_runs),
                best_runs=number(mean.best_runs),
                baselines=_baselines(own.baselines, chosen),
                registered=said.get(own.name, {}),
            )
            for own, mean in zip(views, means, strict=True)
        ),
        parts=tuple(
            part
            for own, view in zip(found, views, strict=True)
            for part in _parts(own, view, names, chosen)
        ),
        changes=tuple(
            change
            for (a, b), (first, second) in zip(pairwise(views), pairwise(means), strict=True)
            for change in _changes(a, b, first, second, level, chosen)
        ),
        teams=len({team for own in found for team in own.teams}),
        registered=said.get(ALL, {}) if ALL not in campaigns else {},
    )


def _check_attributes(found: Sequence[Campaign], names: Sequence[str]) -> None:
    known = sorted({name for own in found for name in own.slices})
    for name in names:
        if name not in known:
            near = nearest(name, known)
            hint = f"nearest: {near[0]}" if near else f"there are {', '.join(known) or 'none'}"
            raise UsageError(f"no edition is broken down by '{name}' ({hint})")


def _on(own: Campaign, on: Mapping[str, str] | None) -> Campaign:
    """An edition over the questions that count."""
    if not on:
        return own
    ((attribute, value),) = ((str(key), str(own)) for key, own in on.items())
    if attribute not in own.slices:
        return own
    sliced = own.slices[attribute]
    if value not in sliced.names:
        known = ", ".join(sliced.names)
        raise UsageError(f"{own.name} has no {attribute} '{value}' (there are {known})")
    at = sliced.names.index(value)
    asked, tests = own.asked, own.tests
    if asked is not None and sliced.inside is not None:
        inside = sliced.inside[at]
        asked = Asked(asked.right[inside], asked.blank[inside], asked.clusters[inside])
        tests = None if tests is None else len(np.unique(asked.clusters))
    return Campaign(
        name=own.name,
        runs=own.runs,
        teams=own.teams,
        languages=own.languages,
        counts=CountsArray(sliced.counts.table[:, at]),
        baselines={n: CountsArray(c.table[[at]]) for n, c in sliced.baselines.items()},
        slices=own.slices,
        measure=own.measure,
        tests=tests,
        questions=None if sliced.sizes is None else sliced.sizes[at],
        asked=asked,
    )


def _baselines(found: Mapping[str, CountsArray], measure: Measure) -> dict[str, float | None]:
    return {name: number(float(measure(found[name])[0])) for name in BASELINES if name in found}


class _Means(Struct, frozen=True):
    """The means of an edition with the errors that they owe to runs and to questions."""

    all_runs: float
    best_runs: float
    all_error: float
    best_error: float
    question_error: float
    degrees: int

    @classmethod
    def of(cls, own: Campaign, measure: Measure, best_rows: Sequence[int]) -> _Means:
        scores = measure(own.counts)
        best = scores[list(best_rows)]
        best = best[~np.isnan(best)]
        there = ~np.isnan(scores)
        teams = np.unique(np.array(own.teams), return_inverse=True)[1]
        asked = own.asked
        clusters = len(np.unique(asked.clusters)) if asked is not None else 1 << 30
        return cls(
            _mean(scores),
            _mean(best),
            _error(scores[there], teams[there]),
            _error(best, np.arange(len(best))),
            _question_error(asked, measure),
            min(len(best), clusters) - 1,
        )


def _mean(scores: Array) -> float:
    there = scores[~np.isnan(scores)]
    return float(there.mean()) if there.size else float("nan")


def _best_rows(own: Campaign, measure: Measure, rows: Sequence[int] | None = None) -> list[int]:
    """The place of each team's best run over all questions, whatever part is looked at."""
    scores = measure(own.counts)
    better = np.nan_to_num(scores if measure.higher_is_better else -scores, nan=-np.inf)
    best: dict[str, int] = {}
    for at in range(len(own.runs)) if rows is None else rows:
        team = own.teams[at]
        if np.isfinite(better[at]) and (team not in best or better[at] > better[best[team]]):
            best[team] = at
    return list(best.values())


def _error(values: Array, clusters: Any) -> float:
    """The standard error of a mean over values in clusters."""
    if not values.size:
        return float("nan")
    _, numbers = np.unique(clusters, return_inverse=True)
    count = int(numbers.max()) + 1
    if count < 2:
        return float("nan")
    sums = np.bincount(numbers, weights=values - values.mean()) / len(values)
    return float((count / (count - 1) * (sums**2).sum()) ** 0.5)


def _question_error(asked: Asked | None, measure: Measure) -> float:
    """What the choice of questions adds, the measure taken as linear at the mean shares."""
    if asked is None or not len(asked.right):
        return float("nan")
    c, u = float(asked.right.mean()), float(asked.blank.mean())

    def at(c: float, u: float) -> float:
        return float(measure(Counts(right=c, wrong=max(0.0, 1 - c - u), unanswered_empty=u)))

    step_c = (at(c + STEP, u) - at(c - STEP, u)) / (2 * STEP)
    step_u = (at(c, u + STEP) - at(c, u - STEP)) / (2 * STEP) if u > STEP else 0.0
    influence = step_c * (asked.right - c) + step_u * (asked.blank - u)
    return _error(influence, asked.clusters)


def _changes(
    before: Campaign,
    after: Campaign,
    first: _Means,
    second: _Means,
    level: float,
    measure: Measure,
) -> list[Change]:
    """An edition against the one before, over all runs and over best runs.

    An interval ends where differences of the measure do.
    """
    from scipy.special import stdtr, stdtrit

    lowest, highest = measure.bounds
    most = highest - lowest
    questions = (first.question_error, second.question_error)
    known = [own for own in questions if not np.isnan(own)]
    degrees = max(1, min(first.degrees, second.degrees))
    found = []
    for what, one, two, errors in (
        ("all runs", first.all_runs, second.all_runs, (first.all_error, second.all_error)),
        ("best runs", first.best_runs, second.best_runs, (first.best_error, second.best_error)),
    ):
        difference = two - one
        of_runs = float(np.hypot(*errors))
        error = float(np.sqrt(of_runs**2 + sum(own**2 for own in known)))
        reach = float(stdtrit(degrees, (1 + level) / 2)) * error
        p = 2 * float(stdtr(degrees, -abs(difference) / error)) if error > 0 else float("nan")
        found.append(
            Change(
                before=before.name,
                after=after.name,
                what=what,
                difference=number(difference),
                low=number(float(np.clip(difference - reach, -most, most))),
                high=number(float(np.clip(difference + reach, -most, most))),
                p_value=number(p),
                question_error=number(float(np.hypot(*questions))),
                run_error=number(of_runs),
            )
        )
    return found


# -------------------------------------------------------------------------------------- parts


def _parts(own: Campaign, view: Campaign, names: Sequence[str], measure: Measure) -> list[Part]:
    """An edition by attributes of all its questions, and by the language of its runs.

    Languages go by `view`, the questions that count; slices are not known within them.
    """
    found = []
    for attribute in names:
        if attribute not in own.slices:
            continue
        sliced = own.slices[attribute]
        for at, level in enumerate(sliced.names):
            counts = CountsArray(sliced.counts.table[:, at])
            size = None if sliced.sizes is None else sliced.sizes[at]
            base = {n: CountsArray(c.table[[at]]) for n, c in sliced.baselines.items()}
            every = list(range(len(own.runs)))
            found.append(_part(own, attribute, level, size, counts, every, base, measure))
    for language in sorted({said for said in own.languages if said}):
        rows = [at for at, said in enumerate(own.languages) if said == language]
        counts, size = CountsArray(view.counts.table[rows]), view.questions
        found.append(_part(own, LANGUAGE, language, size, counts, rows, view.baselines, measure))
    return found


def _part(
    own: Campaign,
    by: str,
    level: str,
    questions: int | None,
    counts: CountsArray,
    rows: Sequence[int],
    baselines: Mapping[str, CountsArray],
    measure: Measure,
) -> Part:
    scores = measure(counts)
    best = scores[[list(rows).index(at) for at in _best_rows(own, measure, rows)]]
    total = counts.table.sum(axis=0)
    responses = float(total.sum())
    return Part(
        edition=own.name,
        by=by,
        level=level,
        questions=questions,
        runs=len(rows),
        all_runs=number(_mean(scores)),
        best_runs=number(_mean(best)),
        right=100 * float(total[0]) / responses if responses else None,
        unanswered=100 * float(total[2:].sum()) / responses if responses else None,
        baselines=_baselines(baselines, measure),
    )


def _registrations(given: Any, names: Sequence[str]) -> tuple[dict[str, dict[str, int]], list[str]]:
    """How many registered, downloaded, …: whole numbers by edition or task; and what fits none."""
    if given is None:
        return {}, []
    table = open_table(given, name="the registrations")
    require(table, "edition", "which names the edition or the task")
    frame = collect(into_lazy(table.frame).select(*table.columns), table.name)
    found: dict[str, dict[str, int]] = {}
    for row in frame.iter_rows(named=True):
        edition = str(row.pop("edition") or "").strip()
        if edition in found:
            raise InputError(f"edition {shown(edition)} appears twice", table.name)
        try:
            found[edition] = {key: int(own) for key, own in row.items() if own not in (None, "")}
        except ValueError:
            raise InputError(
                f"has a value for {shown(edition)} that is not a whole number", table.name
            ) from None
    unknown = [name for name in found if name not in (*names, ALL)]
    if unknown and len(unknown) == len(found):
        raise InputError(
            f"names none of the editions (the first name in it: {shown(unknown[0])})", table.name
        )
    lost = [f"{table.name} names editions that are not here: {some_of(unknown)}"] if unknown else []
    return found, lost
