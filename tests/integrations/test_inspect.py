"""Inspect itself, with its mock model: metrics equal `abstain score` on the same log."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.io.files import open_file
from tests.helpers import ROOT

pytest.importorskip("inspect_ai", reason="Inspect is not installed: make test-integrations")

from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match as plain_match
from inspect_ai.solver import multiple_choice

from abstain.integrations import inspect_ai as ours

LOGS = ROOT / "tests" / "formats" / "logs" / "data"
MEASURES = {
    "c_at_1": "c@1",
    "f": "F",
    "s": "S(t=0.5)",
    "credit": "credit(t=0.5)",
    "coverage": "coverage",
    "precision": "precision",
    "over_refusal": "over-refusal",
    "under_refusal": "under-refusal",
    "grounded_refusal_f1": "grounded-refusal-F1",
}
EVERY = [getattr(ours, name)() for name in MEASURES]
NAME = "match_or_refusal"
ANSWERS = ["2", "I don't know.", "7", "8", "", "12", "I cannot answer that.", "9"]
"""To 1 + 1, 2 + 2, …; the last two questions cannot be answered."""
SETTINGS: dict[str, Any] = {"display": "none", "max_connections": 1, "max_samples": 1}


class Words:
    """Tokens are words here: the real table of tokens would be fetched from the network."""

    def encode(self, text: str, **_: Any) -> list[str]:
        return text.split()

    encode_ordinary = encode


@pytest.fixture(autouse=True)
def without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    for name in ("get_encoding", "encoding_for_model"):
        monkeypatch.setattr(tiktoken, name, lambda _: Words())


def sums(*, marked: bool) -> MemoryDataset:
    return MemoryDataset(
        [
            Sample(
                id=f"q{i}",
                input=f"What is {i} + {i}?",
                target=str(2 * i) if i < 7 else "none",
                metadata={"answerable": i < 7} if marked else {},
            )
            for i in range(1, 9)
        ]
    )


def evaluated(
    folder: Path, scorer: Any, *, form: str = "eval", epochs: int = 1, marked: bool = True
) -> Path:
    """A log of the mock model, which answers otherwise in each epoch."""
    texts = [text for at in range(epochs) for text in (*ANSWERS[at:], *ANSWERS[:at])]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    task = Task(dataset=sums(marked=marked), scorer=scorer, name="sums")
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    where: dict[str, Any] = {"log_dir": str(folder), "log_format": form}
    (log,) = run_eval(task, model=model, epochs=epochs, **where, **SETTINGS)
    assert log.status == "success", log.error
    return Path(log.location.removeprefix("file://"))


def metrics_of(path: Path, scorer: str) -> dict[str, float]:
    """What Inspect wrote into the log."""
    log = read_eval_log(str(path), header_only=True)
    (score,) = [s for s in log.results.scores if s.name == scorer]
    return {name: float(metric.value) for name, metric in score.metrics.items()}


def scores_of(path: Path, scorer: str, names: list[str], **reading: Any) -> dict[str, Any]:
    read = ab.read_judged(str(path), pick={"scorer": scorer}, **reading)
    return dict(read.score([MEASURES[name] for name in names]).rows[0].scores)


def inspect(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "inspect"), "score", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("form", ["eval", "json"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_metrics_are_what_abstain_says_of_the_log(tmp_path: Path, form: str, epochs: int) -> None:
    scorer = ours.match_or_refusal()
    task = {"form": form, "epochs": epochs}
    path = evaluated(tmp_path, scorer, **task)  # type: ignore[arg-type]
    shutil.copy(path, copy := tmp_path / f"old.{form}")
    every = [word for name in MEASURES for word in ("--metric", f"abstain/{name}")]
    inspect(
        tmp_path, str(copy), "--scorer", f"abstain/{NAME}", *every, "--action", "overwrite",
        "--overwrite",
    )  # fmt: skip
    there, here = metrics_of(copy, NAME), scores_of(copy, NAME, [*MEASURES])
    for name, measure in MEASURES.items():
        assert there[name] == pytest.approx(here[measure], abs=1e-12), name
        assert there[f"{name}_stderr"] > 0
    if epochs == 1:
        # right: 2, 8, 12 and declining q7; wrong: 7 and answering q8; blank: q2, q5
        assert there["c_at_1"] == pytest.approx(4 / 8 * (1 + 2 / 8), abs=1e-12)
        assert there["over_refusal"] == pytest.approx(2 / 6, abs=1e-12)
        assert there["under_refusal"] == pytest.approx(1 / 2, abs=1e-12)


def test_epochs_are_clusters_of_the_standard_error(tmp_path: Path) -> None:
    """ψ = (1 + u)(C − c) + c(U − u), summed over the epochs of a sample, by a plain loop."""
    path = evaluated(tmp_path, ours.match_or_refusal(), epochs=3, marked=False)
    log = read_eval_log(str(path))
    values = [(str(s.id), s.scores[NAME].value) for s in log.samples or []]
    n = len(values)
    c = sum(v == "C" for _, v in values) / n
    u = sum(v == "N" for _, v in values) / n
    sums_of: dict[str, float] = defaultdict(float)
    for sample, value in values:
        sums_of[sample] += (1 + u) * ((value == "C") - c) + c * ((value == "N") - u)
    groups = len(sums_of)
    error = math.sqrt(groups / (groups - 1) * sum(v * v for v in sums_of.values())) / n
    assert (groups, n) == (8, 24)
    assert metrics_of(path, NAME)["c_at_1_stderr"] == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("form", ["eval", "json"])
def test_an_old_log_is_scored_again_without_a_model(tmp_path: Path, form: str) -> None:
    """As in the manual: its own scorer, then ours that knows refusals, then its scores."""
    path = evaluated(tmp_path, plain_match(), form=form, marked=False)
    shutil.move(path, old := tmp_path / f"old.{form}")
    again = ["--metric", "abstain/c_at_1", "--action", "append", "--overwrite"]
    inspect(tmp_path, str(old), *again)
    assert metrics_of(old, "match1")["c_at_1"] == pytest.approx(
        scores_of(old, "match1", ["c_at_1"])["c@1"], abs=1e-12
    )
    inspect(tmp_path, str(old), "--scorer", "abstain/match_or_refusal", *again)
    inspect(
        tmp_path, str(old), "--scorer", "abstain/as_scored", "-S", "name=match", *again
    )  # fmt: skip
    log = read_eval_log(str(old), header_only=True)
    names = [score.name for score in log.results.scores]
    assert names == ["match", "match1", NAME, "as_scored"]
    for name in names[2:]:
        found = metrics_of(old, name)["c_at_1"]
        # right: 2, 8, 12; wrong: 7 and 9; blank: "I don't know.", nothing, "I cannot …"
        assert found == pytest.approx(3 / 8 * (1 + 3 / 8), abs=1e-12)
        assert found == pytest.approx(scores_of(old, name, ["c_at_1"])["c@1"], abs=1e-12)


@pytest.mark.parametrize("name", ["inspect.eval", "inspect_epochs.json"])
def test_logs_of_an_earlier_inspect(tmp_path: Path, name: str) -> None:
    shutil.copy(LOGS / name, tmp_path)
    inspect(
        tmp_path, name, "--scorer", f"abstain/{NAME}", "--metric", "abstain/c_at_1", "--action",
        "append", "--output-file", f"new-{name}",
    )  # fmt: skip
    assert open_file(str(tmp_path / f"new-{name}")).head
    log = read_eval_log(str(tmp_path / f"new-{name}"), header_only=True)
    scorer = log.results.scores[-1].name
    there = metrics_of(tmp_path / f"new-{name}", scorer)["c_at_1"]
    policy = {"error": "unanswered", "limit": "wrong"}
    if name == "inspect.eval":
        here = scores_of(tmp_path / f"new-{name}", scorer, ["c_at_1"], policy=policy)["c@1"]
        assert there == pytest.approx(here, abs=1e-12)
        assert there == pytest.approx(3 / 6 * (1 + 2 / 6), abs=1e-12)
    else:
        assert 0 < there < 1  # Inspect scores failed samples again too, by their empty output


def test_choice_and_parameters(tmp_path: Path) -> None:
    texts = ["ANSWER: A", "I don't know.", "ANSWER: B", ""]
    task = Task(
        dataset=MemoryDataset(
            [Sample(id=f"q{i}", input="?", choices=["x", "y"], target="A") for i in range(4)]
        ),
        solver=multiple_choice(),
        scorer=ours.choice_or_refusal(),
        metrics=[ours.c_at_1(), ours.s(t=0.75), ours.credit(t=0.25), ours.f(beta=2.0)],
        name="choices",
    )
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = run_eval(task, model=model, log_dir=str(tmp_path), **SETTINGS)
    there = {name: m.value for name, m in log.results.scores[0].metrics.items()}
    assert there["c_at_1"] == 1 / 4 * (1 + 2 / 4)
    assert there["s"] == pytest.approx(1 / 4 - 3 * 1 / 4)
    assert there["credit"] == pytest.approx(1 / 4 + 0.25 * 2 / 4)
    # F_β of recall 1/4 and precision 1/2: (1 + 4)·p·r/(4p + r)
    assert there["f"] == pytest.approx(5 * (1 / 2) * (1 / 4) / (4 / 2 + 1 / 4))


def test_values_partial_numbers_and_nothing_marked() -> None:
    from inspect_ai.scorer import SampleScore, Score

    def of(*values: Any) -> list[Any]:
        return [
            SampleScore(score=Score(value=value), sample_id=str(at))
            for at, value in enumerate(values)
        ]

    value = {name: getattr(ours, name)() for name in ("precision", "over_refusal", "c_at_1")}
    assert value["precision"](of("C", "P", True, 0, 0.7))["precision"] == 2 / 5
    assert ours.precision(partial="right")(of("C", "P"))["precision"] == 1
    assert ours.precision(right_at=0.5)(of("C", 0.7, 0.2))["precision"] == pytest.approx(2 / 3)
    assert math.isnan(value["over_refusal"](of("C", "N"))["over_refusal"])
    assert math.isnan(value["precision"](of("N", "N"))["precision"])
    assert math.isnan(value["c_at_1"](of("C"))["c_at_1_stderr"])
    assert math.isnan(value["c_at_1"]([])["c_at_1"])


def test_the_results_are_in_the_json_of_inspect(tmp_path: Path) -> None:
    path = evaluated(tmp_path, ours.match_or_refusal(), form="json")
    text = json.loads(path.read_text(encoding="utf-8"))
    (scores,) = text["results"]["scores"]
    assert {"c_at_1", "c_at_1_stderr", "coverage", "precision"} <= set(scores["metrics"])
    assert text["eval"]["scorers"][0]["name"] == NAME, "no name of a scorer of Inspect itself"
