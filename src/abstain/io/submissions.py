"""Submissions as they arrive: the runs in folders and zip archives, perhaps one for each team.

The team of a run is the first folder (or archive) below what all submissions share. Nothing of an
archive is unpacked to disk; its checks are those of `archive.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

from abstain.errors import InputError, shown
from abstain.io.archive import Archive, Damaged, is_inspect
from abstain.io.files import WORKBOOK, ZIP, Opened, in_memory, open_plain
from abstain.io.packing import packing_of
from abstain.io.readers import READERS
from abstain.io.tables import ENDINGS, FORMATS, sniff

File: TypeAlias = "str | Opened"
"""A file of a folder by its path, one of an archive with its bytes."""

ARCHIVE = ".zip"
LOGS = (".jsonl", ".json", ".eval", ARCHIVE)
WORKBOOKS = (".xlsx", ".xls", ".ods")
"""Endings of runs in a form that is refused: to pass over them would hide them."""
IGNORED = (".md", ".pdf", ".doc", ".docx", ".rtf", ".html", ".png", ".jpg", ".log", ".py", ".sh")
"""Endings of what comes along with runs."""
PACKED = (".gz", ".zst")
MAX_FILES = 10_000
ENTRY = "/"
"""Stands between an archive's name and that of a file in it."""


def own_name(data: Any) -> tuple[str, Any]:
    """The name that a text `name=path` gives to its path, and the path; no name else."""
    if isinstance(data, str) and "=" in data and not os.path.exists(data):
        name, _, path = data.partition("=")
        if name.strip() and (path == "-" or os.path.exists(path)):
            return name.strip(), path
    return "", data


def is_bundle(data: Any) -> bool:
    """Whether it is a folder, or an archive of other files than an Inspect log has."""
    if not isinstance(data, (str, os.PathLike)):
        return False
    return os.path.isdir(data) or (os.path.isfile(data) and _is_archive(os.fspath(data)))


def _is_archive(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            head = file.read(1 << 10)
    except OSError:
        return False
    if not head.startswith(ZIP) or WORKBOOK.match(head) or path.lower().endswith(".eval"):
        return False
    with Archive(Opened(path, open_plain(path).path, None)) as archive:
        return not is_inspect(archive)


def runs_in(bundle: str | os.PathLike[str], format: str | None) -> list[File]:
    """The runs in a folder and below, or in an archive, in the order of their names.

    Logs are told by their bytes. Tables are taken where there are more of them than logs. What
    cannot be opened is taken for a run, so that somebody is told.
    """
    files = files_in(bundle)
    kinds = [_sniffed(own) if _ending(own) in LOGS else None for own in files]
    readers = READERS if format is None else [name for name in (format,) if name in READERS]
    readers = [name for name in readers if READERS[name].sniff is not None]
    broken = [isinstance(own, Opened) and bool(own.broken) for own in files]
    logs = [kind in readers for kind in kinds]
    tables = [
        format in (None, *FORMATS)
        and not is_log
        and _may_be_table(own, kind)
        and (format is None or _format(own) == format)
        for own, kind, is_log in zip(files, kinds, logs, strict=True)
    ]
    both = sum(tables) > sum(logs)
    found = [
        own
        for own, *_, is_broken, is_log, is_table in zip(
            files, kinds, broken, logs, tables, strict=True
        )
        if is_broken or is_log or (both and is_table)
    ]
    return found or refuse(bundle)


def _may_be_table(own: File, kind: str | None) -> bool:
    """Whether a file is no log but a table, by its ending or by what is in it."""
    ending = _ending(own)
    if ending in (*ENDINGS, *WORKBOOKS) or kind == "json":
        return True
    return ending not in LOGS and _has_columns(own)


def _has_columns(own: File) -> bool:
    """Whether the first two lines of a file have the same number of cells, more than one."""
    try:
        lines = _opened(own).head(1 << 12).splitlines()[:2]
    except InputError:
        return False
    return len(lines) == 2 and any(
        0 < lines[0].count(mark) == lines[1].count(mark) for mark in (b",", b";", b"\t")
    )


def refuse(bundle: str | os.PathLike[str]) -> list[File]:
    """Say that a folder or an archive holds no runs."""
    name = os.fspath(bundle)
    if os.path.isdir(name):
        raise InputError("is a directory, expected a file (it holds no runs or logs)", name)
    raise InputError("is an archive that holds no runs, expected tables or logs in it", name)


def files_in(bundle: str | os.PathLike[str]) -> list[File]:
    """Every file in a folder and below, or in an archive, but what only comes along with runs.

    An archive in a folder stands for its files; one that cannot be opened stands for itself.
    """
    name = os.fspath(bundle)
    if not os.path.isdir(name):
        return list(_unpacked(name))
    found = sorted(os.path.join(place, own) for place, _, files in os.walk(name) for own in files)
    found = [own for own in found if _is_wanted(os.path.relpath(own, name)) and not _waits(own)]
    if len(found) > MAX_FILES:
        raise InputError(f"has more than {MAX_FILES:,} files, expected a folder of runs", name)
    return [file for own in found for file in _in_folder(own)]


def without_runs(given: Any, runs: Sequence[str]) -> list[str]:
    """The folders right below those given that have files, but none that is among the runs."""
    asked = given if isinstance(given, (list, tuple)) else [given]
    found = []
    for folder in asked:
        if not isinstance(folder, (str, os.PathLike)) or not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(os.fspath(folder))):
            place = os.path.join(os.fspath(folder), name)
            some = not name.startswith((".", "__MACOSX")) and any(f for *_, f in os.walk(place))
            if some and not any(run.startswith(os.path.join(place, "")) for run in runs):
                found.append(place)
    return found


