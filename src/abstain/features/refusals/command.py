from msgspec.structs import asdict

from abstain.cli import options
from abstain.cli.command import FILE, Showing, argument, command, option, shows, working
from abstain.cli.options import reading_options
from abstain.reading import Reading


@command
@argument("files", nargs=-1, metavar="FILE", help="Runs or logs with their text.")
@reading_options(
    *("format", "pick", "columns", "policy", "refusal_pattern"),
    otherwise="`refusals` looks only at the text of responses and uses no gold; choose the "
    "languages with --languages",
)
@option("-l --languages LANGUAGES", "en,de,es,fr,it or all.", default="all")
@option("--rules", "Show the rules instead, each with an example.")
@option(
    "--check TABLE",
    "A table of hand-checked rows: question, true (right, wrong or blank), optionally run. "
    "Gives the table of errors that `compare --judge-error` takes.",
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
    """List the responses whose text declines to answer, or measure how often the rules err.

    Each response is listed with the rule that matched it.

    \b
    abstain refusals log.jsonl --languages en
    abstain refusals --rules --languages de
    abstain refusals log.jsonl --check checked.csv -o judge.csv

    Other commands use these rules only with --detect-refusals.
    """
    from abstain.features.refusals.analysis import refusals as found

    how = asdict(reading) | {"languages": languages, "rules": rules, "check": check}
    with working("reading…"):
        result = found(files, **how)
    out.show(result, most=most)
