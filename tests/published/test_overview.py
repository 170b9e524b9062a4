"""The table in docs/demo.md is what the script finds in the files that the commands write."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.helpers import ROOT

SCRIPT = ROOT / "tools" / "qa4mre2013" / "overview.py"
TABLE = re.compile(r"<!-- overview -->\n(.*?)\n<!-- /overview -->", re.S)


@pytest.mark.slow
def test_the_table_of_the_manual_is_what_was_written(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("overview", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.write(tmp_path / "demo")
    made, misses = script.lines(tmp_path / "demo", Path(__file__).parent)
    found = TABLE.search((ROOT / "docs" / "demo.md").read_text(encoding="utf-8"))
    assert found is not None
    assert found[1].splitlines() == made
    assert len(misses) == 32
    # a witness that cannot be bribed: one changed cell is one more miss
    board = tmp_path / "demo" / "tables" / "leaderboard.csv"
    board.write_text(board.read_text().replace(",138,87,", ",139,87,"))
    assert len(script.lines(tmp_path / "demo", Path(__file__).parent)[1]) == 33
