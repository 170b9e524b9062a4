"""Runs that need no system: what luck, habit, silence and hindsight would answer.

Each takes a gold and returns responses in its order: `question`, `answer`, `answered`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from abstain.errors import UnknownNameError, UsageError, plural
from abstain.formats.qa4mre import is_none_of_the_above
from abstain.outcomes import Counts
from abstain.questions import NONE_WORDS, Gold


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline's responses, and what a reader should know of them."""

    title: str
    """What a leaderboard calls it."""
    responses: pl.DataFrame
    notes: tuple[str, ...] = ()


def baseline(gold: Gold, kind: str, *, seed: int = 0) -> Baseline:
    """The run of a baseline by its name; `seed` is for the random one alone."""
    if kind not in KINDS:
        raise UnknownNameError("baseline", kind, KINDS, hint=f"there are {', '.join(KINDS)}")
    return random(gold, seed=seed) if kind == "random" else KINDS[kind](gold)


def all_baselines(gold: Gold, *, seed: int = 0) -> list[Baseline]:
    """Every baseline that the gold allows: luck and the first need options, nca its option."""
    kinds = [k for k in KINDS if k not in ("random", "first") or all(_column(gold, "options"))]
    made = [baseline(gold, kind, seed=seed) for kind in kinds]
    return [b for b in made if b.title != NCA or (b.responses["answered"] == "YES").any()]


def random(gold: Gold, *, seed: int = 0) -> Baseline:
    """One option of each question, all equally likely."""
    import numpy as np

    options = _options(gold, "random")
    draws = np.random.default_rng(seed).random(len(options))
    answers = [own[int(draw * len(own))] for own, draw in zip(options, draws, strict=True)]
    right = expected_random(gold).right
    return Baseline(
        f"random (seed {seed})",
        _responses(gold, answers),
        (f"seed {seed}; {right:g} of {plural(len(gold), 'question')} right are expected",),
    )


def chances(gold: Gold) -> list[float]:
    """The chance of each question to be answered right by luck: accepted options / options."""
    return [
        len(set(own) & set(accepted)) / len(own)
        for own, accepted in zip(
            _options(gold, "random"), gold.frame["accepted"].to_list(), strict=True
        )
    ]


def expected_random(gold: Gold) -> Counts:
    """What random choice gets on average: Σ (accepted options / options) right, the rest wrong.

    Every credit measure is linear in the right answers of a run without blanks, so its score of
    these counts is its expected score.
    """
    right = sum(chances(gold))
    return Counts(right=right, wrong=len(gold) - right)


def first(gold: Gold) -> Baseline:
    """The first option of each question."""
    return Baseline("first option", _responses(gold, [own[0] for own in _options(gold, "first")]))


def nca(gold: Gold) -> Baseline:
    """Always "None of the above"; blank where that is not an option.

    Where the gold says that nothing is right instead of having such an option, the answer is
    the word that says so.
    """
    otherwise = NONE_WORDS[0] if gold.without_answer else ""
    answers = [own or otherwise for own in _none_options(gold)]
    blanks = answers.count("")
    notes = (f"{plural(blanks, 'question has', 'questions have')} no such option: left blank",)
    return Baseline(NCA, _responses(gold, answers), notes if blanks else ())


def majority(gold: Gold) -> Baseline:
    """The answer that is most often right in this gold; it peeks."""
    counts = Counter(own for accepted in _accepted(gold) for own in accepted)
    best, times = max(counts.items(), key=lambda item: item[1])
    options = _column(gold, "options")
    answers = [best if best in own or not own else "" for own in options]
    note = f"answers '{best}', right {plural(times, 'time')} in this very gold: it peeks"
    return Baseline(f"majority option ({best})", _responses(gold, answers), (note,))


def blank(gold: Gold) -> Baseline:
    """No answer to any question."""
    return Baseline("blank", _responses(gold, [""] * len(gold)))


def oracle(gold: Gold) -> Baseline:
    """Every answer right; it peeks."""
    answers = [accepted[0] for accepted in _accepted(gold)]
    return Baseline("oracle", _responses(gold, answers), ("answers what the gold says: it peeks",))


NCA = "none of the above"

KINDS: dict[str, Callable[[Gold], Baseline]] = {
    "random": random,
    "first": first,
    "nca": nca,
    "majority": majority,
    "blank": blank,
    "oracle": oracle,
}


# ----------------------------------------------------------------------------- what a gold has


def _responses(gold: Gold, answers: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question": gold.frame["question"],
            "answer": pl.Series(answers, dtype=pl.String),
            "answered": ["YES" if answer else "NO" for answer in answers],
        }
    )


def _accepted(gold: Gold) -> list[list[str]]:
    """What is right; one word where nothing is."""
    return [
        [NONE_WORDS[0]] if nothing else accepted
        for accepted, nothing in gold.frame.select("accepted", "nothing_right").iter_rows()
    ]


def _options(gold: Gold, kind: str) -> list[list[str]]:
    options = _column(gold, "options")
    if lacking := sum(not own for own in options):
        raise UsageError(
            f"{gold.name}: {plural(lacking, 'question has', 'questions have')} no options, "
            f"which '{kind}' chooses from (expected a column 'options', such as 1|2|3)"
        )
    return options


def _column(gold: Gold, name: str) -> list[list[str]]:
    if name not in gold.frame.columns:
        return [[] for _ in range(len(gold))]
    return gold.frame[name].to_list()


def _none_options(gold: Gold) -> list[str]:
    """The option of each question that says "None of the above"; nothing where there is none.

    A gold without the options' texts may still tell it: by `nca`, which says where it is right.
    """
    options = _column(gold, "options")
    texts = _column(gold, "option_texts") if "option_texts" in gold.frame.columns else options
    says_none = {t for t in {t for own in texts for t in own} if is_none_of_the_above(t)}
    if says_none or "nca" not in gold.frame.columns:
        return [
            next((o for o, t in zip(own, said, strict=False) if t in says_none), "")
            for own, said in zip(options, texts, strict=True)
        ]
    marked = gold.frame["nca"].str.to_lowercase().fill_null("").to_list()
    right = {"yes": set[str](), "no": set[str]()}
    for mark, accepted in zip(marked, gold.frame["accepted"].to_list(), strict=True):
        right["yes" if mark == "yes" else "no"].update(accepted)
    if len(right["yes"]) != 1 or right["yes"] & right["no"]:
        return [""] * len(gold)
    (option,) = right["yes"]
    return [option if option in own or not own else "" for own in options]
