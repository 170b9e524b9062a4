"""Questions corrected after submission: counts by a slow loop, and what a campaign says."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from abstain.cli import run
from tests.snapshots import refuses, says

IDS = [f"1/1/{n}" for n in range(1, 9)]


def gold(keys: str = "ABABABAB") -> pl.DataFrame:
    return pl.DataFrame({"question": IDS, "correct": list(keys), "options": ["A|B|C"] * 8})


def run_of(answers: str) -> pl.DataFrame:
    texts = [sign.strip("-") for sign in answers]
    return pl.DataFrame({"question": IDS, "answer": texts})


def counted(evaluation: ab.Evaluation) -> dict[str, tuple[float, float, float]]:
    rows = evaluation.score("c@1").rows
    return {r.run: (r.counts.right, r.counts.wrong, r.counts.unanswered) for r in rows}


def by_hand(keys: str, answers: str, changes: dict[str, str]) -> tuple[int, int, int]:
    right = wrong = blank = 0
    for question, key, answer in zip(IDS, keys, answers, strict=True):
        change = changes.get(question, key)
        if change == "none":
            continue
        if change == "everyone" or answer in change.split("|"):
            right += 1
        elif answer == "-":
            blank += 1
        else:
            wrong += 1
    return right, wrong, blank


@pytest.mark.parametrize("align", ["id", "position"])
@pytest.mark.parametrize("seed", range(8))
def test_counts_are_those_of_a_slow_loop(seed: int, align: ab.reading.Align) -> None:
    rng = random.Random(seed)
    keys = "".join(rng.choices("ABC", k=8))
    answers = {name: "".join(rng.choices("ABC-", k=8)) for name in ("x", "y")}
    changes = {
        q: rng.choice(["none", "everyone", "A", "B|C"]) for q in rng.sample(IDS, rng.randint(1, 6))
    }
    runs = {name: run_of(text) for name, text in answers.items()}
    found = counted(ab.read(gold(keys), runs, corrections=changes, align=align))
    assert found == {name: by_hand(keys, text, changes) for name, text in answers.items()}


@pytest.mark.slow
def test_a_table_says_why_and_another_engine_agrees(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    table, runs = tmp_path / "corrections.csv", tmp_path / "x.parquet"
    table.write_text("question,correction,reason\n1/1/1,None,two are right\n1/1/2, C ,typo\n")
    run_of("ACABABAB").write_parquet(runs)
    evaluation = ab.read(gold(), runs, corrections=str(table), engine="duckdb")
    assert counted(evaluation) == {"x": (7, 0, 0)}
    assert evaluation.reading.corrections == {"1/1/1": "none", "1/1/2": "C"}  # no path is kept
    says(list(evaluation.notes), "1/1/1", "1/1/2")


def test_nobody_may_answer_a_void_question_wrongly_by_not_having_it() -> None:
    """A run that lacks the question, and one that has it, are both whole."""
    runs = {"has": run_of("A" * 8), "lacks": run_of("A" * 8).filter(pl.col("question") != "1/1/8")}
    assert counted(ab.read(gold(), runs, corrections={"1/1/8": "none"})) == {
        "has": (4, 3, 0),
        "lacks": (4, 3, 0),
    }


def test_the_option_that_says_none_follows_the_key() -> None:
    frame = gold().with_columns(
        option_texts=pl.lit('["x","y","None of the above"]'), nca=pl.lit("no")
    )
    questions = ab.read(
        frame, run_of("A" * 8), corrections={"1/1/1": "C", "1/1/2": "A", "1/1/3": "everyone"}
    ).questions
    assert questions["nca"].to_list() == ["yes", *["no"] * 7]
    assert questions["accepted"].to_list()[:4] == [["C"], ["A"], ["A", "B", "C"], ["B"]]


def test_an_unanswerable_question_can_be_given_to_all() -> None:
    keys = gold().with_columns(correct=pl.Series(["", *"BABABAB"]))
    found = ab.read(keys, {"x": run_of("-BABABAB")}, corrections={"1/1/1": "everyone"})
    assert counted(found) == {"x": (8, 0, 0)}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"1/1/9": "none"}, "1/1/9"),
        ({"1/1/1": "evryone"}, "evryone"),
        (["1/1/1=A", "1/1/1=B"], "once"),
        (dict.fromkeys(IDS, "none"), "left"),
    ],
)
def test_corrections_that_fit_nothing(changes: dict[str, str] | list[str], named: str) -> None:
    with refuses(ab.AbstainError, named):
        ab.read(gold(), run_of("A" * 8), corrections=changes)


@pytest.mark.slow
def test_a_campaign_shows_what_changed_and_keeps_runs_valid(tmp_path: Path) -> None:
    """Of 8 questions x has 5 right and y 4; without 1/1/1 and with C for 1/1/2 it is 3 and 4."""
    files = {"x": "ABABACCC", "y": "CCABABCC"}
    for name, answers in files.items():
        run_of(answers).write_csv(tmp_path / f"{name}.csv")
    gold().write_csv(tmp_path / "gold.csv")
    paths = [str(tmp_path / f"{name}.csv") for name in ("gold", *files)]
    how = ["--void", "1/1/1=none", "--void", "1/1/2=C", "--skip-invalid"]
    assert run(["campaign", *paths, "-o", str(tmp_path / "out"), *how]) == 0
    result = ab.load(tmp_path / "out" / "results.json")
    assert isinstance(result, ab.CampaignResult)
    assert not result.skipped
    assert [(m.run, m.rank_before, m.rank, m.score_before, m.score) for m in result.moved] == [
        ("y", "2", "1", 4 / 8, 5 / 7),
        ("x", "1", "2", 5 / 8, 3 / 7),
    ]
    assert result.to_frame("corrections_ranks")["run"].to_list() == ["y", "x"]
    assert result.to_frame("corrections")["before"].to_list() == ["A", "B"]
    summary = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    says([line for line in summary.splitlines() if "orrect" in line and "ubmission" in line], "x")
    assert "Corrections after submission" in (tmp_path / "out" / "index.html").read_text("utf-8")


@pytest.mark.slow
def test_a_blind_campaign_keeps_new_keys_to_itself(tmp_path: Path) -> None:
    ids = [f"7/7/{n}" for n in range(40)]
    keys = {"question": ids, "correct": ["A"] * 40, "options": ["A|B|C"] * 40}
    pl.DataFrame(keys).write_csv(tmp_path / "gold.csv")
    for name, answers in {"x": "AB" * 20, "y": "AAAC" * 10}.items():
        pl.DataFrame({"question": ids, "answer": list(answers)}).write_csv(tmp_path / f"{name}.csv")
    paths = [str(tmp_path / f"{name}.csv") for name in ("gold", "x", "y")]
    how = ["-o", str(tmp_path / "out"), "--blind", "--void", "7/7/2=C"]
    assert run(["campaign", *paths, *how]) == 0
    for path in (tmp_path / "out").rglob("*.*"):
        assert "7/7/2" not in path.read_text(encoding="utf-8"), path.name
    assert not list((tmp_path / "out" / "tables").glob("corrections*"))


def test_an_auxiliary_question_outlives_its_main_one(tmp_path: Path) -> None:
    """q2 simplifies q1; once q1 counts for nobody, q2 is still scored, but is no twin."""
    gold = pl.DataFrame(
        {
            "question": ["q1", "q2", "q3", "q4"],
            "correct": ["a", "b", "c", "d"],
            "auxiliary_of": ["", "q1", "", "q3"],
        }
    )
    run = pl.DataFrame({"question": ["q1", "q2", "q3", "q4"], "answer": ["a", "b", "x", "d"]})
    result = ab.campaign(gold, {"r": run}, corrections={"q1": "none"})
    (row,) = result.rows
    assert (row.outcomes, row.pairs) == ((2, 1, 0), (0, 0, 1, 0))
    result.save(tmp_path / "overview")
    with pytest.raises(ab.InputError, match="auxiliary question of 'q1'"):
        ab.campaign(gold.slice(1), {"r": run.slice(1)})


def test_a_blank_that_everyone_has_right_is_no_answer(tmp_path: Path) -> None:
    """x left the question blank; the silent run has it right, too, and is still silent."""
    runs = {"x": run_of("A-ABABAB"), "y": run_of("ABABABAB"), "silent": run_of("-" * 8)}
    result = ab.campaign(gold(), runs, corrections={"1/1/2": "everyone"})
    assert {row.run for row in result.rows} == {"x", "y"}
    assert [(run.name, run.status) for run in result.unranked] == [("silent", "without answers")]
    assert result.questions.choices[1] == [("B", 1)]
    result.save(tmp_path / "saved.json")
    assert ab.load(tmp_path / "saved.json") == result
    assert not (result.to_frame("questions")["answers given"].str.contains("None")).any()


def test_a_tie_that_is_gone_changes_the_rank_of_one_run() -> None:
    """x and y tie at 1=; without 1/1/8, which y alone had right, x is 1 and y is 2."""
    runs = {"x": run_of("ABABABAA"), "y": run_of("ABABABBB")}
    result = ab.campaign(gold(), runs, corrections={"1/1/8": "none"})
    assert [(m.run, m.rank_before, m.rank) for m in result.moved] == [
        ("x", "1=", "1"),
        ("y", "1=", "2"),
    ]
    assert result.to_frame("corrections_ranks")["run"].to_list() == ["y"]
    assert "changed the rank of 1 of 2 ranked runs" in str(result)


def test_a_path_names_a_table_of_corrections(tmp_path: Path) -> None:
    gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["a", "b"]})
    run = pl.DataFrame({"question": ["q1", "q2"], "answer": ["x", "b"]})
    path = tmp_path / "corrections.csv"
    path.write_text("question,correction\nq1,everyone\n")
    for corrections in (path, str(path), [path]):
        (row,) = ab.score(gold, {"r": run}, corrections=corrections).rows
        assert row.outcomes == (2, 0, 0)
