from pathlib import Path
from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import Showing, command, option, shows, working
from abstain.cli.options import Input, reads
from abstain.errors import UsageError
from abstain.features.tune.command import chosen, splits, written


@command
@reads("judged", runs="The runs, the cheapest first; all but the last need a confidence.")
@option("--stages NAMES", "Which runs are the stages, in order: small,large (default: all runs).")
@option("--cost NUMBERS", "The cost of asking each stage one question.", default="1,20")
@options.measure("The measure of counts to score with and to maximise.", default="c@1")
@option("--recover SHARE", "Instead, recover this share of the last stage's gain.", type=float)
@option("--budget COST", "Instead, the best score at a mean cost of at most COST.", type=float)
@option(
    "--risk ALPHA",
    "Instead, answer as much as possible with a share of wrong answers of at most ALPHA: the last "
    "stage abstains too.",
    type=float,
)
@options.level("With --risk: the probability that the bound holds (default: 0.9).", default=None)
@splits
@written(
    "Write the run that results; the ending sets the format.",
    "Write the thresholds as JSON, which `tune --apply` reads: what it leaves blank is sent on.",
)
@shows(chart=True)
def cascade(
    inputs: Input,
    stages: str | None,
    cost: str,
    run_file: Path | None,
    threshold_file: Path | None,
    out: Showing,
    **how: Any,
) -> None:
    """Ask a small model first, a larger one where it is not sure: what is gained, at what cost?

    \b
    abstain cascade gold.csv small.csv large.csv --cost 1,20
    abstain cascade --judged graded.csv --stages small,large --cost 0.4,8
    abstain cascade gold.csv small.csv large.csv --recover 0.9 --run-file mixed.csv
    abstain cascade gold.csv small.csv large.csv --risk 0.1

    A stage keeps the questions where its confidence reaches its threshold and sends the others on.
    """
    from abstain.features.cascade import analysis

    names = stages and [name.strip() for name in stages.split(",")]
    asked = chosen(how | {"cost": _numbers(cost), "stages": names})
    with working("choosing thresholds…"):
        read = inputs.evaluation()
        result = analysis.cascade(read, **asked)
    if run_file is not None:
        from abstain.io.tables import write_table

        write_table(analysis.resulting_run(read, result), run_file)
        hint = "the thresholds were chosen on questions of this run: a score on them is hindsight"
        click.echo(f"{run_file}: {hint}", err=True)
    if threshold_file is not None:
        result.to_json(threshold_file)
    out.show(result)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--cost needs numbers, such as 1,20 (got '{text}')") from None
