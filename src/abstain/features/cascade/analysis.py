"""`cascade`: ask a small model first, a larger one where that is not sure, and stay silent last.

Thresholds are chosen on some questions and judged on others, by the folds of `tune`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from msgspec import structs

from abstain.errors import UsageError, check_name, option, shown
from abstain.features.cascade.frontier import Stages, routing
from abstain.features.cascade.result import ORACLE, RANDOM, Aim, CascadeResult, Gain, Mix
from abstain.features.tune import analysis as tuning
from abstain.features.tune.choose import SILENCE, KeepClusters, KeepRisk
from abstain.features.tune.result import Standing
from abstain.io.frames import collect
from abstain.measures import Measure, count_measure
from abstain.measures.definition import Array, BoolArray, Codes, IntArray
from abstain.outcomes import EXCLUDED, OUTCOME_WORDS, OUTCOMES
from abstain.reading import Reading
from abstain.report.result import finite, number, read_as
from abstain.runs import evaluate
from abstain.runs.evaluation import Evaluation
from abstain.runs.judge import INDEX
from abstain.runs.sources import GoldRuns, count_stated
from abstain.stats.delta_method import few_clusters
from abstain.stats.intervals import check_level, check_repeats, error_of

SHARES = (0.5, 0.8)
"""Of the last stage's gain over the first, which rules beside the chosen one recover."""
TEXTS = ("answer", "candidate")
POINTS = 200

Rule = tuple[float, ...]
Decided = tuple[Codes, BoolArray]
"""On the judged questions: the outcomes, and which questions each stage was asked."""


def cascade(
    gold: Any,
    runs: Any = None,
    *,
    stages: Sequence[str] | None = None,
    cost: Sequence[float] = (1, 20),
    measure: str | Measure = "c@1",
    recover: float | None = None,
    budget: float | None = None,
    risk: float | None = None,
    level: float = 0.9,
    tune_on: Mapping[str, str] | None = None,
    folds: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    **reading: Any,
) -> CascadeResult:
    """Choose where each stage of a cascade sends a question on, and judge it on other questions.

    A stage keeps the questions where its confidence reaches its threshold; the last one answers as
    it did. A blank without a candidate and an answer without a confidence are sent on.

    Args:
        gold: A gold, or an `Evaluation`, which has its runs.
        runs: The runs, the cheapest first.
        stages: Which runs are the stages, in order (all, as they were named).
        cost: What it costs to ask each stage one question.
        measure: The measure of counts to score with and, by default, to maximise.
        recover: Instead, the cheapest thresholds with this share of the last stage's gain.
        budget: Instead, the best score at a mean cost of at most this a question.
        risk: Instead, answer as much as possible with at most this share of wrong answers; the
            last stage abstains too.
        level: With `risk`, the probability that the bound holds.
        tune_on: Attribute to value: choose on questions that have it, judge on the others.
        folds: Otherwise: judge each of so many parts with what the others say (5).
        repeats: Cross-fit so many times, with new random folds each time.
        seed: The seed of the random folds.
        reading: The arguments of `read`.
    """
    check_level(level)
    check_repeats(repeats)
    read = gold if isinstance(gold, Evaluation) else evaluate(gold, runs, Reading.of(**reading))
    aim, value = _aim({"recover": recover, "budget": budget, "risk": risk})
    whole, questions = staged_runs(read, stages, cost, measure)
    if aim == "budget" and (value or 0) < whole.cost[0]:
        least = f"is below {whole.cost[0]:g}, the cost of asking {whole.names[0]}"
        raise UsageError(f"{option('budget', value)} {least}")
    split = tuning.divide(read.data, dict(tune_on or {}), folds, repeats)
    parts = list(tuning.halves_of(split, questions, seed, whole.clusters))
    judged = np.any([judge for _, judge in parts[0]], axis=0)
    seen, names = whole.of(judged), whole.names
    aims: list[tuple[Aim, float | None]] = [("recover", share) for share in SHARES]
    aims = [a for a in aims if aim != "risk" and a != (aim, value)] + [(aim, value)]
    units = tuning.units_by_id(questions, whole.clusters)
    order = np.random.default_rng([seed, len(names)]).permutation(int(units.max(initial=0)) + 1)
    coins: list[tuple[str, Any]] = list(zip(names, np.eye(len(names), dtype=int), strict=True))
    rows = [_scored(seen, name, [weights @ seen.counts], weights) for name, weights in coins]
    kept: list[bool] = []
    for each in aims:
        chooser = Chooser(whole, *each, error_of(level), order[units] % len(names))
        decided = [chooser.cross_fit(halves, judged, kept) for halves in parts]
        rule = chooser.rule(parts[0][0][0] if split.tuned_on else np.ones(len(judged), bool))
        rows.append(_mix(seen, _words(*each, str(whole.measure)), decided, rule))
    chosen, coins = rows[-1], [(f"{name} alone", weights) for name, weights in coins]
    if aim != "risk":
        asked = np.array([*chosen.asked.values(), 0.0])
        coins.append((RANDOM, asked[:-1] - asked[1:]))
        rows.append(_scored(seen, RANDOM, [coins[-1][1] @ seen.counts], coins[-1][1]))
    gains = [_gain(seen, decided, *each) for each in coins]
    rows.append(_mix(seen, ORACLE, [_oracle(seen)]))
    return CascadeResult(
        **read_as(read, *few_clusters(seen.clusters)),
        policy=read.policy.to_dict(),
        touched=read.data.touched,
        questions=len(seen.codes[0]),
        stages=names,
        stage_costs=tuple(map(float, whole.cost)),
        measure=str(whole.measure),
        cluster=read.data.cluster,
        split=split,
        tuned_on=int(parts[0][0][0].sum()),
        seed=seed,
        aim=aim,
        aimed_at=value,
        level=level if aim == "risk" else None,
        kept=(sum(kept), len(kept)) if aim == "risk" else None,
        routing=tuple(routing(seen.pair(first)) for first in range(len(names) - 1)),
        rows=tuple(rows),
        gains=tuple(gains),
        frontier=tuple(_points(seen)),
    )


