"""A measure's card: what a newcomer should know of it."""

import math
import textwrap
from collections.abc import Callable

from abstain.errors import UsageError, option
from abstain.measures import Definition, Measure
from abstain.measures.definition import number_text
from abstain.measures.registry import example_measure
from abstain.outcomes import Counts, Decisions

SHARES = Counts(right=237, wrong=156, unsplit=107)
SPLIT = Counts(right=79, wrong=161, unanswered_right=13, unanswered_wrong=31)
DECIDED = Decisions(50, 20, wrongly_declined=10, wrongly_answered=8, rightly_declined=12)
RIGHT = (1, 1, 0, 1, 1, 0, 1, 0)
SURE = (0.95, 0.9, 0.9, 0.8, 0.6, 0.5, 0.4, 0.2)
LABEL, LEAST = 13, 24
"""Columns of a fact's name, and of a whole card at least."""


class Card(str):
    """What is known of a measure, as plain text that a notebook shows as it is."""

    __slots__ = ()
    __repr__ = str.__str__


def explain(measure: str | Measure, *, width: int = 80) -> Card:
    """Explain one measure: formula, meaning, how to game it, an example.

    >>> print(explain("accuracy").splitlines()[0])
    accuracy: Right answers over all questions; a blank is worth nothing.
    """
    if width < LEAST:
        raise UsageError(f"{option('width')} must be {LEAST} or more (got {width})")
    item = example_measure(str(measure))
    d = item.definition
    low, high = (bound(end) for end in item.bounds)
    better = "higher is better" if d.higher_is_better else "lower is better"
    pays = f"pays if the chance of being right is above {d.break_even_text} (p*)"
    alike = ", ".join(item.ranks_like)
    facts = [
        ("formula", d.formula),
        *((p.name, f"{p.meaning}; in {p.range_text}") for p in d.parameters),
        ("with", letters(d)),
        ("a blank", f"is credited κ = {d.kappa_text} right answers" if d.kappa else None),
        ("answering", pays if d.break_even else None),
        ("range", f"{low} to {high}, {better}"),
        ("convention", d.convention or None),
        ("undefined", "; ".join(f"when {rule.reason}" for rule in d.undefined) or "never"),
        ("to game it", d.gaming or None),
        ("note", d.note or None),
        ("beware", f"{d.monotone[0].upper()}{d.monotone[1:]}." if d.monotone else None),
        ("ranks like", f"{alike} (orders any runs in the same way)" if alike else None),
        ("also called", ", ".join(d.aliases) or None),
        ("source", d.source),
    ]
    lines = _wrap(f"{item}: {d.summary}", width, 0)
    lines.append("")
    for label, value in facts:
        if value is not None:
            lines += _wrap(f"{label:<{LABEL}}{value}", width, LABEL)
    return Card("\n".join([*lines, "", *example(item, width)]))


def bound(value: float) -> str:
    return number_text(value) if math.isinf(value) else f"{value:g}"


def letters(d: Definition) -> str:
    """What the letters of its formula stand for."""
    if d.takes == "ranking":
        return (
            "r_i the gain or grade at rank i, d the length of the list, R the number of relevant "
            "documents or their total gain, r_t = Σ r_i / R the gain of the list's end (1 if R = 0)"
        )
    if d.takes == "confidence":
        return "N answers, C(i) right among the i surest, s the confidence; n questions"
    if d.takes == "decisions":
        return (
            "R right and W wrong where an answer was due, D declined there; A answered and N "
            "declined where none was due; n questions"
        )
    if d.takes == "columns":
        return f"columns of the files: {', '.join(d.columns)}"
    if d.shares:
        return "c right, w wrong, u unanswered, as shares of all questions"
    return (
        "R right, W wrong, U unanswered (UR, UW, UE: candidate right, wrong, absent), n questions"
    )


def example(item: Measure, width: int) -> list[str]:
    if item.definition.takes == "columns":
        return []
    writers = {"confidence": _of_confidence, "ranking": _of_ranking, "counts": _of_counts}
    writers["decisions"] = _of_decisions
    return [line for text in writers[item.definition.takes](item) for line in _wrap(text, width, 2)]


def _of_ranking(item: Measure) -> list[str]:
    sum_of_it = item.definition.example or f"{item} = {item([1, 0, 1], pool=3):.4f}"
    return ["Example: the gains 1, 0, 1 listed, 3 documents to find", sum_of_it]


def _of_counts(item: Measure) -> list[str]:
    k, name, split = SHARES, "icia091ro, CLEF 2009", ""
    if not item.definition.shares:
        k, name = SPLIT, "buap1305enen, QA4MRE 2013"
        split = f" ({k.unanswered_right:g} of them with the right candidate)"
    score, end = f"{item} = {item(k):.4f}", []
    if item.definition.kappa is not None:
        score += f", κ = {item.kappa(k):.4f}"
        blanks = f"{k.right:g} right answers and {k.unanswered:g} blanks"
        end = [f"so {blanks} count as {item(k) * k.n:.1f} right answers of {k.n:g}"]
    if item.definition.break_even is not None:
        score += f", p* = {item.break_even(k):.4f}"
    return [
        f"Example: {k.right:g} right, {k.wrong:g} wrong, {k.unanswered:g} unanswered{split}",
        f"of {k.n:g} ({name})",
        f"c = {k.right / k.n:.3f}, w = {k.wrong / k.n:.3f}, u = {k.unanswered / k.n:.3f}",
        score,
        *end,
    ]


def _of_decisions(item: Measure) -> list[str]:
    d = DECIDED
    return [
        f"Example: {d.right:g} right, {d.wrong:g} wrong and {d.wrongly_declined:g} declined where "
        f"an answer was due, {d.wrongly_answered:g} answered and {d.rightly_declined:g} declined "
        "where none was",
        f"{item} = {item(d):.4f}",
    ]


def _of_confidence(item: Measure) -> list[str]:
    one: Callable[..., float] = item
    words = [f"{s:g} {'right' if right else 'wrong'}" for s, right in zip(SURE, RIGHT, strict=True)]
    first = f"Example: {len(RIGHT)} answers to as many questions: {', '.join(words)}"
    return [first, f"{item} = {one(RIGHT, SURE):.4f}"]


def _wrap(text: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=" " * indent, break_long_words=False)
