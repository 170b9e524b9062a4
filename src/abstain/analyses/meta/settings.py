"""What can be asked of `meta`, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, TypeAlias, get_args

from abstain.analyses.meta.bins import BINS
from abstain.analyses.meta.draws import Draws, Plan, Progress
from abstain.analyses.meta.power import RESAMPLES
from abstain.analyses.meta.sources import Scores, Source
from abstain.analyses.meta.stability import FUZZINESS
from abstain.errors import UnknownNameError, UsageError, option, plural

Part: TypeAlias = Literal["stability", "sensitivity", "power", "agreement"]
PARTS: tuple[Part, ...] = get_args(Part)
MOST_TRIALS = 100_000
CURVE_POINTS = 6
WHOLE = ("trials", "size", "bins", "resamples", "seed", "threads")
REAL = ("confidence", "width", "difference")
SEVERAL = {"only": str, "fuzziness": Real, "sizes": Integral}
MAY_BE_NONE = ("size", "width", "difference", "sizes")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How measures are judged."""

    only: Sequence[Part] = PARTS
    trials: int = 100
    """Random subsets for each pair of runs."""
    size: int | None = None
    """Questions in a subset; None: half of them."""
    fuzziness: Sequence[float] = FUZZINESS
    draws: Draws = "paired"
    confidence: float = 95
    """In percent."""
    width: float | None = None
    """Of a bin of differences; None: 0.01, or by what the scores span if that is another scale."""
    bins: int = BINS
    """Bins that are listed, the last of them open."""
    sizes: Sequence[int] | None = None
    """For the curve of required differences; None: six, up to half the questions."""
    resamples: int = RESAMPLES
    difference: float | None = None
    """To say how many questions it needs; None: five bins."""
    seed: int = 0
    threads: int = 0
    """0: as many as there are processors."""
    progress: Progress | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """What was asked for, in order."""
        return tuple(part for part in PARTS if part in self.only)

    @property
    def levels(self) -> tuple[float, ...]:
        """The fuzziness values, ascending."""
        return tuple(sorted({float(f) for f in self.fuzziness}))

    def subset(self, source: Source) -> int:
        """Questions in a subset."""
        return source.questions // 2 if self.size is None else int(self.size)

    def plan(self, source: Source, *, trials: int | None = None) -> Plan:
        """How to draw."""
        return Plan(
            trials=int(trials or self.trials),
            size=self.subset(source),
            draws=self.draws,
            seed=int(self.seed),
            threads=int(self.threads),
            progress=self.progress,
        )

    def curve_sizes(self, source: Source) -> list[int]:
        """Sizes for the curve of required differences: up to half the questions, evenly spread."""
        if self.sizes is not None:
            return sorted({int(size) for size in self.sizes})
        half = source.questions // 2
        even = {max(1, round(half * k / CURVE_POINTS)) for k in range(1, CURVE_POINTS + 1)}
        return sorted(even | {self.subset(source)})

    def check(self, source: Source) -> None:
        """Refuse what cannot be done."""
        self._check_kinds()
        self._check_names()
        self._check_numbers()
        self._check_source(source)
        if {"stability", "sensitivity"} & set(self.parts):
            self._check_sizes(source.questions)

    def _check_kinds(self) -> None:
        """What an option is, before what it says."""
        given = {
            name: getattr(self, name)
            for name in (*WHOLE, *REAL, *SEVERAL)
            if name not in MAY_BE_NONE or getattr(self, name) is not None
        }
        for name, value in given.items():
            if name in WHOLE and not isinstance(value, Integral):
                raise UsageError(f"{name} is a whole number (got {value!r})")
            if name in REAL and not isinstance(value, Real):
                raise UsageError(f"{name} is a number (got {value!r})")
            if name in SEVERAL and not _several(value, SEVERAL[name]):
                kind = {str: "names", Real: "numbers", Integral: "whole numbers"}[SEVERAL[name]]
                raise UsageError(f"{name} is a sequence of {kind} (got {value!r})")

    def _check_names(self) -> None:
        for part in self.only:
            if part not in PARTS:
                raise UnknownNameError("part", part, PARTS, hint=f"there are {', '.join(PARTS)}")
        if not self.only:
            raise UsageError(f"there is nothing to do: the parts are {', '.join(PARTS)}")
        if self.draws not in get_args(Draws):
            raise UsageError(f"draws are paired or shared (got '{self.draws}')")

    def _check_numbers(self) -> None:
        for name in ("trials", "resamples"):
            value = getattr(self, name)
            if not 1 <= value <= MOST_TRIALS:
                raise UsageError(f"{name} must be from 1 to {MOST_TRIALS:,} (got {value:,})")
        if not 0 < self.confidence < 100:
            raise UsageError(
                f"the confidence is a percentage between 0 and 100 (got {self.confidence:g})"
            )
        for what, value in (
            ("the width of a bin", self.width),
            ("the difference", self.difference),
        ):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise UsageError(f"{what} must be above 0 (got {value:g})")
        if not 2 <= self.bins <= 1000:
            raise UsageError(f"bins must be from 2 to 1,000 (got {self.bins:,})")
        if self.seed < 0:
            raise UsageError(f"the seed must be 0 or more (got {self.seed})")
        if not self.levels or not all(0 <= f <= 1 for f in self.levels):
            raise UsageError("a fuzziness is a share from 0 to 1, such as 0.05")

    def _check_source(self, source: Source) -> None:
        if len(source.runs) < 2:
            raise UsageError(
                f"measures are judged by pairs of runs: at least 2 (got {len(source.runs)})"
            )
        if self.parts == ("agreement",):
            if len(source.measures) < 2:
                raise UsageError(one_measure(source))
        elif source.questions < 2:
            raise UsageError(
                f"other samples need at least 2 questions (got {source.questions}); agreement "
                f"alone does without: {option('parts', 'agreement')}"
            )

    def _check_sizes(self, questions: int) -> None:
        half, swap = questions // 2, "sensitivity" in self.parts
        if self.size is not None and not 1 <= self.size <= questions:
            raise UsageError(
                f"the size of a subset must be from 1 to {half if swap else questions:,} "
                f"(got {self.size:,})"
            )
        if swap and self.size is not None and self.size > half:
            raise UsageError(
                f"a subset of {self.size:,} leaves no disjoint one of its size: with "
                f"{plural(questions, 'question')} at most {half:,} "
                f"(stability alone takes larger ones: {option('parts', 'stability')})"
            )
        for size in () if self.sizes is None else self.sizes:
            if not 1 <= size <= half:
                raise UsageError(f"a size of the curve must be from 1 to {half:,} (got {size:,})")


def _several(value: object, kind: type) -> bool:
    """Whether it is a sequence of things of a kind; a text is one thing."""
    return (
        isinstance(value, Iterable)
        and not isinstance(value, (str, bytes))
        and all(isinstance(item, kind) for item in value)
    )


def one_measure(source: Source) -> str:
    """Why there is no agreement, and how to get one."""
    more = "give another matrix" if isinstance(source, Scores) else "name another measure"
    return f"agreement needs two measures: {more}"
