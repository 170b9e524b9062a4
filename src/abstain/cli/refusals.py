"""`abstain refusals`."""

from __future__ import annotations

import click
import msgspec

from abstain.cli.command import FILE, argument, command, option
from abstain.cli.reading import keywords, reading_options
from abstain.cli.showing import Showing, shows, working
from abstain.errors import UsageError
from abstain.judging.reading import Reading


@command
@argument("files", nargs=-1, metavar="FILE", help="Runs or logs with their text.")
@reading_options(
    *("format", "pick", "columns", "policy"),
    otherwise="refusals looks at the text of responses, whatever the gold; say --languages",
)
@option(
    "-l",
    "--languages",
    default="all",
    metavar="LANGUAGES",
    help="en,de,es,fr,it or all.",
)
@option("--rules", is_flag=True, help="Show the rules instead, each with an example.")
@option(
    "--check",
    type=FILE,
    metavar="TABLE",
    help="Hand-checked rows (question, true: right, wrong or blank; perhaps run): the table of "
    "errors that `compare --judge-error` takes.",
)
@option(
    "--most",
    type=click.IntRange(min=0),
    default=50,
    metavar="N",
    help="How many texts a table shows (0: all of them).",
)
@shows(digits=False)
def refusals(
    files: tuple[str, ...],
    reading: Reading,
    languages: str,
    rules: bool,
    check: str | None,
    most: int,
    out: Showing,
) -> None:
    """List the responses that decline to answer, by which rule, or measure how often that errs.

    \b
    abstain refusals log.jsonl --languages en
    abstain refusals --rules --languages de
    abstain refusals log.jsonl --check checked.csv -o judge.csv

    What the rules find counts elsewhere only with --detect-refusals.
    """
    from abstain.analyses import refusals as found
    from abstain.judging.refusals.detect import languages_of
    from abstain.report.refusals import confusion_grid, hits_grid, rules_grid

    wanted = languages_of(languages)
    if rules:
        grid, data = rules_grid(wanted)
        out.show_grids([grid], data)
        return
    if not files:
        raise UsageError("name a run or a log, or say --rules")
    own = keywords(msgspec.structs.replace(reading, detect_refusals=wanted))
    with working("reading…"):
        if check is not None:
            policy = [f"{kind}={effect}" for kind, effect in reading.policy.items()]
            counts = found.confusion(list(files), check, policy=policy, **own)
            grid, data = confusion_grid(counts)
        else:
            grid, data = hits_grid(found.find(list(files), **own), most=most)
    out.show_grids([grid], data)
