from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import Showing, Words, command, option, shows, working
from abstain.cli.options import Input, reads


@command
@reads(
    *("judged", "counts", "scores", "rankings"),
    runs="The runs; with --judged, --counts or --scores further files.",
)
@options.measures(
    "A measure to evaluate (default: c@1, accuracy, UF; of rankings those of `rank`)."
)
@option(
    "--part PART",
    "stability, sensitivity, power or agreement (default: all). Repeatable.",
    to="parts",
    type=Words(("stability", "sensitivity", "power", "agreement")),
    multiple=True,
)
@option("--subsets N", "Random subsets for each pair of runs, up to 100,000.", default=100)
@option("--size C", "Questions in a subset (default: half of them).", type=int)
@option(
    "--fuzziness F",
    "Two scores tie if they differ by less than this share of the larger absolute value "
    "(default: 0.01 to 0.1). Repeatable.",
    type=float,
    multiple=True,
)
@option(
    "--draws HOW",
    "paired: subsets are drawn for each pair of runs, as in the papers; shared: all pairs use "
    "the same subsets, which is much faster.",
    type=Words(("paired", "shared")),
    default="paired",
)
@options.level("The confidence level of conclusions.")
@option("--bins N", "Bins of the difference to list; the last one is open-ended.", default=21)
@option("--width W", "The width of a bin (default: 0.01, or a hundredth of the range).", type=float)
@option(
    "--sizes C",
    "A number of questions for the curve of required differences. Repeatable.",
    type=int,
    multiple=True,
)
@option("--difference X", "Say how many questions X needs (default: five bins).", type=float)
@option("--resamples N", "Resamples and permutations of the tests of power.", default=1000)
@options.seed("The seed of all draws.")
@option(
    "--threads N",
    "The number of threads (0: one per processor). Results do not depend on it.",
    type=click.IntRange(min=0),
    default=0,
)
@shows(chart=True)
def meta(
    inputs: Input,
    measures: tuple[str, ...],
    fuzziness: tuple[float, ...],
    sizes: tuple[int, ...],
    out: Showing,
    **how: Any,
) -> None:
    """Evaluate measures: would another sample of questions lead to the same conclusions?

    \b
    abstain meta gold.csv runs/*.csv -m c@1 -m accuracy -m UF
    abstain meta --scores ap.csv p10.csv ndcg.csv --part sensitivity
    abstain meta --rankings qrels.txt runs/* --limit 1000 -m AP -m "AP'" --part agreement
    abstain meta --judged grades.csv --draws shared --subsets 10000 --chart meta.svg

    Stability: error rate and ties (Buckley and Voorhees 2000). Sensitivity: the difference that
    other questions do not reverse (Voorhees and Buckley 2002). Power: pairs that a bootstrap
    (Sakai 2006) and Tukey's HSD (Carterette 2012) tell apart. Agreement: Kendall's and AP
    correlation, Spearman, rank-biased overlap. Advice follows from all four.
    """
    how |= {"sizes": sizes or None} | ({"fuzziness": fuzziness} if fuzziness else {})
    with working("resampling…") as progress:
        result = inputs.paired().meta(
            measures, progress=lambda _, share: progress(int(100 * share), 100), **how
        )
    out.show(result)
