"""`Evaluation`: runs, read and judged once; every analysis is one of its methods.

It holds the kind of every response before any policy: right, wrong, or a blank with its reason and
its candidate. Another policy maps the kinds anew and reads nothing again. Where counts are enough,
no kinds are held: the engine that the responses live in counts them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import (
    InputError,
    UndecidedError,
    UsageError,
    check_name,
    option,
    plural,
)
from abstain.measures.definition import Array, BoolArray, Codes, IntArray
from abstain.outcomes import (
    CANDIDATES,
    EXCLUDED,
    KINDS,
    OUTCOME_WORDS,
    OUTCOMES,
    SIDES,
    CountsArray,
    DecisionsArray,
    Effect,
    Policy,
    Unanswerable,
    Why,
    blanks_by_reason,
    reasons_named,
)
from abstain.reading import (
    CHOICES,
    PolicyLike,
    Reading,
    Selection,
    narrowed,
    policy_entries,
    positions,
    refuse_meaningless,
)
from abstain.registry import with_feature_methods
from abstain.runs.counting import count_cells
from abstain.runs.gold import Slices, cluster_numbers, numbered_slices, slices_of
from abstain.runs.judge import KIND
from abstain.runs.responses import SAMPLE
from abstain.runs.sources import Source, Subset, having

if TYPE_CHECKING:
    from abstain.features.campaign.analysis import campaign as _campaign
    from abstain.features.compare.analysis import compare as _compare
    from abstain.features.curve.analysis import curve as _curve
    from abstain.features.decisions.analysis import decisions as _decisions
    from abstain.features.meta.analysis import meta as _meta
    from abstain.features.score.analysis import score as _score
    from abstain.features.score.several import several as _several
    from abstain.features.tune.analysis import tune as _tune
    from abstain.features.validate.analysis import validate as _validate

NOTHING_RIGHT = (
    "the gold has no right answer for {}: there, only an answer such as 'none' counts as right"
)
DECLINING: dict[Unanswerable, str] = {
    "right": "declining an unanswerable question counts as right, an answer to one as wrong",
    "blank": "declining an unanswerable question counts as a blank",
    "wrong": "declining an unanswerable question counts as wrong",
}

NONE_MARKED = "no question is marked as unanswerable"
UNMARKED = f"{NONE_MARKED}: mark them with a column 'answerable', or an empty 'correct' in a gold"

Tables: TypeAlias = "dict[tuple[str, tuple[str | None, ...]], Array]"
"""Run and slice to a table of counts, a row for each cluster."""

ONE_HOT = np.eye(EXCLUDED + 1)[:, :EXCLUDED]
"""What each code adds to the counts."""

STOPPED = {Why.ERROR: "failed", Why.UNSCORED: "got no verdict"}


class Counted(Struct, frozen=True):
    runs: list[str]
    slices: list[tuple[str | None, ...]]
    counts: CountsArray
    questions: int | None
    blanks: IntArray | None = None
    """Blanks of each row in the order of `REASONS`, before the policy."""
    excluded: IntArray | None = None
    """Responses of each row that the policy excludes."""


class RunData:
    """What features compute with: kinds, outcomes, counts and confidences under a policy."""

    def __init__(self, source: Source, policy: Policy) -> None:
        self.source = source
        if policy.unanswerable is None and source.marks_unanswerable:
            policy = dataclasses.replace(policy, unanswerable="right")
        self.policy = policy
        self.kind, self.cluster = source.kind, source.cluster
        self.with_attributes = source.questions

    @property
    def runs_as_listed(self) -> list[str]:
        """The runs in the order in which their files were named, those of one file by name."""
        tables = self.source.responses
        place = {table.run: at for at, table in enumerate(tables) if table.run is not None}
        return sorted(self.source.names(), key=lambda run: (place.get(run, len(place)), run))

    @property
    def touched(self) -> dict[str, int]:
        """The number of blanks by reason: how often each rule of the policy applied."""
        return reasons_named(self.policy.touched(self.source.count_kinds(()).table).sum(axis=0))

    @property
    def marks_unanswerable(self) -> bool:
        return self.source.marks_unanswerable

    def sides(self, by: Sequence[str] = ()) -> IntArray:
        """Responses by kind, before the policy: rows × 2 (answerable, unanswerable) × KINDS."""
        self.source.require_whole()
        return self.source.count_kinds(by).table.reshape(-1, len(SIDES), KINDS)

    def decided(self, by: Sequence[str] = ()) -> DecisionsArray:
        """Decisions under the policy, in the rows of `counted`; raises where none is marked."""
        self.source.require_whole()
        if self.kind == "counts":
            raise UsageError("counts do not say which questions can be answered")
        if not self.source.count_kinds(()).table[:, KINDS:].any():
            raise InputError(UNMARKED)
        kinds = self.source.count_kinds(by)
        refuse_undecided(blanks_by_reason(kinds.table), kinds.runs, self.policy)
        return DecisionsArray(self.policy.apply(kinds.table, decisions=True))

    def by_cluster(self, by: Sequence[str], *, decisions: bool = False) -> Tables | None:
        """Counts of each cluster by run and slice; no value makes a cluster of one.

        None where questions are independent: with partial credit each is a cluster then.
        """
        if self.kind == "counts" or (self.cluster is None and self.source.shares is None):
            return None
        from abstain.runs.partial import summed_by

        slices, slice_of = numbered_slices(self.with_attributes(by), by)
        clusters, tables = self.clusters(), {}
        codes = self.decision_codes if decisions else None
        for number, run in enumerate(self.source.names()):
            each = self.each(number) if codes is None else ONE_HOT[codes[number]]
            for at, part in enumerate(slices):
                inside = slice_of == at
                table = each[inside]
                if clusters is not None:
                    groups = np.unique(clusters[inside], return_inverse=True)[1]
                    table = summed_by(groups, table)
                tables[run, part] = table
        return tables

    @property
    def decision_codes(self) -> Codes:
        """Runs × questions: indices into `DECISIONS`, or `EXCLUDED`."""
        self.decided()
        return self.policy.decisions(EXCLUDED).astype(np.uint8)[self.kinds]

    @property
    def samples(self) -> int | None:
        """How many questions there are, where the files say that each was asked repeatedly."""
        if self.cluster != SAMPLE or self.source.kind == "counts":
            return None
        asked = self.with_attributes([SAMPLE])
        different = asked[SAMPLE].n_unique()
        return different if different < asked.height else None

    @property
    def kinds(self) -> Codes:
        """Runs × questions: the kind of every response before any policy."""
        return self.source.matrix(confident=False).kinds

    @property
    def codes(self) -> Codes:
        """Runs × questions: indices into `COUNTED`, or `EXCLUDED`; the effect `stop` raises."""
        self.source.require_whole()
        return self.ends

    @cached_property
    def ends(self) -> Codes:
        """As `codes`, but an answer with partial credit is among the right ones."""
        kinds = self.kinds  # first: what is held is not counted again where it lives
        counts = self.source.count_kinds(())
        refuse_undecided(blanks_by_reason(counts.table), counts.runs, self.policy)
        return self.policy.outcomes(EXCLUDED).astype(np.uint8)[kinds]

    @property
    def states_confidence(self) -> bool:
        return any("confidence" in item.table.columns for item in self.source.responses)

    def require_confidence(self) -> None:
        if self.kind == "counts" or self.states_confidence:
            return
        how = f"map another name with {option('columns', {'confidence': 'COLUMN'})}"
        what = f"has no column 'confidence' (numbers from 0 to 1); {how}"
        raise InputError(what, self.source.responses[0].table.name)

    @property
    def confidence(self) -> Array:
        """Runs × questions: the confidence of each response; NaN where none is stated."""
        sure = self.source.matrix(confident=True).confidence
        assert sure is not None
        return sure

    def counted(self, by: Sequence[str] = ()) -> Counted:
        """Counts under the policy, by run and slice."""
        if (published := self.source.published(by)) is not None:
            sizes = set(published[2].n.tolist())
            return Counted(*published, int(sizes.pop()) if len(sizes) == 1 else None)
        kinds = self.source.count_kinds(by)
        reasons = blanks_by_reason(kinds.table)
        refuse_undecided(reasons, kinds.runs, self.policy)
        table: Any = self.policy.apply(kinds.table)
        excluded = kinds.table.sum(axis=1) - table.sum(axis=1)
        if self.source.shares is not None:
            slices, slice_of = numbered_slices(self.source.questions(by), by)
            table = self.sliced(Slices("", [""] * len(slices), slice_of)).table.reshape(table.shape)
        counts, touched = CountsArray(table), self.policy.touched(kinds.table)
        return Counted(kinds.runs, kinds.slices, counts, kinds.questions, touched, excluded)

    def sliced(self, slices: Slices) -> CountsArray:
        """Counts by run and slice: runs × slices; questions in no slice are dropped."""
        if self.source.shares is not None:
            runs = range(len(self.ends))
            return CountsArray(np.stack([slices.sums(self.each(run)) for run in runs]))
        table = count_cells(self.ends, slices.slice_of, len(slices.names), EXCLUDED + 1)
        return CountsArray(table[..., :EXCLUDED])

    def each(self, run: int) -> Array:
        """What each question of a run adds to the six counts: a share of right and of wrong."""
        table: Array = ONE_HOT[self.ends[run]]
        if (shares := self.source.shares) is None:
            return table
        from abstain.runs.partial import of_each

        return of_each(table, shares[run])

    def overall(self) -> CountsArray:
        everywhere = Slices("", [""], np.zeros(self.ends.shape[1], np.int64))
        return CountsArray(self.sliced(everywhere).table[:, 0])

    def slices(self, attribute: str) -> Slices:
        return slices_of(self.with_attributes([attribute]), attribute)

    def clusters(self, attribute: str | None = None) -> IntArray | None:
        """The number of each question's cluster; None where questions are independent."""
        name = attribute or self.cluster
        return None if name is None else cluster_numbers(self.with_attributes([name]), name)


