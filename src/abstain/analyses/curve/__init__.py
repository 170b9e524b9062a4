"""Curves over all thresholds of a confidence, and decision curves."""

from abstain.analyses.curve.analysis import curve

__all__ = ["curve"]
