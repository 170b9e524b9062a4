"""The program: its commands, each of which is imported only when it runs or its help is read."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click

from abstain import __version__
from abstain.cli import commands
from abstain.cli.command import SETTINGS, F, FittingHelp
from abstain.errors import UsageError, nearest

MET = (
    *("score", "validate", "baseline", "campaign", "rank", "trec_eval", "curve", "tune"),
    *("compare", "meta", "pan", "squad", "report", "audit", "convert", "refusals", "measures"),
    *("explain", "demo"),
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


VARIABLE = "_ABSTAIN_COMPLETE"
"""The variable by which a shell's script asks for completions."""

PLACES = {
    "bash": ".local/share/bash-completion/completions/abstain",
    "zsh": ".zfunc/_abstain",
    "fish": ".config/fish/completions/abstain.fish",
}
"""Where each shell looks for such scripts, below the home folder."""

HINTS = {
    "bash": "completion works in a new shell, if the package bash-completion is installed",
    "zsh": "put `fpath+=~/.zfunc; autoload -Uz compinit; compinit` into ~/.zshrc",
    "fish": "completion works in a new shell",
}


def completion_options(function: F) -> F:
    """Give the program the options that show and install completion."""
    for name, callback, help in (
        ("--show-completion", _show, "Show the completion script for this shell."),
        ("--install-completion", _install, "Install completion for this shell."),
    ):
        function = click.option(
            name, is_flag=True, is_eager=True, expose_value=False, callback=callback, help=help
        )(function)
    return function


def _show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(script(ctx, shell()))
        ctx.exit()


def _install(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from abstain.io.files import write_text

    own = shell()
    target = Path.home() / PLACES[own]
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, script(ctx, own))
    click.echo(f"{target}: {HINTS[own]}.")
    ctx.exit()


def shell() -> str:
    """The shell of whoever asks."""
    name = os.path.basename(os.environ.get("SHELL", ""))
    if name not in PLACES:
        known = ", ".join(PLACES)
        raise UsageError(
            f"completion is available for {known}; $SHELL names the shell (got '{name}')"
        )
    return name


def script(ctx: click.Context, name: str) -> str:
    """What a shell has to run to complete."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(name)
    assert kind is not None
    return kind(ctx.command, {}, "abstain", VARIABLE).source()


def complete(program: click.Command) -> int | None:
    """Answer a shell that asks for completions; None where none asks."""
    asked = os.environ.get(VARIABLE)
    if not asked:
        return None
    from click.shell_completion import shell_complete

    return shell_complete(program, {}, "abstain", VARIABLE, asked)


@click.group("abstain", cls=Program, invoke_without_command=True, context_settings=dict(SETTINGS))
@click.version_option(__version__, message="abstain %(version)s", help="Show the version.")
@completion_options
@click.pass_context
def app(context: click.Context) -> None:
    """Score systems that may decline to answer.

    A blank is neither right nor wrong. Measures differ in what they credit it: `abstain measures`
    lists them, `abstain explain c@1` explains one, `abstain demo` runs a whole example.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
