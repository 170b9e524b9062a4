"""Rebuilds the QA4MRE 2013 main task at question level from its published tables.

The result is one possible campaign that gives the published figures, not the original data.

    python tools/qa4mre2013/reconstruct.py --published tests/published --out DIR
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import random
import sys
from collections.abc import Iterable
from pathlib import Path

from counts import NCA, CountsFinder, choose_counts
from questions import (
    Outcomes,
    Question,
    assign_knowledge,
    assign_types,
    fill_outcomes,
    lay_out_questions,
    plan_pairs,
)

from published import Published, Run, read_published

OPTIONS = ("1", "2", "3", "4", "5")
NONE_OF_THE_ABOVE = "5"
TEAM_AGREEMENT = 0.7  # how often a run's wrong answer is its team's favourite wrong answer


def main() -> None:
    """Reads the published tables and writes the campaign."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args()
    published = read_published(arguments.published)
    questions, outcomes = reconstruct(published)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_csv(arguments.out / "gold.csv", gold_rows(questions))
    write_csv(arguments.out / "runs.csv.gz", response_rows(published, questions, outcomes))
    techniques = read_techniques(arguments.published)
    rows = (run_attributes(run) | techniques[run.name[:4]] for run in published.runs)
    write_csv(arguments.out / "runs_info.csv", rows)


def reconstruct(published: Published) -> tuple[list[Question], Outcomes]:
    """The questions and every run's outcomes on them."""
    progress("counts of right and blank responses for each run (takes a few minutes)")
    finder = CountsFinder(published)
    counts = choose_counts(published, finder)
    progress("pairs of main and auxiliary questions")
    pairs = plan_pairs(published, finder.sizes, counts)
    progress("outcomes and labels of all questions")
    questions = lay_out_questions(published, finder.sizes, pairs)
    outcomes = fill_outcomes(published, questions, counts)
    questions = assign_types(published, questions, outcomes)
    questions = assign_knowledge(published, questions, outcomes)
    return questions, outcomes


def progress(stage: str) -> None:
    """Tells a waiting person what is being worked on."""
    print(stage, file=sys.stderr, flush=True)


def gold_rows(questions: list[Question]) -> Iterable[dict[str, str]]:
    """The gold table, one row a question."""
    for question in questions:
        yield {
            "question": question.name,
            "correct": question.correct,
            "options": "|".join(OPTIONS),
            "topic": question.topic,
            "test": str(question.test),
            "type": question.type,
            "knowledge": question.knowledge,
            "auxiliary_of": question.auxiliary_of,
            "nca": yes_no(question.cell == "nca"),
            "modality": yes_no(question.cell == "modality"),
            "simplified": question.simplified,
            "simplification": question.simplification,
        }


def response_rows(
    published: Published, questions: list[Question], outcomes: Outcomes
) -> Iterable[dict[str, str]]:
    """The responses, one row a run and question."""
    for row, run in enumerate(published.runs):
        candidates = blank_candidates(run, questions, outcomes, row)
        for column, question in enumerate(questions):
            answer = candidate = ""
            if outcomes.blank[row, column]:
                candidate = candidates.get(column, "")
            elif outcomes.right[row, column]:
                answer = question.correct
            else:
                answer = wrong_option(run, question)
            yield {
                "run": run.name,
                "question": question.name,
                "answer": answer,
                "candidate": candidate,
            }


def blank_candidates(
    run: Run, questions: list[Question], outcomes: Outcomes, row: int
) -> dict[int, str]:
    """The options a run would have given for its unanswered questions, where it names any.

    Right ones are never "None of the above", which the systems hardly ever chose.
    """
    blanks = [column for column in range(len(questions)) if outcomes.blank[row, column]]
    random.Random(f"candidates {run.name}").shuffle(blanks)
    blanks.sort(key=lambda column: questions[column].cell == "nca")
    right = blanks[: run.unanswered_right]
    wrong = blanks[len(right) : len(right) + run.unanswered_wrong]
    candidates = {column: questions[column].correct for column in right}
    return candidates | {column: wrong_option(run, questions[column]) for column in wrong}


def wrong_option(run: Run, question: Question) -> str:
    """A wrong option: "None of the above" only from runs that also get it right sometimes."""
    chance = random.Random(f"{run.name} {question.name}")
    wrong = [option for option in OPTIONS if option != question.correct]
    if NONE_OF_THE_ABOVE in wrong:
        if chance.random() < run.scores[NCA] / 100:
            return NONE_OF_THE_ABOVE
        wrong.remove(NONE_OF_THE_ABOVE)
    if chance.random() < TEAM_AGREEMENT:
        return random.Random(f"{run.team} {question.name}").choice(wrong)
    return chance.choice(wrong)


def run_attributes(run: Run) -> dict[str, str]:
    """What a run's name says: jucs1302enen is team jucs, 2013, run 02, English to English."""
    name, _, suffix = run.name.partition("_")
    return {
        "run": run.name,
        "team": name[:4],
        "number": name[6:8],
        "source": name[8:10],
        "target": name[10:12],
        "late": yes_no(suffix == "LATE_RUN"),
    }


TECHNIQUES = {"methods": "table23", "knowledge": "table24", "validation": "table25"}
TEAM_IDS = {"btb": "btbn", "limsi": "lims"}
"""Teams that Tables 23 to 25 call otherwise than their run ids do."""


def read_techniques(folder: Path) -> dict[str, dict[str, str]]:
    """What each team said of its system (Tables 23 to 25), lists in a cell."""
    found: dict[str, dict[str, list[str]]] = {}
    for column, table in TECHNIQUES.items():
        path = next(folder.glob(f"qa4mre2013_{table}_*.csv"))
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                team = TEAM_IDS.get(row["team"], row["team"])
                own = found.setdefault(team, {name: [] for name in TECHNIQUES})
                own[column].append(row["attribute"])
    return {
        team: {column: "|".join(names) for column, names in own.items()}
        for team, own in found.items()
    }


def yes_no(value: bool) -> str:
    """A flag as text."""
    return "yes" if value else "no"


def write_csv(path: Path, rows: Iterable[dict[str, str]]) -> None:
    """Writes rows with the same keys as a CSV file, packed if its name ends in .gz."""
    rows = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


if __name__ == "__main__":
    main()
