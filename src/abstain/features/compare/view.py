"""How a comparison looks: tables, sentences, page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.compare import result as kinds
from abstain.features.compare.result import CompareResult, Origin, Pair, p_text, units_text
from abstain.report import view
from abstain.report.charts import chart, coloured, dots_and_spans
from abstain.report.grid import Cell, Column, Grid, columns_of
from abstain.report.leaderboard import dot_figure
from abstain.report.page import Figure, Page, PageTable, Section, page_of
from abstain.report.view import first_few, sentence
from abstain.stats.hypotheses import CORRECTIONS
from abstain.stats.intervals import DRAWS, METHODS, RANDOM
from abstain.stats.planning import least_units

MOST_SLICES = 12
MOST_QUESTIONS = 5
SAME = 1e-12
"""Contributions nearer than this are equal."""
MOST_PAIRS = 60
"""Pairs that a chart holds."""
SEEN = 60
"""What one topic in 20 decides is seen in 95 % of samples of 60."""
TESTS = {
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap",
    "mcnemar": "McNemar's exact test of right against not right",
    "t": "paired t-test, corrected for skewness (Hall 1992)",
    "wilcoxon": "Wilcoxon's signed-rank test (of symmetric differences, not of means)",
    "sign": "exact sign test (of being ahead, not of means)",
}
OF_SCORES = METHODS | {
    "delta": "Student's t",
    "hall": "Student's t, widened where scores are skewed",
}


class View(view.View[CompareResult]):
    """Runs with intervals and groups, pairs with p-values, where a difference comes from."""

    def tables(self, **options: Any) -> list[Grid]:
        c = self.result
        shown = list(c.pairs) if c.against or len(c.rows) == 2 else c.neighbours()
        grids = [self._runs(), self._pairs(shown)]
        if (origin := c.origin) is not None and c.pairs[0].difference is not None:
            grids.append(self._moves(origin, "Where it comes from"))
        if origin is not None and origin.slices:
            grids.append(self._slices(origin, MOST_SLICES, "Slices"))
        grids[-1].notes = self.sentences()
        return grids

    def whole(self, **options: Any) -> Grid:
        return self._pairs(list(self.result.pairs), full=True)

    def sentences(self) -> list[str]:
        c, names = self.result, [row.run for row in self.result.rows]
        return [
            *compared(c),
            *verdict(c),
            *origin_words(c),
            *unknown_words(c),
            *judge_words(c),
            *plan_words(c),
            *method_words(c),
            *(sentence(note, names) for note in notes(c)),
            *view.policy_words(c.policy, c.touched),
        ]

    def _runs(self, *, bars: bool = False) -> Grid:
        """The runs with their intervals and groups; a page has bars of outcomes."""
        c, rows = self.result, self.result.rows
        shown = {
            "bar": bars and rows[0].numbers,
            "interval": c.interval_method is not None,
            "group": c.grouped,
            "outcomes": rows[0].numbers,
            "unknown": any(row.bounds for row in rows),
        }
        names = [name for name, there in shown.items() if there]
        names = ["run", "scores", *names, "bounds", "corrected", "corrected_intervals"]
        low, high = ("worst", "best") if c.higher_is_better else ("best", "worst")
        return Grid.of_rows(kinds.RunRow, rows, *names, level=100 * c.level, low=low, high=high)

    def _pairs(self, pairs: Sequence[Pair], *, full: bool = False, verdicts: bool = False) -> Grid:
        """Differences with intervals and p; `full` keeps every digit."""
        c, many = self.result, len(self.result.pairs) > 1
        names = ["run", "against", "difference"]
        names += ["verdict"] if verdicts else []
        names += ["interval"] if full or c.interval_method is not None else []
        p_values = ("p", "p_adjusted") if full else ("shown_p", "shown_p_adjusted")
        columns = columns_of(Pair, pairs, *names, *p_values[: 1 + many], level=100 * c.level)
        if c.of_scores:
            counts = ("wins", "ties", "losses") if full else ("record",)
            effects = [p.effect for p in pairs]
            columns += columns_of(kinds.Effect, effects, "standardised", *counts)
        title = "" if full or verdicts or not many or c.against else "Neighbours"
        return Grid.of(columns, title=title)

    def _moves(self, origin: Origin, title: str = "") -> Grid:
        pair = self.result.pairs[0]
        columns = [
            Column(f"{pair.against} → {pair.run}", means="first → second"),
            Column("questions", "count", plain=True),
            Column("worth", "score", means="how much these questions add to the difference"),
        ]
        rows: list[list[Cell]] = [[name, m.questions, m.worth] for name, m in origin.moves.items()]
        return Grid(columns, [*rows, ["the same", origin.same, 0.0]], title=title)

    def _slices(self, origin: Origin, most: int | None = None, title: str = "") -> Grid:
        """The slices by what they contribute; of each attribute the largest."""
        pair, shown = self.result.pairs[0], []
        for attribute in dict.fromkeys(s.attribute for s in origin.slices):
            slices = [s for s in origin.slices if s.attribute == attribute]
            shown += slices[:most]
            if most is not None and len(slices) > most:
                title += f"; {most} of {len(slices)} parts by {attribute}"
        words = {"run": pair.run, "against": pair.against, "measure": self.result.measure}
        names = ("attribute", "name", *kinds.OF_SLICES)
        return replace(Grid.of_rows(kinds.SliceShare, shown, *names, **words), title=title)

    def charts(self) -> view.Charts:
        c = self.result
        dots = self._dots(most=len(c.rows))
        for figure in dots:
            spanned = f" with {100 * c.level:g} % intervals" if c.interval_method else ""
            figure.spec["title"] = c.measure + spanned
        return coloured({each.name: each.spec for each in (*dots, *differences_figure(c))})

    def _dots(self, **most: int) -> list[Figure]:
        rows = [(row.run, row.score, *row.interval) for row in self.result.rows]
        return dot_figure("scores", rows, self.result.measure, **most)

    def page(self) -> Page:
        c = self.result
        lead, *rest = verdict(c)
        if len(c.rows) > 2 and (best := c.rows[0]).score is not None:
            of_best = f"{best.run} ({c.measure} {best.score:.4f}){distinct_from(c, best.run)}"
            lead, rest = f"The best run is {of_best}.", [lead, *rest]
        return page_of(
            c,
            f"{plural(len(c.rows), 'run')} compared by {c.measure}",
            lead,
            self._sections(rest),
            how=[text for text in self.sentences() if text not in (lead, *rest)],
        )

    def _sections(self, sentences: list[str]) -> Iterator[Section]:
        c = self.result
        runs = [PageTable("runs", "Runs", "", self._runs(bars=True))]
        more: dict[str, Any] = {"key": True, "tables": runs, "figures": self._dots()}
        yield Section("leaderboard", "Runs", sentences, **more)
        pairs = PageTable(
            "pairs",
            "All pairs",
            "The score of the first run minus that of the second.",
            self._pairs(c.pairs, verdicts=True),
            filters=("run", "against", "verdict"),
            beneath=("against",),
        )
        yield Section("pairs", "Pairs", figures=list(differences_figure(c)), tables=[pairs])
        if (origin := c.origin) is not None:
            tables = [PageTable("moves", "Moves", "", self._moves(origin))]
            if origin.slices:
                tables.append(PageTable("parts", "Slices", "", self._slices(origin)))
            yield Section("origin", "Where the difference comes from", tables=tables)


def differences_figure(c: CompareResult) -> Iterator[Figure]:
    """Every pair with its interval, unless there are too many to read."""
    names = ("pair", "difference", "low", "high", "p")
    known = [p for p in c.pairs if p.difference is not None]
    rows = [(f"{p.run} − {p.against}", p.difference, *p.interval, p.p_adjusted) for p in known]
    data = [dict(zip(names, row, strict=True)) for row in rows]
    if not 0 < len(data) <= MOST_PAIRS:
        return
    pairs = [str(row["pair"]) for row in data]
    span, dots = dots_and_spans("difference", "pair", pairs, x_title="difference")
    dots["encoding"]["y"]["axis"] = span["encoding"]["y"]["axis"] = {"labelLimit": 260}
    dashed = {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"}
    zero = {"mark": dashed, "encoding": {"x": {"datum": 0}}}
    spec = chart("", data, [span, zero, dots], height=max(80, 22 * len(data)))
    caption = f"{plural(len(data), 'difference')}, with intervals where there are some."
    yield Figure("differences", caption, spec, title=f"Differences in {c.measure}")


def compared(c: CompareResult) -> list[str]:
    on = units_text(c.questions_in_all, c.unit)
    if c.questions < c.questions_in_all:
        why = [f"{run} lacks {gone:,}" for run, gone in c.absent.items()]
        name = c.measure.removeprefix("mean ")
        why += [f"{name} is undefined for {run} on {n:,}" for run, n in c.undefined_on.items()]
        on = f"the {c.questions:,} of {on} that all of them have ({first_few(why)})"
    if c.clusters is not None:
        on += f" in {plural(c.clusters, 'cluster')} ({c.cluster})"
    text = f"{plural(len(c.rows), 'run')}, paired by {c.unit} on {on}."
    return [text, *view.undefined_sentences((row.run, row.undefined) for row in c.rows)]


def _independent(c: CompareResult) -> tuple[int, str]:
    """How many independent units there are, and what one is called."""
    return (c.questions, c.unit) if c.clusters is None else (c.clusters, "cluster")


def _at_level(c: CompareResult) -> str:
    return f"at the {100 * c.alpha:g} % level"


def verdict(c: CompareResult) -> list[str]:
    """Which differences are real."""
    tested = [p for p in c.pairs if p.differs is not None]
    untested = [p.no_test for p in c.pairs if p.no_test]
    sentences = []
    if untested:
        count = plural(len(untested), "pair has", "pairs have")
        sentences.append(f"{count} no verdict: {first_few(untested)}.")
    if not tested:
        return sentences or ["Where a score is undefined there is no difference to test."]
    alone = c.against is None and len(c.rows) == 2
    return [*([_two(c)] if alone else _several(c, tested)), *sentences, *_floor(c, len(tested))]


def _two(c: CompareResult) -> str:
    (pair,) = c.pairs
    p, difference = f"p = {p_text(pair.p)}".replace("= <", "< "), pair.difference or 0.0
    if difference == 0:
        return f"{pair.run} and {pair.against} have the same {c.measure} ({p})."
    ahead = "ahead of" if (difference > 0) == c.higher_is_better else "behind"
    kind = f"{'' if pair.differs else 'not '}a significant difference"
    kind += " in right answers" if c.test == "mcnemar" else ""
    by = f"{abs(difference):.4f} ({p})"
    return f"{pair.run} is {ahead} {pair.against} by {by}: {kind} {_at_level(c)}."


def _several(c: CompareResult, tested: list[Pair]) -> list[str]:
    differ = [p for p in tested if p.differs]
    sentences = [
        f"Of {plural(len(tested), 'pair')}, {plural(len(differ), 'differs', 'differ')} "
        f"{_at_level(c)} ({CORRECTIONS.get(c.correction, c.correction)})."
    ]
    listed = {"Separated from all others": c.separated()}
    if c.against:
        above = [p.run for p in differ if (p.difference or 0) > 0]
        below = [p.run for p in differ if (p.difference or 0) < 0]
        listed = {f"Above {c.against}": above, f"Below {c.against}": below}
    sentences += [f"{what}: {first_few(runs, most=5)}." for what, runs in listed.items() if runs]
    if c.grouped:
        sentences.append("Runs that share a letter (group) cannot be told apart.")
    return sentences


def _floor(c: CompareResult, tested: int) -> list[str]:
    """That no p can be small enough, or hardly one after correction."""
    many, unit = _independent(c)
    times = tested if c.correction == "holm" else 1
    floor, source = 2.0 ** (1 - min(many, 1000)), units_text(many, unit)
    cure = f"at least {units_text(least_units(c.alpha / times), unit)} are needed"
    by_resamples = (2 if c.test == "bootstrap" else 1) / (c.resamples + 1)
    if _is_random(c) and by_resamples > floor:
        floor, source, cure = by_resamples, f"{c.resamples:,} resamples", "use more resamples"
    if c.test == "t" or floor * times <= (c.alpha if times == 1 else c.alpha / 2):
        return []
    after = f" ({min(1.0, floor * times):.3g} after Holm's correction)" if times > 1 else ""
    none = f": no difference can be significant {_at_level(c)}; {cure}"
    return [f"With {source} no p is below {floor:.3g}{after}{none * (floor * times > c.alpha)}."]


def _is_random(c: CompareResult) -> bool:
    """Whether the p-values depend on random draws."""
    exact = all(p.exact for p in c.pairs if p.p is not None)
    return c.test in ("randomisation", "bootstrap") and not exact


def distinct_from(c: CompareResult, run: str) -> str:
    """From how many other runs a run differs; empty where it was compared with none."""
    verdicts = [p.differs for p in c.pairs if run in (p.run, p.against) and p.differs is not None]
    if not verdicts:
        return ""
    return f", told apart from {sum(verdicts)} of {plural(len(verdicts), 'other')} {_at_level(c)}"


OF_DECISIONS = {
    "knowing": "comes from right instead of wrong answers",
    "answering": "from answering instead of declining what can be answered",
    "refusing": "from what was done where no answer was due",
}
"""The parts of a difference, where the data mark what can be answered."""


def origin_words(c: CompareResult) -> list[str]:
    o, difference = c.origin, signed(c.pairs[0].difference)
    if o is None or not o.contributions:
        return []
    knowing = f"{signed(o.knowing)} comes from knowing more or fewer answers"
    abstaining = f"{signed(o.abstaining)} from the choice of when to abstain"
    sentences = [f"Of the difference of {difference}, {knowing} and {abstaining}."]
    if o.decisions:
        parts = [f"{signed(o.decisions[name])} {words}" for name, words in OF_DECISIONS.items()]
        sentences = [f"Of the difference of {difference}, {view.listed(parts)}."]
    elif o.knowing is None:
        blanks = plural(o.without_candidate, "blank has", "blanks have")
        sentences = [f"{blanks} no candidate (column candidate) to tell knowing from abstaining."]
    first = list(o.contributions.items())[: MOST_QUESTIONS + 1]
    if len(first) <= MOST_QUESTIONS or abs(first[0][1]) - abs(first[-1][1]) > SAME:
        names = ", ".join(f"{name} ({signed(value)})" for name, value in first[:MOST_QUESTIONS])
        sentences.append(f"The questions that contribute most: {names}.")
    return sentences + [
        f"Simpson's reversal by {attribute}: the other way in every slice that shows a difference."
        for attribute in o.reversals
    ]


def signed(value: float | None) -> str:
    return f"{round(value or 0.0, 4) + 0.0:+.4f}".replace("-", "−")


def unknown_words(c: CompareResult) -> list[str]:
    total = sum(row.unknown for row in c.rows)
    responses = plural(total, "response is", "responses are")
    text = f"{responses} unknown (unparseable, failed or missing)"
    if not total or not all(row.bounds for row in c.rows):
        return [f"{text}."] if total else []
    above, below = (c.rows if c.higher_is_better else c.rows[::-1])[:: len(c.rows) - 1]
    low, high = above.bounds[c.measure][0], below.bounds[c.measure][1]
    reverse = len(c.rows) == 2 and (low is None or high is None or low <= high)
    why = " and could reverse the order of the two runs" if reverse else ""
    return [f"{text}{why}: worst and best bound the score over all their outcomes."]


def judge_words(c: CompareResult) -> list[str]:
    if not c.judge_sample:
        return []
    checked = plural(c.judge_sample, "checked response")
    drawn = "at random" if c.judge_drawn == "random" else f"by {c.judge_drawn}"
    text = f"Corrected scores remove the judge's errors, estimated from {checked} (drawn {drawn})."
    if c.never_checked:
        text += f" Never checked, so taken as right: {', '.join(c.never_checked)}."
    return [text]


def plan_words(c: CompareResult) -> list[str]:
    p, sentences = c.plan, []
    if p is None:
        return []
    if p.visible is not None:
        if c.widest is not None and p.visible > c.widest:
            return ["This test set is too small to show any difference reliably."]
        span = "" if p.visible_range is None else " ({:.3f} to {:.3f})".format(*p.visible_range)
        one = "" if len(c.pairs) == 1 else ", median pair, not corrected"
        power = f"power {100 * p.power_asked:g} %{one}"
        sentences.append(
            f"This test set could detect a difference of {p.visible:.3g}{span} ({power})."
        )
    if p.detect is not None and p.power is not None and p.needed is not None:
        span = "" if p.needed_range is None else " ({:,} to {:,})".format(*p.needed_range)
        has = f"a power of {100 * p.power:.0f} % to find a difference of {p.detect:g}"
        needs = f"a power of {100 * p.power_asked:g} % needs {units_text(p.needed, c.unit)}{span}"
        sentences.append(f"This test set has {has}; {needs}.")
    return sentences


def method_words(c: CompareResult) -> list[str]:
    sentences, drawn = [], f"{c.resamples:,} resamples, seed {c.seed}"
    if (method := c.interval_method) is not None:
        by = (OF_SCORES if c.of_scores else METHODS).get(method, method)
        draws = f"{DRAWS:,} draws, seed {c.seed}" if method == "jeffreys" else drawn
        by += f" ({method}; {draws})" if method in RANDOM else f" ({method})"
        if c.interval_method_of_differences:
            by += f"; of differences: {c.interval_method_of_differences}"
        sentences.append(f"Intervals: {100 * c.level:g} %, {by}.")
    if any(p.p is not None for p in c.pairs):
        test = TESTS.get(c.test, c.test)
        if c.test == "randomisation":
            test += " (not of means alone)" if c.of_scores else ""
            test += " of the studentised difference" if c.studentised else ""
        if c.test in ("randomisation", "wilcoxon") and all(p.exact for p in c.pairs if p.p):
            test += ", exact"
        sentences.append(f"Test: {test}{f'; {drawn}' if _is_random(c) else ''}.")
        many, unit = _independent(c)
        if c.of_scores and c.test in ("t", "bootstrap") and many < SEEN:
            few = units_text(SEEN, unit)
            sentences.append(f"Fewer than {few} may not show a large difference on 1 in 20.")
    return [" ".join(sentences)] if sentences else []


def notes(c: CompareResult) -> list[str]:
    odd = [row.no_interval.get(c.measure, "") for row in c.rows]
    odd += [pair.no_interval for pair in c.pairs]
    counted = Counter(filter(None, odd)).most_common(3) if c.interval_method is not None else []
    texts = [f"{plural(n, 'interval')}: {why}" for why, n in counted]
    if unstated := sum(row.unstated for row in c.rows):
        texts.append(f"{plural(unstated, 'answer')} without a confidence")
    if c.biased:
        texts.append(f"{c.measure} is biased upwards, more so with fewer answers: no interval")
    if lost := max(pair.undefined_swaps for pair in c.pairs):
        texts.append(
            f"{c.measure} is undefined in up to {lost:,} of {c.swaps or 0:,} swaps, which count as "
            "at least as extreme as the observed difference"
        )
    if held := sum(pair.by_interval for pair in c.pairs):
        texts.append(f"{plural(held, 'pair')}: p is that of the interval, not of {c.test} alone")
    return [*texts, *c.notes]
