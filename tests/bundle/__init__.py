"""Bundles for platforms."""
