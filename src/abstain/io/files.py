"""Files as they come: opened with care, unpacked within bounds, written whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, nearest, option, reason_of
from abstain.io.packing import GZIP, ZSTD, byte_limit, packing_of, too_large, unpacked

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Made = TypeVar("Made")

MAX_XML_BYTES = 128 << 20
"""What XML may unpack to, of which a gold or a run needs little."""

BLOCK = 8 << 20
"""A line of a table may not be longer than twice this: a block without a line end is refused."""

PIECE = 2 << 20
"""Bytes of a table that are read at a time: few enough to stay small, many enough to be quick."""

MAX_DOCUMENT = 2 << 30
"""What one JSON document may have, perhaps on one line; ABSTAIN_MAX_BYTES sets another bound."""

WORKERS = 2
"""Chunks that are worked on at a time; more gain little, and each takes memory."""

SNIFFED = 1 << 16
"""Bytes that nearly always show what a file is."""

STDIN, STDIN_NAME = "-", "standard input"
DESCRIPTOR = re.compile(r"/dev/stdin|/dev/fd/\d+|/proc/self/fd/\d+")
"""Names of what is open already: it can be read once, however often it is asked for."""

PARQUET, ZIP = b"PAR1", b"PK\x03\x04"
BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
WORKBOOK = re.compile(
    rb"PK\x03\x04.{26}(\[Content_Types\]\.xml|_rels/|docProps/|xl/"
    rb"|mimetypeapplication/vnd\.oasis\.opendocument)"
    rb"|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    re.DOTALL,
)
"""How .xlsx, .ods and .xls begin: a zip archive by its first entry, the older kind by its mark."""
NAME_ENDINGS = (
    *(".gz", ".zst", ".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet"),
    *(".pq", ".xml", ".eval"),
)
"""Endings of formats and compression."""
SAVE_AGAIN = "save it with the encoding UTF-8 (from a spreadsheet: as CSV UTF-8)"
NOT_UTF8 = f"is not UTF-8 text (perhaps Latin-1 or Windows-1252): {SAVE_AGAIN}"


class Opened(Struct, frozen=True):
    """A file that may be read: its place in messages, and where its plain bytes are."""

    name: str
    path: Path | None
    data: bytes | None
    packing: str | None = None
    """How these bytes are packed, where they are unpacked while they are read."""

    def stream(self) -> IO[bytes]:
        """The plain bytes from the beginning."""
        file = io.BytesIO(self.data or b"") if self.path is None else self.path.open("rb")
        return file if self.packing is None else unpacked(file, self.packing, self.name)

    def head(self, size: int = SNIFFED) -> bytes:
        """The first plain bytes."""
        with self.stream() as file:
            return file.read(size)


def open_plain(path: str | os.PathLike[str]) -> Opened:
    """Open a file for reading, unpacked if it is gzip or Zstandard by its first bytes.

    `-` is the standard input.
    """
    opened = open_streamed(path)
    with reading_file(opened.name), opened.stream() as file:
        if opened.packing is not None:
            return in_memory(opened)
        is_text = opened.name.encode(errors="replace").decode() == opened.name
        if opened.path is not None and not is_text:  # a name of any bytes cannot be handed on
            return Opened(opened.name, None, file.read())
    return opened


def in_memory(opened: Opened) -> Opened:
    """The plain bytes of a file, unpacked within bounds."""
    with reading_file(opened.name), opened.stream() as file:
        return Opened(opened.name, None, _bounded(file, opened.name))


def open_streamed(path: str | os.PathLike[str]) -> Opened:
    """The same, but unpacked each time that it is read, and never in memory as a whole."""
    raw = _open_packed(path)
    with reading_file(raw.name):
        return replace(raw, packing=packing_of(raw.head(4)))


def _open_packed(path: str | os.PathLike[str]) -> Opened:
    """Open a file to be read as it is, perhaps more than once: a pipe is taken in whole."""
    name = os.fspath(path)
    if name == STDIN:
        source = getattr(sys.stdin, "buffer", None)
        if source is None:
            raise InputError("there is none to read", STDIN_NAME)
        return _once(source, source, STDIN_NAME)
    if stat.S_ISREG(_mode(name)):
        return Opened(name, Path(name), None)
    with reading_file(name), open(name, "rb") as file:
        if DESCRIPTOR.fullmatch(name):
            found = os.fstat(file.fileno())
            return _once((name, found.st_dev, found.st_ino), file, name)
        return Opened(name, None, _bounded(file, name))


_taken: dict[object, Opened] = {}
"""What was read of what can be read once, by what it is."""


def _once(key: object, file: IO[bytes], name: str) -> Opened:
    if key not in _taken:
        with reading_file(name):
            _taken[key] = Opened(name, None, _bounded(file, name))
    return _taken[key]


@contextlib.contextmanager
def reading_file(name: str) -> Iterator[None]:
    """What the system says while a file is read, in one line."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", name) from None


