"""Comparisons in one line for tests: what is about reading goes to reading, the rest is asked."""

from __future__ import annotations

from typing import Any

import abstain as ab
from abstain.features.compare.view import View
from abstain.features.compare.words import sentences
from abstain.registry import view_of

OF_READING = ("cluster", "policy", "grades", "columns")


def judged(data: Any, measure: str = "c@1", **options: Any) -> Any:
    """Rows that carry their own outcome, compared."""
    reading = {name: options.pop(name) for name in OF_READING if name in options}
    return ab.read_judged(data, **reading).compare(measure, **options)


def scores(data: Any, measure: str | None = None, **options: Any) -> Any:
    """Scores by topic, compared."""
    reading = {name: options.pop(name) for name in OF_READING if name in options}
    return ab.read_scores(data, **reading).compare(measure, **options)


def looks(found: ab.CompareResult) -> View:
    """How it looks."""
    view = view_of(found)
    assert isinstance(view, View)
    return view


def told(found: ab.CompareResult) -> str:
    """What it says in words."""
    return " ".join(sentences(found))
