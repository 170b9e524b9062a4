"""`receive`: what is kept, what a receipt says, and how it is listed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.features.season import intake
from abstain.runs.season import Receipt, Season, as_time
from tests.campaign.season import faults, zipped
from tests.helpers import ROOT
from tests.qa4mre_files import gold_xml, run_xml
from tests.season.conftest import DEADLINE, EARLY, LATE, Organiser
from tests.snapshots import refuses, says


def kept(organiser: Organiser) -> dict[str, bytes]:
    folder = organiser.here.folder / "season" / "submissions"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_receipt_is_true(organiser: Organiser) -> None:
    content = organiser.write("amber1.csv").read_bytes()
    before = as_time(datetime.now(UTC))
    (receipt,) = ab.receive("amber1.csv", team="amber", into="season")
    assert before <= receipt.time <= as_time(datetime.now(UTC))
    assert receipt.sha256 == hashlib.sha256(content).hexdigest()
    assert kept(organiser) == {receipt.sha256: content}
    assert (receipt.number, receipt.team, receipt.run) == (1, "amber", "amber1")
    assert (receipt.file, receipt.bytes) == ("amber1.csv", len(content))
    assert (receipt.valid, receipt.found, receipt.state) == (True, "", "counts")
    assert (receipt.left, receipt.entered) == (None, "")
    assert organiser.receipts() == [receipt]


def test_the_table_says_what_was_received(organiser: Organiser) -> None:
    organiser.settings("limits = { team = 2 }")
    organiser.write("amber1.csv")
    organiser.here.write("bad.csv", (organiser.here.folder / "amber1.csv").read_text()[:-20])
    said = organiser("amber1.csv", "bad.csv")
    assert said.code == 1
    says(said.out, "amber1", "counts", "invalid", "bad.csv", "2013-05-09T12:00:00.000Z")


@pytest.mark.slow
def test_the_list_is_a_table_csv_and_json(organiser: Organiser) -> None:
    organiser.write("amber1.csv")
    organiser.write("x.csv")
    organiser("amber1.csv")
    organiser("x.csv", team="birch")
    asked = ("receive", "--list", "--into", "season")
    says(organiser.here(*asked).out, "birch")
    rows = list(csv.DictReader(io.StringIO(organiser.here(*asked, "-f", "csv").out)))
    assert [(row["number"], row["team"], row["run"]) for row in rows] == [
        ("1", "amber", "amber1"),
        ("2", "birch", "x"),
    ]
    data = organiser.here(*asked, "-f", "json").data["receipts"]
    assert [row["sha256"] for row in data] == [row["sha256"] for row in rows]
    (only,) = organiser.here(*asked, "--team", "birch", "-f", "json").data["receipts"]
    assert only == data[1]
    assert [r.number for r in ab.receive(team="birch", into="season")] == [2]


@pytest.mark.slow
def test_the_same_again_is_the_same_receipt(organiser: Organiser) -> None:
    """By the same team, under the same run: of another team, or changed, it is another."""
    content = organiser.write("amber1.csv").read_bytes()
    organiser.here.write("other.csv", content)
    first = organiser("amber1.csv")
    assert organiser("amber1.csv").out == first.out
    organiser("other.csv")
    organiser("amber1.csv", team="birch")
    assert [(r.team, r.run) for r in organiser.receipts()] == [
        ("amber", "amber1"),
        ("amber", "other"),
        ("birch", "amber1"),
    ]
    assert len(kept(organiser)) == 1
    organiser("amber1.csv", "--again")
    assert organiser.states() == ["superseded", "counts", "counts", "counts"]


def test_the_latest_version_counts(organiser: Organiser) -> None:
    for at in ("09:00", "10:00"):
        organiser.write("amber1.csv")
        organiser("amber1.csv", at=f"2013-05-09T{at}Z")
    assert organiser.states() == ["superseded", "counts"]
    assert len(kept(organiser)) == 2


@pytest.mark.slow
def test_what_comes_late_is_late_by_the_clock(organiser: Organiser) -> None:
    """At the deadline it is not; it does not replace what was in time."""
    organiser.settings(f"deadline = {DEADLINE}")
    for at in (EARLY, DEADLINE, LATE):
        organiser.write("amber1.csv")
        organiser("amber1.csv", at=at)
    assert organiser.states() == ["superseded", "counts", "late"]
    entered = [r.entered for r in organiser.receipts()]
    assert all(time > "2020" for time in entered)  # the time on the clock stands beside
    organiser.settings(f"deadline = {DEADLINE}", 'late = "refused"')
    organiser.write("amber2.csv")
    says(organiser.here.refuses("receive", "amber2.csv", "--team", "a", "--into", "season"))
    assert len(organiser.receipts()) == 3
    assert organiser("amber2.csv", at=DEADLINE).code == 0


@pytest.mark.slow
def test_limits_count_by_time_not_by_name(organiser: Organiser) -> None:
    organiser.settings("limits = { team = 2, day = 3 }")
    for name in ("z", "y", "x"):
        organiser.write(f"{name}.csv")
        assert organiser(f"{name}.csv").code == (name == "x")
    assert organiser.states() == ["counts", "counts", "over the limit"]
    assert [r.left for r in organiser.receipts()] == [0, 0, 0]
    organiser.write("y.csv")
    organiser("y.csv")  # the fourth of the day
    organiser.write("y.csv")
    organiser("y.csv", at="2013-05-10T00:00Z")
    assert organiser.states() == [
        *("counts", "superseded", "over the limit", "over the limit", "counts")
    ]


def test_one_run_is_withdrawn(organiser: Organiser) -> None:
    organiser.settings("limits = { team = 2 }")
    for name in ("x", "y", "z"):
        organiser.write(f"{name}.csv")
    organiser("x.csv", "y.csv", "z.csv")
    said = organiser("--withdraw", "x", at="2013-05-09T13:00Z")
    assert said.code == 0
    says(said.out, "withdrawn")
    over = "over the limit"
    assert organiser.states() == ["withdrawn", "counts", over]
    said = organiser("x.csv", at="2013-05-09T14:00Z")  # the same bytes: the same receipt
    says(said.err, "receipt 1; --again")
    assert organiser.states() == ["withdrawn", "counts", over]
    organiser("z.csv", "--again", at="2013-05-09T14:00Z")
    assert organiser.states() == ["withdrawn", "counts", over, "counts"]
    for run, at in (("w", EARLY), ("x", EARLY), ("y", "2013-05-09T11:00Z")):
        says(organiser.here.refuses(
            *("receive", "--withdraw", run, "--team", "amber", "--into", "season", "--at", at)
        ))  # fmt: skip


def test_a_slow_receiver_does_not_displace_a_quick_one(
    organiser: Organiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began earlier, but its row is entered later."""
    organiser.settings("limits = { team = 1 }")
    organiser.write("slow.csv")
    organiser.write("quick.csv")
    checked = intake._checked
    quick: list[Receipt] = []

    def interrupted(season: Season, file: Any, run: str) -> dict[str, Any]:
        if run == "slow":
            quick.extend(ab.receive("quick.csv", team="amber", into="season"))
        return checked(season, file, run)

    monkeypatch.setattr(intake, "_checked", interrupted)
    (slow,) = ab.receive("slow.csv", team="amber", into="season")
    assert (quick[0].state, slow.state) == ("counts", "over the limit")
    assert slow.time == quick[0].time
    assert organiser.receipts() == [*quick, slow]


