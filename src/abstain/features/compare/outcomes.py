"""Runs compared by a measure of counts: from the outcomes of paired questions.

With partial credit each question is a small cluster of shares right and wrong. Its joint counts are
the product of what it adds to each run. A difference depends on the counts of each run alone, so
its influence is exact; swapping whole questions tests it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from msgspec import structs

from abstain.errors import UsageError, option
from abstain.features.compare import comparison, judge_errors
from abstain.features.compare.resampled import HALL
from abstain.features.compare.result import CompareResult, Corrected
from abstain.features.compare.transitions import origin_of
from abstain.measures import Measure
from abstain.measures.definition import Array, Codes, IntArray, summed
from abstain.outcomes import EMPTY, KINDS
from abstain.report.result import ends, finite
from abstain.runs.partial import check_interval, summed_by
from abstain.stats import delta_method, hypotheses, intervals, proportions
from abstain.stats.delta_method import cells_of, influence, one_run, standard_error
from abstain.stats.intervals import DEFAULT, OF_ONE_PROPORTION, SMOOTH, Interval
from abstain.stats.randomisation import PValue, randomise

AT_ONCE = 1 << 16
BLOCK = 1 << 21
LEAST_RARER = 10
"""Responses with the rarer outcome that a bootstrap of a proportion needs of a run."""
MOST_CORRECTED = 100
NO_SPREAD = 1e-9
"""Standard errors below this are what numerical derivatives leave of none."""
TIE = 1e-8
"""What they leave of a question that both runs answer alike."""


class OutcomeComparison(comparison.OfQuestions):
    """Runs by the counts of their outcomes, pairs by their joint counts."""

    def __init__(
        self,
        common: comparison.Common,
        chosen: Measure,
        options: comparison.Options,
        by: Sequence[str] = (),
        judge_error: Any = None,
        judge_drawn: judge_errors.JudgeDrawn | None = None,
    ) -> None:
        super().__init__(common, chosen, options)
        if options.test == "mcnemar" and common.whole.data.cluster is not None:
            raise UsageError("McNemar's test does not support clusters; use randomisation")
        if by and len(self.runs) != 2:
            raise UsageError(f"{option('by')} needs exactly two runs (got {len(self.runs)})")
        self.by = by
        self.confusion = None if judge_error is None else judge_errors.read_confusion(judge_error)
        if self.confusion is not None:
            self.drawn = judge_errors.check_drawn(judge_drawn, self.confusion)
            judge = {"confusion": self.confusion, "drawn": self.drawn, "seed": options.seed}
            self.judge: Any = judge
        data, self.cells = common.evaluation.data, cells_of(chosen)
        self.codes, self.tables = data.ends, self.counts
        self.decides = chosen.definition.takes == "decisions"
        if self.decides:
            self.codes, self.tables = data.decision_codes, data.decided()
        self.difference = delta_method.difference(chosen)
        self.scores = [chosen(self.tables[run]) for run in range(len(self.runs))]
        self.clusters = None if self.cluster_of is None else int(self.cluster_of.max()) + 1
        self.shows_spread = self.questions > 1 and self.clusters != 1
        known = chosen.definition
        # whether an answer was due is no chance of the run's: its test is that of all measures
        of_answers = known.studentised and not self.decides
        self.is_proportion_of_answers = of_answers and known.proportion is not None
        self.lacks_candidates = known.needs_candidates and bool(self.counts.unsplit.any())
        self.seeded: Any = {"trials": options.resamples, "seed": options.seed}
        self.drawing: Any = {"level": options.level, **self.seeded}

    @cached_property
    def joint(self) -> IntArray:
        """Joint counts (pairs, k, k): rows the other run's outcome, columns the run's."""
        k, runs = len(self.cells), len(self.runs)
        others = sorted({j for _, j in self.wanted})
        total = np.zeros((len(others) * k, runs * k))
        for start in range(0, self.questions, AT_ONCE):
            part = self.cells.of(self.codes[:, start : start + AT_ONCE])
            hot = (part[:, None, :] == np.arange(k)[:, None]).reshape(runs * k, -1)
            hot = hot.astype(np.float32)
            total += hot.reshape(runs, k, -1)[others].reshape(len(others) * k, -1) @ hot.T
        whole = np.rint(total).astype(np.int64).reshape(len(others), k, runs, k)
        place = {run: at for at, run in enumerate(others)}
        run, other = [i for i, _ in self.wanted], [place[j] for _, j in self.wanted]
        return whole[other, :, run, :]

    def by_unit(self, run: int) -> Array:
        cells, kinds = self.cells.of(self.codes[run]), len(self.cells)
        clustered = self._by_cluster(cells, kinds)
        return np.eye(kinds)[cells] if clustered is None else clustered

    def clustered_joint(self, run: int, other: int) -> Array | None:
        k, (one, two) = len(self.cells), self.cells.of(self.codes[[other, run]])
        return self._by_cluster(one.astype(np.int64) * k + two, k * k)

    def _by_cluster(self, cells: Codes | IntArray, kinds: int) -> Array | None:
        if self.cluster_of is None or self.clusters is None:
            return None
        bins = np.bincount(self.cluster_of * kinds + cells, minlength=self.clusters * kinds)
        return bins.reshape(self.clusters, kinds).astype(np.float64)

    def joint_cells(self, of: Sequence[int]) -> Iterator[tuple[list[int], Array, Array | None]]:
        size = len(self.cells) ** 2
        at_once = max(1, BLOCK // (size * max(self.clusters or 0, size)))
        for start in range(0, len(of), at_once):
            some = list(of[start : start + at_once])
            cells = self.joint[some].reshape(len(some), -1).astype(np.float64)
            tables: list[Any] = [self.clustered_joint(*self.wanted[number]) for number in some]
            yield some, cells, None if self.clusters is None else np.stack(tables)

    @cached_property
    def worth(self) -> Array:
        """The effective sample size of each run, as a share of its questions."""
        if self.cluster_of is None:
            return np.ones(len(self.runs))
        f, level = one_run(self.chosen), self.options.level
        tables = [self.by_unit(run) for run in range(len(self.runs))]
        worth = [delta_method.effective(f, t.sum(axis=0), t, level=level) for t in tables]
        return np.minimum(np.nan_to_num(np.array(worth) / self.questions, nan=1.0), 1.0)

    def intervals(self) -> tuple[list[Interval], Array]:
        options, f, enough = self.options, self.difference, self.shows_spread
        method = DEFAULT if options.method in OF_ONE_PROPORTION else options.method
        name = "mover" if method == DEFAULT and self.is_proportion_of_answers else method
        spans: list[Interval] = []
        errors: list[float] = []
        for some, cells, groups in self.joint_cells(range(len(self.joint))):
            error = standard_error(f, cells, groups) if enough else np.full(len(cells), np.nan)
            errors += [0.0 if e < NO_SPREAD else float(e) for e in error]
            if enough and options.method in SMOOTH:
                limits = self._limits(method, some, cells, groups, options.level)
                spans += [Interval(float(a), float(b), name) for a, b in zip(*limits, strict=True)]
                continue
            tables = [None] * len(cells) if groups is None else groups
            spans += [
                intervals.cell_interval(f, joint, clusters=table, method=method, **self.drawing)
                for joint, table in zip(cells, tables, strict=True)
            ]
        return spans, np.array(errors)

    def too_few(self, run: int) -> str:
        known, test = self.chosen.definition, self.options.test
        if not known.divides_by or test == "mcnemar":
            return ""
        seen, has = f"{self.runs[run]} has only", int(summed(self.tables, known.divides_by)[run])
        counted = f"{seen} {has:,} responses that count"
        if test != "bootstrap":
            return comparison.too_few(f"a test by {self.measure}", counted, has, known.least)
        name = f"a bootstrap of {self.measure}"
        why = comparison.too_few(name, counted, has, max(known.least, comparison.LEAST_RESAMPLED))
        if why or known.proportion is None:
            return why
        right = int(summed(self.tables, known.proportion.successes)[run])
        rarer = min(right, has - right)
        seen = f"{seen} {rarer:,} responses with the rarer outcome"
        return comparison.too_few(name, seen, rarer, LEAST_RARER)

    def interval(self, run: int) -> Interval:
        return intervals.interval(
            self.chosen,
            self.tables[run],
            clusters=self._by_cluster(self.codes[run], 6),
            method=self.options.method,
            **self.drawing,
        )

    def errors_to_plan_with(self, errors: Array) -> Array:
        if not self.chosen.definition.studentised:
            return errors
        cells = self.joint.reshape(len(self.joint), -1).astype(np.float64)
        padded = standard_error(self.difference, cells + self.difference.prior, None)
        return np.asarray(np.where(errors > 0, np.maximum(errors, padded), errors))

    def tested(self) -> list[PValue]:
        """The p of each pair; not below that of its interval where that shows no difference.

        Swaps and resamples err where runs of equal score answer unlike parts of few questions or
        clusters, or where an outcome that was not seen would weigh much. Of many pairs the interval
        has the level that the first of them needs after correction.
        """
        tested, options = self._tested(), self.options
        by_score = self.is_proportion_of_answers and self.cluster_of is None
        if options.test == "mcnemar" or by_score or not self.shows_spread:
            return tested
        low_p = [k for k, pair in enumerate(tested) if pair.p <= options.alpha + comparison.CLOSE]
        for some, cells, groups in self.joint_cells(low_p):
            low, high = self._limits(DEFAULT, some, cells, groups, 1 - self.aim)
            for at in np.flatnonzero((low <= 0) & (high >= 0)):
                one = slice(at, at + 1)
                pair = some[one], cells[one], None if groups is None else groups[one]
                p = hypotheses.interval_p(partial(self._limits, DEFAULT, *pair))
                seen = tested[some[at]]
                tested[some[at]] = replace(seen, p=max(seen.p, p), of_interval=True)
        return tested

    def _limits(
        self, method: str, some: Sequence[int], cells: Array, groups: Array | None, level: float
    ) -> tuple[Array, Array]:
        """The ends of the intervals of some pairs; of proportions by MOVER."""
        if method != DEFAULT or not self.is_proportion_of_answers:
            return SMOOTH[method](self.difference, cells, groups, level=level)
        k = len(self.cells)

        def tables(of: Array) -> Array:
            return proportions.tables(self.chosen, of.reshape(*of.shape[:-1], k, k))

        both = tables(cells)
        worth = self.worth[np.array([self.wanted[number] for number in some])].T
        together = proportions.correlation(both, None if groups is None else tables(groups))
        return proportions.mover(both, (worth[0], worth[1]), together, level=level)

    def _tested(self) -> list[PValue]:
        options, wanted, joint = self.options, self.wanted, self.joint
        if options.test == "mcnemar":
            self.step(len(wanted))
            both = zip(joint[:, 1:, 0].sum(axis=1), joint[:, 0, 1:].sum(axis=1), strict=True)
            return [PValue(hypotheses.mcnemar(int(a), int(b)), exact=True) for a, b in both]
        if options.test == "bootstrap":
            tested = []
            for pair, table in zip(wanted, joint, strict=True):
                values = intervals.resampled(
                    self.difference.value,
                    table.ravel().astype(np.float64),
                    self.clustered_joint(*pair),
                    trials=options.resamples,
                    generator=np.random.default_rng(options.seed),
                )
                tested.append(PValue(hypotheses.bootstrap_p(values), exact=False))
                self.step()
            return tested
        if self.clusters is not None:
            tables = np.stack([self.by_unit(run) for run in range(len(self.runs))])
            flips = hypotheses.Flips(self.clusters, **self.seeded)
            return hypotheses.randomise_clusters(self.chosen, tables, wanted, flips, self.step)
        if self.is_proportion_of_answers:
            tables = proportions.tables(self.chosen, joint)
            return proportions.p_values(tables, progress=self.step, **self.seeded)
        known = self.chosen.definition
        if self.decides and known.proportion is not None and not known.studentised:
            self.step(len(wanted))  # swaps that keep the trials of each run are McNemar's test
            tables = proportions.tables(self.chosen, joint)
            return [
                PValue(hypotheses.mcnemar(int(t[1, 0]), int(t[0, 1])), exact=True) for t in tables
            ]
        return randomise(self.chosen, joint, progress=self.step, **self.seeded)

    def row(self, run: int) -> dict[str, Any]:
        row: dict[str, Any] = {"numbers": self.counts[run].to_dict()}
        if self.unknown.any() and not self.decides:
            unknown = int(self.unknown[run])
            low, high = judge_errors.bounds_of(self.chosen, self.known[run], unknown)
            row |= {"unknown": unknown, "bounds": {self.measure: (finite(low), finite(high))}}
        if self.confusion is not None:
            cells = self.cells.merge(self.counts.table[run])
            score, span = self._corrected(
                cells, None if self.clusters is None else self.by_unit(run)
            )
            row["corrected"] = {self.measure: finite(score)}
            row["corrected_intervals"] = {self.measure: ends(span)}
        return row

    def _corrected(self, cells: Array, clusters: Array | None) -> tuple[float, Interval]:
        how = {"clusters": clusters, "level": self.options.level, **self.judge}
        return judge_errors.correct_for_judge(self.chosen, cells, **how)

    def corrected(self) -> tuple[Corrected, ...]:
        if self.confusion is None or len(self.wanted) > MOST_CORRECTED:
            return ()
        found = []
        for (run, other), joint in zip(self.wanted, self.joint, strict=True):
            cells = joint.ravel().astype(np.float64)
            gap, span = self._corrected(cells, self.clustered_joint(run, other))
            names = {"run": self.runs[run], "against": self.runs[other]}
            found.append(Corrected(**names, difference=finite(gap), interval=ends(span)))
        return tuple(found)

    def facts(self) -> dict[str, Any]:
        facts = {**self.common.facts(), "studentised": self.chosen.definition.studentised}
        if len(self.runs) == 2 and not self.lacks_candidates:
            data, (run, other) = self.common.evaluation.data, self.wanted[0]
            ids, slices = data.with_attributes(())["question"], [*map(data.slices, self.by)]
            pair = [other, run]
            marked = data.source.count_kinds(()).table[:, KINDS:].any()
            decided = data.decision_codes[pair] if marked else None
            one, two = np.minimum(self.codes[pair], EMPTY)  # nothing is known of either
            facts["origin"] = origin_of(self.chosen, one, two, ids, slices, decided)
        if self.confusion is not None:
            facts |= {"judge_sample": int(self.confusion.sum()), "judge_drawn": self.drawn}
            facts["corrected"] = self.corrected()
            facts["never_checked"] = judge_errors.never_checked(self.confusion, self.drawn)
        return facts


class PartialComparison(OutcomeComparison):
    """Runs by the sums of their shares, pairs by question or by cluster."""

    def __init__(
        self, common: comparison.Common, chosen: Measure, options: comparison.Options, *asked: Any
    ) -> None:
        by, judge_error, _ = asked
        counts = {"by": by, "judge_error": judge_error is not None}
        counts["test"] = options.test == "mcnemar"
        for name in (name for name, asked in counts.items() if asked):
            raise UsageError(
                f"{option(name)} needs answers that are right or wrong, and "
                f"{option('partial')} makes shares of them"
            )
        check_interval(options.method)
        super().__init__(common, chosen, options)
        self.of_questions = self.cluster_of is None
        if self.cluster_of is None:
            self.cluster_of, self.clusters = np.arange(self.questions), self.questions
        data = common.evaluation.data
        self.every = np.stack([data.each(run) for run in range(len(self.runs))])
        self.shares = self.cells.merge(self.every)

    @cached_property
    def joint(self) -> Array:  # type: ignore[override]
        """Joint sums (pairs, k, k): rows the other run's outcome, columns the run's."""
        return np.stack([self.shares[other].T @ self.shares[run] for run, other in self.wanted])

    def by_unit(self, run: int) -> Array:
        return self._in_clusters(self.shares[run])

    def clustered_joint(self, run: int, other: int) -> Array:
        both = self.shares[other][:, :, None] * self.shares[run][:, None, :]
        return self._in_clusters(both.reshape(self.questions, -1))

    def _in_clusters(self, table: Array) -> Array:
        assert self.cluster_of is not None
        return table if self.of_questions else summed_by(self.cluster_of, table)

    def interval(self, run: int) -> Interval:
        return intervals.interval(
            self.chosen,
            self.counts[run],
            clusters=self._in_clusters(self.every[run]),
            method=self.options.method,
            **self.drawing,
        )

    def _limits(
        self, method: str, some: Sequence[int], cells: Array, groups: Array | None, level: float
    ) -> tuple[Array, Array]:
        assert groups is not None
        if method != DEFAULT:
            return SMOOTH[method](self.difference, cells, groups, level=level)
        gaps, psi = self.difference.value(cells), influence(self.difference, cells)
        limits = []
        for gap, slopes, table in zip(gaps, psi, groups, strict=True):
            sizes = table.sum(axis=-1)
            scores = gap * sizes + table @ slopes  # a mean of these is the difference
            differs = np.abs(scores) > TIE
            paired = hypotheses.Paired.of(np.where(differs, scores, 0), sizes, differs)
            limits.append(paired.limits(level))
        low, high = np.array(limits).T
        return np.maximum(low, -self.widest), np.minimum(high, self.widest)

    def intervals(self) -> tuple[list[Interval], Array]:
        spans, errors = super().intervals()
        usual = (DEFAULT, "mover")
        return [replace(s, method=HALL) if s.method in usual else s for s in spans], errors

    def row(self, run: int) -> dict[str, Any]:
        return {"numbers": self.counts[run].to_dict()}

    def facts(self) -> dict[str, Any]:
        return {**self.common.facts(), "studentised": self.chosen.definition.studentised}

    def result(self, adjusted: Array, plain: Array) -> CompareResult:
        result = super().result(adjusted, plain)
        return structs.replace(result, clusters=None) if self.of_questions else result
