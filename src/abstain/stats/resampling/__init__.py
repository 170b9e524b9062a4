"""Resampling questions: stability, sensitivity and discriminative power of measures."""