def _aim(values: dict[str, float | None]) -> tuple[Aim, float | None]:
    asked: list[Any] = [(name, value) for name, value in values.items() if value is not None]
    if asked:
        tuning.exclude(asked[0][0], **dict(asked[1:]))
    recover = values["recover"]
    if recover is not None and not 0 < recover <= 1:
        raise UsageError(f"{option('recover')} is above 0 and at most 1 (got {recover:g})")
    return asked[0] if asked else ("best", None)


def _words(aim: Aim, value: float | None, measure: str) -> str:
    number = value or 0.0
    words = {"recover": f"{100 * number:g} % of the gain", "budget": f"cost ≤ {number:g}"}
    return {**words, "risk": f"risk ≤ {number:g}", "best": f"best {measure}"}[aim]


def staged_runs(
    read: Evaluation, names: Sequence[str] | None, cost: Sequence[float], measure: str | Measure
) -> tuple[Stages, pl.DataFrame]:
    data = read.data
    data.require_confidence()
    confidence = data.confidence  # first: kinds come with it, and nothing is read twice
    order = data.runs_as_listed if names is None else names
    if names is None and len(order) > 1 and None in {r.run for r in data.source.responses}:
        example, there = option("stages", ",".join(order[:2])), ", ".join(order)
        raise UsageError(f"say which runs are asked, in order: {example} (there are {there})")
    for name in order:
        check_name("run", name, read.runs)
    if len(set(order)) < max(len(order), 2):
        raise UsageError(f"a cascade has two stages or more, each once (got {', '.join(order)})")
    if len(cost) != len(order) or not all(math.isfinite(c) and c > 0 for c in cost):
        got = ", ".join(f"{c:g}" for c in cost)
        raise UsageError(f"{option('cost')} is a number above 0 for each stage (got {got})")
    rows = [read.runs.index(name) for name in order]
    codes, sure = data.codes[rows], confidence[rows]
    usable = np.asarray((codes < EXCLUDED).all(axis=0))
    facts = np.array(cost, np.float64), count_measure(measure), data.clusters()
    stages = Stages(tuple(order), codes, sure, *facts).of(usable)
    for name, of_stage, how_sure in zip(order[:-1], stages.codes, stages.confidence, strict=False):
        if not count_stated(of_stage, how_sure)[0]:
            why = "nothing says which questions it should send on"
            raise tuning.UntunableError(f"run {shown(name)} has no confidence: {why}")
    return stages, data.with_attributes(None).with_row_index(INDEX).filter(usable)


