"""The boundary: what a library or the system says of somebody's data becomes one clear line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from abstain.errors import AbstainError, InputError, reason_of

SAID = (OSError, UnicodeError, BufferError, OverflowError, RecursionError, MemoryError)
"""What Python says of data that are not what they should be, or too large."""

NO_MEMORY = "needs more memory than there is"


def failures() -> tuple[type[BaseException], ...]:
    """The errors that are about the data: Python's, and those of polars once it is loaded."""
    if "polars" not in sys.modules:
        return SAID
    import polars as pl

    return (*SAID, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def in_a_line(error: BaseException, name: str, *, doing: str = "read") -> InputError:
    """An error as one line with the file that it is about."""
    if isinstance(error, MemoryError):
        return InputError(NO_MEMORY, name)
    if isinstance(error, RecursionError):
        return InputError(f"cannot be {doing}: it is nested too deeply", name)
    return InputError(f"cannot be {doing}: {reason_of(error)}", name)


@contextmanager
def reading(name: str, *, engine: bool = False) -> Iterator[None]:
    """What goes wrong while a file or a frame is read, in one line with its name.

    An `engine` may say it by any error of its own.
    """
    try:
        yield
    except AbstainError:
        raise
    except failures() as error:
        raise in_a_line(error, name) from None
    except Exception as error:
        if not engine:
            raise
        raise in_a_line(error, name) from None


@contextmanager
def writing(name: str) -> Iterator[None]:
    """What goes wrong while a file is written, in one line with its name."""
    try:
        yield
    except AbstainError:
        raise
    except failures() as error:
        raise in_a_line(error, name, doing="written") from None
