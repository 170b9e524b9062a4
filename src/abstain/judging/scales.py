"""The words that others use for right, wrong and not answered.

A letter may mean two things (`C` is "not attempted" in SimpleQA and "correct" in Inspect), so
the words of a whole data set are read together: they must all belong to one scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from abstain.errors import UnknownNameError, UsageError, nearest, option, shown
from abstain.outcomes import KIND_OF_WORD, OUTCOMES, RIGHT, WRONG, Why, blank_kind

DECLINED = blank_kind(Why.DECLINED)

_RIGHT_WORDS = ("right", "correct", "true", "yes", "pass", "passed")
_WRONG_WORDS = ("wrong", "incorrect", "false", "no", "fail", "failed")
_BLANK_WORDS = (
    *("not attempted", "no answer", "unanswered", "abstained", "abstain", "abstention"),
    *("refused", "refusal", "noa", "blank", "idk", "i dont know", "skipped"),
)

SCALES: dict[str, dict[str, int]] = {
    "words": {
        **{word.replace("_", " "): kind for word, kind in KIND_OF_WORD.items()},
        **dict.fromkeys(_RIGHT_WORDS, RIGHT),
        **dict.fromkeys(_WRONG_WORDS, WRONG),
        **dict.fromkeys(_BLANK_WORDS, DECLINED),
    },
    "A/B/C": {"a": RIGHT, "b": WRONG, "c": DECLINED},
    "C/I/N": {"c": RIGHT, "i": WRONG, "n": DECLINED},
    "R/W/U": {
        "r": RIGHT,
        "w": WRONG,
        "u": DECLINED,
        "ur": blank_kind(Why.DECLINED, "right"),
        "uw": blank_kind(Why.DECLINED, "wrong"),
        "ue": DECLINED,
    },
    "1/0": {"1": RIGHT, "0": WRONG, "1.0": RIGHT, "0.0": WRONG, "-1": DECLINED},
}
"""Each scale is a set of words with their meanings; an empty cell is a blank in all of them."""


def read_scale(values: Sequence[str | None], given: Mapping[str, str]) -> dict[str, int]:
    """The kind of each distinct grade, by what was given and else by the one scale that fits.

    >>> read_scale(["A", "B"], {})
    {'A': 0, 'B': 1}
    """
    own = {_fold(word): _own_kind(meaning) for word, meaning in given.items()}
    present = {value: _fold(value) for value in values if value is not None and _fold(value)}
    open_words = {word for word in present.values() if word not in own}
    fitting = {name: s for name, s in SCALES.items() if open_words <= s.keys()}
    meanings = [{word: scale[word] for word in open_words} for scale in fitting.values()]
    if open_words and not meanings:
        raise _no_scale(present, open_words)
    if any(meaning != meanings[0] for meaning in meanings):
        names = " or ".join(fitting)
        raise UsageError(
            f"the grades {_listing(present)} could be read as {names}; "
            f"say which, as in {option('grades', {next(iter(present)): 'right'})}"
        )
    table = own | (meanings[0] if meanings else {})
    return {value: table[word] for value, word in present.items()}


def _own_kind(meaning: str) -> int:
    word = meaning.strip().lower().replace(" ", "_").replace("-", "_")
    if word not in KIND_OF_WORD:
        raise UnknownNameError(
            "outcome", meaning, KIND_OF_WORD, hint=f"there are {', '.join(KIND_OF_WORD)}"
        )
    return KIND_OF_WORD[word]


def _no_scale(present: Mapping[str, str], open_words: set[str]) -> UsageError:
    known = {word for scale in SCALES.values() for word in scale}
    odd = [v for v, w in present.items() if w in open_words and w not in known]
    odd = odd or [v for v, w in present.items() if w in open_words]
    example = option("grades", {odd[0]: "wrong"})
    meanings = f"(an outcome: {', '.join(OUTCOMES)}, unanswered; or a blank: {', '.join(Why)})"
    if all(word in known for word in open_words):
        return UsageError(
            f"the grades {_listing(present)} are of several scales ({', '.join(SCALES)}); say "
            f"what each is, as in {example} {meanings}"
        )
    near = nearest(odd[0], SCALES["words"])
    hint = f" (nearest: {near[0]})" if near else ""
    return UsageError(
        f"grade {shown(odd[0])} has no known meaning{hint}; the grades are "
        f"{_listing(present)}; say what each unusual one is, as in {example} {meanings}"
    )


def _listing(values: Mapping[str, str]) -> str:
    names = sorted(values)
    return ", ".join(shown(n, most=20) for n in names[:8]) + (" …" if len(names) > 8 else "")


def _fold(value: str) -> str:
    return (
        value.strip()
        .casefold()
        .replace("_", " ")
        .replace("-", " ")
        .replace("'", "")
        .replace("  ", " ")
        if value.strip() not in ("-1",)
        else "-1"
    )
