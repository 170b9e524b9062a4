import math
from typing import Annotated, Any, Literal, TypeAlias

import polars as pl
from msgspec import Meta

from abstain.errors import plural
from abstain.features.tune.choose import Threshold
from abstain.features.tune.result import Confidence, Split, Standing
from abstain.report import view
from abstain.report.charts import chart, lines, points, tips
from abstain.report.grid import Column, Grid, frame_of_rows
from abstain.report.result import Ends, Facts, Result

Share = Annotated[float, Meta(ge=0, le=1)]
Aim: TypeAlias = Literal["best", "recover", "budget", "risk"]
RANDOM, ORACLE = "random routing", "oracle"
SENT = "the share sent on to it"
ABOUT = "Dots of rules are judged on questions that did not choose their thresholds."
LEVEL = 0.95


class Mix(Standing, frozen=True, kw_only=True, omit_defaults=True):
    """What comes of asking stages: one alone, or several by a rule, on the judged questions."""

    rule: Annotated[str, Column(plain=True)]
    thresholds: tuple[Confidence | None, ...] = ()
    """To use from now on, chosen on all questions that may choose. Null keeps nothing; below a
    threshold of the last stage there is silence."""
    cost: Annotated[float, Column(kind="score", means="the mean cost of a question")]
    asked: dict[str, Share]
    """The share of questions that each stage is asked."""
    recovered: Annotated[
        float | None, Column(kind="score", means="the share of the last stage's gain")
    ] = None

    @property
    def threshold(self) -> Annotated[str, Column(means="what a stage is less sure of is sent on")]:
        levels = (math.inf if each is None else each for each in self.thresholds)
        return ", ".join(map(view.threshold_text, levels))

    @property
    def sent(self) -> Annotated[dict[str, float], Column("to {key}", "score", means=SENT)]:
        return dict([*self.asked.items()][1:])

    @property
    def scored(self) -> Annotated[float | None, Column("{measure}", "score")]:
        return self.score


class Routing(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How well the confidence of a stage says which questions the next one should get."""

    run: str
    next: str
    gap: float | None
    """What the next stage scores above it."""
    apgr: float | None
    """Average performance gap recovered, over all shares sent on; ½ at random."""
    interval: Annotated[Ends, Column("low", "score"), Column("high", "score")]
    cpt: Annotated[dict[str, Share | None], Column("CPT({key})", "score")] = {}
    """By share of the gap the smallest share sent on that recovers it, in hindsight."""
    informative: bool
    """Whether the questions that it is less sure of gain more by being sent on (5 % level)."""
    undefined: str = ""
    """Why there is no APGR."""


class Gain(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The chosen rule against something else, on the judged questions."""

    over: str
    gain: float | None
    interval: Ends
    cost: float
    """Of what it is compared with."""


class CascadeResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="cascade"):
    """A cascade of runs: what its rules score and cost, and whether confidence is a guide."""

    questions: int
    stages: Annotated[tuple[str, ...], Meta(min_length=2)]
    stage_costs: tuple[float, ...]
    """Of asking each stage one question."""
    measure: str
    cluster: str | None = None
    split: Split
    tuned_on: int
    seed: int = 0
    aim: Aim
    aimed_at: float | None = None
    """The share of the gain to recover, or the cost or risk to stay below."""
    level: float | None = None
    """Of a risk: the probability that the bound holds."""
    kept: tuple[int, int] | None = None
    """Of a risk: in how many parts it was kept over all questions, of how many."""
    routing: tuple[Routing, ...]
    """Of each stage to the next."""
    rows: Annotated[tuple[Mix, ...], Meta(min_length=3)] = ()
    """Each stage alone, rules (the last one was asked for), and references."""
    gains: tuple[Gain, ...] = ()
    frontier: tuple[tuple[float, float], ...] = ()
    """Cost and score of rules that are chosen and scored on the same questions."""

    TABLES = ("main", "routing")

    @property
    def chosen(self) -> Mix:
        return [row for row in self.rows if row.thresholds][-1]

    def _frame(self, table: str) -> pl.DataFrame:
        if table == "routing":
            guide = ("run", "next", "gap", "apgr", "interval", "cpt", "informative")
            return frame_of_rows(Routing, self.routing, *guide)
        names = ("rule", "threshold", "score", "cost", "sent", "recovered", "risk", "coverage")
        return frame_of_rows(Mix, self.rows, *names)

    @property
    def by_run(self) -> dict[str, Threshold]:
        """The thresholds by stage, for `abstain tune --apply`: blanks are to be sent on."""
        rule = zip(self.stages, self.chosen.thresholds, strict=False)
        return {run: Threshold.of(threshold, None, {}) for run, threshold in rule}


