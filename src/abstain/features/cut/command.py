from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from abstain.cli import options
from abstain.cli.command import NEW_FILE, SHOWING, Showing, Words, command, option, shows, working
from abstain.cli.options import Input, reads_rankings
from abstain.errors import UsageError
from abstain.features.cut import RULES

RESULTS = (".json", ".html", ".htm", ".md", ".tex")
"""Endings of -o that ask for the result; any other name holds the run, cut."""
READ = {"qrels", "runs", "nil", "reading_columns", "reading_format"}
APPLIED = READ | {"apply", "output", "explain"}  # what may be asked for together with --apply


@command
@reads_rankings(
    *("nil", "limit", "missing", "top", "queries", "all_queries"),
    qrels="The relevance judgments; with --apply, the run.",
    runs="The runs to cut, with scores.",
    required=False,
)
@options.measure(
    "Choose the depth for this measure: RBPt (RBP'(p=0.8), the default), APt, NDCGt, SetF, …",
    to="maximise",
)
@option(
    "--rule RULE",
    f"The rule to recommend, apply and save ({', '.join(RULES)}); the others are judged as well "
    "(default: auto, the rule that does best on the tuning queries).",
    type=Words(RULES),
)
@option(
    "--keep SHARE",
    "Use only rules shown to keep at least this share of the relevant documents, and of these the "
    "one that scores most.",
    type=float,
)
@option(
    "--next",
    "With --keep: the share is that which will be observed on the next queries, not "
    "only for the expected share. The promise is for as many next queries as a fold has; only "
    "queries with a relevant document in their list count.",
)
@option("--budget N", "At most N documents per query on average.", type=float)
@option("--folds K", "Judge each of K folds with rules tuned on the others (default: 5).", type=int)
@option(
    "--repeats N",
    "Do that N times, with new random folds each time.",
    type=click.IntRange(1, 1_000),
    default=1,
)
@option("--run NAME", "Cut only this run.")
@options.level("The level of intervals (default: 0.95) and of the promise (default: 0.9).", None)
@options.seed("The seed of the random folds.")
@option(
    "--apply FILE",
    "Cut a run without judgments by the rule of a file that --rule-file wrote: "
    "cut --apply FILE RUN -o OUT.",
    type=NEW_FILE,
)
@option("--explain", "Print the rule as lines of Python, to paste into a retriever.")
@option(
    "--rule-file FILE",
    "Write the rule and how it was chosen, as JSON.",
    type=NEW_FILE,
    writes=True,
    section=SHOWING,
)
@shows(
    chart=True,
    output="Write the run with every list cut, or the result: .json, .html, .md, .tex.",
    any_name=True,
)
def cut(
    inputs: Input,
    apply: Path | None,
    explain: bool,
    rule_file: Path | None,
    out: Showing,
    **how: Any,
) -> None:
    """Choose, on some queries, where a ranking stops, and judge that choice on others.

    \b
    abstain cut qrels.txt run.txt               (RBP', five folds, the rule that does best)
    abstain cut qrels.txt run.txt --maximise SetF --budget 10
    abstain cut qrels.txt run.txt --keep 0.9 --level 0.9
    abstain cut qrels.txt run.txt --rule-file rule.json -o short.run
    abstain cut --apply rule.json new.run -o short.run

    -o writes the result if the name ends in .json, .html, .md or .tex. Otherwise it writes the run
    with every list cut; an empty list becomes NIL. The run has TREC's columns, unless the name ends
    in .csv, .tsv, .jsonl or .parquet. Lists are read as by `abstain rank`; they need scores.
    """
    name = None if out.format is not None else out.output
    target = None if name is None or name.suffix.lower() in RESULTS else name
    if apply is not None:
        _apply(apply, inputs, target, explain=explain)
        return
    if not inputs.runs:
        raise UsageError("name a run: abstain cut QRELS RUN")
    from abstain.features.cut.result import cut_runs
    from abstain.rankings.rankings import ranking_measures

    if how["maximise"] is not None:
        ranking_measures(how["maximise"])  # an unknown name ends it before anything is read
    with working("cutting…"):
        rankings = inputs.rankings()
        result = rankings.cut(**{name: value for name, value in how.items() if value is not None})
    if target is not None:
        _write(target, *cut_runs(rankings.origins, result, rankings.settings.nil))
    if rule_file is not None:
        result.save_rule(rule_file)
    if explain:
        _explain(result)
    else:
        replace(out, output=None if target is not None else out.output).show(result)


def _write(target: Path, rows: Any, notes: list[str]) -> None:
    from abstain.features.cut.result import write_run

    write_run(rows, target)
    for note in notes:
        click.echo(f"{target}: {note}", err=True)


def _explain(result: Any) -> None:
    for each in result.runs:
        head = f"# {each.run}: {each.rule.rule}, tuned for {result.measure}"
        click.echo(f"{' '.join(head.split())}\n{result.explain(each.run)}")


def _apply(rule: Path, inputs: Input, target: Path | None, *, explain: bool) -> None:
    from abstain.features.cut.result import CutResult, cut_by_saved
    from abstain.report.result import load

    options.refuse_all_but(APPLIED)
    saved = load(rule)
    if not isinstance(saved, CutResult):
        raise UsageError(f"{rule} is a result of `abstain {saved.kind}`, expected a rule of `cut`")
    if explain:
        _explain(saved)
        return
    if inputs.runs or target is None:
        raise UsageError("--apply cuts one run, written with -o (a run's name, not .json)")
    how = {"nil": inputs.lists["nil"], "reading": inputs.reading}
    _write(target, *cut_by_saved(inputs.gold, saved, **how))
