"""Who took part: teams, groups of runs, languages, first runs, techniques, problems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os.path import basename
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.campaign.blind import teams_of_campaign
from abstain.features.campaign.overview import (
    ROLE,
    Overview,
    attribute_column,
    columns,
    from_the_best,
    grid_of,
    safe,
)
from abstain.features.campaign.result import LEFT_OUT, CampaignResult, FirstRun
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import PageTable, from_template
from abstain.runs.faults import Problem
from abstain.runs.run_names import OFFICIAL, RunsInfo, parse_run_name, runs_of, team_of
from abstain.stats.hypotheses import difference_of_groups
from abstain.stats.orderings import over_runs

if TYPE_CHECKING:
    from abstain.features.validate.result import ValidateResult
    from abstain.runs.evaluation import Evaluation

SEPARATOR = "|"
"""Separates the techniques of a run in one cell."""
MOST_GROUPS = 30
NOT_TECHNIQUES = ("team", "number", "first_run", "status")
UNSHOWN = ("run", "team", "align")
"""Columns of the table of runs that group nothing."""
PRIVATE = (
    r"\btel\b|note|comment|remark|mail|contact|phone|address|file|path|directory|internal|private"
)
"""In the name of a column: it is meant for the organiser alone."""
PERSONAL = (
    r"\w@\w[\w.-]*\.[A-Za-z]{2}"
    r"|(?:^|\s)(?:[A-Za-z]:|~|\.\.?)?[/\\]\w|^[^\s:]+[/\\]\S+\.[A-Za-z]\w*$"
)
"""In a value: an e-mail address or a path."""


def known_of_runs(evaluation: Evaluation, table: RunsInfo) -> dict[str, dict[str, str | None]]:
    """What is known of each run: its id taken apart, its folder, the caller's table."""
    sources, by_table = evaluation.data.source.responses, table.of("team")
    folders = {run: item.team for item in sources if item.team for run in runs_of(item)}
    teams = {run: team_of(run, folders.get(run), by_table) for run in evaluation.runs}
    parsed = {run: parse_run_name(run) for run in evaluation.runs}
    unshown = {*UNSHOWN, *private_columns(table)}
    named = [name for name in table.frame.columns if not {name, name.casefold()} & unshown]
    listed = {row["run"]: row for row in table.frame.iter_rows(named=True)}
    known: dict[str, dict[str, str | None]] = {}
    for run, team in teams.items():
        p, facts = parsed[run], dict[str, str | None]()
        if any(teams.values()):
            facts["team"] = team.name if team else None
        if any(parsed.values()):
            facts["number"] = f"{p.number:02d}" if p else None
            facts["language"] = p.source if p else None
            facts["first_run"] = ("01" if p.number == 1 else "others") if p else None
        facts = {name: text for name, text in facts.items() if name not in named}
        known[run] = facts | {name: listed.get(run, {}).get(name) for name in named}
    return known


def private_columns(table: RunsInfo) -> list[str]:
    """Columns that are meant for the organiser alone, by their names or by what is in them."""
    found = []
    for column in table.frame.drop(*UNSHOWN, strict=False):
        words = re.sub(r"[\W_]+", " ", column.name.casefold())
        named = re.search(PRIVATE, f"{words} {words.replace(' ', '')}")
        if named or column.str.contains(PERSONAL).any():
            found.append(column.name)
    return found


def runs_apart(
    status: Mapping[str, str],
    info_of: Mapping[str, Mapping[str, str | None]],
    checked: ValidateResult,
) -> dict[str, dict[str, int]]:
    """How many runs of each team have no rank, by reason."""
    whose = [(info_of[r].get("team"), why) for r, why in status.items() if why != OFFICIAL]
    sent = {problem.run or problem.file: problem.team for problem in checked.problems}
    whose += [(sent.get(run), LEFT_OUT) for run in checked.skipped]
    counts: dict[str, dict[str, int]] = {}
    for (team, why), n in sorted(Counter((team or "", why) for team, why in whose).items()):
        counts.setdefault(team, {})[why] = n
    return counts


def participant_tables(c: Overview) -> Iterator[PageTable]:
    lists = [
        name
        for name, texts in c.info.items()
        if name not in NOT_TECHNIQUES and any(SEPARATOR in (text or "") for text in texts)
    ]
    if any(c.info.get("team", ())):
        yield _teams(c)
    for attribute, values in c.info.items():
        groups = sorted({value for value in values if value is not None})
        if attribute not in ("team", *lists) and 1 < len(groups) <= MOST_GROUPS:
            yield _groups(c, attribute, groups)
    yield from _languages(c)
    if c.result.first_runs:
        yield _first_runs(c)
    yield from (_techniques(c, attribute) for attribute in lists)
    yield from problem_table(c)


