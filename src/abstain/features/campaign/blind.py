"""A campaign without anything that gives its answers away, and teams under other names.

Participants know their answers, so a count of right ones tells how many of them are right.
Therefore no score of a run or of a slice rests on few answers, by itself or as a difference to
another run of the team, and candidates behind blanks, which may be few, are not counted.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, plural, shown, some_of
from abstain.features.campaign.result import (
    LUCK,
    Breakdown,
    CampaignResult,
    CampaignRow,
    Questions,
    ReferenceRun,
)
from abstain.io.frames import collect, into_lazy, open_table, require
from abstain.measures import count_measure
from abstain.outcomes import ANSWERED, COUNTED, UNSPLIT, Counts
from abstain.report.result import ranked
from abstain.runs.evaluation import Evaluation
from abstain.runs.gold import slices_of
from abstain.runs.judge import INDEX, KIND, filled_in
from abstain.runs.sources import GoldRuns

SMALLEST = 10
"""Questions of a slice in a blind phase; answers of a run, and those it has beyond another."""
TOLERANCE = 1e-6
FEWEST = 5
"""Answers of a run in a slice. As many as ten would hide what runs with many blanks score."""
SMALL_SLICES = "A score in a slice with fewer than five answers is left out (–)."
REVEALING = ("nca", "correct", "answer", "accepted", "gold")
"""Attributes that say what is right."""
HARMLESS = ("abstain", "policy", "title", "measure", "pass_mark", "seed", "level")
"""What a blind result has of the open one as it is."""
BEST_ONLY = "Each team is shown with its best run only, under a pseudonym for this phase."
HELD = "held back until the gold is public"

Reference = TypeVar("Reference", bound=ReferenceRun)
Answers: TypeAlias = "npt.NDArray[np.object_]"
Array: TypeAlias = "npt.NDArray[np.float64]"


def blinded(
    result: CampaignResult,
    pseudonyms: Mapping[str, str] | None = None,
    held: Mapping[str, str] | None = None,
) -> CampaignResult:
    """The result without answers; under `pseudonyms` each team has only one row."""
    if result.blind:
        return result
    held = held or {}
    apart = {team: dict(reasons) for team, reasons in result.apart.items()}
    for team, n in Counter(row.team for row in result.rows if row.run in held).items():
        apart.setdefault(team, {})[HELD] = n
    result = guarded(result, held)
    safe = safe_breakdowns(result)
    names = [breakdown.attribute for breakdown in safe]

    def with_slices(run: Reference) -> Reference:
        pairs = zip(result.breakdowns, run.slices, strict=True)
        return replace(run, slices=[part for breakdown, part in pairs if breakdown in safe])

    rows: dict[str, CampaignRow] = {}
    places: dict[str, int] = {}
    for at, row in enumerate(result.rows):
        bare = replace(row, group="", pairs=None, blanks={})
        if pseudonyms is not None:
            bare = replace(bare, run=pseudonyms[row.team], info={})
        if bare.run not in rows:
            rows[bare.run], places[bare.run] = bare, at
    measure = count_measure(result.measure)
    in_order = ranked(rows.values(), measure)
    order = [places[row.run] for row in in_order]
    notes = [result.about, "" if pseudonyms is None else BEST_ONLY, SMALL_SLICES]
    asked = result.questions
    one_right = not any(asked.nothing_right) and all(len(right) == 1 for right in asked.accepted)
    luck = [run for run in result.references if run.name == LUCK and one_right]
    unranked = result.unranked
    if pseudonyms is not None:
        best = {row.team for row in result.rows}
        late = [run for run in unranked if run.team not in best]
        late.sort(key=lambda run: measure(Counts.of(run.counts)))
        named = {run.team: replace(run, name=pseudonyms[run.team], info={}) for run in late}
        unranked = tuple(sorted(named.values(), key=lambda run: run.name))
        gone = {team: apart[team] for team in {*apart} - {"", *best}}
        apart = {pseudonyms[team]: dict.fromkeys(gone[team], 0) for team in sorted(gone)}
    return CampaignResult(
        **{name: getattr(result, name) for name in HARMLESS},
        about=" ".join(filter(None, notes)),
        topic_by=result.topic_by if result.topic_by in names else None,
        test_by=result.test_by if result.test_by in names else None,
        rows=tuple(in_order),
        questions=_questions(result, names),
        breakdowns=tuple(with_outcomes(b, np.array(b.outcomes)[:, order]) for b in safe),
        references=tuple(map(with_slices, luck)),
        with_references=result.with_references,
        unranked=tuple(map(with_slices, unranked)),
        apart=dict(sorted(apart.items())),
        blind=True,
    )


def with_outcomes(breakdown: Breakdown, table: npt.NDArray[Any]) -> Breakdown:
    """The breakdown with other numbers: outcomes × runs × slices."""
    return replace(breakdown, **dict(zip(COUNTED, table.tolist(), strict=True)))


def _questions(result: CampaignResult, names: Sequence[str]) -> Questions:
    attributes = result.questions.attributes
    kept = sorted(zip(*(attributes[name] for name in names), strict=True), key=repr)
    columns = dict(zip(names, map(list, zip(*kept, strict=True)), strict=False))
    numbers: list[str | None] = [str(at) for at in range(1, len(attributes["question"]) + 1)]
    return Questions(attributes={"question": numbers, **columns})


def safe_breakdowns(result: CampaignResult) -> list[Breakdown]:
    """The breakdowns from which, even together, no count of few or of secret questions follows."""
    attributes = result.questions.attributes
    frame = pl.DataFrame(attributes, schema=dict.fromkeys(attributes, pl.String))
    accepted = pl.Series(["\x1f".join(sorted(right)) for right in result.questions.accepted])
    secret = [part for name in result.secret for part in _parts(frame, name) if not part.all()]
    shown_so_far = np.ones((1, frame.height))
    kept = []
    for breakdown in result.breakdowns:
        name = breakdown.attribute
        if name in (*REVEALING, *result.secret) or _reveals(frame[name], accepted):
            continue
        together = np.concatenate([shown_so_far, _parts(frame, name)])
        if breakdown.slices and not (_reveals_few(together) or _add_up(together, secret)):
            shown_so_far = together
            kept.append(breakdown)
    return kept


def _parts(frame: pl.DataFrame, attribute: str) -> Array:
    """Slices × questions, 1 where a question is in the slice; those in none are one more."""
    number = slices_of(frame, attribute).slice_of
    return np.asarray(number == np.unique(number)[:, None], float)


def _add_up(slices: Array, secret: Sequence[Array]) -> bool:
    """Whether sums and differences of slices (all questions first) are few or secret questions.

    A set follows from them if it lies in their space: its projection there is as long as itself.
    Tried: questions that no slice tells apart, where few; all of those in a slice; secret slices.
    """
    cells, count = np.unique(slices, axis=1, return_counts=True)
    few = cells * count * (count < SMALLEST)
    rest = few @ cells.T
    products = [few[:, count < SMALLEST], rest[:, rest[0] < SMALLEST]]
    sets = np.column_stack([*products, *(slices @ part for part in secret)])
    inverse = np.linalg.pinv(slices @ slices.T, rcond=TOLERANCE**2, hermitian=True)
    lengths = (sets * (inverse @ sets)).sum(axis=0)
    return bool((lengths > sets[0] * (1 - TOLERANCE))[sets[0] > 0].any())


def _reveals(attribute: pl.Series, accepted: pl.Series) -> bool:
    """Whether an attribute says what is right: it follows from the answers, or they from it."""
    frame = pl.DataFrame({"a": attribute, "right": accepted}).drop_nulls()
    if frame["a"].n_unique() < 2:
        return False
    repeats = frame["right"].n_unique() <= frame.height / 2
    by_answer = frame.group_by("right").agg(pl.col("a").n_unique())["a"].max()
    by_value = frame.group_by("a").agg(pl.col("right").n_unique(), pl.len())
    unanimous = by_value.filter((pl.col("len") > 1) & (pl.col("right") == 1)).height
    return (repeats and by_answer == 1) or unanimous > 0


def _reveals_few(slices: Array) -> bool:
    """Whether a slice, or what one has beyond another inside it, is too small."""
    sizes = slices.sum(axis=1)
    if (sizes < SMALLEST).any():
        return True
    within = slices @ slices.T == sizes[:, None]  # slice i lies inside slice j
    beyond = sizes[None] - sizes[:, None]
    return bool((within & (beyond > 0) & (beyond < SMALLEST)).any())


def held_back(evaluation: Evaluation, result: CampaignResult) -> dict[str, str]:
    """Runs whose score would reveal a few answers, each with the reason; the first of two stays."""
    team_of = {row.run: row.team for row in result.rows}
    team_of |= {late.name: late.team for late in result.unranked}
    answers = answers_of(evaluation)
    held: dict[str, str] = {}
    kept: dict[str, list[str]] = {}
    for run, team in sorted(team_of.items()):
        others = kept.setdefault(team, [])
        if reason := _too_few(run, others, answers):
            held[run] = reason
        else:
            others.append(run)
    if {row.run for row in result.rows} <= {*held}:
        why = f"every ranked run is held back (the first: {held[result.rows[0].run]})"
        raise UsageError(f"no run can be shown in a blind phase: {why}")
    return held


def _too_few(run: str, others: Sequence[str], answers: Mapping[str, Answers]) -> str:
    """Why a run's score, or its difference to another run of the team, reveals few answers."""
    for other in (None, *others):
        few = int(np.count_nonzero(answers[run] != ("" if other is None else answers[other])))
        if 0 < few < SMALLEST:
            has = "has" if other is None else f"differs from {shown(other)} in"
            return f"it {has} only {plural(few, 'answer')}"
    return ""


