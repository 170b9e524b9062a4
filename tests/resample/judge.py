"""Judging what is resampled, without reading it first."""

from __future__ import annotations

from typing import Any

from abstain.analyses.meta import MetaResult
from abstain.analyses.meta.meta_evaluation import judged
from abstain.analyses.meta.settings import Settings
from abstain.stats.resampling.sources import Source


def evaluate(source: Source, **options: Any) -> MetaResult:
    """What `meta` says of a source."""
    return judged(source, Settings(**options))
