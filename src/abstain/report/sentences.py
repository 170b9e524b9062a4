"""Words that views share: names, numbers, thresholds, notes, the policy, what does not exist."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from abstain.errors import AbstainError, plural
from abstain.measures import Measure, measure
from abstain.report.grid import Cell, Grid, cell_texts

if TYPE_CHECKING:
    from abstain.features.rank.analysis import RankRow
    from abstain.features.score.result import Row

ScoredRow: TypeAlias = "Row | RankRow"
"""A run with scores, in a slice or on all questions."""

BLANK_RUN = "answer nothing"
"""The reference that is the same beside every run."""
NOTHING, NONE = "nothing", "none"
"""A threshold that answers nothing, and no threshold: everything is answered."""


def label(run: str, reference: str | None = None) -> str:
    """A run, or the reference beside it.

    >>> label("a"), label("a", "oracle"), label("a", "answer nothing")
    ('a', 'a: oracle', 'answer nothing')
    """
    if reference == BLANK_RUN:
        return BLANK_RUN
    return f"{run}: {reference}" if reference else run


def first_few(names: Iterable[str], most: int = 3) -> str:
    """Names in a sentence, each once; of many the first and how many more there are.

    >>> first_few("abba"), first_few("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + more


def undefined_sentences(result: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
    """For every measure that somebody lacks and every reason a sentence: who, measure → reason.

    >>> undefined_sentences([("a", {"F": "nothing is right"}), ("b", {"F": "nothing is right"})])
    ['F is undefined (–) where nothing is right: a, b.']
    """
    whose: dict[tuple[str, str], list[str]] = {}
    for who, reasons in result:
        for item in reasons.items():
            whose.setdefault(item, []).append(who)
    return [
        f"{name} is undefined (–) where {reason}: {first_few(item)}."
        for (name, reason), item in whose.items()
    ]


def policy_words(policy: Mapping[str, str], touched: Mapping[str, int]) -> list[str]:
    """What the policy made of blanks, with how many there were; nothing where it touched none.

    >>> policy_words({"empty": "unanswered", "declined": "wrong"}, {"empty": 2})
    ['Policy: 2 empty → unanswered.']
    """
    parts = [f"{touched[why]:,} {why} → {end}" for why, end in policy.items() if touched.get(why)]
    return [f"Policy: {', '.join(parts)}."] if parts else []


def sentence(note: str, names: Iterable[str] = ()) -> str:
    """A note with a capital and a full stop; what is no plain word, or a given name, stays.

    >>> sentence("some rows were left out"), sentence("c@1 is low"), sentence("bold won", ["bold"])
    ('Some rows were left out.', 'c@1 is low.', 'bold won.')
    """
    plain = re.match(r"[a-z]+(['’-][a-z]+)*[,:]?(\s|$)", note)
    named = any(re.match(rf"{re.escape(name)}\b", note) for name in names if name)
    text = note[:1].upper() + note[1:] if plain and not named else note
    return text if text.endswith((".", "!", "?")) else text + "."


def listed(items: Sequence[str]) -> str:
    """All items in a sentence.

    >>> listed("a"), listed("abc")
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def count_text(value: float) -> str:
    """A count in a sentence, whole however large it is.

    >>> count_text(2_000_000.0), count_text(1.5)
    ('2,000,000', '1.5')
    """
    return cell_texts([value], "count", 0)[0]


def number(value: float | None, digits: int = 4) -> str:
    """A number in a sentence."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


class _Level(float):
    """A threshold: in full where machines read it, short where people do."""

    def __str__(self) -> str:
        return threshold_text(self)


def threshold_cell(value: float | None) -> Cell:
    """A threshold in a table."""
    return threshold_text(value) if value is None or math.isinf(value) else _Level(value)


def threshold_text(value: float | None) -> str:
    """A threshold as people read it.

    >>> threshold_text(0.5), threshold_text(0.999998), threshold_text(math.inf)
    ('0.5', '0.999998', 'nothing')
    """
    if value is None:
        return NONE
    if math.isinf(value):
        return NOTHING
    # 0.999998 is not 1: a run may give most of its answers between the two.
    digits = 4 if value <= 0.999 or value >= 1 else max(4, 1 - math.floor(math.log10(1 - value)))
    return f"{value:.{digits}g}"


def few(notes: Sequence[str], most: int = 5) -> list[str]:
    """The first notes, and how many more there are."""
    more = len(notes) - most
    return [*notes[:most], *([f"and {plural(more, 'note')} more"] if more > 0 else [])]


def known_measure(name: str) -> Measure | None:
    """A measure by its name, where this version has it."""
    try:
        return measure(name)
    except AbstainError:
        return None


def measure_summary(name: str) -> str:
    """A measure in half a sentence; nothing where no measure has that name."""
    item = known_measure(name)
    text = "" if item is None else item.definition.summary
    return text[:1].lower() + text[1:].rstrip(".")


ENDS = ("low", "high", "its low", "its high")


def explained(grid: Grid, meanings: Mapping[str, str]) -> Grid:
    """A table with what its headings mean: as a view says, or what the measure of that name is."""

    def meaning(name: str) -> str:
        of_ends = "the ends of the interval" if name.endswith(ENDS) else ""
        return meanings.get(name) or of_ends or measure_summary(name)

    return replace(
        grid,
        columns=[
            column if column.means else replace(column, means=meaning(column.name))
            for column in grid.columns
        ],
    )


def slice_text(row: ScoredRow) -> str:
    """The slice of a row in words."""
    return ", ".join(f"{name} {value or '–'}" for name, value in row.slice.items())


def undefined_words(rows: Sequence[ScoredRow]) -> list[str]:
    """Which scores do not exist, and why."""
    return undefined_sentences((label(row.run, row.reference), row.undefined) for row in rows)
