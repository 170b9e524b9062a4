"""Answers with a confidence: sorted once, ties grouped.

The order of rows never changes a value: answers with the same confidence form one group, and a sum
inside a group is the mean over all orders of its members.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

from abstain.errors import UsageError
from abstain.measures.definition import Array, BoolArray, IntArray, Numeric, np


@dataclass(frozen=True, eq=False)
class Groups:
    """Answers in descending confidence, one entry for each distinct confidence.

    Answers without a confidence are the last group, whose level is NaN. Resamples have a column
    each, and a group may be empty in some.
    """

    level: Array
    """The distinct confidences, descending."""
    answered: IntArray
    """The number of answers with at least this confidence."""
    right: IntArray
    """The number of those that are right."""

    @classmethod
    def of(cls, right: Any, confidence: Any) -> Groups:
        sure = np.nan_to_num(np.asarray(confidence, np.float64) + 0.0, nan=-1.0)  # −0 becomes 0
        order = np.argsort(-sure)
        sure, hits = sure[order], np.cumsum(np.asarray(right, np.int64)[order])
        last = np.flatnonzero(np.append(sure[1:] != sure[:-1], True)[: len(sure)])
        levels = np.where(sure[last] < 0, np.nan, sure[last])
        return cls(levels, last + 1, hits[last])

    @property
    def wrong(self) -> IntArray:
        """The number of answers with at least this confidence that are wrong."""
        return self.answered - self.right

    @property
    def size(self) -> Any:
        if not len(self.answered):
            return 0
        return int(self.answered[-1]) if self.answered.ndim == 1 else self.answered[-1]

    def each(self, cumulated: IntArray) -> IntArray:
        """The counts of each group, from cumulative ones."""
        return np.diff(cumulated, prepend=0, axis=0)

    def halved(self, cumulated: IntArray) -> Array:
        """Cumulative counts at the middle of each group."""
        return np.asarray(cumulated - self.each(cumulated) / 2)

    @property
    def errors_first(self) -> tuple[IntArray, IntArray]:
        """Answers and wrong ones that are at most as sure, from the least sure group up."""
        surer = self.answered - self.each(self.answered)
        wrong = self.wrong - self.each(self.wrong)
        return self.size - surer[::-1], self.wrong[-1] - wrong[::-1]

    def mean_share(self, cumulated: IntArray) -> Numeric:
        """Σ_i E[X(i)]/i, X(i) of the first i answers, over every order of tied answers.

        Inside a group that adds x of m answers after s answers with X so far, the j-th has on
        average X + j·x/m, and Σ (X + j·q)/(s + j) = m·q + (X − s·q)·(H(s + m) − H(s)).
        """
        if not np.any(self.size):
            return 0.0
        harmonic = harmonic_numbers(int(np.max(self.size)))
        sizes, added = self.each(self.answered), self.each(cumulated)
        start, before = self.answered - sizes, cumulated - added
        slope = added / np.maximum(sizes, 1)
        spread = harmonic[self.answered] - harmonic[start]
        return (added + (before - start * slope) * spread).sum(axis=0)


def harmonic_numbers(most: int) -> Array:
    """H(0), H(1), …, H(most)."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, most + 1))])


