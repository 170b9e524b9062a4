"""Runs paired by question: an evaluation of the questions that all runs have, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.errors import InputError, UsageError, plural
from abstain.io.columns import require
from abstain.judging.evaluation import Evaluation
from abstain.outcomes import CANDIDATES, EXCLUDED, KINDS, Policy, Why, blank_kind

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.judging.reading import Reading
    from abstain.outcomes import Array, IntArray

UNKNOWN = (Why.UNPARSEABLE, Why.ERROR, Why.MISSING, Why.LIMIT, Why.UNSCORED)


@dataclass(frozen=True, slots=True)
class Common:
    """The questions that all runs have."""

    evaluation: Evaluation
    """The runs on those questions alone: no response is excluded."""
    whole: Evaluation
    """The runs on all questions, under the same policy."""
    reading: Reading
    """How they were read."""
    absent: dict[str, int]
    """For each run that lacks some, how many questions it has no usable response to."""

    def unknown(self) -> tuple[Array, IntArray]:
        """Over all questions: six counts of the responses that are known, and how many are not."""
        table = self.whole.tallies(()).table
        unknown = np.zeros(KINDS, bool)
        for why in UNKNOWN:
            for candidate in CANDIDATES:
                unknown[blank_kind(why, candidate)] = True
        known = self.whole.policy.apply(np.where(unknown, 0, table)).astype(np.float64)
        return known, table[:, unknown].sum(axis=1)

    def facts(self) -> dict[str, Any]:
        """What a result says of them."""
        return {
            "reading": self.reading,
            "notes": self.whole.notes,
            "policy": self.whole.policy.to_dict(),
            "touched": self.whole.touched,
            "questions_in_all": len(self.whole),
            "absent": self.absent,
            "cluster": self.whole.cluster,
        }


def common_questions(
    evaluation: Evaluation,
    policy: Policy,
    *,
    attributes: Sequence[str] = (),
    confident: bool = False,
) -> Common:
    """Pair runs under a policy, in the order in which they were given.

    Questions must have the attributes, and the one that clusters them.
    """
    if evaluation.kind == "judged":
        for own in evaluation.source.responses:
            require(own.table, "question", "which names each question")
    if evaluation.kind != "counts":
        cluster = [] if evaluation.cluster is None else [evaluation.cluster]
        evaluation.with_attributes(list(dict.fromkeys([*attributes, *cluster])))
    size = (evaluation.confidence if confident else evaluation.kinds).shape[1]
    names = list(evaluation.runs)
    runs = list(evaluation.runs_as_given)
    if len(runs) < 2:
        raise UsageError(f"a comparison needs two runs (got {plural(len(runs), 'run')})")
    if names != runs:
        rows = [names.index(run) for run in runs]
        evaluation = evaluation.where(np.ones(size, bool), rows)
    reading, whole = evaluation.reading, evaluation.with_policy(policy)
    usable = whole.codes != EXCLUDED
    inside = usable.all(axis=0)
    if not inside.any():
        raise _nothing_common(runs, usable)
    gone = (~usable).sum(axis=1)
    absent = {run: int(n) for run, n in zip(runs, gone, strict=True) if n}
    return Common(whole if inside.all() else whole.where(inside), whole, reading, absent)


def _nothing_common(runs: Sequence[str], usable: npt.NDArray[np.bool_]) -> InputError:
    for i in range(len(runs)):
        for j in range(i):
            if not (usable[i] & usable[j]).any():
                return InputError(f"runs '{runs[j]}' and '{runs[i]}' have no question in common")
    return InputError("there is no question that all runs have")
