"""What every page is made of: sections of sentences, facts, tables, charts and questions.

A view fills them in; `html` makes them one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from abstain.report.grid import Grid, legend
from abstain.report.result import Result
from abstain.report.view import policy_words, sentence

LONGEST, WIDEST = 2_000, 70
"""Rows and columns that a page holds of a table that lies in a file beside it."""

MOST_CELLS = 600_000
"""Cells that a page holds of a table that lies nowhere else: about 5 MB."""

FEW = 12
"""Rows that need no filter."""

HEAD, ROW, TOOLS, PAGER = 50, 33, 84, 44
"""Pixels of a table: of its heading, of a row, of what is above and below it."""


class Figure(Struct, frozen=True):
    """A chart, and what it says in words for those who do not see it."""

    name: str
    caption: str
    spec: dict[str, Any]
    title: str = ""


class Variant(Struct, frozen=True):
    """A table once more for a part of the data: the cells that change, by column."""

    group: str
    name: str
    cells: dict[int, list[Any]]


class PageTable(Struct, frozen=True):
    """A table with a name that is unique on its page."""

    name: str
    title: str
    reading: str
    grid: Grid
    filters: tuple[str, ...] = ()
    """Columns to choose from, besides those that always are."""
    variants: tuple[Variant, ...] = ()
    ordered_by: int | None = None
    """The column that a variant is ordered by."""
    best_is_low: bool = False
    """Whether that column has its best value where it is lowest."""
    late: tuple[str, ...] = ()
    """Columns that show when asked for."""
    beneath: tuple[str, ...] = ()
    """Columns that a phone shows beneath the name of the row, where two have no room abreast."""
    page_size: int = 25
    filed: tuple[str, ...] = ()
    """Endings of its files in the folder beside the page."""

    @property
    def space(self) -> int:
        """Pixels that it will take, kept free until it is drawn so that nothing moves."""
        rows = min(len(self.grid.rows), self.page_size)
        tools = len(self.grid.rows) > FEW or bool(self.late)
        return HEAD + ROW * rows + TOOLS * tools + PAGER

    @property
    def columns_kept(self) -> int:
        """Columns that the page holds."""
        return min(len(self.grid.columns), WIDEST)

    @property
    def rows_kept(self) -> int:
        """Rows that the page holds."""
        most = LONGEST if self.filed else MOST_CELLS // max(1, self.columns_kept)
        return min(len(self.grid.rows), most)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """What the headings mean that do not speak for themselves."""
        return legend(self.grid.columns[: self.columns_kept])

    @property
    def cut(self) -> str:
        """What the page holds of it, in words; empty where that is all."""
        parts = (
            (self.rows_kept, len(self.grid.rows), "rows"),
            (self.columns_kept, len(self.grid.columns), "columns"),
        )
        held = " and ".join(f"{few:,} of {n:,} {what}" for few, n, what in parts if few < n)
        use = "sorting, searching and saving use only these"
        return f"This page holds only the first {held}: {use}." if held else ""


class Choice(Struct, frozen=True):
    """An option of a question and how many runs chose it."""

    label: str
    text: str
    count: int
    share: float
    right: bool


class Card(Struct, frozen=True):
    """A question with what the runs made of it."""

    heading: str
    about: str
    text: str
    outcomes: str
    choices: tuple[Choice, ...]


class Deck(Struct, frozen=True):
    """Questions of one kind: the hardest, the easiest, the most blanked."""

    title: str
    cards: tuple[Card, ...]


class Section(Struct):
    """A part of a page under its own heading; an empty one is left out."""

    name: str
    title: str
    sentences: Sequence[str] = ()
    more: Sequence[str] = ()
    """Sentences that are folded away."""
    facts: Sequence[tuple[str, str]] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[PageTable] = ()
    folded: Sequence[PageTable] = ()
    decks: Sequence[Deck] = ()
    short: str = ""
    """Its name in the navigation, where the title is too long for that."""
    key: bool = False
    """Whether to explain the colours of right, wrong and blank."""

    @property
    def filled(self) -> bool:
        """Whether there is anything in it."""
        return any((self.sentences, self.facts, self.figures, self.tables, self.folded, self.decks))


class Page(Struct):
    """A page before it has a look."""

    title: str
    lead: str
    sections: list[Section]
    about: str = ""
    tiles: Sequence[tuple[str, str]] = ()
    """A few numbers in large type: value, label."""
    how: Sequence[str] = ()
    """Sentences on how it was made."""
    how_facts: Sequence[tuple[str, str]] = ()
    command: str = ""
    digits: int = 4
    in_folder: bool = False
    """Whether the tables lie beside the page, in a folder of their own."""


def policy_and_notes(result: Result) -> list[str]:
    """The policy and the notes of a result, as sentences."""
    rows: Any = getattr(result, "rows", ())
    names = {str(row.run) for row in rows if hasattr(row, "run")}
    notes = (sentence(note, names) for note in result.notes)
    return [*policy_words(result.policy, result.touched), *notes]


def page_of(
    result: Result,
    title: str,
    lead: str,
    sections: Iterable[Section],
    *settings: tuple[str, Any],
    how: Sequence[str] | None = None,
    **more: Any,
) -> Page:
    """The page of a result: what it tells, and how it was made; `more` are fields of `Page`.

    `how` are sentences on that, `settings` what was asked for, as far as it was.
    """
    lists = {} if result.settings is None else structs.asdict(result.settings)
    shown = ", ".join(
        f"{name} {value}" for name, value in lists.items() if value not in (None, False)
    )
    facts = [("written by", f"abstain {result.abstain}"), *settings]
    facts += [("settings", shown), ("seed", getattr(result, "seed", None))]
    return Page(
        title=title,
        lead=lead,
        sections=list(sections),
        how=policy_and_notes(result) if how is None else how,
        how_facts=[(name, str(value)) for name, value in facts if value not in (None, "")],
        command=result.command,
        **more,
    )