def _mode(name: str) -> int:
    """What kind of a file it is; a directory or nothing at all is refused."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        raise InputError(f"there is no such file{_nearby(Path(name))}", name) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {reason_of(error)}", name) from None
    if stat.S_ISDIR(mode):
        raise InputError("is a directory, expected a file", name)
    return mode


def refuse_workbook(opened: Opened) -> None:
    """Refuse what a spreadsheet program keeps for itself, with what to do about it."""
    if WORKBOOK.match(opened.head(1 << 10)):
        raise InputError(
            "is a file of a spreadsheet program (Excel or another), expected text: "
            "save the table as CSV UTF-8",
            opened.name,
        )


def refuse_utf16(opened: Opened) -> None:
    """Refuse the other encoding that spreadsheet programs write, with what to do about it."""
    head = opened.head(1 << 10)
    if head[:2] in UTF16 or _every_other_is_zero(head):
        raise InputError(f"is UTF-16, expected UTF-8: {SAVE_AGAIN}", opened.name)


def _every_other_is_zero(head: bytes) -> bool:
    """Whether these are plain letters in UTF-16 without a mark: two or more, each with a zero."""
    return len(head) >= 4 and any(
        not any(head[zeros::2]) and all(head[1 - zeros :: 2]) for zeros in (0, 1)
    )


def check_text(opened: Opened) -> None:
    """Refuse what cannot be a table of text: nothing at all, binary data, an endless line."""
    for _ in text_blocks(opened):
        pass


def text_blocks(opened: Opened) -> Iterator[bytes]:
    """The bytes of a file of text; what `check_text` refuses is refused when it is met."""
    offset = 0
    with reading_file(opened.name), opened.stream() as file:
        while block := file.read(BLOCK):
            if b"\0" in block:
                at = offset + block.index(b"\0")
                raise InputError(f"is binary (a zero byte at {at:,}), expected text", opened.name)
            if len(block) == BLOCK and b"\n" not in block:
                log = offset == 0 and block.startswith(b"{")
                hint = f" (or a tool's log, named by {option('format')})" if log else ""
                raise InputError(
                    f"has a line of more than {BLOCK >> 20} MiB, expected a table{hint}",
                    opened.name,
                )
            offset += len(block)
            yield block
    if offset == 0:
        raise InputError("is empty, expected a header and rows", opened.name)


def line_end(text: bytes) -> int:
    """Where the last whole line ends."""
    return text.rfind(b"\n") + 1


def chunks_of(blocks: Iterable[bytes], end: Callable[[bytes], int] = line_end) -> Iterator[bytes]:
    """A file's bytes in chunks of whole records; ``end`` says where the last of some bytes ends."""
    held = b""
    for block in blocks:
        for start in range(0, len(block), PIECE):
            held += block[start : start + PIECE]
            if whole_records := end(held):
                yield held[:whole_records]
                held = held[whole_records:]
    if held:
        yield held


def ahead(items: Iterator[Item], work: Callable[[Item], Made]) -> Iterator[Made]:
    """What ``work`` makes of each item, in their order, made in threads while others are used."""
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
    """The first line that is not UTF-8."""
    with opened.stream() as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


@contextlib.contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to that becomes the given file at the end, or nothing on any failure.

    The compression follows the name: `.gz` and `.zst` are packed.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError("is a directory, expected a file to write", str(target))
    special = target.exists() and not target.is_file()  # a pipe or a device stays what it is
    real = Path(os.path.realpath(target))
    folder = Path(tempfile.gettempdir()) if special else real.parent
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=folder)
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", str(target)) from None
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        _pack(draft, target.suffix.lower())
        if special:
            with target.open("wb") as out, draft.open("rb") as text:
                shutil.copyfileobj(text, out)
            return
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        draft.replace(real)
    except OSError as error:
        raise InputError(f"cannot be written: {reason_of(error)}", str(target)) from None
    finally:
        draft.unlink(missing_ok=True)


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """Say that a file cannot be written before the work that fills it, as far as that shows."""
    target = Path(path)
    if target.is_dir():
        raise InputError("is a directory, expected a file to write", str(target))
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise InputError("cannot be written: its folder does not exist", str(target))
    if not target.exists() and not os.access(folder, os.W_OK):
        raise InputError("cannot be written: permission denied", str(target))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file whole or not at all."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def bare_name(path: str | os.PathLike[str]) -> str:
    """A file's name without its endings of format and compression.

    >>> bare_name("runs/jucs1302enen.csv.gz")
    'jucs1302enen'
    """
    if os.fspath(path) == STDIN:
        return STDIN_NAME
    name = Path(path).name
    while (ending := Path(name).suffix).lower() in NAME_ENDINGS and name != ending:
        name = name[: -len(ending)]
    return name


def _pack(draft: Path, ending: str) -> None:
    if ending == ".gz":
        draft.write_bytes(gzip.compress(draft.read_bytes(), mtime=0))
    elif ending == ".zst":
        import zstandard

        draft.write_bytes(zstandard.ZstdCompressor().compress(draft.read_bytes()))


def _bounded(file: IO[bytes], name: str) -> bytes:
    limit, longest = byte_limit(), BLOCK
    chunks: list[bytes] = []
    size, since = 0, 0  # bytes in all, and since the last line end
    while chunk := file.read(BLOCK):
        if not chunks:
            first = chunk.removeprefix(BOM).lstrip()[:4]
            if first.startswith(b"<"):
                limit = byte_limit(MAX_XML_BYTES)
            if first.startswith(b"{"):
                longest = MAX_DOCUMENT
            if chunk.startswith((PARQUET, GZIP, ZSTD, ZIP)):
                longest = limit
        size += len(chunk)
        since = 0 if b"\n" in chunk else since + len(chunk)
        if size > limit:
            raise too_large(name, limit)
        if since > longest:
            raise InputError(f"has a line of more than {longest >> 20} MiB, expected a table", name)
        chunks.append(chunk)
    return b"".join(chunks)


def _nearby(path: Path) -> str:
    with contextlib.suppress(OSError):
        found = nearest(path.name, [p.name for p in path.parent.iterdir()])
        if found:
            return f" (nearest: {', '.join(str(path.parent / name) for name in found)})"
    return ""
