"""Judging the judges: what another sample of questions would have said."""

from abstain.resample.evaluation import MetaResult, evaluate
from abstain.resample.inputs import meta, meta_counts, meta_judged, meta_scores

__all__ = ["MetaResult", "evaluate", "meta", "meta_counts", "meta_judged", "meta_scores"]
