"""A campaign without anything that gives its answers away, and teams under other names.

What is left out, and why: what is right and what was answered; every number by question; curves
over confidences, whose steps are single answers; comparisons and resamples, which go by question;
baselines that count how often an option is right; attributes that follow from the answers;
slices so small, by themselves or by subtraction, that their score reveals single answers; and
what `withheld.py` says of few answers.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import replace

from abstain.analyses.campaign.result import (
    Breakdown,
    CampaignResult,
    CampaignRow,
    Questions,
    ReferenceRun,
)
from abstain.analyses.campaign.withheld import (
    SMALLEST,
    UNSAID,
    guarded,
    team_of_row,
    team_of_unranked,
)
from abstain.analyses.result import ranked
from abstain.errors import InputError, UsageError, option, shown, some_of
from abstain.io.columns import require
from abstain.io.frames import collect, into_lazy, open_table
from abstain.judging.slices import slices_of
from abstain.measures import count_measure
from abstain.outcomes import OUTCOMES

SAYS_WHAT_IS_RIGHT = ("nca", "correct", "answer", "accepted", "gold")
LUCK = "random (expected)"
"""The one baseline that the test set itself gives."""
BEST_ONLY = "Each team is shown with its best run only, under a pseudonym for this phase."


def blinded(
    result: CampaignResult,
    pseudonyms: Mapping[str, str] | None = None,
    held: Mapping[str, str] | None = None,
) -> CampaignResult:
    """The result without what gives answers away; with `pseudonyms`, without who is who.

    Under pseudonyms each team has one row, its best run: how many runs a team sent, in which
    languages and when, would tell who it is. Runs that are `held` are left out.
    """
    if result.blind:
        return result
    result = guarded(result, held or {})
    kept = [result.breakdowns.index(own) for own in safe_breakdowns(result)]
    chosen = list(range(len(result.rows)))
    if pseudonyms is not None:
        chosen = _best_rows(result)
    rows = [_bare(result.rows[i], pseudonyms) for i in chosen]
    higher = count_measure(result.measure).higher_is_better
    ordered = ranked(rows, result.measure, higher_is_better=higher)
    place = {id_of(row): at for at, row in zip(chosen, rows, strict=True)}
    order = [place[id_of(row)] for row in ordered]
    names = [result.breakdowns[i].attribute for i in kept]
    return replace(
        result,
        command="",
        reading=None,
        subset=None,
        notes=(),
        touched={},
        about=" ".join(
            filter(None, [result.about, BEST_ONLY if pseudonyms is not None else "", UNSAID])
        ),
        topic_by=result.topic_by if result.topic_by in names else None,
        test_by=result.test_by if result.test_by in names else None,
        rows=tuple(ordered),
        questions=_questions(result, names),
        breakdowns=tuple(_rows_of(result.breakdowns[i], order) for i in kept),
        references=tuple(_parts_of(own, kept) for own in _references(result)),
        unranked=()
        if pseudonyms is not None
        else tuple(_parts_of(o, kept) for o in result.unranked),
        withdrawn=(),
        first_runs=(),
        problems=(),
        warnings=(),
        skipped=() if pseudonyms is not None else result.skipped,
        blind=True,
        comparison=None,
        stability=None,
        curves=None,
    )


def id_of(row: CampaignRow) -> str:
    """A row by its run."""
    return row.run


def _best_rows(result: CampaignResult) -> list[int]:
    """The place of each team's best run."""
    first: dict[str, int] = {}
    for at, row in enumerate(result.rows):
        first.setdefault(team_of_row(row), at)
    return list(first.values())


def _bare(row: CampaignRow, pseudonyms: Mapping[str, str] | None) -> CampaignRow:
    """A run's score and outcomes, without what follows from single questions."""
    bare = replace(row, group="", pairs=None, blanks={})
    if pseudonyms is None:
        return bare
    return replace(bare, run=pseudonyms[team_of_row(row)], info={})


def _rows_of(own: Breakdown, order: Sequence[int]) -> Breakdown:
    return replace(own, **{name: [getattr(own, name)[i] for i in order] for name in OUTCOMES})


def _parts_of(own: Any, kept: Sequence[int]) -> Any:
    return replace(own, slices=[own.slices[i] for i in kept])


def _references(result: CampaignResult) -> list[ReferenceRun]:
    """The baseline that follows from the test set alone: luck, where one option is right."""
    q = result.questions
    one = not any(q.nothing_right) and all(len(own) == 1 for own in q.accepted)
    return [own for own in result.references if own.name == LUCK and one]


def _questions(result: CampaignResult, names: Sequence[str]) -> Questions:
    """How many questions each slice has; which they are is left out."""
    own = result.questions.attributes
    kept = {name: own[name] for name in names}
    size = len(own["question"])
    if kept:
        frame = pl.DataFrame(kept, schema=dict.fromkeys(kept, pl.String)).sort(list(kept))
        kept = {name: frame[name].to_list() for name in kept}
    numbers: list[str | None] = [str(number) for number in range(1, size + 1)]
    return Questions(
        attributes={"question": numbers, **kept},
        right=[],
        wrong=[],
        blank=[],
        accepted=[],
        nothing_right=[],
    )


