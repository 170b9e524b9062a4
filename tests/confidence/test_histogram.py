"""Curves counted in bins: exact at the edges, bounds that hold, the same from every engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from tests.engines import ENGINES, needs
from tests.helpers import Here
from tests.snapshots import says


def made(seed: int, n: int = 300) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two runs with answers, candidates, gaps; confidences on edges, between them, absent."""
    rng = np.random.default_rng(seed)
    gold = pl.DataFrame({"question": range(n), "correct": "a"})
    parts = []
    for run in ("one", "two"):
        answer = rng.choice(["a", "b", ""], n, p=[0.5, 0.3, 0.2])
        candidate = np.where(answer == "", rng.choice(["a", "b", ""], n), "")
        edges = np.round(rng.random(n) * 8) / 8
        sure = np.where(rng.random(n) < 0.4, edges, np.round(rng.random(n), 2))
        gone = rng.random(n) < 0.1
        confidence = [None if g else float(s) for g, s in zip(gone, sure, strict=True)]
        table = pl.DataFrame({"question": range(n), "answer": answer, "candidate": candidate})
        table = table.with_columns(
            run=pl.lit(run), confidence=pl.Series(confidence, dtype=pl.Float64)
        )
        parts.append(table[rng.permutation(n)[: n - 20].tolist()])
    return gold, pl.concat(parts)


def at(table: pl.DataFrame, run: str, threshold: float) -> tuple[int, int]:
    """Right and wrong answers (and candidates) at least so sure, counted plainly."""
    own = table.filter((pl.col("run") == run) & (pl.col("confidence") >= threshold))
    said = own.select(
        pl.when(pl.col("answer") != "").then("answer").otherwise("candidate").alias("said")
    )["said"]
    return int((said == "a").sum()), int((said == "b").sum())


def summaries(result: ab.HistogramResult) -> list[dict[str, Any]]:
    return result.to_frame().rows(named=True)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_edge_is_exact(engine: Any, tmp_path: Path) -> None:
    needs(engine)
    gold, table = made(0)
    table.write_parquet(tmp_path / "runs.parquet")
    result = ab.histogram(gold, tmp_path / "runs.parquet", bins=64, engine=engine)
    points = result.to_frame("points").filter(pl.col("threshold").is_finite())
    rows = points.rows(named=True)
    assert len(rows) > 80
    for row in rows:
        right, wrong = at(table, row["run"], row["threshold"])
        assert (row["right"], row["wrong"], row["answered"]) == (right, wrong, right + wrong)
        assert row["coverage"] == (right + wrong) / 300


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bins", [2, 16, 1024])
def test_the_area_lies_within_its_bounds(seed: int, bins: int) -> None:
    gold, table = made(seed)
    exact = {
        row.run: row.scores["AURC"] for row in ab.score(gold, table.lazy(), ["AURC", "c@1"]).rows
    }
    spans = []
    for row in summaries(ab.histogram(gold, table.lazy(), bins=bins)):
        assert row["at best"] - 1e-12 <= exact[row["run"]] <= row["at worst"] + 1e-12
        assert row["at best"] <= row["AURC"] <= row["at worst"]
        spans.append(row["at worst"] - row["at best"])
    assert max(spans) > 0


def test_where_no_bin_mixes_confidences_nothing_is_lost() -> None:
    gold, table = made(1)
    table = table.with_columns((pl.col("confidence") * 128).round() / 128)
    exact = ab.curve(gold, table.lazy(), ["AURC", "c@1"]).to_frame().sort("run")
    binned = summaries(ab.histogram(gold, table.lazy(), bins=128))
    assert [row["run"] for row in binned] == exact["run"].to_list()
    for row, value, best in zip(binned, exact["AURC"], exact["best c@1"], strict=True):
        assert row["AURC"] == pytest.approx(value, abs=1e-12)
        assert row["best c@1"] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("bins", [0, 1, 3, 100, 1 << 21])
