"""Submissions as they arrive: folders and zip archives of runs, perhaps one for each team.

The team of a run is the first folder (or archive) below what all submissions share. Nothing is
unpacked to disk: an entry of an archive is read in memory, within the bounds of `io.archive`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError
from abstain.io.files import Opened, open_plain
from abstain.io.packing import packing_of

ARCHIVE = ".zip"
TABLES = (".xml", ".csv", ".tsv", ".tab", ".parquet", ".pq", ARCHIVE)
"""Endings of runs that are no logs of a tool."""
IGNORED = (".md", ".pdf", ".doc", ".docx", ".rtf", ".html", ".png", ".jpg", ".log", ".py", ".sh")
"""Endings of what comes along with runs."""
MAX_FILES = 10_000


class Submission(Struct, frozen=True):
    """A file that somebody handed in, perhaps inside an archive."""

    name: str
    """Its path in messages; an archive stands in it as a folder does."""
    source: str
    """The file that holds it."""
    entry: str = ""
    """Its name inside the archive `source`."""
    team: str | None = None
    broken: str = ""
    """Why nothing can be read of it."""

    def load(self) -> str | Opened:
        """What a table can be read from."""
        if self.broken:
            raise InputError(self.broken, self.name)
        if not self.entry:
            return self.source
        from abstain.io.archive import Archive, Damaged

        with Archive(open_plain(self.source)) as archive:
            try:
                data = archive.read(self.entry)
            except Damaged as error:
                raise InputError(f"is damaged: {error}", self.name) from None
        return Opened(self.name, None, data, packing_of(data[:4]))


def is_archive(data: Any) -> bool:
    """Whether it names an archive of submissions."""
    return isinstance(data, (str, os.PathLike)) and os.fspath(data).lower().endswith(ARCHIVE)


def submissions_in(place: str) -> list[Submission]:
    """Every file in a folder or an archive and below, in the order of their names."""
    if not os.path.isdir(place):
        return _entries(place)
    names = sorted(
        os.path.join(folder, name) for folder, _, files in os.walk(place) for name in files
    )
    names = [name for name in names if _is_wanted(os.path.relpath(name, place))]
    if len(names) > MAX_FILES:
        raise InputError(f"has more than {MAX_FILES:,} files, expected submissions", place)
    return [
        own
        for name in names
        for own in (_entries(name) if is_archive(name) else [Submission(name, name)])
    ]


def _entries(archive: str) -> list[Submission]:
    """The files of an archive; one that cannot be opened stands for itself."""
    from abstain.io.archive import Archive

    try:
        with Archive(open_plain(archive)) as opened:
            names = sorted(n for n in opened.entries if _is_wanted(n) and not n.endswith("/"))
    except InputError as error:
        return [Submission(archive, archive, broken=error.message)]
    if not names:
        return [Submission(archive, archive, broken="is an archive without a run")]
    if len(names) > MAX_FILES:
        raise InputError(f"has more than {MAX_FILES:,} files, expected submissions", archive)
    return [Submission(f"{archive}/{name}", archive, name) for name in names]


def _is_wanted(name: str) -> bool:
    """Whether a file may be a run: not what systems and authors put beside runs."""
    path = PurePath(name.replace("\\", "/"))
    if any(part.startswith((".", "__MACOSX")) for part in path.parts):
        return False
    beside = path.suffix.lower() in IGNORED or path.stem.lower() in ("readme", "license")
    return not beside and path.name.lower() not in ("thumbs.db", "desktop.ini")


def with_teams(found: Sequence[Submission], given: Sequence[str]) -> list[Submission]:
    """The submissions with their teams; `given` are the folders and files that were named."""
    root = _root(found, given)
    return [replace(own, team=_team(own.name, root)) for own in found]


def _root(found: Sequence[Submission], given: Sequence[str]) -> tuple[str, ...]:
    """The folders that all submissions share: below them teams begin."""
    if len(given) == 1:
        parts = _parts(given[0])
        several = len({_parts(own.name)[len(parts)] for own in found if _deep(own, parts)}) > 1
        if os.path.isdir(given[0]) or several:
            return parts
        return parts[:-1]
    folders = [os.path.dirname(os.path.abspath(path)) for path in given]
    return _parts(os.path.commonpath(folders)) if folders else ()


def _deep(own: Submission, root: Sequence[str]) -> bool:
    """Whether a submission stands in a folder below a root."""
    return len(_parts(own.name)) > len(root) + 1


def _team(name: str, root: Sequence[str]) -> str | None:
    parts = _parts(name)
    if len(parts) <= len(root) + 1:
        return None
    return _without_ending(parts[len(root)])


def _parts(name: str) -> tuple[str, ...]:
    return PurePath(os.path.abspath(name.replace("\\", "/"))).parts


def _without_ending(folder: str) -> str:
    return folder[: -len(ARCHIVE)] if folder.lower().endswith(ARCHIVE) else folder


def folders_of(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """The folders of each path, an archive among them without its ending."""
    return [tuple(map(_without_ending, _parts(path)[1:-1])) for path in paths]