def least_area(right: Any, answers: Any) -> Numeric:
    """AURC*, that of the best order: every right answer before every wrong one.

    Σ_{i > R} (i − R)/i = N − R − R·(H(N) − H(R)).
    """
    harmonic = harmonic_numbers(int(np.max(answers, initial=0)))
    wrong = answers - right - right * (harmonic[answers] - harmonic[right])
    return wrong / np.maximum(answers, 1)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of one run: whether each is right, and its confidence.

    `submitted` is False for a candidate behind a blank. With several answers per question,
    `question` numbers the question of each, `known` is the number of right answers of each
    question, `repeat` marks repeated answers, and `rank` orders them (NaN or ∞: by confidence).
    """

    right: BoolArray
    confidence: Array
    questions: int
    submitted: BoolArray | None = None
    question: IntArray | None = None
    known: IntArray | None = None
    repeat: BoolArray | None = None
    rank: Array | None = None

    @classmethod
    def of(
        cls,
        right: Any,
        confidence: Any,
        *,
        questions: int | None = None,
        question: Any = None,
        known: Any = None,
        **more: Any,
    ) -> Any:
        """Answers from sequences; a missing confidence is None or NaN.

        `question` holds ids, `known` a number for each: a mapping, or a sequence in the order in
        which the questions first appear. `submitted`, `repeat` and `rank` have an entry for each
        answer.
        """
        size = np.size(right)
        arrays = {
            name: _marks(name, more.pop(name, None), size) for name in ("submitted", "repeat")
        }
        arrays["right"] = _marks("right", right, size)
        arrays["confidence"] = _numbers("confidence", confidence, size, 0, 1)
        arrays["rank"] = _numbers("rank", more.pop("rank", None), size, 1, np.inf)
        ids, asked = np.arange(size), size
        if question is not None:
            ids, first, number = np.unique(question, return_index=True, return_inverse=True)
            if len(number) != size:
                raise UsageError(f"question must have an entry for each of {size} answers")
            asked, coming = len(ids), np.argsort(first)
            ids, arrays["question"] = ids[coming], np.argsort(coming)[number]
        total = asked if questions is None else questions
        if total < asked:
            raise UsageError(f"there are {asked} questions with answers, but questions={total}")
        if isinstance(known, Mapping):
            known = [known.get(i, 0) for i in ids.tolist()]
        if known is not None:
            known = _numbers("known", known, asked, 1, np.inf)
            if not (known % 1 == 0).all():
                raise UsageError("known must be whole numbers")
            known = known.astype(np.int64)
        return cls(questions=total, known=known, **arrays, **more)

    @cached_property
    def groups(self) -> Groups:
        return Groups.of(self.right, self.confidence)

    @cached_property
    def stated(self) -> BoolArray:
        """Which answers have a confidence."""
        return ~np.isnan(self.confidence)

    @cached_property
    def calibrated(self) -> Self:
        """Those with a confidence."""
        return self._only(self.stated)

    @cached_property
    def submissions(self) -> Self:
        """Those that were submitted: without the candidates behind blanks."""
        return self if self.submitted is None else self._only(self.submitted)

    def _only(self, chosen: BoolArray) -> Self:
        if chosen.all():
            return self
        whole = {"questions"} if self.question is None else {"questions", "known"}
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in whole}
        return replace(self, **{name: x[chosen] for name, x in arrays.items() if x is not None})

    @property
    def size(self) -> Any:
        return len(self.right)

    @property
    def times(self) -> IntArray | None:
        """How often each answer occurs in each resample; None: these are not resamples."""
        return None

    def total(self, values: Array) -> Numeric:
        return float(values.sum())

    def count(self, where: BoolArray) -> Any:
        return int(np.count_nonzero(where))

    def first_covering(self, c: float) -> tuple[Numeric, Numeric]:
        """The first group that covers a share c of the questions, and whether there is one."""
        reached = self.groups.answered >= c * self.questions * (1 - 1e-12)
        return np.argmax(reached, axis=0), reached.any(axis=0)

    def all_alike(self) -> Any:
        return (self.confidence == self.confidence[:1]).all()


@dataclass(frozen=True, eq=False)
class Resamples(Answers):
    """Many resamples at once: how often each answer occurs in each of them.

    Measures of confidence are written for both: a number of one run's answers is an array over
    resamples here. There is one answer per question, in descending confidence, those without one
    last. `numbers` (answers, resamples) are the multiplicities; `questions` has a number for each
    resample.
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
        """Where each group of equal confidence begins."""
        sure = self.confidence
        differs = (sure[1:] != sure[:-1]) & self.stated[:-1]
        return np.flatnonzero(np.append(True, differs)[: len(sure)])

    @cached_property
    def group(self) -> IntArray:
        lengths = np.diff(self.starts, append=len(self.right))
        return np.repeat(np.arange(len(self.starts)), lengths)

    @cached_property
    def groups(self) -> Groups:
        answered, right = self._by_group(np.ones_like(self.right)), self._by_group(self.right)
        level = self.confidence[self.starts]
        return Groups(level, np.cumsum(answered, axis=0), np.cumsum(right, axis=0))

    def _by_group(self, where: BoolArray) -> IntArray:
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

    def all_alike(self) -> Any:
        return (self.groups.each(self.groups.answered) > 0).sum(axis=0) < 2


def _numbers(name: str, values: Any, size: int, low: float, high: float) -> Any:
    """Numbers in a range; NaN for those that are missing."""
    if values is None:
        return None
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        numbers = np.full(size, -np.inf)
    if numbers.shape != (size,) or ((numbers < low) | (numbers > high)).any():
        span = f"of {low} or more" if high == np.inf else f"from {low} to {high}"
        raise UsageError(f"{name} must be {size} numbers {span}")
    return numbers


def _marks(name: str, marks: Any, size: int) -> Any:
    if marks is None:
        return None
    flags = np.asarray(marks)
    if flags.shape != (size,) or flags.dtype.kind not in "biuf" or not np.isin(flags, (0, 1)).all():
        raise UsageError(f"{name} must be {size} marks, true or false (1, 0)")
    return flags.astype(np.bool_)
