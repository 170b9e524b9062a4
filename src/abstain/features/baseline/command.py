import sys
from pathlib import Path

import click

from abstain.cli import options
from abstain.cli.command import Words, argument, command, option
from abstain.cli.options import reading_options
from abstain.reading import Reading

KINDS = ("random", "first", "nca", "majority", "blank", "oracle")


@command
@argument("gold", metavar="GOLD", help="The gold standard.")
@argument(
    "kind",
    metavar="KIND",
    type=Words(KINDS),
    help="random, first, nca (always 'None of the above'), majority, blank or oracle.",
)
@reading_options("format", "pick", "columns", otherwise="baseline reads a gold, not responses")
@options.seed("The seed of the random baseline.")
@option("--run NAME", "The name of the run (default: KIND).", type=str)
@options.output("The file to write; its ending sets the format (default: CSV on stdout).")
def baseline(
    gold: str, kind: str, reading: Reading, seed: int, run: str | None, output: Path | None
) -> None:
    """Write the run of a baseline (no system is needed).

    \b
    abstain baseline gold.xml random --seed 7 -o random.xml
    abstain baseline gold.csv nca > nca.csv
    """
    import polars as pl

    from abstain.features.baseline.analysis import baseline_of
    from abstain.io.tables import write_table
    from abstain.runs.gold import read_gold
    from abstain.runs.season import gold_of

    made = baseline_of(read_gold(*gold_of(gold, reading)), kind, seed=seed)
    responses = made.responses.with_columns(run=pl.lit(run or kind))
    if output is None:
        sys.stdout.write(responses.write_csv())
    else:
        write_table(responses, output)
    where = f"{output}: {responses.height:,} responses" if output else kind
    click.echo("; ".join([where, *made.notes]), err=True)
