"""The published tables of the QA4MRE 2013 main task, read and typed."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

SUMMARIES = ("AVERAGE", "MEDIAN", "STANDARDDEVIATION")
KINDS = ("hyp", "nps", "ven")

Group = tuple[str, int | str]  # ("test", 3), ("topic", "AIDS"), ("subset", "nca")

# Table 7 prints 39 and 28, but no such sizes can give the scores of Table 15; these do.
NCA_QUESTIONS = 97
MODALITY_QUESTIONS = 30

# Table 14 prints 60 right, but 60 + 165 wrong is not 234 answered; 69 fits every other cell.
RIGHT_READ_AS = {"csui1308enen": 69}


@dataclass(frozen=True)
class ReadingTest:
    """One reading test: its topic and how many questions it has."""

    number: int
    topic: str
    main: int
    auxiliary: int

    @property
    def questions(self) -> int:
        """All its questions."""
        return self.main + self.auxiliary


@dataclass(frozen=True)
class Run:
    """What is printed of one run; scores are in hundredths."""

    name: str
    right: int
    unanswered: int
    unanswered_right: int
    unanswered_wrong: int
    scores: dict[Group, int]

    @property
    def team(self) -> str:
        """The team's four letters."""
        return self.name[:4]


@dataclass(frozen=True)
class Summary:
    """The printed mean, median and standard deviation of a column, in hundredths."""

    mean: int
    median: int | None = None
    deviation: int | None = None


@dataclass(frozen=True)
class PairTally:
    """Tables 18 to 21 for one set of main/auxiliary pairs."""

    main_right: int
    auxiliary_right: int
    better: int
    pairs: int


@dataclass(frozen=True)
class TypeTally:
    """Tables 5 and 17 for one question type: questions, right responses and blanks."""

    questions: int
    right: int
    unanswered: int


@dataclass(frozen=True)
class Published:
    """Everything the reconstruction is made from."""

    tests: list[ReadingTest]
    runs: list[Run]
    summaries: dict[Group, Summary]
    pairs: dict[tuple[str, str, str], PairTally]  # (part, kind, type or topic)
    types: dict[str, TypeTally]
    knowledge: dict[str, tuple[int, int]]  # questions and mean score in hundredths

    @property
    def topics(self) -> list[str]:
        """The topics in the order of their reading tests."""
        return list(dict.fromkeys(test.topic for test in self.tests))

    def auxiliary_right(self, topic: str) -> int:
        """Right responses of all runs to a topic's auxiliary questions (Tables 18 and 20)."""
        return sum(
            tally.auxiliary_right for (_, _, level), tally in self.pairs.items() if level == topic
        )


def hundredths(printed: str) -> int:
    """A printed two-decimal score as an integer number of hundredths."""
    return int(Decimal(printed) * 100)


def read_published(folder: Path) -> Published:
    """Reads the tables from the folder of CSV files."""

    def table(name: str) -> list[dict[str, str]]:
        with (folder / f"qa4mre2013_{name}.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def by_run(name: str) -> dict[str, dict[str, str]]:
        return {row["run"]: row for row in table(name)}

    tests = [
        ReadingTest(int(row["test"]), row["topic"], int(row["main"]), int(row["auxiliary"]))
        for row in table("test_sizes")
    ]
    topics = list(dict.fromkeys(test.topic for test in tests))
    by_topic, by_test = by_run("appendix1_topics"), by_run("appendix2_tests")
    subsets = by_run("table15_subsets")

    def appendix_scores(name: str) -> dict[Group, int]:
        scores: dict[Group, int] = {}
        for number, topic in enumerate(topics, 1):
            scores["topic", topic] = hundredths(by_topic[name][f"topic_{number}"])
        for test in tests:
            scores["test", test.number] = hundredths(by_test[name][f"test_{test.number}"])
        return scores

    def read_run(row: dict[str, str]) -> Run:
        name = row["run"]
        scores = appendix_scores(name)
        for subset in ("main", "auxiliary", "nca", "modality_negation"):
            scores["subset", subset] = hundredths(subsets[name][subset])
        return Run(
            name=name,
            right=RIGHT_READ_AS.get(name, int(row["right"])),
            unanswered=int(row["unanswered"]),
            unanswered_right=int(row["unanswered_right"]),
            unanswered_wrong=int(row["unanswered_wrong"]),
            scores=scores,
        )

    runs = [read_run(row) for row in table("table14_counts")]
    counts = table("table5_6_7_question_counts")
    return Published(
        tests=tests,
        runs=runs,
        summaries=_read_summaries([appendix_scores(name) for name in SUMMARIES], counts),
        pairs=_read_pairs(table),
        types=_read_types(table("table17_question_types"), counts, len(runs)),
        knowledge={
            row["kind"]: (int(row["questions"]), hundredths(row["mean_c_at_1"]))
            for row in counts
            if row["table"] == "6"
        },
    )


def _read_summaries(
    appendix_rows: list[dict[Group, int]], counts: list[dict[str, str]]
) -> dict[Group, Summary]:
    """The last rows of the appendices, and Table 7's means of the columns of Table 15."""
    means, medians, deviations = appendix_rows
    summaries = {group: Summary(means[group], medians[group], deviations[group]) for group in means}
    names = {
        "auxiliary": "auxiliary",
        "no correct answer": "nca",
        "modality and negation": "modality_negation",
    }
    for row in counts:
        if row["table"] == "7":
            summaries["subset", names[row["kind"]]] = Summary(hundredths(row["mean_c_at_1"]))
    return summaries


def _read_pairs(
    table: Callable[[str], list[dict[str, str]]],
) -> dict[tuple[str, str, str], PairTally]:
    """Tables 18 to 21, without their totals."""
    numbers = {"question": (18, 19), "answer": (20, 21)}
    pairs = {}
    for part, (responses, tallies) in numbers.items():
        rows = zip(
            table(f"table{responses}_{part}_simplification"),
            table(f"table{tallies}_{part}_pairs"),
            strict=True,
        )
        for right, better in rows:
            if right["level"] == "TOTAL":
                continue
            for kind in KINDS:
                pairs[part, kind, right["level"]] = PairTally(
                    int(right[f"{kind}_main"]),
                    int(right[f"{kind}_aux"]),
                    int(better[f"{kind}_better"]),
                    int(better[f"{kind}_total"]),
                )
    return pairs


def _read_types(
    percents: list[dict[str, str]], counts: list[dict[str, str]], runs: int
) -> dict[str, TypeTally]:
    """Question types: sizes, and the whole numbers nearest to Table 17's percents.

    Table 17 cuts most percents off instead of rounding them; the nearest whole numbers add up
    to exactly the right and unanswered totals of Table 14.
    """
    sizes = {row["kind"]: int(row["questions"]) for row in counts if row["table"] == "5"}
    types = {}
    for row in percents:
        if row["year"] == "2013":
            responses = sizes[row["type"]] * runs
            right, blank = (
                round(Decimal(row[column]) * responses / 100)
                for column in ("correct_pct", "noa_pct")
            )
            types[row["type"]] = TypeTally(sizes[row["type"]], right, blank)
    return types
