"""Wilson's, Clopper and Pearson's and Jeffreys's intervals, for measures that are a proportion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from abstain.measures import Measure, Proportion
from abstain.outcomes import CountsArray
from abstain.stats.delta_method import effective
from abstain.stats.functional import cells_of, one_run

if TYPE_CHECKING:
    from abstain.outcomes import Array


def proportion(
    measure: Measure,
    share: Proportion,
    counts: Array,
    clusters: Array | None,
    *,
    method: str,
    level: float,
) -> tuple[float, float]:
    """The ends of a proportion's interval; six counts, clusters by their effective size."""
    x, n = share.of(CountsArray(counts))
    if clusters is not None:
        cells = cells_of(measure)
        merged, groups = cells.merge(counts), cells.merge(clusters)
        worth = float(effective(one_run(measure), merged, groups, level=level) / merged.sum())
        x, n = x * worth, n * worth
    return METHODS[method](float(x), float(n), level=level)


def wilson(x: float, n: float, *, level: float) -> tuple[float, float]:
    """Wilson's score interval of x successes in n trials."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    middle = (x + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * math.sqrt(x * (n - x) / n + z * z / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def clopper_pearson(x: float, n: float, *, level: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval; x and n need not be whole."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if x <= 0 else float(betaincinv(x, n - x + 1, tail))
    high = 1.0 if x >= n else float(betaincinv(x + 1, n - x, 1 - tail))
    return low, high


def jeffreys(x: float, n: float, *, level: float) -> tuple[float, float]:
    """The posterior Beta(x + ½, n − x + ½), to the end where nothing or everything succeeded.

    So Brown, Cai and DasGupta (2001): without it the score itself would lie outside.
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if x <= 0 else float(betaincinv(x + 0.5, n - x + 0.5, tail))
    high = 1.0 if x >= n else float(betaincinv(x + 0.5, n - x + 0.5, 1 - tail))
    return low, high


METHODS = {"wilson": wilson, "clopper-pearson": clopper_pearson, "jeffreys": jeffreys}
