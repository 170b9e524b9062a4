"""Judging the judges: what another sample of questions would have said."""

from abstain.resample.evaluation import evaluate
from abstain.resample.inputs import meta, meta_counts, meta_judged, meta_scores
from abstain.resample.result import MetaResult

__all__ = ["MetaResult", "evaluate", "meta", "meta_counts", "meta_judged", "meta_scores"]
