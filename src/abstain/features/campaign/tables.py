"""The tables of an overview: each a `Grid` with a name, a title and a word on how to read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.campaign.overview import (
    ALL_RUNS,
    ATTRIBUTES,
    PLAIN,
    ROLE,
    Overview,
    Pairs,
    attribute_column,
    columns,
    free_name,
    from_the_best,
    grid_of,
    safe,
)
from abstain.features.campaign.participants import participant_tables
from abstain.features.campaign.result import Moved
from abstain.measures import measure
from abstain.outcomes import Counts, CountsArray
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import PageTable
from abstain.runs.corrections import Correction
from abstain.stats.orderings import at_least, over_runs

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray
    from abstain.runs.gold import Slices
    from abstain.stats.orderings import Marks

EXTRA = ("forced-accuracy", "correctly-discarded")
"""Measures that a leaderboard has besides the one that orders it."""
COUNTED = {"answered": "answered", "right": "right", "wrong": "wrong", "blank": "unanswered"}
SPLIT = {f"blank ({what})": f"unanswered_{what}" for what in ("right", "wrong", "empty")}
STATISTICS = {"median": "median", "mean": "mean", "standard deviation": "st. dev."}
"""What sums scores up, with the headings."""


def all_tables(c: Overview) -> list[PageTable]:
    """Every table that the data allow, in the order of an overview paper."""
    topic, test = c.result.topic_by, c.result.test_by
    tables = [leaderboard(c)]
    if topic:
        tables.append(by_slice(c, topic, "topics", "topic"))
    if test:
        tables.append(by_slice(c, test, "tests", "reading test"))
        tables.append(reading(c, test))
    tables += subset_table(c)
    for name in c.slices:
        if name not in (topic, test):
            tables.append(by_slice(c, name))
    tables += [attribute_table(c, name) for name in c.slices]
    if not c.result.blind:
        tables.append(question_table(c))
    tables += participant_tables(c)
    tables += correction_tables(c)
    if c.pairs:
        tables += pair_tables(c, c.pairs)
    taken: set[str] = set()
    return [replace(table, name=free_name(table.name, taken)) for table in tables]


def leaderboard(c: Overview) -> PageTable:
    passed = tests_passed(c)
    lines = []
    for i, row in enumerate(c.result.rows):
        low, high = row.intervals.get(c.result.measure, (None, None))
        info = {"status": "official", **row.info}
        ranked = {"#": row.rank, "low": low, "high": high, "group": row.group}
        lines.append(_line(c, row.run, c.overall[i], passed[i], info) | ranked)
    unranked = {run.name: {**run.info, "status": run.status} for run in c.result.unranked}
    for name, (k, parts) in c.beside.items():
        scores = c.measure(parts[c.result.test_by]) if c.result.test_by else np.zeros(0)
        reached = int(at_least(scores, c.result.pass_mark).sum())
        lines.append(_line(c, name, k, reached, unranked.get(name, {})))
    best = from_the_best(c, np.array([line[str(c.measure)] for line in lines], float))
    cells = {name: [lines[i][name] for i in best] for name in _names(c)}
    dim = {at for at, i in enumerate(best) if i >= len(c.runs)}
    apart = " Rows in italics have no rank and are in no average." * bool(dim)
    text = f"Outcomes of every run.{apart}"
    return PageTable("leaderboard", "Runs", text, grid_of(c, cells, dim=dim))


def _line(
    c: Overview, name: str, k: Counts, passed: int | None, info: Mapping[str, str | None]
) -> dict[str, Any]:
    """The cells of a run that has no rank, by column."""
    return {
        "#": "",
        "run": name,
        "low": None,
        "high": None,
        "group": "",
        "outcomes": (k.right, k.wrong, k.unanswered),
        **{column: getattr(k, name) for column, name in (COUNTED | SPLIT).items()},
        **{str(m): m(k) for m in (*map(measure, EXTRA), c.measure)},
        "tests passed": passed,
        **{name: info.get(name) or "" for name in ("team", "language", "status")},
    }


def _names(c: Overview) -> list[str]:
    """The columns of the leaderboard; a blind one counts blanks without their candidates."""
    names = ["#", "run", str(c.measure), "low", "high"]
    names += ["group"] * any(row.group for row in c.result.rows)
    names += ["outcomes", *COUNTED]
    if not c.result.blind:
        names += [*SPLIT, *(name for name in EXTRA if name != str(c.measure))]
    names += ["tests passed"] * bool(c.result.test_by)
    names += [name for name in ("team", "language") if name in c.info]
    return names + ["status"] * bool("status" in c.info or c.result.unranked)


def tests_passed(c: Overview) -> list[int | None]:
    """How many reading tests each run passed; None where a blind phase hides one of its scores."""
    if c.result.test_by is None:
        return [None] * len(c.runs)
    scores = c.slice_scores[c.result.test_by]
    passed = np.count_nonzero(at_least(scores, c.result.pass_mark), axis=1).tolist()
    hidden = np.isnan(scores) & c.result.blind
    return [None if gone.any() else n for n, gone in zip(passed, hidden, strict=True)]


def reading(c: Overview, test_by: str) -> PageTable:
    scores, tests = c.slice_scores[test_by], c.slices[test_by]
    parts = {"": np.ones(len(tests.names), bool)}
    if c.result.topic_by:
        topics = c.slices[c.result.topic_by]
        for number, name in enumerate(topics.names):
            inside = tests.slice_of[(topics.slice_of == number) & (tests.slice_of >= 0)]
            parts[f"{name}: "] = np.isin(np.arange(len(tests.names)), inside)
    means = f"of {c.measure} over the reading tests, all or those of a topic"
    cells: dict[str | Column, list[Any]] = {"run": c.runs, "tests passed": tests_passed(c)}
    for label, chosen in parts.items():
        summary = over_runs(scores[:, chosen].T)
        hidden = np.isnan(scores[:, chosen]).any(axis=1) & c.result.blind
        for statistic, word in STATISTICS.items():
            head = Column(f"{label}{word}", "score", means=means)
            cells[head] = np.where(hidden, np.nan, summary[statistic]).tolist()
    return PageTable(
        "reading",
        "Reading perspective",
        f"{c.measure} on each of the {len(tests.names)} reading tests, summarised by run. A test "
        f"is passed with {c.result.pass_mark:g} or more.",
        grid_of(c, cells),
    )


def by_slice(c: Overview, attribute: str, name: str = "", what: str = "") -> PageTable:
    scores = np.concatenate([c.scores[:, None], c.slice_scores[attribute]], axis=1)
    what, name = what or attribute, name or f"by_{safe(attribute)}"
    means = f"{c.measure} on the questions of this {what}"
    heads = [Column(value, "score", means=means) for value in c.slices[attribute].names]
    grid = _summed_up(c, [*columns(c, "run", "all"), *heads], scores)
    for reference, (k, parts) in c.beside.items():
        grid.dim.add(len(grid.rows))
        grid.rows.append([reference, c.measure(k), *c.measure(parts[attribute]).tolist()])
    some = " Mean, median and deviation are over the runs shown." * (c.whom(attribute) != ALL_RUNS)
    text = sizes_text(c.slices[attribute]) + some
    return PageTable(name, f"{c.measure} by {what}", text, grid)


def sizes_text(slices: Slices) -> str:
    names, sizes = slices.names, slices.sizes.tolist()
    if len(names) > 1 and len(set(sizes)) == 1:
        return f"{plural(sizes[0], 'question')} in each."
    parts = ", ".join(f"{name} {size}" for name, size in zip(names, sizes, strict=True))
    return f"Questions: {shorten(parts, 400, placeholder=' …')}."


def _summed_up(c: Overview, heads: list[Column], scores: Array) -> Grid:
    rows: list[list[Cell]] = [[run, *scores[i].tolist()] for i, run in enumerate(c.runs)]
    below: list[list[Cell]] = [[word, *row.tolist()] for word, row in over_runs(scores).items()]
    dim = set(range(len(rows), len(rows) + len(below)))
    return Grid(heads, rows + below, breaks={len(rows)}, dim=dim)


def subset_table(c: Overview) -> Iterator[PageTable]:
    """All, main and auxiliary questions, and every subset that a yes/no attribute marks."""
    roles = c.slices[ROLE].names if ROLE in c.slices else []
    chosen = [(name, ROLE, name) for name in sorted(roles, key="auxiliary".__eq__)]
    for attribute, s in c.slices.items():
        if attribute != ROLE and set(s.names) <= {"yes", "no"} and "yes" in s.names:
            chosen.append((attribute, attribute, "yes"))
    if not chosen:
        return
    heads, scores, sizes = columns(c, "run", "all"), [c.scores], []
    for name, attribute, value in chosen:
        means = ATTRIBUTES.get(name, f"{c.measure} on these questions")
        heads.append(Column(name, "score", means=means, plain=name in PLAIN))
        part = c.slices[attribute].names.index(value)
        scores.append(c.slice_scores[attribute][:, part])
        sizes.append(f"{name} {c.slices[attribute].sizes[part]}")
    grid = _summed_up(c, heads, np.stack(scores, axis=-1))
    title, text = f"{c.measure} on subsets", f"Questions: {', '.join(sizes)}."
    yield PageTable("subsets", title, text, grid)


def attribute_table(c: Overview, attribute: str) -> PageTable:
    """Each slice of an attribute over all runs: share right and blank, mean score, best."""
    s, scores = c.slices[attribute], c.slice_scores[attribute]
    total = CountsArray(c.sliced[attribute].table.sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        right, blank = (100 * share / total.n for share in (total.right, total.unanswered))
    best = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=0)
    best_scores = scores[best, np.arange(len(best))]
    mean, median, deviation = over_runs(scores).values()
    cells: dict[str | Column, Any] = {
        attribute_column(attribute, "questions"): np.array(s.names, object),
        "questions": s.sizes,
        **({"runs": (~np.isnan(scores)).sum(axis=0)} if c.result.blind else {}),
        "right %": right,
        "blank %": blank,
        "mean": mean,
        "median": median,
        "st. dev.": deviation,
        "best": best_scores,
        "best run": np.where(np.isnan(best_scores), "", np.array(c.runs, object)[best]),
    }
    return PageTable(
        f"over_{safe(attribute)}",
        f"Over {c.whom(attribute)}, by {attribute}",
        "The percentage of responses that are right, and of those that are blank; "
        f"{c.measure} over {c.whom(attribute)}.",
        grid_of(c, {head: column.tolist() for head, column in cells.items()}),
    )


def question_table(c: Overview) -> PageTable:
    (right, wrong, blank), asked = c.tried, c.result.questions
    text = f"In how many of {plural(len(c.runs), 'run')} each question was right, hardest first."
    cells: dict[str | Column, list[Any]] = {"question": asked.attributes["question"]}
    for name in filter(None, (c.result.topic_by, c.result.test_by)):
        values = [value or "" for value in asked.attributes[name]]
        cells[attribute_column(name, "questions")] = values
    cells |= {"right": right.tolist(), "wrong": wrong.tolist(), "blank": blank.tolist()}
    if any(asked.choices):
        cells["correct"] = asked.correct
        cells["answers given"] = [
            ", ".join(f"{answer} ({count})" for answer, count in answers[:5])
            for answers in asked.choices
        ]
        text += " Answers: an answer and, in brackets, how many runs gave it."
    if "text" in asked.attributes:
        cells["text"] = [text or "" for text in asked.attributes["text"]]
    hardest = hardest_first(right, wrong)
    ordered = {head: [column[i] for i in hardest] for head, column in cells.items()}
    return PageTable("questions", "Questions", text, grid_of(c, ordered))


def hardest_first(right: IntArray, wrong: IntArray) -> IntArray:
    """Questions by how few runs had them right, then by how many had them wrong."""
    return np.lexsort((np.arange(len(right)), -wrong, right))


def pair_tables(c: Overview, pairs: Pairs) -> Iterator[PageTable]:
    parts = pairs.levels("simplified") or {"": pairs.everything}
    for part, inside in parts.items():
        yield PageTable(
            f"pairs_{safe(part)}".rstrip("_"),
            f"Main and auxiliary questions, {part} simplified" if part else "Main and auxiliary",
            f"Right responses of all {len(c.runs)} runs on {int(inside.sum())} main questions and "
            "on their auxiliary twins, by what is simplified.",
            _pair_grid(c, pairs, inside),
        )
    cells: dict[str | Column, list[Any]] = {"run": [*c.runs, "all runs"]}
    for name, of_runs in zip(FOURFOLD, pairs.fourfold.T, strict=True):
        cells[name] = [*of_runs.tolist(), int(of_runs.sum())]
    yield PageTable(
        "pairs_runs",
        "Main and auxiliary questions by run",
        "Auxiliary only: the run knows the answer but lacks the inference, which only the main "
        "question needs.",
        grid_of(c, cells, dim={len(c.runs)}),
    )


FOURFOLD = ("both right", "main only", "auxiliary only", "neither")
PAIR_COLUMNS = {
    "main": "right responses to main questions",
    "auxiliary": "right responses to their auxiliary twins",
    "change %": "the increase of right responses on the auxiliary twins, in percent",
    "better": "pairs in which more runs got the auxiliary question right than the main one",
    "pairs": "how many pairs there are",
}


def _pair_grid(c: Overview, pairs: Pairs, inside: Marks) -> Grid:
    kinds = {"all": pairs.everything, **pairs.levels("simplification")}
    heads = [
        Column(f"{kind}: {name}", "count", means=means)
        for kind in kinds
        for name, means in PAIR_COLUMNS.items()
    ]
    grid = Grid([*columns(c, "by", "level"), *heads], [])
    for attribute in ("type", c.result.topic_by):
        if not attribute or attribute not in pairs.attributes.columns:
            continue
        grid.breaks.add(len(grid.rows))
        levels = pairs.levels(attribute)
        names = c.slices[attribute].names if attribute in c.slices else []
        masks = {level: inside & levels.get(level, ~pairs.everything) for level in names}
        for level, mask in {**masks, "TOTAL": inside}.items():
            counts = [n for of_kind in kinds.values() for n in pairs.counts(mask & of_kind)]
            rounded = [None if n is None else round(n) for n in counts]
            grid.rows.append([attribute, level, *rounded])
    return grid


def correction_tables(c: Overview) -> Iterator[PageTable]:
    if c.result.corrections:
        grid = Grid.of_rows(Correction, c.result.corrections, *Correction.__struct_fields__)
        text = "everyone: all have it right; none: it counts for nobody; else the new key."
        yield PageTable("corrections", "Corrected questions", text, grid)
    if c.reranked:
        grid = Grid.of_rows(Moved, c.reranked, *Moved.__struct_fields__, measure=c.measure)
        text = "Runs whose rank the corrections changed."
        yield PageTable("corrections_ranks", "What the corrections changed", text, grid)
