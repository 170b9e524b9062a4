"""Runs that need no system."""
