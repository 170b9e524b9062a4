"""Models that are told what an error costs: by hand, by loops, and on simulated ones."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

import abstain as ab
from abstain.cli import run as main
from abstain.features.targets.result import TargetsResult, View
from tests.helpers import ROOT
from tests.snapshots import refuses, says

T = (0.0, 0.5, 0.9)


def judged(outcomes: dict[float, str], sure: list[float] | None = None) -> pl.DataFrame:
    """Rows of a model: for each t a letter a question, R, W or - (blank)."""
    grades = {"R": "right", "W": "wrong", "-": "blank"}
    return pl.concat(
        pl.DataFrame(
            {
                "run": "m",
                "question": range(len(letters)),
                "doc": [k // 4 for k in range(len(letters))],
                "target": t,
                "grade": [grades[letter] for letter in letters],
                "confidence": sure or [0.5] * len(letters),
            }
        )
        for t, letters in outcomes.items()
    )


def drawn(seed: int, size: int = 200) -> tuple[pl.DataFrame, dict[float, list[str]], list[float]]:
    """A model that answers less as t rises, not always right."""
    generator = np.random.default_rng(seed)
    sure = generator.random(size).round(2)
    letters = {
        t: ["-" if p < 0.8 * t else "R" if generator.random() < p else "W" for p in sure] for t in T
    }
    joined = {t: "".join(own) for t, own in letters.items()}
    return judged(joined, sure.tolist()), letters, sure.tolist()


def test_each_run_is_scored_at_its_t_by_hand() -> None:
    result = ab.targets(None, judged({0.0: "RRRRWWWW", 0.5: "RRRW----", 0.8: "RR-W----"}))
    zero, half, most = result.rows
    assert [row.t for row in result.rows] == [0, 0.5, 0.8]
    assert (zero.coverage, zero.precision, zero.keeps) == (1, 0.5, None)
    # at t = 1/2 an error costs one right answer: (3 − 1)/8; at 0.8 it costs four: (2 − 4)/8
    assert [row.told for row in result.rows] == pytest.approx([0.5, 0.25, -0.25])
    assert (half.coverage, half.precision) == (0.5, 0.75)
    assert most.coverage == 3 / 8
    # two t above 0: precision and a threshold each, and one of coverage
    assert result.verdicts == 5
    assert result.models[0].fall == pytest.approx(5 / 8)


@pytest.mark.parametrize("cluster", [None, "doc"])
def test_precision_has_the_interval_that_score_gives_it(cluster: str | None) -> None:
    rows, _, _ = drawn(1)
    result = ab.targets(None, rows, cluster=cluster)
    each = 1 - 0.05 / result.verdicts
    for row in result.rows:
        own = ab.read_judged(rows.filter(target=row.t).drop("target"), cluster=cluster)
        expected = own.score("precision", interval=True, level=each).rows[0]
        assert row.precision == pytest.approx(expected.scores["precision"])
        assert row.precision_interval == pytest.approx(expected.intervals["precision"])


def test_told_against_a_threshold_by_a_loop() -> None:
    rows, letters, sure = drawn(2)
    result = ab.targets(None, rows)
    for row in result.rows[1:]:
        cost = row.t / (1 - row.t)
        worth = {"R": 1.0, "W": -cost, "-": 0.0}
        at_zero = [
            worth[letter] if p >= row.t else 0.0
            for letter, p in zip(letters[0.0], sure, strict=True)
        ]
        told = np.array([worth[letter] for letter in letters[row.t]])
        off = told - at_zero
        assert row.told == pytest.approx(told.mean())
        assert row.thresholded == pytest.approx(float(np.mean(at_zero)))
        assert row.gain == pytest.approx(off.mean())
        low, high = row.gain_interval
        assert low is not None
        assert high is not None
        # about as wide as the normal interval of paired differences at the same level
        # of five verdicts: z of 1 − 0.05/5
        normal = 2 * 2.576 * off.std(ddof=1) / len(off) ** 0.5
        assert 0.8 * normal < high - low < 1.8 * normal


def test_identical_runs_differ_in_nothing_and_the_rest_is_open() -> None:
    letters = "RRRW" * 60
    result = ab.targets(None, judged({0.0: letters, 0.5: letters, 0.9: letters}))
    (model,) = result.models
    assert (model.fall, model.heeds) == (0, "deaf")  # 75 % right, 90 % asked
    assert [row.keeps for row in result.rows] == [None, "yes", "no"]
    # the same answers, of which 99 % are right: none needs to be left out
    letters = "R" * 99 + "W" + "R" * 100
    steady = ab.targets(None, judged({0.0: letters, 0.5: letters, 0.9: letters}))
    assert steady.models[0].heeds == "steady"
    few = ab.targets(None, judged({0.0: "RRW", 0.5: "RW-"}))
    assert few.models[0].heeds == "open"
    says(str(few), "0.5")


def test_silence_is_neither_precise_nor_not() -> None:
    result = ab.targets(None, judged({0.0: "RW" * 50, 0.75: "-" * 100}, [0.5] * 100))
    silent = result.rows[1]
    assert (silent.S, silent.precision, silent.keeps) == (0, None, "silent")
    assert silent.precision_interval == (None, None)
    assert result.models[0].heeds == "falls"
    assert silent.thresholded == 0
    says(str(result), "0.75")


def test_a_run_without_confidence_is_not_thresholded() -> None:
    rows = judged({0.0: "RRWW", 0.5: "RR--"}).drop("confidence")
    result = ab.targets(None, rows)
    assert result.verdicts == 2
    assert [row.better for row in result.rows] == [None, None]
    assert result.to_frame("thresholds").is_empty()
    # nor is there anything to threshold without a run at t = 0
    without = judged({0.25: "RRWW", 0.5: "RR--"})
    assert ab.targets(None, without).verdicts == 3


def test_a_column_and_a_file_each_say_the_same(tmp_path: Path) -> None:
    rows, letters, sure = drawn(3, 60)
    by_column = ab.targets(None, rows)
    gold = pl.DataFrame({"question": range(60), "correct": "a", "doc": [k // 4 for k in range(60)]})
    runs = {}
    for t, own in letters.items():
        answers = [{"R": "a", "W": "b", "-": ""}[letter] for letter in own]
        runs[f"t{t:g}"] = pl.DataFrame(
            {"question": range(60), "answer": answers, "confidence": sure}
        )
    by_file = ab.targets(gold, runs, targets={f"t{t:g}": t for t in T})
    same = ("t", "S", "precision_interval", "gain_interval", "better", "keeps")
    for one, other in zip(by_column.rows, by_file.rows, strict=True):
        assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
    # on the command line, with a gold and a column of the runs
    both = pl.concat(
        frame.with_columns(target=float(name[1:]), run=pl.lit("m")) for name, frame in runs.items()
    )
    gold.write_csv(tmp_path / "gold.csv")
    both.write_csv(tmp_path / "told.csv")
    out = tmp_path / "result.json"
    files = [str(tmp_path / name) for name in ("gold.csv", "told.csv")]
    assert main(["targets", *files, "-o", str(out)]) == 0
    loaded = ab.load(out)
    assert isinstance(loaded, TargetsResult)
    assert loaded.models == by_column.models
    assert json.loads(out.read_text())["verdicts"] == 5


@pytest.mark.parametrize(
    ("rows", "told", "named"),
    [
        (judged({0.0: "RW"}).drop("target"), {}, ("'m'", "target")),
        (judged({0.0: "RW"}), {}, ("'m'", "0")),
        (judged({0.0: "RW"}).drop("target"), {"m": 0, "n": 0.5}, ("'n'",)),
        (judged({0.0: "RW", 90.0: "RW"}), {}, ("90",)),
        (judged({0.0: "RW", 1.0: "RW"}), {}, ("1",)),
        (judged({0.0: "RW"}).with_columns(target=pl.lit("high")), {}, ("high",)),
        (judged({0.0: "RW"}).with_columns(target=pl.Series([0.0, None])), {}, ("target",)),
        (
            pl.concat([judged({0.0: "RW"}), judged({0.5: "RW"})]).with_columns(
                target=pl.Series(["0", "0", "0.0", "0.0"])
            ),
            {},
            ("'m'", "0"),
        ),
    ],
)
def test_a_t_that_is_none_is_refused(
    rows: pl.DataFrame, told: dict[str, float], named: tuple[str, ...]
) -> None:
    with refuses(ab.AbstainError, *named):
        ab.targets(None, rows, targets=told)


def test_a_saved_result_must_be_whole() -> None:
    result = ab.targets(None, judged({0.0: "RRWW", 0.5: "RR--"}))
    other = replace(result.models[0], model="other")
    with pytest.raises(ValueError, match="unpack"):
        replace(result, models=(other,)).check()


def test_charts_have_their_ideal() -> None:
    rows, letters, _ = drawn(4)
    charts = ab.targets(None, rows).charts()
    assert list(charts) == ["precision_at_t", "coverage_at_t"]
    diagonal = charts["precision_at_t"]["layer"][0]["data"]["values"]
    assert all(point["t"] == point["precision"] for point in diagonal)
    right = letters[0.0].count("R") / 200
    for point in charts["coverage_at_t"]["layer"][0]["data"]["values"]:
        # of n questions n·A are right: at most n·A/t answers have a share of t right
        assert point["coverage"] * point["t"] <= right + 1e-9
        assert point["coverage"] == 1 or point["coverage"] * point["t"] == pytest.approx(right)


@pytest.mark.slow
def test_what_is_said_of_simulated_models_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """All verdicts on three models; benchmarks/errors.py --part targets has 100 samples of each."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    simulated = importlib.import_module("simulated.told")
    found = np.zeros(3, int)
    for kind in simulated.HEEDS:
        for seed in range(8):
            rows = simulated.told(kind, 4000, np.random.default_rng(seed))
            found += simulated.verdicts(ab.targets(None, rows), kind)
    every, not_wrong, heeds = found.tolist()
    assert every >= 22
    assert not_wrong >= 23
    assert heeds == 24


def test_the_deaf_one_comes_first_in_words() -> None:
    letters = "RRRW" * 60
    falling = "RRR-" * 60
    rows = pl.concat(
        [
            judged({0.0: letters, 0.9: letters}),
            judged({0.0: letters, 0.9: falling}).with_columns(run=pl.lit("a")),
        ]
    )
    result = ab.targets(None, rows)
    assert [model.heeds for model in result.models] == ["falls", "deaf"]
    assert View(result).tables()[-1].notes[0].startswith("m is deaf to t: ")
