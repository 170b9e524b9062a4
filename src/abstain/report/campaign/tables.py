"""The tables of an overview: each a `Grid` with a name, a title and a word on how to read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from abstain.analyses.campaign.overview import ROLE, Overview, Pairs
from abstain.errors import plural
from abstain.measures import measure
from abstain.outcomes import Counts, CountsArray
from abstain.report.campaign.headings import explained, kinds_of_simplification
from abstain.report.campaign.participants import listed_attributes, participant_tables
from abstain.report.campaign.questions import question_table
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import PageTable
from abstain.stats.standings import at_least, over_runs

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.judging.slices import Slices
    from abstain.outcomes import Array

EXTRA = ("forced-accuracy", "correctly-discarded")
"""Measures that a leaderboard has besides the one that orders it."""


def all_tables(c: Overview) -> list[PageTable]:
    """Every table that the data allow, in the order of an overview paper."""
    tables = [leaderboard(c)]
    if c.result.topic_by:
        tables.append(by_slice(c, c.result.topic_by, "topics", f"{c.measure} by topic"))
    if c.result.test_by:
        tables.append(by_slice(c, c.result.test_by, "tests", f"{c.measure} by reading test"))
        tables.append(reading(c))
    if subsets := subset_table(c):
        tables.append(subsets)
    others = [name for name in c.slices if name not in (c.result.topic_by, c.result.test_by)]
    for name in others:
        tables.append(by_slice(c, name, f"by_{safe(name)}", f"{c.measure} by {name}"))
    tables += [attribute_table(c, name) for name in c.slices]
    if not c.result.blind:
        tables.append(question_table(c))
    tables += teams(c)
    tables += groups(c)
    if c.pairs:
        tables += pair_tables(c, c.pairs)
    tables += participant_tables(c)
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


def left_out(*scores: Array) -> str:
    """A sentence on scores that do not exist, which no mean, median or deviation holds."""
    lacking = sum(int(np.count_nonzero(np.isnan(block))) for block in scores)
    if not lacking:
        return ""
    return f" Undefined (–), so left out of means and medians: {plural(lacking, 'score')}."


def safe(name: str) -> str:
    """A name that a file may have."""
    return "".join(sign if sign.isalnum() else "_" for sign in name.lower())[:40]


def short(text: str, most: int = 400) -> str:
    """A list in a sentence, cut where it is long."""
    return text if len(text) <= most else text[: most - 1].rsplit(",", 1)[0] + " …"


# ---------------------------------------------------------------- question answering perspective


def leaderboard(c: Overview) -> PageTable:
    """Every run with its outcomes, from the best to the worst, the reference runs among them."""
    plain = c.result.blind  # then blanks are counted without their candidates
    extra = [] if plain else [m for m in map(measure, EXTRA) if m != c.measure]
    info: list[str] = [n for n in ("team", "language") if n in c.runs_info.columns]
    unranked = {own.name: own for own in c.result.unranked}
    info += ["status"] if unranked else []
    columns = [Column("#"), Column("run"), Column(str(c.measure), "score")]
    columns += [Column("low", "score"), Column("high", "score")]
    groups = any(row.group for row in c.result.rows)
    columns += [Column("group")] if groups else []
    columns.append(Column("outcomes", "bar"))
    columns.append(Column("answered", "count"))
    names = ["right", "wrong", "unanswered"]
    names += [] if plain else ["unans. right", "unans. wrong", "unans. empty"]
    columns += [Column(n, "count") for n in names]
    columns += [Column(str(m), "score") for m in extra]
    if c.result.test_by:
        columns.append(Column("tests passed", "count"))
    columns += [Column(n) for n in info]

    def cells(
        rank: str, name: str, score: float, k: Counts, passed: int | None, *more: Cell
    ) -> list[Cell]:
        """A row; `more` are the interval, the group and what is known of the run."""
        low, high, group, *known = more
        return [
            *(rank, name, score, low, high, *([group] if groups else [])),
            *((k.right, k.wrong, k.unanswered), k.answered, k.right, k.wrong, k.unanswered),
            *(() if plain else (k.unanswered_right, k.unanswered_wrong, k.unanswered_empty)),
            *(m(k) for m in extra),
            *([passed] if c.result.test_by else []),
            *known,
        ]

    passed = tests_passed(c)
    entries: list[tuple[float, bool, list[Cell]]] = []
    for i, own in zip(c.order, c.result.rows, strict=True):
        ends = own.intervals.get(c.result.measure, (None, None))
        known = {"status": "official", **own.info}
        more = [*ends, own.group, *(known.get(n) or "" for n in info)]
        score = float(c.scores[i])
        row = cells(own.rank, own.run, score, c.overall[i], passed[i], *more)
        entries.append((score, False, row))
    for name, (k, parts) in c.baselines.items():
        value, reached = c.measure(k), 0
        if c.result.test_by:
            papers = c.measure(parts[c.result.test_by])
            reached = int(at_least(papers, c.result.pass_mark).sum())
        known = unranked[name].info if name in unranked else {}
        row = cells(
            "", name, value, k, reached, None, None, "", *(known.get(n) or "" for n in info)
        )
        entries.append((value, True, row))
    sign = -1 if c.measure.higher_is_better else 1
    entries.sort(key=lambda e: (np.isnan(e[0]), sign * float(np.nan_to_num(e[0])), e[1]))
    dim = {n for n, (_, is_reference, _) in enumerate(entries) if is_reference}
    return PageTable(
        "leaderboard",
        "Runs",
        "Outcomes of every run; reference runs are listed without a rank"
        + (
            ", and so are late and unofficial runs, which are left out of every average."
            if unranked
            else "."
        ),
        Grid(columns, [row for _, _, row in entries], dim=dim),
    )


def tests_passed(c: Overview) -> list[int | None]:
    """How many reading tests each run passed; None where a blind phase hides one of its scores."""
    if c.result.test_by is None:
        return [None] * len(c.runs)
    scores = c.slice_scores[c.result.test_by]
    passed = np.count_nonzero(at_least(scores, c.result.pass_mark), axis=1).tolist()
    if not c.result.blind:
        return list(passed)
    lacking = np.count_nonzero(np.isnan(scores), axis=1).tolist()
    return [None if gone else own for own, gone in zip(passed, lacking, strict=True)]


def reading(c: Overview) -> PageTable:
    """The measure of each reading test, summed up by run: overall and by topic."""
    assert c.result.test_by is not None
    scores = c.slice_scores[c.result.test_by]
    tests = c.slices[c.result.test_by]
    parts: list[tuple[str, npt.NDArray[np.bool_]]] = [("all", np.ones(len(tests.names), bool))]
    if c.result.topic_by:
        topics = c.slices[c.result.topic_by]
        for number, name in enumerate(topics.names):
            inside = np.unique(tests.slice_of[(topics.slice_of == number) & (tests.slice_of >= 0)])
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
    rows: list[list[Cell]] = [[c.runs[i], passed[i], *summed[i].tolist()] for i in c.order]
    return PageTable(
        "reading",
        "Reading perspective",
        f"{c.measure} on each of the {len(tests.names)} reading tests, summarised by run. A test "
        f"is passed with {c.result.pass_mark:g} or more." + left_out(scores),
        Grid(columns, rows),
    )


# ----------------------------------------------------------------------------------- breakdowns


def by_slice(c: Overview, attribute: str, name: str, title: str) -> PageTable:
    """Runs × slices of an attribute, with mean, median and deviation over the runs."""
    scores = np.concatenate([c.scores[:, None], c.slice_scores[attribute]], axis=1)
    columns = [Column("run"), Column("all", "score")]
    columns += [Column(part, "score") for part in c.slices[attribute].names]
    grid = _summed_up(c, columns, scores)
    for reference, (k, parts) in c.baselines.items():
        grid.dim.add(len(grid.rows))
        grid.rows.append([reference, c.measure(k), *c.measure(parts[attribute]).tolist()])
    return PageTable(name, title, sizes_said(c.slices[attribute]) + left_out(scores), grid)


def sizes_said(slices: Slices) -> str:
    """How many questions each slice has."""
    names, sizes = slices.names, slices.sizes.tolist()
    if len(names) > 1 and len(set(sizes)) == 1:
        return f"{plural(sizes[0], 'question')} in each."
    parts = ", ".join(f"{name} {size}" for name, size in zip(names, sizes, strict=True))
    return short(f"Questions: {parts}") + "."


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
    scores = np.stack([c.scores, *(c.slice_scores[a][:, part] for _, a, part in chosen)], axis=-1)
    grid = _summed_up(c, columns, scores)
    sizes = ", ".join(f"{n} {int(c.slices[a].sizes[part])}" for n, a, part in chosen)
    reading_text = f"Questions: {sizes}." + left_out(scores)
    return PageTable("subsets", f"{c.measure} on subsets", reading_text, grid)


def attribute_table(c: Overview, attribute: str) -> PageTable:
    """Each slice of an attribute over all runs: share right and blank, mean score, best."""
    s = c.slices[attribute]
    counts = c.sliced[attribute]
    scores = c.slice_scores[attribute]
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
        "The percentage of responses that are right, and of those that are blank; "
        f"{c.measure} over the runs." + left_out(scores),
        Grid.of(zip(columns, cells, strict=True)),
    )


# ---------------------------------------------------------------------------- groups of runs


def teams(c: Overview) -> Iterator[PageTable]:
    """The best run of each team against its others."""
    if "team" not in c.runs_info.columns or c.runs_info["team"].drop_nulls().is_empty():
        return
    rows: list[list[Cell]] = []
    members: dict[str, list[int]] = {}
    for i in c.order:
        members.setdefault(c.runs_info["team"][i] or "–", []).append(i)
    for team, own in members.items():
        rest = c.scores[own[1:]]
        there = rest[~np.isnan(rest)]
        rows.append(
            [
                *(team, len(own), c.runs[own[0]], float(c.scores[own[0]])),
                float(there.mean()) if there.size else None,
                float(there.min()) if there.size else None,
            ]
        )
    columns = [Column("team"), Column("runs", "count"), Column("best run")]
    columns += [Column(n, "score") for n in (str(c.measure), "mean of the others", "lowest")]
    title = "The best run of each team against its others"
    reading_text = f"{c.measure} over all questions." + left_out(c.scores)
    yield PageTable("teams", title, reading_text, Grid(columns, rows))


def groups(c: Overview) -> Iterator[PageTable]:
    """Runs in groups by each attribute of the runs: mean, median, deviation, best."""
    for attribute in c.runs_info.columns:
        values = c.runs_info[attribute]
        if (
            attribute in ("run", "team", *listed_attributes(c))
            or not 1 < values.drop_nulls().n_unique() <= 30
        ):
            continue
        rows: list[list[Cell]] = []
        for value in sorted(values.drop_nulls().unique().to_list()):
            own = [i for i in c.order if values[i] == value]
            summary = over_runs(c.scores[own])
            best = own[0]
            cells: list[Cell] = [value, len(own), *(float(v) for v in summary.values())]
            rows.append([*cells, float(c.scores[best]), c.runs[best]])
        columns = [Column(attribute), Column("runs", "count")]
        columns += [Column(w, "score") for w in ("mean", "median", "st. dev.", "best")]
        columns.append(Column("best run"))
        yield PageTable(
            f"runs_by_{safe(attribute)}",
            f"Runs by {attribute}",
            f"{c.measure} over all questions." + left_out(c.scores),
            Grid(columns, rows),
        )


def pair_tables(c: Overview, pairs: Pairs) -> Iterator[PageTable]:
    """What the simplified twins of main questions show."""
    kinds = pairs.levels("simplification")
    parts = pairs.levels("simplified") or {"": pairs.everything}
    for part, inside in parts.items():
        title = f"Main and auxiliary questions, {part} simplified" if part else "Main and auxiliary"
        yield PageTable(
            f"pairs_{safe(part)}".rstrip("_"),
            title,
            f"Right responses of all {len(c.runs)} runs on {int(inside.sum())} main questions and "
            "on their auxiliary twins; by how many percent they increase on the twins; and the "
            "number of pairs in which more runs got the auxiliary question right than the main one."
            + kinds_of_simplification(kinds),
            _pair_grid(c, pairs, inside),
        )
    columns = [Column("run"), *(Column(n, "count") for n in _FOUR)]
    rows: list[list[Cell]] = [[c.runs[i], *map(int, pairs.fourfold[i])] for i in c.order]
    rows.append(["all runs", *map(int, pairs.fourfold.sum(axis=0))])
    yield PageTable(
        "pairs_runs",
        "Main and auxiliary questions by run",
        "Auxiliary only: the run knows the answer but lacks the inference, which only the main "
        "question needs.",
        Grid(columns, rows, dim={len(rows) - 1}),
    )


_FOUR = ("both right", "main only", "auxiliary only", "neither")


def _pair_grid(c: Overview, pairs: Pairs, inside: npt.NDArray[np.bool_]) -> Grid:
    kinds = [("all", pairs.everything), *pairs.levels("simplification").items()]
    columns = [Column("by"), Column("level")]
    for kind, _ in kinds:
        columns += [Column(f"{kind}: main", "count"), Column(f"{kind}: auxiliary", "count")]
        columns += [Column(f"{kind}: change %", "count")]
        columns += [Column(f"{kind}: better", "count"), Column(f"{kind}: pairs", "count")]
    grid = Grid(columns, [])
    for attribute in [
        n for n in ("type", c.result.topic_by) if n and n in pairs.attributes.columns
    ]:
        grid.breaks.add(len(grid.rows))
        values = c.slices[attribute].names if attribute in c.slices else []
        chosen = pairs.levels(attribute)
        for level in [*values, "TOTAL"]:
            mask = inside if level == "TOTAL" else inside & chosen.get(level, ~pairs.everything)
            cells: list[Cell] = [attribute, level]
            for _, of_kind in kinds:
                t = pairs.counts(mask & of_kind)
                change = None if t.change is None else round(t.change)
                cells += [t.main_right, t.auxiliary_right, change, t.better, t.pairs]
            grid.rows.append(cells)
    return grid
