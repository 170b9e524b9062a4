"""What a campaign publishes: no secret, no praise of an empty file, and no team is lost."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from itertools import combinations
from pathlib import Path

import pytest

import abstain as ab
from abstain.cli import run
from abstain.features.campaign.result import CampaignResult
from tests.campaign.messy import PRIVATE, PSEUDONYMS, TEAMS, Messy, texts
from tests.report.test_report import data_of
from tests.snapshots import says

pytestmark = pytest.mark.slow

RANKED = {
    "alfateam/run1": "alfateam/run1",
    "bravoteam/run1": "bravoteam/run1",
    "alfateam/run2": "alfateam/run2",
    "bravoteam/deep": "deep",
    "kiloteam/Upper/run1": "kiloteam/run1",
    "kiloteam/owl": "owl",
}
"""The runs that are ranked, by their files, with the names that they are shown by."""
NOTES = (
    *("has the same answers", "answers no question", "is not in the gold", "has no response to"),
    *("reminders", PRIVATE, "strange_v7", "zz9", "problems.csv", "are counted as", "Traceback"),
)
"""Words of the organiser's problems and notes, and what hangs on them."""


@pytest.fixture(scope="module")
def revealed(tmp_path_factory: pytest.TempPathFactory) -> Messy:
    messy = Messy(tmp_path_factory.mktemp("revealed"))
    assert run(messy.asked("--reveal")) == 1
    return messy


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory) -> Messy:
    messy = Messy(tmp_path_factory.mktemp("blind"))
    names = ("--pseudonyms", str(messy.here / "names.csv"))
    assert run(messy.asked("--blind", *names)) == 1
    return messy


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("phase", ["revealed", "blind"])
def test_nothing_of_the_organisers_is_published(phase: str, request: pytest.FixtureRequest) -> None:
    messy: Messy = request.getfixturevalue(phase)
    public = texts(messy.here / "out")
    assert {path.suffix for path in public} == {".html", ".json", ".csv", ".md", ".tex"}
    for path, text in public.items():
        plain = unescape(text).replace("\\", "")
        secret = [*messy.files, *NOTES]
        if phase == "blind":
            secret += [*TEAMS, *(name for name in RANKED.values() if "/" in name), "moonless"]
        assert not [word for word in secret if word in plain], path
        assert not [word for word in secret if word in str(path)]
    kept = "\n".join(texts(messy.here / "organiser").values())
    for word in ("strange_v7.csv", "has the same answers", str(messy.here / "inbox"), *TEAMS):
        assert word in kept, word


def test_a_saved_page_is_as_safe_as_the_folder(revealed: Messy, tmp_path: Path) -> None:
    """The page that one mails round, and the page of the saved facts."""
    whole = kept(revealed)
    whole.save(tmp_path / "page.html")
    page = unescape((tmp_path / "page.html").read_text("utf-8"))
    assert not [word for word in (*revealed.files, *NOTES) if word in page]
    assert "deep" in page


def test_folders_of_which_one_is_published_do_not_lie_in_each_other(tmp_path: Path) -> None:
    messy = Messy(tmp_path)
    for more in (["--organiser", "out/organiser"], ["--letters", "out"], ["--teams", "out/t"]):
        asked = ["campaign", str(tmp_path / "gold.csv"), str(tmp_path / "inbox")]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            assert run([*asked, "-o", "out", "--skip-invalid", *more]) == 2
    assert not (messy.here / "out").exists()


# ------------------------------------------------------------------ sentences, by the facts


def kept(messy: Messy) -> CampaignResult:
    """What the organiser has of it."""
    whole = ab.load(messy.here / "organiser" / "results.json")
    assert isinstance(whole, CampaignResult)
    return whole


def summary(messy: Messy, folder: str = "out") -> str:
    return (messy.here / folder / "summary.md").read_text("utf-8").replace("\\", "")


def test_sentences_are_literally_true(revealed: Messy) -> None:
    """By a slow count of the files: the blank run, the identical pair, the team without a run."""
    text = summary(revealed)
    scores = {name: revealed.c_at_1(place) for place, name in RANKED.items()}
    order = sorted(scores, key=lambda name: -scores[name])
    assert f"{len(RANKED)} ranked runs of 3 teams responded to 60 questions" in text
    assert re.search(r"The best run is alfateam/run1 .* level with bravoteam/run1", text)
    assert f"the next is {order[2]} with {scores[order[2]]:.2f}" in text
    mean = sum(scores.values()) / len(scores)
    assert f"Over all ranked runs the mean c@1 is {mean:.2f}" in text
    assert f"Of {len([*combinations(RANKED, 2)])} pairs, " in text
    told = re.search(r"told apart from (\d) of (\d) others", text)
    assert told is not None
    saved = json.loads((revealed.here / "out" / "results.json").read_text())
    pairs = saved["comparison"]["pairs"]
    assert {run for pair in pairs for run in (pair["run"], pair["against"])} == {*RANKED.values()}
    mine = [pair["differs"] for pair in pairs if "alfateam/run1" in (pair["run"], pair["against"])]
    assert (int(told[1]), int(told[2])) == (sum(mine), len(mine))
    twins = {"alfateam/run1", "bravoteam/run1"}
    (pair,) = (pair for pair in pairs if {pair["run"], pair["against"]} == twins)
    assert not pair["differs"]
    assert "Separated from all others: alfateam" not in text
    blanks = sum(not a for place in RANKED for a in revealed.runs[place].values())
    assert f"6 ranked runs left questions blank, {blanks} responses in all" in text


