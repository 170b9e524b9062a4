"""How questions are parted into those to tune on and those to judge on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.result import Facts
from abstain.errors import UsageError, nearest, option, plural

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    BoolArray = npt.NDArray[np.bool_]

FOLDS = 5


class Split(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How the questions are parted: by folds, or by attributes that name those to tune on."""

    folds: int | None = None
    repeats: int | None = None
    tuned_on: dict[str, str] = {}
    """Attribute to value."""
    judged_on: str | None = None
    """The gold that is judged on, where it is one of its own."""

    def parts(
        self, questions: pl.DataFrame, seed: int
    ) -> Iterator[list[tuple[BoolArray, BoolArray]]]:
        """For each repeat the pairs of masks: tune on, judge on."""
        if self.tuned_on:
            yield [self._named(questions)]
            return
        folds, size = self.folds or FOLDS, questions.height
        if folds > size:
            raise UsageError(f"{folds} folds of {plural(size, 'question')} leave one empty")
        # By the order of ids, so that the order of rows changes nothing.
        by_id = questions["question"].arg_sort().to_numpy()
        for repeat in range(self.repeats or 1):
            draw = np.random.default_rng([seed, repeat]).permutation(size)
            fold = np.empty(size, np.int64)
            fold[by_id] = draw % folds
            yield [(fold != f, fold == f) for f in range(folds)]

    def _named(self, questions: pl.DataFrame) -> tuple[BoolArray, BoolArray]:
        tune = np.ones(questions.height, bool)
        for attribute, value in self.tuned_on.items():
            values = questions[attribute].cast(str)
            own = (values == value).fill_null(value=False).to_numpy()
            if not own.any():
                near = nearest(value, values.drop_nulls().unique().to_list())
                hint = f" (nearest: {', '.join(near)})" if near else ""
                raise UsageError(f"no question has {attribute} '{value}'{hint}: nothing to tune on")
            tune &= own
        label = ", ".join(f"{name}={value}" for name, value in self.tuned_on.items())
        if not tune.any():
            raise UsageError(f"the split {label} leaves no question to tune on")
        if tune.all():
            raise UsageError(f"the split {label} leaves no question to judge on")
        return tune, ~tune


def split_of(
    tune_on: dict[str, str], folds: int | None, repeats: int, judged_on: str | None = None
) -> Split:
    """How to part questions, as it was asked for."""
    said = option("tune_on" if judged_on is None else "test_gold")
    if tune_on and folds is not None:
        raise UsageError(f"{said} and {option('folds')} exclude each other")
    if tune_on and repeats > 1:
        raise UsageError(
            f"{said} parts the questions one way: {option('repeats')} goes with {option('folds')}"
        )
    if repeats < 1:
        raise UsageError(f"{option('repeats')} is 1 or more (got {repeats})")
    if folds is not None and folds < 2:
        raise UsageError(
            "tuned and judged on the same questions a threshold flatters itself: "
            f"{option('folds')} is 2 or more (got {folds})"
        )
    if tune_on:
        return Split(tuned_on=tune_on, judged_on=judged_on)
    return Split(folds=folds or FOLDS, repeats=repeats)
