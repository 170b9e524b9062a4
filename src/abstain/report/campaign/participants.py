"""Who took part: languages, first runs, techniques, problems of what was handed in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import plural
from abstain.judging.naming import parse_run_name
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import PageTable
from abstain.stats.groups import difference_of_groups

if TYPE_CHECKING:
    from abstain.analyses.campaign.overview import Overview

LISTED = "|"
"""Separates the techniques of a run in one cell."""
MOST_TEAMS = 30
"""Teams that a matrix of techniques has columns for."""
MOST_TECHNIQUES = 200
NAMED = ("run", "team", "number", "first_run", "status")


def participant_tables(c: Overview) -> Iterator[PageTable]:
    """Every table on the runs as their teams made them."""
    yield from _languages(c)
    yield from _first_runs(c)
    yield from _techniques(c)
    yield from problem_table(c)


def teams_by_run(c: Overview) -> list[str]:
    """The team of each run; a run without one is a team of its own."""
    if "team" not in c.runs_info.columns:
        return list(c.runs)
    return [team or run for team, run in zip(c.runs_info["team"], c.runs, strict=True)]


# ---------------------------------------------------------------------------------- languages


def languages_of(c: Overview) -> list[tuple[str, str] | None]:
    """Source and target language of each run: as its table says, or as its id does."""
    if {"source", "target"} <= {*c.runs_info.columns}:
        both = zip(c.runs_info["source"], c.runs_info["target"], strict=True)
        return [(a, b) if a and b else None for a, b in both]
    parsed = [parse_run_name(run) for run in c.runs]
    return [None if own is None else (own.source, own.target) for own in parsed]


def _languages(c: Overview) -> Iterator[PageTable]:
    found = languages_of(c)
    if not any(found):
        return
    teams = teams_by_run(c)
    rows: list[list[Cell]] = []
    for pair in sorted({own for own in found if own}):
        own = [i for i, said in enumerate(found) if said == pair]
        rows.append([*pair, len(own), len({teams[i] for i in own})])
    columns = [Column("source"), Column("target")]
    columns += [Column("runs", "count"), Column("teams", "count")]
    yield PageTable(
        "languages",
        "Languages",
        "Runs and teams by the language of the questions and that of the documents.",
        Grid(columns, rows),
    )
    yield _by_language(c, [own[0] if own else "" for own in found])


def _by_language(c: Overview, languages: list[str]) -> PageTable:
    """Runs and baselines from the best, each score in the column of its language."""
    names = sorted({own for own in languages if own})
    entries: list[tuple[float, list[Cell]]] = []
    for i in c.order:
        score = float(c.scores[i])
        entries.append(
            (score, [c.runs[i], *(score if own == languages[i] else None for own in names)])
        )
    unranked = {own.name for own in c.result.unranked}
    for name, (k, _) in c.baselines.items():
        value = float(c.measure(k))
        if name not in unranked:
            entries.append((value, [name, *(value for _ in names)]))
    sign = -1 if c.measure.higher_is_better else 1
    entries.sort(key=lambda own: (np.isnan(own[0]), sign * float(np.nan_to_num(own[0]))))
    dim = {n for n, (_, row) in enumerate(entries) if row[0] in c.baselines}
    return PageTable(
        "languages_runs",
        "Runs by language",
        f"{c.measure} over all questions, in the column of the questions' language; reference runs "
        "answer in every language.",
        Grid(
            [Column("run"), *(Column(name, "score") for name in names)],
            [row for _, row in entries],
            dim=dim,
        ),
    )


# --------------------------------------------------------------------- first runs, techniques


def _first_runs(c: Overview) -> Iterator[PageTable]:
    found = c.result.first_runs
    if not found:
        return
    rows: list[list[Cell]] = [
        [
            *(own.team, own.first, own.first_score, own.other, own.other_score),
            *(own.difference, own.low, own.high),
        ]
        for own in found
    ]
    firsts = [own.first_score for own in found if own.first_score is not None]
    others = [own.other_score for own in found if own.other_score is not None]
    both = [own.difference for own in found if own.difference is not None]
    means = [float(np.mean(own)) if own else None for own in (firsts, others, both)]
    rows.append(["mean", "", means[0], "", means[1], means[2], None, None])
    columns = [Column("team"), Column("run 01"), Column(f"{c.measure} of run 01", "score")]
    columns += [Column("best other run"), Column(f"{c.measure} of the other", "score")]
    columns += [Column(name, "score") for name in ("difference", "low", "high")]
    where = "main questions" if "role" in c.slices else "all questions"
    yield PageTable(
        "first_runs",
        "Run 01 against the best other run of its team",
        f"{c.measure} on {where}; the difference is paired by question; its interval "
        f"({100 * c.result.level:.4g} %) is from a bootstrap.",
        Grid(columns, rows, dim={len(rows) - 1}),
    )


def listed_attributes(c: Overview) -> list[str]:
    """Attributes of runs that list several things in a cell."""
    return [
        name
        for name in c.runs_info.columns
        if name not in NAMED and any(LISTED in said for said in c.runs_info[name].drop_nulls())
    ]


def _techniques(c: Overview) -> Iterator[PageTable]:
    """For each technique of a list who used it, and the mean with and without it."""
    teams = teams_by_run(c)
    for attribute in listed_attributes(c):
        cells = [
            {part.strip() for part in (said or "").split(LISTED) if part.strip()}
            for said in c.runs_info[attribute]
        ]
        names = sorted({name for own in cells for name in own})
        if len(names) > MOST_TECHNIQUES:
            continue
        shown = sorted(set(teams)) if len(set(teams)) <= MOST_TEAMS else []
        rows: list[list[Cell]] = []
        for name in names:
            inside = np.array([name in own for own in cells])
            users = {teams[i] for i in np.flatnonzero(inside)}
            d = difference_of_groups(c.scores, inside, teams, c.result.level)
            numbers = (d.with_mean, d.without_mean, d.difference, d.low, d.high)
            marks: list[Cell] = ["×" if team in users else "" for team in shown]
            rows.append([name, int(inside.sum()), len(users), *numbers, *marks])
        columns = [Column(attribute), Column("runs", "count"), Column("teams", "count")]
        words = ("mean with", "mean without", "difference", "low", "high")
        columns += [Column(word, "score") for word in words]
        columns += [Column(f"team {team}") for team in shown]
        from abstain.report.campaign.tables import left_out, safe

        yield PageTable(
            f"techniques_{safe(attribute)}",
            f"Runs with and without each value of {attribute}",
            f"Mean {c.measure} of runs with and without it. The interval of the difference "
            f"({100 * c.result.level:.4g} %) treats teams as independent; it is undefined if one "
            "side has a single team. A difference is not an effect: teams differ in many other "
            "ways." + left_out(c.scores),
            Grid(columns, rows),
        )


# ----------------------------------------------------------------------------------- problems


def problem_table(c: Overview) -> Iterator[PageTable]:
    """What is wrong or odd with runs that were handed in."""
    found = [(own, "problem") for own in c.result.problems]
    found += [(own, "warning") for own in c.result.warnings]
    if not found:
        return
    rows: list[list[Cell]] = [
        [
            *(own.team or "", own.run or "", str(own.place), severity, own.kind),
            own.typed or own.message,
        ]
        for own, severity in found
    ]
    columns = ("team", "run", "place", "severity", "kind", "what is wrong")
    left = plural(len(c.result.skipped), "run was", "runs were")
    yield PageTable(
        "problems",
        "Problems of what was handed in",
        f"{left} left out for a problem; a warning leaves nothing out.",
        Grid([Column(name) for name in columns], rows),
    )
