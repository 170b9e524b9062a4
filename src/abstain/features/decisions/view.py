"""How decisions to answer look: counts, rates, pairs, and a mosaic a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
from abstain.report.page import Figure, Page, PageTable, Section, page_of
from abstain.stats.intervals import DEFAULT, METHODS

MOST_BLOCKS = 3
"""Runs whose rates a terminal shows one below the other, beside runs without judgement."""
SHOWN: tuple[str, ...] = DEFAULT_MEASURES[:2]
"""The rates of more runs, unless others are asked for."""
MOST_DRAWN, ABREAST = 24, 3
"""Runs that have a mosaic, and how many stand side by side."""
GAP, LABEL = 0.15, 0.25
"""Between two mosaics, and above one for its name, as shares of its side."""
COLOURS = (PALETTE[0], PALETTE[4], "#c9ced6", PALETTE[1], PALETTE[2])
WORDS = tuple(name.replace("_", " ") for name in DECISIONS)
CERTAIN: tuple[Leaning, ...] = (
    *("refuses everything", "answers everything"),
    *("refuses nearly everything", "answers nearly everything"),
)


class View(view.View[DecisionsResult]):
    """The 2 × 2 table of each run, its rates, and pairs of runs."""

    def title(self) -> str:
        return f"Should it have answered? {plural(len(self._runs), 'run')}"

    @property
    def _runs(self) -> dict[str, Leaning | None]:
        return self.result.leanings

    @property
    def _words(self) -> dict[str, float]:
        return {"level": 100 * self.result.level}

    def tables(self, **options: Any) -> list[Grid]:
        result, few = self.result, len(self.result.rows) <= MOST_BLOCKS
        counts = Grid.of_rows(Row, result.rows, "run", "slice", "cells")
        counts.title = self.lead()
        grids = [counts, *(self._blocks() if few else [self._rates()])]
        grids += [self._pairs()] if result.pairs else []
        grids[-1].notes = self.sentences()
        return grids

    def on_terminal(self, **options: Any) -> list[Grid]:
        """The first sentence is a note, which may have several lines."""
        counts, *others = self.tables()
        counts.title = ""
        return [Grid([], [], notes=[self.lead()]), counts, *others]

    def whole(self, **options: Any) -> Grid:
        names = ("run", "slice", "measure", "value", "interval", "coin", "refuse", "answer")
        return Grid.of_rows(Rate, self.result.rates, *names, "bounds", **self._words)

    def _blocks(self) -> list[Grid]:
        """For each row its rates beside those of runs without judgement."""
        grids = []
        for row in self.result.rows:
            names = ["measure", "value", "interval", "coin", "refuse", "answer"]
            names += ["bounds"] if row.undecided else []
            grid = Grid.of_rows(Rate, list(row.rates), *names, **self._words)
            grid.title = ", ".join(filter(None, [row.run, view.slice_text(row)]))  # type: ignore[arg-type]
            grids.append(grid)
        return grids

    def _rates(self) -> Grid:
        """The rates of many runs: those that were asked for, or the first few."""
        asked = self.result.measures
        shown = SHOWN if asked == DEFAULT_MEASURES else asked
        rows = [
            replace(row, scores={k: row.scores[k] for k in shown if k in row.scores})
            for row in self.result.rows
        ]
        grid = Grid.of_rows(Row, rows, "run", "slice", ("scores", "intervals"), **self._words)
        grid.title = "Rates"
        return grid

    def _pairs(self) -> Grid:
        names = ("measure", "run", "against", "difference", "interval", "p_adjusted")
        grid = Grid.of_rows(Pair, self.result.pairs, *names, **self._words)
        grid.title = "Differences"
        return grid

    def lead(self) -> str:
        """In which direction each run errs, those that do nothing else first."""
        runs, row = self.result.leanings, self.result.rows[0]
        if len(runs) == 1 and row.leaning is not None and not row.slice:
            return _alone(row, row.leaning)
        groups: dict[str, list[str]] = {}
        for leaning in (*SAID, ""):
            for run, leans in runs.items():
                if leans == leaning or (not leaning and leans not in SAID):
                    groups.setdefault(leaning, []).append(run)
        parts = [_together(names, leaning) for leaning, names in groups.items()]
        return "; ".join(parts) + "."

    def sentences(self) -> list[str]:
        result, names = self.result, [row.run for row in self.result.rows]
        clustered = f", questions clustered by {result.cluster}" if result.cluster else ""
        return [
            f"{plural(len(self._runs), 'run')}, {plural(result.questions, 'question')}.",
            *self._coins(),
            *self._undecided(),
            *self._not_declined(),
            *self._tested(),
            *(view.sentence(note, names) for note in result.notes),
            *view.undefined_sentences((row.run, row.undefined) for row in result.rows),
            f"Intervals: {100 * result.level:g} %, {METHODS[DEFAULT]} ({DEFAULT}){clustered}.",
            *view.policy_words(result.policy, result.touched),
        ]

    def _coins(self) -> Iterator[str]:
        """Runs of which nobody knows whether they tell the questions apart."""
        runs = [
            row.run
            for row in self.result.rows
            if row.beats_coin is False and row.leaning not in CERTAIN[:2] and not row.slice
        ]
        if runs:
            yield (
                f"Not surely better than a coin at telling which questions can be answered: "
                f"{view.first_few(runs)}."
            )

    def _undecided(self) -> Iterator[str]:
        """By how much responses without a verdict may have flattered recall."""
        name = "abstention-recall"
        for row in self.result.rows:
            if (open_ := row.undecided) is None:
                continue
            n = open_.answerable + open_.unanswerable
            text = (
                f"{_name(row)}: {plural(n, 'response')} without a verdict, "
                f"{open_.unanswerable:,} to questions that cannot be answered"
            )
            recall, (low, high) = row.scores.get(name), open_.bounds.get(name, (None, None))
            if recall is not None and low is not None and high is not None:
                text += (
                    f"; {name} is {view.score_text(recall)}, but anything from "
                    f"{view.score_text(low)} to {view.score_text(high)} is possible: it may be "
                    f"flattered by {view.score_text(max(recall - low, 0.0))}"
                )
            yield f"{text}."

    def _not_declined(self) -> Iterator[str]:
        for row in self.result.rows:
            if row.not_declined and not row.slice:
                kinds = view.listed([f"{n:,} {why}" for why, n in row.not_declined.items()])
                yield f"{row.run}: {kinds} count as declined."

    def _tested(self) -> Iterator[str]:
        pairs = self.result.pairs
        if not pairs:
            return
        differ = sum(bool(pair.differs) for pair in pairs)
        level = f"{100 * (1 - self.result.level):.3g} % level"
        yield (
            f"{differ} of {plural(len(pairs), 'difference')} are significant at the {level}, "
            f"corrected for all of them (Holm); paired by question on "
            f"{plural(pairs[0].questions, 'question')}, seed {self.result.seed}."
        )
        reasons = dict.fromkeys(pair.no_test for pair in pairs if pair.no_test)
        yield from (view.sentence(f"no test: {reason}") for reason in list(reasons)[:2])

    def line(self) -> str:
        questions = plural(self.result.questions, "question")
        return f"<DecisionsResult: {plural(len(self._runs), 'run')}, {questions}>"

    def charts(self) -> view.Charts:
        rows = [row for row in self.result.rows if row.decided.n][:MOST_DRAWN]
        return {"mosaic": mosaic(rows)} if rows else {}

    def page(self) -> Page:
        result = self.result
        caption = (
            "A mosaic a run: the left part is the questions that can be answered, the right part "
            "those that cannot; areas are numbers of questions."
        )
        figures = [Figure(k, caption, v, title="Decisions") for k, v in self.charts().items()]
        counts, *_ = self.tables()
        counts.title, counts.notes = "", []
        tables = [PageTable("decisions", "Decisions", "", counts)]
        rates = [PageTable("rates", "Rates", "", self.whole(), filters=("run", "measure"))]
        pairs = [PageTable("pairs", "Differences", "", self._pairs())] if result.pairs else []
        sections = [
            Section("decisions-made", "Decisions", tables=tables, figures=figures),
            Section(
                "rates-of-runs",
                "Rates",
                sentences=[*self._coins(), *self._undecided()],
                tables=rates,
            ),
            Section("differences", "Differences", sentences=list(self._tested()), tables=pairs),
        ]
        facts = ("questions", f"{result.questions:,}"), ("measures", ", ".join(result.measures))
        return page_of(result, self.title(), self.lead(), sections, *facts)


SAID: tuple[Leaning, ...] = (*CERTAIN, "errs towards declining", "errs towards answering")
"""What the first sentence says of a run by itself."""


def _name(row: Row) -> str:
    """A run, with its slice where it is one."""
    return ", ".join(filter(None, [row.run, view.slice_text(row)]))  # type: ignore[arg-type]


def _together(names: list[str], leaning: str) -> str:
    """Runs and what they have in common."""
    who = view.first_few(names)
    if not leaning:
        return f"{who}: no sure direction"
    if len(names) == 1:
        return f"{who} {leaning}"
    verb, _, rest = leaning.partition(" ")
    plain = {"refuses": "refuse", "answers": "answer", "errs": "err"}[verb]
    return f"{who} {plain} {rest}"


def _alone(row: Row, leaning: Leaning) -> str:
    """One run: in which direction it errs, and the two rates."""
    d = row.decided
    cannot = d.wrongly_answered + d.rightly_declined
    can, count = d.n - cannot, view.count_text
    if leaning in CERTAIN[:2]:
        done = "declines" if leaning == CERTAIN[0] else "answers"
        return (
            f"{row.run} {leaning}: it {done} all {count(can)} questions that can be answered and "
            f"all {count(cannot)} that cannot."
        )
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
        d = row.decided
        left, top = (at % ABREAST) * (1 + GAP), -(at // ABREAST) * (1 + LABEL)
        cannot = d.wrongly_answered + d.rightly_declined
        parts = {
            "can be answered": (d.n - cannot, DECISIONS[:3]),
            "cannot be answered": (cannot, DECISIONS[3:]),
        }
        names.append({"run": _name(row), "x": left, "y": top + 0.02})
        for due, (questions, words) in parts.items():
            below = top - 1
            for word in words if questions else ():
                height = getattr(d, word) / questions
                tile: dict[str, Any] = {
                    "run": _name(row),
                    "due": due,
                    "decision": word.replace("_", " "),
                }
                tile |= {"questions": getattr(d, word), "x": left, "y": below}
                tiles += [tile | {"x2": left + questions / d.n, "y2": below + height}]
                below += height
            left += questions / d.n
    axis: dict[str, Any] = {
        "type": "quantitative",
        "axis": None,
        "scale": {"zero": False, "nice": False},
    }
    square: dict[str, Any] = {
        "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1, "tooltip": True},
        "encoding": {
            "x": {"field": "x", **axis},
            "x2": {"field": "x2"},
            "y": {"field": "y", **axis},
            "y2": {"field": "y2"},
            "color": {
                "field": "decision",
                "type": "nominal",
                "title": None,
                "scale": {"domain": list(WORDS), "range": list(COLOURS)},
                "legend": {"orient": "bottom", "columns": 3},
            },
            "tooltip": tips(("run", "due", "decision"), ("questions",)),
        },
    }
    label: dict[str, Any] = {
        "data": {"values": names},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "limit": 110},
        "encoding": {
            "x": {"field": "x", **axis},
            "y": {"field": "y", **axis},
            "text": {"field": "run", "type": "nominal"},
        },
    }
    deep = -(-len(rows) // ABREAST)
    return chart("Decisions to answer", tiles, [square, label], width=600, height=200 * deep)