def test_bins_that_have_no_exact_edges_are_refused(bins: int) -> None:
    gold, table = made(0)
    with pytest.raises(ab.UsageError, match="a power of two"):
        ab.histogram(gold, table, bins=bins)


def test_the_command(here: Here) -> None:
    gold, table = made(2)
    gold.write_csv(here.folder / "gold.csv")
    table.write_csv(here.folder / "runs.csv")
    done = here("curve", "gold.csv", "runs.csv", "--histogram", "16", "--show", "risk")
    assert done.code == 0
    assert "bins of 1/16" in done.out
    engines = [here("curve", "gold.csv", "runs.csv", "--engine", e) for e in ("polars", "duckdb")]
    assert engines[0].code == 0
    assert engines[0] == engines[1]  # exact curves need every confidence, whoever reads them
    assert "needs --show" in here.refuses(
        "curve", "gold.csv", "runs.csv", "--histogram", "16", "--show", "roc"
    )
    (here.folder / "bare.csv").write_text("question,answer\n0,a\n")
    assert "has no column 'confidence'" in here.refuses(
        "curve", "gold.csv", "bare.csv", "--histogram", "16"
    )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_without_confidence_has_no_curve(engine: Any, tmp_path: Path) -> None:
    """As in `curve`: whether its column is missing, empty, or beside one that is filled."""
    needs(engine)
    gold, table = made(2)
    sure = table.filter(run="one")
    sure.write_parquet(tmp_path / "sure.parquet")
    sure.drop("run", "confidence").write_parquet(tmp_path / "unsure.parquet")
    files = [tmp_path / "sure.parquet", tmp_path / "unsure.parquet"]
    result = ab.histogram(gold, files, bins=64, engine=engine)
    exact = ab.curve(gold, files, ["AURC", "c@1"])
    for shown in (result, exact):
        says(str(shown), "'unsure'")
    one, other = summaries(result)
    assert (one["run"], other["run"]) == ("one", "unsure")
    assert one["at best"] <= exact.to_frame()["AURC"][0] <= one["at worst"]
    assert all(value is None for name, value in other.items() if name != "run")
    assert set(result.to_frame("points")["run"]) == {"one"}


def test_frames_of_several_engines_may_lack_confidence() -> None:
    import duckdb

    gold, table = made(2)
    unsure = duckdb.from_arrow(
        table.filter(run="two").drop("confidence").with_columns(run=pl.lit("three")).to_arrow()
    )
    result = ab.histogram(gold, [table.filter(run="one"), unsure], bins=64)
    assert set(result.to_frame("points")["run"]) == {"one"}
    with pytest.raises(ab.InputError, match="has no column 'confidence'"):
        ab.histogram(gold, unsure, bins=64)


@pytest.mark.slow
def test_notes_and_formats_are_those_of_the_exact_curve(here: Here) -> None:
    """PAN's truth is a gold by its format only; refusals that were found are told."""
    (here.folder / "truth.jsonl").write_text(
        '{"id": "a", "same": true}\n{"id": "b", "same": false}\n{"id": "c", "same": true}\n'
    )
    (here.folder / "answers.jsonl").write_text(
        '{"id": "a", "value": 0.75}\n{"id": "b", "value": 0.5}\n{"id": "c", "value": 0.25}\n'
    )
    curve = ("curve", "truth.jsonl", "answers.jsonl", "--from", "pan", "--show", "risk")
    exact, binned = here(*curve, "--format", "csv"), here(*curve, "--histogram", "8")
    assert exact.code == binned.code == 0, binned.err
    (here.folder / "gold.csv").write_text("question,correct\n1,a\n2,b\n")
    (here.folder / "run.csv").write_text(
        "question,answer,response,confidence\n1,a,a,0.5\n2,,I cannot answer that.,0.25\n"
    )
    detect = ("curve", "gold.csv", "run.csv", "--detect-refusals", "en", "--format", "json")
    notes = [json.loads(here(*detect, *more).out)["notes"] for more in ((), ("--histogram", "8"))]
    assert any("refus" in note for note in notes[0])
    assert notes[1] == notes[0]
