"""Gates: what passes, what fails, what a failure says; the pytest plugin around them."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import abstain as ab
from abstain.testing import (
    Gate,
    Gates,
    GatesError,
    TooHighError,
    TooLowError,
    WorseError,
    assert_at_least,
    assert_at_most,
    assert_not_worse,
    gates,
)
from tests.helpers import ROOT
from tests.snapshots import refuses, says
from tests.test_docs import blocks

PLUGIN = "abstain.integrations.pytest_plugin"


def data(right: int, wrong: int, blank: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    n = right + wrong + blank
    gold = pl.DataFrame({"question": range(n), "correct": "a"})
    answers = ["a"] * right + ["b"] * wrong + [None] * blank
    return gold, gold.select("question").with_columns(answer=pl.Series(answers, dtype=pl.String))


def lower_bound(right: int, n: int, confidence: float) -> float:
    """For accuracy without blanks: a quantile of beta with ½ a success and ¾ of a failure more."""
    return float(stats.beta(right + 0.5, n - right + 0.75).ppf(1 - confidence))


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("right", [55, 80, 97])
def test_the_bound_is_one_sided(right: int, confidence: float) -> None:
    gold, run = data(right, 100 - right, 0)
    gate = assert_at_least(run, gold, "accuracy", 0.1, confidence=confidence)
    assert gate.low == pytest.approx(lower_bound(right, 100, confidence), abs=1e-9)
    assert gate.score == right / 100
    assert gate.low < gate.score < gate.high


def test_it_fails_exactly_where_the_bound_does_not_reach() -> None:
    gold, run = data(80, 20, 0)
    bound = lower_bound(80, 100, 0.95)
    assert assert_at_least(run, gold, "accuracy", bound - 1e-6).passed
    with pytest.raises(TooLowError) as caught:
        assert_at_least(run, gold, "accuracy", bound + 1e-6)
    assert isinstance(caught.value, AssertionError)
    assert not caught.value.gate.passed


def test_gates_err_as_rarely_as_they_say() -> None:
    """A system exactly at the threshold passes a 95 % gate about once in twenty."""
    rng = np.random.default_rng(3)
    n, p, trials = 200, 0.7, 4000
    bounds = {k: lower_bound(k, n, 0.95) for k in range(n)}
    passed = np.mean([bounds[int(k)] >= p for k in rng.binomial(n, p, trials)])
    assert 0.03 < passed < 0.065
    gold, run = data(150, 50, 0)  # the bound of that simulation is the gate's
    assert assert_at_least(run, gold, "accuracy", 0.1).low == pytest.approx(bounds[150], abs=1e-9)


def test_the_questions_that_would_do() -> None:
    gold, run = data(14, 6, 0)
    with pytest.raises(TooLowError, match="too few questions") as caught:
        assert_at_least(run, gold, "accuracy", 0.6)
    needed = caught.value.gate.needed
    assert needed is not None
    for n, enough in ((needed, True), (needed - 1, False)):
        bound = stats.beta(0.7 * n + 0.5, 0.3 * n + 0.75).ppf(0.05)
        assert (bound >= 0.6) == enough


@pytest.mark.parametrize(
    ("counts", "threshold", "said"),
    [
        ((30, 70, 0), 0.6, ("0.6",)),
        ((58, 42, 0), 0.6, ("0.6",)),
        ((60, 40, 0), 0.6, ()),
        ((0, 0, 9), 0.6, ("'run'",)),
    ],
)
def test_a_failure_says_why(
    counts: tuple[int, int, int], threshold: float, said: tuple[str, ...]
) -> None:
    gold, run = data(*counts)
    with pytest.raises(TooLowError) as caught:
        assert_at_least(run, gold, "precision", threshold)
    says(str(caught.value), *said)


def sliced() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    gold = pl.DataFrame(
        {"question": range(30), "correct": "a", "topic": ["x"] * 10 + ["y"] * 10 + ["z"] * 10}
    )
    before = ["a"] * 25 + ["b"] * 5
    after = ["a"] * 8 + ["b"] * 2 + ["a"] * 5 + ["b"] * 5 + ["a"] * 7 + ["b"] * 3
    ids = gold.select("question")
    return (
        gold,
        ids.with_columns(answer=pl.Series(before)),
        ids.with_columns(answer=pl.Series(after)),
    )


def test_slices_below_the_threshold_are_named() -> None:
    gold, _, after = sliced()
    with pytest.raises(TooLowError) as caught:
        assert_at_least(after, gold, "accuracy", 0.75)
    parts = caught.value.gate.parts  # x 0.8, y 0.5, z 0.7
    assert [(p.slice, p.score, p.before) for p in parts] == [
        ("topic 'y'", 0.5, None),
        ("topic 'z'", 0.7, None),
    ]
    says(str(caught.value), "0.75")


def test_slices_that_dropped_are_named_with_the_difference() -> None:
    gold, before, after = sliced()
    with pytest.raises(TooLowError) as caught:
        assert_at_least(after, gold, "accuracy", 0.75, baseline=before)
    gate = caught.value.gate  # x 1.0 to 0.8, y 1.0 to 0.5, z 0.5 to 0.7
    assert [(p.slice, p.before, p.score) for p in gate.parts] == [
        ("topic 'y'", 1.0, 0.5),
        ("topic 'x'", 1.0, 0.8),
    ]
    assert gate.difference is not None
    value, low, high = gate.difference
    assert value == pytest.approx(20 / 30 - 25 / 30)
    assert low < value < high
    assert "slices whose score got worse" in str(caught.value)


def called(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    return frame.with_columns(run=pl.lit(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mine", "other"), [("today", "last week"), ("a", "z"), ("z", "a"), ("same", "same")]
)
def test_a_runs_own_name_changes_nothing(mine: str, other: str) -> None:
    gold, before, after = sliced()
    with pytest.raises(TooLowError) as caught:
        assert_at_least(called(after, mine), gold, "accuracy", 0.75, baseline=called(before, other))
    gate = caught.value.gate
    assert gate.run == mine
    assert gate.difference is not None
    assert gate.difference[0] == pytest.approx(20 / 30 - 25 / 30)
    assert gate.difference[1] < gate.difference[0] < gate.difference[2]
    assert [(p.slice, p.before, p.score) for p in gate.parts] == [
        ("topic 'y'", 1.0, 0.5),
        ("topic 'x'", 1.0, 0.8),
    ]


def test_a_column_that_is_mapped_to_the_run_changes_nothing() -> None:
    gold, before, after = sliced()
    named = [called(own, "m").rename({"run": "model"}) for own in (after, before)]
    with pytest.raises(TooLowError) as caught:
        assert_at_least(
            named[0], gold, "accuracy", 0.75, baseline=named[1], columns={"run": "model"}
        )
    assert caught.value.gate.difference is not None
    assert caught.value.gate.difference[0] == pytest.approx(20 / 30 - 25 / 30)


def test_a_log_that_names_its_run_has_a_baseline(tmp_path: Path) -> None:
    """promptfoo's logs always say which provider answered."""
    paths = []
    for name, passed in (("today", 10), ("before", 18)):
        results = [
            {"testIdx": i, "success": i < passed, "provider": {"id": "gpt"}, "vars": {"q": i}}
            for i in range(20)
        ]
        inner = {"version": 3, "timestamp": "2026-01-01T00:00:00Z", "results": results}
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({"evalId": "e", "results": inner}))
    with pytest.raises(TooLowError) as caught:
        assert_at_least(str(paths[0]), None, "accuracy", 0.6, baseline=str(paths[1]))
    assert caught.value.gate.run == "gpt"
    assert caught.value.gate.difference is not None
    assert caught.value.gate.difference[0] == pytest.approx(-0.4)


