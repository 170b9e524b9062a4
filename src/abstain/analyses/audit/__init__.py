"""Published tables against arithmetic.

printed     a number in print is a range
sheet       a table with its columns understood
sizes       how many questions a column is over
rows        counts and scores of a row (constraints, corrections)
attainable  scores that no whole outcome gives
summaries   totals, means, medians, deviations (linear: whole sums, mended together)
columns     columns that add up others, percentages
across      the same value in several tables
findings    what was found so far
result      what was found, as data
"""

from abstain.analyses.audit.auditing import audit
from abstain.analyses.audit.result import AuditResult

__all__ = ["AuditResult", "audit"]
