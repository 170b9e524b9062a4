"""Thresholds, chosen on some questions and judged on others."""

from abstain.analyses.tune.tuning import tune

__all__ = ["tune"]
