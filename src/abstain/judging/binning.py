"""Confidences counted into bins: where responses live, in bounded memory, or from cells.

A bin begins at a multiple of 1/bins, and bins are a power of two, so that the product of a
confidence and their number is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np
import polars as pl

from abstain.errors import InputError
from abstain.io.frames import collect
from abstain.judging.judge import KIND, Judged
from abstain.outcomes import KINDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

UNSURE = -1
"""The bin of responses without a confidence."""


def binned(judged: Judged, bins: int) -> pl.DataFrame:
    """How many responses of each run and kind fall in each bin: run, KIND, bin, n."""
    label = judged.sources[0].table.name
    stated = ["confidence" in frame.collect_schema().names() for frame in judged.frames]
    if not any(stated):
        raise InputError("has no column 'confidence', which says how sure each answer is", label)
    parts = []
    for frame, has in zip(judged.frames, stated, strict=True):
        placed = nw.lit(UNSURE)
        if has:
            sure = nw.col("confidence")
            placed = nw.when(~sure.is_null()).then((sure * bins).floor()).otherwise(placed)
        rows = frame.select("run", KIND, placed.cast(nw.Int64).alias("bin"))
        counted = rows.group_by("run", KIND, "bin").agg(nw.len().alias("n"))
        parts.append(_plain(collect(counted, label)))
    return pl.concat(parts)


def binned_cells(
    runs: Sequence[str], kinds: npt.NDArray[np.uint8], confidence: Array | None, bins: int
) -> pl.DataFrame:
    """As `binned`, of responses that are held: runs × questions."""
    assert confidence is not None
    parts = []
    for run, own, sure in zip(runs, kinds, confidence, strict=True):
        place = np.where(np.isnan(sure), UNSURE, np.floor(sure * bins)).astype(np.int64)
        keys, n = np.unique((place + 1) * KINDS + own, return_counts=True)
        columns = {"run": [run] * len(n), KIND: keys % KINDS, "bin": keys // KINDS - 1, "n": n}
        parts.append(_plain(pl.DataFrame(columns)))
    return pl.concat(parts)


def _plain(counted: pl.DataFrame) -> pl.DataFrame:
    numbers = [pl.col(name).cast(pl.Int64) for name in (KIND, "bin", "n")]
    return counted.select(pl.col("run").cast(pl.String), *numbers)
