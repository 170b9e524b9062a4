"""A saved campaign, or saved scores, as what editions are compared by."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

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

    def only(self, inside: npt.NDArray[np.bool_]) -> QuestionShares:
        return QuestionShares(self.right[inside], self.blank[inside], self.clusters[inside])


class Campaign(Struct, frozen=True):
    """An edition before anything is computed, over all questions or some of them."""

    name: str
    runs: list[str]
    teams: list[str]
    languages: list[str]
    counts: CountsArray
    baselines: dict[str, CountsArray]
    slices: dict[str, dict[str, Campaign]]
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
    asked = None
    if not result.blind:
        right, wrong, blank = c.tried
        total = np.maximum(1, right + wrong + blank)
        clusters = cluster_numbers(c.questions, test) if test else np.arange(len(right))
        asked = QuestionShares(right / total, blank / total, clusters)
    whole = Campaign(
        name=name,
        runs=c.runs,
        teams=teams,
        languages=languages,
        counts=c.overall,
        baselines={n: CountsArray.of([c.baselines[n][0]]) for n in known},
        slices={},
        measure=result.measure,
        tests=len(c.slices[test].names) if test else None,
        questions=c.questions.height,
        asked=asked,
    )

    def of(attribute: str, at: int) -> Campaign:
        tables = {n: c.baselines[n][1][attribute].table for n in known}
        inside = c.slices[attribute].slice_of == at
        part = None if asked is None else asked.only(inside)
        return replace(
            whole,
            counts=CountsArray(c.sliced[attribute].table[:, at]),
            baselines={n: CountsArray(table[[at]]) for n, table in tables.items()},
            questions=int(inside.sum()),
            tests=whole.tests if not test or part is None else len(np.unique(part.clusters)),
            asked=part,
        )

    slices = {
        attribute: {value: of(attribute, at) for at, value in enumerate(each.names)}
        for attribute, each in c.slices.items()
    }
    return replace(whole, slices=slices)


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
    total = CountsArray(sum(tables.values(), np.zeros((len(runs), len(OUTCOMES) + 1))))
    whole = Campaign(name, runs, *_from_names(runs), total, {}, {}, result.measures[0])
    parts = {level: replace(whole, counts=CountsArray(table)) for level, table in tables.items()}
    slices = {result.by[0]: parts} if result.by else {}
    return replace(whole, slices=slices, questions=result.questions)


def _from_names(runs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Team and language by run ids; a run of another form is a team by itself."""
    parsed = [parse_run_name(run) for run in runs]
    teams = [run if name is None else name.team for run, name in zip(runs, parsed, strict=True)]
    return teams, ["" if name is None else name.source for name in parsed]
