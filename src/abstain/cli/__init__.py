"""The command line: the program, and its entry, which turns every failure into one line.

A command is imported only when it runs or its help is read.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import click

from abstain import __version__
from abstain.cli.command import SETTINGS, typed
from abstain.errors import AbstainError, nearest
from abstain.registry import COMMANDS, commands_added, feature_named, part

EXIT_NO, EXIT_USAGE, EXIT_FAULT, EXIT_STOPPED, EXIT_ENDED = 1, 2, 3, 130, 143

PLAIN = ("score", "rank", "trec_eval", "validate", "convert")
"""Commands that multiply no large matrices: numpy's threads for that take as long to start as they
take to run."""
COMPLETION = "_ABSTAIN_COMPLETE"
"""The variable by which a shell's script asks for completions."""
COLLECT_AFTER = 1_000_000
"""Objects that are made before any are looked over for garbage: imports make many, none of it."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; every failure is one clear line on stderr."""
    gc.set_threshold(COLLECT_AFTER)
    with contextlib.suppress(ValueError):  # not in a main thread
        signal.signal(signal.SIGTERM, _ended)
    code = run(args)
    if "pyspark" in sys.modules:  # its gateway is stopped at exit
        sys.exit(code)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)  # all that it held goes with it; to take modules apart first takes time


class Ended(KeyboardInterrupt):
    """Somebody asked the process to end: it cleans up as after Ctrl-C."""


def _ended(*_: object) -> None:
    raise Ended


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        if hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="replace")
    try:
        code = _invoke(sys.argv[1:] if args is None else list(args))
        sys.stdout.flush()
        return code
    except AbstainError as error:
        _say(error.on_command_line())
        return EXIT_USAGE
    except KeyboardInterrupt as error:
        _say("stopped")
        return EXIT_ENDED if isinstance(error, Ended) else EXIT_STOPPED
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "the output cannot be written: "
        _say(f"{where}{error.strerror or error}")
        _silence_stdout()
        return EXIT_USAGE
    except BaseException as error:  # a panic of a library is no Exception
        if isinstance(error, SystemExit):
            raise
        if hasattr(error, "format_message"):  # what the argument parser says
            _say(_usage(error))
            return EXIT_USAGE
        if os.environ.get("ABSTAIN_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        _say(
            f"a fault of abstain itself ({what}); please report it, with what "
            "ABSTAIN_TRACEBACK=1 shows"
        )
        return EXIT_FAULT


def _invoke(args: list[str]) -> int:
    if instruction := os.environ.get(COMPLETION):
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "abstain", COMPLETION, instruction)
    try:
        with app.make_context("abstain", args, obj=typed(args)) as context:
            app.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return 0


def _silence_stdout() -> None:
    """Let what is still to be written go nowhere, so that the exit says nothing more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    from abstain.report.grid import clean

    for line in text.splitlines():
        short = line if len(line) < 1_800 else f"{line[:1_500]} … {line[-300:]}"
        print(clean(short), file=sys.stderr)  # noqa: T201


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "abstain"
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    message = (message[:1].lower() + message[1:]).replace(". Did you mean", "; did you mean")
    return f"{command}: {message}{'' if message.endswith('?') else ';'} see `{command} --help`"


class Program(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *commands_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        feature = feature_named(cmd_name)
        if feature is None:
            return None
        if cmd_name in PLAIN:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command: click.Command = part(feature.at(feature.command))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        known = COMMANDS if name in COMMANDS else self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            near = nearest(name, known)
            ctx.fail(f"no such command '{name}'" + (f"; did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, feature.help) for name, feature in COMMANDS.items()])
        if more := commands_added():
            with formatter.section("Commands of other packages"):
                formatter.write_dl(more.items())


@click.group("abstain", cls=Program, invoke_without_command=True, context_settings=dict(SETTINGS))
@click.version_option(__version__, message="abstain %(version)s", help="Show the version.")
@click.pass_context
def app(context: click.Context) -> None:
    """Score systems that may decline to answer.

    A blank is neither right nor wrong. Measures differ in what they credit it: `abstain measures`
    lists them, `abstain explain c@1` explains one, `abstain demo` runs a whole example.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
