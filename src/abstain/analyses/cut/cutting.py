"""`cut`: where rankings should stop, by rules tuned on some queries and judged on others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.cut.choosing import PLAIN, Chooser, Fitted, folds_of
from abstain.analyses.cut.facts import bins_of, points_of
from abstain.analyses.cut.lists import Lists, of_run
from abstain.analyses.cut.promises import keeping, losses
from abstain.analyses.cut.result import CutResult, CutRow, CutRun, Promise
from abstain.analyses.cut.rules import REFERENCES, RULES, Rule, RuleName
from abstain.analyses.cut.shapes import finite, origin_of
from abstain.analyses.result import number, read_as
from abstain.errors import UnknownNameError, UsageError, option, plural, shown
from abstain.rankings.listed import require_scores, score_table
from abstain.stats.intervals import check_level, check_repeats
from abstain.stats.means import Mean

if TYPE_CHECKING:
    from abstain.measures import Measure
    from abstain.measures.kinds import RankingMeasure
    from abstain.measures.ranked_lists import Floats, Ints
    from abstain.rankings.rankings import Rankings

FOLDS = 5
KEEP = "keep"
"""What the rule of a promise is called."""
LOOKED_AT = 200
"""Queries tuned on that are looked at, where a rule's optimism is asked for."""


def cut(
    rankings: Rankings,
    *,
    maximise: str | Measure = "AP'",
    rule: RuleName = "auto",
    keep: float | None = None,
    delta: float = 0.1,
    next_queries: bool = False,
    budget: float | None = None,
    folds: int | None = None,
    repeats: int = 1,
    run: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> CutResult:
    """Choose where rankings stop on some queries, and judge it on others.

    Args:
        rankings: What was read, with scores.
        maximise: The measure to be as high as possible: AP', RBP'(p=0.8), NDCG', SetF, …
        rule: The rule to use from now on; the others are judged as well. `auto` chooses one.
        keep: Instead of the best score, promise that at least this share of the relevant documents
            in the lists is kept, with as few documents as possible.
        delta: With `keep`, the probability that the promise is broken.
        next_queries: With `keep`, whether to promise the observed share on the next queries (as
            many as a fold has with a relevant document in their list), not only the expected share.
        budget: At most this many documents per query on average.
        folds: Judge each of so many parts with rules tuned on the others (5).
        repeats: So many times, with new random folds each time.
        run: Only this run.
        level: The level of intervals.
        seed: The seed of the random folds.
    """
    from abstain.rankings.rankings import ranking_measures

    (measure,) = ranking_measures(maximise)
    _check(measure, rule, keep, delta, budget, repeats, next_queries=next_queries)
    check_level(level)
    require_scores(rankings.settings.ties == "rank")
    own = rankings if run is None else rankings.only(runs=[run])
    if not own.origins:
        raise UsageError("these rankings have no scores: read them with read_rankings")
    tables = score_table(own.origins, own.lists)
    rows: list[CutRow] = []
    runs: list[CutRun] = []
    notes: list[str] = []
    used = 0
    for at, name in enumerate(own.runs):
        table, infinite = finite(tables.pop(name))
        lists = own.lists.only([at], range(len(own.queries)))
        judged = of_run(lists, table, measure, origin_of(table))
        counted = own.counted[at] & ~np.isnan(judged.values).any(axis=1)
        if own.settings.trec_eval:
            counted = own.counted[at]
        left = int((~counted).sum())
        if left:
            notes.append(
                f"run {shown(name)}: {plural(left, 'query', 'queries')} left out, because "
                f"{measure} is undefined or the run has no list"
            )
        if infinite:
            notes.append(
                f"run {shown(name)}: {plural(infinite, 'infinite score')} replaced by the largest "
                "or smallest finite score"
            )
        some = np.flatnonzero(counted)
        if len(some) < 2:
            raise UsageError(
                f"a rule is tuned on some queries and judged on others: expected at least 2 "
                f"queries (run {shown(name)} has {plural(len(some), 'query', 'queries')})"
            )
        used = min(folds or FOLDS, len(some))
        if folds is not None and not 2 <= folds <= len(some):
            raise UsageError(
                f"{option('folds')} is from 2 to the number of queries, {len(some):,} (got {folds})"
            )
        ids = np.array(own.queries)[some]
        task = Task(
            name,
            judged.only(some[np.argsort(ids, kind="stable")]),  # so that the order of rows is none
            measure,
            rule,
            keep,
            delta,
            next_queries,
            budget,
            used,
            repeats,
            level,
            seed,
        )
        more, found, said = task.result()
        rows += more
        runs.append(found)
        notes += said
    return CutResult(
        **read_as(own, *notes, clusters=False),
        measure=str(measure),
        asked=KEEP if keep is not None else rule,
        folds=used,
        repeats=repeats,
        level=level,
        seed=seed,
        budget=budget,
        rows=tuple(rows),
        runs=tuple(runs),
    )


def _check(
    measure: RankingMeasure,
    rule: str,
    keep: float | None,
    delta: float,
    budget: float | None,
    repeats: int,
    *,
    next_queries: bool,
) -> None:
    if not measure.higher_is_better:
        raise UsageError(
            f"{option('maximise')} needs a measure where higher is better (got {measure})"
        )
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES, hint=f"there are {', '.join(RULES)}")
    if keep is not None and not 0 < keep < 1:
        raise UsageError(f"{option('keep')} is a share between 0 and 1, such as 0.9 (got {keep:g})")
    if not 0 < delta < 1:
        raise UsageError(f"{option('delta')} lies between 0 and 1, such as 0.1 (got {delta:g})")
    if next_queries and keep is None:
        raise UsageError(f"{option('next_queries')} needs {option('keep')}")
    if keep is not None and (rule != "auto" or budget is not None):
        other = option("budget") if budget is not None else option("rule")
        raise UsageError(f"{option('keep')} and {other} exclude each other")
    if budget is not None and not 0 <= budget < float("inf"):
        raise UsageError(f"{option('budget')} is 0 or more documents per query (got {budget:g})")
    check_repeats(repeats)


