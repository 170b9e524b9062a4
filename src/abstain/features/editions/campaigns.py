"""A saved campaign, or saved scores, as what editions are compared by."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from abstain.errors import UsageError, shown
from abstain.features.campaign.overview import Overview
from abstain.features.campaign.result import CampaignResult
from abstain.features.score.result import ScoreResult
from abstain.outcomes import OUTCOMES, CountsArray
from abstain.report.result import load
from abstain.runs.gold import cluster_numbers, natural
from abstain.runs.run_names import parse_run_name

if TYPE_CHECKING:
    import numpy.typing as npt

BASELINES = ("random (expected)", "none of the above")


class QuestionShares(Struct, frozen=True):
    """The questions of an edition: shares of the runs that had each right and left it blank."""

    right: npt.NDArray[np.float64]
    blank: npt.NDArray[np.float64]
    clusters: npt.NDArray[np.int64]
    """The reading test of each; a number by itself where there are no tests."""


class Slice(Struct, frozen=True):
    """Some questions of an edition."""

    counts: CountsArray
    """Of the runs."""
    baselines: dict[str, CountsArray]
    questions: int | None
    inside: npt.NDArray[np.bool_] | None = None
    """Which questions these are, where that is known."""


class Campaign(Struct, frozen=True):
    """An edition before anything is computed."""

    name: str
    runs: list[str]
    teams: list[str]
    languages: list[str]
    counts: CountsArray
    baselines: dict[str, CountsArray]
    slices: dict[str, dict[str, Slice]]
    """By attribute and value."""
    measure: str
    tests: int | None = None
    questions: int | None = None
    asked: QuestionShares | None = None


def campaign_of(name: str, source: Any) -> Campaign:
    """An edition from a result, a saved one, or the folder that a campaign wrote."""
    result = source
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        result = load(path / "results.json" if path.is_dir() else path)
    if isinstance(result, CampaignResult):
        return _of_campaign(name, result)
    if isinstance(result, ScoreResult):
        return _of_scores(name, result)
    raise UsageError(
        f"edition {shown(name)}: expected a result of `campaign` or `score`, its file, or a folder "
        "that `campaign` wrote"
    )


def _of_campaign(name: str, result: CampaignResult) -> Campaign:
    c = Overview(result)
    info, test = c.info, result.test_by
    teams, languages = _from_names(c.runs)
    if "team" in info:
        teams = [a or b for a, b in zip(info["team"], teams, strict=True)]
    for column in ("language", "source"):
        if column in info:
            languages = [a or b for a, b in zip(info[column], languages, strict=True)]
    known = {reference.name for reference in result.references} & {*BASELINES}
    parts = {
        attribute: {
            value: Slice(
                counts=CountsArray(c.sliced[attribute].table[:, at]),
                baselines={n: CountsArray(c.baselines[n][1][attribute].table[[at]]) for n in known},
                questions=int(slices.sizes[at]),
                inside=slices.slice_of == at,
            )
            for at, value in enumerate(slices.names)
        }
        for attribute, slices in c.slices.items()
    }
    asked = None
    if not result.blind:
        right, wrong, blank = c.tried
        total = np.maximum(1, right + wrong + blank)
        clusters = cluster_numbers(c.questions, test) if test else np.arange(len(right))
        asked = QuestionShares(right / total, blank / total, clusters)
    return Campaign(
        name=name,
        runs=c.runs,
        teams=teams,
        languages=languages,
        counts=c.overall,
        baselines={n: CountsArray.of([c.baselines[n][0]]) for n in known},
        slices=parts,
        measure=result.measure,
        tests=len(c.slices[test].names) if test else None,
        questions=c.questions.height,
        asked=asked,
    )


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
    tables = {
        level: np.zeros((len(runs), len(OUTCOMES) + 1)) for level in sorted(levels, key=natural)
    }
    for row, level in zip(rows, levels, strict=True):
        tables[level][place[row.run]] += CountsArray.of([row.counts]).table[0]
    parts = {level: Slice(CountsArray(table), {}, None) for level, table in tables.items()}
    teams, languages = _from_names(runs)
    return Campaign(
        name=name,
        runs=runs,
        teams=teams,
        languages=languages,
        counts=CountsArray(sum(tables.values(), np.zeros((len(runs), len(OUTCOMES) + 1)))),
        baselines={},
        slices={result.by[0]: parts} if result.by else {},
        measure=result.measures[0],
        questions=result.questions,
    )


def _from_names(runs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Team and language by run ids; a run of another form is a team by itself."""
    parsed = [parse_run_name(run) for run in runs]
    teams = [run if name is None else name.team for run, name in zip(runs, parsed, strict=True)]
    return teams, ["" if name is None else name.source for name in parsed]
