"""`abstain report`: a page for every saved result, one clear line for anything else."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.features.compare.words import verdict
from tests.helpers import Here
from tests.report.browser import HOSTILE
from tests.report.saved import COMMANDS, save, write_inputs
from tests.snapshots import says

KINDS = [*COMMANDS, "campaign"]


@pytest.fixture
def inputs(here: Here) -> Here:
    write_inputs(here.folder)
    return here


def page(here: Here, name: str) -> str:
    file = save(here.folder, name)
    said = here("report", file, "-o", f"{name}.html")
    assert said.code == 0, said.err
    return (here.folder / f"{name}.html").read_text("utf-8")


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


def lead(text: str) -> str:
    found = re.search(r'<p class="lead">(.*?)</p>', text, re.S)
    assert found is not None
    return unescape(found[1])


def cells(text: str, table: str, column: str) -> list[Any]:
    own = data_of(text)["tables"][table]
    at = [c["name"] for c in own["columns"]].index(column)
    return [row[at] for row in own["rows"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_saved_result_has_a_page_that_is_the_same_twice(inputs: Here, name: str) -> None:
    first = page(inputs, name)
    assert first == page(inputs, name)
    assert first.startswith("<!doctype html>")
    plain = re.sub(r"<wbr>|<script.*?</script>", "", first, flags=re.S)
    assert "src=" not in plain.replace("&lt;img src=x", "")
    assert len(first) < 1_500_000
    assert "<img" not in first.partition('<script type="module">')[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_page_says_how_to_do_it_again(inputs: Here, name: str) -> None:
    text = unescape(page(inputs, name))
    if name == "campaign":  # a page to publish names no files
        assert "gold.csv" not in text
    else:
        assert f"<code>abstain {' '.join(COMMANDS[name])}" in text
    assert "abstain 0.1.0" in text
    if name not in ("rank", "per-query"):
        assert "Policy: " in text


def test_a_page_of_scores_holds_the_scores(inputs: Here) -> None:
    text = page(inputs, "score")
    saved = json.loads((inputs.folder / "score.json").read_text())
    assert cells(text, "runs", "c@1") == [
        round(row["scores"]["c@1"], 6) for row in saved["results"]
    ]
    real = [row for row in saved["results"] if "reference" not in row]
    best = max(real, key=lambda row: row["scores"]["c@1"])
    k = best["counts"]
    numbers = f"{k['right']} right, {k['wrong']} wrong, {k['unanswered']} blank"
    assert lead(text).startswith(f"The best run is {best['run']} (c@1 ")
    assert numbers in lead(text)
    dots = data_of(text)["charts"]["scores"]["data"]["values"]
    assert {dot["run"] for dot in dots} == {row["run"] for row in real}


def test_a_page_of_slices_counts_who_is_first(inputs: Here) -> None:
    text = page(inputs, "sliced")
    saved = json.loads((inputs.folder / "sliced.json").read_text())["results"]
    first: dict[str, tuple[float, str]] = {}
    for row in saved:
        part, score = row["slice"]["topic"], row["scores"]["c@1"]
        first[part] = max(first.get(part, (-1.0, "")), (score, row["run"]))
    names = [run for _, run in first.values()]
    top = max(names, key=names.count)
    assert re.findall(r"\w+ is first|\d of \d", lead(text)) == [
        f"{top} is first",
        f"{names.count(top)} of 3",
    ]
    assert len(data_of(text)["charts"]["slices"]["data"]["values"]) == len(saved)


def compared(here: Here) -> ab.CompareResult:
    found = ab.load(here.folder / "compare.json")
    assert isinstance(found, ab.CompareResult)
    return found


def test_a_page_of_a_comparison_has_every_pair(inputs: Here) -> None:
    text = page(inputs, "compare")
    saved = json.loads((inputs.folder / "compare.json").read_text())
    best = saved["results"][0]["run"]
    own = [p for p in saved["pairs"] if best in (p["run"], p["against"])]
    found = sum(p["p_adjusted"] <= 0.05 for p in own)
    assert lead(text).startswith(f"The best run is {best} (c@1 ")
    says(lead(text), f"{found}", "2", "5 %")
    assert verdict(compared(inputs))[0] in text
    assert cells(text, "pairs", "difference") == [
        round(pair["difference"], 6) for pair in saved["pairs"]
    ]
    told = [p["p_adjusted"] <= 0.05 for p in saved["pairs"]]
    assert [cell == "differ" for cell in cells(text, "pairs", "verdict")] == told


def test_a_page_of_curves_draws_them(inputs: Here) -> None:
    text = page(inputs, "curve")
    charts = data_of(text)["charts"]
    assert {"risk", "along", "reliability", "decisions"} <= set(charts)
    saved = json.loads((inputs.folder / "curve.json").read_text())
    drawn = charts["decisions"]["data"]["values"]
    at_zero = {row["run"]: row["S"] for row in drawn if row["t"] == 0}
    assert set(at_zero) == {"bold", "careful", HOSTILE}
    for own in saved["results"]:
        right = own["points"]["right"][-1]
        assert at_zero[own["run"]] == pytest.approx(right / 60)  # at t = 0 everything is answered


def test_a_page_of_a_meta_evaluation_is_that_of_its_numbers(inputs: Here) -> None:
    text = page(inputs, "meta")
    saved = json.loads((inputs.folder / "meta.json").read_text())
    points = data_of(text)["charts"]["stability"]["data"]["values"]
    given = [p["error"] for item in saved["stability"] for p in item["curve"]]
    assert [p["error"] for p in points] == [e for e in given if e is not None]


@pytest.mark.slow
def test_a_hostile_name_is_text_in_markup_and_data(inputs: Here) -> None:
    text = page(inputs, "score")
    assert HOSTILE not in text
    assert HOSTILE in cells(text, "runs", "run")
    assert HOSTILE not in page(inputs, "curve")
    assert "&lt;img src=x" in page(inputs, "tune")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ()),
        ("{", ()),
        ("[1, 2]", ()),
        ("[" * 100_000, ()),
        ('{"a": 1}', ("abstain",)),
        ('{"abstain": "0.1.0", "kind": "poem"}', ("'poem'",)),
        ('{"abstain": "0.1.0", "kind": 7}', ("kind",)),
        ('{"abstain": "0.1.0", "findings": []}', ("kind",)),
        (
            '{"abstain": "0.1.0", "kind": "score", "measures": ["F"]}',
            (),
        ),
        (
            '{"abstain": "0.1.0", "kind": "score", "measures": ["F"], "results": []}',
            (),
        ),
        (
            '{"abstain": "0.1.0", "kind": "score", "measures": [], "results": [{"run": 1, '
            '"scores": {}}]}',
            (),
        ),
        (
            '{"abstain": "0.1.0", "kind": "score", "measures": ["F"], "results": [{"run": "a", '
            '"scores": {"F": 1}}, {"run": "b", "scores": {"c@1": 1}}]}',
            ("2",),
        ),
        (
            '{"abstain": "0.1.0", "kind": "score", "measures": ["F"], "results": [{"run": "a", '
            '"scores": {"F": 1e9999}}]}',
            (),
        ),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(
    here: Here, content: str, expected: tuple[str, ...]
) -> None:
    here.write("saved.json", content)
    line = here.refuses("report", "saved.json")
    assert line.startswith("saved.json: ")
    says(line, *expected)


def test_refusals_of_places(here: Here) -> None:
    says(here.refuses("report", "nowhere.json"), "nowhere.json")
    here.write("saved.json", "{}")
    line = here.refuses("report", "saved.json", "-o", "page.txt")
    says(line, "'page.txt'")


def test_the_page_lies_beside_the_result_unless_asked_otherwise(inputs: Here) -> None:
    save(inputs.folder, "score")
    said = inputs("report", "score.json", "--title", f"Spring {HOSTILE}")
    assert said.out.startswith("score.html: ")
    text = Path("score.html").read_text("utf-8")
    assert "<title>Spring &lt;img src=x onerror=alert(1)&gt;</title>" in text


def test_a_runs_name_keeps_its_letters_at_the_start_of_a_sentence(inputs: Here) -> None:
    markup = page(inputs, "compare").partition("<script")[0]
    assert "\nbold " in str(ab.load(inputs.folder / "compare.json"))
    assert "Bold" not in markup


def saved_scores(here: Here, scores: dict[str, float]) -> str:
    """The lead of a page of these scores."""
    rows = [{"run": run, "scores": {"c@1": score}} for run, score in scores.items()]
    plain = {"abstain": "0.1.0", "kind": "score", "measures": ["c@1"], "results": rows}
    here.write("s.json", json.dumps(plain))
    assert here("report", "s.json").code == 0
    return lead((here.folder / "s.html").read_text("utf-8"))


@pytest.mark.slow
def test_a_page_names_the_best_run_and_the_next(here: Here) -> None:
    one = {"a": 0.5, "b": 0.25, "c": 0.25, "d": 0.1}
    assert "a (c@1 0.5000), before b (0.2500)" in saved_scores(here, one)
    assert "a (c@1 0.5000), level with b (0.5000)" in saved_scores(here, one | {"b": 0.5})


def of_intervals(here: Here, spans: dict[str, tuple[float, float]]) -> str:
    """The lead of a page of scores in the middle of these intervals."""
    rows = [
        {"run": run, "scores": {"c@1": sum(span) / 2}, "intervals": {"c@1": span}}
        for run, span in spans.items()
    ]
    plain = {"abstain": "0.1.0", "kind": "score", "measures": ["c@1"], "results": rows}
    here.write("s.json", json.dumps(plain | {"level": 0.9, "interval_method": "logit"}))
    assert here("report", "s.json").code == 0
    return lead((here.folder / "s.html").read_text("utf-8"))


@pytest.mark.slow
def test_the_first_sentence_says_whether_intervals_overlap(here: Here) -> None:
    best = {"a": (0.6, 0.8)}
    assert "overlaps that of 0 other runs" in of_intervals(here, best | {"b": (0.3, 0.5)})
    one = of_intervals(here, best | {"b": (0.5, 0.61), "c": (0.1, 0.2)})
    assert "interval overlaps that of 1 other run" in one
    two = of_intervals(here, best | {"b": (0.5, 0.61), "c": (0.5, 0.6)})
    assert "interval overlaps that of 2 other runs" in two


def test_a_run_has_one_colour_in_tables_and_charts(inputs: Here) -> None:
    for name in ("score", "curve", "decision"):
        data = data_of(page(inputs, name))
        assert len(data["colours"]) == len(set(data["colours"].values())) == 3
        scales = [
            dict(zip(scale["domain"], scale["range"], strict=True))
            for spec in data["charts"].values()
            for layer in spec["layer"]
            if (scale := layer["encoding"].get("color", {}).get("scale", {})).get("domain")
        ]
        assert len(scales) > 1
        for scale in scales:
            for run, colour in scale.items():
                assert colour == data["colours"].get(run, "#7f7f7f"), (name, run)


@pytest.mark.parametrize("name", ["score", "sliced", "compare", "curve", "decision", "rank"])
def test_every_heading_of_the_main_tables_is_explained(inputs: Here, name: str) -> None:
    tables = data_of(page(inputs, name))["tables"]
    silent = {c["name"] for t in tables.values() for c in t["columns"] if "means" not in c}
    assert silent == set()


def test_the_reliability_diagram_is_square(inputs: Here) -> None:
    assert data_of(page(inputs, "curve"))["charts"]["reliability"]["usermeta"] == {"square": True}
    spec = ab.load(inputs.folder / "curve.json").charts()["reliability"]
    assert spec["width"] == spec["height"]


@pytest.mark.slow
def test_a_page_says_whether_p_values_are_exact(inputs: Here) -> None:
    text = page(inputs, "compare")
    saved = json.loads((inputs.folder / "compare.json").read_text())
    assert all(pair["exact"] for pair in saved["pairs"])
    assert ", exact" in text
    saved["pairs"][0]["exact"] = False
    inputs.write("drawn.json", json.dumps(saved))
    assert inputs("report", "drawn.json").code == 0
    text = (inputs.folder / "drawn.html").read_text("utf-8")
    assert "10,000 resamples" in text
    overview = page(inputs, "campaign")
    folder = (inputs.folder / "overview" / "index.html").read_text("utf-8")
    assert "randomisation, exact" in folder
    assert "10,000 trials" not in folder.partition("<script")[0]
    assert overview.startswith("<!doctype html>")


def test_documents_are_counted_in_whole_numbers(inputs: Here) -> None:
    given = ["rank", "qrels.txt", "ranked.txt", "-m", "NumRet", "-m", "RR", "-o", "r.json"]
    assert inputs(*given).code == inputs("report", "r.json").code == 0
    text = (inputs.folder / "r.html").read_text("utf-8")
    tables = data_of(text)["tables"].values()
    (own,) = (t for t in tables if any(c["name"] == "NumRet" for c in t["columns"]))
    assert {c["name"]: c["kind"] for c in own["columns"]}["NumRet"] == "count"


def test_one_run_is_told_of_in_the_singular(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,A\nq2,B\n")
    here.write("quiet.csv", "question,answer\nq1,B\nq2,\n")
    assert here("campaign", "gold.csv", "quiet.csv", "-o", "out").code == 0
    text = unescape((here.folder / "out" / "index.html").read_text("utf-8"))
    markup = text.partition("<script")[0]
    assert "0 right, 0 wrong, 1 blank of 1 run." in markup
    assert "1 runs" not in markup
    axis = data_of(text)["charts"]["questions"]["layer"][0]["encoding"]["x"]["axis"]
    assert axis["tickMinStep"] == 1, "no half runs"
