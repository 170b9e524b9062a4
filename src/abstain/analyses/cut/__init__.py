"""Where a ranking should stop: chosen on some queries, judged on others."""

from abstain.analyses.cut.cutting import cut

__all__ = ["cut"]
