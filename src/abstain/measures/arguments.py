"""A measure's parameters as they are typed: `t=1/2`, or `.5` by its place, or `@10`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.measures.definition import Definition


def arguments_of(
    definition: Definition, text: str | None, cutoff: str | None = None
) -> tuple[tuple[str, float], ...]:
    """The parameters of a measure with their values: those typed, and the defaults of the others.

    >>> from abstain.measures import definitions
    >>> arguments_of(definitions()["F"], "beta=1/2"), arguments_of(definitions()["F"], None)
    ((('beta', 0.5),), (('beta', 1),))
    """
    known = {p.name: p for p in definition.parameters}
    given: dict[str, float] = {}
    if cutoff is not None:
        at = next((p for p in definition.parameters if p.cutoff), None)
        if at is None:
            raise UsageError(f"{definition.name} takes no cutoff (got '@{cutoff}')")
        given[at.name] = at.check(_number(cutoff, definition.name, at.name), definition.name)
    for position, piece in enumerate(filter(None, map(str.strip, (text or "").split(",")))):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not equals:
            if position >= len(definition.parameters):
                raise UsageError(f"{definition.name} takes no parameter '{piece}'")
            key, value = definition.parameters[position].name, key
        key = key.casefold() if key.casefold() in known else key
        if key not in known:
            takes = ", ".join(known) or "none"
            raise UsageError(
                f"{definition.name} has no parameter '{key}' (its parameters: {takes})"
            )
        if key in given:
            raise UsageError(f"{definition.name} is given {key} twice")
        given[key] = known[key].check(_number(value, definition.name, key), definition.name)
    for parameter in definition.parameters:
        if parameter.name not in given and not parameter.optional:
            if parameter.default is None:
                example = "@10" if parameter.cutoff else f"({parameter.name}=0.5)"
                raise UsageError(
                    f"{definition.name} needs {parameter.name}, {parameter.meaning}, "
                    f"as in {definition.name}{example}"
                )
            given[parameter.name] = parameter.default
    return tuple((p.name, given[p.name]) for p in definition.parameters if p.name in given)


def _number(text: str, name: str, key: str) -> float:
    try:
        if "/" not in text:
            return float(text)
        from fractions import Fraction

        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{key} of {name} must be a number (got '{text}')") from None
