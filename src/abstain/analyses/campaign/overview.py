"""A campaign's facts as arrays, in the order of the runs' names: what its views work on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.analyses.campaign.pairs import Pairs, find_pairs
from abstain.analyses.campaign.result import CampaignResult
from abstain.judging.slices import Slices, slices_of
from abstain.measures import Measure, count_measure
from abstain.outcomes import Counts, CountsArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstain.outcomes import Array, IntArray


@dataclass(frozen=True)
class Overview:
    """A campaign's result, unpacked."""

    result: CampaignResult

    @cached_property
    def _by_name(self) -> list[int]:
        """The results in the order of their names."""
        rows = self.result.rows
        return sorted(range(len(rows)), key=lambda i: rows[i].run)

    @cached_property
    def runs(self) -> list[str]:
        """The runs by name."""
        return [self.result.rows[i].run for i in self._by_name]

    @cached_property
    def order(self) -> list[int]:
        """Runs from the best to the worst."""
        return [int(i) for i in np.argsort(self._by_name)]

    @cached_property
    def measure(self) -> Measure:
        """What the runs are ranked by."""
        return count_measure(self.result.measure)

    @cached_property
    def overall(self) -> CountsArray:
        """Counts by run over all questions."""
        return CountsArray.of(self.result.rows[i].counts for i in self._by_name)

    @cached_property
    def scores(self) -> Array:
        """The measure of each run over all questions."""
        return self.measure(self.overall)

    @cached_property
    def questions(self) -> pl.DataFrame:
        """The questions with their attributes."""
        own = self.result.questions
        columns = [pl.Series(n, v, dtype=pl.String) for n, v in own.attributes.items()]
        texts = pl.List(pl.String)
        columns.append(pl.Series("accepted", own.accepted, dtype=texts))
        if own.options:
            columns.append(pl.Series("options", own.options, dtype=texts))
        if own.option_texts:
            columns.append(pl.Series("option_texts", own.option_texts, dtype=texts))
        columns.append(pl.Series("nothing_right", own.nothing_right, dtype=pl.Boolean))
        return pl.DataFrame(columns)

    @cached_property
    def right(self) -> IntArray:
        """For each question, in how many runs it was right."""
        return np.array(self.result.questions.right, np.int64)

    @cached_property
    def wrong(self) -> IntArray:
        """For each question, in how many runs it was wrong."""
        return np.array(self.result.questions.wrong, np.int64)

    @cached_property
    def blank(self) -> IntArray:
        """For each question, in how many runs it was left blank."""
        return np.array(self.result.questions.blank, np.int64)

    @cached_property
    def slices(self) -> dict[str, Slices]:
        """The slices that each attribute makes."""
        names = [own.attribute for own in self.result.breakdowns]
        return {name: slices_of(self.questions, name) for name in names}

    @cached_property
    def sliced(self) -> dict[str, CountsArray]:
        """For each attribute, counts by run and slice."""
        return {
            own.attribute: CountsArray(_counts(own.outcomes).table[self._by_name])
            for own in self.result.breakdowns
        }

    @cached_property
    def _slice_scores(self) -> dict[str, Array]:
        return {name: self.measure(counts) for name, counts in self.sliced.items()}

    def slice_scores(self, attribute: str) -> Array:
        """The measure by run and slice of an attribute."""
        return self._slice_scores[attribute]

    @property
    def topic(self) -> str | None:
        """The attribute of topics, where there are some."""
        return self.result.topic_by

    @property
    def test(self) -> str | None:
        """The attribute of reading tests, where there are some."""
        return self.result.test_by

    @property
    def pass_mark(self) -> float:
        """A reading test is passed with this score."""
        return self.result.pass_mark

    @cached_property
    def baselines(self) -> dict[str, tuple[Counts, dict[str, CountsArray]]]:
        """Reference runs: counts overall and, for each attribute, by slice."""
        names = [own.attribute for own in self.result.breakdowns]
        return {
            own.name: (
                Counts(*own.counts),
                {name: _counts(part) for name, part in zip(names, own.slices, strict=True)},
            )
            for own in self.result.references
        }

    @cached_property
    def pairs(self) -> Pairs | None:
        """Main questions and their auxiliary twins, where the gold has some."""
        rows = [self.result.rows[i].pairs for i in self._by_name]
        if any(row is None for row in rows):
            return None
        return find_pairs(self.questions, self.right, np.array(rows, np.int64))

    @cached_property
    def runs_info(self) -> pl.DataFrame:
        """One row a run: `run` and what is known of it."""
        rows = [self.result.rows[i] for i in self._by_name]
        names = list(dict.fromkeys(name for row in rows for name in row.info))
        columns = {name: [row.info.get(name) for row in rows] for name in names}
        schema = dict.fromkeys(("run", *names), pl.String)
        return pl.DataFrame({"run": self.runs, **columns}, schema=schema)

    @cached_property
    def choices(self) -> dict[int, list[tuple[str, int]]]:
        """For each question, the answers given and how many runs gave them."""
        return {i: list(own) for i, own in enumerate(self.result.questions.choices) if own}

    @cached_property
    def intervals(self) -> list[tuple[float | None, float | None]]:
        """Low and high of each run's score."""
        name = self.result.measure
        return [self.result.rows[i].intervals.get(name, (None, None)) for i in self._by_name]

    @cached_property
    def groups(self) -> dict[str, str]:
        """The letters of each run; empty where there are none to give."""
        return {row.run: row.group for row in self.result.rows if row.group}


def _counts(outcomes: Sequence[Sequence[object]]) -> CountsArray:
    """Counts from numbers by outcome, whatever is behind that axis; nothing is unsplit."""
    table = np.moveaxis(np.array(outcomes), 0, -1)
    return CountsArray(np.concatenate([table, np.zeros_like(table[..., :1])], axis=-1))
