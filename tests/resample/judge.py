"""Judging what is resampled, without reading it first."""

from __future__ import annotations

from typing import Any

from abstain.features.meta.analysis import meta
from abstain.features.meta.result import MetaResult
from abstain.stats.resampling.samplers import Source


def evaluate(source: Source, **options: Any) -> MetaResult:
    """What `meta` says of a source."""
    return meta(source, **options)