def _waits(path: str) -> bool:
    """Whether it is a pipe, a socket or a device: to read one may never end."""
    return os.path.exists(path) and not os.path.isfile(path)


def _in_folder(path: str) -> list[File]:
    """A file, or the files of an archive."""
    if not path.lower().endswith(ARCHIVE):
        return [path]
    try:
        if not is_bundle(path):
            return [path]
        return list(_unpacked(path)) or refuse(path)
    except InputError as error:
        return [_broken(path, error.message)]


def _unpacked(name: str) -> Iterator[File]:
    """The files of an archive with their bytes."""
    with Archive(Opened(name, open_plain(name).path, None)) as archive:
        names = [o for o in sorted(archive.entries) if _is_wanted(o) and not o.endswith("/")]
        if len(names) > MAX_FILES:
            raise InputError(f"has more than {MAX_FILES:,} files, expected runs", name)
        for own in names:
            try:
                yield _entry(archive, own)
            except Damaged as error:
                yield _broken(f"{name}{ENTRY}{own}", f"is damaged: it {error}")


def _entry(archive: Archive, entry: str) -> Opened:
    """A file of an archive, its bytes unpacked; one that is an archive itself is not opened."""
    name, data = archive.opened.name, bytes(archive.read(entry))
    if data.startswith(ZIP) and entry.lower().endswith(ARCHIVE):
        inside = f"holds another archive ({shown(entry)}), expected runs: unpack it first"
        return _broken(name, inside)
    file = Opened(f"{name}{ENTRY}{entry}", None, data, packing_of(data[:4]))
    try:
        return file if file.packing is None else in_memory(file)
    except InputError as error:
        return _broken(file.name, error.message)


def _broken(name: str, why: str) -> Opened:
    """Stands for a file of which nothing can be read."""
    return Opened(name, None, None, broken=why)


def _is_wanted(name: str) -> bool:
    """Whether a file may be a run: not what systems and authors put beside runs."""
    path = PurePath(name.replace("\\", "/"))
    if any(part.startswith((".", "__MACOSX")) for part in path.parts):
        return False
    beside = path.suffix.lower() in IGNORED or path.stem.lower() in ("readme", "license")
    return not beside and path.name.lower() not in ("thumbs.db", "desktop.ini")


def name_of(own: File) -> str:
    """What a file is called in messages."""
    return own.name if isinstance(own, Opened) else own


def _opened(own: File) -> Opened:
    return own if isinstance(own, Opened) else open_plain(own)


def _ending(own: File) -> str:
    """The ending of a file's name, past one of compression."""
    root, ending = os.path.splitext(name_of(own).lower())
    return os.path.splitext(root)[1] if ending in PACKED else ending


def _format(own: File) -> str | None:
    return ENDINGS.get(_ending(own)) or _sniffed(own)


def _sniffed(own: File) -> str | None:
    try:
        return sniff(_opened(own))
    except InputError:
        return None


# ---------------------------------------------------------------------------------- teams


def teams_of(names: Sequence[str], given: Sequence[str]) -> list[str | None]:
    """The team of each file by its folder; `given` are the folders and files that were named."""
    root = _root(names, given)
    return [_team(name, root) for name in names]


def _root(names: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    """The folders that all submissions share: below them teams begin."""
    if len(given) > 1:
        return _parts(os.path.commonpath([os.path.dirname(os.path.abspath(own)) for own in given]))
    parts = _parts(given[0])
    below = [_parts(name)[len(parts) :] for name in names]
    several = len({own[0] for own in below if len(own) > 1}) > 1
    return parts if os.path.isdir(given[0]) or several else parts[:-1]


def _team(name: str, root: Sequence[str]) -> str | None:
    below = _parts(name)[len(root) :]
    is_archive = bool(below) and below[0].lower().endswith(ARCHIVE)
    return _without_ending(below[0]) if len(below) > 1 or is_archive else None


def _parts(name: str) -> tuple[str, ...]:
    return PurePath(os.path.abspath(name.replace("\\", "/"))).parts


def _without_ending(folder: str) -> str:
    return folder[: -len(ARCHIVE)] if folder.lower().endswith(ARCHIVE) else folder


def folders_of(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """The folders of each path, an archive among them without its ending."""
    return [tuple(map(_without_ending, _parts(path)[1:-1])) for path in paths]
