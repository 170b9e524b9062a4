"""Submissions as they arrive: the runs in folders and zip archives, perhaps one for each team.

Nothing of an archive is unpacked to disk; every size is bounded.
"""

from __future__ import annotations

import contextlib
import copy
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import IO, Any, TypeAlias

from abstain.errors import InputError, shown
from abstain.io import files
from abstain.io.files import ENDINGS, ZIP, Opened, open_file, read_errors
from abstain.io.readers import log_readers
from abstain.io.tables import sniff

File: TypeAlias = "str | Opened"

ARCHIVE = ".zip"
LOGS = (".jsonl", ".json", ".eval", ARCHIVE)
WORKBOOKS = (".xlsx", ".xls", ".ods")
"""Endings of runs in a form that is refused: to pass over them would hide them."""
IGNORED = (
    *(".md", ".pdf", ".doc", ".docx", ".rtf", ".html", ".png", ".jpg"),
    *(".log", ".py", ".sh", ".db", ".ini"),
)
"""Endings of what comes along with runs."""
BESIDE = ("readme", "license")
MAX_FILES = 10_000


def runs_in(bundle: str | os.PathLike[str], format: str | None) -> list[File]:
    """The runs in a folder and below, or in an archive, in the order of their names.

    Logs are recognised by their bytes. Tables count where there are more of them than logs. What
    cannot be opened counts as a run, so that reading it says why.
    """
    kinds = [(file, _kind(file, format)) for file in files_in(bundle)]
    counts = Counter(kind for _, kind in kinds)
    wanted = ("broken", "log", "table" if counts["table"] > counts["log"] else "")
    return [file for file, kind in kinds if kind in wanted] or refuse(bundle)


def _kind(file: File, format: str | None) -> str | None:
    """Whether a file is broken, a log or a table, by its ending or its bytes; None: neither."""
    if isinstance(file, Opened) and file.broken:
        return "broken"
    ending = files.ending_of(file if isinstance(file, str) else file.name)
    sniffed, has_columns = None, False
    if ending in LOGS or ending not in (*ENDINGS, *WORKBOOKS):
        with contextlib.suppress(InputError):
            opened = file if isinstance(file, Opened) else open_file(file)
            sniffed, lines = sniff(opened), opened.head.splitlines()[:2]
            counts = [[line.count(mark) for line in lines] for mark in (b",", b";", b"\t")]
            has_columns = len(lines) == 2 and any(0 < one == two for one, two in counts)
    if ending in LOGS and sniffed in log_readers() and format in (None, sniffed):
        return "log"
    is_table = ending in (*ENDINGS, *WORKBOOKS)
    is_table |= sniffed == "json" if ending in LOGS else has_columns
    return "table" if is_table and format in (None, ENDINGS.get(ending, sniffed)) else None


def refuse(bundle: str | os.PathLike[str]) -> list[File]:
    what = "a directory" if os.path.isdir(bundle) else "an archive"
    raise InputError(f"is {what} that holds no runs or logs", os.fspath(bundle))


def files_in(bundle: str | os.PathLike[str]) -> list[File]:
    name = os.fspath(bundle)
    if not os.path.isdir(name):
        return list(_entries(name))
    paths = sorted(os.path.join(place, file) for place, _, files in os.walk(name) for file in files)
    # no pipe, socket or device: to read one may never end
    paths = [p for p in paths if os.path.isfile(p) or not os.path.exists(p)]
    paths = [p for p in paths if _is_wanted(os.path.relpath(p, name))]
    if len(paths) > MAX_FILES:
        raise InputError(f"has more than {MAX_FILES:,} files, expected a folder of runs", name)
    return [file for path in paths for file in _in_folder(path)]


def without_runs(sources: Any, runs: Sequence[str]) -> list[str]:
    """The folders right below some folders that have files, but none that is among the runs."""
    folders = sources if isinstance(sources, (list, tuple)) else [sources]
    folders = [f for f in folders if isinstance(f, (str, os.PathLike)) and os.path.isdir(f)]
    places = [
        os.path.join(folder, name) for folder in folders for name in sorted(os.listdir(folder))
    ]
    return [
        place
        for place in places
        if _is_wanted(os.path.basename(place))
        and any(files for *_, files in os.walk(place))
        and not any(run.startswith(os.path.join(place, "")) for run in runs)
    ]


