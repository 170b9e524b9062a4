"""trec_eval's names of measures: `map`, `ndcg_cut.5,10`, `P_10`, `official`.

After a point stand parameters, read as C reads numbers: as far as they are some, and 0 otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from abstain.errors import UnknownNameError, UsageError, shown
from abstain.measures.definition import Definition, TrecName
from abstain.measures.kinds import Measure
from abstain.measures.lazy import numpy as np
from abstain.measures.registry import definitions, measure

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats, RankedLists

SETS = ("official", "set", "all_trec")
RUN_ID, REL_STRING = "runid", "relstring"
TEXTS = {RUN_ID: (0, SETS), REL_STRING: (12, ("all_trec",))}
"""What trec_eval prints that is no number, with its place and the sets that it belongs to."""
WHOLE = re.compile(r"\s*[+-]?\d+")
DECIMAL = re.compile(
    r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\s*[+-]?(?:inf|nan)", re.IGNORECASE
)
FIGURE = re.compile(r"(.+?)_(-?[\d.]+)")
"""A figure as trec_eval prints its name: P_10, iprec_at_recall_0.10."""


class Figure(NamedTuple):
    """One figure that is asked for."""

    name: str
    """What trec_eval prints."""
    own: TrecName
    definition: Definition
    arguments: dict[str, Any]


@cache
def named() -> Mapping[str, tuple[TrecName, Definition]]:
    """Every measure that trec_eval has, by its name there, in its order."""
    found = [(own, d) for d in definitions("ranking", strict=False).values() for own in d.trec]
    return {own.name: (own, d) for own, d in sorted(found, key=lambda each: each[0].place)}


def asked(texts: Iterable[str]) -> dict[str, str]:
    """The names that some texts ask for, each with what stands after the point, in output order.

    Of a name that is asked for several times the first parameters count, as in trec_eval; figures
    by their printed names (`P_5`, `P_10`) are put together.
    """
    given: dict[str, str] = {}
    marked: set[str] = set()
    places = {name: own.place for name, (own, _) in named().items()}
    places |= {name: place for name, (place, _) in TEXTS.items()}
    for text in texts:
        name, point, parameters = text.partition(".")
        if name in SETS:
            marked |= {own.name for own, _ in named().values() if name in own.sets}
            marked |= {own for own, (_, sets) in TEXTS.items() if name in sets}
            continue
        if point and not parameters:
            raise UsageError(f"a measure's parameters are missing after the dot in {shown(text)}")
        figure = FIGURE.fullmatch(text)
        if name not in places and figure and figure[1] in places:
            name, joined = figure[1], [given[figure[1]]] if figure[1] in given else []
            given[name] = ",".join([*joined, figure[2]])
        elif name not in places:
            hint = "trec_eval's names, such as map, ndcg_cut.5,10, official, all_trec"
            raise UnknownNameError("measure", name, [*SETS, *places], hint=hint)
        elif point:
            given.setdefault(name, parameters)
        marked.add(name)
    ordered = sorted(marked, key=places.__getitem__)
    return {name: given.get(name, "") for name in ordered}


def figures(name: str, parameters: str = "") -> list[Figure]:
    """The figures of a name, such as `ndcg_cut` with `5,10`."""
    own, definition = named()[name]
    match own.takes:
        case "cutoffs" | "recalls":
            known = own.parameters[0]
            return [
                Figure(text, own, definition, {known: value})
                for text, value in _points(own, parameters)
            ]
        case "numbers":
            values = [decimal(part) for part in parameters.split(",")] if parameters else None
            chosen = tuple(own.defaults if values is None else values)
            return [Figure(_joined(name, parameters), own, definition, _numbers(own, chosen))]
        case "gains":
            pairs = _gains(name, parameters) if parameters else None
            return [Figure(_joined(name, parameters), own, definition, {"gains": pairs})]
        case _:
            return [Figure(name, own, definition, {})]


def values_of(figure: Figure, lists: RankedLists, level: float, documents: int) -> Floats:
    """A figure of each query by trec_eval's rules: 0 where it does not exist."""
    definition, arguments = figure.definition, dict(figure.arguments)
    takes = {p.name for p in definition.parameters}
    arguments |= {"rel": level} if "rel" in takes else {}
    arguments |= {"n": documents} if "n" in takes else {}
    values: Floats = definition.function(lists, **arguments)
    gone = np.isnan(values)
    if "rel" in takes:
        rules = [rule.when(lists, **arguments) for rule in definition.undefined]
        gone &= np.any([np.zeros(lists.size, bool), *rules], axis=0)
    values = np.where(gone, 0.0, values)
    points = arguments.get("points", [arguments["recall"]] if "recall" in arguments else [])
    there = lists.per_row(lists.pool.count(lists.pool.grade >= level))
    for point in points:  # an empty list has no precision at all, 0 / 0
        nowhere = np.trunc(point * there + 0.9) <= 0
        values[nowhere & (lists.depth == 0)] = _not_a_number()
    return values


