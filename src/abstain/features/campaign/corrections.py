"""What was corrected in a gold after submission, and what that changed in the ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import structs

from abstain.errors import plural, some_of
from abstain.features.score.analysis import rows_of
from abstain.report.grid import Column, Grid
from abstain.report.page import PageTable
from abstain.report.result import Facts, ranked
from abstain.runs.evaluation import Evaluation
from abstain.runs.sources import GoldRuns

if TYPE_CHECKING:
    from abstain.features.campaign.overview import Overview
    from abstain.features.score.result import Row
    from abstain.measures import Measure


class Corrected(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A question that was corrected."""

    question: Annotated[str, Column(means="the id of the question", plain=True)]
    correction: Annotated[
        str,
        Column(means="everyone (all have it right), none (it counts for nobody) or the new key"),
    ]
    before: Annotated[str, Column("key before", means="the key when runs were handed in")] = ""
    reason: Annotated[str, Column(means="why it was corrected")] = ""


class Moved(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run before and after the corrections."""

    run: Annotated[str, Column(means="a system's responses to all questions", plain=True)]
    rank_before: Annotated[str, Column("# before", means="its rank without the corrections")]
    rank: Annotated[str, Column("#", means="its rank with them", plain=True)]
    score_before: Annotated[
        float | None, Column("{measure} before", "score", means="{measure} without them")
    ]
    score: Annotated[float | None, Column("{measure}", "score", means="{measure} with them")]


def corrections_of(
    everything: Evaluation, rows: Sequence[Row], measure: Measure
) -> tuple[tuple[Corrected, ...], tuple[Moved, ...]]:
    """The corrections, and the ranked runs with and without them."""
    source, name = everything.data.source, str(measure)
    gold = source.gold
    if not isinstance(source, GoldRuns) or gold is None or gold.before is None:
        return (), ()
    before = Evaluation(
        GoldRuns(gold.before, source.responses, everything.reading), everything.reading
    )
    official = {row.run for row in rows}
    scored = rows_of(before.data.counted(), (), [measure], {})
    was = {row.run: row for row in ranked((r for r in scored if r.run in official), measure)}
    moved = (
        Moved(
            run=row.run,
            rank_before=was[row.run].rank,
            rank=row.rank,
            score_before=was[row.run].scores[name],
            score=row.scores[name],
        )
        for row in rows
    )
    listed = (Corrected(**structs.asdict(each)) for each in gold.corrections)
    return tuple(listed), tuple(moved)


def correction_tables(c: Overview) -> Iterator[PageTable]:
    """What was corrected, and the runs whose rank that changed."""
    corrections, moved = c.result.corrections, _reranked(c)
    if corrections:
        names = [n for n in Corrected.__struct_fields__ if any(getattr(r, n) for r in corrections)]
        text = "Corrected after submission; runs were checked against the questions as asked."
        grid = Grid.of_rows(Corrected, corrections, *names)
        yield PageTable("corrections", "Corrected questions", text, grid)
    if moved:
        grid = Grid.of_rows(Moved, moved, *Moved.__struct_fields__, measure=c.result.measure)
        text = "Runs whose rank the corrections changed, by their rank now."
        yield PageTable("corrections_ranks", "What the corrections changed", text, grid)


def _reranked(c: Overview) -> list[Moved]:
    return [run for run in c.result.moved if run.rank != run.rank_before]


def correction_sentences(c: Overview) -> Iterator[str]:
    """Whether corrections changed the ranking or its first runs."""
    if not c.result.corrections:
        return
    moved, runs = len(_reranked(c)), plural(len(c.result.moved), "ranked run")
    first = [run.run for run in c.result.moved if run.rank_before.rstrip("=") == "1"]
    now = [run.run for run in c.result.moved if run.rank.rstrip("=") == "1"]
    same = "" if set(first) == set(now) else f"; without them {some_of(first)} came first"
    yield f"Corrections after submission changed the rank of {moved} of {runs}{same}."
