"""What is read of an Inspect log, and which of its samples were to be run."""

from __future__ import annotations

import fnmatch
from typing import Any

import msgspec


class Score(msgspec.Struct):
    """What a scorer said of a sample."""

    value: Any = None
    answer: Any = None
    explanation: Any = None


class Message(msgspec.Struct):
    content: Any = None


class Choice(msgspec.Struct):
    message: Message | None = None


class Output(msgspec.Struct):
    completion: Any = None
    choices: list[Choice] = []
    error: Any = None


class Sample(msgspec.Struct):
    """What is read of a sample; its messages and events are skipped."""

    id: str | int
    epoch: int = 1
    target: Any = None
    output: Output | None = None
    scores: dict[str, Any] | None = None
    score: Any = None
    metadata: dict[str, Any] | None = None
    error: Any = None
    limit: Any = None


class Dataset(msgspec.Struct):
    samples: int | None = None
    sample_ids: list[str | int] | None = None


class Config(msgspec.Struct):
    epochs: int | None = None
    limit: Any = None
    """So many samples, or from where to where."""
    sample_id: Any = None
    """Only these samples; `*` stands for anything."""


class Spec(msgspec.Struct):
    """What the header says of the evaluation."""

    task: str = ""
    model: str = ""
    dataset: Dataset = msgspec.field(default_factory=Dataset)
    config: Config = msgspec.field(default_factory=Config)
    packages: dict[str, Any] = msgspec.field(default_factory=dict)


class Header(msgspec.Struct):
    eval: Spec
    version: int | None = None
    status: str = "started"


class Log(Header):
    samples: list[Sample] | None = None


def wanted(ids: list[str], config: Config) -> list[str]:
    """The samples that were to be run: older versions list the whole data set."""
    if config.sample_id is not None:
        named = config.sample_id if isinstance(config.sample_id, list) else [config.sample_id]
        return [own for own in ids if any(fnmatch.fnmatchcase(own, str(n)) for n in named)]
    limit = config.limit
    if isinstance(limit, list) and len(limit) == 2 and all(isinstance(n, int) for n in limit):
        start, end = max(limit[0], 0), limit[1]
        return ids if len(ids) <= end - start else ids[start:end]
    return ids[: first(len(ids), limit)]


def first(count: int, limit: Any) -> int:
    return min(count, limit) if isinstance(limit, int) and limit > 0 else count