def test_a_baseline_of_several_runs_is_refused() -> None:
    gold, before, after = sliced()
    two = pl.concat([called(before, "a"), called(before, "b")])
    with pytest.raises(ab.UsageError, match="expected one baseline, got 2: 'a', 'b'"):
        assert_at_least(after, gold, "accuracy", 0.75, baseline=two)


def test_a_gate_that_gets_several_runs_says_how_to_choose_one(tmp_path: Path) -> None:
    gold, before, after = sliced()
    two = pl.concat([called(before, "a"), called(after, "b")]).rename({"run": "model"})
    with refuses(ab.UsageError, "got 2: 'a', 'b'", "the rows of one"):
        assert_at_least(two, gold, "accuracy", 0.1)
    assert_at_least(two.filter(pl.col("model") == "a"), gold, "accuracy", 0.1)
    paths = [tmp_path / name for name in ("before.csv", "after.csv")]
    for path, run in zip(paths, (before, after), strict=True):
        run.write_csv(path)
    with refuses(ab.UsageError, "got 2: 'after', 'before'"):
        assert_at_least(paths, gold, "accuracy", 0.1)


def test_clustered_questions_are_not_called_equal_to_the_threshold() -> None:
    gold, run = data(28, 12, 0)
    gold = gold.with_columns(group=pl.col("question") // 4)
    with pytest.raises(TooLowError) as caught:
        assert_at_least(run, gold, "accuracy", 0.65, cluster="group", by=[])
    says(str(caught.value), "'group'")
    assert "equals the threshold" not in str(caught.value)


def test_a_log_whose_questions_are_clustered_says_so(tmp_path: Path) -> None:
    """The repeats of a test are one cluster: no number of questions is told as if they were not."""
    results = [
        {"testIdx": i, "success": i // 2 < 7, "provider": {"id": "gpt"}, "vars": {"q": i // 2}}
        for i in range(20)
    ]
    inner = {"version": 3, "timestamp": "2026-01-01T00:00:00Z", "results": results}
    (tmp_path / "log.json").write_text(json.dumps({"evalId": "e", "results": inner}))
    with pytest.raises(TooLowError) as caught:
        assert_at_least(str(tmp_path / "log.json"), None, "accuracy", 0.65)
    assert caught.value.gate.needed is None
    says(str(caught.value), "'test'")


def test_a_score_just_above_the_threshold_needs_endless_questions() -> None:
    gold, run = data(28, 12, 0)
    with pytest.raises(TooLowError, match="more are needed"):
        assert_at_least(run, gold, "accuracy", 0.699999)


def test_rows_with_their_grade_need_no_gold() -> None:
    rows = pl.DataFrame({"question": range(50), "grade": ["correct"] * 45 + ["incorrect"] * 5})
    assert assert_at_least(rows, None, "accuracy", 0.7).score == 0.9
    with pytest.raises(TooLowError):
        assert_at_least(rows, None, "accuracy", 0.9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"confidence": 0.5}, ("0.5", "1")),
        ({"confidence": 1.0}, ("0.5", "1")),
        ({"threshold": math.nan}, ("c@1",)),
        ({"threshold": -5}, ("[0, 1]", "-5")),
        ({"threshold": "0.9"}, ("'0.9'",)),
        ({"measure": {"c@1": 0.5}}, ("c@1",)),
        ({"measure": "nothing"}, ()),
        ({"run": {"a": data(3, 1, 0)[1], "b": data(3, 1, 0)[1]}}, ("2",)),
    ],
)
def test_what_makes_no_gate_is_refused(change: dict[str, Any], said: tuple[str, ...]) -> None:
    gold, run = data(3, 1, 0)
    given: dict[str, Any] = {"run": run, "gold": gold, "measure": "c@1", "threshold": 0.1} | change
    with refuses(ab.UsageError, *said):
        assert_at_least(**given)


