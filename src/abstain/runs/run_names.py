"""Names of runs (CLEF's run ids, duplicates made unique), the table of runs, and their teams."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, check_name, plural, shown, some_of
from abstain.io.files import bare_name
from abstain.io.frames import collect, into_lazy, open_table, require
from abstain.io.submissions import folders_of
from abstain.io.tables import Table, exact
from abstain.runs.evaluation import Evaluation
from abstain.runs.gold import Gold, by_position
from abstain.runs.responses import Responses
from abstain.runs.sources import GoldRuns

_CLEF = re.compile(
    r"(?P<team>\S*\w)(?P<year>\d{2})(?P<number>\d{2})(?P<source>[a-z]{2})(?P<target>[a-z]{2})"
    r"(?:[_-]\S+)?",
    re.IGNORECASE | re.ASCII,
)
_GENERIC = re.compile(
    r"(run|sub|submission|sys|system|out|output|results?|answers?|predictions?|final|main|primary|"
    r"test)[\W_]*[a-z]?\d*|\d+",
    re.IGNORECASE,
)
"""Names that any team may give its run."""
LONGEST = 45


class RunName(Struct, frozen=True):
    """A run id as CLEF writes it (jucs1302enen), taken apart."""

    team: str
    year: int
    number: int
    """The team's count of its runs, from 1."""
    source: str
    """The language of the questions."""
    target: str
    """The language of the documents."""


def parse_run_name(run: str) -> RunName | None:
    """Team, year, number and languages of a run id; None for an id of another form.

    >>> parse_run_name("jucs1302enen")
    RunName(team='jucs', year=2013, number=2, source='en', target='en')
    >>> parse_run_name("team07_run1") is None
    True
    """
    match = _CLEF.fullmatch(run.strip().rpartition("/")[2])  # folders tell files apart
    if match is None:
        return None
    languages = match["source"].lower(), match["target"].lower()
    return RunName(match["team"], 2000 + int(match["year"]), int(match["number"]), *languages)


def runs_of(item: Responses) -> list[str]:
    if item.run is not None:
        return [item.run]
    runs = collect(item.frame.select(nw.col("run").cast(nw.String)).unique(), item.table.name)
    return sorted(runs["run"].drop_nulls())


def name_runs(tables: Sequence[Responses]) -> list[Responses]:
    """Give tables whose runs have one name different names.

    Logs with one run id get what differs between them: task, folder, settings, time. Where nothing
    does, their file names; other tables their team, or as much of their path as it takes. A name
    that any team may give has its team before it, where there are several.
    """
    named = _by_teams(_by_facts(tables))
    for name, places in _places(named).items():
        paths = [named[place].table.name for place in places]
        if len(places) < 2:
            continue
        again = max(paths, key=paths.count)
        if paths.count(again) > 1:
            raise UsageError(f"two runs are called '{name}' ({again} and {again})")
        for place, folders in zip(places, _differing_folders(paths), strict=True):
            bare = name.removeprefix(f"{named[place].team}/")
            team = [] if bare == name else [str(named[place].team)]
            last = folders[:-1] if folders and folders[-1] == bare else folders
            named[place] = replace(named[place], run="/".join((*team, *last, bare)))
    for name, places in _places(named).items():
        if len(places) > 1:
            raise UsageError(f"two runs are called '{name}'; give them different names")
    return named


