"""`editions`: means over runs and over teams' best runs, year by year, and whether they differ.

The error of a mean is made of which questions were asked and of who took part: questions are
clustered by reading test, runs by team.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, check_name, shown, some_of
from abstain.features.campaign.analysis import campaign_of_files
from abstain.features.campaign.overview import Overview
from abstain.features.campaign.result import LUCK, YARDSTICKS, CampaignResult
from abstain.features.editions.result import Change, Edition, EditionsResult, Part
from abstain.features.score.result import ScoreResult
from abstain.io.frames import collect, into_lazy, open_table, require
from abstain.io.tables import format_of_name
from abstain.measures import Measure, count_measure
from abstain.outcomes import COUNTED, CountsArray
from abstain.report.result import load, number
from abstain.runs.gold import cluster_numbers, natural_key
from abstain.runs.run_names import parse_run_name
from abstain.runs.season import is_season
from abstain.stats.delta_method import THREE, influence, one_run
from abstain.stats.hypotheses import Mean
from abstain.stats.intervals import check_level
from abstain.stats.orderings import at_least, over_runs

if TYPE_CHECKING:
    from abstain.outcomes import Array

ALL = "all"
"""The row of registrations that is of no single edition."""
UNKNOWN = "has no results per question, so there is no test against it"
NOT_AN_EDITION = (
    "an edition is a folder that `abstain campaign GOLD RUN… -o FOLDER` wrote, a saved result or "
    "a table with columns such as all runs, best runs, right %, unanswered %"
)
ALONE = "has a single team, so there is no test against it"


def editions(
    campaigns: Mapping[str, Any],
    *,
    measure: str | Measure | None = None,
    on: Mapping[str, str] | None = None,
    by: Sequence[str] | str | None = None,
    registrations: Any = None,
    level: float = 0.95,
) -> EditionsResult:
    """Put editions of a campaign, or its tasks, side by side, in their order.

    Args:
        campaigns: A name for each: a result of `campaign` or `score`, its file, the folder that a
            campaign wrote, that of a season, or a table of printed figures, with the headings of
            what this returns.
        measure: A measure of counts; default: that of the first edition.
        on: The questions that count, such as `{"role": "main"}`; editions without that attribute
            count all of theirs.
        by: Attributes to break down by: default: `type`.
        registrations: A table of what else is known of each: edition, registered, downloaded, …;
            its row `all` is of all together.
        level: Of intervals.
    """
    if not isinstance(campaigns, Mapping) or not campaigns:
        raise UsageError(
            "campaigns is a mapping of names to results, files or folders, with one edition or more"
        )
    if on is not None and len(on) != 1:
        raise UsageError(f"`on` is one attribute and its value (got {len(on)})")
    sources = [edition_of(str(name), source) for name, source in campaigns.items()]
    full = [source for source in sources if isinstance(source, Campaign)]
    chosen = count_measure(measure or (full[0].measure if full else "c@1"))
    level = check_level(level)
    names = ["type"] if by is None else [by] if isinstance(by, str) else list(by)
    known = sorted({name for campaign in full for name in campaign.slices})
    for name in (*(on or ()), *(names if by else ())):
        check_name("attribute in any edition", name, known)
    counts, notes = _registrations(registrations, campaigns)
    sides = [s if isinstance(s, Side) else side_of(s, on, chosen, names) for s in sources]
    if len(sides) > 1:
        notes = [*(f"{side.name} {side.untested}" for side in sides if side.untested), *notes]
    return EditionsResult(
        notes=tuple(notes),
        measure=str(chosen),
        level=level,
        on="".join(f"{key}={value}" for key, value in (on or {}).items()),
        editions=tuple(replace(s.edition, registered=counts.get(s.name, {})) for s in sides),
        parts=tuple(part for side in sides for part in side.parts),
        changes=changes_of({side.name: side.means for side in sides}, chosen, level),
        teams=len({team for campaign in full for team in campaign.teams}),
        registered=counts.get(ALL, {}) if ALL not in campaigns else {},
    )


class Side(Struct, frozen=True):
    edition: Edition
    parts: list[Part]
    means: Means
    untested: str = UNKNOWN
    """Why there is no test against it; empty: there is one."""

    @property
    def name(self) -> str:
        return self.edition.edition


def side_of(
    campaign: Campaign, on: Mapping[str, str] | None, measure: Measure, names: Sequence[str]
) -> Side:
    """An edition over all questions or some of them, and by attributes."""
    view = campaign
    for attribute, value in (on or {}).items():
        if attribute in campaign.slices:
            check_name(f"{attribute} in {campaign.name}", value, campaign.slices[attribute])
            view = campaign.slices[attribute][value]
    everyone, teams = range(len(view.runs)), len({*view.teams})
    figures = _figures(campaign, view, measure, everyone)
    luck = figures["baselines"].get(LUCK)
    below = None if luck is None else int((~at_least(measure(view.counts), luck)).sum())
    return Side(
        Edition(**figures, tests=view.tests, teams=teams, below=below),
        [*_parts(campaign, view, names, measure)],
        Means.of(view, measure, best_rows(campaign, measure, everyone)),
        UNKNOWN if view.asked is None else ALONE if teams == 1 else "",
    )


HEADINGS = {"right %": "right", "unanswered %": "unanswered", "below chance": "below"}
"""Columns of printed figures whose heading is not the name of their field."""


def printed(name: str, path: str | os.PathLike[str]) -> Side:
    """An edition of which only figures are known; a column of another name breaks it down."""
    table = open_table(path)
    frame = collect(into_lazy(table.frame).select(*table.columns), table.name).cast(pl.String)
    frame = frame.rename({c: HEADINGS.get(c, c.replace(" ", "_")) for c in frame.columns})
    for column in {"edition", "year"} & {*frame.columns}:
        frame = frame.filter(pl.col(column).str.strip_chars() == name).drop(column)
    by = [c for c in frame.columns if c not in Edition.__struct_fields__]
    if len(by) > 1 or len(by) == frame.width or frame.is_empty():
        raise InputError(f"is no table of printed figures: {NOT_AN_EDITION}", table.name)
    whole, parts = Edition(edition=name), []
    for row in frame.iter_rows(named=True):
        level = row.pop(by[0]) if by else None
        try:
            values = {"edition": name} | {key: float(text) for key, text in row.items() if text}
            if level:
                values |= {"by": by[0], "level": level}
                parts.append(msgspec.convert(values, Part, strict=False))
            else:
                whole = msgspec.convert(values, Edition, strict=False)
        except ValueError as error:  # msgspec's is one
            raise InputError(f"expected numbers: {error}", table.name) from None
    scores = np.array([[whole.all_runs], [whole.best_runs], [None]], np.float64)
    return Side(whole, parts, Means(*(_clustered(score, np.zeros(1)) for score in scores)))


class Means(Struct, frozen=True):
    """The means of an edition with their errors from runs and from questions."""

    all_runs: Mean
    best_runs: Mean
    questions: Mean
    """Of the questions' influence on the mean of all runs; its error is NaN where unknown."""

    @classmethod
    def of(cls, campaign: Campaign, measure: Measure, best: Sequence[int]) -> Means:
        """From counts, and where the best run of each team stands."""
        scores, asked = measure(campaign.counts), campaign.asked
        teams, at = np.array(campaign.teams), np.array(best, np.int64)
        questions = Mean.of(np.zeros(0), np.zeros(0))
        if asked is not None and len(asked):  # by the delta method at the mean shares
            shares = asked.select("right", 1 - pl.col("right") - pl.col("blank"), "blank")
            slopes = influence(one_run(measure, THREE), shares.mean().to_numpy()[0])
            questions = _clustered(shares.to_numpy() @ slopes, asked["cluster"].to_numpy())
        return cls(_clustered(scores, teams), _clustered(scores[at], at), questions)


