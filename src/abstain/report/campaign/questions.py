"""The questions of a campaign: all in a table, and on cards those worth a look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import plural
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Card, Choice, Deck, PageTable

if TYPE_CHECKING:
    from abstain.analyses.campaign.overview import Overview
    from abstain.outcomes import IntArray

CARDS = 3
MOST_OPTIONS = 8
LONGEST = 600


def question_table(c: Overview) -> PageTable:
    """Every question, the hardest first: how many runs had it right, wrong, blank."""
    (right, wrong, _), questions = c.tried, c.questions
    shown = [n for n in (c.result.topic_by, c.result.test_by) if n]
    columns = [Column("question"), *(Column(n) for n in shown)]
    columns += [Column(n, "count") for n in ("right", "wrong", "blank")]
    more = _question_details(c)
    columns += [Column(name) for name in more]
    hardest = hardest_first(right, wrong)
    cells: list[list[Cell]] = [questions["question"][hardest].to_list()]
    cells += [questions[n].fill_null("")[hardest].to_list() for n in shown]
    cells += [block[hardest].tolist() for block in c.tried]
    cells += [[column[i] for i in hardest] for column in more.values()]
    brackets = " Answers: an answer and, in brackets, how many runs gave it."
    nobody = int((right == 0).sum())
    return PageTable(
        "questions",
        "Questions",
        f"In how many of {plural(len(c.runs), 'run')} each question was right, hardest first "
        "(ties: the question with more wrong answers first). Questions that no run got right: "
        f"{nobody} of {len(right):,} ({100 * nobody / len(right):.1f} %)."
        + (brackets if "correct" in more else ""),
        Grid.of(zip(columns, cells, strict=True)),
    )


def hardest_first(right: IntArray, wrong: IntArray) -> IntArray:
    """Questions by how few runs had them right, then by how many had them wrong."""
    return np.lexsort((np.arange(len(right)), -wrong, right))


def _question_details(c: Overview) -> dict[str, list[str]]:
    """What is right, what the runs answered, and the question's text where the gold has one."""
    own = c.result.questions
    details: dict[str, list[str]] = {}
    if any(own.choices):
        details["correct"] = [
            "none" if none else " | ".join(texts)
            for none, texts in zip(own.nothing_right, own.accepted, strict=True)
        ]
        details["answers given"] = [
            ", ".join(f"{answer} ({count})" for answer, count in given[:5]) for given in own.choices
        ]
    if "text" in own.attributes:
        details["text"] = [text or "" for text in own.attributes["text"]]
    return details


def question_decks(c: Overview) -> list[Deck]:
    """The hardest, the easiest, the most blanked, with what runs chose."""
    right, wrong, blank = c.tried
    place = np.arange(len(right))
    hardest = hardest_first(right, wrong)[:CARDS]
    easiest = np.lexsort((place, wrong, -right))[:CARDS]
    blanked = [int(i) for i in np.lexsort((place, -blank))[:CARDS] if blank[i]]
    kinds = [
        ("Hardest", hardest.tolist()),
        ("Easiest", easiest.tolist()),
        ("Most often left blank", blanked),
    ]
    return [Deck(title, tuple(_card(c, i) for i in chosen)) for title, chosen in kinds if chosen]


def _card(c: Overview, i: int) -> Card:
    row = c.questions.row(i, named=True)
    right, wrong, blank = (int(n[i]) for n in c.tried)
    about = [f"{name} {row[name]}" for name in c.slices if row.get(name)]
    text = str(row.get("text") or "")
    return Card(
        heading=str(row["question"]),
        about=", ".join(about[:4]),
        text=text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        said=f"{right} right, {wrong} wrong, {blank} blank of {plural(len(c.runs), 'run')}.",
        choices=tuple(_choices(c, i)),
    )


def _choices(c: Overview, i: int) -> list[Choice]:
    """Every option with its text; what was answered besides comes after them."""
    own = c.result.questions
    given = dict(own.choices[i] if own.choices else ())
    correct = set(own.accepted[i])
    listed = (own.options[i] if own.options else None) or []
    texts = (own.option_texts[i] if own.option_texts else None) or []
    named = dict(zip(listed, texts, strict=False))
    if own.nothing_right[i]:
        correct = {a for a in given if a.lower() in correct} or {"none"}
    wanted = [*listed, *(a for a in given if a not in listed)]
    wanted += [a for a in sorted(correct) if a not in wanted]
    shown = wanted[: max(MOST_OPTIONS, len(listed))]
    return [
        Choice(
            label=option,
            text=named.get(option, ""),
            count=given.get(option, 0),
            share=given.get(option, 0) / len(c.runs),
            right=option in correct,
        )
        for option in shown
    ]
