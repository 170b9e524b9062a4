"""`abstain squad`."""

from __future__ import annotations

from typing import Annotated

import typer

from abstain.cli import showing
from abstain.cli.options import DigitsOption, FormatOption, OutputOption


def squad(
    gold: Annotated[str, typer.Argument(metavar="DATA", help="The data set: dev-v2.0.json.")],
    predictions: Annotated[
        list[str], typer.Argument(metavar="PREDICTIONS…", help="{question: text}.")
    ],
    na_prob: Annotated[
        list[str] | None,
        typer.Option(
            "--na-prob", metavar="FILE", help="{question: probability of no answer}; one a run."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Hold an answer back where its no-answer probability is above this."),
    ] = None,
    format: FormatOption = None,
    output: OutputOption = None,
    digits: DigitsOption = 4,
) -> None:
    """SQuAD 2's scores: exact and F1, with and without an answer, the best threshold.

    \b
    abstain squad dev-v2.0.json predictions.json
    abstain squad dev-v2.0.json predictions.json --na-prob na_prob.json --threshold 0.5

    The best threshold is tuned on the questions it is scored on; `abstain tune` tunes on others.
    Every other command reads predictions with `--from squad:gold=dev-v2.0.json`.
    """
    from abstain.analyses.squad import read_answers
    from abstain.report.tasks import reading_grid

    with showing.working("reading…"):
        result = read_answers(gold, predictions, na_prob=na_prob or (), threshold=threshold)
    showing.show(
        reading_grid(result), result.to_dict(), format=format, output=output, digits=digits
    )
