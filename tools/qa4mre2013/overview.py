"""Compares what `abstain` writes of the bundled campaign with every printed table of the overview.

It runs the commands, reads the files that they wrote and nothing else, and shares no code with
the generator or with abstain. A cell holds if it rounds to what is printed, an exact half either
way. What a sentence or a chart says is compared with what follows from the printed tables. The
output are the tables in docs/demo.md: what holds, what does not and why, what no run can give:

    python tools/qa4mre2013/overview.py --published tests/published
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from reasons import explained, others
from told import charts, sentences

Rows = list[dict[str, str]]
Cells = Iterator[tuple[str, str, str]]
"""Where a cell stands, what is printed there, what was written."""

LATE = "vens1302enen_LATE_RUN"
TOPICS = ("Alzheimer", "Music and Society", "Climate Change", "AIDS")
TEAM_IDS = {"btb": "btbn", "limsi": "lims"}
SUMMARIES = {"AVERAGE": "mean", "MEDIAN": "median", "STANDARDDEVIATION": "standard deviation"}


def read(path: Path) -> Rows:
    """All rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def holds(printed: str, written: str) -> bool:
    """Whether a written number rounds to a printed one; a mark must be the same."""
    try:
        value, text = Fraction(written), Fraction(printed)
    except ValueError:
        return printed == written
    places = len(printed.partition(".")[2])
    if not places:
        return value == text
    return abs(value - text) <= Fraction(1, 2 * 10 ** max(2, places)) + Fraction(1, 10**9)


