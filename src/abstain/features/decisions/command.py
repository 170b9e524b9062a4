from typing import Any

from abstain.cli import options
from abstain.cli.command import Showing, command, shows, working
from abstain.cli.options import Input, reads


@command
@reads("judged")
@options.measures("over-refusal, abstention-F1, … (default: all of decisions).")
@options.by("Slice by an attribute; several are crossed.")
@options.level("The level of the intervals.")
@options.seed("The seed of the tests.")
@shows(chart=True)
def decisions(inputs: Input, out: Showing, **how: Any) -> None:
    """Show whether runs answered where an answer was due: over-refusal and under-refusal.

    \b
    abstain decisions gold.csv run1.csv run2.csv
    abstain decisions gold.csv run.csv --by topic
    abstain decisions --judged graded.csv

    Questions that cannot be answered have no in a column answerable (or yes in is_impossible,
    should_abstain or unanswerable), or an empty column correct.
    """
    with working("counting…"):
        result = inputs.evaluation().decisions(**how)
    out.show(result)
