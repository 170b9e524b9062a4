"""Choose the threshold to abstain at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain.cli import options
from abstain.cli.command import FILE, NEW_FILE, SHOWING, command, option
from abstain.cli.reading import Input, reads
from abstain.cli.showing import Showing, shows, working
from abstain.errors import UsageError

if TYPE_CHECKING:
    from polars import DataFrame

    from abstain.analyses.tune.result import TuneResult
    from abstain.judging.evaluation import Evaluation


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
    "With --risk: bound the share of wrong answers that will be observed on the next questions, "
    "not only the expected share. The number of next questions is taken to be the number of "
    "questions that each threshold is judged on (with folds: the size of a fold).",
    to="next_questions",
)
@option("--tune-on ATTR=VALUE", "Tune on questions with this value, judge on the others.")
@option("--test-gold FILE", "Tune on GOLD, judge on these other questions.", type=FILE)
@option(
    "--folds K",
    "Cross-fitting: judge each of K folds with the threshold tuned on the others (default: 5).",
    type=int,
)
@option(
    "--repeats N",
    "Cross-fit N times, with new random folds each time.",
    type=click.IntRange(1, 1_000),
    default=1,
)
@option("--by ATTR", "A threshold for each value of an attribute.")
@option(
    "--shrink N",
    "With --by: pull the threshold of each slice towards the common one, with the weight of N "
    "questions, so that small slices follow the common threshold (default: 50).",
    type=float,
)
@option("--run NAME", "Tune only this run of the table.")
@options.seed("The seed of the random folds.")
@option(
    "--apply FILE",
    "Apply the thresholds of a file that --threshold-file or -o FILE.json wrote: "
    "tune --apply FILE RUN --run-file OUT.",
    type=NEW_FILE,
)
@option(
    "--run-file FILE",
    "Write the run with its threshold applied; the ending sets the format.",
    type=NEW_FILE,
    writes=True,
    section=SHOWING,
)
@option(
    "--threshold-file FILE",
    "Write the threshold and how it was chosen, as JSON.",
    type=NEW_FILE,
    writes=True,
    section=SHOWING,
)
@shows(chart=True)
def tune(
    given: Input,
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
        said = {**how, "test_gold": test_gold, "threshold_file": threshold_file}
        _refuse_tuning(given, said, out)
        _apply(apply, given, run_file)
        return
    if how["level"] is not None and how["risk"] is None:
        raise UsageError("--level needs --risk: it is the probability that the bound holds")
    if how["shrink"] is not None and how["by"] is None:
        raise UsageError("--shrink needs --by: it pulls each slice towards the common threshold")
    if run_file is not None and given.kind == "gold" and len(given.runs) > 1:
        raise UsageError("--run-file writes one run: name one, or use --threshold-file and --apply")
    if how["tune_on"] is not None:
        how["tune_on"] = options.pairs([how["tune_on"]], "--tune-on", "part=dev")
    with working("tuning…"):
        read = _read(given, test_gold, how)
        result = read.tune(**{name: value for name, value in how.items() if value is not None})
    if run_file is not None:
        _write_run(read, result, given, run_file)
    if threshold_file is not None:
        result.save_thresholds(threshold_file)
    out.show(result)


def _read(given: Input, test_gold: str | None, how: dict[str, Any]) -> Evaluation:
    """The runs, judged against their gold, and perhaps a second gold with questions to judge on."""
    from abstain.analyses.asking import both_golds
    from abstain.judging.sources import evaluate

    if test_gold is None:
        return given.evaluation()
    if given.kind == "judged":
        raise UsageError("--test-gold needs a gold to tune on; --judged has none")
    golds = both_golds(given.gold, test_gold, how["tune_on"], how["folds"])
    return evaluate(golds, given.runs, given.reading)


def _refuse_tuning(given: Input, how: dict[str, Any], out: Showing) -> None:
    reading = given.reading
    told = ("risk", "level", "tune_on", "test_gold", "folds", "by", "shrink", "run", "seed")
    said = {
        "--measure": how["maximise"],
        "--next": how["next_questions"],
        "--repeats": how["repeats"] > 1,
        **{f"--{name.replace('_', '-')}": how[name] for name in (*told, "threshold_file")},
        "--judged": given.kind == "judged",
        "--policy": reading.policy,
        "--align": reading.align != "id",
        "--match": reading.match != "id",
        "--engine": reading.engine,
        "--format": out.format,
        "-o": out.output,
        "--chart": out.chart,
    }
    for name, value in said.items():
        if value not in (None, False, 0, {}):
            raise UsageError(f"--apply tunes nothing: it cannot be combined with {name}")


def _apply(thresholds: Path, given: Input, target: Path | None) -> None:
    from abstain.analyses.tune.apply import apply_thresholds, read_thresholds

    if len(given.files) > 2:
        raise UsageError("--apply takes one run (or its gold and the run)")
    if target is None:
        raise UsageError("--apply writes a run: say where with --run-file")
    gold = given.gold if len(given.files) == 2 else None
    chosen = read_thresholds(thresholds)
    _write(target, *apply_thresholds(given.files[-1], chosen, given.reading, gold=gold))


def _write_run(read: Evaluation, result: TuneResult, given: Input, target: Path) -> None:
    from abstain.analyses.tune.apply import apply_thresholds, thresholded_rows

    if given.kind == "judged":
        _write(target, thresholded_rows(read, result), [])
    else:
        only = result.runs[0].run if len(result.runs) == 1 else None
        gold = read.source.gold
        _write(
            target,
            *apply_thresholds(given.runs[0], result.chosen, given.reading, gold=gold, only=only),
        )
    parts = result.runs[0].parts
    tuned_on = parts[0].tuned_on if len(parts) == 1 else result.questions
    which = "all" if tuned_on == result.questions else f"{tuned_on:,} of {result.questions:,}"
    hindsight = (
        f"the threshold was tuned on {which} questions of this run: a score on them is hindsight, "
        "not a result"
    )
    click.echo(f"{target}: {hindsight}", err=True)


def _write(target: Path, frame: DataFrame, notes: list[str]) -> None:
    from abstain.analyses.tune.apply import writable
    from abstain.io.tables import write_table

    write_table(writable(frame, target), target)
    click.echo("; ".join([f"{target}: {frame.height:,} responses", *notes]), err=True)
