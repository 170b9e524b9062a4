"""Test whether runs differ."""

from __future__ import annotations

from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import Showing, Words, command, option, shows, working
from abstain.cli.options import Input, reads
from abstain.errors import UsageError


@command
@reads("judged", "scores", runs="The runs to compare, two or more.")
@options.measure("The measure to compare by (default: c@1).")
@option("--against RUN", "Compare each run with this one, not all pairs.")
@option(
    "--test TEST",
    "randomisation (the default), bootstrap or mcnemar; for --scores t (the default), "
    "randomisation, wilcoxon, bootstrap or sign.",
    type=Words(("randomisation", "bootstrap", "mcnemar", "t", "wilcoxon", "sign")),
)
@option(
    "--correction HOW",
    "For many pairs, also with --against: holm (the default), bh or none.",
    type=Words(("holm", "bh", "none")),
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
@shows(chart=True)
def compare(
    inputs: Input, measure: str | None, interval: str | bool, out: Showing, **how: Any
) -> None:
    """Test whether runs differ, show where a difference comes from, and plan for one.

    \b
    abstain compare gold.csv a.csv b.csv
    abstain compare gold.xml runs/*.xml --cluster test --correction bh
    abstain compare --judged graded.csv -m F --against baseline
    abstain compare --scores ap.csv --test wilcoxon

    Runs are compared on the questions that all of them have. A question with a missing response is
    left out for all runs, unless --policy says otherwise.
    """
    if inputs.kind == "scores" and len(inputs.files) > 1:
        raise UsageError("--scores takes one file")
    how["interval"] = interval if isinstance(interval, str) else None
    with working("comparing…") as progress:
        asked = inputs.scores() if inputs.kind == "scores" else inputs.evaluation()
        result = asked.compare(measure, progress=progress, **how)
    out.show(result)