class View(view.View[CascadeResult]):
    def title(self) -> str:
        return f"A cascade: {', else '.join(self.result.stages)}"

    def tables(self, **options: Any) -> list[Grid]:
        result = self.result
        silent = any((row.coverage or 0) < 1 for row in result.rows)
        last = ("risk", "coverage") if silent else ("recovered",)
        names = ("rule", "threshold", "scored", "cost", "sent", *last)
        grid = Grid.of_rows(Mix, result.rows, *names, measure=result.measure)
        after = result.rows.index(result.chosen) + 1
        grid.breaks = {len(result.stages), after}
        grid.dim = set(range(after, len(result.rows)))
        grid.notes = self._notes()
        return [grid]

    def _notes(self) -> list[str]:
        result = self.result
        notes = [routing_words(each, result.measure) for each in result.routing]
        asked = result.questions + (result.tuned_on if result.split.tuned_on else 0)
        jointly = "" if len(result.stages) == 2 else " (chosen jointly, on a grid)"
        how = " (chosen one after the other)" if result.aim == "risk" else jointly
        facts = asked, result.tuned_on, result.cluster, result.seed, f"thresholds{how}"
        notes.append(result.split.words(*facts))
        notes += [
            view.sentence(self._gained(gain)) for gain in result.gains if gain.gain is not None
        ]
        if result.kept is not None:
            share = 1 - (1 - (result.level or 0)) / len(result.stages)
            whole = f"Over all questions it was kept in {result.kept[0]} of "
            whole += f"{plural(result.kept[1], 'part')}."
            if not result.chosen.coverage:
                whole = (
                    "Nothing is answered: too few questions, or too many wrong answers, to promise "
                )
                whole += f"{result.aimed_at:g}."
            notes.append(
                f"Each stage keeps a risk of {result.aimed_at:g} on what reaches it with a "
                f"probability of {share:.3g}, so that all keep it with {result.level:g}. {whole}"
            )
        notes += map(view.sentence, view.few(result.notes))
        return notes + view.policy_words(result.policy, result.touched)

    def _gained(self, gain: Gain) -> str:
        result, value = self.result, gain.gain or 0.0
        low, high = gain.interval
        chance = "; this may be chance" if (low or 0) <= 0 <= (high or 0) else ""
        within = "" if low is None else f" ({_ends(100 * low, 100 * (high or 0), 1)}{chance})"
        side = "worse" if value < 0 else "better"
        times = result.chosen.cost / gain.cost
        cost = f"{times:.1f} times" if times >= 2 else f"{100 * times:.0f} % of"
        against = f"{100 * abs(value):.2f} points of {result.measure} {side} than {gain.over}"
        if against.startswith("0.00 "):
            against, within = f"as good as {gain.over}", within.replace("; this may be chance", "")
        return f"{result.chosen.rule}: {against}{within}, at {cost} its cost."

    def charts(self) -> view.Charts:
        result = self.result
        front, alone = "any thresholds, in hindsight", "one stage alone"
        axes = {"x_title": "cost of a question", "y_title": result.measure, "colour": "what"}
        curve = [(front, front, *point) for point in result.frontier]
        dots = [
            (alone if row.rule in result.stages else row.rule, row.rule, row.cost, row.score)
            for row in result.rows
        ]
        order = list(dict.fromkeys([front, *(what for what, *_ in dots)]))
        names, layers = ("what", "rule", "cost", "score"), []
        for make, places in ((lines, curve), (points, dots)):
            layer = make("cost", "score", **axes)
            layer["data"] = {"values": [dict(zip(names, place, strict=True)) for place in places]}
            layer["encoding"]["color"] |= {"title": None, "sort": order}
            layer["encoding"]["tooltip"] = tips(("rule",), ("cost", "score"))
            layers.append(layer)
        layers[1]["mark"] |= {"size": 80, "opacity": 1}
        heading, rows = f"{result.measure} and cost", layers[1]["data"]["values"]
        return {"frontier": chart(heading, rows, layers, subtitle=ABOUT)}


def routing_words(routing: Routing, name: str) -> str:
    run, following = routing.run, routing.next
    if routing.apgr is None:
        worth = "a guide" if routing.informative else "no guide"
        why = f"APGR is undefined: {routing.undefined}"
        return f"{run}: its confidence is {worth} to what {following} does better ({why})."
    low, high = routing.interval
    within = "no interval: the gain may be 0" if low is None else _ends(low, high or 0, 3)
    apgr = f"APGR {routing.apgr:.3f} ({within}; {RANDOM} 0.5)"
    if not routing.informative:
        return f"{run}: its confidence is worth nothing for routing to {following}: {apgr}."
    (share, cpt), least = next(reversed(routing.cpt.items())), ""
    if cpt is not None and low is not None:
        gain = f"{100 * float(share):g} % of the gain of {100 * (routing.gap or 0):.1f} points"
        least = f": the least sure {100 * cpt:.0f} % sent to {following} recover {gain} of {name}"
    return f"{run}: its confidence is a guide to routing{least}. {apgr}."


def _ends(low: float, high: float, digits: int) -> str:
    ends = f"{view.score_text(low, digits)} to {view.score_text(high, digits)}"
    return f"{100 * LEVEL:g} % interval {ends}"
