"""What a page adds to charts, and what charts of a meta-evaluation draw."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from abstain.features.meta.charts import OPEN
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
    rows = charts["chart_swap"]["data"]["values"]
    assert saved["sensitivity"]
    for own in saved["sensitivity"]:
        mine = [row for row in rows if row["measure"] == own["measure"]]
        ends = [row["difference"] for row in mine if OPEN in row]
        assert len(ends) == (own["bins"][-1]["swap_rate"] is not None)
        drawn = [row["difference"] for row in mine if "swap rate" in row]
        assert all(difference < end for difference in drawn for end in ends)
        required = [row["difference"] for row in mine if "required" in row]
        assert required == ([] if own["required"] is None else [own["required"]])
    four = ("tau_b", "tau_ap", "spearman", "rbo")
    assert [name for name in charts if "agreement" in name] == [
        f"chart_agreement_{n}" for n in four
    ]
