"""Measures of confidence by run and slice, for a table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.judging.answers import answers_of
from abstain.judging.slices import slice_numbers, slice_sizes
from abstain.measures import Measure

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation


def scores_by_slice(
    evaluation: Evaluation, measures: Sequence[Measure], by: Sequence[str]
) -> dict[tuple[str, tuple[str | None, ...]], dict[str, float]]:
    """The score of every run in every slice, for those measures that take a confidence."""
    chosen = [m for m in measures if m.definition.takes == "confidence"]
    confidence, codes = evaluation.confidence, evaluation.codes
    questions = evaluation.with_attributes(by)
    sizes = slice_sizes(questions, by)
    slices: list[tuple[str | None, ...]] = sizes.drop("size").rows() if by else [()]
    place = slice_numbers(questions, sizes, by)
    found = {}
    for at, part in enumerate(slices):
        where = None if len(slices) == 1 else np.asarray(place == at)
        for number, run in enumerate(evaluation.runs):
            answers = answers_of(codes[number], confidence[number], where)
            found[run, part] = {str(item): item(answers) for item in chosen}
    return found
