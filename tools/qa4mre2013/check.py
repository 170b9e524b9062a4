"""Recomputes every published figure from the rebuilt campaign and compares.

Shares no code with the generator. A figure holds if it is within half a unit of the last
printed digit, so at an exact half either rounding is accepted; there is no other tolerance.

    python tools/qa4mre2013/check.py --published tests/published --out DIR
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

HUNDREDTH = Fraction(1, 100)
LATE_RUN = "vens1302enen_LATE_RUN"
OPTIONS = ("1", "2", "3", "4", "5")
MAIN_QUESTIONS_OF_A_TEST = 15


def read(path: Path) -> list[dict[str, str]]:
    """All rows of a CSV file, perhaps packed."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Report:
    """Counts the cells of each table that hold and remembers those that do not."""

    def __init__(self) -> None:
        self.cells: dict[str, int] = {}
        self.misses: dict[str, list[str]] = {}

    def add(
        self, table: str, where: str, printed: str, obtained: Fraction | int, holds: bool
    ) -> None:
        """Enters one cell."""
        self.cells[table] = self.cells.get(table, 0) + 1
        missed = self.misses.setdefault(table, [])
        if not holds:
            shown = obtained if isinstance(obtained, int) else f"{float(obtained):.5f}"
            missed.append(f"{where}: printed {printed}, obtained {shown}")

    def count(self, table: str, where: str, printed: str, obtained: int) -> None:
        """Enters a whole number."""
        self.add(table, where, printed, obtained, int(printed) == obtained)

    def score(self, table: str, where: str, printed: str, obtained: Fraction) -> None:
        """Enters a number printed with two decimals."""
        holds = abs(obtained - Fraction(printed)) <= HUNDREDTH / 2
        self.add(table, where, printed, obtained, holds)

    def deviation(self, table: str, where: str, printed: str, variance: Fraction) -> None:
        """Enters a standard deviation printed with two decimals."""
        low, high = Fraction(printed) - HUNDREDTH / 2, Fraction(printed) + HUNDREDTH / 2
        holds = max(low, Fraction(0)) ** 2 <= variance <= high**2
        self.add(table, where, printed, Fraction(float(variance) ** 0.5), holds)

    def show(self) -> None:
        """Prints everything."""
        for table, cells in self.cells.items():
            print(f"{table}: {cells} cells, {cells - len(self.misses[table])} hold")
            for miss in self.misses[table]:
                print(f"    {miss}")
        total = sum(self.cells.values())
        missed = sum(map(len, self.misses.values()))
        print(f"all tables: {total} cells, {total - missed} hold, {missed} do not")


class Campaign:
    """The rebuilt questions and responses."""

    def __init__(self, folder: Path) -> None:
        self.gold = {row["question"]: row for row in read(folder / "gold.csv")}
        self.outcomes: dict[str, dict[str, str]] = {}
        self.responses = read(folder / "runs.csv.gz")
        for row in self.responses:
            correct = self.gold[row["question"]]["correct"]
            if row["answer"]:
                outcome = "right" if row["answer"] == correct else "wrong"
            elif row["candidate"]:
                right = row["candidate"] == correct
                outcome = "unanswered_right" if right else "unanswered_wrong"
            else:
                outcome = "unanswered_empty"
            self.outcomes.setdefault(row["run"], {})[row["question"]] = outcome
        for run, outcomes in self.outcomes.items():
            if outcomes.keys() != self.gold.keys():
                raise ValueError(f"{run}: not one response to every question")

    def where(self, **attributes: str) -> list[str]:
        """The questions with these attributes."""
        return [
            question
            for question, row in self.gold.items()
            if all(row[name] == value for name, value in attributes.items())
        ]

    def main(self) -> list[str]:
        """The main questions."""
        return self.where(auxiliary_of="")

    def auxiliary(self) -> list[str]:
        """The auxiliary questions."""
        return [question for question, row in self.gold.items() if row["auxiliary_of"]]

    def tally(self, run: str, questions: Iterable[str], outcome: str) -> int:
        """How many of the questions have an outcome that starts so."""
        return sum(self.outcomes[run][question].startswith(outcome) for question in questions)

    def tally_all(self, questions: list[str], outcome: str) -> int:
        """The same over all runs."""
        return sum(self.tally(run, questions, outcome) for run in self.outcomes)

    def c_at_1(self, run: str, questions: list[str]) -> Fraction:
        """c@1 of a run on some questions."""
        n = len(questions)
        right = self.tally(run, questions, "right")
        unanswered = self.tally(run, questions, "unanswered")
        return (right + Fraction(right * unanswered, n)) / n

    def mean_c_at_1(self, questions: list[str]) -> Fraction:
        """The mean over all runs of their c@1."""
        scores = [self.c_at_1(run, questions) for run in self.outcomes]
        return sum(scores, Fraction(0)) / len(scores)


