"""Score systems that may decline to answer.

>>> import abstain as ab
>>> ab.measure("c@1")(ab.Counts(right=138, wrong=87, unanswered_empty=59))
0.5868627256496727
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain.analyses.asking import rank, score
    from abstain.analyses.curve.api import curve, curve_judged, tune, tune_judged
    from abstain.analyses.curve.histogram import HistogramResult, curve_histogram
    from abstain.analyses.curve.result import CurveResult
    from abstain.analyses.meta import MetaResult, meta, meta_counts, meta_judged, meta_scores
    from abstain.analyses.rank.result import RankResult
    from abstain.analyses.result import Result, load
    from abstain.analyses.score.result import ScoreResult
    from abstain.analyses.score.several import SeveralResult, score_several, score_several_judged
    from abstain.analyses.truncation import TruncationResult
    from abstain.analyses.tune.tuned import TuneResult
    from abstain.errors import AbstainError, InputError, UnknownNameError, UsageError
    from abstain.judging.evaluation import Evaluation
    from abstain.judging.reading import Reading
    from abstain.judging.sources import read, read_counts, read_judged
    from abstain.measures import Measure, list_measures, measure
    from abstain.outcomes import Counts, CountsArray, Outcome, Policy, Undefined, Why
    from abstain.rankings.rankings import Rankings
    from abstain.rankings.read import read_rankings
    from abstain.rankings.scores import ScoreMatrix, read_scores
    from abstain.report.view import View

__version__ = "0.1.0"

_HOME = {
    "CurveResult": "analyses.curve.result",
    "HistogramResult": "analyses.curve.histogram",
    "curve_histogram": "analyses.curve.histogram",
    "SeveralResult": "analyses.score.several",
    "TuneResult": "analyses.tune.tuned",
    "curve": "analyses.curve.api",
    "curve_judged": "analyses.curve.api",
    "tune": "analyses.curve.api",
    "tune_judged": "analyses.curve.api",
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
    "MetaResult": "analyses.meta",
    "meta": "analyses.meta",
    "meta_counts": "analyses.meta",
    "meta_judged": "analyses.meta",
    "meta_scores": "analyses.meta",
    "RankResult": "analyses.rank.result",
    "TruncationResult": "analyses.truncation",
    "rank": "analyses.asking",
    "Rankings": "rankings.rankings",
    "read_rankings": "rankings.read",
    "ScoreMatrix": "rankings.scores",
    "read_scores": "rankings.scores",
    "ScoreResult": "analyses.score.result",
    "score": "analyses.asking",
    "Evaluation": "judging.evaluation",
    "Reading": "judging.reading",
    "Result": "analyses.result",
    "load": "analyses.result",
    "read": "judging.sources",
    "read_counts": "judging.sources",
    "read_judged": "judging.sources",
    "score_several": "analyses.score.several",
    "score_several_judged": "analyses.score.several",
}

__all__ = [
    "AbstainError",
    "Counts",
    "CountsArray",
    "CurveResult",
    "Evaluation",
    "HistogramResult",
    "InputError",
    "Measure",
    "MetaResult",
    "Outcome",
    "Policy",
    "RankResult",
    "Rankings",
    "Reading",
    "Result",
    "ScoreMatrix",
    "ScoreResult",
    "SeveralResult",
    "TruncationResult",
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
    "load",
    "measure",
    "meta",
    "meta_counts",
    "meta_judged",
    "meta_scores",
    "rank",
    "read",
    "read_counts",
    "read_judged",
    "read_rankings",
    "read_scores",
    "score",
    "score_several",
    "score_several_judged",
    "tune",
    "tune_judged",
]


def ask(name: str, asked: object, *arguments: object, **options: object) -> Any:
    """An analysis of an object. Objects stand below analyses and ask for them here."""
    return getattr(import_module(f"abstain.analyses.{name}"), name)(asked, *arguments, **options)


def view_of(result: Result) -> View[Result]:
    """How a result looks. Results stand below views and ask for theirs here."""
    return import_module("abstain.report.view").view_of(result)  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    """Load a public name's home only when somebody asks for it: `import abstain` is instant."""
    if name not in _HOME:
        raise AttributeError(f"module 'abstain' has no attribute '{name}'")
    return getattr(import_module(f"abstain.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
