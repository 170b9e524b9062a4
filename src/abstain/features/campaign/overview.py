"""A campaign's facts as arrays, runs from the best to the worst: what its views work on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from abstain.errors import InputError, shown
from abstain.features.campaign.result import CampaignResult
from abstain.measures import Measure, count_measure
from abstain.outcomes import RIGHT, Counts, CountsArray
from abstain.runs.gold import Slices, natural, slices_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray
    from abstain.stats.orderings import Marks

MOST_CELLS = 5_000_000
"""Responses beyond which an overview does without answers, curves and resampled ranks."""

ROLE = "role"
"""The attribute that tells main questions from auxiliary ones."""


@dataclass(frozen=True)
class Overview:
    """A campaign's result, unpacked."""

    result: CampaignResult

    @cached_property
    def runs(self) -> list[str]:
        """The runs from the best to the worst."""
        return [row.run for row in self.result.rows]

    @cached_property
    def measure(self) -> Measure:
        """What the runs are ranked by."""
        return count_measure(self.result.measure)

    @cached_property
    def overall(self) -> CountsArray:
        """Counts by run over all questions."""
        return CountsArray.of(row.counts for row in self.result.rows)

    @cached_property
    def scores(self) -> Array:
        """The measure of each run over all questions."""
        return self.measure(self.overall)

    @cached_property
    def questions(self) -> pl.DataFrame:
        """The questions with their attributes."""
        attributes = self.result.questions.attributes
        return pl.DataFrame(attributes, schema=dict.fromkeys(attributes, pl.String))

    @cached_property
    def tried(self) -> tuple[IntArray, IntArray, IntArray]:
        """For each question, in how many runs it was right, wrong, left blank."""
        asked = self.result.questions
        return np.array(asked.right), np.array(asked.wrong), np.array(asked.blank)

    @cached_property
    def slices(self) -> dict[str, Slices]:
        """The slices that each attribute makes."""
        names = [breakdown.attribute for breakdown in self.result.breakdowns]
        return {name: slices_of(self.questions, name) for name in names}

    @cached_property
    def sliced(self) -> dict[str, CountsArray]:
        """For each attribute, counts by run and slice."""
        return {
            breakdown.attribute: _counts(breakdown.outcomes) for breakdown in self.result.breakdowns
        }

    @cached_property
    def slice_scores(self) -> dict[str, Array]:
        """For each attribute, the measure by run and slice."""
        return {name: self.measure(counts) for name, counts in self.sliced.items()}

    @cached_property
    def baselines(self) -> dict[str, tuple[Counts, dict[str, CountsArray]]]:
        """Reference runs and runs without a rank: counts overall, and by slice."""
        names = [breakdown.attribute for breakdown in self.result.breakdowns]
        return {
            run.name: (
                Counts(*run.counts),
                {name: _counts(part) for name, part in zip(names, run.slices, strict=True)},
            )
            for run in (*self.result.unranked, *self.result.references)
        }

    @cached_property
    def pairs(self) -> Pairs | None:
        """Main questions and their auxiliary twins, where the gold has some."""
        rows = [row.pairs for row in self.result.rows]
        twins = None if None in rows else twins_of(self.questions)
        if twins is None:
            return None
        main, auxiliary, joined = twins
        right, _, _ = self.tried
        return Pairs(joined, right[main], right[auxiliary], np.array(rows, np.int64))

    @cached_property
    def teams(self) -> list[str]:
        """The team of each run."""
        return [row.team for row in self.result.rows]

    @cached_property
    def runs_info(self) -> pl.DataFrame:
        """One row a run: `run` and what is known of it."""
        rows = self.result.rows
        names = list(dict.fromkeys(name for row in rows for name in row.info))
        columns = {name: [row.info.get(name) for row in rows] for name in names}
        schema = dict.fromkeys(("run", *names), pl.String)
        return pl.DataFrame({"run": self.runs, **columns}, schema=schema)


def _counts(outcomes: Sequence[Sequence[object]]) -> CountsArray:
    """Counts from numbers by outcome, whatever is behind that axis; nothing is unsplit."""
    table = np.moveaxis(np.array(outcomes), 0, -1)
    return CountsArray(np.concatenate([table, np.zeros_like(table[..., :1])], axis=-1))


@dataclass(frozen=True)
class Pairs:
    """Main questions and their auxiliary twins: what does taking one inference away change?

    An auxiliary question asks the same as its main one with one difficulty removed: a hypernym, a
    synonymous noun phrase or a verbal entailment made plain, in the question or in the answers.
    """

    attributes: pl.DataFrame
    main_right: IntArray
    """In how many runs each main question was right."""
    auxiliary_right: IntArray
    fourfold: IntArray
    """For each run: both right, main only, auxiliary only, neither."""

    @cached_property
    def everything(self) -> Marks:
        """All pairs, as marks."""
        return np.ones(len(self.main_right), bool)

    def levels(self, attribute: str) -> dict[str, Marks]:
        """The values of an attribute of the auxiliary questions, each with its pairs."""
        if attribute not in self.attributes.columns:
            return {}
        column = self.attributes[attribute].fill_null("")
        values = sorted((v for v in column.unique() if v), key=natural)
        return {value: (column == value).to_numpy() for value in values}

    def counts(self, chosen: Marks) -> PairCounts:
        """Right responses over all runs in the chosen pairs."""
        main, auxiliary = self.main_right[chosen], self.auxiliary_right[chosen]
        better = int((auxiliary > main).sum())
        return PairCounts(int(main.sum()), int(auxiliary.sum()), better, int(chosen.sum()))


class PairCounts(NamedTuple):
    """Some of the pairs, over all runs."""

    main_right: int
    auxiliary_right: int
    better: int
    """Pairs whose auxiliary question got more right than its main one."""
    pairs: int

    @property
    def change(self) -> float | None:
        """Percent more right on the auxiliary questions; None where nothing was right before."""
        more = self.auxiliary_right - self.main_right
        return 100 * more / self.main_right if self.main_right else None


def fourfold_of(questions: pl.DataFrame, codes: npt.NDArray[np.uint8]) -> IntArray | None:
    """For each run how many pairs it had both right, main only, auxiliary only, neither."""
    twins = twins_of(questions)
    if twins is None:
        return None
    a, b = codes[:, twins[0]] == RIGHT, codes[:, twins[1]] == RIGHT
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
            f"question {shown(lost['question'][0])} is an auxiliary question of "
            f"{shown(lost['auxiliary_of'][0])}, which is not in the gold"
        )
    return joined["main"].to_numpy(), joined["at"].to_numpy(), joined


def with_role(questions: pl.DataFrame) -> pl.DataFrame:
    """Mark questions as main or auxiliary where the gold says which belong to which."""
    if "auxiliary_of" not in questions.columns or ROLE in questions.columns:
        return questions
    auxiliary = questions["auxiliary_of"].fill_null("") != ""
    role = auxiliary.replace_strict({True: "auxiliary", False: "main"}, return_dtype=pl.String)
    return questions.with_columns(role.alias(ROLE)) if auxiliary.any() else questions


# ------------------------------------------------------------------- words and names of tables


def safe(name: str) -> str:
    """A name that a file may have."""
    return "".join(sign if sign.isalnum() else "_" for sign in name.lower())[:40]


def free_name(name: str, taken: set[str]) -> str:
    """The name, numbered where a file already has it: attributes `a b` and `a_b` are two tables."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free
