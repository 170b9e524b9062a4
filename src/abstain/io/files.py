"""Files as they come: opened with care, unpacked within bounds, and never written in part."""

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

from abstain.errors import InputError, nearest, option
from abstain.io.boundary import in_a_line, reading, writing
from abstain.io.floods import Floods
from abstain.io.packing import (
    GZIP,
    ZSTD,
    byte_limit,
    memory_limit,
    packing_of,
    too_large,
    unpacked,
)

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
BINARY = (PARQUET, GZIP, ZSTD, ZIP)
"""How files begin that are read though they are no text."""
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
    broken: str = ""
    """Why nothing can be read of it."""

    def stream(self) -> IO[bytes]:
        """The plain bytes from the beginning."""
        if self.broken:
            raise InputError(self.broken, self.name)
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
    with reading(opened.name), opened.stream() as file:
        if opened.packing is not None:
            return in_memory(opened)
        is_text = opened.name.encode(errors="replace").decode() == opened.name
        if opened.path is not None and not is_text:  # a name of any bytes cannot be handed on
            return Opened(opened.name, None, file.read())
    return opened


def in_memory(opened: Opened) -> Opened:
    """The plain bytes of a file, unpacked within bounds."""
    with reading(opened.name), opened.stream() as file:
        return Opened(opened.name, None, _bounded(file, opened.name))


def open_streamed(path: str | os.PathLike[str]) -> Opened:
    """The same, but unpacked each time that it is read, and never in memory as a whole."""
    raw = _open_packed(path)
    with reading(raw.name):
        return replace(raw, packing=packing_of(raw.head(4)))


def _open_packed(path: str | os.PathLike[str]) -> Opened:
    """Open a file to be read as it is, perhaps more than once: a pipe is taken in whole."""
    name = os.fspath(path)
    if name == STDIN:
        source = getattr(sys.stdin, "buffer", None)
        if source is None:
            raise InputError("there is no standard input to read", STDIN_NAME)
        return _once(source, source, STDIN_NAME)
    if stat.S_ISREG(_mode(name)):
        return Opened(name, Path(name), None)
    with reading(name), open(name, "rb") as file:
        if DESCRIPTOR.fullmatch(name):
            found = os.fstat(file.fileno())
            return _once((name, found.st_dev, found.st_ino), file, name)
        return Opened(name, None, _bounded(file, name))


_taken: dict[object, Opened] = {}
"""What was read of what can be read once, by what it is."""


def _once(key: object, file: IO[bytes], name: str) -> Opened:
    if key not in _taken:
        with reading(name):
            _taken[key] = Opened(name, None, _bounded(file, name))
    return _taken[key]


def _mode(name: str) -> int:
    """What kind of a file it is; a directory or nothing at all is refused."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        if os.path.islink(name):
            raise InputError("is a link to a file that is not there", name) from None
        if not name:
            raise InputError("the name of a file is empty") from None
        raise InputError(f"there is no such file{_nearby(Path(name))}", name) from None
    except (OSError, ValueError) as error:
        raise in_a_line(error, name) from None
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
    if utf16(opened.head(1 << 10)):
        raise InputError(f"is UTF-16, expected UTF-8: {SAVE_AGAIN}", opened.name)


def utf16(head: bytes) -> bool:
    """Whether text begins as UTF-16 does: by its mark, or plain letters, each with a zero."""
    head = head[: 1 << 10]
    return head[:2] in UTF16 or (
        len(head) >= 4
        and any(not any(head[zeros::2]) and all(head[1 - zeros :: 2]) for zeros in (0, 1))
    )


def check_text(opened: Opened) -> None:
    """Refuse what cannot be a table of text: nothing at all, binary data, an endless line."""
    for _ in text_blocks(opened):
        pass


def text_blocks(opened: Opened) -> Iterator[bytes]:
    """The bytes of a file of text; what `check_text` refuses is refused when it is met."""
    offset, floods = 0, Floods(opened.name)
    with reading(opened.name), opened.stream() as file:
        while block := file.read(BLOCK):
            _refuse_zeros(block, offset, opened.name)
            floods.look(block)
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


def _refuse_zeros(block: bytes, offset: int, name: str) -> None:
    """Refuse what no text has."""
    if b"\0" in block:
        at = offset + block.index(b"\0")
        raise InputError(f"is binary (a zero byte at {at:,}), expected text", name)


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
        raise in_a_line(error, str(target), doing="written") from None
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        _pack(draft, target.suffix.lower())
        if special:
            with target.open("wb") as out, draft.open("rb") as text:
                shutil.copyfileobj(text, out)
            return
        draft.chmod(_mode_of_output(real))
        draft.replace(real)
    except OSError as error:
        raise in_a_line(error, str(target), doing="written") from None
    finally:
        draft.unlink(missing_ok=True)


def _mode_of_output(target: Path) -> int:
    """What the file that is replaced allows whom, or what a new one would."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


@contextlib.contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to fill that takes its place at the end, or leaves no trace on any failure.

    A link to a folder stays one. The folder that was there is exchanged in one step where the
    system can, so that no kill leaves none.
    """
    target = Path(os.path.realpath(folder))
    with writing(str(folder)):
        target.parent.mkdir(parents=True, exist_ok=True)
        for old in target.parent.glob(f".{_globbed(target.name)}.*{OLD}"):
            if target.exists():
                break
            os.replace(old, target)  # what a kill between two renames left
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", dir=target.parent))
        try:
            yield draft
            draft.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o755)
            if not target.exists():
                os.replace(draft, target)
            elif not _exchanged(draft, target):
                old = draft.with_name(f".{target.name}.{os.getpid()}{OLD}")
                os.replace(target, old)
                try:
                    os.replace(draft, target)
                except OSError:
                    os.replace(old, target)
                    raise
                shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


OLD = ".old"
EXCHANGE = 2
"""RENAME_EXCHANGE of Linux: two names change places at once."""


def _globbed(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; no, where the system cannot."""
    import ctypes

    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    here = -100  # AT_FDCWD: names are as they are
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), EXCHANGE) == 0)


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
    """Write a text file; a failure leaves no partial file."""
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
    limit, longest, floods = memory_limit(), BLOCK, Floods(name)
    chunks: list[bytes] = []
    size, since = 0, 0  # bytes in all, and since the last line end
    while chunk := file.read(BLOCK):
        if not chunks:
            first = chunk.removeprefix(BOM).lstrip()[:4]
            if first.startswith(b"<") or utf16(chunk):
                limit = byte_limit(MAX_XML_BYTES)
            elif not (chunk.startswith(BINARY) or WORKBOOK.match(chunk) or utf16(chunk)):
                _refuse_zeros(chunk, 0, name)
            if first.startswith(b"{"):
                longest = MAX_DOCUMENT
            if chunk.startswith(BINARY):
                longest = limit
        floods.look(chunk)
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
