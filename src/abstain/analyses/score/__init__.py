"""Runs, scored."""
