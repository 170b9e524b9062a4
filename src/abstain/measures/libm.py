"""Logarithms as C's library takes them, so that scores equal those of programs in C to the bit.

numpy has its own, which differ in the last bit for a few numbers; a score that is exactly between
two figures of four digits is then printed as the other one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from abstain.measures.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from abstain.measures.ranked_lists import Floats


def log2(values: Any) -> Floats:
    """Logarithms to the base 2."""
    return _of_each(math.log2, values)


def log(values: Any) -> Floats:
    """Natural logarithms."""
    return _of_each(math.log, values)


def _of_each(function: Callable[[float], float], values: Any) -> Floats:
    """The function of each number; 0 and below as in IEEE 754."""
    different, back = np.unique(values, return_inverse=True)
    own = [_value(function, number) for number in different.tolist()]
    return np.array(own, np.float64)[back].reshape(np.shape(values))


def _value(function: Callable[[float], float], number: float) -> float:
    if number > 0:
        return function(number)
    return -math.inf if number == 0 else math.nan
