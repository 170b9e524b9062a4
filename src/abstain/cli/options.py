"""Options of what to compute that several commands share: one idea, one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from abstain.cli.command import BARE, Words, option
from abstain.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

METHODS = ("logit", "delta", "percentile", "bca", "jeffreys", "wilson", "clopper-pearson")


class MeasureName(Words):
    """The name of a measure, which a shell completes."""

    def __init__(self) -> None:
        super().__init__(())

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        """The measures that begin like this."""
        from abstain.measures import definitions

        return Words(tuple(definitions())).shell_complete(ctx, param, incomplete)


MEASURE = MeasureName()


def measures(help: str) -> Callable[[F], F]:
    """`-m MEASURE`, repeatable."""
    return option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        type=MEASURE,
        metavar="MEASURE",
        help=f"{help} Repeatable.",
    )


def measure(help: str, *more: str, default: str | None = None) -> Callable[[F], F]:
    """`-m MEASURE`, once; `more` are further spellings of it."""
    names = ("-m", "--measure", *more, "measure")
    return option(*names, type=MEASURE, default=default, metavar="MEASURE", help=help)


def by(help: str) -> Callable[[F], F]:
    """`--by ATTR`, repeatable."""
    return option("--by", multiple=True, metavar="ATTR", help=f"{help} Repeatable.")


def level(help: str = "The level of intervals.", default: float | None = 0.95) -> Callable[[F], F]:
    """`--level 0.95`."""
    return option("--level", type=float, default=default, metavar="L", help=help)


def seed(help: str) -> Callable[[F], F]:
    """`--seed N`."""
    return option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help=help)


def _method(_: click.Context, __: click.Parameter, given: str | None) -> str | bool:
    return True if given == BARE else given or False


interval = option(
    "--interval",
    callback=_method,
    metavar="[METHOD]",
    type=Words(METHODS),
    methods=METHODS,
    help="An interval for each score: logit (the default), delta, percentile, bca, jeffreys; for a "
    "proportion also wilson and clopper-pearson.",
)
"""`--interval [METHOD]`: the method, True for the default one, False where it is not given."""


def pairs(texts: Iterable[str], what: str, example: str) -> dict[str, str]:
    """`name=value` texts as a mapping; a name twice is refused."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"{what} reads NAME=VALUE, such as {example} (got '{text}')")
        if name.strip() in found:
            raise UsageError(f"{what} '{name.strip()}' is given twice")
        found[name.strip()] = value.strip()
    return found
