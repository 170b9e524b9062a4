"""`abstain score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs

from abstain.cli import options, showing
from abstain.cli.options import (
    AlignOption,
    ClusterOption,
    ColumnOption,
    DetectOption,
    DigitsOption,
    EngineOption,
    FormatOption,
    FromOption,
    GradeOption,
    JudgedOption,
    LevelOption,
    MasterOption,
    MatchOption,
    OutputOption,
    PolicyOption,
)
from abstain.errors import UsageError
from abstain.judging.reading import said_policy

if TYPE_CHECKING:
    from abstain.analyses.score.several import SeveralResult

LEVEL = 0.95


def score(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD", help="The gold standard; with --judged or --counts the first file."
        ),
    ],
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="The runs to score.")
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="c@1, F, 'credit(t=0.5)', … Repeatable; the first one orders the runs.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="ATTR", help="Slice by an attribute; several are crossed."),
    ] = None,
    policy: PolicyOption = None,
    judged: JudgedOption = False,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="The file holds counts: run, right, wrong, unanswered…"),
    ] = False,
    several: Annotated[
        bool,
        typer.Option(
            "--several",
            help="Several answers a question, each a row with a confidence or a rank: K and MRR.",
        ),
    ] = False,
    grade: GradeOption = None,
    ci: Annotated[
        str | None, typer.Option("--ci", metavar="[METHOD]", help=options.CI_HELP)
    ] = None,
    cluster: ClusterOption = None,
    level: LevelOption = LEVEL,
    seed: Annotated[int, typer.Option(min=0, help="For intervals that draw at random.")] = 0,
    align: AlignOption = "id",
    match: MatchOption = "id",
    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="Add rows to read scores by: silence, luck, hindsight."),
    ] = False,
    break_even: Annotated[
        bool,
        typer.Option("--break-even", help="Show p*: answering pays above that chance."),
    ] = False,
    split: Annotated[
        bool,
        typer.Option("--split", help="Show blanks by whether their candidate was right."),
    ] = False,
    skip_inconsistent: Annotated[
        bool,
        typer.Option(
            "--skip-inconsistent", help="With --counts: leave out rows that do not add up."
        ),
    ] = False,
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    digits: DigitsOption = 4,
) -> None:
    """Score runs that may decline to answer.

    \b
    abstain score gold.csv run1.csv run2.csv -m c@1 -m F --by topic
    abstain score --judged grades.csv              (rows with an outcome or a grade)
    abstain score --counts counts.csv              (right, wrong, unanswered)
    abstain score --several gold.csv lists.csv     (several answers a question: K, MRR)

    A gold has the columns question, correct and any attributes; a run has question, answer and
    perhaps answered, candidate, confidence, why, run. An empty answer is a blank.
    """
    from_format = options.reading(from_format, detect_refusals)
    from abstain.analyses.score import scoring

    files = [gold, *(runs or ())]
    if judged and counts:
        raise UsageError("--judged and --counts exclude each other")
    chosen = measures or list(scoring.DEFAULT_MEASURES)
    columns = options.known_columns(column)
    if grade and not judged:
        raise UsageError("--grade goes with --judged")
    if counts and (engine or master):
        raise UsageError("--engine counts responses; --counts has them counted")
    if skip_inconsistent and not counts:
        raise UsageError("--skip-inconsistent goes with --counts")
    if ci is None and (level != LEVEL or seed):
        raise UsageError(f"{'--level' if level != LEVEL else '--seed'} goes with --ci")
    if several:
        from abstain.report.several import several_grid

        others = {
            "--counts": counts,
            "--ci": ci,
            "--cluster": cluster,
            "--baselines": baselines,
            "--break-even": break_even,
            "--split": split,
            "--align": align != "id",
        }
        for name, given in others.items():
            if given:
                raise UsageError(f"--several and {name} exclude each other")
        shared: dict[str, Any] = {
            "measures": measures or ("K", "MRR"),
            "by": by or (),
            "policy": policy,
            "columns": columns,
            "format": from_format,
        }
        lists = _several(files, match, grade if judged else None, shared, judged=judged)
        grid = several_grid(lists)
        showing.show(grid, lists.to_dict(), format=format, output=output, digits=digits)
        return
    from abstain.judging.opening import old_reading
    from abstain.judging.sources import evaluate, evaluate_counts, evaluate_judged

    reading = structs.replace(
        old_reading(columns, from_format, engine, master),
        policy=said_policy(policy),
        match=match,
        align=align,
        cluster=cluster,
        grades=options.pairs(grade, "--grade", "meh=wrong"),
    )
    with showing.working("counting…"):
        if counts:
            if len(files) > 1:
                raise UsageError("--counts takes one file")
            read = evaluate_counts(files[0], reading, skip_inconsistent=skip_inconsistent)
        elif judged:
            read = evaluate_judged(files, reading)
        else:
            if len(files) < 2:
                raise UsageError("name the gold and at least one run, or say --judged or --counts")
            read = evaluate(files[0], files[1:], reading)
        how: Any = True if ci in ("", "default") else ci
        result = read.score(
            chosen,
            by=by or (),
            interval=False if ci is None else how,
            level=level,
            references=baselines,
            break_even=break_even,
            seed=seed,
        )
    showing.show_result(result, format=format, output=output, digits=digits, candidates=split)


def _several(
    files: list[str],
    match: str,
    grade: list[str] | None,
    shared: dict[str, Any],
    *,
    judged: bool,
) -> SeveralResult:
    from abstain.analyses.score.several import score_several, score_several_judged

    if not judged and len(files) < 2:
        raise UsageError("name the gold and at least one run, or say --judged")
    with showing.working("counting…"):
        if judged:
            grades = options.pairs(grade, "--grade", "meh=wrong")
            return score_several_judged(files, grades=grades, **shared)
        return score_several(files[0], files[1:], match=match, **shared)
