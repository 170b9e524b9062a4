"""A campaign: from gold and runs to every table of an overview paper."""

from abstain.analyses.campaign.campaign import Campaign, run_campaign

__all__ = ["Campaign", "run_campaign"]
