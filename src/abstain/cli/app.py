"""The program: its commands, each of which is imported only when it runs or its help is read."""

from __future__ import annotations

import os
from typing import Any

import click

from abstain import __version__
from abstain.cli.command import SETTINGS
from abstain.errors import UsageError, nearest
from abstain.registry import COMMANDS, HOME, part


class Program(click.Group):
    """The program itself: a group that knows its commands before it imports them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order in which people meet them."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        feature = COMMANDS[cmd_name]
        command: click.Command = part(f"{HOME}.{feature.name}.{feature.command}")
        return command

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
            formatter.write_dl([(name, feature.help) for name, feature in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands that begin like this, without an import, and the options."""
        from click.shell_completion import CompletionItem

        items = [
            CompletionItem(name, help=feature.help)
            for name, feature in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return items + click.Command.shell_complete(self, ctx, incomplete)


VARIABLE = "_ABSTAIN_COMPLETE"
"""The variable by which a shell's script asks for completions."""


def _show_completion(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Print what a shell has to run to complete, for the shell that $SHELL names."""
    if not value or ctx.resilient_parsing:
        return
    from click.shell_completion import get_completion_class

    shell = os.path.basename(os.environ.get("SHELL", ""))
    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"completion needs bash, zsh or fish as $SHELL (got '{shell}')")
    click.echo(kind(ctx.command, {}, "abstain", VARIABLE).source())
    ctx.exit()


def complete(program: click.Command) -> int | None:
    """Answer a shell that asks for completions; None where none asks."""
    instruction = os.environ.get(VARIABLE)
    if not instruction:
        return None
    from click.shell_completion import shell_complete

    return shell_complete(program, {}, "abstain", VARIABLE, instruction)


@click.group("abstain", cls=Program, invoke_without_command=True, context_settings=dict(SETTINGS))
@click.version_option(__version__, message="abstain %(version)s", help="Show the version.")
@click.option(
    "--show-completion",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_completion,
    help='Show the completion script for this shell: eval "$(abstain --show-completion)".',
)
@click.pass_context
def app(context: click.Context) -> None:
    """Score systems that may decline to answer.

    A blank is neither right nor wrong. Measures differ in what they credit it: `abstain measures`
    lists them, `abstain explain c@1` explains one, `abstain demo` runs a whole example.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
