"""How decisions to answer look: counts, rates, pairs, and a mosaic a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.decisions.result import (
    DEFAULT_MEASURES,
    DecisionsResult,
    Leaning,
    Pair,
    Rate,
    Row,
)
from abstain.outcomes import DECISIONS
from abstain.report import view
from abstain.report.charts import PALETTE, chart, tips
from abstain.report.grid import Grid
from abstain.report.page import Page, PageTable, page_of
from abstain.stats.intervals import DEFAULT, METHODS

MOST_BLOCKS = 3
"""Runs whose rates stand one below the other, beside those of runs without judgement."""
MOST_DRAWN, ABREAST = 24, 3
"""Runs that have a mosaic, and how many stand side by side."""
ACROSS, DOWN = 1.15, 1.25
"""From one mosaic to the next, in sides of one."""
ABOUT = "Left: questions that can be answered; right: those that cannot. Areas show how many."
COLOURS = (PALETTE[0], PALETTE[4], "#c9ced6", PALETTE[1], PALETTE[2])
VERBS = {"refuses": "refuse", "answers": "answer", "errs": "err"}
EVERYTHING: tuple[Leaning, ...] = ("refuses everything", "answers everything")
LEANINGS: tuple[Leaning, ...] = get_args(Leaning)
"""In the order in which the first sentence names them."""


class View(view.View[DecisionsResult]):
    def title(self) -> str:
        return f"Should it have answered? {plural(len(self.result.leanings), 'run')}"

    def tables(self, **options: Any) -> list[Grid]:
        rows, words = self.result.rows, {"level": 100 * self.result.level}
        counts = Grid.of_rows(Row, rows, "run", "slice", "cells")
        grids = [replace(counts, title="Decisions")]
        for row in rows if len(rows) <= MOST_BLOCKS else ():
            grid = Grid.of_rows(Rate, list(row.rates), *self._of_a_rate, **words)
            grids.append(replace(grid, title=_name(row)))
        if len(rows) > MOST_BLOCKS:
            asked = self.result.measures
            shown = DEFAULT_MEASURES[:2] if asked == DEFAULT_MEASURES else asked
            some = [replace(row, scores={k: row.scores[k] for k in shown}) for row in rows]
            grid = Grid.of_rows(Row, some, "run", "slice", ("scores", "intervals"), **words)
            grids.append(replace(grid, title="Rates"))
        if pairs := self.result.pairs:
            names = ("measure", "run", "against", "difference", "interval", "shown_p_adjusted")
            grids.append(replace(Grid.of_rows(Pair, pairs, *names, **words), title="Differences"))
        grids[-1].notes = self.sentences()
        return grids

    def on_terminal(self, **options: Any) -> list[Grid]:
        """The first sentence may have several lines, so it is no title."""
        counts, *others = self.tables()
        return [Grid([], [], notes=[self.lead()]), replace(counts, title=""), *others]

    def whole(self, **options: Any) -> Grid:
        words = {"level": 100 * self.result.level}
        return Grid.of_rows(Rate, self.result.rates, "run", "slice", *self._of_a_rate, **words)

    def page(self) -> Page:
        (section,) = super().page().sections
        rates = PageTable("rates", "Rates", "", self.whole(), filters=("run", "measure"))
        pairs = section.tables[-1:] if self.result.pairs else []
        section = replace(section, tables=[section.tables[0], rates, *pairs])
        return page_of(self.result, self.title(), self.lead(), [section])

    @property
    def _of_a_rate(self) -> list[str]:
        names = ["measure", "value", "interval", "coin", "refuse", "answer"]
        return names + ["bounds"] * any(row.undecided for row in self.result.rows)

    def lead(self) -> str:
        """In which direction each run errs, those that refuse or answer everything first."""
        runs, row = self.result.leanings, self.result.rows[0]
        if len(runs) == 1 and row.leaning is not None and not row.slice:
            return _alone(row, row.leaning)
        groups: dict[str, list[str]] = {leaning: [] for leaning in LEANINGS}
        for run, leaning in runs.items():
            groups[leaning or LEANINGS[-1]].append(run)
        parts = [_together(names, leaning) for leaning, names in groups.items() if names]
        can = any(any(row.cells[:3]) for row in self.result.rows)
        return "; ".join(parts) + ("." if can else ": no question can be answered.")

    def sentences(self) -> list[str]:
        result, names = self.result, [row.run for row in self.result.rows]
        clustered = f", questions clustered by {result.cluster}" if result.cluster else ""
        return [
            f"{plural(len(result.leanings), 'run')}, {plural(result.questions, 'question')}.",
            *self._coins(),
            *self._undecided(),
            *self._tested(),
            *(view.sentence(note, names) for note in result.notes),
            *view.undefined_sentences((row.run, row.undefined) for row in result.rows),
            f"Intervals: {100 * result.level:g} %, {METHODS[DEFAULT]} ({DEFAULT}){clustered}.",
            *view.policy_words(result.policy, result.touched),
        ]

    def _coins(self) -> Iterator[str]:
        """Runs of which nobody knows whether they tell the questions apart."""
        known = [row for row in self.result.rows if row.leaning not in (*EVERYTHING, None)]
        if runs := [_name(row) for row in known if not row.beats_coin]:
            what = "telling which questions can be answered"
            yield f"Not surely better than a coin at {what}: {view.first_few(runs)}."

    def _undecided(self) -> Iterator[str]:
        name = "abstention-recall"
        for row in self.result.rows:
            if (open_ := row.undecided) is None:
                continue
            n = plural(open_.answerable + open_.unanswerable, "response")
            text = f"{n} without a verdict, {open_.unanswerable:,} where no answer was due"
            recall, (low, high) = row.scores.get(name), open_.bounds.get(name, (None, None))
            if recall is not None and low is not None:
                flattered = view.score_text(max(recall - low, 0.0))
                text += f"; {name} may be {view.score_text(low)} to {view.score_text(high)}, so "
                text += f"{view.score_text(recall)} is flattered by up to {flattered}"
            yield f"{_name(row)}: {text}."

    def _tested(self) -> Iterator[str]:
        pairs = self.result.pairs
        if pairs:
            differ = sum(bool(pair.differs) for pair in pairs)
            yield (
                f"{differ} of {plural(len(pairs), 'difference')} are significant at the "
                f"{100 * (1 - self.result.level):.3g} % level, corrected for all of them (Holm); "
                f"paired by question on {plural(pairs[0].questions, 'question')}, seed "
                f"{self.result.seed}. Intervals are not corrected."
            )
        reasons = dict.fromkeys(pair.no_test for pair in pairs if pair.no_test)
        yield from (f"No test: {reason}." for reason in view.few(list(reasons), 2))

    def charts(self) -> view.Charts:
        rows = [row for row in self.result.rows if row.decided.n][:MOST_DRAWN]
        return {"decisions": mosaic(rows)} if rows else {}


def _name(row: Row) -> str:
    slices = [f"{name} {value or '–'}" for name, value in row.slice.items()]
    return ", ".join([row.run, *slices])


def _together(names: list[str], leaning: str) -> str:
    verb, _, rest = leaning.partition(" ")
    return f"{view.first_few(names)} {verb if len(names) == 1 else VERBS[verb]} {rest}"


def _alone(row: Row, leaning: Leaning) -> str:
    d, count = row.decided, view.count_text
    cannot = d.wrongly_answered + d.rightly_declined
    can = d.n - cannot
    if not can:
        return f"{row.run} {leaning} ({count(d.n)} of {count(d.n)} that cannot be answered)."
    return (
        f"{row.run} {leaning}: it declines {count(d.wrongly_declined)} of {count(can)} questions "
        f"that can be answered, and answers {count(d.wrongly_answered)} of {count(cannot)} that "
        "cannot."
    )


def mosaic(rows: list[Row]) -> dict[str, Any]:
    """Squares side by side, each split by what was due and by what was done."""
    tiles: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for at, row in enumerate(rows):
        d, of_run = row.decided, {"run": _name(row)}
        left, top = ACROSS * (at % ABREAST), -DOWN * (at // ABREAST)
        names.append({**of_run, "x": left, "y": top + 0.02})
        for due, words in (("an answer", DECISIONS[:3]), ("declining", DECISIONS[3:])):
            parts = {word: getattr(d, word) for word in words}
            questions, y = sum(parts.values()), top - 1
            for word, n in parts.items() if questions else ():
                what = {"due": due, "decision": word.replace("_", " "), "questions": n}
                ends = {"x": left, "x2": left + questions / d.n, "y": y, "y2": y + n / questions}
                tiles.append(of_run | what | ends)
                y = ends["y2"]
            left += questions / d.n
    axis = {"type": "quantitative", "axis": None, "scale": {"zero": False, "nice": False}}
    place = {"x": {"field": "x", **axis}, "y": {"field": "y", **axis}}
    colours = {"domain": [name.replace("_", " ") for name in DECISIONS], "range": list(COLOURS)}
    colour = {"field": "decision", "type": "nominal", "title": None, "scale": colours}
    squares = {
        "mark": {"type": "rect", "stroke": "white", "tooltip": True},
        "encoding": {
            **place,
            "x2": {"field": "x2"},
            "y2": {"field": "y2"},
            "color": colour | {"legend": {"orient": "bottom", "columns": 3}},
            "tooltip": tips(("run", "due", "decision"), ("questions",)),
        },
    }
    labels = {
        "data": {"values": names},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "limit": 110},
        "encoding": {**place, "text": {"field": "run", "type": "nominal"}},
    }
    height = 200 * -(-len(rows) // ABREAST)
    return chart("Decisions", tiles, [squares, labels], subtitle=ABOUT, width=600, height=height)
