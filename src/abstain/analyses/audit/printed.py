"""A number as it stands in print: what it may have been before somebody rounded it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

MISSING = {"", "-", "–", "—", ".", "n/a", "na", "nan", "none", "null", "?"}
TOLERANCE = 1e-9
"""Doubles are compared a little generously, so that an exact half may round either way."""

_NUMBER = re.compile(
    r"(?P<sign>[+\-−])?\s*(?P<whole>\d{1,3}(?:,\d{3})+|\d*)(?P<point>[.,](?P<part>\d*))?\s*(?P<pct>%)?"
)


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: its text, its value, how many decimals it shows."""

    text: str
    value: Fraction
    decimals: int
    percent: bool = False
    exact: bool = False
    """A count is itself, not what something was rounded to."""

    @property
    def unit(self) -> Fraction:
        """One in the last decimal shown."""
        return Fraction(1, 10**self.decimals)

    @property
    def low(self) -> Fraction:
        """The least number that rounds to it."""
        return self.value if self.exact else self.value - self.unit / 2

    @property
    def high(self) -> Fraction:
        """The greatest number that rounds to it (an exact half may go either way)."""
        return self.value if self.exact else self.value + self.unit / 2

    @property
    def whole(self) -> bool:
        """Whether it is a plain whole number."""
        return self.decimals == 0 and not self.percent

    def meets(self, low: float | Fraction, high: float | Fraction) -> bool:
        """Whether some number between two bounds rounds to it.

        >>> read_or_none("0.59").meets(0.5868, 0.5868), read_or_none("0.58").meets(0.5868, 0.5868)
        (True, False)
        """
        slack = TOLERANCE * max(1.0, abs(float(self.value)))
        return float(self.low) - slack <= float(high) and float(low) <= float(self.high) + slack

    def truncates(self, value: float | Fraction) -> bool:
        """Whether a number gives it when its further decimals are cut off.

        >>> read_or_none("0.58").truncates(0.5868)
        True
        """
        size, shown = abs(float(value)), abs(float(self.value))
        same_side = float(value) * float(self.value) >= 0
        return same_side and shown - TOLERANCE <= size < shown + float(self.unit) - TOLERANCE

    def like(self, value: float | Fraction) -> str:
        """Another number, printed the way this one is."""
        sign = "%" if self.percent else ""
        return f"{_round(Fraction(value), self.decimals)}{sign}"


def read_or_none(text: str | None) -> Printed | None:
    """The number that a text shows, or None; marks of a footnote are passed over.

    >>> read_or_none("1,204").value, read_or_none("30 %").percent, read_or_none("0,59†").value
    (Fraction(1204, 1), True, Fraction(59, 100))
    """
    if text is None:
        return None
    bare = text.strip().strip("*†‡§ ")
    match = _NUMBER.fullmatch(bare)
    if match is None or len(bare) > 40:
        return None
    whole, part = match["whole"], match["part"] or ""
    if whole.startswith("0,"):  # a decimal comma: no thousands begin with 0
        whole, part = "0", whole[2:].replace(",", "") + part
    if not whole and not part:
        return None
    value = Fraction(int(whole.replace(",", "") or "0")) + Fraction(
        int(part or "0"), 10 ** len(part)
    )
    return Printed(
        text.strip(),
        -value if match["sign"] in ("-", "−") else value,
        len(part),
        bool(match["pct"]),
    )


def is_missing(text: str | None) -> bool:
    """Whether a cell says that there is no number."""
    return text is None or text.strip().casefold() in MISSING


def edits(old: str, new: str) -> int:
    """How many signs must be changed, added or dropped to make one text another.

    >>> edits("60", "69"), edits("0", "42")
    (1, 2)
    """
    row = list(range(len(new) + 1))
    for i, a in enumerate(old, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(new, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def _round(value: Fraction, decimals: int) -> str:
    """A fraction with so many decimals, halves away from zero."""
    scaled = abs(value) * 10**decimals
    whole = int(scaled + Fraction(1, 2))
    digits = str(whole).rjust(decimals + 1, "0")
    text = digits if decimals == 0 else f"{digits[:-decimals]}.{digits[-decimals:]}"
    return f"-{text}" if value < 0 and whole else text
