"""The papers' tables, through the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.helpers import Here

FOLDER = Path(__file__).parent
TABLE_14 = FOLDER / "qa4mre2013_table14_counts.csv"
TABLE_3 = FOLDER / "clef2009_table3.csv"
MISPRINTED = {"csui1308enen", "evma1303enen", "kule1303enen"}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_table_14_names_its_misprints(here: Here) -> None:
    printed = rows_of(TABLE_14)
    assert len(printed) == 54
    said = here("score", "--counts", TABLE_14, "-m", "c@1")
    assert said.code == 2
    assert said.out == ""
    (line,) = said.err.splitlines()
    number, run = next((n, r["run"]) for n, r in enumerate(printed, 2) if r["run"] in MISPRINTED)
    assert line.startswith(f"{TABLE_14}:{number}: '{run}'")
    assert "--skip-inconsistent" in line


def test_table_14_without_its_misprints(here: Here) -> None:
    said = here("score", "--counts", TABLE_14, "--skip-inconsistent", "-f", "json", "-m", "c@1")
    assert said.code == 0
    scores = {row["run"]: row["scores"]["c@1"] for row in said.data["results"]}
    printed = {row["run"]: row["c_at_1"] for row in rows_of(TABLE_14)}
    assert scores.keys() == printed.keys() - MISPRINTED
    assert {run: f"{score:.2f}" for run, score in scores.items()} == {
        run: printed[run] for run in scores
    }
    notes = " ".join(said.data["notes"])
    assert all(run in notes for run in MISPRINTED)


def test_table_14_with_its_misprints_read_right(here: Here) -> None:
    printed = rows_of(TABLE_14)
    read = {
        # 69 right fit every other cell of the row.
        "csui1308enen": {"right": "69"},
        # 64 + 181 answered and 39 blank make the 284 questions; "249" is the misprint.
        "evma1303enen": {"answered": "245"},
        # 42 blanks whose split is not known.
        "kule1303enen": dict.fromkeys(
            ("unanswered_right", "unanswered_wrong", "unanswered_empty"), ""
        ),
    }
    fixed = [{**row, **read.get(row["run"], {})} for row in printed]
    path = here.folder / "fixed.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(printed[0]))
        writer.writeheader()
        writer.writerows(fixed)
    said = here("score", "--counts", path, "--format", "json", "-m", "c@1")
    assert said.code == 0, said.err
    assert said.data["questions"] == 284
    scores = {row["run"]: f"{row['scores']['c@1']:.2f}" for row in said.data["results"]}
    assert scores == {row["run"]: row["c_at_1"] for row in printed}


@pytest.mark.parametrize(("column", "measure"), [("c_at_1", "c@1"), ("accuracy", "accuracy")])
def test_clef_2009_table_3(here: Here, column: str, measure: str) -> None:
    said = here("score", "--counts", TABLE_3, "--format", "json", "-m", measure)
    assert said.code == 0
    assert said.data["questions"] == 500
    scores = {row["run"]: f"{row['scores'][measure]:.2f}" for row in said.data["results"]}
    printed = {row["run"]: row[column] for row in rows_of(TABLE_3)}
    assert len(printed) == 4
    assert scores == printed
