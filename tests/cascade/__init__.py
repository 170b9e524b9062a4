"""Cascades: ask a small model first, a larger one where it is not sure."""
