"""Check runs before they are scored."""

import os
from typing import Any

import click

from abstain.cli import EXIT_NO, options
from abstain.cli.command import Showing, command, option, shows, working
from abstain.cli.options import Input, reads
from abstain.errors import InputError


@command
@reads(
    runs="The runs to check; without any, the gold itself is checked.",
    gold_alone=True,
    without={"grades": "--grade is for judged rows; validate reads a gold and runs"},
)
@option(
    "--max-runs N",
    "How many runs a team may submit (teams: by --runs-info, by folder, or by run id).",
    type=click.IntRange(min=1),
)
@option("--runs-info FILE", "A table of run, team, align.")
@options.most("How many problems a table shows (0: all, with details).")
@shows(digits=False)
def validate(inputs: Input, max_runs: int | None, runs_info: Any, most: int, out: Showing) -> None:
    """Check runs against the gold and list every problem with its place.

    Exit code 1 if there is a problem.

    The gold may be the test set without answers. A folder or a zip archive stands for the runs in
    it, the folder of a season for its gold and its runs. Without runs the gold is checked: its
    keys, its options, and where right answers stand.

    \b
    abstain validate gold.xml
    abstain validate gold.csv runs/*.csv
    abstain validate test-set.xml submissions --max-runs 10
    abstain validate gold.csv run.csv --format json
    """
    from abstain.features.validate.analysis import examine, result_of
    from abstain.features.validate.gold import validate_gold
    from abstain.io.files import STDIN, split_name
    from abstain.runs.season import HANDED_IN

    runs = inputs.runs if inputs.season is None else inputs.season.runs(*HANDED_IN)
    runs_info = runs_info if inputs.season is None else inputs.season.info(runs_info)
    paths = [] if inputs.season else [split_name(run)[1] for run in runs]
    if paths and not any(path == STDIN or os.path.exists(path) for path in paths):
        raise InputError("there is no such file", paths[0])
    with working("checking…"):
        if runs:
            seen = examine(inputs.gold, runs, inputs.reading, runs_info, answers=False)
            result = result_of(seen, max_runs)
        else:
            result = validate_gold(inputs.gold, inputs.reading)
    out.show(result, most=most)
    if not result.valid:
        raise click.exceptions.Exit(EXIT_NO)
