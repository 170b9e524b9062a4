"""Published tables against arithmetic."""

from abstain.analyses.audit.auditing import audit
from abstain.analyses.audit.result import AuditResult

__all__ = ["AuditResult", "audit"]
