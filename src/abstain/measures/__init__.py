"""Measures: pure functions, declared with all that is known of them.

A plug-in declares measures with these decorators, and names its module in an entry point
of the group `abstain.measures`.
"""

from abstain.measures.definition import (
    Definition,
    MeanOf,
    Numeric,
    Parameter,
    Proportion,
    Undefinedness,
)
from abstain.measures.kinds import Measure, confident, counting, credit, ranked
from abstain.measures.registry import count_measure, definitions, list_measures, measure, swept

__all__ = [
    "Definition",
    "MeanOf",
    "Measure",
    "Numeric",
    "Parameter",
    "Proportion",
    "Undefinedness",
    "confident",
    "count_measure",
    "counting",
    "credit",
    "definitions",
    "list_measures",
    "measure",
    "ranked",
    "swept",
]
