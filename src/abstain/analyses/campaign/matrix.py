"""Runs × questions: the outcome of every response, counted by any slices in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.errors import InputError
from abstain.judging.evaluation import refuse_undecided
from abstain.judging.judge import Judged
from abstain.judging.slices import Slices, natural, slices_of
from abstain.judging.tally import all_kinds
from abstain.outcomes import OUTCOMES, RIGHT, CountsArray, Policy, blanks_by_reason

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import IntArray

EXCLUDED = len(OUTCOMES)
__all__ = ["EXCLUDED", "OutcomeMatrix", "Slices", "natural", "outcome_matrix", "slices_of"]
BYTE = 255


@dataclass(frozen=True, slots=True)
class OutcomeMatrix:
    """What became of every response: positions in `OUTCOMES`, or `EXCLUDED` by the policy."""

    runs: list[str]
    questions: pl.DataFrame
    outcomes: npt.NDArray[np.uint8]
    kinds: IntArray
    """For each run, how many responses of each kind there were before the policy."""

    def counts(self, part_of: npt.NDArray[np.int64], parts: int) -> CountsArray:
        """Counts by run and part; `part_of` holds a question's part, or −1 for none."""
        inside = np.flatnonzero(part_of >= 0)
        codes = part_of[inside] * (EXCLUDED + 1)
        whole = len(inside) == len(part_of)
        table = np.zeros((len(self.runs), parts, EXCLUDED + 1), np.int64)
        for number, own in enumerate(self.outcomes):
            bins = np.bincount(
                codes + (own if whole else own[inside]), minlength=parts * (EXCLUDED + 1)
            )
            table[number] = bins.reshape(parts, EXCLUDED + 1)
        table[..., EXCLUDED] = 0
        return CountsArray(table)

    def overall(self) -> CountsArray:
        """Counts by run over all questions."""
        return CountsArray(self.counts(np.zeros(self.outcomes.shape[1], np.int64), 1).table[:, 0])

    def per_question(self, *outcomes: int) -> IntArray:
        """For each question, in how many runs its response had one of some outcomes."""
        found = np.zeros(self.outcomes.shape[1], np.int64)
        for start in range(0, len(self.outcomes), BYTE):
            few = self.outcomes[start : start + BYTE]
            for outcome in outcomes:  # a byte holds the sum of so few runs, and bytes add fast
                found += np.add.reduce(few == outcome, axis=0, dtype=np.uint8)
        return found

    def right(self) -> npt.NDArray[np.bool_]:
        """Runs × questions: whether the response was right."""
        return np.equal(self.outcomes, RIGHT)


def outcome_matrix(judged: Judged, policy: Policy) -> OutcomeMatrix:
    """Judge every response and apply a policy; engines judge, one byte a response comes back.

    A kind of blank that the policy leaves open is refused.
    """
    found = all_kinds(judged)
    if not found.runs:
        raise InputError("has no rows, expected responses", judged.sources[0].table.name)
    kinds = found.tallies()
    refuse_undecided(blanks_by_reason(kinds), found.runs, policy)
    ends = policy.outcomes(EXCLUDED).astype(np.uint8)
    return OutcomeMatrix(found.runs, judged.gold.frame, ends[found.kinds], kinds)
