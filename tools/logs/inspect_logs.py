"""Make the Inspect logs that the tests read, with the real tool and a model of canned outputs.

    pip install inspect_ai
    python tools/logs/inspect_logs.py tests/formats/logs/data

Writes inspect.eval (one epoch), inspect_epochs.json (two epochs, two scorers, errors, a limit),
inspect_killed.eval (the process was killed) and inspect.own.json, Inspect's own scores of the
first two. Paths of the machine that made them are replaced by "…".
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import tiktoken
import zipfile_zstd  # noqa: F401  (teaches zipfile Zstandard)
from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, accuracy, match, scorer, stderr
from inspect_ai.solver import solver

ANSWERS = ["2", "I don't know", "7", "8", "", "12"]
"""To 1 + 1, 2 + 2, …: right, declined, wrong, right, nothing at all, right."""


class Words:
    """Tokens are words here: the real table of tokens would be fetched from the network."""

    def encode(self, text: str, **_: Any) -> list[str]:
        return text.split()

    encode_ordinary = encode


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: Words()


def sums() -> MemoryDataset:
    samples = [
        Sample(
            id=f"q{i}",
            input=f"What is {i} + {i}?",
            target=str(2 * i),
            metadata={"topic": "small" if i < 4 else "large", "parts": [i, i]},
        )
        for i in range(1, 7)
    ]
    return MemoryDataset(samples, name="sums")


@scorer(metrics=[accuracy(), stderr()])
def careful() -> Any:
    async def score(state: Any, target: Any) -> Score:
        said = state.output.completion
        if "don't know" in said:
            return Score(value=NOANSWER, answer="", explanation="it declined")
        if not said:
            return Score(value=float("nan"), explanation="the grader gave up")
        return Score(value=CORRECT if said == target.text else INCORRECT, answer=said)

    return score


@solver
def canned(*, fails: str = "", limited: str = "", hangs: str = "") -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        if state.sample_id == fails:
            raise ValueError("the tool broke")
        if state.sample_id == hangs:
            import anyio

            await anyio.sleep(600)
        state = await generate(state)
        if state.sample_id == limited:
            from inspect_ai.util import LimitExceededError

            raise LimitExceededError("token", value=101, limit=100)
        return state

    return solve


def model(epochs: int = 1) -> Any:
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in ANSWERS * epochs]
    return get_model("mockllm/model", custom_outputs=outputs)


SETTINGS: dict[str, Any] = {"display": "none", "max_connections": 1, "max_samples": 1}


def make(folder: Path) -> dict[str, Any]:
    own = {}
    task = Task(dataset=sums(), solver=canned(), scorer=careful(), name="sums")
    with tempfile.TemporaryDirectory() as place:
        log = run_eval(task, model=model(), log_dir=place, log_format="eval", **SETTINGS)[0]
        scrub(Path(log.location), folder / "inspect.eval")
        own["inspect.eval"] = scores(log)
        task = Task(
            dataset=sums(),
            solver=canned(fails="q6", limited="q3"),
            scorer=[careful(), match()],
            name="sums",
        )
        more = {"epochs": 2, "fail_on_error": False}
        log = run_eval(task, model=model(2), log_dir=place, log_format="json", **SETTINGS, **more)[
            0
        ]
        scrub(Path(log.location), folder / "inspect_epochs.json")
        own["inspect_epochs.json"] = scores(log)
    return own


def scores(log: Any) -> dict[str, Any]:
    return {
        s.name: {
            "accuracy": s.metrics["accuracy"].value,
            "scored": s.scored_samples,
            "unscored": s.unscored_samples,
        }
        for s in log.results.scores
    }


def killed(folder: Path) -> None:
    """A run that is killed while it waits for its fourth sample."""
    with tempfile.TemporaryDirectory() as place:
        child = subprocess.Popen([sys.executable, __file__, "--hang", place])
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            time.sleep(1)
            found = list(Path(place).glob("*.eval"))
            if found and entries(found[0]) >= 3:
                break
        child.send_signal(signal.SIGKILL)
        child.wait()
        scrub(next(Path(place).glob("*.eval")), folder / "inspect_killed.eval")


def entries(path: Path) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(n.startswith("samples/") for n in archive.namelist())
    except zipfile.BadZipFile:
        return 0


def hang(place: str) -> None:
    task = Task(dataset=sums(), solver=canned(hangs="q4"), scorer=careful(), name="sums")
    run_eval(task, model=model(), log_dir=place, log_format="eval", log_buffer=1, **SETTINGS)


def scrub(source: Path, target: Path) -> None:
    """Copy a log without the paths of this machine, everything else as it is."""
    if source.suffix == ".json":
        target.write_bytes(clean(source.read_bytes()))
        return
    out = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            kept = zipfile.ZipInfo(info.filename, (2026, 1, 1, 0, 0, 0))
            kept.compress_type = info.compress_type
            new.writestr(kept, clean(old.read(info.filename)))
    target.write_bytes(out.getvalue())


def clean(data: bytes) -> bytes:
    for path in (sys.prefix, sys.base_prefix, os.getcwd(), str(Path(__file__).parent)):
        data = data.replace(path.encode(), "…".encode())
    return data


if __name__ == "__main__":
    if sys.argv[1] == "--hang":
        hang(sys.argv[2])
    else:
        where = Path(sys.argv[1])
        own = make(where)
        killed(where)
        (where / "inspect.own.json").write_text(json.dumps(own, indent=1) + "\n")
