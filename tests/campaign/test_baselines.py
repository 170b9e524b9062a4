"""Baselines answer what they say, and score what arithmetic says."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from abstain.cli import run as command
from abstain.errors import UnknownNameError, UsageError
from abstain.features.baseline.analysis import KINDS, baseline_of, chances
from abstain.runs.gold import Gold, read_gold
from tests.campaign.asked import overview
from tests.qa4mre_files import GOLD, RUN, gold_xml, real


@pytest.fixture
def gold(tmp_path: Path) -> Gold:
    (tmp_path / "gold.xml").write_text(GOLD, encoding="utf-8")
    return read_gold(tmp_path / "gold.xml")


def answers(gold: Gold, kind: str) -> list[str]:
    responses = baseline_of(gold, kind).responses
    assert responses["question"].to_list() == gold.frame["question"].to_list()
    assert [said == "YES" for said in responses["answered"]] == [
        a != "" for a in responses["answer"]
    ]
    return responses["answer"].to_list()


def test_what_each_baseline_answers(gold: Gold) -> None:
    assert answers(gold, "first") == ["1", "1", "1"]
    assert answers(gold, "nca") == ["3", "3", ""]
    assert answers(gold, "majority") == ["2", "2", "2"]
    assert answers(gold, "blank") == ["", "", ""]
    assert answers(gold, "oracle") == ["2", "3", "1"]
    assert all(
        a in own for a, own in zip(answers(gold, "random"), gold.frame["options"], strict=True)
    )


def test_peeking_is_said(gold: Gold) -> None:
    assert all(
        "uses the gold's answers" in baseline_of(gold, kind).notes[0]
        for kind in ("majority", "oracle")
    )
    assert not any(
        "uses the gold's answers" in note
        for kind in ("first", "nca")
        for note in baseline_of(gold, kind).notes
    )


def test_random_is_what_its_seed_says(tmp_path: Path) -> None:
    (tmp_path / "gold.xml").write_text(gold_xml([20] * 5), encoding="utf-8")
    gold = read_gold(tmp_path / "gold.xml")
    first, again, other = (baseline_of(gold, "random", seed=s).responses for s in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)
    assert "seed 1" in baseline_of(gold, "random", seed=1).notes[0]


@pytest.mark.slow
def test_random_scores_its_expectation_on_average(gold: Gold, tmp_path: Path) -> None:
    right = chances(gold).sum()
    assert right == pytest.approx(1 / 3 + 1 / 3 + 1 / 2)
    draws = pl.concat(
        baseline_of(gold, "random", seed=s).responses.with_columns(run=pl.lit(f"{s}"))
        for s in range(2_000)
    )
    rows = ab.score(tmp_path / "gold.xml", draws, measures=["accuracy"]).rows
    mean = sum(row.score("accuracy") for row in rows) / len(rows)
    assert mean == pytest.approx(right / 3, abs=0.02)


def test_golds_without_options_or_with_nothing_right() -> None:
    table = pl.DataFrame({"question": ["a", "b", "c"], "correct": ["x", "x", None]})
    plain = read_gold(table)
    assert answers(plain, "nca") == ["none"] * 3
    assert answers(plain, "majority") == ["x"] * 3
    assert answers(plain, "oracle") == ["x", "x", "none"]
    for kind in ("random", "first"):
        with pytest.raises(UsageError, match="3 questions have no options"):
            baseline_of(plain, kind)
    with pytest.raises(UnknownNameError, match="nearest: random"):
        baseline_of(plain, "randum")


@pytest.mark.parametrize(
    ("marks", "correct", "expected"),
    [
        (["no", "yes", "yes"], ["1", "5", "5"], ["5", "5", "5"]),
        (["no", "yes", "yes"], ["1", "4", "5"], ["", "", ""]),  # it is not always the same option
        (["no", "yes", "yes"], ["5", "5", "5"], ["", "", ""]),  # 5 means something else once
        (["no", "no", "no"], ["1", "2", "3"], ["", "", ""]),
    ],
)
def test_nca_without_texts_is_the_option_that_is_right_where_the_gold_says_nca(
    marks: list[str], correct: list[str], expected: list[str]
) -> None:
    table = {"question": ["a", "b", "c"], "correct": correct, "options": ["1|2|3|4|5"] * 3}
    assert answers(read_gold(pl.DataFrame({**table, "nca": marks})), "nca") == expected


def test_the_leaderboard_shows_the_runs_that_the_command_writes(tmp_path: Path) -> None:
    (tmp_path / "gold.xml").write_text(GOLD, encoding="utf-8")
    (tmp_path / "run.xml").write_text(RUN, encoding="utf-8")
    made: dict[str, ab.Counts] = {}
    for kind in KINDS:
        out = tmp_path / f"{kind}.csv"
        assert command(["baseline", str(tmp_path / "gold.xml"), kind, "-o", str(out)]) == 0
        made[kind] = ab.score(tmp_path / "gold.xml", out).rows[0].counts
    drawn = overview(tmp_path / "gold.xml", tmp_path / "run.xml", references=True).baselines
    assert list(drawn) == [
        "random (expected)",
        "random (seed 0)",
        "first option",
        "none of the above",
        "majority option (2)",
        "blank",
        "oracle",
    ]
    assert [counts for counts, _ in list(drawn.values())[1:]] == list(made.values())
    for counts, parts in drawn.values():
        assert parts["topic"].table.sum(axis=0).tolist() == pytest.approx(list(astuple(counts)))


def test_reference_runs_follow_the_policy(tmp_path: Path) -> None:
    (tmp_path / "gold.xml").write_text(GOLD, encoding="utf-8")
    (tmp_path / "run.xml").write_text(RUN, encoding="utf-8")
    how = {"policy": ["declined=wrong"], "references": True}
    c = overview(tmp_path / "gold.xml", tmp_path / "run.xml", **how)
    assert c.baselines["blank"][0] == ab.Counts(wrong=3)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "xml", "jsonl", "parquet", "xml.gz"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_command_writes_runs_that_score(
    kind: str, ending: str, gold: Gold, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"run.{ending}"
    assert command(["baseline", gold.name, kind, "--seed", "3", "-o", str(out)]) == 0
    assert "3 responses" in capfd.readouterr().err
    row = ab.score(gold.name, out).rows[0]
    assert row.run == kind
    assert row.counts.n == 3
    assert row.counts.right == 3 or kind != "oracle"


def test_csv_goes_to_stdout_and_notes_to_stderr(
    gold: Gold, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command(["baseline", gold.name, "random"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[0] == "question,answer,answered,run"
    assert len(out.splitlines()) == 4
    assert "seed 0" in err


@pytest.mark.parametrize(
    ("name", "n", "nca_options", "nca_right"),
    [
        ("QA4MRE-2012-EN_GS.xml", 160, 0, 0),
        ("QA4MRE-2012_BIOMEDICAL_GS.xml", 40, 0, 0),
        ("cmu11791_GS.xml", 100, 60, 22),
    ],
)
def test_real_golds_score_what_arithmetic_says(
    name: str, n: int, nca_options: int, nca_right: int
) -> None:
    path = real("gold", name)
    gold = read_gold(path)
    runs = {kind: baseline_of(gold, kind).responses for kind in KINDS}
    rows = {row.run: row for row in ab.score(path, runs, measures=["c@1"]).rows}
    c, u = nca_right / n, (n - nca_options) / n
    assert rows["nca"].scores["c@1"] == pytest.approx(c * (1 + u))
    assert rows["nca"].counts.right == nca_right
    assert chances(gold).sum() == pytest.approx(n / 5)
    spread = (n * 0.2 * 0.8) ** 0.5
    assert abs(rows["random"].counts.right - n / 5) < 4 * spread
    assert rows["oracle"].scores["c@1"] == 1
    assert rows["blank"].scores["c@1"] == 0
    assert rows["majority"].counts.right >= n / 5
