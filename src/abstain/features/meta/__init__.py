"""Judging measures: what another sample of questions would show."""
