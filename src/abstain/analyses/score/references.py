"""Rows to read a score by: what silence, luck and hindsight would have given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from abstain.outcomes import Counts

if TYPE_CHECKING:
    from abstain.analyses.score.result import Reference


def reference_counts(
    rows: Sequence[tuple[str, dict[str, str | None], Counts]],
) -> Iterator[tuple[str, dict[str, str | None], Reference, Counts]]:
    """For each slice "answer nothing"; for each run its blanks drawn at random, and the best.

    Random blanking keeps the run's coverage and its candidates: with share a of the candidates
    right and coverage v, a·v·n are right on average. Every credit measure is linear in c for a
    given u, so its expected score is its score of these expected counts. It needs a candidate
    behind every blank. The best blanking answers exactly what its answers get right.
    """
    silent: set[tuple[str | None, ...]] = set()
    for run, slice_, k in rows:
        part = tuple(slice_.values())
        if part not in silent:
            silent.add(part)
            yield "(nobody)", slice_, "answer nothing", Counts(unanswered_empty=k.n)
        if k.n == 0:
            continue
        if k.unanswered and not k.unsplit and not k.unanswered_empty:
            forced = (k.right + k.unanswered_right) / k.n
            yield (
                run,
                slice_,
                "random blanking",
                Counts(
                    right=forced * k.answered,
                    wrong=(1 - forced) * k.answered,
                    unanswered_right=forced * k.unanswered,
                    unanswered_wrong=(1 - forced) * k.unanswered,
                ),
            )
        yield run, slice_, "best blanking", _best(k)


def _best(k: Counts) -> Counts:
    """Every right answer or candidate given, every other left blank."""
    return Counts(
        right=k.right + k.unanswered_right,
        unanswered_wrong=k.wrong + k.unanswered_wrong,
        unanswered_empty=k.unanswered_empty,
        unsplit=k.unsplit,
    )
