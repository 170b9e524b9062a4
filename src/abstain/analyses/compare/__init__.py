"""Is a difference real? Intervals, paired tests, where a difference comes from, what it takes."""

from abstain.analyses.compare.comparing import compare, compare_judged
from abstain.analyses.compare.result import Comparison
from abstain.stats.intervals import interval

__all__ = ["Comparison", "compare", "compare_judged", "interval"]
