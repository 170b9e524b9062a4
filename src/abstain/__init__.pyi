# What `abstain` offers: each public name once, and its home. Type checkers read it, and
# `__init__.py` reads it to load a home only when somebody asks for a name of it.

from typing import Any

from abstain.analyses.asking import baseline as baseline
from abstain.analyses.asking import campaign as campaign
from abstain.analyses.asking import compare as compare
from abstain.analyses.asking import curve as curve
from abstain.analyses.asking import cut as cut
from abstain.analyses.asking import histogram as histogram
from abstain.analyses.asking import meta as meta
from abstain.analyses.asking import rank as rank
from abstain.analyses.asking import score as score
from abstain.analyses.asking import several as several
from abstain.analyses.asking import tune as tune
from abstain.analyses.asking import validate as validate
from abstain.analyses.audit import AuditResult as AuditResult
from abstain.analyses.audit import audit as audit
from abstain.analyses.campaign.result import CampaignResult as CampaignResult
from abstain.analyses.compare.result import CompareResult as CompareResult
from abstain.analyses.convert import convert as convert
from abstain.analyses.curve.histogram import HistogramResult as HistogramResult
from abstain.analyses.curve.result import CurveResult as CurveResult
from abstain.analyses.cut.result import CutResult as CutResult
from abstain.analyses.demo import demo as demo
from abstain.analyses.editions import editions as editions
from abstain.analyses.editions.result import EditionsResult as EditionsResult
from abstain.analyses.meta.result import MetaResult as MetaResult
from abstain.analyses.pan import PanResult as PanResult
from abstain.analyses.pan import pan as pan
from abstain.analyses.rank import RankResult as RankResult
from abstain.analyses.refusals import RefusalsResult as RefusalsResult
from abstain.analyses.refusals import refusals as refusals
from abstain.analyses.result import Result as Result
from abstain.analyses.result import load as load
from abstain.analyses.score.result import ScoreResult as ScoreResult
from abstain.analyses.score.several import SeveralResult as SeveralResult
from abstain.analyses.squad import SquadResult as SquadResult
from abstain.analyses.squad import squad as squad
from abstain.analyses.trec_eval import trec_eval as trec_eval
from abstain.analyses.truncation import TruncationResult as TruncationResult
from abstain.analyses.tune.result import TuneResult as TuneResult
from abstain.analyses.validate.result import ValidateResult as ValidateResult
from abstain.errors import AbstainError as AbstainError
from abstain.errors import InputError as InputError
from abstain.errors import UnknownNameError as UnknownNameError
from abstain.errors import UsageError as UsageError
from abstain.judging.evaluation import Evaluation as Evaluation
from abstain.judging.reading import Reading as Reading
from abstain.judging.sources import read as read
from abstain.judging.sources import read_counts as read_counts
from abstain.judging.sources import read_judged as read_judged
from abstain.measures import Measure as Measure
from abstain.measures import list_measures as list_measures
from abstain.measures import measure as measure
from abstain.outcomes import Counts as Counts
from abstain.outcomes import CountsArray as CountsArray
from abstain.outcomes import Outcome as Outcome
from abstain.outcomes import Policy as Policy
from abstain.outcomes import Undefined as Undefined
from abstain.outcomes import Why as Why
from abstain.rankings.rankings import Rankings as Rankings
from abstain.rankings.read import read_rankings as read_rankings
from abstain.rankings.scores import ScoreMatrix as ScoreMatrix
from abstain.rankings.scores import read_scores as read_scores
from abstain.report.cards import explain as explain
from abstain.report.view import View

__version__: str
__all__: list[str]

class Asked:
    name: str
    def __init__(self, name: str) -> None: ...
    def __get__(self, asked: object, kind: type) -> Any: ...

def view_of(result: Result) -> View[Result]: ...
