"""What may be published of a campaign, and a letter to each team about what it handed in."""

from __future__ import annotations

import re
from os.path import basename
from textwrap import wrap

from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.campaign.blind import teams_of_campaign
from abstain.features.campaign.result import CampaignResult
from abstain.report.page import from_template
from abstain.runs.faults import Problem

MOST, MOST_IN_A_LETTER = 500, 20


def published(result: CampaignResult) -> CampaignResult:
    """The result without problems, notes, paths and names of files: they are the organiser's."""
    bare = {"reading": None, "notes": (), "command": ""}
    comparison = result.comparison and replace(result.comparison, **bare)
    nothing = {"problems": (), "warnings": (), "skipped": ()}
    return replace(result, **bare, **nothing, comparison=comparison)


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
    message = re.sub(r" \(its options: .*\)(?=; --match|$)", "", message)
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
