"""How a comparison looks: tables, sentences, page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.compare.charts import differences_figure, moves_figure, scores_chart
from abstain.features.compare.result import (
    OF_SLICES,
    CompareResult,
    Effect,
    Origin,
    Pair,
    RunRow,
    SliceShare,
    p_text,
)
from abstain.report import view
from abstain.report.charts import coloured
from abstain.report.grid import Cell, Column, Grid, columns_of
from abstain.report.leaderboard import dot_figure, measure_facts
from abstain.report.page import Page, PageTable, Section, page_of
from abstain.report.view import (
    first_few,
    known_measure,
    policy_words,
    sentence,
    undefined_sentences,
)
from abstain.stats.hypotheses import CORRECTIONS
from abstain.stats.intervals import DRAWS, METHODS, RANDOM
from abstain.stats.planning import least_units

MOST_SLICES = 12
MOST_QUESTIONS = 5
SAME = 1e-12
"""Contributions and differences nearer than this are equal."""
RARE, SEEN = 20, 60
"""What one topic in 20 decides is seen in 95 % of samples of 60."""
BY_RESAMPLES = ("randomisation", "bootstrap")
"""Tests by random draws, where they are not exact."""
TESTS = {
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap (p: the smaller share of resamples on one side of 0, doubled)",
    "mcnemar": "McNemar's exact test of right against not right",
    "t": "paired t-test, corrected for skewness (Hall 1992)",
    "wilcoxon": "Wilcoxon's signed-rank test (of symmetric differences, not of means)",
    "sign": "exact sign test, ties left out (of being ahead, not of means)",
}
OF_SCORES = METHODS | {
    "delta": "Student's t",
    "hall": "Student's t, widened where scores are skewed",
}
OF_DIFFERENCES = {
    "logit": "the influence of each answer on the logit scale (logit)",
    "mover": "the two intervals combined (mover)",
}
DRAWN = {
    "random": "drawn at random",
    "truth": "drawn by true outcome (a fixed number of each)",
    "verdict": "drawn by the judge's verdict (a fixed number of each)",
}


class View(view.View[CompareResult]):
    """Runs with intervals and groups, pairs with p-values, where a difference comes from."""

    def tables(self, **options: Any) -> list[Grid]:
        """The runs, their pairs, and of two runs the moves and slices; sentences below the last."""
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
        """Every pair, with every digit."""
        return self._pairs(list(self.result.pairs), full=True)

    def sentences(self) -> list[str]:
        """What was compared, which differences are real, where they come from, how it was made."""
        c, names = self.result, [row.run for row in self.result.rows]
        return [
            *compared(c),
            *verdict(c),
            *(text for part in FURTHER for text in part(c)),
            *(sentence(note, names) for note in notes(c)),
            *policy_words(c.policy, c.touched),
        ]

    def _runs(self, *, bars: bool = False) -> Grid:
        """The runs with their intervals and groups; a page has bars of outcomes."""
        c, rows = self.result, self.result.rows
        counted = bool(rows[0].numbers)
        shown = {
            "run": True,
            "scores": True,
            "bar": bars and counted,
            "interval": c.interval_method is not None,
            "group": c.grouped,
            "outcomes": counted,
            "unknown": any(row.bounds for row in rows),
            "bounds": any(row.bounds for row in rows),
            "corrected": any(row.corrected for row in rows),
            "corrected_intervals": any(row.corrected for row in rows),
        }
        low, high = ("worst", "best") if c.higher_is_better else ("best", "worst")
        names = [name for name, is_shown in shown.items() if is_shown]
        return Grid.of_rows(RunRow, rows, *names, level=100 * c.level, low=low, high=high)

    def _pairs(self, pairs: Sequence[Pair], *, full: bool = False, verdicts: bool = False) -> Grid:
        """Differences with intervals and p; `full` keeps every digit."""
        c, many = self.result, len(self.result.pairs) > 1
        names = ["run", "against", "difference"]
        names += ["verdict"] if verdicts else []
        names += ["interval"] if full or c.interval_method is not None else []
        p_values = ("p", "p_adjusted") if full else ("shown_p", "shown_p_adjusted")
        columns = columns_of(Pair, pairs, *names, *p_values[: 1 + many], level=100 * c.level)
        if c.of_scores:
            effects = [p.effect for p in pairs if p.effect is not None]
            counts = ("wins", "ties", "losses") if full else ("record",)
            columns += columns_of(Effect, effects, "standardised", *counts)
        title = "" if full or verdicts or not many or c.against else "Neighbours"
        return Grid.of(columns, title=title)

    def _moves(self, origin: Origin, title: str = "") -> Grid:
        """Each kind of move, how many questions made it, what it is worth."""
        pair = self.result.pairs[0]
        columns = [
            Column("from → to", shown=f"{pair.against} → {pair.run}", means="first → second"),
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
        grid = Grid.of_rows(SliceShare, shown, "attribute", "name", *OF_SLICES, **words)
        return replace(grid, title=title)

    def charts(self) -> dict[str, dict[str, Any]]:
        """Scores with their intervals, differences, and of two runs the moves."""
        figures = [*differences_figure(self.result), *moves_figure(self.result)]
        return coloured(scores_chart(self.result) | {f.name: f.spec for f in figures})

    def page(self) -> Page:
        """Runs with intervals and groups, their pairs, where a difference comes from."""
        c = self.result
        lead, *rest = [*best(c), *verdict(c)]
        return page_of(
            c,
            f"{plural(len(c.rows), 'run')} compared by {c.measure}",
            lead,
            self._sections(rest),
            ("measure", c.measure),
            ("questions", f"{c.questions:,}"),
            ("intervals", c.interval_method and f"{100 * c.level:g} %, {c.interval_method}"),
            ("test", c.test),
            ("correction", c.correction),
            ("against", c.against),
            ("cluster", c.cluster),
            how=[text for text in self.sentences() if text not in (lead, *rest)],
        )

    def _sections(self, sentences: list[str]) -> Iterator[Section]:
        c = self.result
        runs = PageTable("runs", "Runs", "", self._runs(bars=True))
        dots = dot_figure("scores", [(r.run, r.score, *r.interval) for r in c.rows], c.measure)
        yield Section(
            "leaderboard", "Runs", sentences=sentences, key=True, tables=[runs], figures=dots
        )
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
            columns = [
                Column("question", means="the id of the question", plain=True),
                Column("contributes", "score", means="how much it adds to the difference"),
            ]
            each = Grid(columns, [list(item) for item in origin.contributions.items()])
            every = [PageTable("contributions", "Every question", "", each)] if each.rows else []
            title, figures = "Where the difference comes from", list(moves_figure(c))
            yield Section("origin", title, figures=figures, tables=tables, folded=every)
        if (item := known_measure(c.measure)) is not None:
            yield Section("measure", "What is rewarded", facts=measure_facts(item))


# ------------------------------------------------------------------------------------ the finding


def compared(c: CompareResult) -> list[str]:
    """What was compared, and what was left out for it."""
    text = f"{plural(len(c.rows), 'run')}, paired by {c.unit} on "
    if c.questions == c.questions_in_all:
        text += _units(c.questions, c.unit)
    else:
        why = [f"{run} lacks {gone:,}" for run, gone in c.absent.items()]
        name = c.measure.removeprefix("mean ")
        why += [f"{name} is undefined for {run} on {n:,}" for run, n in c.undefined_on.items()]
        every = _units(c.questions_in_all, c.unit)
        text += f"the {c.questions:,} of {every} that all of them have ({first_few(why)})"
    if c.clusters is not None:
        text += f" in {plural(c.clusters, 'cluster')} ({c.cluster})"
    return [f"{text}.", *undefined_sentences((row.run, row.undefined) for row in c.rows)]


def _units(count: int, unit: str) -> str:
    return plural(count, unit, "queries" if unit == "query" else None)


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
    if tested:
        alone = c.against is None and len(c.rows) == 2
        sentences += [_two(c)] if alone else _several(c, tested)
    if untested:
        count = plural(len(untested), "pair has", "pairs have")
        sentences.append(f"{count} no verdict: {first_few(untested)}.")
    if not sentences:
        sentences.append("Where a score is undefined there is no difference to test.")
    return [*sentences, *_resolution(c, len(tested))]


def _two(c: CompareResult) -> str:
    (pair,) = c.pairs
    p = f"p = {p_text(pair.p)}".replace("= <", "< ")
    difference = pair.difference or 0.0
    if difference == 0:
        return f"{pair.run} and {pair.against} have the same {c.measure} ({p})."
    ahead = "ahead of" if (difference > 0) == c.higher_is_better else "behind"
    kind = "a significant difference" + (" in right answers" if c.test == "mcnemar" else "")
    return (
        f"{pair.run} is {ahead} {pair.against} by {abs(difference):.4f} ({p}): "
        f"{'' if pair.differs else 'not '}{kind} {_at_level(c)}."
    )


def _several(c: CompareResult, tested: list[Pair]) -> list[str]:
    differ = [p for p in tested if p.differs]
    sentences = [
        f"Of {plural(len(tested), 'pair')}, {plural(len(differ), 'differs', 'differ')} "
        f"{_at_level(c)} ({CORRECTIONS.get(c.correction, c.correction)})."
    ]
    listed = {"Separated from all others": c.separated()}
    if c.against:
        signs = [(p.run, p.difference or 0) for p in differ]
        listed = {
            f"Above {c.against}": [run for run, sign in signs if sign > 0],
            f"Below {c.against}": [run for run, sign in signs if sign < 0],
        }
    sentences += [f"{what}: {first_few(runs, most=5)}." for what, runs in listed.items() if runs]
    if c.grouped:
        sentences.append("Runs that share a letter (group) cannot be told apart.")
    return sentences


def _resolution(c: CompareResult, tested: int) -> list[str]:
    """That so few clusters, questions or resamples have no smaller p."""
    if not tested or c.test == "t":
        return []
    many, unit = _independent(c)
    floor, source = 2.0 ** (1 - min(many, 1000)), _units(many, unit)
    cure = f"at least {_units(least_units(c.alpha), unit)} are needed"
    drawn = c.test == "bootstrap" or not all(p.exact for p in c.pairs)
    by_resamples = (2 if c.test == "bootstrap" else 1) / (c.resamples + 1)
    if drawn and c.test in BY_RESAMPLES and by_resamples > floor:
        floor, source, cure = by_resamples, f"{c.resamples:,} resamples", "use more resamples"
    text = f"With {source} no p is below {floor:.3g}"
    if floor > c.alpha:
        return [f"{text}: no difference can be significant {_at_level(c)}; {cure}."]
    # of clusters only a run that is ahead in nearly all of them reaches the smallest p
    near = c.alpha / 10 if c.clusters is not None else c.alpha
    if c.correction != "holm" or tested == 1 or floor * tested <= near:
        return []
    return [f"{text}, or {min(1.0, floor * tested):.3g} after Holm's correction."]


def best(c: CompareResult) -> list[str]:
    """The best of several runs, and from how many others it can be told apart."""
    row = c.rows[0]
    if len(c.rows) < 3 or row.score is None:
        return []
    return [f"The best run is {row.run} ({c.measure} {row.score:.4f}){distinct_from(c, row.run)}."]


def distinct_from(c: CompareResult, run: str) -> str:
    """From how many other runs a run can be told apart; empty where it was compared with none."""
    verdicts = [p.differs for p in c.pairs if run in (p.run, p.against) and p.differs is not None]
    if not verdicts:
        return ""
    return f", told apart from {sum(verdicts)} of {plural(len(verdicts), 'other')} {_at_level(c)}"


# ---------------------------------------------------------- where it comes from, what is unknown


def origin_words(c: CompareResult) -> list[str]:
    """Where the difference of two runs comes from."""
    o, difference = c.origin, signed(c.pairs[0].difference)
    if o is None or not o.contributions:
        return []
    text = (
        f"Of the difference of {difference}, {signed(o.knowing)} comes from knowing more or fewer "
        f"answers and {signed(o.abstaining)} from the choice of when to abstain."
    )
    if o.knowing is None:
        text = (
            "The difference cannot be split into knowing and abstaining: there is no candidate "
            f"for {plural(o.without_candidate, 'blank')} (column candidate)."
        )
    sentences = [text]
    first = list(o.contributions.items())[: MOST_QUESTIONS + 1]
    if len(first) <= MOST_QUESTIONS or abs(first[0][1]) - abs(first[-1][1]) > SAME:
        questions = ", ".join(f"{name} ({signed(value)})" for name, value in first[:MOST_QUESTIONS])
        sentences.append(f"The questions that contribute most: {questions}.")
    for attribute in o.reversals:
        slices = [s for s in o.slices if s.attribute == attribute and abs(s.difference or 0) > SAME]
        listed = first_few((f"{s.name} {signed(s.difference)}" for s in slices), most=4)
        sentences.append(
            f"Simpson's reversal by {attribute}: {difference} over all questions, but the other "
            f"way in every slice that shows a difference ({listed})."
        )
    return sentences


def signed(value: float | None) -> str:
    """A difference with its sign."""
    return f"{round(value or 0.0, 4) + 0.0:+.4f}".replace("-", "−")


def unknown_words(c: CompareResult) -> list[str]:
    """What unknown responses could have done to scores."""
    total = sum(row.unknown for row in c.rows)
    if not total:
        return []
    responses = plural(total, "response is", "responses are")
    text = f"{responses} unknown (unparseable, failed or missing)"
    if not all(row.bounds for row in c.rows):
        return [f"{text}."]
    sentences = [f"{text}: worst and best are the scores over all ways."]
    if len(c.rows) == 2:
        above, below = c.rows if c.higher_is_better else c.rows[::-1]
        low, high = above.bounds[c.measure][0], below.bounds[c.measure][1]
        if low is None or high is None or low <= high:
            sentences.append("The unknown responses could reverse the order of the two runs.")
    return sentences


def judge_words(c: CompareResult) -> list[str]:
    """What was corrected of a judge's errors."""
    if not c.judge_sample:
        return []
    text = (
        "The corrected scores remove the judge's errors, as a sample of "
        f"{plural(c.judge_sample, 'checked response')} shows them, "
        f"{DRAWN.get(c.judge_drawn, c.judge_drawn)}."
    )
    if c.never_checked:
        verdicts = " or ".join(c.never_checked)
        text += f" {verdicts.capitalize()} was never checked: there the judge is taken as right."
    return [text]


