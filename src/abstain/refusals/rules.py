"""The rules of every language."""

from __future__ import annotations

from abstain.refusals.english import ENGLISH
from abstain.refusals.german import GERMAN
from abstain.refusals.romance import FRENCH, ITALIAN, SPANISH
from abstain.refusals.shapes import Language

LANGUAGES: dict[str, Language] = {
    own.code: own for own in (ENGLISH, GERMAN, SPANISH, FRENCH, ITALIAN)
}
