"""How scores of runs look."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from abstain.analyses.score.result import Row, ScoreResult
from abstain.errors import plural
from abstain.measures import Measure
from abstain.outcomes import CountsArray
from abstain.report import shared, view
from abstain.report.campaign.headings import explained_on
from abstain.report.charts import coloured
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.rewards import decision_figure, leads_table, measure_facts, rewards_table
from abstain.report.words import label, listed, policy_words, sentence
from abstain.stats.intervals import METHODS

ENDS = ("low", "high")
OUTCOMES = ("right", "wrong", "blank")
BAR = "right▕wrong▕blank"


class View(view.View[ScoreResult]):
    """Rank, run, slice, scores, counts."""

    @property
    def _real(self) -> list[Row]:
        """The rows of runs, without references."""
        return [row for row in self.result.rows if not row.reference]

    @property
    def _runs(self) -> str:
        return plural(len({row.run for row in self._real}), "run")

    def tables(self, *, candidates: bool = False, **options: Any) -> list[Grid]:
        """One table; `candidates` shows what the blanks would have been."""
        rows = self.result.rows
        grid = Grid.of(self._columns(candidates=candidates), notes=self._notes(), dim=self._dim())
        if len(rows) > len({shared.slice_text(row) for row in rows}):
            grid.breaks = self._breaks()
        return [grid]

    def _dim(self) -> set[int]:
        return {n for n, row in enumerate(self.result.rows) if row.reference}

    def _breaks(self) -> set[int]:
        slices = [shared.slice_text(row) for row in self.result.rows]
        return {n for n, own in enumerate(slices) if not n or own != slices[n - 1]}

    def _columns(self, *, candidates: bool = False) -> Iterator[tuple[Column, list[Cell]]]:
        """Every column with its cells, in the order of a terminal."""
        result, rows = self.result, self.result.rows
        yield Column("#"), [row.rank for row in rows]
        yield Column("run"), [label(row.run, row.reference) for row in rows]
        for name in result.by:
            yield Column(result.slice_label(name)), [row.slice[name] or "–" for row in rows]
        for name in result.measures:
            yield Column(name, "score"), [row.scores[name] for row in rows]
            if result.interval_method is not None:
                spans = [row.intervals.get(name, (None, None)) for row in rows]
                for at, end in enumerate(ENDS):
                    column = Column(f"{name} {end}", "score", joined=True, short=end)
                    yield column, [span[at] for span in spans]
            if any(name in row.break_even for row in rows):
                yield Column(f"p* {name}", "score"), [row.break_even.get(name) for row in rows]
        counts = [row.counts for row in rows]
        three = [(k.right, k.wrong, k.unanswered) for k in counts]
        for at, name in enumerate(OUTCOMES):
            yield Column(name, "count", joined=bool(at)), [own[at] for own in three]
        if candidates:
            for name in ("right", "wrong", "empty"):
                blanks = [None if k.unsplit else getattr(k, f"unanswered_{name}") for k in counts]
                yield Column(f"blank, {name}", "count", joined=name != "right"), blanks
        yield Column(BAR, "bar"), list(three)

    def _notes(self) -> list[str]:
        """What it takes to read the scores: what was counted, the policy, what is undefined."""
        result = self.result
        names = {row.run for row in result.rows}
        said: list[str] = []
        if result.questions is not None:
            said.append(f"{self._runs}, {plural(result.questions, 'question')}.")
        said += [sentence(note, names) for note in result.notes]
        if result.questions is None and not result.by:
            sizes = [row.counts.n for row in self._real]
            said.append(f"The runs cover from {min(sizes):,.0f} to {max(sizes):,.0f} questions.")
        said += self._disagreeing()
        said += self._interval_words()
        said += policy_words(result.policy, result.touched)
        return [*said, *shared.undefined_words(result.rows)]

    def _disagreeing(self) -> list[str]:
        """Where measures put different runs first, and why."""
        result = self.result
        if result.by:
            return []
        measures = [m for name in result.measures if (m := shared.known_measure(name))]
        names = {row.run for row in result.rows}
        return [sentence(text, names) for text in _disagreements(result.rows, measures)]

    def _interval_words(self) -> list[str]:
        """How the intervals were made, and why some do not exist."""
        result = self.result
        if result.interval_method is None:
            return []
        used = result.interval_method
        said = f"Intervals: {100 * (result.level or 0):g} %, {METHODS.get(used, used)} ({used})"
        if result.cluster is not None:
            said += f", questions clustered by {result.cluster}"
        if result.resampled_method not in (None, used):
            said += f"; for measures of confidence: {result.resampled_method}"
        if result.trials is not None:
            said += f", {result.trials:,} trials"
        if result.seed is not None:
            said += f", seed {result.seed}"
        reasons = Counter(why for row in result.rows for why in row.no_interval.values())
        return [f"{said}.", *(f"{plural(n, 'interval')}: {why}." for why, n in reasons.items())]

    def line(self) -> str:
        return f"<ScoreResult: {self._runs}, {', '.join(self.result.measures)}>"

    def charts(self) -> dict[str, dict[str, Any]]:
        """Scores with their intervals, or a heat map of slices."""
        return coloured({figure.name: figure.spec for figure in self._figures()})

    def _figures(self) -> list[Figure]:
        whole = [row for row in self._real if not row.slice]
        names = list(self.result.measures)
        return [*shared.slice_figures(self._real, names), *shared.dot_figures(whole, names)]

    def page(self) -> Page:
        """The runs, what the measures reward, the slices."""
        result, names = self.result, list(self.result.measures)
        method = result.interval_method
        level = "" if result.level is None else f"{100 * result.level:g} %, "
        return shared.page_of(
            result,
            f"{names[0]} of {self._runs}",
            shared.lead_words(self._real, names, level=result.level),
            self._sections(),
            ("measures", ", ".join(names)),
            ("questions", "" if result.questions is None else f"{result.questions:,}"),
            ("intervals", f"{level}{method}" if method else ""),
            said=[*shared.again(result), *self._interval_words()],
        )

    def _sections(self) -> Iterator[Section]:
        yield Section(
            "leaderboard",
            "Leaderboard",
            key=True,
            said=[*self._disagreeing(), *shared.undefined_words(self.result.rows)],
            tables=[self._page_table()],
            figures=self._figures(),
        )
        known = [m for name in self.result.measures if (m := shared.known_measure(name))]
        if (item := shared.known_measure(self.result.measures[0])) is not None:
            rewarded = Section("measure", "What is rewarded", facts=measure_facts(item))
            rows = [row for row in self._real if not row.slice]
            if rows and all(row.counts.n for row in rows):
                counts = CountsArray.of(row.counts for row in rows)
                runs = [row.run for row in rows]
                rewarded.figures = [decision_figure(runs, counts, range(len(runs)))]
                rewarded.tables = [leads_table(runs, counts)]
                rewarded.folded = [rewards_table(runs, counts, known)]
            yield rewarded

    def _page_table(self) -> PageTable:
        """The first measure and the outcomes first; the others and their intervals when asked."""
        result = self.result
        (first, *others), by = result.measures, result.by
        known = {column.name: (column, cells) for column, cells in self._columns()}
        late = [f"{name} {end}" for name in others for end in ENDS]
        late += [f"p* {name}" for name in result.measures]
        slices = [result.slice_label(name) for name in by]
        order = ["#", "run", *slices, first, BAR, *(f"{first} {end}" for end in ENDS)]
        order += [*others, *OUTCOMES, *late]
        named = {BAR: "outcomes", **dict(zip(slices, by, strict=True))}
        columns = [
            (replace(column, name=named.get(column.name, column.name)), cells)
            for column, cells in (known[name] for name in order if name in known)
        ]
        grid = Grid.of(columns, dim=self._dim(), breaks=self._breaks() if by else set())
        grid = explained_on("runs", grid, first, level=result.level)
        return PageTable(
            "runs",
            "Runs",
            "Rows in italics are reference runs for comparison." if grid.dim else "",
            grid,
            filters=by,
            late=tuple(name for name in late if name in known),
            beneath=by,
        )


def _disagreements(rows: Sequence[Row], measures: Sequence[Measure]) -> list[str]:
    """One sentence for each run that some measure puts first where the first measure does not.

    Two runs with c₁ + κu₁ and c₂ + κu₂ change places at κ = (c₁ − c₂)/(u₂ − u₁): the one with
    more blanks is ahead wherever a blank is worth more than that.
    """
    runs = [row for row in rows if row.reference is None]
    credits = [m for m in measures if m.definition.kappa is not None]
    winner = _winner(runs, credits[0]) if len(credits) > 1 else None
    if winner is None:
        return []
    rivals: dict[str, tuple[Row, list[Measure]]] = {}
    for other in credits[1:]:
        rival = _winner(runs, other)
        if rival is None or _level(rival, winner, credits[0]) or _level(rival, winner, other):
            continue
        rivals.setdefault(rival.run, (rival, []))[1].append(other)
    sentences = (_sentence(credits[0], winner, m, rival) for rival, m in rivals.values())
    return [sentence for sentence in sentences if sentence]


def _winner(rows: Sequence[Row], item: Measure) -> Row | None:
    defined = [row for row in rows if row.scores[str(item)] is not None]
    best = max if item.higher_is_better else min
    return best(defined, key=lambda row: row.score(str(item))) if defined else None


def _level(a: Row, b: Row, item: Measure) -> bool:
    x, y = a.score(str(item)), b.score(str(item))
    return math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)


def _sentence(first: Measure, a: Row, others: Sequence[Measure], b: Row) -> str:
    bold, silent = sorted((a, b), key=_blank_share)
    u_gap = _blank_share(silent) - _blank_share(bold)
    if u_gap == 0:
        return ""
    c_gap = bold.counts.right / bold.counts.n - silent.counts.right / silent.counts.n
    put = "puts" if len(others) == 1 else "put"
    line = f"{first} puts {a.run} first, {listed([str(m) for m in others])} {put} {b.run} first: "
    pair = (a.counts, b.counts)
    whole = all(float(v).is_integer() for k in pair for v in (k.right, k.unanswered))
    if a.counts.n == b.counts.n and whole:
        blanks = int(silent.counts.unanswered - bold.counts.unanswered)
        right = int(bold.counts.right - silent.counts.right)
        more_or_fewer = f"{abs(right):,} {'fewer' if right >= 0 else 'more'} right"
        line += f"{silent.run} has {blanks:,} more blank and {more_or_fewer}, so it is ahead if "
    else:
        line += f"{silent.run} is ahead if "
    worth = f"{c_gap / u_gap:.3f} right answers"
    line += f"a blank is worth more than {worth}; "
    line += f"{first} values a blank at {_range(first, a, b)}, "
    return line + ", ".join(f"{m} at {_range(m, a, b)}" for m in others)


def _blank_share(row: Row) -> float:
    return row.counts.unanswered / row.counts.n


def _range(item: Measure, a: Row, b: Row) -> str:
    low, high = sorted((item.kappa(a.counts), item.kappa(b.counts)))
    return f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