# ------------------------------------------------------------------------------- the plugin


def session(folder: Path, *options: str, code: int = 1) -> str:
    """What pytest prints for the example of the documentation."""
    for block in blocks((ROOT / "docs" / "ci.md").read_text()):
        if block.file is not None:
            (folder / block.file).write_text(block.text)
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    # pytest shortens its summary except where CI or BUILD_NUMBER is set.
    inherited = {k: v for k, v in os.environ.items() if k not in {"CI", "BUILD_NUMBER"}}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "abstain.integrations.pytest_plugin",
            *options,
        ],
        cwd=folder,
        env={**inherited, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    printed = done.stdout + (done.stderr if code > 1 else "")
    return re.sub(r" in [\d.]+s\b", "", printed)


@pytest.mark.slow
def test_the_plugin_lists_the_gates_as_the_documentation_shows(tmp_path: Path) -> None:
    printed = session(tmp_path, "--abstain-summary", "summary.md")
    document = (ROOT / "docs" / "ci.md").read_text()
    shown = re.findall(r"^(?:FAILED|passed) +today +c@1.*$", document, re.M)
    assert len(shown) == 2
    for line in shown:
        assert line in printed
    says(printed)
    assert "assert_at_least(run: Any" not in printed, "the inside of the gate is not shown"
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### 1 of 2 gates passed\n\n| gate ")
    assert "| FAILED | today | c@1 " in summary
    assert "test\\_model.py::test\\_the\\_model\\_is\\_good" in summary


@pytest.mark.slow
def test_the_plugin_hears_of_the_gates_of_workers(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    printed = session(tmp_path, "-p", "xdist.plugin", "-n", "2", "--abstain-summary", "s.md")
    assert len(re.findall(r"^passed +today +c@1 ", printed, re.M)) == 1
    assert "### 1 of 2 gates passed" in (tmp_path / "s.md").read_text()


@pytest.mark.slow
def test_a_session_without_gates_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("def test_a():\n    assert False\n")
    printed = session(tmp_path, "--abstain-summary", "s.md", "test_other.py")
    assert "abstain gates" not in printed
    assert not (tmp_path / "s.md").exists()


@pytest.mark.slow
def test_gates_in_fixtures_are_listed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest\n"
        "@pytest.fixture\n"
        "def before(at_least):\n"
        "    at_least('today.csv', 'gold.csv', 'c@1', 0.1)\n"
        "    yield\n"
        "    at_least('today.csv', 'gold.csv', 'c@1', 0.2)\n"
        "@pytest.fixture\n"
        "def failing(at_least):\n"
        "    at_least('today.csv', 'gold.csv', 'c@1', 0.9)\n"
    )
    (tmp_path / "test_fixed.py").write_text(
        "def test_a(before, at_least):\n"
        "    at_least('today.csv', 'gold.csv', 'c@1', 0.3)\n"
        "def test_b(failing):\n"
        "    pass\n"
    )
    printed = session(tmp_path, "--abstain-summary", "s.md", "test_fixed.py")
    listed = re.findall(r"^(passed|FAILED) +today +c@1 .* at least (0\.\d)", printed, re.M)
    assert sorted(listed) == [
        *[("FAILED", "0.9"), ("passed", "0.1"), ("passed", "0.2"), ("passed", "0.3")],
    ]
    assert "### 3 of 4 gates passed" in (tmp_path / "s.md").read_text()


def test_a_gate_in_words() -> None:
    gate = Gate("r", "c@1", 0.6, 0.95, 0.7, 0.65, 0.75, ab.Counts(right=7, wrong=3))
    says(str(gate), "1", "'r'", "0.7000", "95 %", "0.6500", "0.6")


def test_an_undefined_score_travels_from_a_worker() -> None:
    """Workers of pytest-xdist send plain types alone; a score that knows why it is none is not."""
    gold, run = data(0, 0, 9)
    with pytest.raises(TooLowError) as caught:
        assert_at_least(run, gold, "precision", 0.6)
    cells = caught.value.gate.to_dict()
    assert cells["score"] is cells["bound"] is None
    assert {type(value) for value in cells.values()} <= {bool, str, float, int, type(None)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run": "nothing.csv"}, ("nothing.csv",)),
        ({"baseline": "nothing.csv"}, ("nothing.csv",)),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path: Path, change: dict[str, str], said: tuple[str, ...]
) -> None:
    """Also a baseline that a passing gate would not need; and no inside of the library is shown."""
    given = {"run": "today.csv", "gold": "gold.csv", **change}
    (tmp_path / "test_one.py").write_text(
        "from abstain.testing import assert_at_least\n"
        "def test_one():\n"
        f"    assert_at_least(measure='c@1', threshold=0.1, **{given!r})\n"
    )
    printed = session(tmp_path, "test_one.py")
    says(printed, *said)
    assert "files.py" not in printed
    assert printed.count("testing.py") == 0


def test_a_gate_without_an_interval_says_why() -> None:
    gold, run = data(1, 0, 0)
    with refuses(TooLowError):
        assert_at_least(run, gold, "accuracy", 0.5)


def test_slices_of_rows_with_their_grade() -> None:
    grades = ["correct"] * 8 + ["incorrect"] * 2 + ["correct"] * 2 + ["incorrect"] * 8
    rows = pl.DataFrame({"question": range(20), "grade": grades, "topic": ["x", "y"] * 10})
    rows = rows.with_columns(topic=pl.Series(["x"] * 10 + ["y"] * 10), text=pl.lit("same"))
    with pytest.raises(TooLowError) as caught:
        assert_at_least(rows, None, "accuracy", 0.7)
    assert [(p.slice, p.score) for p in caught.value.gate.parts] == [("topic 'y'", 0.2)]


@pytest.mark.slow
def test_a_summary_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    done = session(tmp_path, "--abstain-summary", "no/such/s.md", code=4)
    says(done, "--abstain-summary")
    assert "Traceback" not in done


@pytest.mark.slow
def test_properties_are_json_for_junit(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text(
        "import polars as pl\n"
        "def test_two(at_least):\n"
        "    rows = pl.DataFrame({'question': [1, 2], 'grade': ['blank', 'blank']})\n"
        "    at_least(rows, None, 'precision', 0.5)\n"
    )
    printed = session(tmp_path, "--junitxml", "out.xml", "test_two.py")
    assert re.search(r"FAILED +run +precision +– +at least 0.5 +–", printed)
    import xml.etree.ElementTree as ET

    (found,) = ET.parse(tmp_path / "out.xml").iter("property")
    assert json.loads(found.get("value", ""))["score"] is None


# ------------------------------------------------------------ at most, and not worse than before


def test_at_most_holds_the_upper_bound_against_the_threshold() -> None:
    """Clopper and Pearson's bound by the quantile of a beta distribution."""
    gold, run = data(70, 10, 20)
    bound = float(stats.beta.ppf(0.95, 10 + 1, 80 - 10))
    gate = assert_at_most(run, gold, "selective-risk", bound + 1e-6, interval="clopper-pearson")
    assert gate.high == gate.bound == pytest.approx(bound, abs=1e-9)
    says(str(gate), "'run'", "0.1250", "95 %", "0.2")
    with refuses(TooHighError) as caught:
        assert_at_most(run, gold, "selective-risk", bound - 1e-6, interval="clopper-pearson")
    says(str(caught.value))
    with refuses(TooHighError):
        assert_at_most(run, gold, "wrong-rate", 0.01)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (({"wrong-rate": 35},), ("wrong-rate", "[0, 1]", "35")),
        (({"wrong-rate": 0.5, "selective-risk": "0.9"},), ("'0.9'",)),
        (({},), ()),
        (({"wrong-rate": 0.5}, 0.3), ("threshold",)),
        (("wrong-rate",), ("wrong-rate",)),
        (("wrong-rate", None), ("None",)),
    ],
)
def test_a_threshold_must_be_one_that_a_score_can_miss(
    asked: tuple[Any, ...], said: tuple[str, ...]
) -> None:
    gold, run = data(3, 1, 0)
    with gates() as held, refuses(ab.UsageError, *said):
        assert_at_most(run, gold, *asked)
    assert not held


