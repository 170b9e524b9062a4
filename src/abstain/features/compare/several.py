"""How a comparison by several measures looks, and the table of a paper with its marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from string import ascii_letters

from msgspec.structs import replace

from abstain.errors import UsageError, option, plural
from abstain.features.compare.result import (
    GROUP,
    CompareResult,
    RunRow,
    corrected_text,
    test_text,
    units_text,
)
from abstain.report.grid import Cell, Column, Grid, columns_of
from abstain.report.result import places
from abstain.report.view import listed, measure_summary

MEASURE = Column("measure", means="what the two scores are by", plain=True)
GROUP_OF_SCORE = replace(GROUP, joined=True)
ABOVE, BELOW = "†", "‡"


def heading(c: CompareResult, part: CompareResult) -> str:
    """A measure, with the number of questions where that is not the same for all of them."""
    differ = len({each.questions for each in c.parts}) > 1
    return part.measure.removeprefix("mean ") + (f" ({part.questions:,})" if differ else "")


def of_each(c: CompareResult, say: Callable[[CompareResult], list[str]]) -> list[str]:
    """What there is to say of each measure; what holds for all of them without naming one."""
    whose: dict[str, list[str]] = {}
    for part in c.parts:
        for text in say(part):
            whose.setdefault(text, []).append(heading(c, part))
    every = len(c.parts)
    return [
        text if len(names) == every else f"{listed(names)}: {text}" for text, names in whose.items()
    ]


def _score(c: CompareResult, part: CompareResult) -> tuple[Column, list[Cell]]:
    means = measure_summary(part.measure.removeprefix("mean "))
    return Column(heading(c, part), "score", means=means), [row.score for row in part.rows]


def systems(c: CompareResult, *, whole: bool = False) -> Grid:
    """Runs by measures, with groups; on a page (`whole`) with intervals and outcomes too."""
    columns = columns_of(RunRow, c.rows, "run", *["bar"][: whole and bool(c.rows[0].numbers)])
    for part in c.parts:
        columns.append(_score(c, part))
        if whole and part.interval_method is not None:
            level = {"level": 100 * c.level}
            ends = columns_of(RunRow, part.rows, "interval", **level)
            columns += [(replace(column, joined=True), cells) for column, cells in ends]
        if part.grouped:
            columns.append((GROUP_OF_SCORE, [row.group for row in part.rows]))
    return Grid.of(columns)


def beaten(part: CompareResult) -> Iterator[tuple[str, str]]:
    """Each pair whose difference is significant: the better run and the other one."""
    for pair in part.pairs:
        if pair.differs and pair.difference:
            better = (pair.difference > 0) == part.higher_is_better
            yield (pair.run, pair.against) if better else (pair.against, pair.run)


def marked(c: CompareResult) -> Grid:
    """Runs by measures as a paper shows them: the best in bold, marks where a run is better."""
    runs = [row.run for row in c.rows]
    if len(runs) > len(ascii_letters) and c.against is None:
        fewer = f"compare all with one: {option('against', 'RUN')}"
        raise UsageError(
            f"there are only {len(ascii_letters)} letters for {len(runs)} runs; {fewer}"
        )
    letter = dict(zip(runs, ascii_letters, strict=False))
    columns: list[tuple[Column, list[Cell]]] = columns_of(RunRow, c.rows, "run")
    if c.against is None:
        columns.insert(0, (Column(), [*letter.values()]))
    marks, bold = {}, set()
    for part in c.parts:
        at, pairs = len(columns), set(beaten(part))
        columns.append(_score(c, part))
        scores = [math.nan if row.score is None else row.score for row in part.rows]
        place = places(scores, higher_is_better=part.higher_is_better)
        bold |= {(row, at) for row, text in enumerate(place) if text.rstrip("=") == "1"}
        for row, run in enumerate(runs):
            if c.against is None:
                marks[row, at] = "".join(letter[other] for other in runs if (run, other) in pairs)
            else:
                better, worse = (run, c.against) in pairs, (c.against, run) in pairs
                marks[row, at] = ABOVE * better + BELOW * worse
    return Grid.of(columns, marks=marks, bold=bold, caption=caption(c))


def caption(c: CompareResult) -> str:
    """What the marks stand for: test, correction, level."""
    if c.against is None:
        what = "Superscripts name the runs that a run is significantly better than"
    else:
        what = f"{ABOVE}: significantly better than {c.against}, {BELOW}: significantly worse"
    every = [pair.differs for part in c.parts for pair in part.pairs]
    how = f"{test_text(c)}; {corrected_text(c)}; {100 * c.alpha:g} % level"
    texts = [f"{what} ({how}; {plural(len(every), 'comparison')})."]
    if untested := every.count(None):
        texts.append(f"{plural(untested, 'comparison has', 'comparisons have')} no verdict.")
    low = [heading(c, part) for part in c.parts if not part.higher_is_better]
    texts.append(f"Bold: the best by each measure{f' (low is good: {listed(low)})' * bool(low)}.")
    if len({part.questions for part in c.parts}) == 1:
        texts.append(f"{units_text(c.questions, c.unit)}.")
    return " ".join(texts)
