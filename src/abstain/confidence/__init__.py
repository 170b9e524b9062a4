"""Confidence: curves, decisions, thresholds."""
