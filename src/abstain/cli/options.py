"""Options that several commands share: one idea, one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from abstain.cli.command import BARE, NEW_FILE, SHOWING, F, Words, option
from abstain.errors import UsageError

METHODS = ("beta", "logit", "delta", "percentile", "bca", "jeffreys", "wilson", "clopper-pearson")


def _measure_names() -> Iterable[str]:
    from abstain.measures import definitions

    return definitions()


MEASURE = Words(_measure_names)
"""The name of a measure, which a shell completes."""


def measures(help: str) -> Callable[[F], F]:
    """`-m MEASURE`, repeatable."""
    usage = "-m --measure MEASURE"
    return option(usage, f"{help} Repeatable.", to="measures", multiple=True, type=MEASURE)


def measure(help: str, *, to: str = "measure", **attrs: Any) -> Callable[[F], F]:
    """`-m MEASURE`, once; an argument that has another name is another spelling of it."""
    more = "" if to == "measure" else f" --{to}"
    return option(f"-m --measure{more} MEASURE", help, to=to, type=MEASURE, **attrs)


def by(help: str) -> Callable[[F], F]:
    """`--by ATTR`, repeatable."""
    return option("--by ATTR", f"{help} Repeatable.", multiple=True)


def level(help: str = "The level of intervals.", default: float | None = 0.95) -> Callable[[F], F]:
    """`--level 0.95`."""
    return option("--level L", help, type=float, default=default)


def seed(help: str) -> Callable[[F], F]:
    """`--seed N`."""
    return option("--seed N", help, type=click.IntRange(min=0), default=0)


def most(help: str) -> Callable[[F], F]:
    """`--most N`: the rows of a long table that are shown."""
    return option("--most N", help, type=click.IntRange(min=0), default=50)


def output(
    help: str, metavar: str = "FILE", *, writes: bool = True, **attrs: Any
) -> Callable[[F], F]:
    """`-o FILE`."""
    usage = f"-o --output {metavar}"
    return option(usage, help, type=NEW_FILE, writes=writes, section=SHOWING, **attrs)


def force(help: str) -> Callable[[F], F]:
    """`--force`."""
    return option("--force", help, section=SHOWING)


def _method(_: click.Context, __: click.Parameter, method: str | None) -> str | bool:
    return True if method == BARE else method or False


def _interval(*more: str, more_help: str = "") -> Callable[[F], F]:
    return option(
        "--interval [METHOD]",
        "An interval for each score: beta (the default), logit, delta, percentile, bca, jeffreys; "
        f"for a proportion also wilson and clopper-pearson{more_help}.",
        callback=_method,
        type=Words((*METHODS, *more)),
        methods=(*METHODS, *more),
    )


interval = _interval()
"""`--interval [METHOD]`: the method, True for the default one, False without the option."""

interval_of_scores_too = _interval(
    "hall",
    more_help="; for --scores hall (Student's t widened where scores are skewed, the default), "
    "delta (Student's t), percentile, bca",
)


def pairs(texts: Iterable[str], what: str, example: str) -> dict[str, str]:
    """`name=value` texts as a mapping; a name twice is refused."""
    mapping: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"{what} must be NAME=VALUE, such as {example} (got '{text}')")
        if name.strip() in mapping:
            raise UsageError(f"{what} '{name.strip()}' appears twice")
        mapping[name.strip()] = value.strip()
    return mapping
