"""trec_eval's names of measures, and its arithmetic bit for bit.

A name is `map`, `ndcg_cut.5,10`, `P_10` or `official`. Parameters follow a dot and are read as C
reads numbers: the longest numeric prefix, or 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

from abstain.errors import UnknownNameError, UsageError, shown
from abstain.measures.definition import Definition, TrecName, np
from abstain.measures.kinds import Measure
from abstain.measures.ranked_lists import Floats, Pool, RankedLists
from abstain.measures.registry import definitions, measure_of

SETS = ("official", "set", "all_trec")
RUN_ID, REL_STRING = "runid", "relstring"
TEXTS = {RUN_ID: (0, SETS), REL_STRING: (12, ("all_trec",))}
"""The outputs of trec_eval that are not numbers, with their position and sets."""
WHOLE = re.compile(r"\s*[+-]?\d+")
DECIMAL = re.compile(
    r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\s*[+-]?(?:inf|nan)", re.IGNORECASE
)
FIGURE = re.compile(r"(.+?)_(-?[\d.]+)")
"""A figure as trec_eval prints its name: P_10, iprec_at_recall_0.10."""


class Figure(NamedTuple):
    name: str
    trec: TrecName
    definition: Definition
    arguments: dict[str, Any]


@cache
def by_trec_name() -> Mapping[str, tuple[TrecName, Definition]]:
    """Every measure that trec_eval has, by its name there, in its order."""
    pairs = [(trec, d) for d in definitions("ranking").values() for trec in d.trec]
    return {trec.name: (trec, d) for trec, d in sorted(pairs, key=lambda each: each[0].place)}


def asked(texts: Iterable[str]) -> dict[str, str]:
    """The requested names with their parameters (the text after the dot), in output order.

    Of a name that is requested several times the first parameters count, as in trec_eval; figures
    by their printed names (`P_5`, `P_10`) are joined.
    """
    known = {name: (trec.place, trec.sets) for name, (trec, _) in by_trec_name().items()} | TEXTS
    parameters_of: dict[str, str] = {}
    for text in texts:
        name, point, parameters = text.partition(".")
        figure = FIGURE.fullmatch(text)
        if name in SETS:
            chosen = [other for other, (_, sets) in known.items() if name in sets]
            parameters_of = dict.fromkeys(chosen, "") | parameters_of
        elif name in known and point and not parameters:
            raise UsageError(f"a measure's parameters are missing after the dot in {shown(text)}")
        elif name in known:
            parameters_of[name] = parameters_of.get(name) or parameters
        elif figure and figure[1] in known:
            before = parameters_of.get(figure[1])
            parameters_of[figure[1]] = f"{before},{figure[2]}" if before else figure[2]
        else:
            hint = "trec_eval's names, such as map, ndcg_cut.5,10, official, all_trec"
            raise UnknownNameError("measure", name, [*SETS, *known], hint=hint)
    return dict(sorted(parameters_of.items(), key=lambda pair: known[pair[0]][0]))


def figures(name: str, parameters: str = "") -> list[Figure]:
    """The figures of a name, such as `ndcg_cut` with `5,10`."""
    trec, definition = by_trec_name()[name]
    if trec.takes in ("cutoffs", "recalls"):
        (key,) = trec.parameters
        points = _points(trec, parameters)
        return [Figure(text, trec, definition, {key: value}) for text, value in points]
    arguments: dict[str, Any] = {}
    if trec.takes == "numbers":
        arguments = _numbers(trec, parameters)
    elif trec.takes == "gains":
        arguments = {"gains": _gains(name, parameters) if parameters else None}
    printed = f"{name}_{parameters}" if parameters and trec.takes else name
    return [Figure(printed, trec, definition, arguments)]


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
    for point in points:  # an empty list has no precision: 0 / 0, with this machine's sign
        nowhere = np.trunc(point * there + 0.9) <= 0
        with np.errstate(invalid="ignore"):
            values[nowhere & (lists.depth == 0)] = np.float64(0.0) / np.float64(0.0)
    return values


def parse_trec_names(text: str) -> list[Measure]:
    """The measures that a name of trec_eval stands for, without its texts; [] for other names.

    >>> [str(item) for item in parse_trec_names("ndcg_cut.5,10")]
    ['NDCG@5', 'NDCG@10']
    """
    try:
        names = asked([text])
    except UnknownNameError:
        return []
    return [
        _measure(figure)
        for name, parameters in names.items()
        if name not in TEXTS
        for figure in figures(name, parameters)
    ]


def _measure(figure: Figure) -> Measure:
    usual = figure.trec.defaults
    arguments = dict(figure.arguments)
    if arguments.pop("gains", None) or arguments.pop("points", usual) != usual:
        raise UsageError(
            f"{figure.name} has parameters that only `abstain trec_eval` accepts; instead, write "
            "the gains that you want as grades into the judgments"
        )
    return measure_of(figure.definition, ", ".join(f"{k}={v!r}" for k, v in arguments.items()))


def printed_name(item: Measure, level: float) -> str:
    """The name by which trec_eval prints a measure at a level of relevance, or its text.

    >>> from abstain.measures import measure
    >>> printed_name(measure("NDCG@10"), 1), printed_name(measure("ERR@20"), 1)
    ('ndcg_cut_10', 'ERR@20')
    """
    defaults = {p.name: p.default for p in item.definition.parameters}
    changed = {name: value for name, value in item.arguments.items() if value != defaults[name]}
    if changed.pop("rel", 1) != level and "rel" in defaults:
        return str(item)
    for trec in item.definition.trec:
        if list(changed) == list(trec.parameters) and trec.takes in ("cutoffs", "recalls"):
            (value,) = changed.values()
            return _points(trec, repr(value))[0][0]
        if not changed and trec.takes not in ("cutoffs", "recalls"):
            return trec.name
    return str(item)


def whole(text: str) -> int:
    """What C's `atol` makes of a text."""
    match = WHOLE.match(text)
    return int(match[0]) if match else 0


