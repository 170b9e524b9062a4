"""Outcome and confidence of every response: two matrices, runs × questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from abstain.errors import UnknownNameError, UsageError, plural
from abstain.io.frames import check_mapping, collect
from abstain.judging.evaluation import refuse_undecided
from abstain.judging.gold import Gold, read_gold
from abstain.judging.judge import INDEX, KIND, Judged, check_align, judge
from abstain.judging.opening import old_reading, open_runs
from abstain.judging.responses import describe, told
from abstain.judging.slices import BY
from abstain.judging.tally import KindMatrix, kind_matrix, refuse_empty, refuse_shared
from abstain.measures.answers import Answers
from abstain.outcomes import Counts, Policy, Why, blank_kind, blanks_by_reason, reasons_named

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

    BoolArray = npt.NDArray[np.bool_]

EXCLUDED = -1
WIDTH = len(fields(Counts))
UNSEEN = 255


@dataclass(frozen=True, eq=False)
class ConfidenceMatrix:
    """What became of every response, and how sure its system was.

    `outcomes` holds positions in `OUTCOMES`, −1 where the policy excludes a response;
    `confidence` is NaN where none was given. `questions` has their ids and attributes.
    """

    runs: list[str]
    questions: pl.DataFrame
    outcomes: npt.NDArray[np.int8]
    confidence: Array
    policy: Policy = field(default_factory=Policy)
    touched: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    nothing_right: BoolArray | None = None
    """Which questions have no right answer, where a gold says so."""
    sources: tuple[str, ...] = ()
    """The files that it was read from."""
    reasons: IntArray | None = None
    """Blanks of each run by their reason, before the policy."""

    def answers(self, run: int, where: BoolArray | IntArray | None = None) -> Answers:
        """The answers and candidates of a run, perhaps over some of the questions or positions."""
        outcomes, sure = self.outcomes[run], self.confidence[run]
        if where is not None:
            outcomes, sure = outcomes[where], sure[where]
        has = (outcomes >= 0) & (outcomes < 4)
        asked = len(outcomes)
        if not has.all():
            asked = int(np.count_nonzero(outcomes >= 0))
            outcomes, sure = outcomes[has], sure[has]
        return Answers((outcomes & 1) == 0, sure, asked, outcomes < 2)

    def counts(self, run: int, where: BoolArray | None = None) -> IntArray:
        """The counts of a run as it was handed in."""
        outcomes = self.outcomes[run] if where is None else self.outcomes[run][where]
        return counted(outcomes)

    def only(self, run: str) -> ConfidenceMatrix:
        """One run alone."""
        if run not in self.runs:
            raise UnknownNameError("run", run, self.runs)
        at = self.runs.index(run)
        rows = slice(at, at + 1)
        return replace(
            self,
            runs=[run],
            outcomes=self.outcomes[rows],
            confidence=self.confidence[rows],
            touched=self.touched if self.reasons is None else reasons_named(self.reasons[at]),
        )

    def thresholded(self, run: int, answered: BoolArray) -> npt.NDArray[np.int8]:
        """The outcomes of a run that answers exactly these of the questions it has answers to."""
        outcomes = self.outcomes[run]
        has = (outcomes >= 0) & (outcomes < 4)
        decided = (outcomes & 1) + np.where(answered, 0, 2).astype(np.int8)
        held: npt.NDArray[np.int8] = np.where(has, decided, outcomes)
        return held

    def stated(self, run: int) -> tuple[int, int]:
        """How many answers and candidates of a run have a confidence, and how many there are."""
        has = (self.outcomes[run] >= 0) & (self.outcomes[run] < 4)
        return int(np.count_nonzero(has & ~np.isnan(self.confidence[run]))), int(has.sum())

    def missing_notes(self) -> list[str]:
        """What a reader should know of answers without a confidence."""
        return missing_notes({run: self.stated(i) for i, run in enumerate(self.runs)})


def missing_notes(stated: Mapping[str, tuple[int, int]]) -> list[str]:
    """What to know of answers without a confidence, from how many have one, and how many answers.

    >>> missing_notes({"a": (2, 2), "b": (1, 2), "c": (0, 2)})[1]
    "run 'c' has no confidence: there is no curve of it"
    """
    said = []
    for run, (some, have) in stated.items():
        if 0 < some < have:
            said.append(
                f"run '{run}': {plural(have - some, 'answer')} without a confidence, taken "
                "as the least sure"
            )
        elif not some:
            what = "confidence" if have else "answer"
            said.append(f"run '{run}' has no {what}: there is no curve of it")
    return said


def counted(outcomes: npt.NDArray[np.int8]) -> IntArray:
    """Outcomes to the six numbers of `Counts`."""
    return np.bincount(outcomes[outcomes >= 0], minlength=WIDTH)


# ------------------------------------------------------------------------------- two ways in


def read_matrix(
    gold: Any,
    runs: Any,
    *,
    attributes: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    align: str = "id",
    match: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> ConfidenceMatrix:
    """Judge runs against a gold; `gold` may be one that was read already."""
    standard = gold if isinstance(gold, Gold) else read_gold(gold, old_reading(columns, format))
    standard.check_attributes(attributes)
    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    judged = judge(standard, sources, match=match, align=check_align(align))
    names: list[str] = []
    kinds: list[npt.NDArray[np.uint8]] = []
    sure: list[Array] = []
    for frame in judged.frames:
        own_names, own_kinds, own_sure = filled(judged, frame, len(standard))
        names += own_names
        kinds.append(own_kinds)
        sure.append(own_sure)
    refuse_shared(names)
    refuse_empty(sources, names)
    nothing = standard.frame["nothing_right"].to_numpy()
    return _with_policy(
        KindMatrix(names, np.concatenate(kinds)),
        standard.frame.select("question", *standard.attributes),
        np.concatenate(sure),
        Policy.of(policy),
        notes=describe(standard, sources),
        nothing_right=nothing if nothing.any() else None,
        sources=(standard.name, *(s.table.name for s in sources)),
    )


def filled(
    judged: Judged, frame: nw.LazyFrame[Any], width: int
) -> tuple[list[str], npt.NDArray[np.uint8], Array]:
    """The matrices of one engine's runs, after making sure that there is nothing to refuse."""
    label = judged.sources[0].table.name
    native = frame.to_native()
    rows = native if isinstance(native, pl.LazyFrame) else collect(frame, label).lazy()
    matrix = kind_matrix(judged, nw.from_native(rows))
    sure = np.full(matrix.kinds.shape, np.nan)
    if "confidence" in rows.collect_schema().names():
        cells = rows.select("run", INDEX, "confidence").drop_nulls("confidence").collect()
        order = pl.DataFrame({"run": matrix.runs, "number": np.arange(len(matrix.runs))})
        placed = cells.join(order, on="run", how="left", maintain_order="left")
        at = placed["number"].to_numpy() * width + placed[INDEX].to_numpy()
        sure.reshape(-1)[at] = placed["confidence"].to_numpy()
    return matrix.runs, matrix.kinds, sure


