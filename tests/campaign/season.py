"""A made-up season: teams in folders and archives, some of whose files have faults."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

TEAMS = [f"{word}lab" for word in (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty",
    "knoll", "larch", "marsh", "north", "oasis", "prair", "quarr", "ridge", "shore", "tundr",
)]  # fmt: skip
QUESTIONS = 60
TESTS = 4


class Season:
    """A gold whose options are words of their own, so that a byte search finds every answer."""

    def __init__(self, seed: int = 0, questions: int = QUESTIONS) -> None:
        draw = random.Random(seed)
        self.draw = draw
        self.questions = [f"qq{number:03d}" for number in range(1, questions + 1)]
        self.options = {
            q: [f"{draw.getrandbits(48):012x}" for _ in range(4)] for q in self.questions
        }
        self.correct = {q: draw.choice(own) for q, own in self.options.items()}
        self.test = {q: str(1 + at % TESTS) for at, q in enumerate(self.questions)}

    def gold(self, *, answers: bool = True) -> str:
        head = "question,correct,options,test,kind\n" if answers else "question,options,test,kind\n"
        lines = []
        for at, q in enumerate(self.questions):
            cells = [q, self.correct[q]] if answers else [q]
            cells += ["|".join(self.options[q]), self.test[q], ("who", "why")[at % 2]]
            lines.append(",".join(cells))
        return head + "\n".join(lines) + "\n"

    def answers(self, chance: float, blank: float = 0.1) -> dict[str, str]:
        said = {}
        for q in self.questions:
            dice = self.draw.random()
            if dice < blank:
                said[q] = ""
            elif self.draw.random() < chance:
                said[q] = self.correct[q]
            else:
                said[q] = self.draw.choice(self.options[q])
        return said

    def run(self, chance: float) -> str:
        return as_csv(self.answers(chance))


def as_csv(answers: dict[str, str], head: str = "question,answer") -> str:
    return head + "\n" + "".join(f"{q},{a}\n" for q, a in answers.items())


def faults(season: Season) -> dict[str, tuple[str, bytes, str]]:
    """Kinds of faults: the file's name, its bytes, the kind that the report must name."""
    good = season.answers(0.4)
    first = season.questions[0]
    lines = as_csv(good).splitlines()
    told = {q: f"{a},{'YES' if a else 'NO'}" for q, a in good.items()}
    second = season.questions[1]
    sure = {q: f"{a},0.5" for q, a in good.items()}
    return {
        "spreadsheet": ("r.csv", b"PK\x03\x04" + bytes(26) + b"xl/", "unreadable"),
        "binary": ("r.csv", b"question,answer\nq\0,1\n", "unreadable"),
        "latin-1": ("r.csv", "question,answer\nqq001,é\n".encode("latin-1"), "unreadable"),
        "empty": ("r.csv", b"", "unreadable"),
        "cut xml": ("r.xml", b'<output run_id="x"><question q_id="1"', "unreadable"),
        "no answers": ("r.csv", b"question,reply\nqq001,zz\n", "unreadable"),
        "unknown question": ("r.csv", "\n".join([*lines, "zz9,x"]).encode(), "unknown question"),
        "repeated": ("r.csv", "\n".join([*lines, f"{first},x"]).encode(), "repeated question"),
        "missing": ("r.csv", "\n".join(lines[:-2]).encode(), "missing question"),
        "no option": ("r.csv", as_csv(good | {first: "zzz"}).encode(), "unknown option"),
        "bad answered": (
            "r.csv",
            as_csv(told | {second: "x,perhaps"}, "question,answer,answered").encode(),
            "unreadable 'answered'",
        ),
        "bad confidence": (
            "r.csv",
            as_csv(sure | {second: "x,7"}, "question,answer,confidence").encode(),
            "bad confidence",
        ),
    }


def lay_out(season: Season, folder: Path) -> dict[str, tuple[str, str]]:
    """20 teams × 3 runs, every other team a zip; for each team with a fault: its name and kind."""
    wrong = dict(zip(TEAMS, faults(season).items(), strict=False))
    expected = {}
    for at, team in enumerate(TEAMS):
        chance = 0.2 + 0.03 * at
        files = {f"run{n}.csv": season.run(chance).encode() for n in (1, 2, 3)}
        if team in wrong:
            name, (file, content, kind) = wrong[team]
            del files["run3.csv"]
            files[f"main/{file}"] = content
            expected[team] = (name, kind)
        if at % 2:
            place = folder / f"{team}.zip"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(zipped(files))
        else:
            for name, content in files.items():
                target = folder / team / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
    return expected


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr("__MACOSX/._run1.csv", b"\0")
        archive.writestr("README.md", b"our system")
    return made.getvalue()
