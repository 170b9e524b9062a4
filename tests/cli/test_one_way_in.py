"""Every command reads alike: what one takes, the others take, with the same words and effect.

Each of these once differed from command to command, or from the command line to Python.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab

GOLD = pl.DataFrame(
    {
        "question": [f"q{n}" for n in range(8)],
        "correct": ["A"] * 8,
        "topic": ["x", "y"] * 4,
    }
)


def answers(run: str, given: str) -> pl.DataFrame:
    sure = [0.9 - n / 10 for n in range(8)]
    return pl.DataFrame(
        {"question": GOLD["question"], "answer": list(given), "confidence": sure}
    ).with_columns(run=pl.lit(run))


RUNS = {"a": answers("a", "AAAAABBB"), "b": answers("b", "ABABABAB")}


def abstain(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "abstain", *words],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    GOLD.write_csv(tmp_path / "gold.csv")
    GOLD.write_csv(tmp_path / "gold.tsv")  # commas, whatever its name says
    for name, frame in RUNS.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["score"], ["score", "--several"], ["compare"], ["curve"], ["tune"], ["meta"]],
    ids=" ".join,
)
def test_a_format_is_that_of_the_gold_too(folder: Path, words: list[str]) -> None:
    done = abstain(folder, *words, "gold.tsv", "a.csv", "b.csv", "--from", "csv")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "meta"])
def test_a_dash_among_scores_is_no_score(folder: Path, command: str) -> None:
    (folder / "s.csv").write_text("topic,a,b\nt1,0.1,0.2\nt2,-,0.3\nt3,0.5,0.1\nt4,0.4,0.6\n")
    done = abstain(folder, command, "--scores", "s.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert ("1 of 4 topics" if command == "meta" else "3 of 4 topics") in " ".join(
        done.stdout.split()
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "meta"])
def test_scores_by_query_are_read_as_rank_writes_them(folder: Path, command: str) -> None:
    (folder / "qrels.txt").write_text("q1 0 x 1\nq2 0 x 1\nq3 0 y 1\n")
    for run, better in (("r1", "x"), ("r2", "y")):
        lines = [
            f"q{n} Q0 {doc} 1 {2 if doc == better else 1} {run}\n"
            for n in (1, 2, 3)
            for doc in "xy"
        ]
        (folder / f"{run}.txt").write_text("".join(lines))
    found = abstain(
        folder,
        "rank",
        "qrels.txt",
        "r1.txt",
        "r2.txt",
        "-m",
        "AP",
        "--per-query",
        "--format",
        "csv",
    )
    (folder / "ap.csv").write_text(found.stdout)
    done = abstain(folder, command, "--scores", "ap.csv")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["score", "compare", "curve", "tune", "meta", "campaign"])
def test_a_seed_is_not_negative(folder: Path, command: str) -> None:
    more = ["-o", "overview"] if command == "campaign" else []
    done = abstain(folder, command, "gold.csv", "a.csv", "b.csv", "--seed", "-1", *more)
    assert done.returncode == 2
    assert "--seed" in done.stderr
    assert not (folder / "overview").exists()


@pytest.mark.slow
@pytest.mark.parametrize("option", [["--match", "text"], ["--engine", "polars"]], ids=" ".join)
@pytest.mark.parametrize(
    "command", ["score", "compare", "curve", "tune", "meta", "campaign", "validate"]
)
def test_an_option_of_reading_is_in_every_command(
    folder: Path, command: str, option: list[str]
) -> None:
    more = ["-o", "overview"] if command == "campaign" else []
    done = abstain(folder, command, "gold.csv", "a.csv", "b.csv", *option, *more)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_an_overview_has_the_level_that_is_asked_for(folder: Path) -> None:
    for level in ("0.5", "0.95"):
        done = abstain(
            folder, "campaign", "gold.csv", "a.csv", "b.csv", "--level", level, "-o", level
        )
        assert done.returncode == 0, done.stderr
    wide, narrow = (ab.load(folder / level / "results.json") for level in ("0.95", "0.5"))
    widths = [
        result.to_frame().filter(run="a").select(pl.col("high") - pl.col("low")).item()
        for result in (wide, narrow)
    ]
    assert widths[0] > widths[1]


def test_responses_are_read_once_whatever_is_asked_of_them() -> None:
    read = []

    def told(frame: pl.DataFrame) -> pl.DataFrame:
        read.append(len(frame))
        return frame

    frame = pl.concat(RUNS.values())
    lazy = frame.lazy().map_batches(told, schema=frame.schema)
    runs = ab.read(GOLD, lazy)
    runs.compare(resamples=100)
    once = len(read)
    runs.score(["c@1", "AUROC"])
    runs.curve()
    runs.tune(folds=2)
    runs.meta(parts="stability", subsets=2)
    assert len(read) <= once + 1  # confidences are read when somebody asks for them


# -------------------------------------------------------------------------------------- Python


def test_every_analysis_is_a_function_whatever_was_imported() -> None:
    import abstain.features.compare.analysis  # noqa: F401

    for name in ("campaign", "validate", "baseline", "audit", "convert", "refusals", "compare"):
        assert name in dir(ab)
        assert callable(getattr(ab, name))


def test_a_slip_in_a_keyword_is_told_the_nearest_name() -> None:
    given: dict[str, Any] = {"polcy": {"empty": "wrong"}}
    with pytest.raises(ab.UnknownNameError, match=r"'polcy' .nearest: policy"):
        ab.score(GOLD, RUNS["a"], **given)


def test_intervals_may_be_asked_for_by_yes() -> None:
    (row,) = ab.score(GOLD, RUNS["a"], "accuracy", interval=True).rows
    assert row.intervals["accuracy"] is not None


@pytest.mark.slow
def test_a_proportion_is_known_by_its_declaration(folder: Path) -> None:
    done = abstain(
        folder, "score", "gold.csv", "a.csv", "-m", "over-abstention", "--interval", "wilson"
    )
    assert (done.returncode, done.stderr) == (0, "")