class Overview:
    """What the commands wrote, by table."""

    def __init__(self, folder: Path, published: Path) -> None:
        self.folder, self.published = folder, published
        self.increases: dict[str, dict[str, str]] = {}
        for row in self.printed("sentences"):
            what = row["what"].partition(" (")[0]
            self.increases.setdefault(row["section"], {})[what] = row["printed"]

    def printed(self, name: str) -> Rows:
        """A published table."""
        return read(next(self.published.glob(f"qa4mre*_{name}*.csv")))

    def table(self, name: str, key: str = "run") -> dict[str, dict[str, str]]:
        """A table that `campaign` wrote, by the cells of one column."""
        return {row[key]: row for row in read(self.folder / "tables" / f"{name}.csv")}

    def kinds(self, table: str) -> Cells:
        """Tables 5, 6 and 7."""
        own = {
            "5": self.table("over_type", "type"),
            "6": self.table("over_knowledge", "knowledge"),
            "7": {
                "auxiliary": self.table("over_role", "role")["auxiliary"],
                "no correct answer": self.table("over_nca", "nca")["yes"],
                "modality and negation": self.table("over_modality", "modality")["yes"],
            },
        }[table]
        for row in self.printed("table5_6_7"):
            if row["table"] != table:
                continue
            if row["kind"] == "TOTAL":
                written = str(sum(int(other["questions"]) for other in own.values()))
            else:
                written = own[row["kind"]]["questions"]
            yield f"{row['kind']}, questions", row["questions"], written
            if row["mean_c_at_1"]:
                yield f"{row['kind']}, mean", row["mean_c_at_1"], own[row["kind"]]["mean"]

    def participation(self) -> Cells:
        """Tables 8 and 9: the main task, and all tasks together.

        The pilot tasks are campaigns made up with as many teams and runs as are printed of them,
        so their own rows are no evidence and not compared; nor is who registered, which is given.
        """
        own = {r["edition"]: r for r in read(self.folder / "tasks.csv")}
        for row in self.printed("table8_9"):
            if row["task"] in ("main", "all") and row["stage"] == "submitted runs":
                yield f"{row['task']}, teams", row["participants"], own[row["task"]]["teams"]
                yield f"{row['task']}, runs", row["runs"], own[row["task"]]["runs"]

    def languages(self) -> Cells:
        """Table 10."""
        own = self.table("languages", "source")
        for row in self.printed("table10"):
            source, target = row["source"].lower(), row["target"].lower()
            yield f"{source} to {target}", row["runs"], own[source][f"to {target}"]

    def means(self, table: str, name: str, key: str) -> Cells:
        """Tables 11 and 12: means by test and by topic."""
        own = self.table(name, key)
        for row in self.printed(table):
            written = (
                next(r for level, r in own.items() if level.startswith(row[key]))
                if (key == "topic")
                else own[row[key]]
            )
            yield row[key], row["mean"], written["mean"]

    def by_language(self) -> Cells:
        """Table 13; what it calls Baseline 2 is explained nowhere."""
        own = self.table("languages_runs")
        names = {"Baseline NCA": "none of the above", "Baseline 1": "random (expected)"}
        for row in self.printed("table13"):
            written = own.get(names.get(row["run"], row["run"]), {}).get(row["column"].lower(), "")
            yield f"{row['run']}, {row['column']}", row["c_at_1"], written or "nothing"

    def counts(self) -> Cells:
        """Table 14."""
        own = self.table("leaderboard")
        columns = {
            "c_at_1": "c@1",
            "unanswered": "blank",
            "unanswered_right": "blank (right)",
            "unanswered_wrong": "blank (wrong)",
            "unanswered_empty": "blank (empty)",
        }
        for row in self.printed("table14"):
            for column, text in row.items():
                if column != "run":
                    written = own[row["run"]][columns.get(column, column)]
                    yield f"{row['run']}, {column}", text, written

    def subsets(self) -> Cells:
        """Table 15."""
        own = self.table("subsets")
        for row in self.printed("table15"):
            for column, text in row.items():
                if column != "run":
                    name = {"modality_negation": "modality"}.get(column, column)
                    yield f"{row['run']}, {column}", text, own[row["run"]][name]

    def editions(self) -> Cells:
        """Table 16: 2013 is computed, the years before are printed figures that were read."""
        own = {r["edition"]: r for r in read(self.folder / "editions.csv")}
        for row in self.printed("table16"):
            if row["edition"] == "2013":
                yield "all runs", row["all_runs"], own["2013"]["all runs"]
                yield "best runs", row["best_runs"], own["2013"]["best runs"]

    def types(self) -> Cells:
        """Table 17, the rows of 2013."""
        own = self.table("over_type", "type")
        for row in self.printed("table17"):
            if row["year"] == "2013":
                yield f"{row['type']}, right", row["correct_pct"], own[row["type"]]["right %"]
                yield f"{row['type']}, blank", row["noa_pct"], own[row["type"]]["blank %"]

    def pairs(self, number: int) -> Cells:
        """Tables 18 to 21."""
        words = {"main": "main", "aux": "auxiliary", "better": "better", "total": "pairs"}
        for row in self.printed(f"table{number}"):
            levels = {
                (r["by"], r["level"]): r
                for r in read(self.folder / "tables" / f"pairs_{row['simplified']}.csv")
            }
            own = levels[row["group"], row["level"]]
            for column in list(row)[3:]:
                kind, what = column.split("_")
                yield f"{row['level']}, {column}", row[column], own[f"{kind}: {words[what]}"]
            for kind in ("all", "hyp", "nps", "ven") if number in (18, 20) else ():
                where = f"{row['level']} {kind} increase"
                text = self.increases.get(f"Table {number}", {}).get(where)
                if text is None:  # follows from the counts in its row
                    before, after = int(row[f"{kind}_main"]), int(row[f"{kind}_aux"])
                    text = str(round(Fraction(100 * (after - before), before))) if before else ""
                yield f"{row['level']}, {kind}_change", text, own[f"{kind}: change %"]

    def first_runs(self) -> Cells:
        """Table 22; a run other than the printed one is no match."""
        own = self.table("first_runs", "team")
        for row in self.printed("table22"):
            first, other = row["run_background_only"], row["best_other_run"]
            if first == "AVERAGE":
                found, same = own["mean"], True
            else:
                found = own[first[:4]]
                same = found["best other run"].removesuffix("_LATE_RUN") == other
            yield first, row["c_at_1_main"], found["c@1 of run 01"]
            written = found["c@1 of the other"] if same else f"of {found['best other run']}"
            yield other or "AVERAGE, other", row["c_at_1_main_other"], written

    def techniques(self, number: int, name: str) -> Cells:
        """Tables 23 to 25: the marks of a matrix."""
        own = self.table(f"techniques_{name}", name)
        for row in self.printed(f"table{number}"):
            team = TEAM_IDS.get(row["team"], row["team"])
            yield f"{row['attribute']}, {team}", "×", own[row["attribute"]][f"team {team}"]

    def appendix(self, name: str, table: str, prefix: str) -> Cells:
        """Appendices 1 and 2."""
        own = self.table(table)
        for row in self.printed(name):
            mine = own[SUMMARIES.get(row["run"], row["run"])]
            for column, text in row.items():
                if column != "run":
                    part = column.removeprefix(prefix)
                    level = TOPICS[int(part) - 1] if prefix == "topic_" and part != "all" else part
                    yield f"{row['run']}, {column}", text, mine[level]


