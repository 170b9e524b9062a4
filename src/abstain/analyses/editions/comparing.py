"""`editions`: means over runs and over teams' best runs, year by year, and whether they differ.

Two things vary from year to year that say nothing of the field: which questions were asked, and
who took part. The error of a mean is made of both. Questions are clustered by reading test, runs
by team; the mean of a measure is linearised in the shares right and blank at their means.
"""

from __future__ import annotations

import math
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
from abstain.stats.hypotheses import student
from abstain.stats.intervals import check_level
from abstain.stats.means import Mean

if TYPE_CHECKING:
    from abstain.outcomes import Array

TYPE, LANGUAGE = "type", "language"
ALL = "all"
"""The row of registrations that is of no single edition."""
STEP = 1e-6
UNKNOWN = (
    "has no results per question: nobody knows how much its mean depends on the choice of "
    "questions, so there is no test against it"
)
ALONE = "has a single team: nothing shows how much teams vary, so there is no test against it"


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
    best = [best_rows(own, chosen) for own in found]
    means = [Means.of(own, chosen, rows) for own, rows in zip(views, best, strict=True)]
    notes = [f"{own.name} {UNKNOWN}" for own in views if own.asked is None and len(views) > 1]
    notes += [f"{own.name} {ALONE}" for own in views if len(set(own.teams)) == 1 and len(views) > 1]
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
                all_runs=number(mean.all_runs.value),
                best_runs=number(mean.best_runs.value),
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
        changes=changes_of(views, means, chosen, level),
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


class Means(Struct, frozen=True):
    """The means of an edition with the errors that they owe to runs and to questions."""

    all_runs: Mean
    best_runs: Mean
    questions: Mean
    """Of the questions' influence on the mean of all runs; its error is NaN where nobody knows."""

    @classmethod
    def of(cls, own: Campaign, measure: Measure, best: Sequence[int]) -> Means:
        """From counts, and where the best run of each team stands."""
        scores = measure(own.counts)
        teams = np.unique(np.array(own.teams), return_inverse=True)[1]
        at = np.array(best, np.int64)
        return cls(
            _clustered(scores, teams), _clustered(scores[at], at), _of_questions(own.asked, measure)
        )


def _mean(scores: Array) -> float:
    there = scores[~np.isnan(scores)]
    return float(there.mean()) if there.size else float("nan")


def best_rows(own: Campaign, measure: Measure, rows: Sequence[int] | None = None) -> list[int]:
    """The place of each team's best run over all questions, whatever part is looked at."""
    scores = measure(own.counts)
    better = np.nan_to_num(scores if measure.higher_is_better else -scores, nan=-np.inf)
    best: dict[str, int] = {}
    for at in range(len(own.runs)) if rows is None else rows:
        team = own.teams[at]
        if np.isfinite(better[at]) and (team not in best or better[at] > better[best[team]]):
            best[team] = at
    return list(best.values())


def _clustered(values: Array, clusters: Any) -> Mean:
    """The mean of the values that exist, with an error that takes clusters as units."""
    there = ~np.isnan(values)
    _, numbers = np.unique(clusters[there], return_inverse=True)
    totals = np.bincount(numbers, values[there]).astype(np.float64)
    return Mean.of(totals, np.bincount(numbers).astype(np.float64))


def _of_questions(asked: Asked | None, measure: Measure) -> Mean:
    """What the choice of questions adds, the measure taken as linear at the mean shares."""
    if asked is None or not len(asked.right):
        return Mean.of(np.zeros(0), np.zeros(0))
    c, u = float(asked.right.mean()), float(asked.blank.mean())

    def at(c: float, u: float) -> float:
        return float(measure(Counts(right=c, wrong=max(0.0, 1 - c - u), unanswered_empty=u)))

    step_c = (at(c + STEP, u) - at(c - STEP, u)) / (2 * STEP)
    step_u = (at(c, u + STEP) - at(c, u - STEP)) / (2 * STEP) if u > STEP else 0.0
    influence = step_c * (asked.right - c) + step_u * (asked.blank - u)
    return _clustered(influence, asked.clusters)


def changes_of(
    views: Sequence[Campaign], means: Sequence[Means], measure: Measure, level: float
) -> tuple[Change, ...]:
    """Each edition against the one before."""
    return tuple(
        change
        for (a, b), (first, second) in zip(pairwise(views), pairwise(means), strict=True)
        for change in _changes(a, b, first, second, level, measure)
    )


def _changes(
    before: Campaign,
    after: Campaign,
    first: Means,
    second: Means,
    level: float,
    measure: Measure,
) -> list[Change]:
    """An edition against the one before, over all runs and over best runs.

    The degrees of freedom are Welch's, from those of runs and of questions. An interval ends where
    differences of the measure do. Where an error is not known there is neither interval nor p.
    """
    from scipy.special import stdtrit

    lowest, highest = measure.bounds
    most = highest - lowest
    found = []
    for what, one, two in (
        ("all runs", first.all_runs, second.all_runs),
        ("best runs", first.best_runs, second.best_runs),
    ):
        difference = two.value - one.value
        parts = (one, two, first.questions, second.questions)
        squares = np.array([own.error**2 for own in parts])
        spread = float(squares.sum())
        each = float((squares**2 / [own.degrees for own in parts]).sum())
        degrees = spread**2 / each if each > 0 else 1.0
        reach = float(stdtrit(degrees, (1 + level) / 2)) * spread**0.5
        found.append(
            Change(
                before=before.name,
                after=after.name,
                what=what,
                difference=number(difference),
                low=number(float(np.clip(difference - reach, -most, most))),
                high=number(float(np.clip(difference + reach, -most, most))),
                p_value=number(student(difference, spread**0.5, degrees) if spread else math.nan),
                question_error=number(float(squares[2:].sum()) ** 0.5),
                run_error=number(float(squares[:2].sum()) ** 0.5),
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
    best = scores[[list(rows).index(at) for at in best_rows(own, measure, rows)]]
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
