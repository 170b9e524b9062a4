"""What is known of a campaign's runs: their ids taken apart, and a table that the caller gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from abstain.errors import InputError, plural, shown
from abstain.io.columns import require
from abstain.io.frames import collect, into_lazy, open_table
from abstain.judging.run_names import parse_run_name


def read_runs_info(runs: Sequence[str], given: Any) -> tuple[pl.DataFrame, list[str]]:
    """What is known of the runs: their ids taken apart, and a table that the caller gave.

    With notes on names that only one side has: they may be slips.
    """
    parsed = [parse_run_name(run) for run in runs]
    frame = pl.DataFrame({"run": list(runs)})
    if any(parsed):
        frame = frame.with_columns(
            team=pl.Series([p.team if p else None for p in parsed], dtype=pl.String),
            number=pl.Series([f"{p.number:02d}" if p else None for p in parsed], dtype=pl.String),
            language=pl.Series([p.source if p else None for p in parsed], dtype=pl.String),
            first_run=pl.Series(
                [("01" if p.number == 1 else "others") if p else None for p in parsed],
                dtype=pl.String,
            ),
        )
    if given is None:
        return frame, []
    table = open_table(given, name="the runs' attributes")
    require(table, "run", "which names the run")
    info = collect(into_lazy(table.frame).select(*table.columns), table.name)
    info = info.with_columns(pl.all().cast(pl.String))
    twice = info.filter(pl.col("run").is_duplicated())
    if twice.height:
        raise InputError(f"run {shown(twice['run'][0])} stands twice", table.name)
    present = set(runs)
    unknown = [r for r in info["run"] if r not in present]
    if len(unknown) == info.height:
        raise InputError(f"names none of the runs (its first: {shown(unknown[0])})", table.name)
    kept = frame.drop([c for c in frame.columns if c != "run" and c in info.columns])
    joined = kept.join(info, on="run", how="left", maintain_order="left")
    named = set(info["run"])
    absent = [run for run in runs if run not in named]
    notes = [
        f"{what}: {', '.join(shown(str(r)) for r in names[:3])}{', …' if names[3:] else ''}"
        for what, names in (
            (f"{plural(len(unknown), 'run')} of {table.name} did not take part", unknown),
            (f"{plural(len(absent), 'run is', 'runs are')} not in {table.name}", absent),
        )
        if names
    ]
    return joined, notes
