"""Thresholds, chosen and judged."""
