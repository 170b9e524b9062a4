"""Every table of a campaign against plain loops."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from abstain.errors import InputError, UsageError
from abstain.features.campaign.overview import Overview
from abstain.features.campaign.tables import all_tables
from abstain.report.grid import Cell
from abstain.report.page import PageTable
from abstain.stats.intervals import interval
from tests.campaign.asked import overview
from tests.campaign.slow import SlowCampaign, deviation, make
from tests.snapshots import refuses


@pytest.fixture(scope="module", params=[1, 2])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[SlowCampaign, Overview, dict[str, PageTable]]:
    """A random campaign, what is true of it, and what we make of it."""
    folder: Path = tmp_path_factory.mktemp("campaign")
    slow = make(folder, seed=request.param)
    c = overview(folder / "gold.csv", folder / "runs.csv", references=True)
    return slow, c, {table.name: table for table in all_tables(c)}


Both = tuple[SlowCampaign, Overview, dict[str, PageTable]]


def rows(table: PageTable) -> list[dict[str, Cell]]:
    """A table's rows by column name."""
    return [
        dict(zip([c.name for c in table.grid.columns], r, strict=True)) for r in table.grid.rows
    ]


def by_name(table: PageTable) -> dict[Cell, dict[str, Cell]]:
    """A table's rows by run (or whatever its first text column names)."""
    first = next(c.name for c in table.grid.columns if c.kind == "text" and c.name != "#")
    return {row[first]: row for row in rows(table)}


@pytest.mark.slow
def test_the_leaderboard_counts_every_outcome(both: Both) -> None:
    slow, _, tables = both
    found = by_name(tables["leaderboard"])
    everything = slow.where()
    for run in slow.outcomes:
        row = found[run]
        letters = {
            "right": "R",
            "wrong": "W",
            "blank (right)": "UR",
            "blank (wrong)": "UW",
            "blank (empty)": "UE",
        }
        for column, letter in letters.items():
            assert row[column] == slow.count(run, letter)
        blanks = sum(slow.count(run, letter) for letter in ("UR", "UW", "UE"))
        assert row["blank"] == blanks
        assert row["answered"] == len(everything) - blanks
        assert row["c@1"] == pytest.approx(float(slow.c_at_1(run, everything)), abs=1e-12)
        forced = (slow.count(run, "R") + slow.count(run, "UR")) / len(everything)
        assert row["forced-accuracy"] == pytest.approx(forced, abs=1e-12)
        passed = sum(
            slow.c_at_1(run, slow.where(test=t)) >= 0.5
            for t in sorted({g["test"] for g in slow.gold})
        )
        assert row["tests passed"] == passed


@pytest.mark.slow
def test_runs_stand_from_the_best_to_the_worst(both: Both) -> None:
    slow, _, tables = both
    ranked = [r for r in rows(tables["leaderboard"]) if r["#"]]
    scores = [slow.c_at_1(str(r["run"]), slow.where()) for r in ranked]
    assert scores == sorted(scores, reverse=True)
    assert [str(r["#"]).rstrip("=") for r in ranked] == [
        str(1 + sum(other > own for other in scores)) for own in scores
    ]


@pytest.mark.parametrize(
    ("name", "attribute"), [("topics", "topic"), ("tests", "test"), ("by_type", "type")]
)
def test_scores_by_part_and_their_summary_rows(both: Both, name: str, attribute: str) -> None:
    slow, _, tables = both
    found = by_name(tables[name])
    for part in sorted({g[attribute] for g in slow.gold}):
        expected = {run: slow.c_at_1(run, slow.where(**{attribute: part})) for run in slow.outcomes}
        for run, value in expected.items():
            assert found[run][part] == pytest.approx(float(value), abs=1e-12)
        column = list(expected.values())
        assert found["mean"][part] == pytest.approx(float(statistics.mean(column)), abs=1e-12)
        assert found["median"][part] == pytest.approx(float(statistics.median(column)), abs=1e-12)
        assert found["standard deviation"][part] == pytest.approx(deviation(column), abs=1e-12)


def test_reading_sums_up_the_tests_of_each_topic(both: Both) -> None:
    slow, _, tables = both
    found = by_name(tables["reading"])
    for run in slow.outcomes:
        for label, wanted in (
            ("", {}),
            ("Alpha: ", {"topic": "Alpha"}),
            ("Beta: ", {"topic": "Beta"}),
        ):
            tests = sorted({g["test"] for g in slow.gold if wanted.items() <= g.items()})
            scores = [slow.c_at_1(run, slow.where(test=t)) for t in tests]
            row = found[run]
            assert row[f"{label}mean"] == pytest.approx(float(statistics.mean(scores)), abs=1e-12)
            middle = float(statistics.median(scores))
            assert row[f"{label}median"] == pytest.approx(middle, abs=1e-12)
            assert row[f"{label}st. dev."] == pytest.approx(deviation(scores), abs=1e-12)


