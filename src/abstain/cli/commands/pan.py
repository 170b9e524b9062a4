"""Score authorship verification as PAN does."""

from __future__ import annotations

from abstain.cli.command import argument, command, option
from abstain.cli.showing import Showing, shows, working


@command
@argument("truth", metavar="TRUTH", help="truth.jsonl: id, same.")
@argument("answers", nargs=-1, required=True, metavar="ANSWERS", help="answers.jsonl: id, value.")
@option(
    "--year YEAR",
    "The year whose overall score is computed: in 2020 the mean of four measures, since 2021 the "
    "mean of these four and Brier.",
    default=2023,
)
@shows()
def pan(truth: str, answers: tuple[str, ...], year: int, out: Showing) -> None:
    """Score authorship verification as PAN does: AUC, c@1, F1, F0.5u, Brier, overall.

    \b
    abstain pan truth.jsonl answers.jsonl
    abstain pan truth.jsonl.gz submissions/*.jsonl.gz --year 2020

    A value of 0.5 or a missing problem counts as unanswered. Every other command reads the same
    files with `--from pan`.
    """
    from abstain.analyses.pan import pan as verify

    with working("verifying…"):
        result = verify(truth, answers, year=year)
    out.show(result)
