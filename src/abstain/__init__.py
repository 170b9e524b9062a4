"""Score systems that may decline to answer.

>>> import abstain as ab
>>> ab.measure("c@1")(ab.Counts(right=138, wrong=87, unanswered_empty=59))
0.5868627256496727
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain.confidence.api import curve, curve_judged, tune, tune_judged
    from abstain.confidence.histogram import HistogramResult, curve_histogram
    from abstain.confidence.result import CurveResult
    from abstain.confidence.several import SeveralResult, score_several, score_several_judged
    from abstain.confidence.tuned import TuneResult
    from abstain.errors import AbstainError, InputError, UnknownNameError, UsageError
    from abstain.measures import Measure, list_measures, measure
    from abstain.outcomes import Counts, CountsArray, Outcome, Policy, Undefined, Why
    from abstain.ranked import rank
    from abstain.rankings.results import RankResult
    from abstain.resample import MetaResult, meta, meta_counts, meta_judged, meta_scores
    from abstain.scored import ScoreResult
    from abstain.scoring import score, score_counts, score_judged

__version__ = "0.1.0"

_HOME = {
    "CurveResult": "confidence.result",
    "HistogramResult": "confidence.histogram",
    "curve_histogram": "confidence.histogram",
    "SeveralResult": "confidence.several",
    "TuneResult": "confidence.tuned",
    "curve": "confidence.api",
    "curve_judged": "confidence.api",
    "tune": "confidence.api",
    "tune_judged": "confidence.api",
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
    "MetaResult": "resample",
    "meta": "resample",
    "meta_counts": "resample",
    "meta_judged": "resample",
    "meta_scores": "resample",
    "RankResult": "rankings.results",
    "rank": "ranked",
    "ScoreResult": "scored",
    "score": "scoring",
    "score_counts": "scoring",
    "score_judged": "scoring",
    "score_several": "confidence.several",
    "score_several_judged": "confidence.several",
}

__all__ = [
    "AbstainError",
    "Counts",
    "CountsArray",
    "CurveResult",
    "HistogramResult",
    "InputError",
    "Measure",
    "MetaResult",
    "Outcome",
    "Policy",
    "RankResult",
    "ScoreResult",
    "SeveralResult",
    "TuneResult",
    "Undefined",
    "UnknownNameError",
    "UsageError",
    "Why",
    "__version__",
    "curve",
    "curve_histogram",
    "curve_judged",
    "list_measures",
    "measure",
    "meta",
    "meta_counts",
    "meta_judged",
    "meta_scores",
    "rank",
    "score",
    "score_counts",
    "score_judged",
    "score_several",
    "score_several_judged",
    "tune",
    "tune_judged",
]


def __getattr__(name: str) -> Any:
    """Load a public name's home only when somebody asks for it: `import abstain` is instant."""
    if name not in _HOME:
        raise AttributeError(f"module 'abstain' has no attribute '{name}'")
    return getattr(import_module(f"abstain.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
