"""Tables for the tests of the audit: published ones, and written ones."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

PUBLISHED = Path(__file__).parent.parent / "published"
TABLE_14 = PUBLISHED / "qa4mre2013_table14_counts.csv"
TABLE_15 = PUBLISHED / "qa4mre2013_table15_subsets.csv"
TEST_SIZES = PUBLISHED / "qa4mre2013_test_sizes.csv"
APPENDICES = sorted(PUBLISHED.glob("qa4mre2013_appendix*.csv"))


def read(path: Path) -> list[dict[str, str]]:
    """A table as records of texts."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Sequence[Mapping[str, str]]) -> str:
    """Write a table; its path as text."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def rounded(value: Fraction, decimals: int, *, half_up: bool = True) -> str:
    """A fraction in print, honestly rounded; an exact half as asked."""
    scaled = value * 10**decimals
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and half_up):
        whole += 1
    digits = str(whole).rjust(decimals + 1, "0")
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits


def could_be(text: str, value: Fraction) -> bool:
    """Whether a number rounds to a printed one, either way at an exact half."""
    decimals = len(text.partition(".")[2])
    return bool(abs(Fraction(text) - value) * 2 * 10**decimals <= 1)


def change_digit(text: str, at: int, by: int) -> str:
    """A text with one of its digits changed."""
    digits = [i for i, sign in enumerate(text) if sign.isdigit()]
    spot = digits[at % len(digits)]
    new = (int(text[spot]) + 1 + by % 9) % 10
    return text[:spot] + str(new) + text[spot + 1 :]
