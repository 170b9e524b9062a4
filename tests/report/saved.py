"""Saved results of every command, small, with names that try to be more than text."""

from __future__ import annotations

import random
from pathlib import Path

from abstain.cli import run
from tests.report.browser import HOSTILE

QUESTIONS = 60
RUNS = ("bold", "careful", HOSTILE)
META = ("--subsets", "10", "--resamples", "20", "--draws", "shared")


def write_inputs(folder: Path) -> None:
    """A gold, three runs with confidence, judgments and rankings."""
    draw = random.Random(5)
    gold = {f"q{n:02d}": draw.choice("ABCD") for n in range(QUESTIONS)}
    topics = ("law", HOSTILE, "art")
    lines = [f"{q},{a},{topics[n % 3]}" for n, (q, a) in enumerate(gold.items())]
    (folder / "gold.csv").write_text("\n".join(["question,correct,topic", *lines]) + "\n")
    rows = ["run,question,answer,confidence"]
    for n, name in enumerate(RUNS):
        for question, correct in gold.items():
            sure = round(draw.random(), 2)
            if sure < 0.15 * n:
                rows.append(f"{name},{question},,")
            else:
                answer = correct if draw.random() < 0.3 + 0.5 * sure else "E"
                rows.append(f"{name},{question},{answer},{sure}")
    (folder / "runs.csv").write_text("\n".join(rows) + "\n")
    judged = [f"t{q} 0 d{d} {int(q > 1 and d % 3 == 0)}" for q in range(9) for d in range(8)]
    ranked = [
        f"t{q} Q0 d{draw.randrange(8) if d == 9 else d} {d + 1} {draw.random():.4f} {name}"
        for name in ("bm25", "<b>dense</b>")
        for q in range(9)
        for d in range(3 + q % 5)
    ]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n")
    (folder / "ranked.txt").write_text("\n".join(ranked) + "\n")


COMMANDS: dict[str, list[str]] = {
    "score": ["score", "gold.csv", "runs.csv", "--interval", "--references"],
    "sliced": ["score", "gold.csv", "runs.csv", "--by", "topic", "--break-even"],
    "rank": ["rank", "qrels.txt", "ranked.txt", "-m", "APt", "-m", "RR", "--limit", "6"],
    "per-query": [
        *("rank", "qrels.txt", "ranked.txt", "-m", "APt", "--per-query", "--truncation"),
        *("--limit", "6"),
    ],
    "compare": ["compare", "gold.csv", "runs.csv"],
    "curve": ["curve", "gold.csv", "runs.csv"],
    "decision": ["curve", "gold.csv", "runs.csv", "--show", "decision"],
    "histogram": ["curve", "gold.csv", "runs.csv", "--histogram", "16"],
    "tune": ["tune", "gold.csv", "runs.csv"],
    "risk": ["tune", "gold.csv", "runs.csv", "--risk", "0.6", "--folds", "2"],
    "cascade": ["cascade", "gold.csv", "runs.csv", "--stages", ",".join(RUNS[:2])],
    "several": ["score", "--several", "gold.csv", "runs.csv"],
    "meta": ["meta", "gold.csv", "runs.csv", *META],
}


def save(folder: Path, name: str) -> Path:
    """The JSON of a command; the campaign's is the one of its folder."""
    if name == "campaign":
        assert run(["campaign", "gold.csv", "runs.csv", "-o", "overview", "--force"]) == 0
        return folder / "overview" / "results.json"
    assert run([*COMMANDS[name], "-o", f"{name}.json"]) == 0
    return folder / f"{name}.json"
