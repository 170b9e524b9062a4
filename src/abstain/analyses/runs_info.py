"""What is known of runs besides their responses: a table that the organiser keeps (`--runs-info`).

`team`, `status` and `align` mean something by themselves; every other column groups runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from msgspec import Struct

from abstain.errors import InputError, UnknownNameError, plural, shown, some_of
from abstain.io.columns import require
from abstain.io.frames import collect, into_lazy, open_table
from abstain.io.names import exact
from abstain.judging.aligning import by_position
from abstain.judging.evaluation import Evaluation
from abstain.judging.gold import Gold
from abstain.judging.naming import parse_run_name, runs_of
from abstain.judging.responses import Responses
from abstain.judging.sources import GoldRuns

OFFICIAL, LATE, UNOFFICIAL, WITHDRAWN = "official", "late", "unofficial", "withdrawn"
STATUSES = (OFFICIAL, LATE, UNOFFICIAL, WITHDRAWN)
ALIGNS = ("id", "position")


class RunsInfo(Struct, frozen=True):
    """The table, as text: `run` and whatever else it says."""

    name: str
    frame: pl.DataFrame

    def of(self, column: str) -> dict[str, str]:
        """For each run what a column says of it, where it says something."""
        if column not in self.frame.columns:
            return {}
        return {
            run: said.strip()
            for run, said in self.frame.select("run", column).iter_rows()
            if said and said.strip()
        }

    def repaired(self, sources: Sequence[Responses], gold: Gold) -> list[Responses]:
        """The responses, those of runs that it aligns by position with the gold's ids."""
        wanted = {run for run, how in self.of("align").items() if how == "position"}
        if not wanted:
            return list(sources)
        return [
            by_position(own, gold, wanted) if own.run is None or own.run in wanted else own
            for own in sources
        ]

    def notes(self, runs: Sequence[str]) -> list[str]:
        """Names that only one side has: they may be slips."""
        present, named = set(runs), set(self.frame["run"])
        unknown = [run for run in self.frame["run"] if run not in present]
        absent = [run for run in runs if run not in named]
        if unknown and len(unknown) == self.frame.height:
            raise InputError(
                f"names none of the runs (the first name in it: {shown(unknown[0])})", self.name
            )
        return [
            f"{what}: {some_of([str(own) for own in names])}"
            for what, names in (
                (
                    f"{plural(len(unknown), f'run of {self.name} is', f'runs of {self.name} are')} "
                    "not among the runs that were read",
                    unknown,
                ),
                (f"{plural(len(absent), 'run is', 'runs are')} not in {self.name}", absent),
            )
            if names
        ]


def read_info(given: Any) -> RunsInfo:
    """Read the table; without one there is nothing to say of any run."""
    if given is None:
        return RunsInfo("", pl.DataFrame(schema={"run": pl.String}))
    if isinstance(given, RunsInfo):
        return given
    table = open_table(given, name="the runs' attributes")
    require(table, "run", "which names the run")
    frame = collect(into_lazy(table.frame).select(*map(exact, table.columns)), table.name)
    frame = frame.with_columns(pl.all().cast(pl.String))
    twice = frame.filter(pl.col("run").is_duplicated())
    if twice.height:
        raise InputError(f"run {shown(twice['run'][0])} appears twice", table.name)
    for column, known in (("status", STATUSES), ("align", ALIGNS)):
        if column in frame.columns:
            lowered = pl.col(column).str.strip_chars().str.to_lowercase()
            frame = frame.with_columns(lowered.alias(column))
            for said in frame[column].drop_nulls():
                if said and said not in known:
                    hint = f"{table.name} may say {', '.join(known)}"
                    raise UnknownNameError(column, said, known, hint=hint)
    return RunsInfo(table.name, frame)


def repaired(evaluation: Evaluation, info: RunsInfo) -> Evaluation:
    """The runs that the table aligns by position, with the gold's ids."""
    source = evaluation.source
    if not isinstance(source, GoldRuns) or "position" not in info.of("align").values():
        return evaluation
    fixed = info.repaired(source.responses, source.gold)
    return Evaluation(GoldRuns(source.gold, fixed, evaluation.reading), evaluation.reading)


class Team(Struct, frozen=True):
    """Who handed a run in, and what says so."""

    name: str
    by: str


def team_of(run: str, folder: str | None, said: Mapping[str, str]) -> Team | None:
    """The team of a run: by the table, by the folder, or by the run's id."""
    if run in said:
        return Team(said[run], "the column team")
    if folder:
        return Team(folder, "the folder")
    parsed = parse_run_name(run)
    return None if parsed is None else Team(parsed.team, "the run id")


def alike(teams: Iterable[str]) -> list[str]:
    """A note on teams whose names differ in case alone: they are counted as several."""
    found: dict[str, list[str]] = {}
    for team in sorted(set(teams)):
        found.setdefault(team.casefold(), []).append(team)
    return [
        f"teams {' and '.join(map(shown, own))} are counted as {len(own)} teams; to count them as "
        "one, give their runs the same team in a column 'team' of the table of runs"
        for own in found.values()
        if len(own) > 1
    ]


def teams_of(
    runs: Iterable[str], sources: Sequence[Responses], info: RunsInfo
) -> dict[str, Team | None]:
    """The team of every run."""
    said = info.of("team")
    folders = {run: own.team for own in sources if own.team for run in runs_of(own)}
    return {run: team_of(run, folders.get(run), said) for run in runs}
