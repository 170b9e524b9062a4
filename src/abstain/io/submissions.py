"""Folders and archives of submissions: the files in them that hold runs.

Nothing of an archive is unpacked to disk; its checks are those of `archive.py`.
"""

from __future__ import annotations

import os
from typing import Any, TypeAlias

from abstain.errors import InputError, shown
from abstain.io.archive import Archive, Damaged, is_inspect
from abstain.io.files import WORKBOOK, ZIP, Opened, in_memory, open_plain
from abstain.io.packing import packing_of
from abstain.io.readers import READERS
from abstain.io.tables import ENDINGS, FORMATS, sniff

File: TypeAlias = "str | Opened"
"""A file of a folder by its path, one of an archive with its bytes."""

LOGS = (".jsonl", ".json", ".eval")
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

    Logs are told by their bytes; where there are none, the tables are taken.
    """
    files = [own for own in files_in(bundle) if _ending(_name(own)) in (*LOGS, *ENDINGS)]
    kinds = [_sniffed(own) if _ending(_name(own)) in LOGS else None for own in files]
    logs = READERS if format is None else [name for name in (format,) if name in READERS]
    logs = [name for name in logs if READERS[name].sniff is not None]
    found = [own for own, kind in zip(files, kinds, strict=True) if kind in logs]
    if not found and format in (None, *FORMATS):
        fits = [
            own
            for own, kind in zip(files, kinds, strict=True)
            if _ending(_name(own)) in ENDINGS or kind == "json"
        ]
        found = [own for own in fits if format is None or _format(own) == format]
    return found or refuse(bundle)


def refuse(bundle: str | os.PathLike[str]) -> list[File]:
    """Say that a folder or an archive holds no runs."""
    name = os.fspath(bundle)
    if os.path.isdir(name):
        raise InputError("is a directory, expected a file (it holds no runs or logs)", name)
    raise InputError("is an archive that holds no runs, expected tables or logs in it", name)


def files_in(bundle: str | os.PathLike[str]) -> list[File]:
    """Every file in a folder and below, or in an archive, except hidden ones."""
    name = os.fspath(bundle)
    if not os.path.isdir(name):
        return _unpacked(name)
    found = sorted(
        os.path.join(place, own)
        for place, _, files in os.walk(name)
        for own in files
        if not own.startswith(".")
    )
    if len(found) > MAX_FILES:
        raise InputError(f"has more than {MAX_FILES:,} files, expected a folder of runs", name)
    return list(found)


def _unpacked(name: str) -> list[File]:
    """The files of an archive with their bytes."""
    found: list[File] = []
    with Archive(Opened(name, open_plain(name).path, None)) as archive:
        names = [own for own in sorted(archive.entries) if _is_file(own)]
        if len(names) > MAX_FILES:
            raise InputError(f"has more than {MAX_FILES:,} files, expected runs", name)
        for own in names:
            try:
                data = bytes(archive.read(own))
            except Damaged as error:
                raise InputError(f"is damaged: {shown(own)} {error}", name) from None
            if data.startswith(ZIP) and own.lower().endswith(".zip"):
                raise InputError(
                    f"holds another archive ({shown(own)}), expected runs: unpack it first", name
                )
            packed = Opened(f"{name}{ENTRY}{own}", None, bytes(data), packing_of(bytes(data[:4])))
            found.append(packed if packed.packing is None else in_memory(packed))
    return found


def _is_file(entry: str) -> bool:
    parts = entry.split("/")
    return not entry.endswith("/") and "__MACOSX" not in parts and not parts[-1].startswith(".")


def _name(own: File) -> str:
    return own.name if isinstance(own, Opened) else own


def _ending(name: str) -> str:
    """The ending of a file's name, past one of compression."""
    root, ending = os.path.splitext(name.lower())
    return os.path.splitext(root)[1] if ending in PACKED else ending


def _format(own: File) -> str | None:
    return ENDINGS.get(_ending(_name(own))) or _sniffed(own)


def _sniffed(own: File) -> str | None:
    try:
        return sniff(own if isinstance(own, Opened) else open_plain(own))
    except InputError:
        return None