CAMPAIGN, EDITIONS = "campaign", "editions --on role=main"
TASKS = "editions --registrations"


def all_tables(o: Overview) -> list[tuple[str, str, str, Cells]]:
    """Each printed table: its name, the command, the file that has it, its cells."""
    return [
        ("5 (question types)", CAMPAIGN, "over_type", o.kinds("5")),
        ("6 (knowledge required)", CAMPAIGN, "over_knowledge", o.kinds("6")),
        ("7 (kinds of question)", CAMPAIGN, "over_role, over_nca, over_modality", o.kinds("7")),
        ("8, 9 (main task, all tasks)", TASKS, "its table", o.participation()),
        ("10 (languages)", CAMPAIGN, "languages", o.languages()),
        (
            "11 (mean by reading test)",
            CAMPAIGN,
            "over_test",
            o.means("table11", "over_test", "test"),
        ),
        ("12 (mean by topic)", CAMPAIGN, "over_topic", o.means("table12", "over_topic", "topic")),
        ("13 (by language, baselines)", CAMPAIGN, "languages_runs", o.by_language()),
        ("14 (outcomes)", CAMPAIGN, "leaderboard", o.counts()),
        ("15 (subsets of questions)", CAMPAIGN, "subsets", o.subsets()),
        ("16 (editions, 2013)", EDITIONS, "its table", o.editions()),
        ("17 (types over all runs, 2013)", CAMPAIGN, "over_type", o.types()),
        ("18 (questions simplified)", CAMPAIGN, "pairs_question", o.pairs(18)),
        ("19 (pairs, questions)", CAMPAIGN, "pairs_question", o.pairs(19)),
        ("20 (answers simplified)", CAMPAIGN, "pairs_answer", o.pairs(20)),
        ("21 (pairs, answers)", CAMPAIGN, "pairs_answer", o.pairs(21)),
        ("22 (run 01 against the best other)", CAMPAIGN, "first_runs", o.first_runs()),
        ("23 (methods)", CAMPAIGN, "techniques_methods", o.techniques(23, "methods")),
        ("24 (knowledge)", CAMPAIGN, "techniques_knowledge", o.techniques(24, "knowledge")),
        ("25 (validation)", CAMPAIGN, "techniques_validation", o.techniques(25, "validation")),
        ("Appendix 1 (topics)", CAMPAIGN, "topics", o.appendix("appendix1", "topics", "topic_")),
        ("Appendix 2 (tests)", CAMPAIGN, "tests", o.appendix("appendix2", "tests", "test_")),
    ]


