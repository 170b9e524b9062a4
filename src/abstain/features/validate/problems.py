"""What is wrong with runs that could be read: every problem.

What is odd but no fault stands below: runs alike, answers that decline, a file called after another
run.
"""

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec.structs import replace

from abstain.errors import Place, plural, shown
from abstain.io.files import bare_name
from abstain.io.frames import collect, in_engine
from abstain.io.normalise import letters, matcher, plain
from abstain.io.qa4mre import NONE_OF_THE_ABOVE
from abstain.io.tables import ROW
from abstain.outcomes import CANDIDATES, CODES, KINDS, WRONG, Why, blank_kind
from abstain.reading import LANGUAGES, Reading
from abstain.runs.counting import refuse_counts, rows_by_run, run_count
from abstain.runs.faults import MOST_REPEATS, Problem, fault_problem, problem_at, repeats
from abstain.runs.gold import NONE_WORDS, Gold
from abstain.runs.judge import FILE, INDEX, KIND, YES, Judged
from abstain.runs.responses import Responses
from abstain.runs.run_names import parse_run_name
from abstain.runs.sources import GoldRuns

FLOOD = 20
"""More problems of one kind in one run become one."""
MOST = 10_000
"""Problems of one kind that are looked up; a file with more is not a submission with slips."""
HINTS = 100
"""Unknown ids for which the nearest known ones are looked up."""
REFUSALS = "refusals"
LETTERS = (
    "; --match letters (in Python: match='letters') takes A for option 1, B for option 2, and so on"
)


def problems_of(source: GoldRuns, reading: Reading) -> list[Problem]:
    """Everything that is wrong with runs that could be read."""
    judged = source.judged()
    for submission in judged.responses:
        refuse_counts(run_count(submission), 1, submission.table.name)
    problems = [*_faults(judged), *repeats(judged), *missing_questions(judged)]
    problems += [*_no_answers(judged), *_not_options(judged, reading.match)]
    return [*_without_floods(problems), *_shared_ids(judged.responses)]


MISSING = [blank_kind(Why.MISSING, candidate) for candidate in CANDIDATES]


def missing_questions(judged: Judged) -> Iterator[Problem]:
    ids = judged.gold.frame["question"]
    for frame in judged.frames:
        there = frame.filter(~(nw.col(KIND) % KINDS).is_in(MISSING))
        sizes = rows_by_run(judged, there)
        whole = sizes.filter(pl.col("distinct") == len(ids))["run"].to_list()
        seen = collect(
            there.select("run", INDEX, FILE)
            .filter(~nw.col(INDEX).is_null(), ~nw.col("run").is_in(whole))
            .unique(["run", INDEX]),
            judged.label,
        )
        for (run,), rows in seen.sort(FILE, "run").group_by(["run"], maintain_order=True):
            place = Place(judged.responses[rows[FILE][0]].table.name)
            for at in np.setdiff1d(np.arange(len(ids)), rows[INDEX].to_numpy()).tolist():
                message = f"run {shown(str(run))} has no response to question {shown(ids[at])}"
                yield problem_at("missing question", place, message, str(run), ids[at])


def _without_floods(problems: Sequence[Problem]) -> Iterator[Problem]:
    groups: dict[tuple[str, str | None, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.file, problem.run, problem.kind), []).append(problem)
    for (_, run, kind), single in groups.items():
        if len(single) <= FLOOD:
            yield from single
            continue
        which = ", ".join(shown(p.question) for p in single[:3] if p.question is not None)
        whose = f"run {shown(run)} has " if run else ""
        least = "at least " if len(single) in (MOST_REPEATS, MOST) else ""
        message = (
            f"{whose}{least}{plural(len(single), 'problem')} of one kind ({kind}: {which}, …); the "
            f"first: {single[0].message}"
        )
        yield replace(single[0], message=message, details=tuple(single))


