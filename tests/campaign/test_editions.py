"""Editions side by side: Tables 16 and 17 in shape, and made-up years with known means."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import abstain as ab
from tests.snapshots import refuses, says

pytestmark = pytest.mark.slow

PUBLISHED = Path(__file__).parent.parent / "published"


@pytest.fixture(scope="module")
def rebuilt() -> ab.CampaignResult:
    folder = Path(str(files("abstain") / "examples" / "qa4mre2013"))
    return ab.campaign(
        folder / "gold.csv", folder / "runs.csv.gz", runs_info=folder / "runs_info.csv"
    )


def made_up(right: dict[str, int], size: int = 20, types: str = "PM") -> ab.CampaignResult:
    """Runs that have so many of the first questions right and answer all."""
    ids = [f"q{n}" for n in range(size)]
    gold = pl.DataFrame(
        {
            "question": ids,
            "correct": ["A"] * size,
            "options": ["A|B"] * size,
            "test": [str(n // 5) for n in range(size)],
            "type": [types[n % len(types)] for n in range(size)],
        }
    )
    runs = {
        name: pl.DataFrame({"question": ids, "answer": ["A"] * n + ["B"] * (size - n)})
        for name, n in right.items()
    }
    return ab.campaign(gold, runs)


def printed(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_table_16_of_2013_and_made_up_years(rebuilt: ab.CampaignResult) -> None:
    earlier = {
        # 2012: runs of 10 and 4 of 20 right by one team, 8 by another: means 22/60 and 18/40
        "2012": made_up({"aaaa1201enen": 10, "aaaa1202enen": 4, "bbbb1201dede": 8}),
        "2011": made_up({"aaaa1101enen": 2}),
    }
    found = ab.editions({"2013": rebuilt, **earlier}, on={"role": "main"})
    rows = {own.edition: own for own in found.editions}
    published = {row["edition"]: row for row in printed("qa4mre_table16_editions")}["2013"]
    assert f"{rows['2013'].all_runs:.2f}" == published["all_runs"]
    assert f"{rows['2013'].best_runs:.2f}" == published["best_runs"]
    assert (rows["2013"].questions, rows["2013"].tests) == (240, 16)
    assert rows["2012"].all_runs == pytest.approx(22 / 60)
    assert rows["2012"].best_runs == pytest.approx(18 / 40)
    assert rows["2011"].all_runs == pytest.approx(0.1)
    assert (rows["2012"].runs, rows["2012"].teams, rows["2012"].tests) == (3, 2, 4)
    assert rows["2012"].baselines == {"random (expected)": 0.5}
    assert found.teams == 13


def test_table_17_of_2013(rebuilt: ab.CampaignResult) -> None:
    """To within the last digit: some of the printed percentages were cut off, not rounded."""
    parts = {p.level: p for p in ab.editions({"2013": rebuilt}).parts if p.by == "type"}
    rows = [row for row in printed("qa4mre2013_table17_question_types") if row["year"] == "2013"]
    assert len(rows) == 5
    for row in rows:
        own = parts[row["type"]]
        assert own.right == pytest.approx(float(row["correct_pct"]), abs=0.01)
        assert own.unanswered == pytest.approx(float(row["noa_pct"]), abs=0.01)


def test_parts_by_hand() -> None:
    found = ab.editions({"x": made_up({"aaaa1201enen": 10, "bbbb1201dede": 5})})
    parts = {(p.by, p.level): p for p in found.parts}
    # of the even questions the first has 5 of 10 right, the second 3
    assert parts["type", "P"].all_runs == pytest.approx(0.4)
    assert parts["type", "P"].right == pytest.approx(40)
    assert parts["language", "de"].all_runs == pytest.approx(0.25)


def test_the_error_is_that_of_runs_and_questions() -> None:
    """Two years by hand: teams of one run each, tests of five questions."""
    years = {
        "a": {"aaaa1201enen": 4, "bbbb1201enen": 12},
        "b": {"aaaa1301enen": 10, "cccc1301enen": 6},
    }
    found = ab.editions({name: made_up(runs) for name, runs in years.items()})
    change = found.changes[0]
    assert change.difference == pytest.approx(0.4 - 0.4)
    of_runs = [np.std([n / 20 for n in runs.values()], ddof=1) / 2**0.5 for runs in years.values()]
    assert change.run_error == pytest.approx(sum(own**2 for own in of_runs) ** 0.5)
    errors = []
    for runs in years.values():
        shares = np.mean([[n > q for q in range(20)] for n in runs.values()], axis=0)
        sums = np.add.reduceat(shares - shares.mean(), range(0, 20, 5)) / 20
        errors.append((4 / 3 * (sums**2).sum()) ** 0.5)
    assert change.question_error == pytest.approx(sum(own**2 for own in errors) ** 0.5, rel=1e-4)


def test_a_change_is_found_where_there_is_one_and_rarely_where_there_is_none() -> None:
    """Pairs of years from one source: about 5 % differ at the 5 % level, or fewer."""
    from abstain.features.editions.analysis import (
        Campaign,
        Means,
        best_rows,
        changes_of,
    )
    from abstain.measures import measure
    from abstain.outcomes import CountsArray

    rng = np.random.default_rng(0)
    chosen, teams, each, tests, size = measure("accuracy"), 12, 3, 16, 15

    def year(shift: float = 0.0) -> Campaign:
        skill = rng.normal(0, 0.4, teams).repeat(each) + rng.normal(0, 0.1, teams * each)
        hard = rng.normal(0, 0.5, tests).repeat(size) + rng.normal(0, 1, tests * size)
        chance = 1 / (1 + np.exp(-(shift - 1 + skill[:, None] + hard)))
        right = rng.random(chance.shape) < chance
        table = np.zeros((len(right), 6))
        table[:, 0], table[:, 1] = right.sum(axis=1), (~right).sum(axis=1)
        names = [str(n) for n in range(len(right))]
        clusters = np.arange(tests).repeat(size)
        shares = {"right": right.mean(axis=0), "blank": np.zeros(right.shape[1])}
        whose = [str(n // each) for n in range(len(right))]
        return Campaign(
            name="x",
            measure="accuracy",
            runs=names,
            teams=whose,
            languages=names,
            counts=CountsArray(table),
            asked=pl.DataFrame(shares | {"cluster": clusters}),
        )

    def p(shift: float) -> float:
        a, b = year(), year(shift)
        every = range(len(a.runs))
        means = {
            name: Means.of(own, chosen, best_rows(own, chosen, every))
            for name, own in (("a", a), ("b", b))
        }
        value = changes_of(means, chosen, 0.95)[0].p_value
        assert value is not None
        return value

    false = np.mean([p(0.0) < 0.05 for _ in range(300)])
    assert false < 0.08
    assert np.mean([p(1.5) < 0.05 for _ in range(50)]) > 0.9


def test_registrations_and_saved_results(tmp_path: Path) -> None:
    tasks = {"main": {"aaaa1301enen": 4, "bbbb1301enen": 5}, "bio": {"aaaa1301enen": 7}}
    for name, runs in tasks.items():
        made_up(runs).save(tmp_path / name)
    (tmp_path / "registered.csv").write_text("edition,registered\nmain,30\nbio,9\n")
    found = ab.editions(
        {name: tmp_path / name for name in tasks}, registrations=tmp_path / "registered.csv"
    )
    assert [(o.runs, o.teams, o.registered) for o in found.editions] == [
        (2, 2, {"registered": 30}),
        (1, 1, {"registered": 9}),
    ]
    assert found.teams == 2
    assert found.to_frame()["registered"].to_list() == [30, 9]
    result = ab.score(
        pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "A"]}),
        pl.DataFrame({"question": ["q1", "q2"], "answer": ["A", "B"]}),
        "c@1",
    )
    both = ab.editions({"bio": tmp_path / "bio" / "results.json", "score": result})
    assert both.editions[1].all_runs == 0.5
    assert any("score has no results per question" in note for note in both.notes)
    assert {(own.p_value, own.low, own.high) for own in both.changes} == {(None, None, None)}
    with pytest.raises(ab.UsageError, match="nearest: type"):
        ab.editions({"bio": tmp_path / "bio"}, by="typo")


def test_registrations_of_all_tasks_together(tmp_path: Path) -> None:
    """39 registered for any of the tasks (Tables 8 and 9): no sum of the tasks gives that."""
    tasks = {
        "main": made_up({"aaaa1301enen": 4, "bbbb1301enen": 5, "bbbb1302enen": 6}),
        "pilot": made_up({"aaaa1301enen": 7, "cccc1301enen": 2}),
    }
    given = tmp_path / "registered.csv"
    given.write_text("edition,registered,downloaded\nmain,20,15\npilot,30,\nall,39,\nmian,1,1\n")
    found = ab.editions(tasks, registrations=given)
    assert found.registered == {"registered": 39}
    says(found.notes[-1], "'mian'")
    found.to_json(tmp_path / "saved.json")
    last = str(ab.load(tmp_path / "saved.json")).split("\nall ", 1)[1].splitlines()[0].split()
    assert last == ["8", "40", "39", "15", "5", "3", "–"]
    given.write_text("edition,registered\nmain,20\nmain,30\n")
    with pytest.raises(ab.InputError, match=r"one row .* 'main'"):
        ab.editions(tasks, registrations=given)


def test_languages_and_types_are_over_the_questions_that_count(
    rebuilt: ab.CampaignResult,
) -> None:
    """Three runs are from Spanish (Table 10); Table 15 has their scores on main questions."""
    found = ab.editions(
        {"2012": made_up({"aaaa1201enen": 4}), "2013": rebuilt}, on={"role": "main"}
    )
    parts = {(own.edition, own.by, own.level): own for own in found.parts}
    spanish = parts["2013", "language", "es"]
    main = [row["main"] for row in printed("qa4mre2013_table15_subsets") if "eses" in row["run"]]
    assert (spanish.questions, spanish.runs) == (240, len(main))
    assert spanish.all_runs == pytest.approx(sum(map(float, main)) / len(main), abs=0.005)
    # Table 5 has 44 METHOD questions, Tables 19 and 21 that 8 of them are auxiliary
    method = parts["2013", "type", "METHOD"]
    assert (method.questions, method.all_runs) == (44 - 2 - 6, None)
    asked = rebuilt.questions
    kept = [
        (right, blank)
        for kind, role, right, blank in zip(
            asked.attributes["type"],
            asked.attributes["role"],
            asked.right,
            asked.blank,
            strict=True,
        )
        if (kind, role) == ("METHOD", "main")
    ]
    assert method.right == pytest.approx(100 * sum(r for r, _ in kept) / (36 * 54))
    assert method.unanswered == pytest.approx(100 * sum(b for _, b in kept) / (36 * 54))
    titles = str(found)
    says(titles)
    # one team in 2012: nothing tells how much teams vary
    assert [(own.low, own.high) for own in found.changes] == [(None, None)] * 2


def test_an_interval_ends_where_differences_do() -> None:
    """Two teams that are far apart leave hardly a degree of freedom, and a reach of many errors."""
    two = {f"{n}": made_up({"aaaa1201enen": 0, "bbbb1201enen": n}) for n in (18, 20)}
    for own in ab.editions(two).changes:
        assert (own.low, own.high) == (-1, 1)


def test_degrees_of_freedom_are_welchs() -> None:
    """By hand: a run of each of four and of three teams, four tests of five questions each year."""
    years = {"a": [1, 3, 4, 9], "b": [5, 12, 15]}
    found = ab.editions(
        {
            name: made_up(
                {
                    f"{team}{team}{team}{team}1201enen": n
                    for team, n in zip("abcd", runs, strict=False)
                }
            )
            for name, runs in years.items()
        }
    )
    change = found.changes[0]
    errors = [np.std(np.array(runs) / 20, ddof=1) / len(runs) ** 0.5 for runs in years.values()]
    shares = [
        np.mean([[n > q for q in range(20)] for n in runs], axis=0) for runs in years.values()
    ]
    tests = [np.add.reduceat(own - own.mean(), range(0, 20, 5)) / 20 for own in shares]
    errors += [(4 / 3 * (own**2).sum()) ** 0.5 for own in tests]
    degrees = [3, 2, 3, 3]
    total = sum(e**2 for e in errors)
    welch = total**2 / sum(e**4 / d for e, d in zip(errors, degrees, strict=True))
    assert change.difference is not None
    expected = 2 * stats.t(welch).sf(abs(change.difference) / total**0.5)
    assert change.p_value == pytest.approx(expected, rel=1e-3)


def test_an_edition_of_a_single_team_says_why_it_is_not_tested() -> None:
    found = ab.editions({"2012": made_up({"a_1": 12}), "2013": made_up({"a_1": 9, "b_1": 15})})
    assert all(change.p_value is None for change in found.changes)
    assert [note[:4] for note in found.notes if "single team" in note] == ["2012"]


def test_tables_16_and_17_of_years_that_are_only_printed(
    rebuilt: ab.CampaignResult, tmp_path: Path
) -> None:
    table = tmp_path / "printed.csv"
    lines = ["year,type,all runs,best runs,right %,unanswered %"]
    lines += [
        f"{row['edition']},,{row['all_runs']},{row['best_runs']},,"
        for row in printed("qa4mre_table16_editions")
    ]
    lines += [
        f"{row['year']},{row['type']},,,{row['correct_pct']},{row['noa_pct']}"
        for row in printed("qa4mre2013_table17_question_types")
    ]
    table.write_text("\n".join(lines) + "\n")
    found = ab.editions({"2011": table, "2012": table, "2013": rebuilt}, on={"role": "main"})
    assert [(o.all_runs, o.best_runs) for o in found.editions[:2]] == [(0.21, 0.28), (0.26, 0.32)]
    parts = {(p.edition, p.level): p for p in found.parts}
    assert (parts["2012", "CAUSAL"].right, parts["2012", "CAUSAL"].unanswered) == (20.86, 17.7)
    assert parts["2011", "OPINION"].unanswered == 49
    change = found.changes[2]  # from .26 to what 2013 has, and no test of it
    assert change.difference == pytest.approx(0.2403 - 0.26, abs=1e-4)
    assert change.p_value is None
    # Table 13: ten runs are below the random baseline on main questions (Table 15: under .20)
    below = [row for row in printed("qa4mre2013_table15_subsets") if float(row["main"]) < 0.2]
    assert found.editions[2].below == len(below)
    saved = tmp_path / "saved.json"
    found.to_json(saved)
    assert ab.load(saved) == found
    (whole,) = [row for row in str(found).splitlines() if row.startswith("all ")][:1]
    assert whole.split()[1:4] == ["–", "–", "–"]


def test_totals_add_what_every_edition_has() -> None:
    found = ab.editions({"a": made_up({"aaaa1201enen": 4}), "b": made_up({"bbbb1301enen": 5}, 10)})
    (whole,) = [row for row in str(found).splitlines() if row.startswith("all ")][:1]
    assert whole.split()[1:5] == ["6", "30", "2", "2"]


@pytest.mark.parametrize(
    "text", ["question,correct\nq1,A\n", "all runs\nmany\n", "{}", "<output/>"]
)
def test_a_wrong_file_is_told_what_an_edition_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / ("wrong.csv" if "\n" in text else "wrong.json")
    file.write_text(text)
    with refuses(ab.InputError, "wrong"):
        ab.editions({"2012": file})
