"""Bytes that come packed: gzip and Zstandard, unpacked within bounds, some at a time."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zlib
from typing import IO, Any

from abstain.errors import InputError, UsageError, reason_of

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"

MAX_BYTES = 8 << 30
"""What a file may unpack to; ABSTAIN_MAX_BYTES sets another bound."""


MAX_RATIO = 200
"""How many times its size a packed file may unpack to: what people write packs less well."""

ALWAYS = 64 << 20
"""What any packed file may unpack to, however small it is."""


def byte_limit(default: int = MAX_BYTES, *, packed: int | None = None) -> int:
    """How many bytes may be read, unless ABSTAIN_MAX_BYTES says otherwise.

    Of so many `packed` bytes it is no more than `MAX_RATIO` times that.
    """
    if packed is not None:
        default = min(default, max(ALWAYS, MAX_RATIO * packed))
    text = os.environ.get("ABSTAIN_MAX_BYTES", str(default))
    if not text.isdecimal():
        raise UsageError(f"ABSTAIN_MAX_BYTES must be a whole number (got '{text}')")
    return int(text)


def memory_limit(default: int = MAX_BYTES) -> int:
    """How many bytes may be held in memory: half of what the machine has free, at most."""
    return byte_limit(min(default, max(ALWAYS, _free_memory() // 2)))


def _free_memory() -> int:
    """The memory that this process may still take, as far as the system says."""
    free = [MAX_BYTES * 2]
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/meminfo") as file:
        free += [int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable")]
    with contextlib.suppress(ImportError):
        import resource

        space = resource.getrlimit(resource.RLIMIT_AS)[0]
        free += [space] if space != resource.RLIM_INFINITY else []
    return min(free)


class _ZstandardFile:
    """Frames of Zstandard as a file that notices when the last one is cut short."""

    def __init__(self, packed: IO[bytes]) -> None:
        import zstandard

        self.packed = packed
        self.start = zstandard.ZstdDecompressor().decompressobj
        self.frame = self.start()
        self.begun = False

    def read(self, size: int) -> bytes:
        """About so many bytes: at least one, unless this is the end."""
        pieces: list[bytes] = []
        have = 0
        while have < size:
            chunk = self.packed.read(1 << 12)  # small: a few bytes may unpack to 128 KiB
            if not chunk:
                if self.begun:
                    raise EOFError
                break
            while chunk:
                self.begun = True
                pieces.append(self.frame.decompress(chunk))
                have += len(pieces[-1])
                chunk = b""
                if self.frame.eof:
                    chunk = self.frame.unused_data
                    self.frame = self.start()
                    self.begun = False
        return b"".join(pieces)


def packing_of(head: bytes) -> str | None:
    """How a file is packed, by its first bytes."""
    if head.startswith(GZIP):
        return "gzip"
    return "Zstandard" if head.startswith(ZSTD) else None


def unpacked(packed: IO[bytes], packing: str, name: str) -> IO[bytes]:
    """A packed file as its plain bytes, which are never in memory as a whole."""
    return io.BufferedReader(_Unpacked(packed, packing, name))


class _Unpacked(io.RawIOBase):
    """The plain bytes of a packed file; what is wrong with it is said in one line."""

    def __init__(self, packed: IO[bytes], packing: str, name: str) -> None:
        self._packed, self._packing, self._name = packed, packing, name
        gzipped = packing == "gzip"
        self._stream = gzip.GzipFile(fileobj=packed) if gzipped else _ZstandardFile(packed)
        size = packed.seek(0, os.SEEK_END)
        packed.seek(0)
        self._bound = self._limit = byte_limit(packed=size)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left:
            import zstandard

            try:
                self._left = memoryview(self._stream.read(len(buffer)))
            except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
                reason = "it ends too early" if isinstance(error, EOFError) else reason_of(error)
                said = f"is not complete {self._packing} data: {reason}"
                raise InputError(said, self._name) from None
            self._limit -= len(self._left)
            if self._limit < 0:
                raise too_large(self._name, self._bound)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        self._packed.close()
        super().close()


def too_large(name: str, limit: int) -> InputError:
    """What is said of a file that unpacks to more than it may."""
    return InputError(
        f"unpacks to more than {limit:,} bytes (ABSTAIN_MAX_BYTES raises the bound)", name
    )
