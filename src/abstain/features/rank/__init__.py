"""Scores of rankings that may stop, and tables of truncation."""