def _faults(judged: Judged) -> Iterator[Problem]:
    for frame in judged.frames:
        rows = _first_rows(frame.filter(nw.col(KIND) >= CODES), judged)
        for number, row in enumerate(rows):
            yield fault_problem(judged, row, hints=number < HINTS)


def _no_answers(judged: Judged) -> Iterator[Problem]:
    says_yes = nw.col("answered").str.to_lowercase().is_in(YES)
    nothing = nw.col("answer").is_null() | (nw.col("answer") == "")
    for frame in judged.frames:
        if "answered" not in frame.collect_schema().names():
            continue
        for row in _first_rows(frame.filter(nw.col(KIND) < CODES, says_yes, nothing), judged):
            question = judged.gold.frame["question"][row[INDEX]]
            message = (
                f"question {shown(question)} is marked as answered but has no answer, expected an "
                "answer, or answered=NO"
            )
            yield problem_at("answer lacking", judged.place(row), message, row["run"], question)


def _not_options(judged: Judged, match: str) -> Iterator[Problem]:
    gold = judged.gold.frame
    if "options" not in gold.columns:
        return
    allowed = gold["options"]
    if match != "id":  # options in the form that answers have once they are judged
        normal = matcher(match)
        changed = [texts and [normal(text) for text in texts] for texts in allowed.to_list()]
        allowed = pl.Series("options", changed, dtype=allowed.dtype)
    for frame in judged.frames:
        names = frame.collect_schema().names()
        for column in (c for c in ("answer", "candidate") if c in names):
            stated = frame.filter(nw.col(KIND) < CODES, ~nw.col(column).is_null())
            pairs = collect(stated.select(INDEX, column).unique(), judged.label)
            options = pl.lit(allowed.gather(pairs[INDEX]))
            unknown = pairs.filter(
                ~pl.col(column).is_in(["", *NONE_WORDS]),  # "there is no answer" needs no option
                options.list.len() > 0,
                ~options.list.contains(pl.col(column)),
            )
            if unknown.is_empty():
                continue
            bad = in_engine(unknown, frame)
            for row in _first_rows(stated.join(bad, on=[INDEX, column], how="inner"), judged):
                question, known = gold["question"][row[INDEX]], gold["options"][row[INDEX]]
                message = (
                    f"{column} {shown(row[column])} is not an option of question "
                    f"{shown(question)} (its options: {', '.join(known.to_list()[:10])})"
                )
                if match == "id" and letters(row[column]) in [*map(letters, known)]:
                    message += LETTERS
                yield problem_at("unknown option", judged.place(row), message, row["run"], question)


def _first_rows(chosen: nw.LazyFrame[Any], judged: Judged) -> Iterator[dict[str, Any]]:
    order = [c for c in (FILE, ROW) if c in chosen.collect_schema().names()]
    rows = collect(chosen.sort(order).head(MOST), judged.label)
    return rows.iter_rows(named=True)


def _shared_ids(sources: Sequence[Responses]) -> Iterator[Problem]:
    first: dict[str, Place] = {}
    for source in sources:
        if source.table.run_id is None:
            continue
        run, line = source.table.run_id
        here = Place(source.table.name, line)
        if first.setdefault(run, here) is not here:
            message = (
                f"run id {shown(run)} is already used (first: {first[run]}), expected a different "
                "id for each run"
            )
            yield problem_at("shared run id", here, message, source.run)


MOST_CELLS = 5_000_000
"""Responses beyond which runs are not compared with each other."""
MOST_TEXTS = 200
"""Different answers, the most frequent ones, that are read as sentences."""
SHORTEST = 3
"""Letters of the shortest sentence that declines (idk)."""
ALIKE = 0.85
"""How alike two texts are of which one is a slip of the other."""


