from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import (
    FILE,
    NEW_FILE,
    SHOWING,
    F,
    Showing,
    command,
    option,
    shows,
    working,
)
from abstain.cli.options import Input, reads
from abstain.errors import UsageError

APPLIED = (
    *("gold", "runs", "apply", "run_file", "reading_format", "reading_pick", "reading_columns"),
    *("reading_detect_refusals", "reading_refusal_pattern", "reading_grades", "reading_master"),
    "reading_names",
)


def splits(function: F) -> F:
    """A decorator: the options that say which questions are tuned on and which are judged."""
    for one in (
        options.seed("The seed of the random folds."),
        option("--repeats N", "Cross-fit N times, with new random folds each time.", default=1),
        option(
            "--folds K",
            "Cross-fitting: judge each of K folds with what is tuned on the others (default: 5).",
            type=int,
        ),
        option("--tune-on ATTR=VALUE", "Tune on questions with this value, judge on the others."),
    ):
        function = one(function)
    return function


def chosen(how: dict[str, Any]) -> dict[str, Any]:
    if how["level"] is not None and how["risk"] is None:
        raise UsageError("--level needs --risk: it is the probability that the bound holds")
    if how["tune_on"] is not None:
        how |= {"tune_on": options.pairs([how["tune_on"]], "--tune-on", "part=dev")}
    return {name: value for name, value in how.items() if value is not None}


def written(run: str, thresholds: str) -> Callable[[F], F]:
    """A decorator: `--run-file` and `--threshold-file`."""
    new = partial(option, type=NEW_FILE, writes=True, section=SHOWING)
    both = new("--run-file FILE", run), new("--threshold-file FILE", thresholds)
    return lambda function: both[0](both[1](function))


@command
@reads("judged", runs="A run with a confidence.", alone="apply")
@options.measure("Tune for a measure of counts (default: c@1).", to="maximise")
@option(
    "--risk ALPHA",
    "Instead of maximising a measure, answer as much as possible with a share of wrong answers of "
    "at most ALPHA; with --cluster the bound holds for clustered questions.",
    type=float,
)
@options.level("With --risk: the probability that the bound holds (default: 0.9).", default=None)
@option(
    "--next",
    "With --risk: bound the share of wrong answers observed on the next questions (as many as each "
    "threshold is judged on, such as a fold), not only the expected share.",
)
@option("--test-gold FILE", "Tune on GOLD, judge on these other questions.", type=FILE)
@splits
@option("--by ATTR", "A threshold for each value of an attribute.")
@option(
    "--shrink N",
    "With --by: pull each slice's threshold towards the common one, as N questions (default: 50).",
    type=float,
)
@option("--run NAME", "Tune only this run of the table.")
@option(
    "--apply FILE",
    "Apply the thresholds of a file that --threshold-file or -o FILE.json wrote: "
    "tune --apply FILE RUN --run-file OUT.",
    type=NEW_FILE,
)
@written(
    "Write the run with its threshold applied; the ending sets the format.",
    "Write the threshold and how it was chosen, as JSON.",
)
@shows()
def tune(
    inputs: Input,
    test_gold: str | None,
    apply: Path | None,
    run_file: Path | None,
    threshold_file: Path | None,
    out: Showing,
    **how: Any,
) -> None:
    """Choose, on some questions, the threshold to abstain at, and judge it on others.

    \b
    abstain tune gold.csv run.csv                              (c@1, five folds)
    abstain tune gold.csv run.csv --risk 0.05 --level 0.9 --tune-on part=dev
    abstain tune gold.csv run.csv --threshold-file t.json --run-file silent.csv
    abstain tune --apply t.json new.csv --run-file silent.csv

    The score on the tuning questions is never shown as a result; it only serves to show the
    optimism that was avoided.
    """
    if apply is not None:
        _apply(apply, inputs, run_file)
        return
    asked = chosen(how)
    if how["shrink"] is not None and how["by"] is None:
        raise UsageError("--shrink needs --by: it pulls each slice towards the common threshold")
    if test_gold is not None:
        from abstain.features.tune.analysis import exclude

        exclude("test_gold", judged=inputs.kind == "judged" or None)
        exclude("test_gold", tune_on=how["tune_on"], folds=how["folds"])
    if run_file is not None and inputs.kind == "gold" and len(inputs.runs) > 1:
        raise UsageError("--run-file writes one run: name one, or use --threshold-file and --apply")
    with working("tuning…"):
        read = inputs.evaluation(test_gold=test_gold)
        result = read.tune(**asked)
    if run_file is not None:
        _write_run(read, result, inputs, run_file)
    if threshold_file is not None:
        result.to_json(threshold_file)
    out.show(result)


def _apply(thresholds: Path, inputs: Input, target: Path | None) -> None:
    from abstain.features.tune.apply import apply_thresholds, read_thresholds

    options.refuse_all_but(APPLIED)
    if len(inputs.files) > 2 or target is None:
        raise UsageError("--apply takes one run (or its gold and the run) and writes --run-file")
    gold = inputs.gold if len(inputs.files) == 2 else None
    chosen = read_thresholds(thresholds)
    _write(target, *apply_thresholds(inputs.files[-1], chosen, inputs.reading, gold=gold))


def _write_run(read: Any, result: Any, inputs: Input, target: Path) -> None:
    from abstain.features.tune.apply import apply_thresholds, thresholded_rows

    if inputs.kind == "judged":
        _write(target, thresholded_rows(read, result), [])
    else:
        only = result.runs[0].run if len(result.runs) == 1 else None
        gold, run = read.data.source.gold, inputs.runs[0]
        _write(target, *apply_thresholds(run, result.by_run, inputs.reading, gold=gold, only=only))
    hint = "the threshold was tuned on questions of this run: a score on them is hindsight"
    click.echo(f"{target}: {hint}", err=True)


def _write(target: Path, frame: Any, notes: list[str]) -> None:
    from abstain.io.tables import format_of_name, write_table

    if format_of_name(str(target)) == "qa4mre" and "run" not in frame.columns:
        import polars as pl

        frame = frame.with_columns(run=pl.lit(target.name.split(".")[0]))
    write_table(frame, target)
    click.echo("; ".join([f"{target}: {frame.height:,} responses", *notes]), err=True)
