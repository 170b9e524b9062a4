"""What a blind phase holds back because too few answers stand behind it.

Who knows his own answers learns from a count of the right ones how many of them are right. So no
score of a run rests on few answers, by itself or as a difference to another run of its team; no
score of a slice does; and candidates behind blanks, which may be few, are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from abstain.analyses.campaign.result import Breakdown, CampaignResult, CampaignRow, UnrankedRun
from abstain.analyses.result import ranked
from abstain.errors import UsageError, plural, shown
from abstain.io.frames import collect
from abstain.judging.evaluation import Evaluation
from abstain.judging.judge import INDEX, KIND
from abstain.judging.sources import GoldRuns
from abstain.measures import count_measure
from abstain.outcomes import OUTCOMES, RIGHT, WRONG

SMALLEST = 10
"""Questions of a slice in a blind phase; answers of a run, and those it has beyond another."""
FEWEST = 5
"""Answers of a run in a slice. As many as ten would hide what runs with many blanks score."""
UNSAID = "A score in a slice with fewer than five answers is left out (–)."


def team_of_row(row: CampaignRow) -> str:
    """The team of a run; a run without one is a team of its own."""
    return row.info.get("team") or row.run


def team_of_unranked(own: UnrankedRun) -> str:
    """The same of a run without a rank."""
    return own.info.get("team") or own.name


# ----------------------------------------------------------------------------------- whole runs


def held_back(evaluation: Evaluation, result: CampaignResult) -> dict[str, str]:
    """Runs whose score would reveal a few answers, each with the reason; the first of two stays.

    Where none would be left, that is refused.
    """
    teams: dict[str, list[str]] = {}
    for row in result.rows:
        teams.setdefault(team_of_row(row), []).append(row.run)
    for own in result.unranked:
        teams.setdefault(team_of_unranked(own), []).append(own.name)
    answers = _answers(evaluation)
    place = {run: at for at, run in enumerate(evaluation.runs)}
    found: dict[str, str] = {}
    for runs in teams.values():
        kept: list[str] = []
        for run in sorted(runs):
            mine = answers[place[run]]
            if 0 < (count := int(np.count_nonzero(mine))) < SMALLEST:
                found[run] = f"it has only {plural(count, 'answer')}"
                continue
            differs = [int(np.count_nonzero(mine != answers[place[own]])) for own in kept]
            near = [(d, own) for d, own in zip(differs, kept, strict=True) if 0 < d < SMALLEST]
            if near:
                found[run] = (
                    f"it differs from {shown(near[0][1])} in only {plural(near[0][0], 'answer')}"
                )
            else:
                kept.append(run)
    if all(row.run in found for row in result.rows):
        run = result.rows[0].run
        raise UsageError(
            "no run can be shown in a blind phase: every ranked run is held back (the first is run "
            f"{shown(run)}: {found[run]})"
        )
    return found


def _answers(evaluation: Evaluation) -> npt.NDArray[np.uint64]:
    """Runs × questions: a number for each answer, 0 for a blank."""
    source = evaluation.source
    assert isinstance(source, GoldRuns)
    found = np.zeros((len(evaluation.runs), len(source.gold)), np.uint64)
    place = {run: at for at, run in enumerate(evaluation.runs)}
    judged = source.judged()
    for frame in judged.frames:
        given = frame.filter(nw.col(KIND).is_in([RIGHT, WRONG])).select("run", INDEX, "answer")
        rows = collect(given, judged.sources[0].table.name)
        at = rows["run"].cast(pl.String).replace_strict(place, return_dtype=pl.Int64).to_numpy()
        said = rows["answer"].cast(pl.String).hash(1).to_numpy() | np.uint64(1)
        found[at, rows[INDEX].cast(pl.Int64).to_numpy()] = said
    return found


def guarded(result: CampaignResult, held: Mapping[str, str]) -> CampaignResult:
    """The result without runs that are held back, small cells and candidates behind blanks."""
    chosen = [at for at, row in enumerate(result.rows) if row.run not in held]
    measure = count_measure(result.measure)
    split = measure.definition.needs_candidates  # then they are what is scored
    rows = [_plain(result.rows[at], result.measure, split=split) for at in chosen]
    answered = [_answered(result.rows[at].numbers) for at in chosen]
    unranked = [own for own in result.unranked if own.name not in held]
    return replace(
        result,
        rows=tuple(ranked(rows, result.measure, higher_is_better=measure.higher_is_better)),
        breakdowns=tuple(_shown(own, chosen, answered, split=split) for own in result.breakdowns),
        unranked=tuple(_unranked(own, split=split) for own in unranked),
    )


def _answered(numbers: Mapping[str, float | None]) -> float:
    return (numbers.get("right") or 0) + (numbers.get("wrong") or 0)


def _plain(row: CampaignRow, measure: str, *, split: bool) -> CampaignRow:
    """A run without candidates, its interval no finer than is read: its digits go by question."""
    low, high = row.intervals.get(measure, (None, None))
    ends = tuple(None if end is None else round(end, 3) for end in (low, high))
    numbers = dict(row.numbers)
    if not split:
        blank = sum(numbers.get(name) or 0 for name in OUTCOMES[2:])
        numbers |= {OUTCOMES[2]: 0, OUTCOMES[3]: 0, OUTCOMES[4]: blank}
    return replace(row, numbers=numbers, intervals={measure: ends} if row.intervals else {})


# ----------------------------------------------------------------------------------- slices


def _shown(
    own: Breakdown, chosen: Sequence[int], answered: Sequence[float], *, split: bool
) -> Breakdown:
    """The counts of some runs; nothing in slices where a run has too few answers."""
    table = _guarded_cells(np.array(own.outcomes)[:, chosen], answered, split=split)
    return replace(own, **{name: table[i].tolist() for i, name in enumerate(OUTCOMES)})


def _unranked(own: UnrankedRun, *, split: bool) -> UnrankedRun:
    counts = np.array(own.counts)[:, None, None]
    plain = counts if split else _without_candidates(counts)
    total = [float(own.counts[0] + own.counts[1])]
    slices = [
        _guarded_cells(np.array(part)[:, None], total, split=split)[:, 0].tolist()
        for part in own.slices
    ]
    return replace(own, counts=plain[:, 0, 0].tolist(), slices=slices)


def _guarded_cells(
    table: npt.NDArray[Any], answered: Sequence[float], *, split: bool
) -> npt.NDArray[Any]:
    """Outcomes × runs × slices, with zeros where few answers are.

    The rest of a run, its answers over all questions less those in slices shown, counts as well.
    """
    shown_counts = table.copy() if split else _without_candidates(table)
    cells = table[0] + table[1]
    for run in range(cells.shape[0]):
        order = np.argsort(cells[run], kind="stable")
        hidden = [at for at in order if 0 < cells[run, at] < FEWEST]
        rest = answered[run] - cells[run].sum() + sum(cells[run, at] for at in hidden)
        for at in order:
            if rest == 0 or rest >= FEWEST:
                break
            if at not in hidden and cells[run, at] > 0:
                hidden.append(at)
                rest += cells[run, at]
        shown_counts[:, run, hidden] = 0
    return shown_counts


def _without_candidates(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Outcomes × …, all blanks as if nothing stood behind them."""
    plain = table.copy()
    plain[4] = table[2:].sum(axis=0)
    plain[2:4] = 0
    return plain
