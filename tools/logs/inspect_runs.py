"""Make the Inspect logs of several runs that the tests read beside each other.

    pip install inspect_ai zipfile_zstd
    python tools/logs/inspect_runs.py tests/formats/logs/data/inspect_runs

Two prompts and two temperatures of one model, three epochs beside one, two tasks, a log that failed
and one with a failed sample and a limit. The answers are canned; all else is Inspect's own.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.solver import system_message
from inspect_logs import SETTINGS, canned, careful, scrub, sums

CAREFUL = ["2", "I don't know", "7", "8", "I don't know", "12"]
"""To 1 + 1, 2 + 2, …: right, declined, wrong, right, declined, right."""
BOLD = ["2", "4", "7", "8", "11", "13"]
"""Right, right, wrong, right, wrong, wrong."""
SHORT = "Answer with a number."
LONG = "Think step by step. Then answer with a number."


def products() -> MemoryDataset:
    """Another task whose samples have the same ids."""
    samples = [
        Sample(id=f"q{i}", input=f"What is {i} × {i}?", target=str(i * i)) for i in range(1, 5)
    ]
    return MemoryDataset(samples, name="products")


def one(target: Path, answers: list[str], *, name: str = "model", **how: Any) -> None:
    """Evaluate one task with one model, and keep the log."""
    model = get_model(f"mockllm/{name}", memoize=False)
    # not as its argument: the log would tell runs apart by it
    model.api.outputs = iter([ModelOutput.from_content(f"mockllm/{name}", own) for own in answers])
    task = Task(
        dataset=how.pop("dataset", sums)(),
        solver=how.pop("solver", canned()),
        scorer=careful(),
        name=how.pop("task", "sums"),
    )
    with tempfile.TemporaryDirectory() as place:
        log = run_eval(task, model=model, log_dir=place, log_format="eval", **SETTINGS, **how)[0]
        scrub(Path(log.location), target)


def main(folder: Path) -> None:
    """Every log."""
    folder.mkdir(parents=True, exist_ok=True)
    one(folder / "short.eval", CAREFUL, solver=[system_message(SHORT), canned()])
    one(folder / "long.eval", BOLD, solver=[system_message(LONG), canned()])
    one(folder / "cold.eval", CAREFUL, temperature=0.0)
    one(folder / "warm.eval", BOLD, temperature=0.7)
    one(folder / "three.eval", CAREFUL * 3, name="three", epochs=3)
    one(folder / "once.eval", BOLD, name="once")
    one(folder / "products.eval", ["1", "4", "8", "16"], dataset=products, task="products")
    one(folder / "failed.eval", CAREFUL, name="failed", solver=canned(fails="q4"))
    one(
        folder / "limited.eval",
        CAREFUL,
        name="limited",
        solver=canned(fails="q6", limited="q3"),
        fail_on_error=False,
    )


if __name__ == "__main__":
    where = Path(sys.argv[1]).resolve()
    os.chdir(tempfile.gettempdir())  # in a repository, logs say which one it is
    main(where)
