"""Partial credit: grades between wrong and right count as the share right of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, UsageError, option
from abstain.io.frames import read_numbers
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import RIGHT, WRONG, Why, blank_kind
from abstain.runs.judge import code, first_of

SHARE = "__share"
NUMBER = "__number"
NOT_WHOLE = (
    f"an answer with partial credit ({option('partial')}) is neither right nor wrong, which this "
    "needs: score and compare work with shares, by measures of counts"
)


class PartialScale(Struct, frozen=True):
    """A scale of grades: the lowest is wrong, the highest right, others are right by a share."""

    low: float
    high: float
    blank: float | None = None
    """The grade of a response without an answer, where a number says so."""
    others: tuple[float, ...] = ()
    """The only grades that there are; empty: all from the lowest to the highest."""

    @classmethod
    def of(cls, text: str) -> PartialScale:
        """A scale by its name or its ends."""
        if str(text).strip().lower() == "crag":
            return cls(-1, 1, blank=0, others=(-1.0, 0.0, 0.5, 1.0))
        ends = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*-\s*(\d+(?:\.\d+)?)\s*", str(text), re.ASCII)
        low, high = map(float, ends.groups()) if ends else (0.0, 0.0)
        if not low < high:
            known = "LOW-HIGH such as 0-1 or 1-5, or crag"
            raise UsageError(f"{option('partial')} is the scale of grades, {known} (got '{text}')")
        return cls(low, high, blank=-1 if (low, high) == (0, 1) else None)

    def __str__(self) -> str:
        if self.others:
            score = "so that S(t=0.5) is CRAG's score"
            return f"grades are CRAG's: an acceptable answer (0.5) is right by 0.75, {score}"
        ends = f"from {self.low:g} (wrong) to {self.high:g} (right)"
        return f"grades are partial credit: the share right of an answer, {ends}"


OF_WHOLE = ("wilson", "clopper-pearson", "jeffreys")
"""Intervals that take every answer as right or wrong."""


def check_interval(method: str) -> None:
    if method in OF_WHOLE:
        how = f"with partial credit ({option('partial')}) use beta, logit, delta, percentile or bca"
        raise UsageError(f"{method} takes every answer as right or wrong; {how}")


def words_of(grades: pl.Series, scale: PartialScale, label: str) -> pl.Series:
    """The grades that are no number; a number that the scale does not have is refused."""
    number = grades.str.strip_chars().cast(pl.Float64, strict=False)
    fits = number.is_in(scale.others) if scale.others else number.is_between(scale.low, scale.high)
    if scale.blank is not None:
        fits |= number == scale.blank
    odd = grades.filter(~fits).sort()
    if len(odd):
        known = ", ".join(f"{grade:g}" for grade in scale.others)
        what = f"one of {known}" if known else f"a number from {scale.low:g} to {scale.high:g}"
        raise InputError(f"the grade '{odd[0]}' is not {what}", label)
    return grades.filter(number.is_null())


def shared(
    frame: nw.LazyFrame[Any], scale: PartialScale, words: Mapping[str, int], into: str
) -> nw.LazyFrame[Any]:
    frame, number = read_numbers(frame, "grade", NUMBER), nw.col(NUMBER)
    cases = [(nw.col("grade") == word.strip(), code(kind)) for word, kind in words.items()]
    share: Any = (number - scale.low) / (scale.high - scale.low)
    if scale.blank is not None:
        cases.append((number == scale.blank, code(blank_kind(Why.DECLINED))))
        share = nw.when(number != scale.blank).then(share)
    cases.append((~number.is_null(), code(RIGHT)))
    kind = first_of(cases, code(blank_kind(Why.EMPTY)))
    return frame.with_columns(kind.alias(into), share.alias(SHARE)).drop(NUMBER)


def summed_by(groups: IntArray, table: Array) -> Array:
    sums = [np.bincount(groups, column, int(groups.max()) + 1) for column in table.T]
    return np.stack(sums, axis=1)


def of_each(table: Array, share: Array) -> Array:
    """Questions × 6 counts, where answers with a share are partly right and partly wrong."""
    graded = ~np.isnan(share)
    table[graded, RIGHT], table[graded, WRONG] = share[graded], 1 - share[graded]
    return table
