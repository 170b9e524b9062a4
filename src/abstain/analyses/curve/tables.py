"""The tables of curves, from what a result holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from abstain.errors import UsageError, option

if TYPE_CHECKING:
    from abstain.analyses.curve.result import CurveResult, Points, RunCurve

TEXT, COUNT, NUMBER = pl.String(), pl.Int64(), pl.Float64()

Schema = dict[str, pl.DataType]
Columns = Mapping[str, Sequence[Any]]


def curve_table(result: CurveResult, table: str, points: int) -> pl.DataFrame:
    """A table by its name, with at most so many points of each curve; 0: all that are held."""
    return _TABLES[table](result, points)


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


def _risk(result: CurveResult, points: int) -> pl.DataFrame:
    return _points(result, points).select(*POINT, "risk")


def _measure(result: CurveResult, points: int) -> pl.DataFrame:
    return _points(result, points).select(*dict.fromkeys((*POINT, result.along)))


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


def _reliability(result: CurveResult, points: int) -> pl.DataFrame:
    names = ("from", "to", "answers", "confidence", "accuracy")
    rows = [
        (own.run, b.low, b.high, b.answers, b.confidence, b.accuracy)
        for own in result.by_name
        for b in own.reliability
    ]
    schema = {"run": TEXT, **dict.fromkeys(names, NUMBER), "answers": COUNT}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _decision(result: CurveResult, points: int) -> pl.DataFrame:
    found = result.decision
    if found is None:
        asked = option("decision", value=True)
        raise UsageError(f"the result holds no decision curves: ask for them with {asked}")
    step = math.ceil(len(found.t) / points) if points else 1
    blocks = (
        (
            run,
            {"t": found.t[::step], "S": b.S[::step], "low": b.low[::step], "high": b.high[::step]},
        )
        for run, b in found.curves.items()
    )
    return stacked({"run": TEXT, **dict.fromkeys(("t", "S", "low", "high"), NUMBER)}, blocks)


def _parts(result: CurveResult, points: int) -> pl.DataFrame:
    names = ("coverage", "score", "knowing", "silence", "choosing", "left", "oracle")
    rows = [
        (own.run, part.where, *(getattr(part, name) for name in names))
        for own in result.by_name
        for part in own.parts
    ]
    schema = {"run": TEXT, "where": TEXT, **dict.fromkeys(names, NUMBER)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _blanks(result: CurveResult, points: int) -> pl.DataFrame:
    rows = [
        (
            *(own.run, b.judged_against, b.blanks, b.precision, b.recall, b.f1),
            *(b.over_abstention, b.under_abstention),
        )
        for own in result.by_name
        for b in own.blanks
    ]
    names = ("precision", "recall", "F1", "over-abstention", "under-abstention")
    schema = {"run": TEXT, "judged against": TEXT, "blank": COUNT, **dict.fromkeys(names, NUMBER)}
    return pl.DataFrame(rows, schema=schema, orient="row")


_TABLES: dict[str, Callable[[CurveResult, int], pl.DataFrame]] = {
    "main": _main,
    "risk": _risk,
    "measure": _measure,
    "reliability": _reliability,
    "decision": _decision,
    "roc": _roc,
    "parts": _parts,
    "blanks": _blanks,
}
