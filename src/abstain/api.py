"""Read and ask in one line: `score(gold, runs)` is `read(gold, runs).score()`.

Each function is made of the method that it asks and of the function that reads, so its signature
and its documentation are theirs. Who asks more than one question of the same runs reads them once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from abstain.errors import UnknownNameError
from abstain.registry import METHODS, SHORTCUTS, part

R = TypeVar("R")

READERS = {
    "Evaluation": "abstain.runs:read",
    "Rankings": "abstain.rankings.read:read_rankings",
}
"""What reads the objects that shortcuts ask."""


@cache
def shortcut(name: str) -> Callable[..., Any]:
    """The public function that reads and asks the method of its name."""
    method = SHORTCUTS[name]
    return reads_and(part(METHODS[method]), part(READERS[method.partition(".")[0]]), name)


def reads_and(method: Callable[..., R], read: Callable[..., Any], name: str) -> Callable[..., R]:
    """A function that reads its input, asks `method` of it, and takes the arguments of both."""
    asked = list(signature(method).parameters.values())[1:]
    reading = signature(read).parameters
    inputs = [one for one in reading.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    options = [one for one in reading.values() if one.kind is Parameter.KEYWORD_ONLY]
    whole = Signature(
        [*inputs, *asked, *options], return_annotation=signature(method).return_annotation
    )

    @wraps(method)
    def call(*args: Any, **named: Any) -> R:
        for key in named:
            if key not in whole.parameters:
                raise UnknownNameError("argument", key, whole.parameters)
        arguments = whole.bind(*args, **named).arguments
        to_read = {key: value for key, value in arguments.items() if key in reading}
        to_ask = {key: value for key, value in arguments.items() if key not in reading}
        return method(read(**to_read), **to_ask)

    vars(call)["__signature__"] = whole
    call.__module__, call.__name__, call.__qualname__ = "abstain", name, name
    return call
