from typing import Any

from abstain.cli import options
from abstain.cli.command import Showing, command, option, shows, working
from abstain.cli.options import Input, reads
from abstain.errors import UsageError
from abstain.errors import option as option_name

LEVEL = 0.95
NOT_SEVERAL = "counts", "interval", "references", "break_even", "candidates", "reading_engine"


@command
@reads("judged", "counts", runs="The runs to score.")
@options.measures("c@1, F, 'credit(t=0.5)', …; the first one orders the runs.")
@options.by("Slice by an attribute; several are crossed.")
@option(
    "--several",
    "Several answers per question, one per row, with a confidence or a rank: K and MRR.",
)
@options.interval
@options.level(default=LEVEL)
@options.seed("The seed of intervals that draw at random.")
@option("--references", "Add reference rows: all blank, random blanks, the best blanks.")
@option("--break-even", "Show p*, the chance of being right above which answering pays.")
@option("--candidates", "Show blanks by whether their candidate was right.")
@option("--skip-inconsistent", "With --counts: leave out rows that do not add up.")
@shows(chart=True)
def score(
    inputs: Input,
    measures: tuple[str, ...],
    by: tuple[str, ...],
    several: bool,
    candidates: bool,
    skip_inconsistent: bool,
    out: Showing,
    **how: Any,
) -> None:
    """Score runs that may decline to answer.

    \b
    abstain score gold.csv run1.csv run2.csv -m c@1 -m F --by topic
    abstain score --judged grades.csv              (rows with an outcome or a grade)
    abstain score --counts counts.csv              (right, wrong, unanswered)
    abstain score --several gold.csv lists.csv     (several answers per question: K, MRR)

    A gold has the columns question and correct, and any attributes. A run has question and answer;
    answered, candidate, confidence, why and run are optional. An empty answer is a blank.
    """
    if skip_inconsistent and inputs.kind != "counts":
        raise UsageError("--skip-inconsistent needs --counts")
    if not how["interval"] and (how["level"] != LEVEL or how["seed"]):
        raise UsageError(f"{'--level' if how['level'] != LEVEL else '--seed'} needs --interval")
    if several:
        for name in filter(options.is_typed, NOT_SEVERAL):
            other = option_name(name.removeprefix("reading_"))
            raise UsageError(f"--several and {other} exclude each other")
        with working("counting…"):
            lists = inputs.evaluation().several(measures or ("K", "MRR"), by=by)
        out.show(lists)
        return
    with working("counting…"):
        evaluation = inputs.evaluation(skip_inconsistent=skip_inconsistent)
        result = evaluation.score(measures, by=by, **how)
    out.show(result, candidates=candidates)