@pytest.mark.parametrize(("hours", "state"), [(1, "counts"), (-1, "late")])
def test_the_clock_of_the_ledger_never_goes_back(
    organiser: Organiser, hours: int, state: str
) -> None:
    """As where another machine's clock is ahead; what began before the deadline is in time."""
    now = datetime.now(UTC)
    deadline, ahead = as_time(now + timedelta(hours=hours)), as_time(now + timedelta(hours=2))
    organiser.settings(f"deadline = {deadline}")
    organiser.write("x.csv")
    organiser("x.csv")
    with sqlite3.connect("season/ledger.sqlite") as ledger:
        ledger.execute("UPDATE receipts SET time = ?", (ahead,))
    ledger.close()
    organiser.write("y.csv")
    (receipt,) = ab.receive("y.csv", team="amber", into="season")
    assert (receipt.time, receipt.state) == (min(deadline, ahead) if hours > 0 else ahead, state)


def test_what_is_sent_after_a_withdrawal_is_not_withdrawn(organiser: Organiser) -> None:
    """Also where a clock went back."""
    organiser.write("x.csv")
    organiser("x.csv")
    ab.receive(withdraw="x", team="amber", into="season")
    ahead = as_time(datetime.now(UTC) + timedelta(hours=2))
    with sqlite3.connect("season/ledger.sqlite") as ledger:
        ledger.execute("UPDATE requests SET time = ?", (ahead,))
    ledger.close()
    (receipt,) = ab.receive("x.csv", team="amber", into="season", again=True)
    assert (receipt.state, organiser.states()) == ("counts", ["withdrawn", "counts"])
    assert datetime.fromisoformat(receipt.time) - datetime.fromisoformat(ahead) == timedelta(
        milliseconds=1
    )


