"""Measures: pure functions of counts, declared with all that is known of them."""

from abstain.measures.registry import (
    Definition,
    Measure,
    Parameter,
    count_measure,
    definitions,
    list_measures,
    measure,
)

__all__ = [
    "Definition",
    "Measure",
    "Parameter",
    "count_measure",
    "definitions",
    "list_measures",
    "measure",
]
