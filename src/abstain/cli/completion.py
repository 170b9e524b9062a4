"""Completion in a shell: its script is shown, or put where the shell finds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from abstain.errors import UsageError

VARIABLE = "_ABSTAIN_COMPLETE"
"""The variable by which a shell's script asks for completions."""

PLACES = {
    "bash": ".local/share/bash-completion/completions/abstain",
    "zsh": ".zfunc/_abstain",
    "fish": ".config/fish/completions/abstain.fish",
}
"""Where each shell looks for such scripts, below the home folder."""

HINTS = {
    "bash": "a new shell completes, if the package bash-completion is there",
    "zsh": "put `fpath+=~/.zfunc; autoload -Uz compinit; compinit` into ~/.zshrc",
    "fish": "a new shell completes",
}

F = TypeVar("F", bound=Callable[..., Any])


def completion_options(function: F) -> F:
    """Give the program the options that show and install completion."""
    for name, callback, help in (
        ("--show-completion", _show, "Show the completion of this shell."),
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
        raise UsageError(f"there is completion for {known}, told by $SHELL (got '{name}')")
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
