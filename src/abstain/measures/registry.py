"""The registry of measures: parsing a measure's text, listing all, sets of them, plug-ins.

Packages that declare measures are loaded by their entry points, and only when a name is unknown or
a list of all measures is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from abstain.errors import UnknownNameError, UsageError, nearest, shown
from abstain.measures.definition import Definition, Parameter, Takes
from abstain.measures.kinds import (
    NAMES,
    REGISTRY,
    ColumnMeasure,
    ConfidenceMeasure,
    DecisionMeasure,
    Measure,
    RankingMeasure,
    fold,
)

if TYPE_CHECKING:
    from abstain.entry_points import Loaded

FAMILIES = (
    "abstain.measures.of_counts",
    "abstain.measures.decisions",
    "abstain.measures.weighted_answers",
    "abstain.measures.confidence",
    "abstain.measures.calibration_errors",
    "abstain.measures.ranking",
    "abstain.measures.recall_and_gain",
    "abstain.measures.user_models",
    "abstain.measures.truncated",
    "abstain.measures.evaluators",
)
"""Modules that declare measures when they are imported, the most asked for first."""

KINDS: dict[Takes, type[Measure]] = {
    "counts": Measure,
    "decisions": DecisionMeasure,
    "confidence": ConfidenceMeasure,
    "ranking": RankingMeasure,
    "columns": ColumnMeasure,
}
"""The class of a measure, by what it takes."""


class MeasureSet(Struct, frozen=True):
    """Measures that are asked for together by one name: what the evaluator of a task prints."""

    summary: str
    measures: tuple[str, ...]
    """The first one orders the runs."""
    where_there: tuple[str, ...] = ()
    """Further ones, left out where the columns that they need are not there."""


SETS = {
    "pan": MeasureSet(
        "PAN's authorship verification, of runs in PAN's format",
        ("PAN-overall", "PAN-AUC", "c@1", "PAN-F1", "F0.5u", "PAN-Brier"),
    ),
    "squad": MeasureSet(
        "SQuAD 2, of runs in its format; best thresholds where no-answer probabilities are there",
        ("SQuAD-exact", "SQuAD-F1", "HasAns-exact", "HasAns-F1", "NoAns-exact", "NoAns-F1"),
        ("best-exact", "best-exact-at", "best-F1", "best-F1-at"),
    ),
}


def set_named(text: str) -> MeasureSet | None:
    return SETS.get(fold(text)) if isinstance(text, str) else None


_TEXT = re.compile(
    r"\s*(?P<name>[^()]+?)\s*(?:\((?P<arguments>[^()]*)\)\s*(?:@(?P<cutoff>[^()@]*))?)?\s*"
)


def admit(definition: Definition) -> None:
    """Make room for somebody's measure, checked: its names are new, or its function is declared."""
    from abstain.measures.checks import check

    _load_built_in()
    check(measure_of(definition, definition.example_text))
    for name in (definition.name, *definition.aliases):
        known = NAMES.get(fold(name))
        if known is not None and REGISTRY[known].home != definition.home:
            raise UsageError(f"there is a measure {shown(name)} already: choose another name")
    _parsed.cache_clear()


def definitions(takes: Takes | None = None) -> Mapping[str, Definition]:
    """Every declared measure by name, or those of one kind; the built-in ones first, by family.

    A plug-in that cannot be loaded is left out: `abstain plugins` says why.
    """
    measures_of_plugins()
    kinds, homes = list(KINDS), {home: at for at, home in enumerate(FAMILIES)}

    def place(d: Definition) -> tuple[int, int]:
        return kinds.index(d.takes), homes.get(d.home.rpartition(".")[0], len(homes))

    ordered = sorted(REGISTRY.values(), key=place)
    return {d.name: d for d in ordered if takes in (None, d.takes)}


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
    match = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        what = shown(str(text))
        raise UsageError(f"{what} is not a measure's name, such as c@1 or credit(t=0.5)")
    if "," in text and len(several := _sweep(text)) > 1:
        names = ", ".join(several)
        raise UsageError(f"expected one measure, and {shown(text)} names {len(several)}: {names}")
    return _parsed(*match.groups())


def swept(measures: Sequence[str | Measure] | str | Measure) -> list[str | Measure]:
    """Measures one by one: a text with several values of a parameter or cutoff names several.

    >>> swept(["c@1", "P@5,10", "RBP(p=0.5,0.8)"])
    ['c@1', 'P@5', 'P@10', 'RBP(p=0.5)', 'RBP(p=0.8)']
    """
    several = isinstance(measures, Iterable) and not isinstance(measures, str)
    listed: Any = measures if several else [measures]
    every: list[str | Measure] = []
    for item in listed:
        every += _sweep(item) if isinstance(item, str) and "," in item else [item]
    return every


def _sweep(text: str) -> list[str]:
    """The texts of single measures; a value without a name belongs to the parameter before it."""
    match = _TEXT.fullmatch(text)
    if match is None:
        return [text]
    name, arguments, cutoff = match.groups()
    if arguments is None:
        name, at, cutoff = name.rpartition("@")
        if not at:
            return [text]
    pieces: list[list[str]] = []
    for piece in filter(None, map(str.strip, (arguments or "").split(","))):
        key, equals, _ = pieces[-1][0].partition("=") if pieces else ("", "", "")
        if equals and "=" not in piece:
            pieces[-1].append(f"{key}={piece}")
        else:
            pieces.append([piece])
    cuts = [""] if cutoff is None else [f"@{each.strip()}" for each in cutoff.split(",")]
    inside = [f"({', '.join(chosen)})" if chosen else "" for chosen in product(*pieces)]
    return [f"{name}{each}{cut}" for each in inside for cut in cuts]


