"""Judgments and runs become `Rankings`, per-topic scores a `ScoreMatrix`."""
