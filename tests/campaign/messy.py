"""A messy season: a blank run, an identical pair, teams without a valid run, late, withdrawn."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

QUESTIONS = [f"q{n:02d}" for n in range(60)]
OPTIONS = "ABCD"
PRIVATE = "anna@example.org"
TEAMS = ("alfateam", "bravoteam", "golfteam", "hotelteam", "indiateam", "julietteam", "kiloteam")
PSEUDONYMS = dict(
    zip(TEAMS, ("wren", "lark", "tern", "swan", "stork", "heron", "finch"), strict=True)
)
INFO = f"""run,status,email,notes
indiateam/run1,withdrawn,,
indiateam/run2,withdrawn,,
moonless,late,{PRIVATE},sent after two reminders
"""

Answers = dict[str, str]


class Messy:
    """The files of the season below a folder, and what each run answered."""

    def __init__(self, here: Path) -> None:
        self.here, self.draw = here, random.Random(3)
        self.right = {q: self.draw.choice(OPTIONS) for q in QUESTIONS}
        self.topic = {q: ("law", "art", "sea")[at // 20] for at, q in enumerate(QUESTIONS)}
        lines = [f"{q},{self.right[q]},A|B|C|D,{self.topic[q]}\n" for q in QUESTIONS]
        (here / "gold.csv").write_text("question,correct,options,topic\n" + "".join(lines))
        (here / "info.csv").write_text(INFO)
        pairs = "".join(f"{team},{name}\n" for team, name in PSEUDONYMS.items())
        (here / "names.csv").write_text("team,pseudonym\n" + pairs)
        best, broken, strange = self.answers(0.8), self.answers(0.4), self.answers(0.4)
        del broken["q03"]
        strange["zz9"] = "A"
        self.runs: dict[str, Answers] = {}
        self.write("alfateam/run1", best)
        self.write("alfateam/run2", self.answers(0.6))
        self.write("bravoteam/run1", best)
        self.write("bravoteam/deep", self.answers(0.5))
        self.write("golfteam/run1", dict.fromkeys(QUESTIONS, ""))
        self.write("hotelteam/run1", broken)
        self.write("hotelteam/strange_v7", strange)
        self.write("indiateam/run1", self.answers(0.55))
        self.write("indiateam/run2", self.answers(0.5))
        self.write("julietteam/moonless", self.answers(0.45))
        self.write("kiloteam/owl", self.answers(0.3))
        self.write("kiloteam/Upper/run1", self.answers(0.35))

    def answers(self, chance: float, blank: float = 0.1) -> Answers:
        def one(q: str) -> str:
            if self.draw.random() < blank:
                return ""
            wrong = [option for option in OPTIONS if option != self.right[q]]
            return self.right[q] if self.draw.random() < chance else self.draw.choice(wrong)

        return {q: one(q) for q in QUESTIONS}

    def write(self, place: str, said: Mapping[str, str]) -> None:
        self.runs[place] = dict(said)
        path = self.here / "inbox" / f"{place}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("question,answer\n" + "".join(f"{q},{a}\n" for q, a in said.items()))

    @property
    def files(self) -> list[str]:
        """Every path and file name of what was handed in, and of what the organiser keeps."""
        inbox = [path for path in (self.here / "inbox").rglob("*") if path.is_file()]
        names = {path.name for path in inbox}
        return [str(self.here), "inbox", "gold.csv", "info.csv", "names.csv", *sorted(names)]

    def asked(self, *more: str) -> list[str]:
        """The command, with a folder for each that reads."""
        folders = ("organiser", "letters", "teams")
        named = [part for name in folders for part in (f"--{name}", str(self.here / name))]
        files = [str(self.here / name) for name in ("gold.csv", "inbox")]
        info = ["--runs-info", str(self.here / "info.csv"), "--skip-invalid"]
        return ["campaign", *files, "-o", str(self.here / "out"), *named, *info, *more]

    def c_at_1(self, place: str) -> float:
        said = self.runs[place]
        right = sum(said[q] == self.right[q] for q in QUESTIONS)
        blank = sum(not said[q] for q in QUESTIONS)
        return right / 60 * (1 + blank / 60)


def texts(folder: Path) -> dict[Path, str]:
    """Every file of a folder, by its path in it."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder): path.read_text("utf-8") for path in paths}