@cache
def _parsed(text: str, arguments: str | None, cutoff: str | None) -> Measure:
    name, inner = _lookup(text)
    if name is None:
        raise _unknown(text)
    if inner is not None and cutoff is not None:
        raise UsageError(f"{name} has two cutoffs (@{inner} and @{cutoff})")
    return measure_of(REGISTRY[name], arguments, cutoff if inner is None else inner)


def count_measure(text: str | Measure, *others: Takes) -> Measure:
    """The measure that a text names, which must be one of counts, or of other kinds that fit."""
    item = measure(text)
    if item.definition.takes not in ("counts", *others):
        raise UsageError(
            f"{item} is a measure of {item.definition.takes}, expected one of counts, "
            "such as c@1 (`abstain measures` lists them)"
        )
    return item


def example_measure(text: str) -> Measure:
    """The measure that a text names; a bare name such as `credit` gets example values."""
    name, cutoff = _lookup(text)
    if name is None or cutoff is not None:
        return measure(text)
    return measure_of(REGISTRY[name], REGISTRY[name].example_text)


def _lookup(text: str) -> tuple[str | None, str | None]:
    """The name and the cutoff of `P@10`, or of a name alone; None for what is not there."""
    head, at, cutoff = text.rpartition("@")
    whole, head = fold(text), fold(head)
    for family in FAMILIES:  # one by one: most texts need the first alone
        if whole in NAMES:
            break
        import_module(family)
    if whole not in NAMES and head not in NAMES:
        measures_of_plugins()
    if whole in NAMES:
        return NAMES[whole], None
    return (NAMES[head], cutoff) if at and head in NAMES else (None, None)


def _unknown(text: str) -> UsageError:
    for fault in measures_of_plugins().faults.values():
        return UsageError(fault)
    if (known_set := set_named(text)) is not None:
        return UsageError(
            f"{fold(text)} is a set of measures, which `abstain score` takes; here, name one of "
            f"them: {', '.join(known_set.measures)}"
        )
    known = [*SETS, *(name for d in REGISTRY.values() for name in (d.name, *d.aliases))]
    head = text.rpartition("@")[0]
    wanted = head if head and nearest(head, known) else text
    return UnknownNameError("measure", wanted, known, hint="`abstain measures` lists them")


def measure_of(
    definition: Definition, text: str | None = None, cutoff: str | None = None
) -> Measure:
    """The measure of a definition, with its parameters as they are typed, or by default.

    They are typed as `t=1/2`, or `.5` by position, or `@10`.

    >>> from abstain.measures import definitions
    >>> measure_of(definitions()["F"], "beta=1/2").parameters
    (('beta', 0.5),)
    """
    name, parameters = definition.name, {p.name: p for p in definition.parameters}
    names, typed = list(parameters), list[tuple[str, str]]()
    if cutoff is not None:
        at = next((p.name for p in definition.parameters if p.cutoff), None)
        if at is None:
            raise UsageError(f"{name} takes no cutoff (got '@{cutoff}')")
        typed.append((at, cutoff))
    for position, piece in enumerate(filter(None, map(str.strip, (text or "").split(",")))):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not equals:
            key, value = names[position] if position < len(names) else piece, key
        typed.append((key.casefold() if key.casefold() in parameters else key, value))
    values: dict[str, float] = {}
    for key, value in typed:
        if key not in parameters:
            takes = ", ".join(parameters) or "none"
            raise UsageError(f"{name} has no parameter '{key}' (its parameters: {takes})")
        if key in values:
            raise UsageError(f"{name} has {key} twice")
        values[key] = _value(parameters[key], value, name)
    for p in definition.parameters:
        if p.name not in values and p.default is not None:
            values[p.name] = p.default
        elif p.name not in values and not p.optional:
            example = "@10" if p.cutoff else f"({p.name}=0.5)"
            raise UsageError(f"{name} needs {p.name}, {p.meaning}, as in {name}{example}")
    ordered = definition.ordered(values)
    return KINDS[definition.takes](name, ordered, definition=definition)


def _value(parameter: Parameter, text: str, name: str) -> float:
    try:
        above, slash, below = text.partition("/")
        value = float(above) / (float(below) if slash else 1.0)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{parameter.name} of {name} must be a number (got '{text}')") from None
    return parameter.check(value, name)


@cache
def _load_built_in() -> None:
    for family in FAMILIES:
        import_module(family)


@cache
def measures_of_plugins() -> Loaded:
    """The names that each plug-in declares when it is imported, and what is wrong with others."""
    from abstain.entry_points import Plugin, load_plugins

    _load_built_in()
    known = set(REGISTRY)

    def take(plugin: Plugin, _: object) -> tuple[str, tuple[str, ...]]:
        names = tuple(name for name in REGISTRY if name not in known)
        known.update(names)
        return ", ".join(names) or str(plugin), names

    return load_plugins("abstain.measures", take)
