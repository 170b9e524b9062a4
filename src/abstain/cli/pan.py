"""`abstain pan`."""

from __future__ import annotations

from typing import Annotated

import typer

from abstain.cli import showing
from abstain.cli.options import DigitsOption, FormatOption, OutputOption


def pan(
    truth: Annotated[str, typer.Argument(metavar="TRUTH", help="truth.jsonl: id, same.")],
    answers: Annotated[
        list[str], typer.Argument(metavar="ANSWERS…", help="answers.jsonl: id, value.")
    ],
    year: Annotated[
        int, typer.Option(help="Whose overall: 2020 (four measures) to 2023 (with Brier).")
    ] = 2023,
    format: FormatOption = None,
    output: OutputOption = None,
    digits: DigitsOption = 4,
) -> None:
    """PAN's measures of authorship verification: AUC, c@1, F1, F0.5u, Brier, overall.

    \b
    abstain pan truth.jsonl answers.jsonl
    abstain pan truth.jsonl.gz submissions/*.jsonl.gz --year 2020

    A value of 0.5 and a missing problem are no answer. Every other command reads the same files
    with `--from pan`.
    """
    from abstain.analyses.pan import verify
    from abstain.report.tasks import verification_grid

    with showing.working("verifying…"):
        result = verify(truth, answers, year=year)
    showing.show(
        verification_grid(result), result.to_dict(), format=format, output=output, digits=digits
    )