def test_a_score_on_the_wrong_side_says_which() -> None:
    gold, run = data(0, 4, 0)
    with pytest.raises(TooHighError, match=r"would not help: the score itself is above 0\.6"):
        assert_at_most(run, gold, "wrong-rate", 0.6)
    with pytest.raises(TooLowError, match=r"would not help: the score itself is below 0\.9"):
        assert_at_least(run, gold, "accuracy", 0.9)


def test_a_gate_on_decisions_has_their_denominator_and_blames_no_mark() -> None:
    """Six questions can be answered, and three of them are declined; four cannot."""
    marks = {"question": range(10), "correct": ["a"] * 6 + [None] * 4, "topic": ["x", "y"] * 5}
    gold = pl.DataFrame(marks).with_columns(should_abstain=pl.Series([0] * 6 + [1] * 4))
    run = gold.select("question").with_columns(answer=pl.Series(["a"] * 3 + [None] * 7))
    with pytest.raises(TooHighError, match="over-refusal: 3 of 6\n") as caught:
        assert_at_most(run, gold, "over-refusal", 0.2)
    assert {part.slice for part in caught.value.gate.parts} == {"topic 'x'", "topic 'y'"}


def test_at_most_takes_measures_of_confidence() -> None:
    gold, run = data(80, 20, 0)
    sure = run.with_columns(confidence=pl.Series([0.9] * 80 + [0.1] * 20))
    assert assert_at_most(sure, gold, "AURC", 0.2).passed
    with pytest.raises(TooHighError):
        assert_at_most(sure, gold, "AURC", 0.001)