def odd_things(source: GoldRuns) -> list[Problem]:
    """Everything that an organiser should look at, though the runs can be scored."""
    odd = list(_other_names(source.responses))
    judged = source.judged()
    sizes = [submission.frame.select(nw.len().alias("rows")) for submission in judged.responses]
    count = sum(int(collect(size, "the responses")["rows"][0]) for size in sizes)
    if max(count, len(source.gold) * len(judged.responses)) > MOST_CELLS:
        return odd
    tables = []
    for frame in judged.frames:
        there = [c for c in TEXTS if c in frame.collect_schema().names()]
        table = collect(frame.select("run", FILE, INDEX, KIND, *there), "the responses")
        tables.append(table.with_columns(pl.col(INDEX).cast(pl.Int64)))
    rows = pl.concat(tables, how="diagonal_relaxed").filter(pl.col("run").is_not_null())
    wrong = rows.filter(pl.col(KIND) % KINDS == WRONG)
    return [*odd, *_silent_and_alike(rows, judged), *_declining(wrong, judged)]


TEXTS = ("answer", "candidate", "answered")


def _other_names(sources: Sequence[Responses]) -> Iterator[Problem]:
    for source in sources:
        run, line = source.table.run_id or ("", None)
        file = bare_name(source.table.name)
        if run and file.lower() != run.lower() and parse_run_name(file):
            message = f"the file is called after run {shown(file)}, but its run id is {shown(run)}"
            yield problem_at("file name", Place(source.table.name, line), message, source.run)


def _silent_and_alike(rows: pl.DataFrame, judged: Judged) -> Iterator[Problem]:
    texts = [pl.col(c).fill_null("") for c in TEXTS if c in rows.columns]
    marks = (
        rows.with_columns(__mark=pl.struct(pl.col(INDEX), *texts).hash(1))
        .group_by("run", maintain_order=True)
        .agg(pl.col("__mark").sum(), pl.len(), pl.col(FILE).first(), some=(texts[0] != "").any())
        .sort("run")
    )
    first: dict[tuple[int, int], str] = {}
    for run, mark, size, file, some in marks.iter_rows():
        place = Place(judged.responses[file].table.name)
        same = first.setdefault((mark, size), run)
        if not some:
            yield problem_at("no answers", place, f"run {shown(run)} answers no question", run)
        elif same != run:
            message = f"run {shown(run)} has the same answers as run {shown(same)}"
            yield problem_at("identical runs", place, message, run)


def _declining(wrong: pl.DataFrame, judged: Judged) -> Iterator[Problem]:
    """Runs some of whose wrong answers, the most frequent ones, say that they are none."""
    from abstain.runs.refusals import rule_of

    texts = wrong["answer"].drop_nulls().value_counts(sort=True).head(MOST_TEXTS)
    texts = texts.filter(pl.col("answer").str.len_chars() >= SHORTEST).select("answer")
    if texts.is_empty():
        return
    declines = texts.filter(rule_of("answer", LANGUAGES).is_not_null())
    declined = wrong.join(declines, on="answer", maintain_order="left")
    runs = declined.group_by("run").agg(pl.len(), pl.col("answer", FILE).first()).sort("run")
    for run, count, text, file in runs.iter_rows():
        message = (
            f"{plural(count, 'wrong answer declines', 'wrong answers decline')} in words, such as "
            f"{shown(text)}: --detect-refusals all (in Python: detect_refusals='all') makes such "
            "answers blanks"
        )
        yield problem_at(REFUSALS, Place(judged.responses[file].table.name), message, run)


def misspelt(gold: Gold) -> list[str]:
    """Questions whose option "None of the above" is misspelt: no baseline knows it for one."""
    if "option_texts" not in gold.frame.columns:
        return []
    texts_of = {
        question: {plain(text): text for text in texts or ()}
        for question, texts in gold.frame.select("question", "option_texts").iter_rows()
    }
    if not any(NONE_OF_THE_ABOVE in texts for texts in texts_of.values()):
        return []
    return [
        f"{gold.name}: question {shown(question)} says {shown(texts[near])}, which is not exactly "
        "“None of the above”: the baseline nca leaves it blank"
        for question, texts in texts_of.items()
        if NONE_OF_THE_ABOVE not in texts
        for near in difflib.get_close_matches(NONE_OF_THE_ABOVE, texts, 1, ALIKE)
    ]
