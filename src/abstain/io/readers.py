"""The readers of other tools' logs, and how a log is told from a table.

A reader is one file in `logs/`, whose `READER` says all that is known of the tool's logs. Other
packages add readers by an entry point of the group `abstain.readers`. A reader turns a log into one
table: `question`, `outcome` (right, wrong, or why there is no answer), `answer`, what else the log
knows (`correct`, `options`, `confidence`, `reason`), and its metadata as attributes.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from abstain.errors import UsageError, check_name
from abstain.io.files import BOM

if TYPE_CHECKING:
    from abstain.io.files import Opened
    from abstain.io.tables import Table

GROUP = "abstain.readers"
"""The entry points by which other packages add readers."""

ZIP = b"PK"
RIGHT_AT = "a score of at least this is right (for scores between 0 and 1)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """All that is known of a tool's logs."""

    name: str
    """By which `--from` knows it."""
    tool: str
    versions: str
    """The versions whose logs were looked at."""
    files: str
    """What its files are called, and what writes them."""
    read: Callable[[Opened, Mapping[str, str]], Table] = field(repr=False)
    """A log, and what is picked of it, to a table."""
    sniff: re.Pattern[bytes] | None = None
    """How such a file begins; None: nothing in it says so safely, `--from` must."""
    picks: Mapping[str, str] | None = None
    """What can be picked of a log, and what that means."""
    one_task: bool = False
    """Whether a log is of one task, so that those of one model are one run."""
    paired_by: str = ""
    """How documents of two logs are known to be the same, where that is by a hash."""

    def table(self, opened: Opened, picks: Mapping[str, str]) -> Table:
        """The log as a table; a pick that the reader does not know is refused."""
        for name in picks:
            check_name(f"pick of {self.name}", name, self.picks or {})
        return self.read(opened, picks)


class _Readers(Mapping[str, Reader]):
    """Every reader by its name; loaded when somebody looks."""

    @cached_property
    def _known(self) -> dict[str, Reader]:
        from abstain.io import logs
        from abstain.measures.plugins import loaded

        names = [found.name for found in pkgutil.iter_modules(logs.__path__)]
        own = [
            import_module(f"abstain.io.logs.{name}").READER
            for name in names
            if not name.startswith("_")
        ]
        known: dict[str, Reader] = {reader.name: reader for reader in own}
        for what, reader in loaded(GROUP):
            if not isinstance(reader, Reader):
                raise UsageError(f"{what} is a {type(reader).__name__}, expected a Reader")
            if reader.name in known:
                raise UsageError(f"{what}: there is a reader '{reader.name}' already")
            known[reader.name] = reader
        return known

    def __getitem__(self, name: str) -> Reader:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


READERS: Mapping[str, Reader] = _Readers()


def sniff_log(head: bytes) -> str | None:
    """The log that a file's first bytes are surely of."""
    text = head.removeprefix(BOM).lstrip()
    if not text.startswith((b"{", ZIP)):
        return None
    for reader in READERS.values():
        if reader.sniff is not None and reader.sniff.match(text):
            return reader.name
    return None