def lines(folder: Path, published: Path) -> tuple[list[str], list[str]]:
    """The table in Markdown, and every cell that does not hold."""
    o = Overview(folder, published)
    told = [(name, CAMPAIGN, "summary.md", cells) for name, cells in sentences(o)]
    drawn = [(f"chart: {name}", CAMPAIGN, "index.html", cells) for name, cells in charts(o)]
    made = ["| table | written by, in | numbers | hold |", "| --- | --- | ---: | ---: |"]
    misses: list[str] = []
    parts = {"all tables": all_tables(o), "sentences": told, "charts": drawn}
    for title, part in parts.items():
        total = held = 0
        for name, command, file, cells in part:
            found = list(cells)
            wrong = [own for own in found if not holds(own[1], own[2])]
            misses += [f"{name}: {where}: printed {a}, written {b}" for where, a, b in wrong]
            total, held = total + len(found), held + len(found) - len(wrong)
            if title == "all tables":
                counts = f"{len(found)} | {len(found) - len(wrong)}"
                made.append(f"| {name} | `{command}`: {file} | {counts} |")
        where = {"sentences": "`campaign`: summary.md", "charts": "`campaign`: index.html"}
        made.append(f"| **{title}** | {where.get(title, '')} | {total} | {held} |")
    return made, misses


def write(folder: Path, published: Path) -> None:
    """Run the commands whose files are compared."""

    def abstain(*command: str) -> None:
        subprocess.run([sys.executable, "-m", "abstain", *command], check=True, capture_output=True)

    abstain("demo", "-o", str(folder))
    earlier = folder / "earlier.csv"
    earlier.write_text(earlier_years(published), encoding="utf-8")
    years = [f"2011={earlier}", f"2012={earlier}", f"2013={folder}", "--on", "role=main"]
    abstain("editions", *years, "-o", str(folder / "editions.csv"))
    abstain("editions", *years, "-o", str(folder / "editions.json"))
    with tempfile.TemporaryDirectory() as place:
        rows = read(next(published.glob("*_table8_9_*.csv")))
        tasks = [f"main={folder}"]
        for row in rows:
            if row["task"] not in ("main", "all"):
                own = Path(place) / row["task"]
                make_up(own, int(row["participants"]), int(row["runs"]))
                abstain("campaign", str(own / "gold.csv"), str(own / "in"), "-o", str(own / "out"))
                tasks.append(f"{row['task']}={own / 'out'}")
        registered = {row["stage"]: row["participants"] for row in rows[:2]}
        given = Path(place) / "registered.csv"
        given.write_text(f"edition,{','.join(registered)}\nall,{','.join(registered.values())}\n")
        asked = ["--registrations", str(given), "-o", str(folder / "tasks.csv")]
        abstain("editions", *tasks, *asked)


def earlier_years(published: Path) -> str:
    """Tables 16 and 17 of 2011 and 2012 as `editions` takes them."""
    lines = ["year,type,all runs,best runs,right %,unanswered %"]
    for row in read(next(published.glob("*_table16_*.csv"))):
        lines.append(f"{row['edition']},,{row['all_runs']},{row['best_runs']},,")
    for row in read(next(published.glob("*_table17_*.csv"))):
        lines.append(f"{row['year']},{row['type']},,,{row['correct_pct']},{row['noa_pct']}")
    return "\n".join(lines) + "\n"


def make_up(folder: Path, teams: int, runs: int) -> None:
    """A pilot task of which only the numbers of teams and runs are known."""
    (folder / "in").mkdir(parents=True)
    (folder / "gold.csv").write_text("question,correct\nq1,A\nq2,B\n")
    for number in range(runs):
        team = folder / "in" / f"{folder.name} {number % teams}"
        team.mkdir(exist_ok=True)
        answers = f"question,answer\nq1,A\nq2,{'AB'[number % 2]}\n"
        (team / f"run{number // teams}.csv").write_text(answers)


def main() -> None:
    """Writes the campaign and prints the table; what does not hold goes to stderr."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--published", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "demo"
        write(folder, arguments.published)
        made, misses = lines(folder, arguments.published)
    print("\n".join([*made, "", *explained(misses), "", *others()]))
    print("\n".join(misses), file=sys.stderr)


if __name__ == "__main__":
    main()
