"""`abstain tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli import options, showing
from abstain.cli.options import (
    AlignOption,
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

if TYPE_CHECKING:
    import polars as pl

    from abstain.analyses.tune.result import TuneResult


def tune(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD", help="The gold standard; with --judged or --apply the first file."
        ),
    ],
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="A run with a confidence.")
    ] = None,
    maximise: Annotated[
        str | None,
        typer.Option(metavar="MEASURE", help="Tune for a measure of counts (default: c@1)."),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(
            metavar="ALPHA",
            help="Or: answer as much as keeps the share of wrong answers at most ALPHA.",
        ),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="With --risk: how surely it is kept (default: 0.9)."),
    ] = None,
    next_questions: Annotated[
        bool,
        typer.Option(
            "--next",
            help="With --risk: bound the share of wrong answers seen on the next questions, as "
            "many as are judged on, and not only the risk behind it.",
        ),
    ] = False,
    tune_on: Annotated[
        str | None,
        typer.Option(
            metavar="ATTR=VALUE", help="Tune on questions with this value, judge on the others."
        ),
    ] = None,
    test_gold: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Tune on GOLD, judge on these other questions."),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Cross-fitting: judge each of K parts with what the others say (default: 5).",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="Cross-fit so many times, with other parts each time.")
    ] = 1,
    by: Annotated[
        str | None,
        typer.Option(metavar="ATTR", help="A threshold for each value of an attribute."),
    ] = None,
    shrink: Annotated[
        float | None,
        typer.Option(
            help="With --by: as many questions' worth of the whole are added to each slice, so "
            "that small ones follow the common threshold (default: 50)."
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="Only this run of the table.")
    ] = None,
    apply: Annotated[
        Path | None,
        typer.Option(
            "--apply",
            metavar="FILE",
            help="Apply thresholds: tune --apply FILE RUN --run-file OUT.",
        ),
    ] = None,
    run_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the run with its threshold applied; the ending says the format.",
        ),
    ] = None,
    output: OutputOption = None,
    threshold_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the threshold and how it came about, as JSON."),
    ] = None,
    judged: JudgedOption = False,
    grade: GradeOption = None,
    policy: PolicyOption = None,
    align: AlignOption = "id",
    match: MatchOption = "id",
    seed: Annotated[int, typer.Option(min=0, help="Where the random parting begins.")] = 0,
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    format: FormatOption = None,
    digits: DigitsOption = 4,
) -> None:
    """The threshold to abstain at: chosen on some questions, judged on others.

    \b
    abstain tune gold.csv run.csv                              (c@1, five folds)
    abstain tune gold.csv run.csv --risk 0.05 --level 0.9 --tune-on part=dev
    abstain tune gold.csv run.csv --threshold-file t.json --run-file silent.csv
    abstain tune --apply t.json new.csv --run-file silent.csv

    The score of the questions it was tuned on is never shown as a result, only as the optimism
    that was avoided.
    """
    from_format = options.reading(from_format, detect_refusals)
    from msgspec import structs

    from abstain.analyses.asking import both_golds
    from abstain.analyses.tune import apply as applying
    from abstain.judging.opening import old_reading
    from abstain.judging.reading import said_policy
    from abstain.judging.sources import evaluate, evaluate_judged

    files = [gold, *(runs or ())]
    reading = structs.replace(
        old_reading(options.known_columns(column), from_format),
        policy=said_policy(policy) if apply is None else {},
        match=match,
        align=align,
        grades=options.pairs(grade, "--grade", "meh=wrong"),
    )
    if apply is not None:
        tuning = {
            "--maximise": maximise,
            "--risk": risk,
            "--next": next_questions,
            "--tune-on": tune_on,
            "--test-gold": test_gold,
            "--folds": folds,
            "--by": by,
            "--run": run,
            "--threshold-file": threshold_file,
            "--judged": judged,
            "--level": level,
            "--repeats": repeats > 1,
            "--shrink": shrink,
            "--grade": grade,
            "--policy": policy,
            "--align": align != "id",
            "--match": match != "id",
            "--seed": seed,
            "--format": format,
        }
        for name, given in tuning.items():
            if given not in (None, False, 0):
                raise UsageError(f"--apply tunes nothing: it does not go with {name}")
        if len(files) > 2:
            raise UsageError("--apply takes one run (or its gold and the run)")
        if run_file is None:
            raise UsageError("--apply writes a run: say where with --run-file")
        thresholds = applying.read_thresholds(apply)
        own_gold = files[0] if len(files) == 2 else None
        _write(run_file, *applying.apply_thresholds(files[-1], thresholds, reading, gold=own_gold))
        return
    if grade and not judged:
        raise UsageError("--grade goes with --judged")
    if level is not None and risk is None:
        raise UsageError("--level goes with --risk: it is how surely that is kept")
    if shrink is not None and by is None:
        raise UsageError("--shrink goes with --by: it is what small slices borrow")
    if run_file is not None and not judged and len(files) > 2:
        raise UsageError("--run-file writes one run: name one, or use --threshold-file and --apply")
    chosen = _pair(tune_on)
    with showing.working("tuning…"):
        if judged:
            if test_gold:
                raise UsageError("--test-gold needs a gold to tune on; --judged has none")
            read = evaluate_judged(files, reading)
        elif len(files) < 2:
            raise UsageError("name the gold and a run, or say --judged")
        else:
            read = evaluate(both_golds(files[0], test_gold, chosen, folds), files[1:], reading)
        result = read.tune(
            maximise=maximise,
            risk=risk,
            next_questions=next_questions,
            level=0.9 if level is None else level,
            tune_on=chosen,
            folds=folds,
            repeats=repeats,
            by=by,
            shrink=50.0 if shrink is None else shrink,
            run=run,
            seed=seed,
        )
    if run_file is not None:
        if judged:
            _write(run_file, applying.thresholded_rows(read, result), [])
        else:
            _write(
                run_file,
                *applying.apply_thresholds(
                    files[1],
                    result.chosen,
                    reading,
                    gold=read.source.gold,
                    only=result.runs[0].run if len(result.runs) == 1 else None,
                ),
            )
        typer.echo(f"{run_file}: {_hindsight(result)}", err=True)
    if threshold_file is not None:
        result.save_thresholds(threshold_file)
    showing.show_result(result, format=format, output=output, digits=digits)


def _pair(text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--tune-on reads ATTR=VALUE, such as part=dev (got '{text}')")
    return {name.strip(): value.strip()}


def _write(path: Path, frame: pl.DataFrame, notes: list[str]) -> None:
    from abstain.analyses.tune.apply import writable
    from abstain.io.tables import write_table

    write_table(writable(frame, path), path)
    typer.echo("; ".join([f"{path}: {frame.height:,} responses", *notes]), err=True)


def _hindsight(result: TuneResult) -> str:
    """What a score of the written run would be worth."""
    parts = result.runs[0].parts
    tuned_on = parts[0].tuned_on if len(parts) == 1 else result.questions
    which = "all" if tuned_on == result.questions else f"{tuned_on:,} of {result.questions:,}"
    return f"tuned on {which} questions here: their score is hindsight, no result"
