"""Judging the judges: what another sample of questions would have said."""

from abstain.analyses.meta.evaluation import evaluate
from abstain.analyses.meta.inputs import meta, meta_counts, meta_judged, meta_scores
from abstain.analyses.meta.result import MetaResult

__all__ = ["MetaResult", "evaluate", "meta", "meta_counts", "meta_judged", "meta_scores"]
