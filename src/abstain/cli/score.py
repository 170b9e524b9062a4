"""`abstain score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain.cli import options
from abstain.cli.command import command, option
from abstain.cli.reading import Source, keywords, reads
from abstain.cli.showing import Showing, shows, working
from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.analyses.score.result import ScoreResult
    from abstain.analyses.score.several import SeveralResult

LEVEL = 0.95


@command
@reads("judged", "counts", runs="The runs to score.")
@options.measures("c@1, F, 'credit(t=0.5)', …; the first one orders the runs.")
@options.by("Slice by an attribute; several are crossed.")
@option(
    "--several",
    is_flag=True,
    help="Several answers a question, each a row with a confidence or a rank: K and MRR.",
)
@options.interval
@options.level(default=LEVEL)
@options.seed("For intervals that draw at random.")
@option("--references", is_flag=True, help="Add rows to read scores by: silence, luck, hindsight.")
@option("--break-even", is_flag=True, help="Show p*: answering pays above that chance.")
@option("--candidates", is_flag=True, help="Show blanks by whether their candidate was right.")
@option(
    "--skip-inconsistent",
    is_flag=True,
    help="With --counts: leave out rows that do not add up.",
)
@shows()
def score(
    source: Source,
    measures: tuple[str, ...],
    by: tuple[str, ...],
    several: bool,
    interval: str | None,
    level: float,
    seed: int,
    references: bool,
    break_even: bool,
    candidates: bool,
    skip_inconsistent: bool,
    out: Showing,
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
    from abstain.analyses.score.scoring import DEFAULT_MEASURES
    from abstain.report.scores import score_grid

    if skip_inconsistent and source.kind != "counts":
        raise UsageError("--skip-inconsistent goes with --counts")
    if interval is None and (level != LEVEL or seed):
        raise UsageError(f"{'--level' if level != LEVEL else '--seed'} goes with --interval")
    if several:
        others = {
            "--counts": source.kind == "counts",
            "--interval": interval,
            "--cluster": source.reading.cluster,
            "--references": references,
            "--break-even": break_even,
            "--candidates": candidates,
            "--align": source.reading.align != "id",
            "--engine": source.reading.engine,
        }
        for name, given in others.items():
            if given:
                raise UsageError(f"--several and {name} exclude each other")
        from abstain.report.several import several_grid

        lists = _several(source, measures or ("K", "MRR"), by)
        out.show_grids([several_grid(lists)], lists.to_dict())
        return
    how: dict[str, Any] = {
        "measures": list(measures or DEFAULT_MEASURES),
        "by": by,
        "baselines": references,
        "ci": interval,
        "level": level,
        "seed": seed,
    }
    result = _scored(source, how, skip_inconsistent=skip_inconsistent)
    data = result.to_dict()
    if break_even:
        _add_break_even(data, result)
    grid = score_grid(result, split=candidates, break_even=break_even)
    out.show_grids([grid], data)


def _scored(source: Source, how: dict[str, Any], *, skip_inconsistent: bool) -> ScoreResult:
    from abstain.analyses.score import scoring

    shared = ("policy", "cluster", "engine", "master")
    with working("counting…"):
        if source.kind == "counts":
            how["skip_inconsistent"] = skip_inconsistent
            return scoring.score_counts(source.gold, **how, **keywords(source.reading))
        if source.kind == "judged":
            own = keywords(source.reading, *shared, "grades")
            return scoring.score_judged(list(source.files), **how, **own)
        own = keywords(source.reading, *shared, "match", "align")
        return scoring.score(source.gold, source.runs, **how, **own)


def _several(source: Source, measures: tuple[str, ...], by: tuple[str, ...]) -> SeveralResult:
    from abstain.analyses.score.several import score_several, score_several_judged

    how: dict[str, Any] = {"measures": measures, "by": by}
    with working("counting…"):
        if source.kind == "judged":
            own = keywords(source.reading, "policy", "grades")
            return score_several_judged(list(source.files), **how, **own)
        own = keywords(source.reading, "policy", "match")
        return score_several(source.gold, source.runs, **how, **own)


def _add_break_even(data: dict[str, Any], result: ScoreResult) -> None:
    import math

    for plain, row in zip(data["results"], result.rows, strict=True):
        values = {
            str(m): m.break_even(row.counts)
            for m in result.measures
            if m.definition.break_even is not None
        }
        plain["break_even"] = {k: None if math.isnan(v) else v for k, v in values.items()}
