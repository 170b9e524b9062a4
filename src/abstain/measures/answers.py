"""Answers with a confidence: sorted once, tied ones grouped.

The order of rows never changes a value: answers of one confidence are one group, answered
together or not at all, and what is summed inside a group is the mean over all its orders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from abstain.errors import UsageError
from abstain.measures.definition import Numeric
from abstain.measures.lazy import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

    BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Groups:
    """Answers from the surest down, one entry for each distinct confidence.

    Answers without a confidence are the last group, whose level is NaN: less sure than any other.
    Of resamples there is a column each, and a group may be empty in some.

    >>> g = Groups.of([True, False, True], [0.9, 0.5, 0.5])
    >>> g.level.tolist(), g.answered.tolist(), g.right.tolist()
    ([0.9, 0.5], [1, 3], [1, 2])
    """

    level: Array
    """The distinct confidences, falling."""
    answered: IntArray
    """How many answers are at least so sure."""
    right: IntArray
    """How many of those are right."""

    @classmethod
    def of(cls, right: Any, confidence: Any) -> Groups:
        """One sort of whole numbers: a confidence's bits with the verdict as the last one.

        The bits of a double from 0 to 1 order as the doubles do and leave the highest two free,
        so the key holds both exactly and nothing has to be carried along.
        """
        verdict = np.asarray(right, dtype=np.bool_)
        sure = np.asarray(confidence, dtype=np.float64) + 0.0  # −0 becomes 0
        key = sure.view(np.uint64)
        missing = np.isnan(sure)
        some_missing = bool(missing.any())
        if some_missing:
            key = np.where(missing, np.uint64(0), key + np.uint64(1))
        key = (key << np.uint64(1)) | verdict
        key.sort()
        below = np.zeros(len(key) + 1, np.int64)  # right answers that are less sure
        np.cumsum(key & np.uint64(1), dtype=np.int64, out=below[1:])
        level = key >> np.uint64(1)
        starts = _starts(level[1:] != level[:-1], len(level))[::-1]
        bits = level[starts]
        if some_missing:
            values = np.maximum(bits, np.uint64(1)) - np.uint64(1)
            levels = np.where(bits == 0, np.nan, values.view(np.float64))
        else:
            levels = bits.view(np.float64)
        return cls(levels, len(key) - starts, below[-1] - below[starts])

    @property
    def wrong(self) -> IntArray:
        """How many of the answers that are at least so sure are wrong."""
        return self.answered - self.right

    @property
    def size(self) -> Any:
        """All answers; of resamples a number each."""
        if not len(self.answered):
            return 0
        return int(self.answered[-1]) if self.answered.ndim == 1 else self.answered[-1]

    def each(self, cumulated: IntArray) -> IntArray:
        """What each group adds to a cumulated count."""
        return np.diff(cumulated, prepend=0, axis=0)

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


def _starts(differs: BoolArray, size: int) -> IntArray:
    """Where groups begin, given which of the items after the first differ from the one before."""
    begins = np.ones(size, np.bool_)
    begins[1:] = differs
    return np.flatnonzero(begins)


def harmonic_numbers(most: int) -> Array:
    """H(0), H(1), …, H(most)."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, most + 1))])


