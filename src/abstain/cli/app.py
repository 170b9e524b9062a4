"""The commands, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from abstain import __version__
from abstain.cli import (
    audit,
    baseline,
    campaign,
    compare,
    convert,
    curve,
    demo,
    explain,
    meta,
    pan,
    rank,
    refusals,
    report,
    score,
    squad,
    tune,
    validate,
)
from abstain.cli.command import Command, Group

app = typer.Typer(
    name="abstain",
    cls=Group,
    help=(
        "Score systems that may decline to answer.\n\n"
        "A blank is neither right nor wrong. Measures differ in what they credit it: "
        "`abstain measures` lists them, `abstain explain c@1` tells one's story, "
        "`abstain demo` shows it all at work."
    ),
    invoke_without_command=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"abstain {__version__}")
        raise typer.Exit


@app.callback()
def abstain(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Options of the program itself."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("score", score.score, "Score runs against a gold."),
    ("validate", validate.validate, "Would these runs be accepted?"),
    ("baseline", baseline.baseline, "Write a reference run: random, first, blank…"),
    ("campaign", campaign.campaign, "Every table of an overview."),
    ("rank", rank.rank, "Score rankings that may stop early."),
    ("curve", curve.curve, "When should it have stayed silent?"),
    ("tune", tune.tune, "The threshold to abstain at."),
    ("compare", compare.compare, "Is the difference between runs real?"),
    ("meta", meta.meta, "Judge the measures: stability, sensitivity, power, agreement."),
    ("pan", pan.pan, "PAN's measures of authorship verification."),
    ("squad", squad.squad, "SQuAD 2's scores, with and without an answer."),
    ("report", report.report, "A saved result as one HTML page."),
    ("audit", audit.audit, "Does a published table agree with itself?"),
    ("convert", convert.convert, "From one table format to another."),
    ("refusals", refusals.refusals, "Responses that decline, found in their text."),
    ("measures", explain.measures, "List the measures."),
    ("explain", explain.explain, "Tell the story of one measure."),
    ("demo", demo.demo, "See it at work."),
)
for name, function, help_text in COMMANDS:
    app.command(name, cls=Command, short_help=help_text)(function)
