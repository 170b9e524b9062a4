"""Runs as a caller names them: paths, folders, frames, a mapping of names to them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.judging.reading import Reading
    from abstain.judging.responses import Responses


def open_sources(runs: Any, reading: Reading) -> list[Responses]:
    """The tables of responses that a caller named, each with the name of its run.

    Logs of one model and several tasks are one run; nothing is counted yet.
    """
    from abstain.judging.joining import join_tasks
    from abstain.judging.responses import in_its_engine, read_responses
    from abstain.judging.run_names import name_runs

    sources = [read_responses(data, reading, name=name) for name, data in named(runs, reading)]
    return [in_its_engine(own, reading) for own in name_runs(join_tasks(sources))]


def named(runs: Any, reading: Reading) -> list[tuple[str, Any]]:
    """The runs with the names that the caller gave; a folder stands for the logs in it."""
    if isinstance(runs, Mapping):
        found = [(str(name), data) for name, data in runs.items()]
    elif isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)):
        every = [part for data in runs for part in _logs_of(data, reading)]
        several = sum(not is_path(data) for data in every) > 1
        found = [
            (f"run {i + 1}" if several and not is_path(data) else "", data)
            for i, data in enumerate(every)
        ]
    else:
        found = [("", data) for data in _logs_of(runs, reading)]
    if not found:
        raise UsageError("there is no run to read")
    return found


def _logs_of(data: Any, reading: Reading) -> list[Any]:
    if not is_path(data) or not os.path.isdir(data):
        return [data]
    from abstain.judging.joining import logs_in

    return list(logs_in(os.fspath(data), reading.format))


def is_path(data: Any) -> bool:
    """Whether it names a file or a folder."""
    return isinstance(data, (str, os.PathLike))