def _in_folder(path: str) -> list[File]:
    try:
        if path.lower().endswith(ARCHIVE) and files.is_bundle(path):
            return list(_entries(path)) or refuse(path)
    except InputError as error:
        return [Opened(path, broken=error.message)]
    return [path]


def _entries(name: str) -> Iterator[File]:
    """The files of an archive with their bytes; a damaged or nested one says so when it is read."""
    with open_archive(open_file(name)) as archive:
        entries = [n for n in sorted(archive.entries) if _is_wanted(n) and not n.endswith("/")]
        for entry in entries:
            data, broken = b"", ""
            try:
                data = bytes(archive.read(entry))
            except InputError as error:
                broken = error.message
            if data.startswith(ZIP) and entry.lower().endswith(ARCHIVE):
                broken = "is an archive in another, expected runs: unpack it first"
            yield Opened(f"{name}/{entry}", data=data, broken=broken)


def _is_wanted(name: str) -> bool:
    path = PurePath(name.replace("\\", "/"))
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    beside = path.suffix.lower() in IGNORED or path.stem.lower() in BESIDE
    return not hidden and not beside


ZSTANDARD = 93  # which the standard library cannot read before Python 3.14
CHUNK = 1 << 16
ALWAYS = 1 << 30
"""What the entries of any archive may unpack to together: one at a time is held."""
HEADERS = ("header.json", "_journal/start.json")


@contextlib.contextmanager
def open_archive(opened: Opened) -> Iterator[Archive]:
    with opened.stream() as file:
        yield Archive(opened, file)


class Archive:
    def __init__(self, opened: Opened, file: IO[bytes]) -> None:
        self.opened = opened
        self.limit = files.byte_limit(packed=file.seek(0, 2) + ALWAYS // files.MAX_RATIO)
        self.unpacked = 0
        with read_errors(opened.name, engine=True):
            self.zip = zipfile.ZipFile(file)
        self.entries = {entry.filename: entry for entry in self.zip.infolist()}  # the last counts

    @property
    def is_inspect(self) -> bool:
        return any(name in HEADERS or name.startswith("samples/") for name in self.entries)

    def read(self, name: str) -> bytearray:
        entry = self.entries[name]
        place = f"{self.opened.name} ({shown(name)[1:-1]})"
        limit = files.byte_limit(packed=entry.compress_size)
        data = bytearray()  # grows in place: no second copy
        with read_errors(place, engine=True), self._plain(entry) as file:
            while chunk := file.read(CHUNK):
                data += chunk
                self.unpacked += len(chunk)
                if len(data) > limit or self.unpacked > self.limit:
                    raise files.too_large(place, min(limit, self.limit))
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


def teams_of(names: Sequence[str], sources: Sequence[str]) -> list[str | None]:
    root = len(_root(names, sources))
    below = [_parts(name)[root:] for name in names]
    is_team = [len(p) > 1 or (bool(p) and p[0].lower().endswith(ARCHIVE)) for p in below]
    return [_without_ending(p[0]) if yes else None for p, yes in zip(below, is_team, strict=True)]


def _root(names: Sequence[str], sources: Sequence[str]) -> tuple[str, ...]:
    """The folders that all submissions share: below them teams begin."""
    if len(sources) > 1:
        folders = [os.path.dirname(os.path.abspath(source)) for source in sources]
        return _parts(os.path.commonpath(folders))
    parts = _parts(sources[0])
    below = [_parts(name)[len(parts) :] for name in names]
    several = len({folders[0] for folders in below if len(folders) > 1}) > 1
    return parts if os.path.isdir(sources[0]) or several else parts[:-1]


def _parts(name: str) -> tuple[str, ...]:
    return PurePath(os.path.abspath(name.replace("\\", "/"))).parts


def _without_ending(folder: str) -> str:
    return folder[: -len(ARCHIVE)] if folder.lower().endswith(ARCHIVE) else folder


def folders_of(paths: Iterable[str]) -> list[tuple[str, ...]]:
    return [tuple(map(_without_ending, _parts(path)[1:-1])) for path in paths]