# ------------------------------------------------------------------------ which slices are safe


def safe_breakdowns(result: CampaignResult) -> list[Breakdown]:
    """The breakdowns in which no slice, and no difference of two, is of few questions."""
    frame = pl.DataFrame(
        result.questions.attributes, schema=dict.fromkeys(result.questions.attributes, pl.String)
    )
    accepted = pl.Series(["\x1f".join(sorted(own)) for own in result.questions.accepted])
    shown_so_far = np.ones((1, frame.height), np.int32)
    kept = []
    for own in result.breakdowns:
        if own.attribute in SAYS_WHAT_IS_RIGHT or _follows(frame[own.attribute], accepted):
            continue
        slices = slices_of(frame, own.attribute)
        inside = (slices.slice_of[None] == np.arange(len(slices.names))[:, None]).astype(np.int32)
        if len(inside) and not _tells_few(np.concatenate([shown_so_far, inside])):
            shown_so_far = np.concatenate([shown_so_far, inside])
            kept.append(own)
    return kept


def _follows(attribute: pl.Series, accepted: pl.Series) -> bool:
    """Whether an attribute says what is right: it follows from the answers, or they from it."""
    frame = pl.DataFrame({"a": attribute, "right": accepted}).drop_nulls()
    if frame["a"].n_unique() < 2:
        return False
    repeats = frame["right"].n_unique() <= frame.height / 2
    by_answer = frame.group_by("right").agg(pl.col("a").n_unique())["a"].max()
    by_value = frame.group_by("a").agg(pl.col("right").n_unique(), pl.len())
    unanimous = by_value.filter((pl.col("len") > 1) & (pl.col("right") == 1)).height
    return (repeats and by_answer == 1) or unanimous > 0


def _tells_few(slices: np.ndarray[Any, np.dtype[np.int32]]) -> bool:
    """Whether a slice, or what one has beyond another inside it or what none has, is too small."""
    sizes = slices.sum(axis=1)
    if (sizes < SMALLEST).any():
        return True
    common = slices @ slices.T
    within = common == sizes[:, None]  # slice i lies inside slice j
    beyond = sizes[None] - sizes[:, None]
    if (within & (beyond > 0) & (beyond < SMALLEST)).any():
        return True
    nowhere = int((slices[1:].sum(axis=0) == 0).sum()) if len(slices) > 1 else 0
    return 0 < nowhere < SMALLEST


# ---------------------------------------------------------------------------------- other names


def read_pseudonyms(given: Any, teams: Sequence[str]) -> dict[str, str]:
    """The name of each team for the blind phase, from a table of team and pseudonym."""
    table = open_table(given, name="the pseudonyms")
    for name in ("team", "pseudonym"):
        require(table, name, "which is needed to give each team its pseudonym")
    frame = collect(into_lazy(table.frame).select("team", "pseudonym"), table.name)
    rows = [(str(a or "").strip(), str(b or "").strip()) for a, b in frame.iter_rows()]
    for at, what in enumerate(("team", "pseudonym")):
        values = [row[at] for row in rows]
        twice = next((own for own in values if values.count(own) > 1 or not own), None)
        if twice is not None:
            raise InputError(f"{what} {shown(twice)} is empty or appears twice", table.name)
    found = dict(rows)
    if lacking := [team for team in teams if team not in found]:
        raise InputError(f"has no pseudonym for {some_of(lacking)}", table.name)
    for team, name in found.items():
        known = next((t for t in (team, *teams) if _names(name, t)), None)
        if known is not None:
            raise InputError(f"{shown(name)} names team {shown(known)}", table.name)
    return found


def _names(pseudonym: str, team: str) -> bool:
    """Whether a pseudonym gives a team away by itself."""
    a, b = pseudonym.lower(), team.lower()
    return a == b or (len(b) > 2 and b in a)


def in_order_of_teams(pseudonyms: Mapping[str, str]) -> bool:
    """Whether the names sort as the teams do: then anybody can tell who is who."""
    by_team = [pseudonyms[team] for team in sorted(pseudonyms)]
    return len(by_team) > 2 and by_team in (sorted(by_team), sorted(by_team, reverse=True))


def drawn_pseudonyms(teams: Sequence[str]) -> dict[str, str]:
    """Names that nobody can work out: drawn at random, never the same twice."""
    draw = random.SystemRandom()
    found: dict[str, str] = {}
    taken = {team.lower() for team in teams}
    for team in teams:
        name = ""
        while not name or name in taken or any(_names(name, own) for own in teams):
            name = "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(3))
        taken.add(name)
        found[team] = name
    return found


def teams_of_campaign(result: CampaignResult) -> list[str]:
    """Every team that handed something in, valid or not."""
    found = {team_of_row(row) for row in result.rows}
    found |= {team_of_unranked(own) for own in result.unranked}
    found |= {own.team for own in (*result.problems, *result.warnings) if own.team}
    return sorted(found)


def refuse_revealing(*, blind: bool, reveal: bool) -> None:
    """A blind phase reveals nothing."""
    if blind and reveal:
        raise UsageError(
            f"{option('blind', value=True)} and {option('reveal', value=True)} exclude each other"
        )
