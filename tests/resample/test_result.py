"""What `meta` is asked of, and its result: saved, loaded, shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from tests.cli.test_meta import tables
from tests.helpers import Here
from tests.snapshots import refuses, says

QUICK: dict[str, Any] = {"subsets": 20, "resamples": 20}


@pytest.fixture
def files(here: Here) -> Here:
    for name, text in tables().items():
        here.write(name, text)
    return here


@pytest.mark.slow
def test_every_way_in_is_asked_alike(files: Here) -> None:
    """Outcomes by a gold, by judges and as counts of one response a question."""
    told = [
        ab.meta("gold.csv", "runs.csv", **QUICK),
        ab.read("gold.csv", "runs.csv").meta(**QUICK),
        ab.read_judged("grades.csv").meta(**QUICK),
        ab.read_counts("counts.csv").meta(**QUICK),
    ]
    first = told[0]
    for own in told:
        assert own.scores == first.scores
        assert own.stability == first.stability
        assert own.sensitivity == first.sensitivity
        assert own.power == first.power


def test_rankings_are_asked_through_their_scores() -> None:
    qrels = {f"q{k}": {"d1": 1, "d2": 0} for k in range(6)}
    runs = {
        name: {f"q{k}": {"d1": float((k + n) % 3), "d2": 1.0} for k in range(6)}
        for n, name in enumerate(("a", "b", "c"))
    }
    rankings = ab.read_rankings(qrels, runs)
    result = rankings.meta(["RR", "AP"], parts=["agreement", "stability"], subsets=5)
    assert result.measures == ("RR", "AP")
    assert result.given_scores
    assert result.scores["RR"] == {
        row.run: pytest.approx(row.scores["RR"]) for row in rankings.score("RR").rows
    }


def test_another_policy_reads_nothing_again(files: Here) -> None:
    evaluation = ab.read("gold.csv", "runs.csv")
    blank = evaluation.meta("accuracy", parts="stability", subsets=2)
    Path("runs.csv").unlink()
    wrong = evaluation.with_policy({"empty": "wrong"}).meta("c@1", parts="stability", subsets=2)
    assert wrong.scores["c@1"] == blank.scores["accuracy"]  # without blanks c@1 is accuracy
    assert wrong.policy["empty"] == "wrong"


@pytest.mark.slow
@pytest.mark.parametrize("parts", ["stability", "sensitivity", "power", "agreement", ()])
def test_a_loaded_result_is_the_fresh_one(files: Here, tmp_path: Path, parts: Any) -> None:
    fresh = ab.read("gold.csv", "runs.csv").meta(parts=parts, **QUICK)
    fresh.to_json(tmp_path / "meta.json")
    loaded = ab.load(tmp_path / "meta.json")
    assert loaded == fresh
    assert str(loaded) == str(fresh)
    assert loaded.charts() == fresh.charts()
    assert loaded.page() == fresh.page()
    assert loaded.to_frame().equals(fresh.to_frame())
    assert repr(fresh) == repr(loaded)


def test_tables_by_name(files: Here) -> None:
    result = ab.read("gold.csv", "runs.csv").meta(subsets=60, resamples=40, difference=0.1)
    heights = {name: result.to_frame(name).height for name in result.TABLES[1:]}
    assert heights == {
        "scores": 5,
        "stability": 3 * 10,
        "sensitivity": 3,
        "swap_rates": 3 * 21,
        "required_by_questions": 3 * 6,
        "questions_needed": len(result.questions_needed),
        "power": 3,
        "asl": 3 * 10,
        "agreement": 3,
    }
    rates = result.to_frame("swap_rates").filter(pl.col("measure") == "UF")
    assert rates["swap_rate"].to_list() == [own.swap_rate for own in result.sensitivity[2].bins]
    assert result.to_frame("scores")["UF"].to_list() == list(result.scores["UF"].values())


def test_counts_of_runs_have_no_questions_to_draw(files: Here) -> None:
    files.write("totals.csv", "run,right,wrong,unanswered\na,5,3,2\nb,4,4,2\n")
    said = files.refuses("meta", "--counts", "totals.csv")
    says(said, "totals.csv:1", "'question'")
    counted = ab.read_counts({"a": ab.Counts(5, 3), "b": ab.Counts(4, 4)})
    with refuses(ab.UsageError):
        counted.meta()


def test_some_of_the_scores_that_were_read(files: Here) -> None:
    rows = [f"r{r},q{k},{(r + k) % 3},{k % 2}" for r in range(3) for k in range(8)]
    files.write("both.csv", "\n".join(["run,query,AP,RR", *rows]) + "\n")
    how = ("meta", "--scores", "both.csv", "--part", "stability", "--subsets", "5", "-f", "json")
    assert files(*how).data["measures"] == ["AP", "RR"]
    assert files(*how, "-m", "rr").data["measures"] == ["RR"]
    says(files.refuses(*how[:-2], "-m", "RP"), "'RP'")


def test_clusters_are_not_drawn_and_that_is_said(files: Here) -> None:
    gold = Path("gold.csv").read_text().splitlines()
    lines = [f"{gold[0]},test", *(f"{line},t{k // 4}" for k, line in enumerate(gold[1:]))]
    files.write("gold.csv", "\n".join(lines) + "\n")
    plain = ab.read("gold.csv", "runs.csv").meta(parts="stability", subsets=5)
    told = ab.read("gold.csv", "runs.csv", cluster="test").meta(parts="stability", subsets=5)
    assert told.stability == plain.stability
    assert any("clusters (test) have no effect" in note for note in told.notes)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_any_engine_will_do(files: Here, engine: str) -> None:
    pytest.importorskip("duckdb")
    how = ("meta", "gold.csv", "runs.csv", "--subsets", "5", "--resamples", "5", "-f", "csv")
    assert files(*how, "--engine", engine).out == files(*how).out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "broken", "said"),
    [
        ("sensitivity", lambda rows: rows[0].update(width=0), ()),
        (
            "stability",
            lambda rows: rows[1]["curve"].pop(),
            (),
        ),
        ("required_by_questions", lambda rows: rows.pop(0), ("'c@1'",)),
    ],
)
def test_a_result_that_is_not_whole_is_refused(
    files: Here, name: str, broken: Callable[[Any], Any], said: tuple[str, ...]
) -> None:
    data = json.loads(ab.meta("gold.csv", "runs.csv", **QUICK).to_json())
    broken(data[name])
    files.write("part.json", json.dumps(data))
    with refuses(ab.InputError, *said):
        ab.load("part.json")
