"""Runs × questions: the kind of every response, one byte a cell, and its confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.judging.cells import Cells, fill
from abstain.judging.tally import first_fault, first_repeat, refuse_empty, refuse_shared

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.judging.judge import Judged
    from abstain.outcomes import Array

Filled = tuple[list[str], "npt.NDArray[np.uint8]", "Array | None"]
"""The runs by name, the kinds of their responses, their confidences where those were asked for."""


def filled(judged: Judged, *, confident: bool = False) -> Filled:
    """Every response in its cell, whatever engines the runs live in.

    A fault, or a cell that is filled twice, is refused.
    """
    parts = []
    for frame in judged.frames:
        cells = Cells(judged, frame, confident=confident)
        names, kinds, sure, repeated = fill(cells)
        if cells.faults:
            raise first_fault(judged, cells.faults)
        if repeated:
            raise first_repeat(judged, repeated)
        parts.append((names, kinds, sure))
    runs = [run for names, _, _ in parts for run in names]
    refuse_shared(runs)
    refuse_empty(judged.sources, runs)
    order = sorted(range(len(runs)), key=runs.__getitem__)
    kinds = joined([part[1] for part in parts], order)
    sure = joined([part[2] for part in parts if part[2] is not None], order) if confident else None
    return [runs[i] for i in order], kinds, sure


def joined(parts: Sequence[npt.NDArray[np.generic]], order: Sequence[int]) -> np.ndarray:
    """Rows of several tables in one order; a table in that order already is not copied."""
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return whole if list(order) == list(range(len(order))) else whole[list(order)]
