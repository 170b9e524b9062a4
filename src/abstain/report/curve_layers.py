"""The lines of curves, as `abstain curve --chart` and the pages draw them alike."""

from __future__ import annotations

from typing import Any

from abstain.report.charts import bands, lines, points

ANSWERED = "share of questions answered"
PENALISED = "S = c − t/(1−t)·w"

Layer = dict[str, Any]


def risk_line(**more: Any) -> Layer:
    """The share wrong of the answered, over coverage."""
    return _over_coverage("risk", "share wrong of the answered", **more)


def measure_line(name: str) -> Layer:
    """A measure over coverage."""
    return _over_coverage(name, name)


def _over_coverage(field: str, title: str, **more: Any) -> Layer:
    titles = {"x_title": ANSWERED, "y_title": title}
    return lines("coverage", field, colour="run", x_domain=(0, 1), **titles, **more)


def reliability_lines() -> tuple[Layer, Layer]:
    """What was promised and what came true: a line, and a dot a bin."""
    titles: dict[str, Any] = {"colour": "run", "y_title": "share right"}
    line = lines("confidence", "accuracy", x_domain=(0, 1), y_domain=(0, 1), **titles)
    return line, points("confidence", "accuracy", **titles)


def roc_line() -> Layer:
    """Right answers given over wrong answers given."""
    titles = {"x_title": "share of wrong answers given", "y_title": "share of right answers given"}
    return lines("wrong given", "right given", colour="run", x_domain=(0, 1), **titles)


def decision_band() -> tuple[Layer, Layer]:
    """The penalised score over t: a band that holds at every t, and the line in it."""
    titles: dict[str, Any] = {"colour": "run", "y_title": PENALISED}
    return bands("t", "low", "high", **titles), lines("t", "S", **titles)
