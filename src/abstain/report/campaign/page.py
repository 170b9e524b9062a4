"""The page of a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.campaign.overview import Overview
from abstain.outcomes import Counts
from abstain.report.campaign.charts import campaign_figures
from abstain.report.campaign.extra import confidence_sections, stability_section
from abstain.report.campaign.question_cards import question_decks
from abstain.report.campaign.summary import sentences
from abstain.report.campaign.tables import EXTRA
from abstain.report.grid import Cell, Grid
from abstain.report.pieces import Figure, Page, PageTable, Section, Variant
from abstain.report.rewards import leads_table, measure_facts, rewards_table
from abstain.report.scores import policy_sentence, sentence
from abstain.report.shared import kinds_of_blank, score_figure
from abstain.stats.ties import places

if TYPE_CHECKING:
    from abstain.report.campaign.table import Table

MOST_SLICED = 30_000
"""Rows that a leaderboard by slices may add to the page."""

DETAILS = (
    *("answered", "unans. right", "unans. wrong", "unans. empty"),
    *EXTRA,
)
"""Columns of the leaderboard that come last on the page, when asked for."""


def campaign_page(c: Overview, tables: list[Table], *, in_folder: bool) -> Page:
    """The page of a campaign; in its folder the tables lie beside it."""
    result, said = c.result, list(sentences(c))
    figures = campaign_figures(c)
    known = {
        t.name: PageTable(t.name, t.title, t.reading, t.grid, filed=t.endings if in_folder else ())
        for t in tables
    }
    known["leaderboard"] = _with_unsliced(c, _leaderboard(c, known["leaderboard"]))
    return Page(
        title=result.title,
        lead=said[1],
        about=result.about,
        tiles=_tiles(c),
        sections=_sections(c, known, figures, said),
        again=[
            policy_sentence(result.policy, result.touched),
            *(sentence(note) for note in result.notes),
        ],
        again_facts=_again(c),
        again_tables=[blanks_table(c)],
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
    grid = Grid(
        [given.columns[i] for i in order],
        [[row[i] for i in order] for row in given.rows],
        dim=given.dim,
        breaks=given.breaks,
    )
    return replace(
        table,
        grid=grid,
        late=DETAILS,
        variants=tuple(slice_variants(c, grid)),
        ordered_by=order.index(score),
        best_is_low=not c.measure.higher_is_better,
    )


def _scores(c: Overview) -> list[Figure]:
    """Every score with its interval."""
    rows = [(c.runs[i], _defined(c.scores[i]), *c.intervals[i]) for i in c.order]
    figure = score_figure("scores", rows, str(c.measure))
    return [figure] if figure else []


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


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
    if c.test:
        facts.append(("pass mark", f"{c.pass_mark:g}"))
    if (s := c.result.comparison) is not None:
        facts.append(("intervals", f"{100 * s.level:g} %, {s.interval_method}"))
        exact = all(pair.exact for pair in s.pairs)
        drawn = "exact" if exact else f"{s.trials:,} trials"
        facts.append(("tests", f"{s.test}, {drawn}, {s.correction} correction"))
        if s.cluster:
            facts.append(("clusters", s.cluster))
    return facts


def blanks_table(c: Overview) -> PageTable:
    """How many blanks of each kind there were, and what the policy made of them."""
    result = c.result
    rows = [(why, how, result.touched.get(why, 0)) for why, how in result.policy.items()]
    runs = [sum(why in row.blanks for row in result.rows) for why in result.policy]
    return kinds_of_blank(rows, runs)


def _with_unsliced(c: Overview, table: PageTable) -> PageTable:
    """The leaderboard, saying which attributes it has no room for."""
    room = _roomy(c, len(table.grid.rows))
    out = [f"{name} ({len(s.names):,} parts)" for name, s in c.slices.items() if name not in room]
    if not out:
        return table
    said = f"No slices to choose here by {', '.join(out)}, for want of room: a table has them."
    return replace(table, reading=f"{table.reading} {said}")


def _roomy(c: Overview, rows: int) -> list[str]:
    """Attributes whose slices the page has room for."""
    found = []
    left = MOST_SLICED
    for attribute, s in c.slices.items():
        if len(s.names) * rows <= left:
            left -= len(s.names) * rows
            found.append(attribute)
    return found


def slice_variants(c: Overview, grid: Grid) -> list[Variant]:
    """The leaderboard over each part of the questions, as far as a page has room for it."""
    names = [column.name for column in grid.columns]
    run_at = names.index("run")
    where = {run: i for i, run in enumerate(c.runs)}
    found: list[Variant] = []
    for attribute in _roomy(c, len(grid.rows)):
        s = c.slices[attribute]
        runs = c.sliced[attribute].table
        scores = c.slice_scores(attribute)
        references = {name: parts[attribute] for name, (_, parts) in c.baselines.items()}
        for part, name in enumerate(s.names):
            ranks = places(scores[:, part], higher_is_better=c.measure.higher_is_better)
            table, values, numbers = [], [], []
            for n, row in enumerate(grid.rows):
                own = str(row[run_at])
                if n in grid.dim:
                    table.append(references[own].table[part])
                    values.append(float(c.measure(references[own])[part]))
                    numbers.append("")
                else:
                    table.append(runs[where[own], part])
                    values.append(float(scores[where[own], part]))
                    numbers.append(ranks[where[own]])
            counts = np.array(table, np.float64)
            found.append(Variant(attribute, name, _sliced_cells(names, counts, numbers, values, c)))
    return found


def _sliced_cells(
    names: list[str], counts: np.ndarray, ranks: list[str], scores: list[float], c: Overview
) -> dict[int, list[Cell]]:
    right, wrong, blank = counts[:, 0], counts[:, 1], counts[:, 2:].sum(axis=1)
    three = np.round(np.stack([right, wrong, blank], axis=1), 2).tolist()
    by_name: dict[str, list[Cell]] = {
        "#": list(ranks),
        str(c.measure): list(scores),
        "outcomes": [(a, b, d) for a, b, d in three],
        "right": [row[0] for row in three],
        "wrong": [row[1] for row in three],
        "unanswered": [row[2] for row in three],
    }
    return {names.index(name): cells for name, cells in by_name.items()}


def _sections(
    c: Overview, known: dict[str, PageTable], figures: dict[str, Figure], said: list[str]
) -> list[Section]:
    """What the page tells, in its order; a table that no section names comes last, folded."""

    def tables(*names: str) -> list[PageTable]:
        return [known.pop(name) for name in names if name in known]

    def charts(*names: str) -> list[Figure]:
        return [figures[name] for name in names if name in figures]

    sections = [
        Section(
            "leaderboard",
            "Leaderboard",
            said=(said[0], *said[2:5]),
            more=said[5:],
            key=True,
            tables=tables("leaderboard"),
            figures=_scores(c),
            folded=tables("teams"),
        ),
        Section(
            "measure",
            "What is rewarded",
            short="Rewards",
            facts=measure_facts(c.measure),
            figures=charts("decision"),
            tables=[leads_table(c.runs, c.overall)],
            folded=[rewards_table(c.runs, c.overall, [c.measure])],
        ),
        Section(
            "reading",
            "Reading tests",
            figures=charts("tests"),
            tables=tables("reading"),
            folded=tables("tests", "over_test"),
        ),
        Section(
            "topics",
            "Topics",
            figures=charts("topics"),
            tables=tables("over_topic"),
            folded=tables("topics"),
        ),
        Section(
            "types",
            "Kinds of question",
            short="Kinds",
            figures=charts("types"),
            tables=tables("subsets"),
            folded=tables("over_type", "by_type"),
        ),
        Section(
            "pairs",
            "Main and auxiliary questions",
            short="Auxiliary",
            figures=charts("pairs"),
            tables=tables("pairs_runs"),
            folded=tables("pairs_question", "pairs_answer", "pairs"),
        ),
        Section(
            "questions",
            "Questions",
            figures=charts("questions"),
            decks=question_decks(c),
            tables=tables("questions"),
        ),
        *confidence_sections(c),
        stability_section(c),
    ]
    return [*sections, Section("more", "More tables", short="More", folded=list(known.values()))]