def best_rows(campaign: Campaign, measure: Measure, rows: Sequence[int]) -> list[int]:
    """The place of each team's best run over all questions, whatever part is looked at."""
    scores = measure(campaign.counts)
    better = scores if measure.higher_is_better else -scores
    best: dict[str, int] = {}
    for at in rows:
        team = campaign.teams[at]
        if np.isfinite(better[at]) and (team not in best or better[at] > better[best[team]]):
            best[team] = at
    return list(best.values())


def _clustered(values: Array, clusters: Any) -> Mean:
    """The mean of the defined values with its cluster-robust error."""
    there = ~np.isnan(values)
    _, numbers = np.unique(clusters[there], return_inverse=True)
    totals = np.bincount(numbers, values[there]).astype(np.float64)
    return Mean.of(totals, np.bincount(numbers).astype(np.float64))


def changes_of(means: Mapping[str, Means], measure: Measure, level: float) -> tuple[Change, ...]:
    """Each edition against the one before, over all runs and over best runs, as Welch has it."""
    changes, most = [], measure.bounds[1] - measure.bounds[0]
    for (before, a), (after, b) in pairwise(means.items()):
        for what, old, new in (
            ("all runs", a.all_runs, b.all_runs),
            ("best runs", a.best_runs, b.best_runs),
        ):
            difference, parts = new.value - old.value, (old, new, a.questions, b.questions)
            squares = np.array([part.error**2 for part in parts])
            spread = float(squares.sum())
            each = float((squares**2 / [part.degrees for part in parts]).sum())
            total = Mean(difference, spread**0.5, 0.0, spread**2 / each if each > 0 else 1.0)
            low, high = np.clip(total.limits(level), -most, most).tolist()
            changes.append(
                Change(
                    before=before,
                    after=after,
                    what=what,
                    difference=number(difference),
                    low=number(low),
                    high=number(high),
                    p_value=number(total.p()) if spread else None,
                    question_error=number(float(squares[2:].sum()) ** 0.5),
                    run_error=number(float(squares[:2].sum()) ** 0.5),
                )
            )
    return tuple(changes)


