"""`abstain baseline`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli import options
from abstain.cli.options import ColumnOption, FromOption
from abstain.judging.opening import old_reading


def baseline(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold standard.")],
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="random, first, nca (always 'None of the above'), majority, blank or oracle.",
        ),
    ],
    seed: Annotated[int, typer.Option(min=0, help="Where the random draw begins.")] = 0,
    run: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="What to call it (default: KIND).")
    ] = None,
    column: ColumnOption = None,
    from_format: FromOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Its ending says the format; CSV on stdout."
        ),
    ] = None,
) -> None:
    """Write a run that needs no system: what luck, habit, silence or hindsight would answer.

    \b
    abstain baseline gold.xml random --seed 7 -o random.xml
    abstain baseline gold.csv nca > nca.csv
    """
    import polars as pl

    from abstain.analyses.campaign import baselines
    from abstain.io.tables import write_table
    from abstain.judging.gold import read_gold

    columns = options.known_columns(column)
    made = baselines.baseline(read_gold(gold, old_reading(columns, from_format)), kind, seed=seed)
    responses = made.responses.with_columns(run=pl.lit(run or kind))
    if output is None:
        sys.stdout.write(responses.write_csv())
    else:
        write_table(responses, output)
    where = f"{output}: {responses.height:,} responses" if output else kind
    typer.echo("; ".join([where, *made.notes]), err=True)
