"""What a measure and a reader of another package are held to: the properties that ours have.

>>> check_measure("c@1")
"""

from __future__ import annotations

import contextlib
import pickle
import re
import tempfile
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from abstain.errors import AbstainError
from abstain.io.files import open_file, read_errors
from abstain.io.readers import Reader
from abstain.io.tables import Table
from abstain.measures import Measure, measure
from abstain.measures.answers import Answers
from abstain.measures.checks import check
from abstain.outcomes import KIND_OF_WORD, CountsArray

Picks: TypeAlias = Mapping[str, str] | None
CLOSE, REACH = 1e-9, 1e-5
"""Tolerances, of values and of κ and p*, which may be numerical derivatives."""
DRAWS = 600
LARGEST = 40
SLIVER = 1e-5
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
    except AbstainError as error:
        raise AssertionError(str(error)) from None
    _hold(measure(str(item)) == item, item, "is another measure by its text")
    _hold(pickle.loads(pickle.dumps(item)) == item, item, "is another measure when pickled")
    kinds: dict[str, Callable[[Any, np.random.Generator], None]] = {
        "counts": _counts,
        "decisions": _counts,
        "confidence": _answers,
        "ranking": _rankings,
    }
    if item.definition.takes in kinds:
        kinds[item.definition.takes](item, np.random.default_rng(seed))


def _hold(holds: Any, item: Measure, what: str, cases: Any = None) -> None:
    """Raise with the first case in which something does not hold."""
    marks = np.atleast_1d(holds)
    if not marks.all():
        place = int(np.argmin(marks))
        case = "" if cases is None else f": {cases[place]}"
        raise AssertionError(f"measure '{item}' {what}{case}")


def _counts(item: Any, rng: np.random.Generator) -> None:
    d, many, better = item.definition, item.MANY, 1 if item.higher_is_better else -1
    table = rng.integers(0, LARGEST, (DRAWS, 6)) * (rng.random((DRAWS, 6)) < 0.8)
    table[:, 5] *= d.takes == "counts" and not d.needs_candidates
    cases = many(table[table.sum(axis=1) > 0])
    scores = item(cases)
    singles = [cases[at] for at in range(len(cases))]
    _hold(_same(scores, np.array([item(one) for one in singles])), item, "differs in arrays", cases)
    there, (low, high) = ~np.isnan(scores), item.bounds
    defined = np.array([item.why_undefined(one) is None for one in singles])
    _hold(there == defined, item, "is undefined without a reason", cases)
    inside = ~there | ((scores >= low - CLOSE) & (scores <= high + CLOSE))
    _hold(inside, item, f"is outside its bounds of {low:g} to {high:g}", cases)
    _hold(_same(scores, item(many(cases.table * 7))), item, "counts questions", cases)
    if not d.monotone:
        wrong = many(cases.table[cases.wrong > 0])
        gain = better * (item(many(wrong.table + np.array([1, -1, 0, 0, 0, 0]))) - item(wrong))
        _hold(~(gain < -CLOSE), item, "falls when a wrong answer becomes right", wrong)
    if d.kappa is not None:
        credited = (cases.right + item.kappa(cases) * cases.unanswered) / cases.n
        _hold(_same(scores, credited, REACH) | ~there, item, "is not c + κ·u", cases)
    if d.break_even is not None:
        _pays(item, CountsArray(rng.integers(1, LARGEST, (DRAWS, 6)) * [1, 1, 0, 0, 1, 0]), better)


def _pays(item: Any, cases: CountsArray, better: int) -> None:
    """Answering a sliver of the blanks pays above p*, and costs below it."""
    even, sliver = np.asarray(item.break_even(cases)), SLIVER * cases.n
    for side in (-0.01, 0.01):
        p = even + side
        moved = np.stack([p * sliver, (1 - p) * sliver, *[0 * p] * 2, -sliver, 0 * p], axis=-1)
        gain = better * (item(CountsArray(cases.table + moved)) - item(cases))
        usual = ~np.isnan(even) & (p > 0) & (p < 1)
        where = "above" if side > 0 else "below"
        _hold(~usual | (gain * side >= 0), item, f"has another p*: {where} it", cases)


def _same(one: Any, other: Any, close: float = CLOSE) -> Any:
    return np.isclose(one, other, rtol=close, atol=close, equal_nan=True)


def _answers(item: Any, rng: np.random.Generator) -> None:
    low, high = item.bounds
    for _ in range(DRAWS // 20):
        size = int(rng.integers(1, LARGEST))
        right, sure = rng.random(size) < 0.6, rng.integers(0, 8, size) / 7
        score, order = item(Answers.of(right, sure)), rng.permutation(size)
        case = [f"right={right.astype(int).tolist()}, confidence={sure.round(3).tolist()}"]
        inside = score != score or low - CLOSE <= score <= high + CLOSE
        _hold(inside, item, "is outside its bounds", case)
        shuffled = item(Answers.of(right[order], sure[order]))
        _hold(_same(score, shuffled), item, "depends on the order of rows", case)


def _rankings(item: Any, rng: np.random.Generator) -> None:
    low, high = item.bounds
    for _ in range(DRAWS // 20):
        gains = (rng.random(int(rng.integers(0, 12))) < 0.4).astype(int).tolist()
        pool = sum(gains) + int(rng.integers(0, 3))
        score: float = item(gains, pool=pool)
        inside = score != score or low - CLOSE <= score <= high + CLOSE
        _hold(inside, item, "is outside its bounds", [f"gains={gains}, pool={pool}"])
        _hold(_same(score, item(gains, pool=pool)), item, "changes from call to call")


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
    """A log with something wrong: cut, doubled, or with other bytes or values somewhere."""
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