def _parts(
    campaign: Campaign, view: Campaign, names: Sequence[str], measure: Measure
) -> Iterator[Part]:
    """An edition by attributes of all its questions, and by language over those that count."""
    everyone = range(len(campaign.runs))
    for attribute in (name for name in names if name in campaign.slices):
        for level, part in campaign.slices[attribute].items():
            if view is campaign:
                figures = _figures(campaign, part, measure, everyone)
            elif part.asked is not None and view.asked is not None:
                both = part.asked.join(view.asked, on="at", how="semi")
                right, blank = both.select(pl.col("right", "blank").mean() * 100).row(0)
                figures = {"edition": campaign.name, "questions": both.height}
                figures |= {"runs": len(everyone), "right": right, "unanswered": blank}
            else:
                continue
            yield Part(**figures, by=attribute, level=level)
    for language in sorted({*campaign.languages} - {""}):
        rows = [at for at, name in enumerate(campaign.languages) if name == language]
        yield Part(**_figures(campaign, view, measure, rows), by="language", level=language)


def _figures(
    campaign: Campaign, part: Campaign, measure: Measure, rows: Sequence[int]
) -> dict[str, Any]:
    """Of some runs on some questions; the best runs are the best on all questions."""
    table = part.counts.table
    tables = table[[*rows]], table[best_rows(campaign, measure, rows)]
    all_runs, best = (number(float(over_runs(measure(CountsArray(t)))["mean"])) for t in tables)
    right, _, *blank = (100 * tables[0].sum(axis=0) / (tables[0].sum() or math.nan)).tolist()
    counts = {n: k for n in YARDSTICKS if (k := part.baselines.get(n)) is not None}
    return {
        "edition": campaign.name,
        "questions": part.questions,
        "runs": len(rows),
        "all_runs": all_runs,
        "best_runs": best,
        "right": number(right),
        "unanswered": number(sum(blank)),
        "baselines": {name: number(measure(k)[0]) for name, k in counts.items()},
    }


def _registrations(
    source: Any, names: Collection[str]
) -> tuple[dict[str, dict[str, int]], list[str]]:
    if source is None:
        return {}, []
    table = open_table(source, name="the registrations")
    require(table, {"edition": "which names the edition or the task"})
    frame = collect(into_lazy(table.frame).select(*table.columns), table.name)
    counts: dict[str, dict[str, int]] = {}
    for row in frame.iter_rows(named=True):
        edition = str(row.pop("edition") or "").strip()
        texts = {key: str(cell) for key, cell in row.items() if cell not in (None, "")}
        if edition in counts or not all(text.isdecimal() for text in texts.values()):
            raise InputError(
                f"expected one row of whole numbers for edition {shown(edition)}", table.name
            )
        counts[edition] = {key: int(text) for key, text in texts.items()}
    unknown = [name for name in counts if name not in (*names, ALL)]
    note = f"{table.name} names editions that are not here: {some_of(unknown)}"
    return counts, [note] if unknown else []


