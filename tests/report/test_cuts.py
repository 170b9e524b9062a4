"""A page that cannot hold all of a table says so, and where all of it is."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.cli import run
from abstain.report.grid import Column, Grid
from abstain.report.page import MOST_CELLS, MOST_COLUMNS, PageTable, table_data
from tests.helpers import Here
from tests.report.test_report import cells, data_of
from tests.snapshots import says

pytestmark = pytest.mark.slow

QUESTIONS, AREAS, UNITS, RUNS = 4_300, 50, 4_290, ("a", "b", "c", "d", "e", "f", "g")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with more questions, areas and units than fit everywhere."""
    here = tmp_path_factory.mktemp("large")
    gold = [f"q{n},A,area{n % AREAS},unit{n % UNITS}" for n in range(QUESTIONS)]
    rows = [
        f"{r},q{n},{'AB'[(n + i) % 3 == 0]}" for i, r in enumerate(RUNS) for n in range(QUESTIONS)
    ]
    (here / "gold.csv").write_text("\n".join(["question,correct,area,unit", *gold]) + "\n")
    (here / "runs.csv").write_text("\n".join(["run,question,answer", *rows]) + "\n")
    made = ["campaign", str(here / "gold.csv"), str(here / "runs.csv"), "-o", str(here / "out")]
    assert run([*made, "--by", "area", "--by", "unit"]) == 0
    return here / "out"


def page_text(file: Path) -> str:
    """A page with its markup but without its entities, on one line."""
    return " ".join(unescape(file.read_text("utf-8")).split())


def csv_rows(folder: Path, name: str) -> int:
    with (folder / "tables" / f"{name}.csv").open(newline="") as file:
        return len(list(csv.reader(file))) - 1


def test_every_link_to_a_table_leads_to_its_file(folder: Path) -> None:
    text = page_text(folder / "index.html")
    links = set(re.findall(r'href="(tables/[^"]+)"', text))
    there = {f"tables/{p.name}" for p in (folder / "tables").iterdir()}
    assert links == there
    assert {"tables/by_area.csv", "tables/by_area.md", "tables/by_area.tex"} <= there


def test_a_cut_table_says_so_beside_the_link_to_all_of_it(folder: Path) -> None:
    text = page_text(folder / "index.html")
    assert csv_rows(folder, "questions") == QUESTIONS
    said = (
        f"This page holds only the first 2,000 of {QUESTIONS:,} rows: sorting, searching and "
        'saving use only these. <span class="screen">Beside this page: all of it as '
        '<a href="tables/questions.csv">CSV</a>'
    )
    assert said in text
    own = data_of(text)["tables"]["questions"]
    assert (len(own["rows"]), own["total"], own["cut"]) == (2_000, QUESTIONS, True)
    with (folder / "tables" / "by_unit.csv").open(newline="") as file:
        wide = len(next(csv.reader(file)))
    assert wide > UNITS
    assert f"This page holds only the first {MOST_COLUMNS} of {wide:,} columns: " in text
    assert data_of(text)["tables"]["leaderboard"]["cut"] is False


def test_slices_without_room_are_named(folder: Path) -> None:
    text = page_text(folder / "index.html")
    own = data_of(text)["tables"]["leaderboard"]["variants"]
    assert {variant["group"] for variant in own} == {"area"}, "not the slices by unit"


def test_what_is_said_of_the_files_beside_the_page_is_so(folder: Path) -> None:
    text = page_text(folder / "index.html")
    assert "results.json" in text
    saved = ab.load(folder / "results.json")
    names = {p.stem for p in (folder / "tables").glob("*.csv")}
    for name in names:
        assert saved.to_frame(name).height == csv_rows(folder, name), name


def test_a_page_of_saved_results_has_every_question(folder: Path) -> None:
    assert run(["report", str(folder / "results.json"), "-o", str(folder / "again.html")]) == 0
    own = data_of(page_text(folder / "again.html"))["tables"]["questions"]
    assert (len(own["rows"]), own["total"], own["cut"]) == (QUESTIONS, QUESTIONS, False)


def scores(runs: int, slices: int, measures: int = 1) -> dict[str, Any]:
    """A saved result of `score`, as its JSON."""
    named = {f"S(t={n / 1000:g})": 0.5 for n in range(measures)}
    rows = [
        {"run": f"run{r}", "slice": {"part": f"p{s}"}, "scores": named}
        for r in range(runs)
        for s in range(slices)
    ]
    return {
        "abstain": "0.1.0",
        "kind": "score",
        "measures": list(named),
        "by": ["part"],
        "results": rows,
    }


def test_a_saved_result_keeps_every_row_that_a_page_can_hold(here: Here) -> None:
    here.write("scores.json", json.dumps(scores(20, 300)))
    assert here("report", "scores.json").code == 0
    text = page_text(here.folder / "scores.html")
    (name,) = (n for n, t in data_of(text)["tables"].items() if len(t["rows"]) >= 2_000)
    runs = cells(text, name, "run")
    assert len(runs) == 6_000
    assert len(set(runs)) == 20
    assert "This page holds only" not in text


def test_a_frame_has_every_column_however_many(here: Here) -> None:
    saved = scores(3, 2, measures=2_500)
    here.write("scores.json", json.dumps(saved))
    frame = ab.load(here.folder / "scores.json").to_frame()
    assert frame.height == 6
    assert set(saved["measures"]) <= set(frame.columns)


def test_columns_that_a_page_cannot_hold_are_counted(here: Here) -> None:
    here.write("scores.json", json.dumps(scores(3, 2, measures=90)))
    assert here("report", "scores.json").code == 0
    text = page_text(here.folder / "scores.html")
    said = re.search(r"first 70 of (\d+) columns: .*? All of it is in the saved result\.", text)
    assert said is not None
    assert int(said[1]) >= 90


def test_a_table_that_lies_nowhere_else_is_cut_late_and_said() -> None:
    rows: list[list[Any]] = [[n, n] for n in range(MOST_CELLS // 2 + 1)]
    table = PageTable("t", "T", "", Grid([Column("a", "count"), Column("b", "count")], rows))
    data = table_data(table)
    assert (len(data["rows"]), data["total"]) == (MOST_CELLS // 2, MOST_CELLS // 2 + 1)
    says(table.cut, f"{MOST_CELLS // 2:,}", f"{len(rows):,}")
    kept = PageTable("t", "T", "", Grid(table.grid.columns, rows[:-1]))
    assert (kept.cut, table_data(kept)["cut"]) == ("", False)
