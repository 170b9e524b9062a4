"""The later sections of a campaign's page: confidence, and whether the ranking would stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from abstain.analyses.campaign.stability import MOST_CELLS
from abstain.errors import plural
from abstain.report.charts import chart, points
from abstain.report.grid import Cell, Column, Grid
from abstain.report.pieces import Figure, PageTable, Section
from abstain.report.views.curve import View as CurveView
from abstain.stats.ties import places as places_of

if TYPE_CHECKING:
    from abstain.analyses.campaign.overview import Overview
    from abstain.analyses.campaign.result import Stability

MOST_RUNS = 60


def confidence_sections(c: Overview) -> list[Section]:
    """Risk, coverage, calibration and decisions of the best runs that state a confidence."""
    curves = c.result.curves
    if curves is None:
        return []
    view = CurveView(curves)
    sure, decisions = view.confidence(("risk", "measure", "reliability")), view.decisions()
    sure.said = [
        f"{plural(len(curves.runs), 'run')} with a confidence, the best by {c.measure}; "
        "`abstain curve` shows any other."
    ]
    sure.tables = [replace(view.table("main"), name="sureness", title="Measures of confidence")]
    return [section for section in (sure, decisions) if section.figures]


def stability_section(c: Overview) -> Section:
    """How far other questions could have moved the ranks."""
    section = Section("stability", "Would the ranking stand?", short="Stability")
    s = c.result.stability
    if s is None:
        if len(c.runs) > 1:
            section.said = [
                f"With more than {MOST_CELLS:,} responses the ranking is not resampled here; "
                "`abstain meta` does it."
            ]
        return section
    best = c.order[0]
    section.said = [
        f"In {100 * s.first[0]:.1f} % of {s.trials:,} resamples of the questions (seed "
        f"{s.seed}) {c.runs[best]} is first, alone or with others.",
        _movers(c, s),
    ]
    section.figures = [_figure(c, s)]
    section.folded = [_table(c, s)]
    return section


def _movers(c: Overview, s: Stability) -> str:
    widths = {c.runs[i]: s.high[at] - s.low[at] for at, i in enumerate(c.order)}
    run = max(c.runs, key=lambda name: widths[name])
    at = [c.runs[i] for i in c.order].index(run)
    still = sum(width == 0 for width in widths.values())
    return (
        f"The rank of {run} is the least certain, from {s.low[at]} to {s.high[at]}; "
        f"{plural(still, 'run keeps', 'runs keep')} one rank in 95 % of the resamples."
    )


def _places(c: Overview) -> list[str]:
    """The places of the leaderboard, which ties share."""
    return places_of(c.scores, higher_is_better=c.measure.higher_is_better)


def _figure(c: Overview, s: Stability) -> Figure:
    chosen = c.order[:MOST_RUNS]
    names = [c.runs[i] for i in chosen]
    places = _places(c)
    rows = [
        {
            "run": c.runs[i],
            "rank": int(places[i].rstrip("=")) if places[i] else None,
            "low": s.low[at],
            "high": s.high[at],
            "first %": round(100 * s.first[at], 2),
        }
        for at, i in enumerate(chosen)
    ]
    titles = {"x_title": "rank", "y_title": " ", "y_type": "nominal"}
    span = points("low", "run", sort=names, **titles)
    span["mark"] = {"type": "rule", "strokeWidth": 5, "color": "#56b4e9", "opacity": 0.7}
    span["encoding"]["x2"] = {"field": "high"}
    dots = points("rank", "run", sort=names, **titles)
    dots["mark"] |= {"size": 45, "opacity": 1}
    tips = [("run", "nominal"), *((n, "quantitative") for n in ("rank", "low", "high", "first %"))]
    for layer in (span, dots):
        layer["encoding"]["tooltip"] = [{"field": n, "type": k} for n, k in tips]
        layer["encoding"]["x"]["axis"] = {"values": _ticks(len(c.runs)), "format": "d"}
        layer["encoding"]["x"]["scale"] = {"domain": [0.5, len(c.runs) + 0.5], "nice": False}
    shown = "all" if len(chosen) == len(c.runs) else f"the {len(chosen)} best"
    caption = (
        f"The rank of each run ({shown} of {plural(len(c.runs), 'run')}) and where it lies in 95 % "
        "of the resamples: the longer a bar, the more a place is owed to this choice of questions."
    )
    spec = chart("", rows, [span, dots], height=max(90, 16 * len(chosen)))
    return Figure("ranks", caption, spec, title="Ranks over resamples of the questions")


def _ticks(last: int) -> list[int]:
    """Ranks to write below a chart, from the first on."""
    step = next(
        k for k in (1, 2, 5, 10, 20, 50, 100, 200, 500, last) if last <= 10 * k or k >= last
    )
    return [1, *range(2 if step == 1 else step, last + 1, step)]


def _table(c: Overview, s: Stability) -> PageTable:
    columns = [Column("run"), Column("rank"), Column("from", "count")]
    columns += [Column("to", "count"), Column("first in %", "percent")]
    places = _places(c)
    rows: list[list[Cell]] = [
        [c.runs[i], places[i], s.low[at], s.high[at], 100 * s.first[at]]
        for at, i in enumerate(c.order)
    ]
    reading = f"95 % of {s.trials:,} resamples lie between from and to."
    return PageTable("ranks", "Every rank", reading, Grid(columns, rows))