def least_area(right: Any, answers: Any) -> Numeric:
    """AURC*, that of the best order of so many answers: every right one before every wrong one.

    Σ_{i > R} (i − R)/i = N − R − R·(H(N) − H(R)).
    """
    harmonic = harmonic_numbers(int(np.max(answers, initial=0)))
    wrong = answers - right - right * (harmonic[answers] - harmonic[right])
    return wrong / np.maximum(answers, 1)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of one run: whether each is right, and how sure its system was.

    `given` is False for a candidate behind a blank. With several answers a question, `question`
    numbers the question of each, `known` says how many right answers each question has, `repeat`
    marks answers that say again what was said before and `rank` orders them, where it is not the
    confidence that does (NaN or ∞: no rank).
    """

    right: BoolArray
    confidence: Array
    questions: int
    given: BoolArray | None = None
    question: IntArray | None = None
    known: IntArray | None = None
    repeat: BoolArray | None = None
    rank: Array | None = None

    @classmethod
    def of(cls, right: Any, confidence: Any, *, questions: int | None = None, **more: Any) -> Any:
        """Answers from sequences; a confidence may be None or NaN: not given.

        `question` holds ids, `known` a number for each: a mapping, or a sequence in the order in
        which the questions first come. `given`, `repeat` and `rank` have an entry for each answer.
        """
        try:
            verdict = np.asarray(right, dtype=np.float64)
            sure = np.asarray(confidence, dtype=np.float64)
        except (TypeError, ValueError):
            raise UsageError("expected right or wrong (1, 0) and a confidence for each") from None
        if verdict.shape != sure.shape or verdict.ndim != 1:
            raise UsageError(
                f"expected as many confidences as answers (got {sure.shape} and {verdict.shape})"
            )
        if not np.isin(verdict, (0, 1)).all():
            raise UsageError("an answer is right (1) or wrong (0)")
        if ((sure < 0) | (sure > 1)).any():
            raise UsageError("a confidence must be from 0 to 1")
        known = more.pop("known", None)
        arrays = {name: None if v is None else np.asarray(v) for name, v in more.items()}
        for name, array in arrays.items():
            if array is not None and array.shape != verdict.shape:
                raise UsageError(
                    f"{name} must have an entry for each of {len(verdict)} answers "
                    f"(got {array.size})"
                )
        ids, asked = np.arange(len(verdict)), len(verdict)
        if (own := arrays.get("question")) is not None:
            ids, first, number = np.unique(own, return_index=True, return_inverse=True)
            asked, coming = len(ids), np.argsort(first)
            ids = ids[coming]
            arrays["question"] = np.argsort(coming)[number]
        for name in ("given", "repeat"):
            if (marks := arrays.get(name)) is not None:
                arrays[name] = _marks(name, marks)
        if arrays.get("rank") is not None:
            arrays["rank"] = _ranks(arrays["rank"])
        if known is not None:
            arrays["known"] = _known(known, ids)
        total = asked if questions is None else questions
        if total < asked:
            raise UsageError(f"there are {asked} questions with answers, but questions={total}")
        return cls(verdict.astype(np.bool_), sure, total, **arrays)

    @cached_property
    def groups(self) -> Groups:
        """Every answer, sorted and grouped."""
        return Groups.of(self.right, self.confidence)

    @cached_property
    def stated(self) -> BoolArray:
        """Which answers have a confidence."""
        return ~np.isnan(self.confidence)

    @cached_property
    def calibrated(self) -> Self:
        """Those with a confidence, alone."""
        return self._only(self.stated)

    @cached_property
    def shown(self) -> Self:
        """Those that were given: without the candidates behind blanks."""
        return self if self.given is None else self._only(self.given)

    def _only(self, chosen: BoolArray) -> Self:
        """Some of the answers, with all that is known of them."""
        if chosen.all():
            return self
        each = (f.name for f in fields(self) if f.name not in ("questions", "known"))
        some = {name: own[chosen] for name in each if (own := getattr(self, name)) is not None}
        if self.known is not None and self.question is None:
            some["known"] = self.known[chosen]
        return replace(self, **some)

    @property
    def size(self) -> Any:
        """How many answers there are; of resamples a number each."""
        return len(self.right)

    @property
    def times(self) -> IntArray | None:
        """How often each answer is there in each of some resamples; None: they are no resamples."""
        return None

    def total(self, values: Array) -> Numeric:
        """The sum of a number of each answer."""
        return float(values.sum())

    def count(self, where: BoolArray) -> Any:
        """How many answers are so."""
        return int(np.count_nonzero(where))

    def binned(self, values: Array, bin_of: IntArray, bins: int) -> Array:
        """The sums of a number of each answer by bin."""
        return np.asarray(np.bincount(bin_of, values, minlength=bins), np.float64)

    def first_covering(self, c: float) -> tuple[Numeric, Numeric]:
        """The first point that answers a share c of the questions, and whether there is one."""
        reached = self.groups.answered >= c * self.questions * (1 - 1e-12)
        return np.argmax(reached, axis=0), reached.any(axis=0)

    def all_alike(self) -> Any:
        """Whether every confidence is the same."""
        return (self.confidence == self.confidence[:1]).all()


@dataclass(frozen=True, eq=False)
class Resamples(Answers):
    """Answers in many resamples at once: each is there so many times in each of them.

    Measures of confidence are written for both: what is a number of one run's answers is a column
    of numbers here. There is one answer a question, the surest first and those without a
    confidence last. `numbers` (answers, resamples) says how often each is there; `questions` has a
    number for each resample.

    >>> import numpy as np
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
        return _starts((sure[1:] != sure[:-1]) & self.stated[:-1], len(sure))

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
        by_resample = np.atleast_2d(bin_of.T).T  # or the same bins in all of them
        place = by_resample * resamples + np.arange(resamples)
        weights = values[:, None] * self.numbers
        found = np.bincount(place.ravel(), weights.ravel(), minlength=bins * resamples)
        return np.asarray(found.reshape(bins, resamples), np.float64)

    def all_alike(self) -> Any:
        return (self.groups.each(self.groups.answered) > 0).sum(axis=0) < 2


def _marks(name: str, marks: Any) -> BoolArray:
    if marks.dtype.kind not in "biuf" or not np.isin(marks, (0, 1)).all():
        raise UsageError(f"{name} must be true or false (1, 0) for each answer")
    found: BoolArray = marks.astype(np.bool_)
    return found


def _ranks(given: Any) -> Array:
    try:
        rank = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise UsageError("a rank must be a number, 1 or more, or None") from None
    if (rank < 1).any():
        raise UsageError(f"a rank must be 1 or more (got {np.nanmin(rank):g})")
    return rank


def _known(given: Any, ids: Any) -> IntArray:
    """How many right answers each of these questions has."""
    if isinstance(given, Mapping):
        absent = [i for i in ids.tolist() if i not in given]
        if absent:
            raise UsageError(f"known has no number for question {absent[0]!r}")
        given = [given[i] for i in ids.tolist()]
    number = np.asarray(given)
    if number.shape != ids.shape:
        raise UsageError(
            f"known must have one number for each of {len(ids)} questions, in order of first "
            f"appearance (got {number.size})"
        )
    if number.size and (number.dtype.kind not in "iuf" or not (number >= 1).all()):
        raise UsageError("known must be 1 or more for each question")
    if (number != np.floor(number)).any():
        raise UsageError("known must be a whole number for each question")
    return number.astype(np.int64)