@dataclass(frozen=True, eq=False)
class Chooser:
    stages: Stages
    aim: Aim
    value: float | None
    delta: float
    groups: IntArray
    """Questions by stage: a bound on errors is tested on those of its stage alone."""

    def rule(self, where: BoolArray) -> Rule:
        """The thresholds that reach the aim on some questions; of equal ones the cheapest."""
        if self.aim == "risk":
            return self._keeping_risk(where)
        stages = self.stages.of(where)
        every = stages.frontier()
        scores = np.nan_to_num(np.round(stages.score(every.counts), 12), nan=-np.inf)
        cost, allowed = np.round(every.cost, 12), np.ones(len(scores), bool)
        if self.aim == "budget":
            allowed = cost <= max(self.value or 0, cost.min()) + 1e-9
        if self.aim == "recover":
            small, large = stages.alone()
            enough = scores >= small + (self.value or 0) * max(large - small, 0.0) - 1e-9
            allowed = enough if enough.any() else allowed
        keys = (-scores, cost) if self.aim == "recover" and enough.any() else (cost, -scores)
        return every.rule(int(np.lexsort((*keys, ~allowed))[0]))

    def _keeping_risk(self, where: BoolArray) -> Rule:
        """Each stage keeps the risk on what reaches it with its share of δ, so that all keep it.

        A stage is tested on questions that did not choose the thresholds of those before it.
        """
        stages, left, rule = self.stages, where.copy(), []
        kind = KeepRisk if stages.clusters is None else KeepClusters
        chooser = kind(self.value or 0, self.delta / len(stages.names))
        for k, name in enumerate(stages.names):
            data = stages.codes[k], stages.confidence[k], chooser, stages.measure
            run = tuning.Run(name, *data, clusters=stages.clusters)
            try:
                rule.append(run.threshold(left & (self.groups == k), 0).value)
            except tuning.UntunableError:
                rule.append(SILENCE)
            left &= stages.sure(k) < rule[-1]
        return tuple(rule)

    def cross_fit(self, halves: Any, judged: BoolArray, kept: list[bool]) -> Decided:
        stages = self.stages
        outcomes, asked = np.zeros_like(stages.codes[0]), np.zeros(stages.codes.shape, bool)
        for choose, judge in halves:
            rule = self.rule(choose)
            decided = stages.decided(rule)
            outcomes[judge], asked[:, judge] = decided[judge], stages.asked(rule)[:, judge]
            right, wrong = tuning.counted(decided)[:2].tolist()
            if self.aim == "risk":
                kept.append(wrong <= (self.value or 0) * (right + wrong) + 1e-9)
        return outcomes[judged], asked[:, judged]


def _mix(stages: Stages, name: str, decided: Sequence[Decided], rule: Rule = ()) -> Mix:
    asked = np.mean([asked.mean(axis=1) for _, asked in decided], axis=0)
    return _scored(stages, name, [tuning.counted(codes) for codes, _ in decided], asked, rule)


def _scored(stages: Stages, name: str, tables: Any, asked: Array, rule: Rule = ()) -> Mix:
    small, large = stages.alone()
    score = float(np.mean([stages.score(table) for table in tables]))
    return Mix(
        **structs.asdict(Standing.mean(tables, stages.measure)),
        rule=name,
        thresholds=tuple(map(finite, rule)),
        cost=float(asked @ stages.cost),
        asked=dict(zip(stages.names, map(float, asked), strict=True)),
        recovered=number((score - small) / (large - small)) if large - small > 1e-12 else None,
    )


