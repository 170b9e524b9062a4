"""Job summaries: the first rows in sight, the rest folded, nothing that could be markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstain.report.grid import Cell, Column, Grid
from abstain.report.text_formats import IN_SIGHT, MOST_ROWS, to_github
from tests.helpers import Here


def grid(rows: int, notes: int = 0) -> Grid:
    cells: list[list[Cell]] = [[f"run{i}", i / 7] for i in range(rows)]
    return Grid(
        [Column("run"), Column("c@1", "score")], cells, [f"note {i}." for i in range(notes)]
    )


def test_a_short_table_is_in_sight() -> None:
    assert to_github(grid(2, 1)) == (
        "| run  |    c@1 |\n| ---- | -----: |\n| run0 | 0.0000 |\n| run1 | 0.1429 |\n\nnote 0.\n"
    )


def test_a_long_table_is_folded_whole() -> None:
    text = to_github(grid(IN_SIGHT + 1, 3))
    before, _, after = text.partition("<details><summary>All 11 rows</summary>\n\n")
    assert before.count("| run") == IN_SIGHT + 1
    assert after.count("| run") == IN_SIGHT + 2
    assert "<details><summary>Notes</summary>\n\n- note 1.\n- note 2.\n\n</details>" in after
    assert text.count("<details>") == text.count("</details>") == 2


@pytest.mark.slow
def test_an_endless_table_is_cut_and_says_so() -> None:
    text = to_github(grid(MOST_ROWS + 5))
    assert "and 5 more rows" in text
    assert f"run{MOST_ROWS - 1} " in text
    assert f"run{MOST_ROWS} " not in text


def test_a_table_of_long_names_fits_a_summary() -> None:
    """GitHub shows nothing of a summary of more than 1 MiB."""
    rows: list[list[Cell]] = [["é" * 2000, i / 7] for i in range(1000)]
    text = to_github(Grid([Column("run"), Column("c@1", "score")], rows, ["note."]))
    assert (256 << 10) < len(text.encode()) < 1 << 20
    shown = text.partition("<details>")[2].count("| éé")
    assert f"and {1000 - shown:,} more rows: the CSV output has them" in text


def test_names_are_no_markup() -> None:
    bad = "</details><script>|`x`"
    text = to_github(Grid([Column("run")], [[bad]], [bad, bad], title=bad))
    assert "<script>" not in text
    assert text.count("</details>") == 1


@pytest.mark.slow
def test_every_command_with_a_format_has_it(here: Here, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("question,correct\nq1,a\nq2,b\nq3,a\n")
    (tmp_path / "x.csv").write_text("question,answer,confidence\nq1,a,0.9\nq2,c,0.5\nq3,,0.1\n")
    (tmp_path / "y.csv").write_text("question,answer,confidence\nq1,b,0.9\nq2,b,0.5\nq3,a,0.1\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 2.5 talks\n")
    for command in (
        "score gold.csv x.csv y.csv",
        "compare gold.csv x.csv y.csv",
        "curve gold.csv x.csv y.csv",
        "rank qrels.txt run.txt",
        "meta gold.csv x.csv y.csv --subsets 10",
        "campaign gold.csv x.csv y.csv -o overview",
    ):
        done = here(*command.split(), "--format", "github")
        assert done.code == 0, (command, done.err)
        assert "| --" in done.out, command
