"""`targets`: one model, told several times what an error costs.

"Answer only if you are more than t confident; mistakes cost t/(1 − t)" (Kalai et al. 2025): S(t) is
above 0 exactly where more than t of the answers are right. Each run is scored at its t. Verdicts
are read off intervals that hold together (Bonferroni), paired where questions are shared.
"""

from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any, NamedTuple, Unpack

import narwhals as nw
import numpy as np
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, check_name, option, shown, some_of
from abstain.features.targets.result import DEAF, Heeding, Heeds, Keeps, Stated, TargetsResult
from abstain.io.frames import collect, text_column
from abstain.measures import measure
from abstain.measures.definition import Array, Codes
from abstain.outcomes import EXCLUDED, UNSPLIT, Counts
from abstain.reading import Reading, ReadingOptions
from abstain.report.result import Ends, ends, number, read_as
from abstain.runs import evaluate, evaluate_judged
from abstain.runs.counting import count_cells
from abstain.runs.evaluation import Evaluation
from abstain.runs.responses import Responses, opened_runs
from abstain.runs.run_names import runs_of
from abstain.runs.sources import count_stated, has_answer
from abstain.stats.delta_method import THREE, difference, few_clusters
from abstain.stats.intervals import cell_interval, check_level, interval

COLUMN = "target"
THE_MODEL = "the model"
"""What it is called where every file is a run of it."""
PAIRS = len(THREE) ** 2


class Told(NamedTuple):
    """Which model a run is of, and the t that it was told."""

    model: str
    t: float


def targets(
    gold: Any,
    runs: Any,
    *,
    targets: Mapping[str, Any] | None = None,
    level: float = 0.95,
    **options: Unpack[ReadingOptions],
) -> TargetsResult:
    """Does a model heed what it is told that an error costs?

    Args:
        gold: A path or a dataframe; None where the rows carry their outcome, as for `read_judged`.
        runs: Runs of one model under several stated t, one file a t; or rows with a column
            `target` that holds t.
        targets: The t of each run by its name, where no column has it.
        level: Of all verdicts together.
        options: Those of `read`.
    """
    check_level(level)
    reading = Reading.of(**options)
    told, responses = _told(opened_runs(runs, reading, judged=gold is None), targets or {})
    if gold is None:
        return compared(evaluate_judged(responses, reading), told, level)
    return compared(evaluate(gold, responses, reading), told, level)


def _told(
    opened: list[Responses], targets: Mapping[str, Any]
) -> tuple[dict[str, Told], list[Responses]]:
    """The t of every run, and the tables with a run for each model and t."""
    told: dict[str, Told] = {}
    responses = []
    for one in opened:
        if COLUMN in one.table.columns:
            one, runs = _split(one)
        elif lacking := [run for run in runs_of(one) if run not in targets]:
            raise UsageError(
                f"nothing says which t {some_of(lacking)} was told: a column '{COLUMN}', or "
                f"{option('targets', {lacking[0]: 'T'})}"
            )
        else:
            runs = {run: Told(THE_MODEL, targets[run]) for run in runs_of(one)}
        told |= runs
        responses.append(one)
    for run in targets:
        check_name("run", run, [name for name in told if name in targets] or told)
    return {run: Told(of.model, _number(of, run)) for run, of in told.items()}, responses


def _split(item: Responses) -> tuple[Responses, dict[str, Told]]:
    table, frame = item.table, item.frame
    run = nw.lit(item.run) if item.run is not None else text_column(frame, "run", table.name)
    t = text_column(frame, COLUMN, table.name, trim=True)
    name = nw.concat_str([run.alias("run"), t], separator=" at t = ")
    rows = frame.select(name.alias("name"), run.alias("run"), t.alias(COLUMN)).unique()
    told: dict[str, Told] = {}
    for name_, model, value in collect(rows, table.name).rows():
        if value is None or model is None:
            raise InputError(f"column '{COLUMN}' must hold a t in every row", table.name)
        told[name_] = Told(model, value)
    columns = tuple(c for c in table.columns if c not in (COLUMN, "run"))
    named = frame.with_columns(name.alias("run")).drop(COLUMN).to_native()
    return replace(
        item, table=replace(table, frame=named, columns=("run", *columns)), run=None
    ), told


def _number(told: Told, run: str) -> float:
    try:
        t = float(told.t)
    except ValueError:
        t = -1.0
    if not 0 <= t < 1:
        who = shown(run if told.model == THE_MODEL else told.model)
        expected = "a number from 0 to below 1, such as 0.5"
        raise UsageError(f"the t that {who} was told must be {expected} (got {told.t})")
    return t