def _oracle(stages: Stages) -> Decided:
    """Each question ends at the first stage that does best there: right, or else silent."""
    stage = np.array([2, 0, 1, 1, 1, 1])[stages.codes].argmax(axis=0)
    asked = stage >= np.arange(len(stages.names))[:, None]
    return np.choose(stage, stages.codes), asked


def _gain(stages: Stages, decided: Sequence[Decided], name: str, weights: Array) -> Gain:
    """A rule against stages that answer such shares of the questions, at random where several do.

    The interval takes the coin for thrown, so against a random mix it is on the wide side.
    """
    joint: Any = sum(
        weight
        * tuning.joint_counts(codes, outcomes, stages.measure, stages.clusters)
        / len(decided)
        for outcomes, _ in decided
        for weight, codes in zip(weights, stages.codes, strict=True)
    )
    scores = [float(stages.score(tuning.counted(outcomes))) for outcomes, _ in decided]
    gain = number(float(np.mean(scores) - stages.score(weights @ stages.counts)))
    clustered = stages.clusters is not None
    ends = tuning.gain_interval(stages.measure, joint, gain, clustered=clustered)
    return Gain(over=name, gain=gain, interval=ends, cost=float(weights @ stages.cost))


def _points(stages: Stages) -> list[tuple[float, float]]:
    """The frontier in hindsight: of two stages all of it, of several what no cheaper rule beats."""
    every = stages.frontier()
    scores = stages.score(every.counts)
    kept = np.lexsort((-scores, every.cost))
    if len(stages.names) > 2:
        kept = kept[np.diff(np.fmax.accumulate(scores[kept]), prepend=-np.inf) > 0]
    kept = kept[~np.isnan(scores[kept])]
    kept = kept[np.unique(np.linspace(0, len(kept) - 1, min(POINTS, len(kept))).astype(int))]
    return list(zip(every.cost[kept].tolist(), (stages.sign * scores[kept]).tolist(), strict=True))


def resulting_run(read: Evaluation, result: CascadeResult) -> pl.DataFrame:
    """What the stages answer that are reached, or the outcome where others judged them."""
    stages, questions = staged_runs(read, result.stages, result.stage_costs, result.measure)
    rule = tuple(math.inf if each is None else each for each in result.chosen.thresholds)
    stage, decided = stages.asked(rule).sum(axis=0) - 1, stages.decided(rule)
    rows = questions.select(
        pl.col(INDEX).cast(pl.Int32),
        "question",
        run=pl.lit("cascade"),
        outcome=pl.Series(OUTCOME_WORDS).gather(decided),
        confidence=pl.Series(stages.confidence[stage, range(len(stage))]).fill_nan(None),
        stage=pl.Series(stages.names).gather(stage),
    )
    source = read.data.source
    if not isinstance(source, GoldRuns):
        return rows.select("run", "question", "outcome", "confidence", "stage")
    judged = source.judged(keep=TEXTS)
    parts = [collect(frame, judged.label).rename({"run": "stage"}) for frame in judged.frames]
    texts = pl.concat([pl.DataFrame(schema=dict.fromkeys(TEXTS, str)), *parts], how="diagonal")
    texts = texts.with_columns(pl.col(INDEX).cast(pl.Int32)).select("stage", INDEX, *TEXTS)
    rows = rows.join(texts, on=["stage", INDEX], how="left", maintain_order="left")
    best = pl.when(pl.col("answer") != "").then("answer").otherwise("candidate").fill_null("")
    answered, nothing = pl.col("outcome").is_in(OUTCOMES[:2]), pl.lit("")
    answer = pl.when(answered).then(best).otherwise(nothing)
    candidate = pl.when(answered).then(nothing).otherwise(best)
    rows = rows.with_columns(answer=answer, candidate=candidate)
    return rows.select("run", "question", *TEXTS, "confidence", "stage")
