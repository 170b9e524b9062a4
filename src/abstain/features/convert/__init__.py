"""Logs and tables in other formats."""