def answers_of(evaluation: Evaluation) -> dict[str, Answers]:
    """The answers of each run, question by question; empty for a blank."""
    source = evaluation.data.source
    assert isinstance(source, GoldRuns)
    answers = np.full((len(evaluation.runs), len(source.gold)), "", object)
    place = {run: at for at, run in enumerate(evaluation.runs)}
    rows = answer_rows(source)
    at = rows["run"].replace_strict(place, return_dtype=pl.Int64).to_numpy()
    answers[at, rows[INDEX].to_numpy()] = rows["answer"]
    return dict(zip(evaluation.runs, answers, strict=True))


def answer_rows(source: GoldRuns) -> pl.DataFrame:
    """Run, question and answer of every response that is no blank."""
    judged, types = (
        source.judged(),
        pl.Schema({"run": pl.String, INDEX: pl.Int64, "answer": pl.String}),
    )
    answered = (
        frame.filter(nw.col(KIND).is_in(ANSWERED), filled_in("answer")).select(*types)
        for frame in judged.frames
    )
    return pl.concat([collect(frame, judged.label).cast(types) for frame in answered])


def guarded(result: CampaignResult, held: Mapping[str, str]) -> CampaignResult:
    """The result without runs that are held back, small cells and candidates behind blanks."""
    chosen = [at for at, row in enumerate(result.rows) if row.run not in held]
    measure = count_measure(result.measure)
    split = measure.definition.needs_candidates  # then candidates are what is scored
    rows = [_plain(result.rows[at], result.measure, split=split) for at in chosen]
    answered = np.array([row.counts.answered for row in rows])
    tables = [np.array(each.outcomes)[:, chosen] for each in result.breakdowns]
    breakdowns = tuple(
        with_outcomes(each, _guarded_cells(table, answered, split=split))
        for each, table in zip(result.breakdowns, tables, strict=True)
    )
    unranked = []
    for run in (run for run in result.unranked if run.name not in held):
        counts = np.array(run.counts)
        answers = counts[:2].sum(keepdims=True)
        slices = [
            _guarded_cells(np.array(part)[:, None], answers, split=split)[:, 0].tolist()
            for part in run.slices
        ]
        counts = counts if split else _without_candidates(counts)
        unranked.append(replace(run, counts=counts.tolist(), slices=slices))
    ranks = tuple(ranked(rows, measure))
    return replace(result, rows=ranks, breakdowns=breakdowns, unranked=tuple(unranked))


