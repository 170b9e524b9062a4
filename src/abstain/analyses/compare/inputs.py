"""Runs paired by question: outcomes of several runs on the questions that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.analyses.campaign.matrix import EXCLUDED, slices_of
from abstain.errors import InputError, UsageError, plural
from abstain.judging.opening import old_reading
from abstain.judging.slices import cluster_numbers
from abstain.outcomes import KINDS, Effect, Policy, Why, blank_kind, blanks_by_reason

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

    Kinds = npt.NDArray[np.uint8]
    Parts = tuple[str, Sequence[str], npt.NDArray[np.int64]]

UNKNOWN = (Why.UNPARSEABLE, Why.ERROR, Why.MISSING, Why.LIMIT, Why.UNSCORED)


@dataclass(frozen=True, slots=True)
class Paired:
    """What became of each run's response to each common question."""

    runs: list[str]
    questions: list[str]
    outcomes: npt.NDArray[np.uint8]
    """Runs × questions: positions in `OUTCOMES`."""
    in_all: int
    """Questions before the ones that not all runs have were left out."""
    absent: dict[str, int]
    """For each run that lacks some, how many questions it has no usable response to."""
    clusters: npt.NDArray[np.int64] | None
    parts: tuple[Parts, ...]
    known: Array
    """Six counts of the responses that are known, over all questions."""
    unknown: IntArray
    """Responses that were unparseable, failed or missing, over all questions."""
    policy: Policy
    touched: dict[str, int]
    notes: tuple[str, ...] = ()
    confidence: Array | None = None
    """Runs × questions, NaN where none was given; None where nobody asked for it."""


def from_gold(
    gold: Any,
    runs: Any,
    *,
    cluster: str | None,
    by: Sequence[str],
    policy: Policy | Mapping[str, str] | Iterable[str] | None,
    align: str,
    match: str,
    columns: Mapping[str, str] | None,
    format: str | None,
    confident: bool = False,
) -> Paired:
    """Judge runs against a gold and pair them, where asked for with their confidences."""
    from abstain.io.frames import check_mapping
    from abstain.judging.gold import read_gold
    from abstain.judging.judge import check_align, judge
    from abstain.judging.matrix import filled
    from abstain.judging.opening import open_runs
    from abstain.judging.responses import describe, own_cluster
    from abstain.judging.tally import kind_matrix

    standard = read_gold(gold, old_reading(columns, format))
    sources = open_runs(runs, columns=columns, format=format)
    cluster = cluster or own_cluster((s.table for s in sources), standard.attributes)
    standard.check_attributes([*by, *([cluster] if cluster else [])])
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    judged = judge(standard, sources, match=match, align=check_align(align))
    if len(judged.frames) != 1 or not judged.frames[0].implementation.is_polars():
        raise InputError("a comparison needs its runs in memory: collect them first")
    sure = None
    if confident:
        names, kinds, sure = filled(judged, confident=True)
    else:
        found = kind_matrix(judged, judged.frames[0])
        names, kinds = found.runs, found.kinds
    if not names:
        raise InputError("has no rows, expected responses", sources[0].table.name)
    order = _as_given(names, [s.run for s in sources])
    return pair(
        [names[i] for i in order],
        standard.frame,
        kinds[order],
        None if sure is None else sure[order],
        cluster=cluster,
        by=by,
        policy=policy,
        notes=[*describe(standard, sources), *_rules_err(sources)],
    )


def from_judged(
    runs: Any,
    *,
    cluster: str | None,
    by: Sequence[str],
    policy: Policy | Mapping[str, str] | Iterable[str] | None,
    grades: Mapping[str, str] | None,
    columns: Mapping[str, str] | None,
    format: str | None,
    confident: bool = False,
) -> Paired:
    """Pair rows that carry their own outcome, where asked for with their confidences."""
    from abstain.io.frames import check_mapping
    from abstain.judging.grades import grade_rows
    from abstain.judging.judge import KIND
    from abstain.judging.opening import open_runs
    from abstain.judging.responses import own_cluster, told

    sources = open_runs(runs, columns=columns, format=format)
    cluster = cluster or own_cluster(s.table for s in sources)
    wanted = list(dict.fromkeys([*by, *([cluster] if cluster else [])]))
    check_mapping(columns or {}, [s.table for s in sources])
    rows, questions = grade_rows(sources, by=wanted, grades=grades or {}, confident=confident)
    twice = rows.filter(pl.struct("run", "question").is_duplicated())
    if twice.height:
        raise UsageError(f"run '{twice['run'][0]}' is in two tables; a run belongs in one")
    names = sorted(rows["run"].unique())
    order = _as_given(names, [s.run for s in sources])
    names = [names[i] for i in order]
    placed = rows.join(questions.select("question").with_row_index("q"), on="question", how="left")
    row_of = {name: i for i, name in enumerate(names)}
    kinds = np.full((len(names), questions.height), blank_kind(Why.MISSING), np.uint8)
    at = [row_of[run] for run in placed["run"]], placed["q"].to_numpy()
    kinds[at] = placed[KIND].to_numpy()
    sure = None
    if confident:
        sure = np.full(kinds.shape, np.nan)
        sure[at] = placed["confidence"].cast(pl.Float64).to_numpy()
    return pair(
        names,
        questions,
        kinds,
        sure,
        cluster=cluster,
        by=by,
        policy=policy,
        notes=[*told(s.table for s in sources), *_rules_err(sources)],
    )