def test_a_run_that_answers_nothing_stands_apart(revealed: Messy) -> None:
    tables = revealed.here / "out" / "tables"
    board = {row["run"]: row for row in rows(tables / "leaderboard.csv")}
    apart = board["golfteam/run1"]
    assert (apart["#"], apart["group"], apart["status"]) == ("", "", "without answers")
    assert {name for name, row in board.items() if row["#"]} == {*RANKED.values()}
    assert "golfteam" not in {row["team"] for row in rows(tables / "teams.csv")}
    topics = {row["run"]: row for row in rows(tables / "topics.csv")}
    scores = [revealed.c_at_1(place) for place in RANKED]
    assert float(topics["mean"]["all"]) == pytest.approx(sum(scores) / len(scores))
    text = summary(revealed)
    assert "which are in no pair, group or average: 1 without answers ('golfteam/run1')" in text


@pytest.mark.parametrize("phase", ["revealed", "blind"])
def test_a_team_without_a_ranked_run_is_named_with_the_reason(
    phase: str, request: pytest.FixtureRequest
) -> None:
    messy: Messy = request.getfixturevalue(phase)
    reasons = {
        "golfteam": (1, "without answers"),
        "hotelteam": (2, "left out for problems"),
        "indiateam": (2, "withdrawn"),
        "julietteam": (1, "late"),
    }
    text = summary(messy)
    for team, (count, why) in reasons.items():
        shown, how = (team, f"{count} {why}") if phase == "revealed" else (PSEUDONYMS[team], why)
        assert f"Team {shown} has no ranked run ({how})." in text
    names = {PSEUDONYMS[team] if phase == "blind" else team for team in TEAMS}
    assert not [
        team
        for team in names
        if team not in text + ((messy.here / "out" / "tables" / "leaderboard.csv").read_text())
    ]


def test_a_late_team_is_listed_under_its_pseudonym(blind: Messy) -> None:
    board = {row["run"]: row for row in rows(blind.here / "out" / "tables" / "leaderboard.csv")}
    assert {*board} == {PSEUDONYMS[t] for t in TEAMS if t not in ("hotelteam", "indiateam")}
    late = board[PSEUDONYMS["julietteam"]]
    assert (late["#"], late["status"]) == ("", "late")
    assert float(late["c@1"]) == pytest.approx(blind.c_at_1("julietteam/moonless"))
    ranked = [row["run"] for row in board.values() if row["#"]]
    assert sorted(ranked) == sorted(PSEUDONYMS[t] for t in ("alfateam", "bravoteam", "kiloteam"))


