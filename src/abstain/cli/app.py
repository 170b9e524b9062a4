"""The program: its commands, each of which is imported only when it runs or its help is read."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import click

from abstain import __version__
from abstain.cli import commands
from abstain.cli.command import SETTINGS
from abstain.cli.completion import completion_options
from abstain.cli.help import FittingHelp
from abstain.errors import nearest

MET = (
    *("score", "validate", "baseline", "campaign", "rank", "curve", "tune", "compare", "meta"),
    *("pan", "squad", "report", "audit", "convert", "refusals", "measures", "explain", "demo"),
)
"""The order in which people meet commands; one that is not named here comes after these."""

COMMANDS = sorted(
    (own.name for own in iter_modules(commands.__path__)),
    key=lambda name: (MET.index(name) if name in MET else len(MET), name),
)
"""Every command: `abstain.cli.commands.<name>` holds it, under its own name."""


def helps() -> dict[str, str]:
    """Every command with its help in a line, which its module begins with, without an import."""
    from importlib.resources import files

    texts = {name: (files(commands) / f"{name}.py").read_text("utf-8") for name in COMMANDS}
    return {name: text.split('"""', 2)[1] for name, text in texts.items()}


class Program(FittingHelp, click.Group):
    """The program itself: a group that knows its commands before it imports them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order in which people meet them."""
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"abstain.cli.commands.{cmd_name}")
        found: click.Command = getattr(module, cmd_name)
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
            formatter.write_dl(list(helps().items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands that begin like this, without an import, and the options."""
        from click.shell_completion import CompletionItem

        own = [CompletionItem(n, help=h) for n, h in helps().items() if n.startswith(incomplete)]
        return own + click.Command.shell_complete(self, ctx, incomplete)


@click.group("abstain", cls=Program, invoke_without_command=True, context_settings=dict(SETTINGS))
@click.version_option(__version__, message="abstain %(version)s", help="Say the version.")
@completion_options
@click.pass_context
def app(context: click.Context) -> None:
    """Score systems that may decline to answer.

    A blank is neither right nor wrong. Measures differ in what they credit it: `abstain measures`
    lists them, `abstain explain c@1` tells one's story, `abstain demo` shows it all at work.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