def check_sizes(campaign: Campaign, published: list[dict[str, str]], report: Report) -> None:
    """Tables 5, 6 and 7."""
    special = {
        "auxiliary": campaign.auxiliary(),
        "no correct answer": campaign.where(nca="yes"),
        "modality and negation": campaign.where(modality="yes"),
    }
    for row in published:
        kind, table = row["kind"], f"Table {row['table']}"
        if kind == "TOTAL":
            questions = list(campaign.gold)
        elif table == "Table 5":
            questions = campaign.where(type=kind)
        elif table == "Table 6":
            questions = campaign.where(knowledge=kind)
        else:
            questions = special[kind]
        report.count(table, f"{kind}, questions", row["questions"], len(questions))
        if row["mean_c_at_1"]:
            mean = campaign.mean_c_at_1(questions)
            report.score(table, f"{kind}, mean c@1", row["mean_c_at_1"], mean)


def check_counts(campaign: Campaign, published: list[dict[str, str]], report: Report) -> None:
    """Table 14."""
    everything = list(campaign.gold)
    for row in published:
        run = row["run"]
        right = campaign.tally(run, everything, "right")
        wrong = campaign.tally(run, everything, "wrong")
        score = campaign.c_at_1(run, everything)
        report.score("Table 14", f"{run}, c_at_1", row["c_at_1"], score)
        report.count("Table 14", f"{run}, answered", row["answered"], right + wrong)
        for column in list(row)[3:]:
            obtained = campaign.tally(run, everything, column)
            report.count("Table 14", f"{run}, {column}", row[column], obtained)


def check_subsets(campaign: Campaign, published: list[dict[str, str]], report: Report) -> None:
    """Table 15."""
    subsets = {
        "all": list(campaign.gold),
        "main": campaign.main(),
        "auxiliary": campaign.auxiliary(),
        "nca": campaign.where(nca="yes"),
        "modality_negation": campaign.where(modality="yes"),
    }
    for row in published:
        for subset, questions in subsets.items():
            score = campaign.c_at_1(row["run"], questions)
            report.score(f"Table 15, {subset}", row["run"], row[subset], score)


def check_types(campaign: Campaign, published: list[dict[str, str]], report: Report) -> None:
    """Table 17, the rows of 2013."""
    for row in published:
        if row["year"] != "2013":
            continue
        questions = campaign.where(type=row["type"])
        responses = len(questions) * len(campaign.outcomes)
        for column, outcome in (("correct_pct", "right"), ("noa_pct", "unanswered")):
            percent = Fraction(100 * campaign.tally_all(questions, outcome), responses)
            report.score("Table 17 (2013)", f"{row['type']}, {column}", row[column], percent)


def check_pairs(
    campaign: Campaign, published: list[dict[str, str]], table: str, report: Report
) -> None:
    """Tables 18 to 21."""
    rights = {question: campaign.tally_all([question], "right") for question in campaign.gold}
    for row in published:
        for column in list(row)[3:]:
            kind, figure = column.split("_")
            obtained = 0
            for question in campaign.auxiliary():
                auxiliary = campaign.gold[question]
                main = campaign.gold[auxiliary["auxiliary_of"]]
                if main["test"] != auxiliary["test"] or main["auxiliary_of"]:
                    raise ValueError(f"{question} has no main question in its test")
                if auxiliary["simplified"] != row["simplified"]:
                    continue
                if kind not in ("all", auxiliary["simplification"]):
                    continue
                if row["level"] not in ("TOTAL", auxiliary[row["group"]]):
                    continue
                obtained += {
                    "main": rights[main["question"]],
                    "aux": rights[question],
                    "better": int(rights[question] > rights[main["question"]]),
                    "total": 1,
                }[figure]
            report.count(table, f"{row['level']}, {column}", row[column], obtained)


