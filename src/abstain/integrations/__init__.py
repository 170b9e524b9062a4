"""Plug-ins of other programs, each of which needs only its host."""
