"""The table in docs/demo.md is what the script finds in the files that the commands write."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

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
    reasons = importlib.import_module("reasons")
    lists = [*made, "", *reasons.explained(misses), "", *reasons.others()]
    assert found[1].splitlines() == lists
    assert len(misses) == 44
    with pytest.raises(SystemExit, match="0 reasons are known"):
        reasons.explained([*misses, "14 (outcomes): elsewhere: printed 1, written 2"])
    with pytest.raises(SystemExit, match="hold by now"):
        reasons.explained([miss for miss in misses if "csui1308enen" not in miss])
    assert numbers_transcribed(published) == numbers_compared(script, demo, published)
    # a witness that cannot be bribed: each of these changes is one more miss
    for number, (name, old, new) in enumerate(
        (
            ("tables/leaderboard.csv", ",138,87,", ",139,87,"),
            ("tasks.csv", ",77,19,", ",76,19,"),
            ("summary.md", "On average, 10.09 more runs", "On average, 10.1 more runs"),
            ("tables/languages.csv", "en,0,36", "en,0,35"),
            ("index.html", '"right":1075', '"right":1076'),
            ("index.html", '"charts":{"scores":', '"charts":{"other":'),
        ),
        start=1,
    ):
        file = demo / name
        text = file.read_text(encoding="utf-8")
        assert text.count(old) >= 1, name
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert len(script.lines(demo, published)[1]) == 44 + number, old


KEYS = {"run", "team", "attribute", "test", "topic", "edition", "year", "type", "level", "group"}
KEYS |= {"simplified", "kind", "table", "task", "stage", "source", "target", "column", "section"}
KEYS |= {"run_background_only", "best_other_run", "what"}
"""Columns that say what a number is of."""


def numbers_transcribed(published: Path) -> int:
    """All numbers of the transcribed tables; of those of techniques, all marks."""
    count = 0
    for path in published.glob("qa4mre*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        if not path.stem.endswith("test_sizes"):  # derived
            marks = set(rows[0]) == {"team", "attribute"}
            cells = [text for row in rows for key, text in row.items() if key not in KEYS]
            count += len(rows) if marks else sum(map(bool, cells))
    return count


def numbers_compared(script: Any, demo: Path, published: Path) -> int:
    """Those that were compared, and those that are said to be no numbers of these runs."""
    o = script.Overview(demo, published)
    in_tables = sum(len(list(cells)) for *_, cells in script.all_tables(o))
    in_sentences = sum(
        len(list(cells))
        for name, cells in script.sentences(o)
        if "7.2" in name or "increased" in name
    )
    derived = 2 * 44 - 1  # of 88 percentages one is transcribed
    others = sum(int(n) for _, n, _ in importlib.import_module("reasons").NOT_OF_RUNS if n != "–")
    # of the five numbers of sentences, four are compared there and one in Table 18
    return in_tables - derived + in_sentences + others