@with_feature_methods
class Evaluation:
    """Runs judged against a gold, or graded already; every analysis is one of its methods."""

    def __init__(self, source: Source, reading: Reading) -> None:
        self.reading = reading
        self.data = RunData(source, reading.rules())
        """What features compute with."""
        self.policy = self.data.policy
        """What each kind of blank becomes."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs by name."""
        return tuple(self.data.source.names())

    @property
    def questions(self) -> pl.DataFrame:
        """The questions with their attributes, a row each."""
        return self.data.with_attributes(None)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes from reading, and what declining an unanswerable question counts as."""
        gold, way = self.data.source.gold, self.policy.unanswerable
        notes = self.data.source.notes
        if way is None:
            nothing = 0 if gold is None or gold.verdicts else gold.without_answer
            return (*notes, NOTHING_RIGHT.format(plural(nothing, "question"))) if nothing else notes
        there = self.data.marks_unanswerable if gold is None else bool(gold.sides.any())
        if there or self.data.source.count_kinds(()).table[:, KINDS:].any():
            return (*notes, DECLINING[way])
        return notes if self.reading.unanswerable is None else (*notes, NONE_MARKED)

    @property
    def subset(self) -> Selection | None:
        """Which runs and questions were chosen with `only`; None: all that were read."""
        return self.data.source.subset

    def __len__(self) -> int:
        return self.questions.height

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Evaluation: {plural(len(self.data.source.responses), 'table')}, {self.data.kind}>"

    def with_policy(
        self, policy: PolicyLike = None, *, unanswerable: Unanswerable | None = None
    ) -> Evaluation:
        """The same responses under another policy; nothing is read again.

        `unanswerable` says what declining an unanswerable question counts as; the policy stays as
        it is if only that is passed.
        """
        stays = policy is None and unanswerable is not None
        entries = self.reading.policy if stays else policy_entries(policy)
        if unanswerable is not None:
            check_name(f"value of {option('unanswerable')}", unanswerable, CHOICES["unanswerable"])
        stated = policy.unanswerable if isinstance(policy, Policy) else None
        way = unanswerable or stated or self.reading.unanswerable
        reading = replace(self.reading, policy=entries, unanswerable=way)
        refuse_meaningless(reading, self.data.kind)
        return Evaluation(self.data.source, reading)

    def only(
        self,
        *,
        runs: Collection[str] | str | None = None,
        where: Mapping[str, str | Collection[str]] | None = None,
    ) -> Evaluation:
        """Some of the runs, on some of the questions: those whose attributes have some values."""
        if (of_counts := self.data.source.only(runs, where)) is not None:
            return Evaluation(of_counts, self.reading)
        names = self.data.source.matrix(confident=False).runs
        rows = positions("run", names, runs)
        questions = self.data.with_attributes(list(where) if where else None)
        inside, wanted = having(questions, where)
        chosen = narrowed(
            self.subset,
            runs=[names[i] for i in rows],
            of_runs=len(names),
            where=wanted,
            questions=int(inside.sum()),
            of_questions=len(inside),
        )
        part = part_of(self, inside, rows)
        part.data.source.subset = chosen
        return part

    def counts(self, *, by: Sequence[str] | str = ()) -> pl.DataFrame:
        """Counts under the policy, a row for each run and slice (polars)."""
        by = (by,) if isinstance(by, str) else tuple(by)
        counted = self.data.counted(by)
        columns: dict[str, Any] = {"run": counted.runs}
        columns |= {name: [values[i] for values in counted.slices] for i, name in enumerate(by)}
        rows = [counted.counts[at].to_dict() for at in range(len(counted.runs))]
        columns |= {name: [row[name] for row in rows] for name in OUTCOMES}
        columns["unanswered"] = counted.counts.unanswered
        kind = pl.Int64 if counted.counts.table.dtype.kind == "i" else pl.Float64
        return pl.DataFrame(columns, schema_overrides=dict.fromkeys(OUTCOMES, kind))

    def outcomes(self) -> pl.DataFrame:
        """Every response: run, question, outcome, why it is blank, confidence (polars)."""
        sure = self.data.confidence  # first: kinds come with it, and nothing is read twice
        names, ids = self.runs, self.questions["question"]
        blanks = [why.value for why in Why for _ in CANDIDATES]
        reasons = pl.Series([None, None, *blanks, None] * len(SIDES))
        ends = pl.Series(OUTCOME_WORDS)
        return pl.DataFrame(
            {
                "run": pl.Series(names).gather(np.repeat(np.arange(len(names)), len(ids))),
                "question": ids.gather(np.tile(np.arange(len(ids)), len(names))),
                "outcome": ends.gather(self.data.codes.reshape(-1)),
                "why": reasons.gather(self.data.kinds.reshape(-1)),
                "confidence": pl.Series(sure.reshape(-1)).fill_nan(None),
            }
        )

    if TYPE_CHECKING:  # features answer these: `registry`
        score = _score
        several = _several
        decisions = _decisions
        compare = _compare
        curve = _curve
        tune = _tune
        meta = _meta
        campaign = _campaign
        validate = _validate


def part_of(
    evaluation: Evaluation, inside: BoolArray, rows: Sequence[int] | None = None
) -> Evaluation:
    """A part of an evaluation: questions by mask, runs by index (None: all)."""
    source = evaluation.data.source
    wanted = range(len(source.names())) if rows is None else rows
    part = Subset(source, np.flatnonzero(inside), np.array(wanted, np.int64))
    return Evaluation(part, evaluation.reading)


def refuse_undecided(reasons: IntArray, runs: Sequence[str], policy: Policy) -> None:
    for position, why in enumerate(Why):
        if policy.effects[why] is Effect.STOP and reasons[:, position].any():
            count = int(reasons[:, position].sum())
            run = runs[int(reasons[:, position].argmax())]
            what = f"{plural(count, 'response')} {STOPPED.get(why, 'must be decided on')} ({why})"
            how = f"{option('policy', {why: 'unanswered'})}, or wrong or excluded"
            first = f"the first in run '{run}'"
            raise UndecidedError(f"{what}, {first}; say what they count as: {how}")


def refuse_undecided_rows(rows: pl.DataFrame, policy: Policy) -> dict[str, int]:
    """As `refuse_undecided`, for rows with run and kind; returns the number of blanks by reason."""
    names = sorted(rows["run"].unique())
    kinds = rows[KIND].to_numpy()
    counts = count_cells(kinds[None], rows["run"].rank("dense").to_numpy() - 1, len(names))[0]
    refuse_undecided(blanks_by_reason(counts), names, policy)
    return reasons_named(policy.touched(counts).sum(axis=0))
