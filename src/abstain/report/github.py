"""GitHub's Markdown for job summaries: what matters in sight, the rest folded away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstain.errors import plural
from abstain.report.grid import Grid, markdown_text, to_markdown

IN_SIGHT = 10
"""Rows that are shown before somebody unfolds the rest."""

MOST_ROWS = 2_000
MOST_BYTES = 512 << 10
"""A job summary may hold 1 MiB, and others add to it; a longer table is cut and says so."""


def to_github(grid: Grid, *, digits: int = 4) -> str:
    """A title, the first rows, and folded: all rows, and how to read them."""
    lines = [f"### {markdown_text(grid.title)}", ""] if grid.title else []
    bare = replace(grid, title="", notes=[])
    first = replace(bare, rows=grid.rows[:IN_SIGHT])
    lines.append(to_markdown(first, digits=digits))
    if len(grid.rows) > IN_SIGHT:
        body, shown = _within(bare, digits)
        if len(grid.rows) > shown:
            more = plural(len(grid.rows) - shown, "more row")
            body += f"\n… and {more}: CSV has them.\n"
        lines.append(folded(f"All {len(grid.rows):,} rows", body))
    if grid.notes:
        lines += [markdown_text(grid.notes[0]), ""]
    if grid.notes[1:]:
        lines.append(folded("Notes", _list(grid.notes[1:])))
    return "\n".join(lines).rstrip() + "\n"


def _within(grid: Grid, digits: int) -> tuple[str, int]:
    """The first rows that a summary holds, as Markdown, and how many they are."""
    count = min(len(grid.rows), MOST_ROWS)
    while True:
        body = to_markdown(replace(grid, rows=grid.rows[:count]), digits=digits)
        size = len(body.encode())
        if size <= MOST_BYTES or count <= IN_SIGHT:
            return body, count
        count = max(IN_SIGHT, min(count - 1, count * MOST_BYTES // size))


def folded(summary: str, body: str) -> str:
    """Text that opens on a click; GitHub reads Markdown inside only after an empty line."""
    return f"<details><summary>{markdown_text(summary)}</summary>\n\n{body}\n</details>\n"


def _list(notes: Sequence[str]) -> str:
    return "".join(f"- {markdown_text(note)}\n" for note in notes)
