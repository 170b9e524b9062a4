"""lm-evaluation-harness: the tasks, by hand, and run by the harness with its dummy model."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.integrations import lm_eval as ours
from tests.snapshots import refuses

MEASURES = {
    "c_at_1": "c@1",
    "s_50": "S(t=0.5)",
    "s_75": "S(t=0.75)",
    "s_90": "S(t=0.9)",
    "accuracy": "accuracy",
    "precision": "precision",
    "coverage": "coverage",
}
HARNESS = """
import json, sys
from pathlib import Path
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

tasks = ["mine_idk", "mine_threshold"]
ran = simple_evaluate(
    model="dummy",
    tasks=tasks,
    task_manager=TaskManager(include_path="tasks"),
    log_samples=True,
    bootstrap_iters=0,
)
Path("results.json").write_text(json.dumps({name: ran["results"][name] for name in tasks}))
for name, samples in ran["samples"].items():
    path = Path(f"out/dummy/samples_{name}_2026-01-01T00-00-00.000000.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(sample, default=str) + "\\n" for sample in samples))
"""


def documents() -> list[dict[str, Any]]:
    """Questions as QA4MRE has them, of two options, so that a dummy is sure now and then."""
    rng = random.Random(0)
    return [
        {
            "document_str": f"A text, number {i}.",
            "question_str": f"What is {i}?",
            "answer_options": {"answer_id": ["1", "2"], "answer_str": [f"a {i}", f"b {i}"]},
            "correct_answer_id": str(rng.randint(1, 2)),
        }
        for i in range(60)
    ]


def test_the_files_are_those_of_three_editions_in_two_ways(tmp_path: Path) -> None:
    paths = ab.tasks("lm-eval", tmp_path / "new")
    assert [path.name for path in paths] == [
        f"qa4mre_{year}_{way}.yaml" for year in (2011, 2012, 2013) for way in ("idk", "threshold")
    ]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert f"task: {path.stem}\n" in text
        assert f"dataset_name: {path.stem[7:11]}.main.EN\n" in text
        if "2011" in path.name:
            named = [line.split(".")[-1] for line in text.splitlines() if "aggregation:" in line]
            assert named == [*MEASURES] == [*ours.METRICS]
            for name in (*named, "qa4mre_choices", "qa4mre_idk", "qa4mre_threshold"):
                assert callable(getattr(ours, name))
    again = ab.tasks("lm-eval", tmp_path / "new")
    assert again == paths, "a second time is the same"


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with refuses(ab.InputError, "file"):
        ab.tasks("lm-eval", tmp_path / "file")
    with refuses(ab.UnknownNameError, "lm-eval"):
        ab.tasks("lm_evl", tmp_path)


@pytest.mark.parametrize(
    ("logs", "how", "outcome"),
    [
        ((-1.0, -2.0, -3.0), {}, "right"),
        ((-2.0, -1.0, -3.0), {}, "wrong"),
        ((-2.0, -3.0, -1.0), {"blank": -1}, "unanswered_right"),
        ((-3.0, -2.0, -1.0), {"blank": 2}, "unanswered_wrong"),
        ((-1.0, -2.0, -1.5), {"blank": -1}, "right"),
        # e⁻¹ of e⁻¹ + e⁻² + e⁻³ is 0.665
        ((-1.0, -2.0, -3.0), {"threshold": 0.66}, "right"),
        ((-1.0, -2.0, -3.0), {"threshold": 0.67}, "unanswered_right"),
        ((-2.0, -1.0, -3.0), {"threshold": 0.67}, "unanswered_wrong"),
        ((-5000.0, -1.0, -9000.0), {"threshold": 0.99}, "wrong"),
    ],
)
def test_outcomes_of_a_choice(logs: tuple[float, ...], how: dict[str, Any], outcome: str) -> None:
    assert ours.of_choices([(log, False) for log in logs], 0, **how) == outcome


def test_outcomes_of_a_text() -> None:
    assert ours.of_text("Lima", True) == "right"
    assert ours.of_text("Quito", False) == "wrong"
    assert ours.of_text("I'm not sure.", False) == "unanswered"
    assert ours.of_text("I'm not sure.", True) == "right", "the metric knows better"
    assert ours.of_text(" ", False) == "unanswered"
    assert ours.of_text("Das weiß ich nicht.", False, "en") == "wrong"


def test_a_log_with_outcomes_is_read_as_it_stands(tmp_path: Path) -> None:
    outcomes = ["right", "wrong", "unanswered_right", "unanswered_wrong", "right"]
    rows = [
        {"doc_id": i, "target": "0", "filtered_resps": [["-1", "True"], ["-2", "False"]],
         "metrics": [*MEASURES], **dict.fromkeys(MEASURES, outcome)}
        for i, outcome in enumerate(outcomes)
    ]  # fmt: skip
    path = tmp_path / "samples_mine_2026-01-01T00-00-00.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    (row,) = ab.read_judged(path).score(["c@1", "S(t=0.75)"]).rows
    assert row.counts == ab.Counts.of([2, 1, 1, 1])
    assert row.scores["c@1"] == ours.c_at_1(outcomes) == pytest.approx(2 / 5 * 7 / 5)
    assert row.scores["S(t=0.75)"] == ours.s_75(outcomes) == pytest.approx((2 - 3) / 5)


needs_harness = pytest.mark.skipif(
    importlib.util.find_spec("lm_eval") is None,
    reason="lm-evaluation-harness is not installed: make test-integrations",
)


@needs_harness
@pytest.mark.slow
def test_the_harness_says_what_abstain_says_of_its_log(tmp_path: Path) -> None:
    ab.tasks("lm-eval", tmp_path / "tasks")
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents()))
    for way in ("idk", "threshold"):
        (tmp_path / "tasks" / f"mine_{way}.yaml").write_text(
            f"include: qa4mre_2011_{way}.yaml\ntask: mine_{way}\ntag: mine\n"
            "dataset_path: json\ndataset_name: null\n"
            f"dataset_kwargs:\n  data_files: {{train: {tmp_path / 'docs.jsonl'}}}\n"
        )
    done = subprocess.run(
        [sys.executable, "-c", HARNESS],
        cwd=tmp_path,
        env={**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    there = json.loads((tmp_path / "results.json").read_text())
    here = ab.read_judged(tmp_path / "out").score([*MEASURES.values()], by="task")
    compared = 0
    for row in here.rows:
        for name, measure in MEASURES.items():
            score, known = row.scores[measure], there[row.slice["task"]][f"{name},none"]
            compared += 1
            if score is None:
                assert math.isnan(known)
            else:
                assert score == pytest.approx(known, abs=1e-12), name
    assert compared == 2 * len(MEASURES)
    coverage = [there[f"mine_{way}"]["coverage,none"] for way in ("idk", "threshold")]
    assert 0 < coverage[0] < 1, "the dummy takes each of three options now and then"