@dataclass
class Held:
    """What a rule did to queries that had no say in it: sums over repeats."""

    score: Floats
    kept: Floats
    recall: Floats
    silent: Floats
    looked: list[float] = field(default_factory=list)
    """Of each part: the mean score of the queries tuned on."""
    chosen: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Task:
    """One run, and how it is to be cut."""

    run: str
    lists: Lists
    measure: RankingMeasure
    rule: str
    keep: float | None
    delta: float
    next_queries: bool
    budget: float | None
    folds: int
    repeats: int
    level: float
    seed: int

    def result(self) -> tuple[list[CutRow], CutRun, list[str]]:
        """Its rows, the rule to use, and what there is to say."""
        lists, notes = self.lists, []
        rules = [name for name in RULES if name != "auto"]
        if self.measure.definition.by_depth is None:
            rules.remove("expected")
            notes.append(
                f"the rule 'expected' is left out: {self.measure} cannot be computed for every "
                "depth of a list"
            )
            if self.rule == "expected":
                raise UsageError(f"the rule 'expected' cannot be used with {self.measure}")
        chooser = Chooser(lists, self.measure, rules, self.budget)
        promised: list[bool] = []
        names = [*PLAIN, *rules, "auto", *([KEEP] if self.keep is not None else [])]
        held = {name: Held(*np.zeros((4, lists.size))) for name in names}
        for repeat in range(self.repeats):
            fold = folds_of(lists.nil, self.folds, np.random.default_rng([self.seed, repeat]))
            for part in range(self.folds):
                train, judge = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
                fits: dict[str, Fitted] = {}
                for name in names[: len(PLAIN) + len(rules)]:
                    fits[name] = chooser.fit(name, train, judge)
                draw = np.random.default_rng([self.seed, repeat, part + 1])
                picked = chooser.choose(train, draw)
                fits["auto"] = fits[picked]
                held["auto"].chosen[picked] += 1
                if self.keep is not None:
                    fits[KEEP] = self._keeping(chooser, train, judge)
                    held[KEEP].chosen[fits[KEEP].rule.rule] += 1
                    lost = losses(lists, fits[KEEP].depth[:, None], judge)
                    if not np.isnan(lost).all():
                        promised.append(bool(np.nanmean(lost) <= 1 - self.keep + 1e-12))
                for name, fit in fits.items():
                    self._note(held[name], fit, judge)
                    if name not in PLAIN:
                        self._look(held[name], fit, train)
        rows = self._rows(held)
        every = np.arange(lists.size)
        if self.keep is not None:
            last = self._keeping(chooser, every, every).rule
        else:
            draw = np.random.default_rng([self.seed, self.repeats, 0])
            name = chooser.choose(every, draw) if self.rule == "auto" else self.rule
            last = chooser.fit(name, every, every).rule
        own = CutRun(
            run=self.run,
            rule=last,
            best_reference=self._best_reference(held),
            advice=self._advice(rows, last),
            queries=lists.size,
            nil_queries=int(lists.nil.sum()),
            documents=float(lists.scores.length.mean()),
            promise=self._promise(promised),
            points=points_of(lists),
            bins=bins_of(lists),
        )
        return rows, own, [*notes, *self._said()]

    def _keeping(self, chooser: Chooser, train: Ints, judge: Ints) -> Fitted:
        assert self.keep is not None
        following = None
        if self.next_queries:
            following = max(1, int((self.lists.found[:, -1] > 0).sum()) // self.folds)
        return keeping(chooser, train, judge, keep=self.keep, delta=self.delta, following=following)

    def _note(self, held: Held, fit: Fitted, judge: Ints) -> None:
        """Add what a rule did to the judged queries."""
        held.score[judge] += self.lists.at(fit.depth, judge) / self.repeats
        held.kept[judge] += fit.depth / self.repeats
        held.recall[judge] += (
            1 - losses(self.lists, fit.depth[:, None], judge)[:, 0]
        ) / self.repeats
        held.silent[judge] += (fit.depth == 0) / self.repeats

    def _look(self, held: Held, fit: Fitted, train: Ints) -> None:
        """Note how a rule looks on the queries it was tuned on, or on some of them."""
        if fit.looked is not None:
            held.looked.append(fit.looked)
            return
        some = train[:: max(1, -(-len(train) // LOOKED_AT))]
        depth = fit.rule.depths(self.lists.scores.table[some])
        held.looked.append(float(self.lists.at(depth, some).mean()))

    # ---------------------------------------------------------------------------------- in numbers

    def _best_reference(self, held: dict[str, Held]) -> str:
        fits = [
            name
            for name in PLAIN
            if self.budget is None or held[name].kept.mean() <= self.budget or name == "nothing"
        ]
        return max(fits, key=lambda name: float(held[name].score.mean()))

    def _rows(self, held: dict[str, Held]) -> list[CutRow]:
        best = held[self._best_reference(held)].score
        everything = held["everything"].score
        order = ["auto", *([KEEP] if self.keep is not None else [])]
        order += [name for name in RULES if name in held and name != "auto"]
        rows = [self._row(name, held[name], everything, best) for name in [*order, *PLAIN]]
        depth = self.lists.values.argmax(axis=1)
        oracle = Held(*np.zeros((4, self.lists.size)))
        at = np.arange(self.lists.size)
        for _ in range(self.repeats):
            self._note(
                oracle, Fitted(Rule(rule="oracle"), np.minimum(depth, self.lists.scores.length)), at
            )
        return [*rows, self._row("oracle", oracle, everything, best)]

    def _row(self, name: str, held: Held, everything: Floats, best: Floats) -> CutRow:
        score, low, high = self._mean(held.score, self.measure.bounds)
        kept, kept_low, kept_high = self._mean(held.kept, (0.0, np.inf))
        bottom, top = self.measure.bounds
        gain = self._mean(held.score - everything, (bottom - top, top - bottom))
        over = self._mean(held.score - best, (bottom - top, top - bottom))
        nil = self.lists.nil
        known = held.recall[~np.isnan(held.recall)]
        return CutRow(
            run=self.run,
            rule=name,
            reference=name in REFERENCES,
            score=score,
            low=low,
            high=high,
            kept=kept or 0.0,
            kept_low=kept_low,
            kept_high=kept_high,
            recall=float(known.mean()) if len(known) else None,
            silent=float(held.silent[nil].mean()) if nil.any() else None,
            silent_others=float(held.silent[~nil].mean()) if not nil.all() else None,
            gain=gain[0],
            gain_low=gain[1],
            gain_high=gain[2],
            over_best=over[0],
            over_best_low=over[1],
            over_best_high=over[2],
            optimism=number(np.mean(held.looked) - held.score.mean()) if held.looked else None,
            chosen=dict(held.chosen.most_common()),
            within_budget=None if self.budget is None else (kept_low or 0.0) <= self.budget,
        )

    def _mean(
        self, values: Floats, bounds: tuple[float, float] = (-np.inf, np.inf)
    ) -> tuple[float | None, float | None, float | None]:
        """A mean over queries with its interval (Student's t), within what it can be at all."""
        mean = Mean.of(values, np.ones(len(values)))
        low, high = mean.limits(self.level)
        return number(mean.value), number(max(low, bounds[0])), number(min(high, bounds[1]))

    # ----------------------------------------------------------------------------------- in words

    def _advice(self, rows: list[CutRow], last: Rule) -> str:
        """What to do, by what the rule asked for gained over keeping everything."""
        asked = KEEP if self.keep is not None else self.rule
        row = next(row for row in rows if row.rule == asked)
        if asked == KEEP:
            return "not" if last.rule == "everything" else "cut"
        if self.budget is not None:
            return "cut"
        keeps_all = bool((last.depths(self.lists.scores.table) == self.lists.scores.length).all())
        if keeps_all or row.gain is None or row.gain <= 0:
            return "not"
        if (row.gain_low or 0.0) <= 0:
            return "perhaps"
        return "nothing" if last.rule == "nothing" or last.k == 0 else "cut"

    def _promise(self, promised: list[bool]) -> Promise | None:
        if self.keep is None:
            return None
        return Promise(
            keep=self.keep,
            delta=self.delta,
            next_queries=self.next_queries,
            parts=len(promised),
            held=sum(promised),
            queries=int((self.lists.found[:, -1] > 0).sum()),
        )

    def _said(self) -> list[str]:
        """What a reader should know of unusual lists."""
        lists, said = self.lists, []
        of = f"run {shown(self.run)}: "
        if not lists.scores.length.any():
            said.append(f"{of}every list is empty: there is nothing to cut")
        elif not (lists.scores.top > lists.scores.lowest).any():
            said.append(
                f"{of}all scores within each list are equal: only the number of documents can "
                "decide where to cut"
            )
        if lists.nil.all():
            said.append(f"{of}no query has a relevant document: the best list is an empty one")
        elif not lists.nil.any():
            said.append(
                f"{of}every query has a relevant document: an empty list is never rewarded here"
            )
        if lists.size < 2 * self.folds:
            said.append(
                f"{of}there are only {lists.size} queries: intervals are wide and rules unstable"
            )
        return said