def _places(tables: Sequence[Responses]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(tables):
        if item.run is not None:
            places[item.run].append(place)
    return places


def _by_teams(named: list[Responses]) -> list[Responses]:
    """The tables; a name that several teams use, or any may, has the team before it."""
    if len({item.team for item in named if item.team}) < 2:
        return named
    claimed: dict[str, set[str | None]] = defaultdict(set)
    for item in named:
        for run in runs_of(item):
            claimed[run].add(item.team)
    shared = [run for run in sorted(claimed) if len(claimed[run]) > 1 or _GENERIC.fullmatch(run)]
    return [_with_team(item, shared) if item.team else item for item in named]


def _with_team(item: Responses, shared: Sequence[str]) -> Responses:
    if item.run is not None:
        return replace(item, run=f"{item.team}/{item.run}") if item.run in shared else item
    run = nw.col("run").cast(nw.String)
    longer = nw.concat_str(nw.lit(f"{item.team}/"), run)
    renamed = nw.when(run.is_in(shared)).then(longer).otherwise(run).alias("run")
    frame = item.frame.with_columns(renamed).to_native()
    return replace(item, table=replace(item.table, frame=frame, chunks=None))


def _by_facts(tables: Sequence[Responses]) -> list[Responses]:
    """The tables; logs with one run id are renamed by what differs between them."""
    named = list(tables)
    for name, places in _places(tables).items():
        logs = [at for at in places if (tables[at].table.run_id or ("",))[0] == name]
        alike = [tables[place].table for place in logs]
        folders = {os.path.dirname(os.path.abspath(table.name)) for table in alike}
        apart = len(folders) == len(alike) > 1
        labels = differing(alike, ("task",) if apart else ("task", "settings", "time"))
        if len(places) < 2 or (labels is None and apart):
            continue  # their folders tell them apart
        for at, place in enumerate(logs):
            run = bare_name(alike[at].name) if labels is None else f"{name} ({labels[at]})"
            named[place] = replace(tables[place], run=run)
    return named


def differing(logs: Sequence[Table], groups: Sequence[str]) -> list[str] | None:
    """The first fact that tells all logs apart, as a label of each; None where none does."""
    facts = [{(kind, name): value for kind, name, value in log.facts} for log in logs]
    names = [
        key for key in dict.fromkeys(key for each in facts for key in each) if key[0] in groups
    ]
    for kind, name in sorted(names, key=lambda key: groups.index(key[0])):
        called = f"{name}=" if kind == "settings" else ""
        values = [each.get((kind, name)) for each in facts]
        texts = [f"no {name}" if v is None else called + " ".join(v.split()) for v in values]
        labels = [f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text for text in texts]
        if len(set(labels)) == len(logs) > 1:
            return labels
    return None


def _differing_folders(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The last folders of each path: the fewest that differ between all paths."""
    folders = folders_of(paths)
    for depth in range(1, max(map(len, folders))):
        last = [names[-depth:] for names in folders]
        if len(set(last)) == len(last):
            return last
    return folders


OFFICIAL, LATE, UNOFFICIAL, WITHDRAWN = "official", "late", "unofficial", "withdrawn"
STATUSES = (OFFICIAL, LATE, UNOFFICIAL, WITHDRAWN)
ALIGNS = ("id", "position")


class RunsInfo(Struct, frozen=True):
    """The table of runs, as text: `run` and perhaps `team`, `status`, `align` and others."""

    name: str
    frame: pl.DataFrame
    remarks: tuple[str, ...] = ()
    over: tuple[tuple[str, str], ...] = ()
    """The runs over a limit, each after its team: they are not scored."""

    def of(self, column: str) -> dict[str, str]:
        if column not in self.frame.columns:
            return {}
        return {
            run: text.strip()
            for run, text in self.frame.select("run", column).iter_rows()
            if text and text.strip()
        }

    def repaired(self, sources: Sequence[Responses], gold: Gold) -> list[Responses]:
        wanted = {run for run, how in self.of("align").items() if how == "position"}
        if not wanted:
            return list(sources)
        return [
            by_position(part, gold, wanted) if part.run is None or part.run in wanted else part
            for part in sources
        ]

    def notes(self, runs: Sequence[str]) -> list[str]:
        """Notes on names that only the table or only the runs have: they may be typing errors.

        A table of fewer than three quarters of the runs does not claim to have all of them.
        """
        present, listed = set(runs), set(self.frame["run"])
        unknown = [run for run in self.frame["run"] if run not in present]
        absent = [run for run in runs if run not in listed]
        if unknown and len(unknown) == self.frame.height:
            raise InputError(f"names none of the runs (the first: {shown(unknown[0])})", self.name)
        notes = []
        if unknown:
            notes.append(f"{self.name} names runs that were not read: {some_of(unknown)}")
        if absent and (unknown or 4 * len(absent) <= len(runs)):
            notes.append(f"{plural(len(absent), 'run')} not in {self.name}: {some_of(absent)}")
        return notes


def read_info(source: Any) -> RunsInfo:
    if source is None:
        return RunsInfo("", pl.DataFrame(schema={"run": pl.String}))
    if isinstance(source, RunsInfo):
        return source
    table = open_table(source, name="the runs' attributes")
    require(table, {"run": "which names the run"})
    frame = collect(into_lazy(table.frame).select(*map(exact, table.columns)), table.name)
    frame = frame.with_columns(pl.all().cast(pl.String))
    twice = frame.filter(pl.col("run").is_duplicated())
    if twice.height:
        raise InputError(f"run {shown(twice['run'][0])} appears twice", table.name)
    for column, known in (("status", STATUSES), ("align", ALIGNS)):
        if column in frame.columns:
            lowered = pl.col(column).str.strip_chars().str.to_lowercase()
            frame = frame.with_columns(lowered.alias(column))
            for value in frame[column].drop_nulls():
                if value:
                    check_name(f"{column} of a run", value, known)
    return RunsInfo(table.name, frame)


def repaired(evaluation: Evaluation, info: RunsInfo) -> Evaluation:
    source = evaluation.data.source
    if not isinstance(source, GoldRuns) or "position" not in info.of("align").values():
        return evaluation
    fixed = info.repaired(source.responses, source.gold)
    return Evaluation(GoldRuns(source.gold, fixed, evaluation.reading), evaluation.reading)


class Team(Struct, frozen=True):
    name: str
    by: str


def team_of(run: str, folder: str | None, by_table: Mapping[str, str]) -> Team | None:
    """The team of a run: by the table, by the folder, or by the run's id."""
    if run in by_table:
        return Team(by_table[run], "the column team")
    if folder:
        return Team(folder, "the folder")
    parsed = parse_run_name(run)
    return None if parsed is None else Team(parsed.team, "the run id")


def team_spellings(teams: Iterable[str]) -> list[str]:
    """Notes on teams whose names differ only in case: they are counted as several."""
    spellings: dict[str, list[str]] = {}
    for team in sorted(set(teams)):
        spellings.setdefault(team.casefold(), []).append(team)
    return [
        f"teams {' and '.join(map(shown, names))} are counted as {len(names)} teams: to count them "
        "as one, give them one name in the column 'team' of the table of runs"
        for names in spellings.values()
        if len(names) > 1
    ]
