"""The program: its commands, each of which is imported only when it runs or its help is read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from abstain import __version__
from abstain.cli.command import SETTINGS
from abstain.cli.completion import completion_options
from abstain.cli.help import FittingHelp
from abstain.errors import nearest

COMMANDS: dict[str, str] = {
    "score": "Score runs against a gold.",
    "validate": "Would these runs be accepted?",
    "baseline": "Write a reference run: random, first, blank…",
    "campaign": "Every table of an overview.",
    "rank": "Score rankings that may stop early.",
    "curve": "When should it have stayed silent?",
    "tune": "The threshold to abstain at.",
    "compare": "Is the difference between runs real?",
    "meta": "Judge the measures: stability, sensitivity, power, agreement.",
    "pan": "PAN's measures of authorship verification.",
    "squad": "SQuAD 2's scores, with and without an answer.",
    "report": "A saved result as one HTML page.",
    "audit": "Does a published table agree with itself?",
    "convert": "From one table format to another.",
    "refusals": "Responses that decline, found in their text.",
    "measures": "List the measures.",
    "explain": "Tell the story of one measure.",
    "demo": "See it at work.",
}
"""Every command with its help in a line; `abstain.cli.<name>` holds it, under its own name."""


class Program(FittingHelp, click.Group):
    """The program itself: a group that knows its commands before it imports them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = getattr(import_module(f"abstain.cli.{cmd_name}"), cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A command and its arguments; an unknown one is refused with the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = nearest(name, COMMANDS)
            ctx.fail(f"no such command '{name}'" + (f"; did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: Any) -> None:
        """The commands with their helps, without an import."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands that begin like this, without an import, and the options."""
        from click.shell_completion import CompletionItem

        own = [CompletionItem(n, help=h) for n, h in COMMANDS.items() if n.startswith(incomplete)]
        return own + click.Command.shell_complete(self, ctx, incomplete)


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"abstain {__version__}")
        ctx.exit()


@click.group("abstain", cls=Program, invoke_without_command=True, context_settings=dict(SETTINGS))
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Say the version.",
)
@completion_options
@click.pass_context
def app(context: click.Context) -> None:
    """Score systems that may decline to answer.

    A blank is neither right nor wrong. Measures differ in what they credit it: `abstain measures`
    lists them, `abstain explain c@1` tells one's story, `abstain demo` shows it all at work.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
