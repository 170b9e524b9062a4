"""The page of a campaign."""

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.campaign.overview import Overview
from abstain.features.campaign.summary import campaign_figures, rank_figure, sentences
from abstain.features.campaign.tables import EXTRA, SPLIT, hardest_first
from abstain.features.curve.view import View as CurveView
from abstain.outcomes import CountsArray
from abstain.report.grid import Cell, Grid
from abstain.report.leaderboard import dot_figure, rewards_section
from abstain.report.page import (
    Card,
    Choice,
    Deck,
    Figure,
    Page,
    PageTable,
    Section,
    Variant,
    page_of,
)
from abstain.report.result import places
from abstain.report.view import score_text

MOST_SLICED = 30_000
"""Rows that a leaderboard by slices may add to the page."""
DETAILS = ("answered", *SPLIT, *EXTRA)
"""Columns of the leaderboard that come last on the page, when asked for."""
CARDS = 3
MOST_OPTIONS = 8
LONGEST = 600


def campaign_page(c: Overview, tables: Iterable[PageTable], *, in_folder: bool) -> Page:
    """The page of a campaign; in its folder the tables lie beside it."""
    result, lines, tested = c.result, list(sentences(c)), list[tuple[str, str | None]]()
    if (s := result.comparison) is not None:
        drawn = "exact" if all(p.exact for p in s.pairs) else f"{s.resamples:,} resamples"
        tested.append(("intervals", f"{100 * s.level:g} %, {s.interval_method}"))
        tested.append(("tests", f"{s.test}, {drawn}, {s.correction} correction"))
        tested.append(("clusters", s.cluster))
    known = {table.name: table for table in tables}
    known["leaderboard"] = _leaderboard(c, known["leaderboard"])
    return page_of(
        result,
        result.title,
        lines[1],
        _sections(c, known, campaign_figures(c), lines),
        ("ranked by", result.measure),
        ("SHA-256 of the gold", result.sha256.get("gold")),
        ("pass mark", result.test_by and f"{result.pass_mark:g}"),
        *tested,
        about=result.about,
        tiles=_tiles(c),
        digits=2,
        in_folder=in_folder,
    )


def _tiles(c: Overview) -> list[tuple[str, str]]:
    tiles = [(score_text(float(c.scores[0]), 2), f"best {c.measure}")]
    tiles += [(f"{len(c.runs):,}", "runs"), (f"{c.questions.height:,}", "questions")]
    if c.total.n:
        tiles += [(f"{100 * c.total.right / c.total.n:.1f} %", "of all responses are right")]
        tiles += [(f"{100 * c.total.unanswered / c.total.n:.1f} %", "are left blank")]
    return tiles


def _leaderboard(c: Overview, table: PageTable) -> PageTable:
    late = [name for name in DETAILS if name != str(c.measure)]
    names = [column.name for column in table.grid.columns]
    first = [name for name in names if name not in (*late, "outcomes")]
    score = first.index(str(c.measure))
    first.insert(score + 1, "outcomes")
    grid = table.grid.in_order([*first, *late])
    room, left = [], MOST_SLICED
    for attribute, s in c.slices.items():
        if (rows := len(s.names) * len(grid.rows)) <= left:
            room.append(attribute)
            left -= rows
    return replace(
        table,
        grid=grid,
        late=DETAILS,
        variants=tuple(slice_variants(c, grid, room)),
        ordered_by=score,
        best_is_low=not c.measure.higher_is_better,
    )


def slice_variants(c: Overview, grid: Grid, attributes: list[str]) -> Iterator[Variant]:
    """The leaderboard over each slice of the questions that some attributes make."""
    column = {head.name: i for i, head in enumerate(grid.columns)}
    place = {name: i for i, name in enumerate([*c.runs, *c.beside])}
    order = [place[str(row[column["run"]])] for row in grid.rows]
    higher = c.measure.higher_is_better
    for attribute in attributes:
        extra = [parts[attribute].table for _, parts in c.beside.values()]
        counts = CountsArray(np.stack([*c.sliced[attribute].table, *extra]))
        scores = c.measure(counts)
        outcomes = np.stack([counts.right, counts.wrong, counts.unanswered], axis=-1)
        three = np.round(outcomes.astype(float), 2)[order]
        for part, name in enumerate(c.slices[attribute].names):
            ranks = places(scores[: len(c.runs), part], higher_is_better=higher)
            right, wrong, blank = three[:, part].T.tolist()
            cells: dict[str, list[Cell]] = {
                "#": [[*ranks, *[""] * len(extra)][i] for i in order],
                str(c.measure): scores[order, part].tolist(),
                "outcomes": [*zip(right, wrong, blank, strict=True)],
                "right": right,
                "wrong": wrong,
                "blank": blank,
            }
            yield Variant(attribute, name, {column[n]: cells[n] for n in cells})


