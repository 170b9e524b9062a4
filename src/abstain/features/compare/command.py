from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import SHOWING, Showing, Words, command, option, shows, working
from abstain.cli.options import Input, reads
from abstain.errors import UsageError


@command
@reads("judged", "scores", "rankings", runs="The runs to compare, two or more.")
@options.measures("The measures to compare by; the first one orders the runs (default: c@1 or AP).")
@option("--against --baseline RUN", "Compare each run with this one, not all pairs.", to="against")
@option(
    "--test TEST",
    "randomisation (the default), bootstrap or mcnemar; for --scores and --rankings t (Student's, "
    "or corrected for skewness where that is more careful; the default), student (plain), "
    "randomisation, wilcoxon, bootstrap or sign.",
    type=Words(("randomisation", "bootstrap", "mcnemar", "t", "student", "wilcoxon", "sign")),
)
@option(
    "--correction HOW",
    "For many pairs, also with --against: holm (the default), bonferroni, bh or none.",
    type=Words(("holm", "bonferroni", "bh", "none")),
)
@option(
    "--family WHAT",
    "What to correct for: all pairs by all measures together, or by each measure alone.",
    type=Words(("all", "measure")),
    default="all",
)
@options.interval_of_scores_too
@options.level()
@options.by("For two runs: show which slices carry the difference.")
@option(
    "--resamples N",
    "Random swaps or resamples, where a test or an interval is not exact.",
    type=click.IntRange(100, 1_000_000),
    default=10_000,
)
@options.seed("The seed of the resamples.")
@option("--detect X", "Plan for a difference of X: power, questions needed.", type=float)
@option("--power P", "The power to plan for.", default=0.8)
@option(
    "--judge-error TABLE",
    "Correct scores for the errors of a judge: a table of its verdicts on a hand-checked sample "
    "(true, right, wrong, blank).",
)
@option(
    "--judge-drawn HOW",
    "How that sample was drawn: random (the default), truth (a fixed number of each true "
    "outcome) or verdict (a fixed number of each verdict of the judge).",
    type=click.Choice(["random", "truth", "verdict"]),
)
@option(
    "--marks",
    "With --format latex or markdown: the table of a paper. Letters name the runs that a run is "
    "significantly better than; with --against, † is better and ‡ worse than that run.",
    section=SHOWING,
)
@shows(chart=True)
def compare(
    inputs: Input,
    measures: tuple[str, ...],
    interval: str | bool,
    marks: bool,
    out: Showing,
    **how: Any,
) -> None:
    """Test whether runs differ, show where a difference comes from, and plan for one.

    \b
    abstain compare gold.csv a.csv b.csv
    abstain compare gold.xml runs/*.xml --cluster test --correction bh
    abstain compare --judged graded.csv -m F --against baseline
    abstain compare --scores ap.csv --test wilcoxon
    abstain compare --rankings qrels.txt a.run b.run -m AP -m "AP'"
    abstain compare gold.csv runs/*.csv -m c@1 -m F --format latex --marks

    Runs are compared on the questions that all of them have. A question with a missing response is
    left out for all runs, unless --policy says otherwise.
    """
    if marks and out.look not in ("latex", "markdown"):
        raise UsageError("--marks needs --format latex or markdown")
    how["interval"] = interval if isinstance(interval, str) else None
    with working("comparing…") as progress:
        result = inputs.paired().compare(measures, progress=progress, **how)
    out.show(result, **({"marks": True} if marks else {}))
