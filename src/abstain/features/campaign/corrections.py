"""What corrections of the gold after submission changed in the ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from abstain.errors import plural, some_of
from abstain.features.score.analysis import rows_of
from abstain.report.grid import Column, Grid
from abstain.report.page import PageTable
from abstain.report.result import Facts, ranked
from abstain.runs.corrections import Correction
from abstain.runs.evaluation import Evaluation
from abstain.runs.sources import GoldRuns

if TYPE_CHECKING:
    from abstain.features.campaign.overview import Overview
    from abstain.features.score.result import Row
    from abstain.measures import Measure


class Moved(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run with the corrections and without them."""

    run: Annotated[str, Column(means="a run that is ranked")]
    rank_before: Annotated[str, Column("# before", means="its rank without the corrections")]
    rank: Annotated[str, Column("#", means="its rank with them")]
    score_before: Annotated[
        float | None, Column("{measure} before", "score", means="{measure} without them")
    ]
    score: Annotated[float | None, Column("{measure}", "score", means="{measure} with them")]


def as_asked(everything: Evaluation) -> Evaluation | None:
    """The runs with the gold as it was before corrections; None where there are none."""
    source = everything.data.source
    if not isinstance(source, GoldRuns) or source.gold.before is None:
        return None
    asked = GoldRuns(source.gold.before, source.responses, everything.reading)
    return Evaluation(asked, everything.reading)


def moved_runs(before: Evaluation | None, rows: Sequence[Row], measure: Measure) -> Iterator[Moved]:
    """The ranked runs with the corrections and without them; none where there are none."""
    if before is None:
        return
    name = str(measure)
    scored = rows_of(before.data.counted(), (), [measure], {})
    official = {row.run for row in rows}
    was = {row.run: row for row in ranked((r for r in scored if r.run in official), measure)}
    for row in rows:
        old, new = was[row.run].scores[name], row.scores[name]
        ranks = {"rank_before": was[row.run].rank, "rank": row.rank}
        yield Moved(run=row.run, **ranks, score_before=old, score=new)


def correction_tables(c: Overview) -> Iterator[PageTable]:
    """What was corrected, and the runs whose rank that changed."""
    if c.result.corrections:
        grid = Grid.of_rows(Correction, c.result.corrections, *Correction.__struct_fields__)
        text = "everyone: all have it right; none: it counts for nobody; else the new key."
        yield PageTable("corrections", "Corrected questions", text, grid)
    if moved := _reranked(c):
        grid = Grid.of_rows(Moved, moved, *Moved.__struct_fields__, measure=c.measure)
        text = "Runs whose rank the corrections changed."
        yield PageTable("corrections_ranks", "What the corrections changed", text, grid)


def _reranked(c: Overview) -> list[Moved]:
    ranks = ((run, run.rank.rstrip("="), run.rank_before.rstrip("=")) for run in c.result.moved)
    return [run for run, now, then in ranks if now != then]  # a tie that is gone moves nobody


def correction_sentence(c: Overview) -> Iterator[str]:
    """Whether corrections changed the ranking or its first runs."""
    if c.result.moved:
        runs = plural(len(c.result.moved), "ranked run")
        first = [run.run for run in c.result.moved if run.rank_before in ("1", "1=")]
        now = [run.run for run in c.result.moved if run.rank in ("1", "1=")]
        then = "" if {*first} == {*now} else f"; without them {some_of(first)} came first"
        many = len(_reranked(c))
        yield f"Corrections after submission changed the rank of {many} of {runs}{then}."
