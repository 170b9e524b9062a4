"""Refusals found in text by declared rules: off unless asked for, counted and listed."""
