"""`abstain tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    PolicyOption,
)
from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.analyses.tune.tuned import TuneResult


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
    delta: Annotated[
        float | None,
        typer.Option(help="With --risk: the chance that is left of being above it (default: 0.1)."),
    ] = None,
    next_questions: Annotated[
        bool,
        typer.Option(
            "--next",
            help="With --risk: bound the share of wrong answers seen on the next questions, as "
            "many as are judged on, and not only the risk behind it.",
        ),
    ] = False,
    split: Annotated[
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
    per: Annotated[
        str | None,
        typer.Option(metavar="ATTR", help="A threshold for each value of an attribute."),
    ] = None,
    shrink: Annotated[
        float | None,
        typer.Option(
            help="With --per: as many questions' worth of the whole are added to each slice, so "
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
            help="Apply thresholds that --threshold-file wrote: tune --apply FILE RUN -o OUT.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the run with its threshold applied; the ending says the format.",
        ),
    ] = None,
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
    abstain tune gold.csv run.csv --risk 0.05 --delta 0.1 --split part=dev
    abstain tune gold.csv run.csv --threshold-file t.json -o silent.csv
    abstain tune --apply t.json new.csv -o silent.csv

    The score of the questions it was tuned on is never shown as a result, only as the optimism
    that was avoided.
    """
    from_format = options.reading(from_format, detect_refusals)
    files = [gold, *(runs or ())]
    columns = options.known_columns(column)
    if apply is not None:
        tuning = {
            "--maximise": maximise,
            "--risk": risk,
            "--next": next_questions,
            "--split": split,
            "--test-gold": test_gold,
            "--folds": folds,
            "--per": per,
            "--run": run,
            "--threshold-file": threshold_file,
            "--judged": judged,
            "--delta": delta,
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
        _apply(apply, files, output, columns, from_format)
        return
    if grade and not judged:
        raise UsageError("--grade goes with --judged")
    if delta is not None and risk is None:
        raise UsageError("--delta goes with --risk: it is the chance of being above it")
    if shrink is not None and per is None:
        raise UsageError("--shrink goes with --per: it is what small slices borrow")
    shared: dict[str, Any] = {
        "maximise": maximise,
        "risk": risk,
        **({} if delta is None else {"delta": delta}),
        **({} if shrink is None else {"shrink": shrink}),
        "next_questions": next_questions,
        "split": _split(split),
        "folds": folds,
        "repeats": repeats,
        "per": per,
        "seed": seed,
        "run": run,
        "policy": policy,
        "columns": columns,
        "format": from_format,
    }
    result = _tuned(files, judged, grade, test_gold, align, match, shared)
    _write(result, files, output, threshold_file, columns, from_format, align, judged=judged)
    from abstain.report.thresholds import tune_grid

    showing.show(tune_grid(result), result.to_dict(), format=format, output=None, digits=digits)


def _tuned(
    files: list[str],
    judged: bool,
    grade: list[str] | None,
    test_gold: str | None,
    align: str,
    match: str,
    shared: dict[str, Any],
) -> TuneResult:
    from abstain.analyses.curve import api

    with showing.working("tuning…"):
        if judged:
            if test_gold:
                raise UsageError("--test-gold needs a gold to tune on; --judged has none")
            grades = options.pairs(grade, "--grade", "meh=wrong")
            return api.tune_judged(files, grades=grades, **shared)
        if len(files) < 2:
            raise UsageError("name the gold and a run, or say --judged")
        return api.tune(
            files[0], files[1:], test_gold=test_gold, align=align, match=match, **shared
        )


def _split(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--split reads ATTR=VALUE, such as part=dev (got '{text}')")
    return name.strip(), value.strip()


def _write(
    result: TuneResult,
    files: list[str],
    output: Path | None,
    threshold_file: Path | None,
    columns: dict[str, str],
    from_format: str | None,
    align: str,
    *,
    judged: bool,
) -> None:
    from abstain.analyses.tune import apply
    from abstain.io.tables import write_table

    if output is not None:
        notes: list[str] = []
        if judged:
            frame = apply.thresholded_rows(result)
        else:
            if len(files) > 2:
                raise UsageError("-o writes one run: name one, or use --threshold-file and --apply")
            thresholds = {own.run: own.threshold for own in result.runs}
            frame, notes = apply.apply_threshold(
                files[1],
                thresholds,
                questions=result.matrix.questions if result.per else None,
                align=align,
                only=result.runs[0].run if len(result.runs) == 1 else None,
                columns=columns,
                format=from_format,
            )
        write_table(apply.writable(frame, output), output)
        typer.echo("; ".join([f"{output}: {frame.height:,} responses", *notes]), err=True)
        typer.echo(f"{output}: {_hindsight(result)}", err=True)
    if threshold_file is not None:
        import msgspec

        from abstain.io.files import write_text

        data = msgspec.json.format(msgspec.json.encode(result.threshold_data()), indent=2)
        write_text(threshold_file, data.decode() + "\n")


def _hindsight(result: TuneResult) -> str:
    """What a score of the written run would be worth."""
    parts = result.runs[0].parts
    tuned_on = parts[0].tuned_on if len(parts) == 1 else result.questions
    which = "all" if tuned_on == result.questions else f"{tuned_on:,} of {result.questions:,}"
    return f"tuned on {which} questions here: their score is hindsight, no result"


def _apply(
    thresholds: Path,
    files: list[str],
    output: Path | None,
    columns: dict[str, str],
    from_format: str | None,
) -> None:
    from abstain.analyses.tune import apply
    from abstain.io.tables import write_table

    if len(files) > 2:
        raise UsageError("--apply takes one run (or its gold and the run)")
    if output is None:
        raise UsageError("--apply writes a run: say where with -o")
    frame, notes = apply.apply_threshold(
        files[-1],
        apply.read_thresholds(thresholds),
        gold=files[0] if len(files) == 2 else None,
        columns=columns,
        format=from_format,
    )
    write_table(apply.writable(frame, output), output)
    typer.echo("; ".join([f"{output}: {frame.height:,} responses", *notes]), err=True)
