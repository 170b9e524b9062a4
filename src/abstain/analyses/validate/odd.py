"""What is odd but no fault: runs alike, answers that decline, a file named for another run."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import Any

import narwhals as nw
import polars as pl

from abstain.errors import Place, plural, shown
from abstain.io.files import bare_name
from abstain.io.frames import collect
from abstain.io.normalise import plain
from abstain.io.qa4mre import NONE_OF_THE_ABOVE
from abstain.judging.faults import Problem
from abstain.judging.gold import Gold
from abstain.judging.judge import FILE, INDEX, KIND, Judged
from abstain.judging.naming import parse_run_name
from abstain.judging.sources import GoldRuns
from abstain.outcomes import OUTCOMES

MOST_CELLS = 5_000_000
"""Responses beyond which runs are not compared with each other."""

MOST_TEXTS = 200
"""Different answers, the most frequent ones, that are read as sentences."""

SHORTEST = 3
"""Letters of the shortest sentence that declines (idk)."""

WRONG = OUTCOMES.index("wrong")

ALIKE = 0.85
"""How alike two texts are of which one is a slip of the other."""


def odd_things(source: GoldRuns) -> list[Problem]:
    """Everything that an organiser should look at, though the runs can be scored."""
    return [*_misnamed(source), *_silent_and_alike(source)]


def _misnamed(source: GoldRuns) -> list[Problem]:
    """Files whose name is that of one run and whose content is that of another."""
    found = []
    for own in source.responses:
        if own.table.run_id is None:
            continue
        run, line = own.table.run_id
        file = bare_name(own.table.name)
        if file.lower() == run.lower() or parse_run_name(file) is None:
            continue
        message = f"the file is named for run {shown(file)}, but its run id is {shown(run)}"
        place = Place(own.table.name, line)
        found.append(Problem("file name", place, message, own.run))
    return found


def _silent_and_alike(source: GoldRuns) -> list[Problem]:
    """Runs that answer nothing, and runs that answer every question alike."""
    judged = source.judged()
    sizes = [own.frame.select(nw.len().alias("rows")) for own in judged.sources]
    rows_there = sum(int(collect(own, "the responses")["rows"][0]) for own in sizes)
    if max(rows_there, len(source.gold) * len(judged.sources)) > MOST_CELLS:
        return []
    tables = []
    for frame in judged.frames:
        names = frame.collect_schema().names()
        said = [c for c in ("answer", "candidate", "answered") if c in names]
        answers: nw.LazyFrame[Any] = frame.select("run", FILE, INDEX, KIND, *said)
        table = collect(answers, "the responses")
        lacking = {c: pl.lit("") for c in ("answer", "candidate", "answered") if c not in said}
        tables.append(table.with_columns(**lacking).with_columns(pl.col(INDEX).cast(pl.Int64)))
    rows = pl.concat(tables, how="diagonal_relaxed").filter(pl.col("run").is_not_null())
    cells = [pl.col(c).fill_null("") for c in ("answer", "candidate", "answered")]
    marks = (
        rows.with_columns(__mark=pl.struct(pl.col(INDEX), *cells).hash(1))
        .group_by("run", maintain_order=True)
        .agg(
            pl.col("__mark").sum(),
            pl.len(),
            pl.col(FILE).first(),
            (cells[0] != "").any().alias("some"),
        )
        .sort("run")
    )
    found = [
        Problem(
            "no answers",
            Place(judged.sources[file].table.name),
            f"run {shown(run)} answers no question",
            run,
        )
        for run, file in marks.filter(~pl.col("some")).select("run", FILE).iter_rows()
    ]
    groups = marks.filter("some").group_by("__mark", "len", maintain_order=True).agg("run", FILE)
    for _, _, runs, files in groups.filter(pl.col("run").list.len() > 1).iter_rows():
        for run, file in list(zip(runs, files, strict=True))[1:]:
            message = f"run {shown(run)} has the same answers as run {shown(runs[0])}"
            place = Place(judged.sources[file].table.name)
            found.append(Problem("identical runs", place, message, run))
    return found + _declining(rows.filter(pl.col(KIND) == WRONG), judged)


def _declining(wrong: pl.DataFrame, judged: Judged) -> list[Problem]:
    """Runs some of whose wrong answers, the most frequent ones, say that they are none."""
    from abstain.judging.refusals.detect import LANGUAGES, rule_of

    texts = wrong["answer"].drop_nulls().value_counts(sort=True).head(MOST_TEXTS)
    texts = texts.filter(pl.col("answer").str.len_chars() >= SHORTEST).select("answer")
    if texts.is_empty():
        return []
    declines = texts.filter(rule_of("answer", tuple(LANGUAGES)).is_not_null())
    runs = (
        wrong.join(declines, on="answer", maintain_order="left")
        .group_by("run", maintain_order=True)
        .agg(pl.len(), pl.col("answer", FILE).first())
    )
    return [
        Problem(
            "refusals",
            Place(judged.sources[file].table.name),
            f"{plural(count, 'wrong answer declines', 'wrong answers decline')} in words, such as "
            f"{shown(text)}: --detect-refusals all (in Python: detect_refusals='all') makes such "
            "answers blanks",
            run,
        )
        for run, count, text, file in runs.sort("run").iter_rows()
    ]


def misspelt(gold: Gold) -> list[str]:
    """Questions whose option "None of the above" is misspelt: no baseline knows it for one."""
    if "option_texts" not in gold.frame.columns or "options" not in gold.frame.columns:
        return []
    texts = gold.frame["option_texts"].to_list()
    words = Counter(plain(text) for own in texts for text in own or ())
    if not words[NONE_OF_THE_ABOVE]:
        return []
    slips = {
        word
        for word in words
        if word != NONE_OF_THE_ABOVE
        and difflib.SequenceMatcher(None, word, NONE_OF_THE_ABOVE).ratio() >= ALIKE
    }
    return [
        f"{gold.name}: option {shown(option)} of question {shown(question)} says {shown(text)}, "
        "which is not exactly “None of the above”: the baseline nca leaves the question blank"
        for question, options, own in gold.frame.select(
            "question", "options", "option_texts"
        ).iter_rows()
        for option, text in zip(options or (), own or (), strict=False)
        if plain(text) in slips and not any(plain(t) == NONE_OF_THE_ABOVE for t in own)
    ]