def decimal(text: str) -> float:
    """What C's `atof` makes of a text."""
    match = DECIMAL.match(text)
    return float(match[0]) if match else 0.0


def _points(trec: TrecName, parameters: str) -> list[tuple[str, float]]:
    cutoffs = trec.takes == "cutoffs"
    read = whole if cutoffs else decimal
    points = sorted(read(part) for part in parameters.split(",")) if parameters else trec.defaults
    if cutoffs and points[0] <= 0:
        raise UsageError(f"the cutoffs of {trec.name} must be above 0 (got {shown(parameters)})")
    if len(set(points)) < len(points):
        raise UsageError(f"a cutoff of {trec.name} appears twice (got {shown(parameters)})")
    if cutoffs:
        return [(f"{trec.name}_{int(point)}", int(point)) for point in points]
    return [(f"{trec.name}_{point:3.2f}"[: len(trec.name) + 9], point) for point in points]


def _numbers(trec: TrecName, parameters: str) -> dict[str, Any]:
    values = trec.defaults
    if parameters:
        values = tuple(decimal(part) for part in parameters.split(","))
    if trec.parameters == ("points",):
        return {"points": values}
    if len(trec.parameters) > 1 and len(values) != len(trec.parameters):
        raise UsageError(f"{trec.name} takes {len(trec.parameters)} numbers (got {len(values)})")
    return dict(zip(trec.parameters, values, strict=False))


def _gains(name: str, parameters: str) -> dict[int, float]:
    pairs = [part.split("=") for part in parameters.split(",")]
    if any(len(pair) != 2 or whole(pair[0]) < 0 for pair in pairs):
        raise UsageError(
            f"{name} takes grades of 0 or more with gains, as {name}.1=3,2=9 (got "
            f"{shown(parameters)})"
        )
    gains: dict[int, float] = {}
    for level, gain in pairs:  # the first one counts; sorting depends on their order
        gains.setdefault(whole(level), decimal(gain))
    return gains


def listed_and_ideal(
    rankings: RankedLists, gains: Mapping[int, float] | None = None
) -> tuple[Floats, Pool]:
    """The gain of each listed document, and the gains above 0 of each query's ideal list."""
    pool = rankings.pool
    if gains is None:
        return rankings.grade, pool.where(pool.grade > 0)
    tops = pool.grade[pool.offsets[pool.row]]
    place, begins = np.zeros(len(tops)), np.zeros(len(tops), bool)
    for top in np.unique(tops).tolist():
        there, rising = tops == top, sorted_levels(int(top), gains)
        placed = {level: -i for i, (level, _) in enumerate(rising)}
        place[there] = [placed[int(grade)] for grade in pool.grade[there].tolist()]
        begins[there] = rising[-1][1] > 0
    order = np.lexsort((place, pool.row))
    best = _gains_of(pool.grade[order], gains)
    kept = begins & (pool.running(best <= 0) == 0)  # it ends at its first gain not above 0
    return _gains_of(rankings.grade, gains), replace(pool, grade=best).where(kept)


def _gains_of(grades: Floats, gains: Mapping[int, float]) -> Floats:
    values = grades.copy()
    for level, gain in gains.items():
        values[grades == level] = gain
    return values


def sorted_levels(top: int, gains: Mapping[int, float]) -> list[tuple[int, float]]:
    """Grades and gains, by rising gain as trec_eval sorts them."""
    others = ((level, float(level)) for level in range(top + 1) if level not in gains)
    return _merge_sorted([*gains.items(), *others])


def _merge_sorted(items: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """C's merge sort, by the whole part of the difference of two gains."""
    if len(items) < 2:
        return items
    left, right = _merge_sorted(items[: len(items) // 2]), _merge_sorted(items[len(items) // 2 :])
    merged = []
    while left and right:
        before = int(left[0][1] - right[0][1]) <= 0
        merged.append((left if before else right).pop(0))
    return merged + left + right


def _of_each(function: Callable[[float], float], values: Any) -> Floats:
    """The function of each number; 0 and below as in IEEE 754."""
    distinct, inverse = np.unique(values, return_inverse=True)
    logs = [
        function(number) if number > 0 else -math.inf if number == 0 else math.nan
        for number in distinct.tolist()
    ]
    return np.array(logs, np.float64)[inverse].reshape(np.shape(values))


log2 = partial(_of_each, math.log2)
log = partial(_of_each, math.log)
"""Logarithms as C's library has them: the last bit of numpy's can change a printed digit."""
