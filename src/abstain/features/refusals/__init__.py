"""Refusals in the text of responses."""
