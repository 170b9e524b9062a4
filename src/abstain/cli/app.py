"""The commands, put together."""

from __future__ import annotations

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
    score,
    squad,
    tune,
    validate,
)

app = typer.Typer(
    name="abstain",
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


app.command("score", short_help="Score runs against a gold.")(score.score)
app.command("validate", short_help="Would these runs be accepted?")(validate.validate)
app.command("baseline", short_help="Write a reference run: random, first, blank…")(
    baseline.baseline
)
app.command("campaign", short_help="Every table of an overview.")(campaign.campaign)
app.command("rank", short_help="Score rankings that may stop early.")(rank.rank)
app.command("curve", short_help="When should it have stayed silent?")(curve.curve)
app.command("tune", short_help="The threshold to abstain at.")(tune.tune)
app.command("compare", short_help="Is the difference between runs real?")(compare.compare)
app.command("meta", short_help="Judge the measures: stability, sensitivity, power, agreement.")(
    meta.meta
)
app.command("pan", short_help="PAN's measures of authorship verification.")(pan.pan)
app.command("squad", short_help="SQuAD 2's scores, with and without an answer.")(squad.squad)
app.command("audit", short_help="Does a published table agree with itself?")(audit.audit)
app.command("convert", short_help="From one table format to another.")(convert.convert)
app.command("refusals", short_help="Responses that decline, found in their text.")(
    refusals.refusals
)
app.command("measures", short_help="List the measures.")(explain.measures)
app.command("explain", short_help="Tell the story of one measure.")(explain.explain)
app.command("demo", short_help="See it at work.")(demo.demo)
