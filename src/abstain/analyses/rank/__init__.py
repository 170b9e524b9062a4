"""Rankings, scored."""

from abstain.analyses.rank.scoring import rank

__all__ = ["rank"]
