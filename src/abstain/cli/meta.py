"""`abstain meta`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs

from abstain.cli import options, showing
from abstain.cli.options import (
    AlignOption,
    ChartOption,
    ColumnOption,
    DetectOption,
    DigitsOption,
    FormatOption,
    FromOption,
    GradeOption,
    JudgedOption,
    MatchOption,
    OutputOption,
    PolicyOption,
)
from abstain.errors import UsageError
from abstain.judging.reading import said_policy

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation
    from abstain.rankings.scores import ScoreMatrix


def meta(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD",
            help="The gold standard; with --judged, --counts or --scores the first file.",
        ),
    ],
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="The runs, or the other files.")
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="A measure to judge. Repeatable (default: c@1, accuracy, UF).",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PART",
            help="stability, sensitivity, power or agreement. Repeatable (default: all).",
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="The files are matrices of ready scores, topics × systems, one a measure.",
        ),
    ] = False,
    judged: JudgedOption = False,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts", help="The file holds counts per question: run, question, right, wrong…"
        ),
    ] = False,
    trials: Annotated[
        int, typer.Option(metavar="N", help="Random subsets for each pair of runs, up to 100,000.")
    ] = 100,
    size: Annotated[
        int | None,
        typer.Option(metavar="C", help="Questions in a subset (default: half of them)."),
    ] = None,
    fuzziness: Annotated[
        list[float] | None,
        typer.Option(
            metavar="F",
            help="Scores that differ by less than this share of the larger one tie (its absolute "
            "value). Repeatable (default: 0.01 to 0.1).",
        ),
    ] = None,
    draws: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="paired: each pair of runs draws its own subsets, as in the papers; shared: one "
            "for all pairs, much quicker.",
        ),
    ] = "paired",
    confidence: Annotated[
        float, typer.Option(metavar="PERCENT", help="How sure a conclusion has to be.")
    ] = 95,
    bins: Annotated[
        int,
        typer.Option(metavar="N", help="Bins of the difference to list; the last one is open."),
    ] = 21,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            help="The width of a bin (default: 0.01; a hundredth of what the scores span if they "
            "are on another scale).",
        ),
    ] = None,
    sizes: Annotated[
        list[int] | None,
        typer.Option(
            "--sizes", metavar="C", help="Sizes for the curve of required differences. Repeatable."
        ),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="The difference to advise on: how many questions it needs (default: 5 bins).",
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(metavar="N", help="Resamples and permutations of the tests of power.")
    ] = 1000,
    policy: PolicyOption = None,
    grade: GradeOption = None,
    align: AlignOption = "id",
    match: MatchOption = "id",
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    seed: Annotated[int, typer.Option(metavar="N", help="For all draws.")] = 0,
    threads: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="0: one a processor. Results do not depend on it."),
    ] = 0,
    chart: ChartOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    digits: DigitsOption = 4,
) -> None:
    """Judge the judges: would another sample of questions have said the same?

    \b
    abstain meta gold.csv runs/*.csv -m c@1 -m accuracy -m UF
    abstain meta --scores ap.csv p10.csv ndcg.csv --only sensitivity
    abstain meta --judged grades.csv --draws shared --trials 10000 --chart meta.svg

    Stability: error rate and ties (Buckley and Voorhees 2000). Sensitivity: the difference that
    other questions do not reverse (Voorhees and Buckley 2002). Power: pairs that a bootstrap
    (Sakai 2006) and Tukey's HSD (Carterette 2012) tell apart. Agreement: Kendall's and AP
    correlation, Spearman, rank-biased overlap. And advice from all that.
    """
    from_format = options.reading(from_format, detect_refusals)
    from abstain.judging.opening import old_reading
    from abstain.judging.sources import evaluate, evaluate_counts, evaluate_judged
    from abstain.rankings.scores import read_scores
    from abstain.report.charts import ENDINGS

    files = [gold, *(runs or ())]
    if sum((scores, judged, counts)) > 1:
        raise UsageError("--scores, --judged and --counts exclude each other")
    if grade and not judged:
        raise UsageError("--grade goes with --judged")
    for name, chosen_way in (("align", align), ("match", match)):
        if chosen_way != "id" and (scores or judged or counts):
            raise UsageError(f"--{name} goes with a gold and runs")
    if policy and (counts or scores):
        raise UsageError("--policy goes with responses, not with counts or scores")
    if not (scores or judged or counts) and len(files) < 2:
        raise UsageError("name the gold and the runs, or say --judged, --counts or --scores")
    if counts and len(files) > 1:
        raise UsageError("--counts takes one file")
    if chart is not None and chart.suffix.lower() not in ENDINGS:
        raise UsageError(f"a chart's file ends in {', '.join(ENDINGS)} (got '{chart}')")
    columns = options.known_columns(column)
    reading = structs.replace(
        old_reading(columns, from_format),
        policy=said_policy(policy),
        match=match,
        align=align,
        grades=options.pairs(grade, "--grade", "meh=wrong"),
    )
    asked: Evaluation | ScoreMatrix
    with _progress() as progress:
        if scores:
            asked = read_scores(files, columns=columns, format=from_format)
        elif judged:
            asked = evaluate_judged(files, reading)
        elif counts:
            asked = evaluate_counts(files[0], reading)
        else:
            asked = evaluate(files[0], files[1:], reading)
        how: dict[str, Any] = {
            "trials": trials,
            "size": size,
            "draws": draws,
            "level": confidence / 100,
            "bins": bins,
            "width": width,
            "sizes": sizes,
            "difference": difference,
            "resamples": resamples,
            "seed": seed,
            "threads": threads,
            "progress": progress,
        }
        if fuzziness:
            how["fuzziness"] = fuzziness
        if only:
            how["parts"] = only
        result = asked.meta(measures or (), **how)
    showing.show_result(result, format=format, output=output, digits=digits)
    if chart is not None:
        from abstain.report.view import view_of

        view_of(result).draw(chart)


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None] | None]:
    """A bar on a terminal's stderr, once it has taken over a second."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    begun = time.monotonic()
    tasks: dict[str, Any] = {}

    def report(what: str, share: float) -> None:
        if time.monotonic() - begun < 1:
            return
        if not tasks:
            bar.start()
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=1.0)
        bar.update(tasks[what], completed=share)

    try:
        yield report
    finally:
        if tasks:
            bar.stop()
