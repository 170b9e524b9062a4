"""From submissions to blind pages: one command, whatever arrives, and nothing given away."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace

import abstain as ab
from abstain.cli import run
from abstain.features.campaign.result import CampaignResult
from tests.campaign.season import TEAMS, Season, as_csv, faults, lay_out, zipped
from tests.qa4mre_files import MARK, gold_as_xml
from tests.snapshots import refuses, says

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def season() -> Season:
    return Season()


@pytest.fixture(scope="module")
def written(season: Season, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The blind phase of 20 teams × 3 runs in folders and archives, twelve of which have faults."""
    here = tmp_path_factory.mktemp("season")
    (here / "gold.csv").write_text(season.gold())
    lay_out(season, here / "handed_in")
    names = ["gold.csv", "handed_in", "out", "teams", "names.csv"]
    gold, subs, out, teams, pseudonyms = (str(here / name) for name in names)
    asked = ["campaign", gold, subs, "-o", out, "--skip-invalid", "--blind", "--teams", teams]
    assert run([*asked, "--pseudonyms", pseudonyms]) == 1
    return here


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pseudonyms(here: Path) -> dict[str, str]:
    return {row["team"]: row["pseudonym"] for row in rows(here / "names.csv")}


def everything(here: Path) -> dict[Path, str]:
    found = [path for part in ("out", "teams") for path in (here / part).rglob("*")]
    return {path: path.read_text(encoding="utf-8") for path in found if path.is_file()}


def test_every_fault_stands_in_its_teams_report(season: Season, written: Path) -> None:
    wrong = faults(season)
    for team, (fault, (_, _, kind)) in zip(TEAMS, wrong.items(), strict=False):
        problems = rows(written / "teams" / pseudonyms(written)[team] / "problems.csv")
        assert kind in {row["kind"] for row in problems}, (team, fault)
        assert not any("/" in row["place"] for row in problems)
    for team in TEAMS[len(wrong) :]:
        assert not (written / "teams" / pseudonyms(written)[team] / "problems.csv").exists()


def test_all_valid_runs_are_scored(written: Path) -> None:
    for at, team in enumerate(TEAMS):
        scored = rows(written / "teams" / pseudonyms(written)[team] / "runs.csv")
        assert len(scored) == (2 if at < 12 else 3)


def test_no_answer_is_anywhere(season: Season, written: Path) -> None:
    for path, text in everything(written).items():
        found = [own for own in season.correct.values() if own in text]
        assert not found, path
        given = [o for own in season.options.values() for o in own if o in text]
        assert not given, path


def test_no_question_is_anywhere_but_in_a_problem(season: Season, written: Path) -> None:
    ids = re.compile("|".join(season.questions))
    for path, text in everything(written).items():
        if path.name not in ("problems.csv", "index.html") or "out" in path.parts:
            assert not ids.search(text), path
    blind = json.loads((written / "out" / "results.json").read_text())
    assert not any(blind["questions"].get(n) for n in ("right", "wrong", "blank", "choices"))
    assert {"comparison", "stability", "curves", "command", "reading"}.isdisjoint(blind)


def test_no_slice_is_small(written: Path) -> None:
    blind = json.loads((written / "out" / "results.json").read_text())
    for own in blind["breakdowns"]:
        values = blind["questions"]["attributes"][own["attribute"]]
        assert min(values.count(name) for name in own["slices"]) >= 10


def test_nobody_is_named_but_on_a_page_of_its_own(written: Path) -> None:
    names = pseudonyms(written)
    for path, text in everything(written).items():
        own = {team for team, name in names.items() if name == path.parent.name}
        others = [team for team in TEAMS if team in text and team not in own]
        assert not others, path


def test_pseudonyms_tell_nothing(written: Path) -> None:
    names = pseudonyms(written)
    times = {p.stat().st_mtime for part in ("out", "teams") for p in (written / part).rglob("*")}
    assert len(times) == 1
    board = rows(written / "out" / "tables" / "leaderboard.csv")
    shown = [row["run"] for row in board if row["#"]]
    assert sorted(shown) == sorted(names.values())  # one row a team, however many runs it sent
    scores = [(-float(row["c@1"]), row["run"]) for row in board if row["#"]]
    assert scores == sorted(scores)
    for path in (written / "teams").iterdir():
        if path.is_dir():
            others = {row["who"] for row in rows(path / "field.csv")} - {"you"}
            assert others <= {*names.values()} - {path.name}


