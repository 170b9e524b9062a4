"""Bounds on untrusted input, and failures of reading and writing in one line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from abstain.errors import AbstainError, InputError, TooLargeError, UsageError, reason_of

MAX_BYTES = 8 << 30
"""Plain bytes of a file; ABSTAIN_MAX_BYTES sets another bound."""
MAX_RATIO = 200
"""How many times its size a compressed file may unpack to: what people write packs less well."""
ALWAYS = 64 << 20
"""What any compressed file may unpack to, however small it is."""
MAX_LINE = 8 << 20
"""Bytes of a line of text, and of a cell of a CSV file."""
MAX_COLUMNS = 10_000


def byte_limit(*, packed: int | None = None) -> int:
    """How many plain bytes a file may have, of `packed` compressed ones where it is compressed."""
    limit = MAX_BYTES if packed is None else min(MAX_BYTES, max(ALWAYS, MAX_RATIO * packed))
    text = os.environ.get("ABSTAIN_MAX_BYTES", str(limit))
    if not text.isdecimal():
        raise UsageError(f"ABSTAIN_MAX_BYTES must be a whole number (got '{text}')")
    return int(text)


def memory_limit() -> int:
    """How many bytes may be held in memory: at most half of what the machine has free."""
    free = 2 * MAX_BYTES
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    return min(byte_limit(), max(ALWAYS, free // 2))


def too_large(name: str, limit: int) -> TooLargeError:
    """The error of a file that exceeds a bound on its bytes."""
    return TooLargeError(
        f"unpacks to more than {limit:,} bytes (ABSTAIN_MAX_BYTES raises the bound)", name
    )


FAILURES = (OSError, UnicodeError, BufferError, OverflowError, RecursionError, MemoryError)
"""Python's errors about data that are not what they should be, or too large."""


def failures() -> tuple[type[BaseException], ...]:
    """The errors that are about the data: Python's, and those of polars once it is loaded."""
    if "polars" not in sys.modules:
        return FAILURES
    import polars as pl

    return (*FAILURES, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def in_a_line(error: BaseException, name: str, *, doing: str = "read") -> InputError:
    """An error as one line with the file that it is about."""
    if isinstance(error, MemoryError):
        return InputError("needs more memory than there is", name)
    if isinstance(error, RecursionError):
        return InputError(f"cannot be {doing}: it is nested too deeply", name)
    return InputError(f"cannot be {doing}: {reason_of(error)}", name)


@contextmanager
def reading(name: str, *, engine: bool = False, doing: str = "read") -> Iterator[None]:
    """Turn failures of reading into one line; with `engine` every exception is one."""
    try:
        yield
    except AbstainError:
        raise
    except failures() as error:
        raise in_a_line(error, name, doing=doing) from None
    except Exception as error:
        if not engine:
            raise
        raise in_a_line(error, name, doing=doing) from None


def writing(name: str) -> contextlib.AbstractContextManager[None]:
    """Turn failures of writing into one line."""
    return reading(name, doing="written")
