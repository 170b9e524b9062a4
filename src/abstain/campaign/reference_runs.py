"""Reference runs by arithmetic: what chance, habit, silence and omniscience would have had.

Each is a table questions × counts of the expected outcome, so it can be summed over any slice.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.outcomes import Counts

if TYPE_CHECKING:
    from abstain.outcomes import Array
    from abstain.questions import Gold

WIDTH = len(fields(Counts))


def reference_runs(gold: Gold, *, seed: int = 0) -> dict[str, Array]:
    """Every reference run that the gold allows."""
    found: dict[str, Array] = {}
    accepted = gold.frame["accepted"]
    size = len(gold)
    if "options" in gold.frame.columns:
        options = gold.frame["options"]
        among = accepted.list.set_intersection(options).list.len().to_numpy().astype(np.float64)
        lengths = options.list.len().to_numpy().astype(np.float64)
        if (lengths > 0).all():
            found["random (expected)"] = answered(among / lengths)
            draws = np.random.default_rng(seed).random(size) < among / lengths
            found[f"random (seed {seed})"] = answered(draws.astype(np.float64))
            first = options.list.first()
            found["first option"] = answered(_is_right(first, accepted))
    if "nca" in gold.frame.columns:
        nca = (gold.frame["nca"].fill_null("").str.to_lowercase() == "yes").to_numpy()
        found["none of the above"] = answered(nca.astype(np.float64))
    habit = accepted.list.first().mode().sort()[0]
    found[f"majority option ({habit})"] = answered(
        _is_right(pl.Series([habit] * size, dtype=pl.String), accepted)
    )
    blank = np.zeros((size, WIDTH))
    blank[:, 4] = 1
    found["blank"] = blank
    found["oracle"] = answered(np.ones(size))
    return found


def answered(right: Array) -> Array:
    """A run that answers everything: right with the given chance, else wrong."""
    table = np.zeros((len(right), WIDTH))
    table[:, 0] = right
    table[:, 1] = 1 - right
    return table


def _is_right(answers: pl.Series, accepted: pl.Series) -> Array:
    frame = pl.DataFrame({"answer": answers, "accepted": accepted})
    right = frame.select(pl.col("accepted").list.contains(pl.col("answer")))
    return right.to_series().fill_null(value=False).cast(pl.Float64).to_numpy()
