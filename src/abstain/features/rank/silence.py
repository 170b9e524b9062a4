"""Returning nothing, as a decision: how often an empty list was right, and how often it was not."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from abstain.measures import measure
from abstain.outcomes import DecisionsArray
from abstain.rankings.rankings import Rankings
from abstain.report.grid import Column, Grid
from abstain.report.result import Facts, number

RATES = (
    ("over-refusal", "empty of the queries with something relevant"),
    ("under-refusal", "not empty of the nil queries"),
    ("abstention-precision", "nil of the queries with an empty list"),
    ("abstention-recall", "empty of the nil queries"),
    ("abstention-F1", "their harmonic mean"),
)
"""The measures of decisions that are shown, and what they are for lists."""
END = "an end of the interval"


class Rate(Facts, frozen=True, kw_only=True):
    """A rate of one run's decisions to return nothing."""

    run: Annotated[str, Column("run", plain=True)]
    rate: Annotated[str, Column("rate", plain=True)]
    count: Annotated[int, Column("count", "count", means="how many")]
    of: Annotated[int, Column("of", "count", means="of how many")]
    """For F1 the empty lists and the nil queries together; twice those that are both count."""
    value: Annotated[float | None, Column("value", "score", means="count / of")]
    """None where there is nothing to divide by."""
    low: Annotated[float | None, Column("low", "score", means=END)]
    high: Annotated[float | None, Column("high", "score", joined=True, means=END)]


def silence(rankings: Rankings, *, level: float = 0.95) -> tuple[Rate, ...]:
    """The rates of each run: an empty list is right for a nil query, and wrong for another.

    Intervals are exact (Clopper and Pearson), so that they hold for few queries too.
    """
    from abstain.stats.intervals import exact, exact_f1

    lists = rankings.with_nil(as_answer=False).lists
    skip = rankings.settings.missing == "skip"
    counted = ~lists.by_run(lists.missing) if skip else np.ones((len(lists.runs), 1), bool)
    empty, nil = lists.by_run(lists.depth) == 0, lists.nil
    both, over, missed, answered = (
        (counted & is_nil & is_empty).sum(axis=1)
        for is_nil, is_empty in ((nil, empty), (~nil, empty), (nil, ~empty), (~nil, ~empty))
    )
    none = np.zeros_like(both)
    decisions = DecisionsArray(np.stack([answered, none, over, missed, both, none], axis=-1))
    rows = []
    for name, _ in RATES:
        share = measure(name).definition.proportion
        count, of = share.of(decisions) if share else (2 * both, 2 * both + over + missed)
        low, high = (exact if share else exact_f1)(count, of, level=level)
        value = np.divide(count, of, out=np.full(len(of), np.nan), where=of > 0)
        columns = (each.tolist() for each in (count, of, value, low, high))
        rows.append([*zip(lists.runs, *columns, strict=True)])
    return tuple(
        Rate(run=run, rate=name, count=x, of=n, value=number(value), low=number(a), high=number(b))
        for of_run in zip(*rows, strict=True)
        for (name, _), (run, x, n, value, a, b) in zip(RATES, of_run, strict=True)
    )


def silence_table(rates: tuple[Rate, ...], level: float) -> Grid:
    """The rates as a table, run by run."""
    grid = Grid.of_rows(Rate, rates, *Rate.__struct_fields__)
    grid.breaks = {at for at, each in enumerate(rates) if each.rate == rates[0].rate}
    grid.title = f"Returning nothing, with exact intervals ({100 * level:g} %)"
    what = "; ".join(f"{name}: {means}" for name, means in RATES)
    grid.notes = [f"{what}."]
    return grid


def with_rates(scored: Grid, rates: tuple[Rate, ...]) -> Grid:
    """A table of one row a run with the rates beside it, each with its interval."""
    run = [column.name for column in scored.columns].index("run")
    cells = {(each.run, each.rate): (each.value, each.low, each.high) for each in rates}
    names = list(dict.fromkeys(each.rate for each in rates))
    rows = [[*row, *(c for n in names for c in cells[str(row[run]), n])] for row in scored.rows]
    ends = [Column(f"{name}{end}", "score") for name in names for end in ("", " low", " high")]
    return Grid([*scored.columns, *ends], rows, notes=scored.notes)
