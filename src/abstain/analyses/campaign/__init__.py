"""A campaign: from gold and runs to every table of an overview paper."""

from abstain.analyses.campaign.campaign import campaign

__all__ = ["campaign"]
