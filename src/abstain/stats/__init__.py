"""Intervals, tests and draws: pure functions of arrays."""
