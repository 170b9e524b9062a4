"""Arrays by what they hold, for modules that load numpy anyway.

`outcomes` must not load it: it has the first two for type checkers alone.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.uint8]
"""Outcomes or kinds, one byte each."""
Words: TypeAlias = NDArray[np.uint64]
"""Bits by the word."""
