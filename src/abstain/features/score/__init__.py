"""Scores of runs that may decline to answer."""
