"""Make one HTML page of a saved result."""

from pathlib import Path

import click

from abstain.cli import options
from abstain.cli.command import SHOWING, argument, command, option, working
from abstain.errors import UsageError


@command
@argument(
    "results",
    metavar="RESULTS.json",
    help="What score, rank, compare, curve or meta wrote as JSON, or a campaign's results.json.",
)
@options.output(
    "The page to write (default: beside the results). If that fails, no partial file is left.",
    "FILE.html",
)
@option("--title TEXT", "The title of the page.", default="", show_default=False, section=SHOWING)
def report(results: str, output: Path | None, title: str) -> None:
    """Make one HTML page, which needs no network, of a saved result.

    \b
    abstain score gold.csv runs/*.csv --interval -o scores.json
    abstain report scores.json -o scores.html
    """
    from abstain.io.files import bare_name
    from abstain.io.output import write_text
    from abstain.report.result import load

    target = output or Path(results).with_name(f"{bare_name(results)}.html")
    if target.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a page's name ends in .html (got '{target}')")
    with working("drawing…"):
        text = load(results).page(title=title)
        write_text(target, text)
    click.echo(f"{target}: {len(text.encode()) / 1e6:.1f} MB, opens in any browser.")
