"""When two answers are the same: the named ways of matching a text with an accepted one."""

import re
import string
import unicodedata
from collections.abc import Callable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_SQUAD_PUNCTUATION = str.maketrans("", "", string.punctuation)
_MEANINGFUL = frozenset("%#+/&@°")


def plain(text: str) -> str:
    """Letters and digits, whatever their case, width or punctuation.

    NFKC, then case folded; punctuation dropped except where it carries meaning: inside numbers
    (3.5, 1,000, -4) and the signs % # + / & @ °; white space collapsed. No word is dropped, so
    it serves every language. A text of punctuation alone stays as it is.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept: list[str] = []
    for at, sign in enumerate(folded):
        if unicodedata.category(sign)[0] != "P" or sign in _MEANINGFUL:
            kept.append(sign)
            continue
        before = folded[at - 1] if at else " "
        after = folded[at + 1] if at + 1 < len(folded) else " "
        inside_number = sign in ".,:" and before.isdigit() and after.isdigit()
        minus = sign == "-" and after.isdigit() and before.isspace()
        if inside_number or minus:
            kept.append(sign)
        elif sign in "-‐‑–—_":
            kept.append(" ")
    stripped = " ".join("".join(kept).split())
    return stripped or " ".join(folded.split())


def squad(text: str) -> str:
    """SQuAD's normalisation: lower case, no ASCII punctuation, no English articles."""
    lowered = text.lower().translate(_SQUAD_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", lowered).split())


def letters(text: str) -> str:
    """A letter as the number of an option, in the order of the alphabet; other texts as `plain`.

    >>> letters("C"), letters("(b)"), letters("3"), letters("Paris")
    ('3', '2', '3', 'paris')
    """
    bare = plain(text)
    return str(ord(bare) - ord("a") + 1) if re.fullmatch("[a-z]", bare) else bare


MATCHES: dict[str, Callable[[str], str]] = {"id": str.strip, "text": plain, "squad": squad}
MATCHES["letters"] = letters
"""`id`: equal as they are (option ids, codes). The others: equal when normalised."""


def matcher(name: str) -> Callable[[str], str]:
    normal = MATCHES[name]
    # An answer of articles alone is still an answer: it must not turn into a blank.
    return lambda text: normal(text) or text.strip()
