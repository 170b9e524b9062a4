"""Score systems that may decline to answer.

>>> import abstain as ab
>>> ab.measure("c@1")(ab.Counts(right=138, wrong=87, unanswered_empty=59))
0.5868627256496727
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain.errors import AbstainError, InputError, UnknownNameError, UsageError
    from abstain.measures import Measure, list_measures, measure
    from abstain.outcomes import Counts, CountsArray, Outcome, Policy, Undefined, Why
    from abstain.ranked import RankResult, rank
    from abstain.scoring import ScoreResult, score, score_counts, score_judged

__version__ = "0.1.0"

_HOME = {
    "AbstainError": "errors",
    "InputError": "errors",
    "UnknownNameError": "errors",
    "UsageError": "errors",
    "Measure": "measures",
    "measure": "measures",
    "list_measures": "measures",
    "Counts": "outcomes",
    "CountsArray": "outcomes",
    "Outcome": "outcomes",
    "Policy": "outcomes",
    "Undefined": "outcomes",
    "Why": "outcomes",
    "RankResult": "ranked",
    "rank": "ranked",
    "ScoreResult": "scoring",
    "score": "scoring",
    "score_counts": "scoring",
    "score_judged": "scoring",
}

__all__ = [
    "AbstainError",
    "Counts",
    "CountsArray",
    "InputError",
    "Measure",
    "Outcome",
    "Policy",
    "RankResult",
    "ScoreResult",
    "Undefined",
    "UnknownNameError",
    "UsageError",
    "Why",
    "__version__",
    "list_measures",
    "measure",
    "rank",
    "score",
    "score_counts",
    "score_judged",
]


def __getattr__(name: str) -> Any:
    """Load a public name's home only when somebody asks for it: `import abstain` is instant."""
    if name not in _HOME:
        raise AttributeError(f"module 'abstain' has no attribute '{name}'")
    return getattr(import_module(f"abstain.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
