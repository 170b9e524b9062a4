"""The words of an overview: one for each thing, and every heading explained."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from msgspec.structs import replace

from abstain.features.campaign.overview import Overview
from abstain.features.campaign.summary import sentences
from abstain.features.campaign.tables import all_tables
from abstain.report.grid import legend
from abstain.report.page import PageTable, table_data
from abstain.report.text_formats import to_csv, to_latex, to_markdown
from tests.campaign.asked import overview
from tests.campaign.slow import make


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    make(folder, seed=3)
    return folder


@pytest.fixture(scope="module")
def c(given: Path) -> Overview:
    return overview(given / "gold.csv", given / "runs.csv")


@pytest.fixture(scope="module")
def tables(c: Overview) -> list[PageTable]:
    return all_tables(c)


def test_a_column_has_one_name_wherever_it_stands(c: Overview, tables: list[PageTable]) -> None:
    for table in tables:
        grid = table.grid.without_bars()
        names = next(csv.reader([to_csv(grid).splitlines()[0]]))
        assert names == [column.name for column in grid.columns]
        assert names == [column.name for column in grid.columns]
        shown = table_data(replace(table, grid=grid))["columns"]
        assert [own["name"] for own in shown] == names[: len(shown)]
        for look, sign in ((to_markdown, "|"), (to_latex, "&")):
            text = next(line for line in look(grid).splitlines() if sign in line)
            cells = [cell.strip().replace("\\", "") for cell in text.strip("| ").split(sign)]
            assert [cell.rstrip() for cell in cells][: len(names)] == names, table.name
    assert not any("unanswered" in text for text in sentences(c))


def test_every_heading_is_explained_but_names_and_texts(tables: list[PageTable]) -> None:
    silent = {
        column.name for table in tables for column in table.grid.columns if not column.meaning
    }
    assert silent <= {"question"}


def test_a_legend_names_what_does_not_speak_for_itself(tables: list[PageTable]) -> None:
    subsets = dict(legend(next(t for t in tables if t.name == "subsets").grid.columns))
    assert "inference" in subsets["auxiliary"]
    assert "run" not in subsets
    leaders = dict(legend(next(t for t in tables if t.name == "leaderboard").grid.columns))
    assert "interval" in leaders["low / high"]


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["c@1", "forced-accuracy", "correctly-discarded"])
def test_a_measure_stands_once_in_the_leaderboard(given: Path, measure: str) -> None:
    c = overview(given / "gold.csv", given / "runs.csv", measure=measure)
    leaders = all_tables(c)[0].grid
    names = [column.name for column in leaders.columns]
    assert len(set(names)) == len(names)
    assert {"forced-accuracy", "correctly-discarded", measure} <= set(names)
    assert all(len(row) == len(names) for row in leaders.rows)
