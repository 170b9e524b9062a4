"""Which measures there are, and the measure that a text names.

Measures of other packages are found by their entry points, and only when somebody asks for a name
that abstain does not know or for a list of all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from abstain.errors import UnknownNameError, UsageError, checked, nearest, shown
from abstain.measures.definition import Definition, Takes
from abstain.measures.kinds import ConfidenceMeasure, Measure, RankingMeasure

GROUP = "abstain.measures"
"""The entry points of packages that declare measures."""
OWN = "abstain.measures.families."
FAMILIES = (
    *("credit", "validation", "handed_in", "confidence", "calibration"),
    *("ranking", "sets", "recall_points", "gain", "user_models", "truncated", "stopping"),
)
KINDS: dict[Takes, type[Measure]] = {
    "counts": Measure,
    "confidence": ConfidenceMeasure,
    "ranking": RankingMeasure,
}
"""What a measure may take, and the class that takes it."""

_TEXT = re.compile(
    r"^\s*(?P<name>[^()]+?)\s*(?:\((?P<arguments>[^()]*)\)\s*(?:@(?P<cutoff>[^()@]*))?)?\s*$"
)
_REGISTRY: dict[str, Definition] = {}
_BY_ALIAS: dict[str, str] = {}


def define(definition: Definition) -> None:
    """Add a measure, if all that is declared of it holds.

    Its names must be new, unless the same function is declared once more. Those of abstain itself
    are held to the same by its tests.
    """
    if not definition.home.startswith(OWN):
        from abstain.measures.checks import check

        _load_own()
        check(measure_of(definition, definition.example_text))
    known = _REGISTRY.get(definition.name)
    if known is not None and known.home == definition.home:
        _forget(known)
    for name in (definition.name, *definition.aliases):
        if _fold(name) in _BY_ALIAS:
            raise UsageError(f"there is a measure {shown(name)} already: choose another name")
    _BY_ALIAS.update({_fold(n): definition.name for n in (definition.name, *definition.aliases)})
    _REGISTRY[definition.name] = definition


def _forget(definition: Definition) -> None:
    for name in (definition.name, *definition.aliases):
        del _BY_ALIAS[_fold(name)]
    del _REGISTRY[definition.name]


def definitions(takes: Takes | None = None, *, strict: bool = True) -> Mapping[str, Definition]:
    """Every declared measure by name, or those of one kind; our own first, by their family.

    A package that fails to declare its own is refused, or passed over where `strict` is False.
    """
    _load_own()
    if (fault := _load_plugins()) and strict:
        raise UsageError(fault)
    kinds = list(KINDS)
    homes = [f"{OWN}{family}" for family in FAMILIES]

    def place(d: Definition) -> tuple[int, int]:
        module = d.home.rpartition(".")[0]
        return kinds.index(d.takes), homes.index(module) if module in homes else len(homes)

    found = sorted(_REGISTRY.values(), key=place)
    return {d.name: d for d in found if takes in (None, d.takes)}


@checked
def list_measures(takes: Takes | None = None) -> list[str]:
    """The names of all measures, or of those of one kind: "counts", "confidence", "ranking"."""
    return list(definitions(takes))


def measure(text: str | Measure) -> Measure:
    """The measure that a text names.

    >>> measure("f(beta=1/2)")
    Measure(name='F', parameters=(('beta', 0.5),))
    """
    if isinstance(text, Measure):
        return text
    match = _TEXT.match(text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(
            f"{shown(str(text))} is not a measure's name, such as c@1 or credit(t=0.5)"
        )
    found = _named(match["name"])
    if found is None:
        raise _unknown(match["name"])
    name, cutoff = found
    if cutoff is not None and match["cutoff"] is not None:
        raise UsageError(f"{name} is given a cutoff twice (@{cutoff} and @{match['cutoff']})")
    cutoff = match["cutoff"] if cutoff is None else cutoff
    return measure_of(_REGISTRY[name], match["arguments"], cutoff)


def measure_of(
    definition: Definition, arguments: str | None = None, cutoff: str | None = None
) -> Measure:
    """The measure of a definition, with parameters as they are typed."""
    given = arguments_of(definition, arguments, cutoff)
    return KINDS[definition.takes](definition.name, given, definition=definition)


def count_measure(text: str | Measure) -> Measure:
    """The measure that a text names, which must be one of counts."""
    found = measure(text)
    if found.definition.takes != "counts":
        raise UsageError(
            f"{found} is a measure of {found.definition.takes}, expected one of counts, "
            "such as c@1 (`abstain measures` lists them)"
        )
    return found


def example_measure(text: str) -> Measure:
    """The measure that a text names; a bare name such as `credit` has values to show it with."""
    found = _named(text)
    if found is None or found[1] is not None:
        return measure(text)
    definition = _REGISTRY[found[0]]
    return measure_of(definition, definition.example_text)


def _named(text: str) -> tuple[str, str | None] | None:
    """The name and the cutoff of `P@10`, or of a name alone; None if there is no such measure."""
    for load in (_load_own, _load_plugins):
        load()
        if (name := _BY_ALIAS.get(_fold(text))) is not None:
            return name, None
        head, at, cutoff = text.rpartition("@")
        if at and (name := _BY_ALIAS.get(_fold(head))) is not None:
            return name, cutoff
    return None


def _unknown(text: str) -> UsageError:
    if fault := _load_plugins():
        return UsageError(fault)
    known = [name for d in _REGISTRY.values() for name in (d.name, *d.aliases)]
    head = text.rpartition("@")[0]
    wanted = head if head and nearest(head, known) else text
    return UnknownNameError("measure", wanted, known, hint="`abstain measures` lists them")


def _fold(name: str) -> str:
    folded = name.strip().casefold().replace("_", "-").replace(" ", "-")
    return folded.replace("′", "'").replace("’", "'")


def arguments_of(
    definition: Definition, text: str | None, cutoff: str | None = None
) -> tuple[tuple[str, float], ...]:
    """The parameters of a measure with their values: those typed, and the defaults of the others.

    They are typed as `t=1/2`, or `.5` by its place, or `@10`.

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


@cache
def _load_own() -> None:
    """Importing the families declares them."""
    for family in FAMILIES:
        import_module(f"{OWN}{family}")


@cache
def _load_plugins() -> str:
    """Importing what other packages name declares their measures; what is wrong with one of them.

    A package that fails takes nothing from the others.
    """
    from abstain.measures.plugins import each_loaded

    return next((fault for _, _, fault in list(each_loaded(GROUP)) if fault), "")