def compared(evaluation: Evaluation, told: Mapping[str, Told], level: float) -> TargetsResult:
    data = evaluation.data
    codes = dict(zip(evaluation.runs, data.codes, strict=True))
    models = _models(evaluation, told)
    bases: dict[str, Array] = {}  # the confidence of the run at t = 0, where it has some
    for model, (first, *_) in models.items() if data.states_confidence else ():
        sure = data.confidence[evaluation.runs.index(first)]
        if told[first].t == 0 and count_stated(codes[first], sure)[0]:
            bases[model] = sure
    above = {model: sum(told[run].t > 0 for run in runs) for model, runs in models.items()}
    verdicts = sum(above[model] * (1 + (model in bases)) + 1 for model in models)
    counts = _Counted(data.clusters(), 1 - (1 - level) / verdicts)
    rows: list[Stated] = []
    heedings = []
    for model, runs in models.items():
        of_model: list[Stated] = []
        for run in runs:
            row = _stated(model, told[run].t, codes[run], counts)
            if model in bases and row.t > 0:
                row = _against(row, codes[run], codes[runs[0]], bases[model], counts)
            of_model.append(row)
        rows += of_model
        heedings.append(_heeding(of_model, codes[runs[0]], codes[runs[-1]], counts))
    return TargetsResult(
        **read_as(evaluation, *few_clusters(counts.clusters)),
        policy=evaluation.policy.to_dict(),
        touched=data.touched,
        questions=len(evaluation),
        level=level,
        verdicts=verdicts,
        cluster=data.cluster,
        models=tuple(heedings),
        rows=tuple(rows),
    )


def _models(evaluation: Evaluation, told: Mapping[str, Told]) -> dict[str, list[str]]:
    ordered = sorted(evaluation.runs, key=lambda run: told[run])
    models = {model: list(runs) for model, runs in groupby(ordered, lambda run: told[run].model)}
    for model, runs in models.items():
        every = [told[run].t for run in runs]
        again = next((t for t, after in pairwise(every) if t == after), None)
        if again is not None:
            raise UsageError(f"{shown(model)} has two runs at t = {again:g}")
        if len(runs) < 2:
            raise UsageError(f"{shown(model)} has one t ({every[0]:g}), expected two or more")
    return models


class _Counted(NamedTuple):
    """How outcomes are counted: by cluster where there are some, at the level of each verdict."""

    clusters: Any
    level: float

    def of(self, codes: Codes, size: int) -> tuple[Array, Array | None]:
        """How many questions have each code below `size`: in all, and by cluster."""
        groups = np.zeros(len(codes), np.int64) if self.clusters is None else self.clusters
        table = count_cells(codes[None], groups, int(groups.max()) + 1, size + 1)[0][:, :size]
        whole = table.sum(axis=0).astype(np.float64)
        filled = table[table.any(axis=1)].astype(np.float64)
        return whole, None if self.clusters is None else filled

    def difference(self, name: str, run: Codes, other: Codes) -> tuple[float | None, Ends]:
        """By how much a measure of one is above that of another on the same questions."""
        usable = (run < EXCLUDED) & (other < EXCLUDED)
        one, two = (THREE.of(np.minimum(codes, UNSPLIT)).astype(int) for codes in (run, other))
        cells, groups = self.of(np.where(usable, two * len(THREE) + one, PAIRS), PAIRS)
        f = difference(measure(name))
        span = cell_interval(f, cells, clusters=groups, level=self.level)
        return number(float(f.value(cells))), ends(span)


def _stated(model: str, t: float, codes: Codes, counted: _Counted) -> Stated:
    """A run at its t; whether its answers are right as often as asked."""
    cells, groups = counted.of(codes, EXCLUDED)
    count = Counts.of(map(int, cells))
    precision = number(measure("precision")(count))
    keeps: Keeps | None = None
    span: Ends = (None, None)
    if precision is not None:
        span = ends(interval(measure("precision"), count, clusters=groups, level=counted.level))
    if t > 0:
        keeps = "silent" if precision is None else _side(span, t, "yes", "no")
    return Stated(
        model=model,
        t=t,
        numbers=count.to_dict(),
        S=number(measure(f"S(t={t!r})")(count)),
        coverage=number(measure("coverage")(count)),
        precision=precision,
        precision_interval=span,
        keeps=keeps,
    )


def _side(span: Ends, value: float, above: Any, below: Any) -> Any:
    low, high = span
    if low is not None and low >= value:
        return above
    return below if high is not None and high < value else "open"


def _against(
    row: Stated, codes: Codes, base: Codes, confidence: Array, counted: _Counted
) -> Stated:
    with np.errstate(invalid="ignore"):
        blank = np.where(confidence >= row.t, 0, 2)
    acting = np.where(has_answer(base), (base & 1) + blank, base).astype(np.uint8)
    name, count = f"S(t={row.t!r})", Counts.of(map(int, counted.of(acting, EXCLUDED)[0]))
    gain, span = counted.difference(name, codes, acting)
    return replace(
        row,
        thresholded=number(measure(name)(count)),
        gain=gain,
        gain_interval=span,
        better=_side(span, 0, "told", "threshold"),
    )


def _heeding(rows: list[Stated], first: Codes, last: Codes, counted: _Counted) -> Heeding:
    fall, span = counted.difference("coverage", first, last)
    low, high = span
    heeds: Heeds = "open"
    if high is not None and high < DEAF:
        heeds = "deaf" if rows[-1].keeps == "no" else "steady"
    elif low is not None and low > 0:
        heeds = "falls"
    return Heeding(
        model=rows[0].model,
        lowest=rows[0].t,
        highest=rows[-1].t,
        fall=fall,
        fall_interval=span,
        heeds=heeds,
    )