def plan_words(c: CompareResult) -> list[str]:
    """The smallest difference that this test set could detect, and what it takes to detect one."""
    p, sentences = c.plan, []
    if p is None:
        return []
    if p.visible is not None:
        if c.widest is not None and p.visible > c.widest:
            return ["This test set is too small to show any difference reliably."]
        error = "standard error of this pair" if len(c.pairs) == 1 else "median standard error"
        span = "" if p.visible_range is None else " ({:.3f} to {:.3f})".format(*p.visible_range)
        sentences.append(
            f"This test set could detect a difference of {p.visible:.3g}{span} (power "
            f"{100 * p.power_asked:g} %, {error}, one comparison)."
        )
    if p.detect is not None and p.power is not None and p.needed is not None:
        span = "" if p.needed_range is None else " ({:,} to {:,})".format(*p.needed_range)
        sentences.append(
            f"This test set has a power of {100 * p.power:.0f} % to find a difference of "
            f"{p.detect:g}; a power of {100 * p.power_asked:g} % needs "
            f"{_units(p.needed, c.unit)}{span}."
        )
    return sentences


# ------------------------------------------------------------------------------- how it was made


def method_words(c: CompareResult) -> list[str]:
    """How intervals and p-values were made, where there are some."""
    sentences = []
    if (method := c.interval_method) is not None:
        by = (OF_SCORES if c.of_scores else METHODS).get(method, method)
        drawn = f"{DRAWS:,} draws" if method == "jeffreys" else f"{c.resamples:,} resamples"
        random = f"; {drawn}, seed {c.seed}" if method in RANDOM else ""
        other = c.interval_method_of_differences
        of_pairs = f"; for differences: {OF_DIFFERENCES.get(other, other)}" if other else ""
        sentences.append(f"Intervals: {100 * c.level:g} %, {by} ({method}{random}){of_pairs}.")
    if any(p.p is not None for p in c.pairs):
        sentences.append(f"Test: {_test(c)}{_drawn(c)}.")
        many, unit = _independent(c)
        if c.of_scores and c.test in ("t", "bootstrap") and many < SEEN:
            few = f"Fewer than {_units(SEEN, unit)} may not show a large difference on 1 in {RARE}."
            sentences.append(few)
    return [" ".join(sentences)] if sentences else []


