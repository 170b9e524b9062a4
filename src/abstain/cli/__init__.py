"""The command line: one file a command, no arithmetic."""

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
    _only_our_words()
    _in_little_space()
    with contextlib.suppress(ValueError):  # not in a main thread
        signal.signal(signal.SIGTERM, _ended)
    code = run(args)
    if "pyspark" in sys.modules:  # whose server waits to be told
        sys.exit(code)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)  # all that it held goes with it; to take modules apart first takes time


class Ended(KeyboardInterrupt):
    """Somebody asked the process to end: it cleans up as after Ctrl-C."""


def _ended(*_: object) -> None:
    raise Ended


def _only_our_words() -> None:
    """Let only abstain write to stderr: what libraries write there past Python goes nowhere."""
    if os.environ.get("ABSTAIN_TRACEBACK") or sys.stderr is None:
        return
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
        kept = os.dup(sys.stderr.fileno())
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stderr.fileno())
        os.close(nowhere)
        sys.stderr = open(  # noqa: SIM115
            kept, "w", encoding=sys.stderr.encoding, errors="replace", buffering=1
        )


LONGEST_LINE = 1_500
"""Characters of a line on stderr."""

LITTLE = 4 << 30
"""Address space below which one thread has to do."""

ARENA_MAX = -8
"""M_ARENA_MAX of glibc: how many heaps threads share; each reserves 64 MiB."""

LEAST = 400 << 20
"""Address space without which the libraries below do not even load."""


def _in_little_space() -> None:
    """Where address space is bounded (`ulimit -v`), start few threads: each reserves much of it.

    Libraries that find none left for a thread abort or wait for ever.
    """
    try:
        import resource
    except ImportError:
        return
    space = resource.getrlimit(resource.RLIMIT_AS)[0]
    if space == resource.RLIM_INFINITY or space >= LITTLE:
        return
    for name in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["_RJEM_MALLOC_CONF"] = "background_thread:false"
    os.environ["POLARS_ASYNC_THREAD_COUNT"] = "1"
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).mallopt(ARENA_MAX, 1)


def _refuse_little_space() -> None:
    """Say in a line that there is too little address space to begin."""
    from abstain.errors import UsageError

    try:
        import resource
    except ImportError:
        return
    space = resource.getrlimit(resource.RLIMIT_AS)[0]
    if space != resource.RLIM_INFINITY and space < LEAST:
        raise UsageError(
            f"needs at least {LEAST >> 20} MiB of address space (ulimit -v allows "
            f"{space >> 20} MiB)"
        )


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    from abstain.errors import AbstainError

    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        _refuse_little_space()
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
        short = (
            line if len(line) <= LONGEST_LINE + 300 else f"{line[:LONGEST_LINE]} … {line[-300:]}"
        )
        print(clean(short), file=sys.stderr)  # noqa: T201


def _usage(error: Any) -> str:
    """An argument error in one line, with the command that explains more."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "abstain"
    message = " ".join(str(error.format_message()).split())
    message = message.replace("Value error, ", "")
    message = message[:1].lower() + message[1:]
    message = message.rstrip(".").replace(". Did you mean", "; did you mean")
    return f"{command}: {message}{'' if message.endswith('?') else ';'} see `{command} --help`"