def test_a_primary_run_is_named(organiser: Organiser) -> None:
    organiser.settings('counts = "primary"')
    for name in ("x", "y"):
        organiser.write(f"{name}.csv")
    organiser("x.csv", "y.csv")
    assert organiser.states() == ["not primary"] * 2
    organiser("--primary", "x", at="2013-05-09T13:00Z")
    organiser("--primary", "y", at="2013-05-09T14:00Z")
    assert organiser.states() == ["not primary", "counts"]
    organiser("--primary", "x", at="2013-05-09T15:00Z")
    assert organiser.states() == ["counts", "not primary"]


@pytest.mark.slow
def test_whatever_is_broken_is_kept(organiser: Organiser) -> None:
    """It takes no place of the team's runs, and does not replace a valid version."""
    organiser.settings("limits = { team = 1 }")
    organiser.write("r.csv")
    organiser("r.csv")
    sent = []
    for file, content, _ in faults(organiser.made).values():
        organiser.here.write(file, content)
        assert organiser(file).code == 1, file
        sent.append(content)
    assert set(kept(organiser).values()) >= set(sent)
    states = organiser.states()
    assert states == ["counts", *["invalid"] * len(sent)]
    assert all(r.found for r in organiser.receipts()[1:])


def test_an_archive_and_a_folder_stand_for_their_runs(organiser: Organiser) -> None:
    runs = {f"amber{n}.csv": organiser.made.run(0.5).encode() for n in (1, 2)}
    organiser.here.write("subs.zip", zipped(runs))
    for name, content in runs.items():
        organiser.here.write(f"mine/{name.replace('amber', 'main/amber1')}", content)
    organiser("subs.zip", "mine")
    assert [(r.run, r.file) for r in organiser.receipts()] == [
        ("amber1", "subs.zip/amber1.csv"),
        ("amber2", "subs.zip/amber2.csv"),
        ("amber11", "mine/main/amber11.csv"),
        ("amber12", "mine/main/amber12.csv"),
    ]
    assert set(kept(organiser).values()) == set(runs.values())


@pytest.mark.parametrize("what", ["cut", "empty", "nested", "damaged"])
def test_a_broken_archive_is_kept_whole(organiser: Organiser, what: str) -> None:
    inner = zipped({"r.csv": organiser.made.run(0.5).encode()})
    content = {
        "cut": inner[:-40],
        "empty": zipped({}),
        "nested": zipped({"r.zip": inner}),
        "damaged": inner.replace(b"question,answer", b"question,answar"),
    }[what]
    if what == "damaged":  # a stored entry whose checksum no longer fits
        assert content != inner
    organiser.here.write("r.zip", content)
    assert organiser("r.zip").code == 1
    assert list(kept(organiser).values()) == [content]
    assert organiser.states() == ["invalid"]


def test_files_of_one_name_in_one_call_are_several_runs(organiser: Organiser) -> None:
    """As `score` names them; the same bytes are one, and a new version says what it replaces."""
    contents = [organiser.made.run(0.5) for _ in range(3)]
    for folder, content in zip("xyz", (*contents[:2], contents[0]), strict=True):
        organiser.here.write(f"{folder}/run.csv", content)
    says(organiser("x/run.csv", "y/run.csv", "z/run.csv").out, "x/run", "y/run")
    assert [(r.run, r.file, r.state) for r in organiser.receipts()] == [
        ("x/run", "run.csv", "counts"),
        ("y/run", "run.csv", "counts"),
    ]
    organiser.here.write("y/run.csv", contents[2])
    says(organiser("x/run.csv", "y/run.csv").out, "replaces receipt 2")
    assert [r.replaces for r in organiser.receipts()] == [None, None, 2]


