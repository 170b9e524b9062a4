"""`abstain tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain.cli import options
from abstain.cli.command import FILE, NEW_FILE, SHOWING, command, option
from abstain.cli.reading import Input, keywords, reads
from abstain.cli.showing import Showing, shows, working
from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.analyses.tune.tuned import TuneResult

WHOLE = "tune needs every confidence, which it reads with polars"


@command
@reads(
    "judged",
    runs="A run with a confidence.",
    alone="apply",
    without={
        "cluster": "--cluster: folds are of questions, not of clusters",
        "master": f"--master: {WHOLE}",
        "engine": f"--engine: {WHOLE}",
    },
)
@options.measure("Tune for a measure of counts (default: c@1).", "--maximise")
@option(
    "--risk",
    type=float,
    metavar="ALPHA",
    help="Or: answer as much as keeps the share of wrong answers at most ALPHA.",
)
@options.level("With --risk: the chance with which the risk is kept (default: 0.9).", default=None)
@option(
    "--next",
    "next_questions",
    is_flag=True,
    help="With --risk: bound the share of wrong answers seen on the next questions, as many as "
    "are judged on, and not only the risk behind it.",
)
@option(
    "--tune-on",
    metavar="ATTR=VALUE",
    help="Tune on questions with this value, judge on the others.",
)
@option(
    "--test-gold",
    type=FILE,
    metavar="FILE",
    help="Tune on GOLD, judge on these other questions.",
)
@option(
    "--folds",
    type=int,
    metavar="K",
    help="Cross-fitting: judge each of K parts with what the others say (default: 5).",
)
@option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Cross-fit so many times, with other parts each time.",
)
@option("--by", metavar="ATTR", help="A threshold for each value of an attribute.")
@option(
    "--shrink",
    type=float,
    metavar="N",
    help="With --by: as many questions' worth of the whole are added to each slice, so that small "
    "ones follow the common threshold (default: 50).",
)
@option("--run", metavar="NAME", help="Only this run of the table.")
@options.seed("For the random folds.")
@option(
    "--apply",
    type=NEW_FILE,
    metavar="FILE",
    help="Apply thresholds that --threshold-file wrote: tune --apply FILE RUN --run-file OUT.",
)
@option(
    "--run-file",
    type=NEW_FILE,
    writes=True,
    metavar="FILE",
    section=SHOWING,
    help="Write the run with its threshold applied, so that it stays silent; the ending says the "
    "format.",
)
@option(
    "--threshold-file",
    type=NEW_FILE,
    writes=True,
    metavar="FILE",
    section=SHOWING,
    help="Write the threshold and how it was chosen, as JSON.",
)
@shows()
def tune(
    given: Input,
    measure: str | None,
    risk: float | None,
    level: float | None,
    next_questions: bool,
    tune_on: str | None,
    test_gold: str | None,
    folds: int | None,
    repeats: int,
    by: str | None,
    shrink: float | None,
    run: str | None,
    seed: int,
    apply: Path | None,
    run_file: Path | None,
    threshold_file: Path | None,
    out: Showing,
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
    tuning: dict[str, Any] = {
        "maximise": measure,
        "risk": risk,
        "level": level,
        "next_questions": next_questions,
        "tune_on": tune_on,
        "test_gold": test_gold,
        "folds": folds,
        "repeats": repeats,
        "by": by,
        "shrink": shrink,
        "run": run,
        "seed": seed,
    }
    if apply is not None:
        _refuse_tuning(given, tuning, threshold_file, out)
        _apply(apply, given, run_file)
        return
    if level is not None and risk is None:
        raise UsageError("--level goes with --risk: it is the chance with which the risk is kept")
    if shrink is not None and by is None:
        raise UsageError("--shrink goes with --by: it is what small slices borrow")
    result = _tuned(given, tuning)
    if run_file is not None:
        _write_run(result, given, run_file)
    if threshold_file is not None:
        from abstain.io.files import write_text
        from abstain.io.json_text import json_of

        write_text(threshold_file, json_of(result.threshold_data()))
    from abstain.report.thresholds import tune_grid

    out.show_grids([tune_grid(result)], result.to_dict())


def _refuse_tuning(
    given: Input, tuning: dict[str, Any], threshold_file: Path | None, out: Showing
) -> None:
    """Refuse what says how to tune where thresholds are applied."""
    reading = given.reading
    said = {
        "--measure": tuning["maximise"],
        "--next": tuning["next_questions"],
        "--repeats": tuning["repeats"] > 1,
        **{
            f"--{name.replace('_', '-')}": tuning[name]
            for name in ("risk", "level", "tune_on", "test_gold", "folds", "by", "shrink", "run")
        },
        "--seed": tuning["seed"],
        "--threshold-file": threshold_file,
        "--judged": given.kind == "judged",
        "--policy": reading.policy,
        "--align": reading.align != "id",
        "--match": reading.match != "id",
        "--format": out.format,
        "-o": out.output,
    }
    for name, value in said.items():
        if value not in (None, False, 0, {}):
            raise UsageError(f"--apply tunes nothing: it does not go with {name}")


def _tuned(given: Input, tuning: dict[str, Any]) -> TuneResult:
    from abstain.analyses.curve import api

    shared = dict(tuning)
    level, shrink = shared.pop("level"), shared.pop("shrink")
    test_gold = shared.pop("test_gold")
    shared |= {"split": _part(shared.pop("tune_on")), "per": shared.pop("by")}
    if level is not None:
        shared["delta"] = _left_over(level)
    if shrink is not None:
        shared["shrink"] = shrink
    with working("tuning…"):
        if given.kind == "judged":
            if test_gold:
                raise UsageError("--test-gold needs a gold to tune on; --judged has none")
            own = keywords(given.reading, "policy", "grades")
            return api.tune_judged(list(given.files), **own, **shared)
        own = keywords(given.reading, "policy", "match", "align")
        return api.tune(given.gold, given.runs, test_gold=test_gold, **own, **shared)


def _left_over(level: float) -> float:
    """The chance of being above the risk, as it would be written: 0.1 of a level of 0.9."""
    if not 0 < level < 1:
        raise UsageError(f"--level must be between 0 and 1 (got {level:g})")
    return round(1 - level, 12)


def _part(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--tune-on reads ATTR=VALUE, such as part=dev (got '{text}')")
    return name.strip(), value.strip()


def _write_run(result: TuneResult, given: Input, target: Path) -> None:
    from abstain.analyses.tune import apply
    from abstain.io.tables import write_table

    notes: list[str] = []
    if given.kind == "judged":
        frame = apply.thresholded_rows(result)
    else:
        if len(given.runs) > 1:
            raise UsageError(
                "--run-file writes one run: name one, or use --threshold-file and --apply"
            )
        frame, notes = apply.apply_threshold(
            given.runs[0],
            {own.run: own.threshold for own in result.runs},
            questions=result.matrix.questions if result.per else None,
            only=result.runs[0].run if len(result.runs) == 1 else None,
            **keywords(given.reading, "align"),
        )
    write_table(apply.writable(frame, target), target)
    _say_written(target, frame.height, notes)
    click.echo(f"{target}: {_hindsight(result)}", err=True)


def _hindsight(result: TuneResult) -> str:
    """What a score of the written run would be worth."""
    parts = result.runs[0].parts
    tuned_on = parts[0].tuned_on if len(parts) == 1 else result.questions
    which = "all" if tuned_on == result.questions else f"{tuned_on:,} of {result.questions:,}"
    return f"tuned on {which} questions here: their score is hindsight, no result"


def _apply(thresholds: Path, given: Input, target: Path | None) -> None:
    from abstain.analyses.tune import apply
    from abstain.io.tables import write_table

    if len(given.files) > 2:
        raise UsageError("--apply takes one run (or its gold and the run)")
    if target is None:
        raise UsageError("--apply writes a run: say where with --run-file")
    frame, notes = apply.apply_threshold(
        given.files[-1],
        apply.read_thresholds(thresholds),
        gold=given.gold if len(given.files) == 2 else None,
        **keywords(given.reading),
    )
    write_table(apply.writable(frame, target), target)
    _say_written(target, frame.height, notes)


def _say_written(target: Path, rows: int, notes: list[str]) -> None:
    click.echo("; ".join([f"{target}: {rows:,} responses", *notes]), err=True)
