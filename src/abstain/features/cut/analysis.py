"""`cut`: where rankings should stop, by rules tuned on some queries and judged on others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from abstain.errors import UsageError, check_name, option, plural, shown
from abstain.features.cut import RULES, RuleName, tuning
from abstain.features.cut.result import Bin, CutResult, CutRow, CutRun, Point, Promise
from abstain.features.cut.rules import REFERENCES, fit_mixture
from abstain.features.cut.scores import Lists, finite, of_run, origin_of, score_tables
from abstain.features.cut.tuning import PLAIN, Fitted
from abstain.measures import Measure
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Floats, Ints
from abstain.rankings.rankings import Rankings, ranking_measures
from abstain.report.result import number, read_as
from abstain.stats.hypotheses import Mean
from abstain.stats.intervals import check_level, check_repeats, error_of

FOLDS = 5
KEEP = "keep"  # what the rule of a promise is called
LEVEL, PROMISED = 0.95, 0.9  # the level of intervals, and of promises
LOOKED_AT = 200  # queries tuned on that are looked at, where a rule's optimism is asked for
CHANCE = 1e-12  # a gain that is rounding


def cut(
    rankings: Rankings,
    *,
    maximise: str | Measure = "RBP'",
    rule: RuleName = "auto",
    keep: float | None = None,
    next: bool = False,
    budget: float | None = None,
    folds: int | None = None,
    repeats: int = 1,
    run: str | None = None,
    level: float | None = None,
    seed: int = 0,
) -> CutResult:
    """Choose where rankings stop on some queries, and judge it on others.

    Args:
        rankings: What was read, with scores.
        maximise: The measure to be as high as possible: RBP'(p=0.8), AP', NDCG', SetF, …
        rule: The rule to use from now on; the others are judged as well. `auto` chooses one.
        keep: Use only rules shown to keep at least this share of the relevant documents in the
            lists, and of these the one that scores most.
        next: With `keep`, whether the observed share on the next queries is meant (as many as a
            fold has with a relevant document in their list), not only the expected share.
        budget: At most this many documents per query on average.
        folds: Judge each of so many parts with rules tuned on the others (5).
        repeats: So many times, with new random folds each time.
        run: Only this run.
        level: The level of intervals (0.95) and of the promise (0.9).
        seed: The seed of the random folds.
    """
    (measure,) = ranking_measures(maximise)
    _check(measure, rule, keep, budget, next=next)
    check_repeats(repeats)
    if level is not None:
        check_level(level)
    if rankings.settings.ties == "rank":
        raise UsageError(f"{option('ties', 'rank')} reads no scores, which cutting needs")
    chosen = rankings if run is None else rankings.only(runs=[run])
    if not chosen.origins:
        raise UsageError("these rankings have no scores: read them with read_rankings")
    tables = score_tables(chosen.origins, chosen.lists)
    rows: list[CutRow] = []
    runs: list[CutRun] = []
    notes: list[str] = []
    used = 0
    for at, name in enumerate(chosen.runs):
        lists, remarks = _lists_of(chosen, at, tables.pop(name), measure)
        if folds is not None and not 2 <= folds <= lists.size:
            known = f"from 2 to the number of queries, {lists.size:,}"
            raise UsageError(f"{option('folds')} is {known} (got {folds})")
        used = min(folds or FOLDS, lists.size)
        task = Task(name, lists, measure, rule, keep, next, budget, used, repeats, level, seed)
        judged, summary = task.result()
        rows += judged
        runs.append(summary)
        notes += [f"run {shown(name)}: {text}" for text in (*remarks, *task.remarks())]
    return CutResult(
        **read_as(chosen, *notes, clusters=False),
        measure=str(measure),
        asked=KEEP if keep is not None else rule,
        folds=used,
        repeats=repeats,
        level=LEVEL if level is None else level,
        seed=seed,
        budget=budget,
        rows=tuple(rows),
        runs=tuple(runs),
    )


def _check(
    measure: RankingMeasure, rule: str, keep: float | None, budget: float | None, *, next: bool
) -> None:
    check_name("rule", rule, RULES)
    if not measure.higher_is_better:
        what = "needs a measure where higher is better"
        raise UsageError(f"{option('maximise')} {what} (got {measure})")
    if rule == "expected" and measure.definition.by_depth is None:
        raise UsageError(f"the rule 'expected' cannot be used with {measure}")
    if keep is not None and not 0 < 1 - keep < 1:
        raise UsageError(f"{option('keep')} is a share between 0 and 1, such as 0.9 (got {keep:g})")
    if next and keep is None:
        raise UsageError(f"{option('next')} needs {option('keep')}")
    if keep is not None and (rule != "auto" or budget is not None):
        other = option("budget") if budget is not None else option("rule")
        raise UsageError(f"{option('keep')} and {other} exclude each other")
    if budget is not None and not 0 <= budget < float("inf"):
        raise UsageError(f"{option('budget')} is 0 or more documents per query (got {budget:g})")


def _lists_of(
    rankings: Rankings, at: int, table: Floats, measure: RankingMeasure
) -> tuple[Lists, list[str]]:
    """The lists of one run that can be tuned on, in the order of queries' names; remarks."""
    remarks = []
    table, infinite = finite(table)
    one_run = rankings.lists.only([at], range(len(rankings.queries)))
    lists = of_run(one_run, table, measure, origin_of(table))
    counted = rankings.counted[at]
    if rankings.settings.queries != "all":
        counted = counted & ~np.isnan(lists.values).any(axis=1)
    some = np.flatnonzero(counted)
    if len(some) < len(counted):
        queries = plural(len(counted) - len(some), "query", "queries")
        remarks.append(f"{queries} left out, because {measure} is undefined or there is no list")
    if infinite:
        scores = plural(infinite, "infinite score")
        remarks.append(f"{scores} replaced by the largest or smallest finite score")
    if len(some) < 2:
        what = "a rule is tuned on some queries and judged on others: expected at least 2 queries"
        raise UsageError(f"{what} (run {shown(rankings.runs[at])} has {len(some)})")
    by_name = np.argsort(np.array(rankings.queries)[some], kind="stable")
    return lists.only(some[by_name]), remarks  # the order of rows in files decides nothing


