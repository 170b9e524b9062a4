"""The matrix: the kind of every response, runs × questions, one byte each.

Beside it stand the answers of a run with their confidences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from abstain.measures.answers import Answers
from abstain.measures.definition import Array, BoolArray, Codes, IntArray
from abstain.outcomes import EXCLUDED, KINDS
from abstain.runs.counting import UNSURE, Batches, fill, refuse_runs
from abstain.runs.judge import KIND, Judged

Filled = tuple[list[str], Codes, Array | None]
"""The runs by name, the kinds of their responses, their confidences where those were asked for."""


def filled(judged: Judged, *, confident: bool = False) -> Filled:
    """Every response in its cell, whatever engines the runs live in.

    A fault, or a cell that is filled twice, is refused.
    """
    parts = [fill(Batches(judged, frame, confident=confident)) for frame in judged.frames]
    runs = [run for names, _, _ in parts for run in names]
    refuse_runs(judged.sources, runs)
    order = sorted(range(len(runs)), key=runs.__getitem__)
    kinds = _in_order([part[1] for part in parts], order)
    sures = [part[2] for part in parts if part[2] is not None]
    return [runs[i] for i in order], kinds, _in_order(sures, order) if confident else None


def _in_order(parts: Sequence[Any], order: list[int]) -> Any:
    """Rows of several tables in one order; a table in that order already is not copied."""
    whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return whole if order == list(range(len(order))) else whole[order]


def binned_matrix(
    runs: Sequence[str], kinds: Codes, confidence: Array | None, bins: int
) -> pl.DataFrame:
    """How many responses of each run and kind have a confidence in each bin: run, KIND, bin, n."""
    assert confidence is not None
    parts = []
    for run, row, sure in zip(runs, kinds, confidence, strict=True):
        place = np.where(np.isnan(sure), UNSURE, np.floor(sure * bins)).astype(np.int64)
        keys, n = np.unique((place + 1) * KINDS + row, return_counts=True)
        columns = {"run": [run] * len(n), KIND: keys % KINDS, "bin": keys // KINDS - 1, "n": n}
        parts.append(pl.DataFrame(columns, schema_overrides={KIND: pl.Int64, "n": pl.Int64}))
    return pl.concat(parts)


EMPTY = EXCLUDED - 1


def has_answer(codes: Codes) -> BoolArray:
    """Which responses have an answer or a candidate."""
    has: BoolArray = codes < EMPTY
    return has


def answers_of(
    codes: Codes,
    confidence: Array,
    where: BoolArray | IntArray | None = None,
) -> Answers:
    """The answers and candidates of a run, over all or some of the questions."""
    if where is not None:
        codes, confidence = codes[where], confidence[where]
    has = has_answer(codes)
    asked = len(codes)
    if not has.all():
        asked = int(np.count_nonzero(codes < EXCLUDED))
        codes, confidence = codes[has], confidence[has]
    return Answers((codes & 1) == 0, confidence, asked, codes < 2)


def stated(codes: Codes, confidence: Array) -> tuple[int, int]:
    """How many answers and candidates of a run have a confidence, and how many there are."""
    has = has_answer(codes)
    return int(np.count_nonzero(has & ~np.isnan(confidence))), int(has.sum())
