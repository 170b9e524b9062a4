"""Is a difference real? Intervals, paired tests, where a difference comes from, what it takes."""

from abstain.analyses.compare.comparing import compare
from abstain.analyses.compare.result import CompareResult

__all__ = ["CompareResult", "compare"]