def check_appendix(
    campaign: Campaign,
    published: list[dict[str, str]],
    groups: dict[str, list[str]],
    table: str,
    report: Report,
) -> None:
    """Appendices 1 and 2; the standard deviation is the population's."""
    for column, questions in groups.items():
        scores = {run: campaign.c_at_1(run, questions) for run in campaign.outcomes}
        ordered = sorted(scores.values())
        n = len(ordered)
        mean = sum(ordered, Fraction(0)) / n
        for row in published:
            name, printed = row["run"], row[column]
            if name == "AVERAGE":
                report.score(table, f"{name}, {column}", printed, mean)
            elif name == "MEDIAN":
                median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
                report.score(table, f"{name}, {column}", printed, median)
            elif name == "STANDARDDEVIATION":
                variance = sum(((score - mean) ** 2 for score in ordered), Fraction(0)) / n
                report.deviation(table, f"{name}, {column}", printed, variance)
            else:
                report.score(table, f"{name}, {column}", printed, scores[name])


def check_external(campaign: Campaign, published: list[dict[str, str]], report: Report) -> None:
    """Table 22."""
    for run_column, column in (
        ("run_background_only", "c_at_1_main"),
        ("best_other_run", "c_at_1_main_other"),
    ):
        scores = []
        for row in published[:-1]:
            name = row[run_column] if row[run_column] in campaign.outcomes else LATE_RUN
            scores.append(campaign.c_at_1(name, campaign.main()))
            report.score("Table 22", name, row[column], scores[-1])
        mean = sum(scores, Fraction(0)) / len(scores)
        report.score("Table 22", f"AVERAGE, {column}", published[-1][column], mean)


def check_layout(campaign: Campaign, table_15: list[dict[str, str]]) -> None:
    """What no table prints: options, numbering, and who never chooses "None of the above"."""
    expected_number: dict[str, int] = {}
    for question, row in campaign.gold.items():
        if row["correct"] not in OPTIONS or (row["correct"] == OPTIONS[-1]) != (
            row["nca"] == "yes"
        ):
            raise ValueError(f"{question}: its correct option does not fit")
        number = expected_number[row["test"]] = expected_number.get(row["test"], 0) + 1
        if question != f"t{int(row['test']):02}q{number:02}":
            raise ValueError(f"{question}: not in order")
        if (number > MAIN_QUESTIONS_OF_A_TEST) != bool(row["auxiliary_of"]):
            raise ValueError(f"{question}: auxiliary questions come after the main ones")
    never = {row["run"] for row in table_15 if Fraction(row["nca"]) == 0}
    for row in campaign.responses:
        options = {row["answer"], row["candidate"]} - {""}
        if not options <= set(OPTIONS) or (row["run"] in never and OPTIONS[-1] in options):
            raise ValueError(f"{row['run']}, {row['question']}: unexpected option")


def main() -> None:
    """Checks the campaign in one folder against the tables in another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args()

    def table(name: str) -> list[dict[str, str]]:
        return read(arguments.published / f"qa4mre2013_{name}.csv")

    campaign = Campaign(arguments.out)
    report = Report()
    check_sizes(campaign, table("table5_6_7_question_counts"), report)
    check_counts(campaign, table("table14_counts"), report)
    subsets = table("table15_subsets")
    check_layout(campaign, subsets)
    check_subsets(campaign, subsets, report)
    check_types(campaign, table("table17_question_types"), report)
    for number, name in (
        (18, "question_simplification"),
        (19, "question_pairs"),
        (20, "answer_simplification"),
        (21, "answer_pairs"),
    ):
        check_pairs(campaign, table(f"table{number}_{name}"), f"Table {number}", report)
    check_external(campaign, table("table22_external_knowledge"), report)
    tests = table("test_sizes")
    topics = list(dict.fromkeys(row["topic"] for row in tests))
    everything = {"all": list(campaign.gold)}
    by_topic = {f"topic_{i}": campaign.where(topic=topic) for i, topic in enumerate(topics, 1)}
    by_test = {f"test_{row['test']}": campaign.where(test=row["test"]) for row in tests}
    appendix_1, appendix_2 = table("appendix1_topics"), table("appendix2_tests")
    check_appendix(campaign, appendix_1, everything | by_topic, "Appendix 1", report)
    check_appendix(campaign, appendix_2, everything | by_test, "Appendix 2", report)
    report.show()


if __name__ == "__main__":
    main()
