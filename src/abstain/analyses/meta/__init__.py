"""Judging the judges: what another sample of questions would have said."""

from abstain.analyses.meta.meta_evaluation import meta
from abstain.analyses.meta.result import MetaResult

__all__ = ["MetaResult", "meta"]