def read_judged_matrix(
    runs: Any,
    *,
    attributes: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    grades: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> ConfidenceMatrix:
    """Rows that carry their own outcome, in a column `outcome` or `grade`."""
    from abstain.judging.grades import graded, judged_rows

    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [s.table for s in sources])
    frames, questions = graded(sources, by=attributes, grades=grades or {})
    tables = [judged_rows(s, f) for s, f in zip(sources, frames, strict=True)]
    rows = pl.concat(tables, how="diagonal")
    notes = told(s.table for s in sources)
    if questions is None:
        notes.append("the rows name no question: each is counted as one")
        rows = rows.with_columns(
            question=(pl.int_range(pl.len()).over("run") + 1).cast(pl.String).str.zfill(9)
        )
        named = [pl.col(BY + name).first().alias(name) for name in attributes]
        questions = rows.group_by("question").agg(*named).sort("question")
    names = sorted(rows["run"].unique())
    placed = rows.join(
        questions.select("question").with_row_index(INDEX), on="question", how="left"
    ).join(pl.DataFrame({"run": names}).with_row_index("number"), on="run", how="left")
    width = questions.height
    kinds = np.full((len(names), width), UNSEEN, np.uint8)
    sure = np.full((len(names), width), np.nan)
    at = placed["number"].to_numpy().astype(np.int64) * width + placed[INDEX].to_numpy()
    if len(np.unique(at)) < len(at):
        raise UsageError("a run is in two tables with the same question; a run belongs in one")
    kinds.reshape(-1)[at] = placed[KIND].to_numpy()
    sure.reshape(-1)[at] = placed["confidence"].to_numpy()
    kinds[kinds == UNSEEN] = blank_kind(Why.MISSING)
    return _with_policy(
        KindMatrix(names, kinds),
        questions,
        sure,
        Policy.of(policy),
        notes=notes,
        sources=tuple(s.table.name for s in sources),
    )


def _with_policy(
    found: KindMatrix,
    questions: pl.DataFrame,
    confidence: Array,
    policy: Policy,
    *,
    notes: Sequence[str] = (),
    nothing_right: BoolArray | None = None,
    sources: tuple[str, ...] = (),
) -> ConfidenceMatrix:
    """Kinds to outcomes; an unparseable answer that counts as wrong keeps its confidence."""
    reasons = blanks_by_reason(found.tallies())
    refuse_undecided(reasons, found.runs, policy)
    return ConfidenceMatrix(
        found.runs,
        questions,
        policy.outcomes(EXCLUDED).astype(np.int8)[found.kinds],
        confidence,
        policy,
        reasons_named(reasons.sum(axis=0)),
        tuple(notes),
        nothing_right,
        sources,
        reasons,
    )