def test_subsets_are_main_auxiliary_and_every_yes(both: Both) -> None:
    slow, _, tables = both
    auxiliary = [g["question"] for g in slow.gold if g["auxiliary_of"]]
    main = [g["question"] for g in slow.gold if not g["auxiliary_of"]]
    table = tables["subsets"]
    assert [c.name for c in table.grid.columns] == ["run", "all", "main", "auxiliary", "modality"]
    for run in slow.outcomes:
        row = by_name(table)[run]
        for column, questions in (
            ("main", main),
            ("auxiliary", auxiliary),
            ("modality", slow.where(modality="yes")),
        ):
            assert row[column] == pytest.approx(float(slow.c_at_1(run, questions)), abs=1e-12)


def test_types_over_all_responses(both: Both) -> None:
    slow, _, tables = both
    for kind, row in by_name(tables["over_type"]).items():
        questions = slow.where(type=str(kind))
        letters = [slow.outcomes[run][q] for run in slow.outcomes for q in questions]
        assert row["questions"] == len(questions)
        right = 100 * sum(x == "R" for x in letters) / len(letters)
        blank = 100 * sum(x.startswith("U") for x in letters) / len(letters)
        assert row["right %"] == pytest.approx(right, abs=1e-9)
        assert row["blank %"] == pytest.approx(blank, abs=1e-9)
        scores = {run: slow.c_at_1(run, questions) for run in slow.outcomes}
        assert row["best"] == pytest.approx(float(max(scores.values())), abs=1e-12)
        assert scores[str(row["best run"])] == max(scores.values())


def test_questions_say_how_many_runs_had_them(both: Both) -> None:
    slow, _, tables = both
    found = rows(tables["questions"])
    order = [(int(str(r["right"])), -int(str(r["wrong"]))) for r in found]
    assert order == sorted(order)  # the hardest first, as on the cards
    for row in found:
        letters = [slow.outcomes[run][str(row["question"])] for run in slow.outcomes]
        assert row["right"] == letters.count("R")
        assert row["wrong"] == letters.count("W")
        assert row["blank"] == sum(x.startswith("U") for x in letters)
        given = Counter(slow.answers[run].get(str(row["question"]), "") for run in slow.outcomes)
        del given[""]
        assert row["correct"] == next(
            g["correct"] for g in slow.gold if g["question"] == row["question"]
        )
        shown = dict(re.findall(r"(\w+) \((\d+)\)", str(row["answers given"])))
        assert {k: int(v) for k, v in shown.items()} == dict(given)


def test_teams_put_their_best_run_first(both: Both) -> None:
    slow, _, tables = both
    for team, row in by_name(tables["teams"]).items():
        own = {r: slow.c_at_1(r, slow.where()) for r in slow.outcomes if r.startswith(str(team))}
        best = max(own.values())
        assert row["runs"] == len(own)
        assert row["c@1"] == pytest.approx(float(best), abs=1e-12)
        others = sorted(own.values(), reverse=True)[1:]
        if others:
            assert row["mean of the others"] == pytest.approx(
                float(statistics.mean(others)), abs=1e-12
            )
            assert row["lowest"] == pytest.approx(float(others[-1]), abs=1e-12)


@pytest.mark.parametrize("part", ["question", "answer"])
def test_pairs_count_right_responses_on_both_sides(both: Both, part: str) -> None:
    slow, _, tables = both
    twins = [g for g in slow.gold if g["auxiliary_of"] and g["simplified"] == part]

    def right(question: str) -> int:
        return sum(slow.outcomes[run][question] == "R" for run in slow.outcomes)

    for row in rows(tables[f"pairs_{part}"]):
        attribute, level = str(row["by"]), str(row["level"])
        chosen = [g for g in twins if level == "TOTAL" or g[attribute] == level]
        for kind in ("all", "hyp", "nps"):
            own = [g for g in chosen if kind in ("all", g["simplification"])]
            main = sum(right(g["auxiliary_of"]) for g in own)
            auxiliary = sum(right(g["question"]) for g in own)
            better = sum(right(g["question"]) > right(g["auxiliary_of"]) for g in own)
            assert row[f"{kind}: main"] == main
            assert row[f"{kind}: auxiliary"] == auxiliary
            assert row[f"{kind}: better"] == better
            assert row[f"{kind}: pairs"] == len(own)
            change = round(100 * (auxiliary - main) / main) if main else None
            assert row[f"{kind}: change %"] == change


def test_pairs_by_run_are_a_fourfold_table(both: Both) -> None:
    slow, _, tables = both
    twins = [(g["auxiliary_of"], g["question"]) for g in slow.gold if g["auxiliary_of"]]
    found = by_name(tables["pairs_runs"])
    total = dict.fromkeys(["both right", "main only", "auxiliary only", "neither"], 0)
    for run, own in slow.outcomes.items():
        expected = dict.fromkeys(total, 0)
        for main, auxiliary in twins:
            key = {
                (True, True): "both right",
                (True, False): "main only",
                (False, True): "auxiliary only",
                (False, False): "neither",
            }[own[main] == "R", own[auxiliary] == "R"]
            expected[key] += 1
            total[key] += 1
        assert {k: found[run][k] for k in expected} == expected
    assert {k: found["all runs"][k] for k in total} == total


