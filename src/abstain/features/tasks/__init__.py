"""Tasks for harnesses that ask models."""