def _teams(c: Overview) -> PageTable:
    members: dict[str, list[int]] = {}
    for i, team in enumerate(c.info["team"]):
        members.setdefault(team or "–", []).append(i)
    rows: list[list[Cell]] = []
    for team, (best, *others) in members.items():
        scores = c.scores[others][~np.isnan(c.scores[others])]
        mean, lowest = (scores.mean(), scores.min()) if scores.size else (np.nan, np.nan)
        score = float(c.scores[best])
        rows.append([team, 1 + len(others), c.runs[best], score, float(mean), float(lowest)])
    heads = columns(c, "team", "runs", "best run", str(c.measure), "mean of the others", "lowest")
    title = "The best run of each team against its others"
    return PageTable("teams", title, f"{c.measure} over all questions.", Grid(heads, rows))


def _groups(c: Overview, attribute: str, groups: list[str]) -> PageTable:
    rows: list[list[Cell]] = []
    for value in groups:
        members = [i for i, of_run in enumerate(c.info[attribute]) if of_run == value]
        summary = map(float, over_runs(c.scores[members]).values())
        best = members[0]
        rows.append([value, len(members), *summary, float(c.scores[best]), c.runs[best]])
    heads = columns(c, "runs", "mean", "median", "st. dev.", "best", "best run")
    return PageTable(
        f"runs_by_{safe(attribute)}",
        f"Runs by {attribute}",
        f"{c.measure} over all questions.",
        Grid([attribute_column(attribute, "runs"), *heads], rows),
    )


def _languages(c: Overview) -> Iterator[PageTable]:
    parsed = [parse_run_name(run) for run in c.runs]
    pairs = [(name.source, name.target) if name else ("", "") for name in parsed]
    if {"source", "target"} <= {*c.info}:
        both = zip(c.info["source"], c.info["target"], strict=True)
        pairs = [(a, b) if a and b else ("", "") for a, b in both]
    known = sorted({*pairs} - {("", "")})
    if not known:
        return
    sources, targets = (sorted({*names, *c.result.languages}) for names in zip(*known, strict=True))
    cells: dict[str | Column, list[Any]] = {"source": sources}
    for target in targets:
        head = Column(f"to {target}", "count", means="runs over documents in this language")
        cells[head] = [pairs.count((source, target)) for source in sources]
    of = [[i for i, pair in enumerate(pairs) if pair[0] == source] for source in sources]
    cells |= {"runs": [*map(len, of)], "teams": [len({c.teams[i] for i in some}) for some in of]}
    text = "Runs by the language of the questions and that of the documents."
    yield PageTable("languages", "Languages", text, grid_of(c, cells))
    yield _by_language(c, [source for source, _ in pairs])


def _by_language(c: Overview, languages: list[str]) -> PageTable:
    """Runs and baselines from the best, each score in the column of its language."""
    names = sorted({*languages} - {""})
    references = [reference.name for reference in c.result.references]  # the overview has them too
    scores = [*c.scores.tolist(), *(c.measure(c.baselines[name][0]) for name in references)]
    order = from_the_best(c, np.array(scores))
    spoken = [*({language} for language in languages), *({*names} for _ in references)]
    means = f"{c.measure} of the runs in this language"
    cells: dict[Any, list[Any]] = {"run": [[*c.runs, *references][i] for i in order]}
    for name in names:
        of_language = [scores[i] if name in spoken[i] else None for i in order]
        cells[Column(name, "score", means=means)] = of_language
    dim = {at for at, i in enumerate(order) if i >= len(c.runs)}
    return PageTable(
        "languages_runs",
        "Runs by language",
        f"{c.measure} over all questions, in the column of the questions' language; reference runs "
        "answer in every language.",
        grid_of(c, cells, dim=dim),
    )


def _first_runs(c: Overview) -> PageTable:
    pairs, level = c.result.first_runs, 100 * c.result.level
    means = {}
    for name in ("first_score", "other_score", "difference"):
        scores = [score for pair in pairs if (score := getattr(pair, name)) is not None]
        means[name] = float(np.mean(scores)) if scores else None
    mean = FirstRun(team="mean", first="", other="", low=None, high=None, **means)
    names = FirstRun.__struct_fields__
    grid = Grid.of_rows(FirstRun, [*pairs, mean], *names, measure=c.measure, level=level)
    return PageTable(
        "first_runs",
        "Run 01 against the best other run of its team",
        f"{c.measure} on {'main questions' if ROLE in c.slices else 'all questions'}; the "
        f"difference is paired by question; its interval ({level:.4g} %) is from a bootstrap.",
        replace(grid, dim={len(pairs)}),
    )


