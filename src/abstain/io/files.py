"""Files to read: opened, decompressed as they are read, and cut into chunks of whole lines."""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from abstain.errors import AbstainError, InputError, TooLargeError, UsageError, nearest, reason_of

if TYPE_CHECKING:
    from concurrent.futures import Future


MAX_BYTES = 8 << 30
"""The most decompressed bytes of a file; ABSTAIN_MAX_BYTES sets another bound."""
MAX_RATIO = 200
"""The largest ratio of compression that is accepted: real tables compress less well."""
ALWAYS = 64 << 20
"""Bytes that any compressed file may unpack to, whatever the ratio."""
MAX_LINE = 8 << 20
"""Bytes of a line of text, and of a cell of a CSV file."""
MAX_COLUMNS = 10_000


def byte_limit(*, packed: int | None = None) -> int:
    """The bound on a file's decompressed bytes; `packed` is its size if it is compressed."""
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
    what = f"unpacks to more than {limit:,} bytes (ABSTAIN_MAX_BYTES raises the bound)"
    return TooLargeError(what, name)


def failures() -> tuple[type[BaseException], ...]:
    python = (OSError, UnicodeError, BufferError, OverflowError, RecursionError, MemoryError)
    if "polars" not in sys.modules:
        return python
    import polars as pl

    return (*python, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def as_input_error(error: BaseException, name: str, *, doing: str = "read") -> InputError:
    if isinstance(error, MemoryError):
        return InputError("needs more memory than there is", name)
    reason = "it is nested too deeply" if isinstance(error, RecursionError) else reason_of(error)
    return InputError(f"cannot be {doing}: {reason}", name)


@contextmanager
def read_errors(name: str, *, engine: bool = False, doing: str = "read") -> Iterator[None]:
    """Turn failures of reading into one line; with `engine` every exception is one."""
    try:
        yield
    except BaseException as error:
        about_data = isinstance(error, failures()) or (engine and isinstance(error, Exception))
        if isinstance(error, AbstainError) or not about_data:
            raise
        raise as_input_error(error, name, doing=doing) from None


write_errors = partial(read_errors, doing="written")

Item = TypeVar("Item")
Made = TypeVar("Made")

CHUNK = 2 << 20
"""Bytes of a table that are parsed at a time: a compromise between memory and speed."""
WORKERS = 2
"""Chunks that are parsed at a time; more gain little, and each takes memory."""
HEAD = 1 << 16

STDIN, STDIN_NAME = "-", "standard input"
PARQUET, ZIP, GZIP, ZSTD = b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
WORKBOOK = re.compile(
    rb"PK\x03\x04.{26}(\[Content_Types\]\.xml|_rels/|docProps/|xl/"
    rb"|mimetypeapplication/vnd\.oasis\.opendocument)"
    rb"|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    re.DOTALL,
)
"""How .xlsx, .ods and .xls begin: a zip archive by its first entry, the older kind by its mark."""
ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
ENDINGS |= {".parquet": "parquet", ".pq": "parquet", ".xml": "qa4mre"}
PACKED = (".gz", ".zst")
SAVE_AGAIN = "save it with the encoding UTF-8 (from a spreadsheet: as CSV UTF-8)"
NOT_UTF8 = f"is not UTF-8 text (perhaps Latin-1 or Windows-1252): {SAVE_AGAIN}"


@dataclass(frozen=True)
class Opened:
    name: str
    path: Path | None = None
    data: bytes = b""
    broken: str = ""
    """Why it cannot be read; empty if it can."""

    def raw(self) -> IO[bytes]:
        return io.BytesIO(self.data) if self.path is None else self.path.open("rb")

    @cached_property
    def packing(self) -> str | None:
        with self.raw() as file:
            begins = file.read(4)
        if begins.startswith(GZIP):
            return "gzip"
        return "Zstandard" if begins == ZSTD else None

    def stream(self) -> IO[bytes]:
        if self.broken:
            raise InputError(self.broken, self.name)
        if self.packing is None:
            return self.raw()
        return io.BufferedReader(_Stream(_decompressed(self.raw, self.packing, self.name)))

    def sha256(self, salt: bytes = b"") -> str:
        import hashlib

        with read_errors(self.name), self.raw() as file:
            whole: Any = file
            return hashlib.file_digest(whole, lambda: hashlib.sha256(salt)).hexdigest()

    @cached_property
    def head(self) -> bytes:
        with read_errors(self.name), self.stream() as file:
            return file.read(HEAD)

    def read(self) -> bytes:
        with read_errors(self.name), self.stream() as file:
            if self.packing is not None:
                return _all_of(file, self.name)
            if file.seek(0, os.SEEK_END) > (limit := memory_limit()):
                raise too_large(self.name, limit)
            file.seek(0)
            return file.read()

    @property
    def plain_path(self) -> Path | None:
        """Where other readers can open the file: it is not compressed, and its name is text."""
        is_text = self.name.encode(errors="replace").decode() == self.name
        return self.path if self.packing is None and is_text else None


def open_file(path: str | os.PathLike[str]) -> Opened:
    name = os.fspath(path)
    if name == STDIN:
        return _read_once(sys.stdin.buffer, sys.stdin.buffer, STDIN_NAME)
    with read_errors(name):
        try:
            status = os.stat(name)
        except (FileNotFoundError, ValueError):
            near = _nearby(Path(name))
            raise InputError(f"there is no such file{near}", name or "''") from None
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
            what = "directory" if stat.S_ISDIR(status.st_mode) else "device"
            raise InputError(f"is a {what}, expected a file", name)
        with open(name, "rb") as file:
            if stat.S_ISREG(status.st_mode):
                return Opened(name, Path(name))
            return _read_once((name, status.st_dev, status.st_ino), file, name)


read_before: dict[object, Opened] = {}
"""The contents of pipes and the standard input, by their identity: they can be read only once."""


def _read_once(key: object, file: IO[bytes], name: str) -> Opened:
    if key not in read_before:
        with read_errors(name):
            read_before[key] = Opened(name, data=_all_of(file, name))
    return read_before[key]


def _all_of(file: IO[bytes], name: str) -> bytes:
    limit, data = memory_limit(), bytearray()
    while chunk := file.read(MAX_LINE):
        data += chunk
        if len(data) > limit:
            raise too_large(name, limit)
    return bytes(data)


class _Stream(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._rest and (chunk := next(self._chunks, None)) is not None:
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _decompressed(opened: Callable[[], IO[bytes]], packing: str, name: str) -> Iterator[bytes]:
    import zstandard

    def new_frame() -> Any:
        if packing == "gzip":
            return zlib.decompressobj(wbits=31)
        return zstandard.ZstdDecompressor().decompressobj()

    with opened() as packed:
        limit = byte_limit(packed=packed.seek(0, os.SEEK_END))
        packed.seek(0)
        frame, size, broken = None, 0, ""
        try:
            while chunk := packed.read(1 << 13):  # small: a few bytes may unpack to 128 KiB
                while chunk:
                    frame = frame or new_frame()
                    plain = frame.decompress(chunk)
                    chunk = frame.unused_data if frame.eof else b""
                    frame = None if frame.eof else frame
                    size += len(plain)
                    if size > limit:
                        raise too_large(name, limit)
                    yield plain
            broken = "it ends too early" if frame is not None else ""
        except (zlib.error, zstandard.ZstdError) as error:
            broken = reason_of(error)
        if broken:
            raise InputError(f"is not complete {packing} data: {broken}", name)


def _nearby(path: Path) -> str:
    with contextlib.suppress(OSError):
        names = nearest(path.name, [p.name for p in path.parent.iterdir()])
        if names:
            return f" (nearest: {', '.join(str(path.parent / name) for name in names)})"
    return ""


def refuse_binary(opened: Opened) -> None:
    if WORKBOOK.match(opened.head):
        what = "is a file of a spreadsheet program, expected text: save the table as CSV UTF-8"
        raise InputError(what, opened.name)
    if opened.head[:2] in UTF16:
        raise InputError(f"is UTF-16, expected UTF-8: {SAVE_AGAIN}", opened.name)


def line_end(text: bytes) -> int:
    return text.rfind(b"\n") + 1


def chunks_of(opened: Opened, end: Callable[[bytes], int] = line_end) -> Iterator[bytes]:
    """The text of a file in chunks of whole records; `end` finds where the last whole one ends."""
    size, held = 0, b""
    refuse_binary(opened)
    with read_errors(opened.name), opened.stream() as file:
        while block := file.read(MAX_LINE):
            if b"\0" in block:
                at = size + block.index(b"\0")
                raise InputError(f"is binary (a zero byte at {at:,}), expected text", opened.name)
            if len(block) == MAX_LINE and b"\n" not in block:
                what = f"has a line of more than {MAX_LINE >> 20} MiB, expected a table"
                raise InputError(what, opened.name)
            text = block if size else block.removeprefix(BOM)
            size += len(block)
            for start in range(0, len(text), CHUNK):
                held += text[start : start + CHUNK]
                if whole_records := end(held) or (len(held) > 2 * MAX_LINE and len(held)):
                    yield held[:whole_records]
                    held = held[whole_records:]
    if held:
        yield held


def ahead(items: Iterator[Item], work: Callable[[Item], Made]) -> Iterator[Made]:
    """Map `work` over items in threads, a few items ahead of the consumer, in order."""
    first = list(islice(items, 2))
    if len(first) < 2:  # a small file needs no threads
        yield from map(work, first)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        coming: deque[Future[Made]] = deque()
        for item in chain(first, items):
            coming.append(pool.submit(work, item))
            if len(coming) > WORKERS:  # one waits, so that no worker does
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def bad_utf8_line(opened: Opened) -> int | None:
    with opened.stream() as file:
        for number, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), 1):
            if line.decode(errors="replace").encode() != line:
                return number
    return None


