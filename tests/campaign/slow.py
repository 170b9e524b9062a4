"""A campaign counted the slow way: plain loops over rows, exact fractions, no code of ours."""

from __future__ import annotations

import csv
import random
import statistics
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


@dataclass
class SlowCampaign:
    """Gold rows and, for each run, the outcome letter of each question."""

    gold: list[dict[str, str]]
    outcomes: dict[str, dict[str, str]]
    answers: dict[str, dict[str, str]]
    """The answer of each run to each question that it answered."""

    def c_at_1(self, run: str, questions: list[str]) -> Fraction:
        """(R + R·U/n)/n, by counting."""
        own = [self.outcomes[run][q] for q in questions]
        right = sum(o == "R" for o in own)
        blank = sum(o in ("UR", "UW", "UE") for o in own)
        n = len(own)
        return (right + Fraction(right * blank, n)) / n

    def where(self, **wanted: str) -> list[str]:
        """Ids of the questions with given attributes."""
        return [g["question"] for g in self.gold if all(g[k] == v for k, v in wanted.items())]

    def count(self, run: str, letter: str) -> int:
        """How many responses of a run had an outcome."""
        return sum(o == letter for o in self.outcomes[run].values())


def make(folder: Path, *, seed: int, runs: int = 7, tests: int = 6, size: int = 9) -> SlowCampaign:
    """Write a random campaign as gold.csv and runs.csv and keep what is true of it."""
    rng = random.Random(seed)
    gold: list[dict[str, str]] = []
    for test in range(1, tests + 1):
        mains: list[str] = []
        for number in range(1, size + 1):
            auxiliary = number > size - 3
            name = f"t{test:02d}q{number:02d}"
            gold.append(
                {
                    "question": name,
                    "correct": rng.choice("12345"),
                    "options": "1|2|3|4|5",
                    "topic": ("Alpha", "Beta")[test % 2],
                    "test": str(test),
                    "type": rng.choice(["WHO", "WHY", "HOW"]),
                    "auxiliary_of": mains[number - size + 2] if auxiliary else "",
                    "simplified": rng.choice(["question", "answer"]) if auxiliary else "",
                    "simplification": rng.choice(["hyp", "nps"]) if auxiliary else "",
                    "modality": rng.choice(["yes", "no"]),
                }
            )
            mains.append(name)
    outcomes: dict[str, dict[str, str]] = {}
    answers: dict[str, dict[str, str]] = {}
    rows: list[dict[str, str]] = []
    names = [f"team{'abc'[i % 3]}13{i // 3 + 1:02d}enen" for i in range(runs)]
    for name in names:
        own: dict[str, str] = {}
        for question in gold:
            letter = rng.choices(["R", "W", "UR", "UW", "UE"], [6, 8, 1, 2, 2])[0]
            correct = question["correct"]
            other = rng.choice([o for o in "12345" if o != correct])
            row = {"run": name, "question": question["question"], "answer": "", "candidate": ""}
            if letter in "RW":
                row["answer"] = correct if letter == "R" else other
            elif letter != "UE":
                row["candidate"] = correct if letter == "UR" else other
            if letter != "UE" or rng.random() < 0.5:  # else the row is missing altogether
                rows.append(row)
            own[question["question"]] = letter
            if row["answer"]:
                answers.setdefault(name, {})[question["question"]] = row["answer"]
        outcomes[name] = own
    rng.shuffle(rows)
    for file, table in (("gold.csv", gold), ("runs.csv", rows)):
        with (folder / file).open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, list(table[0]))
            writer.writeheader()
            writer.writerows(table)
    return SlowCampaign(gold, outcomes, answers)


def deviation(values: list[Fraction]) -> float:
    """The standard deviation of a population."""
    return statistics.pstdev(float(v) for v in values)
