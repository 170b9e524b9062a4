"""Published tables against arithmetic.

printed     a number in print is a range
sheet       a table with its columns understood, and how many questions each is over
rows        counts and scores of a row against each other, and corrections of it
attainable  scores that no whole outcome gives
columns     columns that add up others, sums mended together, percentages
summaries   totals, means, medians, deviations
auditing    all of it, and the same value in several tables
result      what was found, so far and as data
"""

from abstain.analyses.audit.auditing import audit
from abstain.analyses.audit.result import AuditResult

__all__ = ["AuditResult", "audit"]
