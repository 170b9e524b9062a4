"""The command line's entry: run a command, turn every failure into one line and an exit code."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

EXIT_NO, EXIT_USAGE, EXIT_FAULT, EXIT_STOPPED, EXIT_ENDED = 1, 2, 3, 130, 143

COLLECT_AFTER = 100_000
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


LONGEST_LINE = 1_500
"""Characters of a line on stderr."""


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    from abstain.errors import AbstainError

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
    except MemoryError:
        _say("there is not enough memory for this")
        return EXIT_USAGE
    except BaseException as error:  # a panic of a library is no Exception
        if isinstance(error, SystemExit):
            raise
        if hasattr(error, "format_message"):  # what the argument parser says
            _say(_usage(error))
            return EXIT_USAGE
        if os.environ.get("ABSTAIN_TRACEBACK"):
            raise
        kind, text = type(error).__name__, str(error).splitlines()
        _say(
            f"a fault of abstain itself ({kind}: {text[0][:200] if text else 'no message'}); "
            "please report it, with what ABSTAIN_TRACEBACK=1 shows"
        )
        return EXIT_FAULT


def _invoke(args: list[str]) -> int:
    """Parse the arguments and run the command; its exit code."""
    from click.exceptions import Exit

    from abstain.cli.app import app, complete
    from abstain.cli.command import typed

    done = complete(app)
    if done is not None:
        return done
    try:
        with app.make_context("abstain", args, obj=typed(args)) as context:
            app.invoke(context)
    except Exit as ended:
        return ended.exit_code
    return 0


def _silence_stdout() -> None:
    """Let what is still to be written go nowhere, so that the exit says nothing more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    from abstain.report.grid import clean

    for line in text.splitlines():
        if len(line) > LONGEST_LINE + 300:
            line = f"{line[:LONGEST_LINE]} … {line[-300:]}"
        print(clean(line), file=sys.stderr)  # noqa: T201


def _usage(error: Any) -> str:
    """An argument error in one line, with the command that explains more."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "abstain"
    message = " ".join(str(error.format_message()).split())
    message = message[:1].lower() + message[1:]
    message = message.rstrip(".").replace(". Did you mean", "; did you mean")
    return f"{command}: {message}{'' if message.endswith('?') else ';'} see `{command} --help`"
