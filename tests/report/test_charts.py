"""Charts are drawn offline, in every format, with strangers' names as text."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from abstain.errors import UsageError
from abstain.report.charts import bands, bars, chart, heat_map, lines, points, steps, write_charts

ROWS = [{"run.a": i, "c@1": i / 4, "low": i / 5, "high": i / 3, "run": "<b>x"} for i in range(4)]


@pytest.mark.slow
def test_every_layer_draws_a_mark(tmp_path: Path) -> None:
    for layer in (
        lines("run.a", "c@1", colour="run"),
        steps("run.a", "c@1"),
        points("run.a", "c@1"),
        bars("run.a", "c@1"),
        bands("run.a", "low", "high"),
        heat_map("run.a", "run", "c@1", ["a"], ["a"], None),
    ):
        path = tmp_path / "chart.svg"
        write_charts({"": chart("A <script>title", ROWS, [layer])}, path)
        root = ET.fromstring(path.read_text())
        marks = [e for e in root.iter() if "role-mark" in e.get("class", "")]
        assert any(len(list(mark)) for mark in marks), layer["mark"]
        assert "<script" not in path.read_text()


@pytest.mark.slow
def test_formats_follow_the_name(tmp_path: Path) -> None:
    spec = chart("t", ROWS, [points("run.a", "c@1")])
    for ending, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".json", b"{")):
        path = tmp_path / f"chart{ending}"
        write_charts({"": spec}, path)
        assert path.read_bytes().startswith(start)
    page = tmp_path / "chart.html"
    write_charts({"": spec}, page)
    assert "<script src=" not in page.read_text()
    with pytest.raises(UsageError, match=r"ends in \.svg"):
        write_charts({"": spec}, tmp_path / "chart.bmp")


def test_nan_and_infinity_are_gaps_not_broken_json() -> None:
    spec = chart("t", [{"x": float("nan"), "y": float("inf")}], [points("x", "y")])
    assert json.loads(json.dumps(spec, allow_nan=False))["data"]["values"] == [
        {"x": None, "y": None}
    ]
