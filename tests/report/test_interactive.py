"""What a page adds to charts, and what charts of a meta-evaluation draw."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from abstain.features.meta.charts import OPEN
from abstain.report.charts import READABLE, bands, chart, interactive, lines, points
from abstain.report.result import load
from tests.report.saved import save, write_inputs

ROWS = [{"AP'@1.5": 0.5, "t": 0.1, "low": 0.4, "high": 0.6, "run": "a"}]


def test_a_line_says_its_names_its_numbers_and_its_band() -> None:
    titles = {"colour": "run"}
    spec = chart("", ROWS, [bands("t", "low", "high", **titles), lines("t", "AP'@1.5", **titles)])
    made = interactive(spec)
    near = made["layer"][-1]
    assert near["name"].startswith("nearest")
    tips = near["encoding"]["tooltip"]
    assert [tip["title"] for tip in tips] == ["run", "t", "AP'@1.5", "low", "high"]
    assert all(tip["format"] == READABLE for tip in tips[1:])
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["area", "line"]  # as it was


def test_a_rule_says_what_its_dot_says() -> None:
    dots = points("t", "run", y_type="nominal")
    span = points("low", "run", y_type="nominal")
    span["mark"] = {"type": "rule"}
    span["encoding"]["x2"] = {"field": "high"}
    made = interactive(chart("", ROWS, [span, dots]))
    says = [[tip["field"] for tip in layer["encoding"]["tooltip"]] for layer in made["layer"]]
    assert says == [["run", "t", "low", "high"]] * 2


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
