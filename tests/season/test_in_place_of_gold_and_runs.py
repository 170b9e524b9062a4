"""The folder of a season in place of a gold and runs."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

import abstain as ab
from tests.campaign.season import Season as Made
from tests.season.conftest import DEADLINE, EARLY, LATE, Organiser
from tests.snapshots import refuses, says


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of a run, a run of a generic name, a broken one, a late one, one withdrawn."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = Made(1, 24)
        Path("season").mkdir()
        Path("season/gold.csv").write_text(made.gold())
        Path("season/season.toml").write_text(
            f'gold = "gold.csv"\ntitle = "Two teams"\ndeadline = {DEADLINE}\n'
            'measure = "F"\nsecret = ["kind"]\n'
        )

        def send(team: str, at: str, **runs: str) -> None:
            for name, content in runs.items():
                Path(f"{name}.csv").write_text(content)
            ab.receive([f"{name}.csv" for name in runs], team=team, at=at, into="season")

        send("amber", EARLY, amber1=made.run(0.2))
        send("amber", "2013-05-09T13:00Z", amber1=made.run(0.9))
        first = made.run(0.5)
        broken = first.replace("qq003", "qq3")
        send("birch", EARLY, run1=first, run2=made.run(0.5), run3=broken)
        ab.receive(withdraw="run2", team="birch", at="2013-05-09T14:00Z", into="season")
        send("cedar", LATE, late=made.run(0.5))
    return folder


@pytest.fixture
def sent(organiser: Organiser, built: Path) -> Organiser:
    shutil.copytree(built, organiser.here.folder, dirs_exist_ok=True)
    return organiser


def test_only_what_counts_is_scored(sent: Organiser) -> None:
    result = ab.score("season", measures="c@1")
    files = {"amber1": "amber1.csv", "birch/run1": "run1.csv"}
    by_hand = ab.score("season/gold.csv", files)
    scores = {row.run: row.scores["c@1"] for row in result.rows}
    assert scores == {row.run: row.scores["c@1"] for row in by_hand.rows}
    data = sent.here("score", "season", "-m", "c@1", "-f", "json").data
    assert {row["run"]: row["scores"]["c@1"] for row in data["results"]} == scores


@pytest.mark.slow
def test_a_campaign_knows_team_status_title_and_measure(sent: Organiser) -> None:
    result = ab.campaign("season")
    assert (result.title, result.measure, result.secret) == ("Two teams", "F", ("kind",))
    assert [(row.run, row.team) for row in result.rows] == [
        ("amber1", "amber"),
        ("birch/run1", "birch"),
    ]
    assert [(run.name, run.team, run.status) for run in result.unranked] == [
        ("cedar/late", "cedar", "late")
    ]
    assert (result.withdrawn, result.skipped) == (("birch/run2",), ("birch/run3",))
    assert {p.team for p in result.problems} == {"birch"}
    assert {p.file for p in result.problems} == {"#5 run3.csv"}
    said = sent.here("campaign", "season", "-o", "out", "-m", "c@1")
    assert said.code == 1  # a run was left out
    saved = json.loads(Path("out/results.json").read_text())
    assert (saved["title"], saved["measure"]) == ("Two teams", "c@1")
    assert [row["run"] for row in saved["results"]] == ["amber1", "birch/run1"]


def test_a_result_names_what_it_was_made_of(sent: Organiser) -> None:
    def sha256(name: str) -> str:
        return hashlib.sha256((sent.here.folder / name).read_bytes()).hexdigest()

    files = {
        "amber1": "amber1.csv",
        "birch/run1": "run1.csv",
        "birch/run2": "run2.csv",
        "cedar/late": "late.csv",
    }
    wanted = {run: sha256(file) for run, file in files.items()}
    wanted["gold"] = sha256("season/gold.csv")
    assert ab.campaign("season").sha256 == wanted
    plain = ab.campaign("season/gold.csv", {"a": "run1.csv", "b": "run2.csv"})
    assert plain.sha256 == {
        "a": wanted["birch/run1"],
        "b": wanted["birch/run2"],
        "gold": wanted["gold"],
    }


@pytest.mark.slow
def test_secret_slices_are_hidden_while_blind(sent: Organiser) -> None:
    """With a gold of which every slice could be shown."""
    sent.made = made = Made(3, 80)
    sent.here.write("season/gold.csv", made.gold())
    for team in ("amber", "birch"):
        sent.write(f"{team}9.csv")
        assert sent(f"{team}9.csv", team=team).code == 0

    def shown(*words: str) -> list[str]:
        sent.here("campaign", "season", "-o", "blind", "--blind", "--force", *words)
        saved = json.loads(Path("blind/results.json").read_text())
        return [each["attribute"] for each in saved.get("breakdowns", [])]

    assert shown() == []  # every test is of one kind: its tests would tell what a kind scores
    assert "kind" in shown("--secret", "test")
    assert "test" not in shown("--secret", "test")
    says(sent.here.refuses("campaign", "season", "-o", "x", "--secret", "kin"), "kind")


def test_the_table_of_runs_is_the_word_of_the_organiser(sent: Organiser) -> None:
    sent.here.write(
        "season/runs.csv", "run,status,method\ncedar/late,official,NER\nnobody,late,x\n"
    )
    lines = Path("season/season.toml").read_text()
    sent.here.write("season/season.toml", 'runs-info = "runs.csv"\n' + lines)
    result = ab.campaign("season")
    assert {row.run: row.info.get("method") for row in result.rows} == {
        "amber1": None,
        "birch/run1": None,
        "cedar/late": "NER",
    }
    says([note for note in result.notes if "nobody" in note])
    sent.here.write("bare.csv", "run,team,method\nlate,,NER\nrun1,birch,CRF\nrun1x,birch,CRF\n")
    bare = ab.campaign("season", runs_info="bare.csv")
    assert {row.run: row.info.get("method") for row in bare.rows} == {
        "amber1": None,
        "birch/run1": "CRF",
    }
    assert [run.info["method"] for run in bare.unranked] == ["NER"]
    assert [note for note in bare.notes if "not received" in note] == [
        "in the table of runs, but not received: 'run1x'"
    ]
    sent.here.write("other.csv", "run,status\nbirch/run1,unofficial\n")
    other = ab.campaign("season", runs_info="other.csv")
    assert [run.name for run in other.unranked] == ["birch/run1", "cedar/late"]


def test_the_season_is_validated(sent: Organiser) -> None:
    result = ab.validate("season")
    assert (result.runs, result.valid) == (4, False)
    assert {p.run for p in result.problems} == {"birch/run3"}
    said = sent.here("validate", "season")
    assert said.code == 1
    says(said.out, "#5 run3.csv")


def test_an_edition_may_be_a_season(sent: Organiser) -> None:
    result = ab.editions({"2012": ab.campaign("season"), "2013": "season"})
    first, second = result.editions
    assert (second.runs, second.teams, second.all_runs) == (2, 2, first.all_runs)
    assert sent.here("editions", "2013=season").code == 0


def test_what_is_over_a_limit_is_said(sent: Organiser) -> None:
    lines = Path("season/season.toml").read_text()
    sent.here.write("season/season.toml", lines + "limits = { team = 1 }\n")
    sent.write("amber2.csv")
    sent("amber2.csv")
    result = ab.campaign("season")
    assert "amber2" not in [row.run for row in result.rows]
    says([note for note in result.notes if "amber2" in note])
    letter = result.letters()["amber"]
    says(letter, "2 runs", "amber2: over the limit")
    assert result.over_limit == (("amber", "amber2"),)


def test_a_season_stands_for_its_gold(sent: Organiser) -> None:
    from tests.helpers import Said

    def alike(*words: str) -> list[Said]:
        return [sent.here(words[0], gold, *words[1:]) for gold in ("season", "season/gold.csv")]

    one, other = alike("baseline", "first")
    assert one == other
    for gold in ("season", "season/gold.csv"):
        sent.here("testset", gold, "-o", f"{gold[-3:]}.csv")
    assert Path("son.csv").read_text() == Path("csv.csv").read_text()


@pytest.mark.slow
def test_a_season_in_which_all_runs_are_late_is_no_error_of_reading(sent: Organiser) -> None:
    """`campaign` says it as from Python: it takes late runs too."""
    lines = Path("season/season.toml").read_text().replace("2013-05-10T", "2013-05-01T")
    sent.here.write("season/season.toml", lines)
    with refuses(ab.UsageError, "no run is official"):
        ab.campaign("season")
    assert "no run is official" in sent.here.refuses("campaign", "season", "-o", "x")


def test_bytes_that_were_changed_are_refused(sent: Organiser) -> None:
    receipt = sent.receipts()[1]
    path = Path("season/submissions") / receipt.sha256
    path.chmod(0o644)
    path.write_text(path.read_text() + "\n")
    with refuses(ab.InputError, f"receipt {receipt.number}"):
        ab.score("season")


def test_a_season_without_runs_says_so(organiser: Organiser) -> None:
    for command in ("score", "validate"):
        says(organiser.here.refuses(command, "season"))


def test_runs_of_one_name_are_told_apart(organiser: Organiser) -> None:
    """By team; and the late version of a run from the one that counts."""
    organiser.settings(f"deadline = {DEADLINE}")
    for team, name in (
        ("a", "x"),
        ("b", "x"),
        ("a", "a1"),
        ("a-b", "a-b1"),
        ("b", "Bx"),
        ("b", "B7"),
    ):
        organiser.write(f"{name}.csv")
        organiser(f"{name}.csv", team=team)
    organiser.write("x.csv")
    organiser("x.csv", at=LATE, team="a")
    assert sorted(ab.read("season").runs) == sorted(["a/x", "b/x", "a1", "a-b1", "b/Bx", "B7"])
    (late,) = ab.campaign("season").unranked
    assert late.name == "a/x (late 7)"


def test_a_letter_names_the_option_that_reads_letters(organiser: Organiser) -> None:
    """The options beside a question are cut out of its message, and nothing else."""
    organiser.here.write("season/gold.csv", "question,correct,options\nq1,1,1|2|3 (all)\n")
    for name, answer in (("a1", "1"), ("a2", "A")):
        organiser.here.write(f"{name}.csv", f"question,answer\nq1,{answer}\n")
    organiser("a1.csv", "a2.csv", team="a")
    text = " ".join(ab.campaign("season").letters()["a"].split())
    advice = "--match letters (in Python: match='letters') takes A for option 1"
    says(text, f"answer 'A' is not an option of question 'q1'; {advice}")
