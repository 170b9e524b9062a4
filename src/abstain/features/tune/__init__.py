"""Thresholds, chosen on some questions and judged on others."""