def _rules_err(sources: Sequence[Any]) -> list[str]:
    """Refusals found by rules are a judge that errs: say where its errors go."""
    if not any(source.table.refusals for source in sources):
        return []
    return [
        "rules that find refusals err: `abstain refusals --check` measures how often, and "
        "a table of the judge's errors takes that into the corrected scores"
    ]


def _as_given(found: Sequence[str], given: Sequence[str | None]) -> list[int]:
    """Runs in the order in which their files were named, those of one file by name."""
    place = {name: i for i, name in enumerate(given) if name is not None}
    return sorted(range(len(found)), key=lambda i: (place.get(found[i], len(given)), found[i]))


def pair(
    runs: list[str],
    questions: pl.DataFrame,
    kinds: Kinds,
    confidence: Array | None = None,
    *,
    cluster: str | None = None,
    by: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    notes: Sequence[str] = (),
) -> Paired:
    """Apply a policy to kinds (runs × questions) and keep the questions that all runs have."""
    from abstain.judging.evaluation import refuse_undecided

    if len(runs) < 2:
        raise UsageError(f"a comparison needs two runs (got {plural(len(runs), 'run')})")
    rules = missing_left_out(policy)
    tallies = np.stack([np.bincount(own, minlength=KINDS) for own in kinds])
    reasons = blanks_by_reason(tallies)
    refuse_undecided(reasons, runs, rules)
    table = [rules.outcome_of(kind) for kind in range(KINDS)]
    lookup = np.array([EXCLUDED if o is None else o for o in table], np.uint8)
    outcomes = lookup[kinds]
    usable = outcomes != EXCLUDED
    common = usable.all(axis=0)
    if not common.any():
        raise _nothing_common(runs, usable)
    absent = {run: int(gone) for run, gone in zip(runs, (~usable).sum(axis=1), strict=True) if gone}
    kept = questions.filter(pl.Series(common))
    known, unknown = _unknown(tallies, rules)
    touched = {w.value: int(n) for w, n in zip(Why, reasons.sum(axis=0), strict=True) if n}
    return Paired(
        runs=runs,
        questions=kept["question"].to_list(),
        outcomes=outcomes[:, common],
        in_all=questions.height,
        absent=absent,
        clusters=None if cluster is None else cluster_numbers(kept, cluster),
        parts=tuple((n, (s := slices_of(kept, n)).names, s.part_of) for n in by),
        known=known,
        unknown=unknown,
        policy=rules,
        touched=touched,
        notes=tuple(notes),
        confidence=None if confidence is None else confidence[:, common],
    )


def missing_left_out(given: Policy | Mapping[str, str] | Iterable[str] | None) -> Policy:
    """The policy given; unless it speaks of missing responses, their questions are left out."""
    if isinstance(given, Policy):
        return given
    if given is not None and not isinstance(given, Mapping):
        given = [given] if isinstance(given, str) else list(given)
        speaks = any(text.partition("=")[0].strip().lower() == Why.MISSING for text in given)
    else:
        speaks = given is not None and any(k.strip().lower() == Why.MISSING for k in given)
    rules = Policy.of(given)
    if speaks:
        return rules
    return Policy(MappingProxyType({**rules.effects, Why.MISSING: Effect.EXCLUDED}))


def _nothing_common(runs: list[str], usable: npt.NDArray[np.bool_]) -> InputError:
    for i in range(len(runs)):
        for j in range(i):
            if not (usable[i] & usable[j]).any():
                return InputError(f"runs '{runs[j]}' and '{runs[i]}' have no question in common")
    return InputError("there is no question that all runs have")


def _unknown(tallies: IntArray, policy: Policy) -> tuple[Array, IntArray]:
    """Counts of the known responses, and how many are unknown."""
    unknown = np.zeros(KINDS, bool)
    for why in UNKNOWN:
        for candidate in ("right", "wrong", "empty"):
            unknown[blank_kind(why, candidate)] = True
    known = policy.apply(np.where(unknown, 0, tallies)).astype(np.float64)
    return known, tallies[:, unknown].sum(axis=1)