def test_a_campaign_of_empty_files_ranks_nothing(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("question,correct\nq1,A\n")
    (tmp_path / "run.csv").write_text("question,answer\nq1,\n")
    with pytest.raises(ab.UsageError, match="has an answer"):
        ab.campaign(tmp_path / "gold.csv", tmp_path / "run.csv")


# ------------------------------------------------------------------ letters, pages of teams


@pytest.mark.parametrize("phase", ["revealed", "blind"])
def test_a_letter_says_what_is_wrong_and_how_to_mend_it(
    phase: str, request: pytest.FixtureRequest
) -> None:
    messy: Messy = request.getfixturevalue(phase)
    letters = texts(messy.here / "letters")
    assert {path.stem for path in letters} == {*TEAMS, "letters"}
    for path, text in letters.items():
        others = {*TEAMS} - {path.stem}
        assert path.stem == "letters" or not [team for team in others if team in text]
        assert str(messy.here) not in text
        assert not re.search(r"0\.\d\d|c@1|correct", text), "a letter tells no score, no answer"
        assert all(len(line) <= 80 for line in text.splitlines())
    if phase == "revealed":
        says([letters[Path(f"{team}.txt")] for team in TEAMS], "strange_v7.csv:62", "'q03'")
    told = kept(messy).letters()
    assert told["hotelteam"] == letters[Path("hotelteam.txt")].replace(
        "Campaign", "Campaign (organiser)"
    )


def test_a_teams_page_opens_with_its_rank_and_its_score(revealed: Messy) -> None:
    for team, best in (("alfateam", "alfateam/run1"), ("kiloteam", "kiloteam/run1")):
        text = unescape((revealed.here / "teams" / team / "index.html").read_text("utf-8"))
        header = text.partition("</header>")[0]
        place = next(place for place, name in RANKED.items() if name == best)
        better = sum(revealed.c_at_1(p) > revealed.c_at_1(place) for p in RANKED)
        tied = "=" if team == "alfateam" else ""
        assert f"<dd>{better + 1}{tied}</dd>" in header
        assert f"<dd>{revealed.c_at_1(place):.2f}</dd>" in header
    late = (revealed.here / "teams" / "julietteam" / "index.html").read_text("utf-8")
    assert "No run of yours is ranked, 1 scored without a rank." in late


def test_the_field_of_a_team_is_not_hidden_behind_a_button(revealed: Messy) -> None:
    """Other teams' runs are no references, however many they are."""
    tables = data_of((revealed.here / "teams" / "kiloteam" / "index.html").read_text("utf-8"))
    assert (tables["tables"]["field"]["quiet"], tables["tables"]["runs"]["quiet"]) == (False, True)


def test_a_list_of_folders_does_not_repeat_their_names(revealed: Messy) -> None:
    text = (revealed.here / "teams" / "teams.md").read_text("utf-8")
    assert not [team for team in TEAMS if team in text]
    assert text.startswith("A folder for each team")


def test_a_chart_of_scores_says_that_its_runs_are_ranked(revealed: Messy) -> None:
    """A late run or one without answers is on the leaderboard, but not in the chart."""
    scores = [revealed.c_at_1(place) for place in RANKED]
    page = (revealed.here / "out" / "index.html").read_text("utf-8")
    assert f"All ranked runs: c@1 from {min(scores):.3f} to {max(scores):.3f}." in page


def test_revealed_responses_have_the_teams_answers(revealed: Messy) -> None:
    for row in rows(revealed.here / "teams" / "alfateam" / "responses.csv"):
        for name in ("alfateam/run1", "alfateam/run2"):
            assert row[f"{name}: answer"] == revealed.runs[name][row["question"]]
        assert row["correct"] == revealed.right[row["question"]]


# ------------------------------------------------------------------ names, references, noise


def named(folder: Path, *places: str) -> list[str]:
    (folder / "gold.csv").write_text("question,correct\nq1,A\nq2,B\n")
    for at, place in enumerate(places):
        path = folder / "in" / f"{place}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"question,answer\nq1,A\nq2,{'AB'[at % 2]}\n")
    return sorted(row.run for row in ab.score(folder / "gold.csv", folder / "in").rows)


def test_a_name_that_any_team_may_give_has_its_team(tmp_path: Path) -> None:
    found = named(tmp_path, "one/run1", "two/main", "two/deep", "two/v2/Run-B", "one/final/run_2")
    assert found == ["deep", "one/run1", "one/run_2", "two/Run-B", "two/main"]


def test_two_files_of_one_name_have_team_and_folder(tmp_path: Path) -> None:
    found = named(tmp_path, "one/a/run1", "one/b/run1", "two/deep/x/run1", "two/owl", "one/owl")
    assert found == ["one/a/run1", "one/b/run1", "one/owl", "two/owl", "two/run1"]


def test_one_team_alone_needs_no_name(tmp_path: Path) -> None:
    assert named(tmp_path, "one/run1", "one/run2") == ["run1", "run2"]


def test_references_are_listed_when_asked_for(tmp_path: Path) -> None:
    messy = Messy(tmp_path)
    files = messy.here / "gold.csv", messy.here / "inbox" / "kiloteam"
    quiet, asked = (ab.campaign(*files, references=how) for how in (False, True))
    made = {"random (expected)", "random (seed 0)", "first option", "blank", "oracle"}
    assert not {*quiet.to_frame("leaderboard")["run"]} & made
    assert made <= {*asked.to_frame("leaderboard")["run"]}
    assert "Answering at random would give 0.25" in str(quiet)


def info(folder: Path, listed: int, *, of: int, unknown: bool = False) -> str:
    names = [f"r{n}" for n in range(of)]
    (folder / "gold.csv").write_text("question,correct\nq1,A\n")
    lines = [f"{name},q1,A" for name in names]
    (folder / "runs.csv").write_text("\n".join(["run,question,answer", *lines]) + "\n")
    rows = [*names[:listed], *["typo"] * unknown]
    (folder / "info.csv").write_text("\n".join(["run,system", *(f"{r},x" for r in rows)]) + "\n")
    made = ab.campaign(folder / "gold.csv", folder / "runs.csv", runs_info=folder / "info.csv")
    return " ".join(made.notes)


def test_a_table_of_few_runs_does_not_claim_to_have_all(tmp_path: Path) -> None:
    assert "not in" not in info(tmp_path, 12, of=28)
    assert "3 runs not in" in info(tmp_path, 9, of=12)
    assert "16 runs not in" in info(tmp_path, 12, of=28, unknown=True)


def test_the_terminal_has_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Long names, groups and a status leave no room for all: no second table for one column."""
    messy = Messy(tmp_path)
    (messy.here / "inbox" / "kiloteam" / "owl.csv").rename(
        messy.here / "inbox" / "kiloteam" / "a_run_that_has_a_rather_long_name.csv"
    )
    assert run(messy.asked("--reveal")) == 1
    said = capsys.readouterr().out
    assert len([line for line in said.splitlines() if line.startswith("#")]) == 1
    table = said.partition("Columns:")[0]
    assert all(len(line) <= 80 for line in table.splitlines())
    assert "unanswered" not in said.partition("Policy")[0]
