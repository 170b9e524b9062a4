"""Curves over all thresholds of a confidence, and decision curves."""
