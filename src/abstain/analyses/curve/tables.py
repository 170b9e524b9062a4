"""The tables of curves, from what a result holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec import structs

from abstain.analyses.curve.result import Bin, Blanks, Parts
from abstain.analyses.result import Facts
from abstain.errors import UsageError, option

if TYPE_CHECKING:
    from abstain.analyses.curve.result import CurveResult, Points, RunCurve

TEXT: pl.DataType = pl.String()
COUNT, NUMBER = pl.Int64(), pl.Float64()

Schema = dict[str, pl.DataType]
Columns = Mapping[str, Sequence[Any]]


def curve_table(result: CurveResult, table: str, points: int) -> pl.DataFrame:
    """A table by its name, with at most so many points of each curve; 0: all that are held."""
    return _facts(result, table) if table in FACTS else _TABLES[table](result, points)


def curve_columns(points: Points, questions: float, along: str) -> dict[str, Sequence[Any]]:
    """What is said of every point of a curve; `along` names the measure that is followed.

    A threshold of ∞ answers nothing; without a threshold even what has no confidence is answered.
    """
    wrong = points.wrong
    return {
        "threshold": points.thresholds,
        "coverage": [n / questions for n in points.answered],
        "answered": points.answered,
        "right": points.right,
        "wrong": wrong,
        "risk": [
            n / every if every else None for n, every in zip(wrong, points.answered, strict=True)
        ],
        along: points.score,
    }


POINT: Schema = {
    "run": TEXT,
    "threshold": NUMBER,
    "coverage": NUMBER,
    "answered": COUNT,
    "right": COUNT,
    "wrong": COUNT,
}


def stacked(schema: Schema, blocks: Iterable[tuple[str, Columns]]) -> pl.DataFrame:
    """Columns of one run below those of another."""
    frames = [pl.DataFrame(schema=schema)]
    for run, columns in blocks:
        size = len(next(iter(columns.values())))
        frames.append(pl.DataFrame({"run": [run] * size, **columns}, schema=schema))
    return pl.concat(frames)


def _main(result: CurveResult, points: int) -> pl.DataFrame:
    names = (f"best {result.along}", "threshold", "coverage", f"{result.along} as submitted")
    rows = [
        (
            own.run,
            *own.scores.values(),
            own.best,
            own.best_threshold,
            own.coverage,
            own.as_submitted,
        )
        for own in result.runs
    ]
    schema = {"run": TEXT, **dict.fromkeys((*result.measures, *names), NUMBER)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _points(result: CurveResult, points: int) -> pl.DataFrame:
    def columns(own: RunCurve, some: Points) -> Columns:
        return curve_columns(some, own.counts.n, result.along)

    return _curves(result, points, POINT | {"risk": NUMBER, result.along: NUMBER}, columns)


def _roc(result: CurveResult, points: int) -> pl.DataFrame:
    def columns(own: RunCurve, some: Points) -> Columns:
        right, wrong = some.right[-1], some.wrong[-1]
        if not right or not wrong:
            return {}
        return {
            "threshold": some.thresholds,
            "wrong given": [n / wrong for n in some.wrong],
            "right given": [n / right for n in some.right],
        }

    schema = {"run": TEXT, **dict.fromkeys(("threshold", "wrong given", "right given"), NUMBER)}
    return _curves(result, points, schema, columns)


def _curves(
    result: CurveResult,
    points: int,
    schema: Schema,
    columns: Callable[[RunCurve, Points], Columns],
) -> pl.DataFrame:
    blocks = ((own.run, columns(own, every.thin(points))) for own, every in result.drawn)
    return stacked(schema, ((run, own) for run, own in blocks if own))


def _facts(result: CurveResult, field: str) -> pl.DataFrame:
    """A row for each of the facts of some kind that are known of every run, by the run's name."""
    rows = [
        (own.run, *structs.astuple(fact)) for own in result.by_name for fact in getattr(own, field)
    ]
    schema = {"run": TEXT}
    for own in structs.fields(FACTS[field]):
        schema[HEADINGS.get(own.name, own.encode_name)] = TYPES.get(own.name, NUMBER)
    return pl.DataFrame(rows, schema=schema, orient="row")


FACTS: dict[str, type[Facts]] = {"reliability": Bin, "parts": Parts, "blanks": Blanks}
HEADINGS = {
    "judged_against": "judged against",
    "blanks": "blank",
    "f1": "F1",
    "over_abstention": "over-abstention",
    "under_abstention": "under-abstention",
}
"""Where a column of facts is not called as in JSON."""
TYPES = {"where": TEXT, "judged_against": TEXT, "answers": COUNT, "blanks": COUNT}


def _decision(result: CurveResult, points: int) -> pl.DataFrame:
    found = result.decision
    if found is None:
        asked = option("decision", value=True)
        raise UsageError(f"the result holds no decision curves: ask for them with {asked}")
    step = math.ceil(len(found.t) / points) if points else 1
    names = ("t", "S", "low", "high")
    blocks = (
        (run, {n: own[::step] for n, own in zip(names, (found.t, b.S, b.low, b.high), strict=True)})
        for run, b in found.curves.items()
    )
    return stacked({"run": TEXT, **dict.fromkeys(names, NUMBER)}, blocks)


_TABLES: dict[str, Callable[[CurveResult, int], pl.DataFrame]] = {
    "main": _main,
    "risk": lambda result, points: _points(result, points).select(*POINT, "risk"),
    "measure": lambda result, points: _points(result, points).select(
        *dict.fromkeys((*POINT, result.along))
    ),
    "decision": _decision,
    "roc": _roc,
}
