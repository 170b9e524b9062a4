"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from abstain import __version__
from abstain.cli import baseline, convert, demo, explain, score, validate

app = typer.Typer(
    name="abstain",
    help=(
        "Score systems that may decline to answer.\n\n"
        "A blank is neither right nor wrong. Measures differ in what they credit it: "
        "`abstain measures` lists them, `abstain explain c@1` tells one's story, "
        "`abstain demo` shows it all at work."
    ),
    no_args_is_help=True,
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
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


app.command("score")(score.score)
app.command("validate")(validate.validate)
app.command("baseline")(baseline.baseline)
app.command("convert")(convert.convert)
app.command("measures")(explain.measures)
app.command("explain")(explain.explain)
app.command("demo")(demo.demo)
