"""A saved campaign, or saved scores, as what editions are compared by."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.result import CampaignResult
from abstain.analyses.result import Result, load
from abstain.analyses.score.result import ScoreResult
from abstain.errors import InputError, UsageError, shown
from abstain.judging.naming import parse_run_name
from abstain.judging.slices import natural
from abstain.outcomes import OUTCOMES, CountsArray

if TYPE_CHECKING:
    import numpy.typing as npt

BASELINES = ("random (expected)", "none of the above")


class Asked(Struct, frozen=True):
    """The questions of an edition: shares of the runs that had each right and left it blank."""

    right: npt.NDArray[np.float64]
    blank: npt.NDArray[np.float64]
    clusters: npt.NDArray[np.int64]
    """The reading test of each; its own number where there are no tests."""


class Sliced(Struct, frozen=True):
    """Counts by run and slice, of runs and of baselines."""

    names: list[str]
    sizes: list[int] | None
    counts: CountsArray
    baselines: dict[str, CountsArray]
    inside: list[npt.NDArray[np.bool_]] | None = None
    """The questions of each slice, where they are known."""


class Campaign(Struct, frozen=True):
    """An edition before anything is computed."""

    name: str
    runs: list[str]
    teams: list[str]
    languages: list[str]
    counts: CountsArray
    baselines: dict[str, CountsArray]
    slices: dict[str, Sliced]
    measure: str
    tests: int | None = None
    questions: int | None = None
    asked: Asked | None = None


def campaign_of(name: str, given: Any) -> Campaign:
    """An edition from a result, a saved one, or the folder that a campaign wrote."""
    found = given
    if isinstance(given, (str, os.PathLike)):
        path = Path(given)
        inside = path / "results.json"
        if path.is_dir() and not inside.exists():
            raise InputError(
                "has no results.json, expected a folder that `abstain campaign` wrote", str(path)
            )
        found = load(inside if path.is_dir() else path)
    if isinstance(found, CampaignResult):
        return _of_campaign(name, found)
    if isinstance(found, ScoreResult):
        return _of_scores(name, found)
    if isinstance(found, Result):
        raise InputError(
            f"is a result of kind {shown(found.kind)}, expected campaign or score", str(given)
        )
    raise UsageError(f"edition {shown(name)}: expected a result, a file or a folder")


def _of_campaign(name: str, result: CampaignResult) -> Campaign:
    c = Overview(result)
    info = c.runs_info
    teams, languages = _from_names(c.runs)
    if "team" in info.columns:
        teams = [own or team for own, team in zip(info["team"], teams, strict=True)]
    for column in ("language", "source"):
        if column in info.columns:
            languages = [a or b for a, b in zip(info[column], languages, strict=True)]
    known = {own.name for own in result.references} & {*BASELINES}
    slices = {
        attribute: Sliced(
            names=own.names,
            sizes=own.sizes.tolist(),
            counts=c.sliced[attribute],
            baselines={n: c.baselines[n][1][attribute] for n in BASELINES if n in known},
            inside=[own.slice_of == at for at in range(len(own.names))],
        )
        for attribute, own in c.slices.items()
    }
    return Campaign(
        name=name,
        runs=c.runs,
        teams=teams,
        languages=languages,
        counts=c.overall,
        baselines={n: CountsArray.of([c.baselines[n][0]]) for n in BASELINES if n in known},
        slices=slices,
        measure=result.measure,
        tests=len(c.slices[result.test_by].names) if result.test_by else None,
        questions=c.questions.height,
        asked=None if result.blind else _asked(c),
    )


def _asked(c: Overview) -> Asked:
    right, wrong, blank = c.tried
    total = np.maximum(1, right + wrong + blank)
    test = c.result.test_by
    clusters = np.arange(len(right))
    if test is not None:
        numbers = c.slices[test].slice_of
        clusters = np.where(numbers >= 0, numbers, len(right) + clusters)
    return Asked(right / total, blank / total, clusters)


def _of_scores(name: str, result: ScoreResult) -> Campaign:
    """Saved scores, over all questions or by one attribute."""
    if len(result.by) > 1:
        raise UsageError(
            f"edition {shown(name)} is broken down by {' and '.join(result.by)}, expected scores "
            "over all questions or by one attribute"
        )
    rows = [row for row in result.rows if getattr(row, "reference", None) is None]
    runs = sorted({row.run for row in rows})
    place = {run: at for at, run in enumerate(runs)}
    levels = [next(iter(row.slice.values()), None) or "" for row in rows]
    names = sorted(set(levels), key=natural)
    table = np.zeros((len(runs), len(names), len(OUTCOMES) + 1))
    for row, level in zip(rows, levels, strict=True):
        own = CountsArray.of([row.counts]).table[0]
        table[place[row.run], names.index(level)] += own
    slices = {}
    if result.by:
        slices[result.by[0]] = Sliced(names, None, CountsArray(table), {})
    teams, languages = _from_names(runs)
    return Campaign(
        name=name,
        runs=runs,
        teams=teams,
        languages=languages,
        counts=CountsArray(table.sum(axis=1)),
        baselines={},
        slices=slices,
        measure=result.measures[0],
        questions=result.questions,
    )


def _from_names(runs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Team and language by run ids; a run of another form is a team of its own."""
    parsed = [parse_run_name(run) for run in runs]
    teams = [run if own is None else own.team for run, own in zip(runs, parsed, strict=True)]
    return teams, ["" if own is None else own.source for own in parsed]
