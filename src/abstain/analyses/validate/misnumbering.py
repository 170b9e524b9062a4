"""Do a run's question ids fit the gold's, or only the order of its responses?

Ids such as `1/7/12` fall into tests by all that stands before the number at their end. Where a
run has as many responses in each test as the gold has questions, but other numbers, its ids name
other questions than it answered: a score by id would be wrong, a score by position is right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from abstain.errors import plural, shown, some_of

POSITION = "its responses fit the gold in order: align them by position"
ID_IS_WRONG = "scoring by id would be wrong"
POSITION_IS_WRONG = (
    "aligning by position does not work either: its tests do not match the gold's in order"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause of many problems: its kind, what to say, the first response that shows it."""

    kind: str
    message: str
    at: int
    tests: tuple[str, ...]
    """The tests whose problems it explains; none: every problem of the run."""


@dataclass(slots=True)
class Block:
    """Consecutive ids of one test."""

    test: str
    start: int
    ids: list[str]
    numbers: list[str]


def split_id(whole: str) -> tuple[str, str]:
    """The test and the number that an id is made of.

    >>> split_id("1/7/12"), split_id("q7"), split_id("a/b")
    (('1/7', '12'), ('q', '7'), ('a', 'b'))
    """
    ends = re.search(r"(?<![0-9])[0-9]+$", whole)
    if ends is None:
        test, _, number = whole.rpartition("/")
        return test, number
    return whole[: ends.start()].removesuffix("/"), ends[0]


def blocks(ids: Sequence[str]) -> list[Block]:
    """Ids cut where the test changes, or where a number comes again.

    >>> [(b.test, b.numbers) for b in blocks(["1/1/1", "1/1/2", "1/1/1", "1/2/1"])]
    [('1/1', ['1', '2']), ('1/1', ['1']), ('1/2', ['1'])]
    """
    found: list[Block] = []
    seen: set[str] = set()
    for at, whole in enumerate(ids):
        test, number = split_id(whole)
        if not found or found[-1].test != test or number in seen:
            found.append(Block(test, at, [], []))
            seen = set()
        found[-1].ids.append(whole)
        found[-1].numbers.append(number)
        seen.add(number)
    return found


def misnumbered(ids: Sequence[str], gold: Sequence[str]) -> list[Finding]:
    """What explains why a run's ids do not fit the gold's, if one thing does."""
    own, standard = blocks(ids), blocks(gold)
    fits = [len(b.numbers) for b in own] == [len(b.numbers) for b in standard]
    if fits and not set(ids) & set(gold):
        message = (
            f"none of its {plural(len(ids), 'question id')} is in the gold "
            f"(the first: {shown(ids[0])} where the gold has {shown(gold[0])}); {POSITION}"
        )
        return [Finding("other ids", message, 0, ())]
    if fits:
        pairs = list(zip(own, standard, strict=True))
        return [*_repeated_test(own, standard), *_numbering(pairs, gold, fits=True)]
    times = Counter(b.test for b in own)
    by_test = {b.test: b for b in standard}
    known = [(b, by_test[b.test]) for b in own if b.test in by_test and times[b.test] == 1]
    return _numbering(known, gold, fits=False)


def _repeated_test(own: Sequence[Block], gold: Sequence[Block]) -> list[Finding]:
    times: Counter[str] = Counter()
    again = None
    for block in own:
        times[block.test] += 1
        if again is None and times[block.test] > 1:
            again = block
    if again is None:
        return []
    message = (
        f"{times[again.test]} reading tests have the same id {shown(again.test)}, where the gold "
        f"has {some_of([b.test for b in gold])}; scoring by id is impossible; {POSITION}"
    )
    return [Finding("repeated test", message, again.start, ())]


def _numbering(
    pairs: Sequence[tuple[Block, Block]], gold: Sequence[str], *, fits: bool
) -> list[Finding]:
    wrong = [(b, g) for b, g in pairs if _renumbers(b, g)]
    if not wrong:
        return []
    advice = POSITION if fits else POSITION_IS_WRONG
    shifts = {int(n) - int(m) for b, g in wrong for n, m in zip(b.numbers, g.numbers, strict=True)}
    if len(wrong) == len(pairs) and len(shifts) == 1:
        shift = shifts.pop()
        (b, g), known = wrong[0], set(gold)
        strangers = sum(whole not in known for b, _ in wrong for whole in b.ids)
        so_in = (
            f" in test {shown(g.test)}, and likewise in all {len(wrong)} tests" if wrong[1:] else ""
        )
        total = sum(len(b.numbers) for b, _ in wrong)
        message = (
            f"every question number is {abs(shift)} too {'high' if shift > 0 else 'low'} "
            f"({_ranges(b.numbers)} where the gold has {_ranges(g.numbers)}{so_in}): "
            f"{total - strangers:,} of {plural(total, 'response')} have the id of another "
            f"question, and {strangers:,} have an id that is not in the gold; "
            f"{ID_IS_WRONG}; {advice}"
        )
        return [Finding("shifted ids", message, b.start, tuple(b.test for b, _ in wrong))]
    return [
        Finding(
            "renumbered test",
            f"test {shown(g.test)} numbers its {plural(len(b.numbers), 'response')} "
            f"{_ranges(b.numbers)}, where the gold has {_ranges(g.numbers)}; {ID_IS_WRONG}; "
            + advice,
            b.start + next(i for i, n in enumerate(b.numbers) if n != g.numbers[i]),
            (b.test,),
        )
        for b, g in wrong
    ]


def _renumbers(own: Block, gold: Block) -> bool:
    """As many responses as the gold has questions, in rising order, under other numbers.

    One stray number at its place is a slip; numbers that belong to other questions are not.
    """
    if len(own.numbers) != len(gold.numbers) or set(own.numbers) == set(gold.numbers):
        return False
    if not all(n.isascii() and n.isdigit() for n in own.numbers + gold.numbers):
        return False
    if any(int(a) >= int(b) for a, b in pairwise(own.numbers)):
        return False
    known = set(gold.numbers)
    return any(n in known and n != m for n, m in zip(own.numbers, gold.numbers, strict=True))


def _ranges(numbers: Sequence[str]) -> str:
    """Rising numbers with their gaps.

    >>> _ranges(["1", "2", "3", "5"])
    '1–3, 5'
    """
    runs: list[list[int]] = []
    for number in map(int, numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    texts = [f"{a}" if a == b else f"{a}–{b}" for a, b in runs]
    return ", ".join(texts[:8]) + ("…" if len(texts) > 8 else "")
