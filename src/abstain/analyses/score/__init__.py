"""Scores of runs that may decline to answer."""

from abstain.analyses.score.scoring import DEFAULT_MEASURES, score

__all__ = ["DEFAULT_MEASURES", "score"]
