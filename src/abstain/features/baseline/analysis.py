"""Runs that need no system: what luck, habit, silence and hindsight would answer.

Each takes a gold and returns responses in its order: `question`, `answer`, `answered`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from abstain.errors import UsageError, check_name, plural, shown
from abstain.io.qa4mre import is_none_of_the_above
from abstain.measures.definition import Array
from abstain.reading import Reading
from abstain.runs.gold import NONE_WORDS, Gold, read_gold
from abstain.runs.season import gold_of

BaselineKind: TypeAlias = Literal["random", "first", "nca", "majority", "blank", "oracle"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline's responses, and what a reader should know of them."""

    title: str
    """What a leaderboard calls it."""
    responses: pl.DataFrame
    notes: tuple[str, ...] = ()


def baseline(
    gold: Any,
    kind: BaselineKind,
    *,
    seed: int = 0,
    format: str | None = None,
    pick: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The responses of a run that needs no system: what luck, habit or silence would answer.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1"], "correct": ["A"], "options": ["A|B"]})
    >>> baseline(gold, "first")["answer"].to_list()
    ['A']
    """
    reading = Reading.of(format=format, pick=pick, columns=columns)
    return baseline_of(read_gold(*gold_of(gold, reading)), kind, seed=seed).responses


def baseline_of(gold: Gold, kind: str, *, seed: int = 0) -> Baseline:
    check_name("baseline", kind, KINDS)
    return random(gold, seed=seed) if kind == "random" else KINDS[kind](gold)


def all_baselines(gold: Gold, *, seed: int = 0) -> list[Baseline]:
    """Every baseline that the gold allows: luck and the first need options, nca its option."""
    kinds = [k for k in KINDS if k not in ("random", "first") or can_guess(gold)]
    made = [baseline_of(gold, kind, seed=seed) for kind in kinds]
    return [b for b in made if b.title != NCA or (b.responses["answered"] == "YES").any()]


def can_guess(gold: Gold) -> bool:
    return bool((_column(gold, "options").list.len() > 0).all())


def random(gold: Gold, *, seed: int = 0) -> Baseline:
    options = _options(gold, "random")
    draws = np.random.default_rng(seed).random(len(options))
    chosen = pl.Series((draws * options.list.len().to_numpy()).astype(np.int64))
    note = (
        f"seed {seed}; the expected number of right answers is {chances(gold).sum():g} of "
        f"{plural(len(gold), 'question')}"
    )
    return _baseline(gold, f"random (seed {seed})", options.list.get(chosen), note)


def chances(gold: Gold) -> Array:
    """The chance of each question to be answered right by luck: accepted options / options."""
    options = _options(gold, "random")
    among = gold.frame["accepted"].list.set_intersection(options).list.len()
    return (among / options.list.len()).to_numpy()


def first(gold: Gold) -> Baseline:
    return _baseline(gold, "first option", _options(gold, "first").list.first())


def nca(gold: Gold) -> Baseline:
    """Always "None of the above"; blank where that is not an option.

    Where the gold says that nothing is right instead of having such an option, the answer is
    the word that says so.
    """
    answers = _none_options(gold).fill_null(NONE_WORDS[0] if gold.without_answer else "")
    blanks = int((answers == "").sum())
    note = f"{plural(blanks, 'question has', 'questions have')} no such option: left blank"
    return _baseline(gold, NCA, answers, *([note] if blanks else []))


def majority(gold: Gold) -> Baseline:
    """The answer that is most often right in this gold, the first of several; it peeks."""
    answers = (
        gold.frame["accepted"].explode().to_frame("answer").group_by("answer", maintain_order=True)
    )
    best, times = answers.len().sort("len", descending=True, maintain_order=True).row(0)
    options = _column(gold, "options")
    possible = options.list.contains(best) | (options.list.len() == 0)
    note = (
        f"always answers {shown(best)}, which is right {plural(times, 'time')} in this gold: this "
        "baseline uses the gold's answers"
    )
    return _baseline(gold, f"majority option ({best})", _where(possible, best), note)


def blank(gold: Gold) -> Baseline:
    return _baseline(gold, "blank", pl.Series([""] * len(gold)))


def oracle(gold: Gold) -> Baseline:
    note = "every answer is right: this baseline uses the gold's answers"
    return _baseline(gold, "oracle", gold.frame["accepted"].list.first(), note)


NCA = "none of the above"

KINDS: dict[str, Callable[[Gold], Baseline]] = {
    "random": random,
    "first": first,
    "nca": nca,
    "majority": majority,
    "blank": blank,
    "oracle": oracle,
}


def _baseline(gold: Gold, title: str, answers: pl.Series, *notes: str) -> Baseline:
    answered = pl.when(pl.col("answer") == "").then(pl.lit("NO")).otherwise(pl.lit("YES"))
    frame = pl.DataFrame({"question": gold.frame["question"], "answer": answers.fill_null("")})
    return Baseline(title, frame.with_columns(answered=answered), notes)


def _options(gold: Gold, kind: str) -> pl.Series:
    options = _column(gold, "options")
    if lacking := int((options.list.len() == 0).sum()):
        raise UsageError(
            f"{gold.name}: {plural(lacking, 'question has', 'questions have')} no options, "
            f"but '{kind}' chooses among options (expected a column 'options', such as 1|2|3)"
        )
    return options


def _column(gold: Gold, name: str) -> pl.Series:
    if name in gold.frame.columns:
        return gold.frame[name]
    return pl.Series(name, [[]] * len(gold), dtype=pl.List(pl.String))


def _where(which: pl.Series, answer: str) -> pl.Series:
    return pl.select(pl.when(which).then(pl.lit(answer))).to_series()


def _none_options(gold: Gold) -> pl.Series:
    """The option of each question that says "None of the above"; null where there is none.

    A gold without the options' texts may still tell it: by `nca`, which says where it is right.
    """
    options = _column(gold, "options")
    texts = _column(gold, "option_texts") if "option_texts" in gold.frame.columns else options
    says_none = {t for t in texts.explode().drop_nulls().unique() if is_none_of_the_above(t)}
    if says_none:
        labels = [
            next((o for o, t in zip(names, labelled, strict=False) if t in says_none), None)
            for names, labelled in zip(options.to_list(), texts.to_list(), strict=True)
        ]
        return pl.Series(labels, dtype=pl.String)
    nca = gold.frame["nca"] if "nca" in gold.frame.columns else pl.Series([""] * len(gold))
    marked = nca.fill_null("").str.to_lowercase() == "yes"
    inside = set(gold.frame.filter(marked)["accepted"].explode())
    outside = set(gold.frame.filter(~marked)["accepted"].explode())
    if len(inside) != 1 or inside & outside:  # it is not one option, or is right elsewhere too
        return pl.Series([None] * len(gold), dtype=pl.String)
    (option,) = inside
    return _where(options.list.contains(option) | (options.list.len() == 0), option)
