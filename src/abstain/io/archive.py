"""Zip archives: nothing is unpacked to disk, every size is bounded.

Entries may be stored, deflated or compressed by Zstandard (method 93, which the standard library
cannot read before Python 3.14).
"""

from __future__ import annotations

import contextlib
import copy
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from abstain.errors import InputError, shown
from abstain.io.files import MAX_RATIO, Opened, byte_limit, reading, too_large

ZSTANDARD = 93
CHUNK = 1 << 16
ALWAYS = 1 << 30
"""What the entries of any archive may unpack to together: one at a time is held."""
HEADERS = ("header.json", "_journal/start.json")
"""Entries that an Inspect log has."""


@contextlib.contextmanager
def open_archive(opened: Opened) -> Iterator[Archive]:
    """An archive whose file is closed at the end."""
    with opened.stream() as file:
        yield Archive(opened, file)


class Archive:
    """The entries of an archive by name, as long as its file is open."""

    def __init__(self, opened: Opened, file: IO[bytes]) -> None:
        self.opened = opened
        self.limit = byte_limit(packed=file.seek(0, 2) + ALWAYS // MAX_RATIO)
        self.unpacked = 0
        """Bytes of all entries that were read so far."""
        with reading(opened.name, engine=True):
            self.zip = zipfile.ZipFile(file)
        self.entries = {entry.filename: entry for entry in self.zip.infolist()}
        self.repeated = len(self.zip.infolist()) - len(self.entries)
        """How many entries are hidden by a later one of their name, as in every zip tool."""

    @property
    def is_inspect(self) -> bool:
        """Whether it is, by what it holds, a log of Inspect."""
        return any(name in HEADERS or name.startswith("samples/") for name in self.entries)

    def read(self, name: str) -> bytearray:
        """The plain bytes of an entry."""
        entry = self.entries[name]
        place = f"{self.opened.name} ({shown(name)[1:-1]})"
        limit = byte_limit(packed=entry.compress_size)
        data = bytearray()  # grows in place: no second copy
        with reading(place, engine=True), self._plain(entry) as file:
            while chunk := file.read(CHUNK):
                data += chunk
                self.unpacked += len(chunk)
                if len(data) > limit or self.unpacked > self.limit:
                    raise too_large(place, min(limit, self.limit))
        if len(data) != entry.file_size or zlib.crc32(data) != entry.CRC:
            raise InputError("is damaged: its size or its checksum is not as announced", place)
        return data

    def _plain(self, entry: zipfile.ZipInfo) -> IO[bytes]:
        if entry.compress_type != ZSTANDARD:
            return self.zip.open(entry)
        import zstandard

        stored: Any = copy.copy(entry)  # read as it is, and decompressed here
        stored.compress_type, stored.file_size = zipfile.ZIP_STORED, entry.compress_size
        del stored.CRC
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        return reader.stream_reader(self.zip.open(stored))