def ending_of(name: str) -> str:
    root, ending = os.path.splitext(name.lower())
    return os.path.splitext(root)[1] if ending in PACKED else ending


def bare_name(path: str | os.PathLike[str]) -> str:
    if os.fspath(path) == STDIN:
        return STDIN_NAME
    name = Path(path).name
    known = (*ENDINGS, *PACKED, ".txt", ".json", ".eval")
    while (ending := Path(name).suffix).lower() in known and name != ending:
        name = name[: -len(ending)]
    return name


def split_name(data: Any) -> tuple[str, Any]:
    """Split a text `name=path` of an existing file; other data get an empty name."""
    if isinstance(data, str) and "=" in data and not os.path.exists(data):
        name, _, path = data.partition("=")
        if name.strip() and (path == STDIN or os.path.exists(path)):
            return name.strip(), path
    return "", data


def is_bundle(data: Any) -> bool:
    """Whether it is a folder, or an archive that is not an Inspect log."""
    if not isinstance(data, (str, os.PathLike)):
        return False
    if not os.path.isfile(data):
        return os.path.isdir(data)
    head = open_file(data).head
    if not head.startswith(ZIP) or WORKBOOK.match(head) or os.fspath(data).endswith(".eval"):
        return False
    from abstain.io.submissions import open_archive

    with open_archive(open_file(data)) as archive:
        return not archive.is_inspect
