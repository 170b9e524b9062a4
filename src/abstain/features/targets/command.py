from msgspec.structs import asdict

from abstain.cli import options
from abstain.cli.command import Showing, command, option, shows, working
from abstain.cli.options import Input, reads


@command
@reads("judged", runs="Runs of one model under several stated t.")
@option(
    "--target RUN=T",
    "The t that a run was told, where no column 'target' has it: gpt-50=0.5. Repeatable.",
    multiple=True,
)
@options.level("The level of all verdicts together.")
@shows(chart=True)
def targets(inputs: Input, target: tuple[str, ...], level: float, out: Showing) -> None:
    """Does a model heed what it is told that an error costs?

    \b
    abstain targets gold.csv told.csv                (a column target)
    abstain targets gold.csv t0.csv t90.csv --target t0=0 --target t90=0.9

    Told to answer only if more than t sure, as a mistake costs t/(1−t): is a share of t of its
    answers right, does it answer less as t rises, and is it better told than thresholded?
    """
    from abstain.features.targets.analysis import targets as compared

    judged = inputs.kind == "judged"
    with working("comparing…"):
        gold, runs = (None, list(inputs.files)) if judged else (inputs.gold, inputs.runs)
        told = options.pairs(target, "--target", "gpt-50=0.5")
        how = asdict(inputs.reading)
        out.show(compared(gold, runs, targets=told, level=level, **how))
