"""Means, medians and deviations that say when there is nothing to average."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from abstain.outcomes import Array


def over_runs(scores: Array) -> dict[str, Array]:
    """Mean, median and standard deviation over the first axis; NaN stays out of each.

    The deviation is that of a population (divided by n): it describes the runs that there are, as
    the QA4MRE overviews do. A column without a single number has none of them.
    """
    if not np.isnan(scores).any() and scores.size:
        return {
            "mean": scores.mean(axis=0),
            "median": np.median(scores, axis=0),
            "standard deviation": scores.std(axis=0),
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return {
            "mean": np.nanmean(scores, axis=0),
            "median": np.nanmedian(scores, axis=0),
            "standard deviation": np.nanstd(scores, axis=0),
        }
