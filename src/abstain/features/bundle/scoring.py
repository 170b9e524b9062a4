"""Score one submission as `abstain campaign` does: what a platform runs, copied into its bundle.

    python3 scoring.py INPUT OUTPUT       Codabench: the run is in INPUT/res, the gold in INPUT/ref
    python3 scoring.py RUN GOLD OUTPUT     TIRA: three folders; writes evaluation.prototext too

EvalAI calls `evaluate`. `task.json` beside this file names the measure and how files are read.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def read_task() -> dict[str, Any]:
    """What the season says, as the bundle was made."""
    task: dict[str, Any] = json.loads((HERE / "task.json").read_text(encoding="utf-8"))
    return task


def scores(gold: Path, submission: Path) -> dict[str, float]:
    """The columns of the leaderboard; of a score that does not exist the log gets the reason."""
    task = read_task()
    try:
        import abstain as ab
    except ImportError:
        wanted = f"abstain=={task['abstain']}"
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", wanted], check=True)
        import abstain as ab

    if ab.__version__ != task["abstain"]:
        log(f"abstain {ab.__version__} scores, made for {task['abstain']}")
    name, key = task["measure"], task["key"]
    reading = task["reading"] | {option: str(HERE / file) for option, file in task["files"].items()}
    checked = ab.validate(gold, [submission], **reading)
    if checked.problems:
        raise ab.InputError("; ".join(map(str, checked.problems[:5])))
    evaluation = ab.read(gold, submission, **reading)
    if len(evaluation.runs) != 1:
        names = ", ".join(evaluation.runs[:5])
        raise ab.InputError(f"expected one run, got {len(evaluation.runs)}: {names}")
    (row,) = evaluation.score(name, interval=True, level=task["level"]).rows
    right, wrong, blank = row.outcomes
    columns: dict[str, float | None] = {"right": right, "wrong": wrong, "blank": blank}
    if not right + wrong:
        log("it answers no question, so it has no rank")
    elif row.scores[name] is None:
        log(f"{name} is undefined: {row.undefined[name]}")
    else:
        low, high = row.intervals.get(name, (None, None))
        columns |= {key: row.scores[name], f"{key}_low": low, f"{key}_high": high}
    return {column: float(value) for column, value in columns.items() if value is not None}


def log(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(args: list[str]) -> None:
    """Read what a platform put in its folders, and write scores where it looks for them."""
    if len(args) == 2:
        run, gold, output = Path(args[0], "res"), Path(args[0], "ref"), Path(args[1])
    elif len(args) == 3:
        run, gold, output = map(Path, args)
    else:
        sys.exit("usage: scoring.py INPUT OUTPUT, or scoring.py RUN GOLD OUTPUT")
    try:
        columns = scores(gold / read_task()["gold"], run)
    except Exception as error:
        if type(error).__module__ != "abstain.errors":
            raise
        sys.exit(f"the submission cannot be scored: {error}")
    output.mkdir(parents=True, exist_ok=True)
    (output / "scores.json").write_text(json.dumps(columns), encoding="utf-8")
    if len(args) == 3:
        lines = [f'measure {{\n  key: "{k}"\n  value: "{v}"\n}}\n' for k, v in columns.items()]
        (output / "evaluation.prototext").write_text("".join(lines), encoding="utf-8")


def evaluate(
    test_annotation_file: str, user_submission_file: str, phase_codename: str, **_: Any
) -> dict[str, Any]:
    """What EvalAI calls; an error is shown to the participant."""
    columns = scores(Path(test_annotation_file), Path(user_submission_file))
    return {"result": [{phase_codename: columns}], "submission_result": columns}


if __name__ == "__main__":
    main(sys.argv[1:])
