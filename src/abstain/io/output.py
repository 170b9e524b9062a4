"""Outputs: written whole or not at all, alone or several together."""

import contextlib
import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from abstain.errors import InputError
from abstain.io.files import write_errors

STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@dataclass(slots=True)
class _Outputs:
    drafts: list[Path] = field(default_factory=list)
    """Removed at the end, where they took no place."""
    steps: list[Callable[[], None]] = field(default_factory=list)
    """Each puts a draft in its place."""


_open: ContextVar[_Outputs | None] = ContextVar("outputs", default=None)


@contextlib.contextmanager
def together() -> Iterator[_Outputs]:
    """A context in which all outputs take their places at the end, or none after any failure."""
    if outer := _open.get():
        yield outer
        return
    outputs = _Outputs()
    token = _open.set(outputs)
    try:
        yield outputs
        for place in outputs.steps:
            place()
    finally:
        _open.reset(token)
        for draft in outputs.drafts:
            if draft.is_dir():
                shutil.rmtree(draft, ignore_errors=True)
            else:
                draft.unlink(missing_ok=True)


@contextlib.contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft that becomes the file, compressed by its name, or vanishes on any failure."""
    target = Path(path)
    refuse_unwritable(target)
    special = target.exists() and not target.is_file()  # a pipe or a device stays what it is
    real = Path(os.path.realpath(target))
    draft = _beside(Path(tempfile.gettempdir(), real.name) if special else real)

    def place() -> None:
        with write_errors(str(target)):
            if special:
                with target.open("wb") as out, draft.open("rb") as text:
                    shutil.copyfileobj(text, out)
            else:
                if real.exists():
                    shutil.copymode(real, draft)
                draft.replace(real)

    with together() as outputs, write_errors(str(target)):
        outputs.drafts.append(draft)
        draft.touch(exist_ok=False)
        yield draft
        if target.suffix.lower() == ".gz":
            draft.write_bytes(gzip.compress(draft.read_bytes(), mtime=0))
        elif target.suffix.lower() == ".zst":
            import zstandard

            draft.write_bytes(zstandard.ZstdCompressor().compress(draft.read_bytes()))
        # what is written to a pipe or a device may fail late: nothing else is in its place then
        outputs.steps.insert(0 if special else len(outputs.steps), place)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:40]}.{os.urandom(4).hex()}")


@contextlib.contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    target = Path(os.path.realpath(folder))
    draft = _beside(target)

    def place() -> None:
        with write_errors(str(folder)):
            before = draft.with_name(f"{draft.name}.before")
            if target.exists():
                shutil.copymode(target, draft)
                os.replace(target, before)
            try:
                os.replace(draft, target)
            except BaseException:
                if before.exists():
                    os.replace(before, target)
                raise
            shutil.rmtree(before, ignore_errors=True)

    with together() as outputs, write_errors(str(folder)):
        outputs.drafts.append(draft)
        draft.mkdir(parents=True)
        yield draft
        outputs.steps.append(place)


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
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def json_of(data: Any) -> str:
    """Data or a struct as indented JSON, in which nothing could steer a terminal."""
    text = msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
    # JSON allows what may steer a terminal; the escapes mean the same text.
    return STEERING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
