"""Main questions and their auxiliary twins: what does taking one inference away change?

An auxiliary question asks the same as its main one with one difficulty removed: a hypernym, a
synonymous noun phrase or a verbal entailment made plain, in the question or in the answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.errors import InputError, shown
from abstain.judging.slices import natural
from abstain.outcomes import RIGHT

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import IntArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """Main and auxiliary questions that belong together, and in how many runs they were right."""

    attributes: pl.DataFrame
    main_right: IntArray
    auxiliary_right: IntArray
    fourfold: IntArray
    """For each run: both right, main only, auxiliary only, neither."""

    def __len__(self) -> int:
        return len(self.main_right)


@dataclass(frozen=True, slots=True)
class PairTally:
    """Some of the pairs, over all runs."""

    main_right: int
    auxiliary_right: int
    better: int
    """Pairs whose auxiliary question got more right than its main one."""
    pairs: int

    @property
    def change(self) -> float | None:
        """Percent more right on the auxiliary questions; None where nothing was right before."""
        if self.main_right == 0:
            return None
        return 100 * (self.auxiliary_right - self.main_right) / self.main_right


def find_pairs(questions: pl.DataFrame, right: IntArray, fourfold: IntArray) -> Pairs | None:
    """The pairs that the attribute `auxiliary_of` names; None when there are none.

    `right` holds in how many runs each question was right, `fourfold` what each run made of pairs.
    """
    found = twins_of(questions)
    if found is None:
        return None
    main, auxiliary, joined = found
    return Pairs(joined, right[main], right[auxiliary], fourfold)


def fourfold_of(questions: pl.DataFrame, codes: npt.NDArray[np.uint8]) -> IntArray | None:
    """For each run how many pairs it had both right, main only, auxiliary only, neither."""
    found = twins_of(questions)
    if found is None:
        return None
    a, b = codes[:, found[0]] == RIGHT, codes[:, found[1]] == RIGHT
    four = np.stack([(a & b), (a & ~b), (~a & b), (~a & ~b)], axis=-1)
    return np.asarray(four.sum(axis=1), np.int64)


def twins_of(
    questions: pl.DataFrame,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], pl.DataFrame] | None:
    """The positions of main questions and of their auxiliary twins, and the twins themselves."""
    if "auxiliary_of" not in questions.columns:
        return None
    indexed = questions.with_row_index("at").with_columns(pl.col("at").cast(pl.Int64))
    twins = indexed.filter(pl.col("auxiliary_of").fill_null("") != "")
    if twins.is_empty():
        return None
    known = indexed.select(pl.col("question").alias("auxiliary_of"), pl.col("at").alias("main"))
    joined = twins.join(known, on="auxiliary_of", how="left", maintain_order="left")
    lost = joined.filter(pl.col("main").is_null())
    if lost.height:
        raise InputError(
            f"question {shown(lost['question'][0])} is auxiliary of "
            f"{shown(lost['auxiliary_of'][0])}, which is not in the gold"
        )
    return joined["main"].to_numpy(), joined["at"].to_numpy(), joined


def tally_pairs(pairs: Pairs, chosen: npt.NDArray[np.bool_]) -> PairTally:
    """Right responses over all runs in the chosen pairs."""
    main, auxiliary = pairs.main_right[chosen], pairs.auxiliary_right[chosen]
    return PairTally(
        int(main.sum()), int(auxiliary.sum()), int((auxiliary > main).sum()), int(chosen.sum())
    )


def levels(pairs: Pairs, attribute: str) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """The values of an attribute of the auxiliary questions, each with its pairs."""
    if attribute not in pairs.attributes.columns:
        return
    column = pairs.attributes[attribute].fill_null("")
    for value in sorted((v for v in column.unique() if v), key=natural):
        yield value, (column == value).to_numpy()
