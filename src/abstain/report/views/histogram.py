"""How curves that were counted in bins look."""

from __future__ import annotations

from typing import Any

from abstain.analyses.curve.histogram import HistogramResult
from abstain.errors import check_name, plural
from abstain.report import view
from abstain.report.charts import chart
from abstain.report.curve_figures import IN_FILE, over_coverage
from abstain.report.grid import Grid
from abstain.report.views.curve import frame_grid, missing_notes
from abstain.report.words import policy_words, sentence

SHOWN = ("summary", "risk", "measure")
"""What `--show` knows of them."""


class View(view.View[HistogramResult]):
    """The area under each curve, or its points."""

    def title(self) -> str:
        return "Risk and coverage, counted in bins"

    def tables(self, *, show: str = "summary", points: int = 21, **options: Any) -> list[Grid]:
        """One table: a summary, or the points of risk or of a measure."""
        check_name("view", show, SHOWN)
        result = self.result
        if show == "summary":
            grid = frame_grid(result.thinned("main"))
        else:
            frame = result.thinned("points", points)
            grid = frame_grid(frame.drop(result.along if show == "risk" else "risk"), apart=True)
        grid.notes = self._notes(show)
        return [grid]

    def _notes(self, show: str) -> list[str]:
        result = self.result
        missing = missing_notes((own.run, own.stated, own.answers) for own in result.runs)
        said = [
            f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}.",
            *(sentence(note) for note in (*result.notes, *missing)),
            f"Confidences were counted in bins of 1/{result.bins:,}: counts at their edges are "
            "exact, thresholds between them are not shown.",
        ]
        if show == "summary":
            said.append(
                "AURC treats the answers in a bin as tied; the exact value lies between those of "
                "the best and the worst order inside the bins."
            )
        return said + policy_words(result.policy, result.touched)

    def line(self) -> str:
        result = self.result
        return f"<HistogramResult: {plural(len(result.runs), 'run')}, {result.bins:,} bins>"

    def charts(self) -> dict[str, dict[str, Any]]:
        """Risk over coverage, and the measure over it."""
        along = self.result.along
        rows = self.result.thinned("points", IN_FILE).rows(named=True)
        if not rows:
            return {}
        risk = over_coverage("risk", "share of the given answers that are wrong", zero=True)
        answered = [row for row in rows if row["answered"]]
        return {
            "risk": chart("Risk and coverage", answered, [risk]),
            "measure": chart(f"{along} and coverage", rows, [over_coverage(along, along)]),
        }
