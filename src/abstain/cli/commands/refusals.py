"""Responses that decline, found in their text."""

from __future__ import annotations

import msgspec

from abstain.cli import options
from abstain.cli.command import FILE, argument, command, option
from abstain.cli.reading import reading_options
from abstain.cli.showing import Showing, shows, working
from abstain.judging.reading import Reading


@command
@argument("files", nargs=-1, metavar="FILE", help="Runs or logs with their text.")
@reading_options(
    *("format", "pick", "columns", "policy"),
    otherwise="refusals looks at the text of responses, whatever the gold; say --languages",
)
@option("-l --languages LANGUAGES", "en,de,es,fr,it or all.", default="all")
@option("--rules", "Show the rules instead, each with an example.")
@option(
    "--check TABLE",
    "Hand-checked rows (question, true: right, wrong or blank; perhaps run): the table of "
    "errors that `compare --judge-error` takes.",
    type=FILE,
)
@options.most("How many texts a table shows (0: all of them).")
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
    from abstain.analyses.refusals import refusals_in
    from abstain.judging.refusals.detect import languages_of

    own = msgspec.structs.replace(reading, detect_refusals=languages_of(languages))
    with working("reading…"):
        result = refusals_in(files, own, rules=rules, check=check)
    out.show(result, most=most)