def test_the_open_overview_lists_every_problem(season: Season, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(season.gold())
    expected = lay_out(season, tmp_path / "in")
    found = ab.campaign(tmp_path / "gold.csv", tmp_path / "in", skip_invalid=True)
    assert len(found.rows) == 48
    assert {(p.team, p.kind) for p in found.problems} >= {(t, k) for t, (_, k) in expected.items()}
    assert len(found.skipped) == 12
    found.save(tmp_path / "out", organiser=True)
    listed = rows(tmp_path / "out" / "problems.csv")
    assert {row["team"] for row in listed} == set(expected)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "12 left out for problems" in (tmp_path / "out" / "summary.md").read_text()
    for own in found.problems:
        assert own.message[:9] in unescape(page)
    assert "Problems of what was handed in" in page
    kept = ab.load(tmp_path / "out" / "results.json")
    assert replace(kept, title=found.title) == found


def test_without_skipping_one_bad_file_stops_it(season: Season, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(season.gold())
    lay_out(season, tmp_path / "in")
    with pytest.raises(ab.InputError):
        ab.campaign(tmp_path / "gold.csv", tmp_path / "in")


def test_reveal_shows_a_team_what_is_right(season: Season, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(season.gold())
    (tmp_path / "in" / "one").mkdir(parents=True)
    said = season.answers(0.5)
    (tmp_path / "in" / "one" / "a.csv").write_text(as_csv(said))
    (tmp_path / "in" / "two.zip").write_bytes(zipped({"x/b.csv": season.run(0.4).encode()}))
    asked = ["campaign", str(tmp_path / "gold.csv"), str(tmp_path / "in")]
    asked += ["-o", str(tmp_path / "out"), "--teams", str(tmp_path / "t"), "--reveal"]
    assert run(asked) == 0
    for row in rows(tmp_path / "t" / "one" / "responses.csv"):
        q = row["question"]
        assert row["correct"] == season.correct[q]
        if said[q]:
            assert row["a"] == ("right" if said[q] == season.correct[q] else "wrong")
        else:
            assert row["a"] == "blank"
        assert row["a: answer"] == said[q]
    assert run([*asked, "--blind", "--force"]) == 2


def test_small_slices_and_attributes_that_say_what_is_right_are_left_out(tmp_path: Path) -> None:
    """`letter` follows from the answer, `few` has 3 questions, `near` is all but 4 of another."""
    lines = ["question,correct,options,topic,few,near,letter"]
    for at in range(40):
        right = "ABCD"[at % 4]
        topic, few = ("x", "y")[at // 4 % 2], ("p" if at < 3 else "q")
        near = ("in" if at > 3 else "") if topic == "x" else "out"
        lines.append(f"q{at},{right},A|B|C|D,{topic},{few},{near},{right.lower()}")
    (tmp_path / "gold.csv").write_text("\n".join(lines) + "\n")
    for name in ("a", "b"):
        body = "".join(f"q{at},{'ABCD'[(at * 7) % 4]}\n" for at in range(40))
        (tmp_path / f"{name}.csv").write_text(f"question,answer\n{body}")
    result = ab.campaign(tmp_path / "gold.csv", [tmp_path / "a.csv", tmp_path / "b.csv"])
    from abstain.features.campaign.blind import blinded

    assert {own.attribute for own in result.breakdowns} == {"topic", "few", "near", "letter"}
    blind = blinded(result)
    assert [own.attribute for own in blind.breakdowns] == ["topic"]
    assert [own.name for own in blind.references] == ["random (expected)"]
    assert blind == blinded(blind)


def test_pseudonyms_that_give_teams_away_are_refused(tmp_path: Path) -> None:
    from abstain.features.campaign.blind import drawn_pseudonyms, in_order_of_teams, read_pseudonyms

    file = tmp_path / "names.csv"
    for text, said in (
        ("alpha,one\n", "no pseudonym for 'beta'"),
        ("alpha,one\nbeta,one\n", "appears twice"),
        ("alpha,one\nbeta,the alphas\n", "names team 'alpha'"),
    ):
        file.write_text("team,pseudonym\n" + text)
        with pytest.raises(ab.InputError, match=said):
            read_pseudonyms(file, ["alpha", "beta"])
    assert in_order_of_teams({"a": "team 1", "b": "team 2", "c": "team 3"})
    assert not in_order_of_teams({"a": "team 2", "b": "team 1", "c": "team 3"})
    drawn = drawn_pseudonyms(TEAMS)
    assert len({*drawn.values()}) == len(TEAMS)


# ------------------------------------------------------------------ teams, status, repair


GOLD = "question,correct\n" + "".join(f"q{n},A\n" for n in range(1, 5))


def answers(right: int) -> str:
    return "question,answer\n" + "".join(
        f"q{n},{'A' if n <= right else 'B'}\n" for n in range(1, 5)
    )


def test_teams_come_from_the_table_the_folder_or_the_id(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(GOLD)
    for team, names in {"one": ["a", "b", "jucs1301enen"], "two": ["a"]}.items():
        (tmp_path / "in" / team).mkdir(parents=True)
        for name in names:
            (tmp_path / "in" / team / f"{name}.csv").write_text(answers(len(name) % 4))
    (tmp_path / "info.csv").write_text("run,team\nb,three\n")
    info = tmp_path / "info.csv"
    found = ab.validate(tmp_path / "gold.csv", tmp_path / "in", max_runs=1, runs_info=info)
    (problem,) = found.problems
    says(problem.message, "'jucs1301enen'", "2", "'one'", "1")
    by = "3 runs by the folder, 1 run by the column team"
    says(found.notes, f"{by}")
    flat = [tmp_path / "in" / "one" / f"{name}.csv" for name in ("a", "b")]
    alone = ab.validate(tmp_path / "gold.csv", flat, max_runs=1)
    assert alone.valid
    assert any("2 runs of an unknown team" in note for note in alone.notes)


def test_status_keeps_runs_out_of_ranks_and_averages(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(GOLD)
    for name, right in {"a": 1, "b": 2, "c": 4, "d": 3}.items():
        (tmp_path / f"{name}.csv").write_text(answers(right))
    (tmp_path / "info.csv").write_text("run,status\na,\nb,Official\nc,late\nd,withdrawn\n")
    runs = [tmp_path / f"{name}.csv" for name in "abcd"]
    found = ab.campaign(tmp_path / "gold.csv", runs, runs_info=tmp_path / "info.csv")
    assert [(row.run, row.rank) for row in found.rows] == [("b", "1"), ("a", "2")]
    assert [(own.name, own.status) for own in found.unranked] == [("c", "late")]
    assert found.withdrawn == ("d",)
    board = found.to_frame("leaderboard")
    late = board.filter(board["run"] == "c")
    assert late.select("#", "c@1", "status").row(0) == ("", 1.0, "late")
    assert "d" not in board["run"]
    # 2 of 4 and 1 of 4 right: the mean of c@1 is 0.375 without the late run's 1.0
    says(str(found), "1 late ('c')", "('d')", "0.38")
    assert found.questions.right == [2, 1, 0, 0]
    (tmp_path / "info.csv").write_text("run,status\na,lat\n")
    with pytest.raises(ab.UsageError, match="official, late, unofficial, withdrawn"):
        ab.campaign(tmp_path / "gold.csv", runs, runs_info=tmp_path / "info.csv")


def test_a_run_is_repaired_by_position(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(GOLD)
    shifted = "question,answer\n" + "".join(f"q{n},{a}\n" for n, a in zip("2345", "AABA"))  # noqa: B905
    (tmp_path / "bad.csv").write_text(shifted)
    (tmp_path / "good.csv").write_text(answers(2))
    ab.convert(
        tmp_path / "bad.csv", tmp_path / "new.csv", gold=tmp_path / "gold.csv", align="position"
    )
    assert (tmp_path / "new.csv").read_text() == "question,answer\nq1,A\nq2,A\nq3,B\nq4,A\n"
    (tmp_path / "info.csv").write_text("run,align\nbad,position\ngood,id\n")
    found = ab.campaign(
        tmp_path / "gold.csv",
        [tmp_path / "bad.csv", tmp_path / "good.csv"],
        runs_info=tmp_path / "info.csv",
    )
    assert {row.run: row.scores["c@1"] for row in found.rows} == {"bad": 0.75, "good": 0.5}
    (tmp_path / "short.csv").write_text("question,answer\nq2,A\n")
    with pytest.raises(ab.InputError, match="has 1 response, expected 4"):
        ab.convert(
            tmp_path / "short.csv", tmp_path / "x.csv", gold=tmp_path / "gold.csv", align="position"
        )
    with pytest.raises(ab.UsageError, match="go together"):
        ab.convert(tmp_path / "bad.csv", tmp_path / "x.csv", align="position")


def test_odd_things_are_told_unasked(tmp_path: Path) -> None:
    xml = '<test-set><topic t_id="1"><reading-test r_id="1">{}</reading-test></topic></test-set>'
    question = (
        '<q q_id="{0}"><q_str>?</q_str><answer a_id="1" correct="Yes">x</answer>'
        '<answer a_id="2">{1}</answer></q>'
    )
    said = ["None of the above", "None of the aboe", "None of the above."]
    body = "".join(question.format(n, text) for n, text in enumerate(said, 1))
    (tmp_path / "gold.xml").write_text(xml.format(body))
    output = (
        '<output run_id="{}"><topic t_id="1"><reading-test r_id="1">'
        + "".join(
            f'<question q_id="{n}" answered="YES"><answer a_id="1"/></question>' for n in "123"
        )
        + "</reading-test></topic></output>"
    )
    (tmp_path / "jucs1301enen.xml").write_text(output.format("jucs1301enen"))
    (tmp_path / "jucs1302enen.xml").write_text(output.format("jucs1303enen"))
    runs = [tmp_path / "jucs1301enen.xml", tmp_path / "jucs1302enen.xml"]
    for found in (
        ab.validate(tmp_path / "gold.xml", runs),
        ab.campaign(tmp_path / "gold.xml", runs),
    ):
        assert {own.kind for own in found.warnings} == {"file name", "identical runs"}
        assert any("'1/1/2' says 'None of the aboe'" in note for note in found.notes)
    for folder, private in (("out", False), ("organiser", True)):
        assert isinstance(found, CampaignResult)
        found.save(tmp_path / folder, organiser=private)
        for name in ("summary.md", "index.html"):
            text = (tmp_path / folder / name).read_text().replace("\\", "")
            for told in ("says 'None of the aboe'", "same answers", "called after"):
                assert (told in unescape(text)) == private


@pytest.mark.parametrize("kind", ["csv", "xml"])
def test_participants_get_the_same_verdicts_without_answers(
    season: Season, tmp_path: Path, kind: str
) -> None:
    """Each fault against the gold and against the test set that participants have."""
    from tests.campaign.season import faults as made

    (tmp_path / "gold.csv").write_text(season.gold())
    (tmp_path / "set.csv").write_text(season.gold(answers=False))
    if kind == "xml":
        (tmp_path / "gold.xml").write_text(gold_as_xml(season.gold()))
        (tmp_path / "set.xml").write_text(gold_as_xml(season.gold(answers=False)))
        assert "correct" not in (tmp_path / "set.xml").read_text()
    for name, (file, content, _) in made(season).items():
        path = tmp_path / name.replace(" ", "_") / file
        path.parent.mkdir()
        path.write_bytes(content)
        with_answers = ab.validate(tmp_path / f"gold.{kind}", path)
        without = ab.validate(tmp_path / f"set.{kind}", path)
        assert with_answers.problems == without.problems, name
        assert not without.valid


# ------------------------------------------------------------------ rows of several systems


def of_systems(column: str, systems: dict[str, str]) -> str:
    """Rows of several systems in one file, each with an answer to each of four questions or ''."""
    lines = [
        f"q{n},{answer},{system}\n"
        for system, answers in systems.items()
        for n, answer in enumerate(answers, 1)
        if answer != "-"
    ]
    return f"question,answer,{column}\n" + "".join(lines)


def test_rows_of_two_systems_are_listed_and_never_pooled(tmp_path: Path) -> None:
    """`llm_name` is no column that names runs; half of the rows are one system's."""
    (tmp_path / "gold.csv").write_text(GOLD)
    (tmp_path / "in" / "one").mkdir(parents=True)
    (tmp_path / "in" / "one" / "a.csv").write_text(
        of_systems("llm_name", {"x": "AA--", "y": "--BB"})
    )
    (tmp_path / "in" / "one" / "b.csv").write_text(answers(3))
    checked = ab.validate(tmp_path / "gold.csv", tmp_path / "in")
    found = ab.campaign(tmp_path / "gold.csv", tmp_path / "in", skip_invalid=True)
    for (problem,) in (checked.problems, found.problems):
        assert problem.kind == "unreadable"
        says(problem.message, "llm_name")
    assert [row.run for row in found.rows] == ["b"]
    assert found.skipped == ("a",)


def test_a_run_is_no_other_teams_run_of_the_same_name(tmp_path: Path) -> None:
    """Both teams call a system x; team one sends it twice, team two's answers are right."""
    (tmp_path / "gold.csv").write_text(GOLD)
    for place, systems in {
        "one/a.csv": {"x": "AA--", "z": "AAAB"},
        "one/b.csv": {"x": "BBBB"},
        "two/c.csv": {"x": "AAAA", "y": "AABB"},
    }.items():
        (tmp_path / "in" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / place).write_text(of_systems("run", systems))
    found = ab.campaign(tmp_path / "gold.csv", tmp_path / "in", skip_invalid=True)
    assert {row.run: row.scores["c@1"] for row in found.rows} == {"two/x": 1, "z": 0.75, "y": 0.5}
    assert {own.info["team"] for own in found.rows if own.run == "two/x"} == {"two"}
    assert found.skipped == ("one/x",)  # in both files, although only the second repeats questions
    assert {own.team for own in found.problems} == {"one"}


def test_a_gold_by_its_ids_is_valid_as_it_is_scored(tmp_path: Path) -> None:
    """The gold calls the text `question` and the ids `id`, as the run does."""
    lines = [f"q{n},What is {n}?,A\n" for n in range(1, 5)]
    (tmp_path / "gold.csv").write_text("id,question,correct\n" + "".join(lines))
    (tmp_path / "set.csv").write_text("id,question\n" + "".join(own[:-3] + "\n" for own in lines))
    (tmp_path / "a.csv").write_text(answers(3).replace("question", "id"))
    assert ab.validate(tmp_path / "gold.csv", tmp_path / "a.csv").valid
    assert ab.validate(tmp_path / "set.csv", tmp_path / "a.csv").valid
    found = ab.campaign(tmp_path / "gold.csv", tmp_path / "a.csv", skip_invalid=True)
    assert found.rows[0].scores["c@1"] == 0.75


# ------------------------------------------------------------------ few answers, in a blind phase


class Asked:
    """60 questions in four tests of 15, and teams that would like to know single answers."""

    ids = tuple(f"q{n:02d}" for n in range(60))

    def __init__(self, here: Path) -> None:
        self.here = here
        lines = [f"{q},{'ABCD'[n * 7 % 4]},A|B|C|D,{n // 15}" for n, q in enumerate(self.ids)]
        (here / "gold.csv").write_text("question,correct,options,test\n" + "\n".join(lines) + "\n")

    def run(
        self, place: str, said: dict[int, str], candidates: dict[int, str] | None = None
    ) -> None:
        path = self.here / "in" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            f"{q},{said.get(n, '')},{(candidates or {}).get(n, '')}\n"
            for n, q in enumerate(self.ids)
        ]
        path.write_text("question,answer,candidate\n" + "".join(rows))

    def campaign(self, *more: str) -> Path:
        out, teams = self.here / "out", self.here / "teams"
        names = (str(self.here / own) for own in ("gold.csv", "in"))
        asked = ["campaign", *names, "-o", str(out), "--teams", str(teams), "--blind", "--force"]
        assert run([*asked, *more]) == 0
        return self.here


def test_runs_that_tell_of_few_answers_are_held_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """b leaves one answer of a out, c answers one question, d has ten other answers than a."""
    asked = Asked(tmp_path)
    everything = dict.fromkeys(range(60), "A")
    asked.run("spy/a.csv", everything)
    asked.run("spy/b.csv", everything | {0: ""})
    asked.run("spy/c.csv", {0: "A"})
    asked.run("spy/d.csv", everything | dict.fromkeys(range(10), "B"))
    asked.run("two/e.csv", everything | {0: ""})  # of another team: nobody has both
    here = asked.campaign()
    board = rows(here / "out" / "tables" / "leaderboard.csv")
    assert {row["run"] for row in board if row["#"]} == {"a", "d", "e"}
    told = {row["run"]: row for row in rows(here / "teams" / "spy" / "runs.csv")}
    assert {run: row["c@1"] == "" for run, row in told.items()} == {
        "a": False,
        "b": True,
        "c": True,
        "d": False,
    }
    says(told["b"]["status"], "'a'", "1")
    says(told["c"]["status"], "1")
    says(capsys.readouterr().err, "'b'")
    for path in (here / "out").rglob("*.json"):
        assert {own["run"] for own in json.loads(path.read_text())["results"]} == {"a", "d", "e"}


def test_few_answers_in_a_slice_have_no_score(tmp_path: Path) -> None:
    """One answer in test 0 and two in test 1: the smallest other test hides their sum."""
    asked = Asked(tmp_path)
    asked.run("spy/a.csv", {0: "A", 15: "A", 16: "A"} | dict.fromkeys(range(30, 60), "A"))
    asked.run("two/b.csv", dict.fromkeys(range(60), "B"))
    here = asked.campaign("--pseudonyms", str(tmp_path / "names.csv"))
    name = {row["team"]: row["pseudonym"] for row in rows(here / "names.csv")}["spy"]
    tests = rows(here / "teams" / name / "by_test.csv")[0]
    assert [tests[part] == "" for part in "0123"] == [True, True, True, False]
    blind = json.loads((here / "out" / "results.json").read_text())
    at = [own["run"] for own in blind["results"]].index(name)
    board = {row["run"]: row for row in rows(here / "out" / "tables" / "leaderboard.csv")}
    assert board[name]["tests passed"] == ""
    (own,) = blind["breakdowns"]
    assert (
        own["right"][at][:3] == own["wrong"][at][:3] == own["unanswered_empty"][at][:3] == [0] * 3
    )
    assert "fewer than five answers" in (here / "out" / "summary.md").read_text()


def test_candidates_behind_blanks_are_not_told(tmp_path: Path) -> None:
    """The spy leaves one question blank with a candidate: whether that is right is nowhere."""
    written = []
    for candidate in "AB":  # A is right, B is not
        here = tmp_path / candidate
        here.mkdir()
        asked = Asked(here)
        asked.run("spy/a.csv", dict.fromkeys(range(1, 60), "A"), {0: candidate})
        asked.run("two/b.csv", dict.fromkeys(range(60), "B"))
        asked.campaign()
        found = {
            p.relative_to(here): p for part in ("out", "teams") for p in (here / part).rglob("*")
        }
        written.append({own: p.read_bytes() for own, p in found.items() if p.is_file()})
    assert written[0] == written[1]
    assert b"blank (right)" not in written[0][Path("out/tables/leaderboard.csv")]


# ------------------------------------------------------------------ what an organiser must be told


def handed_in(here: Path, *places: str, right: int = 2) -> Path:
    (here / "gold.csv").write_text(GOLD)
    for place in places:
        path = here / "in" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(answers(right))
    return here / "in"


def test_runs_beyond_the_limit_are_the_last_by_name(tmp_path: Path) -> None:
    """Folders do not say in which order a team numbers its runs; a withdrawn run does not count."""
    names = ("final/abcd1301enen", "abcd1302enen", "final/abcd1310enen", "abcd1303enen")
    given = handed_in(tmp_path, *(f"abcd/{own}.csv" for own in names), "efgh/efgh1301enen.csv")
    found = ab.validate(tmp_path / "gold.csv", given, max_runs=3)
    assert [own.run for own in found.problems] == ["abcd1310enen"]
    (tmp_path / "info.csv").write_text("run,status\nabcd1302enen,withdrawn\n")
    info = tmp_path / "info.csv"
    assert ab.validate(tmp_path / "gold.csv", given, max_runs=3, runs_info=info).valid
    result = ab.campaign(tmp_path / "gold.csv", given, skip_invalid=True, max_runs=4)
    says(result.notes, "5")


def test_folders_inside_that_of_one_team_are_no_teams(tmp_path: Path) -> None:
    given = handed_in(tmp_path, "final/abcd1301enen.csv", "abcd1302enen.csv")
    found = ab.validate(tmp_path / "gold.csv", given, max_runs=1)
    told = "runs were counted per team; the team is known for 2 runs by the run id"
    assert found.notes == (told,)
    assert [own.team for own in found.problems] == ["abcd"]


def test_teams_alike_and_folders_without_runs_are_told(tmp_path: Path) -> None:
    given = handed_in(tmp_path, "Kilo/a.csv", "KILO/b.csv", "lima/c.csv")
    (given / "mike").mkdir()
    (given / "mike" / "README.txt").write_text("we send it tomorrow")
    (given / "none").mkdir()
    for found in (
        ab.validate(tmp_path / "gold.csv", given),
        ab.campaign(tmp_path / "gold.csv", given, skip_invalid=True),
    ):
        said = [note for note in found.notes if "teams " in note or "no runs" in note]
        says(said[0], "'KILO'", "'Kilo'", "2")
        assert said[1:] == [f"{given / 'mike'} holds no runs"]


def test_a_run_that_answers_nothing_is_told(tmp_path: Path) -> None:
    given = handed_in(tmp_path, "a.csv")
    (given / "b.csv").write_text("question,answer\n" + "".join(f"q{n},\n" for n in range(1, 5)))
    found = ab.validate(tmp_path / "gold.csv", given)
    assert [(own.kind, own.run) for own in found.warnings] == [("no answers", "b")]
    assert found.valid


def test_a_test_set_is_no_gold(tmp_path: Path) -> None:
    """Without its answers every answer would be wrong."""
    given = handed_in(tmp_path, "a.csv")
    text = gold_as_xml((tmp_path / "gold.csv").read_text())
    (tmp_path / "set.xml").write_text(text.replace(MARK, ""))
    with refuses(ab.InputError):
        ab.score(tmp_path / "set.xml", given)
    assert ab.validate(tmp_path / "set.xml", given).questions == 4


def test_a_late_run_is_broken_down_on_its_teams_page(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    asked.run("one/a.csv", dict.fromkeys(range(60), "A"))
    asked.run("one/late.csv", dict.fromkeys(range(60), "B"))
    asked.run("two/b.csv", dict.fromkeys(range(60), "C"))
    (tmp_path / "info.csv").write_text("run,status\nlate,late\n")
    here = asked.campaign("--runs-info", str(tmp_path / "info.csv"))
    tests = {row["run"]: row for row in rows(here / "teams" / "one" / "by_test.csv")}
    # n * 7 % 4 is 1, so B, where n % 4 is 3: of the questions 0 to 14 those are 3, 7 and 11
    assert float(tests["late"]["0"]) == pytest.approx(3 / 15)
    assert [row["status"] for row in rows(here / "teams" / "one" / "runs.csv")] == ["", "late"]
    assert "status" not in rows(here / "teams" / "two" / "runs.csv")[0]


def test_pages_are_written_in_the_order_of_the_pseudonyms(tmp_path: Path) -> None:
    """The order in which files are made can be read off a disk or an archive."""
    from abstain.features.campaign.view import Teams

    asked = Asked(tmp_path)
    names = {"a": "wren", "b": "lark", "c": "tern"}
    for at, team in enumerate(names):
        asked.run(f"{team}/run.csv", dict.fromkeys(range(60), "ABC"[at]))
    result = ab.campaign(tmp_path / "gold.csv", tmp_path / "in")
    assert [folder for folder, _, _ in Teams(result, names).pages()] == ["lark", "tern", "wren"]