@dataclass
class Trial:
    depth: Ints
    """Repeats × queries: how many documents were kept."""
    looked: list[float] = field(default_factory=list)
    """Of each fold: the mean score of the queries tuned on."""
    chosen: Counter[str] = field(default_factory=Counter)


@dataclass
class Task:
    run: str
    lists: Lists
    measure: RankingMeasure
    rule: str
    keep: float | None
    next: bool
    budget: float | None
    folds: int
    repeats: int
    level: float | None
    seed: int

    def __post_init__(self) -> None:
        no_depths = self.measure.definition.by_depth is None
        self.rules = [n for n in RULES[1:] if not (n == "expected" and no_depths)]
        self.chooser = tuning.Chooser(self.lists, self.measure, self.rules, self.budget)
        self.with_hits = int((self.lists.hits[:, -1] > 0).sum())
        self.asked = KEEP if self.keep is not None else self.rule
        # what keeps a promise is compared with what surely keeps it
        policies = tuning.TRIVIAL if self.keep is None else ("everything",)
        self.trivial = [name for name in policies if name != self.asked]

    def result(self) -> tuple[list[CutRow], CutRun]:
        lists = self.lists
        trials = self._trials()
        scores = {
            name: np.mean([lists.at(depth) for depth in trial.depth], axis=0)
            for name, trial in trials.items()
        }
        budget = np.inf if self.budget is None else self.budget
        within = [
            name
            for name in self.trivial
            if name in ("nothing", "k") or trials[name].depth.mean() <= budget
        ]
        best = max(within, key=lambda name: float(scores[name].mean()))
        rows = {name: self._row(name, trials[name], scores, best) for name in trials}
        every = np.arange(lists.size)
        draw = np.random.default_rng([self.seed, self.repeats, 0])
        fitted, trivial = self._fit(every, every, draw), self.chooser.fit(best, every, every)
        advice = self._advice(rows[self.asked], fitted, trivial, best)
        simply = advice in ("not", "nothing") and self.asked in ("auto", KEEP)
        return list(rows.values()), CutRun(
            run=self.run,
            rule=(trivial if simply else fitted).rule,
            best_trivial=best,
            advice=advice,
            queries=lists.size,
            nil_queries=int(lists.nil.sum()),
            documents=float(lists.scores.length.mean()),
            promise=None
            if self.keep is None
            else Promise(
                keep=self.keep,
                level=self.level or PROMISED,
                next=self.next,
                kept=rows[KEEP].recall,
                queries=self.with_hits,
            ),
            points=points_of(lists),
            bins=bins_of(lists),
        )

    def _trials(self) -> dict[str, Trial]:
        lists, fit = self.lists, self.chooser.fit
        chosen = ["auto", *([KEEP] if self.keep is not None else [])]
        empty = np.zeros((self.repeats, lists.size), np.int64)
        trials = {name: Trial(empty.copy()) for name in (*chosen, *self.rules, *PLAIN)}
        for repeat in range(self.repeats):
            mixed = np.random.default_rng([self.seed, repeat])
            fold = tuning.folds_of(lists.nil, self.folds, mixed)
            for part in range(self.folds):
                train, judge = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
                fits = {name: fit(name, train, judge) for name in (*PLAIN, *self.rules)}
                draw = np.random.default_rng([self.seed, repeat, part + 1])
                fits["auto"] = fits[self.chooser.choose(train, draw)]
                if self.keep is not None:
                    fits[KEEP] = self._fit(train, judge, draw)
                for name, fitted in fits.items():
                    trials[name].depth[repeat, judge] = fitted.depth
                    if name in chosen:
                        trials[name].chosen[fitted.rule.rule] += 1
                    if name not in PLAIN:
                        trials[name].looked.append(self._looked(fitted, train))
        oracle = np.minimum(lists.values.argmax(axis=1), lists.scores.length)
        return trials | {"oracle": Trial(oracle[None])}

    def _fit(self, train: Ints, judge: Ints, draw: np.random.Generator) -> Fitted:
        if self.keep is not None:
            delta = error_of(self.level or PROMISED)
            following = max(1, self.with_hits // self.folds) if self.next else None
            return tuning.keeping(self.chooser, train, judge, self.keep, delta, following)
        name = self.chooser.choose(train, draw) if self.rule == "auto" else self.rule
        return self.chooser.fit(name, train, judge)

    def _looked(self, fitted: Fitted, train: Ints) -> float:
        if fitted.looked is not None:
            return fitted.looked
        some = train[:: -(-len(train) // LOOKED_AT)]
        depth = fitted.rule.depths(self.lists.scores.table[some])
        return float(self.lists.at(depth, some).mean())

    def _row(self, name: str, trial: Trial, scores: dict[str, Floats], best: str) -> CutRow:
        lists, nil, score, budget = self.lists, self.lists.nil, scores[name], self.budget
        bottom, top = self.measure.bounds
        kept, silent = trial.depth.mean(axis=0), (trial.depth == 0).mean(axis=0)
        lost = tuning.losses(lists, trial.depth.T, np.arange(lists.size))
        recall = 1 - lost[~np.isnan(lost[:, 0])]
        numbers = {
            **self._mean("score", score, bottom, top),
            **self._mean("kept", kept, 0.0, np.inf),
            **self._mean("gain", score - scores["everything"], bottom - top, top - bottom),
            **self._mean("over_best", score - scores[best], bottom - top, top - bottom),
        }
        return CutRow(
            run=self.run,
            rule=name,
            reference=name in REFERENCES,
            **numbers,
            recall=float(recall.mean()) if len(recall) else None,
            silent=float(silent[nil].mean()) if nil.any() else None,
            silent_others=float(silent[~nil].mean()) if not nil.all() else None,
            optimism=number(np.mean(trial.looked) - score.mean()) if trial.looked else None,
            chosen=dict(trial.chosen.most_common()),
            within_budget=None if budget is None else (numbers["kept_low"] or 0.0) <= budget,
        )

    def _mean(self, name: str, values: Floats, bottom: float, top: float) -> dict[str, Any]:
        """A mean over queries, with its interval (Student's t) within what it can be at all."""
        low, high = Mean.of(values, np.ones(len(values))).limits(self.level or LEVEL)
        ends = "" if name == "score" else f"{name}_"
        return {
            name: number(values.mean()),
            f"{ends}low": number(max(low, bottom)),
            f"{ends}high": number(min(high, top)),
        }

    def _advice(self, row: CutRow, fitted: Fitted, trivial: Fitted, best: str) -> str:
        """What the rule asked for gains over the best trivial policy, in one word."""
        is_trivial = fitted.rule.rule in self.trivial or (fitted.depth == trivial.depth).all()
        if is_trivial or (row.over_best or 0.0) <= CHANCE:
            return "nothing" if best == "nothing" and self.asked == "auto" else "not"
        return "cut" if (row.over_best_low or 0.0) > CHANCE else "perhaps"

    def remarks(self) -> Iterator[str]:
        lists, scores = self.lists, self.lists.scores
        if "expected" not in self.rules:
            why = f"{self.measure} cannot be computed for every depth of a list"
            yield f"the rule 'expected' is left out: {why}"
        if scores.length.any() and not (scores.top > scores.lowest).any():
            yield "all scores within each list are equal: only the number of documents can decide"
        if lists.nil.all():
            yield "no query has a relevant document: the best list is empty"


BINS = 40
POOLED = 4000  # scores that a mixture is fitted to at most
DEPTHS = 120  # depths that a chart shows at most: all of the first, ever fewer then


def points_of(lists: Lists) -> tuple[Point, ...]:
    most = lists.values.shape[1] - 1
    depths = np.unique(np.geomspace(1, most + 1, DEPTHS).astype(np.int64) - 1)
    if most < DEPTHS:
        depths = np.arange(most + 1)
    reached = np.searchsorted(np.sort(lists.values.argmax(axis=1)), depths, side="right")
    has = lists.hits[:, -1] > 0
    recall = lists.hits[has] / lists.hits[has, -1:]
    return tuple(
        Point(
            depth=int(depth),
            score=float(lists.values[:, depth].mean()),
            kept=float(np.minimum(lists.scores.length, depth).mean()),
            recall=float(recall[:, depth].mean()) if has.any() else None,
            best_for=int(count),
        )
        for depth, count in zip(depths, np.diff(reached, prepend=0), strict=True)
    )


def bins_of(lists: Lists) -> tuple[Bin, ...]:
    from scipy.special import ndtr

    scores = lists.scores.table[lists.scores.inside]
    relevant = lists.relevant[lists.scores.inside]
    if not len(scores) or scores.min() == scores.max():
        return ()
    edges = np.linspace(scores.min(), scores.max(), BINS + 1)
    some = np.sort(scores)[:: max(1, len(scores) // POOLED)] - edges[0]
    share, mean, deviation, scale = (float(part[0]) for part in fit_mixture(some[None]))
    at = (edges[:-1] + edges[1:]) / 2 - edges[0]
    normal = np.exp(-0.5 * ((at - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    every = len(scores) * (edges[1] - edges[0])
    columns = {
        "low": edges[:-1],
        "high": edges[1:],
        "relevant": np.histogram(scores[relevant], edges)[0],
        "others": np.histogram(scores[~relevant], edges)[0],
        "fitted_relevant": every * share * normal / ndtr(mean / deviation),
        "fitted_others": every * (1 - share) * np.exp(-at / scale) / scale,
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return tuple(Bin(**dict(zip(columns, row, strict=True))) for row in rows)
