"""`abstain receive` and `abstain seal`."""

from typing import Any

import click

from abstain.cli import EXIT_NO
from abstain.cli.command import FILE, Showing, argument, command, option, shows
from abstain.errors import UsageError, plural


@command
@argument("files", nargs=-1, metavar="FILE", help="Runs; a folder or a zip archive of them.")
@option("--into SEASON", "The folder with season.toml.", type=FILE, required=True)
@option("--team NAME", "The team that sent them.", default="")
@option("--list", "List all receipts, or those of --team.", to="every")
@option("--withdraw RUN", "Take a run of the team back, with all versions of it so far.")
@option("--primary RUN", "Name the primary run of the team.")
@option("--at TIME", "When it arrived, if not now: 2013-05-09T12:00Z. The receipt says both.")
@option("--again", "Receive files anew that were received before.")
@shows(digits=False, page=False)
def receive(files: tuple[str, ...], every: bool, out: Showing, **how: Any) -> None:
    """Keep submissions as they were sent, check them, and give a receipt for each.

    Whatever is sent is kept, broken files too. Exit code 1 where one is invalid or over the limit.

    \b
    abstain receive run1.xml run2.xml --team jucs --into season
    abstain receive --list --into season -f csv
    abstain receive --withdraw run2 --team jucs --into season
    """
    from abstain.features.season.intake import receive as received
    from abstain.report.grid import Grid
    from abstain.runs.season import INVALID, OVER, Receipt

    if bool(files or how["withdraw"] or how["primary"]) == every:
        raise UsageError("name files, --withdraw RUN or --primary RUN, or else --list")
    before = {r.number for r in received(into=how["into"])}
    receipts = received(files, **how)
    brief = ("number", "time", "team", "run", "state", "left")
    grid = Grid.of_rows(
        Receipt, receipts, *(Receipt.__struct_fields__ if out.look == "csv" else brief)
    )
    grid.notes = [f"{plural(len(receipts), 'receipt')}."]
    for r in receipts:
        grid.notes += [f"Receipt {r.number}: SHA-256 {r.sha256}"] if files else []
        grid.notes += [f"Receipt {r.number}: replaces receipt {r.replaces}."] if r.replaces else []
        grid.notes += [f"Receipt {r.number}: {line}." for line in r.found.splitlines()]
    out.show_grid(grid, {"receipts": receipts})
    if files and (known := [r.number for r in receipts if r.number in before]):
        numbers = ", ".join(map(str, known[:5])) + (", …" if known[5:] else "")
        what = f"received before, as {'receipt' if len(known) == 1 else 'receipts'} {numbers}"
        click.echo(f"{what}; --again receives the same file anew", err=True)
    if files and any(r.state in (INVALID, OVER) for r in receipts):
        raise click.exceptions.Exit(EXIT_NO)


@command
@argument("path", metavar="FILE", help="A file that is secret as yet, such as the gold.")
@option("--verify COMMITMENT", "Whether a commitment holds; if not, exit code 1.")
def seal(path: str, verify: str | None) -> None:
    """Commit to a file: print the SHA-256 of a new salt and the file, to publish at once.

    Keep the salt, in FILE.salt, as secret as the file. Publish both later: then anybody can verify
    it, also by `cat FILE.salt FILE | sha256sum`.

    \b
    abstain seal gold.xml
    """
    from abstain.features.season.intake import seal as sealed

    made = sealed(path, draw=verify is None)
    if verify is None:
        click.echo(made)
        click.echo(f"publish this line; keep {path}.salt secret until {path} is public", err=True)
    elif made == verify.strip().lower():
        click.echo(f"it holds: {path} is what was sealed")
    else:
        click.echo(f"it does not hold: {path} or {path}.salt is not what was sealed")
        raise click.exceptions.Exit(EXIT_NO)
