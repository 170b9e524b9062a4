"""numpy, imported when something is computed: what is known of a measure needs none."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)  # as fast as numpy's own from now on
            return found

    numpy = _Numpy()

__all__ = ["numpy"]
