from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Meta

from abstain.errors import plural
from abstain.features.tune.choose import Threshold
from abstain.measures import Measure
from abstain.measures.definition import IntArray
from abstain.outcomes import Counts
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.result import Facts, Result, number

Confidence = Annotated[float, Meta(ge=0, le=1)]

FOLDS = 5


class Standing(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Counts with the score, the risk and the coverage that they mean."""

    score: float | None
    risk: float | None
    """The share wrong of what was answered."""
    coverage: float | None
    numbers: dict[str, int | float | None] = msgspec.field(name="counts")
    """Means over the repeats, where there are several."""

    def __post_init__(self) -> None:
        _ = self.counts  # refuses what is none

    @property
    def counts(self) -> Counts:
        return Counts.from_dict(self.numbers)

    @classmethod
    def mean(cls, tables: Sequence[IntArray], measure: Measure) -> Standing:
        scores = [measure(Counts.of(table.tolist())) for table in tables]
        # counts of one table stay whole
        mean = tables[0] if len(tables) == 1 else np.mean(tables, axis=0)
        k = Counts.of(mean.tolist())
        return cls(
            score=number(sum(scores) / len(scores)),
            risk=k.wrong / k.answered if k.answered else None,
            coverage=k.answered / k.n if k.n else None,
            numbers=k.to_dict(),
        )


class Judged(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Thresholds, and what they are worth."""

    threshold: Confidence | None
    """Null: answer nothing."""
    thresholds: dict[str, Confidence | None] = {}
    """Of slices, where they have thresholds."""
    judged: Standing
    answer_everything: Standing


class Part(Judged, frozen=True, kw_only=True, omit_defaults=True):
    """One tuning and one judging."""

    tuned_on: int
    risk_over_all: float
    """The share wrong of the answers to all questions, tuned on or judged; 0 of none."""


class Kept(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Of so many parts, in how many the share of wrong answers kept to its bound."""

    parts: int
    silent: int
    seen: int
    """Within the bound on the judged questions: a sample, with its noise."""
    over_all: int
    """Within the bound over all questions, of which the part tuned on is a sample."""
    refuted: int
    """So many wrong answers among the judged that they contradict the bound (5 %)."""
    chance: float | None = None
    """Of one part: the chance of so many wrong answers or more where the risk is at its bound."""


class Tuned(Judged, frozen=True, kw_only=True, omit_defaults=True):
    """A run with its threshold to use, tuned on every question that may be tuned on.

    Scores are means over repeats of the score over all questions judged in one. The score of the
    questions it was tuned on is no result: it appears as optimism alone.
    """

    run: str
    as_submitted: Standing
    best_in_hindsight: Standing
    """The best one threshold for the judged questions themselves: out of reach."""
    gain: float | None
    """Against answering everything, on the same questions."""
    gain_interval: tuple[float | None, float | None] = (None, None)
    """Of the gain, at 95 %, from the paired questions."""
    optimism_avoided: float | None
    """How much the score on the tuning questions would have flattered."""
    risk_optimism_avoided: float | None
    """How much lower the risk on the tuning questions was."""
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)]
    without_confidence: int = 0
    """Answers that have no confidence and so are left blank."""
    kept: Kept | None = None
    """Where a risk was to be kept."""


class Aim(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """What was sought: the best score, or a risk that is kept at a level."""

    maximise: str | None = None
    risk: float | None = None
    level: float | None = None
    next_questions: bool = False
    """Whether the share of wrong answers on the next questions was to be kept too."""


class Split(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How the questions are parted: by folds, or by attributes that name those to tune on."""

    folds: int | None = None
    repeats: int | None = None
    tuned_on: dict[str, str] = {}
    judged_on: str | None = None
    """The gold that is judged on, where it is another."""

    def words(self, questions: int, on: int, cluster: str | None, seed: int, what: str) -> str:
        if self.tuned_on:
            values = " and ".join(f"{name} '{value}'" for name, value in self.tuned_on.items())
            others = f" of {self.judged_on}" if self.judged_on else ""
            rest = plural(questions - on, "question")
            return f"Tuned on {plural(on, 'question')} with {values}, judged on {rest}{others}."
        times = f", {self.repeats} times" if (self.repeats or 1) > 1 else ""
        whole = f" that keep clusters ({cluster}) whole" if cluster else ""
        return (
            f"{plural(questions, 'question')} in {self.folds} folds{whole}{times} (seed {seed}): "
            f"each fold is judged with {what} tuned on the other folds."
        )


class TuneResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="tune"):
    """Thresholds of runs, with all that it takes to trust them."""

    questions: int
    aim: Aim
    fewest: int | None = None
    """Where a risk is to be kept: the fewest answers, or clusters, to show it, all right."""
    cluster: str | None = None
    """The attribute by which questions are clustered: folds keep clusters whole, and bounds and
    intervals count clusters."""
    measure: str
    split: Split
    seed: int = 0
    by: str | None = None
    """The attribute whose values have separate thresholds."""
    shrink: float | None = None
    """How many questions' worth of the whole each slice borrowed."""
    sources: tuple[str, ...] = ()
    runs: Annotated[tuple[Tuned, ...], Meta(min_length=1)] = msgspec.field(name="results")

    TABLES = ("main", "parts")

    def _frame(self, table: str) -> pl.DataFrame:
        main = table == "main"
        gains = ("gain", "gain low", "gain high", "optimism") if main else ()
        rows: list[tuple[Any, ...]] = []
        for tuned in self.runs:
            gained = (tuned.gain, *tuned.gain_interval, tuned.optimism_avoided)[: len(gains)]
            for part in (tuned,) if main else tuned.parts:
                judged, everything = part.judged, part.answer_everything.score
                scores = (part.threshold, judged.score, everything, *gained)
                rows.append((tuned.run, *scores, judged.risk, judged.coverage))
        names = ("threshold", self.measure, "answer everything", *gains, "risk", "coverage")
        schema = {"run": str} | dict.fromkeys(names, float)
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def by_run(self) -> dict[str, Threshold]:
        return {
            tuned.run: Threshold.of(tuned.threshold, self.by, tuned.thresholds)
            for tuned in self.runs
        }

    def apply(self, run: Any, *, gold: Any = None) -> pl.DataFrame:
        """A run that is silent where it is not sure enough (polars).

        What is left blank stays as the candidate; a candidate that is sure enough becomes the
        answer.

        Args:
            run: A path or a dataframe, read as the tuned runs were.
            gold: Its gold, where thresholds are by slices that the run does not name itself.
        """
        from abstain.features.tune.apply import apply_thresholds

        return apply_thresholds(run, self.by_run, self.reading, gold=gold)[0]


class View(view.View[TuneResult]):
    def title(self) -> str:
        return f"The threshold to abstain at: {plural(len(self.result.runs), 'run')}"

    def tables(self, **options: Any) -> list[Grid]:
        columns = [
            *(Column("run"), Column("what"), Column("threshold")),
            *(Column(name, "score") for name in (self.result.measure, "risk", "coverage")),
            *(Column(n, "count", joined=n != "right") for n in ("right", "wrong", "blank")),
        ]
        grid, by = Grid(columns, [], notes=self._notes()), self.result.by
        best = "best single threshold" if by else "best in hindsight"
        for tuned in self.result.runs:
            grid.breaks.add(len(grid.rows))
            limit = self.result.by_run[tuned.run].value
            used = f"{view.threshold_text(limit)}, per {by}" if by else view.threshold_cell(limit)
            standings: list[tuple[str, Cell, Standing]] = [
                ("answer everything", "", tuned.answer_everything),
                ("as submitted", "", tuned.as_submitted),
                ("with a threshold", used, tuned.judged),
                (best, "", tuned.best_in_hindsight),
            ]
            if tuned.as_submitted.numbers == tuned.answer_everything.numbers:
                del standings[1]
            for what, threshold, one in standings:
                k = one.counts
                outcomes = (k.right, k.wrong, k.unanswered)
                shares = (one.score, one.risk, one.coverage)
                grid.rows.append([tuned.run, what, threshold, *shares, *outcomes])
            grid.dim.add(len(grid.rows) - 1)
        return [grid]

    def _notes(self) -> list[str]:
        result, aim, risk = self.result, self.result.aim, self.result.aim.risk
        on = result.runs[0].parts[0].tuned_on
        how = result.split.words(result.questions, on, result.cluster, result.seed, "a threshold")
        sought, why, warnings = f"maximise {aim.maximise}", "it scores best so", list[str]()
        if risk is not None:
            what, over = "risk", f"clusters ({result.cluster})" if result.cluster else "questions"
            if aim.next_questions:
                what = f"risk seen on the next {plural(result.questions - on, 'question')}"
                over = "questions"
            sought = (
                f"{what} ≤ {risk:g} with a probability of at least {aim.level:g} over the "
                f"{over} tuned on{' and the next' if aim.next_questions else ''}"
            )
            least = plural(result.fewest or 0, f"{'independent ' * bool(result.cluster)}answer")
            why = f"no threshold surely keeps a risk of {risk:g} (at least {least} needed)"
        notes = [f"{how} Aim: {sought}."]
        for tuned in result.runs:
            if tuned.without_confidence:
                have = plural(tuned.without_confidence, "answer has", "answers have")
                warnings.append(f"run '{tuned.run}': {have} no confidence and are left blank")
            if tuned.threshold is None:
                warnings.append(f"run '{tuned.run}' should answer nothing: {why}")
            text = self._gained(tuned) if risk is None else self._kept(tuned, risk)
            notes += [f"{tuned.run}: {text}"] if text else []
            if values := result.by_run[tuned.run].values:
                each = ", ".join(f"{k} {view.threshold_text(v)}" for k, v in values.items())
                notes.append(f"{tuned.run}, per {result.by}: {each} (shrink {result.shrink:g}).")
        notes += map(view.sentence, view.few([*result.notes, *warnings]))
        return notes + view.policy_words(result.policy, result.touched)

    def _gained(self, tuned: Tuned) -> str:
        if tuned.gain is None or tuned.optimism_avoided is None:
            return ""
        (low, high), within = tuned.gain_interval, ""
        if low is not None and high is not None:
            chance = "; this may be chance" if low <= 0 <= high else ""
            within = f" (95 % interval {_points(low, 1)} to {_points(high, 1)}{chance})"
        what = "gains" if tuned.gain >= 0 else "loses"
        return (
            f"the threshold {what} {_points(abs(tuned.gain)).lstrip('+')} points of "
            f"{self.result.measure} against answering everything{within}. "
            f"Optimism avoided: {_points(tuned.optimism_avoided)} points."
        )

    def _kept(self, tuned: Tuned, risk: float) -> str:
        kept, next_questions = tuned.kept, self.result.aim.next_questions
        if tuned.judged.risk is None or kept is None:
            return ""
        held = kept.seen if next_questions else kept.over_all
        silent = f", answering nothing in {kept.silent}" if kept.silent else ""
        against = ""
        if not next_questions:
            test = "test by clusters" if self.result.cluster else "exact binomial test"
            chance = "" if kept.chance is None else f", p = {kept.chance:.3f}"
            against = f"; {kept.refuted} contradict the bound ({test}, 5 % level{chance})"
        return (
            f"risk {tuned.judged.risk:.4f} on the judged questions (answering everything: "
            f"{tuned.answer_everything.risk or 0:.4f}). Optimism avoided: "
            f"{_points(tuned.risk_optimism_avoided or 0.0)} points. At most {risk:g} on "
            f"{'the judged' if next_questions else 'all'} questions in {held} of "
            f"{plural(kept.parts, 'part')}{silent}{against}."
        )


def _points(value: float, digits: int = 2) -> str:
    return f"{100 * value:+.{digits}f}".replace("-", "−")
