"""Published tables against arithmetic.

printed     a number in print is a range
sheet       a table with its columns understood
sizes       how many questions a column is over
rows        counts and scores of a row (constraints, corrections)
attainable  scores that no whole outcome gives
summaries   totals, means, medians, deviations (linear: whole sums, mended together)
columns     columns that add up others, percentages
across      the same value in several tables
findings    what was found
"""

from abstain.analyses.audit.auditing import audit_tables
from abstain.analyses.audit.findings import Audit, Change, Correction, Finding

__all__ = ["Audit", "Change", "Correction", "Finding", "audit_tables"]
