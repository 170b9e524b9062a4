"""Questions worth a look: the hardest, the easiest, the most blanked, with what runs chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import plural
from abstain.report.campaign.tables import hardest_first
from abstain.report.pieces import Card, Choice, Deck

if TYPE_CHECKING:
    from abstain.analyses.campaign.overview import Overview
    from abstain.outcomes import IntArray

CARDS = 3
MOST_OPTIONS = 8
LONGEST = 600


def question_decks(c: Overview) -> list[Deck]:
    """A few questions of each kind."""
    right, wrong, blank = (c.right, c.wrong, c.blank)
    place = np.arange(len(right))
    hardest = hardest_first(right, wrong)[:CARDS]
    easiest = np.lexsort((place, wrong, -right))[:CARDS]
    blanked = [int(i) for i in np.lexsort((place, -blank))[:CARDS] if blank[i]]
    kinds = [
        ("Hardest", hardest.tolist()),
        ("Easiest", easiest.tolist()),
        ("Most often left blank", blanked),
    ]
    counts = right, wrong, blank
    return [
        Deck(title, tuple(_card(c, i, counts) for i in chosen)) for title, chosen in kinds if chosen
    ]


def _card(c: Overview, i: int, counts: tuple[IntArray, IntArray, IntArray]) -> Card:
    row = c.questions.row(i, named=True)
    right, wrong, blank = (int(n[i]) for n in counts)
    about = [f"{name} {row[name]}" for name in c.slices if row.get(name)]
    text = str(row.get("text") or "")
    return Card(
        heading=str(row["question"]),
        about=", ".join(about[:4]),
        text=text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        said=f"{right} right, {wrong} wrong, {blank} blank of {plural(len(c.runs), 'run')}.",
        choices=tuple(_choices(c, i, row)),
    )


def _choices(c: Overview, i: int, row: dict[str, object]) -> list[Choice]:
    """Every option with its text; what was answered besides comes after them."""
    given = dict(c.choices.get(i, []))
    accepted = row.get("accepted")
    correct = {str(a) for a in accepted} if isinstance(accepted, list) else set()
    options = row.get("options")
    listed = [str(o) for o in options] if isinstance(options, list) else []
    texts = row.get("option_texts")
    named = dict(zip(listed, texts, strict=False)) if isinstance(texts, list) else {}
    if row.get("nothing_right"):
        correct = {a for a in given if a.lower() in correct} or {"none"}
    wanted = [*listed, *(a for a in given if a not in listed)]
    wanted += [a for a in sorted(correct) if a not in wanted]
    shown = wanted[: max(MOST_OPTIONS, len(listed))]
    total = max(1, len(c.runs))
    return [
        Choice(
            label=option,
            text=str(named.get(option) or ""),
            count=given.get(option, 0),
            share=given.get(option, 0) / total,
            right=option in correct,
        )
        for option in shown
    ]
