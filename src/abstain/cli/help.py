"""Help that fits the terminal it is read in, however narrow."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable

import click

LEAST, MOST = 24, 98
"""Columns that help takes at least and at most."""

ABREAST = 58
"""Columns from which on an option and its meaning stand side by side."""

KEPT = "\b"
"""What begins a paragraph whose lines stay as they are: examples."""


class FittingHelp(click.Command):
    """A command whose help keeps within the terminal."""

    def get_help(self, ctx: click.Context) -> str:
        """The help, wrapped; below `ABREAST` columns meanings stand beneath what they explain."""
        width = max(LEAST, min(shutil.get_terminal_size().columns - 2, MOST))
        formatter = _Fitting(width=width)
        self.format_help(ctx, formatter)
        return formatter.getvalue().rstrip("\n")


class _Fitting(click.HelpFormatter):
    """How a formatter writes where there may be little room."""

    def write_text(self, text: str) -> None:
        """Paragraphs; examples go on in the next line, as a shell takes them."""
        room = self.width - self.current_indent
        paragraphs = [
            "\n".join(_continued(line, room) for line in paragraph.splitlines())
            if paragraph.lstrip(" \n").startswith(KEPT)
            else paragraph
            for paragraph in text.split("\n\n")
        ]
        super().write_text("\n\n".join(paragraphs))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Terms with their meanings: side by side where the terms are short, else beneath."""
        rows = list(rows)
        longest = max(len(term) for term, _ in rows)
        if self.width >= ABREAST or longest <= self.width // 3:
            super().write_dl(rows, col_max, col_spacing)
            return
        indent = " " * self.current_indent
        for term, meaning in rows:
            for line in filled(term, self.width - self.current_indent, hanging=4):
                self.write(f"{indent}{line}\n")
            for line in filled(meaning, self.width - self.current_indent - 4):
                self.write(f"{indent}    {line}\n")


def _continued(line: str, room: int) -> str:
    """A line of an example that a shell still takes when it is long; notes in brackets stay whole.

    >>> print(_continued("abstain score gold.csv run.csv -m c@1", 24))
    abstain score gold.csv \\
        run.csv -m c@1
    """
    if len(line) <= room:
        return line
    command, _, note = line.partition("   ")
    lines = " \\\n".join(filled(command.rstrip(), room - 2, hanging=4))
    notes = "".join(f"\n    {part}" for part in filled(note.strip(), room - 4))
    return lines + notes


def filled(text: str, width: int, *, hanging: int = 0) -> list[str]:
    """Lines of text, broken after a space or a bar.

    >>> filled("-f, --format <table|json|csv>", 20, hanging=2)
    ['-f, --format <table|', '  json|csv>']
    """
    lines = [""]
    for piece in re.split(r"(?<=[ |])", " ".join(text.split())):
        if lines[-1].strip() and len(lines[-1] + piece.rstrip()) > width:
            lines.append(" " * hanging)
        lines[-1] += piece
    return [line.rstrip() for line in lines if line.strip()]
