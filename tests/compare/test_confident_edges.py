"""Comparing by confidence where rounding, blanks and bounds are near."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from tests.compare.asked import judged
from tests.helpers import Here
from tests.snapshots import refuses


@pytest.fixture(scope="module", autouse=True)
def _few_are_enough() -> Iterator[None]:
    """Swaps are tried on runs so small that every way can be listed; a verdict takes more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "abstain.features.compare.resampled.ConfidenceComparison.too_few", lambda *_: ""
        )
        yield


Rows = list[tuple[str, int, str, float | None]]


def compared(rows: Rows, measure: str, level: float = 0.95) -> Any:
    frame = pl.DataFrame(
        rows,
        schema={
            "run": pl.String,
            "question": pl.Int64,
            "grade": pl.String,
            "confidence": pl.Float64,
        },
        orient="row",
    )
    found = judged(frame, measure=measure, level=level)
    assert len(found.pairs) == 1
    return found.pairs[0]


def drawn(seed: int, size: int) -> Rows:
    generator = np.random.default_rng(seed)
    return [
        (
            run,
            q,
            "right" if generator.random() < 0.6 else "wrong",
            round(float(generator.random()), 2),
        )
        for q in range(size)
        for run in ("a", "b")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("measure", ["Brier", "log-score", "K1"])
def test_mirrored_runs_have_one_score_and_no_lead(seed: int, measure: str) -> None:
    """1 − s where the other is wrong: sums of the same terms, but for the last digit."""
    generator = np.random.default_rng(seed)
    rows: Rows = []
    for q, sure in enumerate(generator.integers(1, 100, size=6) / 100):
        rows += [("a", q, "right", float(sure))]
        mirrored = ("b", q, "right", float(sure) + 2e-17 * q)
        if measure != "K1":
            mirrored = ("b", q, "wrong", 1 - float(sure))
        rows += [mirrored]
    pair = compared(rows, measure)
    assert pair.difference == 0
    assert abs(pair.interval[0]) < 1 > abs(pair.interval[1])


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["Brier", "log-score", "Pearson-r"])
def test_answers_that_a_measure_leaves_out_do_not_narrow_its_interval(measure: str) -> None:
    rows = drawn(3, 20)
    unsaid: Rows = [
        (run, q, grade, None if run == "a" and q > 5 else sure) for run, q, grade, sure in rows
    ]
    blank: Rows = [
        (run, q, "blank" if run == "a" and q > 5 else grade, None if q > 5 and run == "a" else sure)
        for run, q, grade, sure in rows
    ]
    one, two = compared(unsaid, measure), compared(blank, measure)
    assert one.difference == pytest.approx(two.difference, abs=1e-12)
    assert (one.interval[0], one.interval[1]) == pytest.approx(
        (two.interval[0], two.interval[1]), abs=1e-9
    )


def test_candidates_behind_blanks_do_not_narrow_an_interval_of_answers(here: Here) -> None:
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},A\n" for n in range(8)))
    sure = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    said = ["A", "B", "", "", "", "", "", "A"]
    for name, candidate in (("with", "A"), ("without", "")):
        rows = [
            f"q{n},{own},{'' if own else candidate},{level if own or candidate else ''}\n"
            for n, (own, level) in enumerate(zip(said, sure, strict=True))
        ]
        here.write(f"{name}.csv", "".join(["question,answer,candidate,confidence\n", *rows]))
    whole = "".join(f"q{n},{'A' if n % 3 else 'B'},,0.5\n" for n in range(8))
    here.write("b.csv", "question,answer,candidate,confidence\n" + whole)
    found = [
        here("compare", "gold.csv", f"{name}.csv", "b.csv", "-m", "K1", "-f", "json").data["pairs"]
        for name in ("with", "without")
    ]
    assert found[0][0]["interval"] == pytest.approx(found[1][0]["interval"], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "widest"), [("AUROC", 1.0), ("Brier", 1.0), ("Pearson-r", 2.0)]
)
@pytest.mark.parametrize("seed", range(15))
def test_no_interval_leaves_the_range_of_differences(
    measure: str, widest: float, seed: int
) -> None:
    """One run's confidence says all, the other's the contrary."""
    generator = np.random.default_rng(seed)
    rows: Rows = []
    for q in range(12):
        right = bool(generator.random() < 0.5)
        high, low = sorted(generator.random(2).round(2), reverse=True)
        rows += [("a", q, "right" if right else "wrong", float(high if right else low))]
        rows += [("b", q, "right" if right else "wrong", float(low if right else high))]
    rows += [(run, 12, "right", 0.5) for run in "ab"] + [(run, 13, "wrong", 0.5) for run in "ab"]
    for level in (0.8, 0.95, 0.999):
        pair = compared(rows, measure, level)
        assert -widest <= pair.interval[0] <= pair.difference <= pair.interval[1] <= widest


def test_equal_errors_of_calibration_are_no_lead(here: Here) -> None:
    rows = [f"a,{q},right,0.7\n" for q in range(5)]
    rows += [f"b,{q},{'right' if q < 2 else 'wrong'},0.7\n" for q in range(5)]
    here.write("rows.csv", "".join(["run,question,grade,confidence\n", *rows]))
    said = here("compare", "--judged", "rows.csv", "-m", "ECE")
    assert said.code == 0
    assert "shown as 0" not in said.out


def test_every_method_that_there_is_is_named() -> None:
    with refuses(ab.AbstainError):
        judged(
            pl.DataFrame(
                {
                    "run": ["a", "b"],
                    "question": [1, 1],
                    "grade": ["right"] * 2,
                    "confidence": [1, 0],
                }
            ),
            measure="Brier",
            interval="delta",
        )
