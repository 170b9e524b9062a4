"""Answers in many resamples at once: each answer is there so many times in each of them.

Measures of confidence are written for both: what is a number of one run's answers is a column of
numbers here, one for each resample.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.measures.answers import Answers, Groups

if TYPE_CHECKING:
    from abstain.measures.answers import BoolArray
    from abstain.outcomes import Array, IntArray


@dataclass(frozen=True, eq=False)
class Resamples(Answers):
    """One answer a question, the surest first and those without a confidence last.

    `numbers` (answers, resamples) says how often each is there; `questions` has a number for each
    resample.

    >>> from abstain.measures import measure
    >>> often = np.array([[1, 2], [1, 1], [1, 0]])
    >>> right, sure = np.array([True, False, True]), np.array([0.9, 0.5, 0.5])
    >>> own = Resamples(right, sure, often.sum(axis=0), numbers=often)
    >>> measure("AUROC")(own).tolist()
    [0.75, 1.0]
    """

    questions: Any
    numbers: IntArray = field(kw_only=True)

    @property
    def times(self) -> IntArray:
        return self.numbers

    @cached_property
    def size(self) -> Any:
        return self.numbers.sum(axis=0)

    @cached_property
    def starts(self) -> IntArray:
        """Where each group of equally sure answers begins."""
        sure = self.confidence
        new = (sure[1:] != sure[:-1]) & self.stated[:-1]
        first = np.zeros(min(1, len(sure)), np.int64)
        return np.concatenate([first, np.flatnonzero(new) + 1])

    @cached_property
    def group(self) -> IntArray:
        """The group of each answer."""
        lengths = np.diff(self.starts, append=len(self.right))
        return np.repeat(np.arange(len(self.starts)), lengths)

    @cached_property
    def groups(self) -> Groups:
        answered, right = self._by_group(np.ones_like(self.right)), self._by_group(self.right)
        level = self.confidence[self.starts]
        return Groups(level, np.cumsum(answered, axis=0), np.cumsum(right, axis=0))

    def _by_group(self, where: BoolArray) -> IntArray:
        """How many answers of each group are so (groups, resamples)."""
        from scipy.sparse import csr_array

        ends = np.append(self.starts, len(where))
        shape = len(self.starts), len(where)
        sums = csr_array((where.astype(np.int64), np.arange(len(where)), ends), shape=shape)
        return np.asarray(sums @ self.numbers)

    def total(self, values: Array) -> Array:
        known = np.where(np.isnan(values), 0.0, values)  # those without are not in every resample
        return np.asarray(known @ self.numbers)

    def count(self, where: BoolArray) -> Any:
        if where is self.right and len(where):
            return self.groups.right[-1]
        return self.size if where.all() else self.numbers[where].sum(axis=0)

    def binned(self, values: Array, bin_of: IntArray, bins: int) -> Array:
        resamples = self.numbers.shape[1]
        bin_of = bin_of if bin_of.ndim == 2 else bin_of[:, None]
        place = bin_of * resamples + np.arange(resamples)
        weights = values[:, None] * self.numbers
        found = np.bincount(place.ravel(), weights.ravel(), minlength=bins * resamples)
        return np.asarray(found.reshape(bins, resamples), np.float64)

    def all_alike(self) -> Any:
        return (self.groups.each(self.groups.answered) > 0).sum(axis=0) < 2
