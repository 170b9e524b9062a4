"""The page of a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from abstain.analyses.campaign.campaign import MOST_CELLS
from abstain.analyses.campaign.overview import Overview
from abstain.errors import plural
from abstain.outcomes import Counts
from abstain.report.campaign.charts import MOST_RUNS, campaign_figures
from abstain.report.campaign.questions import question_decks
from abstain.report.campaign.summary import sentences
from abstain.report.campaign.tables import EXTRA
from abstain.report.charts import chart, points, tips
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section, Variant
from abstain.report.rewards import leads_table, measure_facts, rewards_table
from abstain.report.shared import blanks_table, score_figure
from abstain.report.views.curve import View as CurveView
from abstain.report.words import policy_words, sentence
from abstain.stats.standings import places

if TYPE_CHECKING:
    from abstain.analyses.campaign.result import Stability

MOST_SLICED = 30_000
"""Rows that a leaderboard by slices may add to the page."""

DETAILS = (
    *("answered", "unans. right", "unans. wrong", "unans. empty"),
    *EXTRA,
)
"""Columns of the leaderboard that come last on the page, when asked for."""


def campaign_page(c: Overview, tables: Iterable[PageTable], *, in_folder: bool) -> Page:
    """The page of a campaign; in its folder the tables lie beside it."""
    result, said = c.result, list(sentences(c))
    figures = campaign_figures(c)
    known = {table.name: table for table in tables}
    had_some = [sum(why in row.blanks for row in result.rows) for why in result.policy]
    known["leaderboard"] = _leaderboard(c, known["leaderboard"])
    return Page(
        title=result.title,
        lead=said[1],
        about=result.about,
        tiles=_tiles(c),
        sections=_sections(c, known, figures, said),
        again=[
            *policy_words(result.policy, result.touched),
            *(sentence(note) for note in result.notes),
        ],
        again_facts=_again(c),
        again_tables=blanks_table(result, had_some),
        command=result.command,
        digits=2,
        in_folder=in_folder,
    )


def _leaderboard(c: Overview, table: PageTable) -> PageTable:
    """The bars beside the score, where a phone shows them, details last; slices to choose from."""
    given = table.grid
    bar = next(i for i, column in enumerate(given.columns) if column.kind == "bar")
    score = next(i for i, column in enumerate(given.columns) if column.kind == "score")
    late = [i for i, column in enumerate(given.columns) if column.name in DETAILS and i != score]
    order = [i for i in range(len(given.columns)) if i != bar and i not in late]
    order.insert(score + 1, bar)
    order += late
    grid = given.chosen(order)
    room = _roomy(c, len(grid.rows))
    out = [
        f"{name} ({plural(len(s.names), 'slice')})"
        for name, s in c.slices.items()
        if name not in room
    ]
    said = (
        f" This leaderboard cannot be switched to slices by {', '.join(out)}; tables below show "
        "them."
    )
    return replace(
        table,
        grid=grid,
        reading=table.reading + (said if out else ""),
        late=DETAILS,
        variants=tuple(slice_variants(c, grid, room)),
        ordered_by=order.index(score),
        best_is_low=not c.measure.higher_is_better,
    )


def _tiles(c: Overview) -> list[tuple[str, str]]:
    total = Counts(*(float(x) for x in c.overall.table.sum(axis=0)))
    best = c.scores[c.order[0]]
    found = [("–" if np.isnan(best) else f"{best:.2f}", f"best {c.measure}")]
    found += [(f"{len(c.runs):,}", "runs"), (f"{c.questions.height:,}", "questions")]
    if total.n:
        found += [(f"{100 * total.right / total.n:.1f} %", "of all responses are right")]
        found += [(f"{100 * total.unanswered / total.n:.1f} %", "are left blank")]
    return found


def _again(c: Overview) -> list[tuple[str, str]]:
    facts = [("ranked by", str(c.measure)), ("seed", str(c.result.seed))]
    if c.result.test_by:
        facts.append(("pass mark", f"{c.result.pass_mark:g}"))
    if (s := c.result.comparison) is not None:
        facts.append(("intervals", f"{100 * s.level:g} %, {s.interval_method}"))
        exact = all(pair.exact for pair in s.pairs)
        drawn = "exact" if exact else f"{s.trials:,} trials"
        facts.append(("tests", f"{s.test}, {drawn}, {s.correction} correction"))
        if s.cluster:
            facts.append(("clusters", s.cluster))
    return facts


def _roomy(c: Overview, rows: int) -> list[str]:
    """Attributes whose slices the page has room for."""
    found = []
    left = MOST_SLICED
    for attribute, s in c.slices.items():
        if len(s.names) * rows <= left:
            left -= len(s.names) * rows
            found.append(attribute)
    return found


def slice_variants(c: Overview, grid: Grid, attributes: list[str]) -> Iterator[Variant]:
    """The leaderboard over each slice of the questions that some attributes make."""
    names = [column.name for column in grid.columns]
    runs = {run: i for i, run in enumerate(c.runs)}
    references = {name: i for i, name in enumerate(c.baselines, len(runs))}
    order = [
        (references if n in grid.dim else runs)[str(row[names.index("run")])]
        for n, row in enumerate(grid.rows)
    ]
    for attribute in attributes:
        own = [parts[attribute] for _, parts in c.baselines.values()]
        scores = np.stack([*c.slice_scores[attribute], *map(c.measure, own)])[order]
        table = np.stack([*c.sliced[attribute].table, *(counts.table for counts in own)])[order]
        blank = table[..., 2:].sum(axis=-1)
        three = np.round(np.stack([table[..., 0], table[..., 1], blank], axis=-1), 2)
        for part, name in enumerate(c.slices[attribute].names):
            score = c.slice_scores[attribute][:, part]
            ranks = places(score, higher_is_better=c.measure.higher_is_better) + [""] * len(own)
            outcomes = three[:, part].astype(float).tolist()
            cells: dict[str, list[Cell]] = {
                "#": [ranks[i] for i in order],
                str(c.measure): scores[:, part].tolist(),
                "outcomes": [(right, wrong, blank) for right, wrong, blank in outcomes],
            }
            for at, outcome in enumerate(("right", "wrong", "unanswered")):
                cells[outcome] = [row[at] for row in outcomes]
            yield Variant(attribute, name, {names.index(n): cells[n] for n in cells})


def _sections(
    c: Overview, known: dict[str, PageTable], figures: dict[str, Figure], said: list[str]
) -> list[Section]:
    """What the page tells, in its order; a table that no section names comes last, folded."""

    def taken(names: str) -> list[PageTable]:
        return [known.pop(name) for name in names.split() if name in known]

    def section(
        name: str, title: str, chart: str, tables: str, folded: str = "", short: str = ""
    ) -> Section:
        """A chart and tables by their names, as far as they are there."""
        drawn = [figures[chart]] if chart in figures else []
        shown, hidden = taken(tables), taken(folded)
        return Section(name, title, figures=drawn, tables=shown, folded=hidden, short=short)

    first = section("leaderboard", "Leaderboard", "", "leaderboard", "teams")
    first.said, first.more, first.key = (said[0], *said[2:5]), said[5:], True
    name = c.result.measure
    scores = [
        (row.run, row.scores.get(name), *row.intervals.get(name, (None, None)))
        for row in c.result.rows
    ]
    first.figures = score_figure("scores", scores, name)
    rewards = section("measure", "What is rewarded", "decision", "", short="Rewards")
    rewards.facts = measure_facts(c.measure)
    rewards.tables = [leads_table(c.runs, c.overall)]
    rewards.folded = [rewards_table(c.runs, c.overall, [c.measure])]
    asked = section("questions", "Questions", "questions", "questions")
    asked.decks = [] if c.result.blind else question_decks(c)
    by_type, twins = "over_type by_type", "pairs_question pairs_answer pairs"
    auxiliary = "Main and auxiliary questions"
    return [
        *(first, section("problems", "Problems of submissions", "", "problems"), rewards),
        section("reading", "Reading tests", "tests", "reading", "tests over_test"),
        section("topics", "Topics", "topics", "over_topic", "topics"),
        section("types", "Kinds of question", "types", "subsets", by_type, short="Kinds"),
        section("pairs", auxiliary, "pairs", "pairs_runs", twins, short="Auxiliary"),
        section(
            "participants", "Languages and techniques", "", "languages first_runs", "languages_runs"
        ),
        *(asked, *confidence_sections(c), stability_section(c)),
        Section("more", "More tables", short="More", folded=list(known.values())),
    ]


# ------------------------------------------------- confidence, and whether the ranking would stand


def confidence_sections(c: Overview) -> list[Section]:
    """Risk, coverage, calibration and decisions of the best runs that state a confidence."""
    curves = c.result.curves
    if curves is None:
        return []
    view = CurveView(curves)
    sure, decisions = view.confidence(("risk", "measure", "reliability")), view.decisions()
    sure.said = [
        f"Shown: {plural(len(curves.runs), 'run')} with a confidence, chosen by {c.measure}; "
        "`abstain curve` shows the others."
    ]
    sure.tables = [replace(view.table("main"), name="sureness", title="Measures of confidence")]
    return [section for section in (sure, decisions) if section.figures]


def stability_section(c: Overview) -> Section:
    """How far other questions could have moved the ranks."""
    section = Section("stability", "How stable is the ranking?", short="Stability")
    s = c.result.stability
    if s is None:
        if len(c.runs) > 1 and not c.result.blind:
            section.said = [
                f"With more than {MOST_CELLS:,} responses the ranking is not resampled here; "
                "`abstain meta` resamples it."
            ]
        return section
    section.said = [
        f"In {100 * s.first[0]:.1f} % of {s.trials:,} resamples of the questions (seed "
        f"{s.seed}) {c.result.rows[0].run} is first, alone or with others.",
        _movers(c, s),
    ]
    section.figures = [_figure(c, s)]
    section.folded = [_table(c, s)]
    return section


def _movers(c: Overview, s: Stability) -> str:
    rows, widths = c.result.rows, [high - low for low, high in zip(s.low, s.high, strict=True)]
    at = min(range(len(rows)), key=lambda at: (-widths[at], rows[at].run))
    still = widths.count(0)
    return (
        f"The rank of {rows[at].run} is the least certain, from {s.low[at]} to {s.high[at]}; "
        f"{plural(still, 'run keeps', 'runs keep')} the same rank in 95 % of the resamples."
    )


def _figure(c: Overview, s: Stability) -> Figure:
    chosen = c.order[:MOST_RUNS]
    names = [c.runs[i] for i in chosen]
    ranks = places(c.scores, higher_is_better=c.measure.higher_is_better)
    rows = [
        {
            "run": c.runs[i],
            "rank": int(ranks[i].rstrip("=")) if ranks[i] else None,
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
    for layer in (span, dots):
        layer["encoding"]["tooltip"] = tips(("run",), ("rank", "low", "high", "first %"))
        layer["encoding"]["x"]["axis"] = {"values": _ticks(len(c.runs)), "format": "d"}
        layer["encoding"]["x"]["scale"] = {"domain": [0.5, len(c.runs) + 0.5], "nice": False}
    shown = "all" if len(chosen) == len(c.runs) else f"the {len(chosen)} best"
    caption = (
        f"The rank of each run ({shown} of {plural(len(c.runs), 'run')}) and where it lies in 95 % "
        "of the resamples: the longer a bar, the more the rank depends on this choice of questions."
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
    rows: list[list[Cell]] = [
        [row.run, row.rank, s.low[at], s.high[at], 100 * s.first[at]]
        for at, row in enumerate(c.result.rows)
    ]
    reading = (
        f"In 95 % of {s.trials:,} resamples the rank lies between the values in the columns “from” "
        "and “to”."
    )
    return PageTable("ranks", "Every rank", reading, Grid(columns, rows))