def _drawn(c: CompareResult) -> str:
    if all(p.exact for p in c.pairs if p.p is not None):
        return "" if c.test in ("mcnemar", "sign") else ", exact"
    return f"; {c.resamples:,} resamples, seed {c.seed}" if c.test in BY_RESAMPLES else ""


def _test(c: CompareResult) -> str:
    text = TESTS.get(c.test, c.test)
    if c.test != "randomisation":
        return text
    if c.of_scores:
        return f"{text} (of runs that could be exchanged, not of means alone)"
    item = known_measure(c.measure)
    proportion = item is not None and item.definition.proportion is not None
    if c.studentised and c.clusters is None and proportion:
        return f"random draws in which both runs have the same true {c.measure}"
    return f"{text} of the difference divided by its standard error" if c.studentised else text


def notes(c: CompareResult) -> list[str]:
    """What to know of intervals, answers without a confidence and reading."""
    odd = [row.no_interval.get(c.measure, "") for row in c.rows]
    odd += [pair.no_interval for pair in c.pairs]
    counted = Counter(filter(None, odd)).most_common(3) if c.interval_method is not None else []
    texts = [f"{plural(n, 'interval')}: {why}" for why, n in counted]
    texts += [
        f"run '{row.run}': {plural(row.unstated, 'answer')} without a confidence"
        for row in c.rows
        if row.unstated
    ]
    if c.biased:
        texts.append(
            f"{c.measure} is biased upwards, the more so the fewer answers a run has: there is no "
            "interval, and p is for runs that differ in nothing"
        )
    if lost := max(pair.undefined_swaps for pair in c.pairs):
        texts.append(
            f"{c.measure} is undefined in up to {lost:,} of {c.swaps or 0:,} swaps, which count as "
            "at least as extreme as the observed difference"
        )
    if held := sum(pair.by_interval for pair in c.pairs):
        texts.append(f"{plural(held, 'pair')}: p is that of the interval, not of {c.test} alone")
    if c.reading is not None and c.reading.detect_refusals:
        texts.append("the errors of the rules that find refusals: `abstain refusals --check`")
    return [*texts, *c.notes]


FURTHER = (origin_words, unknown_words, judge_words, plan_words, method_words)
