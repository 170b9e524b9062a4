"""The tables of an overview: each a `Grid` with a name, a title and a word on how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.campaign.campaign import ROLE
from abstain.analyses.campaign.overview import Overview
from abstain.errors import plural
from abstain.measures import measure
from abstain.outcomes import Counts, CountsArray
from abstain.report.campaign.grouped import (
    groups,
    left_out,
    pair_tables,
    safe,
    short,
    teams,
)
from abstain.report.campaign.headings import explained
from abstain.report.grid import Cell, Column, Grid
from abstain.report.pieces import PageTable
from abstain.stats.standings import at_least, over_runs, places

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

EXTRA = ("forced-accuracy", "correctly-discarded")
"""Measures that a leaderboard has besides the one that orders it."""


def all_tables(c: Overview) -> list[PageTable]:
    """Every table that the data allow, in the order of an overview paper."""
    tables = [leaderboard(c)]
    if c.topic:
        tables.append(by_part(c, c.topic, "topics", f"{c.measure} by topic"))
    if c.test:
        tables.append(by_part(c, c.test, "tests", f"{c.measure} by reading test"))
        tables.append(reading(c))
    if subsets := subset_table(c):
        tables.append(subsets)
    others = [name for name in c.slices if name not in (c.topic, c.test)]
    for name in others:
        tables.append(by_part(c, name, f"by_{safe(name)}", f"{c.measure} by {name}"))
    tables += [attribute_table(c, name) for name in c.slices]
    tables.append(question_table(c))
    tables += teams(c)
    tables += groups(c)
    if c.pairs:
        tables += pair_tables(c, c.pairs)
    named = str(c.measure)
    return _named_apart(
        [replace(t, grid=explained(t.grid, t.name, named, c.result.level)) for t in tables]
    )


def _named_apart(tables: Sequence[PageTable]) -> list[PageTable]:
    """A table is a file: attributes `a b` and `a_b` must not share one."""
    taken: set[str] = set()
    named = []
    for table in tables:
        name, number = table.name, 1
        while name in taken:
            number += 1
            name = f"{table.name}_{number}"
        taken.add(name)
        named.append(replace(table, name=name))
    return named


# ---------------------------------------------------------------- question answering perspective


def leaderboard(c: Overview) -> PageTable:
    """Every run with its outcomes, from the best to the worst, the reference runs among them."""
    extra = [m for m in map(measure, EXTRA) if m != c.measure]
    info = [n for n in ("team", "language") if n in c.runs_info.columns]
    columns = [Column("#"), Column("run"), Column(str(c.measure), "score")]
    columns += [Column("low", "score"), Column("high", "score")]
    groups = c.groups
    columns += [Column("group")] if groups else []
    columns.append(Column("outcomes", "bar"))
    columns.append(Column("answered", "count"))
    names = ("right", "wrong", "unanswered", "unans. right", "unans. wrong", "unans. empty")
    columns += [Column(n, "count") for n in names]
    columns += [Column(str(m), "score") for m in extra]
    if c.test:
        columns.append(Column("tests passed", "count"))
    columns += [Column(n) for n in info]

    def cells(
        rank: str, name: str, score: float, k: Counts, passed: int, *more: Cell
    ) -> list[Cell]:
        """A row; `more` are the interval, the group and what is known of the run."""
        low, high, group, *known = more
        return [
            *(rank, name, score, low, high, *([group] if groups else [])),
            *((k.right, k.wrong, k.unanswered), k.answered, k.right, k.wrong, k.unanswered),
            *(k.unanswered_right, k.unanswered_wrong, k.unanswered_empty),
            *(m(k) for m in extra),
            *([passed] if c.test else []),
            *known,
        ]

    better = c.measure.higher_is_better
    ranks = places(c.scores, higher_is_better=better)
    passed = tests_passed(c)
    entries: list[tuple[float, bool, list[Cell]]] = []
    for i in c.order:
        score, run = float(c.scores[i]), c.runs[i]
        more = [*c.intervals[i], groups.get(run, ""), *(c.runs_info[n][i] or "" for n in info)]
        row = cells(ranks[i], run, score, c.overall[i], int(passed[i]), *more)
        entries.append((score, False, row))
    for name, (k, parts) in c.baselines.items():
        own = at_least(c.measure(parts[c.test]), c.pass_mark).sum() if c.test else 0
        value = c.measure(k)
        row = cells("", name, value, k, int(own), None, None, "", *("" for _ in info))
        entries.append((value, True, row))
    sign = -1 if better else 1
    entries.sort(key=lambda e: (np.isnan(e[0]), sign * float(np.nan_to_num(e[0])), e[1]))
    dim = {n for n, (_, is_reference, _) in enumerate(entries) if is_reference}
    return PageTable(
        "leaderboard",
        "Runs",
        "Outcomes of every run; reference runs stand among them without a rank.",
        Grid(columns, [row for _, _, row in entries], dim=dim),
    )


# ------------------------------------------------------------------------- reading perspective


def tests_passed(c: Overview) -> npt.NDArray[np.int64]:
    """How many reading tests each run passed."""
    if c.test is None:
        return np.zeros(len(c.runs), np.int64)
    passed = at_least(c.slice_scores(c.test), c.pass_mark)
    return np.asarray(np.count_nonzero(passed, axis=1), np.int64)


def reading(c: Overview) -> PageTable:
    """The measure of each reading test, summed up by run: overall and by topic."""
    assert c.test is not None
    scores = c.slice_scores(c.test)
    tests = c.slices[c.test]
    parts: list[tuple[str, npt.NDArray[np.bool_]]] = [("all", np.ones(len(tests.names), bool))]
    if c.topic:
        topics = c.slices[c.topic]
        for number, name in enumerate(topics.names):
            inside = np.unique(tests.part_of[(topics.part_of == number) & (tests.part_of >= 0)])
            chosen = np.zeros(len(tests.names), bool)
            chosen[inside] = True
            parts.append((name, chosen))
    columns = [Column("run")]
    blocks: list[Array] = []
    for name, chosen in parts:
        label = "" if name == "all" else f"{name}: "
        columns += [Column(f"{label}{word}", "score") for word in ("median", "mean", "st. dev.")]
        summary = over_runs(scores[:, chosen].T)
        blocks += [summary["median"], summary["mean"], summary["standard deviation"]]
    passed = tests_passed(c)
    columns[1:1] = [Column("tests passed", "count")]
    summed = np.stack(blocks, axis=-1)
    rows: list[list[Cell]] = [[c.runs[i], int(passed[i]), *summed[i].tolist()] for i in c.order]
    return PageTable(
        "reading",
        "Reading perspective",
        f"{c.measure} of each of the {len(tests.names)} reading tests, summed up by run. A test "
        f"is passed with {c.pass_mark:g} or more." + left_out(scores),
        Grid(columns, rows),
    )


# ----------------------------------------------------------------------------------- breakdowns


def by_part(c: Overview, attribute: str, name: str, title: str) -> PageTable:
    """Runs × parts of an attribute, with mean, median and deviation over the runs."""
    scores = np.concatenate([c.scores[:, None], c.slice_scores(attribute)], axis=1)
    columns = [Column("run"), Column("all", "score")]
    columns += [Column(part, "score") for part in c.slices[attribute].names]
    grid = _summed_up(c, columns, scores)
    for reference, (k, parts) in c.baselines.items():
        grid.dim.add(len(grid.rows))
        grid.rows.append([reference, c.measure(k), *c.measure(parts[attribute]).tolist()])
    sizes = c.slices[attribute].sizes
    reading_text = "Questions: " + ", ".join(
        f"{part} {size}" for part, size in zip(c.slices[attribute].names, sizes, strict=True)
    )
    return PageTable(name, title, short(reading_text) + "." + left_out(scores), grid)


def _summed_up(c: Overview, columns: list[Column], scores: Array) -> Grid:
    """The scores of every run, and below them their mean, median and deviation."""
    rows: list[list[Cell]] = [[c.runs[i], *scores[i].tolist()] for i in c.order]
    grid = Grid(columns, rows, breaks={len(rows)})
    for word, values in over_runs(scores).items():
        grid.dim.add(len(grid.rows))
        grid.rows.append([word, *values.tolist()])
    return grid


def subset_table(c: Overview) -> PageTable | None:
    """All, main and auxiliary questions, and every subset that a yes/no attribute marks."""
    chosen: list[tuple[str, str, int]] = []
    for attribute, s in c.slices.items():
        if attribute == ROLE:
            chosen += [(name, attribute, part) for part, name in enumerate(s.names)]
        elif set(s.names) <= {"yes", "no"} and "yes" in s.names:
            chosen.append((attribute, attribute, s.names.index("yes")))
    if not chosen:
        return None
    chosen.sort(key=lambda item: (item[1] != ROLE, item[0] == "auxiliary"))
    columns = [Column("run"), Column("all", "score"), *(Column(n, "score") for n, _, _ in chosen)]
    scores = np.stack([c.scores, *(c.slice_scores(a)[:, part] for _, a, part in chosen)], axis=-1)
    grid = _summed_up(c, columns, scores)
    sizes = ", ".join(f"{n} {int(c.slices[a].sizes[part])}" for n, a, part in chosen)
    reading_text = f"Questions: {sizes}." + left_out(scores)
    return PageTable("subsets", f"{c.measure} on subsets", reading_text, grid)


def attribute_table(c: Overview, attribute: str) -> PageTable:
    """Each part of an attribute over all runs: share right and blank, mean score, best."""
    s = c.slices[attribute]
    counts = c.sliced[attribute]
    scores = c.slice_scores(attribute)
    total = CountsArray(counts.table.sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        right, unanswered = (100 * share / total.n for share in (total.right, total.unanswered))
    undefined = np.asarray(np.isnan(scores).all(axis=0))
    best = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=0)
    best_runs = np.where(undefined, "", np.array(c.runs, object)[best]).tolist()
    best_scores = np.take_along_axis(scores, best[None], axis=0)[0]
    columns = [Column(attribute), Column("questions", "count")]
    columns += [Column("right %", "percent"), Column("unanswered %", "percent")]
    columns += [Column(w, "score") for w in ("mean", "median", "st. dev.", "best")]
    columns.append(Column("best run"))
    numbers = (right, unanswered, *over_runs(scores).values(), best_scores)
    cells = [s.names, s.sizes.tolist(), *(block.tolist() for block in numbers), best_runs]
    return PageTable(
        f"over_{safe(attribute)}",
        f"Over all runs, by {attribute}",
        f"Percent of all responses that are right and blank; {c.measure} over the runs."
        + left_out(scores),
        Grid.of(zip(columns, cells, strict=True)),
    )


def question_table(c: Overview) -> PageTable:
    """Every question, the hardest first: how many runs had it right, wrong, blank."""
    right, questions = c.right, c.questions
    shown = [n for n in (c.topic, c.test) if n]
    columns = [Column("question"), *(Column(n) for n in shown)]
    columns += [Column(n, "count") for n in ("right", "wrong", "blank")]
    more = _question_details(c)
    columns += [Column(name) for name in more]
    hardest = hardest_first(right, c.wrong)
    cells: list[list[Cell]] = [questions["question"][hardest].to_list()]
    cells += [questions[n].fill_null("")[hardest].to_list() for n in shown]
    cells += [block[hardest].tolist() for block in (right, c.wrong, c.blank)]
    cells += [[column[i] for i in hardest] for column in more.values()]
    nobody = int((right == 0).sum())
    return PageTable(
        "questions",
        "Questions",
        f"How many of {plural(len(c.runs), 'run')} had each question right, the hardest first "
        f"(with as many right, the one that more had wrong). Right in no run: {nobody} of "
        f"{plural(len(right), 'question')} ({100 * nobody / len(right):.1f} %)."
        + (" Answers: an answer and, in brackets, how many runs gave it." if c.choices else ""),
        Grid.of(zip(columns, cells, strict=True)),
    )


def hardest_first(right: IntArray, wrong: IntArray) -> IntArray:
    """Questions by how few runs had them right, then by how many had them wrong."""
    return np.lexsort((np.arange(len(right)), -wrong, right))


def _question_details(c: Overview) -> dict[str, list[str]]:
    """What is right, what the runs answered, and the question's text where the gold has one."""
    questions = c.questions
    details: dict[str, list[str]] = {}
    if c.choices:
        nothing = questions["nothing_right"].to_list()
        accepted = questions["accepted"].to_list()
        details["correct"] = [
            "none" if none else " | ".join(texts)
            for none, texts in zip(nothing, accepted, strict=True)
        ]
        details["answers given"] = [
            ", ".join(f"{answer} ({count})" for answer, count in c.choices.get(i, [])[:5])
            for i in range(questions.height)
        ]
    if "text" in questions.columns:
        details["text"] = [text or "" for text in questions["text"].to_list()]
    return details
