"""Score systems that may decline to answer.

>>> import abstain as ab
>>> ab.measure("c@1")(ab.Counts(right=138, wrong=87, unanswered_empty=59))
0.5868627256496727
"""

from __future__ import annotations

from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain.analyses.asking import (
        baseline,
        campaign,
        compare,
        curve,
        histogram,
        meta,
        rank,
        score,
        several,
        tune,
        validate,
    )
    from abstain.analyses.audit import AuditResult, audit
    from abstain.analyses.campaign.result import CampaignResult
    from abstain.analyses.compare.result import CompareResult
    from abstain.analyses.convert import convert
    from abstain.analyses.curve.histogram import HistogramResult
    from abstain.analyses.curve.result import CurveResult
    from abstain.analyses.meta.result import MetaResult
    from abstain.analyses.pan import PanResult, pan
    from abstain.analyses.rank.result import RankResult
    from abstain.analyses.refusals import RefusalsResult, refusals
    from abstain.analyses.result import Result, load
    from abstain.analyses.score.result import ScoreResult
    from abstain.analyses.score.several import SeveralResult
    from abstain.analyses.squad import SquadResult, squad
    from abstain.analyses.truncation import TruncationResult
    from abstain.analyses.tune.result import TuneResult
    from abstain.analyses.validate.result import ValidateResult
    from abstain.errors import AbstainError, InputError, UnknownNameError, UsageError
    from abstain.judging.evaluation import Evaluation
    from abstain.judging.reading import Reading
    from abstain.judging.sources import read, read_counts, read_judged
    from abstain.measures import Measure, list_measures, measure
    from abstain.outcomes import Counts, CountsArray, Outcome, Policy, Undefined, Why
    from abstain.rankings.rankings import Rankings
    from abstain.rankings.read import read_rankings
    from abstain.rankings.read_scores import read_scores
    from abstain.rankings.scores import ScoreMatrix
    from abstain.report.view import View

__version__ = "0.1.0"

_HOMES: dict[str, tuple[str, ...]] = {
    "analyses.asking": (
        *("baseline", "campaign", "compare", "curve", "histogram", "meta", "rank", "score"),
        *("several", "tune", "validate"),
    ),
    "analyses.audit": ("AuditResult", "audit"),
    "analyses.campaign.result": ("CampaignResult",),
    "analyses.compare.result": ("CompareResult",),
    "analyses.curve.histogram": ("HistogramResult",),
    "analyses.curve.result": ("CurveResult",),
    "analyses.convert": ("convert",),
    "analyses.meta.result": ("MetaResult",),
    "analyses.pan": ("PanResult", "pan"),
    "analyses.refusals": ("RefusalsResult", "refusals"),
    "analyses.squad": ("SquadResult", "squad"),
    "analyses.validate.result": ("ValidateResult",),
    "analyses.rank.result": ("RankResult",),
    "analyses.result": ("Result", "load"),
    "analyses.score.result": ("ScoreResult",),
    "analyses.score.several": ("SeveralResult",),
    "analyses.truncation": ("TruncationResult",),
    "analyses.tune.result": ("TuneResult",),
    "errors": ("AbstainError", "InputError", "UnknownNameError", "UsageError"),
    "judging.evaluation": ("Evaluation",),
    "judging.reading": ("Reading",),
    "judging.sources": ("read", "read_counts", "read_judged"),
    "measures": ("Measure", "list_measures", "measure"),
    "outcomes": ("Counts", "CountsArray", "Outcome", "Policy", "Undefined", "Why"),
    "rankings.rankings": ("Rankings",),
    "rankings.read": ("read_rankings",),
    "rankings.read_scores": ("read_scores",),
    "rankings.scores": ("ScoreMatrix",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AbstainError",
    "AuditResult",
    "CampaignResult",
    "CompareResult",
    "Counts",
    "CountsArray",
    "CurveResult",
    "Evaluation",
    "HistogramResult",
    "InputError",
    "Measure",
    "MetaResult",
    "Outcome",
    "PanResult",
    "Policy",
    "RankResult",
    "Rankings",
    "Reading",
    "RefusalsResult",
    "Result",
    "ScoreMatrix",
    "ScoreResult",
    "SeveralResult",
    "SquadResult",
    "TruncationResult",
    "TuneResult",
    "Undefined",
    "UnknownNameError",
    "UsageError",
    "ValidateResult",
    "Why",
    "__version__",
    "audit",
    "baseline",
    "campaign",
    "compare",
    "convert",
    "curve",
    "histogram",
    "list_measures",
    "load",
    "measure",
    "meta",
    "pan",
    "rank",
    "read",
    "read_counts",
    "read_judged",
    "read_rankings",
    "read_scores",
    "refusals",
    "score",
    "several",
    "squad",
    "tune",
    "validate",
]


class Asked:
    """A method that an analysis answers. Objects stand below analyses and find theirs by name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, asked: object, kind: type) -> Any:
        analysis = import_module(f"abstain.analyses.{self.name}")
        function = getattr(analysis, self.name.rpartition(".")[2])
        return function if asked is None else MethodType(function, asked)


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
