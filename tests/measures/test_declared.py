"""What a declaration says of a measure holds: the defaults, and that its bounds are reached."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from abstain.measures import definitions
from abstain.measures.definition import Definition
from abstain.measures.registry import example_measure


def functions_of(own: Definition) -> Iterator[Callable[..., Any]]:
    """All that a measure's parameters are handed to."""
    yield from (own.function, own.bounds, own.ranks_like)
    yield from (rule.when for rule in own.undefined)
    others = own.by_depth, own.kappa, own.break_even, own.influence
    yield from (function for function in others if function is not None)


@pytest.mark.parametrize(
    "own", [d for d in definitions().values() if d.parameters], ids=lambda own: own.name
)
def test_a_signature_has_the_default_that_is_declared(own: Definition) -> None:
    declared = {parameter.name: parameter.default for parameter in own.parameters}
    for function in functions_of(own):
        for name, said in inspect.signature(function).parameters.items():
            if name in declared and said.default is not inspect.Parameter.empty:
                assert said.default == declared[name], (own.name, name)


# ------------------------------------------------------------------------------------ bounds

ONLY_NEARED = {
    "RMSCE-HLE": "high: the surest answer is left out",
    "AUPR-success": "low",  # one right answer behind ever more wrong ones
    "AUPR-error": "low",
    "E-AURC": "high",  # many wrong answers before many right ones
    "ERR": "high",  # as RBP, INST: a list without end
    "RBP": "high",
    "INST": "high",
    "INST-residual": "low",
    "RBP-residual": "low",
    "RBP-effort": "low, high",
    "RBP-depth": "low",  # p near 0
    "INST-depth": "low",  # t near 1/2
    "RBP-total": "high",
    "Judged": "low",  # a list of gains has nothing that is not judged
    "NumQ": "low",  # one list is one query
    "GMAP": "low",  # 0.00001 stands for a score of 0
    "GM-bpref": "low",
}
"""Bounds that no small case reaches, and why."""


def values_of_counts(measure: Any) -> Iterator[float]:
    for cells in product(range(4), repeat=5):
        if 0 < sum(cells) <= 3:
            yield measure(type(measure).MANY.ONE.of(cells))


def values_of_answers(measure: Any) -> Iterator[float]:
    for size in (1, 2, 3):
        for right in product((0, 1), repeat=size):
            for sure in product((0.0, 0.5, 1.0), repeat=size):
                yield measure(right, sure)


def values_of_lists(measure: Any) -> Iterator[float]:
    for size in range(4):
        for gains in product((0, 1), repeat=size):
            for more in range(3):
                yield measure(gains, pool=sum(gains) + more)


VALUES = {
    **dict.fromkeys(("counts", "decisions"), values_of_counts),
    "confidence": values_of_answers,
    "ranking": values_of_lists,
}


@pytest.mark.parametrize("name", [n for n, d in definitions().items() if d.takes in VALUES])
def test_bounds_are_reached(name: str) -> None:
    few = {"P": "P@2", "Success": "Success@2", "RelP": "RelP@2", "RMSCE-HLE": "RMSCE-HLE(size=1)"}
    measure = example_measure(few.get(name, name))
    values = [v for v in VALUES[measure.definition.takes](measure) if not math.isnan(v)]
    low, high = measure.bounds
    if math.isfinite(low) and "low" not in ONLY_NEARED.get(name, ""):
        assert min(values) == pytest.approx(low, abs=1e-12)
    if math.isfinite(high) and "high" not in ONLY_NEARED.get(name, ""):
        assert max(values) == pytest.approx(high, abs=1e-12)
