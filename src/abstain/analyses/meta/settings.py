"""What can be asked of `meta`, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from abstain.analyses.meta.result import Part
from abstain.errors import UsageError, check_name, option, plural
from abstain.stats.intervals import check_level
from abstain.stats.resampling.comparing import FUZZINESS
from abstain.stats.resampling.draws import Draws, Plan, ResamplingProgress
from abstain.stats.resampling.power import RESAMPLES
from abstain.stats.resampling.sensitivity import BINS
from abstain.stats.resampling.sources import Scores, Source

PARTS: tuple[Part, ...] = get_args(Part)
MOST_TRIALS = 100_000
CURVE_POINTS = 6


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How measures are judged; see `meta` for what each is."""

    parts: Sequence[Part] = ()
    trials: int = 100
    size: int | None = None
    fuzziness: Sequence[float] = FUZZINESS
    draws: Draws = "paired"
    level: float = 0.95
    width: float | None = None
    bins: int = BINS
    sizes: Sequence[int] | None = None
    resamples: int = RESAMPLES
    difference: float | None = None
    seed: int = 0
    threads: int = 0
    progress: ResamplingProgress | None = None

    @property
    def chosen(self) -> tuple[Part, ...]:
        """The parts that were asked for, in order: all unless some were."""
        return tuple(part for part in PARTS if part in self.parts or not len(self.parts))

    @property
    def levels(self) -> tuple[float, ...]:
        """The fuzziness values, ascending."""
        return tuple(sorted({float(f) for f in self.fuzziness}))

    def subset(self, source: Source) -> int:
        """Questions in a subset."""
        return source.questions // 2 if self.size is None else int(self.size)

    def plan(self, source: Source) -> Plan:
        """How to draw."""
        return Plan(
            trials=int(self.trials),
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
        self._check_names()
        self._check_numbers()
        self._check_source(source)
        if {"stability", "sensitivity"} & set(self.chosen):
            self._check_sizes(source.questions)

    def _check_names(self) -> None:
        for part in self.parts:
            check_name("part", part, PARTS)
        if self.draws not in get_args(Draws):
            raise UsageError(f"draws are paired or shared (got '{self.draws}')")

    def _check_numbers(self) -> None:
        for name in ("trials", "resamples"):
            value = getattr(self, name)
            if not 1 <= value <= MOST_TRIALS:
                raise UsageError(f"{name} must be from 1 to {MOST_TRIALS:,} (got {value:,})")
        check_level(self.level)
        for what, value in (
            ("the width of a bin", self.width),
            ("the difference", self.difference),
        ):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise UsageError(f"{what} must be above 0 (got {value:g})")
        if not 2 <= self.bins <= 1000:
            raise UsageError(f"bins must be from 2 to 1,000 (got {self.bins:,})")
        if not self.levels or not all(0 <= f <= 1 for f in self.levels):
            raise UsageError("a fuzziness is a share from 0 to 1, such as 0.05")

    def _check_source(self, source: Source) -> None:
        if len(source.runs) < 2:
            raise UsageError(
                f"measures are judged by pairs of runs: expected at least 2 runs "
                f"(got {len(source.runs)})"
            )
        if self.chosen == ("agreement",):
            if len(source.measures) < 2:
                more = (
                    "give another file of scores"
                    if isinstance(source, Scores)
                    else "name another measure"
                )
                raise UsageError(f"agreement needs two measures: {more}")
        elif source.questions < 2:
            raise UsageError(
                f"stability, sensitivity and power need at least 2 questions "
                f"(got {source.questions}); only agreement works with fewer: "
                f"{option('parts', 'agreement')}"
            )

    def _check_sizes(self, questions: int) -> None:
        half, swap = questions // 2, "sensitivity" in self.chosen
        if self.size is not None and not 1 <= self.size <= questions:
            raise UsageError(
                f"the size of a subset must be from 1 to {half if swap else questions:,} "
                f"(got {self.size:,})"
            )
        if swap and self.size is not None and self.size > half:
            raise UsageError(
                f"a subset of {self.size:,} leaves too few questions for a second, disjoint subset "
                f"of that size: with {plural(questions, 'question')} a subset has at most {half:,} "
                f"(only stability allows larger ones: {option('parts', 'stability')})"
            )
        for size in () if self.sizes is None else self.sizes:
            if not 1 <= size <= half:
                raise UsageError(f"a size of the curve must be from 1 to {half:,} (got {size:,})")
