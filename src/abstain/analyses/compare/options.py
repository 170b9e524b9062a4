"""How a comparison is made: the test, the correction, the level, a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from abstain.errors import UnknownNameError, UsageError, option
from abstain.stats.intervals import check_level

Test: TypeAlias = Literal["randomisation", "bootstrap", "mcnemar", "wilcoxon"]
Correction: TypeAlias = Literal["holm", "bh", "none"]
Progress: TypeAlias = Callable[[int, int], None]
"""Told how much of the work is done, and how much there is."""

LEAST_TRIALS, MOST_TRIALS = 100, 1_000_000
MOST_DRAWN = 50_000_000
"""Scores or differences held at once, in trials times runs."""
CLOSE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a comparison is made."""

    against: str | None = None
    """The run that all others are compared with, corrected by max-T; None: all pairs."""
    test: Test = "randomisation"
    correction: Correction | None = None
    """For all pairs, Holm's unless said."""
    method: str = ""
    """Of intervals; what is empty stands for the default of the measure."""
    level: float = 0.95
    trials: int = 10_000
    seed: int = 0
    detect: float | None = None
    power: float = 0.8
    progress: Progress = lambda _, __: None

    @property
    def alpha(self) -> float:
        """The error that the level leaves."""
        return 1 - self.level

    def finds(self, p: float) -> bool:
        """Whether a p, corrected, says that there is a difference."""
        return p <= self.alpha + CLOSE

    @property
    def corrected_by(self) -> str:
        """What p-values are corrected by."""
        return "max-T" if self.against is not None else self.correction or "holm"

    def with_method(self, method: str) -> Options:
        """The same with another method of intervals."""
        return replace(self, method=method)

    def check(self) -> None:
        """Refuse names that nobody knows, with those that there are, and numbers out of range."""
        _one_of("test", self.test, get_args(Test))
        if self.correction is not None:
            _one_of("correction", self.correction, get_args(Correction))
        if self.against is not None and self.correction is not None:
            raise UsageError(
                f"{option('correction', self.correction)} is for all pairs; "
                f"{option('against')} has max-T, leave one of them out"
            )
        if not LEAST_TRIALS <= self.trials <= MOST_TRIALS:
            raise UsageError(
                f"trials are between {LEAST_TRIALS:,} and {MOST_TRIALS:,} (got {self.trials:,})"
            )
        check_level(self.level)

    def check_held(self, columns: int, what: str) -> None:
        """Refuse more trials than can be held at once, each with so many columns."""
        if self.trials * columns > MOST_DRAWN:
            raise UsageError(
                f"{self.trials:,} trials of {columns:,} {what} are too many to hold; take "
                f"{option('trials', MOST_DRAWN // columns)} or fewer"
            )


def _one_of(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UnknownNameError(what, name, known, hint=f"there are {', '.join(known)}")