def test_each_side_refuses_measures_of_the_other() -> None:
    gold, run = data(8, 2, 0)
    with pytest.raises(ab.UsageError, match="use assert_at_least"):
        assert_at_most(run, gold, "accuracy", 0.5)
    with pytest.raises(ab.UsageError, match="use assert_at_most"):
        assert_at_least(run, gold, "selective-risk", 0.5)


def test_not_worse_is_a_paired_bound() -> None:
    """The better run has ten more right of 400; others agree, so the bound is close."""
    gold, run = data(300, 100, 0)
    _, before = data(310, 90, 0)
    gate = assert_not_worse(run, gold, before, "accuracy", margin=0.05)
    value, low, high = gate.difference or (0, 0, 0)
    assert value == pytest.approx(-10 / 400)
    error = math.sqrt((10 / 400 - (10 / 400) ** 2) / 400)  # of a paired difference, by hand
    assert low == pytest.approx(value - 1.645 * error, abs=0.006)
    assert low < value < high
    with refuses(WorseError) as caught:
        assert_not_worse(run, gold, before, "accuracy", margin=0.02)
    assert "got worse" not in str(caught.value) or caught.value.gate.parts
    assert assert_not_worse(before, gold, run, "accuracy").passed


def test_not_worse_by_a_measure_that_is_better_when_lower() -> None:
    gold, run = data(310, 90, 0)
    _, before = data(300, 100, 0)
    gate = assert_not_worse(run, gold, before, "selective-risk", margin=0.02)
    assert (gate.difference or (0,))[0] == pytest.approx(10 / 400)
    with pytest.raises(WorseError):
        assert_not_worse(before, gold, run, "selective-risk", margin=0.01)
    with refuses(ab.UsageError, "0"):
        assert_not_worse(run, gold, before, "selective-risk", margin=-0.1)