def test_reference_runs_score_what_arithmetic_says(both: Both) -> None:
    slow, _, tables = both
    found = by_name(tables["leaderboard"])
    n = len(slow.gold)
    assert found["random (expected)"]["c@1"] == pytest.approx(0.2, abs=1e-12)
    assert found["blank"]["c@1"] == 0
    assert found["oracle"]["c@1"] == 1
    first = sum(g["correct"] == "1" for g in slow.gold)
    assert found["first option"]["right"] == first
    habits = {o: sum(g["correct"] == o for g in slow.gold) for o in "12345"}
    habit = max(habits.values())
    (majority,) = [row for name, row in found.items() if str(name).startswith("majority option")]
    assert majority["right"] == habit
    assert majority["c@1"] == pytest.approx(habit / n, abs=1e-12)


GOLD = pl.DataFrame({"question": ["q1", "q2"], "correct": ["a", "b"], "options": ["a|b", "a|b"]})


def test_attributes_that_the_gold_lacks_are_refused() -> None:
    gold, run = (
        GOLD.with_columns(theme=pl.Series(["x", "y"])),
        GOLD.select("question", answer="correct"),
    )
    for wrong in ({"topic_by": "them"}, {"test_by": "them"}, {"by": ["them"]}, {"by": "them"}):
        with pytest.raises(UsageError, match=r"'them' \(nearest: theme\)"):
            overview(gold, {"r": run}, **wrong)
    assert overview(gold, {"r": run}, topic_by="theme", by="theme").slices["theme"].names == [
        *("x", "y")
    ]


def test_digits_of_every_script_sort_by_their_value_or_as_text() -> None:
    names = ["²", "①", "10", "2", "٣", "a"]
    gold = pl.DataFrame({"question": names, "correct": ["a"] * 6, "topic": names})
    found = overview(gold, {"r": gold.select("question", answer="correct")})
    assert found.slices["topic"].names[:3] == ["2", "٣", "10"]
    assert sorted(found.slices["topic"].names) == sorted(names)


def test_the_format_that_is_asked_for_is_that_of_the_gold_too(tmp_path: Path) -> None:
    gold, run = tmp_path / "gold.jsonl", tmp_path / "run.jsonl"
    gold.write_text("question,correct\nq1,a\n")
    run.write_text("question,answer\nq1,a\n")
    assert overview(gold, run, format="csv").overall[0].right == 1


@pytest.mark.slow
@pytest.mark.parametrize("why", ["declined", "empty", "unparseable", "missing"])
@pytest.mark.parametrize("candidate", ["a", "b", ""])
def test_only_failures_need_a_policy_of_their_own(why: str, candidate: str) -> None:
    run = pl.DataFrame(
        {"question": ["q1", "q2"], "answer": ["a", ""], "candidate": ["", candidate]}
    ).with_columns(why=pl.Series(["", why]))
    c = overview(GOLD, {"r": run})
    assert c.overall[0].n == 2
    assert c.result.touched == {why: 1}


@pytest.mark.slow
@pytest.mark.parametrize("candidate", ["a", "b", ""])
def test_failures_stop_a_campaign_until_the_policy_names_them(candidate: str) -> None:
    run = pl.DataFrame(
        {
            "question": ["q1", "q2"],
            "answer": ["a", ""],
            "candidate": ["", candidate],
            "why": ["", "error"],
        }
    )
    with refuses(InputError, "1", "'r'"):
        overview(GOLD, {"r": run})
    c = overview(GOLD, {"r": run}, policy={"error": "wrong"})
    assert (c.overall[0].right, c.overall[0].wrong) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [None, ["empty=excluded"]])
def test_intervals_are_those_of_each_run_by_itself(
    tmp_path: Path, policy: list[str] | None
) -> None:
    """Whether the comparison of all runs has made them already, or left questions out."""
    make(tmp_path, seed=3)
    calls: list[tuple[int, int]] = []
    c = overview(
        tmp_path / "gold.csv",
        tmp_path / "runs.csv",
        policy=policy,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert c.result.comparison is not None
    assert (c.result.comparison.questions == c.result.comparison.questions_in_all) == (
        policy is None
    )
    for row in c.result.rows:
        alone = interval(c.measure, row.counts)
        assert row.intervals["c@1"] == (alone.low, alone.high)
    pairs = len(c.runs) * (len(c.runs) - 1) // 2
    assert calls[-1] == (pairs, pairs)


def test_a_result_names_every_table_that_it_gives(both: Both) -> None:
    _, c, tables = both
    named = c.result.TABLES
    assert named == ("main", *tables)
    assert {"leaderboard", "topics", "questions"} <= set(named)
    for name, table in tables.items():
        assert c.result.to_frame(name).height == len(table.grid.rows)
    assert c.result.to_frame().equals(c.result.to_frame("leaderboard"))
    with refuses(UsageError, "'teem'"):
        c.result.to_frame("teem")