def _sections(
    c: Overview, known: dict[str, PageTable], figures: dict[str, Figure], lines: list[str]
) -> list[Section]:
    """What the page tells, in its order; a table that no section names comes last, folded."""

    def section(
        name: str, title: str, chart: str, tables: str, folded: str = "", short: str = ""
    ) -> Section:
        """A chart and tables by their names, as far as they are there."""
        drawn = [figures[chart]] if chart in figures else []
        first, hidden = (
            [known.pop(name) for name in names.split() if name in known]
            for names in (tables, folded)
        )
        return Section(name, title, figures=drawn, tables=first, folded=hidden, short=short)

    first = section("leaderboard", "Leaderboard", "", "leaderboard", "teams")
    first.sentences, first.more, first.key = (lines[0], *lines[2:5]), lines[5:], True
    name = c.result.measure
    scores = [
        (row.run, row.scores.get(name), *row.intervals.get(name, (None, None)))
        for row in c.result.rows
    ]
    first.figures = dot_figure("scores", scores, name, what=c.what)
    rewards = rewards_section(c.runs, c.overall, [c.measure])
    asked = section("questions", "Questions", "questions", "questions")
    asked.decks = [] if c.result.blind else question_decks(c)
    by_type, twins = "over_type by_type", "pairs_question pairs_answer pairs"
    spoken = "languages first_runs"
    changed = "corrections_ranks corrections"
    return [
        *(first, section("corrections", "Corrections after submission", "", changed)),
        *(section("problems", "Problems of submissions", "", "problems"), rewards),
        section("reading", "Reading tests", "tests", "reading", "tests over_test"),
        section("topics", "Topics", "topics", "over_topic", "topics"),
        section("types", "Kinds of question", "types", "subsets", by_type, short="Kinds"),
        section("pairs", "Main and auxiliary questions", "pairs", "pairs_runs", twins, "Auxiliary"),
        section("participants", "Languages and techniques", "", spoken, "languages_runs"),
        *(asked, *confidence_sections(c), stability_section(c)),
        Section("more", "More tables", short="More", folded=list(known.values())),
    ]


def confidence_sections(c: Overview) -> list[Section]:
    curves = c.result.curves
    if curves is None:
        return []
    view = CurveView(curves)
    sure, decisions = view.confidence(("risk", "measure", "reliability")), view.decisions()
    sure.sentences = [
        f"Shown: {plural(len(curves.runs), 'run')} with a confidence, chosen by {c.measure}; "
        "`abstain curve` shows the others."
    ]
    sure.tables = [replace(view.table("main"), name="sureness", title="Measures of confidence")]
    return [section for section in (sure, decisions) if section.figures]


def stability_section(c: Overview) -> Section:
    section = Section("stability", "How stable is the ranking?", short="Stability")
    s, rows = c.result.stability, c.result.rows
    if s is None:
        return section
    widths = [high - low for low, high in zip(s.low, s.high, strict=True)]
    at = min(range(len(rows)), key=lambda at: (-widths[at], rows[at].run))
    section.sentences = [
        f"In {100 * s.first[0]:.1f} % of {s.trials:,} resamples of the questions (seed "
        f"{s.seed}) {rows[0].run} is first, alone or with others. The rank of {rows[at].run} is "
        f"the least certain, from {s.low[at]} to {s.high[at]} in 95 % of the resamples."
    ]
    section.figures = [rank_figure(c, s)]
    return section


def question_decks(c: Overview) -> list[Deck]:
    right, wrong, blank = c.tried
    place = np.arange(len(right))
    kinds: dict[str, list[int]] = {
        "Hardest": hardest_first(right, wrong).tolist(),
        "Easiest": np.lexsort((place, wrong, -right)).tolist(),
        "Most often left blank": [i for i in np.lexsort((place, -blank)).tolist() if blank[i]],
    }
    decks = (Deck(title, tuple(_card(c, i) for i in kinds[title][:CARDS])) for title in kinds)
    return [deck for deck in decks if deck.cards]


def _card(c: Overview, i: int) -> Card:
    row = c.questions.row(i, named=True)
    right, wrong, blank = (int(n[i]) for n in c.tried)
    about = [f"{name} {row[name]}" for name in c.slices if row.get(name)]
    text = str(row.get("text") or "")
    return Card(
        heading=str(row["question"]),
        about=", ".join(about[:4]),
        text=text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        outcomes=f"{right} right, {wrong} wrong, {blank} blank of {plural(len(c.runs), 'run')}.",
        choices=tuple(_choices(c, i)),
    )


def _choices(c: Overview, i: int) -> Iterator[Choice]:
    """Every option with its text; what was answered besides comes after them."""
    asked = c.result.questions
    counts = dict(asked.choices[i] if asked.choices else ())
    correct = set(asked.accepted[i])
    listed = (asked.options[i] if asked.options else None) or []
    texts = (asked.option_texts[i] if asked.option_texts else None) or []
    text_of = dict(zip(listed, texts, strict=False))
    if asked.nothing_right[i]:
        correct = {answer for answer in counts if answer.lower() in correct} or {"none"}
    wanted = list(dict.fromkeys((*listed, *counts, *sorted(correct))))
    for option in wanted[: max(MOST_OPTIONS, len(listed))]:
        count, text = counts.get(option, 0), text_of.get(option, "")
        yield Choice(option, text, count, count / len(c.runs), option in correct)
