"""What a measure and a reader of another package are held to: the properties that ours have.

>>> check_measure("c@1")
"""

from __future__ import annotations

import contextlib
import pickle
import re
import tempfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from abstain.errors import AbstainError
from abstain.io.files import open_file, read_errors
from abstain.io.readers import Reader
from abstain.io.tables import Table
from abstain.measures import Measure, measure
from abstain.measures.checks import check
from abstain.outcomes import KIND_OF_WORD

Picks: TypeAlias = Mapping[str, str] | None
SPOILT = 300
PLAIN = (
    b"question,correct\nq1,A\n",
    b'[{"question": "q1", "answer": "A"}]\n',
    b"PAR1",
    b"<xml/>\n",
)
"""How files begin that are no tool's log."""
ODD = (b"null", b"[]", b"{}", b'""', b"-1", b"1e400", b"true", b'"\\ud800"', b"[" * 5_000, b"NaN")
"""What a value of a log may become."""


def check_measure(measure_or_text: str | Measure, *, seed: int = 0) -> None:
    """Hold a measure to its declaration and to what is true of every measure; else AssertionError.

    Of random counts, answers or rankings: values lie within the bounds or are undefined for a
    reason, many at once are as one by one, neither the order of rows nor a multiple of all counts
    matters, a wrong answer that becomes right never costs, c + κ·u is the score, and answering
    pays exactly above p*.
    """
    item = measure(measure_or_text)
    try:
        check(item)
        check(item, np.random.default_rng(seed))
    except AbstainError as error:
        raise AssertionError(str(error)) from None
    assert measure(str(item)) == item, f"{item} is another measure by its text"
    assert pickle.loads(pickle.dumps(item)) == item, f"{item} is another measure when pickled"


def check_reader(
    reader: Reader,
    *logs: bytes | str | PathLike[str],
    pick: Picks = None,
    seed: int = 0,
    spoilt: int = SPOILT,
) -> None:
    """Hold a reader to what ours are held to, on its example and other logs; else AssertionError.

    It knows its logs by how they begin, and no other file; a log becomes questions with known
    outcomes, every time the same; and a log that is damaged (so many random damages) is read
    or refused with an error of abstain, never with another exception.
    """
    texts = [log if isinstance(log, bytes) else Path(log).read_bytes() for log in logs]
    texts = [reader.example.encode(), *texts] if reader.example else texts
    assert texts, f"{reader!r} has no example: name a log to try it on"
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        for text in texts:
            _check_log(reader, path, text, pick)
        for number in range(spoilt):
            text = _damaged(texts[number % len(texts)], rng)
            try:
                with contextlib.suppress(AbstainError):
                    _read(reader, path, text, pick)
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                raise AssertionError(f"{reader!r} fails on {text[:200]!r} with {what}") from error


def _check_log(reader: Reader, path: Path, text: bytes, pick: Picks) -> None:
    if reader.sniff is not None:
        assert reader.sniff.match(text.lstrip()), f"{reader!r} does not know its log by its bytes"
        assert text.lstrip()[:1] in b"{P", (
            f"{reader!r}: only logs that begin with {{ or PK are known"
        )
        taken = [head for head in PLAIN if reader.sniff.match(head)]
        assert not taken, f"{reader!r} takes other files for its logs: {taken}"
    table, again = (_read(reader, path, text, pick) for _ in range(2))
    rows = table.frame.collect()
    assert rows.equals(again.frame.collect()), f"{reader!r} reads the same log in two ways"
    lacking = {"question", "outcome"} - {*table.columns}
    assert not lacking, f"{reader!r} gives no column {min(lacking)}: make tables with LogRows"
    unknown = {*rows["outcome"].unique()} - {*KIND_OF_WORD}
    assert not unknown, f"{reader!r} gives outcomes that are not known: {unknown}"


def _read(reader: Reader, path: Path, text: bytes, pick: Picks) -> Table:
    path.write_bytes(text)
    with read_errors("log"):
        return reader.read(open_file(path), pick or {})


def _damaged(text: bytes, rng: np.random.Generator) -> bytes:
    at, to = sorted(rng.integers(0, len(text) + 1, 2).tolist())
    values = re.findall(rb'"[^"]*"|\b[\d.]+\b|true|false|null', text) or [b""]
    value = values[int(rng.integers(len(values)))]
    ways = (
        text[:at],
        text[:at] + text[to:],
        text[:to] + text[at:],
        text[:at] + bytes(rng.integers(0, 256, 4).tolist()) + text[at:],
        text.replace(value, ODD[int(rng.integers(len(ODD)))], int(rng.integers(1, 3))),
        b"".join(rng.permutation(text.splitlines(keepends=True)).tolist()),
    )
    return ways[int(rng.integers(len(ways)))]
