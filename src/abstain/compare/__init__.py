"""Is a difference real? Intervals, paired tests, where a difference comes from, what it takes."""

from abstain.compare.comparing import compare, compare_judged
from abstain.compare.intervals import interval
from abstain.compare.result import Comparison

__all__ = ["Comparison", "compare", "compare_judged", "interval"]