def _plain(row: CampaignRow, measure: str, *, split: bool) -> CampaignRow:
    """A run without candidates, its interval with three digits: more of them reveal questions."""
    ends = row.intervals.get(measure, (None, None))
    low, high = (None if end is None else round(end, 3) for end in ends)
    numbers, k = row.numbers, row.counts
    if not split:
        numbers = Counts(k.right, k.wrong, unsplit=k.unanswered).to_dict()
    return replace(row, numbers=numbers, intervals={measure: (low, high)} if row.intervals else {})


def _guarded_cells(
    table: npt.NDArray[Any], answered: npt.NDArray[Any], *, split: bool
) -> npt.NDArray[Any]:
    """Outcomes × runs × slices, with zeros where few answers, or few beyond those shown, are."""
    visible = table.copy() if split else _without_candidates(table)
    for run, cells in enumerate(table[0] + table[1]):
        hidden = (cells > 0) & (cells < FEWEST)
        for at in np.argsort(cells, kind="stable"):
            rest = answered[run] - cells[~hidden].sum()
            if rest == 0 or rest >= FEWEST:
                break
            hidden[at] |= cells[at] > 0
        visible[:, run, hidden] = 0
    return visible


def _without_candidates(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Outcomes × …, all blanks as if nobody knew their candidates."""
    plain = table.copy()
    plain[UNSPLIT] = table[2:].sum(axis=0)
    plain[2:UNSPLIT] = 0
    return plain


def read_pseudonyms(path: Any, teams: Sequence[str]) -> dict[str, str]:
    """The name of each team for the blind phase, from a table of team and pseudonym."""
    table = open_table(path, name="the pseudonyms")
    purpose = "which is needed to give each team its pseudonym"
    require(table, {"team": purpose, "pseudonym": purpose})
    frame = collect(into_lazy(table.frame).select("team", "pseudonym"), table.name)
    rows = [[str(text or "").strip() for text in row] for row in frame.iter_rows()]
    pseudonyms: dict[str, str] = dict(rows)
    for values in zip(*rows, strict=True):
        for value in values:
            if values.count(value) > 1 or not value:
                raise InputError(f"{shown(value)} is empty or appears twice", table.name)
    if lacking := [team for team in teams if team not in pseudonyms]:
        raise InputError(f"has no pseudonym for {some_of(lacking)}", table.name)
    for team, name in pseudonyms.items():
        for known in (team, *teams):
            if _names(name, known):
                raise InputError(f"{shown(name)} names team {shown(known)}", table.name)
    return pseudonyms


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
    pseudonyms: dict[str, str] = {}
    for team in teams:
        name = team
        while name in pseudonyms.values() or any(_names(name, t) for t in teams):
            name = "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(3))
        pseudonyms[team] = name
    return pseudonyms


def teams_of_campaign(result: CampaignResult) -> list[str]:
    """Every team that handed something in, valid or not."""
    teams = {row.team for row in result.rows} | {run.team for run in result.unranked}
    return sorted(teams | {*result.apart} - {""})


def published(result: CampaignResult) -> CampaignResult:
    """The result without problems, notes, paths and names of files: they are the organiser's."""
    bare = {"reading": None, "notes": (), "command": ""}
    comparison = result.comparison and replace(result.comparison, **bare)
    nothing = {"problems": (), "warnings": (), "skipped": ()}
    return replace(result, **bare, **nothing, comparison=comparison)
