"""What a rule and a language are: data, to be read and argued with.

A text is cleaned first: what a model thought (`<think>…</think>`) goes, Markdown's marks and a
label ("Answer:") too, letters become small, apostrophes straight, white space single. A polite
opening ("I'm sorry, but", "Unfortunately,") may come first. A rule speaks of how the text goes on,
or, for `whole`, of all of it.

A text that goes on to answer anyway is an answer. What comes after a rule's own words says so by a
language's `hedges` ("I think", "maybe"), or, once its `asides` are taken out (an offer to help, an
excuse), by `goes_on` ("; it's Paris", "the answer is").

Patterns are those of Rust's regex: linear in the text, without look-around.
"""

from __future__ import annotations

from dataclasses import dataclass

ENDS = r"(?:[.,;:!?…–—-]|$)"
"""Where a clause ends."""

THOUGHT = (r"(?s)^.*</think(?:ing)?>", r"(?s)^\s*<think(?:ing)?>.*$")
"""What a model thought before it spoke; without an end it never spoke."""

MARKS = r"[*`#>\[\]{}]|\\boxed|\\text"
"""Markdown's and LaTeX's marks, which say nothing here."""

QUOTED = r"^[\"'«“„]+(.*?)[\"'»”“]+[.!]?$"
"""A text that is quoted as a whole; one that only begins so is about a title."""

LABEL = (
    r"^(?:(?:final |my |the |short )*(?:answer|response|reply|output|antwort|endg[uü]ltige antwort|"
    r"respuesta|réponse|risposta|a|q1?)(?: is)? ?: ?)+"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to decline, a text that does so, and one that only looks like it."""

    name: str
    pattern: str
    example: str
    counter: str
    whole: bool = False
    unless: str = ""
    """How a text begins that the pattern fits and the rule does not mean."""


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of a language, what may come before, and what takes them back."""

    code: str
    openings: str
    asides: tuple[str, ...]
    hedges: str
    goes_on: str
    rules: tuple[Rule, ...]
