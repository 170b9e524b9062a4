"""Editions of a campaign side by side: this year against the last ones."""

from abstain.analyses.editions.comparing import editions

__all__ = ["editions"]
