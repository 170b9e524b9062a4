"""Zip archives read with care: nothing is unpacked to disk, every size is bounded.

Entries may be stored, deflated or compressed by Zstandard (method 93, which the standard library
cannot read before Python 3.14). An archive without its directory, as a killed writer leaves it,
is read entry by entry as far as it goes.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, shown
from abstain.io.files import Opened
from abstain.io.packing import MAX_BYTES, MAX_RATIO, byte_limit

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
LOCAL = b"PK\x03\x04"
HEADER = struct.Struct("<4s5H3I2H")
ENCRYPTED, DESCRIPTOR, UTF8 = 0x1, 0x8, 0x800
BIG = 0xFFFFFFFF
PIECE = 1 << 16
STEPS = {ZSTANDARD: 1 << 8, DEFLATED: 1 << 12}
"""What is unpacked at once: three bytes of Zstandard may become 128 KiB, one of deflate 1 KiB."""
DESCRIPTION = b"PK\x07\x08"
MAX_ENTRIES = 1_000_000
MAX_DIRECTORY = 64 << 20
"""The bytes of a directory: it is read whole before its entries can be counted."""
MAX_ENTRY = 256 << 20
"""What one entry may unpack to; ABSTAIN_MAX_BYTES sets another bound."""


MANY = 1 << 30
"""What the entries of any archive may unpack to together: one at a time is held."""


class Damaged(Exception):  # noqa: N818
    """An entry that is not whole."""


class Entry(Struct, frozen=True):
    """One file of an archive, as its directory (or its own header) has it."""

    name: str
    offset: int
    """Where its data begins."""
    method: int
    packed: int
    size: int | None
    """None: only unpacking tells."""
    crc: int | None


class _Guarded:
    """A file for zipfile, which reads a directory at one go and makes an object of every entry."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file, self.name = file, name

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY:
            raise InputError(
                f"has a directory of {size:,} bytes, more than {MAX_DIRECTORY:,}", self.name
            )
        return self.file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class Archive:
    """The entries of an archive by name."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.file = opened.stream()
        self.end = self.file.seek(0, 2)
        self.whole = True
        self.repeated: list[str] = []
        """Names that stand in it more than once: the last one counts, as in every zip tool."""
        self.unpacked = {"read": 0, "measured": 0}
        """Bytes that were unpacked so far, for either reason."""
        self.limit = byte_limit(MAX_BYTES, packed=self.end + MANY // MAX_RATIO)
        try:
            self.entries = self._listed()
        except BaseException:
            self.file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _listed(self) -> dict[str, Entry]:
        try:
            return self._from_directory()
        except zipfile.BadZipFile as error:
            self.whole = False
            found = self._from_headers()
            if not found:
                said = f"is not a readable archive: {error}"
                raise InputError(said, self.opened.name) from None
            return found

    def read(self, name: str) -> bytearray:
        """The plain bytes of an entry; `Damaged` when they are not what they should be."""
        entry = self.entries[name]
        found = bytearray()  # grows in place: no second copy
        size, crc = 0, 0
        limit = byte_limit(MAX_ENTRY, packed=entry.packed)
        for chunk in _unpacked(self._packed(entry), entry.method):
            size = self._counted("read", name, size + len(chunk), len(chunk), limit)
            crc = zlib.crc32(chunk, crc)
            found += chunk
        if entry.size is not None and size != entry.size:
            raise Damaged(f"has {size:,} bytes, expected {entry.size:,}")
        if entry.crc is not None and crc != entry.crc:
            raise Damaged("has a checksum that differs from the one in its header")
        return found

    def _counted(self, purpose: str, name: str, size: int, more: int, limit: int) -> int:
        """The size that an entry has after some more bytes; beyond a bound it is refused."""
        self.unpacked[purpose] += more
        if size > limit or self.unpacked[purpose] > self.limit:
            bound = limit if size > limit else self.limit
            raise InputError(
                f"unpacks to more than {bound:,} bytes at {shown(name)} (ABSTAIN_MAX_BYTES raises "
                "the bound)",
                self.opened.name,
            )
        return size

    def _packed(self, entry: Entry) -> Iterator[bytes]:
        self.file.seek(entry.offset)
        left = entry.packed
        step = STEPS.get(entry.method, PIECE)
        while left:
            chunk = self.file.read(min(step, left))
            if not chunk:
                raise Damaged("ends too early")
            left -= len(chunk)
            yield chunk

    def _from_directory(self) -> dict[str, Entry]:
        try:
            guarded = cast("IO[bytes]", _Guarded(self.file, self.opened.name))
            with zipfile.ZipFile(guarded) as archive:
                listed = archive.infolist()
        except (NotImplementedError, ValueError, OverflowError, struct.error) as error:
            raise zipfile.BadZipFile(str(error)) from None
        if len(listed) > MAX_ENTRIES:
            raise InputError(f"has more than {MAX_ENTRIES:,} entries", self.opened.name)
        found: dict[str, Entry] = {}
        reached = 0
        for info in sorted(listed, key=lambda i: i.header_offset):
            if info.header_offset < reached:
                raise InputError(
                    f"has entries that overlap ({shown(info.filename)}): no tool writes that",
                    self.opened.name,
                )
            self._check(info.filename, info.flag_bits, info.compress_type)
            offset = self._data_of(info.header_offset)
            reached = offset + info.compress_size
            packed, size = info.compress_size, info.file_size
            entry = Entry(info.filename, offset, info.compress_type, packed, size, info.CRC)
            self._keep(found, entry)
        return found

    def _keep(self, found: dict[str, Entry], entry: Entry) -> None:
        if entry.name in found:
            self.repeated.append(entry.name)
        found[entry.name] = entry

    def _data_of(self, at: int) -> int:
        self.file.seek(at)
        head = self.file.read(HEADER.size)
        if len(head) < HEADER.size or not head.startswith(LOCAL):
            raise zipfile.BadZipFile("an entry is not where the archive's directory says")
        *_, name, extra = HEADER.unpack(head)
        return at + HEADER.size + int(name) + int(extra)

    def _check(self, name: str, flags: int, method: int) -> None:
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name:
            raise InputError(
                f"has an entry that points outside ({shown(name)}), expected none", self.opened.name
            )
        if flags & ENCRYPTED:
            raise InputError(f"has an encrypted entry ({shown(name)})", self.opened.name)
        if method not in (STORED, DEFLATED, ZSTANDARD):
            raise InputError(
                f"has {shown(name)} compressed by method {method}, expected stored (0), "
                "deflate (8) or Zstandard (93)",
                self.opened.name,
            )

    def _from_headers(self) -> dict[str, Entry]:
        """What a killed writer left: whole entries from the beginning on."""
        found: dict[str, Entry] = {}
        at = 0
        while at + HEADER.size <= self.end and len(found) < MAX_ENTRIES:
            self.file.seek(at)
            head = self.file.read(HEADER.size)
            if not head.startswith(LOCAL):
                break
            _, _, flags, method, _, _, crc, packed, size, name_size, extra_size = HEADER.unpack(
                head
            )
            raw, extra = self.file.read(name_size), self.file.read(extra_size)
            if len(raw) + len(extra) < name_size + extra_size:
                break
            name = raw.decode("utf-8" if flags & UTF8 else "cp437", errors="replace")
            self._check(name, flags, method)
            offset = at + HEADER.size + name_size + extra_size
            packed, size = _zip64(packed, size, extra)
            entry = Entry(name, offset, method, packed, size, crc)
            if flags & DESCRIPTOR and not packed:
                measured = self._measured(entry)
                if measured is None:
                    break
                entry, at = measured
            else:
                at = offset + packed
            if at > self.end:
                break
            self._keep(found, entry)
        return found

    def _measured(self, entry: Entry) -> tuple[Entry, int] | None:
        """An entry whose sizes stand behind it: how long it is, only unpacking tells."""
        if entry.method == STORED:
            return None
        self.file.seek(entry.offset)
        unpacker = _unpacker(entry.method)
        read = size = 0
        step = STEPS.get(entry.method, PIECE)
        while not unpacker.eof:
            chunk = self.file.read(step)
            if not chunk:
                return None
            read += len(chunk)
            try:
                unpacked = len(unpacker.decompress(chunk))
            except Exception:
                return None
            limit = byte_limit(MAX_ENTRY, packed=read)
            size = self._counted("measured", entry.name, size + unpacked, unpacked, limit)
        packed = read - len(unpacker.unused_data)
        self.file.seek(entry.offset + packed)
        tail = self.file.read(24)
        mark = 4 if tail.startswith(DESCRIPTION) else 0
        skip = mark + 12
        if len(tail) > skip and not tail[skip:].startswith(b"PK"[: len(tail) - skip]):
            skip += 8  # sizes of eight bytes
        if len(tail) < skip:
            return None  # cut off before its checksum
        crc = struct.unpack_from("<I", tail, mark)[0]
        whole = replace(entry, packed=packed, size=size, crc=crc)
        return whole, entry.offset + packed + skip


def _zip64(packed: int, size: int, extra: bytes) -> tuple[int, int]:
    """Sizes of more than 4 GiB stand in an extra field."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            field = extra[at + 4 : at + 4 + length]
            numbers = iter(struct.unpack(f"<{len(field) // 8}Q", field[: len(field) // 8 * 8]))
            size = next(numbers, size) if size == BIG else size
            packed = next(numbers, packed) if packed == BIG else packed
        at += 4 + length
    return packed, size


def _unpacker(method: int) -> Any:
    if method == ZSTANDARD:
        import zstandard

        return zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    return zlib.decompressobj(-15)


def _unpacked(chunks: Iterator[bytes], method: int) -> Iterator[bytes]:
    """Plain bytes, at most about a megabyte at a time."""
    if method == STORED:
        yield from chunks
        return
    import zstandard

    unpacker = _unpacker(method)
    try:
        for chunk in chunks:
            while chunk and not unpacker.eof:
                if method == DEFLATED:
                    yield unpacker.decompress(chunk, 1 << 20)
                    chunk = unpacker.unconsumed_tail
                else:
                    yield unpacker.decompress(chunk)
                    chunk = b""
            if unpacker.eof and (chunk or unpacker.unused_data):
                raise Damaged("has data after its end")
    except (zlib.error, zstandard.ZstdError) as error:
        said = str(error).splitlines()[0][:100]
        raise Damaged(f"cannot be unpacked ({said})") from None
    if not unpacker.eof:
        raise Damaged("ends too early")


OF_INSPECT = ("header.json", "_journal/start.json")
"""Entries that an Inspect log has."""


def is_inspect(archive: Archive) -> bool:
    """Whether an archive is, by what it holds, a log of Inspect."""
    names = archive.entries
    return any(name in names for name in OF_INSPECT) or any(n.startswith("samples/") for n in names)
