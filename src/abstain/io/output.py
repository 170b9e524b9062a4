"""Outputs: written whole or not at all, alone or several together."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import msgspec

from abstain.errors import InputError
from abstain.io.files import writing

STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


Steps = list[Callable[[], None]]
_together: ContextVar[tuple[contextlib.ExitStack, Steps] | None]
_together = ContextVar("together", default=None)
"""Outputs that are written together: what removes their drafts, and the steps that place them."""


@contextlib.contextmanager
def together() -> Iterator[None]:
    """A context in which all outputs take their places at the end, or none after any failure."""
    with contextlib.ExitStack() as drafts:
        steps: Steps = []
        token = _together.set((drafts, steps))
        try:
            yield
        finally:
            _together.reset(token)
        for place in steps:
            place()


@contextlib.contextmanager
def _placed(
    path: str, draft: Path, place: Callable[[], None], *, first: bool = False
) -> Iterator[Path]:
    """A draft that takes its place at the end, now or with others, or is removed on failure."""
    with contextlib.ExitStack() as stack:
        stack.callback(_remove, draft)
        with writing(path):
            yield draft
        if outputs := _together.get():
            drafts, steps = outputs
            steps.insert(0 if first else len(steps), place)
            drafts.push(stack.pop_all())
        else:
            place()


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft to write to that becomes the file at the end, or vanishes on any failure.

    The compression follows the name: `.gz` and `.zst` are compressed.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError("is a directory, expected a file to write", str(target))
    special = target.exists() and not target.is_file()  # a pipe or a device stays what it is
    real = Path(os.path.realpath(target))
    with writing(str(target)):
        folder = tempfile.gettempdir() if special else real.parent
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=folder)
        os.close(handle)
    draft = Path(name)

    def place() -> None:
        with writing(str(target)):
            if special:
                with target.open("wb") as out, draft.open("rb") as text:
                    shutil.copyfileobj(text, out)
            else:
                draft.chmod(_mode_of_output(real))
                draft.replace(real)

    # what is written to a pipe or a device may fail late: nothing else is in its place then
    with _placed(str(target), draft, place, first=special):
        yield draft
        if target.suffix.lower() == ".gz":
            draft.write_bytes(gzip.compress(draft.read_bytes(), mtime=0))
        elif target.suffix.lower() == ".zst":
            import zstandard

            draft.write_bytes(zstandard.ZstdCompressor().compress(draft.read_bytes()))


def _mode_of_output(target: Path) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


@contextlib.contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft folder to fill that takes its place at the end, or vanishes on any failure.

    A link to a folder stays one.
    """
    target = Path(os.path.realpath(folder))
    with writing(str(folder)):
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", dir=target.parent))

    def place() -> None:
        with writing(str(folder)):
            draft.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o755)
            before = draft.with_name(f"{draft.name}.before")
            if target.exists():
                os.replace(target, before)
            try:
                os.replace(draft, target)
            except BaseException:
                if before.exists():
                    os.replace(before, target)
                raise
            shutil.rmtree(before, ignore_errors=True)

    with _placed(str(folder), draft, place):
        yield draft


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot be written before the work that fills it, as far as that shows."""
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


def json_of(data: Any) -> str:
    """Data or a struct as indented JSON, in which nothing could steer a terminal.

    >>> json_of({"a": "\\u202e"})
    '{\\n  "a": "\\\\u202e"\\n}\\n'
    """
    text = msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
    # JSON allows what may steer a terminal; the escapes mean the same text.
    return STEERING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