class Campaign(Struct, frozen=True, kw_only=True):
    """An edition before anything is computed, over all questions or some of them."""

    name: str
    measure: str
    runs: list[str]
    teams: list[str]
    languages: list[str]
    counts: CountsArray
    baselines: dict[str, CountsArray] = {}
    slices: dict[str, dict[str, Campaign]] = {}
    """By attribute and value."""
    tests: int | None = None
    questions: int | None = None
    asked: pl.DataFrame | None = None
    """Where a question stands (`at`), the shares of runs that had it `right` and left it `blank`,
    and its `cluster`: its reading test, or a number by itself."""


def edition_of(name: str, source: Any) -> Campaign | Side:
    """An edition from a result, a saved one, a folder of a campaign, or printed figures."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if is_season(path):
            return _of_campaign(name, campaign_of_files(path))
        if path.is_file() and format_of_name(path.name) in ("csv", "tsv", "jsonl", "parquet"):
            return printed(name, path)
        try:
            source = load(path / "results.json" if path.is_dir() else path)
        except InputError as error:
            raise InputError(f"{error.message}; {NOT_AN_EDITION}", error.place) from None
    if isinstance(source, CampaignResult):
        return _of_campaign(name, source)
    if isinstance(source, ScoreResult):
        return _of_scores(name, source)
    raise UsageError(
        f"edition {shown(name)}: expected a result of `campaign` or `score`, its file, or a folder "
        "that `campaign` wrote"
    )


def _of_campaign(name: str, result: CampaignResult) -> Campaign:
    c = Overview(result)
    infos, test = [row.info for row in result.rows], result.test_by
    known = {n: c.baselines[n] for n in YARDSTICKS if n in c.baselines}
    asked = None
    if not result.blind:
        right, wrong, blank = c.tried
        total = np.maximum(1, right + wrong + blank)
        clusters = cluster_numbers(c.questions, test) if test else np.arange(len(right))
        shares = {"right": right / total, "blank": blank / total, "cluster": clusters}
        asked = pl.DataFrame({"at": np.arange(len(right)), **shares})
    whole = Campaign(
        name=name,
        measure=result.measure,
        runs=c.runs,
        teams=c.teams,
        languages=[info.get("source") or info.get("language") or "" for info in infos],
        counts=c.overall,
        baselines={n: CountsArray.of([overall]) for n, (overall, _) in known.items()},
        tests=len(c.slices[test].names) if test else None,
        questions=c.questions.height,
        asked=asked,
    )

    def of(attribute: str, at: int) -> Campaign:
        inside = c.slices[attribute].slice_of == at
        here = None if asked is None else asked.filter(inside)
        return replace(
            whole,
            counts=CountsArray(c.sliced[attribute].table[:, at]),
            baselines={n: CountsArray(k[attribute].table[[at]]) for n, (_, k) in known.items()},
            tests=whole.tests if here is None or not test else here["cluster"].n_unique(),
            questions=int(inside.sum()),
            asked=here,
        )

    slices = {
        attribute: {value: of(attribute, at) for at, value in enumerate(each.names)}
        for attribute, each in c.slices.items()
    }
    return replace(whole, slices=slices)


def _of_scores(name: str, result: ScoreResult) -> Campaign:
    if len(result.by) > 1:
        raise UsageError(
            f"edition {shown(name)} is broken down by {' and '.join(result.by)}, expected scores "
            "over all questions or by one attribute"
        )
    rows = [row for row in result.rows if getattr(row, "reference", None) is None]
    runs = sorted({row.run for row in rows})
    place = {run: at for at, run in enumerate(runs)}
    nothing = np.zeros((len(runs), len(COUNTED)))
    tables: dict[str, Array] = {}
    for row in rows:
        level = next(iter(row.slice.values()), None) or ""
        table = tables.setdefault(level, nothing.copy())
        table[place[row.run]] += CountsArray.of([row.counts]).table[0]
    parsed = {run: parse_run_name(run) for run in runs}
    whole = Campaign(
        name=name,
        measure=result.measures[0],
        runs=runs,
        teams=[run if name is None else name.team for run, name in parsed.items()],
        languages=["" if name is None else name.source for name in parsed.values()],
        counts=CountsArray(sum(tables.values(), nothing)),
    )
    levels = sorted(tables, key=natural_key)
    parts = {level: replace(whole, counts=CountsArray(tables[level])) for level in levels}
    slices = {result.by[0]: parts} if result.by else {}
    return replace(whole, slices=slices, questions=result.questions)
