"""The folder of a campaign: never written in part, and harmless whatever the names are."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest

import abstain as ab
from abstain.cli import run
from abstain.errors import InputError, UsageError
from abstain.features.campaign.blind import published
from abstain.features.campaign.overview import Overview
from abstain.features.campaign.summary import sentences
from abstain.features.campaign.view import write_campaign
from tests.campaign.asked import overview
from tests.campaign.slow import make
from tests.snapshots import says

pytestmark = pytest.mark.slow

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "=HYPERLINK(evil)",
    r"\input{/etc/passwd}",
    "a|b`c`",
    "\x1b[31mred",
    "\u202egnp",
]


def hostile_campaign(folder: Path) -> None:
    """Names of strangers wherever a name may stand."""
    gold = [["question", "correct", "options", "topic", "test", "type"]]
    runs = [["run", "question", "answer"]]
    for number in range(12):
        bad = HOSTILE[number % len(HOSTILE)]
        gold.append([f"q{number}{bad}", "1", "1|2", bad, bad, bad])
        runs += [[f"{bad}{r}", f"q{number}{bad}", "12"[number % 2]] for r in range(2)]
    known = {(row[0]) for row in runs[1:]}
    complete = [runs[0]]
    for name in sorted(known):
        complete += [[name, row[0], "1"] for row in gold[1:]]
    for file, table in (("gold.csv", gold), ("runs.csv", complete)):
        with (folder / file).open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows(table)


def test_no_name_injects_anything(tmp_path: Path) -> None:
    hostile_campaign(tmp_path)
    title = "<script>alert(1)</script>"
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv", title=title)
    write_campaign(c, tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    markup, _, _ = page.partition('<script type="module">')  # the chart library comes after it
    assert "<img" not in markup
    assert "<script>" not in markup
    assert markup.count("<script") == 1
    assert "\\u003cimg src=x onerror=alert(1)\\u003e" in markup
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in markup
    for path in (tmp_path / "out").rglob("*"):
        if not path.is_file():
            continue
        text = path.read_text()
        assert "\x1b" not in text.replace("\\u001b", "")
        if path.suffix == ".csv":
            with path.open(newline="") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            formulas = [c for c in cells if c[:1] in "=+@" and c[:1]]
            assert not formulas, (path.name, formulas)
            signed = [c for c in cells if c.startswith("-")]
            assert all(re.fullmatch(r"-\d+(\.\d+)?(e-?\d+)?", c) for c in signed)
        if path.suffix == ".tex":
            assert r"\input{" not in text
        if path.suffix == ".md":
            assert "<img" not in text
            assert "<script" not in text


def test_the_folder_holds_tables_results_summary_and_page(tmp_path: Path) -> None:
    make(tmp_path, seed=3)
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv")
    tables = write_campaign(c, tmp_path / "out")
    for table in tables:
        for ending in ("csv", "md", "tex"):
            text = (tmp_path / "out" / "tables" / f"{table.name}.{ending}").read_text()
            assert text.strip()
    assert ab.load(tmp_path / "out" / "results.json") == published(c)
    assert c.to_frame("topics").columns == [column.name for column in tables[1].grid.columns]
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert len(list(sentences(Overview(c)))) == summary.count("\n- ")
    tex = (tmp_path / "out" / "tables" / "topics.tex").read_text()
    assert tex.startswith("\\begin{tabular}{lrrr}\n\\toprule\n")
    for table in re.findall(
        r'href="(tables/[^"]+)"', (tmp_path / "out" / "index.html").read_text()
    ):
        assert (tmp_path / "out" / table).exists()


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    make(tmp_path, seed=4)
    for name in ("one", "two"):
        c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv")
        write_campaign(c, tmp_path / name)
    for path in (tmp_path / "one").rglob("*.*"):
        assert (
            path.read_bytes()
            == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
        )


def test_a_folder_is_replaced_only_when_asked_and_only_if_it_is_ours(tmp_path: Path) -> None:
    make(tmp_path, seed=5)
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv")
    write_campaign(c, tmp_path / "out")
    (tmp_path / "out" / "old.txt").write_text("old")
    with pytest.raises(UsageError, match="force=True replaces it"):
        write_campaign(c, tmp_path / "out")
    assert (tmp_path / "out" / "old.txt").exists()
    write_campaign(c, tmp_path / "out", force=True)
    assert not (tmp_path / "out" / "old.txt").exists()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(UsageError, match="left as it is"):
        write_campaign(c, tmp_path / "thesis", force=True)
    assert (tmp_path / "thesis" / "chapter1.tex").read_text() == "years of work"


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, seed=6)
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv")

    def fail(*_: object, **__: object) -> str:
        raise RuntimeError("the disk caught fire")

    monkeypatch.setattr("abstain.features.campaign.view.campaign_page", fail)
    with pytest.raises(RuntimeError):
        write_campaign(c, tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gold.csv", "runs.csv"]


def test_the_command_prints_the_leaderboard_and_says_where_the_rest_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = make(tmp_path, seed=7)
    files = [str(tmp_path / "gold.csv"), str(tmp_path / "runs.csv")]
    out = str(tmp_path / "out")
    assert run(["campaign", *files, "-o", out, "--pass-mark", "0.4", "--title", "Trial"]) == 0
    said = capsys.readouterr().out
    for name in slow.outcomes:
        assert name in said
    assert "index.html" in said
    assert all(len(line) <= 80 for line in said.splitlines() if "index.html" not in line)
    assert run(["campaign", *files, "-o", out]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["campaign", *files, "-o", out, "--by", "tpoic", "--force"]) == 2
    assert "nearest: topic" in capsys.readouterr().err


def test_attributes_of_runs_join_in(tmp_path: Path) -> None:
    slow = make(tmp_path, seed=8)
    names = list(slow.outcomes)
    rows = ["run,technique"] + [
        f"{n},{'search' if i % 2 else 'rules'}" for i, n in enumerate(names)
    ]
    (tmp_path / "info.csv").write_text("\n".join(rows) + "\n")
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv", runs_info=tmp_path / "info.csv")
    tables = {t.name: t for t in write_campaign(c, tmp_path / "out")}
    grid = tables["runs_by_technique"].grid
    expected = {
        kind: max(
            float(slow.c_at_1(n, slow.where()))
            for i, n in enumerate(names)
            if bool(i % 2) == (kind == "search")
        )
        for kind in ("rules", "search")
    }
    best = [column.name for column in grid.columns].index("best")
    assert {row[0]: row[best] for row in grid.rows} == pytest.approx(expected)


def test_attributes_whose_names_look_alike_keep_tables_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("question,correct,a b,a_b\nq1,a,x,u\nq2,a,y,v\n")
    (tmp_path / "run.csv").write_text("question,answer\nq1,a\nq2,b\n")
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "run.csv")
    tables = write_campaign(c, tmp_path / "out")
    headers = {t.name: [column.name for column in t.grid.columns] for t in tables}
    assert headers["by_a_b"] == ["run", "all", "x", "y"]
    assert headers["by_a_b_2"] == ["run", "all", "u", "v"]
    assert len(headers) == len(tables) == len(list((tmp_path / "out" / "tables").glob("*.csv")))


@pytest.mark.parametrize("bold", [1, 2])
def test_what_is_undefined_is_said_and_in_no_mean(tmp_path: Path, bold: int) -> None:
    """Runs that leave nothing blank discard nothing; the other held one wrong candidate back."""
    rows = ["run,question,answer,candidate", "teama1301enen,q1,a,", "teama1301enen,q2,,a"]
    names = [f"teamb13{n:02d}enen" for n in range(1, bold + 1)]
    rows += [f"{name},{question},a," for name in names for question in ("q1", "q2")]
    (tmp_path / "gold.csv").write_text("question,correct,topic\nq1,a,x\nq2,b,y\n")
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n")
    measure = "correctly-discarded"
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv", measure=measure)
    write_campaign(c, tmp_path / "out")
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert not re.search(r"\bnan\b", summary)
    says(summary, f"{bold}", "mean correctly-discarded is 1.00")
    results = json.loads((tmp_path / "out" / "results.json").read_text())["results"]
    assert [r["scores"][measure] for r in results] == [1.0] + [None] * bold
    assert results[0]["undefined"] == {}
    assert list(results[-1]["undefined"]) == [measure]


def test_a_campaign_without_any_score_says_so(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("question,correct\nq1,a\n")
    (tmp_path / "run.csv").write_text("question,answer,candidate\nq1,a,\n")
    measure = "correctly-discarded"
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "run.csv", measure=measure)
    said = " ".join(sentences(Overview(c)))
    says(said)
    assert not re.search(r"\bnan\b", said)


def test_the_summary_says_who_shares_a_place(tmp_path: Path) -> None:
    """Five runs with one answer each: two have it right, and so pass the one test."""
    (tmp_path / "gold.csv").write_text("question,correct,test\nq1,a,1\n")
    rows = [f"r{i},q1,{'a' if i < 2 else 'b'}" for i in range(5)]
    (tmp_path / "runs.csv").write_text("\n".join(["run,question,answer", *rows]) + "\n")
    said = " ".join(sentences(overview(tmp_path / "gold.csv", tmp_path / "runs.csv")))
    says(said, "1", "1.00", "0", "3")
    (tmp_path / "runs.csv").write_text("\n".join(["run,question,answer", *rows[2:]]) + "\n")
    said = " ".join(sentences(overview(tmp_path / "gold.csv", tmp_path / "runs.csv")))
    says(said, "1")


def test_an_old_folder_survives_a_failed_replacement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, seed=9)
    c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv", title="the old one")
    write_campaign(c, tmp_path / "out")
    replace = os.replace

    def fail_once(source: Path, target: Path) -> None:
        if Path(target) == tmp_path / "out" and not str(source).endswith(".before"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("abstain.io.output.os.replace", fail_once)
    with pytest.raises(InputError, match="No space left"):
        write_campaign(c, tmp_path / "out", force=True)
    assert "the old one" in (tmp_path / "out" / "summary.md").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gold.csv", "out", "runs.csv"]


def test_the_command_says_the_policy_and_names_that_fit_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.csv").write_text("question,correct\nq1,a\nq2,b\n")
    (tmp_path / "runs.csv").write_text("run,question,answer\none,q1,a\none,q2,\ntwo,q1,a\n")
    (tmp_path / "info.csv").write_text("run,technique\none,rules\ntow,search\n")
    files = ["gold.csv", "runs.csv", "--runs-info", "info.csv"]
    assert run(["campaign", *files, "-o", "out"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    says(said, "1", "info.csv", "'tow'", "'two'")


def test_two_campaigns_of_the_same_input_are_the_same_bytes(tmp_path: Path) -> None:
    make(tmp_path, seed=8, runs=5)
    written: list[dict[str, bytes]] = []
    for name in ("one", "two"):
        c = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv", seed=3, title="Twice")
        write_campaign(c, tmp_path / name)
        folder = tmp_path / name
        written.append(
            {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        )
    assert written[0] == written[1]
    assert "index.html" in written[0]
    other = ab.campaign(tmp_path / "gold.csv", tmp_path / "runs.csv", seed=4, title="Twice")
    write_campaign(other, tmp_path / "other")
    assert (tmp_path / "other" / "index.html").read_bytes() != written[0]["index.html"]
