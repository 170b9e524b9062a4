"""The rules of every language."""

from __future__ import annotations

from abstain.judging.refusals.english import ENGLISH
from abstain.judging.refusals.german import GERMAN
from abstain.judging.refusals.romance import FRENCH, ITALIAN, SPANISH
from abstain.judging.refusals.shapes import Language

LANGUAGES: dict[str, Language] = {
    own.code: own for own in (ENGLISH, GERMAN, SPANISH, FRENCH, ITALIAN)
}
