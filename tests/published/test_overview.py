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
def test_the_table_of_the_manual_is_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("overview", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    demo, published = tmp_path / "demo", Path(__file__).parent
    script.write(demo, published)
    made, misses = script.lines(demo, published)
    found = TABLE.search((ROOT / "docs" / "demo.md").read_text(encoding="utf-8"))
    assert found is not None
    assert found[1].splitlines() == made
    assert len(misses) == 39
    # a witness that cannot be bribed: each of these changes is one more miss
    for number, (name, old, new) in enumerate(
        (
            ("tables/leaderboard.csv", ",138,87,", ",139,87,"),
            ("tasks.csv", ",77,19,", ",76,19,"),
            ("summary.md", "On average, 10.09 more runs", "On average, 10.1 more runs"),
            ("summary.md", "questions were right in no run", "were right"),
            ("index.html", '"right":1075', '"right":1076'),
            ("index.html", '"charts":{"scores":', '"charts":{"other":'),
        ),
        start=1,
    ):
        file = demo / name
        text = file.read_text(encoding="utf-8")
        assert text.count(old) >= 1, name
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert len(script.lines(demo, published)[1]) == 39 + number, old
