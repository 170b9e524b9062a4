"""What the pages of several results share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from abstain.analyses.result import Result
from abstain.errors import AbstainError
from abstain.measures import Measure, measure
from abstain.outcomes import Counts, Policy
from abstain.report.charts import chart, points
from abstain.report.grid import Cell, Column, Grid, cell_text
from abstain.report.pieces import Figure, PageTable
from abstain.report.scores import policy_sentence, sentence

MOST_DOTS = 60


def known_measure(name: str) -> Measure | None:
    """A measure by its name, where this version has it."""
    try:
        return measure(name)
    except AbstainError:
        return None


def higher_is_better(name: str) -> bool:
    """Whether more of a measure is better; of one nobody knows it is assumed."""
    item = known_measure(name)
    return item is None or item.higher_is_better


class ScoredRow(Protocol):
    """A run with scores, in a slice or on all questions."""

    @property
    def run(self) -> str:
        """Its name."""

    @property
    def slice(self) -> dict[str, str | None]:
        """Attribute to value."""

    @property
    def scores(self) -> dict[str, float | None]:
        """Measure to score."""

    @property
    def undefined(self) -> dict[str, str]:
        """Why scores do not exist."""

    @property
    def intervals(self) -> dict[str, tuple[float | None, float | None]]:
        """Measure to interval."""

    @property
    def reference(self) -> str | None:
        """What kind of reference it is, if it is one."""


def tally_of(row: ScoredRow) -> Counts | None:
    """The counts of a row, where it has some."""
    found = getattr(row, "counts", None)
    return found if isinstance(found, Counts) and getattr(row, "numbers", None) else None


def slice_text(row: ScoredRow) -> str:
    """The slice of a row in words."""
    return ", ".join(f"{name} {value or '–'}" for name, value in row.slice.items())


def again(saved: Result) -> list[str]:
    """The policy and the notes of a result, as sentences."""
    said = []
    if saved.policy:
        try:
            said.append(policy_sentence(Policy.of(saved.policy), saved.touched))
        except AbstainError:  # of another version
            said.append("Policy: " + ", ".join(f"{k} → {v}" for k, v in saved.policy.items()) + ".")
    rows: Any = getattr(saved, "results", None) or getattr(saved, "rows", ())
    names = {str(row.run) for row in rows if hasattr(row, "run")}
    notes = [note for note in saved.notes if not note.startswith("Policy: ")]
    return [*said, *(sentence(note, names) for note in notes)]


def facts(saved: Result, *more: tuple[str, Any]) -> list[tuple[str, str]]:
    """The version and the settings of a result; what it does not say is left out."""
    found = [("written by", f"abstain {saved.abstain}")]
    given = [*more, ("seed", getattr(saved, "seed", None))]
    return [*found, *((name, str(value)) for name, value in given if value not in (None, ""))]


def blanks_table(saved: Result) -> list[PageTable]:
    """How many blanks of each kind, and what became of them."""
    if not saved.policy:
        return []
    return [kinds_of_blank([(k, e, saved.touched.get(k, 0)) for k, e in saved.policy.items()])]


def kinds_of_blank(rows: Sequence[tuple[str, str, int]], runs: Sequence[int] = ()) -> PageTable:
    """Kinds of blank with what each counts as and how many there are; perhaps in how many runs."""
    columns = [
        Column("kind of blank", means="why there is no answer"),
        Column("counts as", means="what the policy makes of it; unanswered: it stays blank"),
        Column("responses", "count", means="how many there are", plain=True),
    ]
    cells: list[list[Cell]] = [list(row) for row in rows]
    if runs:
        columns.append(Column("runs that have some", "count", means="how many runs", plain=True))
        cells = [[*row, count] for row, count in zip(cells, runs, strict=True)]
    return PageTable("blanks", "Blanks", "Every kind of blank.", Grid(columns, cells))


def score_figure(
    name: str,
    rows: Sequence[tuple[str, float | None, float | None, float | None]],
    measure: str,
    *,
    most: int = MOST_DOTS,
) -> Figure | None:
    """Scores as dots with their intervals, the best on top; of many runs the best."""
    there = [row for row in rows if row[1] is not None]
    if len(there) < 2:
        return None
    shown = there[:most]
    ends = any(low is not None for _, _, low, _ in shown)
    data = [
        {"run": run, measure: score, **({"low": low, "high": high} if ends else {})}
        for run, score, low, high in shown
    ]
    names = [run for run, *_ in shown]
    titles: dict[str, Any] = {"x_title": measure, "y_title": " ", "y_type": "nominal"}
    dots = points(measure, "run", sort=names, **titles)
    dots["mark"] |= {"size": 55, "opacity": 1}
    layers = [dots]
    if ends:
        span = points("low", "run", sort=names, **titles)
        span["mark"] = {"type": "rule", "strokeWidth": 3, "color": "#56b4e9"}
        span["encoding"]["x2"] = {"field": "high"}
        layers.insert(0, span)
    scores = [score for _, score, _, _ in shown if score is not None]
    drawn = (
        "All runs"
        if len(there) == len(rows)
        else f"The {len(there)} of {len(rows)} runs that have one"
    )
    if len(there) > len(shown):
        drawn = f"The {len(shown)} best of {len(there)} runs"
    caption = f"{drawn}: {measure} from {min(scores):.3f} to {max(scores):.3f}" + (
        ", each with its interval." if ends else "."
    )
    height = max(80, (20 if len(shown) <= 25 else 16) * len(shown))
    return Figure(name, caption, chart("", data, layers, height=height), title=f"{measure} by run")


def count_text(value: float) -> str:
    """A count in a sentence, whole however large it is.

    >>> count_text(2_000_000.0), count_text(1.5)
    ('2,000,000', '1.5')
    """
    return cell_text(value, "count", 0)


def number(value: float | None, digits: int = 4) -> str:
    """A number in a sentence."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")
