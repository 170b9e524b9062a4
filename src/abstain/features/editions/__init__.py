"""Editions of a campaign side by side."""