def _techniques(c: Overview, attribute: str) -> PageTable:
    """For each technique of a list who used it, and the mean with and without it."""
    columned = sorted({*c.teams})
    used: list[dict[str, str]] = []
    for text in c.info[attribute]:
        marks = (part.partition(":") for part in (text or "").split(SEPARATOR))
        used.append(
            {name.strip(): words.strip() or "×" for name, _, words in marks if name.strip()}
        )
    names = sorted(set().union(*used))
    rows: list[list[Cell]] = []
    for name in names:
        inside = np.array([name in techniques for techniques in used])
        users = {c.teams[i]: used[i][name] for i in np.flatnonzero(inside)[::-1]}
        numbers = difference_of_groups(c.scores, inside, c.teams, c.result.level)
        told = (users.get(team, "") for team in columned)
        rows.append([name, int(inside.sum()), len(users), *numbers, *told])
    heads = [
        Column(attribute, means="as in the table of runs"),
        *columns(c, "runs", "teams", "mean with", "mean without", "difference", "low", "high"),
        *(Column(f"team {team}", means="× or words where the team used it") for team in columned),
    ]
    return PageTable(
        f"techniques_{safe(attribute)}",
        f"Runs with and without each value of {attribute}",
        f"Mean {c.measure} of runs with and without it. The interval of the difference "
        f"({100 * c.result.level:.4g} %) treats teams as independent. A difference is not an "
        "effect: teams differ in many other ways.",
        Grid(heads, rows),
    )


def problem_table(c: Overview) -> Iterator[PageTable]:
    grid = problem_grid(c, c.result.problems, c.result.warnings)
    if grid.rows:
        left = plural(len(c.result.skipped), "run was", "runs were")
        reading = f"{left} left out for a problem; a warning leaves nothing out."
        yield PageTable("problems", "Problems of what was handed in", reading, grid)


def problem_grid(c: Overview, problems: Sequence[Problem], warnings: Sequence[Problem]) -> Grid:
    rows: list[list[Cell]] = [
        [p.team or "", p.run or "", str(p.place), severity, p.kind, p.typed or p.message]
        for severity, some in (("problem", problems), ("warning", warnings))
        for p in some
    ]
    heads = columns(c, "team", "run", "place", "severity", "kind", "what is wrong")
    return Grid(heads, rows)


MOST, MOST_IN_A_LETTER = 500, 20


def problems_of(
    result: CampaignResult, team: str, runs: set[str]
) -> tuple[list[Problem], list[Problem]]:
    """A team's problems and warnings, without a word on other teams or the organiser's disk."""
    mine = [p for p in result.problems if p.team == team]
    odd = [p for p in result.warnings if p.team == team or p.run in runs]
    problems, warnings = ([_as_told(p, runs) for p in some[:MOST]] for some in (mine, odd))
    return problems, warnings


def _as_told(problem: Problem, runs: set[str]) -> Problem:
    """A problem without its folder, other teams' files and runs, or options beside a question."""
    name, message = basename(problem.file), problem.typed or problem.message
    message = message.replace(problem.file, name)
    if problem.kind == "shared run id":
        message = re.sub(r" \(first: .*\)", "", message)
    if problem.kind == "identical runs":
        message, _, other = message.partition(" as run ")
        message += f" as run {other}" if other.strip("'") in runs else " as a run of another team"
    message = re.sub(r" \(its options: .*\)(?=; --|$)", "", message)
    return replace(problem, file=name, typed="", message=message)


def letters(result: CampaignResult) -> dict[str, str]:
    """A text for each team: what was received, what is wrong, how to mend it; no score in it."""
    return {team: _letter(result, team) for team in teams_of_campaign(result)}


def _letter(result: CampaignResult, team: str) -> str:
    ranked = sorted(row.run for row in result.rows if row.team == team)
    apart = {run.name: run.status for run in result.unranked if run.team == team}
    reasons, over = result.apart.get(team, {}), [r for t, r in result.over_limit if t == team]
    wrong, odd = (
        [(p.kind, wrap(f"- {p.place}: {p.message}", 76, subsequent_indent="  ")) for p in some]
        for some in problems_of(result, team, {*ranked, *apart})
    )
    return from_template(
        "templates/letter.txt",
        escaped=False,
        title=result.title,
        team=team,
        received=plural(len(ranked) + sum(reasons.values()) + len(over), "run"),
        ranked=ranked,
        apart=apart,
        over=over,
        gone={why: n for why, n in reasons.items() if why not in apart.values()},
        wrong=wrong,
        odd=odd,
        most=MOST_IN_A_LETTER,
    )