def _not_a_number() -> float:
    """0 / 0, which has the sign that this machine gives it."""
    with np.errstate(invalid="ignore"):
        return float(np.float64(0.0) / np.float64(0.0))


def measures_named(text: str) -> list[Measure]:
    """The measures that a text of trec_eval's asks for, those that are numbers; [] if it is none.

    >>> [str(item) for item in measures_named("ndcg_cut.5,10")]
    ['NDCG@5', 'NDCG@10']
    """
    head = text.partition(".")[0]
    printed = FIGURE.fullmatch(text)
    known = {*named(), *SETS}
    if head not in known and (printed is None or printed[1] not in known):
        return []
    return [
        _measure(figure)
        for name, parameters in asked([text]).items()
        if name not in TEXTS
        for figure in figures(name, parameters)
    ]


def _measure(figure: Figure) -> Measure:
    definition, arguments = figure.definition, dict(figure.arguments)
    if arguments.pop("gains", None) or arguments.get("points", figure.own.defaults) not in (
        figure.own.defaults,
    ):
        raise UsageError(
            f"{figure.name} has parameters that only `abstain trec_eval` accepts; instead, write "
            "the gains that you want as grades into the judgments"
        )
    arguments.pop("points", None)
    cutoffs = {p.name for p in definition.parameters if p.cutoff}
    said = ", ".join(f"{k}={v!r}" for k, v in arguments.items() if k not in cutoffs)
    cut = "".join(f"@{v!r}" for k, v in arguments.items() if k in cutoffs)
    return measure(f"{definition.name}({said}){cut}" if said else f"{definition.name}{cut}")


def printed_name(item: Measure, level: float) -> str:
    """What trec_eval prints a measure by, at a level of relevance; its own text if it has none.

    >>> printed_name(measure("NDCG@10"), 1), printed_name(measure("ERR@20"), 1)
    ('ndcg_cut_10', 'ERR@20')
    """
    defaults = {p.name: p.default for p in item.definition.parameters}
    said = {name: value for name, value in item.arguments.items() if value != defaults[name]}
    if said.pop("rel", 1) != level and "rel" in defaults:
        return str(item)
    for own in item.definition.trec:
        if list(said) == list(own.parameters) and own.takes in ("cutoffs", "recalls"):
            (value,) = said.values()
            return _points(own, repr(value))[0][0]
        if not said and own.takes not in ("cutoffs", "recalls"):
            return own.name
    return str(item)


# ------------------------------------------------------------------ parameters as C reads them


def whole(text: str) -> int:
    """What C's `atol` makes of a text.

    >>> whole("23.4"), whole("x")
    (23, 0)
    """
    found = WHOLE.match(text)
    return int(found[0]) if found else 0


def decimal(text: str) -> float:
    """What C's `atof` makes of a text."""
    found = DECIMAL.match(text)
    return float(found[0]) if found else 0.0


def _points(own: TrecName, parameters: str) -> list[tuple[str, float]]:
    """Cutoffs or shares in rising order, with the names that they are printed by."""
    cutoffs = own.takes == "cutoffs"
    read = whole if cutoffs else decimal
    points = sorted(read(part) for part in parameters.split(",")) if parameters else own.defaults
    if cutoffs and points[0] <= 0:
        raise UsageError(f"the cutoffs of {own.name} must be above 0 (got {shown(parameters)})")
    if len(set(points)) < len(points):
        raise UsageError(f"a cutoff of {own.name} appears twice (got {shown(parameters)})")
    if cutoffs:
        return [(f"{own.name}_{int(point)}", int(point)) for point in points]
    return [(f"{own.name}_{point:3.2f}"[: len(own.name) + 9], point) for point in points]


def _numbers(own: TrecName, values: tuple[float, ...]) -> dict[str, Any]:
    if own.parameters == ("points",):
        return {"points": values}
    if len(own.parameters) > 1 and len(values) != len(own.parameters):
        raise UsageError(f"{own.name} takes {len(own.parameters)} numbers (got {len(values)})")
    return dict(zip(own.parameters, values, strict=False))


def _gains(name: str, parameters: str) -> dict[int, float]:
    pairs = [part.split("=") for part in parameters.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise UsageError(
            f"{name} takes grades and gains, as {name}.1=3,2=9 (got {shown(parameters)})"
        )
    gains: dict[int, float] = {}
    for level, gain in pairs:
        if whole(level) < 0:
            raise UsageError(
                f'{name}: a grade below 0 means "not judged" and cannot have a gain (got {level})'
            )
        gains.setdefault(whole(level), decimal(gain))
    return gains


def _joined(name: str, parameters: str) -> str:
    return f"{name}_{parameters}" if parameters else name
