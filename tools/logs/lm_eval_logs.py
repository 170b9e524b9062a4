"""Make the lm-evaluation-harness logs that the tests read, with the real tool and canned outputs.

    pip install torch lm_eval
    python tools/logs/lm_eval_logs.py tests/formats/logs/data

Writes lm_eval/<model>/samples_<task>_<date>.jsonl for two models and lm_eval.own.json, the tool's
own scores.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "0"}

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

SUMS = [{"question": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(1, 7)]
SAID = {
    "bold": ["2", "It is 4", "7", "8", "10", "13"],
    "careful": ["2", "I don't know.", "I am not sure.", "8", "", "It is 12"],
}
CAPITALS: list[dict[str, Any]] = [
    {"question": "The capital of Peru?", "choices": ["Lima", "Cusco", "Quito"], "answer": 0},
    {"question": "The capital of Kenya?", "choices": ["Mombasa", "Nairobi", "Kisumu"], "answer": 1},
    {"question": "The capital of Fiji?", "choices": ["Nadi", "Lautoka", "Suva"], "answer": 2},
    {
        "question": "The capital of Chad?",
        "choices": ["Abeche", "Sarh", "N'Djamena"],
        "answer": 2,
    },
]
LOGS = {
    "bold": [[-1.0, -2.0, -3.0], [-0.5, -2.5, -3.5], [-3.0, -2.0, -1.0], [-1.0, -1.5, -2.0]],
    "careful": [[-1.0, -1.1, -1.2], [-2.0, -0.25, -3.0], [-2.0, -2.0, -0.5], [-4.0, -4.0, -4.5]],
}
SUMS_TASK = """\
task: sums
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"]}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
filter_list:
  - name: strict
    filter: [{{function: take_first}}]
  - name: flexible
    filter:
      - {{function: regex, regex_pattern: "(\\\\d+)$"}}
      - {{function: take_first}}
"""
CAPITALS_TASK = """\
task: capitals
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: choices
doc_to_target: answer
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
"""


class Canned(LM):
    """A model that says what it was given to say."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def generate_until(self, requests: Any, **_: Any) -> list[str]:
        said = {own["question"]: text for own, text in zip(SUMS, SAID[self.name], strict=True)}
        return [said[request.args[0]] for request in requests]

    def loglikelihood(self, requests: Any, **_: Any) -> list[tuple[float, bool]]:
        known = {
            (own["question"], f" {choice}"): (log, log == max(logs))
            for own, logs in zip(CAPITALS, LOGS[self.name], strict=True)
            for choice, log in zip(own["choices"], logs, strict=True)
        }
        return [known[request.args] for request in requests]

    def loglikelihood_rolling(self, requests: Any, **_: Any) -> list[float]:
        raise NotImplementedError


def main(folder: Path) -> None:
    own: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for name, rows, text in (
            ("sums", SUMS, SUMS_TASK),
            ("capitals", CAPITALS, CAPITALS_TASK),
        ):
            data = Path(place, f"{name}.jsonl")
            data.write_text("".join(json.dumps(row) + "\n" for row in rows))
            Path(place, f"{name}.yaml").write_text(text.format(file=data))
        for model in SAID:
            manager = TaskManager(include_path=place)
            result = simple_evaluate(
                Canned(model), tasks=["sums", "capitals"], task_manager=manager, log_samples=True
            )
            own[model] = {
                task: {k: v for k, v in scores.items() if "," in k and "stderr" not in k}
                for task, scores in result["results"].items()
            }
            save(folder / "lm_eval" / model, result)
    (folder / "lm_eval.own.json").write_text(json.dumps(own, indent=1) + "\n")


def save(folder: Path, result: Any) -> None:
    """The samples as the tool's own tracker writes them, under a fixed date."""
    from lm_eval.loggers import EvaluationTracker

    with tempfile.TemporaryDirectory() as place:
        tracker = EvaluationTracker(output_path=place)
        tracker.general_config_tracker.model_name_sanitized = "model"
        tracker.date_id = "2026-01-01T00-00-00.000000"
        folder.mkdir(parents=True, exist_ok=True)
        for task, samples in result["samples"].items():
            tracker.save_results_samples(task_name=task, samples=samples)
        for path in Path(place).rglob("samples_*.jsonl"):
            (folder / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
