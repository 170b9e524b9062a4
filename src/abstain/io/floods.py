"""Floods: files of text in which a few records stand millions of times are refused early."""

from __future__ import annotations

import re
from collections import Counter

from abstain.errors import InputError, Place, shown

MOST_AGAIN = 1 << 20
"""Records that may stand again in a file that names questions: no run has so many."""

SAMPLED = (1 / 3, 2 / 3)
"""Where in a block a record is taken to see whether it stands there again."""

SUSPICIOUS = 3
"""A block is looked at closely where one of these records stands so often in it."""

EMPTY = b',;\t "\r\n'
"""Of what a record without anything in it consists."""

NAMES_QUESTIONS = re.compile(
    rb"(?i)(^|[\s,;\"'])(question|qid|id|(question|sample|doc|example)_id)($|[\s,;\"'])"
)
"""The first line of a table whose records are of questions, each of which stands once in a run."""


class Floods:
    """Counts the records that stand again, block by block, and refuses a file with too many.

    Those of one block are told from each other, so a few thousand records in turn are a flood too.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines = 0
        """Lines before the block."""
        self.again = 0
        self.first: tuple[int, bytes] | None = None
        """The first record found to stand again: its line and its text."""
        self.watches: bool | None = None

    def look(self, block: bytes) -> None:
        """Look at the next block; one whose records all differ costs next to nothing."""
        if self.watches is None:
            self.watches = NAMES_QUESTIONS.search(block.partition(b"\n")[0]) is not None
        if not self.watches:
            return
        if any(_stands_again(block, int(len(block) * place)) for place in SAMPLED):
            self._count(block)
        self.lines += block.count(b"\n")

    def _count(self, block: bytes) -> None:
        lines = block.split(b"\n")[1:-1]  # the first and the last may be parts of lines
        times = Counter(lines)
        again = {line: n for line, n in times.items() if n > 1 and line.strip(EMPTY)}
        if not again:
            return
        self.again += sum(again.values()) - len(again)
        if self.first is None:
            line = next(iter(again))
            self.first = self.lines + 2 + lines.index(line, lines.index(line) + 1), line
        if self.again > MOST_AGAIN:
            at, line = self.first
            said = shown(line.decode("utf-8", "replace").strip())
            raise InputError(
                f"the record {said} is repeated here, and the file has more than {MOST_AGAIN:,} "
                "such repeats; expected each question once in a run",
                Place(self.name, at),
            )


def _stands_again(block: bytes, at: int) -> bool:
    """Whether the record around a place of a block stands in it several times."""
    begins, ends = block.rfind(b"\n", 0, at), block.find(b"\n", at)
    line = block[max(begins, 0) : ends + 1]
    return bool(ends > begins and line.strip(EMPTY) and block.count(line) >= SUSPICIOUS)
