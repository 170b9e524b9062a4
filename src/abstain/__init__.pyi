# What type checkers see of the public names; `__init__.py` loads them when they are asked for.

from typing import Any

from abstain.errors import AbstainError as AbstainError
from abstain.errors import InputError as InputError
from abstain.errors import UnknownNameError as UnknownNameError
from abstain.errors import UsageError as UsageError
from abstain.features.audit.analysis import audit as audit
from abstain.features.audit.result import AuditResult as AuditResult
from abstain.features.baseline.analysis import baseline as baseline
from abstain.features.bundle.analysis import bundle as bundle
from abstain.features.campaign.analysis import campaign_of_files as campaign_of_files
from abstain.features.campaign.result import CampaignResult as CampaignResult
from abstain.features.cascade.analysis import cascade as cascade
from abstain.features.cascade.result import CascadeResult as CascadeResult
from abstain.features.compare.result import CompareResult as CompareResult
from abstain.features.convert.analysis import convert as convert
from abstain.features.curve.result import CurveResult as CurveResult
from abstain.features.curve.result import HistogramResult as HistogramResult
from abstain.features.cut.result import CutResult as CutResult
from abstain.features.decisions.result import DecisionsResult as DecisionsResult
from abstain.features.demo.analysis import demo as demo
from abstain.features.editions.analysis import editions as editions
from abstain.features.editions.result import EditionsResult as EditionsResult
from abstain.features.explain.card import explain as explain
from abstain.features.meta.result import MetaResult as MetaResult
from abstain.features.plugins.analysis import plugins as plugins
from abstain.features.rank.analysis import RankResult as RankResult
from abstain.features.rank.truncation import TruncationResult as TruncationResult
from abstain.features.refusals.analysis import RefusalsResult as RefusalsResult
from abstain.features.refusals.analysis import refusals as refusals
from abstain.features.score.result import ScoreResult as ScoreResult
from abstain.features.score.several import SeveralResult as SeveralResult
from abstain.features.season.intake import receive as receive
from abstain.features.season.intake import seal as seal
from abstain.features.targets.analysis import targets as targets
from abstain.features.targets.result import TargetsResult as TargetsResult
from abstain.features.tasks.analysis import tasks as tasks
from abstain.features.testset.analysis import testset as testset
from abstain.features.trec_eval.analysis import trec_eval as trec_eval
from abstain.features.tune.result import TuneResult as TuneResult
from abstain.features.validate.analysis import validate_files as validate_files
from abstain.features.validate.result import ValidateResult as ValidateResult
from abstain.measures import Measure as Measure
from abstain.measures import list_measures as list_measures
from abstain.measures import measure as measure
from abstain.outcomes import Counts as Counts
from abstain.outcomes import CountsArray as CountsArray
from abstain.outcomes import Decisions as Decisions
from abstain.outcomes import DecisionsArray as DecisionsArray
from abstain.outcomes import Outcome as Outcome
from abstain.outcomes import Policy as Policy
from abstain.outcomes import Undefined as Undefined
from abstain.outcomes import Why as Why
from abstain.rankings.rankings import Rankings as Rankings
from abstain.rankings.read import read_rankings as read_rankings
from abstain.rankings.score_tables import read_scores as read_scores
from abstain.rankings.scores import ScoreMatrix as ScoreMatrix
from abstain.reading import Reading as Reading
from abstain.report.result import Result as Result
from abstain.report.result import load as load
from abstain.runs import read as read
from abstain.runs import read_counts as read_counts
from abstain.runs import read_judged as read_judged
from abstain.runs.evaluation import Evaluation as Evaluation

__version__: str
__all__: list[str]

campaign = campaign_of_files
validate = validate_files

# Shortcuts take the arguments of `read` or `read_rankings` and of the method that they ask.
def score(gold: Any, runs: Any = None, *args: Any, **options: Any) -> ScoreResult: ...
def several(gold: Any, runs: Any = None, *args: Any, **options: Any) -> SeveralResult: ...
def decisions(gold: Any, runs: Any = None, *args: Any, **options: Any) -> DecisionsResult: ...
def curve(gold: Any, runs: Any = None, *args: Any, **options: Any) -> CurveResult: ...
def tune(gold: Any, runs: Any = None, *args: Any, **options: Any) -> TuneResult: ...

# The first argument may also be what `read` returned.
def histogram(gold: Any, *args: Any, **options: Any) -> HistogramResult: ...
def compare(gold: Any, runs: Any = None, *args: Any, **options: Any) -> CompareResult: ...
def meta(gold: Any, runs: Any = None, *args: Any, **options: Any) -> MetaResult: ...
def rank(qrels: Any, runs: Any, *args: Any, **options: Any) -> RankResult: ...
def cut(qrels: Any, runs: Any, *args: Any, **options: Any) -> CutResult: ...