def test_files_of_one_run_id_are_called_by_their_names(organiser: Organiser) -> None:
    for name in "ab":
        organiser.here.write(f"{name}.xml", run_xml([("1", range(1, 4))]) + f"<!-- {name} -->")
    organiser.here.write("season/gold.xml", gold_xml([3]))
    organiser.here.write("season/season.toml", 'gold = "gold.xml"\n')
    organiser("a.xml", "b.xml")
    assert [r.run for r in organiser.receipts()] == ["a", "b"]
    assert organiser.states() == ["counts", "counts"]
    assert sorted(ab.read("season/gold.xml", ["a.xml", "b.xml"]).runs) == ["a", "b"]


def test_several_runs_in_one_table_are_said_to_be_so(organiser: Organiser) -> None:
    lines = organiser.made.run(0.5).splitlines()[1:]
    rows = "".join(f"{run},{line}\n" for run in "ab" for line in lines)
    organiser.here.write("both.csv", "run,question,answer\n" + rows)
    organiser("both.csv")
    (receipt,) = organiser.receipts()
    assert receipt.state == "invalid"
    says(receipt.found, "'a', 'b'")


@pytest.mark.slow
def test_any_name_will_do(organiser: Organiser) -> None:
    """Files lie under their hashes: what they are called steers nothing."""
    content = organiser.made.run(0.5)
    names = [f"{'n' * 240}.csv", "Run.csv", "run.csv", "a\nb.csv", "\udcff.csv"]
    for name in names:
        path = organiser.here.folder / "in" / os.fsencode(name).decode(errors="surrogateescape")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        assert organiser(path).code == 0, name
    teams = ["../up", "x" * 300, "é'\";"]
    for team in teams:
        assert organiser(organiser.write("r.csv"), team=team).code == 0, team
    assert organiser.states() == ["counts"] * (len(names) + len(teams))
    (receipt,) = ab.receive("r.csv", team="a\0b", into="season")
    assert receipt.team == "a\0b"
    assert organiser.here("receive", "--list", "--into", "season").code == 0
    assert organiser.here("campaign", "season", "-o", "out").code == 0
    inside = {path.name for path in (organiser.here.folder / "season").iterdir()}
    assert inside == {"gold.csv", "season.toml", "ledger.sqlite", "submissions"}


def test_the_gold_may_be_the_test_set(organiser: Organiser) -> None:
    organiser.here.write("season/gold.csv", organiser.made.gold(answers=False))
    organiser.write("r.csv")
    assert organiser("r.csv").code == 0


