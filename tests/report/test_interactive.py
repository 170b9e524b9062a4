"""What a page adds to charts, and what charts of a meta-evaluation draw."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from abstain.report.charts import bands, chart, interactive, lines
from abstain.report.result import load
from tests.report.saved import save, write_inputs

ROWS = [{"AP'@1.5": 0.5, "t": 0.1, "low": 0.4, "high": 0.6, "run": "a"}]


def test_a_line_is_read_from_anywhere_near() -> None:
    spec = chart("", ROWS, [bands("t", "low", "high", colour="run"), lines("t", "AP'@1.5")])
    *before, near = interactive(spec)["layer"]
    assert near["name"].startswith("nearest")
    assert near["mark"]["tooltip"]
    assert near["encoding"]["y"] == spec["layer"][1]["encoding"]["y"]
    assert before == spec["layer"]


def test_swap_curves_stop_before_the_bin_that_has_no_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    file = save(tmp_path, "meta")
    saved = json.loads(file.read_text())
    page = load(file).page()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    charts = json.loads(found[1])["charts"]
    swap = charts["swap"]
    diamonds = [row for own in swap["layer"] if "data" in own for row in own["data"]["values"]]
    assert saved["sensitivity"]
    for own in saved["sensitivity"]:
        drawn, required = (
            [row["difference"] for row in rows if row["measure"] == own["measure"]]
            for rows in (swap["data"]["values"], diamonds)
        )
        assert all(difference < own["bins"][-1]["from"] for difference in drawn)
        assert required == ([] if own["required"] is None else [own["required"]])
    four = ("tau_b", "tau_ap", "spearman", "rbo")
    assert [name for name in charts if "agreement" in name] == [f"agreement_{n}" for n in four]
