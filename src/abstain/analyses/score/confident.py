"""Measures of confidence by run and slice, for a table of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from abstain.analyses.curve.matrix import ConfidenceMatrix
from abstain.judging.slices import slice_numbers, slice_sizes
from abstain.measures import Measure


def scores_by_slice(
    matrix: ConfidenceMatrix, measures: Sequence[Measure], by: Sequence[str]
) -> dict[tuple[str, tuple[str | None, ...]], dict[str, float]]:
    """The score of every run in every slice, for those measures that take a confidence."""
    chosen = [m for m in measures if m.definition.takes == "confidence"]
    sizes = slice_sizes(matrix.questions, by)
    slices: list[tuple[str | None, ...]] = sizes.drop("size").rows() if by else [()]
    place = slice_numbers(matrix.questions, sizes, by)
    found = {}
    for at, part in enumerate(slices):
        where = None if len(slices) == 1 else np.asarray(place == at)
        for number, run in enumerate(matrix.runs):
            answers = matrix.answers(number, where)
            found[run, part] = {str(item): item(answers) for item in chosen}
    return found