def test_a_gold_that_is_mended_makes_a_file_valid(organiser: Organiser) -> None:
    organiser.write("r.csv")
    gold = organiser.made.gold()
    organiser.here.write("season/gold.csv", gold.replace("qq003", "qq3"))
    organiser("r.csv")
    organiser.here.write("season/gold.csv", gold)
    organiser("r.csv")
    assert organiser.states() == ["invalid", "counts"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--list", "r.csv"],
        ["nowhere.csv", "--team", "a"],
        ["r.csv", "nowhere.csv", "--team", "a"],
        ["r.csv"],
        ["--withdraw", "x"],
        ["--withdraw", "x", "--team", "a"],
        ["r.csv", "--team", "a", "--at", "yesterday"],
        ["r.csv", "--team", "a", "--at", "2013-05-09T12:00"],
        ["r.csv", "--team", "a", "--at", "2113-05-09T12:00Z"],
        ["empty", "--team", "a"],
        ["--list", "--team", "ambr"],
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_refused(organiser: Organiser, words: list[str]) -> None:
    if "ambr" in words:
        organiser(organiser.write("r.csv"))
        shutil.rmtree("season/submissions")
    organiser.write("r.csv")
    (organiser.here.folder / "empty").mkdir()
    says(organiser.here.refuses("receive", *words, "--into", "season"))
    assert not (organiser.here.folder / "season" / "submissions").exists()


def test_without_a_gold_nothing_is_kept(organiser: Organiser) -> None:
    organiser.write("r.csv")
    (organiser.here.folder / "season" / "gold.csv").unlink()
    with refuses(ab.InputError, "gold.csv"):
        ab.receive("r.csv", team="a", into="season")
    assert not (organiser.here.folder / "season" / "submissions").exists()


def test_what_is_no_ledger_is_refused(organiser: Organiser) -> None:
    organiser.write("r.csv")
    organiser.here.write("season/ledger.sqlite", "not a database, but long enough" * 9)
    says(organiser.here.refuses("receive", "r.csv", "--team", "a", "--into", "season"))
    (organiser.here.folder / "season" / "ledger.sqlite").unlink()
    organiser("r.csv")
    with sqlite3.connect("season/ledger.sqlite") as ledger:
        ledger.execute("PRAGMA user_version = 2")
    ledger.close()
    says(organiser.here.refuses("score", "season"), "version 2")


@pytest.mark.slow
def test_an_archive_can_be_read(organiser: Organiser) -> None:
    """A folder that cannot be written to, as on a medium that is read-only."""
    organiser.write("r.csv")
    organiser("r.csv")
    expected = organiser.receipts()
    with tempfile.TemporaryDirectory(dir="/tmp") as public:
        season = Path(public, "season")
        shutil.copytree("season", season)
        os.chmod(public, 0o755)
        os.chmod(season, 0o555)
        user = os.geteuid()
        try:
            if user == 0:  # root may write anywhere
                os.setresuid(65534, 65534, 0)
            assert ab.receive(into=season) == expected
        finally:
            os.setresuid(user, user, user)
            os.chmod(season, 0o755)


FULL = """
import resource, sys
from abstain.cli import run
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("bytes", [100, 4096, 9000])
def test_a_full_disk_is_refused_in_a_line(organiser: Organiser, bytes: int) -> None:
    """While the file is written, while the ledger is made, while its row is."""
    assert resource.RLIMIT_FSIZE is not None
    content = organiser.write("r.csv").read_bytes()
    words = ("receive", "r.csv", "--team", "a", "--into", "season")
    if bytes == 9000:
        organiser.write("first.csv")
        for team in range(9):
            organiser("first.csv", team=f"{team}" * 300)
    before = organiser.receipts()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(bytes), *words],
        capture_output=True,
        text=True,
        # compiled modules would be cut off too, and spoil what is imported after
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert done.returncode == 2, done
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert organiser.receipts() == before
    folder = organiser.here.folder / "season"
    left = [path for path in folder.rglob("*") if path.name.startswith(".")]
    assert left == []
    assert organiser.here(*words).code == 0  # with room again
    assert organiser.receipts()[-1].state == "counts"
    assert content in kept(organiser).values()


@pytest.mark.slow
def test_receivers_at_once_some_killed_lose_nothing() -> None:
    """Smaller than `tools/receivers.py` by itself: 200 receivers, 50 of them killed."""
    script = ROOT / "tools" / "receivers.py"
    done = subprocess.run(
        [sys.executable, str(script), "24", "12", "3"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'killed': 1" in done.stdout


def test_receipts_are_data(organiser: Organiser) -> None:
    organiser.write("r.csv")
    said = organiser("r.csv", "-o", "receipts.json")
    assert said.out == ""
    (row,) = json.loads(Path("receipts.json").read_text())["receipts"]
    assert row["state"] == "counts"


@pytest.mark.slow
def test_files_that_claim_one_name_are_received_by_their_own(organiser: Organiser) -> None:
    """a.csv is called a, and b.json says that its run is a: nothing that is sent is lost."""
    organiser.write("a.csv")
    rows = [{"question": "q1", "answer": "A", "run": "a"}]
    (organiser.here.folder / "b.json").write_text(json.dumps(rows))
    organiser("a.csv", "b.json")
    assert [receipt.run for receipt in organiser.receipts()] == ["a.csv", "b.json"]
