"""`Evaluation`: runs, read and judged once; every question is asked of it.

What is held is the kind of every response before any policy: right, wrong, or a blank with its
reason and its candidate. Another policy maps it anew and reads nothing again. Where counts are
enough nothing is held: the engine that the responses live in counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import polars as pl
from msgspec import Struct, structs

import abstain
from abstain.errors import InputError, UnknownNameError, UsageError, checked, option, plural
from abstain.io.names import cells
from abstain.io.selection import Selection, narrowed, positions
from abstain.judging.aliases import likely_confidence
from abstain.judging.counting import KindCounts, binned_cells
from abstain.judging.reading import PolicyLike, Reading, refuse_meaningless, said_policy
from abstain.judging.slices import Slices, cluster_numbers, slice_numbers, slice_sizes, slices_of
from abstain.measures.arrays import Array, BoolArray, Codes, IntArray
from abstain.outcomes import (
    CANDIDATES,
    EXCLUDED,
    KINDS,
    OUTCOMES,
    CountsArray,
    Effect,
    Policy,
    Why,
    blanks_by_reason,
    reasons_named,
)

if TYPE_CHECKING:
    from abstain.analyses.campaign.campaign import campaign as _campaign
    from abstain.analyses.compare import compare as _compare
    from abstain.analyses.curve import curve as _curve
    from abstain.analyses.curve.histogram import histogram as _histogram
    from abstain.analyses.meta import meta as _meta
    from abstain.analyses.score import score as _score
    from abstain.analyses.score.several import several as _several
    from abstain.analyses.tune import tune as _tune
    from abstain.analyses.validate import validate as _validate
    from abstain.judging.counting import Filled
    from abstain.judging.gold import Gold
    from abstain.judging.responses import Responses

STOPPED = {Why.ERROR: "failed", Why.UNSCORED: "got no verdict"}

Values: TypeAlias = "Mapping[str, str | Collection[str]] | None"
"""For each attribute the value, or the values, that it must have."""
Kind = Literal["gold", "judged", "counts"]
"""What an evaluation was read from."""


class Counted(Struct, frozen=True):
    """Counts of runs in slices under a policy."""

    runs: list[str]
    slices: list[tuple[str | None, ...]]
    counts: CountsArray
    questions: int | None
    blanks: IntArray | None = None
    """Blanks of each row by reason, before the policy."""
    excluded: IntArray | None = None
    """Responses of each row that the policy excludes."""


class Source(Protocol):
    """Where the responses are, and what is known of them before anything is counted."""

    kind: Kind
    gold: Gold | None
    """The gold, where there is one."""
    responses: tuple[Responses, ...]
    """The tables of responses as they were opened."""
    notes: tuple[str, ...]
    """What reading had to say."""
    cluster: str | None
    """The attribute by which the data themselves say that questions are clustered."""
    subset: Selection | None = None
    """Which part of what was read it is."""

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """The questions in order, with some of their attributes (None: all there are)."""

    def count_kinds(self, by: Sequence[str]) -> KindCounts:
        """How many responses of each kind, by run and slice, counted where they are."""

    def names(self) -> list[str]:
        """The runs, by name."""
        return sorted(set(self.count_kinds(()).runs))

    def fill(self, *, confident: bool) -> Filled:
        """The kind of every response, and its confidence where that is asked for."""

    def binned(self, bins: int) -> pl.DataFrame:
        """How many responses of each run and kind have a confidence in each bin."""
        return binned_cells(*self.fill(confident=True), bins)

    def counted(self, by: Sequence[str]) -> Counted | None:
        """The counts by run and slice, where somebody else has counted."""
        return None

    def only(self, runs: Collection[str] | str | None, where: Values) -> Source | None:
        """Some of its runs, where these values hold; None: that takes the matrix."""
        return None


class Evaluation:
    """Runs judged against a gold, or by others; read once, asked anything."""

    def __init__(self, source: Source, reading: Reading, *, held: Filled | None = None) -> None:
        self.source = source
        self.reading = reading
        self._held = held

    # ------------------------------------------------------------------------- what it holds

    @property
    def kind(self) -> Kind:
        """What it was read from: a gold and runs, judged rows, or counts."""
        return self.source.kind

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs by name."""
        if self._held is not None:
            return tuple(self._held[0])
        return tuple(self.source.names())

    @property
    def runs_as_given(self) -> list[str]:
        """The runs in the order in which their files were named, those of one file by name."""
        place = {own.run: i for i, own in enumerate(self.source.responses) if own.run is not None}
        return sorted(self.runs, key=lambda run: (place.get(run, len(place)), run))

    @property
    def questions(self) -> pl.DataFrame:
        """The questions with their attributes, a row each."""
        return self.with_attributes(None)

    def with_attributes(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """The questions with some of their attributes, which must be there."""
        return self.source.questions(attributes)

    def __len__(self) -> int:
        return self.questions.height

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        files = plural(len(self.source.responses), "table")
        return f"<Evaluation of {files}, {self.kind}>"

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading had to say."""
        return self.source.notes

    @property
    def subset(self) -> Selection | None:
        """Which runs and questions were chosen with `only`; None: all that were read."""
        return self.source.subset

    @property
    def cluster(self) -> str | None:
        """The attribute by which questions are clustered: as asked for, or as the data declare."""
        return self.reading.cluster or self.source.cluster

    @property
    def policy(self) -> Policy:
        """What each kind of blank becomes."""
        return self.reading.rules()

    @property
    def touched(self) -> dict[str, int]:
        """How many responses each part of the policy touches."""
        table = self.kind_counts(()).table
        return reasons_named(blanks_by_reason(table).sum(axis=0))

    # ------------------------------------------------------------------------------ matrices

    def _filled(self, *, confident: bool = False) -> Filled:
        if self._held is None or (confident and self._held[2] is None):
            self._held = self.source.fill(confident=confident)
        return self._held

    @property
    def kinds(self) -> Codes:
        """Runs × questions: the kind of every response before any policy."""
        return self._filled()[1]

    @property
    def states_confidence(self) -> bool:
        """Whether any of the tables has a column of confidences."""
        return any("confidence" in own.table.columns for own in self.source.responses)

    def require_confidence(self) -> None:
        """Refuse runs that nowhere say how sure they are, naming the column that may do so."""
        if self.kind == "counts" or self.states_confidence:
            return
        tables = [own.table for own in self.source.responses]
        alone = len(tables) == 1
        raise InputError(
            f"{'has no' if alone else f'none of {len(tables)} tables has a'} column 'confidence', "
            "which says how sure each answer is, from 0 to 1" + likely_confidence(tables),
            tables[0].name if alone else None,
        )

    @property
    def confidence(self) -> Array:
        """Runs × questions: how sure each response was; NaN where it does not say."""
        sure = self._filled(confident=True)[2]
        assert sure is not None
        return sure

    @cached_property
    def codes(self) -> Codes:
        """Runs × questions: what became of every response under the policy.

        Positions in `OUTCOMES`, or `EXCLUDED`. A kind of blank that the policy leaves open is
        refused.
        """
        kinds = self.kinds  # first: what is held is not counted again where it lives
        found = self.kind_counts(())
        refuse_undecided(blanks_by_reason(found.table), found.runs, self.policy)
        return self.policy.outcomes(EXCLUDED).astype(np.uint8)[kinds]

    @property
    def nothing_right(self) -> BoolArray | None:
        """Which questions have no right answer, where a gold says so."""
        if self.source.gold is None:
            return None
        nothing = self.questions["nothing_right"].to_numpy()
        return nothing if nothing.any() else None

    # -------------------------------------------------------------------------------- counts

    def kind_counts(self, by: Sequence[str]) -> KindCounts:
        """How many responses of each kind there are, by run and slice."""
        if self._held is None:
            return self.source.count_kinds(by)
        return _counted(self._held, self.with_attributes, by)

    def counted(self, by: Sequence[str] = ()) -> Counted:
        """Counts under the policy, by run and slice."""
        if (given := self.source.counted(by)) is not None:
            return given
        found = self.kind_counts(by)
        reasons = blanks_by_reason(found.table)
        refuse_undecided(reasons, found.runs, self.policy)
        counts = self.policy.apply(found.table)
        return Counted(
            found.runs,
            found.slices,
            CountsArray(counts),
            found.questions,
            reasons,
            found.table.sum(axis=1) - counts.sum(axis=1),
        )

    def sliced(self, slices: Slices) -> CountsArray:
        """Counts by run and slice: runs × slices; questions in no slice count nowhere."""
        inside = np.flatnonzero(slices.slice_of >= 0)
        starts = slices.slice_of[inside] * (EXCLUDED + 1)
        everything = len(inside) == len(slices.slice_of)
        size = len(slices.names) * (EXCLUDED + 1)
        table = np.zeros((len(self.codes), len(slices.names), EXCLUDED + 1), np.int64)
        for number, own in enumerate(self.codes):
            bins = np.bincount(starts + (own if everything else own[inside]), minlength=size)
            table[number] = bins.reshape(-1, EXCLUDED + 1)
        table[..., EXCLUDED] = 0
        return CountsArray(table)

    def overall(self) -> CountsArray:
        """Counts by run over all questions."""
        everywhere = Slices("", [""], np.zeros(len(self), np.int64))
        return CountsArray(self.sliced(everywhere).table[:, 0])

    def binned(self, bins: int) -> pl.DataFrame:
        """How many responses of each run and kind have a confidence in each bin: run, KIND, bin, n.

        They are counted where they live, before any policy; those without a confidence are in
        bin −1.
        """
        return self.source.binned(bins)

    def slices(self, attribute: str) -> Slices:
        """The slices that an attribute makes, in natural order."""
        return slices_of(self.with_attributes([attribute]), attribute)

    def clusters(self, attribute: str | None = None) -> IntArray | None:
        """The number of each question's cluster; None where questions are independent."""
        name = attribute or self.cluster
        return None if name is None else cluster_numbers(self.with_attributes([name]), name)

    # -------------------------------------------------------------------------------- subsets

    @checked
    def with_policy(self, policy: PolicyLike) -> Evaluation:
        """The same responses under another policy; nothing is read again."""
        reading = structs.replace(self.reading, policy=said_policy(policy))
        refuse_meaningless(reading, self.kind)
        return Evaluation(self.source, reading, held=self._held)

    @checked
    def only(
        self,
        *,
        runs: Collection[str] | str | None = None,
        where: Mapping[str, str | Collection[str]] | None = None,
    ) -> Evaluation:
        """Some of the runs, on some of the questions: those whose attributes have given values."""
        if (part := self.source.only(runs, where)) is not None:
            return Evaluation(part, self.reading)
        names = self._filled()[0]
        rows = positions("run", names, runs)
        questions = self.with_attributes(list(where) if where else None)
        inside, wanted = having(questions, where)
        chosen = narrowed(
            self.subset,
            runs=[names[i] for i in rows],
            of_runs=len(names),
            where=wanted,
            questions=int(inside.sum()),
            of_questions=len(inside),
        )
        found = self.where(inside, rows)
        found.source.subset = chosen
        return found

    def where(self, inside: BoolArray, rows: Sequence[int] | None = None) -> Evaluation:
        """The questions that a mask keeps, of all runs or of those at some positions."""
        own = range(len(self.kinds)) if rows is None else rows
        subset = Subset(self, np.flatnonzero(inside), np.array(own, np.int64))
        return Evaluation(subset, self.reading)

    # ------------------------------------------------------------------- for people: frames

    @checked
    def counts(self, *, by: Sequence[str] | str = ()) -> pl.DataFrame:
        """Counts under the policy, a row for each run and slice (polars)."""
        by = (by,) if isinstance(by, str) else tuple(by)
        found = self.counted(by)
        columns: dict[str, Any] = {"run": found.runs}
        columns |= {name: [own[i] for own in found.slices] for i, name in enumerate(by)}
        table = found.counts.table
        columns |= {name: table[:, i] for i, name in enumerate(OUTCOMES)}
        return pl.DataFrame(columns)

    def outcomes(self) -> pl.DataFrame:
        """Every response: run, question, outcome, why it is blank, confidence (polars)."""
        names, kinds, sure = self._filled(confident=True)
        assert sure is not None
        ids = self.questions["question"]
        reasons = pl.Series([None, None, *(why.value for why in Why for _ in CANDIDATES)])
        ends = pl.Series([*OUTCOMES, None])
        return pl.DataFrame(
            {
                "run": pl.Series(names).gather(np.repeat(np.arange(len(names)), len(ids))),
                "question": ids.gather(np.tile(np.arange(len(ids)), len(names))),
                "outcome": ends.gather(self.codes.reshape(-1)),
                "why": reasons.gather(kinds.reshape(-1)),
                "confidence": pl.Series(sure.reshape(-1)).fill_nan(None),
            }
        )

    # ------------------------------------------------------------------------------- analyses

    if TYPE_CHECKING:
        score = _score
        several = _several
        compare = _compare
        curve = _curve
        histogram = _histogram
        tune = _tune
        meta = _meta
        campaign = _campaign
        validate = _validate
    else:
        score = abstain.Asked("score")
        several = abstain.Asked("score.several")
        compare = abstain.Asked("compare")
        curve = abstain.Asked("curve")
        histogram = abstain.Asked("curve.histogram")
        tune = abstain.Asked("tune")
        meta = abstain.Asked("meta")
        campaign = abstain.Asked("campaign")
        validate = abstain.Asked("validate")


class Subset(Source):
    """A source: some of the runs of an evaluation, on some of its questions."""

    def __init__(self, whole: Evaluation, columns: IntArray, rows: IntArray) -> None:
        self.whole, self.columns, self.rows = whole, columns, rows
        gold = whole.source.gold
        self.kind = whole.kind
        self.gold = None if gold is None else structs.replace(gold, frame=gold.frame[columns])
        self.responses = whole.source.responses
        self.notes, self.cluster = whole.source.notes, whole.source.cluster
        self.subset = whole.subset

    def names(self) -> list[str]:
        """The runs in the order of its rows, which is not always that of their names."""
        own = self.whole.runs
        return [own[i] for i in self.rows]

    def questions(self, attributes: Sequence[str] | None) -> pl.DataFrame:
        """Those of the whole that it keeps."""
        return self.whole.with_attributes(attributes)[self.columns]

    def count_kinds(self, by: Sequence[str]) -> KindCounts:
        """Counted from the matrix of the whole."""
        return _counted(self.fill(confident=False), self.questions, by)

    def fill(self, *, confident: bool) -> Filled:
        """The cells of the whole that it keeps."""
        names, kinds, sure = self.whole._filled(confident=confident)
        at = np.ix_(self.rows, self.columns)
        return [names[i] for i in self.rows], kinds[at], None if sure is None else sure[at]


def having(
    rows: pl.DataFrame, where: Values, *, what: str = "question"
) -> tuple[BoolArray, dict[str, list[str]]]:
    """Which rows have the values asked for, and these as texts; one that none has is refused."""
    inside = np.ones(rows.height, bool)
    asked: dict[str, list[str]] = {}
    for name, values in (where or {}).items():
        several = isinstance(values, Collection) and not isinstance(values, str)
        asked[name] = wanted = [str(value) for value in values] if several else [str(values)]
        own = cells(rows, name).cast(pl.String)
        for value in wanted:
            if not (own == value).any():
                known = own.drop_nulls().unique().sort().to_list()
                raise UnknownNameError(f"{what} with {name}", value, known)
        inside &= own.is_in(wanted).fill_null(value=False).to_numpy()
    if not inside.any():
        raise UsageError(f"there is no {what} left: none has all of these values")
    return inside, asked


def _counted(
    held: Filled, questions: Callable[[Sequence[str]], pl.DataFrame], by: Sequence[str]
) -> KindCounts:
    runs, kinds, _ = held
    slices: list[tuple[str | None, ...]] = [()]
    slice_of: IntArray | int = 0
    if by:
        asked = questions(by)
        sizes = slice_sizes(asked, by)
        slice_of = slice_numbers(asked, sizes, by) * KINDS
        slices = sizes.drop("size").rows()
    width = len(slices) * KINDS
    table = np.stack([np.bincount(slice_of + own, minlength=width) for own in kinds])
    names = [run for run in runs for _ in slices]
    rows = table.reshape(-1, KINDS).astype(np.int64)
    return KindCounts(names, slices * len(runs), rows, kinds.shape[1])


def refuse_undecided(reasons: IntArray, runs: Sequence[str], policy: Policy) -> None:
    """Stop where the policy does not say what a kind of blank becomes and there are some."""
    for position, why in enumerate(Why):
        if policy.effects[why] is Effect.STOP and reasons[:, position].any():
            count = int(reasons[:, position].sum())
            run = runs[int(reasons[:, position].argmax())]
            raise InputError(
                f"{plural(count, 'response')} {STOPPED.get(why, 'must be decided on')} ({why}), "
                f"the first in run '{run}'; say what "
                f"they count as: {option('policy', {why: 'unanswered'})}, or wrong or excluded"
            )
