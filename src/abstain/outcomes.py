"""The five outcomes of a response, why a blank is blank, counts, and policies."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from abstain.errors import UsageError, check_name

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]


class Outcome(enum.StrEnum):
    """The outcome of a response; QA4MRE writes R, W, UR, UW and UE."""

    RIGHT = "right"
    WRONG = "wrong"
    UNANSWERED_RIGHT = "unanswered_right"
    UNANSWERED_WRONG = "unanswered_wrong"
    UNANSWERED_EMPTY = "unanswered_empty"


OUTCOMES: tuple[str, ...] = tuple(Outcome)
EMPTY = OUTCOMES.index(Outcome.UNANSWERED_EMPTY)
"""The code of a blank without a candidate; lower codes have an answer or a candidate."""
UNSPLIT = len(OUTCOMES)
"""The code of a blank whose candidate is unknown; lower codes are indices into `OUTCOMES`."""
COUNTED = (*OUTCOMES, "unsplit")
"""What is counted under a policy: the fields of `Counts`, in order."""
OUTCOME_WORDS = (*map(str, Outcome), "unanswered", None)
"""What tables of responses call each code; excluded ones have no outcome."""
EXCLUDED = len(COUNTED)
"""Sentinel code of an excluded response; lower codes are indices into `COUNTED`."""

MOST = 2**53
"""The largest count: a float holds every integer up to it exactly."""


class Why(enum.StrEnum):
    """Why a blank is blank."""

    DECLINED = "declined"
    """The system said that it does not answer."""
    EMPTY = "empty"
    """The answer is empty and nothing says why."""
    UNPARSEABLE = "unparseable"
    """There was text, but no answer could be read from it."""
    ERROR = "error"
    """The system failed before it could answer."""
    MISSING = "missing"
    """The run has no row for the question."""
    LIMIT = "limit"
    """The system was stopped at a limit (tokens, time, messages) before it had answered."""
    UNSCORED = "unscored"
    """There may be an answer, but its scorer gave no verdict."""
    UNASKED = "unasked"
    """The run did not set out to answer the question: another epoch, sample or task."""


class Effect(enum.StrEnum):
    """What a policy makes of a kind of blank."""

    UNANSWERED = "unanswered"
    WRONG = "wrong"
    EXCLUDED = "excluded"
    STOP = "stop"
    """The command stops and says so: nothing is decided silently."""


class _Numbers:
    """Numbers by name, each from 0 to `MOST`."""

    __slots__: Any = ()

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value: Any = getattr(self, name)
            if getattr(value, "ndim", None) == 0:  # a number of numpy's
                value = value.item()
                object.__setattr__(self, name, value)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise UsageError(
                    f"{name} must be a number (got {value!r}); for arrays of counts use CountsArray"
                )
            if not 0 <= value <= MOST:
                raise UsageError(f"{name} must be from 0 to 2^53")

    @classmethod
    def of(cls, numbers: Iterable[Any]) -> Self:
        """From numbers in the order of the fields; those left out at the end are 0."""
        return cls(**dict(zip(cls.__slots__, numbers, strict=False)))


@dataclass(frozen=True, slots=True)
class Counts(_Numbers):
    """How many questions had each outcome.

    `unsplit` counts the unanswered ones for which it is unknown whether a candidate was right.
    Shares are as valid as whole numbers: every measure is scale-invariant.

    >>> k = Counts(right=138, wrong=87, unanswered_empty=59)
    >>> k.n, k.answered, k.unanswered
    (284, 225, 59)
    """

    right: float = 0
    wrong: float = 0
    _: KW_ONLY
    unanswered_right: float = 0
    unanswered_wrong: float = 0
    unanswered_empty: float = 0
    unsplit: float = 0

    @property
    def n(self) -> float:
        """The number of questions."""
        return self.answered + self.unanswered

    @property
    def answered(self) -> float:
        """Right and wrong answers together."""
        return self.right + self.wrong

    @property
    def unanswered(self) -> float:
        """The blanks, whatever their candidate."""
        return self.unanswered_right + self.unanswered_wrong + self.unanswered_empty + self.unsplit

    def to_dict(self) -> dict[str, float | None]:
        """The count of each outcome.

        Where the split of the blanks is unknown their kinds are null, and `unanswered` is their
        total.
        """
        numbers: dict[str, float | None] = {name: getattr(self, name) for name in OUTCOMES}
        if self.unsplit:
            numbers |= dict.fromkeys(OUTCOMES[2:])
            numbers["unanswered"] = self.unanswered
        return numbers

    @classmethod
    def from_dict(cls, numbers: Mapping[str, float | None]) -> Counts:
        """The inverse of `to_dict`; missing counts are 0, blanks without a split `unsplit`."""
        for name in numbers.keys() - {*OUTCOMES, "unanswered"}:
            check_name("count", name, (*OUTCOMES, "unanswered"))
        result = {name: numbers.get(name) or 0 for name in OUTCOMES}
        blanks, known = numbers.get("unanswered"), sum([*result.values()][2:])
        if blanks is None or blanks == known:
            return cls(**result)
        if blanks < known or None not in map(numbers.get, OUTCOMES[2:]):
            raise UsageError(f"unanswered is {blanks}, but the kinds of blanks add up to {known}")
        return cls(result["right"], result["wrong"], unsplit=blanks)


@dataclass(frozen=True, slots=True)
class Decisions(_Numbers):
    """What a run did where an answer was due, and where declining was.

    >>> Decisions(right=5, wrong=1, wrongly_declined=2, wrongly_answered=1, rightly_declined=3).n
    12
    """

    right: float = 0
    """Questions that can be answered, answered right."""
    wrong: float = 0
    """Questions that can be answered, answered wrong."""
    wrongly_declined: float = 0
    """Questions that can be answered, declined: over-refusal."""
    wrongly_answered: float = 0
    """Questions that cannot be answered, answered: under-refusal."""
    rightly_declined: float = 0
    """Questions that cannot be answered, declined."""

    @property
    def n(self) -> float:
        """The number of questions."""
        return sum(self.to_dict().values())

    def to_dict(self) -> dict[str, float]:
        """The number of each."""
        return {name: getattr(self, name) for name in DECISIONS}


DECISIONS: tuple[str, ...] = Decisions.__slots__


def _column(place: int) -> Any:
    return property(lambda counts: counts.table[..., place])


def _total(start: int, stop: int | None = None) -> Any:
    return property(lambda counts: counts.table[..., start:stop].sum(axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class CountsArray:
    """A batch of counts (runs, slices, resamples): the last axis holds the fields of `Counts`.

    Every measure accepts it in place of `Counts` and returns an array of the leading shape.

    >>> import numpy as np
    >>> CountsArray(np.array([[3, 1, 0, 0, 1, 0], [2, 2, 0, 0, 1, 0]])).n
    array([5, 5])
    """

    table: npt.NDArray[Any]
    ONE: ClassVar[type[Any]] = Counts
    """What a row is."""

    def __post_init__(self) -> None:
        shape = getattr(self.table, "shape", ())
        if not shape or shape[-1] != len(COUNTED):
            raise UsageError(f"the last axis must hold {len(COUNTED)} counts (got {shape})")
        wide = {"b": "int64", "i": "int64", "u": "int64", "f": "float64"}.get(self.table.dtype.kind)
        if wide is None:
            raise UsageError(f"counts must be numbers (got {self.table.dtype})")
        # 200 right and 100 wrong are 300 questions, not the 44 that fit in a byte.
        object.__setattr__(self, "table", self.table.astype(wide, copy=False))

    @classmethod
    def of(cls, items: Iterable[Any]) -> Self:
        import numpy as np

        names = cls.ONE.__slots__
        rows = [[getattr(item, name) for name in names] for item in items]
        table = np.array(rows).reshape(len(rows), len(names))
        return cls(np.pad(table, ((0, 0), (0, len(COUNTED) - len(names)))))

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: int) -> Any:
        return self.ONE.of(self.table[index].tolist())

    right = _column(0)
    wrong = _column(1)
    unanswered_right = _column(2)
    unanswered_wrong = _column(3)
    unanswered_empty = _column(4)
    unsplit = _column(5)
    n = _total(0)
    answered = _total(0, 2)
    unanswered = _total(2)


@dataclass(frozen=True, slots=True, eq=False)
class DecisionsArray(CountsArray):
    """A batch of decisions: the last axis holds the fields of `Decisions`, and a zero."""

    ONE: ClassVar[type[Any]] = Decisions

    wrongly_declined = _column(2)
    wrongly_answered = _column(3)
    rightly_declined = _column(4)


class Undefined(float):
    """An undefined score: a NaN that carries the reason.

    >>> Undefined("nothing was answered")
    undefined (nothing was answered)
    """

    reason: str

    def __new__(cls, reason: str) -> Undefined:
        value = super().__new__(cls, "nan")
        value.reason = reason
        return value

    def __repr__(self) -> str:
        return f"undefined ({self.reason})"


RIGHT, WRONG = 0, 1
CANDIDATES: tuple[str, ...] = ("right", "wrong", "empty", "unknown")
"""What the candidate of a blank is: it is unknown unless something says that there is none."""
VERDICTS: tuple[str, ...] = ("right", "wrong", "blank")
"""The outcomes that a judge tells apart."""


def blank_kind(why: Why, candidate: str = "unknown") -> int:
    return 2 + len(CANDIDATES) * tuple(Why).index(why) + CANDIDATES.index(candidate)


WITHHELD = 2 + len(Why) * len(CANDIDATES)
"""The kind of an answer that the gold accepts to a question marked as unanswerable: the evidence
for it was withheld from the system."""

KINDS = WITHHELD + 1
"""The number of kinds, which are counted before a policy: right, wrong, a blank for each reason and
candidate, and `WITHHELD`."""

SIDES: tuple[str, ...] = ("answerable", "unanswerable")
"""Whether a question can be answered: where it cannot, `KINDS` is added to the code of a kind."""

CODES = len(SIDES) * KINDS
"""The number of kind codes, for both sides."""

ANSWERED = (RIGHT, WRONG, WITHHELD, KINDS + RIGHT, KINDS + WRONG, KINDS + WITHHELD)
"""The kinds of answers, before any policy."""

Unanswerable: TypeAlias = Literal["right", "blank", "wrong"]
"""What declining an unanswerable question counts as."""

DECLINING = (Why.DECLINED, Why.EMPTY)
"""The reasons of a system that chose to give no answer."""

KIND_OF_WORD: Mapping[str, int] = {
    "right": RIGHT,
    "wrong": WRONG,
    "unanswered_right": blank_kind(Why.DECLINED, "right"),
    "unanswered_wrong": blank_kind(Why.DECLINED, "wrong"),
    "unanswered_empty": blank_kind(Why.DECLINED, "empty"),
    "unanswered": blank_kind(Why.DECLINED),
    **{why.value: blank_kind(why) for why in Why},
}
"""The kind code of each word for an outcome or a reason."""

DEFAULT_EFFECTS: Mapping[Why, Effect] = {
    Why.DECLINED: Effect.UNANSWERED,
    Why.EMPTY: Effect.UNANSWERED,
    Why.UNPARSEABLE: Effect.WRONG,
    Why.ERROR: Effect.STOP,
    Why.MISSING: Effect.UNANSWERED,
    Why.LIMIT: Effect.WRONG,
    Why.UNSCORED: Effect.STOP,
    Why.UNASKED: Effect.EXCLUDED,
}


def stated_effects(values: Mapping[str, str] | Iterable[str] | None) -> dict[Why, Effect]:
    """Parse a policy: a mapping, or texts `kind=effect`; contradictions raise."""
    if isinstance(values, Mapping):
        values = [f"{kind}={effect}" for kind, effect in values.items()]
    elif values is not None and not isinstance(values, Iterable):
        raise UsageError(f"a policy maps kinds of blanks to effects (got {values!r})")
    effects: dict[Why, Effect] = {}
    for text in [values] if isinstance(values, str) else values or ():
        kind, equals, effect = str(text).partition("=")
        if not equals:
            raise UsageError(f"a policy reads KIND=EFFECT, such as error=wrong (got '{text}')")
        kind, effect = kind.strip().lower(), effect.strip().lower()
        check_name("kind of blank", kind, tuple(Why))
        check_name("effect", effect, tuple(Effect))
        before = effects.setdefault(Why(kind), Effect(effect))
        if before != effect:
            raise UsageError(f"the policy says both {kind}={before} and {kind}={effect}")
    return effects


@dataclass(frozen=True, slots=True)
class Policy:
    """A mapping from each reason for a blank to its effect.

    >>> Policy.of(["error=excluded"]).effects[Why.ERROR]
    <Effect.EXCLUDED: 'excluded'>
    """

    effects: Mapping[Why, Effect] = field(default_factory=lambda: DEFAULT_EFFECTS)
    unanswerable: Unanswerable | None = None
    """What declining an unanswerable question counts as; None: not stated, so a blank."""

    @classmethod
    def of(cls, values: Mapping[str, str] | Iterable[str] | None) -> Policy:
        """A policy from a mapping or `kind=effect` texts; other reasons keep their default."""
        return cls({**DEFAULT_EFFECTS, **stated_effects(values)})

    def outcomes(self, excluded: int) -> IntArray:
        """Lookup table from kind code to index in `COUNTED`; `excluded` where there is none."""
        import numpy as np

        blanks = range(2, 2 + len(CANDIDATES))
        ends = {Effect.UNANSWERED: [*blanks], Effect.WRONG: [WRONG] * len(blanks)}
        become = [
            end for why in Why for end in ends.get(self.effects[why], [excluded] * len(blanks))
        ]
        both = np.array([[RIGHT, WRONG, *become, RIGHT]] * len(SIDES))
        if self.credits_declining:
            both[1, DECLINES] = RIGHT if self.unanswerable == "right" else WRONG
            both[1, WITHHELD] = WRONG
        return both.reshape(-1)

    def decisions(self, excluded: int) -> IntArray:
        """Lookup table from kind code to index in `DECISIONS`; `excluded` where there is none.

        A blank that the policy makes an answer is one; a stated refusal never is, nor is an empty
        answer where there is none. What is right there, such as 'none', declines.
        """
        import numpy as np

        effects = dict(self.effects)
        if effects[Why.DECLINED] is Effect.WRONG:
            effects[Why.DECLINED] = Effect.UNANSWERED
        ends = Policy(effects).outcomes(EXCLUDED).reshape(len(SIDES), KINDS)
        become = np.array([[0, 1, 2, 2, 2, 2, excluded], [4, 3, 4, 4, 4, 4, excluded]])
        codes = np.take_along_axis(become, ends, axis=1)
        codes[1, DECLINES] = DECISIONS.index("rightly_declined")
        codes[1, WITHHELD] = DECISIONS.index("wrongly_answered")
        return codes.reshape(-1)

    @property
    def credits_declining(self) -> bool:
        """Whether declining an unanswerable question is right or wrong instead of a blank."""
        return self.unanswerable in ("right", "wrong")

    def apply(self, counts: IntArray, *, decisions: bool = False) -> IntArray:
        """Counts by kind (…, CODES) to counts by outcome or decision (…, 6): a matrix product."""
        import numpy as np

        mapping = np.zeros((CODES, len(COUNTED)), dtype=np.int64)
        ends = self.decisions(-1) if decisions else self.outcomes(-1)
        counted = ends >= 0
        mapping[counted, ends[counted]] = 1
        return counts @ mapping

    def touched(self, counts: IntArray) -> IntArray:
        """Counts by kind (…, CODES) to the number of blanks that each rule of the policy touches.

        The order is that of `REASONS`: blanks that decline an unanswerable question are counted
        last, and only there, if the policy makes them right or wrong.
        """
        import numpy as np

        unanswerable = by_reason(counts)[..., 1, :] * np.isin(tuple(Why), DECLINING)
        declined = unanswerable * self.credits_declining
        reasons = blanks_by_reason(counts) - declined
        return np.concatenate([reasons, declined.sum(axis=-1, keepdims=True)], axis=-1)

    def to_dict(self) -> dict[str, str]:
        """The effect of each kind of blank, and `unanswerable` if it is set."""
        more = {} if self.unanswerable is None else {SIDES[1]: self.unanswerable}
        return {**{kind.value: effect.value for kind, effect in self.effects.items()}, **more}


DECLINES = slice(
    blank_kind(DECLINING[0], CANDIDATES[0]), blank_kind(DECLINING[-1], CANDIDATES[-1]) + 1
)
"""The contiguous kind codes of blanks whose system chose to give no answer."""

REASONS: tuple[str, ...] = (*Why, SIDES[1])
"""Each reason for a blank, then `unanswerable`: a blank that declines an unanswerable question."""


def by_reason(counts: IntArray) -> IntArray:
    """Counts by kind (…, CODES) to blanks by side and reason (…, 2, reasons)."""
    sides = counts.reshape(*counts.shape[:-1], len(SIDES), KINDS)[..., 2:WITHHELD]
    reasons: IntArray = sides.reshape(*sides.shape[:-1], len(Why), len(CANDIDATES)).sum(axis=-1)
    return reasons


def blanks_by_reason(counts: IntArray) -> IntArray:
    """Counts by kind (…, CODES) to blanks by reason (…, reasons), before any policy."""
    reasons: IntArray = by_reason(counts).sum(axis=-2)
    return reasons


def reasons_named(blanks: IntArray) -> dict[str, int]:
    """The number of blanks for each reason that occurs, by the name of the reason."""
    return {str(why): int(n) for why, n in zip(REASONS, blanks, strict=True) if n}


def blanked_at_random(k: Counts) -> Counts:
    """The expected counts of a run if it had chosen its blanks uniformly at random.

    It keeps the run's coverage and its candidates: with share a of the candidates right and
    coverage v, a·v·n are right on average. Every credit measure is linear in c for a fixed u, so
    its expected score is its score of these expected counts.
    """
    right, has = k.right + k.unanswered_right, k.n - k.unanswered_empty - k.unsplit
    share, blank = (right / has if has else 0.0), has - k.answered
    return Counts(
        right=share * k.answered,
        wrong=(1 - share) * k.answered,
        unanswered_right=share * blank,
        unanswered_wrong=(1 - share) * blank,
        unanswered_empty=k.unanswered_empty,
        unsplit=k.unsplit,
    )


def blanked_at_best(k: Counts) -> Counts:
    """The counts of an oracle that answers only where it is right and leaves the rest blank."""
    return Counts(
        right=k.right + k.unanswered_right,
        unanswered_wrong=k.wrong + k.unanswered_wrong,
        unanswered_empty=k.unanswered_empty,
        unsplit=k.unsplit,
    )
