"""How questions are parted into those to tune on and those to judge on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.errors import UsageError, nearest, option, plural

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Split:
    """How the questions are parted: by folds, by an attribute's value, or as a mask says."""

    folds: int = 5
    repeats: int = 1
    attribute: str | None = None
    value: str | None = None
    tune_on: Any = None
    """A mask over the questions, where a gold of its own is judged on."""
    label: str = ""

    def parts(self, questions: pl.DataFrame, seed: int) -> Iterator[list[tuple[Any, Any]]]:
        """For each repeat the pairs of masks: tune on, judge on."""
        if self.tune_on is not None:
            yield [_checked(self.tune_on, ~self.tune_on, self.label)]
            return
        if self.attribute is not None:
            yield [self._named(questions)]
            return
        size = questions.height
        if self.folds < 2:
            raise UsageError(
                "tuned and judged on the same questions a threshold flatters itself: "
                f"{option('folds')} is 2 or more (got {self.folds})"
            )
        if self.folds > size:
            raise UsageError(f"{self.folds} folds of {plural(size, 'question')} leave one empty")
        # By the order of ids, so that the order of rows changes nothing.
        by_id = questions["question"].arg_sort().to_numpy()
        for repeat in range(self.repeats):
            draw = np.random.default_rng([seed, repeat]).permutation(size)
            fold = np.empty(size, np.int64)
            fold[by_id] = draw % self.folds
            yield [(fold != f, fold == f) for f in range(self.folds)]

    def _named(self, questions: pl.DataFrame) -> tuple[Any, Any]:
        values = questions[self.attribute or ""].cast(str)
        tune = (values == self.value).fill_null(value=False).to_numpy()
        if not tune.any():
            near = nearest(self.value or "", values.drop_nulls().unique().to_list())
            hint = f" (nearest: {', '.join(near)})" if near else ""
            raise UsageError(
                f"no question has {self.attribute} '{self.value}'{hint}: nothing to tune on"
            )
        return _checked(tune, ~tune, f"{self.attribute}={self.value}")

    def to_dict(self) -> dict[str, Any]:
        """How the questions were parted."""
        if self.tune_on is not None:
            return {"judged_on": self.label}
        if self.attribute is not None:
            return {"tuned_on": {self.attribute: self.value}}
        return {"folds": self.folds, "repeats": self.repeats}


def _checked(tune: BoolArray, judge: BoolArray, label: str) -> tuple[BoolArray, BoolArray]:
    if not tune.any():
        raise UsageError(f"the split {label} leaves no question to tune on")
    if not judge.any():
        raise UsageError(f"the split {label} leaves no question to judge on")
    return tune, judge
