"""`abstain report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli import showing
from abstain.errors import UsageError


def report(
    results: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS.json",
            help="What score, rank, compare, curve or meta wrote as JSON, or a campaign's "
            "results.json.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            help="The page to write, whole or not at all (default: beside the results).",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The title of the page.")] = "",
) -> None:
    """A saved result as one HTML page that needs no network.

    \b
    abstain score gold.csv runs/*.csv --ci -o scores.json
    abstain report scores.json -o scores.html
    """
    from abstain.io.files import bare_name, write_text
    from abstain.report.results.pages import report as page_of

    target = output or Path(results).with_name(f"{bare_name(results)}.html")
    if target.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a page's name ends in .html (got '{target}')")
    with showing.working("drawing…"):
        text = page_of(results, title=title)
        write_text(target, text)
    typer.echo(f"{target}: {len(text.encode()) / 1e6:.1f} MB, opens in any browser.")