def test_a_margin_in_percent_is_refused() -> None:
    gold, run = data(3, 1, 0)
    with refuses(ab.UsageError, "accuracy", "[0, 1]", "2"):
        assert_not_worse(run, gold, run, "accuracy", margin=2)


def test_ids_are_no_slices_to_blame() -> None:
    gold, run = data(4, 6, 0)
    named = gold.with_columns(sample=pl.col("question").cast(pl.String) + "-1", part=pl.lit("x"))
    named = named.with_columns(part=pl.Series(["x", "y"] * 5))
    with pytest.raises(TooLowError) as caught:
        assert_at_least(run, named, "accuracy", 0.9)
    assert "part 'x'" in str(caught.value)
    assert "sample" not in str(caught.value)


def test_several_gates_stand_in_one_table() -> None:
    """All are held, the one that fails too; the table names each with what was asked."""
    gold, run = data(80, 20, 0)
    held = Gates()

    def ask() -> None:
        with gates() as found:
            assert_at_least(run, gold, "accuracy", 0.7)
            assert_at_most(run, gold, "wrong-rate", 0.1)
            # no question differs, yet of 100 that leaves room for a loss of 2 points
            assert_not_worse(run, gold, run, "accuracy", margin=0.03)
            held.extend(found)

    with pytest.raises(GatesError) as caught:
        ask()
    assert [gate.passed for gate in held] == [True, False, True]
    lines = str(caught.value).splitlines()
    assert lines[0] == "2 of 3 gates passed"
    assert lines[4].split() == ["FAILED", "run", "wrong-rate", "0.2000", "at", "most", "0.1", *[
        f"{held[1].high:.4f}", "100",
    ]]  # fmt: skip
    says(lines[6], "0.03")
    says(str(caught.value), "'run'", "0.2000")

    def nest() -> None:
        with gates():
            assert_at_most(run, gold, {"wrong-rate": 0.1, "selective-risk": 0.1})
            assert_at_least(run, gold, "accuracy", 0.7)  # held too: two at once are no end

    with pytest.raises(GatesError, match="1 of 3 gates passed"):
        nest()
    with gates() as good:
        assert_at_least(run, gold, "accuracy", 0.7)
    assert str(good).startswith("1 of 1 gates passed")
    with pytest.raises(TooLowError):  # outside, a gate fails at once
        assert_at_least(run, gold, "accuracy", 0.9)


def test_a_gate_never_pools_systems() -> None:
    rows = pl.DataFrame(
        {"llm": ["a", "b"] * 20, "id": [n // 2 for n in range(40)], "grade": ["correct"] * 40}
    )
    named = rows.rename({"llm": "model"})
    for frame, part in ((rows, "'llm'"), (rows.lazy(), "'llm'"), (named, "2")):
        with refuses(ab.AbstainError, part):
            assert_at_least(frame, None, "accuracy", 0.1)
