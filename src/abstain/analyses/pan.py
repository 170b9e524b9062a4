"""PAN's measures of authorship verification: AUC, c@1, F1, F0.5u, Brier, and their mean.

With y 1 where both texts have one author and v the system's value: an answer is v ≠ 0.5, a
missing one counts as 0.5.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from abstain.analyses.result import Facts, Result, defined, ranked
from abstain.errors import InputError, UsageError, checked, nearest, plural, shown
from abstain.io.tables import read_table
from abstain.judging.opening import open_sources
from abstain.judging.reading import Reading
from abstain.measures import measure
from abstain.measures.answers import Answers
from abstain.outcomes import Undefined

YEARS = (2020, 2021, 2022, 2023)
MEASURES = ("AUC", "c@1", "F1", "F0.5u", "Brier")


def pan_measures(same: npt.ArrayLike, value: npt.ArrayLike) -> dict[str, float]:
    """The five measures of one system.

    >>> pan_measures([1, 1, 0, 0], [0.9, 0.5, 0.2, 0.6])["F0.5u"]
    0.5
    """
    y, v = np.asarray(same, bool), np.asarray(value, np.float64)
    if y.shape != v.shape or y.ndim != 1 or not len(y):
        raise UsageError("truth and values must be two sequences of one length")
    answered = v != 0.5
    says = v > 0.5
    right = int(((says == y) & answered).sum())
    n, blank = len(y), int((~answered).sum())
    tp = int((says & y).sum())
    fp = int((says & ~y).sum())
    fn = int((~says & answered & y).sum())
    auc = measure("AUROC")(Answers.of(y, v))
    no_f1 = "of the answered problems, none has the answer 'same' and none has the truth 'same'"
    if not answered.any():
        no_f1 = "no problem was answered"
    return {
        "AUC": Undefined("all problems have the same truth") if np.isnan(auc) else auc,
        "c@1": right / n * (1 + blank / n),
        "F1": _ratio(2 * tp, 2 * tp + fp + fn, no_f1),
        "F0.5u": _ratio(
            1.25 * tp,
            1.25 * tp + 0.25 * (fn + blank) + fp,
            "no problem has the answer 'same' and none has the truth 'same'",
        ),
        "Brier": 1 - float(np.mean((v - y) ** 2)),
    }


def overall(scores: dict[str, float], year: int) -> float:
    """The mean that ranks systems: of four measures in 2020, with Brier since 2021."""
    if year not in YEARS:
        raise UsageError(f"PAN's years are {YEARS[0]} to {YEARS[-1]} (got {year})")
    names = [m for m in MEASURES if m != "Brier" or year > 2020]
    values = [scores[name] for name in names]
    undefined = next((s for s in values if isinstance(s, Undefined)), None)
    return Undefined(undefined.reason) if undefined is not None else float(np.mean(values))


def _ratio(above: float, below: float, reason: str) -> float:
    return above / below if below else Undefined(reason)


class PanRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One system's measures."""

    rank: str
    run: str
    scores: dict[str, float | None]
    undefined: dict[str, str]
    """Why the scores that do not exist do not."""
    blank: int
    """Problems without an answer, the missing ones too."""
    missing: int


class PanResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="pan"):
    """Systems by their overall score."""

    year: int
    problems: int
    rows: tuple[PanRow, ...] = msgspec.field(name="results")

    def check(self) -> None:
        """Every row has every score."""
        for number, row in enumerate(self.rows, 1):
            if tuple(row.scores) != (*MEASURES, "overall"):
                raise ValueError(f"the scores of result {number} are not PAN's")

    def _frame(self, table: str) -> pl.DataFrame:
        rows = [
            (row.rank, row.run, *row.scores.values(), row.blank, row.missing) for row in self.rows
        ]
        schema: dict[str, Any] = dict.fromkeys(("rank", "run"), pl.String)
        schema |= dict.fromkeys((*MEASURES, "overall"), pl.Float64)
        schema |= dict.fromkeys(("blank", "missing"), pl.Int64)
        return pl.DataFrame(rows, schema=schema, orient="row")


@checked
def pan(truth: str | os.PathLike[str], answers: Any, *, year: int = 2023) -> PanResult:
    """Score PAN's answers by its truth.

    Args:
        truth: The path of a truth: id, same.
        answers: The paths of answers (id, value), or of one; a mapping names the systems.
        year: Whose overall score: 2020 takes four measures, later years Brier too.
    """
    gold = read_table(os.fspath(truth), format="pan")
    if "correct" not in gold.columns:
        raise InputError("has values, expected PAN's truth (id, same)", gold.name)
    frame = gold.frame.select("question", "same").collect()
    if frame["question"].n_unique() < frame.height:
        twice = frame.filter(frame["question"].is_duplicated())["question"][0]
        raise InputError(f"problem {shown(twice)} appears twice", gold.name)
    same = (frame["same"] == "yes").to_numpy()
    rows = []
    for source in open_sources(answers, Reading(format="pan")):
        if "value" not in source.table.columns:
            raise InputError("is a truth, expected answers (id, value)", source.table.name)
        given = source.table.frame.select("question", "value").collect()
        _refuse_strange(given, frame, source.table.name)
        joined = frame.join(given, on="question", how="left", maintain_order="left")
        value = joined["value"].fill_null(0.5).to_numpy()
        found = pan_measures(same, value)
        found["overall"] = overall(found, year)
        scores, undefined = defined(found)
        rows.append(
            PanRow(
                rank="",
                run=source.run or source.table.name,
                scores=scores,
                undefined=undefined,
                blank=int((value == 0.5).sum()),
                missing=int(joined["value"].null_count()),
            )
        )
    return PanResult(year=year, problems=frame.height, rows=tuple(ranked(rows, "overall")))


def _refuse_strange(given: Any, truth: Any, name: str) -> None:
    unknown = given.join(truth, on="question", how="anti")
    if unknown.height:
        strange = str(unknown["question"][0])
        near = nearest(strange, truth["question"].head(5000).to_list())
        hint = f" (nearest: {shown(near[0])})" if near else ""
        raise InputError(f"problem {shown(strange)} is not in the truth{hint}", name)
    if given["question"].n_unique() < given.height:
        twice = given.filter(given["question"].is_duplicated())
        raise InputError(
            f"problem {shown(str(twice['question'][0]))} is answered twice "
            f"({plural(twice.height, 'line')})",
            name,
        )
