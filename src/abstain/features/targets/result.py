from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import polars as pl
from msgspec import Meta

from abstain.errors import plural
from abstain.outcomes import Counts
from abstain.report import view
from abstain.report.charts import bands, chart, coloured, lines, points
from abstain.report.grid import Column, Grid, frame_of_rows
from abstain.report.result import Ends, Facts, Number, Result

DEAF = 0.05
"""A coverage that surely falls by less than this from the lowest t to the highest hardly falls."""

Keeps: TypeAlias = Literal["yes", "no", "open", "silent"]
"""Whether a share of at least t of the answers is right; silent: there are none."""
Better: TypeAlias = Literal["told", "threshold", "open"]
Heeds: TypeAlias = Literal["falls", "deaf", "steady", "open"]
"""Of coverage as t rises: it falls; it hardly does, and too few answers are right; it hardly does,
which no precision forbids; the data do not tell."""

MODEL = Column(means="who was told", plain=True)
SPAN = "the ends of its interval"


class Stated(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A model at a stated t."""

    model: Annotated[str, MODEL]
    t: Annotated[float, Column(kind="text", means="told to answer only if more than t sure")]
    numbers: dict[str, Number | None] = msgspec.field(name="counts")
    S: Annotated[float | None, Column("S(t)", "score", means="c − t/(1−t)·w")]
    coverage: Annotated[float | None, Column(kind="score", means="the share answered")]
    precision: Annotated[
        float | None, Column(kind="score", means="the share of the answers that is right")
    ]
    precision_interval: Annotated[
        Ends,
        Column("low", "score", joined=True, means=SPAN),
        Column("high", "score", joined=True, means=SPAN),
    ] = (None, None)
    keeps: Annotated[
        Keeps | None, Column("≥ t?", joined=True, means="is precision at least t?")
    ] = None
    """Nothing is asked at t = 0."""
    thresholded: Annotated[
        float | None,
        Column("threshold", "score", means="S(t) of the run at t = 0, answering where t sure"),
    ] = None
    gain: Annotated[float | None, Column("difference", "score", means="told − threshold")] = None
    gain_interval: Annotated[
        Ends,
        Column("low", "score", joined=True, means=SPAN),
        Column("high", "score", joined=True, means=SPAN),
    ] = (None, None)
    better: Annotated[Better | None, Column(joined=True, means="which of both scores higher")] = (
        None
    )

    @property
    def counts(self) -> Counts:
        return Counts.from_dict(self.numbers)

    @property
    def told(self) -> Annotated[float | None, Column("told", "score", means="S(t) of the run")]:
        return self.S


class Heeding(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """What rising t do to the coverage of a model."""

    model: str
    lowest: float
    highest: float
    fall: float | None
    fall_interval: Ends
    heeds: Heeds


class TargetsResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="targets"):
    """Models under several stated t, with verdicts that hold together."""

    questions: int
    level: float
    verdicts: int
    """How many share the level."""
    cluster: str | None = None
    """The attribute by which questions are clustered, as the intervals took them."""
    models: Annotated[tuple[Heeding, ...], Meta(min_length=1)]
    rows: Annotated[tuple[Stated, ...], Meta(min_length=2)] = msgspec.field(name="results")

    TABLES = ("main", "thresholds")

    def of(self, model: str) -> list[Stated]:
        return [row for row in self.rows if row.model == model]

    def _frame(self, table: str) -> pl.DataFrame:
        if table == "main":
            return frame_of_rows(Stated, self.rows, *MAIN)
        return frame_of_rows(Stated, [row for row in self.rows if row.better], *AGAINST)


MAIN = ("model", "t", "S", "coverage", "precision", "precision_interval", "keeps")
AGAINST = ("model", "t", "told", "thresholded", "gain", "gain_interval", "better")


class View(view.View[TargetsResult]):
    def title(self) -> str:
        return f"Told what an error costs: {plural(len(self.result.models), 'model')}"

    def tables(self, **options: Any) -> list[Grid]:
        rows = self.result.rows
        grids = [Grid.of_rows(Stated, rows, *MAIN)]
        if against := [row for row in rows if row.better]:
            grids.append(Grid.of_rows(Stated, against, *AGAINST))
            grids[0].title, grids[1].title = "Told", "Told, or thresholded"
        for grid in grids:
            models = [row[0] for row in grid.rows]
            grid.breaks = {at for at, name in enumerate(models) if at and name != models[at - 1]}
        grids[-1].notes = self._notes()
        return grids

    def _notes(self) -> list[str]:
        result = self.result
        deaf_first = sorted(result.models, key=lambda model: model.heeds != "deaf")
        sentences = map(self._words, deaf_first)
        clustered = f", by clusters ({result.cluster})" if result.cluster else ""
        how = (
            f"{plural(result.questions, 'question')}. S(t) = c − t/(1−t)·w; low and high: "
            f"intervals that hold for all {plural(result.verdicts, 'verdict')} together with a "
            f"confidence of {result.level:g} (Bonferroni{clustered})."
        )
        notes = map(view.sentence, view.few(result.notes))
        return [*sentences, how, *notes, *view.policy_words(result.policy, result.touched)]

    def _words(self, heeding: Heeding) -> str:
        name = heeding.model
        first, *_, last = self.result.of(name)
        cost = f"told that an error costs {view.count_text(round(last.t / (1 - last.t), 1))}"
        now, before = (_percent(row.coverage) for row in (last, first))
        at = f"at t = {first.t:g}"
        return {
            "deaf": f"{name} is deaf to t: {cost}, it still answers {now} ({before} {at}), and "
            f"{_percent(last.precision)} of that is right.",
            "falls": f"{name} heeds t: {cost}, it answers {now} ({before} {at}).",
            "steady": f"{name}: {cost}, it still answers {now} ({before} {at}); that its answers "
            "are right too seldom for that does not show.",
            "open": f"{name}: {cost}, it answers {now} ({before} {at}); the data do not tell "
            "whether it answers less as t rises.",
        }[heeding.heeds]

    def charts(self) -> dict[str, dict[str, Any]]:
        rows = [
            {"run": r.model, "t": r.t, "precision": r.precision, "coverage": r.coverage}
            | dict(zip(("low", "high"), r.precision_interval, strict=True))
            for r in self.result.rows
        ]
        answered = [row for row in rows if row["precision"] is not None]
        most = [
            {"run": r.model, "t": at / 100, "coverage": min(1.0, 100 * right / at) if at else 1.0}
            for r in (self.result.of(model.model)[0] for model in self.result.models)
            for right in [(r.coverage or 0.0) * (r.precision or 0.0)]
            for at in range(101)
        ]
        axes: dict[str, Any] = {"colour": "run", "x_title": "t as told", "x_domain": (0, 1)}
        axes |= {"y_domain": (0, 1)}
        right = axes | {"y_title": "share of the answers that is right"}
        answer = axes | {"y_title": "share of the questions answered"}
        ideal = _dashed(lines("t", "precision", **{**right, "colour": None}), DIAGONAL)
        spread = [bands("t", "low", "high", **right), lines("t", "precision", **right)]
        bound = _dashed(lines("t", "coverage", **answer), most)
        precision = [ideal, *spread, points("t", "precision", **right)]
        coverage = [bound, lines("t", "coverage", **answer), points("t", "coverage", **answer)]
        at_t = chart(
            "Precision at the stated t",
            answered,
            precision,
            subtitle="Ideal: on the dashed line or above. The bands hold all together.",
        )
        answers = chart(
            "Coverage at the stated t",
            rows,
            coverage,
            subtitle="It should fall as t rises. Dashed: the most that can be answered with a "
            "share of t right, by choosing well among the answers at the lowest t.",
        )
        return coloured({"precision_at_t": at_t, "coverage_at_t": answers})


DIAGONAL = [{"t": t, "precision": t} for t in (0.0, 1.0)]


def _dashed(layer: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    mark = {"type": "line", "strokeDash": [4, 4]}
    if "color" not in layer["encoding"]:
        mark["color"] = "#7f7f7f"
    return {**layer, "mark": mark, "data": {"values": list(rows)}}


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
